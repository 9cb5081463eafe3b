"""Internal forces of the mantle and their tangent, from its discrete energies.

Per mid-surface at rest, with λ = cos θ r' + sin θ z', β = cos θ z' - sin θ r', μ = θ'
(Renda 2018 sec. 3.1.1, scaled by r* as in the published code):

    e11 = (r'² + z'² - 1)/2   e22 = (r²/r*² - 1)/2   shear β
    d11 = μ* - μ λ            d22 = sin θ*/r* - r sin θ/r*²
    W = h E/(1-ν²) (e11² + e22² + 2ν e11 e22 + h²/3 (d11² + d22² + 2ν d11 d22)) + h G β²

Its slopes are N_X, H, M_X, N_φ, M_φ of eq. 7. The viscous potential is W's form in the
strain rates with 3η for E and η for G. As printed, H's damping multiplies β̇ by ė; right
is β ė (and η β̇), which is the slope of the potential. λ² + β² = r'² + z'²: membrane
strains do not see θ.
"""

import numpy as np

from models.mantle import MantleModel, MantleWork
from models.numerics import FloatArray, inner_kernel, kernel

__all__ = [
    "add_stiffness_product",
    "mantle_elastic_energy",
    "mantle_forces",
    "mantle_matrix",
    "point_values",
]


@inner_kernel
def point_values(
    model: MantleModel, field: FloatArray, element: int, point: int
) -> tuple[float, float, float, float, float]:
    """Of a field (K, 3) of r, z, θ at a point: r, r', z', θ, θ'."""
    order = model.shape.shape[0]
    r, r_x, z_x, theta, theta_x = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(order + 1):
        node = order * element + i
        value = model.shape[point, i]
        slope = model.slope[element, point, i]
        r += value * field[node, 0]
        r_x += slope * field[node, 0]
        z_x += slope * field[node, 1]
        theta += value * field[node, 2]
        theta_x += slope * field[node, 2]
    return r, r_x, z_x, theta, theta_x


@kernel
def _add_at_nodes(
    model: MantleModel,
    element: int,
    point: int,
    slopes: tuple[float, float, float, float, float],
    scale: float,
    force_out: FloatArray,
) -> None:
    """Add what works on r, r', z', θ, θ' at a point to the nodes' forces."""
    order = model.shape.shape[0]
    for i in range(order + 1):
        node = order * element + i
        value = scale * model.shape[point, i]
        slope = scale * model.slope[element, point, i]
        force_out[node, 0] += value * slopes[0] + slope * slopes[1]
        force_out[node, 1] += slope * slopes[2]
        force_out[node, 2] += value * slopes[3] + slope * slopes[4]


@kernel
def mantle_elastic_energy(model: MantleModel, position: FloatArray) -> float:
    """Elastic energy of the shell.

    Args:
        model: of the mantle.
        position: (K, 3) r [m], z [m], θ [rad].

    Returns:
        [J].
    """
    energy = 0.0
    elements, points = model.point_area.shape
    for e in range(elements):
        for p in range(points):
            r, r_x, z_x, theta, theta_x = point_values(model, position, e, p)
            sine, cosine = np.sin(theta), np.cos(theta)
            per_square = 1.0 / model.point_radius[e, p] ** 2
            rest = model.rest_strain[e, p]
            e11 = 0.5 * (r_x * r_x + z_x * z_x) - rest[0]
            e22 = 0.5 * r * r * per_square - rest[1]
            d11 = -theta_x * (cosine * r_x + sine * z_x) - rest[2]
            d22 = -r * sine * per_square - rest[3]
            shear = cosine * z_x - sine * r_x - rest[4]
            cross = 2.0 * model.poisson_ratio
            membrane = e11 * e11 + e22 * e22 + cross * e11 * e22
            bending = d11 * d11 + d22 * d22 + cross * d11 * d22
            membrane += model.bending_ratio * bending
            energy += (
                0.5
                * model.point_area[e, p]
                * (
                    model.membrane_stiffness * membrane
                    + model.shear_stiffness * shear * shear
                )
            )
    return energy


@kernel
def mantle_forces(
    model: MantleModel,
    position: FloatArray,
    velocity: FloatArray,
    force_out: FloatArray,
) -> None:
    """Elastic and viscous forces of the shell on its nodes (Renda 2018 eq. 7).

    Args:
        model: of the mantle.
        position: (K, 3) r [m], z [m], θ [rad].
        velocity: (K, 3) [m/s, m/s, rad/s].
        force_out: (K, 3) generalised forces [N, N, N m]; on node 0 too, which the
            root holds.
    """
    for k in range(force_out.shape[0]):
        for i in range(3):
            force_out[k, i] = 0.0
    ratio = model.poisson_ratio
    late = model.retardation
    elements, points = model.point_area.shape
    for e in range(elements):
        for p in range(points):
            r, r_x, z_x, theta, theta_x = point_values(model, position, e, p)
            r_t, r_xt, z_xt, turn, turn_x = point_values(model, velocity, e, p)
            s, c = np.sin(theta), np.cos(theta)
            per_square = 1.0 / model.point_radius[e, p] ** 2
            rest = model.rest_strain[e, p]
            stretch = c * r_x + s * z_x
            shear = c * z_x - s * r_x
            stretch_t = c * r_xt + s * z_xt + turn * shear
            shear_t = c * z_xt - s * r_xt - turn * stretch
            e11 = 0.5 * (r_x * r_x + z_x * z_x) - rest[0]
            e11 += late * (r_x * r_xt + z_x * z_xt)
            e22 = 0.5 * r * r * per_square - rest[1] + late * r * r_t * per_square
            d11 = -theta_x * stretch - rest[2]
            d11 -= late * (turn_x * stretch + theta_x * stretch_t)
            d22 = -r * s * per_square - rest[3]
            d22 -= late * (r_t * s + r * c * turn) * per_square
            membrane = model.membrane_stiffness
            bending = membrane * model.bending_ratio
            n11 = membrane * (e11 + ratio * e22)
            n22 = membrane * (e22 + ratio * e11) * per_square
            m11 = bending * (d11 + ratio * d22)
            m22 = bending * (d22 + ratio * d11) * per_square
            across = model.shear_stiffness * (shear - rest[4])
            across += model.shear_viscosity * shear_t
            _add_at_nodes(
                model,
                e,
                p,
                (
                    n22 * r - m22 * s,
                    n11 * r_x - m11 * theta_x * c - across * s,
                    n11 * z_x - m11 * theta_x * s + across * c,
                    -m11 * theta_x * shear - m22 * r * c - across * stretch,
                    -m11 * stretch,
                ),
                -model.point_area[e, p],
                force_out,
            )


@kernel
def mantle_matrix(
    model: MantleModel,
    position: FloatArray,
    damping_factor: float,
    stiffness_factor: float,
    work: MantleWork,
) -> None:
    """Matrix M + damping_factor · C + stiffness_factor · K, lower band.

    K are the second derivatives of the elastic energy, C those of the viscous potential
    in the velocities. K's blocks at the points are kept for `add_stiffness_product`.

    Args:
        model: of the mantle.
        position: (K, 3) r [m], z [m], θ [rad].
        damping_factor: [s].
        stiffness_factor: [s2].
        work: `band` and `point_stiffness` are set, `strain` is used.
    """
    band = work.band
    for row in range(band.shape[0]):
        for column in range(band.shape[1]):
            band[row, column] = 0.0
    for k in range(position.shape[0]):
        band[3 * k, 0] = model.node_mass[k]
        band[3 * k + 1, 0] = model.node_mass[k]
        band[3 * k + 2, 0] = model.node_rotary[k]
    elements, points = model.point_area.shape
    for e in range(elements):
        for p in range(points):
            _point_matrix(model, position, e, p, damping_factor, stiffness_factor, work)
            _add_block(model, e, p, work)


@kernel
def _point_matrix(
    model: MantleModel,
    position: FloatArray,
    e: int,
    p: int,
    damping_factor: float,
    stiffness_factor: float,
    work: MantleWork,
) -> None:
    """Stiffness at a point, and, in work.strain[0], the step's matrix there."""
    r, r_x, z_x, theta, theta_x = point_values(model, position, e, p)
    s, c = np.sin(theta), np.cos(theta)
    area = model.point_area[e, p]
    per_square = 1.0 / model.point_radius[e, p] ** 2
    rest = model.rest_strain[e, p]
    stretch = c * r_x + s * z_x
    shear = c * z_x - s * r_x
    slopes, elastic = work.strain[0], work.strain[1]
    for i in range(5):
        for j in range(5):
            slopes[i, j] = 0.0
    slopes[0, 1], slopes[0, 2] = r_x, z_x
    slopes[1, 0] = r * per_square
    slopes[2, 1], slopes[2, 2] = -theta_x * c, -theta_x * s
    slopes[2, 3], slopes[2, 4] = -theta_x * shear, -stretch
    slopes[3, 0], slopes[3, 3] = -s * per_square, -r * c * per_square
    slopes[4, 1], slopes[4, 2], slopes[4, 3] = -s, c, -stretch
    ratio = model.poisson_ratio
    membrane = area * model.membrane_stiffness
    bending = membrane * model.bending_ratio
    for i in range(5):
        elastic[0, i] = membrane * (slopes[0, i] + ratio * slopes[1, i])
        elastic[1, i] = membrane * (slopes[1, i] + ratio * slopes[0, i])
        elastic[2, i] = bending * (slopes[2, i] + ratio * slopes[3, i])
        elastic[3, i] = bending * (slopes[3, i] + ratio * slopes[2, i])
    e11 = 0.5 * (r_x * r_x + z_x * z_x) - rest[0]
    e22 = 0.5 * r * r * per_square - rest[1]
    d11 = -theta_x * stretch - rest[2]
    d22 = -r * s * per_square - rest[3]
    n11 = membrane * (e11 + ratio * e22)
    n22 = membrane * (e22 + ratio * e11) * per_square
    m11 = bending * (d11 + ratio * d22)
    m22 = bending * (d22 + ratio * d11) * per_square
    across = area * model.shear_stiffness * (shear - rest[4])
    stiffness = work.point_stiffness[e, p]
    viscous_part = damping_factor * model.retardation
    viscous_shear = damping_factor * area * model.shear_viscosity
    elastic_shear = area * model.shear_stiffness
    for i in range(5):
        for j in range(i + 1):
            total = 0.0
            for k in range(4):
                total += slopes[k, i] * elastic[k, j]
            stiffness[i, j] = total
    # second derivatives of the strains, each by its stress
    geometric_r_theta = -m22 * c
    geometric_1_theta = m11 * theta_x * s - across * c
    geometric_2_theta = -m11 * theta_x * c - across * s
    geometric_theta = m11 * theta_x * stretch + m22 * r * s - across * shear
    for i in range(5):
        for j in range(i + 1):
            shears = slopes[4, i] * slopes[4, j]
            material = stiffness[i, j]
            stiffness[i, j] += elastic_shear * shears
            elastic[i, j] = viscous_part * material + viscous_shear * shears
    stiffness[0, 0] += n22
    stiffness[1, 1] += n11
    stiffness[2, 2] += n11
    stiffness[3, 0] += geometric_r_theta
    stiffness[3, 1] += geometric_1_theta
    stiffness[3, 2] += geometric_2_theta
    stiffness[3, 3] += geometric_theta
    stiffness[4, 1] -= m11 * c
    stiffness[4, 2] -= m11 * s
    stiffness[4, 3] -= m11 * shear
    for i in range(5):
        for j in range(i + 1):
            stiffness[j, i] = stiffness[i, j]
            slopes[i, j] = elastic[i, j] + stiffness_factor * stiffness[i, j]
            slopes[j, i] = slopes[i, j]


@kernel
def _add_block(model: MantleModel, element: int, point: int, work: MantleWork) -> None:
    """Add the (5, 5) block in work.strain[0] of a point to the band."""
    order = model.shape.shape[0]
    block = work.strain[0]
    band = work.band
    for i in range(order + 1):
        value_i = model.shape[point, i]
        slope_i = model.slope[element, point, i]
        row = 3 * (order * element + i)
        for j in range(i + 1):
            value_j = model.shape[point, j]
            slope_j = model.slope[element, point, j]
            back = 3 * (i - j)
            for k in range(3):
                if k == 0:
                    r = value_i * block[0, 0] + slope_i * block[1, 0]
                    r_x = value_i * block[0, 1] + slope_i * block[1, 1]
                    z_x = value_i * block[0, 2] + slope_i * block[1, 2]
                    theta = value_i * block[0, 3] + slope_i * block[1, 3]
                    theta_x = value_i * block[0, 4] + slope_i * block[1, 4]
                elif k == 1:
                    r, r_x = slope_i * block[2, 0], slope_i * block[2, 1]
                    z_x = slope_i * block[2, 2]
                    theta, theta_x = slope_i * block[2, 3], slope_i * block[2, 4]
                else:
                    r = value_i * block[3, 0] + slope_i * block[4, 0]
                    r_x = value_i * block[3, 1] + slope_i * block[4, 1]
                    z_x = value_i * block[3, 2] + slope_i * block[4, 2]
                    theta = value_i * block[3, 3] + slope_i * block[4, 3]
                    theta_x = value_i * block[3, 4] + slope_i * block[4, 4]
                band[row + k, back + k] += r * value_j + r_x * slope_j
                if back + k >= 1:
                    band[row + k, back + k - 1] += z_x * slope_j
                if back + k >= 2:
                    band[row + k, back + k - 2] += theta * value_j + theta_x * slope_j


@kernel
def add_stiffness_product(
    model: MantleModel,
    point_stiffness: FloatArray,
    direction: FloatArray,
    factor: float,
    force_out: FloatArray,
) -> None:
    """Add factor · K · direction to the forces.

    Args:
        model: of the mantle.
        point_stiffness: (E, n, 5, 5) K's blocks, from `mantle_matrix`.
        direction: (K, 3) displacement [m, m, rad] or its rate.
        factor: any.
        force_out: (K, 3) added to.
    """
    elements, points = model.point_area.shape
    for e in range(elements):
        for p in range(points):
            x = point_values(model, direction, e, p)
            block = point_stiffness[e, p]
            _add_at_nodes(
                model,
                e,
                p,
                (
                    _stiffness_row(block, 0, x),
                    _stiffness_row(block, 1, x),
                    _stiffness_row(block, 2, x),
                    _stiffness_row(block, 3, x),
                    _stiffness_row(block, 4, x),
                ),
                factor,
                force_out,
            )


@kernel
def _stiffness_row(
    block: FloatArray, row: int, x: tuple[float, float, float, float, float]
) -> float:
    total: float = (
        block[row, 0] * x[0]
        + block[row, 1] * x[1]
        + block[row, 2] * x[2]
        + block[row, 3] * x[3]
        + block[row, 4] * x[4]
    )
    return total
