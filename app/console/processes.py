"""The processes panel: what runs, how it ended, and a way to start it again."""

import threading
from typing import Protocol

from PyQt6.QtWidgets import QGridLayout, QLabel

from app.console.theme import ALARM, AMBER, GOOD, MUTED, base_pixel_size
from app.console.widgets import HoldButton, Panel
from app.errors import LimblinkError

__all__ = ["ProcessesPanel", "SupervisorLike"]

_HOLD_MS = 600


class SupervisorLike(Protocol):
    """What is needed of the supervisor that owns the session's processes."""

    def status(self) -> dict[str, str]:
        """Return process name -> "running (pid)" or how it ended."""

    def restart(self, name: str) -> None:
        """End that process if it still runs, and start it anew."""


class ProcessesPanel(Panel):
    """One row a process."""

    def __init__(self, supervisor: SupervisorLike | None) -> None:
        super().__init__("Processes")
        self._supervisor = supervisor
        self._restarting: dict[str, threading.Thread] = {}
        self._failed: dict[str, str] = {}
        self._rows: dict[str, tuple[QLabel, HoldButton]] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self.body.addLayout(self._grid)
        if supervisor is None:
            note = QLabel("Attached: the processes belong to another console.")
            note.setObjectName("muted")
            note.setWordWrap(True)
            self.body.addWidget(note)
        self.refresh()

    def restart(self, name: str) -> None:
        """Start a process anew beside the window, which must not wait for it."""
        supervisor = self._supervisor
        if supervisor is None or name in self._restarting:
            return

        def work() -> None:
            try:
                supervisor.restart(name)
                self._failed.pop(name, None)
            except (LimblinkError, OSError) as error:
                self._failed[name] = str(error)

        thread = threading.Thread(target=work, name=f"restart-{name}", daemon=True)
        self._restarting[name] = thread
        thread.start()

    @property
    def ended(self) -> list[str]:
        """Names of processes that have ended."""
        return [
            name for name, (label, _) in self._rows.items() if _is_ended(label.text())
        ]

    def words(self, name: str) -> str:
        """What is shown of a process."""
        return self._rows[name][0].text()

    def button(self, name: str) -> HoldButton:
        """Return the restart button of a process."""
        return self._rows[name][1]

    def refresh(self) -> None:
        """Show what runs."""
        if self._supervisor is None:
            return
        for name, thread in list(self._restarting.items()):
            if not thread.is_alive():
                thread.join()
                del self._restarting[name]
        for name, words in self._supervisor.status().items():
            if name not in self._rows:
                self._add(name)
            label, button = self._rows[name]
            if name in self._restarting:
                text, shade = "restarting…", AMBER
            elif name in self._failed and not words.startswith("running"):
                text, shade = self._failed[name], ALARM
            else:
                text = words
                shade = GOOD if words.startswith("running") else ALARM
            if text == label.text():
                continue
            label.setText(text)
            label.setToolTip(text)
            label.setStyleSheet(f"color: {shade}")
            button.setEnabled(name not in self._restarting)

    def _add(self, name: str) -> None:
        row = len(self._rows)
        caption = QLabel(name)
        label = QLabel("")
        label.setMinimumWidth(1)
        button = HoldButton("Restart", _HOLD_MS, lambda: self.restart(name), AMBER)
        button.setToolTip(f"Hold to end the {name} process and start it anew.")
        button.setAccessibleName(f"restart {name}")
        button.setStyleSheet(
            f"padding: 1px 8px 3px; font-size: {base_pixel_size() - 2}px"
        )
        self._grid.addWidget(caption, row, 0)
        self._grid.addWidget(label, row, 1)
        self._grid.addWidget(button, row, 2)
        label.setStyleSheet(f"color: {MUTED}")
        self._rows[name] = (label, button)

    def close_threads(self) -> None:
        """Wait for restarts that are under way."""
        for thread in self._restarting.values():
            thread.join()
        self._restarting.clear()


def _is_ended(words: str) -> bool:
    return words.startswith("ended")
