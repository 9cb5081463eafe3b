"""Panels in one place, of which one is shown; it alone says how much room is needed."""

from collections.abc import Sequence

from PyQt6.QtCore import QSize
from PyQt6.QtWidgets import QStackedWidget, QWidget

__all__ = ["Pages"]


class Pages(QStackedWidget):
    """As Qt's, but a panel that is not shown takes no room."""

    def __init__(self, panels: Sequence[QWidget]) -> None:
        """Show the first.

        Args:
            panels: that share the place.
        """
        super().__init__()
        for panel in panels:
            self.addWidget(panel)
        self.currentChanged.connect(self._tell_size)

    def _tell_size(self, _index: int) -> None:
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the shown panel's."""
        shown = self.currentWidget()
        return super().sizeHint() if shown is None else shown.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the shown panel's."""
        shown = self.currentWidget()
        return super().minimumSizeHint() if shown is None else shown.minimumSizeHint()
