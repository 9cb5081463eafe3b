"""Stiffness and damping of one tapered segment of constant curvature.

Kelvin-Voigt elastomer, Renda 2018 eq. 4: stress E ε + 3 μ ε̇ in bending and extension.
Strains are per rest length (κ = θ / L0), uniform along the segment as the reduced model
assumes, so the stiffnesses are averages of E I and E A over the segment (Galerkin).

Validity: the average is exact for the constrained shape and never softer than the real
rod. A limb that tapers 3:1 as ONE segment deflects 16 % too little under a force at its
tip and turns 3.9 times too little under a moment there, because the real rod curls at
its thin end; the error falls with the square of the segments' number. Leaves out
shear, the softening of the elastomer and the change of radius by stretch.
"""

from models.numerics import kernel
from models.robot import RobotModel

__all__ = ["mean_area", "mean_second_moment", "segment_material"]

_PI = 3.141592653589793


@kernel
def mean_area(radius_start: float, radius_end: float) -> float:
    """Average the section's area over a linear taper.

    Args:
        radius_start: radius at the segment's start [m].
        radius_end: radius at its end [m].

    Returns:
        Area [m2].
    """
    r0, r1 = radius_start, radius_end
    return _PI * (r0 * r0 + r0 * r1 + r1 * r1) / 3.0


@kernel
def mean_second_moment(radius_start: float, radius_end: float) -> float:
    """Average the section's second moment of area π r⁴/4 over a linear taper.

    Args:
        radius_start: radius at the segment's start [m].
        radius_end: radius at its end [m].

    Returns:
        Second moment about a diameter [m4].
    """
    r0, r1 = radius_start, radius_end
    s0, s1 = r0 * r0, r1 * r1
    return 0.25 * _PI * (s0 * s0 + s1 * s1 + r0 * r1 * (s0 + s1) + s0 * s1) / 5.0


@kernel
def segment_material(
    model: RobotModel, segment: int
) -> tuple[float, float, float, float]:
    """Stiffness and damping of a segment in its coordinates (Δx, Δy, δℓ).

    Args:
        model: the robot.
        segment: index of the segment in the robot.

    Returns:
        Bending stiffness [N m/rad], axial stiffness [N/m] (with the share of tube and
        sheaths, `axial_stiffness_ratio`), bending damping [N m s/rad] and axial
        damping [N s/m] (elastomer alone).
    """
    r0 = model.segment_radius[segment, 0]
    r1 = model.segment_radius[segment, 1]
    length = model.segment_length[segment]
    area = mean_area(r0, r1) / length
    moment = mean_second_moment(r0, r1) / length
    young = model.young_modulus[segment]
    viscous = 3.0 * model.viscosity[segment]
    return (
        young * moment,
        young * area * model.axial_stiffness_ratio[segment],
        viscous * moment,
        viscous * area,
    )
