"""The energy meter of a limb: what its hand's port has taken, or given away.

A passive coupling never gives the hand more energy than the hand has put in. The bar
runs on a logarithmic scale about zero, green to the right for what was absorbed, red to
the left for what was injected; a red mark stays at the most that ever was.
"""

import math

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QPainter

from app.console.theme import ALARM, GOOD, LINE, TEXT, color

__all__ = [
    "INJECTED_J",
    "draw_energy_bar",
    "draw_energy_words",
    "energy_share",
    "energy_words",
]

INJECTED_J = 1e-4
"""More than this injected is an alarm [J]."""

_LEAST_J = 1e-4
_MOST_J = 10.0


def energy_share(energy: float) -> float:
    """Place of an energy [J] on the meter, -1..1; 0.1 mJ to 10 J over its half."""
    whole = math.log1p(_MOST_J / _LEAST_J)
    share = math.log1p(min(abs(energy), _MOST_J) / _LEAST_J) / whole
    return math.copysign(share, energy)


def energy_words(energy: float) -> str:
    """Write an energy [J] with its sign, in mJ below 10 J."""
    value = 1e3 * energy
    if abs(value) >= 9_999.95:
        return f"{energy:+.1f} J".replace("-", "−")
    words = f"{value:+.1f}".replace("-", "−")
    return ("0.0" if words[1:] == "0.0" else words) + " mJ"


def draw_energy_words(
    painter: QPainter, place: QRectF, port: float, injected: float
) -> None:
    """Write the energy of a port at the right of a row; red once it was injected.

    Args:
        painter: on the card, with the row's font.
        place: the row.
        port: energy that the hand has put in, less what it got [J].
        injected: most that it ever got beyond what it put in [J].
    """
    wrong = injected > INJECTED_J
    painter.setPen(color(ALARM if wrong else TEXT))
    words = "E " + energy_words(-injected if wrong else port)
    flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(place, int(flags), words)


def draw_energy_bar(
    painter: QPainter, bar: QRectF, port: float, injected: float
) -> None:
    """Draw the meter.

    Args:
        painter: on the card.
        bar: its place.
        port: energy that the hand has put in, less what it got [J].
        injected: most that it ever got beyond what it put in [J].
    """
    painter.fillRect(bar, color(LINE))
    half, zero = 0.5 * bar.width(), bar.center().x()
    share = energy_share(port)
    filled = QRectF(zero, bar.y(), share * half, bar.height()).normalized()
    painter.fillRect(filled, color(GOOD if share >= 0.0 else ALARM))
    tick = QRectF(zero - 0.5, bar.y() - 1.0, 1.0, bar.height() + 2.0)
    painter.fillRect(tick, color(TEXT))
    if injected > INJECTED_J:
        worst = zero - energy_share(injected) * half
        tick = QRectF(worst - 1.0, bar.y() - 2.0, 2.0, bar.height() + 4.0)
        painter.fillRect(tick, color(ALARM))
