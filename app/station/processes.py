"""Starting, watching and ending the processes of a session.

At the start of a command, while it is a single thread, children are forked from what
it has loaded (`app.station.children.preload`): three processes that load numpy, numba
and the kernels for themselves cost a two-core laptop three seconds more. A restart,
from a process with a window and threads, begins with a fresh interpreter.
"""

import contextlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from app.clock import NS_PER_S
from app.errors import LimblinkError, ProcessError
from app.station.children import run_child
from app.station.session import Session
from app.station.stop import StopFlag

__all__ = ["Supervisor"]

_TERMINATE_S = 3.0
_CLOSE_S = 60.0  # a slow disk may be behind with the recording
_TOLD_AFTER_S = 2.0


class Supervisor:
    """The children of one session, by name: station, link, robot."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._children: dict[str, BaseProcess] = {}
        self._stopping = False

    @property
    def names(self) -> list[str]:
        """Names of the processes that this session needs here."""
        names = ["station"]
        if self.session.with_emulator:
            names.insert(0, "link")
        if self.session.with_robot:
            names.insert(0, "robot")
        return names

    def start(self, *, fork: bool = False) -> None:
        """Start every process that is not running.

        Args:
            fork: copy this process, where it is still a single thread; see above.
        """
        can_fork = fork and sys.platform == "linux" and threading.active_count() == 1
        for name in self.names:
            if not self.running(name):
                self._begin(name, "fork" if can_fork else "spawn")

    def restart(self, name: str) -> None:
        """End one process if it still runs, and start it anew.

        Raises:
            ProcessError: no process of that name belongs to this session.
        """
        if name not in self.names:
            raise ProcessError(
                f"No process called {name!r} here; there are {', '.join(self.names)}."
            )
        self._end([name])
        self._begin(name, "spawn")

    def running(self, name: str) -> bool:
        """Whether that process is alive."""
        child = self._children.get(name)
        return child is not None and child.is_alive()

    def pid(self, name: str) -> int:
        """Process id of a child; 0 before it is started."""
        return self._children[name].pid or 0

    def status(self) -> dict[str, str]:
        """Say of every process whether it runs, or how it ended."""
        words = {}
        for name in self.names:
            child = self._children.get(name)
            if child is None:
                words[name] = "not started"
            elif (status := child.exitcode) is None:
                words[name] = f"running ({child.pid})"
            elif status < 0:
                words[name] = f"ended: signal {-status}"
            else:
                words[name] = f"ended: exit {status}{self._last_words(name)}"
        return words

    def wait_ready(self, is_ready: Callable[[], bool], timeout_s: float = 60.0) -> None:
        """Wait until `is_ready()`; a child that ends meanwhile is an error.

        Raises:
            ProcessError: a child ended, or the time ran out.
        """
        due_ns = time.monotonic_ns() + int(timeout_s * NS_PER_S)
        pause = threading.Event()
        while not is_ready():
            for name, words in self.status().items():
                if words.startswith("ended"):
                    raise ProcessError(f"The {name} process {words}")
            if time.monotonic_ns() > due_ns:
                raise ProcessError(
                    f"The session did not come up within {timeout_s:g} s: "
                    f"{self.status()}. Run `limblink doctor`."
                )
            pause.wait(0.02)

    def stop(self) -> None:
        """End all children: the station first, so that it can close its log."""
        if self._stopping:
            return
        self._stopping = True
        self._let_station_close()
        self._end(["station"])
        self._end([name for name in self._children if name != "station"])

    def _begin(self, name: str, method: str) -> None:
        context = multiprocessing.get_context(method)
        child = context.Process(  # type: ignore[attr-defined]
            target=_child_main,
            args=(name, self.session.folder, os.getpid()),
            daemon=True,  # ended with this process where nobody ended it before
        )
        child.start()
        self._children[name] = child

    def _let_station_close(self) -> None:
        """Ask the station to end, and wait until its recording is whole."""
        station = self._children.get("station")
        if station is None:
            return
        station.terminate()
        station.join(_TOLD_AFTER_S)
        if station.is_alive():
            sys.stderr.write(
                "Waiting for the station to close its recording; where that takes more "
                "than a minute it is ended, and `limblink sessions recover` mends the "
                "file.\n"
            )
            station.join(_CLOSE_S - _TOLD_AFTER_S)

    def _end(self, names: list[str]) -> None:
        children = [self._children[name] for name in names if name in self._children]
        for child in children:
            child.terminate()
        for child in children:
            child.join(_TERMINATE_S)
            if child.is_alive():
                child.kill()
                child.join()

    def _last_words(self, name: str) -> str:
        with contextlib.suppress(OSError):
            text = (self.session.folder / f"{name}.err").read_text(errors="replace")
            lines = [line for line in text.splitlines() if line.strip()]
            if lines:
                return ". " + " ".join(lines[-3:])
        return ""


def _child_main(name: str, folder: Path, parent: int) -> None:
    """Run in the new process: detach from the terminal, then become `name`."""
    os.setsid()  # Ctrl-C reaches the parent alone, which ends us in order
    _redirect_output(folder / f"{name}.err")
    _rename_process(f"limblink-{name}")
    stop = StopFlag(parent)
    stop.install()
    try:
        run_child(name, folder, stop)
    except LimblinkError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)


def _redirect_output(path: Path) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    null = os.open(os.devnull, os.O_RDONLY)
    errors = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor, number in ((null, 0), (errors, 1), (errors, 2)):
        os.dup2(descriptor, number)
    os.close(null)
    os.close(errors)


def _rename_process(name: str) -> None:
    """Set the name that `top` and `ps` show; at most 15 characters."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name, encoding="ascii")
