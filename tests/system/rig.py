"""A session of real processes for system tests, and ways to wait for what it does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.clock import NS_PER_MS, NS_PER_S, MonotonicClock
from app.config.robot import build_robot_model, load_robot
from app.control.blocks import SessionBlocks
from app.station.processes import Supervisor
from app.station.session import Session, create_session

CLOCK = MonotonicClock()
ROBOT = load_robot("ursula")
MODEL = build_robot_model(ROBOT)


def wait_for(what: str, done: Callable[[], bool], timeout_s: float = 30.0) -> float:
    """Poll every 2 ms until `done()`; return how long it took [s]."""
    start_ns = CLOCK.now_ns()
    while not done():
        now_ns = CLOCK.now_ns()
        if now_ns - start_ns > timeout_s * NS_PER_S:
            raise AssertionError(f"not within {timeout_s:g} s: {what}")
        CLOCK.wait_until(now_ns + 2 * NS_PER_MS)
    return (CLOCK.now_ns() - start_ns) / NS_PER_S


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


class View:
    """Newest state and health of a session, re-read on each access."""

    def __init__(self, session: Session) -> None:
        model = MODEL
        if session.robot != "ursula":
            model = build_robot_model(load_robot(session.robot))
        self.blocks = SessionBlocks(session.folder, model, create=False)

    @property
    def state(self) -> Any:
        self.blocks.state.refresh()
        return self.blocks.state.local

    @property
    def health(self) -> Any:
        self.blocks.health.refresh()
        return self.blocks.health.local


@contextmanager
def running_session(
    log: Path,
    link: str = "optical-lab",
    operator: str = "circle",
    robot: str = "ursula",
    **settings: Any,
) -> Iterator[tuple[Session, Supervisor]]:
    """Start link, robot and station; end them all afterwards."""
    session = create_session(robot, link, operator=operator, log=log, **settings)
    supervisor = Supervisor(session)
    try:
        supervisor.start()
        supervisor.wait_ready((session.folder / "ready").exists)
        yield session, supervisor
    finally:
        pids = [supervisor.pid(name) for name in supervisor.names]
        supervisor.stop()
        session.close()
        assert not any(alive(pid) for pid in pids)
