"""A floating chain of n+1 rigid modules and n soft joints: poses, Jacobians, bias.

Source: Zhang 2022 eqs 2-13 and 17. Bodies are counted from the tail in chain order,
k = 0..2n: even k is rigid module k/2, odd k soft joint (k-1)/2. Frame k stands at the
tail end of body k, frame 2n+1 at the head; x points to the head, y and z across.

A joint bends with constant curvature and no torsion; its coordinates are the
(Δx, Δy, δℓ) of models/arc, whose axis is z. Zhang's eq. 5 has the axis in z too, his
text and eq. 4 in x: the arc's (x, y, z) are the body's (y, z, x) here, applied where a
joint joins the chain (`_BODY_AXIS`) and nowhere else. So Δx bends to the body's y.
Lengths of the three actuators are in models/chamber.

Base twists and twists of points are angular first; Zhang prints linear first. The base
twist is that of frame 0, in frame 0. Joint rates are d(Δx, Δy, δℓ)/dt, joint by joint.
What Zhang prints differs:

- eq. 2: the rotation block must be I.  eq. 8: dT/dt = T V̂, not V̂ T.
- eqs 12, 17: J_s is the twist in the joint's distal frame, so Ad must be that of the
  distal frame (here both are in one frame: the world's).

A point is named by its body, the fraction 0..1 of the way along it, and an offset
(x, y, z) in the frame of its cross-section, with which it moves: `point` below.
Leaves out torsion and shear of the joints. Valid for bends below 2π.
"""

from models.arc import arc_coefficients, arc_jacobian, arc_pose
from models.numerics import FloatArray, kernel

__all__ = [
    "snake_bias_in_body",
    "snake_jacobian_in_body",
    "snake_jacobian_in_world",
    "snake_jacobian_spatial",
    "snake_point_pose",
    "snake_poses",
]

_BODY_AXIS = (1, 2, 0)
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
                pose_start[i, _BODY_AXIS[0]] * x
                + pose_start[i, _BODY_AXIS[1]] * y
                + pose_start[i, _BODY_AXIS[2]] * z
            )
    for i in range(3):
        x = pose_out[i, 0]
        y = pose_out[i, 1]
        z = pose_out[i, 2]
        pose_out[i, _BODY_AXIS[0]] = x
        pose_out[i, _BODY_AXIS[1]] = y
        pose_out[i, _BODY_AXIS[2]] = z
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


@kernel
def _section(
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
    _section(
        module_length, joint_rest_length, coordinates, pose, body, fraction, pose_out
    )
    for i in range(3):
        for k in range(3):
            pose_out[i, 3] += pose_out[i, k] * offset[k]


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
    _section(
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
                        pose[start, row, _BODY_AXIS[0]] * x
                        + pose[start, row, _BODY_AXIS[1]] * y
                        + pose[start, row, _BODY_AXIS[2]] * z
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


@kernel
def _arc_motion(
    x: float,
    y: float,
    length: float,
    x_rate: float,
    y_rate: float,
    length_rate: float,
    motion_out: FloatArray,
) -> None:
    """Motion of an arc's end in the arc's start frame, at constant rates.

    Writes the rows angular velocity, angular acceleration, velocity, acceleration of
    the (4, 3) motion_out, with w = (-Δy, Δx, 0), of constant rate, and
    ω = dw/dt + a w×dw/dt + c w×(w×dw/dt).
    """
    a, b, c, a1, b1, c1, a2, b2, _ = arc_coefficients(x * x + y * y)
    u_rate = 2.0 * (x * x_rate + y * y_rate)
    u_turn = 2.0 * (x_rate * x_rate + y_rate * y_rate)
    a_rate = a1 * u_rate
    b_rate = b1 * u_rate
    c_rate = c1 * u_rate
    a_turn = a2 * u_rate * u_rate + a1 * u_turn
    b_turn = b2 * u_rate * u_rate + b1 * u_turn
    across = x * y_rate - y * x_rate
    motion_out[0, 0] = -y_rate + c * x * across
    motion_out[0, 1] = x_rate + c * y * across
    motion_out[0, 2] = a * across
    motion_out[1, 0] = (c_rate * x + c * x_rate) * across
    motion_out[1, 1] = (c_rate * y + c * y_rate) * across
    motion_out[1, 2] = a_rate * across
    slope_x = a_rate * x + a * x_rate
    slope_y = a_rate * y + a * y_rate
    motion_out[2, 0] = length_rate * a * x + length * slope_x
    motion_out[2, 1] = length_rate * a * y + length * slope_y
    motion_out[2, 2] = length_rate * b + length * b_rate
    motion_out[3, 0] = 2.0 * length_rate * slope_x
    motion_out[3, 1] = 2.0 * length_rate * slope_y
    motion_out[3, 2] = 2.0 * length_rate * b_rate + length * b_turn
    motion_out[3, 0] += length * (a_turn * x + 2.0 * a_rate * x_rate)
    motion_out[3, 1] += length * (a_turn * y + 2.0 * a_rate * y_rate)


@kernel
def _carry(
    lever_x: float, lever_y: float, lever_z: float, motion_out: FloatArray
) -> None:
    """Motion of a body's other point: rows as in `_arc_motion`, world axes."""
    wx, wy, wz = motion_out[0, 0], motion_out[0, 1], motion_out[0, 2]
    ax, ay, az = motion_out[1, 0], motion_out[1, 1], motion_out[1, 2]
    turn_x = wy * lever_z - wz * lever_y
    turn_y = wz * lever_x - wx * lever_z
    turn_z = wx * lever_y - wy * lever_x
    motion_out[2, 0] += turn_x
    motion_out[2, 1] += turn_y
    motion_out[2, 2] += turn_z
    motion_out[3, 0] += ay * lever_z - az * lever_y + wy * turn_z - wz * turn_y
    motion_out[3, 1] += az * lever_x - ax * lever_z + wz * turn_x - wx * turn_z
    motion_out[3, 2] += ax * lever_y - ay * lever_x + wx * turn_y - wy * turn_x


@kernel
def snake_bias_in_body(
    module_length: FloatArray,
    joint_rest_length: FloatArray,
    coordinates: FloatArray,
    pose: FloatArray,
    body: int,
    fraction: float,
    offset: FloatArray,
    base_twist: FloatArray,
    joint_rates: FloatArray,
    pose_out: FloatArray,
    motion_out: FloatArray,
    twist_out: FloatArray,
    bias_out: FloatArray,
) -> None:
    """Body twist of a point, and its rate at constant base twist and joint rates.

    The rate is (dJ/dt) ζ, with J of `snake_jacobian_in_body` and ζ the base twist and
    the joint rates, by recursion from the tail; no derivative of J is formed.

    Args:
        module_length: (n+1,) [m].
        joint_rest_length: (n,) [m].
        coordinates: (n, 3) [rad, rad, m].
        pose: (2n+2, 4, 4) from `snake_poses` [m].
        body: 0..2n in chain order.
        fraction: of the way along the body, 0..1.
        offset: (3,) from the section's centre in the section's frame [m].
        base_twist: (6,) of frame 0 in frame 0, angular first [rad/s, m/s].
        joint_rates: (n, 3) [rad/s, rad/s, m/s].
        pose_out: (4, 4) as `snake_point_pose` gives.
        motion_out: (8, 3) work.
        twist_out: (6,) J ζ [rad/s, m/s].
        bias_out: (6,) (dJ/dt) ζ [rad/s2, m/s2].
    """
    _section(
        module_length, joint_rest_length, coordinates, pose, body, fraction, pose_out
    )
    whole = motion_out[:4]
    joint = motion_out[4:]
    for i in range(3):
        whole[0, i] = 0.0
        whole[1, i] = 0.0
        whole[2, i] = 0.0
        for k in range(3):
            whole[0, i] += pose[0, i, k] * base_twist[k]
            whole[2, i] += pose[0, i, k] * base_twist[k + 3]
    whole[3, 0] = whole[0, 1] * whole[2, 2] - whole[0, 2] * whole[2, 1]
    whole[3, 1] = whole[0, 2] * whole[2, 0] - whole[0, 0] * whole[2, 2]
    whole[3, 2] = whole[0, 0] * whole[2, 1] - whole[0, 1] * whole[2, 0]
    for k in range(body + 1):
        end = pose_out if k == body else pose[k + 1]
        _carry(
            end[0, 3] - pose[k, 0, 3],
            end[1, 3] - pose[k, 1, 3],
            end[2, 3] - pose[k, 2, 3],
            whole,
        )
        if k % 2 == 0:
            continue
        i = k // 2
        part = fraction if k == body else 1.0
        _arc_motion(
            part * coordinates[i, 0],
            part * coordinates[i, 1],
            part * (joint_rest_length[i] + coordinates[i, 2]),
            part * joint_rates[i, 0],
            part * joint_rates[i, 1],
            part * joint_rates[i, 2],
            joint,
        )
        for row in range(4):
            x = joint[row, 0]
            y = joint[row, 1]
            z = joint[row, 2]
            for j in range(3):
                joint[row, j] = (
                    pose[k, j, _BODY_AXIS[0]] * x
                    + pose[k, j, _BODY_AXIS[1]] * y
                    + pose[k, j, _BODY_AXIS[2]] * z
                )
        # in the frame that turns with ω the end moves with joint[2] and turns with
        # joint[0]: ω×ω_joint, and Coriolis' 2 ω×v_joint
        for j in range(3):
            p = (j + 1) % 3
            q = (j + 2) % 3
            whole[1, j] += joint[1, j] + (
                whole[0, p] * joint[0, q] - whole[0, q] * joint[0, p]
            )
            whole[2, j] += joint[2, j]
            whole[3, j] += joint[3, j] + 2.0 * (
                whole[0, p] * joint[2, q] - whole[0, q] * joint[2, p]
            )
        for j in range(3):
            whole[0, j] += joint[0, j]
    lever = joint[0]
    for i in range(3):
        lever[i] = 0.0
        for k in range(3):
            lever[i] += pose_out[i, k] * offset[k]
        pose_out[i, 3] += lever[i]
    _carry(lever[0], lever[1], lever[2], whole)
    wx, wy, wz = whole[0, 0], whole[0, 1], whole[0, 2]
    whole[3, 0] -= wy * whole[2, 2] - wz * whole[2, 1]
    whole[3, 1] -= wz * whole[2, 0] - wx * whole[2, 2]
    whole[3, 2] -= wx * whole[2, 1] - wy * whole[2, 0]
    for i in range(3):
        twist_out[i] = 0.0
        twist_out[i + 3] = 0.0
        bias_out[i] = 0.0
        bias_out[i + 3] = 0.0
        for k in range(3):
            twist_out[i] += pose_out[k, i] * whole[0, k]
            twist_out[i + 3] += pose_out[k, i] * whole[2, k]
            bias_out[i] += pose_out[k, i] * whole[1, k]
            bias_out[i + 3] += pose_out[k, i] * whole[3, k]
