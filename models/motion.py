"""Equations of motion of one limb in segment coordinates.

Every section of the limb is a rigid slice with the body inertia diag(I, I, 2 I) and
diag(m + m_a, m + m_a, m), m = ρ A, m_a = ρ_w B A (Renda 2018 eq. 13), I = ρ π r⁴/4,
whose motion the segment coordinates q give exactly. Projected on q (Kane; the same as
Lagrange's equations for this kinetic energy):

    M(q) q̈ + c(q, q̇) = Q_weight + Q_drag + Q_tip + elasticity, viscosity, tendons

c holds all Coriolis and centrifugal terms. The added mass is treated as a kinetic
energy m_a |v_n|²/2, so its force is -d/dt(m_a v_n), transport included, and the section
also feels the Munk moment -v x m_a v_n. Renda 2018 prints the force alone; without the
moment dM/dt - 2 C is not skew and the added mass would create energy.

The frame of each segment's start carries the recursion; nothing is singular at θ = 0.
Leaves out the change of radius by stretch (some 1 % here) and the hull's motion.
"""

import numpy as np

from models.arc import arc_coefficients
from models.hydro import section_hydrodynamics
from models.numerics import FloatArray, kernel
from models.robot import RobotModel
from models.workspace import RodWork

__all__ = ["limb_motion"]

_PI = 3.141592653589793


@kernel
def _end_columns(
    count: int,
    delta_x: float,
    delta_y: float,
    a: float,
    b: float,
    work: RodWork,
) -> None:
    """Turn the twists of a segment's end into the frame there: next segment's start."""
    bend = delta_x * delta_x + delta_y * delta_y
    for j in range(count):
        for half in range(0, 6, 3):
            x = work.point_column[j, half]
            y = work.point_column[j, half + 1]
            z = work.point_column[j, half + 2]
            along = delta_x * x + delta_y * y
            turn = b * z + a * along
            work.column[j, half] = x - turn * delta_x
            work.column[j, half + 1] = y - turn * delta_y
            work.column[j, half + 2] = z + b * along - a * bend * z


@kernel
def limb_motion(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    rates: FloatArray,
    period: float,
    tip_wrench: FloatArray,
    work: RodWork,
) -> tuple[float, float]:
    """Mass matrix, Coriolis forces and external loads of a limb.

    Leaves in work: `matrix` = M + period times the drag's linearisation at constant
    |v| (lower triangle), `bias` = c, `load` = weight, drag and tip wrench.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) segment coordinates of this limb [rad, rad, m].
        rates: (n, 3) their rates [rad/s, rad/s, m/s].
        period: time step of the implicit drag [s]; 0 gives the mass matrix alone.
        tip_wrench: (6,) external moment [N m] then force [N] at the tip, hull frame.
        work: workspace.

    Returns:
        Kinetic energy, added mass included, and potential energy of the submerged
        weight, zero where the limb's mass lies at its base [J].
    """
    first = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - first
    size = 3 * count
    points = model.quadrature_node.size
    base = model.pose_base_to_hull[limb]
    water = model.water_density[0]
    column = work.column
    point = work.point_column
    matrix = work.matrix
    for i in range(size):
        work.bias[i] = 0.0
        work.load[i] = 0.0
        for j in range(i + 1):
            matrix[i, j] = 0.0
    # vectors in the frame of the segment's start: gravity, tip moment and force,
    # then angular velocity, velocity and their accelerations at zero q̈
    gx = gy = gz = tx = ty = tz = fx = fy = fz = 0.0
    for i in range(3):
        gx += base[i, 0] * model.gravity_in_hull[i]
        gy += base[i, 1] * model.gravity_in_hull[i]
        gz += base[i, 2] * model.gravity_in_hull[i]
        tx += base[i, 0] * tip_wrench[i]
        ty += base[i, 1] * tip_wrench[i]
        tz += base[i, 2] * tip_wrench[i]
        fx += base[i, 0] * tip_wrench[3 + i]
        fy += base[i, 1] * tip_wrench[3 + i]
        fz += base[i, 2] * tip_wrench[3 + i]
    wx0 = wy0 = wz0 = vx0 = vy0 = vz0 = 0.0
    ax0 = ay0 = az0 = lx0 = ly0 = lz0 = 0.0
    drop = 0.0  # gravity times the start's position
    kinetic = 0.0
    potential = 0.0
    for k in range(count):
        dx = coordinates[k, 0]
        dy = coordinates[k, 1]
        rest = model.segment_length[first + k]
        full = rest + coordinates[k, 2]
        rate_x = rates[k, 0]
        rate_y = rates[k, 1]
        rate_l = rates[k, 2]
        r0 = model.segment_radius[first + k, 0]
        slope = model.segment_radius[first + k, 1] - r0
        density = model.density[first + k]
        normal = model.drag_normal[first + k]
        tangent = model.drag_tangent[first + k]
        added = model.added_mass[first + k]
        own = 3 * k
        width = own + 3
        for p in range(points + 1):
            # the last pass is the segment's end, which carries the recursion on
            sigma = model.quadrature_node[p] if p < points else 1.0
            x = sigma * dx
            y = sigma * dy
            u = x * x + y * y
            a, b, c, a1, b1, c1, a2, b2, _ = arc_coefficients(u)
            lever = sigma * full
            sx = lever * a * x
            sy = lever * a * y
            sz = lever * b
            # own columns
            lever_s = lever * sigma
            mixed = lever_s * 2.0 * a1 * x * y
            point[own, 0] = -sigma * c * x * y
            point[own, 1] = sigma * (1.0 - c * y * y)
            point[own, 2] = -sigma * a * y
            point[own, 3] = lever_s * (a + 2.0 * a1 * x * x)
            point[own, 4] = mixed
            point[own, 5] = lever_s * 2.0 * b1 * x
            point[own + 1, 0] = sigma * (c * x * x - 1.0)
            point[own + 1, 1] = sigma * c * x * y
            point[own + 1, 2] = sigma * a * x
            point[own + 1, 3] = mixed
            point[own + 1, 4] = lever_s * (a + 2.0 * a1 * y * y)
            point[own + 1, 5] = lever_s * 2.0 * b1 * y
            point[own + 2, 0] = 0.0
            point[own + 2, 1] = 0.0
            point[own + 2, 2] = 0.0
            point[own + 2, 3] = sigma * a * x
            point[own + 2, 4] = sigma * a * y
            point[own + 2, 5] = sigma * b
            # motion relative to the start: rates of x, y, and of the functions of u
            xr = sigma * rate_x
            yr = sigma * rate_y
            lr = sigma * rate_l
            ur = 2.0 * (x * xr + y * yr)
            urr = 2.0 * (xr * xr + yr * yr)
            ar = a1 * ur
            br = b1 * ur
            cr = c1 * ur
            arr = a2 * ur * ur + a1 * urr
            brr = b2 * ur * ur + b1 * urr
            across = x * yr - y * xr
            wlx = c * x * across - yr
            wly = c * y * across + xr
            wlz = a * across
            wrx = (cr * x + c * xr) * across
            wry = (cr * y + c * yr) * across
            wrz = ar * across
            ex = a * xr + ar * x
            ey = a * yr + ar * y
            vlx = lr * a * x + lever * ex
            vly = lr * a * y + lever * ey
            vlz = lr * b + lever * br
            vrx = 2.0 * lr * ex + lever * (2.0 * ar * xr + arr * x)
            vry = 2.0 * lr * ey + lever * (2.0 * ar * yr + arr * y)
            vrz = 2.0 * lr * br + lever * brr
            # motion of the point in space, in the axes of the start's frame
            ox = wy0 * sz - wz0 * sy
            oy = wz0 * sx - wx0 * sz
            oz = wx0 * sy - wy0 * sx
            vx = vx0 + ox + vlx
            vy = vy0 + oy + vly
            vz = vz0 + oz + vlz
            wx = wx0 + wlx
            wy = wy0 + wly
            wz = wz0 + wlz
            ox += 2.0 * vlx
            oy += 2.0 * vly
            oz += 2.0 * vlz
            lx = lx0 + ay0 * sz - az0 * sy + wy0 * oz - wz0 * oy + vrx
            ly = ly0 + az0 * sx - ax0 * sz + wz0 * ox - wx0 * oz + vry
            lz = lz0 + ax0 * sy - ay0 * sx + wx0 * oy - wy0 * ox + vrz
            ax = ax0 + wy0 * wlz - wz0 * wly + wrx
            ay = ay0 + wz0 * wlx - wx0 * wlz + wry
            az = az0 + wx0 * wly - wy0 * wlx + wrz
            # columns of the earlier coordinates
            for j in range(own):
                point[j, 0] = column[j, 0]
                point[j, 1] = column[j, 1]
                point[j, 2] = column[j, 2]
                point[j, 3] = column[j, 3] + column[j, 1] * sz - column[j, 2] * sy
                point[j, 4] = column[j, 4] + column[j, 2] * sx - column[j, 0] * sz
                point[j, 5] = column[j, 5] + column[j, 0] * sy - column[j, 1] * sx
            if p == points:
                drop += gx * sx + gy * sy + gz * sz
                _end_columns(width, x, y, a, b, work)
                turn = b * gz + a * (x * gx + y * gy)
                gx, gy, gz = (
                    gx - turn * x,
                    gy - turn * y,
                    gz + b * (x * gx + y * gy) - a * u * gz,
                )
                turn = b * tz + a * (x * tx + y * ty)
                tx, ty, tz = (
                    tx - turn * x,
                    ty - turn * y,
                    tz + b * (x * tx + y * ty) - a * u * tz,
                )
                turn = b * fz + a * (x * fx + y * fy)
                fx, fy, fz = (
                    fx - turn * x,
                    fy - turn * y,
                    fz + b * (x * fx + y * fy) - a * u * fz,
                )
                turn = b * wz + a * (x * wx + y * wy)
                wx0 = wx - turn * x
                wy0 = wy - turn * y
                wz0 = wz + b * (x * wx + y * wy) - a * u * wz
                turn = b * vz + a * (x * vx + y * vy)
                vx0 = vx - turn * x
                vy0 = vy - turn * y
                vz0 = vz + b * (x * vx + y * vy) - a * u * vz
                turn = b * az + a * (x * ax + y * ay)
                ax0 = ax - turn * x
                ay0 = ay - turn * y
                az0 = az + b * (x * ax + y * ay) - a * u * az
                turn = b * lz + a * (x * lx + y * ly)
                lx0 = lx - turn * x
                ly0 = ly - turn * y
                lz0 = lz + b * (x * lx + y * ly) - a * u * lz
                continue
            # the section
            radius = r0 + slope * sigma
            stretch = rest * model.quadrature_weight[p]
            area = _PI * radius * radius
            drag_n, drag_t, added_line = section_hydrodynamics(
                radius, water, normal, tangent, added
            )
            mass = density * area * stretch
            water_mass = added_line * stretch
            inertia = 0.25 * mass * radius * radius
            # tangent n and its rate ω x n
            nx = b * x
            ny = b * y
            nz = 1.0 - a * u
            nrx = wy * nz - wz * ny
            nry = wz * nx - wx * nz
            nrz = wx * ny - wy * nx
            vn = vx * nx + vy * ny + vz * nz
            wn = wx * nx + wy * ny + wz * nz
            ln = lx * nx + ly * ny + lz * nz + vx * nrx + vy * nry + vz * nrz
            an = ax * nx + ay * ny + az * nz
            square = vx * vx + vy * vy + vz * vz
            drag_n *= stretch * np.sqrt(square)
            drag_t *= stretch * np.sqrt(square)
            kinetic += 0.5 * (
                (mass + water_mass) * square
                - water_mass * vn * vn
                + inertia * (wx * wx + wy * wy + wz * wz + wn * wn)
            )
            submerged = (density - water) * area * stretch
            potential -= submerged * (drop + gx * sx + gy * sy + gz * sz)
            # rate of momentum at zero q̈, and of angular momentum with Munk's moment
            both = mass + water_mass
            bx = both * lx - water_mass * (ln * nx + vn * nrx)
            by = both * ly - water_mass * (ln * ny + vn * nry)
            bz = both * lz - water_mass * (ln * nz + vn * nrz)
            munk = water_mass * vn
            cx = inertia * (ax + an * nx + wn * nrx) + munk * (ny * vz - nz * vy)
            cy = inertia * (ay + an * ny + wn * nry) + munk * (nz * vx - nx * vz)
            cz = inertia * (az + an * nz + wn * nrz) + munk * (nx * vy - ny * vx)
            # weight and drag
            pull = (drag_t - drag_n) * vn
            hx = submerged * gx - drag_n * vx - pull * nx
            hy = submerged * gy - drag_n * vy - pull * ny
            hz = submerged * gz - drag_n * vz - pull * nz
            across_all = both + period * drag_n
            along_less = period * (drag_t - drag_n) - water_mass
            for i in range(width):
                pwx = point[i, 0]
                pwy = point[i, 1]
                pwz = point[i, 2]
                pvx = point[i, 3]
                pvy = point[i, 4]
                pvz = point[i, 5]
                pwn = pwx * nx + pwy * ny + pwz * nz
                pvn = pvx * nx + pvy * ny + pvz * nz
                point[i, 6] = pwn
                point[i, 7] = pvn
                work.bias[i] += (
                    pvx * bx + pvy * by + pvz * bz + pwx * cx + pwy * cy + pwz * cz
                )
                work.load[i] += pvx * hx + pvy * hy + pvz * hz
                pwx *= inertia
                pwy *= inertia
                pwz *= inertia
                pwn *= inertia
                pvx *= across_all
                pvy *= across_all
                pvz *= across_all
                pvn *= along_less
                for j in range(i + 1):
                    matrix[i, j] += (
                        pwx * point[j, 0]
                        + pwy * point[j, 1]
                        + pwz * point[j, 2]
                        + pvx * point[j, 3]
                        + pvy * point[j, 4]
                        + pvz * point[j, 5]
                        + pwn * point[j, 6]
                        + pvn * point[j, 7]
                    )
    for i in range(size):
        work.load[i] += (
            column[i, 0] * tx
            + column[i, 1] * ty
            + column[i, 2] * tz
            + column[i, 3] * fx
            + column[i, 4] * fy
            + column[i, 5] * fz
        )
    return kinetic, potential
