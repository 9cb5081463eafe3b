"""What each process of a session runs, and what is loaded before they are forked."""

import contextlib
import gc
from pathlib import Path
from typing import TYPE_CHECKING

from app.config.link import load_link
from app.errors import ConfigError
from app.station.session import Session, find_session
from app.station.stop import StopFlag

if TYPE_CHECKING:
    from app.robot.plant import PlantMismatch

__all__ = ["make_mismatch", "parse_mismatch", "preload", "run_child"]


def parse_mismatch(words: list[str]) -> dict[str, float]:
    """Read `name=factor` options.

    Raises:
        ConfigError: not of that form; the factors' names are checked by the plant.
    """
    factors: dict[str, float] = {}
    for word in words:
        name, sign, value = word.partition("=")
        try:
            factors[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise ConfigError(
                f"--mismatch {word}: write name=factor, e.g. stiffness=1.2."
            )
    return factors


def make_mismatch(factors: dict[str, float]) -> "PlantMismatch":
    """Make the mismatch of these factors, the others 1.

    Raises:
        ConfigError: a factor is unknown or out of range.
    """
    from app.robot.plant import PlantMismatch

    known = PlantMismatch.__dataclass_fields__
    unknown = sorted(set(factors) - set(known))
    if unknown:
        raise ConfigError(
            f"Unknown mismatch {', '.join(unknown)}; known: {', '.join(known)}."
        )
    return PlantMismatch(**factors)


def run_child(name: str, folder: Path, stop: StopFlag) -> None:
    """Be one process of a session until told to stop.

    Args:
        name: station, link or robot.
        folder: the session's folder.
        stop: asked again and again; True ends the process.

    Raises:
        LimblinkError: a setting is wrong, or an address is in use.
    """
    session = find_session(folder)
    if name == "station":
        from app.station.service import run_station

        run_station(session, stop)
    elif name == "link":
        from app.link.emulator import run_emulator

        run_emulator(
            session.station_address,
            session.robot_address,
            session.control_address,
            load_link(session.link),
            session.seed,
            stop,
        )
    else:
        _run_robot(session, stop)


def _run_robot(session: Session, stop: StopFlag) -> None:
    """Be the robot's side, simulated or on a rig."""
    from app.config.robot import load_robot
    from app.config.scene import load_scene
    from app.config.scene_posture import robot_in_scene
    from app.robot.rig_session import open_rig
    from app.robot.service import run_robot

    mismatch = make_mismatch(session.mismatch)
    with contextlib.ExitStack() as stack:
        body = None
        if session.rig is not None:
            body = stack.enter_context(
                open_rig(
                    session.rig,
                    virtual=session.virtual,
                    mismatch=mismatch,
                    seed=session.seed,
                )
            ).rig
        scene = load_scene(session.scene_name)
        run_robot(
            robot=robot_in_scene(load_robot(session.robot), scene),
            link=load_link(session.link),
            address=session.robot_address,
            role="connect",
            mismatch=mismatch,
            seed=session.seed,
            keys=session.keys,
            stop=stop,
            body=body,
            scene=scene,
        )


def preload() -> None:
    """Load what every child needs, for a process that is about to be forked."""
    import numpy as np

    import app.link.emulator  # noqa: F401
    import app.robot.service  # noqa: F401
    import app.station.service  # noqa: F401
    from models.numerics import cholesky_solve

    cholesky_solve(np.eye(1), np.ones(1), 1)  # the first call sets the compiler up
    gc.collect()
    gc.freeze()  # the collector would touch, and so copy, every page they share
