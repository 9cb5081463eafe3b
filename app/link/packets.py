"""Packets on the emulated link: which way, and how each one ended."""

from enum import Enum, IntEnum
from typing import NamedTuple

__all__ = ["Delivery", "Direction", "Fate", "PacketRecord"]


class Direction(IntEnum):
    """Which way a packet goes."""

    DOWN = 0  # station to robot
    UP = 1  # robot to station


class Fate(Enum):
    """How a packet ended."""

    DELIVERED = "delivered"
    LOST_BURST = "lost-burst"
    LOST_RESIDUAL = "lost-residual"
    SUPERSEDED = "superseded"
    OVERSIZE = "oversize"
    CUT = "cut"


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


class Delivery(NamedTuple):
    """A packet that arrives."""

    due_ns: int
    direction: Direction
    payload: bytes
    record: PacketRecord
