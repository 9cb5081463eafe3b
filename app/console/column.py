"""A column of panels that scrolls where the window is too low for them."""

from collections.abc import Sequence

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

__all__ = ["Column"]

_BAR_PX = 10  # of the scroll bar, see app.console.theme


class Column(QScrollArea):
    """Panels under each other, all of one width, with the scroll bar beside them."""

    def __init__(
        self, panels: Sequence[QWidget], stretches: Sequence[int], width: int
    ) -> None:
        """Stack panels.

        Args:
            panels: from top to bottom.
            stretches: how the height left over is shared among them.
            width: of the panels [px].
        """
        super().__init__()
        content = QWidget()
        content.setObjectName("column")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for panel, stretch in zip(panels, stretches, strict=True):
            column.addWidget(panel, stretch)
        self._width = width
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedWidth(width)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bar = self.verticalScrollBar()
        if bar is not None:
            bar.rangeChanged.connect(self._make_room)

    def _make_room(self, _least: int, greatest: int) -> None:
        self.setFixedWidth(self._width + (_BAR_PX if greatest > 0 else 0))
