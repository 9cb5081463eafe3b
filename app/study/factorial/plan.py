"""A study's TOML file: what is asked, and the levels of every factor.

    question -> strategies x links x tasks (variants, operators) x mismatches x seeds

Every combination is one trial. Names are shipped ones or paths of TOML files; a path is
taken from where the plan lies.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from app.config.link import JitterParameters, LinkParameters, load_link
from app.config.loader import Parameters, asset_names, find_asset, load_toml
from app.config.teleop import StrategyName, TeleopParameters
from app.errors import ConfigError
from app.robot.plant import PlantMismatch

__all__ = [
    "EnvironmentParameters",
    "HarnessName",
    "LinkChoice",
    "Measure",
    "MismatchChoice",
    "StrategyChoice",
    "StudyPlan",
    "TargetName",
    "TaskChoice",
    "from_folder",
    "load_plan",
    "plan_names",
    "plan_text",
]

_Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$")]
_DelayMs = Annotated[float, Field(ge=0.0, le=60_000.0)]
_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_BitRate = Annotated[float, Field(ge=1.0, le=1e11)]
_MOST_SEEDS, _GREATEST_SEED = 1000, 2**31
_Seed = Annotated[int, Field(ge=0, le=_GREATEST_SEED)]

Measure = Literal[
    "time",
    "path_rms",
    "force_error",
    "peak_force",
    "throughput",
    "injected_energy",
    "moves",
    "bytes_per_s",
]
"""What strategies are compared by; `time` is T_c."""

TargetName = Literal["deadband", "move-and-wait", "crossover", "line"]
"""Published results that a plan can ask to be reproduced."""

HarnessName = Literal["facts", "critical-delays", "probes"]
"""What a plan can add from the harness of one degree of freedom."""


class StrategyChoice(Parameters):
    """One way to join hand and tip; `teleop` changes its parameters."""

    name: StrategyName
    label: _Label | None = None
    deadband: Annotated[float, Field(ge=0.0, le=0.5)] = 0.0
    teleop: TeleopParameters = TeleopParameters()

    @model_validator(mode="after")
    def _named_once(self) -> "StrategyChoice":
        if "strategy" in self.teleop.model_fields_set:
            raise ValueError("the strategy is given by name, not in teleop")
        return self

    @property
    def title(self) -> str:
        """What it is called in tables and figures."""
        return self.label or self.name


class LinkChoice(Parameters):
    """A shipped link, or a file, with some of its figures changed.

    `delay_ms` is one way and takes the place of propagation and processing; `jitter_ms`
    is the standard deviation of a normal one; `loss` is that outside bursts, which it
    does away with.
    """

    preset: str = "ideal"
    label: _Label | None = None
    delay_ms: _DelayMs | None = None
    jitter_ms: _DelayMs | None = None
    loss: _Share | None = None
    down_bps: _BitRate | None = None
    up_bps: _BitRate | None = None
    outages: tuple[tuple[float, ...], ...] = ()

    @property
    def title(self) -> str:
        """What it is called in tables and figures."""
        return self.label or self.preset

    def build(self) -> LinkParameters:
        """Make the link.

        Raises:
            ConfigError: no such preset, or an outage that is not possible.
        """
        link = load_link(self.preset)
        changes: dict[str, object] = {}
        if self.delay_ms is not None:
            changes |= {"propagation_ms": 0.0, "processing_ms": self.delay_ms}
        if self.jitter_ms is not None:
            kind: Literal["normal", "none"] = "normal" if self.jitter_ms else "none"
            changes["jitter"] = JitterParameters(kind=kind, deviation_ms=self.jitter_ms)
        if self.loss is not None:
            changes["loss"] = link.loss.model_copy(
                update={"bad_s": 0.0, "residual": self.loss}
            )
        for key in ("down_bps", "up_bps"):
            if getattr(self, key) is not None:
                changes[key] = getattr(self, key)
        link = link.model_copy(update=changes)
        return link.with_outages(list(self.outages)) if self.outages else link


class TaskChoice(Parameters):
    """A task in some of its variants, done by some operators; each pair is a level."""

    name: str
    variants: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    operators: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    robot: str | None = None


class MismatchChoice(Parameters):
    """How the simulated robot differs from its model; no factor: not at all."""

    label: _Label = "nominal"
    factors: dict[str, float] = Field(default_factory=dict)

    def build(self) -> PlantMismatch:
        """Make the mismatch.

        Raises:
            ConfigError: no such factor, or one out of range.
        """
        known = PlantMismatch.__dataclass_fields__
        for name in self.factors:
            if name not in known:
                raise ConfigError(
                    f"Mismatch {self.label!r}: no factor {name!r}. There are: "
                    f"{', '.join(known)}."
                )
        return PlantMismatch(**self.factors)


class EnvironmentParameters(Parameters):
    """How the surroundings vary from seed to seed; equal under every strategy.

    `stiffness_spread` is the standard deviation of the logarithm of all stiffnesses.
    """

    stiffness_spread: _Share = 0.0


class StudyPlan(Parameters):
    """A whole study. `baseline` is the label of what the others are compared with.

    `seeds` is how many, counted from 0, or which. A trial ends after `longest_s` if not
    before. `recordings` keeps every trial's MCAP file. `harness` adds the acceptance
    facts, critical delays and probed impedances, all on one degree of freedom.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    question: str
    robot: str = "ursula"
    measure: Measure = "time"
    baseline: _Label | None = None
    seeds: Annotated[int, Field(ge=1, le=_MOST_SEEDS)] | tuple[_Seed, ...] = 5
    longest_s: Annotated[float, Field(ge=0.1, le=3600.0)] | None = None
    recordings: bool = True
    reproduce: tuple[TargetName, ...] = ()
    harness: tuple[HarnessName, ...] = ()
    environment: EnvironmentParameters = EnvironmentParameters()
    strategies: tuple[StrategyChoice, ...] = ()
    links: tuple[LinkChoice, ...] = ()
    tasks: tuple[TaskChoice, ...] = ()
    mismatches: Annotated[tuple[MismatchChoice, ...], Field(min_length=1)] = (
        MismatchChoice(),
    )

    @field_validator("seeds", mode="before")
    @classmethod
    def _counted_or_named(cls, seeds: object) -> object:
        """One message for both forms."""
        many = isinstance(seeds, int) and 1 <= seeds <= _MOST_SEEDS
        which = isinstance(seeds, list | tuple) and all(
            isinstance(item, int) and 0 <= item <= _GREATEST_SEED for item in seeds
        )
        if isinstance(seeds, bool) or not (many or which):
            raise ValueError(
                f"give how many, 1 to {_MOST_SEEDS}, or a list of which, each 0 to "
                f"{_GREATEST_SEED}"
            )
        return seeds

    @model_validator(mode="after")
    def _consistent(self) -> "StudyPlan":
        axes = (self.strategies, self.links, self.tasks)
        if any(axes) != all(axes):
            raise ValueError("give [[strategies]], [[links]] and [[tasks]], or none")
        if not any(axes) and not self.reproduce and not self.harness:
            raise ValueError(
                "there is nothing to do: give trials, `reproduce` or `harness`"
            )
        for name, titles in (
            ("strategies", [item.title for item in self.strategies]),
            ("links", [item.title for item in self.links]),
            ("mismatches", [item.label for item in self.mismatches]),
        ):
            twice = sorted({title for title in titles if titles.count(title) > 1})
            if twice:
                raise ValueError(
                    f"{name}: {', '.join(twice)} is there twice; give each a label"
                )
        labels = [item.title for item in self.strategies]
        if self.baseline is not None and self.baseline not in labels:
            raise ValueError(
                f"baseline {self.baseline!r} is none of the strategies: "
                f"{', '.join(labels)}"
            )
        if isinstance(self.seeds, tuple) and (
            not self.seeds or len(set(self.seeds)) < len(self.seeds)
        ):
            raise ValueError("seeds: give at least one, and none twice")
        return self

    @property
    def roots(self) -> tuple[int, ...]:
        """The seeds, one by one."""
        return tuple(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds

    @property
    def reference(self) -> str | None:
        """Label of the baseline; the first strategy where none is named."""
        if self.baseline is not None:
            return self.baseline
        return self.strategies[0].title if self.strategies else None


def plan_names() -> list[str]:
    """Return the names of the shipped plans."""
    return asset_names("studies")


def load_plan(name: str) -> StudyPlan:
    """Load a plan by its shipped name or the path of a TOML file.

    Raises:
        ConfigError: missing or not valid.
    """
    path = find_asset("studies", name)
    return from_folder(path.parent, load_toml(path, StudyPlan))


def plan_text(name: str) -> str:
    """Return the text of a plan's file, by its shipped name or path.

    Raises:
        ConfigError: missing or not readable.
    """
    path = find_asset("studies", name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}.") from error


def from_folder(folder: Path, plan: StudyPlan) -> StudyPlan:
    """Take paths of files in a plan from where the plan lies."""

    def own(name: str) -> str:
        if not name.endswith(".toml") and "/" not in name:
            return name
        return str(folder / Path(name).expanduser())

    links = tuple(
        item.model_copy(update={"preset": own(item.preset)}) for item in plan.links
    )
    tasks = tuple(
        item.model_copy(
            update={
                "name": own(item.name),
                "robot": None if item.robot is None else own(item.robot),
            }
        )
        for item in plan.tasks
    )
    return plan.model_copy(
        update={"robot": own(plan.robot), "links": links, "tasks": tasks}
    )
