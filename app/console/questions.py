"""What a participant is asked and told between trials: consent, form, breaks.

All of it can be done with the keyboard alone: TAB from one to the next, arrow keys on a
scale, ENTER to go on. Nothing is answered beforehand: a scale counts once touched.
Whoever wants to stop can do so in each of them (ESC, the window's own cross or the
button), and is asked whether they mean it.
"""

from collections.abc import Callable

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtGui import QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QVBoxLayout,
    QWidget,
)

from app.console.theme import MUTED, base_pixel_size, color
from app.study.participant.workload import SCALES

__all__ = [
    "AgainDialog",
    "BreakDialog",
    "ConsentDialog",
    "Cover",
    "TellDialog",
    "WorkloadDialog",
]

_STEP = 5
_WIDTH = 50  # in text heights


class _Question(QDialog):
    """A window with a title, something, and a button to go on."""

    def __init__(self, title: str, go_on: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        size = base_pixel_size()
        self.setWindowTitle(title)
        self.setMinimumWidth(_WIDTH * size)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(2 * size, 2 * size, 2 * size, 2 * size)
        self.column.setSpacing(size)
        head = QLabel(title)
        head.setObjectName("heading")
        head.setTextFormat(Qt.TextFormat.PlainText)
        head.setWordWrap(True)
        self.column.addWidget(head)
        self.buttons = QDialogButtonBox()
        self.go_on = self.add_button(go_on, QDialogButtonBox.ButtonRole.AcceptRole)
        self.go_on.setDefault(True)
        self.buttons.accepted.connect(self.accept)

    def add_button(self, words: str, role: QDialogButtonBox.ButtonRole) -> QPushButton:
        """Add a button below."""
        button = self.buttons.addButton(words, role)
        if button is None:
            raise RuntimeError("Qt made no button")
        button.setAutoDefault(False)
        return button

    def add_text(self, words: str) -> QLabel:
        """Add plain text."""
        label = QLabel(words)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        self.column.addWidget(label)
        return label

    def finish_layout(self) -> None:
        """Put the buttons below all that was added."""
        self.column.addWidget(self.buttons)


class _Sure(_Question):
    """Asks whether somebody really wants to stop."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Stop here?", "Go on with the study", parent)
        self.add_text(
            "What you have done is kept. The study can go on from here another time."
        )
        self.stop = self.add_button("Stop here", QDialogButtonBox.ButtonRole.RejectRole)
        self.buttons.rejected.connect(lambda: self.done(2))
        self.finish_layout()
        self.go_on.setFocus()


class _Leavable(_Question):
    """Can be left by whoever wants to stop, once they have said that they mean it."""

    def __init__(self, title: str, go_on: str) -> None:
        super().__init__(title, go_on)
        self.stop = self.add_button(
            "Stop here …", QDialogButtonBox.ButtonRole.RejectRole
        )
        self.buttons.rejected.connect(self.reject)

    def reject(self) -> None:
        """Ask first: neither ESC nor the window's cross may end a study by mistake."""
        if _Sure(self).exec() == 2:
            super().reject()


class Cover(_Question):
    """Says that something is being done; nothing can be pressed."""

    def __init__(self) -> None:
        """Lay out."""
        super().__init__("One moment …", "")
        self.go_on.hide()
        self.words = self.add_text("")

    def tell(self, words: str) -> None:
        """Show, and say what is being done."""
        self.words.setText(words)
        self.show()
        self.repaint()

    def reject(self) -> None:
        """Stay: there is nothing to answer."""


class TellDialog(_Leavable):
    """Says something, and waits for ENTER."""

    def __init__(
        self, title: str, text: str, go_on: str = "Go on", *, last: bool = False
    ) -> None:
        """Lay out.

        Args:
            title: what it is about.
            text: plain text.
            go_on: of the button.
            last: nothing comes after it that could be stopped.
        """
        super().__init__(title, go_on)
        self._last = last
        self.stop.setVisible(not last)
        self.add_text(text)
        self.finish_layout()
        self.go_on.setFocus()

    def reject(self) -> None:
        """Ask whether to stop; after the last one there is nothing to ask."""
        if self._last:
            self.accept()
        else:
            super().reject()


class ConsentDialog(_Question):
    """Shows the consent text; goes on only once it is agreed to."""

    def __init__(self, title: str, text: str) -> None:
        """Lay out; `text` is shown as it is."""
        super().__init__(title, "I agree, begin")
        self.body = QPlainTextEdit(text)
        self.body.setReadOnly(True)
        self.body.setTabChangesFocus(True)
        self.body.setMinimumHeight(22 * base_pixel_size())
        self.body.setAccessibleName("consent text")
        self.column.addWidget(self.body)
        self.agreed = QCheckBox("I have read this and take part of my own free will")
        self.column.addWidget(self.agreed)
        self.add_button("I do not take part", QDialogButtonBox.ButtonRole.RejectRole)
        self.buttons.rejected.connect(self.reject)
        self.go_on.setEnabled(False)
        self.agreed.toggled.connect(self.go_on.setEnabled)
        self.finish_layout()
        self.body.setFocus()


class AgainDialog(_Leavable):
    """A trial's window was closed before its end: what shall count?"""

    def __init__(self, *, can_count: bool) -> None:
        """Lay out.

        Args:
            can_count: there is something that can count as not done.
        """
        super().__init__("The trial was not at its end", "Do it again")
        self.add_text(
            "The window was closed before the task was done. If that was a mistake, do "
            "the trial again; how often is noted. If you do not want to go on trying, "
            "it counts as not done."
        )
        self.gives_up = False
        self.give_up = self.add_button(
            "It counts as not done", QDialogButtonBox.ButtonRole.ActionRole
        )
        self.give_up.setEnabled(can_count)
        self.give_up.clicked.connect(self._count)
        self.finish_layout()
        self.go_on.setFocus()

    def _count(self) -> None:
        self.gives_up = True
        self.accept()


class BreakDialog(_Leavable):
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
        self.add_text(f"{done} trials are done, {left} are left.")
        self._label = self.add_text("")
        self._label.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not on the way out
        self.finish_layout()
        self._label.setFocus()
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
            "Whenever you are ready."
            if over
            else f"Rest your hands and eyes: at least {self._left_s} s more."
        )
        self.go_on.setEnabled(over)
        if over:
            self.go_on.setFocus()


class _Scale(QSlider):
    """A scale of 0 to 100 with 21 marks, that knows whether it was answered."""

    def __init__(self, answered: Callable[[], None]) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(0, 100)
        self.setSingleStep(_STEP)
        self.setPageStep(2 * _STEP)
        self.setValue(50)
        self.setMinimumHeight(2 * base_pixel_size())
        self.setObjectName("unanswered")
        self.answered = False
        self._tell = answered
        self.actionTriggered.connect(self._touched)
        self.sliderPressed.connect(self._touched)

    def _touched(self, _: int = 0) -> None:
        if not self.answered:
            self.answered = True
            self.setObjectName("")
            style = self.style()
            if style is not None:
                style.polish(self)
        self._tell()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the marks, which a style sheet leaves out, below the handle."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        style = self.style()
        if style is not None:
            part = QStyle.PixelMetric.PM_SliderLength
            handle = style.pixelMetric(part, option, self)
            painter = QPainter(self)
            painter.setPen(QPen(color(MUTED), 1.0))
            span = self.width() - handle
            for step in range(0, 101, _STEP):
                x = handle // 2 + round(step * span / 100)
                reach = 0.36 if step % 50 == 0 else 0.26
                half = round(reach * self.height())
                middle = self.height() // 2
                painter.drawLine(x, middle - half, x, middle + half)
            painter.end()
        super().paintEvent(event)


class WorkloadDialog(_Leavable):
    """The NASA-TLX form about the system just used."""

    def __init__(self, letter: str) -> None:
        """Lay out; `letter` is what the system is called before the participant."""
        super().__init__(f"How was system {letter}?", "Done")
        self.add_text(
            "Answer all six: drag, or use the arrow keys; TAB goes to the next."
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(base_pixel_size())
        self.scales: dict[str, _Scale] = {}
        self._marks: dict[str, QLabel] = {}
        for row, scale in enumerate(SCALES):
            slider = _Scale(self._refresh)
            slider.setAccessibleName(scale.title)
            slider.setAccessibleDescription(
                f"{scale.question} 0 is {scale.low}, 100 is {scale.high}."
            )
            words = QLabel(f"<b>{scale.title}</b><br>{scale.question}")
            words.setWordWrap(True)
            mark = QLabel()
            grid.addWidget(words, 2 * row, 0, 1, 2)
            grid.addWidget(mark, 2 * row, 2)
            grid.addWidget(QLabel(scale.low), 2 * row + 1, 0)
            grid.addWidget(slider, 2 * row + 1, 1)
            grid.addWidget(QLabel(scale.high), 2 * row + 1, 2)
            self.scales[scale.key], self._marks[scale.key] = slider, mark
        grid.setColumnStretch(1, 1)
        widest = max(QLabel("not answered").sizeHint().width(), 6 * base_pixel_size())
        grid.setColumnMinimumWidth(0, widest)
        grid.setColumnMinimumWidth(2, widest)
        self.column.addLayout(grid)
        self.finish_layout()
        self._refresh()
        self.scales[SCALES[0].key].setFocus()

    def _refresh(self) -> None:
        for key, slider in self.scales.items():
            self._marks[key].setText("✓" if slider.answered else "not answered")
        self.go_on.setEnabled(all(item.answered for item in self.scales.values()))

    @property
    def answers(self) -> dict[str, int]:
        """Answer of every scale, 0 to 100."""
        return {key: slider.value() for key, slider in self.scales.items()}
