"""Jobs in processes of this computer: spawned, watched, replaced where one dies.

A worker does one job at a time and is told the next by pipe, so that it is known which
job a dead one had: that job alone is done again, by a new worker, three times at most.
An error that a person can mend and that concerns the study's folder, such as a full
disk, ends the study at once; another error ends that job alone.
"""

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Literal

from app.errors import LimblinkError, LogError, ProcessError
from app.study.factorial.jobs import Job
from app.study.factorial.progress import Note, Tell
from app.study.factorial.store import Store

__all__ = ["ATTEMPTS", "run_locally"]

ATTEMPTS = 3
"""How often a job is tried whose worker dies."""

_GRACE_S = 5.0
_Answer = tuple[Literal["done", "disk", "failed"], str]


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    job: Job | None = None
    folder: Path | None = None


def _serve(pipe: Connection) -> None:
    """A worker's life: jobs from the pipe until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    while True:
        try:
            job, folder = pipe.recv()
        except EOFError:
            return
        pipe.send(_answer(job, folder))


def _answer(job: Job, folder: Path) -> _Answer:
    try:
        job.run(folder)
    except LogError as error:
        return "disk", str(error)
    except LimblinkError as error:
        return "failed", str(error)
    except OSError as error:
        return "disk", f"{folder}: {error}"
    except Exception as error:  # noqa: BLE001  top frame of the process
        import traceback

        return "failed", f"{error!r}\n{traceback.format_exc()}"
    return "done", ""


class _Pool:
    def __init__(self, count: int) -> None:
        self._context = multiprocessing.get_context("spawn")
        self.workers = [self._start() for _ in range(count)]

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs,), name="limblink-study-worker", daemon=True
        )
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def replace(self, worker: _Worker) -> None:
        worker.pipe.close()
        worker.process.join()
        self.workers[self.workers.index(worker)] = self._start()

    def close(self) -> None:
        for worker in self.workers:
            worker.pipe.close()
            if worker.job is not None:
                worker.process.terminate()
        deadline = time.monotonic() + _GRACE_S
        for worker in self.workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def run_locally(jobs: Iterable[Job], store: Store, tell: Tell, *, workers: int) -> int:
    """Do jobs and keep what they leave.

    Args:
        jobs: what to do, in this order.
        store: where results go.
        tell: told what happens.
        workers: processes at once, 1 or more.

    Returns:
        How many were given up.

    Raises:
        LogError: the study's folder fails; what was finished is kept.
    """
    waiting = deque(jobs)
    attempts: dict[str, int] = {}
    failed = 0
    pool = _Pool(min(workers, max(1, len(waiting))))
    try:
        while waiting or any(item.job is not None for item in pool.workers):
            for worker in pool.workers:
                if worker.job is None and waiting:
                    _give(worker, waiting.popleft(), store, attempts, tell)
            busy = [item for item in pool.workers if item.job is not None]
            ready = wait([item.pipe for item in busy])
            for worker in [item for item in busy if item.pipe in ready]:
                failed += _take(pool, worker, store, waiting, attempts, tell)
    finally:
        pool.close()
    return failed


def _give(
    worker: _Worker, job: Job, store: Store, attempts: dict[str, int], tell: Tell
) -> None:
    attempts[job.name] = attempts.get(job.name, 0) + 1
    worker.job = job
    worker.folder = store.begin(job.name, attempts[job.name])
    tell(Note("begun", job.name, job.title))
    try:
        worker.pipe.send((job, worker.folder))
    except OSError:
        return  # it has died: its pipe says so next


def _take(
    pool: _Pool,
    worker: _Worker,
    store: Store,
    waiting: "deque[Job]",
    attempts: dict[str, int],
    tell: Tell,
) -> int:
    """Take a worker's answer, or notice its death; 1 where the job is given up."""
    job, folder = worker.job, worker.folder
    if job is None or folder is None:
        raise ProcessError("A worker answers that was asked nothing.")
    try:
        kind, words = worker.pipe.recv()
    except (EOFError, OSError):
        pool.replace(worker)
        words = f"its worker died (exit status {worker.process.exitcode})"
        if attempts[job.name] < ATTEMPTS:
            waiting.appendleft(job)
            tell(Note("lost", job.name, job.title, f"{words}; it is done again"))
            return 0
        words = f"{words}, {ATTEMPTS} times"
        tell(Note("failed", job.name, job.title, words))
        return 1
    worker.job = worker.folder = None
    if kind == "disk":
        if "again" not in words:
            words += " Call the study again: what was finished is kept, it goes on."
        raise LogError(words)
    if kind == "failed":
        tell(Note("failed", job.name, job.title, words))
        return 1
    store.accept(job.name, folder)
    tell(Note("done", job.name, job.title))
    return 0
