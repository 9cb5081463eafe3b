"""A published result that is to be reproduced: its runs, its verdict, its figure."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.study.fact import Fact
from app.study.factorial.store import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Finding", "Target", "TargetJob", "find", "target_jobs"]

Finding = dict[str, Any]
"""What one seed of a target came to."""


@dataclass(frozen=True)
class Target:
    """One result.

    Attributes:
        name: short.
        title: for people.
        source: who found it, and what.
        how: on what it is reproduced here, and what that leaves out.
        measure: works one seed out.
        judge: facts from the findings of all seeds.
        draw: their figure.
        caption: of the figure.
    """

    name: str
    title: str
    source: str
    how: str
    measure: Callable[[int], Finding]
    judge: Callable[[Sequence[Finding]], list[Fact]]
    draw: "Callable[[Sequence[Finding]], Figure]"
    caption: str


def find(name: str) -> Target:
    """Return a target by its name."""
    from app.study.targets.crossover import CROSSOVER
    from app.study.targets.deadband import DEADBAND
    from app.study.targets.waiting import WAITING

    return {item.name: item for item in (DEADBAND, WAITING, CROSSOVER)}[name]


@dataclass(frozen=True)
class TargetJob:
    """One seed of a target, as a job for workers."""

    target: str
    seed: int
    version: str

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"target-{self.target}_s{self.seed}_{self.version}"

    @property
    def title(self) -> str:
        """What people are told."""
        return f"{self.target}, one degree of freedom, seed {self.seed}"

    def run(self, folder: Path) -> None:
        """Work it out and write it down."""
        found = find(self.target).measure(self.seed)
        whole = {"name": self.name, "target": self.target, "seed": self.seed}
        text = json.dumps(whole | {"finding": found}, sort_keys=True, allow_nan=False)
        write_whole(folder / "result.json", text.encode())


def target_jobs(names: Sequence[str], roots: Sequence[int]) -> list[TargetJob]:
    """Return the jobs of targets; those that a plan's own trials show have none."""
    from importlib.metadata import version

    own = [name for name in names if name != "line"]
    return [
        TargetJob(name, root, version("limblink")) for name in own for root in roots
    ]
