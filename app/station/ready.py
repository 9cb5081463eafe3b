"""Waiting until a session's station has made its blocks and its loop turns."""

from app.config.robot import RobotParameters, build_robot_model
from app.control.blocks import SessionBlocks
from app.errors import ProcessError
from app.station.processes import Supervisor
from app.station.session import Session

__all__ = ["wait_for_blocks"]


def wait_for_blocks(
    session: Session,
    robot: RobotParameters,
    supervisor: Supervisor | None,
    timeout_s: float = 60.0,
) -> SessionBlocks:
    """Map the blocks of a session once its control loop publishes.

    Args:
        session: the session.
        robot: its robot, which sizes the blocks.
        supervisor: the owner of its processes, or None for a session of others.
        timeout_s: how long to wait [s].

    Raises:
        ProcessError: a process ended, the time ran out, or nobody runs the session.
    """
    model = build_robot_model(robot)
    blocks: SessionBlocks | None = None

    def is_ready() -> bool:
        nonlocal blocks
        if blocks is None:
            if not (session.folder / "ready").exists():
                return False
            blocks = SessionBlocks(session.folder, model, create=False)
        return blocks.state.count > 0

    if supervisor is not None:
        supervisor.wait_ready(is_ready, timeout_s)
    elif not is_ready():
        raise ProcessError(
            f"Session {session.name} is not running yet. Wait for its window, or start "
            "one with `limblink`."
        )
    if blocks is None:
        raise ProcessError(f"Session {session.name} has no blocks.")
    return blocks
