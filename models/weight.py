"""Weight less buoyancy of a limb at rest, as generalised forces: for the winches.

Per unit of rest length (ρ - ρ_w) A g (Renda 2018 eq. 10). Stretch does not change a
section's volume. The same forces as those of models/tree_motion, by closed forms of the
arc, for a pose that is wanted and not yet there.
"""

from models.arc import arc_coefficients
from models.numerics import FloatArray, kernel
from models.robot import RobotModel
from models.workspace import RodWork

__all__ = ["limb_weight_load"]

_PI = 3.141592653589793


@kernel
def limb_weight_load(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    work: RodWork,
    load_out: FloatArray,
) -> None:
    """Generalised forces of weight less buoyancy on a limb.

    Forward for the direction of gravity in each segment, backward for force and moment
    of everything beyond it (recursive, so the cost grows as the number of segments).

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) segment coordinates of this limb [rad, rad, m].
        work: workspace.
        load_out: (3 n,) generalised forces in row order [N m, N m, N].
    """
    first = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - first
    base = model.pose_base_to_hull[limb]
    gravity = model.gravity_in_hull
    gx = base[0, 0] * gravity[0] + base[1, 0] * gravity[1] + base[2, 0] * gravity[2]
    gy = base[0, 1] * gravity[0] + base[1, 1] * gravity[1] + base[2, 1] * gravity[2]
    gz = base[0, 2] * gravity[0] + base[1, 2] * gravity[1] + base[2, 2] * gravity[2]
    for k in range(count):
        x = coordinates[k, 0]
        y = coordinates[k, 1]
        rest = model.segment_length[first + k]
        length = rest + coordinates[k, 2]
        excess = model.density[first + k] - model.water_density[0]
        r0 = model.segment_radius[first + k, 0]
        slope = model.segment_radius[first + k, 1] - r0
        # sums over the segment: mass, first moment (sx, sy, sz), gravity times the
        # first moment's derivatives by Δx, Δy and δℓ
        total = sx = sy = sz = by_x = by_y = by_l = 0.0
        for p in range(model.quadrature_node.size):
            sigma = model.quadrature_node[p]
            radius = r0 + slope * sigma
            mass = excess * _PI * radius * radius * rest * model.quadrature_weight[p]
            px = sigma * x
            py = sigma * y
            a, b, _, a1, b1, _, _, _, _ = arc_coefficients(px * px + py * py)
            along = px * gx + py * gy
            rise = 2.0 * (a1 * along + b1 * gz)
            lever = mass * sigma * length
            total += mass
            sx += lever * a * px
            sy += lever * a * py
            sz += lever * b
            by_x += lever * sigma * (a * gx + rise * px)
            by_y += lever * sigma * (a * gy + rise * py)
            by_l += mass * sigma * (a * along + b * gz)
        load = work.segment_load
        load[k, 0] = total * gx
        load[k, 1] = total * gy
        load[k, 2] = total * gz
        load[k, 3] = sy * gz - sz * gy
        load[k, 4] = sz * gx - sx * gz
        load[k, 5] = sx * gy - sy * gx
        load_out[3 * k] = by_x
        load_out[3 * k + 1] = by_y
        load_out[3 * k + 2] = by_l
        # g in the end frame: R^T g with R = 1 + [w]ₓ b + (w w^T - u) a, w = (-y, x, 0)
        a, b, _, _, _, _, _, _, _ = arc_coefficients(x * x + y * y)
        along = x * gx + y * gy
        turn = b * gz + a * along
        gx -= turn * x
        gy -= turn * y
        gz += b * along - a * (x * x + y * y) * gz
    fx = fy = fz = 0.0  # force of all beyond, at the segment's end, in the end frame
    nx = ny = nz = 0.0  # its moment about that end
    for k in range(count - 1, -1, -1):
        x = coordinates[k, 0]
        y = coordinates[k, 1]
        length = model.segment_length[first + k] + coordinates[k, 2]
        u = x * x + y * y
        a, b, c, a1, b1, _, _, _, _ = arc_coefficients(u)
        # into the frame of the start
        along = x * fx + y * fy
        turn = b * fz - a * along
        fx += turn * x
        fy += turn * y
        fz -= b * along + a * u * fz
        along = x * nx + y * ny
        turn = b * nz - a * along
        nx += turn * x
        ny += turn * y
        nz -= b * along + a * u * nz
        along = x * fx + y * fy
        rise = 2.0 * (a1 * along + b1 * fz)
        spin = c * (x * nx + y * ny) + a * nz
        load_out[3 * k] += length * (a * fx + rise * x) + ny - y * spin
        load_out[3 * k + 1] += length * (a * fy + rise * y) - nx + x * spin
        load_out[3 * k + 2] += a * along + b * fz
        px = length * a * x
        py = length * a * y
        pz = length * b
        nx += py * fz - pz * fy + work.segment_load[k, 3]
        ny += pz * fx - px * fz + work.segment_load[k, 4]
        nz += px * fy - py * fx + work.segment_load[k, 5]
        fx += work.segment_load[k, 0]
        fy += work.segment_load[k, 1]
        fz += work.segment_load[k, 2]
