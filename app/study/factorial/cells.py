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
        deadband: see `app.study.trial.TrialSetup`.
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
    specs = [spec for root in plan.roots for spec in _of_seed(plan, root)]
    return tuple(specs)


def _of_seed(plan: StudyPlan, root: int) -> Iterator[TrialSpec]:
    for choice in plan.tasks:
        robot = choice.robot or plan.robot
        for task, variant, operator in _levels(choice, robot):
            able = goals_can(_placed(choice.name, robot, variant))
            for mismatch in plan.mismatches:
                for link in plan.links:
                    for strategy in plan.strategies:
                        if strategy.name == "supervised" and not able:
                            continue
                        cell = Cell(
                            strategy.title,
                            link.title,
                            task,
                            variant,
                            operator,
                            mismatch.label,
                        )
                        teleop = strategy.teleop.model_copy(
                            update={"strategy": strategy.name}
                        )
                        yield named(
                            TrialSpec(
                                "",
                                cell,
                                robot,
                                link.build(),
                                teleop,
                                strategy.deadband,
                                choice.name,
                                mismatch.build(),
                                root,
                                plan.environment.stiffness_spread,
                                plan.longest_s,
                                plan.recordings,
                            )
                        )


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
def _files(task: str, robot: str) -> dict[str, Any]:
    parameters = load_task(task)
    scene = None if parameters.scene is None else load_scene(parameters.scene)
    return {
        "task": parameters.model_dump(mode="json"),
        "robot": load_robot(robot).model_dump(mode="json"),
        "scene": None if scene is None else scene.model_dump(mode="json"),
    }


def named(spec: TrialSpec) -> TrialSpec:
    """Give a trial its name, from all that decides its outcome."""
    whole = _files(spec.task, spec.robot) | {
        "cell": spec.cell.__dict__,
        "link": spec.link.model_dump(mode="json"),
        "teleop": spec.teleop.model_dump(mode="json"),
        "deadband": spec.deadband,
        "mismatch": spec.mismatch.__dict__,
        "seed": spec.seed,
        "stiffness_spread": spec.stiffness_spread,
        "longest_s": spec.longest_s,
        "version": version("limblink"),
    }
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    cell = spec.cell
    words = [cell.task, cell.variant, cell.link, cell.strategy, cell.operator]
    if cell.mismatch != "nominal":
        words.append(cell.mismatch)
    slug = "_".join(re.sub(r"[^A-Za-z0-9.+-]+", "-", word) for word in words)
    return TrialSpec(**(spec.__dict__ | {"name": f"{slug}_s{spec.seed}_{digest}"}))
