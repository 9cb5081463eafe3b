"""A recorded hand: its place, or the force it put on the handle, over again.

A CSV with `time_s` and either `x_mm, y_mm, z_mm` (where the hand was from where it
began, hull frame) or `fx_n, fy_n, fz_n`. A recorded force moves a handle of 0.3 kg and
2 N s/m, against what is felt now. It is an open-loop operator: a replayed place hides
how a person would have reacted, and results must be labelled so.
"""

import csv
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.errors import ConfigError
from app.messages import Event, Severity
from app.operator.look import Seen
from app.operator.performer import Act
from models.numerics import FloatArray

__all__ = ["Recording", "ReplayHand", "read_recording"]

_COLUMNS = {
    "place": (("x_mm", "y_mm", "z_mm"), 1e-3),
    "force": (("fx_n", "fy_n", "fz_n"), 1.0),
}
_HANDLE_MASS = 0.3  # [kg]
_HANDLE_DAMPING = 2.0  # [N s/m]
_STEP_S = 1e-3


class Recording(NamedTuple):
    """What was recorded."""

    kind: Literal["place", "force"]
    time_s: FloatArray
    """(n,) increasing, from 0 [s]."""
    values: FloatArray
    """(n, 3) places from the first one [m], or forces [N]."""

    def at(self, time_s: float) -> FloatArray:
        """Return the (3,) value at a time [s], linear between rows."""
        return np.array(
            [np.interp(time_s, self.time_s, self.values[:, i]) for i in range(3)]
        )


def read_recording(path: Path) -> Recording:
    """Read a recorded hand.

    Raises:
        ConfigError: unreadable, columns missing, not numbers, or times that go back.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{path}: cannot be read: {error}.") from error
    heads = set(rows[0]) if rows else set()
    kind = next((k for k, (names, _) in _COLUMNS.items() if heads >= set(names)), None)
    if len(rows) < 2 or kind is None or "time_s" not in heads:
        raise ConfigError(
            f"{path}: not a recorded hand. Needed: two rows or more under time_s and "
            "x_mm, y_mm, z_mm (or fx_n, fy_n, fz_n)."
        )
    names, scale = _COLUMNS[kind]
    try:
        time_s = np.array([float(row["time_s"]) for row in rows])
        values = scale * np.array([[float(row[n]) for n in names] for row in rows])
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{path}: a value is not a number: {error}.") from error
    if not (np.isfinite(values).all() and np.all(np.diff(time_s) > 0.0)):
        raise ConfigError(f"{path}: time_s must increase, and all must be finite.")
    if kind == "place":
        values -= values[0]
        return Recording("place", time_s - time_s[0], values)
    return Recording("force", time_s - time_s[0], values)


class ReplayHand:
    """Does what was recorded, once, from where the tip is."""

    def __init__(self, recording: Recording) -> None:
        """Prepare."""
        self._recording = recording
        self._begun_ns: int | None = None
        self._last_ns = 0
        self._done_s = 0.0  # of the recording, before the last pause
        self._origin: FloatArray = np.zeros(3)
        self._hand: FloatArray = np.zeros(3)
        self._velocity: FloatArray = np.zeros(3)
        self._events: list[Event] = []

    def take_up(self, now_ns: int, place: FloatArray) -> None:
        """Begin, or go on after a pause, with the tip commanded to (3,) [m]."""
        if self._begun_ns is None:
            text = "Open-loop operator: a recorded hand does not react to what it sees."
            self._events.append(Event(now_ns, Severity.INFO, "operator", text))
        else:
            self._done_s += (self._last_ns - self._begun_ns) / NS_PER_S
        self._begun_ns = self._last_ns = now_ns
        self._hand, self._velocity = place.copy(), np.zeros(3)
        self._origin = place.copy()
        if self._recording.kind == "place":
            self._origin -= self._recording.at(self._done_s)

    def step(self, now_ns: int, seen: Seen) -> Act:
        """Return what it does at `now_ns` [ns]."""
        begun_ns = now_ns if self._begun_ns is None else self._begun_ns
        time_s = self._done_s + (now_ns - begun_ns) / NS_PER_S
        if self._recording.kind == "place":
            self._hand = self._origin + self._recording.at(time_s)
        else:
            self._push(time_s, (now_ns - self._last_ns) / NS_PER_S, seen.force)
        self._last_ns = now_ns
        return Act(self._hand.copy())

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events, self._events = self._events, []
        return events

    def _push(self, time_s: float, period: float, reaction: FloatArray) -> None:
        steps = max(1, int(np.ceil(period / _STEP_S)))
        h = period / steps
        over = time_s > float(self._recording.time_s[-1])
        pushed = np.zeros(3) if over else self._recording.at(time_s)
        for _ in range(steps):
            force = pushed + reaction - _HANDLE_DAMPING * self._velocity
            self._velocity = self._velocity + h / _HANDLE_MASS * force
            self._hand = self._hand + h * self._velocity
