"""A whole study: what is still to do, who does it, what is written at the end."""

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from app.study.factorial.cells import plan_trials
from app.study.factorial.jobs import Job, TrialJob
from app.study.factorial.plan import StudyPlan
from app.study.factorial.progress import Tell
from app.study.factorial.store import Store, write_whole

__all__ = [
    "Executor",
    "StudyState",
    "finished_results",
    "library_versions",
    "plan_jobs",
    "run_jobs",
    "state_of",
    "write_manifest",
]

Executor = Callable[[Iterable[Job], Store, Tell], int]
"""Does jobs, keeps what they leave, and returns how many were given up."""

_LIBRARIES = ("limblink", "numpy", "numba", "scipy", "matplotlib", "mcap", "pydantic")


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


def plan_jobs(plan: StudyPlan) -> tuple[Job, ...]:
    """Return all jobs of a plan, in their order.

    Raises:
        ConfigError: something in the plan cannot be.
    """
    return tuple(TrialJob(spec) for spec in plan_trials(plan))


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


def finished_results(jobs: tuple[Job, ...], store: Store) -> list[dict[str, Any]]:
    """Read the results of all finished jobs of a plan, in its order.

    Raises:
        LogError: one cannot be read.
    """
    return [store.result(job.name) for job in jobs if store.has(job.name)]


def write_manifest(
    plan: StudyPlan, jobs: tuple[Job, ...], store: Store, written: Iterable[Path]
) -> Path:
    """Write what the study is made of: plan, versions, seeds, and every file's hash.

    Args:
        plan: the study's.
        jobs: all of them.
        store: its folder.
        written: files of the report.

    Raises:
        LogError: it cannot be written.
    """
    text = plan.model_dump_json(indent=1)
    trials = []
    for job in jobs:
        if not store.has(job.name):
            trials.append({"name": job.name, "finished": False})
            continue
        files = sorted((store.trials / job.name).iterdir())
        trials.append(
            {
                "name": job.name,
                "finished": True,
                "files": {item.name: _sha256(item) for item in files},
            }
        )
    manifest = {
        "study": plan.name,
        "plan": json.loads(text),
        "plan_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "seeds": list(plan.roots),
        "versions": library_versions(),
        "host": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": sys.version.split()[0],
        },
        "trials": trials,
        "files": {
            str(item.relative_to(store.folder)): _sha256(item) for item in written
        },
    }
    path = store.folder / "manifest.json"
    write_whole(path, json.dumps(manifest, indent=1).encode())
    return path


def library_versions() -> dict[str, str]:
    """Versions of all that has a say in a study's figures."""
    return {name: version(name) for name in _LIBRARIES}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
