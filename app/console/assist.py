"""The row that switches blended assistance, sets how much, and shows what it does."""

from collections.abc import Callable

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider, QWidget

from app.console.goal_draft import GoalDraft
from app.console.goal_words import share_words
from app.console.readings import StationReadings
from app.console.theme import base_pixel_size
from app.teleop.blending import BLEND_MOST

__all__ = ["AssistRow"]

_LEAST = 5  # percent
_WORDS_WIDTH = 6.0  # in text heights


class AssistRow(QWidget):
    """On or off, the greatest share, and the share now."""

    def __init__(
        self, switch: Callable[[bool], None], choose: Callable[[float], None]
    ) -> None:
        """Make the row.

        Args:
            switch: called with on or off.
            choose: called with the greatest share, 0..1.
        """
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self.button = QPushButton("ASSIST  B")
        self.button.setCheckable(True)
        self.button.setToolTip(
            "Blended assistance (B): within 50 mm of the marked place, up to this "
            "share of the tip's speed leads there while you hold the deadman."
        )
        self.button.toggled.connect(switch)
        self.amount = QSlider(Qt.Orientation.Horizontal)
        self.amount.setRange(_LEAST, round(100 * BLEND_MOST))
        self.amount.setPageStep(10)
        self.amount.setMinimumWidth(3 * base_pixel_size())
        self.amount.setAccessibleName("greatest share of assistance in percent")
        self.amount.valueChanged.connect(lambda value: choose(0.01 * value))
        self.words = QLabel("")
        self.words.setFixedWidth(int(_WORDS_WIDTH * base_pixel_size()))
        row.addWidget(self.button)
        row.addWidget(self.amount, 1)
        row.addWidget(self.words)

    def show_draft(self, draft: GoalDraft) -> None:
        """Show what is wanted, without asking for it."""
        for widget in (self.button, self.amount):
            widget.blockSignals(True)
        self.button.setChecked(draft.assisted)
        self.amount.setValue(round(100 * draft.blend))
        for widget in (self.button, self.amount):
            widget.blockSignals(False)

    def refresh(
        self, readings: StationReadings, draft: GoalDraft, *, writable: bool
    ) -> None:
        """Show the share that assistance has now."""
        self.button.setEnabled(writable)
        self.amount.setEnabled(writable)
        words, shade = share_words(readings, draft)
        self.words.setText(words)
        self.words.setStyleSheet(f"color: {shade}")
