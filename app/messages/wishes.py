"""What the console, or a command, wants of the others; it writes, they read."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from app.messages.shapes import ONE_FLOAT, ONE_INT, Shapes
from models.numerics import FloatArray, IntArray

__all__ = [
    "GOAL_POINTS",
    "GOAL_WISH_SHAPES",
    "LINK_OVERRIDES",
    "LINK_WISH_SHAPES",
    "TELEOP_WISH_SHAPES",
    "GoalSource",
    "GoalWish",
    "LinkWish",
    "TeleopWish",
]


class LinkWish(NamedTuple):
    """What the console wants of the emulated link; written by the console.

    Negative values mean "as the preset says".
    """

    revision: IntArray  # counts changes; acted on when it moves
    preset: IntArray  # index into the sorted names of assets/links
    delay_ms: FloatArray  # one-way
    jitter_ms: FloatArray  # standard deviation
    loss: FloatArray  # residual loss 0..1
    bandwidth_bps: FloatArray  # each way
    distance_m: FloatArray  # between station and robot; sound's delay follows it
    outage_s: FloatArray  # nothing passes so long from this revision on; 0: no outage
    cut: IntArray  # 1: nothing passes
    console_pid: IntArray
    heartbeat_ns: IntArray


LINK_OVERRIDES = ("delay_ms", "jitter_ms", "loss", "bandwidth_bps", "distance_m")

LINK_WISH_SHAPES: Shapes = {
    name: ONE_FLOAT if name in (*LINK_OVERRIDES, "outage_s") else ONE_INT
    for name in LinkWish._fields
}


class TeleopWish(NamedTuple):
    """How hand and tip shall be joined; read by the control loop."""

    revision: IntArray  # counts changes; acted on when it moves
    strategy: IntArray  # an `app.teleop.strategy.Strategy`
    blend_revision: IntArray  # counts changes of what follows
    blend: FloatArray  # greatest share of blended assistance, 0 = off
    aim_limb: IntArray  # limb that it leads
    aim: FloatArray  # (3,) where to, hull frame [m]; not finite: nowhere


TELEOP_WISH_SHAPES: Shapes = dict.fromkeys(TeleopWish._fields, ONE_INT) | {
    "blend": ONE_FLOAT,
    "aim": (np.float64, (3,)),
}


class GoalSource(IntEnum):
    """Who may want goals; each has a mailbox of its own, and the newest wish counts."""

    CONSOLE = 0
    COMMAND_LINE = 1


class GoalWish(NamedTuple):
    """A goal that somebody wants of the robot; read by the station's link thread."""

    revision: IntArray  # counts goals; acted on when it moves
    kind: IntArray  # an `app.teleop.goals.GoalKind`
    limb: IntArray
    position: FloatArray  # (3,) hull frame [m]
    normal: FloatArray  # (3,)
    points: IntArray  # how many of `path` count
    path: FloatArray  # (GOAL_POINTS, 3) on the way there [m]
    speed: FloatArray  # [m/s]
    force: FloatArray  # [N]
    time: FloatArray  # [s]
    tolerance: FloatArray  # [m]


GOAL_POINTS = 7
"""Points on the way that a goal holds at most."""

GOAL_WISH_SHAPES: Shapes = {
    name: ONE_INT if name in ("revision", "kind", "limb", "points") else ONE_FLOAT
    for name in GoalWish._fields
} | {
    "position": (np.float64, (3,)),
    "normal": (np.float64, (3,)),
    "path": (np.float64, (GOAL_POINTS, 3)),
}
