"""What happened when in a recording, as spans and moments; drawn from its overview."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.clock import NS_PER_MS, NS_PER_S
from app.messages import Event, Mark, StationMode
from app.session.overview import OVERVIEW_STEP_NS, Overview
from models.numerics import IntArray

__all__ = ["Span", "SpanKind", "Timeline", "build_timeline", "clock_words"]

_LONGEST_STEP_NS = 4 * OVERVIEW_STEP_NS  # rows farther apart than this are a gap
_TOUCH_N = 0.5  # least force that counts as contact [N]


class SpanKind(Enum):
    """What lasted."""

    ARMED = "armed"
    STOPPED = "emergency stop"
    CUT = "link cut or in an outage"
    LATE = "no fresh pose of the robot"
    CONTACT = "contact"
    GAP = "not recorded"


class Span(NamedTuple):
    """Something that lasted."""

    kind: SpanKind
    first_ns: int
    last_ns: int

    @property
    def seconds(self) -> float:
        """How long [s]."""
        return (self.last_ns - self.first_ns) / NS_PER_S


class Timeline(NamedTuple):
    """The whole session at a glance."""

    start_ns: int
    end_ns: int
    events: Sequence[Event]
    marks: Sequence[Mark]
    spans: Sequence[Span]

    def near(self, time_ns: int, within_ns: int) -> str:
        """Say in words what is at a place: marks, events, spans.

        Args:
            time_ns: the place [ns].
            within_ns: how far off a moment may be [ns].
        """
        said = [
            f"mark {mark.number}: {mark.note}" if mark.note else f"mark {mark.number}"
            for mark in self.marks
            if abs(mark.time_ns - time_ns) <= within_ns
        ]
        said += [
            f"{event.source}: {event.text}"
            for event in self.events
            if abs(event.time_ns - time_ns) <= within_ns
        ]
        said += [
            f"{span.kind.value}, {span.seconds:.1f} s"
            for span in self.spans
            if span.first_ns - within_ns <= time_ns <= span.last_ns + within_ns
        ]
        return "\n".join(said)

    def next_moment(self, time_ns: int, step: int) -> int:
        """Return the time of the next mark, warning or outage.

        Args:
            time_ns: from here [ns].
            step: +1 forward, -1 back.

        Returns:
            Its time; the recording's end, or start, where there is none [ns].
        """
        times = sorted(
            {mark.time_ns for mark in self.marks}
            | {event.time_ns for event in self.events if event.severity}
            | {
                span.first_ns
                for span in self.spans
                if span.kind in {SpanKind.CUT, SpanKind.STOPPED, SpanKind.GAP}
            }
        )
        if step > 0:
            return next((t for t in times if t > time_ns), self.end_ns)
        return next((t for t in reversed(times) if t < time_ns), self.start_ns)


def build_timeline(overview: Overview, start_ns: int, end_ns: int) -> Timeline:
    """Find what lasted.

    Args:
        overview: of the recording.
        start_ns: its first message [ns].
        end_ns: its last [ns].
    """
    state_ns, health_ns = overview.state_ns, overview.health_ns
    spans: list[Span] = []
    if state_ns.size:
        mode = overview.state["mode"][:, 0]
        spans += _runs(SpanKind.ARMED, state_ns, mode == StationMode.ARMED)
        spans += _runs(SpanKind.STOPPED, state_ns, mode == StationMode.ESTOP)
        spans += [
            Span(SpanKind.GAP, int(state_ns[k]), int(state_ns[k + 1]))
            for k in np.flatnonzero(np.diff(state_ns) > _LONGEST_STEP_NS)
        ]
    if health_ns.size:
        health = overview.health
        limit_ms = health["telemetry_limit_ns"][:, 0] / NS_PER_MS
        age_ms = health["age_ms"][:, 0]
        heard = health["robot_state"][:, 0] >= 0
        cut = health["cut"][:, 0] > 0
        late = heard & ~cut & (limit_ms > 0) & ~(age_ms <= limit_ms)
        force = np.abs(health["contact_force"]).max(axis=1, initial=0.0)
        spans += _runs(SpanKind.CUT, health_ns, cut)
        spans += _runs(SpanKind.LATE, health_ns, late)
        spans += _runs(SpanKind.CONTACT, health_ns, force > _TOUCH_N)
    spans.sort(key=lambda span: span.first_ns)
    return Timeline(start_ns, end_ns, overview.events, overview.marks, spans)


def _runs(kind: SpanKind, times: IntArray, holds: NDArray[np.bool_]) -> list[Span]:
    """Spans in which something holds; a gap in the rows ends one."""
    spans = []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], holds.astype(int), [0]])))
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        run = times[first:last]
        breaks = np.flatnonzero(np.diff(run) > _LONGEST_STEP_NS) + 1
        spans += [
            Span(kind, int(part[0]), int(part[-1]) + OVERVIEW_STEP_NS)
            for part in np.split(run, breaks)
        ]
    return spans


def clock_words(elapsed_ns: int, *, fine: bool = False) -> str:
    """Write a time since the start as 1:02:03.4 or 02:03.4; `fine`, to 1 ms."""
    places = 3 if fine else 1
    units = round(abs(elapsed_ns) * 10**places / NS_PER_S)
    sign = "-" if elapsed_ns < 0 and units else ""
    seconds, part = divmod(units, 10**places)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    tail = f"{minutes:02d}:{seconds:02d}.{part:0{places}d}"
    return f"{sign}{hours}:{tail}" if hours else f"{sign}{tail}"
