"""Jobs on Dask: a scheduler that runs somewhere, or a SLURM cluster of one's own.

Workers send files back, so no disk need be shared; the study's process alone writes its
folder. Where a worker dies, Dask does its job again elsewhere, three times at most. A
scheduler that dies ends the study; what had come back is kept.
"""

import contextlib
import logging
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from app.errors import ConfigError, LimblinkError, ProcessError
from app.study.factorial.jobs import Job
from app.study.factorial.pool import ATTEMPTS
from app.study.factorial.progress import Note, Tell
from app.study.factorial.store import Store

__all__ = ["run_on_dask"]

_CONNECT_S = 10.0


def _perform(job: Job) -> tuple[str, dict[str, bytes]]:
    """Do a job on a worker; its name for errors, and its files."""
    with tempfile.TemporaryDirectory(prefix="limblink-job-") as folder:
        try:
            job.run(Path(folder))
        except LimblinkError as error:
            return str(error), {}
        files = sorted(Path(folder).iterdir())
        return "", {item.name: item.read_bytes() for item in files}


def run_on_dask(jobs: Iterable[Job], store: Store, tell: Tell, *, address: str) -> int:
    """Do jobs on a Dask cluster and keep what they leave.

    Args:
        jobs: what to do.
        store: where results go.
        tell: told what happens.
        address: tcp://HOST:PORT of a scheduler, or a file of a SLURM cluster.

    Returns:
        How many were given up.

    Raises:
        ConfigError: the extra `cluster` is not installed, or the file is wrong.
        ProcessError: the scheduler cannot be reached, or is gone.
        LogError: the study's folder fails.
    """
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(_cluster(address))
        try:
            client = stack.enter_context(_connect(where))
        except (OSError, TimeoutError, ValueError) as error:
            raise ProcessError(
                f"No Dask scheduler answers at {address}: {error}. Start one (dask "
                "scheduler; dask worker ADDRESS), or check the address."
            ) from error
        return _gather(client, list(jobs), store, tell, address)


def _connect(where: Any) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ConfigError(
            "--scheduler needs Dask, which is not installed: pip install "
            "'limblink[cluster]'. Or leave it out and give --workers."
        ) from error
    # a lost scheduler is told in a sentence of ours, not in a page of theirs
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    client: Any = distributed.Client
    return client(where, timeout=_CONNECT_S, set_as_default=False)


def _gather(
    client: Any, jobs: list[Job], store: Store, tell: Tell, address: str
) -> int:
    import distributed
    from distributed.client import FutureCancelledError

    as_completed: Any = distributed.as_completed
    byname = {job.name: job for job in jobs}
    futures = [
        client.submit(
            _perform, job, key=f"limblink-{job.name}", retries=ATTEMPTS - 1, pure=False
        )
        for job in jobs
    ]
    for job in jobs[:1]:
        tell(Note("begun", job.name, job.title))
    failed = 0
    left = set(byname)
    try:
        for future in as_completed(futures, loop=client.loop):
            job = byname[str(future.key).removeprefix("limblink-")]
            error = future.exception()
            if isinstance(error, FutureCancelledError):
                raise _gone(address, len(left))
            words, files = ("", {}) if error is not None else future.result()
            left.discard(job.name)
            future.release()
            if error is not None or words:
                failed += 1
                tell(Note("failed", job.name, job.title, words or f"{error!r}"))
                continue
            store.accept_files(job.name, files, 1)
            tell(Note("done", job.name, job.title))
    except (OSError, TimeoutError, FutureCancelledError) as error:
        raise _gone(address, len(left)) from error
    if left:
        raise _gone(address, len(left))
    return failed


def _gone(address: str, left: int) -> ProcessError:
    return ProcessError(
        f"The Dask scheduler at {address} is gone; {left} trials are not done. What "
        "had come back is kept: start the scheduler and call the study again."
    )


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """What a client connects to: an address, or a SLURM cluster started for this."""
    if "://" in address:
        yield address
        return
    settings = _read(Path(address).expanduser())
    try:
        import dask_jobqueue
    except ImportError as error:
        raise ConfigError(
            "A SLURM cluster needs dask-jobqueue, which is not installed: pip install "
            "'limblink[cluster]'."
        ) from error
    jobs = settings.pop("jobs", 1)
    try:
        queues: Any = dask_jobqueue
        with queues.SLURMCluster(**settings) as cluster:
            cluster.scale(jobs=jobs)
            yield cluster
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"{address}: not what dask_jobqueue.SLURMCluster takes: {error}. Give "
            "queue, account, cores, memory, walltime, and jobs."
        ) from error


def _read(path: Path) -> dict[str, Any]:
    """Read a TOML or YAML file of one table."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"--scheduler {path}: cannot be read: {error}. Give tcp://HOST:PORT, or a "
            "TOML or YAML file."
        ) from error
    try:
        read = _yaml if path.suffix in {".yaml", ".yml"} else tomllib.loads
        found = read(text)
    except (ValueError, ImportError) as error:
        raise ConfigError(f"{path}: cannot be understood: {error}.") from error
    if not isinstance(found, dict):
        raise ConfigError(
            f"{path}: must be a table of names and values: queue, cores, memory, jobs."
        )
    return found


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
