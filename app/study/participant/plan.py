"""A human study's TOML file: the factors of a study, and how people are led through it.

Strategies are named to participants by letters only, which differ from person to
person. Tasks must be such that a recording tells how they ended: reaching, paths and
pressing one pad.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from app.config.loader import Parameters, find_asset, load_toml
from app.config.task import load_task
from app.errors import ConfigError
from app.study.factorial.plan import (
    LinkChoice,
    Measure,
    StrategyChoice,
    StudyPlan,
    TaskChoice,
    from_folder,
)

__all__ = ["ParticipantPlan", "load_participant_plan", "read_consent"]

_Count = Annotated[int, Field(ge=1, le=50)]


class ParticipantPlan(Parameters):
    """A whole human study.

    `consent` is a text file that is shown first and must be agreed to. Each strategy is
    practised `practice` times before it is measured `repeats` times in every condition.
    A break of at least `break_s` is offered after `break_after` trials.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    question: str
    consent: str
    robot: str = "rov-arm"
    operator: str = "gamepad"
    measure: Measure = "time"
    baseline: str | None = None
    practice: Annotated[int, Field(ge=0, le=50)] = 3
    repeats: _Count = 1
    break_after: _Count = 8
    break_s: Annotated[float, Field(ge=0.0, le=3600.0)] = 60.0
    longest_s: Annotated[float, Field(ge=5.0, le=3600.0)] = 120.0
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0
    strategies: Annotated[tuple[StrategyChoice, ...], Field(min_length=1)]
    links: Annotated[tuple[LinkChoice, ...], Field(min_length=1)]
    tasks: Annotated[tuple[TaskChoice, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _whole(self) -> "ParticipantPlan":
        self.study((0,))
        for item in self.strategies:
            if item.deadband or item.teleop.model_fields_set:
                raise ValueError(
                    f"strategy {item.title!r}: a live session takes strategies as they "
                    "are, without deadband and teleop"
                )
        if len(self.strategies) > 26:
            raise ValueError("at most 26 strategies: there are no more letters")
        return self

    def study(self, seeds: tuple[int, ...]) -> StudyPlan:
        """Return the plan whose report this study's is, for so many people's trials."""
        return StudyPlan(
            name=self.name,
            title=self.title,
            question=self.question,
            robot=self.robot,
            measure=self.measure,
            baseline=self.baseline,
            seeds=seeds,
            longest_s=self.longest_s,
            strategies=self.strategies,
            links=self.links,
            tasks=self.tasks,
        )


def load_participant_plan(name: str) -> ParticipantPlan:
    """Load a plan by the path of its TOML file; paths in it are taken from there.

    Raises:
        ConfigError: missing or not valid, or a task that a recording cannot tell of.
    """
    path = find_asset("participants", name)
    plan = load_toml(path, ParticipantPlan)
    study = from_folder(path.parent, plan.study((0,)))
    plan = plan.model_copy(
        update={
            "robot": study.robot,
            "links": study.links,
            "tasks": study.tasks,
            "consent": str(path.parent / Path(plan.consent).expanduser()),
        }
    )
    for choice in plan.tasks:
        task = load_task(choice.name)
        single = task.press is not None and len(task.press.pads) == 1
        if not (task.reach or task.path or single):
            raise ConfigError(
                f"{path}: task {task.name!r} cannot be judged from a recording. "
                "Reaching, paths and pressing one pad can."
            )
    return plan


def read_consent(plan: ParticipantPlan) -> str:
    """Read the text that a participant must agree to.

    Raises:
        ConfigError: it cannot be read, or is empty.
    """
    path = Path(plan.consent)
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"consent = {str(path)!r}: cannot be read: {error}."
        ) from error
    if not text:
        raise ConfigError(f"consent = {str(path)!r}: is empty. Write what you ask for.")
    return text
