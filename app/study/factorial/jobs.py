"""What workers are given: something that fills a folder, equal wherever it is done."""

from pathlib import Path
from typing import Protocol

from app.study.factorial.cells import TrialSpec
from app.study.factorial.run import run_spec

__all__ = ["Job", "TrialJob"]


class Job(Protocol):
    """One piece of a study. It is sent to other processes: it must be picklable."""

    @property
    def name(self) -> str:
        """Of its folder; unlike those of all others."""

    @property
    def title(self) -> str:
        """What people are told that is being done."""

    def run(self, folder: Path) -> None:
        """Do it, and leave `result.json` and whatever else in the folder.

        Raises:
            LimblinkError: it cannot be done; a person can mend it.
        """


class TrialJob:
    """One trial in virtual time."""

    def __init__(self, spec: TrialSpec) -> None:
        """Prepare."""
        self.spec = spec

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.spec.name

    @property
    def title(self) -> str:
        """What people are told."""
        cell = self.spec.cell
        return (
            f"{cell.strategy}, {cell.link}, {cell.task} {cell.variant}, "
            f"seed {self.spec.seed}"
        )

    def run(self, folder: Path) -> None:
        """Drive, judge, measure, write."""
        run_spec(self.spec, folder)
