"""Equations of motion of a tree of rods, rigid bodies and joints.

    M(q) a + c(q, v) = Q_weight + Q_drag + Q_wrench + Q_applied,   a = dv/dt

by a recursion from the root outwards (poses, twists, accelerations at a = 0) and back
(wrenches, inertias of what hangs below). Everything is in the root frame about the
root's origin, so that the columns of a coordinate, once its element ends, are the same
for all that hangs there: an element costs its own coordinates, not those of its
ancestors. With the root's twist among the velocities a floating tree costs little more
than a fixed one.

At a point with the body-frame velocity v relative to the water, added mass B acts as
the kinetic energy v·B v/2 (Renda 2018 eq. 13 with the transport term) and, with
`munk_moment`, the moment -v x B v that goes with it. Weight less buoyancy acts at the
point. Drag is that of eq. 11; bodies have linear drag and drag against turning too.

The matrix gets period times the drag's linearisation at constant |v|.
Leaves out: change of a section's radius by stretch, acceleration of the water itself.
"""

import numpy as np

from models.numerics import FloatArray, called_kernel, inner_kernel
from models.strain_step import (
    cross,
    screw_bracket,
    step_bias,
    step_coefficients,
    step_column,
    step_pose,
)
from models.tree import TreeData, TreeModel, TreeWork

__all__ = ["tree_motion"]

_MAGNUS = 0.14433756729740646  # √3/12
_TURNING_GROWTH = 0.02
"""1/s: explicit Coriolis forces may add this share of a motion's energy a second."""


@inner_kernel
def _apply_inertia(
    inertia: FloatArray,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
) -> tuple[float, float, float, float, float, float]:
    """Momentum, angular first, of a composite inertia (21,) with a twist.

    Layout: J xx xy xz yy yz zz, then C row by row, then A xx xy xz yy yz zz, for
    angular = J ω + C v and linear = Cᵀ ω + A v.
    """
    return (
        inertia[0] * x
        + inertia[1] * y
        + inertia[2] * z
        + inertia[6] * p
        + inertia[7] * q
        + inertia[8] * r,
        inertia[1] * x
        + inertia[3] * y
        + inertia[4] * z
        + inertia[9] * p
        + inertia[10] * q
        + inertia[11] * r,
        inertia[2] * x
        + inertia[4] * y
        + inertia[5] * z
        + inertia[12] * p
        + inertia[13] * q
        + inertia[14] * r,
        inertia[6] * x
        + inertia[9] * y
        + inertia[12] * z
        + inertia[15] * p
        + inertia[16] * q
        + inertia[17] * r,
        inertia[7] * x
        + inertia[10] * y
        + inertia[13] * z
        + inertia[16] * p
        + inertia[18] * q
        + inertia[19] * r,
        inertia[8] * x
        + inertia[11] * y
        + inertia[14] * z
        + inertia[17] * p
        + inertia[19] * q
        + inertia[20] * r,
    )


@inner_kernel
def _add_inertia(
    rotation: FloatArray,
    x: float,
    y: float,
    z: float,
    ix: float,
    iy: float,
    iz: float,
    mx: float,
    my: float,
    mz: float,
    inertia_out: FloatArray,
) -> None:
    """Add a point's inertia, diagonal in its own axes, about the root's origin."""
    a00 = a01 = a02 = a11 = a12 = a22 = 0.0
    for i in range(3):
        a = rotation[0, i]
        b = rotation[1, i]
        c = rotation[2, i]
        m = mx if i == 0 else (my if i == 1 else mz)
        moment = ix if i == 0 else (iy if i == 1 else iz)
        a00 += m * a * a
        a01 += m * a * b
        a02 += m * a * c
        a11 += m * b * b
        a12 += m * b * c
        a22 += m * c * c
        inertia_out[0] += moment * a * a
        inertia_out[1] += moment * a * b
        inertia_out[2] += moment * a * c
        inertia_out[3] += moment * b * b
        inertia_out[4] += moment * b * c
        inertia_out[5] += moment * c * c
    # C = p~ A, J += -p~ A p~ = p~ (p~ A)ᵀ
    c00 = y * a02 - z * a01
    c01 = y * a12 - z * a11
    c02 = y * a22 - z * a12
    c10 = z * a00 - x * a02
    c11 = z * a01 - x * a12
    c12 = z * a02 - x * a22
    c20 = x * a01 - y * a00
    c21 = x * a11 - y * a01
    c22 = x * a12 - y * a02
    inertia_out[0] += y * c02 - z * c01
    inertia_out[1] += z * c00 - x * c02
    inertia_out[2] += x * c01 - y * c00
    inertia_out[3] += z * c10 - x * c12
    inertia_out[4] += x * c11 - y * c10
    inertia_out[5] += x * c21 - y * c20
    inertia_out[6] += c00
    inertia_out[7] += c01
    inertia_out[8] += c02
    inertia_out[9] += c10
    inertia_out[10] += c11
    inertia_out[11] += c12
    inertia_out[12] += c20
    inertia_out[13] += c21
    inertia_out[14] += c22
    inertia_out[15] += a00
    inertia_out[16] += a01
    inertia_out[17] += a02
    inertia_out[18] += a11
    inertia_out[19] += a12
    inertia_out[20] += a22


@inner_kernel
def _set_out(model: TreeModel, data: TreeData, work: TreeWork) -> None:
    """Clear the sums; turn gravity and current into the root frame."""
    pose = data.root_pose
    size = model.dof_parent.size
    for i in range(size):
        work.load[i] = data.applied[i]
        work.matrix[i, i] = 0.0
        j = model.dof_parent[i]
        while j >= 0:
            work.matrix[i, j] = 0.0
            j = model.dof_parent[j]
        for k in range(6):
            work.dof_momentum[i, k] = 0.0
    for i in range(model.root_size[0]):
        for k in range(6):
            work.column[i, k] = 1.0 if i == k else 0.0
    for e in range(model.element_parent.size + 1):
        for k in range(21):
            work.inertia_below[e, k] = 0.0
        for k in range(6):
            work.wrench_below[e, k] = 0.0
    for k in range(3):
        work.turning[k] = 0.0
    height = pose[2, 3]
    for i in range(3):
        weight = 0.0
        flow = 0.0
        shear = 0.0
        for k in range(3):
            weight += pose[k, i] * model.gravity[k]
            flow += pose[k, i] * (model.current[k] + height * model.current_shear[k])
            shear += pose[k, i] * model.current_shear[k]
        work.water[i] = weight
        work.water[3 + i] = flow
        work.water[6 + i] = shear
        work.water[9 + i] = pose[2, i]


@inner_kernel
def _root_twist(
    model: TreeModel, data: TreeData
) -> tuple[float, float, float, float, float, float]:
    """The root's twist."""
    if model.root_size[0] == 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    v = data.velocity
    return v[0], v[1], v[2], v[3], v[4], v[5]


@inner_kernel
def _start_pose(model: TreeModel, element: int, point: int, work: TreeWork) -> None:
    """Pose of an element's start, into its first point's place."""
    own = model.element_pose[element]
    rotation = work.point_rotation[point]
    position = work.point_position[point]
    parent = model.element_parent[element]
    if parent < 0:
        for i in range(3):
            for j in range(3):
                rotation[i, j] = own[i, j]
            position[i] = own[i, 3]
        return
    last = model.element_step_start[parent + 1] - 1
    base = work.point_rotation[last]
    for i in range(3):
        for j in range(3):
            rotation[i, j] = (
                base[i, 0] * own[0, j] + base[i, 1] * own[1, j] + base[i, 2] * own[2, j]
            )
        position[i] = work.point_position[last, i] + (
            base[i, 0] * own[0, 3] + base[i, 1] * own[1, 3] + base[i, 2] * own[2, 3]
        )


@inner_kernel
def _step_strain(
    model: TreeModel,
    step: int,
    first: int,
    count: int,
    values: FloatArray,
    node: int,
    rate: int,
) -> tuple[float, float, float, float, float, float]:
    """Strain (or its rate, where rate is 1) at one Gauss node of a step."""
    x = y = z = p = q = r = 0.0
    if rate == 0:
        x += model.step_strain[step, node, 0]
        y += model.step_strain[step, node, 1]
        z += model.step_strain[step, node, 2]
        p += model.step_strain[step, node, 3]
        q += model.step_strain[step, node, 4]
        r += model.step_strain[step, node, 5]
    for j in range(count):
        value = model.step_basis[step, node, j] * values[first + j]
        component = model.dof_component[first + j]
        if component == 0:
            x += value
        elif component == 1:
            y += value
        elif component == 2:
            z += value
        elif component == 3:
            p += value
        elif component == 4:
            q += value
        else:
            r += value
    return x, y, z, p, q, r


@inner_kernel
def _advance(
    model: TreeModel,
    element: int,
    step: int,
    data: TreeData,
    work: TreeWork,
) -> None:
    """One step along an element with coordinates or length: pose, twist, columns.

    On entry the point holds pose, twist, bias and columns of the step's start.
    """
    first = model.element_dof_start[element]
    count = model.element_dof_start[element + 1] - first
    h = model.step_length[step]
    half = 0.5 * h
    x1, y1, z1, p1, q1, r1 = _step_strain(
        model, step, first, count, data.position, 0, 0
    )
    varies = model.element_varies[element] == 1
    bracket = _MAGNUS * h * h
    x, y, z, p, q, r = h * x1, h * y1, h * z1, h * p1, h * q1, h * r1
    x2, y2, z2, p2, q2, r2 = x1, y1, z1, p1, q1, r1
    if varies:
        x2, y2, z2, p2, q2, r2 = _step_strain(
            model, step, first, count, data.position, 1, 0
        )
        bx, by, bz, bp, bq, br = screw_bracket(
            x1, y1, z1, p1, q1, r1, x2, y2, z2, p2, q2, r2
        )
        x = half * (x1 + x2) + bracket * bx
        y = half * (y1 + y2) + bracket * by
        z = half * (z1 + z2) + bracket * bz
        p = half * (p1 + p2) + bracket * bp
        q = half * (q1 + q2) + bracket * bq
        r = half * (r1 + r2) + bracket * br
    a, b, c, da, db, dc, dda, ddb, ddc = step_coefficients(x * x + y * y + z * z)
    rotation = work.point_rotation[step]
    position = work.point_position[step]
    twist = work.point_twist[step]
    bias = work.point_bias[step]
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    px, py, pz = position[0], position[1], position[2]
    if count > 0:
        ex, ey, ez, ep, eq, er = _step_strain(
            model, step, first, count, data.velocity, 0, 1
        )
        ux, uy, uz, up, uq, ur = h * ex, h * ey, h * ez, h * ep, h * eq, h * er
        if varies:
            fx, fy, fz, fp, fq, fr = _step_strain(
                model, step, first, count, data.velocity, 1, 1
            )
            gx, gy, gz, gp, gq, gr = screw_bracket(
                ex, ey, ez, ep, eq, er, x2, y2, z2, p2, q2, r2
            )
            hx, hy, hz, hp, hq, hr = screw_bracket(
                x1, y1, z1, p1, q1, r1, fx, fy, fz, fp, fq, fr
            )
            ux = half * (ex + fx) + bracket * (gx + hx)
            uy = half * (ey + fy) + bracket * (gy + hy)
            uz = half * (ez + fz) + bracket * (gz + hz)
            up = half * (ep + fp) + bracket * (gp + hp)
            uq = half * (eq + fq) + bracket * (gq + hq)
            ur = half * (er + fr) + bracket * (gr + hr)
        vx, vy, vz, vp, vq, vr = step_column(
            a, b, c, da, db, dc, x, y, z, p, q, r, ux, uy, uz, up, uq, ur
        )
        wx, wy, wz, wp, wq, wr = step_bias(
            a, b, c, da, db, dc, dda, ddb, ddc, x, y, z, p, q, r, ux, uy, uz, up, uq, ur
        )
        if varies:
            gx, gy, gz, gp, gq, gr = screw_bracket(
                ex, ey, ez, ep, eq, er, fx, fy, fz, fp, fq, fr
            )
            k = 2.0 * bracket
            gx, gy, gz, gp, gq, gr = step_column(
                a,
                b,
                c,
                da,
                db,
                dc,
                x,
                y,
                z,
                p,
                q,
                r,
                k * gx,
                k * gy,
                k * gz,
                k * gp,
                k * gq,
                k * gr,
            )
            wx, wy, wz = wx + gx, wy + gy, wz + gz
            wp, wq, wr = wp + gp, wq + gq, wr + gr
        # into the root frame, about its origin
        sx = r00 * vx + r01 * vy + r02 * vz
        sy = r10 * vx + r11 * vy + r12 * vz
        sz = r20 * vx + r21 * vy + r22 * vz
        mx, my, mz = cross(px, py, pz, sx, sy, sz)
        sp = r00 * vp + r01 * vq + r02 * vr + mx
        sq = r10 * vp + r11 * vq + r12 * vr + my
        sr = r20 * vp + r21 * vq + r22 * vr + mz
        tx = r00 * wx + r01 * wy + r02 * wz
        ty = r10 * wx + r11 * wy + r12 * wz
        tz = r20 * wx + r21 * wy + r22 * wz
        mx, my, mz = cross(px, py, pz, tx, ty, tz)
        tp = r00 * wp + r01 * wq + r02 * wr + mx
        tq = r10 * wp + r11 * wq + r12 * wr + my
        tr = r20 * wp + r21 * wq + r22 * wr + mz
        cx, cy, cz, cp, cq, cr = screw_bracket(
            twist[0],
            twist[1],
            twist[2],
            twist[3],
            twist[4],
            twist[5],
            sx,
            sy,
            sz,
            sp,
            sq,
            sr,
        )
        bias[0] += tx + cx
        bias[1] += ty + cy
        bias[2] += tz + cz
        bias[3] += tp + cp
        bias[4] += tq + cq
        bias[5] += tr + cr
        twist[0] += sx
        twist[1] += sy
        twist[2] += sz
        twist[3] += sp
        twist[4] += sq
        twist[5] += sr
        for j in range(count):
            component = model.dof_component[first + j]
            b1 = model.step_basis[step, 0, j]
            ox = oy = oz = op = oq = orr = 0.0 * x
            value = h * b1
            if varies:
                b2 = model.step_basis[step, 1, j]
                value = half * (b1 + b2)
                left = bracket * b1
                right = bracket * b2
                # [e_s b1, ξ2] + [ξ1, e_s b2] for the unit strain e_s
                if component == 0:
                    oy = right * z1 - left * z2
                    oz = left * y2 - right * y1
                    oq = right * r1 - left * r2
                    orr = left * q2 - right * q1
                elif component == 1:
                    ox = left * z2 - right * z1
                    oz = right * x1 - left * x2
                    op = left * r2 - right * r1
                    orr = right * p1 - left * p2
                elif component == 2:
                    ox = right * y1 - left * y2
                    oy = left * x2 - right * x1
                    op = right * q1 - left * q2
                    oq = left * p2 - right * p1
                elif component == 3:
                    oq = right * z1 - left * z2
                    orr = left * y2 - right * y1
                elif component == 4:
                    op = left * z2 - right * z1
                    orr = right * x1 - left * x2
                else:
                    op = right * y1 - left * y2
                    oq = left * x2 - right * x1
            if component == 0:
                ox += value
            elif component == 1:
                oy += value
            elif component == 2:
                oz += value
            elif component == 3:
                op += value
            elif component == 4:
                oq += value
            else:
                orr += value
            vx, vy, vz, vp, vq, vr = step_column(
                a, b, c, da, db, dc, x, y, z, p, q, r, ox, oy, oz, op, oq, orr
            )
            sx = r00 * vx + r01 * vy + r02 * vz
            sy = r10 * vx + r11 * vy + r12 * vz
            sz = r20 * vx + r21 * vy + r22 * vz
            mx, my, mz = cross(px, py, pz, sx, sy, sz)
            column = work.point_column[step, j]
            column[0] += sx
            column[1] += sy
            column[2] += sz
            column[3] += r00 * vp + r01 * vq + r02 * vr + mx
            column[4] += r10 * vp + r11 * vq + r12 * vr + my
            column[5] += r20 * vp + r21 * vq + r22 * vr + mz
    e00, e01, e02, e10, e11, e12, e20, e21, e22, dx, dy, dz = step_pose(
        a, b, c, x, y, z, p, q, r
    )
    rotation[0, 0] = r00 * e00 + r01 * e10 + r02 * e20
    rotation[0, 1] = r00 * e01 + r01 * e11 + r02 * e21
    rotation[0, 2] = r00 * e02 + r01 * e12 + r02 * e22
    rotation[1, 0] = r10 * e00 + r11 * e10 + r12 * e20
    rotation[1, 1] = r10 * e01 + r11 * e11 + r12 * e21
    rotation[1, 2] = r10 * e02 + r11 * e12 + r12 * e22
    rotation[2, 0] = r20 * e00 + r21 * e10 + r22 * e20
    rotation[2, 1] = r20 * e01 + r21 * e11 + r22 * e21
    rotation[2, 2] = r20 * e02 + r21 * e12 + r22 * e22
    position[0] += r00 * dx + r01 * dy + r02 * dz
    position[1] += r10 * dx + r11 * dy + r12 * dz
    position[2] += r20 * dx + r21 * dy + r22 * dz


@inner_kernel
def _point_forces(
    model: TreeModel,
    element: int,
    point: int,
    period: float,
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
    if period > 0.0:
        ax, ay, az = mass + added[0], mass + added[1], mass + added[2]
        if ax.real > 0.0 and ay.real > 0.0 and az.real > 0.0:
            work.turning[0] += nx * nx / ax + ny * ny / ay + nz * nz / az
        work.turning[1] += mass * moving + gx * u + gy * v + gz * w
        spin = ox * ox + oy * oy + oz * oz
        if spin.real > work.turning[2].real:
            work.turning[2] = spin
        ix, iy, iz = inertia[0], inertia[1], inertia[2]
        work.turning[1] += ix * ox * ox + iy * oy * oy + iz * oz * oz
        if model.point_kind[point] == 2 and ix > 0.0 and iy > 0.0 and iz > 0.0:
            work.turning[0] += mx * mx / ix + my * my / iy + mz * mz / iz
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
        _add_inertia(
            rotation, px, py, pz, ix, iy, iz, ax, ay, az, work.inertia_below[into]
        )


@inner_kernel
def _gather(model: TreeModel, element: int, data: TreeData, work: TreeWork) -> None:
    """Way back at one element: what hangs on its end, and the ancestors' share."""
    first = model.element_dof_start[element]
    last = model.element_dof_start[element + 1]
    point = model.element_step_start[element + 1] - 1
    position = work.point_position[point]
    outer = data.wrench[element]
    below = work.wrench_below[element]
    sx, sy, sz = cross(
        position[0], position[1], position[2], outer[3], outer[4], outer[5]
    )
    below[0] += outer[0] + sx
    below[1] += outer[1] + sy
    below[2] += outer[2] + sz
    below[3] += outer[3]
    below[4] += outer[4]
    below[5] += outer[5]
    above = model.element_above_dof[element]
    child = model.element_has_child[element] == 1
    for d in range(first, last):
        column = work.column[d]
        for k in range(6):
            work.load[d] += column[k] * below[k]
        momentum = work.dof_momentum[d]
        if child:
            x, y, z, p, q, r = _apply_inertia(
                work.inertia_below[element],
                column[0],
                column[1],
                column[2],
                column[3],
                column[4],
                column[5],
            )
            for i in range(first, d + 1):
                other = work.column[i]
                work.matrix[d, i] += (
                    other[0] * x
                    + other[1] * y
                    + other[2] * z
                    + other[3] * p
                    + other[4] * q
                    + other[5] * r
                )
            momentum[0] += x
            momentum[1] += y
            momentum[2] += z
            momentum[3] += p
            momentum[4] += q
            momentum[5] += r
        i = above
        while i >= 6 or (i >= 0 and model.root_size[0] == 0):
            other = work.column[i]
            work.matrix[d, i] += (
                other[0] * momentum[0]
                + other[1] * momentum[1]
                + other[2] * momentum[2]
                + other[3] * momentum[3]
                + other[4] * momentum[4]
                + other[5] * momentum[5]
            )
            i = model.dof_parent[i]
        if model.root_size[0] == 6:
            for k in range(6):
                work.matrix[d, k] += momentum[k]
    if above >= 0:
        parent = model.element_parent[element]
        into = parent if parent >= 0 else model.element_parent.size
        for k in range(6):
            work.wrench_below[into, k] += below[k]
        if child:
            for k in range(21):
                work.inertia_below[into, k] += work.inertia_below[element, k]


@inner_kernel
def _keep_motion(model: TreeModel, period: float, work: TreeWork) -> None:
    """Keep matrix and load apart for `correct_turning`, where it has to act."""
    rate = work.turning
    fast = (
        period * rate[0].real > _TURNING_GROWTH * rate[1].real
        or period * rate[2].real > _TURNING_GROWTH
    )
    work.corrects[0] = 1 if fast else 0
    if not fast:
        return
    for d in range(model.dof_parent.size):
        work.motion_load[d] = work.load[d]
        j = d
        while j >= 0:
            work.motion_matrix[d, j] = work.matrix[d, j]
            j = model.dof_parent[j]


@called_kernel
def tree_motion(
    model: TreeModel, period: float, data: TreeData, work: TreeWork
) -> None:
    """Mass matrix, and all forces but elastic ones, at the present state.

    Args:
        model: the tree.
        period: time step of the implicit drag [s]; 0 gives the mass matrix alone.
        data: position, velocity, root, applied forces and wrenches are read.
        work: gets poses, twists, columns, `matrix` and `load`.
    """
    elements = model.element_parent.size
    _set_out(model, data, work)
    for e in range(elements):
        start = model.element_step_start[e]
        stop = model.element_step_start[e + 1]
        count = model.element_dof_start[e + 1] - model.element_dof_start[e]
        parent = model.element_parent[e]
        for s in range(start, stop):
            twist = work.point_twist[s]
            bias = work.point_bias[s]
            if s == start:
                _start_pose(model, e, s, work)
                if parent < 0:
                    root = _root_twist(model, data)
                    for k in range(6):
                        twist[k] = root[k]
                        bias[k] = 0.0
                else:
                    before = model.element_step_start[parent + 1] - 1
                    for k in range(6):
                        twist[k] = work.point_twist[before, k]
                        bias[k] = work.point_bias[before, k]
                for j in range(count):
                    for k in range(6):
                        work.point_column[s, j, k] = 0.0
            else:
                for i in range(3):
                    for k in range(3):
                        work.point_rotation[s, i, k] = work.point_rotation[s - 1, i, k]
                    work.point_position[s, i] = work.point_position[s - 1, i]
                for k in range(6):
                    twist[k] = work.point_twist[s - 1, k]
                    bias[k] = work.point_bias[s - 1, k]
                for j in range(count):
                    for k in range(6):
                        work.point_column[s, j, k] = work.point_column[s - 1, j, k]
            if model.step_length[s] > 0.0:
                _advance(model, e, s, data, work)
            if model.point_kind[s] > 0:
                _point_forces(model, e, s, period, work)
        first = model.element_dof_start[e]
        for j in range(count):
            for k in range(6):
                work.column[first + j, k] = work.point_column[stop - 1, j, k]
    for e in range(elements - 1, -1, -1):
        _gather(model, e, data, work)
    if model.root_size[0] == 6:
        inertia = work.inertia_below[elements]
        for d in range(6):
            work.load[d] += work.wrench_below[elements, d]
            x, y, z, p, q, r = _apply_inertia(
                inertia,
                work.column[d, 0],
                work.column[d, 1],
                work.column[d, 2],
                work.column[d, 3],
                work.column[d, 4],
                work.column[d, 5],
            )
            momentum = (x, y, z, p, q, r)
            for i in range(d + 1):
                work.matrix[d, i] += momentum[i]
    if period > 0.0 and work.corrects[0] != 2:
        _keep_motion(model, period, work)
