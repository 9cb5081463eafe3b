"""A simulated hand that holds a simulated handle, for the virtual devices.

    (m_d + m_h) dv/dt = F_hand + F_device - b_d v - k_d (x - x_c) - F_c tanh(v / v_c)

integrated semi-implicitly (v, then x) in steps of `HandModel.step`, three axes alike.
F_hand, m_h, and how a person holds a force are of `models.human_arm`; the force felt
is what the device pushes back. The device's mass, damping and friction are ASSUMED,
as of a small desktop device. Left out: the handle's orientation, joint limits, the
device's own inertia that varies with its posture, tremor.
"""

from typing import NamedTuple

import numpy as np

from app.errors import ConfigError
from models.human_arm import (
    FORCE_DEAD_ZONE,
    FORCE_DELAY,
    FORCE_GAIN,
    GRIPS,
    arm_force,
    arm_reference_rate,
)
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "HandData",
    "HandModel",
    "allocate_hand",
    "hand_model",
    "move_hand",
    "place_hand",
]


class HandModel(NamedTuple):
    """An arm and the handle that it holds; SI units."""

    arm_mass: float
    arm_damping: float
    arm_stiffness: float
    device_mass: float = 0.25
    device_damping: float = 0.5
    device_stiffness: float = 0.0
    """Of a cap's springs, towards `centre`."""
    friction: float = 0.05
    """Coulomb friction [N]."""
    friction_speed: float = 2e-3
    """Below it, friction grows with speed [m/s]."""
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where a cap's springs pull to [m]."""
    step: float = 2.5e-4
    """Of integration [s]."""


class HandData(NamedTuple):
    """Where the hand is."""

    time_ns: IntArray
    """(1,) up to which it has moved [ns]."""
    position: FloatArray
    """(3,) of the handle [m]."""
    velocity: FloatArray
    """(3,) of the handle [m/s]."""
    offset: FloatArray
    """(3,) by which holding a force has moved the reference [m]."""
    felt: FloatArray
    """(n, 3) force of the device, a ring over the delay [N]."""
    place: IntArray
    """(1,) in the ring."""
    force: FloatArray
    """(3,) of the hand on the handle [N]."""


def hand_model(grip: str) -> HandModel:
    """Make an arm that holds a small desktop device.

    Args:
        grip: one of `models.human_arm.GRIPS`.

    Raises:
        ConfigError: no such grip.
    """
    if grip not in GRIPS:
        raise ConfigError(f"No grip {grip!r}; there are {', '.join(GRIPS)}.")
    return HandModel(*GRIPS[grip])


def allocate_hand(model: HandModel) -> HandData:
    """Make a hand at rest at the origin."""
    return HandData(
        np.zeros(1, dtype=np.int64),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros((max(1, round(FORCE_DELAY / model.step)), 3)),
        np.zeros(1, dtype=np.int64),
        np.zeros(3),
    )


def place_hand(data: HandData, now_ns: int, position: FloatArray) -> None:
    """Put the hand at rest at (3,) `position` [m], without a force felt."""
    data.time_ns[0] = now_ns
    data.position[:] = position
    for array in (data.velocity, data.offset, data.felt, data.force):
        array[:] = 0.0


@kernel
def move_hand(
    model: HandModel,
    now_ns: int,
    reference: FloatArray,
    reference_velocity: FloatArray,
    device_force: FloatArray,
    hold: FloatArray,
    data: HandData,
) -> int:
    """Move the hand up to now.

    Args:
        model: arm and handle.
        now_ns: up to when [ns]; the force is taken as constant since the last call.
        reference: (3,) where the hand wants to be now [m].
        reference_velocity: (3,) how fast it wants to move [m/s].
        device_force: (3,) of the device on the hand [N].
        hold: (3,) force that the hand wants to push with [N]; zeros: none, it follows
            its reference only.
        data: moved in place.

    Returns:
        Number of steps that were taken.
    """
    mass = model.arm_mass + model.device_mass
    centre = model.centre
    step_ns = round(model.step * 1e9)
    ring = data.felt.shape[0]
    steps = (now_ns - data.time_ns[0]) // step_ns
    wanted = 0.0
    for i in range(3):
        wanted += hold[i] * hold[i]
    wanted = np.sqrt(wanted)
    for _ in range(steps):
        data.time_ns[0] += step_ns
        place = data.place[0]
        if wanted > 0.0:
            felt = 0.0
            for i in range(3):
                felt -= data.felt[place, i] * hold[i] / wanted
            rate = arm_reference_rate(wanted, felt, FORCE_GAIN, FORCE_DEAD_ZONE)
            for i in range(3):
                data.offset[i] += rate * model.step * hold[i] / wanted
        else:
            for i in range(3):
                data.offset[i] = 0.0
        left = (now_ns - data.time_ns[0]) * 1e-9
        for i in range(3):
            data.felt[place, i] = device_force[i]
            aim = reference[i] - left * reference_velocity[i] + data.offset[i]
            speed = data.velocity[i]
            data.force[i] = arm_force(
                model.arm_damping,
                model.arm_stiffness,
                aim,
                reference_velocity[i],
                data.position[i],
                speed,
            )
            total = (
                data.force[i]
                + device_force[i]
                - model.device_damping * speed
                - model.device_stiffness * (data.position[i] - centre[i])
                - model.friction * np.tanh(speed / model.friction_speed)
            )
            data.velocity[i] = speed + model.step * total / mass
            data.position[i] += model.step * data.velocity[i]
        data.place[0] = (place + 1) % ring
    return int(max(steps, 0))
