"""Driving without a window: the same processes, a progress bar, one summary."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from app.clock import NS_PER_S, MonotonicClock
from app.config.robot import load_robot
from app.errors import ProcessError
from app.station.children import preload
from app.station.processes import Supervisor
from app.station.ready import wait_for_blocks
from app.station.session import create_session
from app.station.stop import StopFlag

__all__ = ["drive_headless"]

_ROUND_S = 0.1
_RESTARTS = 3  # of each process, before the drive is given up


def drive_headless(
    console: Console,
    *,
    robot: str,
    link: str,
    operator: str,
    seconds: float,
    seed: int,
    log: Path,
    name: str | None,
    **settings: Any,
) -> dict[str, Any]:
    """Start the processes, drive, stop them, and return the station's summary.

    A process that ends in the middle is started again, disarmed, up to three times.

    Raises:
        ProcessError: the session did not come up, or a process keeps ending.
    """
    parameters = load_robot(robot)
    session = create_session(
        robot,
        link,
        name=name,
        operator=operator,
        seed=seed,
        log=log.absolute(),
        **settings,
    )
    supervisor = Supervisor(session)
    stop = StopFlag()
    stop.install()
    notes: list[dict[str, Any]] = []
    try:
        preload()
        supervisor.start(fork=True)
        wait_for_blocks(session, parameters, supervisor)
        _drive(console, supervisor, stop, seconds, notes)
        supervisor.stop()
        summary = session.read_summary()
        if summary is None:
            raise ProcessError(
                "The station left no summary: it was killed at the end. "
                f"Its recording is {log}."
            )
        summary["events"].extend(notes)
        summary["session"] = session.name
        return summary
    finally:
        supervisor.stop()
        session.close()


def _drive(
    console: Console,
    supervisor: Supervisor,
    stop: StopFlag,
    seconds: float,
    notes: list[dict[str, Any]],
) -> None:
    clock = MonotonicClock()
    start_ns = clock.now_ns()
    restarts: dict[str, int] = {}
    with Progress(
        TextColumn("driving"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("drive", total=seconds)
        while not stop.wait(_ROUND_S):
            elapsed_s = (clock.now_ns() - start_ns) / NS_PER_S
            progress.update(task, completed=elapsed_s)
            if elapsed_s >= seconds:
                return
            for name, words in supervisor.status().items():
                if not words.startswith("ended"):
                    continue
                restarts[name] = restarts.get(name, 0) + 1
                if restarts[name] > _RESTARTS:
                    raise ProcessError(f"The {name} process keeps ending: {words}")
                notes.append(
                    {
                        "time_s": round(elapsed_s, 3),
                        "severity": "alarm",
                        "source": "supervisor",
                        "text": f"The {name} process {words}; started again, disarmed.",
                    }
                )
                supervisor.restart(name)
