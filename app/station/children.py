"""Main functions of the emulator's and the robot's processes."""

from pathlib import Path
from typing import TYPE_CHECKING

from app.config.link import load_link
from app.errors import ConfigError
from app.station.processes import StopFlag
from app.station.session import find_session

if TYPE_CHECKING:
    from app.robot.plant import PlantMismatch

__all__ = ["make_mismatch", "parse_mismatch", "run_link_child", "run_robot_child"]


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


def run_link_child(
    *,
    session: Path | None,
    preset: str,
    station: str,
    robot: str,
    control: str,
    seed: int,
) -> None:
    """Run the emulator until it is asked to stop; a session overrides the rest."""
    from app.link.emulator import run_emulator

    stop = StopFlag()
    stop.install()
    if session is not None:
        settings = find_session(session)
        preset, seed = settings.link, settings.seed
        station, robot = settings.station_address, settings.robot_address
        control = settings.control_address
    run_emulator(station, robot, control, load_link(preset), seed, stop)


def run_robot_child(
    *,
    session: Path | None,
    robot: str,
    link: str,
    bind: str | None,
    connect: str | None,
    seed: int,
    keys: Path | None,
    mismatch: list[str],
) -> None:
    """Run the robot's side until it is asked to stop; a session overrides the rest."""
    from app.config.robot import load_robot
    from app.robot.service import run_robot

    stop = StopFlag()
    stop.install()
    factors = parse_mismatch(mismatch)
    if session is not None:
        settings = find_session(session)
        robot, link, seed = settings.robot, settings.link, settings.seed
        connect, keys = settings.robot_address, settings.keys
        factors = dict(settings.mismatch)
    if (bind is None) == (connect is None):
        raise ConfigError(
            "limblink robot needs exactly one of --bind ADDRESS (wait for a station) "
            "and --connect ADDRESS (call an emulator)."
        )
    run_robot(
        robot=load_robot(robot),
        link=load_link(link),
        address=bind or connect or "",
        role="bind" if bind else "connect",
        mismatch=make_mismatch(factors),
        seed=seed,
        keys=keys,
        stop=stop,
    )
