"""What a mantle is made of, by Renda 2018 and by the code published with it.

`PAPER` and `PUBLISHED_CODE` differ as below; any field can be replaced:

| field | paper | published code |
|---|---|---|
| `volume_form` | ∫π r² |g'| dX | the same, its stretch term doubled in U̇ |
| `rotary_factor` | 1: 2 ρ h³/3, as it must be | 500: ρ h²/3, as printed and coded |
| `outflow_area`, `inflow_area` | 491, 1400 mm² | 490.9, 1433.4 mm² |
| `cylinder_length` | 94 mm | 94.955 mm |
| `density` | 7415 kg/m³ | 7380 kg/m³ |

C_r = 0.02 or 0.021 m², and the form of drag in 3-D, are the root's.
"""

from typing import NamedTuple

import numpy as np

__all__ = [
    "PAPER",
    "PUBLISHED_CODE",
    "VOLUME_CODE",
    "VOLUME_PATH",
    "VOLUME_TRUE",
    "MantleParameters",
]

VOLUME_TRUE = 0
VOLUME_PATH = 1
VOLUME_CODE = 2


class MantleParameters(NamedTuple):
    """What a mantle is made of; defaults: Renda 2018 Table 1."""

    radius: float = 0.031
    """T_s of the sphere and the cylinder [m]."""
    cap_angle: float = 0.25 * np.pi
    """Polar angle of the rigid cap's edge on the sphere [rad]."""
    cylinder_length: float = 0.094
    """[m]"""
    half_thickness: float = 1e-3
    """h_s [m]."""
    young_modulus: float = 40e3
    """[Pa]"""
    poisson_ratio: float = 0.0
    viscosity: float = 500.0
    """Shear viscosity [Pa s]."""
    density: float = 7415.0
    """Of shell and motors, spread over the shell [kg/m3]."""
    rotary_factor: float = 1.0
    """On the rotary inertia 2 ρ h³/3; 500 is as printed and coded."""
    added_mass: float = 1.1
    """B_s of eq. 14, on the shell's mass."""
    convected: float = 1.0
    """1: added mass as printed (eq. 14), without its part Ω x v; 0: as an inertia."""
    drag_coefficient: float = 1.7
    """C_d of eq. 12."""
    flow_loss: float = 1.0
    """C_f of eq. 15."""
    outflow_area: float = 491e-6
    """A_no [m2]."""
    inflow_area: float = 1400e-6
    """A_ni [m2]."""
    water_density: float = 1022.0
    """[kg/m3]"""
    band: tuple[float, float] = (0.025, 0.110)
    """X where the radial force begins and ends [m]."""
    volume_form: int = VOLUME_PATH
    """Volume whose rate drives the jet: VOLUME_TRUE, VOLUME_PATH or VOLUME_CODE."""


PAPER = MantleParameters()
PUBLISHED_CODE = PAPER._replace(
    # its grid goes on by the dome's step of 1/20, 78 times
    cylinder_length=78 / 20 * 0.031 * 0.25 * np.pi,
    density=7380.0067,
    rotary_factor=500.0,
    outflow_area=np.pi * 0.0125**2,
    inflow_area=np.pi * (0.0125**2 + 3 * 0.01**2),
    volume_form=VOLUME_CODE,
)
