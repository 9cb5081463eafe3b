"""Playing a recording: where it is, how fast it runs, and the row of its buttons."""

from collections.abc import Callable

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from app.clock import NS_PER_MS, NS_PER_S
from app.console.theme import MODEL_COLOR, MUTED, TEXT, base_pixel_size, font
from app.console.widgets import DropDown
from app.session.timeline import clock_words

__all__ = ["SPEEDS", "Transport", "TransportBar"]

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
STEP_NS = NS_PER_MS
JUMP_NS = 100 * NS_PER_MS
LEAP_NS = 5 * NS_PER_S


class Transport:
    """The moment that is shown; knows no Qt."""

    def __init__(self, start_ns: int, end_ns: int) -> None:
        """Stand at the start, paused, at the speed of life."""
        self.start_ns, self.end_ns = start_ns, end_ns
        self.playing = False
        self.speed = 1.0
        self._time_ns = float(start_ns)
        self._clock_ns: int | None = None

    @property
    def time_ns(self) -> int:
        """The moment [ns]."""
        return round(self._time_ns)

    def advance(self, clock_ns: int) -> int:
        """Go on by what has passed since the last call, where it plays.

        Args:
            clock_ns: present time [ns].

        Returns:
            The moment [ns].
        """
        if self.playing and self._clock_ns is not None:
            self._time_ns += (clock_ns - self._clock_ns) * self.speed
            if self._time_ns >= self.end_ns:
                self._time_ns = float(self.end_ns)
                self.playing = False
        self._clock_ns = clock_ns
        return self.time_ns

    def seek(self, time_ns: float) -> None:
        """Go to a moment [ns], or to the end that is nearer to it."""
        self._time_ns = float(min(max(time_ns, self.start_ns), self.end_ns))

    def toggle(self) -> None:
        """Play or pause; at the end, from the start again."""
        if not self.playing and self.time_ns >= self.end_ns:
            self.seek(self.start_ns)
        self.playing = not self.playing

    def change_speed(self, step: int) -> None:
        """Take the next speed up (+1) or down (-1)."""
        nearest = min(range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] - self.speed))
        self.speed = SPEEDS[min(max(nearest + step, 0), len(SPEEDS) - 1)]


class TransportBar(QWidget):
    """Buttons of a transport, its time and its speed."""

    def __init__(
        self,
        transport: Transport,
        step: Callable[[int], None],
        moment: Callable[[int], None],
    ) -> None:
        """Make the row.

        Args:
            transport: what it moves.
            step: goes so many control ticks on; negative, back.
            moment: goes to the next mark, warning or outage (+1), or the last (-1).
        """
        super().__init__()
        self.transport = transport
        size = base_pixel_size()
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 2)
        row.setSpacing(4)

        def by(nanoseconds: int) -> Callable[[], None]:
            return lambda: transport.seek(transport.time_ns + nanoseconds)

        self.play = _button("PLAY", "Play or pause (SPACE)", transport.toggle)
        self.play.setMinimumWidth(int(5.2 * size))
        for button in (
            _button("|◀", "To the start (HOME)", lambda: transport.seek(0)),
            _button(
                "◀ event", "Mark, warning or outage before (P)", lambda: moment(-1)
            ),
            _button("−5 s", "5 s back (SHIFT+LEFT)", by(-LEAP_NS)),
            _button("−1", "One control tick back (,)", lambda: step(-1)),
            self.play,
            _button("+1", "One control tick on (.)", lambda: step(1)),
            _button("+5 s", "5 s on (SHIFT+RIGHT)", by(LEAP_NS)),
            _button("event ▶", "Next mark, warning or outage (N)", lambda: moment(1)),
            _button("▶|", "To the end (END)", lambda: transport.seek(float("inf"))),
        ):
            row.addWidget(button)
        row.addSpacing(size)
        self.speed = DropDown()
        self.speed.setAccessibleName("speed")
        self.speed.setToolTip("Speed ([ slower, ] faster)")
        self.speed.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        self.speed.activated.connect(self._take_speed)
        row.addWidget(self.speed)
        row.addSpacing(size)
        self.time = QLabel()
        self.time.setFont(font(size + 3, bold=True))
        self.time.setStyleSheet(f"color: {TEXT}; font-size: {size + 3}px")
        self.whole = QLabel()
        self.whole.setStyleSheet(f"color: {MUTED}")
        row.addWidget(self.time)
        row.addWidget(self.whole)
        row.addStretch(1)
        self.words = QLabel()
        self.words.setStyleSheet(f"color: {MUTED}")
        row.addWidget(self.words)
        self.refresh()

    def _take_speed(self, index: int) -> None:
        self.transport.speed = SPEEDS[index]

    def refresh(self) -> None:
        """Show where the transport is."""
        transport = self.transport
        self.play.setText("PAUSE" if transport.playing else "PLAY")
        shade = MODEL_COLOR if transport.playing else TEXT
        self.play.setStyleSheet(f"color: {shade}; font-weight: bold; padding: 3px 6px;")
        nearest = min(
            range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] - transport.speed)
        )
        if self.speed.currentIndex() != nearest:
            self.speed.setCurrentIndex(nearest)
        elapsed_ns = transport.time_ns - transport.start_ns
        self.time.setText(clock_words(elapsed_ns, fine=True))
        self.whole.setText("of " + clock_words(transport.end_ns - transport.start_ns))


def _button(text: str, tip: str, act: Callable[[], None]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setStyleSheet("padding: 3px 6px;")
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.clicked.connect(lambda _checked: act())
    return button
