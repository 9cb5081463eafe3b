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

__all__ = ["segment_material"]

_PI = 3.141592653589793


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
    # π r² and π r⁴/4, averaged over a linear taper, over the length
    s0 = r0 * r0
    s1 = r1 * r1
    area = _PI * (s0 + r0 * r1 + s1) / (3.0 * length)
    moment = 0.25 * _PI * (s0 * s0 + s1 * s1 + r0 * r1 * (s0 + s1) + s0 * s1)
    moment /= 5.0 * length
    young = model.young_modulus[segment]
    viscous = 3.0 * model.viscosity[segment]
    return (
        young * moment,
        young * area * model.axial_stiffness_ratio[segment],
        viscous * moment,
        viscous * area,
    )
