"""Jacobians of the points of a chain of modules and soft joints, in three frames.

Source: Zhang 2022 eqs 7-13 and 17. Bodies, frames and points are those of models/snake.
Base twists and twists of points are angular first; Zhang prints linear first. The base
twist is that of frame 0, in frame 0. Joint rates are d(Δx, Δy, δℓ)/dt, joint by joint.
What Zhang prints differs:

- eq. 8: dT/dt = T V̂, not V̂ T.
- eqs 12, 17: J_s is the twist in the joint's distal frame, so Ad must be that of the
  distal frame (here both are in one frame: the world's).
"""

from models.arc import arc_jacobian
from models.numerics import FloatArray, kernel
from models.snake import BODY_AXIS, snake_section

__all__ = [
    "snake_jacobian_in_body",
    "snake_jacobian_in_world",
    "snake_jacobian_spatial",
]


@kernel
def snake_jacobian_in_world(
    module_length: FloatArray,
    joint_rest_length: FloatArray,
    coordinates: FloatArray,
    pose: FloatArray,
    body: int,
    fraction: float,
    offset: FloatArray,
    pose_out: FloatArray,
    jacobian_out: FloatArray,
) -> None:
    """Angular velocity and velocity of a point, both along the world's axes.

    Args:
        module_length: (n+1,) [m].
        joint_rest_length: (n,) [m].
        coordinates: (n, 3) [rad, rad, m].
        pose: (2n+2, 4, 4) from `snake_poses` [m].
        body: 0..2n in chain order.
        fraction: of the way along the body, 0..1.
        offset: (3,) from the section's centre in the section's frame [m].
        pose_out: (4, 4) as `snake_point_pose` gives.
        jacobian_out: (6, 6+3n) angular velocity [rad/s], then velocity of the point
            [m/s], in world axes, for the base twist in frame 0 and the joint rates.
    """
    snake_section(
        module_length, joint_rest_length, coordinates, pose, body, fraction, pose_out
    )
    centre_x = pose_out[0, 3]
    centre_y = pose_out[1, 3]
    centre_z = pose_out[2, 3]
    for i in range(3):
        for k in range(3):
            pose_out[i, 3] += pose_out[i, k] * offset[k]
    for j in range(3):
        for i in range(3):
            jacobian_out[i, j] = pose[0, i, j]
            jacobian_out[i + 3, j + 3] = pose[0, i, j]
            jacobian_out[i + 3, j] = 0.0
            jacobian_out[i, j + 3] = 0.0
    for i in range(joint_rest_length.size):
        first = 6 + 3 * i
        start = 2 * i + 1
        if start > body:
            for row in range(6):
                for j in range(3):
                    jacobian_out[row, first + j] = 0.0
            continue
        part = fraction if start == body else 1.0
        arc_jacobian(
            part * coordinates[i, 0],
            part * coordinates[i, 1],
            part * (joint_rest_length[i] + coordinates[i, 2]),
            jacobian_out[:, first : first + 3],
        )
        for j in range(first, first + 3):
            for half in range(0, 6, 3):
                x = part * jacobian_out[half, j]
                y = part * jacobian_out[half + 1, j]
                z = part * jacobian_out[half + 2, j]
                for row in range(3):
                    jacobian_out[half + row, j] = (
                        pose[start, row, BODY_AXIS[0]] * x
                        + pose[start, row, BODY_AXIS[1]] * y
                        + pose[start, row, BODY_AXIS[2]] * z
                    )
    for j in range(6 + 3 * joint_rest_length.size):
        # lever to the point from where the column's velocity was taken
        if j < 6:
            lever_x = pose_out[0, 3] - pose[0, 0, 3]
            lever_y = pose_out[1, 3] - pose[0, 1, 3]
            lever_z = pose_out[2, 3] - pose[0, 2, 3]
        else:
            end = 2 * ((j - 6) // 3) + 2
            if end <= body:
                lever_x = pose_out[0, 3] - pose[end, 0, 3]
                lever_y = pose_out[1, 3] - pose[end, 1, 3]
                lever_z = pose_out[2, 3] - pose[end, 2, 3]
            else:
                lever_x = pose_out[0, 3] - centre_x
                lever_y = pose_out[1, 3] - centre_y
                lever_z = pose_out[2, 3] - centre_z
        wx = jacobian_out[0, j]
        wy = jacobian_out[1, j]
        wz = jacobian_out[2, j]
        jacobian_out[3, j] += wy * lever_z - wz * lever_y
        jacobian_out[4, j] += wz * lever_x - wx * lever_z
        jacobian_out[5, j] += wx * lever_y - wy * lever_x


@kernel
def snake_jacobian_in_body(
    module_length: FloatArray,
    joint_rest_length: FloatArray,
    coordinates: FloatArray,
    pose: FloatArray,
    body: int,
    fraction: float,
    offset: FloatArray,
    pose_out: FloatArray,
    jacobian_out: FloatArray,
) -> None:
    """Body twist of a point, along its section's axes (Zhang 2022 eq. 13, corrected).

    Inputs and `pose_out` are those of `snake_jacobian_in_world`, the columns too, for
    the base twist in frame 0 and the joint rates; the rows are the twist of the point's
    frame in that frame, angular first [rad/s, m/s].
    """
    snake_jacobian_in_world(
        module_length,
        joint_rest_length,
        coordinates,
        pose,
        body,
        fraction,
        offset,
        pose_out,
        jacobian_out,
    )
    for j in range(6 + 3 * joint_rest_length.size):
        for half in range(0, 6, 3):
            x = jacobian_out[half, j]
            y = jacobian_out[half + 1, j]
            z = jacobian_out[half + 2, j]
            for i in range(3):
                jacobian_out[half + i, j] = (
                    pose_out[0, i] * x + pose_out[1, i] * y + pose_out[2, i] * z
                )


@kernel
def snake_jacobian_spatial(
    module_length: FloatArray,
    joint_rest_length: FloatArray,
    coordinates: FloatArray,
    pose: FloatArray,
    body: int,
    fraction: float,
    offset: FloatArray,
    pose_out: FloatArray,
    jacobian_out: FloatArray,
) -> None:
    """Spatial twist of a point's body: Ad of the point's pose times its body twist.

    Inputs and `pose_out` are those of `snake_jacobian_in_world`, the columns too, for
    the base twist in frame 0 and the joint rates; the rows are the angular velocity
    [rad/s], then the velocity that the section would have at the world's origin [m/s],
    in world axes.
    """
    snake_jacobian_in_world(
        module_length,
        joint_rest_length,
        coordinates,
        pose,
        body,
        fraction,
        offset,
        pose_out,
        jacobian_out,
    )
    x = pose_out[0, 3]
    y = pose_out[1, 3]
    z = pose_out[2, 3]
    for j in range(6 + 3 * joint_rest_length.size):
        jacobian_out[3, j] += y * jacobian_out[2, j] - z * jacobian_out[1, j]
        jacobian_out[4, j] += z * jacobian_out[0, j] - x * jacobian_out[2, j]
        jacobian_out[5, j] += x * jacobian_out[1, j] - y * jacobian_out[0, j]
