"""What a station's link thread did, one thing after another, so that it can be redone.

The thread receives, sends, hears of the emulator and tells what it knows, at times and
with states that only it knows. Its frames are recorded beside.
"""

from enum import IntEnum
from typing import NamedTuple

__all__ = ["LinkTurn", "TurnKind"]


class TurnKind(IntEnum):
    """One thing that a link thread does."""

    RECEIVE = 0  # a packet, and tell what is known where it was telemetry
    SEND = 1  # what goes now, from a state of the control loop
    STATUS = 2  # the emulator's word on the link
    TELL = 3  # what is known


class LinkTurn(NamedTuple):
    """One of these.

    Attributes:
        kind: which.
        time_ns: when [ns].
        state_ns: time of the state that was sent from [ns]; 0 of all else.
        made: frames that came of it.
        went: frames of these that the socket took.
    """

    kind: TurnKind
    time_ns: int
    state_ns: int = 0
    made: int = 0
    went: int = 0
