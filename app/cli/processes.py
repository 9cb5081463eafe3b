"""Single processes, for a robot or an emulator on a computer of its own."""

from typing import Annotated

import typer

from app.cli.options import (
    DEFAULT_LINK,
    DEFAULT_ROBOT,
    Keys,
    Link,
    Mismatch,
    Seed,
    application,
)
from app.errors import ConfigError

__all__ = ["link", "robot"]


@application.command()
def robot(
    robot_name: Annotated[str, typer.Option("--robot", help="Robot.")] = DEFAULT_ROBOT,
    bind: Annotated[
        str | None,
        typer.Option(help="Address to wait on, e.g. tcp://0.0.0.0:5601."),
    ] = None,
    connect: Annotated[
        str | None, typer.Option(help="Address of an emulator or station to call.")
    ] = None,
    link: Link = DEFAULT_LINK,
    seed: Seed = 0,
    keys: Keys = None,
    mismatch: Mismatch = None,
) -> None:
    """Run the robot's side: bridge, safety and the simulated robot.

    [bold]Examples[/]

      limblink robot --bind tcp://127.0.0.1:5601

      limblink robot --bind tcp://0.0.0.0:5601 --keys ~/.limblink-keys
    """
    from app.config.link import load_link
    from app.config.robot import check_drivable, load_robot
    from app.robot.service import run_robot
    from app.station.children import make_mismatch, parse_mismatch
    from app.station.stop import StopFlag

    if (bind is None) == (connect is None):
        raise ConfigError(
            "limblink robot needs exactly one of --bind ADDRESS (wait for a station) "
            "and --connect ADDRESS (call an emulator)."
        )
    parameters = load_robot(robot_name)
    check_drivable(parameters)
    stop = StopFlag()
    stop.install()
    run_robot(
        robot=parameters,
        link=load_link(link),
        address=bind or connect or "",
        role="bind" if bind else "connect",
        mismatch=make_mismatch(parse_mismatch(mismatch or [])),
        seed=seed,
        keys=keys,
        stop=stop,
    )


@application.command()
def link(
    preset: Annotated[str, typer.Argument(help="Link to emulate.")] = DEFAULT_LINK,
    station_side: Annotated[
        str, typer.Option("--station", help="Address the station calls.")
    ] = "tcp://127.0.0.1:5600",
    robot_side: Annotated[
        str, typer.Option("--robot", help="Address the robot calls.")
    ] = "tcp://127.0.0.1:5601",
    control: Annotated[
        str, typer.Option(help="Address for live settings.")
    ] = "tcp://127.0.0.1:5602",
    seed: Seed = 0,
) -> None:
    """Run the link emulator between a station and a robot.

    [bold]Example[/]

      limblink link acoustic-hs --station tcp://127.0.0.1:5600 --robot tcp://127.0.0.1:5601
    """
    from app.config.link import load_link
    from app.link.emulator import run_emulator
    from app.station.stop import StopFlag

    stop = StopFlag()
    stop.install()
    run_emulator(station_side, robot_side, control, load_link(preset), seed, stop)
