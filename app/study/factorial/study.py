"""A whole study: its jobs, and the manifest of what they left."""

import hashlib
import json
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from app.errors import ConfigError
from app.study.factorial.cells import plan_trials
from app.study.factorial.jobs import Job
from app.study.factorial.plan import StudyPlan
from app.study.factorial.store import Store, write_whole
from app.study.factorial.trial_job import TrialJob
from app.study.harness.jobs import harness_jobs
from app.study.targets.target import target_jobs

__all__ = [
    "library_versions",
    "plan_jobs",
    "write_manifest",
]

_LIBRARIES = ("limblink", "numpy", "numba", "scipy", "matplotlib", "mcap", "pydantic")


def plan_jobs(plan: StudyPlan) -> tuple[Job, ...]:
    """Return all jobs of a plan, in their order.

    Raises:
        ConfigError: something in the plan cannot be.
    """
    trials = [TrialJob(spec) for spec in plan_trials(plan)]
    if "line" in plan.reproduce and all(j.spec.cell.task != "line" for j in trials):
        raise ConfigError(
            f'Plan {plan.name!r}: the result "line" is taken from the plan\'s own '
            'trials, and none follows it: add [[tasks]] with name = "line".'
        )
    return (*harness_jobs(plan), *target_jobs(plan.reproduce, plan.roots), *trials)


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
