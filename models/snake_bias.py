"""Twist of a point of the chain and its rate at constant rates, by recursion.

Bodies, frames and points are those of models/snake, twists and rates those of
models/snake_jacobian. What is carried along the chain is angular velocity and
acceleration, velocity and acceleration, in world axes.
"""

from models.arc import arc_coefficients
from models.numerics import FloatArray, kernel
from models.snake import BODY_AXIS, snake_section

__all__ = ["snake_bias_in_body"]


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
    snake_section(
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
                    pose[k, j, BODY_AXIS[0]] * x
                    + pose[k, j, BODY_AXIS[1]] * y
                    + pose[k, j, BODY_AXIS[2]] * z
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
