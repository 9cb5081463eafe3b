"""Starting, watching and ending the processes of a session.

A child is told its parent's process id and ends with it, however it ends: it asks,
whenever it asks whether to stop, if its parent is still there. (PR_SET_PDEATHSIG would
fire at the end of the thread that started it, and a restart runs in such a thread.)
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from app.clock import NS_PER_S
from app.errors import ProcessError
from app.station.session import Session

__all__ = ["StopFlag", "Supervisor"]

_PARENT = "LIMBLINK_PARENT"
_TERMINATE_S = 3.0


class StopFlag:
    """Turns SIGTERM, SIGINT and the parent's end into one question: stop now?"""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._parent = int(os.environ.get(_PARENT, "0"))

    def install(self) -> None:
        """Catch the signals; call in the main thread of a process."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._event.set())

    def set(self) -> None:
        """Ask to stop."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait for a stop; True once it is asked for."""
        return self._event.wait(seconds) or self()

    def __call__(self) -> bool:
        """Whether to stop now."""
        if self._parent and os.getppid() != self._parent:
            self._event.set()
        return self._event.is_set()


class Supervisor:
    """The children of one session, by name: station, link, robot."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._children: dict[str, subprocess.Popen[bytes]] = {}
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

    def start(self) -> None:
        """Start every process that is not running."""
        for name in self.names:
            if not self.running(name):
                self._spawn(name)

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
        self._spawn(name)

    def running(self, name: str) -> bool:
        """Whether that process is alive."""
        child = self._children.get(name)
        return child is not None and child.poll() is None

    def pid(self, name: str) -> int:
        """Process id of a child."""
        return self._children[name].pid

    def status(self) -> dict[str, str]:
        """Say of every process whether it runs, or how it ended."""
        words = {}
        for name in self.names:
            child = self._children.get(name)
            if child is None:
                words[name] = "not started"
            elif child.poll() is None:
                words[name] = f"running ({child.pid})"
            elif child.returncode < 0:
                words[name] = f"ended: signal {-child.returncode}"
            else:
                words[name] = f"ended: exit {child.returncode}{self._last_words(name)}"
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
        self._end(["station"])
        self._end([name for name in self._children if name != "station"])

    def _spawn(self, name: str) -> None:
        environment = {**os.environ, _PARENT: str(os.getpid())}
        errors = (self.session.folder / f"{name}.err").open("wb")
        with errors:
            self._children[name] = subprocess.Popen(
                [sys.executable, "-m", "app", name, "--session", self.session.folder],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=environment,
                start_new_session=True,  # Ctrl-C reaches us alone; we end them in order
            )

    def _end(self, names: list[str]) -> None:
        children = [self._children[name] for name in names if name in self._children]
        for child in children:
            if child.poll() is None:
                child.terminate()
        for child in children:
            try:
                child.wait(_TERMINATE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def _last_words(self, name: str) -> str:
        with contextlib.suppress(OSError):
            text = (self.session.folder / f"{name}.err").read_text(errors="replace")
            lines = [line for line in text.splitlines() if line.strip()]
            if lines:
                return ". " + " ".join(lines[-3:])
        return ""
