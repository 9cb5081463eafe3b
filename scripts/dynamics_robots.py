"""Robots whose steps scripts/bench times, and the compiled loops that step them.

A step is timed inside a compiled loop, since the station and the simulated robot call
it from one; a call from Python costs more than the step. Each loop begins at the state
of a robot let go out of its pose, so that everything moves.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from app.config.case import BaseCase, StrainCase, default_case, load_case
from app.config.robot import build_robot_model, load_robot
from app.config.tree import build_tree
from models.jet import triangle
from models.mantle import (
    MANTLE_OK,
    MantleData,
    MantleModel,
    MantleWork,
    allocate_mantle_data,
    allocate_mantle_work,
    build_mantle,
)
from models.mantle_step import mantle_finish, mantle_terms
from models.numerics import FloatArray
from models.propeller import (
    add_propellers,
    allocate_propeller_data,
    make_propellers,
)
from models.robot import allocate_robot_data
from models.robot_tree import SEGMENT_POINTS
from models.rod import allocate_rod_work, reset_robot_data, robot_step
from models.snake_module import BODY_TO_ELEMENT, SnakeModule, add_module
from models.strain_basis import StrainBasis, constant_curvature
from models.strand import add_strands, allocate_strand_work, strand_geometry
from models.strand_builder import make_strands, straight_route
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_step import add_elastic, finish_step, tree_step
from models.valve import (
    add_chambers,
    advance_pressure,
    allocate_valve_data,
    make_valves,
)
from models.visco_hyperelastic import actuator_areas, add_walls, make_walls

__all__ = [
    "ARM_BASIS",
    "PERIOD",
    "Robot",
    "limb_tree",
    "measure",
    "poseidrone",
    "poseidrone_arms",
    "snake",
    "snake_tree",
    "tree_robot",
    "ursula",
    "ursula_floating",
]

PERIOD = 1e-3
_BEND = 0.8
_BATCH, _BATCHES = 1000, 15

ARM_BASIS: dict[Any, int] = {"k_x": 5, "k_y": 5, "q_z": 2}
ARM_POINTS = 8


class Robot(NamedTuple):
    """A robot and a batch of its steps."""

    name: str
    tree: TreeModel
    begin: Callable[[], None]
    """Go back to the start."""
    run: Callable[[int], int]
    """Make that many steps; the status."""


def measure(robot: Robot, batches: int = _BATCHES, batch: int = _BATCH) -> FloatArray:
    """Costs of a step [µs], one for each batch.

    Raises:
        SystemExit: a step failed.
    """
    costs = np.empty(batches + 1)
    for k in range(batches + 1):
        robot.begin()
        begin = time.thread_time_ns()
        status = robot.run(batch)
        costs[k] = (time.thread_time_ns() - begin) / batch / 1e3
        if status != 0:
            raise SystemExit(f"{robot.name}: a step failed with status {status}.")
    return costs[1:]


def _start(tree: TreeModel, data: TreeData) -> None:
    """Every limb bent by 0.8 rad in both planes, still."""
    root = int(tree.root_size[0])
    first: dict[tuple[int, int], int] = {}
    for d in range(root, tree.dof_parent.size):
        if tree.dof_component[d] < 2:
            first.setdefault((int(tree.dof_element[d]), int(tree.dof_component[d])), d)
    bent = {element for element, _ in first}
    depth: dict[int, int] = {-1: 0}
    for element, parent in enumerate(tree.element_parent):
        depth[element] = depth[int(parent)] + (element in bent)
    data.position[:] = tree.dof_rest
    for d in first.values():
        data.position[d] = _BEND / max(depth.values())
    data.velocity[:] = 0.0
    data.root_pose[:] = np.eye(4)
    data.status[:] = 0, -1


@numba.njit(nogil=True, error_model="numpy", _nrt=False)
def _tree_steps(tree, period, count, data, work):  # type: ignore[no-untyped-def]
    for _ in range(count):
        tree_step(tree, period, data, work)
    return data.status[0]


def tree_robot(name: str, tree: TreeModel) -> Robot:
    """A tree under its own weight, elasticity and drag."""
    data, work = allocate_tree_data(tree), allocate_tree_work(tree)

    def begin() -> None:
        _start(tree, data)

    def run(count: int) -> int:
        return int(_tree_steps(tree, PERIOD, count, data, work))

    return Robot(name, tree, begin, run)


def limb_tree(
    segments: int,
    limbs: int = 1,
    *,
    basis: StrainBasis | None = None,
    points: int = SEGMENT_POINTS,
    floating: bool = False,
) -> TreeModel:
    """Limbs of URSULA's size, each of equal segments.

    Args:
        segments: of each limb.
        limbs: on the root.
        basis: of each segment; constant curvature with stretch where none is given.
        points: of each segment.
        floating: whether the root, 20 kg, moves.

    Returns:
        The tree.
    """
    builder = TreeBuilder(root="free" if floating else "fixed")
    if floating:
        builder.add_body(
            ROOT, np.eye(4), mass=20.0, inertia=(1.0, 1.0, 1.0), displaced_mass=20.0
        )
    radius = np.linspace(0.03, 0.01, segments + 1)
    for limb in range(limbs):
        parent, pose = ROOT, frame((0.0, 0.1 * limb, 0.0))
        for k in range(segments):
            parent = builder.add_rod(
                parent,
                pose,
                length=0.6 / segments,
                radius=(float(radius[k]), float(radius[k + 1])),
                density=1070.0,
                young_modulus=69e3,
                shear_modulus=23e3,
                viscosity=300.0,
                drag_normal=1.1,
                drag_tangent=0.01,
                added_mass=1.5,
                basis=basis or constant_curvature(),
                points=points,
            )
            pose = np.eye(4)
    return builder.build()


@numba.njit(nogil=True, error_model="numpy", _nrt=False)
def _robot_steps(  # type: ignore[no-untyped-def]
    model, period, count, middle, target, data, work
):
    frozen = 0
    for i in range(count):
        # winches reel in and out by 5 mm at 0.5 Hz, each a quarter turn on
        for t in range(middle.size):
            target[t] = middle[t] + 5e-3 * np.sin(np.pi * (i * period + 0.5 * t))
        frozen += robot_step(model, period, target, data, work)
    return frozen


def ursula() -> tuple[Robot, Robot]:
    """URSULA on its vehicle: the tree alone; with cables and winches."""
    model = build_robot_model(load_robot("ursula"))
    data, work = allocate_robot_data(model), allocate_rod_work(model)
    target = np.empty(model.tendon_stiffness.size)
    middle = np.empty(model.tendon_stiffness.size)

    def begin() -> None:
        reset_robot_data(model, model.rest_coordinates, work, data)
        middle[:] = data.servo_length

    def run(count: int) -> int:
        return int(_robot_steps(model, PERIOD, count, middle, target, data, work))

    alone = tree_robot("URSULA fixed", model.tree)
    return alone, Robot("URSULA fixed, cables and winches", model.tree, begin, run)


def ursula_floating() -> Robot:
    """URSULA afloat, its hull with drag and added mass."""
    robot = load_robot("ursula")
    case = default_case(robot).model_copy(
        update={
            "base": BaseCase(motion="floating"),
            "strain": StrainCase(points=SEGMENT_POINTS),
        }
    )
    return tree_robot("URSULA floating", build_tree(robot, case).model)


def snake_tree() -> TreeModel:
    """Zhang's snake as shipped, without walls, chambers and propellers."""
    return build_tree(load_robot("snake"), load_case("snake-yaw")).model


@numba.njit(nogil=True, error_model="numpy", _nrt=False)
def _snake_steps(  # type: ignore[no-untyped-def]
    tree, strands, valves, walls, propellers, period, count, data, pressure, thrust,
    strand_work, work,
):  # fmt: skip
    for _ in range(count):
        advance_pressure(valves, period, pressure)
        tree_motion(tree, period, data, work)
        add_elastic(tree, period, data, work)
        strand_geometry(tree, strands, data, strand_work)
        add_walls(walls, period, strand_work)
        add_chambers(valves, pressure, strand_work)
        add_strands(tree, strands, strand_work, work)
        add_propellers(tree, propellers, thrust, work)
        finish_step(tree, period, data, work)
    return data.status[0]


def snake() -> Robot:
    """The snake with six chambers in visco-hyperelastic walls and six propellers."""
    builder = TreeBuilder(root="free", water_density=1000.0)
    module = SnakeModule(centre_of_buoyancy=(0.1, 0.0, 0.005))
    face = add_module(builder, ROOT, frame(rotation=BODY_TO_ELEMENT.T), module)
    faces, joints = [face], []
    for _ in range(2):
        joints.append(
            builder.add_rod(
                faces[-1], np.eye(4), length=0.2, radius=(0.045, 0.045), density=124.0,
                young_modulus=0.0, shear_modulus=0.0, basis=constant_curvature(),
                drag_normal=1.0, drag_tangent=0.13, added_mass=1.0,
            )
        )  # fmt: skip
        faces.append(add_module(builder, joints[-1], np.eye(4), module))
    tree = builder.build()
    strands = make_strands(
        tree,
        [
            [(joint, straight_route(0.2, 0.024, 0.024, angle))]
            for joint in joints
            for angle in np.radians([0.0, 120.0, 240.0])
        ],
    )
    every = np.arange(6)
    valves = make_valves(
        strands, every, np.pi * 0.008**2, fill_time=0.3, vent_time=0.3, highest=5e5
    )
    walls = make_walls(
        strands, every, 0.2, areas=actuator_areas(0.045, 0.008, 0.006, 0.002)
    )
    places = [
        BODY_TO_ELEMENT @ np.array([-0.1, side, 0.0]) for side in (0.076, 0.0, -0.076)
    ]
    propellers = make_propellers(
        [faces[0]] * 3 + [faces[2]] * 3,
        np.array(places * 2),
        np.tile([0.0, 0.0, 1.0], (6, 1)),
        ahead=1.0,
    )
    data, work = allocate_tree_data(tree), allocate_tree_work(tree)
    strand_work = allocate_strand_work(tree, strands)

    pressure = allocate_valve_data(valves, 0)
    pressure.command[::3] = 2e5
    thrust = allocate_propeller_data(propellers)
    thrust.thrust[:] = 1.0

    def begin() -> None:
        _start(tree, data)
        pressure.pressure[:] = 0.0

    def run(count: int) -> int:
        return int(
            _snake_steps(
                tree, strands, valves, walls, propellers, PERIOD, count, data,
                pressure, thrust, strand_work, work,
            )
        )  # fmt: skip

    return Robot("snake with chambers, walls and propellers", tree, begin, run)


@numba.njit(nogil=True, error_model="numpy", _nrt=False)
def _pulsed_steps(  # type: ignore[no-untyped-def]
    tree: TreeModel,
    shell: MantleModel,
    row: FloatArray,
    peak: float,
    cycle: float,
    period: float,
    count: int,
    data: TreeData,
    shell_data: MantleData,
    work: TreeWork,
    shell_work: MantleWork,
):
    """Swim by a mantle along one row of the root's twist."""
    for i in range(count):
        tree_motion(tree, period, data, work)
        add_elastic(tree, period, data, work)
        surge = 0.0
        for k in range(6):
            surge += row[k] * data.velocity[k]
        radial = peak * triangle((i + 0.5) * period, cycle)
        mantle_terms(shell, shell_data, surge, 0.0, radial, period, shell_work)
        for j in range(6):
            work.load[j] += row[j] * shell_work.effective[0]
            for k in range(j + 1):
                work.matrix[j, k] += row[j] * row[k] * shell_work.effective[1]
        if finish_step(tree, period, data, work) != 0:
            return data.status[0]
        change = 0.0
        for k in range(6):
            change += row[k] * work.change[k]
        if mantle_finish(shell, change, period, shell_data, shell_work) != MANTLE_OK:
            return 100 + shell_data.status[0]
    return 0


def poseidrone_arms() -> TreeModel:
    """Bars and four arms of the Poseidrone, free to move in all ways."""
    robot = load_robot("poseidrone")
    case = load_case("poseidrone-1.51").model_copy(
        update={
            "base": BaseCase(motion="floating"),
            "strain": StrainCase(
                basis="legendre",
                order=ARM_BASIS,
                rods="limb",
                points=ARM_POINTS,
            ),
        }
    )
    return build_tree(robot, case).model


def poseidrone(tree: TreeModel) -> Robot:
    """The Poseidrone swims by its mantle at 1.51 pulses a second, 8 N."""
    table = load_robot("poseidrone").mantle
    if table is None:
        raise SystemExit("The file of the Poseidrone has no [mantle].")
    shell = build_mantle()
    axis = np.asarray(table.direction) / np.linalg.norm(table.direction)
    row = np.concatenate([np.cross(1e-3 * np.asarray(table.position_mm), axis), axis])
    data, work = allocate_tree_data(tree), allocate_tree_work(tree)
    shell_data, shell_work = allocate_mantle_data(shell), allocate_mantle_work(shell)
    rest = allocate_mantle_data(shell)

    def begin() -> None:
        _start(tree, data)
        for now, start in zip(shell_data, rest, strict=True):
            now[...] = start

    def run(count: int) -> int:
        return int(
            _pulsed_steps(
                tree, shell, row, 8.0, 1.0 / 1.51, PERIOD, count, data, shell_data,
                work, shell_work,
            )
        )  # fmt: skip

    return Robot("Poseidrone, arms and mantle", tree, begin, run)
