"""A study's folder: what has been done, whole or not at all.

    OUT/plan.toml  manifest.json  trials.csv  comparisons.csv  report.html
    OUT/trials/NAME/...     finished jobs
    OUT/work/NAME...        jobs being done; thrown away by the next call

A job's folder is filled under `work`, synced to the disk and then renamed: whenever a
process, a worker or the computer dies, what is under `trials` is whole. One study at a
time works in a folder; a second one is told so.
"""

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from app.errors import ConfigError, LogError

__all__ = ["RESULT", "Store", "write_whole"]

RESULT = "result.json"
_LOCK = "lock"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole, or as it was before.

    Raises:
        LogError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> LogError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        cure = "The disk is full: free some space"
    else:
        cure = "Make it a folder that you may read and write"
    return LogError(
        f"{path}: {error.strerror or error}. {cure}, or choose another --out; then "
        "call the study again. What was finished is kept: it goes on from there."
    )


class Store:
    """The folder of one study, held by one process."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made where there is none.

        Raises:
            LogError: it cannot be read or written.
            ConfigError: another study works in it.
        """
        self.folder = folder
        self.trials = folder / "trials"
        self.work = folder / "work"
        try:
            self.trials.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / _LOCK).open("a+")
            self._hold()
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir(exist_ok=True)
            self._known = {item.name for item in self.trials.iterdir()}
        except OSError as error:
            raise _refused(folder, error) from error

    def _hold(self) -> None:
        if os.name != "posix":
            return
        import fcntl

        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._lock.close()
            raise ConfigError(
                f"Another study works in {self.folder}. Wait for it, or choose another "
                "--out."
            ) from error

    def __enter__(self) -> "Store":
        """Return the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the folder."""
        self.close()

    def close(self) -> None:
        """Let go of the folder; a second call does nothing."""
        if not self._lock.closed:
            shutil.rmtree(self.work, ignore_errors=True)
            self._lock.close()

    def has(self, name: str) -> bool:
        """Whether a job is finished."""
        return name in self._known

    @property
    def finished(self) -> frozenset[str]:
        """Names of all finished jobs, of this plan or of an earlier one."""
        return frozenset(self._known)

    def begin(self, name: str, attempt: int) -> Path:
        """Return a new, empty folder for a job to fill.

        Raises:
            LogError: it cannot be made.
        """
        folder = self.work / f"{name}.{attempt}"
        try:
            folder.mkdir()
        except OSError as error:
            raise _refused(folder, error) from error
        return folder

    def accept(self, name: str, filled: Path) -> None:
        """Take a filled folder as a finished job.

        Raises:
            LogError: it cannot be kept.
        """
        try:
            for path in sorted(filled.iterdir()):
                _sync(path)
            _sync(filled)
            filled.rename(self.trials / name)
            _sync(self.trials)
        except OSError as error:
            raise _refused(self.trials / name, error) from error
        self._known.add(name)

    def accept_files(self, name: str, files: Mapping[str, bytes], attempt: int) -> None:
        """Take a job's files, as they came from another computer.

        Raises:
            LogError: they cannot be kept.
        """
        folder = self.begin(name, attempt)
        for file, data in files.items():
            write_whole(folder / file, data)
        self.accept(name, folder)

    def result(self, name: str) -> dict[str, Any]:
        """Read the result of a finished job.

        Raises:
            LogError: it cannot be read.
        """
        path = self.trials / name / RESULT
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise _refused(path, error) from error
        except ValueError as error:
            raise LogError(
                f"{path}: is damaged: {error}. Remove the folder {path.parent} and "
                "call the study again: that trial is done anew."
            ) from error
        return found


def _sync(path: Path) -> None:
    if os.name != "posix" and path.is_dir():
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
