"""What the console wants of the others; it writes, they read."""

from typing import NamedTuple

from app.messages.shapes import ONE_FLOAT, ONE_INT, Shapes
from models.numerics import FloatArray, IntArray

__all__ = [
    "LINK_OVERRIDES",
    "LINK_WISH_SHAPES",
    "TELEOP_WISH_SHAPES",
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


TELEOP_WISH_SHAPES: Shapes = dict.fromkeys(TeleopWish._fields, ONE_INT)
