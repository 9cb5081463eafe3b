"""The pulsed-jet mantle of a simulated robot, with its pulsation.

Its numbers are those of the robot's file. Where a case asks for those of Renda's
published code, they stand in for the paper's, and only for them.
"""

import math

import numpy as np

from app.config.bodies import MantleParameters as MantleTable
from app.config.case import PhysicsCase
from app.config.case_loads import MantlePulse
from app.errors import ConfigError
from app.study.simulation_loads import PlainLoad
from models.mantle import (
    MANTLE_COLLAPSED,
    MANTLE_DIVERGED,
    MANTLE_OK,
    MANTLE_SINGULAR,
    MantleModel,
    allocate_mantle_data,
    allocate_mantle_work,
    build_mantle,
)
from models.mantle_parameters import PAPER, PUBLISHED_CODE, MantleParameters
from models.mantle_shell import mantle_elastic_energy
from models.mantle_step import mantle_finish, mantle_kinetic_energy, mantle_terms
from models.numerics import FloatArray
from models.star import mantle_volume
from models.tree import TreeData, TreeWork

__all__ = ["MantleLoad"]

_OF_CODE = {
    "volume_rate": ("volume_form",),
    "jet_areas": ("outflow_area", "inflow_area"),
    "shell": ("cylinder_length", "density", "rotary_factor"),
}
"""Fields of the mantle's parameters that each item of a case's physics changes."""


class MantleLoad(PlainLoad):
    """A pulsed-jet mantle on the root, with its pulsation."""

    own_steps = "the mantle"

    def __init__(
        self,
        parameters: MantleTable,
        pulse: MantlePulse | None,
        water: float,
        physics: PhysicsCase,
    ) -> None:
        """Build the shell at rest.

        Raises:
            ConfigError: its shape is not the one that the shell's model has, or the
                published code has no numbers for it.
        """
        self.model = _mantle_model(parameters, water, physics)
        self.data = allocate_mantle_data(self.model)
        self.data.measured[3] = mantle_volume(self.model.rest_position)
        self._work = allocate_mantle_work(self.model)
        self._pulse = pulse
        self._hoop = pulse is None or pulse.load == "hoop"
        frequency = pulse.frequency_hz if pulse else None
        self._frequency = frequency or parameters.pulse_frequency_hz
        axis = np.asarray(parameters.direction) / np.linalg.norm(parameters.direction)
        place = 1e-3 * np.asarray(parameters.position_mm)
        self._row = np.concatenate([np.cross(place, axis), axis])
        self._load = 0.0
        self.channels = [
            ("mantle load", "N/m" if self._hoop else "N"),
            ("thrust", "N"),
            ("mantle drag", "N"),
            ("mantle force on the root", "N"),
            ("mantle volume", "ml"),
            ("mantle volume rate", "ml/s"),
            ("mantle power", "W"),
        ]

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Set the load of the cables: a triangle over each period."""
        if self._pulse is None:
            return
        part = (time_s * self._frequency) % 1.0
        self._load = self._pulse.peak * (1.0 - abs(2.0 * part - 1.0))

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Add what the shell does to the root's surge."""
        surge = self._surge(data.velocity)
        tension, radial = (self._load, 0.0) if self._hoop else (0.0, self._load)
        mantle_terms(self.model, self.data, surge, tension, radial, period, self._work)
        work.load[:6] += self._row * self._work.effective[0]
        work.matrix[:6, :6] += np.tril(
            self._work.effective[1] * np.outer(self._row, self._row)
        )

    def finish(self, period: float, work: TreeWork) -> str:
        """Move the shell by the surge that came of it."""
        change = float(self._row @ work.change[:6])
        status = mantle_finish(self.model, change, period, self.data, self._work)
        if status == MANTLE_OK:
            return ""
        cause = {
            MANTLE_SINGULAR: "its matrix is not positive definite",
            MANTLE_DIVERGED: "it moves faster than it can",
            MANTLE_COLLAPSED: "it has collapsed onto its axis",
        }.get(int(status), "its state is not a finite number")
        return f"mantle: {cause}"

    def values(self) -> list[float]:
        """Return load, thrust, drag, force, volume, its rate, and power."""
        edge, thrust, drag, volume, rate, power = self.data.measured.tolist()
        return [self._load, thrust, drag, edge, 1e6 * volume, 1e6 * rate, power]

    def energy(self, data: TreeData) -> tuple[float, float]:
        """Kinetic and elastic energy of the shell [J]."""
        surge = self._surge(data.velocity)
        return (
            float(mantle_kinetic_energy(self.model, self.data.velocity, surge)),
            float(mantle_elastic_energy(self.model, self.data.position)),
        )

    def _surge(self, velocity: FloatArray) -> float:
        """Speed of the mantle along its axis from the root's twist [m/s]."""
        return float(self._row @ velocity[:6])


def _mantle_model(
    parameters: MantleTable, water: float, physics: PhysicsCase
) -> MantleModel:
    """The shell with the values of a robot's file, or of the published code."""
    low, high = parameters.active_range_mm
    own = MantleParameters(
        radius=1e-3 * parameters.radius_mm,
        cap_angle=math.radians(parameters.cut_angle_deg),
        cylinder_length=1e-3 * parameters.cylinder_length_mm,
        half_thickness=1e-3 * parameters.half_thickness_mm,
        young_modulus=1e3 * parameters.young_modulus_kpa,
        poisson_ratio=parameters.poisson_ratio,
        viscosity=parameters.viscosity_pa_s,
        density=parameters.density_kg_m3,
        added_mass=parameters.added_mass,
        drag_coefficient=parameters.drag,
        flow_loss=parameters.flow_loss,
        outflow_area=1e-6 * parameters.outflow_area_mm2,
        inflow_area=1e-6 * parameters.inflow_area_mm2,
        water_density=water,
        band=(1e-3 * low, 1e-3 * high),
    )
    for item, fields in _OF_CODE.items():
        if not physics.is_code(item):
            continue
        for field in fields:
            if not math.isclose(getattr(own, field), getattr(PAPER, field)):
                raise ConfigError(
                    f"physics: the published code has a {field} for Renda's mantle "
                    f"alone, and that of this robot is another one: write {item} = "
                    '"paper".'
                )
            own = own._replace(**{field: getattr(PUBLISHED_CODE, field)})
    try:
        return build_mantle(own)
    except ValueError as error:
        raise ConfigError(f"[mantle] of the robot: {error}.") from error
