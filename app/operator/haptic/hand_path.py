"""What a simulated hand wants to do: where it moves, what it holds down.

Pure functions of time, so that a virtual device does the same on any clock. Paths are
in the device's frame about the middle of its workspace; the hand begins at rest and
takes a second to come up to speed.
"""

import math
from typing import NamedTuple

from app.errors import ConfigError

__all__ = ["HAND_PATHS", "HandAim", "hand_aim"]

HAND_PATHS = ("still", "circle", "line", "press")
"""still: rests in the middle; circle: of 30 mm in the horizontal plane, 8 s a round;
line: 40 mm to and fro along the depth; press: goes 40 mm deep and pushes there."""

_RADIUS = 0.03
_ROUND_S = 8.0
_LINE = 0.04
_LINE_S = 4.0
_PRESS_S = 6.0
_PUSH = 1.5
_EASE_S = 1.0


class HandAim(NamedTuple):
    """What the hand wants now.

    Attributes:
        position: about the middle of the workspace [m].
        velocity: [m/s].
        push: force that it wants to push with [N]; zeros: none.
    """

    position: tuple[float, float, float]
    velocity: tuple[float, float, float]
    push: tuple[float, float, float]


_STILL = HandAim((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def hand_aim(path: str, time_s: float) -> HandAim:
    """Tell what the hand wants, `time_s` [s] after it took hold.

    Raises:
        ConfigError: no such path.
    """
    if path == "still" or time_s <= 0.0:
        aim = _STILL
    elif path == "circle":
        rate = 2.0 * math.pi / _ROUND_S
        grown, growth = _ease(time_s)
        c, s = math.cos(rate * time_s), math.sin(rate * time_s)
        x, y = _RADIUS * (c - 1.0), _RADIUS * s
        vx, vy = -_RADIUS * rate * s, _RADIUS * rate * c
        aim = HandAim(
            (grown * x, grown * y, 0.0),
            (grown * vx + growth * x, grown * vy + growth * y, 0.0),
            (0.0, 0.0, 0.0),
        )
    elif path == "line":
        deep, speed = _to_and_fro(time_s, _LINE_S)
        aim = HandAim((0.0, deep, 0.0), (0.0, speed, 0.0), (0.0, 0.0, 0.0))
    elif path == "press":
        deep, speed = _to_and_fro(time_s, _PRESS_S)
        there = deep > 0.999 * _LINE
        push = (0.0, _PUSH, 0.0) if there else (0.0, 0.0, 0.0)
        aim = HandAim((0.0, deep, 0.0), (0.0, speed, 0.0), push)
    else:
        raise ConfigError(
            f"No path {path!r} of a hand; there are {', '.join(HAND_PATHS)}."
        )
    return aim


def _ease(time_s: float) -> tuple[float, float]:
    """Rise smoothly from 0 to 1, and how fast [1/s]."""
    if time_s >= _EASE_S:
        return 1.0, 0.0
    s = time_s / _EASE_S
    return s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / _EASE_S


def _to_and_fro(time_s: float, period_s: float) -> tuple[float, float]:
    """Go there in a quarter, rest for a quarter, come back likewise; minimum jerk."""
    quarter = 0.25 * period_s
    phase = math.fmod(time_s, period_s)
    if phase < quarter:
        s, sign, start = phase / quarter, 1.0, 0.0
    elif phase < 2.0 * quarter:
        return _LINE, 0.0
    elif phase < 3.0 * quarter:
        s, sign, start = (phase - 2.0 * quarter) / quarter, -1.0, _LINE
    else:
        return 0.0, 0.0
    shape = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    speed = 30.0 * s * s * (1.0 - s) ** 2
    return start + sign * _LINE * shape, sign * _LINE * speed / quarter
