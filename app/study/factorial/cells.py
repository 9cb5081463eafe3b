"""From a plan to its trials: every combination, resolved, checked and named.

A trial's name ends in a digest of all that decides its outcome (configuration of robot,
link, task, scene and strategy, seed, version): where that changes, so does the name,
and an old result is never taken for a new one. Nothing of the rest of the plan is in
it: adding a strategy leaves the other trials, and their results, as they are.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from itertools import product
from typing import Any

from app.config.link import LinkParameters
from app.config.robot import check_drivable, load_robot
from app.config.scene import load_scene
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.config.teleop import TeleopParameters
from app.operator.repertoire import check_performer
from app.robot.plant import PlantMismatch
from app.study.factorial.plan import StudyPlan, TaskChoice
from app.study.task_goals import goals_can

__all__ = ["Cell", "TrialSpec", "named", "plan_trials", "round_trip_s"]


@dataclass(frozen=True)
class Cell:
    """One combination of levels, by their labels."""

    strategy: str
    link: str
    task: str
    variant: str
    operator: str
    mismatch: str

    @property
    def condition(self) -> tuple[str, ...]:
        """All but the strategy: what strategies are compared in."""
        return (self.link, self.task, self.variant, self.operator, self.mismatch)


@dataclass(frozen=True)
class TrialSpec:
    """One trial, resolved.

    Attributes:
        name: of its folder, unlike all others.
        cell: its combination of levels.
        robot: shipped name or path.
        link: its parameters.
        teleop: the strategy and its parameters.
        deadband: see `app.study.trial_setup.TrialSetup`.
        task: shipped name or path.
        mismatch: plant against model.
        seed: the root of all that is random.
        stiffness_spread: see `app.study.factorial.plan.EnvironmentParameters`.
        longest_s: end after this time [s]; None: at the task's time-out.
        recording: whether an MCAP file is kept.
    """

    name: str
    cell: Cell
    robot: str
    link: LinkParameters
    teleop: TeleopParameters
    deadband: float
    task: str
    mismatch: PlantMismatch
    seed: int
    stiffness_spread: float
    longest_s: float | None
    recording: bool


def round_trip_s(link: LinkParameters) -> float:
    """Return the round trip of a link as it is set, without serialisation [s]."""
    return 2e-3 * link.delay_ms


def plan_trials(plan: StudyPlan) -> tuple[TrialSpec, ...]:
    """Return every trial of a plan, all of one seed before those of the next.

    Where goals cannot do a task, it has no trial under supervised control.

    Raises:
        ConfigError: a robot, link, task, variant, operator or mismatch is wrong; says
            which.
    """
    levels = [
        (choice.robot or plan.robot, choice.name, *level)
        for choice in plan.tasks
        for level in _levels(choice, choice.robot or plan.robot)
    ]
    links = [(item.title, item.build()) for item in plan.links]
    mismatches = [(item.label, item.build()) for item in plan.mismatches]
    strategies = [
        (item, item.teleop.model_copy(update={"strategy": item.name}))
        for item in plan.strategies
    ]
    specs = []
    for root, level, mismatch, link, (strategy, teleop) in product(
        plan.roots, levels, mismatches, links, strategies
    ):
        robot, file, task, variant, operator = level
        if strategy.name == "supervised" and not goals_can(
            _placed(file, robot, variant)
        ):
            continue
        cell = Cell(strategy.title, link[0], task, variant, operator, mismatch[0])
        specs.append(
            named(
                TrialSpec(
                    "",
                    cell,
                    robot,
                    link[1],
                    teleop,
                    strategy.deadband,
                    file,
                    mismatch[1],
                    root,
                    plan.environment.stiffness_spread,
                    plan.longest_s,
                    plan.recordings,
                )
            )
        )
    return tuple(specs)


def _levels(choice: TaskChoice, robot: str) -> Iterator[tuple[str, str, str]]:
    """Name, variant and operator of each level of a task, once they are known to go."""
    task = load_task(choice.name)
    for operator in choice.operators or (task.operator,):
        for variant in choice.variants or task.variants[:1]:
            check_performer(operator, _placed(choice.name, robot, variant))
            yield task.name, variant, operator


@lru_cache(maxsize=256)
def _placed(task: str, robot: str, variant: str) -> PlacedTask:
    parameters = load_robot(robot)
    check_drivable(parameters)
    return place_task(load_task(task), parameters, variant)


@lru_cache(maxsize=256)
def _files(task: str, robot: str) -> dict[str, str]:
    """What the files of a task say, as JSON by key."""
    parameters = load_task(task)
    scene = None if parameters.scene is None else load_scene(parameters.scene)
    return {
        "task": _json(parameters.model_dump(mode="json")),
        "robot": _json(load_robot(robot).model_dump(mode="json")),
        "scene": _json(None if scene is None else scene.model_dump(mode="json")),
    }


@lru_cache(maxsize=1)
def _version() -> str:
    return version("limblink")


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def named(spec: TrialSpec) -> TrialSpec:
    """Give a trial its name, from all that decides its outcome."""
    own = {
        "cell": spec.cell.__dict__,
        "link": spec.link.model_dump(mode="json"),
        "teleop": spec.teleop.model_dump(mode="json"),
        "deadband": spec.deadband,
        "mismatch": spec.mismatch.__dict__,
        "seed": spec.seed,
        "stiffness_spread": spec.stiffness_spread,
        "longest_s": spec.longest_s,
        "version": _version(),
    }
    parts = _files(spec.task, spec.robot) | {
        key: _json(value) for key, value in own.items()
    }
    text = "{" + ",".join(f'"{key}":{parts[key]}' for key in sorted(parts)) + "}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    cell = spec.cell
    words = [cell.task, cell.variant, cell.link, cell.strategy, cell.operator]
    if cell.mismatch != "nominal":
        words.append(cell.mismatch)
    slug = "_".join(re.sub(r"[^A-Za-z0-9.+-]+", "-", word) for word in words)
    return TrialSpec(**(spec.__dict__ | {"name": f"{slug}_s{spec.seed}_{digest}"}))
