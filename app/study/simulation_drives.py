"""Drives of a simulated robot that have a model of their own.

Muscle waves, propellers, chambers and their walls, and the mantle: each wraps what
models/ has for it in the form of a `Load` (see simulation_loads).
"""

import math

import numpy as np

from app.config.bodies import MantleParameters as MantleTable
from app.config.case import CaseParameters
from app.config.case_loads import (
    Chambers,
    MantlePulse,
    PropellerThrust,
    TravellingMoment,
)
from app.config.limbs import ChamberParameters
from app.config.robot_parameters import RobotParameters
from app.config.tree import LimbPlan, TreePlan, named_limbs
from app.errors import ConfigError
from app.study.legged_load import make_leg_load
from app.study.simulation_loads import PlainLoad, value_at
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
from models.mantle_parameters import PUBLISHED_CODE, MantleParameters
from models.mantle_shell import mantle_elastic_energy
from models.mantle_step import mantle_finish, mantle_kinetic_energy, mantle_terms
from models.numerics import FloatArray
from models.propeller import (
    add_propellers,
    advance_propellers,
    allocate_propeller_data,
    make_propellers,
)
from models.star import mantle_volume
from models.strand import (
    add_strands,
    allocate_strand_work,
    strand_geometry,
)
from models.strand_builder import Route, make_strands, straight_route
from models.travelling_moment import (
    add_travelling_moment,
    front_length,
    make_travelling_moment,
)
from models.tree import TreeData, TreeWork
from models.visco_hyperelastic import actuator_areas, add_walls, make_walls

__all__ = ["ChamberLoad", "MantleLoad", "MomentLoad", "PropellerLoad", "make_drives"]

_CODE_SECTIONS = 50  # of the published code's arm


class MomentLoad(PlainLoad):
    """An internal moment that travels along limbs."""

    def __init__(self, plan: TreePlan, moment: TravellingMoment, *, code: bool) -> None:
        """Prepare it for each limb, in both planes of bending.

        Raises:
            ConfigError: the limbs have no coordinate that bends that way.
        """
        limbs = named_limbs(plan, moment.limbs, "moments")
        direction = math.radians(moment.direction_deg)
        size = 1e-3 * moment.moment_mn_m
        self._parts = []
        for limb in limbs:
            elements = [piece.element for piece in limb.pieces]
            for component, share in (
                (1, math.cos(direction)),
                (0, -math.sin(direction)),
            ):
                if abs(share) < 1e-12:
                    continue
                part = make_travelling_moment(
                    plan.model,
                    elements,
                    component,
                    share * size,
                    start=moment.start_s,
                    duration=moment.recruit_s,
                    sections=_CODE_SECTIONS if code else 0,
                )
                if part.dof.size == 0:
                    raise ConfigError(
                        f"moments: limb {limb.limb.name!r} cannot bend towards "
                        f"{moment.direction_deg:g} degrees with this strain.order: "
                        "give it k_y (towards x) or k_x (towards y)."
                    )
                self._parts.append(part)
        names = ", ".join(limb.limb.name for limb in limbs)
        self.channels = [(f"moment at the base of {names}", "N m")]
        self._size, self._now, self._time = size, 0.0, 0.0

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Keep the time."""
        self._time = time_s
        acts = any(front_length(part, time_s) > 0.0 for part in self._parts)
        self._now = self._size if acts else 0.0

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Add the moment of each limb."""
        for part in self._parts:
            add_travelling_moment(part, self._time, work)

    def values(self) -> list[float]:
        """Return the moment at the base [N m]."""
        return [self._now]


class PropellerLoad(PlainLoad):
    """The propellers of a snake, with scheduled thrusts."""

    def __init__(
        self,
        robot: RobotParameters,
        plan: TreePlan,
        thrusts: tuple[PropellerThrust, ...],
    ) -> None:
        """Fix them to their modules.

        Raises:
            ConfigError: the robot has no propeller of that number.
        """
        known = robot.snake.propellers if robot.snake else ()
        for item in thrusts:
            if item.propeller > len(known):
                raise ConfigError(
                    f"propellers: number {item.propeller}, but {robot.name!r} has "
                    f"{len(known) or 'none'}."
                )
        self._plan, self._thrusts = plan, thrusts
        elements, places, ways = [], [], []
        for item in thrusts:
            own = known[item.propeller - 1]
            element, place, way = _on_module(
                plan, own.module, own.position_mm, own.direction
            )
            elements.append(element)
            places.append(place)
            ways.append(way)
        self._model = make_propellers(
            elements, np.array(places), np.array(ways), ahead=1.0, limit=np.inf
        )
        self._data = allocate_propeller_data(self._model)
        self.channels = [(f"propeller {item.propeller}", "N") for item in thrusts]

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Set the thrusts."""
        for k, item in enumerate(self._thrusts):
            self._data.command[k] = value_at(item, "thrust_n", time_s)[0]
        advance_propellers(self._model, 1.0, self._data)

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Add the thrusts."""
        add_propellers(self._plan.model, self._model, self._data, work)

    def values(self) -> list[float]:
        """Return the thrusts [N]."""
        return [float(value) for value in self._data.thrust]


def _on_module(
    plan: TreePlan,
    module: int,
    position_mm: tuple[float, float, float],
    direction: tuple[float, float, float],
) -> tuple[int, FloatArray, FloatArray]:
    """Element, place and way in its end frame, of a propeller on a module.

    Zhang's frame of a module is at its tail end, x towards the head; an element's end
    frame is at the head end, z towards the head.
    """
    place, way = 1e-3 * np.asarray(position_mm), np.asarray(direction, dtype=float)
    if module == 0:
        return -1, place, way
    element = plan.modules[module]
    turn = plan.limbs[0].base[:3, :3].T
    steps = slice(*plan.model.element_step_start[element : element + 2])
    length = float(plan.model.step_length[steps].sum())
    return element, turn @ place - [0.0, 0.0, length], turn @ way


class ChamberLoad(PlainLoad):
    """Chambers of segments: pressures that push, and a snake's walls that resist."""

    def __init__(
        self, robot: RobotParameters, plan: TreePlan, tables: tuple[Chambers, ...]
    ) -> None:
        """Lay a strand along every chamber that is driven, or of a snake.

        Raises:
            ConfigError: a segment has no chambers, or other than rows of pressures.
        """
        self._plan, self._tables = plan, tables
        passes: list[list[tuple[int, Route]]] = []
        rest: list[float] = []
        owners: dict[tuple[int, int], list[int]] = {}
        wanted = [
            (limb, table.segment - 1)
            for table in tables
            for limb in named_limbs(plan, table.limbs, "chambers")
        ]
        if robot.snake is not None:
            count = len(plan.limbs[0].limb.segment_length_mm)
            wanted += [(plan.limbs[0], k) for k in range(count)]
        for limb, segment in wanted:
            if (limb.number, segment) not in owners:
                chambers = _chambers(limb, segment)
                first = len(passes)
                for azimuth in chambers.azimuth_deg:
                    passes.append(_along(limb, segment, chambers.distance_mm, azimuth))
                    rest.append(1e-3 * limb.limb.segment_length_mm[segment])
                owners[limb.number, segment] = list(range(first, len(passes)))
        self._strands = make_strands(plan.model, passes)
        self._work = allocate_strand_work(plan.model, self._strands)
        self._pushes: list[tuple[Chambers, float, list[int]]] = []
        self.channels = []
        for table in tables:
            for limb in named_limbs(plan, table.limbs, "chambers"):
                own = owners[limb.number, table.segment - 1]
                self._add_push(robot, table, limb, own)
        self._pressure = np.zeros(len(passes))
        self._force = np.zeros(len(passes))
        self._walls = None
        if robot.snake is not None:
            snake = robot.snake
            parts = [1e-3 * value for value in (
                0.5 * plan.limbs[0].limb.base_diameter_mm, snake.actuator_radius_mm,
                snake.silicone_wall_mm, snake.fabric_layer_mm,
            )]  # fmt: skip
            self._walls = make_walls(
                self._strands,
                np.arange(len(passes)),
                rest[0],
                yeoh=snake.yeoh_j_m3,
                consistency=snake.viscous_consistency,
                power=snake.viscous_index,
                areas=actuator_areas(*parts),
            )

    def _add_push(
        self, robot: RobotParameters, table: Chambers, limb: LimbPlan, own: list[int]
    ) -> None:
        area = table.area_mm2
        if area is None and robot.snake is not None:
            area = math.pi * robot.snake.actuator_radius_mm**2
        if area is None:
            raise ConfigError(
                f"chambers: area_mm2 is missing, and {robot.name!r} gives none: add it."
            )
        if any(len(row) != len(own) for row in table.pressure_kpa):
            raise ConfigError(
                f"chambers: pressure_kpa needs rows of {len(own)} values, one for each "
                f"chamber of segment {table.segment} of {limb.limb.name!r}."
            )
        self._pushes.append((table, 1e-6 * area, own))
        self.channels += [
            (f"{limb.limb.name} {table.segment} chamber {k + 1}", "kPa")
            for k in range(len(own))
        ]

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Set the pressures."""
        self._force[:] = 0.0
        self._now: list[float] = []
        for table, area, own in self._pushes:
            row = value_at(table, "pressure_kpa", time_s)
            self._force[own] -= 1e3 * row * area
            self._now += row.tolist()

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Add pressure and walls along every chamber."""
        strand_geometry(self._plan.model, self._strands, data, self._work)
        self._work.force[:] += self._force
        if self._walls is not None:
            add_walls(self._walls, period, self._work)
        add_strands(self._plan.model, self._strands, self._work, work)

    def values(self) -> list[float]:
        """Return the pressures [kPa]."""
        return self._now


def _chambers(limb: LimbPlan, segment: int) -> ChamberParameters:
    tables = limb.limb.chambers
    if segment >= len(tables) or not tables[segment].azimuth_deg:
        raise ConfigError(
            f"chambers: segment {segment + 1} of limb {limb.limb.name!r} has none that "
            "bend it."
        )
    return tables[segment]


def _along(
    limb: LimbPlan, segment: int, distance_mm: float, azimuth_deg: float
) -> list[tuple[int, Route]]:
    """The pieces of a segment with the route of one of its chambers."""
    start, stop = limb.segment_span(segment)
    distance, azimuth = 1e-3 * distance_mm, math.radians(azimuth_deg)
    path = [
        (piece.element, straight_route(piece.length, distance, distance, azimuth))
        for piece in limb.pieces
        if start - 1e-9 <= piece.start and piece.start + piece.length <= stop + 1e-9
    ]
    if not path:
        raise ConfigError(
            f"chambers: segment {segment + 1} of limb {limb.limb.name!r} is no rod of "
            'its own: write strain.rods = "segment".'
        )
    return path


class MantleLoad(PlainLoad):
    """A pulsed-jet mantle on the root, with its pulsation."""

    def __init__(
        self,
        parameters: MantleTable,
        pulse: MantlePulse | None,
        water: float,
        *,
        code: bool,
    ) -> None:
        """Build the shell at rest.

        Raises:
            ConfigError: its shape is not the one that the shell's model has.
        """
        self.model = _mantle_model(parameters, water, code=code)
        self.data = allocate_mantle_data(self.model)
        self.data.measured[3] = mantle_volume(self.model.rest_position)
        self._work = allocate_mantle_work(self.model)
        self._pulse = pulse
        frequency = pulse.frequency_hz if pulse else None
        self._frequency = frequency or parameters.pulse_frequency_hz
        axis = np.asarray(parameters.direction) / np.linalg.norm(parameters.direction)
        place = 1e-3 * np.asarray(parameters.position_mm)
        self._row = np.concatenate([np.cross(place, axis), axis])
        self._load = 0.0
        hoop = pulse is None or pulse.load == "hoop"
        self.channels = [
            ("mantle load", "N/m" if hoop else "N"),
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
        surge = float(self._row @ data.velocity[:6])
        hoop = self._pulse is None or self._pulse.load == "hoop"
        hoop_tension, radial = (self._load, 0.0) if hoop else (0.0, self._load)
        mantle_terms(
            self.model, self.data, surge, hoop_tension, radial, period, self._work
        )
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

    def energy(self, surge: float) -> tuple[float, float]:
        """Kinetic and elastic energy of the shell [J]."""
        return (
            float(mantle_kinetic_energy(self.model, self.data.velocity, surge)),
            float(mantle_elastic_energy(self.model, self.data.position)),
        )

    def surge(self, velocity: FloatArray) -> float:
        """Speed of the mantle along its axis from the root's twist [m/s]."""
        return float(self._row @ velocity[:6])


def _mantle_model(parameters: MantleTable, water: float, *, code: bool) -> MantleModel:
    """The shell with the values of a robot's file."""
    if code:
        return build_mantle(PUBLISHED_CODE)
    low, high = parameters.active_range_mm
    try:
        return build_mantle(
            MantleParameters(
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
        )
    except ValueError as error:
        raise ConfigError(f"[mantle] of the robot: {error}.") from error


def make_drives(
    robot: RobotParameters, plan: TreePlan, case: CaseParameters
) -> list[PlainLoad]:
    """Make the drives of a case; a mantle and a snake's walls are always there.

    Raises:
        ConfigError: the case drives what the robot has not.
    """
    code = case.physics.version == "published-code"
    drives: list[PlainLoad] = [
        MomentLoad(plan, moment, code=code) for moment in case.moments
    ]
    if case.propellers:
        drives.append(PropellerLoad(robot, plan, case.propellers))
    if case.chambers or robot.snake is not None:
        drives.append(ChamberLoad(robot, plan, case.chambers))
    walking = make_leg_load(robot, plan.legs, plan.model, case, case.legs)
    if walking is not None:
        drives.append(walking)
    whole = case.base.limb is None
    if robot.mantle is not None and whole:
        density = case.water.density_kg_m3
        water = robot.water.density_kg_m3 if density is None else density
        drives.append(MantleLoad(robot.mantle, case.mantle, water, code=code))
    elif case.mantle is not None:
        raise ConfigError(
            f"[mantle]: {robot.name!r} has no mantle, or base.limb leaves it out."
        )
    return drives
