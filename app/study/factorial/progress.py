"""How a study gets on, as whoever does the jobs tells it."""

from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["Note", "NoteKind", "Tell", "time_left_s"]

NoteKind = Literal["begun", "done", "lost", "failed"]


@dataclass(frozen=True)
class Note:
    """One thing that happened to a job.

    Attributes:
        kind: begun, done; lost: its worker died and it is done again; failed: given up.
        name: of the job.
        title: of the job, for people.
        words: why, where it is lost or failed.
    """

    kind: NoteKind
    name: str
    title: str
    words: str = ""


class Tell(Protocol):
    """Takes notes."""

    def __call__(self, note: Note) -> None:
        """Take one."""


def time_left_s(elapsed_s: float, done: int, left: int) -> float | None:
    """Return how long the rest will take at the pace so far [s]; None: not known yet.

    Args:
        elapsed_s: since the first job was begun [s].
        done: jobs done in that time.
        left: jobs not done yet.
    """
    return None if done == 0 else elapsed_s / done * left
