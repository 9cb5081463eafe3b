"""A force of the tip as a shift of the posture that the winches are told; ours.

A limb held by its winches is a spring. Where something keeps its tip from moving, a
posture dq beyond the one it stands at makes the tip push with F when

    K_q dq - Σ A_iᵀ (τ_i - τ0_i) = Jᵀ F,   τ_i = max(0, τ0_i - k_i A_i dq)

with K_q the stiffness of the segments, A_i the derivatives of the length of tendon i,
k_i its stiffness, τ0_i the tension that holds the posture with the tip free
(models/winch) and J the Jacobian of the tip; of a chamber, which pushes, τ is at most
0. Where no tendon goes slack that is dq = (K_q + Σ k_i A_iᵀ A_i)⁻¹ Jᵀ F; but half of
them do go slack, because the pretension stretches a tendon by 25 µm only, so the
equation is solved by Newton's method: its left side is the gradient of a convex
function, a quadratic by parts.

Tendons that pull compress the segments, which give way to them; the same equation holds
with the extension of dq for how much they shorten. So of dq only the bends are asked
for: with 0.5 and 1 N across URSULA's arm, against a surface of 500 N/m, the tip pushes
with 92 to 98 % and 81 to 95 %; where the extensions are asked for too, with 67 to 89 %
and 63 to 74 %.

Left out: the greatest tension, which a winch or the plant bounds by itself, so that the
tip then pushes with less; the change of τ0 with the posture where tendons go slack;
weight of what is held; friction of the tendons.
"""

from typing import NamedTuple

import numpy as np

from models.limb import limb_tip_jacobian
from models.material import segment_material
from models.numerics import FloatArray, called_kernel, cholesky_solve
from models.robot import RobotModel
from models.winch import WINCH_OK, winch_lengths
from models.workspace import RodWork

__all__ = ["ShiftData", "allocate_shift_data", "force_shift"]

_ITERATIONS = 12
_SETTLED = 1e-9  # rad, m


class ShiftData(NamedTuple):
    """Work arrays for any limb; n segments, t tendons of the largest."""

    pose: FloatArray
    """(n+1, 4, 4) along the limb."""
    jacobian: FloatArray
    """(6, 3 n) of the tip."""
    matrix: FloatArray
    """(3 n, 3 n) of a Newton step."""
    vector: FloatArray
    """(3 n,) its right-hand side."""
    length: FloatArray
    """(t,) paid out with the tip free [m]."""


def allocate_shift_data(model: RobotModel) -> ShiftData:
    """Make the work arrays for a robot."""
    count = int(np.max(np.diff(model.limb_segment_start)))
    tendons = int(np.max(np.diff(model.limb_tendon_start)))
    return ShiftData(
        pose=np.zeros((count + 1, 4, 4)),
        jacobian=np.zeros((6, 3 * count)),
        matrix=np.zeros((3 * count, 3 * count)),
        vector=np.zeros(3 * count),
        length=np.zeros(tendons),
    )


@called_kernel
def force_shift(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    force: FloatArray,
    work: RodWork,
    data: ShiftData,
    shift_out: FloatArray,
) -> int:
    """Find the shift of a limb's posture that makes its held tip push with a force.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) where it stands [rad, rad, m].
        force: (3,) of the tip against what holds it, base frame of the limb [N].
        work: workspace.
        data: work arrays.
        shift_out: (n, 3) to be added to the posture, bends only [rad, rad, m]; 0
            where none is found.

    Returns:
        0, or 1 where input is not finite or the system cannot be solved.
    """
    first = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - first
    tendon = model.limb_tendon_start[limb]
    tendons = model.limb_tendon_start[limb + 1] - tendon
    size = 3 * count
    for k in range(count):
        for j in range(3):
            shift_out[k, j] = 0.0
    if not abs(force[0]) + abs(force[1]) + abs(force[2]) < np.inf:
        return 1
    if winch_lengths(model, limb, coordinates, work, data.length) > WINCH_OK + 1:
        return 1
    limb_tip_jacobian(model, limb, coordinates, data.pose, data.jacobian)
    slope = work.tendon_jacobian
    for _ in range(_ITERATIONS):
        for i in range(size):
            total = 0.0
            for j in range(3):
                total += data.jacobian[3 + j, i] * force[j]
            data.vector[i] = total
            for j in range(i + 1):
                data.matrix[i, j] = 0.0
        for k in range(count):
            bend, axial, _, _ = segment_material(model, first + k)
            for j in range(3):
                stiffness = axial if j == 2 else bend
                data.matrix[3 * k + j, 3 * k + j] = stiffness
                data.vector[3 * k + j] -= stiffness * shift_out[k, j]
        for r in range(tendons):
            change = 0.0
            for i in range(size):
                change += slope[r, i] * shift_out[i // 3, i % 3]
            stiffness = model.tendon_stiffness[tendon + r]
            free = work.tendon_tension[r]
            tension = free - stiffness * change
            pulls = model.tendon_tension_least[tendon + r] >= 0.0
            held = max(tension, 0.0) if pulls else min(tension, 0.0)
            for i in range(size):
                data.vector[i] += slope[r, i] * (held - free)
                if held == tension:
                    for j in range(i + 1):
                        data.matrix[i, j] += stiffness * slope[r, i] * slope[r, j]
        if cholesky_solve(data.matrix, data.vector, size) != 0:
            for k in range(count):
                for j in range(3):
                    shift_out[k, j] = 0.0
            return 1
        largest = 0.0
        for i in range(size):
            shift_out[i // 3, i % 3] += data.vector[i]
            largest = max(largest, abs(data.vector[i]))
        if largest < _SETTLED:
            break
    for k in range(count):
        shift_out[k, 2] = 0.0
    return 0
