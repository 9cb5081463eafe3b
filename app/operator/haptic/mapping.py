"""From the hand to the tip and back: scale, turn, clutch, index.

    x = x0 + S R (x_h - x_h0)        F_h = S_f R^T F

R turns the device's axes into the hull's, S > 1 lets a small hand move a long arm. The
bases x0, x_h0 are taken anew whenever the hand was not moving the tip, so that neither
engaging nor letting go of the clutch moves it: hold the clutch (or let go of the
deadman), bring the hand back to the middle, and go on ("indexing").

Power at the hand is S_f / S times the power at the tip: F_h . v_h = (S_f / S) F . v.
Energies of one port must not be added to those of the other without it; `power_scale`
is that number. A strategy whose energies are all in hull units may ignore it.
"""

from typing import NamedTuple

import numpy as np

from app.messages import InputBlock
from app.operator.haptic.signals import HapticForce, HapticSample
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "AT_EDGE",
    "CLUTCHED",
    "MAPPED",
    "MappingData",
    "MappingModel",
    "allocate_mapping",
    "map_force",
    "map_hand",
    "power_scale",
]

MAPPED = 1
"""Bit: the hand moves the tip."""
CLUTCHED = 2
"""Bit: deadman held, clutch held: the hand moves, the tip stays."""
AT_EDGE = 4
"""Bit: the hand is near the end of its workspace: time to index."""

_NEUTRAL, _RATE, _TARGET = 0, 1, 2  # of InputMode


class MappingModel(NamedTuple):
    """How the hand moves the tip."""

    scale: float
    """S, movement of the tip for that of the hand."""
    force_scale: float
    """S_f, force at the hand for that at the tip."""
    rotation_device_to_hull: FloatArray
    """(3, 3) R."""
    centre: FloatArray
    """(3,) middle of the workspace, device frame [m]."""
    reach: float
    """Radius of the workspace [m]."""
    edge: float
    """Share of the radius past which the edge is near."""
    deadman: int
    """Buttons, as bits, any of which is a deadman; 0: the device has none."""
    clutch: int
    """Buttons, as bits, any of which is a clutch."""
    grip: int
    """Buttons, as bits, of which a press closes the gripper, and the next opens it."""


class MappingData(NamedTuple):
    """What the mapping remembers."""

    base_target: FloatArray
    """(3,) x0, hull frame [m]."""
    base_hand: FloatArray
    """(3,) x_h0, device frame [m]."""
    target: FloatArray
    """(3,) x, hull frame [m]."""
    velocity: FloatArray
    """(3,) of x, hull frame [m/s]."""
    opened: IntArray
    """(1,) opening of the device that the bases belong to."""
    limb: IntArray
    """(1,) limb that they belong to."""
    moving: IntArray
    """(1,) 1 while the hand moves the tip."""
    edge_nearness: FloatArray
    """(1,) distance from the middle over the radius of the workspace."""
    grip: FloatArray
    """(1,) how far the gripper shall be closed, 0 or 1."""
    gripping: IntArray
    """(1,) 1 while the gripper's button is down."""


def allocate_mapping() -> MappingData:
    """Begin without bases."""
    return MappingData(
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros(1, dtype=np.int64),
        np.full(1, -1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
    )


def power_scale(model: MappingModel) -> float:
    """Power at the hand over power at the tip, S_f / S."""
    return model.force_scale / model.scale


@kernel
def map_hand(
    model: MappingModel,
    sample: HapticSample,
    in_charge: int,
    limb: int,
    target_now: FloatArray,
    data: MappingData,
    input_out: InputBlock,
) -> int:
    """Turn the newest sample into an operator's input for the control tick.

    Args:
        model: scale, turn and buttons.
        sample: the newest reading.
        in_charge: 1 while this device is what drives the robot; while it is not, the
            bases follow, and taking charge moves nothing.
        limb: the limb that is selected.
        target_now: (3,) where that limb's tip target is, hull frame [m].
        data: bases, advanced in place.
        input_out: all but the counts of presses, which stay as they are.

    Returns:
        Bits MAPPED, CLUTCHED, AT_EDGE.
    """
    turn = model.rotation_device_to_hull
    present = sample.present[0] == 1
    held = present and (sample.buttons[0] & model.deadman) != 0
    clutched = held and (sample.buttons[0] & model.clutch) != 0
    input_out.stamp_ns[0] = sample.stamp_ns[0]
    input_out.present[0] = 1 if present else 0
    input_out.deadman[0] = 1 if held else 0
    input_out.clutch[0] = 1 if clutched else 0
    input_out.limb[0] = limb
    status = 0
    if clutched:
        status |= CLUTCHED
    pressed = held and (sample.buttons[0] & model.grip) != 0
    if pressed and data.gripping[0] == 0:
        data.grip[0] = 1.0 - data.grip[0]
    data.gripping[0] = 1 if pressed else 0
    input_out.grip[0] = data.grip[0]
    for i in range(3):
        input_out.rate[i] = 0.0
        input_out.velocity[i] = 0.0
        data.velocity[i] = 0.0
    if sample.rate_mode[0] == 1:
        input_out.mode[0] = _RATE if held else _NEUTRAL
        for i in range(3):
            input_out.target[i] = target_now[i]
            if held and not clutched:
                for j in range(3):
                    input_out.rate[i] += turn[i, j] * sample.rate[j]
        data.moving[0] = 0
        return status | (MAPPED if held and not clutched else 0)
    far = 0.0
    for i in range(3):
        far += (sample.position[i] - model.centre[i]) ** 2
    data.edge_nearness[0] = np.sqrt(far) / model.reach
    if present and data.edge_nearness[0] > model.edge:
        status |= AT_EDGE
    moves = held and not clutched and in_charge == 1
    new = (
        data.moving[0] == 0
        or data.opened[0] != sample.opened[0]
        or data.limb[0] != limb
    )
    if not moves or new:
        for i in range(3):
            data.base_target[i] = target_now[i]
            data.base_hand[i] = sample.position[i]
        data.opened[0] = sample.opened[0]
        data.limb[0] = limb
    data.moving[0] = 1 if moves else 0
    for i in range(3):
        data.target[i] = data.base_target[i]
        if moves:
            for j in range(3):
                way = model.scale * turn[i, j]
                data.target[i] += way * (sample.position[j] - data.base_hand[j])
                data.velocity[i] += way * sample.velocity[j]
        input_out.target[i] = data.target[i]
        input_out.velocity[i] = data.velocity[i]
    input_out.mode[0] = _TARGET if held else _NEUTRAL
    return status | (MAPPED if moves else 0)


@kernel
def map_force(
    model: MappingModel,
    now_ns: int,
    tick: int,
    force: FloatArray,
    rendered: int,
    force_out: HapticForce,
) -> None:
    """Turn what the tip feels into what the hand shall feel.

    Args:
        model: scales and turn.
        now_ns: present time [ns].
        tick: number of the control tick.
        force: (3,) on the hand as the strategy has worked it out, hull frame [N].
        rendered: 0 where nothing is to be felt, as while the hand does not move the
            tip; the haptic thread makes the change soft.
        force_out: in the device's frame.
    """
    turn = model.rotation_device_to_hull
    for i in range(3):
        force_out.force[i] = 0.0
        if rendered == 1:
            for j in range(3):
                force_out.force[i] += model.force_scale * turn[j, i] * force[j]
    force_out.tick[0] = tick
    force_out.time_ns[0] = now_ns
