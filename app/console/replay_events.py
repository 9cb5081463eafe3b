"""The events of a recording: all of them, the present one lit; a click goes there."""

import bisect
from collections.abc import Callable

from PyQt6.QtCore import QModelIndex, Qt
from PyQt6.QtGui import QPalette
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.console.theme import (
    ALARM,
    AMBER,
    MODEL_COLOR,
    MUTED,
    TEXT,
    base_pixel_size,
    color,
    font,
)
from app.console.widgets import Panel
from app.messages import Severity
from app.session.timeline import Timeline, clock_words

__all__ = ["ReplayEvents"]

_LOOKS = {
    Severity.INFO: ("·", TEXT),
    Severity.WARNING: ("▲", AMBER),
    Severity.ALARM: ("■", ALARM),
}


class _Delegate(QStyledItemDelegate):
    """Colours the rows; to change the items would lay out the list anew."""

    def __init__(self, shades: list[str]) -> None:
        super().__init__()
        self._shades = shades
        self.now = -1
        """The newest row that has happened."""

    def initStyleOption(
        self, option: QStyleOptionViewItem | None, index: QModelIndex
    ) -> None:
        """Dim what is still to come."""
        super().initStyleOption(option, index)
        if option is not None:
            past = index.row() <= self.now
            shade = color(self._shades[index.row()]) if past else color(MUTED, 0.6)
            option.palette.setColor(QPalette.ColorRole.Text, shade)


class ReplayEvents(Panel):
    """Events and marks in their order; those still to come are dim."""

    def __init__(self, timeline: Timeline, go: Callable[[int], None]) -> None:
        """List everything.

        Args:
            timeline: of the recording.
            go: is called with the time [ns] of what is clicked.
        """
        super().__init__("Events and marks (click: go there)")
        rows = [
            (event.time_ns, *_LOOKS[event.severity], f"{event.source}: {event.text}")
            for event in timeline.events
            if not (event.source == "operator" and event.text.startswith("Mark "))
        ]
        rows += [
            (mark.time_ns, "▼", MODEL_COLOR, f"mark {mark.number}: {mark.note}")
            for mark in timeline.marks
        ]
        rows.sort(key=lambda row: row[0])
        self._times = [row[0] for row in rows]
        self._now = -1
        self._paint = _Delegate([row[2] for row in rows])
        self.list = QListWidget()
        self.list.setItemDelegate(self._paint)
        self.list.setFont(font(base_pixel_size() - 1))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setWordWrap(True)
        self.list.setAccessibleName("events and marks")
        for time_ns, sign, _, words in rows:
            at = clock_words(time_ns - timeline.start_ns)
            item = QListWidgetItem(f"{sign}  {at}  {words}")
            item.setToolTip(words)
            self.list.addItem(item)
        self.list.itemClicked.connect(lambda item: go(self._times[self.list.row(item)]))
        self.body.addWidget(self.list)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.setMinimumHeight(6 * base_pixel_size())

    def show_time(self, time_ns: int) -> None:
        """Light what has happened by then, and show the newest of it."""
        now = bisect.bisect_right(self._times, time_ns) - 1
        if now == self._now:
            return
        self._now = self._paint.now = now
        viewport = self.list.viewport()
        if viewport is not None:
            viewport.update()
        item = self.list.item(max(now, 0))
        if item is not None:
            self.list.scrollToItem(item, QAbstractItemView.ScrollHint.PositionAtBottom)
