"""Walls of a soft actuator: Yeoh elasticity beside power-law viscosity.

Source: Zhang 2022 eqs 19-26, for the three hydraulic actuators of a soft joint, each of
which is one strand (models/strand) of stretch λ = s/s_rest and strain ε = λ - 1. The
force that resists its lengthening is

    f = A(ε) (P + σ_v)
    P = dU/dλ = 2 (λ - 1/λ²) (C1 + 2 C2 i + 3 C3 i²),   i = λ² + 2/λ - 3    (22, 23)
    σ_v = η0 ε̇ (ε̇² + ε̇0²)^((k-1)/2)                                       (24, 25)
    A = A_m + A_f E_c/E_m,   E_m/E_c = V_m + (1 - V_m) E_m/E_f               (20, 21)
    V_m = (ε + V_m0)/(ε + 1)

A_m is the actuator's share of the joint's silicone and its chamber's wall, A_f its
fabric layer, which counts as the silicone of the same stiffness. Where the paper is
wrong or silent:

- (21) mixes areas with the volume that (19) wants. Areas are meant, times the length.
- its 2π r_a r_s (1206 mm2) must be the chamber's wall, 2π r_a h_c (302 mm2).
- (19) is the energy of a linear spring, half of σ ε V even for Yeoh's σ. Here the force
  is A P, and the energy its integral: elastic energy comes back in full.
- 6 C1 = 75.4 kPa is the modulus at rest; the table's E_m = 204.8 kPa is not used.
- (25) is singular at rest. ε̇0 makes it smooth and linear there, of viscosity
  η0 ε̇0^(k-1); at ε̇ = 10 ε̇0 the stress is 0.35 % below the power law at k = 0.3.
- (26) is no potential of (24); viscous stress needs none: it takes σ_v ε̇ >= 0.

In a step, elasticity is linearised at the present strain with its tangent, or none
where that is negative; viscosity by its secant η(ε̇). The tangent of a power law with
k < 1/2 overshoots: a step with it turns the rate v into (1 - 1/k) v, which grows. Below
λ = 0.2, where P tends to -∞, it goes on straight. Leaves out radial expansion, which
the fabric holds back, relaxation, and the volume of a wall that is not incompressible.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, kernel
from models.strand import StrandModel, StrandWork

__all__ = [
    "WallModel",
    "actuator_areas",
    "add_walls",
    "make_walls",
    "viscous_stress",
    "wall_area",
    "wall_energy",
    "yeoh_energy",
    "yeoh_stress",
]

_LEAST_STRETCH = 0.2
_ENERGY_NODES = 12


class WallModel(NamedTuple):
    """Constant parameters of the walls of A actuators."""

    strand: IntArray
    """(A,) the strand that each one runs along."""
    rest_length: FloatArray
    """(A,) length without stress [m]."""
    yeoh: FloatArray
    """(3,) C1, C2, C3 [Pa]."""
    consistency: FloatArray
    """(1,) η0 [Pa s^k]."""
    power: FloatArray
    """(1,) k, at most 1."""
    slow_rate: FloatArray
    """(1,) ε̇0, below which viscosity is linear [1/s]."""
    matrix_area: FloatArray
    """(A,) A_m [m2]."""
    fabric_area: FloatArray
    """(A,) A_f [m2]."""
    matrix_share: FloatArray
    """(1,) V_m0, volume of silicone in the fabric layer at rest, 0..1."""
    modulus_ratio: FloatArray
    """(1,) E_m/E_f; 0 for a fabric that is rigid, as in eq. 21."""


def actuator_areas(
    joint_radius: float, chamber_radius: float, wall: float, fabric: float
) -> tuple[float, float]:
    """Areas of one of the three actuators of a joint (Zhang 2022 eq. 21, corrected).

    Args:
        joint_radius: R_s of the joint [m].
        chamber_radius: r_a, inner radius of the actuator [m].
        wall: h_c of silicone [m].
        fabric: h_s of the fabric layer [m].

    Returns:
        A_m and A_f [m2], the walls counted as thin: circumference times thickness.
    """
    outer = chamber_radius + wall + fabric
    filling = np.pi * (joint_radius**2 - 3.0 * outer**2) / 3.0
    return (
        float(filling + 2.0 * np.pi * chamber_radius * wall),
        float(2.0 * np.pi * (chamber_radius + wall) * fabric),
    )


def make_walls(
    strands: StrandModel,
    strand: IntArray,
    rest_length: float,
    *,
    yeoh: tuple[float, float, float] = (12563.0, -67.784, 2.7385),
    consistency: float = 22263.8,
    power: float = 0.3,
    slow_rate: float = 1e-3,
    areas: tuple[float, float] = (0.0, 0.0),
    matrix_share: float = 1.0,
    modulus_ratio: float = 0.0,
) -> WallModel:
    """Give strands walls of one material; the defaults are those of Zhang 2022 Table 1.

    Args:
        strands: the strands.
        strand: (A,) which of them are actuators.
        rest_length: of each [m].
        yeoh: C1, C2, C3 [Pa].
        consistency: η0 [Pa s^k].
        power: k.
        slow_rate: ε̇0 [1/s].
        areas: A_m and A_f, see `actuator_areas` [m2].
        matrix_share: V_m0; the paper does not print it.
        modulus_ratio: E_m/E_f.

    Returns:
        The walls.

    Raises:
        ValueError: a number out of its range.
    """
    index = np.asarray(strand, dtype=np.int64)
    if index.size and not (index.min() >= 0 and index.max() < strands.gap.size):
        raise ValueError(f"strand {index}: there are {strands.gap.size} strands")
    if not (0.0 < power <= 1.0 and slow_rate > 0.0 and consistency >= 0.0):
        raise ValueError(
            f"power {power}, slow_rate {slow_rate}, consistency {consistency}: need "
            "0 < power <= 1, slow_rate > 0, consistency >= 0"
        )
    if not (0.0 < matrix_share <= 1.0 and modulus_ratio >= 0.0 and rest_length > 0.0):
        raise ValueError(
            f"matrix_share {matrix_share}, modulus_ratio {modulus_ratio}, rest_length "
            f"{rest_length}: need 0 < matrix_share <= 1, the others >= 0 and > 0"
        )
    return WallModel(
        strand=index,
        rest_length=np.full(index.size, rest_length),
        yeoh=np.array(yeoh),
        consistency=np.array([consistency]),
        power=np.array([power]),
        slow_rate=np.array([slow_rate]),
        matrix_area=np.full(index.size, areas[0]),
        fabric_area=np.full(index.size, areas[1]),
        matrix_share=np.array([matrix_share]),
        modulus_ratio=np.array([modulus_ratio]),
    )


@kernel
def yeoh_energy(yeoh: FloatArray, stretch: float) -> float:
    """Strain energy of uniaxial stretch at constant volume (Zhang 2022 eqs 22, 23).

    Args:
        yeoh: (3,) C1, C2, C3 [Pa].
        stretch: λ.

    Returns:
        [J/m3].
    """
    i = stretch * stretch + 2.0 / stretch - 3.0
    energy: float = i * (yeoh[0] + i * (yeoh[1] + i * yeoh[2]))
    return energy


@kernel
def yeoh_stress(yeoh: FloatArray, stretch: float) -> tuple[float, float]:
    """Nominal stress of uniaxial stretch, and its slope.

    Args:
        yeoh: (3,) C1, C2, C3 [Pa].
        stretch: λ.

    Returns:
        P and dP/dλ [Pa].
    """
    x = stretch if stretch.real > _LEAST_STRETCH else _LEAST_STRETCH + 0.0 * stretch
    inverse = 1.0 / x
    square = inverse * inverse
    i = x * x + 2.0 * inverse - 3.0
    half = x - square  # half of di/dλ
    first = yeoh[0] + i * (2.0 * yeoh[1] + 3.0 * i * yeoh[2])
    second = 2.0 * yeoh[1] + 6.0 * i * yeoh[2]
    slope = 2.0 * (1.0 + 2.0 * square * inverse) * first + 4.0 * half * half * second
    return 2.0 * half * first + slope * (stretch - x), slope


@kernel
def viscous_stress(
    consistency: float, power: float, slow_rate: float, rate: float
) -> tuple[float, float]:
    """Power-law viscous stress, smooth at rest.

    Args:
        consistency: η0 [Pa s^k].
        power: k.
        slow_rate: ε̇0 [1/s].
        rate: ε̇ [1/s].

    Returns:
        σ_v [Pa] and the viscosity σ_v/ε̇ [Pa s].
    """
    squares = rate * rate + slow_rate * slow_rate
    viscosity = consistency * squares ** (0.5 * (power - 1.0))
    return viscosity * rate, viscosity


@kernel
def wall_area(
    matrix_area: float,
    fabric_area: float,
    matrix_share: float,
    modulus_ratio: float,
    strain: float,
) -> tuple[float, float]:
    """Area of silicone that is as stiff as an actuator's walls (Zhang 2022 eqs 20, 21).

    Args:
        matrix_area: A_m [m2].
        fabric_area: A_f [m2].
        matrix_share: V_m0.
        modulus_ratio: E_m/E_f.
        strain: ε; below -V_m0/2 the share stays as it is there.

    Returns:
        A [m2] and dA/dε [m2].
    """
    least = -0.5 * matrix_share
    inside = strain.real > least
    x = strain if inside else least + 0.0 * strain
    share = (x + matrix_share) / (x + 1.0)
    softness = share + (1.0 - share) * modulus_ratio
    area = matrix_area + fabric_area / softness
    if not inside:
        return area, 0.0 * area
    growth = (1.0 - matrix_share) / ((x + 1.0) * (x + 1.0)) * (1.0 - modulus_ratio)
    return area, -fabric_area * growth / (softness * softness)


@kernel
def add_walls(walls: WallModel, period: float, work: StrandWork) -> None:
    """Add the walls' forces to those of their strands.

    Args:
        walls: the walls.
        period: time step [s]; 0 for the plain forces.
        work: after `strand_geometry`; force and slope are added to.
    """
    for a in range(walls.strand.size):
        s = walls.strand[a]
        rest = walls.rest_length[a]
        stretch = work.length[s] / rest
        rate = work.rate[s] / rest
        area, area_slope = wall_area(
            walls.matrix_area[a],
            walls.fabric_area[a],
            walls.matrix_share[0],
            walls.modulus_ratio[0],
            stretch - 1.0,
        )
        stress, stress_slope = yeoh_stress(walls.yeoh, stretch)
        stiffness = (area * stress_slope + area_slope * stress) / rest
        if stiffness.real < 0.0:
            stiffness *= 0.0
        drag, viscosity = viscous_stress(
            walls.consistency[0], walls.power[0], walls.slow_rate[0], rate
        )
        damping = area * viscosity / rest
        work.force[s] += area * (stress + drag) + period * stiffness * work.rate[s]
        work.slope[s] += period * (damping + period * stiffness)


def wall_energy(walls: WallModel, length: FloatArray) -> float:
    """Elastic energy of all walls.

    The work of area times Yeoh stress from rest, in parts: A w less the integral of
    w dA/dλ, w the energy of `yeoh_energy`, by Gauss.

    Args:
        walls: the walls.
        length: (S,) of all strands [m]; stretches above 0.2.

    Returns:
        [J].
    """
    node, weight = np.polynomial.legendre.leggauss(_ENERGY_NODES)
    share, ratio = float(walls.matrix_share[0]), float(walls.modulus_ratio[0])
    total = 0.0
    for a, strand in enumerate(walls.strand):
        areas = float(walls.matrix_area[a]), float(walls.fabric_area[a])
        stretch = float(length[strand] / walls.rest_length[a])
        area, _ = wall_area(*areas, share, ratio, stretch - 1.0)
        work = area * yeoh_energy(walls.yeoh, stretch)
        half = 0.5 * (stretch - 1.0)
        for x, w in zip(1.0 + half * (node + 1.0), half * weight, strict=True):
            _, slope = wall_area(*areas, share, ratio, x - 1.0)
            work -= w * slope * yeoh_energy(walls.yeoh, x)
        total += float(walls.rest_length[a]) * work
    return total
