"""What one point of a tree feels: inertia, weight, buoyancy, added mass, drag.

In the axes of its section, and from there into the sums of the tree (see
models/tree_motion): load and matrix of its element's own coordinates, momentum of each,
wrench and inertia for all that is nearer to the root.
"""

import numpy as np

from models.numerics import FloatArray, inner_kernel
from models.strain_step import cross
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_inertia import add_inertia

__all__ = ["point_forces"]


@inner_kernel
def _sum_turning(
    mass: float,
    added: FloatArray,
    inertia: FloatArray,
    turns: bool,
    moving: float,
    force: tuple[float, float, float],
    moment: tuple[float, float, float],
    spin: tuple[float, float, float],
    added_energy: float,
    rotation: FloatArray,
    position: FloatArray,
    root_acceleration: FloatArray,
    work: TreeWork,
) -> None:
    """What `models.tree_turning` judges by; without what moves the root from outside.

    Of a point: inertial force and moment at constant rates, and spin, in its section's
    axes; mass times the square of its speed, and twice its added mass's energy.
    """
    a = root_acceleration
    tx, ty, tz = cross(a[0], a[1], a[2], position[0], position[1], position[2])
    tx, ty, tz = tx + a[3], ty + a[4], tz + a[5]
    mx, my, mz = mass + added[0], mass + added[1], mass + added[2]
    if mx.real > 0.0 and my.real > 0.0 and mz.real > 0.0:
        fx = force[0] - mx * (
            rotation[0, 0] * tx + rotation[1, 0] * ty + rotation[2, 0] * tz
        )
        fy = force[1] - my * (
            rotation[0, 1] * tx + rotation[1, 1] * ty + rotation[2, 1] * tz
        )
        fz = force[2] - mz * (
            rotation[0, 2] * tx + rotation[1, 2] * ty + rotation[2, 2] * tz
        )
        work.turning[0] += fx * fx / mx + fy * fy / my + fz * fz / mz
    work.turning[1] += mass * moving + added_energy
    x, y, z = spin
    square = x * x + y * y + z * z
    if square.real > work.turning[2].real:
        work.turning[2] = square
    ix, iy, iz = inertia[0], inertia[1], inertia[2]
    work.turning[1] += ix * x * x + iy * y * y + iz * z * z
    if turns and ix > 0.0 and iy > 0.0 and iz > 0.0:
        gx = moment[0] + ix * (
            rotation[0, 0] * a[0] + rotation[1, 0] * a[1] + rotation[2, 0] * a[2]
        )
        gy = moment[1] + iy * (
            rotation[0, 1] * a[0] + rotation[1, 1] * a[1] + rotation[2, 1] * a[2]
        )
        gz = moment[2] + iz * (
            rotation[0, 2] * a[0] + rotation[1, 2] * a[1] + rotation[2, 2] * a[2]
        )
        work.turning[0] += gx * gx / ix + gy * gy / iy + gz * gz / iz


@inner_kernel
def point_forces(
    model: TreeModel,
    element: int,
    point: int,
    period: float,
    data: TreeData,
    work: TreeWork,
) -> None:
    """Inertia, weight, buoyancy, added mass and drag of one point, into the sums."""
    rotation = work.point_rotation[point]
    position = work.point_position[point]
    twist = work.point_twist[point]
    bias = work.point_bias[point]
    water = work.water
    px, py, pz = position[0], position[1], position[2]
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    mass = model.point_mass[point]
    net = mass - model.point_displaced[point]
    # velocity and acceleration of the point, root axes
    sx, sy, sz = cross(twist[0], twist[1], twist[2], px, py, pz)
    vx, vy, vz = twist[3] + sx, twist[4] + sy, twist[5] + sz
    sx, sy, sz = cross(bias[0], bias[1], bias[2], px, py, pz)
    tx, ty, tz = cross(twist[0], twist[1], twist[2], vx, vy, vz)
    ax, ay, az = bias[3] + sx + tx, bias[4] + sy + ty, bias[5] + sz + tz
    moving = vx * vx + vy * vy + vz * vz
    height = water[9] * px + water[10] * py + water[11] * pz
    vx -= water[3] + height * water[6]
    vy -= water[4] + height * water[7]
    vz -= water[5] + height * water[8]
    # in the section's own axes
    u = r00 * vx + r10 * vy + r20 * vz
    v = r01 * vx + r11 * vy + r21 * vz
    w = r02 * vx + r12 * vy + r22 * vz
    ox = r00 * twist[0] + r10 * twist[1] + r20 * twist[2]
    oy = r01 * twist[0] + r11 * twist[1] + r21 * twist[2]
    oz = r02 * twist[0] + r12 * twist[1] + r22 * twist[2]
    fx = r00 * ax + r10 * ay + r20 * az
    fy = r01 * ax + r11 * ay + r21 * az
    fz = r02 * ax + r12 * ay + r22 * az
    bx = r00 * bias[0] + r10 * bias[1] + r20 * bias[2]
    by = r01 * bias[0] + r11 * bias[1] + r21 * bias[2]
    bz = r02 * bias[0] + r12 * bias[1] + r22 * bias[2]
    wx = r00 * water[0] + r10 * water[1] + r20 * water[2]
    wy = r01 * water[0] + r11 * water[1] + r21 * water[2]
    wz = r02 * water[0] + r12 * water[1] + r22 * water[2]
    added = model.point_added[point]
    gx, gy, gz = added[0] * u, added[1] * v, added[2] * w  # added momentum
    sx, sy, sz = cross(ox, oy, oz, u, v, w)
    tx, ty, tz = cross(ox, oy, oz, gx, gy, gz)
    nx = mass * fx + added[0] * (fx - sx) + tx
    ny = mass * fy + added[1] * (fy - sy) + ty
    nz = mass * fz + added[2] * (fz - sz) + tz
    kx, ky, kz = net * wx - nx, net * wy - ny, net * wz - nz
    inertia = model.point_inertia[point]
    sx, sy, sz = cross(ox, oy, oz, inertia[0] * ox, inertia[1] * oy, inertia[2] * oz)
    mx = -inertia[0] * bx - sx
    my = -inertia[1] * by - sy
    mz = -inertia[2] * bz - sz
    if model.munk_moment[0] == 1:
        sx, sy, sz = cross(u, v, w, gx, gy, gz)
        mx -= sx
        my -= sy
        mz -= sz
    if period > 0.0 and work.corrects[0] != 2:
        _sum_turning(
            mass,
            added,
            inertia,
            model.point_kind[point] == 2,
            moving,
            (nx, ny, nz),
            (mx, my, mz),
            (ox, oy, oz),
            gx * u + gy * v + gz * w,
            rotation,
            position,
            data.root_acceleration,
            work,
        )
    drag = model.point_drag[point]
    squares = u * u + v * v + w * w
    # no root of zero, whose derivative a complex step would not find
    speed = np.sqrt(squares) if squares.real > 0.0 else 0.0 * squares
    if model.drag_form[0] == 0:
        hx, hy, hz = drag[0] * speed, drag[1] * speed, drag[2] * speed
    else:
        hx = drag[0] * (u if u.real >= 0.0 else -u)
        hy = drag[1] * (v if v.real >= 0.0 else -v)
        hz = drag[2] * (w if w.real >= 0.0 else -w)
    ix, iy, iz = inertia[0], inertia[1], inertia[2]
    jx = jy = jz = 0.0 * u
    if model.point_kind[point] == 2:
        hx += model.point_drag_linear[point, 0]
        hy += model.point_drag_linear[point, 1]
        hz += model.point_drag_linear[point, 2]
        jx += model.point_drag_turn_linear[point, 0] + model.point_drag_turn[
            point, 0
        ] * (ox if ox.real >= 0.0 else -ox)
        jy += model.point_drag_turn_linear[point, 1] + model.point_drag_turn[
            point, 1
        ] * (oy if oy.real >= 0.0 else -oy)
        jz += model.point_drag_turn_linear[point, 2] + model.point_drag_turn[
            point, 2
        ] * (oz if oz.real >= 0.0 else -oz)
        mx -= jx * ox
        my -= jy * oy
        mz -= jz * oz
    kx -= hx * u
    ky -= hy * v
    kz -= hz * w
    # the wrench about the root's origin
    sx = r00 * kx + r01 * ky + r02 * kz
    sy = r10 * kx + r11 * ky + r12 * kz
    sz = r20 * kx + r21 * ky + r22 * kz
    tx, ty, tz = cross(px, py, pz, sx, sy, sz)
    tx += r00 * mx + r01 * my + r02 * mz
    ty += r10 * mx + r11 * my + r12 * mz
    tz += r20 * mx + r21 * my + r22 * mz
    # masses that the matrix sees
    ax, ay, az = (
        mass + added[0] + period * hx,
        mass + added[1] + period * hy,
        mass + added[2] + period * hz,
    )
    ix, iy, iz = ix + period * jx, iy + period * jy, iz + period * jz
    first = model.element_dof_start[element]
    count = model.element_dof_start[element + 1] - first
    above = model.element_above_dof[element] >= 0
    for j in range(count):
        column = work.point_column[point, j]
        cx, cy, cz = column[0], column[1], column[2]
        mx, my, mz = cross(cx, cy, cz, px, py, pz)
        vx, vy, vz = column[3] + mx, column[4] + my, column[5] + mz
        work.load[first + j] += (
            cx * tx
            + cy * ty
            + cz * tz
            + column[3] * sx
            + column[4] * sy
            + column[5] * sz
        )
        # momentum of this column, by the section's axes, back into the root's
        u = ax * (r00 * vx + r10 * vy + r20 * vz)
        v = ay * (r01 * vx + r11 * vy + r21 * vz)
        w = az * (r02 * vx + r12 * vy + r22 * vz)
        ox = ix * (r00 * cx + r10 * cy + r20 * cz)
        oy = iy * (r01 * cx + r11 * cy + r21 * cz)
        oz = iz * (r02 * cx + r12 * cy + r22 * cz)
        fx = r00 * u + r01 * v + r02 * w
        fy = r10 * u + r11 * v + r12 * w
        fz = r20 * u + r21 * v + r22 * w
        mx, my, mz = cross(px, py, pz, fx, fy, fz)
        mx += r00 * ox + r01 * oy + r02 * oz
        my += r10 * ox + r11 * oy + r12 * oz
        mz += r20 * ox + r21 * oy + r22 * oz
        for i in range(j + 1):
            other = work.point_column[point, i]
            work.matrix[first + j, first + i] += (
                other[0] * mx
                + other[1] * my
                + other[2] * mz
                + other[3] * fx
                + other[4] * fy
                + other[5] * fz
            )
        if above:
            momentum = work.dof_momentum[first + j]
            momentum[0] += mx
            momentum[1] += my
            momentum[2] += mz
            momentum[3] += fx
            momentum[4] += fy
            momentum[5] += fz
    if above:
        parent = model.element_parent[element]
        into = parent if parent >= 0 else model.element_parent.size
        wrench = work.wrench_below[into]
        wrench[0] += tx
        wrench[1] += ty
        wrench[2] += tz
        wrench[3] += sx
        wrench[4] += sy
        wrench[5] += sz
        add_inertia(
            rotation, px, py, pz, ix, iy, iz, ax, ay, az, work.inertia_below[into]
        )
