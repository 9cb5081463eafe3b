"""The robot's process, for a computer of its own."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from app.cli.options import (
    DEFAULT_LINK,
    DEFAULT_ROBOT,
    Keys,
    Link,
    Mismatch,
    Scene,
    Seed,
    application,
    err,
)
from app.errors import ConfigError

if TYPE_CHECKING:
    from app.config.robot import RobotParameters
    from app.messages import Event
    from app.robot.body import Body

__all__ = ["robot"]


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
    scene: Scene = None,
    config: Annotated[
        str | None,
        typer.Option(help="Rig of real actuators: a shipped name or a TOML file."),
    ] = None,
    virtual: Annotated[
        bool,
        typer.Option(
            "--virtual", help="Serve that rig by virtual devices and a simulated robot."
        ),
    ] = False,
) -> None:
    """Run the robot's side: bridge, safety, and the robot, real or simulated.

    [bold]Examples[/]

      limblink robot --bind tcp://127.0.0.1:5601

      limblink robot --bind tcp://0.0.0.0:5601 --keys ~/.limblink-keys

      limblink robot --config ursula-dynamixel --virtual --bind tcp://127.0.0.1:5601

      limblink robot --config my-rig.toml --bind tcp://0.0.0.0:5601 --keys ~/.keys

    Without --config the robot is simulated whole. With it every command goes through
    the drivers of that rig; --virtual puts shipped devices, which speak the same bytes,
    in the place of real ones.
    """
    from app.config.link import load_link
    from app.config.robot import check_drivable, load_robot
    from app.config.scene import load_scene
    from app.config.scene_posture import robot_in_scene
    from app.robot.service import run_robot
    from app.station.children import make_mismatch, parse_mismatch
    from app.station.stop import StopFlag
    from app.station.teller import Teller

    if (bind is None) == (connect is None):
        raise ConfigError(
            "limblink robot needs exactly one of --bind ADDRESS (wait for a station) "
            "and --connect ADDRESS (call an emulator)."
        )
    if virtual and config is None:
        raise ConfigError("--virtual belongs to a rig: give --config RIG too.")
    around = load_scene(scene or "open-water")
    stop = StopFlag()
    stop.install()
    differs = make_mismatch(parse_mismatch(mismatch or []))

    def run(parameters: "RobotParameters", body: "Body | None") -> None:
        check_drivable(parameters)
        run_robot(
            robot=robot_in_scene(parameters, around),
            link=load_link(link),
            address=bind or connect or "",
            role="bind" if bind else "connect",
            mismatch=differs,
            seed=seed,
            keys=keys,
            stop=stop,
            say=Teller(_say),
            body=body,
            scene=around,
        )

    if config is None:
        run(load_robot(robot_name), None)
        return
    from app.robot.rig_session import open_rig

    with open_rig(config, virtual=virtual, mismatch=differs, seed=seed) as session:
        run(session.robot, session.rig)


def _say(event: "Event") -> None:
    """Tell a person at the robot's own terminal."""
    from app.messages import Severity

    color = {Severity.WARNING: "yellow", Severity.ALARM: "bold red"}
    style = color.get(event.severity, "default")
    err.print(f"[{style}]{event.source}: {escape(event.text)}[/]", highlight=False)
