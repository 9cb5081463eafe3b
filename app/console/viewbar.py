"""The row under the top bar: the sentence of the moment, strategy, view's buttons."""

from collections.abc import Callable

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QWidget

from app.console.notice import Notice
from app.console.strategy import StrategyChooser
from app.console.theme import ALARM, AMBER, MUTED, TEXT
from app.console.viewport import Viewport
from app.console.widgets import Sentence

__all__ = ["ViewBar"]

_SHADES = (MUTED, TEXT, AMBER, ALARM)
_ACTIONS = {"restart": "Restart station", "take": "Take control"}


class ViewBar(QWidget):
    """Shows a `Notice`, with its button, and changes what the picture shows."""

    def __init__(
        self,
        viewport: Viewport,
        chooser: StrategyChooser,
        act: Callable[[str], None],
        show_help: Callable[[], None],
        show_goals: Callable[[bool], None],
    ) -> None:
        """Make the row.

        Args:
            viewport: the picture.
            chooser: of the strategy; placed in this row.
            act: called with the action of the notice when its button is pressed.
            show_help: opens or closes the help.
            show_goals: shows the goals panel, or the plots.
        """
        super().__init__()
        self._viewport = viewport
        self._action = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 6, 0)
        row.setSpacing(4)
        self._words = Sentence()
        self._words.setAccessibleName("what to do now")
        self._act = QPushButton("")
        self._act.setObjectName("act")
        self._act.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._act.clicked.connect(lambda _checked: act(self._action))
        self._act.hide()
        row.addWidget(self._words)
        row.addWidget(self._act)
        row.addStretch(1)
        row.addWidget(chooser)
        row.addSpacing(6)
        camera = viewport.camera
        for text, tip, move in (
            ("Behind", "View from behind (HOME)", camera.reset),
            ("Front", "View from ahead (F2)", lambda: camera.view("front")),
            ("Side", "View from the side (F3)", lambda: camera.view("side")),
            ("Top", "View from above (F4)", lambda: camera.view("top")),
        ):
            row.addWidget(_tool(text, tip, move))
        self.skin = _switch(
            "Skin", "Smooth skin or bare sections (F5)", self._show_skin
        )
        self.inset = _switch("Inset", "The camera limb's view (F7)", self._show_inset)
        self.goals = _switch("Goals", "Goals and assistance, or plots (F9)", show_goals)
        self.goals.setChecked(False)
        row.addWidget(self.goals)
        row.addWidget(self.skin)
        row.addWidget(self.inset)
        row.addWidget(_tool("Help F1", "Keys, mouse and gamepad", show_help))

    @property
    def text(self) -> str:
        """The sentence that is shown."""
        return self._words.text()

    def show_notice(self, notice: Notice) -> None:
        """Show a sentence, and its button where it has one."""
        self._words.setText(notice.text)
        self._words.setToolTip(notice.text)
        weight = "bold" if notice.loudness > 1 else "normal"
        shade = _SHADES[notice.loudness]
        self._words.setStyleSheet(f"color: {shade}; font-weight: {weight}")
        self._action = notice.action
        self._act.setText(_ACTIONS.get(notice.action, ""))
        self._act.setVisible(bool(notice.action))

    def _show_skin(self, checked: bool) -> None:
        self._viewport.shown.skin = checked

    def _show_inset(self, checked: bool) -> None:
        self._viewport.shown.inset = checked


def _tool(text: str, tip: str, act: Callable[[], None]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setStyleSheet("padding: 3px 6px;")
    button.setToolTip(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.clicked.connect(lambda _checked: act())
    return button


def _switch(text: str, tip: str, act: Callable[[bool], None]) -> QToolButton:
    button = _tool(text, tip, lambda: None)
    button.setCheckable(True)
    button.setChecked(True)
    button.toggled.connect(act)
    return button
