"""The events list: what happened, when, how loud, newest at the bottom."""

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem

from app.clock import NS_PER_S
from app.console.theme import ALARM, AMBER, TEXT, base_pixel_size, color, font
from app.console.widgets import Panel
from app.messages import Event, Severity

__all__ = ["EventsPanel"]

_KEPT = 300
_MARKS = {
    Severity.INFO: ("·", TEXT),
    Severity.WARNING: ("▲", AMBER),
    Severity.ALARM: ("■", ALARM),
}


class EventsPanel(Panel):
    """The newest events of the session."""

    def __init__(self) -> None:
        super().__init__("Events")
        self._first_ns = 0
        self.list = QListWidget()
        self.list.setFont(font(base_pixel_size() - 1))
        self.list.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setUniformItemSizes(False)
        self.list.setWordWrap(True)
        self.list.setAccessibleName("events")
        self.body.addWidget(self.list)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.setMinimumHeight(6 * base_pixel_size())

    def add(self, events: list[Event]) -> None:
        """Append events; stays at the newest unless a person has scrolled up."""
        if not events:
            return
        if self._first_ns == 0:
            self._first_ns = events[0].time_ns
        bar = self.list.verticalScrollBar()
        at_end = bar is None or bar.value() >= bar.maximum() - 2
        for event in events:
            mark, shade = _MARKS[event.severity]
            seconds = max(0.0, (event.time_ns - self._first_ns) / NS_PER_S)
            clock = f"{int(seconds // 60):02d}:{seconds % 60:04.1f}"
            item = QListWidgetItem(f"{mark}  {clock}  {event.source}: {event.text}")
            item.setForeground(color(shade))
            item.setToolTip(event.text)
            self.list.addItem(item)
        while self.list.count() > _KEPT:
            self.list.takeItem(0)
        if at_end:
            self.list.scrollToBottom()

    @property
    def texts(self) -> list[str]:
        """The lines that are shown, oldest first."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [item.text() for item in items if item is not None]
