"""A shift of a limb's tip as a shift of its posture, by the least elastic energy.

    dq = K⁻¹ Jᵀ (J K⁻¹ Jᵀ + λ² tr(J K⁻¹ Jᵀ) I)⁻¹ dx

with K the stiffness of the segments and J the tip's translational Jacobian: what bends
easily moves most, and along a straight limb, where no bend helps, its length does. λ
keeps the shift small where the tip cannot go.
"""

from typing import NamedTuple

import numpy as np

from models.limb import limb_tip_jacobian
from models.material import segment_material
from models.numerics import FloatArray, cholesky_solve, kernel
from models.robot import RobotModel

__all__ = ["TipShiftData", "allocate_tip_shift", "tip_shift"]

_LAMBDA_SQUARED = 1e-6


class TipShiftData(NamedTuple):
    """Work arrays for any limb; n segments of the longest."""

    pose: FloatArray
    """(n+1, 4, 4) along the limb."""
    jacobian: FloatArray
    """(6, 3 n) of the tip."""
    compliance: FloatArray
    """(3 n,) of each coordinate [rad/N m, m/N]."""
    matrix: FloatArray
    """(3, 3)."""
    vector: FloatArray
    """(3,)."""


def allocate_tip_shift(model: RobotModel) -> TipShiftData:
    """Make the work arrays for a robot."""
    count = int(np.max(np.diff(model.limb_segment_start)))
    return TipShiftData(
        np.zeros((count + 1, 4, 4)),
        np.zeros((6, 3 * count)),
        np.zeros(3 * count),
        np.zeros((3, 3)),
        np.zeros(3),
    )


@kernel
def tip_shift(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    shift: FloatArray,
    data: TipShiftData,
    shift_out: FloatArray,
) -> int:
    """Find the shift of a limb's posture that moves its tip.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) where it stands [rad, rad, m].
        shift: (3,) of the tip, base frame of the limb [m].
        data: work arrays.
        shift_out: (n, 3) to be added to the posture; 0 where none is found.

    Returns:
        0, or 1 where input is not finite.
    """
    count = coordinates.shape[0]
    first = model.limb_segment_start[limb]
    for k in range(count):
        for j in range(3):
            shift_out[k, j] = 0.0
    if not abs(shift[0]) + abs(shift[1]) + abs(shift[2]) < np.inf:
        return 1
    limb_tip_jacobian(model, limb, coordinates, data.pose, data.jacobian)
    for k in range(count):
        bend, axial, _, _ = segment_material(model, first + k)
        data.compliance[3 * k] = 1.0 / bend
        data.compliance[3 * k + 1] = 1.0 / bend
        data.compliance[3 * k + 2] = 1.0 / axial
    trace = 0.0
    for i in range(3):
        data.vector[i] = shift[i]
        for j in range(i + 1):
            total = 0.0
            for c in range(3 * count):
                total += (
                    data.jacobian[3 + i, c]
                    * data.compliance[c]
                    * data.jacobian[3 + j, c]
                )
            data.matrix[i, j] = total
        trace += data.matrix[i, i]
    for i in range(3):
        data.matrix[i, i] += _LAMBDA_SQUARED * trace
    if cholesky_solve(data.matrix, data.vector, 3) != 0:
        return 1
    for k in range(count):
        for j in range(3):
            total = 0.0
            for i in range(3):
                total += data.jacobian[3 + i, 3 * k + j] * data.vector[i]
            shift_out[k, j] = data.compliance[3 * k + j] * total
    return 0
