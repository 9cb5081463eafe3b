"""One sample of an operator, and its shared form."""

import struct
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from app.messages.shapes import ONE_FLOAT, ONE_INT, Shapes
from models.numerics import FloatArray, IntArray

__all__ = [
    "INPUT_SHAPES",
    "InputBlock",
    "InputMode",
    "OperatorInput",
    "Source",
    "put_sample",
]


_WORDS = struct.Struct("=6q10d4q")  # three vectors and the grip between integers
_RATE = 6  # the first vector's place


class Source(IntEnum):
    """Who may command; one in charge at a time, the first that holds its deadman."""

    GAMEPAD = 0
    CONSOLE = 1
    SCRIPT = 2
    HAPTIC = 3


class InputMode(IntEnum):
    """How an operator's sample is to be read."""

    NEUTRAL = 0
    RATE = 1  # `rate` moves the tip target
    TARGET = 2  # `target` is where the tip shall go


class OperatorInput(NamedTuple):
    """One sample of an operator, stamped at the device.

    Attributes:
        stamp_ns: when the device was read [ns].
        present: the device is connected.
        deadman: the operator holds the deadman; nothing moves without it.
        clutch: held: the device may move, the target stays.
        mode: how `rate` and `target` are to be read.
        limb: index of the limb that the operator has selected.
        rate: wanted tip velocity over the tip speed limit, each -1..1, hull frame.
        target: wanted tip position [m], hull frame.
        velocity: of `target`, as a haptic device measures it [m/s]; of others not read.
        grip: how far the limb's gripper shall be closed, 0 open to 1.
        arm_count: counts presses of arm; only a change matters. Likewise the others.
        disarm_count: presses of disarm.
        estop_count: presses of emergency stop.
        estop_reset_count: presses of emergency stop reset.
    """

    stamp_ns: int
    present: bool = False
    deadman: bool = False
    clutch: bool = False
    mode: InputMode = InputMode.NEUTRAL
    limb: int = 0
    rate: tuple[float, float, float] = (0.0, 0.0, 0.0)
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    grip: float = 0.0
    arm_count: int = 0
    disarm_count: int = 0
    estop_count: int = 0
    estop_reset_count: int = 0


def _three(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z


class InputBlock(NamedTuple):
    """Shared form of `OperatorInput`, field by field; one mailbox for each `Source`."""

    stamp_ns: IntArray
    present: IntArray
    deadman: IntArray
    clutch: IntArray
    mode: IntArray
    limb: IntArray
    rate: FloatArray
    target: FloatArray
    velocity: FloatArray
    grip: FloatArray
    arm_count: IntArray
    disarm_count: IntArray
    estop_count: IntArray
    estop_reset_count: IntArray

    def sample(self) -> OperatorInput:
        """Undo `put_sample`."""
        return OperatorInput(
            stamp_ns=int(self.stamp_ns[0]),
            present=bool(self.present[0]),
            deadman=bool(self.deadman[0]),
            clutch=bool(self.clutch[0]),
            mode=InputMode(int(self.mode[0])),
            limb=int(self.limb[0]),
            rate=_three(self.rate),
            target=_three(self.target),
            velocity=_three(self.velocity),
            grip=float(self.grip[0]),
            arm_count=int(self.arm_count[0]),
            disarm_count=int(self.disarm_count[0]),
            estop_count=int(self.estop_count[0]),
            estop_reset_count=int(self.estop_reset_count[0]),
        )


def put_sample(sample: OperatorInput, words_out: IntArray) -> None:
    """Write a sample as an `InputBlock`, whose fields lie in order, end to end.

    Args:
        sample: it.
        words_out: of the block, as `app.control.mailbox` lays it out.
    """
    _WORDS.pack_into(
        words_out.data,
        0,
        *sample[:_RATE],
        *sample.rate,
        *sample.target,
        *sample.velocity,
        *sample[_RATE + 3 :],
    )


INPUT_SHAPES: Shapes = dict.fromkeys(InputBlock._fields, ONE_INT) | {
    "rate": (np.float64, (3,)),
    "target": (np.float64, (3,)),
    "velocity": (np.float64, (3,)),
    "grip": ONE_FLOAT,
}
