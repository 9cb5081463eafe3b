"""Forces, drawn over the picture where they act."""

import numpy as np
from PyQt6.QtCore import QPointF
from PyQt6.QtGui import QPainter, QPen, QPolygonF

from app.console.readings import StationReadings
from app.console.theme import (
    FELT_COLOR,
    MODEL_COLOR,
    WINDOW,
    base_pixel_size,
    color,
    font,
)
from app.console.touch import FELT_N, strategy_of
from app.scene.cameras import NEAR_M, View
from models.numerics import FloatArray

__all__ = ["draw_forces"]

_M_PER_N = 0.08  # length of an arrow
_LONGEST_M = 0.40


def draw_forces(painter: QPainter, view: View, readings: StationReadings) -> None:
    """Draw what the tips push with: each robot's, and the hand's at the model's tip.

    Args:
        painter: on the picture.
        view: the picture's camera.
        readings: the newest readings.
    """
    state = readings.state
    if readings.has_robot:
        for limb, force in enumerate(readings.health.contact_force):
            _arrow(painter, view, readings.tip_confirmed[limb], force, FELT_COLOR)
    if strategy_of(readings).feels:
        tip = state.tip_model[int(state.selected_limb[0])]
        # both tips are close together: its number stands a line below the robot's
        _arrow(painter, view, tip, state.force_hand, MODEL_COLOR, lines=1)


def _arrow(
    painter: QPainter,
    view: View,
    tip: FloatArray,
    force: FloatArray,
    shade: str,
    lines: int = 0,
) -> None:
    """Draw one force from its tip, with its size in N beside the head."""
    size = float(np.linalg.norm(force))
    if not size >= FELT_N:
        return
    length = min(_M_PER_N * size, _LONGEST_M)
    ends = [view.project(tip), view.project(tip + force * (length / size))]
    if min(end[2] for end in ends) <= NEAR_M:
        return
    start, head = (np.array(end[:2]) for end in ends)
    way = head - start
    pixels = float(np.linalg.norm(way))
    text = base_pixel_size()
    painter.setBrush(color(shade))
    # a force along the view has no way to show its length: a dot, and its number
    along = way / pixels if pixels > 1.0 else np.array([0.0, -1.0])
    barb = min(0.75 * text, 0.6 * pixels) * along
    side = 0.45 * np.array([-barb[1], barb[0]])
    for edge, width in ((color(WINDOW, 0.8), 5.0), (color(shade), 2.4)):
        painter.setPen(QPen(edge, width))
        painter.drawLine(QPointF(*start), QPointF(*(head - 0.8 * barb)))
    painter.setPen(QPen(color(WINDOW, 0.8), 1.0))
    corners = (head, head - barb + side, head - barb - side)
    painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
    words = f"{size:.1f} N"
    painter.setFont(font(text, bold=True))
    place = head + 0.9 * text * along
    width = painter.fontMetrics().horizontalAdvance(words)
    left = place[0] if along[0] >= 0.0 else place[0] - width
    at = QPointF(left, place[1] + (0.35 + 1.1 * lines) * text)
    painter.setPen(color(WINDOW))
    painter.drawText(at + QPointF(1.0, 1.0), words)
    painter.setPen(color(shade))
    painter.drawText(at, words)
