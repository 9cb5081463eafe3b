"""Motion of free rigid objects in water through one step.

With the diagonal masses of models/free_body (Kirchhoff's equations; c the velocity of
the water in the object's frame, m its mass, A its added mass, J its moments)

    p = m v + A (v - c),   dp/dt + ω x p = weight - buoyancy + drag + contact
    l = J ω,               dl/dt + ω x l = A (v - c) x (v - c) + moments

A step has three parts. `push_bodies`: loads, with the drag -(d_i + D_i |v|) v_i taken
at the step's end at constant |v|, likewise for the turning. Then the contacts
(models/contact_solve). `move_bodies`: the free motion by the midpoint rule with
Cayley's rotation, which keeps to rounding the kinetic energy and, in the world, p, and
l where A is the same along all axes.

Weight and buoyancy are explicit: their energy with the kinetic one swings by first
order in the step and does not drift. Leaves out the water's acceleration and lift.
A state that is not finite, or faster than 100 m/s or 1000 rad/s, freezes its object.
"""

import math

import numpy as np

from models.free_body import FreeBodyData, FreeBodyModel
from models.numerics import FloatArray, inner_kernel, kernel

__all__ = [
    "BODY_DIVERGED",
    "BODY_NOT_FINITE",
    "BODY_OK",
    "into_body",
    "move_bodies",
    "push_bodies",
]

BODY_OK = 0
BODY_NOT_FINITE = 1
"""A state or a force is not a finite number."""
BODY_DIVERGED = 2
"""A speed is beyond its limit."""

_SPEED_LIMIT = 100.0  # [m/s]
_TURN_LIMIT = 1000.0  # [rad/s]
_MOST_TURNS = 12
_SETTLED = 1e-14


@inner_kernel
def into_body(
    pose: FloatArray, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A vector in the world, in the object's axes."""
    return (
        pose[0, 0] * x + pose[1, 0] * y + pose[2, 0] * z,
        pose[0, 1] * x + pose[1, 1] * y + pose[2, 1] * z,
        pose[0, 2] * x + pose[1, 2] * y + pose[2, 2] * z,
    )


@inner_kernel
def _freeze(body: int, cause: int, data: FreeBodyData) -> None:
    """Stop an object where it is and note why."""
    data.status[body] = cause
    for i in range(6):
        data.twist[body, i] = 0.0


@inner_kernel
def push_bodies(
    model: FreeBodyModel,
    period: float,
    offset: int,
    data: FreeBodyData,
    velocity_out: FloatArray,
) -> None:
    """Find the twists at the step's end under all loads but contact and turning.

    Args:
        model: the objects.
        period: time step [s].
        offset: place of the first object's twist in velocity_out.
        data: state; an object that is not finite is frozen.
        velocity_out: (offset + 6 B,) twists; zero for what is frozen.
    """
    for b in range(model.kind.size):
        pose = data.pose[b]
        twist = data.twist[b]
        first = offset + 6 * b
        for i in range(6):
            velocity_out[first + i] = 0.0
        total = 0.0
        for i in range(3):
            for j in range(4):
                total += abs(pose[i, j])
        for i in range(6):
            total += abs(twist[i]) + abs(data.wrench[b, i])
        if not total < np.inf:
            _freeze(b, BODY_NOT_FINITE, data)
        if data.status[b] != BODY_OK:
            continue
        g = model.gravity
        wrench = data.wrench[b]
        mx, my, mz = into_body(pose, wrench[0], wrench[1], wrench[2])
        fx, fy, fz = into_body(pose, wrench[3], wrench[4], wrench[5])
        gx, gy, gz = into_body(pose, g[0], g[1], g[2])
        cx, cy, cz = into_body(
            pose, model.current[0], model.current[1], model.current[2]
        )
        lift = -model.displaced[b]
        net = model.mass[b] + lift
        at = model.buoyancy_centre[b]
        mx += lift * (at[1] * gz - at[2] * gy)
        my += lift * (at[2] * gx - at[0] * gz)
        mz += lift * (at[0] * gy - at[1] * gx)
        load = (mx, my, mz, fx + net * gx, fy + net * gy, fz + net * gz)
        water = (0.0, 0.0, 0.0, cx, cy, cz)
        turn = 0.0
        speed = 0.0
        for i in range(3):
            turn += twist[i] * twist[i]
            speed += (twist[3 + i] - water[3 + i]) ** 2
        turn = math.sqrt(turn)
        speed = math.sqrt(speed)
        for i in range(6):
            inertia = model.inertia[b, i]
            drag = model.drag_linear[b, i] + model.drag_quadratic[b, i] * (
                turn if i < 3 else speed
            )
            velocity_out[first + i] = (
                inertia * twist[i] + period * (load[i] + drag * water[i])
            ) / (inertia + period * drag)


@inner_kernel
def _turn_back(
    ax: float, ay: float, az: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Solve u + a x u = (x, y, z)."""
    along = ax * x + ay * y + az * z
    scale = 1.0 / (1.0 + ax * ax + ay * ay + az * az)
    return (
        scale * (x + along * ax - (ay * z - az * y)),
        scale * (y + along * ay - (az * x - ax * z)),
        scale * (z + along * az - (ax * y - ay * x)),
    )


@inner_kernel
def _counter_turn(
    ax: float, ay: float, az: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A vector fixed in the world, seen after Cayley's rotation by 2 a."""
    return _turn_back(
        ax,
        ay,
        az,
        x - (ay * z - az * y),
        y - (az * x - ax * z),
        z - (ax * y - ay * x),
    )


@kernel
def _move(model: FreeBodyModel, body: int, period: float, data: FreeBodyData) -> None:
    """Free motion of one object through a step, from the twist in data."""
    pose = data.pose[body]
    twist = data.twist[body]
    inertia = model.inertia[body]
    added = model.added[body]
    cx, cy, cz = into_body(pose, model.current[0], model.current[1], model.current[2])
    vx, vy, vz = twist[3], twist[4], twist[5]
    px = inertia[3] * vx - added[3] * cx
    py = inertia[4] * vy - added[4] * cy
    pz = inertia[5] * vz - added[5] * cz
    lx, ly, lz = inertia[0] * twist[0], inertia[1] * twist[1], inertia[2] * twist[2]
    wx, wy, wz = twist[0], twist[1], twist[2]
    half = 0.5 * period
    ax = ay = az = ux = uy = uz = 0.0
    for _ in range(_MOST_TURNS):
        ax = half * 0.5 * (twist[0] + wx)
        ay = half * 0.5 * (twist[1] + wy)
        az = half * 0.5 * (twist[2] + wz)
        qx, qy, qz = _counter_turn(ax, ay, az, px, py, pz)
        dx, dy, dz = _counter_turn(ax, ay, az, cx, cy, cz)
        ux = (qx + added[3] * dx) / inertia[3]
        uy = (qy + added[4] * dy) / inertia[4]
        uz = (qz + added[5] * dz) / inertia[5]
        rx = 0.5 * (vx + ux - cx - dx)
        ry = 0.5 * (vy + uy - cy - dy)
        rz = 0.5 * (vz + uz - cz - dz)
        mx = period * (added[4] - added[5]) * ry * rz
        my = period * (added[5] - added[3]) * rz * rx
        mz = period * (added[3] - added[4]) * rx * ry
        kx, ky, kz = _turn_back(
            ax,
            ay,
            az,
            lx - (ay * lz - az * ly) + mx,
            ly - (az * lx - ax * lz) + my,
            lz - (ax * ly - ay * lx) + mz,
        )
        kx /= inertia[0]
        ky /= inertia[1]
        kz /= inertia[2]
        change = abs(kx - wx) + abs(ky - wy) + abs(kz - wz)
        wx, wy, wz = kx, ky, kz
        if not change > _SETTLED * (abs(wx) + abs(wy) + abs(wz)):
            break
    for i in range(3):
        before = pose[i, 0] * vx + pose[i, 1] * vy + pose[i, 2] * vz
        pose[i, 0], pose[i, 1], pose[i, 2] = _counter_turn(
            ax, ay, az, pose[i, 0], pose[i, 1], pose[i, 2]
        )
        after = pose[i, 0] * ux + pose[i, 1] * uy + pose[i, 2] * uz
        pose[i, 3] += half * (before + after)
    _straighten(pose)
    twist[0], twist[1], twist[2] = wx, wy, wz
    twist[3], twist[4], twist[5] = ux, uy, uz


@inner_kernel
def _straighten(pose_out: FloatArray) -> None:
    """Take rounding out of a rotation: one step of (3 R - R Rᵀ R)/2."""
    g = (
        pose_out[0, 0] ** 2 + pose_out[1, 0] ** 2 + pose_out[2, 0] ** 2,
        pose_out[0, 1] ** 2 + pose_out[1, 1] ** 2 + pose_out[2, 1] ** 2,
        pose_out[0, 2] ** 2 + pose_out[1, 2] ** 2 + pose_out[2, 2] ** 2,
    )
    xy = xz = yz = 0.0
    for i in range(3):
        xy += pose_out[i, 0] * pose_out[i, 1]
        xz += pose_out[i, 0] * pose_out[i, 2]
        yz += pose_out[i, 1] * pose_out[i, 2]
    for i in range(3):
        x, y, z = pose_out[i, 0], pose_out[i, 1], pose_out[i, 2]
        pose_out[i, 0] = 1.5 * x - 0.5 * (x * g[0] + y * xy + z * xz)
        pose_out[i, 1] = 1.5 * y - 0.5 * (x * xy + y * g[1] + z * yz)
        pose_out[i, 2] = 1.5 * z - 0.5 * (x * xz + y * yz + z * g[2])


@inner_kernel
def move_bodies(
    model: FreeBodyModel,
    period: float,
    offset: int,
    velocity: FloatArray,
    data: FreeBodyData,
) -> None:
    """Take over the twists after contact and move the objects through the step.

    Args:
        model: the objects.
        period: time step [s].
        offset: place of the first object's twist in velocity.
        velocity: (offset + 6 B,) twists.
        data: advanced; an object whose twist is not finite, or too fast, is frozen.
    """
    for b in range(model.kind.size):
        if data.status[b] != BODY_OK:
            continue
        cause = BODY_OK
        for i in range(6):
            speed = abs(velocity[offset + 6 * b + i])
            if not speed < np.inf:
                cause = BODY_NOT_FINITE
                break
            if speed > (_TURN_LIMIT if i < 3 else _SPEED_LIMIT):
                cause = BODY_DIVERGED
        if cause != BODY_OK:
            _freeze(b, cause, data)
            continue
        for i in range(6):
            data.twist[b, i] = velocity[offset + 6 * b + i]
        _move(model, b, period, data)
