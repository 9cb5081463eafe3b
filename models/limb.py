"""A whole limb: its segments end to end, in the frame of its base.

Sources: Emet 2023 eqs 1-6 per segment; product of torsion-free arc poses. Leaves out
any rigid offset between segments (URSULA has none).
"""

from models.arc import arc_jacobian, arc_pose
from models.numerics import FloatArray, kernel
from models.robot import RobotModel

__all__ = ["limb_poses", "limb_tip_jacobian"]


@kernel
def limb_poses(
    model: RobotModel, limb: int, coordinates: FloatArray, pose_out: FloatArray
) -> None:
    """Poses of the base and of every segment's end in the limb's base frame.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) segment coordinates of this limb [rad, rad, m].
        pose_out: (n+1, 4, 4) homogeneous poses [m]; pose_out[n] is the tip's.
    """
    start = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - start
    for i in range(4):
        for j in range(4):
            pose_out[0, i, j] = 1.0 if i == j else 0.0
    for k in range(count):
        arc_pose(
            coordinates[k, 0],
            coordinates[k, 1],
            model.segment_length[start + k] + coordinates[k, 2],
            pose_out[k + 1],
        )
        for j in range(4):
            x = pose_out[k + 1, 0, j]
            y = pose_out[k + 1, 1, j]
            z = pose_out[k + 1, 2, j]
            w = pose_out[k + 1, 3, j]
            for i in range(3):
                pose_out[k + 1, i, j] = (
                    pose_out[k, i, 0] * x
                    + pose_out[k, i, 1] * y
                    + pose_out[k, i, 2] * z
                    + pose_out[k, i, 3] * w
                )


@kernel
def limb_tip_jacobian(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    pose_out: FloatArray,
    jacobian_out: FloatArray,
) -> None:
    """Tip twist for unit rates of the segment coordinates, and the poses on the way.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) segment coordinates of this limb [rad, rad, m].
        pose_out: (n+1, 4, 4) as `limb_poses` gives.
        jacobian_out: (6, 3 n) angular velocity [rad/s] then velocity of the tip [m/s]
            in the limb's base frame; columns are the coordinates in row order.
    """
    start = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - start
    limb_poses(model, limb, coordinates, pose_out)
    for k in range(count):
        arc_jacobian(
            coordinates[k, 0],
            coordinates[k, 1],
            model.segment_length[start + k] + coordinates[k, 2],
            jacobian_out[:, 3 * k : 3 * k + 3],
        )
        # lever from the end of this segment to the tip
        lever_x = pose_out[count, 0, 3] - pose_out[k + 1, 0, 3]
        lever_y = pose_out[count, 1, 3] - pose_out[k + 1, 1, 3]
        lever_z = pose_out[count, 2, 3] - pose_out[k + 1, 2, 3]
        for j in range(3):
            column = 3 * k + j
            for half in range(0, 6, 3):
                x = jacobian_out[half, column]
                y = jacobian_out[half + 1, column]
                z = jacobian_out[half + 2, column]
                for i in range(3):
                    jacobian_out[half + i, column] = (
                        pose_out[k, i, 0] * x
                        + pose_out[k, i, 1] * y
                        + pose_out[k, i, 2] * z
                    )
            wx = jacobian_out[0, column]
            wy = jacobian_out[1, column]
            wz = jacobian_out[2, column]
            jacobian_out[3, column] += wy * lever_z - wz * lever_y
            jacobian_out[4, column] += wz * lever_x - wx * lever_z
            jacobian_out[5, column] += wx * lever_y - wy * lever_x
