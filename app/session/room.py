"""How much of a session the disk has room for."""

import os
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

__all__ = ["Detail", "Room", "detail_for", "room_at"]

_SOME_BYTES = 512 << 20
_LITTLE_BYTES = 128 << 20
_MORE = 1.25  # detail comes back only where there is so much more room


class Detail(IntEnum):
    """What is kept."""

    ALL = 0
    THINNED = 1  # every tenth state; neither packets nor frames
    ESSENTIAL = 2  # events, marks, health, settings, operators, every 100th state


class Room(NamedTuple):
    """What a disk has left."""

    free_bytes: int
    total_bytes: int


def room_at(path: Path) -> Room | None:
    """Return the room on the disk of a file, None where the system does not tell."""
    try:
        told = os.statvfs(path.parent)
    except OSError:
        return None
    return Room(told.f_bavail * told.f_frsize, told.f_blocks * told.f_frsize)


def detail_for(room: Room, now: Detail) -> Detail:
    """Return how much detail to keep.

    Thinning starts below 512 MB and what remains is for the essential below 128 MB, or
    below 10 % and 2.5 % of a disk on which those are less.

    Args:
        room: what is left.
        now: how much is kept now; it changes back only well past the limit.
    """
    some = min(_SOME_BYTES, room.total_bytes // 10)
    little = min(_LITTLE_BYTES, room.total_bytes // 40)
    free = room.free_bytes
    for detail, limit in ((Detail.ESSENTIAL, little), (Detail.THINNED, some)):
        if free < limit * (_MORE if now >= detail else 1.0):
            return detail
    return Detail.ALL
