"""Packets on the emulated link: which way, and how each one ended."""

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple

__all__ = ["Delivery", "Direction", "Fate", "PacketRecord", "Passage"]


class Direction(IntEnum):
    """Which way a packet goes."""

    DOWN = 0  # station to robot
    UP = 1  # robot to station

    __hash__ = int.__hash__  # packets are counted by it: an Enum's own takes its time


class Fate(Enum):
    """How a packet ended."""

    DELIVERED = "delivered"
    LOST_BURST = "lost-burst"
    LOST_RESIDUAL = "lost-residual"
    SUPERSEDED = "superseded"
    OVERSIZE = "oversize"
    CUT = "cut"

    __hash__ = object.__hash__  # likewise


class PacketRecord(NamedTuple):
    """The life of one packet; a time it never came to is 0.

    Attributes:
        direction: which way.
        key: its stream.
        size_bytes: payload.
        fate: how it ended.
        submitted_ns: taken over by the channel [ns].
        started_ns: its first bit is sent [ns].
        scheduled_due_ns: it ought to arrive [ns].
        delivered_ns: it was handed over [ns].
    """

    direction: Direction
    key: int
    size_bytes: int
    fate: Fate
    submitted_ns: int
    started_ns: int = 0
    scheduled_due_ns: int = 0
    delivered_ns: int = 0


@dataclass
class Passage:
    """A packet in the channel, as far as it has come; see `PacketRecord`.

    Attributes:
        direction: which way.
        key: its stream.
        payload: its bytes.
        submitted_ns: taken over by the channel [ns].
        fate: how it will end.
        started_ns: its first bit is sent [ns].
        ends_ns: its last bit is out [ns].
        deviation_ms: from the mean delay [ms].
        due_ns: it ought to arrive [ns].
    """

    direction: Direction
    key: int
    payload: bytes
    submitted_ns: int
    # not yet; of the class, so that beginning a packet does not write them
    fate: Fate = field(default=Fate.DELIVERED, init=False)
    started_ns: int = field(default=0, init=False)
    ends_ns: int = field(default=0, init=False)
    deviation_ms: float = field(default=0.0, init=False)
    due_ns: int = field(default=0, init=False)


class Delivery(NamedTuple):
    """A packet that arrives."""

    due_ns: int
    direction: Direction
    payload: bytes
    record: PacketRecord
