"""The overview of a recording: ten rows a second of what plots and timelines show.

The recorder adds to it as it writes and keeps it in the file as attachments, one a
minute (NPZ, float32). A reader has the whole session in milliseconds; of a file that
was cut, it misses a minute at most, which `app.session.index` then reads.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.clock import NS_PER_MS, NS_PER_S
from app.errors import LogError
from app.messages import Event, LinkHealth, Mark, Severity
from models.numerics import FloatArray, IntArray

__all__ = [
    "HEALTH_COLUMNS",
    "OVERVIEW_NAME",
    "OVERVIEW_STEP_NS",
    "STATE_COLUMNS",
    "SURVEYED",
    "Overview",
    "OverviewWriter",
    "join_segments",
    "survey",
]

OVERVIEW_NAME = "limblink-overview"
OVERVIEW_STEP_NS = 100 * NS_PER_MS
_SEGMENT_NS = 60 * NS_PER_S

STATE_COLUMNS = (
    *("mode", "active_source", "selected_limb", "strategy", "arm_epoch"),
    *("reach_error", "tip_model", "force_hand", "tension_model"),
    *("port_energy", "injected_energy"),
)
HEALTH_COLUMNS = (
    *("robot_state", "cut", "preset", "emulator_present", "telemetry_limit_ns"),
    *("age_ms", "command_age_ms", "rtt_ms", "loss_down", "loss_up"),
    *("down_bps", "up_bps", "delay_ms"),
    *("confirmed_coordinates", "contact_force", "confirmed_tension"),
)

SURVEYED = frozenset({"/state", "/health", "/event", "/mark"})
"""Topics that the overview is drawn from."""

_Row = NDArray[np.float32]
_Value = Callable[[str], Any]


class Overview(NamedTuple):
    """Everything that a timeline and its plots show of a recording."""

    state_ns: IntArray
    """(n,) times of the rows of `state` [ns]."""
    state: Mapping[str, FloatArray]
    """(n, k) by field of the state: `STATE_COLUMNS`, units as in the schema."""
    health_ns: IntArray
    """(m,) times of the rows of `health` [ns]."""
    health: Mapping[str, FloatArray]
    """(m, k) by field of the health: `HEALTH_COLUMNS`."""
    events: Sequence[Event]
    """Every event, oldest first."""
    marks: Sequence[Mark]
    """Every mark, oldest first."""


class _Table:
    """Rows of one message type, by time."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self.widths: dict[str, int] = {}
        self.times: list[int] = []
        self.rows: list[_Row] = []

    def add(self, time_ns: int, value: _Value) -> None:
        """Keep one row; `value` gives the field of a name."""
        parts = [
            np.asarray(value(name), dtype=np.float32).reshape(-1)
            for name in self._columns
        ]
        if not self.widths:
            self.widths = {
                name: part.size for name, part in zip(self._columns, parts, strict=True)
            }
        self.times.append(time_ns)
        self.rows.append(np.concatenate(parts))

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Times and values, as they are kept."""
        width = sum(self.widths.values())
        values = np.stack(self.rows) if self.rows else np.zeros((0, width))
        return {
            f"{name}_ns": np.asarray(self.times, dtype=np.int64),
            name: values.astype(np.float32),
            f"{name}_columns": _text(self.widths),
        }


class OverviewWriter:
    """Gathers the overview of what is being recorded, a minute at a time."""

    def __init__(self) -> None:
        self._slot = -1
        self._clear()

    def _clear(self) -> None:
        self._state = _Table(STATE_COLUMNS)
        self._health = _Table(HEALTH_COLUMNS)
        self._events: list[list[Any]] = []
        self._marks: list[list[Any]] = []

    @property
    def empty(self) -> bool:
        """Whether nothing was added since the last `take`."""
        return not (
            self._state.times or self._health.times or self._events or self._marks
        )

    @property
    def due(self) -> bool:
        """Whether a minute has gathered."""
        return any(
            len(times) > 1 and times[-1] - times[0] >= _SEGMENT_NS
            for times in (self._state.times, self._health.times)
        )

    def wants_state(self, time_ns: int) -> bool:
        """Whether a state of this time begins another tenth of a second."""
        slot = time_ns // OVERVIEW_STEP_NS
        if slot <= self._slot:
            return False
        self._slot = slot
        return True

    def add_state(self, time_ns: int, value: _Value) -> None:
        """Keep a state; ask `wants_state` first."""
        self._state.add(time_ns, value)

    def add_health(self, health: LinkHealth | Any) -> None:
        """Keep a health: a `LinkHealth`, or a message of its schema."""
        time_ns = int(np.asarray(health.time_ns).reshape(-1)[0])
        self._health.add(time_ns, lambda name: getattr(health, name))

    def add_event(self, event: Event) -> None:
        """Keep an event."""
        severity = int(event.severity)
        self._events.append([event.time_ns, severity, event.source, event.text])

    def add_mark(self, mark: Mark) -> None:
        """Keep a mark."""
        self._marks.append([mark.time_ns, mark.number, mark.note, mark.source])

    def take(self) -> bytes:
        """Return what has gathered as the bytes of an NPZ, and begin anew."""
        arrays = self._state.arrays("state") | self._health.arrays("health")
        arrays |= {"events": _text(self._events), "marks": _text(self._marks)}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        self._clear()
        return buffer.getvalue()


def survey(writer: OverviewWriter, topic: str, content: Any) -> None:
    """Add a decoded message of a topic of `SURVEYED`, as the recorder would have."""
    if topic == "/state":
        writer.add_state(content.time_ns, lambda name: getattr(content, name))
    elif topic == "/health":
        writer.add_health(content)
    elif topic == "/mark":
        mark = Mark(content.time_ns, content.number, content.note, content.source)
        writer.add_mark(mark)
    else:
        severity = Severity(content.severity)
        writer.add_event(Event(content.time_ns, severity, content.source, content.text))


def _text(value: object) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _read(array: NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())


def join_segments(segments: Iterable[bytes]) -> Overview:
    """Put the overview of a recording together.

    Args:
        segments: what `OverviewWriter.take` gave, oldest first.

    Raises:
        LogError: a segment is damaged.
    """
    try:
        tables = [_load(data) for data in segments]
        events = [row for table in tables for row in _read(table["events"])]
        marks = [row for table in tables for row in _read(table["marks"])]
        state_ns, state = _join(tables, "state", STATE_COLUMNS)
        health_ns, health = _join(tables, "health", HEALTH_COLUMNS)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise LogError(
            f"The overview in the recording is damaged ({error}). Make a new file with "
            "`limblink sessions recover`, which draws it anew."
        ) from error
    return Overview(
        state_ns,
        state,
        health_ns,
        health,
        sorted(
            (Event(row[0], Severity(row[1]), row[2], row[3]) for row in events),
            key=lambda event: event.time_ns,
        ),
        sorted((Mark(*row) for row in marks), key=lambda mark: mark.time_ns),
    )


def _load(data: bytes) -> dict[str, NDArray[Any]]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _join(
    tables: Sequence[Mapping[str, NDArray[Any]]], name: str, columns: Sequence[str]
) -> tuple[IntArray, dict[str, FloatArray]]:
    filled = [table for table in tables if table[f"{name}_ns"].size]
    if not filled:
        return np.zeros(0, dtype=np.int64), {key: np.zeros((0, 1)) for key in columns}
    times = np.concatenate([table[f"{name}_ns"] for table in filled])
    values = np.concatenate([table[name] for table in filled])
    if np.any(np.diff(times) < 0):
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
    split, start = {}, 0
    for key, width in _read(filled[0][f"{name}_columns"]).items():
        split[key] = values[:, start : start + width]
        start += width
    return times, {key: split[key] for key in columns}
