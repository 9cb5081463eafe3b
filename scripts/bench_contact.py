"""Group `contact` of scripts/bench: what it costs that limbs can touch.

Processor time of the thread. The robot is URSULA, four limbs; 20 primitives stand
about, among them a wall that each limb's tip presses. Open water and primitives take
turns, so that both meet the same machine; each figure is the median of its turns. Every
step is called from Python, which to hand over the world's arrays costs some 10 µs.

1. Contact of a limb: the step with 20 primitives less that of `robot_step`, over the
   limbs, with all four in contact.
2. The same where nothing touches, and with nothing there at all.
3. A movable object that lies against a limb, and one that a gripper holds.
"""

import time
from typing import NamedTuple

import numpy as np
from bench_record import Record, record
from rich.console import Console

from app.config.robot import build_robot_model, load_robot
from models.contact import build_contact_model
from models.contact_law import ContactLaw
from models.free_body import FreeBody, build_free_bodies, sphere_body
from models.grasp import build_grasp_model
from models.limb_contact import build_limb_contacts
from models.numerics import FloatArray
from models.robot import RobotData, RobotModel, allocate_robot_data
from models.robot_contact import (
    SurroundingsData,
    SurroundingsModel,
    allocate_surroundings_data,
    allocate_surroundings_work,
)
from models.robot_contact_step import surroundings_step
from models.rod import RodWork, reset_robot_data, robot_step

__all__ = ["bench_contact"]

_PERIOD = 1e-3
_TURNS = 15
_STEPS = 400
_SETTLE = 800
_PRIMITIVES = 20
_LAW = ContactLaw(stiffness=2000.0, dissipation=1.0, friction=0.4)
_BALL = 0.02  # radius [m]


class _Stage(NamedTuple):
    """A robot, and what it steps among."""

    model: RobotModel
    world: SurroundingsModel
    data: RobotData
    state: SurroundingsData
    work: RodWork
    winch: FloatArray


def _plain(stage: _Stage, count: int) -> None:
    for _ in range(count):
        robot_step(stage.model, _PERIOD, stage.winch, stage.data, stage.work)


def _among(stage: _Stage, count: int) -> None:
    for _ in range(count):
        surroundings_step(
            stage.model,
            stage.world,
            _PERIOD,
            stage.winch,
            stage.data,
            stage.state,
            stage.work,
        )


def _cost(stage: _Stage, *, plain: bool = False) -> float:
    """Processor time of a step [µs]."""
    before = time.thread_time_ns()
    (_plain if plain else _among)(stage, _STEPS)
    return 1e-3 * (time.thread_time_ns() - before) / _STEPS


def _tips(model: RobotModel) -> FloatArray:
    """(L, 4, 4) poses of the tips at rest, hull frame [m]."""
    stage = _stage(model, [], [])
    _among(stage, 1)
    poses = np.tile(np.eye(4), (model.tip_speed_limit.size, 1, 1))
    for limb, pose in enumerate(poses):
        element = model.limb_segment_start[limb + 1] - 1
        point = model.tree.element_step_start[element + 1] - 1
        pose[:3, :3] = stage.work.tree.point_rotation[point]
        pose[:3, 3] = stage.work.tree.point_position[point]
    return poses


def _stage(
    model: RobotModel,
    obstacles: list[tuple[str, FloatArray, list[float]]],
    bodies: list[FreeBody],
    *,
    grips: bool = False,
) -> _Stage:
    limbs = model.tip_speed_limit.size
    world = SurroundingsModel(
        build_contact_model(obstacles, _LAW),
        build_limb_contacts(),
        build_free_bodies(bodies, gravity=model.gravity_in_hull),
        build_grasp_model(
            [0.0 if grips else -1.0] * limbs,
            [0.1] * limbs,
            [0.01] * limbs,
            [2.0 * _BALL] * len(bodies),
        ),
    )
    data, work = allocate_robot_data(model), allocate_surroundings_work(model)
    state = allocate_surroundings_data(model, world)
    reset_robot_data(model, model.rest_coordinates, work, data)
    return _Stage(model, world, data, state, work, data.servo_length.copy())


def _primitives(
    tips: FloatArray, depth: float
) -> list[tuple[str, FloatArray, list[float]]]:
    """A box before each tip, its face `depth` inside it [m], and others near by."""
    listed: list[tuple[str, FloatArray, list[float]]] = []
    for tip in tips:
        pose = tip.copy()
        pose[:3, 3] += (0.01 + 0.05 - depth) * tip[:3, 2]
        listed.append(("box", pose, [0.05, 0.05, 0.05]))
    kinds = (
        ("sphere", [0.03]),
        ("cylinder", [0.03, 0.05]),
        ("box", [0.03, 0.04, 0.05]),
        ("plane", []),
    )
    for k in range(_PRIMITIVES - len(tips)):
        kind, size = kinds[k % len(kinds)]
        pose = np.eye(4)
        pose[:3, 3] = (0.15 + 0.03 * k, 0.35, -0.05 + 0.01 * k)
        if kind == "plane":
            pose[2, 3] = -0.8 - 0.01 * k
        listed.append((kind, pose, size))
    return listed


def bench_contact(console: Console) -> list[Record]:
    """Cost of whole-limb contact, of pushed and of held objects."""
    console.print("contact: loading and compiling")
    model = build_robot_model(load_robot("ursula"))
    limbs = model.tip_speed_limit.size
    tips = _tips(model)
    lying = sphere_body(_BALL, 0.054, law=_LAW)
    stages = {
        "nothing": _stage(model, [], []),
        "near": _stage(model, _primitives(tips, -0.02), []),
        "touching": _stage(model, _primitives(tips, 0.002), []),
        "pushed": _stage(model, _primitives(tips, -0.02), [lying]),
        "held": _stage(model, _primitives(tips, -0.02), [lying], grips=True),
    }
    for name in ("pushed", "held"):
        body = stages[name].state.bodies
        body.pose[0, :3, 3] = tips[0, :3, 3] + (0.01 + _BALL) * tips[0, :3, 2]
    stages["held"].state.grasp.grip[0] = 1.0
    for stage in stages.values():
        _among(stage, _SETTLE)
    console.print(f"contact: {_TURNS} turns of {len(stages) + 1} steps")
    rows = []
    for _ in range(_TURNS):
        plain = _cost(stages["nothing"], plain=True)
        rows.append([plain, *(_cost(stage) for stage in stages.values())])
    cost = np.median(np.array(rows), axis=0)
    plain, nothing, near, touching, pushed, held = cost.tolist()
    least = np.array(rows).min(axis=0)
    found = stages["touching"].state
    forces = np.linalg.norm(found.contact_wrench[:, 3:], axis=1)
    touched = int((forces > 0.0).sum())
    return [
        record(
            "contact of a limb, 20 primitives", (touching - plain) / limbs, "µs", 20.0,
            f"{touched} of {limbs} limbs in contact, {forces.max():.2f} N at most; a "
            f"step takes {touching:.0f} µs, robot_step {plain:.0f} µs (least "
            f"{least[3]:.0f} and {least[0]:.0f})",
        ),
        record(
            "contact of a limb, 20 primitives, none touched", (near - plain) / limbs,
            "µs", 10.0, f"a step takes {near:.0f} µs",
        ),
        record(
            "step among nothing beyond robot_step", nothing - plain, "µs", 20.0,
            f"{nothing:.0f} µs; least {least[1]:.0f} and {least[0]:.0f}",
        ),
        record(
            "a movable object, falling or pushed", pushed - near, "µs", 10.0,
            f"a step takes {pushed:.0f} µs",
        ),
        record(
            "an object that a gripper holds", held - near, "µs", 25.0,
            f"a step takes {held:.0f} µs; held: "
            f"{bool(stages['held'].state.grasp.held[0] == 0)}",
        ),
    ]  # fmt: skip
