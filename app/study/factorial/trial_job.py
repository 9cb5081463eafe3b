"""One trial of a study as a job for workers."""

from pathlib import Path

from app.study.factorial.cells import TrialSpec
from app.study.factorial.run import run_spec

__all__ = ["TrialJob"]


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
