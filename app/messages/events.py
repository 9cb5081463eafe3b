"""Something a person should know of, and its form in the shared ring of events."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from models.numerics import IntArray

__all__ = ["EVENT_WORDS", "Event", "Severity", "pack_event", "unpack_event"]


class Severity(IntEnum):
    """How loud an event is."""

    INFO = 0
    WARNING = 1
    ALARM = 2


EVENT_WORDS = 32  # an event is a row of 32 words in the shared event ring


@dataclass(frozen=True)
class Event:
    """Something a person should know of.

    Attributes:
        time_ns: when [ns].
        severity: how loud.
        source: which part speaks ("station", "robot", "link", "operator", ...).
        text: one sentence; says what to do where something can be done.
    """

    time_ns: int
    severity: Severity
    source: str
    text: str
    fields: dict[str, float] = field(default_factory=dict)


def pack_event(event: Event) -> IntArray:
    """Pack an event into a row of (32,) int64; text past 224 bytes is cut."""
    row = np.zeros(EVENT_WORDS, dtype=np.int64)
    row[0] = event.time_ns
    row[1] = int(event.severity)
    text = event.text.encode()[: 8 * (EVENT_WORDS - 4)]
    source = event.source.encode()[:16]
    octets = row.view(np.uint8)
    octets[16 : 16 + len(source)] = np.frombuffer(source, dtype=np.uint8)
    octets[32 : 32 + len(text)] = np.frombuffer(text, dtype=np.uint8)
    return row


def unpack_event(row: IntArray) -> Event:
    """Undo `pack_event`."""
    octets = np.ascontiguousarray(row).tobytes()
    return Event(
        time_ns=int(row[0]),
        severity=Severity(int(row[1])),
        source=octets[16:32].rstrip(b"\0").decode(errors="replace"),
        text=octets[32:].rstrip(b"\0").decode(errors="replace"),
    )
