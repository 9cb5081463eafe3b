"""Drives of leg joints: position servos behind springs, limited in torque and rate.

    τ = clip(k (m - q) - d q̇, ±τ_max) + stop,     |ṁ| <= ṁ_max

m is the angle at which the motor stands, q that of the joint. In SILVER2 (Liu 2020,
"Experimental Platform") a torsional spring sits between the tibia and its motor; k is
that spring's there, and the stiffness of servo and gear in the other joints. The motor
has no inertia: it follows its command at its greatest rate, and gives way where the
spring would carry more than its stall torque.

In a step of length h the torque is that of the step's end, k (m - q - h q̇₁) - d q̇₁,
implicit in k and d: stable at any of them. Whether the torque is at its limit is judged
at the step's beginning: in the step that meets the limit it can pass it by
(d + h k) |Δq̇|, in all others it keeps it. The stops of a joint are one-sided springs.

Leaves out the fall of a motor's torque with its speed, backlash and gear friction.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray, IntArray, kernel
from models.tree import TreeData, TreeWork

__all__ = [
    "LegDriveData",
    "LegDriveModel",
    "add_leg_drives",
    "allocate_leg_drive_data",
    "build_leg_drives",
    "move_motors",
    "read_leg_torques",
]


class LegDriveModel(NamedTuple):
    """Constant parameters of J driven joints."""

    dof: IntArray
    """(J,) the joint's degree of freedom in the tree."""
    stiffness: FloatArray
    """(J,) k [N m/rad]."""
    damping: FloatArray
    """(J,) d [N m s/rad]."""
    torque_limit: FloatArray
    """(J,) τ_max [N m]."""
    rate_limit: FloatArray
    """(J,) of the motor [rad/s]."""
    joint_range: FloatArray
    """(J, 2) least and greatest angle, of the motor too [rad]."""
    stop_stiffness: FloatArray
    """(J,) of the stops at the ends of the range [N m/rad]."""


class LegDriveData(NamedTuple):
    """State of J drives."""

    command: FloatArray
    """(J,) wanted angle of the motor; one that is not finite is not followed [rad]."""
    motor: FloatArray
    """(J,) angle of the motor [rad]."""
    torque: FloatArray
    """(J,) on the joint at the last step's end, stops left out [N m]."""
    slope: FloatArray
    """(J,) of that torque by the joint's rate, d + h k; 0 at the limit [N m s]."""


def build_leg_drives(
    dof: ArrayLike,
    *,
    stiffness: ArrayLike,
    damping: ArrayLike,
    torque_limit: ArrayLike,
    rate_limit: ArrayLike,
    joint_range: ArrayLike,
    stop_stiffness: ArrayLike = 300.0,
) -> LegDriveModel:
    """Check the parameters of drives and lay them out for kernels.

    Args:
        dof: (J,) degrees of freedom of the joints.
        stiffness: (J,) or one number [N m/rad].
        damping: (J,) or one number [N m s/rad].
        torque_limit: (J,) or one number [N m]; infinite for none.
        rate_limit: (J,) or one number [rad/s]; infinite for none.
        joint_range: (J, 2) or (2,) [rad].
        stop_stiffness: (J,) or one number [N m/rad].

    Returns:
        The model.

    Raises:
        ValueError: a parameter below 0 or not a number, or a range without inside.
    """
    joints = np.array(dof, dtype=np.int64)
    size = joints.size

    def table(name: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
        full = np.array(np.broadcast_to(np.asarray(value, np.float64), shape))
        if not np.all(full >= 0.0):
            message = f"{name} is {full.tolist()}; it must be 0 or above"
            raise ValueError(message)
        return full

    ranges = np.broadcast_to(np.asarray(joint_range, np.float64), (size, 2)).copy()
    if not np.all(ranges[:, 0] <= ranges[:, 1]):
        message = f"joint_range is {ranges.tolist()}; give the least angle first"
        raise ValueError(message)
    spring = table("stiffness", stiffness, (size,))
    damper = table("damping", damping, (size,))
    if not np.all(np.isfinite(spring) & np.isfinite(damper)):
        message = "stiffness and damping of a drive must be finite"
        raise ValueError(message)
    return LegDriveModel(
        joints,
        spring,
        damper,
        table("torque_limit", torque_limit, (size,)),
        table("rate_limit", rate_limit, (size,)),
        ranges,
        table("stop_stiffness", stop_stiffness, (size,)),
    )


def allocate_leg_drive_data(model: LegDriveModel, angle: ArrayLike) -> LegDriveData:
    """Make the state of drives whose motors stand at given angles, and shall.

    Args:
        model: the drives.
        angle: (J,) [rad].

    Returns:
        Arrays of the shapes in `LegDriveData`.
    """
    start = np.array(np.broadcast_to(np.asarray(angle, np.float64), model.dof.shape))
    return LegDriveData(
        start.copy(), start, np.zeros(model.dof.size), np.zeros(model.dof.size)
    )


@kernel
def move_motors(model: LegDriveModel, period: float, data: LegDriveData) -> None:
    """Move the motors towards their commands for one step.

    Args:
        model: the drives.
        period: time step [s].
        data: `command` is read, `motor` moves.
    """
    for j in range(model.dof.size):
        wanted = data.command[j]
        if not abs(wanted) < np.inf:
            continue
        wanted = min(max(wanted, model.joint_range[j, 0]), model.joint_range[j, 1])
        most = period * model.rate_limit[j]
        data.motor[j] += min(max(wanted - data.motor[j], -most), most)


@kernel
def add_leg_drives(
    model: LegDriveModel,
    period: float,
    tree_data: TreeData,
    data: LegDriveData,
    work: TreeWork,
) -> None:
    """Add the torques of drives and stops to the load, implicit shares to the matrix.

    Args:
        model: the drives.
        period: time step [s]; 0 for the plain torques.
        tree_data: position and velocity.
        data: motors; gets torque and slope, as expected for a constant rate.
        work: load and matrix are added to.
    """
    for j in range(model.dof.size):
        d = model.dof[j]
        rate = tree_data.velocity[d]
        ahead = tree_data.position[d] + period * rate
        slope = model.damping[j] + period * model.stiffness[j]
        torque = model.stiffness[j] * (data.motor[j] - ahead) - model.damping[j] * rate
        most = model.torque_limit[j]
        if not -most < torque < most:
            torque = min(max(torque, -most), most)
            slope = 0.0
        data.torque[j] = torque
        data.slope[j] = slope
        beyond = ahead - min(
            max(ahead, model.joint_range[j, 0]), model.joint_range[j, 1]
        )
        if beyond != 0.0:
            torque -= model.stop_stiffness[j] * beyond
            slope += period * model.stop_stiffness[j]
        work.load[d] += torque
        work.matrix[d, d] += period * slope


@kernel
def read_leg_torques(model: LegDriveModel, work: TreeWork, data: LegDriveData) -> float:
    """Find the torques at the step's end, once the step is solved.

    Args:
        model: the drives.
        work: holds the velocity change of the step.
        data: torque is corrected by it.

    Returns:
        Mechanical torque over its limit, the greatest of all joints.
    """
    most = 0.0
    for j in range(model.dof.size):
        data.torque[j] -= data.slope[j] * work.change[model.dof[j]]
        if model.torque_limit[j] > 0.0:
            most = max(most, abs(data.torque[j]) / model.torque_limit[j])
    return float(most)
