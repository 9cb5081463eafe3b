"""The picture of a replay: the view moves, the robot cannot be."""

from PyQt6.QtGui import QKeyEvent

from app.console.viewport import Viewport

__all__ = ["ReplayViewport"]


class ReplayViewport(Viewport):
    """Shows the moment; leaves every key to the window."""

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Leave it to the window."""
        if event is not None:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent | None) -> None:
        """Leave it to the window."""
        if event is not None:
            event.ignore()

    def _grab(self, limb: int, cursor: tuple[float, float]) -> None:
        self.say("This is a replay: nothing can be driven.")
