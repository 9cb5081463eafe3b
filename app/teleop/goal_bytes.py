"""Bytes of goals and of their status.

| form   | bytes    | fields                                                          |
|--------|----------|-----------------------------------------------------------------|
| fine   | 18 + 6 n | id 8, form 1 = 1, kind 3, limb 3, 0 1; position 3 x i16 of      |
|        |          | 0.1 mm; normal 3 x i8; speed 8 of 0.25 mm/s; force 16 of 1 mN;  |
|        |          | time 16 of 10 ms; tolerance 8 of 0.1 mm; n 8, points as position|
| coarse | 8 + 4 n  | id 8, form 1 = 0, kind 3, limb 3, 0 1; position 3 x 12 of 1 mm; |
|        |          | speed 4 of 3.125 mm/s; force 4 of 0.3125 N; tolerance 4 of      |
|        |          | 1 mm; n <= 2 points, each 2 + 3 x 10 of 1 mm from position      |
| press  | 8        | coarse: the same first 16; normal 3 x i8, force 9 of 10 mN,     |
|        |          | time 7 of 0.5 s, speed 4, tolerance 4                           |

A status is 26 bits: id 8, state 3, reason 4, progress 4, force 7 of 0.1 N.
"""

import math
import struct
from collections.abc import Iterable

from app.errors import FrameError
from app.teleop.goals import (
    GREATEST_FORCE,
    GREATEST_SPEED,
    Goal,
    GoalKind,
    GoalReason,
    GoalState,
    GoalStatus,
    Vector,
)

__all__ = ["coarse_goal", "fine_goal", "pack_status", "read_goal", "read_status"]

_MOST_POINTS, _MOST_COARSE_POINTS = 7, 2
_FINE = struct.Struct(">BB3h3bBHHBB")
_FINE_BIT = 0x80
_STEP, _COARSE_STEP = 1e-4, 1e-3
_SPEED_STEP, _COARSE_SPEED_STEP = 0.25e-3, 3.125e-3
_COARSE_FORCE_STEP, _PRESS_FORCE_STEP = 0.3125, 0.01
_UNIT = 127.0


def fine_goal(goal: Goal) -> bytes:
    """Return the bytes of a goal for packed frames.

    Raises:
        FrameError: a value is not finite, or a number is out of range.
    """
    _check(goal, _MOST_POINTS)
    words = [_word(value, _STEP, 16) for value in goal.position]
    normal = [_word(value, 1.0 / _UNIT, 8) for value in goal.normal]
    content = _FINE.pack(
        goal.number,
        _FINE_BIT | goal.kind << 4 | goal.limb << 1,
        *words,
        *normal,
        _count(goal.speed, _SPEED_STEP, 8),
        _count(goal.force, 1e-3, 16),
        _count(goal.time, 0.01, 16),
        _count(goal.tolerance, _STEP, 8),
        len(goal.points),
    )
    for point in goal.points:
        content += struct.pack(">3h", *(_word(value, _STEP, 16) for value in point))
    return content


def coarse_goal(goal: Goal) -> bytes:
    """Return the bytes of a goal for compact frames: 8, and 4 more for each point.

    Raises:
        FrameError: as `fine_goal`; or the position is more than 2 m from the hull's
            origin, or a point more than 0.5 m from it.
    """
    _check(goal, _MOST_COARSE_POINTS)
    if goal.kind is GoalKind.PRESS:
        tail = _joined((_word(value, 1.0 / _UNIT, 8) for value in goal.normal), 8)
        tail = tail << 9 | _count(goal.force, _PRESS_FORCE_STEP, 9)
        tail = tail << 7 | _count(goal.time, 0.5, 7)
    else:
        tail = _joined((_near(value, 12) for value in goal.position), 12)
    tail = tail << 4 | _level(goal.speed, _COARSE_SPEED_STEP)
    if goal.kind is not GoalKind.PRESS:
        tail = tail << 4 | _level(goal.force, _COARSE_FORCE_STEP)
    tail = tail << 4 | _level(goal.tolerance, _COARSE_STEP)
    content = bytes([goal.number, goal.kind << 4 | goal.limb << 1])
    content += tail.to_bytes(6, "big")
    for point in goal.points:
        offsets = (
            _near(value - own, 10)
            for value, own in zip(point, goal.position, strict=True)
        )
        content += _joined(offsets, 10).to_bytes(4, "big")
    return content


def read_goal(content: bytes) -> Goal:
    """Return the goal of either form; all its values are within their ranges.

    Raises:
        FrameError: wrong length, number, kind, or a normal without length.
    """
    if len(content) < 8 or not content[0] or content[1] & 1:
        raise FrameError(f"Goal {content.hex()!r}: too short, without number, or new.")
    number = content[1] >> 4 & 0x07
    if number > max(GoalKind):
        raise FrameError(f"Goal of kind {number}: 0..{int(max(GoalKind))}.")
    kind, limb = GoalKind(number), content[1] >> 1 & 0x07
    read = _read_fine if content[1] & _FINE_BIT else _read_coarse
    goal = read(content, kind, limb)
    if kind is GoalKind.PRESS and not any(goal.normal):
        raise FrameError("A goal to press has no normal.")
    return goal


def pack_status(status: GoalStatus) -> int:
    """Return the 26 bits of a status."""
    value = status.number << 3 | status.state
    value = value << 4 | status.reason
    value = value << 4 | _count(status.progress, 1.0 / 15.0, 4)
    return value << 7 | _count(status.force, 0.1, 7)


def read_status(value: int) -> GoalStatus:
    """Undo `pack_status`.

    Raises:
        FrameError: a state or reason that is not known.
    """
    state, reason = value >> 15 & 0x07, value >> 11 & 0x0F
    if state > max(GoalState) or reason > max(GoalReason):
        raise FrameError(f"Goal state {state}, reason {reason}: not known.")
    return GoalStatus(
        number=value >> 18,
        state=GoalState(state),
        reason=GoalReason(reason),
        progress=(value >> 7 & 0x0F) / 15.0,
        force=0.1 * (value & 0x7F),
    )


def _check(goal: Goal, points: int) -> None:
    if not (1 <= goal.number <= 255 and 0 <= goal.limb <= 7):
        raise FrameError(f"Goal {goal.number} of limb {goal.limb}: 1..255, 0..7.")
    if len(goal.points) > points:
        raise FrameError(
            f"Goal has {len(goal.points)} points: at most {points} here; make it two."
        )


def _word(value: float, step: float, bits: int) -> int:
    """A signed number of steps; beyond the range, its end."""
    if not math.isfinite(value):
        raise FrameError(f"A goal holds {value}: it must be finite.")
    half = 1 << (bits - 1)
    return min(max(round(value / step), -half), half - 1)


def _near(value: float, bits: int) -> int:
    """A signed number of millimetres; a position is never told as another one."""
    code = _word(value, _COARSE_STEP, bits + 8)
    half = 1 << (bits - 1)
    if not -half <= code < half:
        raise FrameError(
            f"A goal holds {value:.3f} m: a compact frame tells {-half} to "
            f"{half - 1} mm. Use a faster link."
        )
    return code


def _count(value: float, step: float, bits: int) -> int:
    """An unsigned number of steps; beyond the range, its end."""
    if not math.isfinite(value):
        raise FrameError(f"A goal holds {value}: it must be finite.")
    return min(max(round(value / step), 0), (1 << bits) - 1)


def _level(value: float, step: float) -> int:
    """Four bits for 1 to 16 steps."""
    return min(max(_count(value, step, 5), 1), 16) - 1


def _joined(codes: Iterable[int], bits: int) -> int:
    value = 0
    for code in codes:
        value = value << bits | code & ((1 << bits) - 1)
    return value


def _signed(code: int, bits: int) -> int:
    code &= (1 << bits) - 1
    return code - (1 << bits) if code >> (bits - 1) else code


def _three(value: int, bits: int, step: float) -> Vector:
    x, y, z = (step * _signed(value >> shift * bits, bits) for shift in (2, 1, 0))
    return x, y, z


def _unit(vector: Vector) -> Vector:
    size = math.hypot(*vector)
    x, y, z = (value / size if size > 0.0 else 0.0 for value in vector)
    return x, y, z


def _read_fine(content: bytes, kind: GoalKind, limb: int) -> Goal:
    size = _FINE.size
    if len(content) < size or len(content) != size + 6 * content[size - 1]:
        raise FrameError(f"Goal has {len(content)} bytes: {size}, and 6 a point.")
    number, _, x, y, z, i, j, k, speed, force, time, tolerance, count = (
        _FINE.unpack_from(content)
    )
    if count > _MOST_POINTS:
        raise FrameError(f"Goal has {count} points: at most {_MOST_POINTS}.")
    points = []
    for at in range(size, len(content), 6):
        u, v, w = struct.unpack_from(">3h", content, at)
        points.append((_STEP * u, _STEP * v, _STEP * w))
    return Goal(
        number=number,
        kind=kind,
        limb=limb,
        position=(_STEP * x, _STEP * y, _STEP * z),
        normal=_unit((i, j, k)),
        points=tuple(points),
        speed=min(_SPEED_STEP * max(speed, 1), GREATEST_SPEED),
        force=min(1e-3 * force, GREATEST_FORCE),
        time=0.01 * time,
        tolerance=_STEP * max(tolerance, 1),
    )


def _read_coarse(content: bytes, kind: GoalKind, limb: int) -> Goal:
    points = (len(content) - 8) // 4
    if len(content) % 4 or points > _MOST_COARSE_POINTS:
        raise FrameError(f"Goal has {len(content)} bytes: 8, 12 or 16.")
    tail = int.from_bytes(content[2:8], "big")
    if kind is GoalKind.PRESS:
        return Goal(
            number=content[0],
            kind=kind,
            limb=limb,
            normal=_unit(_three(tail >> 24, 8, 1.0)),
            force=min(_PRESS_FORCE_STEP * (tail >> 15 & 0x1FF), GREATEST_FORCE),
            time=0.5 * (tail >> 8 & 0x7F),
            speed=_COARSE_SPEED_STEP * ((tail >> 4 & 0x0F) + 1),
            tolerance=_COARSE_STEP * ((tail & 0x0F) + 1),
        )
    position = _three(tail >> 12, 12, _COARSE_STEP)
    offsets = (
        _three(int.from_bytes(content[at : at + 4], "big"), 10, _COARSE_STEP)
        for at in range(8, len(content), 4)
    )
    return Goal(
        number=content[0],
        kind=kind,
        limb=limb,
        position=position,
        points=tuple(
            (position[0] + x, position[1] + y, position[2] + z) for x, y, z in offsets
        ),
        speed=_COARSE_SPEED_STEP * ((tail >> 8 & 0x0F) + 1),
        force=_COARSE_FORCE_STEP * ((tail >> 4 & 0x0F) + 1),
        tolerance=_COARSE_STEP * ((tail & 0x0F) + 1),
    )
