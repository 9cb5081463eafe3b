"""A floating chain of n+1 rigid modules and n soft joints: the poses of its points.

Source: Zhang 2022 eqs 2-6. Bodies are counted from the tail in chain order, k = 0..2n:
even k is rigid module k/2, odd k soft joint (k-1)/2. Frame k stands at the tail end of
body k, frame 2n+1 at the head; x points to the head, y and z across.

A joint bends with constant curvature and no torsion; its coordinates are the
(Δx, Δy, δℓ) of models/arc, whose axis is z. Zhang's eq. 5 has the axis in z too, his
text and eq. 4 in x: the arc's (x, y, z) are the body's (y, z, x) here (`BODY_AXIS`). So
Δx bends to the body's y. Lengths of the three actuators are in models/chamber. In eq. 2
as printed the rotation block is wrong: it must be I.

A point is named by its body, the fraction 0..1 of the way along it, and an offset
(x, y, z) in the frame of its cross-section, with which it moves: `snake_point_pose`.
Jacobians are in models/snake_jacobian, accelerations in models/snake_bias. Leaves out
torsion and shear of the joints. Valid for bends below 2π.
"""

from models.arc import arc_pose
from models.numerics import FloatArray, inner_kernel, kernel

__all__ = ["BODY_AXIS", "snake_point_pose", "snake_poses", "snake_section"]

BODY_AXIS = (1, 2, 0)
"""Axis i of an arc is this axis of the body frame."""


@kernel
def _shift(
    pose_start: FloatArray, x: float, y: float, z: float, pose_out: FloatArray
) -> None:
    """Pose moved by (x, y, z) along its own axes."""
    for i in range(3):
        for j in range(3):
            pose_out[i, j] = pose_start[i, j]
        pose_out[i, 3] = pose_start[i, 3] + (
            pose_start[i, 0] * x + pose_start[i, 1] * y + pose_start[i, 2] * z
        )
        pose_out[3, i] = 0.0
    pose_out[3, 3] = 1.0


@kernel
def _bend(
    pose_start: FloatArray,
    delta_x: float,
    delta_y: float,
    length: float,
    pose_out: FloatArray,
) -> None:
    """Pose at the end of a soft joint that starts at `pose_start`, in body axes."""
    arc_pose(delta_x, delta_y, length, pose_out)
    for j in range(4):
        x = pose_out[0, j]
        y = pose_out[1, j]
        z = pose_out[2, j]
        for i in range(3):
            pose_out[i, j] = (
                pose_start[i, BODY_AXIS[0]] * x
                + pose_start[i, BODY_AXIS[1]] * y
                + pose_start[i, BODY_AXIS[2]] * z
            )
    for i in range(3):
        x = pose_out[i, 0]
        y = pose_out[i, 1]
        z = pose_out[i, 2]
        pose_out[i, BODY_AXIS[0]] = x
        pose_out[i, BODY_AXIS[1]] = y
        pose_out[i, BODY_AXIS[2]] = z
        pose_out[i, 3] += pose_start[i, 3]


@kernel
def snake_poses(
    module_length: FloatArray,
    joint_rest_length: FloatArray,
    coordinates: FloatArray,
    pose_base_to_world: FloatArray,
    pose_out: FloatArray,
) -> None:
    """Poses of the frames between the bodies (Zhang 2022 eq. 6, all of its factors).

    Args:
        module_length: (n+1,) [m].
        joint_rest_length: (n,) [m].
        coordinates: (n, 3) (Δx, Δy, δℓ) of the joints [rad, rad, m].
        pose_base_to_world: (4, 4) pose of frame 0 [m].
        pose_out: (2n+2, 4, 4) [m]; pose_out[k] is the tail end of body k, and
            pose_out[2n+1] the head.
    """
    for i in range(4):
        for j in range(4):
            pose_out[0, i, j] = pose_base_to_world[i, j]
    joints = joint_rest_length.size
    for i in range(joints + 1):
        _shift(pose_out[2 * i], module_length[i], 0.0, 0.0, pose_out[2 * i + 1])
        if i < joints:
            _bend(
                pose_out[2 * i + 1],
                coordinates[i, 0],
                coordinates[i, 1],
                joint_rest_length[i] + coordinates[i, 2],
                pose_out[2 * i + 2],
            )


@inner_kernel
def snake_section(
    module_length: FloatArray,
    joint_rest_length: FloatArray,
    coordinates: FloatArray,
    pose: FloatArray,
    body: int,
    fraction: float,
    pose_out: FloatArray,
) -> None:
    """Pose of the centre of a cross-section of a body."""
    if body % 2 == 0:
        way = fraction * module_length[body // 2]
        _shift(pose[body], way, 0.0, 0.0, pose_out)
    else:
        joint = body // 2
        _bend(
            pose[body],
            fraction * coordinates[joint, 0],
            fraction * coordinates[joint, 1],
            fraction * (joint_rest_length[joint] + coordinates[joint, 2]),
            pose_out,
        )


@kernel
def snake_point_pose(
    module_length: FloatArray,
    joint_rest_length: FloatArray,
    coordinates: FloatArray,
    pose: FloatArray,
    body: int,
    fraction: float,
    offset: FloatArray,
    pose_out: FloatArray,
) -> None:
    """Pose of any point of any module or joint, as a propeller, a fin or a mark.

    Args:
        module_length: (n+1,) [m].
        joint_rest_length: (n,) [m].
        coordinates: (n, 3) [rad, rad, m].
        pose: (2n+2, 4, 4) from `snake_poses` [m].
        body: 0..2n in chain order.
        fraction: of the way along the body, 0..1.
        offset: (3,) from the section's centre in the section's frame [m].
        pose_out: (4, 4) the section's axes at the point, in the world [m].
    """
    snake_section(
        module_length, joint_rest_length, coordinates, pose, body, fraction, pose_out
    )
    for i in range(3):
        for k in range(3):
            pose_out[i, 3] += pose_out[i, k] * offset[k]
