"""Doing what is left of a study's jobs, by whatever does jobs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.study.factorial.jobs import Job
from app.study.factorial.progress import Tell
from app.study.factorial.store import Store

__all__ = ["Executor", "StudyState", "run_jobs", "state_of"]

Executor = Callable[[Iterable[Job], Store, Tell], int]
"""Does jobs, keeps what they leave, and returns how many were given up."""


@dataclass(frozen=True)
class StudyState:
    """How a study stands.

    Attributes:
        jobs: all of them, in their order.
        done: finished before this call.
        strange: finished jobs in the folder that are not of this plan.
    """

    jobs: tuple[Job, ...]
    done: int
    strange: int


def state_of(jobs: tuple[Job, ...], store: Store) -> StudyState:
    """Say how a study stands in its folder."""
    names = {job.name for job in jobs}
    return StudyState(
        jobs, sum(store.has(name) for name in names), len(store.finished - names)
    )


def run_jobs(jobs: tuple[Job, ...], store: Store, execute: Executor, tell: Tell) -> int:
    """Do what is not done yet; return how many jobs were given up.

    Raises:
        LogError: the folder fails; what was finished is kept.
        ProcessError: the workers, or their scheduler, are gone.
    """
    rest = [job for job in jobs if not store.has(job.name)]
    return execute(rest, store, tell) if rest else 0
