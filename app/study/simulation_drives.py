"""Drives of a simulated robot that have a model of their own.

Muscle waves, propellers, chambers with their valves and walls: each wraps what models/
has for it in the form of a `PlainLoad` (see simulation_loads).
"""

import math

import numpy as np

from app.config.case import CaseParameters
from app.config.case_loads import Chambers, PropellerThrust, TravellingMoment
from app.config.limbs import ChamberParameters
from app.config.robot_parameters import RobotParameters
from app.config.tree import LimbPlan, TreePlan, named_limbs
from app.errors import ConfigError
from app.study.legged_load import make_leg_load
from app.study.simulation_loads import CODE_SECTIONS, PlainLoad, value_at
from app.study.simulation_mantle import MantleLoad
from models.hysteresis import VIRGIN, HysteresisModel
from models.numerics import FloatArray
from models.propeller import (
    add_propellers,
    advance_propellers,
    allocate_propeller_data,
    make_propellers,
)
from models.strand import (
    StrandModel,
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
from models.valve import (
    ValveData,
    ValveModel,
    add_chambers,
    advance_pressure,
    allocate_valve_data,
    make_valves,
)
from models.visco_hyperelastic import (
    actuator_areas,
    add_walls,
    make_walls,
    wall_energy,
)

__all__ = ["ChamberLoad", "MomentLoad", "PropellerLoad", "make_drives"]


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
                    sections=CODE_SECTIONS if code else 0,
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
        self._pushes: list[tuple[Chambers, ValveModel, ValveData]] = []
        if any(table.valved for table in tables):
            self.own_steps = "valves"
        self.channels = []
        for table in tables:
            for limb in named_limbs(plan, table.limbs, "chambers"):
                own = owners[limb.number, table.segment - 1]
                self._add_push(robot, table, limb, own)
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
        valves = _valves(table, self._strands, own, 1e-6 * area)
        self._pushes.append((table, valves, allocate_valve_data(valves, VIRGIN)))
        self.channels += [
            (f"{limb.limb.name} {table.segment} chamber {k + 1}", "kPa")
            for k in range(len(own))
        ]

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Command the valves; without valves, set the pressures."""
        for table, valves, chambers in self._pushes:
            chambers.command[:] = 1e3 * value_at(table, "pressure_kpa", time_s)
            if not table.valved:
                advance_pressure(valves, 1.0, chambers)

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Add pressure and walls along every chamber."""
        strand_geometry(self._plan.model, self._strands, data, self._work)
        for table, valves, chambers in self._pushes:
            if table.valved:
                advance_pressure(valves, period, chambers)
            add_chambers(valves, chambers, self._work)
        if self._walls is not None:
            add_walls(self._walls, period, self._work)
        add_strands(self._plan.model, self._strands, self._work, work)

    def energy(self, data: TreeData) -> tuple[float, float]:
        """None of motion; that of the walls [J]."""
        if self._walls is None:
            return 0.0, 0.0
        strand_geometry(self._plan.model, self._strands, data, self._work)
        return 0.0, wall_energy(self._walls, self._work.length)

    def values(self) -> list[float]:
        """Return the pressures [kPa]."""
        return [
            1e-3 * float(value)
            for _, _, chambers in self._pushes
            for value in chambers.pressure
        ]


def _valves(
    table: Chambers, strands: StrandModel, own: list[int], area: float
) -> ValveModel:
    """The valves of a segment's chambers, and the hysteresis of their walls."""
    plays = np.array([0.0, *table.hysteresis_kpa])
    shares = np.array([1.0 - sum(table.hysteresis_share), *table.hysteresis_share])
    line = np.array([0.0, 1.0])
    return make_valves(
        strands,
        np.array(own),
        area,
        fill_time=1e-3 * table.fill_ms,
        vent_time=1e-3 * table.vent_ms,
        rate_limit=1e3 * (table.rate_kpa_s or np.inf),
        lowest=-np.inf if table.vacuum_kpa is None else 1e3 * table.vacuum_kpa,
        highest=np.inf if table.supply_kpa is None else 1e3 * table.supply_kpa,
        hysteresis=HysteresisModel(1e3 * plays, shares, line, line.copy()),
    )


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


def make_drives(
    robot: RobotParameters, plan: TreePlan, case: CaseParameters
) -> list[PlainLoad]:
    """Make the drives of a case; a mantle and a snake's walls are always there.

    Raises:
        ConfigError: the case drives what the robot has not.
    """
    code = case.physics.is_code("recruitment")
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
        water = case.water.density(robot)
        drives.append(MantleLoad(robot.mantle, case.mantle, water, case.physics))
    elif case.mantle is not None:
        raise ConfigError(
            f"[mantle]: {robot.name!r} has no mantle, or base.limb leaves it out."
        )
    return drives
