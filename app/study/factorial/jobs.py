"""What workers are given: something that fills a folder, equal wherever it is done."""

from pathlib import Path
from typing import Protocol

__all__ = ["Job"]


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
