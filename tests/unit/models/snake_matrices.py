"""Zhang's matrices of a snake's module, corrected: what the tree is compared with.

Source: Zhang 2022 eqs 28-34. A module is a cylinder of length L and radius R along x,
its frame at the tail end. Matrices here are his: (6, 6), twists linear first, the frame
at the tail end. A robot is a tree, to which
`models.snake_module.add_module` gives the same loads.

What he prints, and what is right:

- (29) I_yy = π R²/4 is no inertia; about the tail end I_xx = m R²/2 and
  I_yy = I_zz = m R²/4 + m L²/3, with the mass in the middle.
- (30) has M_53 = +L/2 and M_55 = -L²/3: not symmetric, one negative eigenvalue, water
  of negative mass. The strips (v_y + ω_z x, v_z - ω_y x) give M_53 = -L/2, +L²/3.
- (32) has the right signs, but ρ π L C_d V is one length short of kg/s: ρ π R L C_d V.
  Its reference velocity V is not printed.
- (33) is J^T M dJ/dt - J^T W J; printed with d/dt(J^T).
- (34) has no J behind G_i. With e1 = (0, 0, -9.81), z up, its sign is right on the left
  of (27); the +9.8 of (18) is another e1.
- With R = 90 mm a module displaces 5.09 kg and weighs 0.563: the effective volume is an
  input here.
"""

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray
from models.snake_module import (
    BODY_TO_ELEMENT,
    SnakeModule,
    drag_scale,
    outer_water,
)


def _cross_matrix(vector: ArrayLike) -> FloatArray:
    x, y, z = np.asarray(vector, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _strips(length: float, along: float, roll: float) -> FloatArray:
    """Integral of strips across over the length, for each unit, with along and roll."""
    half, third = 0.5 * length, length * length / 3.0
    matrix = np.diag([along, 1.0, 1.0, roll, third, third])
    matrix[1, 5] = matrix[5, 1] = half
    matrix[2, 4] = matrix[4, 2] = -half
    return matrix


def body_inertia_matrix(module: SnakeModule) -> FloatArray:
    """M_R of a solid cylinder with its mass at γ_g (Zhang 2022 eq. 29, corrected).

    Args:
        module: the module.

    Returns:
        (6, 6) [kg, kg m, kg m2].
    """
    m, r, length = module.mass, module.radius, module.length
    across = m * (0.25 * r * r + length * length / 12.0)
    lever = _cross_matrix(module.centre_of_mass)
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = m * np.eye(3)
    matrix[:3, 3:] = m * lever.T
    matrix[3:, :3] = m * lever
    matrix[3:, 3:] = np.diag([0.5 * m * r * r, across, across]) + m * lever @ lever.T
    return matrix


def added_mass_matrix(module: SnakeModule) -> FloatArray:
    """M_A by strip theory (Zhang 2022 eq. 30, corrected).

    Args:
        module: the module.

    Returns:
        (6, 6) symmetric, at least 0 [kg, kg m, kg m2].
    """
    return outer_water(module) * _strips(module.length, module.added_mass_surge, 0.0)


def printed_added_mass_matrix(module: SnakeModule) -> FloatArray:
    """M_A as eq. 30 is printed: not symmetric, with a negative eigenvalue."""
    matrix = added_mass_matrix(module)
    matrix[4, 2] *= -1.0
    matrix[4, 4] *= -1.0
    return matrix


def linear_drag_matrix(module: SnakeModule) -> FloatArray:
    """D_L with the radius that it lacks (Zhang 2022 eq. 32, corrected).

    Args:
        module: the module.

    Returns:
        (6, 6) symmetric, at least 0 [kg/s, kg m/s, kg m2/s].
    """
    roll = module.drag_roll * module.radius**2
    return drag_scale(module) * _strips(module.length, module.drag_surge, roll)


def quadratic_drag_wrench(
    module: SnakeModule, twist: FloatArray, nodes: int = 64
) -> FloatArray:
    """Drag by strip theory: -ρ R C_d |v| v on each length, in the norm form.

    Zhang 2022 names the strips and gives no formula; along the axis it is β of that
    across.

    Args:
        module: the module.
        twist: (6,) of its frame relative to the water, linear first [m/s, rad/s].
        nodes: Gauss nodes of the strips.

    Returns:
        (6,) force and moment on the module [N, N m].
    """
    place, weight = np.polynomial.legendre.leggauss(nodes)
    wrench = np.zeros(6)
    scale = module.water_density * module.radius * module.drag * 0.5 * module.length
    for x, w in zip(0.5 * module.length * (1.0 + place), weight, strict=True):
        lever = np.array([x, 0.0, 0.0])
        v = twist[:3] + np.cross(twist[3:], lever)
        force = -w * scale * np.linalg.norm(v) * v
        force[0] *= module.drag_surge
        wrench[:3] += force
        wrench[3:] += np.cross(lever, force)
    return wrench


def coriolis_term(
    inertia: FloatArray, twist: FloatArray, bias: FloatArray
) -> FloatArray:
    """Coriolis and centripetal wrench of one module (Zhang 2022 eq. 33, corrected).

    (M dJ/dt - W J) ζ for the body alone: M times the bias dJ/dt ζ, less W V. W has the
    linear momentum in its corners and the angular in the last block.

    Args:
        inertia: (6, 6) M_i, body and added.
        twist: (6,) V = J ζ in the module's frame [m/s, rad/s].
        bias: (6,) dJ/dt ζ [m/s2, rad/s2].

    Returns:
        (6,) to the left of eq. 27 [N, N m].
    """
    momentum = inertia @ twist
    w = np.zeros((6, 6))
    w[:3, 3:] = w[3:, :3] = _cross_matrix(momentum[:3])
    w[3:, 3:] = _cross_matrix(momentum[3:])
    term: FloatArray = inertia @ bias - w @ twist
    return term


def hydrostatic_wrench(
    module: SnakeModule, rotation: FloatArray, gravity: float = 9.81
) -> FloatArray:
    """Weight and buoyancy in the module's frame (Zhang 2022 eq. 34, corrected).

    Args:
        module: the module.
        rotation: (3, 3) of its frame in the world, z up.
        gravity: [m/s2].

    Returns:
        (6,) force and moment on the module, -G_i [N, N m].
    """
    up = rotation.T @ np.array([0.0, 0.0, gravity])
    wrench = np.empty(6)
    wrench[:3] = (module.displaced_mass - module.mass) * up
    wrench[3:] = np.cross(
        module.displaced_mass * np.asarray(module.centre_of_buoyancy)
        - module.mass * np.asarray(module.centre_of_mass),
        up,
    )
    return wrench


def to_element_order() -> FloatArray:
    """Matrix (6, 6) from his twists to those of an element at the same place.

    Linear first along (x, y, z) to angular first along (y, z, x); orthogonal, so that a
    matrix M of his is P M Pᵀ there.
    """
    matrix = np.zeros((6, 6))
    matrix[3:, :3] = BODY_TO_ELEMENT
    matrix[:3, 3:] = BODY_TO_ELEMENT
    return matrix
