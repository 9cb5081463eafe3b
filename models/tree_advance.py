"""One step along an element of a tree: pose, twist, its bias, columns of coordinates.

The strain at the step's Gauss nodes is that at rest and what the element's own
coordinates add; models/strain_step makes a motion of it. All in the root's frame, about
its origin.
"""

from models.arc import arc_coefficients
from models.numerics import FloatArray, inner_kernel
from models.strain_step import (
    cross,
    screw_bracket,
    step_bias,
    step_column,
    step_pose,
)
from models.tree import TreeData, TreeModel, TreeWork

__all__ = ["add_to_strain", "advance", "node_strain"]

_MAGNUS = 0.14433756729740646  # √3/12


@inner_kernel
def add_to_strain(
    component: int,
    value: float,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
) -> tuple[float, float, float, float, float, float]:
    """Add a value to one of the six strains (k_x, k_y, k_z, q_x, q_y, q_z)."""
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
def node_strain(
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
        x, y, z, p, q, r = add_to_strain(component, value, x, y, z, p, q, r)
    return x, y, z, p, q, r


@inner_kernel
def advance(
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
    x1, y1, z1, p1, q1, r1 = node_strain(model, step, first, count, data.position, 0, 0)
    varies = model.element_varies[element] == 1
    bracket = _MAGNUS * h * h
    x, y, z, p, q, r = h * x1, h * y1, h * z1, h * p1, h * q1, h * r1
    x2, y2, z2, p2, q2, r2 = x1, y1, z1, p1, q1, r1
    if varies:
        x2, y2, z2, p2, q2, r2 = node_strain(
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
    a, b, c, da, db, dc, dda, ddb, ddc = arc_coefficients(x * x + y * y + z * z)
    rotation = work.point_rotation[step]
    position = work.point_position[step]
    twist = work.point_twist[step]
    bias = work.point_bias[step]
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    px, py, pz = position[0], position[1], position[2]
    if count > 0:
        ex, ey, ez, ep, eq, er = node_strain(
            model, step, first, count, data.velocity, 0, 1
        )
        ux, uy, uz, up, uq, ur = h * ex, h * ey, h * ez, h * ep, h * eq, h * er
        if varies:
            fx, fy, fz, fp, fq, fr = node_strain(
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
            ox, oy, oz, op, oq, orr = add_to_strain(
                component, value, ox, oy, oz, op, oq, orr
            )
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
