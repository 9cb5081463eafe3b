"""The link panel: preset, live figures, the cut, and how the link really does."""

import math
from dataclasses import dataclass

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QToolButton,
)

from app.config.link import LinkParameters, link_names, load_link
from app.console.plots import History, Strip, StripPlots
from app.console.readings import StationReadings
from app.console.theme import ALARM, AMBER, MUTED, TEXT, base_pixel_size
from app.console.widgets import DropDown, Figure, Panel
from app.console.wishes import LinkWishes
from app.console.words import bit_rate, distance, duration_ms, percent
from app.messages import LinkHealth

__all__ = ["LINK_FIELDS", "LinkPanel", "SliderScale", "age_shade"]

_STEPS = 1000


@dataclass(frozen=True)
class SliderScale:
    """A slider's 0..1000 to a value: a power law from 0, or a logarithm.

    Attributes:
        low: value at the left end.
        high: value at the right end.
        power: exponent of the power law; 0 for a logarithm.
    """

    low: float
    high: float
    power: float

    def value(self, position: int) -> float:
        """Return the value at a position."""
        share = position / _STEPS
        if self.power == 0.0:
            return float(self.low * (self.high / self.low) ** share)
        return float(self.low + (self.high - self.low) * share**self.power)

    def position(self, value: float) -> int:
        """Return the nearest position of a value, at an end where it lies outside."""
        inside = min(self.high, max(self.low, value))
        if self.power == 0.0:
            share = math.log(inside / self.low) / math.log(self.high / self.low)
        else:
            share = ((inside - self.low) / (self.high - self.low)) ** (1.0 / self.power)
        return round(_STEPS * share)


_OUTAGE_S = 5.0
_ROWS = (
    (
        "distance_m",
        "Range",
        SliderScale(1.0, 10_000.0, 0.0),
        distance,
        "distance to the robot; on an acoustic link the delay follows it",
    ),
    ("delay_ms", "Delay", SliderScale(0.0, 5000.0, 2.5), duration_ms, "one-way delay"),
    (
        "jitter_ms",
        "Jitter",
        SliderScale(0.0, 1000.0, 2.5),
        duration_ms,
        "standard deviation of the delay",
    ),
    (
        "loss",
        "Loss",
        SliderScale(0.0, 0.9, 2.0),
        percent,
        "packets lost at random, beside the bursts of the preset",
    ),
    (
        "bandwidth_bps",
        "Rate",
        SliderScale(32.0, 1e8, 0.0),
        bit_rate,
        "bits a second each way",
    ),
)


_STRIPS = (
    Strip("ms", ("age_ms", "rtt_ms"), ("pose age", "round trip"), 1.0, 10.0),
    Strip("%", ("loss_down", "loss_up"), ("lost down", "up"), 100.0, 4.0),
    Strip("kbit/s", ("down_bps", "up_bps"), ("down", "up"), 1e-3, 0.1),
)
LINK_FIELDS = tuple(name for strip in _STRIPS for name in strip.fields)


def age_shade(age_ms: float, limit_ms: float) -> str:
    """Colour of an age: plain, amber past half the limit, red past it."""
    if not age_ms <= limit_ms:
        return ALARM
    return AMBER if age_ms > 0.5 * limit_ms else TEXT


def _wanted(link: LinkParameters, wishes: LinkWishes) -> dict[str, float]:
    """Figures of the preset under the wishes: what the emulator will answer."""
    figures = {
        "delay_ms": link.delay_ms,
        "jitter_ms": link.jitter.deviation_ms,
        "loss": link.loss.residual,
        "bandwidth_bps": min(link.down_bps, link.up_bps),
    }
    metres = wishes.override("distance_m")
    if metres is not None and link.wave_speed_m_s > 0.0:
        figures["delay_ms"] = link.propagation_at_ms(metres) + link.processing_ms
    for name in figures:
        wish = wishes.override(name)
        figures[name] = figures[name] if wish is None else wish
    return figures


def _in_force(health: LinkHealth) -> dict[str, float]:
    return {
        "delay_ms": float(health.delay_ms[0]),
        "jitter_ms": float(health.jitter_ms[0]),
        "loss": float(health.loss_set[0]),
        "bandwidth_bps": float(health.bandwidth_bps[0]),
    }


def _range_m(link: LinkParameters | None, delay_ms: float) -> float:
    """Distance that a delay stands for [m]; NaN where sound does not carry it."""
    if link is None or link.wave_speed_m_s == 0.0:
        return math.nan
    return max(0.0, 1e-3 * (delay_ms - link.processing_ms) * link.wave_speed_m_s)


class LinkPanel(Panel):
    """Settings of the emulated link, and its health."""

    def __init__(self, wishes: LinkWishes, history: History | None = None) -> None:
        """Make the panel.

        Args:
            wishes: what a person wants of the link.
            history: where the curves come from; None takes them from the readings.
        """
        super().__init__("Link")
        self._wishes = wishes
        self._names = link_names()
        self._shown: tuple[int, int] | None = None
        self._unapplied_ns = 0
        self._preset: LinkParameters | None = None
        size = base_pixel_size()
        self.notice = QLabel("")
        self.notice.setObjectName("muted")
        self.head.addWidget(self.notice)

        settings = QGridLayout()
        settings.setHorizontalSpacing(6)
        settings.setVerticalSpacing(3)
        self.combo = DropDown()
        self.combo.addItems(self._names)
        self.combo.setPlaceholderText("own file")
        self.combo.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.combo.setAccessibleName("link preset")
        self.combo.activated.connect(self._choose)
        self.cut = QPushButton("CUT")
        self.cut.setObjectName("cut")
        self.cut.setCheckable(True)
        self.cut.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.cut.setToolTip("Nothing passes either way until it is pressed again.")
        self.cut.clicked.connect(self._cut)
        self.outage = QPushButton(f"OUT {_OUTAGE_S:.0f} s")
        self.outage.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.outage.setToolTip(
            f"Nothing passes either way for {_OUTAGE_S:.0f} s, timed by the emulator; "
            "any change of the link ends it."
        )
        self.outage.clicked.connect(self._start_outage)
        settings.addWidget(QLabel("Preset"), 0, 0)
        settings.addWidget(self.combo, 0, 1)
        stops = QHBoxLayout()
        stops.addWidget(self.outage)
        stops.addWidget(self.cut, 1)
        settings.addLayout(stops, 0, 2, 1, 2)
        self.sliders: dict[str, QSlider] = {}
        self.values: dict[str, QLabel] = {}
        self.resets: dict[str, QToolButton] = {}
        for row, (name, caption, _, _, meaning) in enumerate(_ROWS, start=1):
            label = QLabel(caption)
            label.setToolTip(meaning)
            slider = QSlider(Qt.Orientation.Horizontal)
            slider.setRange(0, _STEPS)
            slider.setPageStep(25)
            slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            slider.setAccessibleName(f"{caption}: {meaning}")
            slider.setToolTip(meaning)
            slider.valueChanged.connect(lambda _, name=name: self._slide(name))
            value = QLabel("–")
            value.setMinimumWidth(int(5.8 * size))
            value.setAlignment(
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            )
            reset = QToolButton()
            reset.setText("↺")
            reset.setStyleSheet("padding: 0px 4px;")
            reset.setToolTip("Return to the preset's value.")
            reset.setAccessibleName(f"{caption}: as the preset")
            reset.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            reset.clicked.connect(lambda _, name=name: self._reset(name))
            settings.addWidget(label, row, 0)
            settings.addWidget(slider, row, 1)
            settings.addWidget(value, row, 2)
            settings.addWidget(reset, row, 3)
            self.sliders[name], self.values[name] = slider, value
            self.resets[name] = reset
        settings.setColumnStretch(1, 1)
        self.body.addLayout(settings)

        self.age = Figure("pose age", "Age of the robot's newest known pose.")
        self.rtt = Figure("round trip", "Measured by echo of sequence numbers.")
        self.command = Figure(
            "command age", "Age of the newest command the robot applied."
        )
        self.loss = Figure("lost ↓ / ↑", "Packets lost to and from the robot.")
        self.down = Figure(
            "to robot", "Bits a second sent, and setpoint frames a second."
        )
        self.up = Figure("from robot", "Bits a second received.")
        figures = QGridLayout()
        figures.setHorizontalSpacing(8)
        figures.setVerticalSpacing(2)
        for i, figure in enumerate(
            (self.age, self.rtt, self.command, self.loss, self.down, self.up)
        ):
            figures.addWidget(figure, i // 3, i % 3)
            figures.setColumnStretch(i % 3, 1)
        self.body.addLayout(figures)
        self.history = history or History(LINK_FIELDS)
        self.plots = StripPlots(
            self.history, _STRIPS, "age, round trip, loss and bit rates, last minute"
        )
        self.body.addWidget(self.plots, 1)

    def attach(self, wishes: LinkWishes) -> None:
        """Take up other wishes, after a restart or a change of control."""
        self._wishes = wishes
        self._shown = None

    def _choose(self, index: int) -> None:
        self._wishes.choose_preset(index)

    def _cut(self, checked: bool) -> None:
        self._wishes.set_cut(checked)

    def _start_outage(self) -> None:
        self._wishes.start_outage(_OUTAGE_S)

    def _slide(self, name: str) -> None:
        scale = next(row[2] for row in _ROWS if row[0] == name)
        self._wishes.set_override(name, scale.value(self.sliders[name].value()))

    def _reset(self, name: str) -> None:
        self._wishes.set_override(name, None)

    def take(self, readings: StationReadings) -> None:
        """Sample the link's health; a gap where the station is silent."""
        if not self.history.is_due(readings.now_ns):
            return
        alive = readings.is_alive and readings.is_link_alive and readings.has_robot
        values = []
        for name in self.history.fields:
            value = float(getattr(readings.health, name)[0])
            values.append(value if alive and value >= 0.0 else math.nan)
        self.history.take(readings.now_ns, values)

    def refresh(self, readings: StationReadings, *, writable: bool) -> None:
        """Show settings in force and the link's health."""
        health = readings.health
        self._show_settings(readings, writable=writable)
        alive = readings.is_alive and readings.is_link_alive
        limit_ms = readings.age_limit_ms()
        age_ms = float(health.age_ms[0])
        if not readings.has_robot or not alive:
            for figure in (self.age, self.rtt, self.command, self.loss):
                figure.show_value("–", MUTED)
            self.down.show_value("–", MUTED)
            self.up.show_value("–", MUTED)
            return
        self.age.show_value(duration_ms(age_ms), age_shade(age_ms, limit_ms))
        self.rtt.show_value(duration_ms(float(health.rtt_ms[0])))
        command_ms = float(health.command_age_ms[0])
        self.command.show_value(duration_ms(command_ms))
        down, up = float(health.loss_down[0]), float(health.loss_up[0])
        worst = max(down, up)
        shade = ALARM if worst > 0.5 else AMBER if worst > 0.1 else TEXT
        self.loss.show_value(f"{100 * down:.0f} / {100 * up:.0f} %", shade)
        self.down.show_value(bit_rate(float(health.down_bps[0])))
        self.down.setToolTip(f"{float(health.send_hz[0]):.1f} setpoint frames/s")
        self.up.show_value(bit_rate(float(health.up_bps[0])))

    def _show_settings(self, readings: StationReadings, *, writable: bool) -> None:
        health = readings.health
        ours = writable and self._wishes.revision > 0
        index = self._wishes.preset if ours else int(health.preset[0])
        revision = self._wishes.revision if ours else -1
        present = bool(health.emulator_present[0])
        for widget in (self.combo, self.cut, self.outage, *self.sliders.values()):
            widget.setEnabled(writable and present)
        if (index, revision) != self._shown:
            self._shown = (index, revision)
            known = 0 <= index < len(self._names)
            self.combo.setCurrentIndex(index if known else -1)
            self._preset = load_link(self._names[index]) if known else None
        self.cut.setChecked(self._wishes.cut if ours else bool(health.cut[0]))
        self.cut.setText("CUT – MEND" if self.cut.isChecked() else "CUT")
        figures = _in_force(health)
        if self._preset is not None and ours:
            figures = _wanted(self._preset, self._wishes)
        figures["distance_m"] = _range_m(self._preset, figures["delay_ms"])
        for name, _, scale, words, _ in _ROWS:
            wanted = self._wishes.override(name) if ours else None
            value = figures[name]
            slider = self.sliders[name]
            if math.isnan(value):
                slider.setEnabled(False)
            elif not slider.isSliderDown():
                slider.blockSignals(True)
                slider.setValue(scale.position(value))
                slider.blockSignals(False)
            shade = TEXT if wanted is None else AMBER
            self.values[name].setText(words(value))
            self.values[name].setStyleSheet(f"color: {shade}")
            self.resets[name].setEnabled(wanted is not None and writable)
        self._show_notice(readings, present=present, ours=ours)

    def _show_notice(
        self, readings: StationReadings, *, present: bool, ours: bool
    ) -> None:
        health = readings.health
        if not present:
            text, shade = "no emulator: settings fixed", AMBER
        elif ours and not self._is_applied(readings):
            text, shade = "applying…", AMBER
        elif health.cut[0] and not self._wishes.cut:
            text, shade = "outage", AMBER
        elif float(health.queue_ms[0]) > 50.0:
            text, shade = f"queue {duration_ms(float(health.queue_ms[0]))}", AMBER
        else:
            text, shade = "emulated", MUTED
        self.notice.setText(text)
        self.notice.setStyleSheet(f"color: {shade}")

    def _is_applied(self, readings: StationReadings) -> bool:
        health = readings.health
        if int(health.preset[0]) != self._wishes.preset:
            return False
        if self._wishes.cut and not health.cut[0]:  # out without a cut: an outage
            return False
        if self._preset is None:
            return True
        wanted, in_force = _wanted(self._preset, self._wishes), _in_force(health)
        changed = [name for name in wanted if self._wishes.override(name) is not None]
        if self._wishes.override("distance_m") is not None:
            changed.append("delay_ms")  # follows it, or stays the preset's
        return all(
            math.isclose(wanted[name], in_force[name], rel_tol=1e-3, abs_tol=1e-6)
            for name in changed
        )
