"""What a participant is asked and told between trials: consent, form, breaks.

All of it can be done with the keyboard alone: TAB from one to the next, arrow keys on a
scale, ENTER to go on. Nothing is answered beforehand: a scale counts once touched.
"""

from collections.abc import Callable

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtGui import QFocusEvent
from PyQt6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.study.participant.workload import SCALES

__all__ = ["BreakDialog", "ConsentDialog", "TellDialog", "WorkloadDialog"]

_STEP = 5
_WIDTH = 640


class _Question(QDialog):
    """A window with a title, something, and a button to go on."""

    def __init__(self, title: str, go_on: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(_WIDTH)
        self.column = QVBoxLayout(self)
        self.column.setSpacing(12)
        head = QLabel(f"<b>{title}</b>")
        head.setTextFormat(Qt.TextFormat.RichText)
        self.column.addWidget(head)
        self.buttons = QDialogButtonBox()
        button = self.buttons.addButton(go_on, QDialogButtonBox.ButtonRole.AcceptRole)
        if button is None:
            raise RuntimeError("Qt made no button")
        self.go_on = button
        self.go_on.setDefault(True)
        self.buttons.accepted.connect(self.accept)

    def finish_layout(self) -> None:
        """Put the button below all that was added."""
        self.column.addWidget(self.buttons)


class TellDialog(_Question):
    """Says something, and waits for ENTER."""

    def __init__(self, title: str, text: str, go_on: str = "Go on") -> None:
        """Lay out.

        Args:
            title: what it is about.
            text: plain text.
            go_on: of the button.
        """
        super().__init__(title, go_on)
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        self.column.addWidget(label)
        self.finish_layout()
        self.go_on.setFocus()


class ConsentDialog(_Question):
    """Shows the consent text; goes on only once it is agreed to."""

    def __init__(self, title: str, text: str) -> None:
        """Lay out; `text` is shown as it is."""
        super().__init__(title, "I agree, begin")
        body = QPlainTextEdit(text)
        body.setReadOnly(True)
        body.setTabChangesFocus(True)
        body.setMinimumHeight(320)
        self.column.addWidget(body)
        self.agreed = QCheckBox("I have read this and take part of my own free will")
        self.column.addWidget(self.agreed)
        refuse = self.buttons.addButton(
            "I do not take part", QDialogButtonBox.ButtonRole.RejectRole
        )
        if refuse is not None:
            refuse.setAutoDefault(False)
        self.buttons.rejected.connect(self.reject)
        self.go_on.setEnabled(False)
        self.agreed.toggled.connect(self.go_on.setEnabled)
        self.finish_layout()


class BreakDialog(_Question):
    """Counts a break down; going on is possible once it is over."""

    def __init__(self, seconds: float, done: int, left: int) -> None:
        """Lay out.

        Args:
            seconds: least length of the break [s].
            done: trials done.
            left: trials left.
        """
        super().__init__("A break", "Go on")
        self._left_s = round(seconds)
        self._label = QLabel()
        self.column.addWidget(QLabel(f"{done} trials are done, {left} are left."))
        self.column.addWidget(self._label)
        self.finish_layout()
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self.count)
        self._timer.start()
        self._show()

    def count(self) -> None:
        """Let a second pass."""
        self._left_s = max(0, self._left_s - 1)
        self._show()

    def _show(self) -> None:
        over = self._left_s == 0
        if over:
            self._timer.stop()
        self._label.setText(
            "Whenever you are ready." if over else f"{self._left_s} s at least …"
        )
        self.go_on.setEnabled(over)


class _Scale(QSlider):
    """A scale of 0 to 100 that knows whether it was answered."""

    def __init__(self, answered: Callable[[], None]) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(0, 100)
        self.setSingleStep(_STEP)
        self.setPageStep(2 * _STEP)
        self.setTickInterval(_STEP)
        self.setTickPosition(QSlider.TickPosition.TicksBelow)
        self.setValue(50)
        self.answered = False
        self._tell = answered
        self.actionTriggered.connect(self._touched)
        self.sliderPressed.connect(self._touched)

    def _touched(self, _: int = 0) -> None:
        self.answered = True
        self._tell()

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Show where the keys go."""
        super().focusInEvent(event)
        self.update()


class WorkloadDialog(_Question):
    """The NASA-TLX form about the system just used."""

    def __init__(self, letter: str) -> None:
        """Lay out; `letter` is what the system is called before the participant."""
        super().__init__(f"How was system {letter}?", "Done")
        self.column.addWidget(
            QLabel("Answer all six: drag, or use the arrow keys; TAB goes to the next.")
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        self.scales: dict[str, _Scale] = {}
        self._marks: dict[str, QLabel] = {}
        for row, scale in enumerate(SCALES):
            slider = _Scale(self._refresh)
            slider.setAccessibleName(scale.title)
            slider.setAccessibleDescription(scale.question)
            words = QLabel(f"<b>{scale.title}</b><br>{scale.question}")
            words.setWordWrap(True)
            mark = QLabel()
            grid.addWidget(words, 2 * row, 0, 1, 3)
            grid.addWidget(mark, 2 * row, 3)
            grid.addWidget(QLabel(scale.low), 2 * row + 1, 0)
            grid.addWidget(slider, 2 * row + 1, 1)
            grid.addWidget(QLabel(scale.high), 2 * row + 1, 2)
            self.scales[scale.key], self._marks[scale.key] = slider, mark
        grid.setColumnStretch(1, 1)
        self.column.addLayout(grid)
        self.finish_layout()
        self._refresh()
        self.scales[SCALES[0].key].setFocus()

    def _refresh(self) -> None:
        for key, slider in self.scales.items():
            self._marks[key].setText("✓" if slider.answered else "…")
        self.go_on.setEnabled(all(item.answered for item in self.scales.values()))

    @property
    def answers(self) -> dict[str, int]:
        """Answer of every scale, 0 to 100."""
        return {key: slider.value() for key, slider in self.scales.items()}

    def reject(self) -> None:
        """Stay: ESC must not lose a form."""
