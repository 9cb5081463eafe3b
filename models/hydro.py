"""What the water does to a limb: added mass, drag, buoyancy.

Per unit of rest length, for a circular section of radius r:
drag, Renda 2018 eq. 11 in the norm form D = diag(π C_t/2, C_n, C_n) r ρ_w |v| v;
added mass, Renda 2018 eq. 13, ρ_w B A on the velocity normal to the limb;
weight less buoyancy (ρ - ρ_w) A g.

Validity: slender limb, still water, steady drag coefficients; each section acts alone.
Stretch does not change a section's volume; the radius that drag sees is that at rest.
"""

from models.arc import arc_coefficients
from models.numerics import FloatArray, kernel
from models.robot import RobotModel
from models.workspace import RodWork

__all__ = ["limb_weight_load", "section_hydrodynamics", "segment_weight_moments"]

_PI = 3.141592653589793


@kernel
def section_hydrodynamics(
    radius: float,
    water_density: float,
    drag_normal: float,
    drag_tangent: float,
    added_mass: float,
) -> tuple[float, float, float]:
    """Hydrodynamic coefficients of one section.

    Args:
        radius: of the section [m].
        water_density: [kg/m3].
        drag_normal: C_n.
        drag_tangent: C_t.
        added_mass: B.

    Returns:
        Normal and tangential drag, force per length = coefficient |v| v [kg/m2], and
        added mass per length [kg/m] of the normal velocity.
    """
    across = radius * water_density
    return (
        drag_normal * across,
        0.5 * _PI * drag_tangent * across,
        added_mass * water_density * _PI * radius * radius,
    )


@kernel
def segment_weight_moments(
    model: RobotModel,
    segment: int,
    delta_x: float,
    delta_y: float,
    length: float,
    moment_out: FloatArray,
) -> None:
    """Submerged mass of a segment, its first moment and that moment's derivatives.

    Args:
        model: the robot.
        segment: index in the robot.
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].
        length: arc length ℓ [m].
        moment_out: (13,) mass less displaced water [kg]; first moment about the
            segment's start in the frame there [kg m]; its derivatives by Δx and Δy
            [kg m/rad] and by δℓ [kg].
    """
    for i in range(13):
        moment_out[i] = 0.0
    rest = model.segment_length[segment]
    excess = model.density[segment] - model.water_density[0]
    r0 = model.segment_radius[segment, 0]
    slope = model.segment_radius[segment, 1] - r0
    for p in range(model.quadrature_node.size):
        sigma = model.quadrature_node[p]
        radius = r0 + slope * sigma
        mass = excess * _PI * radius * radius * rest * model.quadrature_weight[p]
        x = sigma * delta_x
        y = sigma * delta_y
        a, b, _, a1, b1, _, _, _, _ = arc_coefficients(x * x + y * y)
        by_length = mass * sigma
        lever = by_length * length
        by_bend = lever * sigma
        moment_out[0] += mass
        moment_out[1] += lever * a * x
        moment_out[2] += lever * a * y
        moment_out[3] += lever * b
        moment_out[4] += by_bend * (a + 2.0 * a1 * x * x)
        moment_out[5] += by_bend * 2.0 * a1 * x * y
        moment_out[6] += by_bend * 2.0 * b1 * x
        moment_out[7] += by_bend * 2.0 * a1 * x * y
        moment_out[8] += by_bend * (a + 2.0 * a1 * y * y)
        moment_out[9] += by_bend * 2.0 * b1 * y
        moment_out[10] += by_length * a * x
        moment_out[11] += by_length * a * y
        moment_out[12] += by_length * b


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
        row = work.segment_load[k]
        x = coordinates[k, 0]
        y = coordinates[k, 1]
        length = model.segment_length[first + k] + coordinates[k, 2]
        segment_weight_moments(model, first + k, x, y, length, row)
        row[13] = gx
        row[14] = gy
        row[15] = gz
        # g in the end frame: R^T g with R = 1 + [w]ₓ b + (w w^T - u) a, w = (-y, x, 0)
        a, b, _, _, _, _, _, _, _ = arc_coefficients(x * x + y * y)
        along = x * gx + y * gy
        turn = b * gz + a * along
        gx = gx - turn * x
        gy = gy - turn * y
        gz = gz + b * along - a * (x * x + y * y) * gz
    fx = fy = fz = 0.0  # force of all beyond, at the segment's end, in the end frame
    nx = ny = nz = 0.0  # its moment about that end
    for k in range(count - 1, -1, -1):
        row = work.segment_load[k]
        x = coordinates[k, 0]
        y = coordinates[k, 1]
        length = model.segment_length[first + k] + coordinates[k, 2]
        a, b, c, a1, b1, _, _, _, _ = arc_coefficients(x * x + y * y)
        # into the frame of the start
        along = x * fx + y * fy
        turn = b * fz - a * along
        fx, fy, fz = (
            fx + turn * x,
            fy + turn * y,
            fz - b * along - a * (x * x + y * y) * fz,
        )
        along = x * nx + y * ny
        turn = b * nz - a * along
        nx, ny, nz = (
            nx + turn * x,
            ny + turn * y,
            nz - b * along - a * (x * x + y * y) * nz,
        )
        gx = row[13]
        gy = row[14]
        gz = row[15]
        along = x * fx + y * fy
        rise = 2.0 * (a1 * along + b1 * fz)
        spin = c * (x * nx + y * ny) + a * nz
        load_out[3 * k] = (
            row[4] * gx
            + row[5] * gy
            + row[6] * gz
            + length * (a * fx + rise * x)
            + ny
            - y * spin
        )
        load_out[3 * k + 1] = (
            row[7] * gx
            + row[8] * gy
            + row[9] * gz
            + length * (a * fy + rise * y)
            - nx
            + x * spin
        )
        load_out[3 * k + 2] = (
            row[10] * gx + row[11] * gy + row[12] * gz + a * along + b * fz
        )
        px = length * a * x
        py = length * a * y
        pz = length * b
        nx += py * fz - pz * fy + row[2] * gz - row[3] * gy
        ny += pz * fx - px * fz + row[3] * gx - row[1] * gz
        nz += px * fy - py * fx + row[1] * gy - row[2] * gx
        fx += row[0] * gx
        fy += row[0] * gy
        fz += row[0] * gz
