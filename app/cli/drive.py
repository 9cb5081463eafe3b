"""Driving: the console, and `drive` with or without it."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from app.cli.options import (
    DEFAULT_LINK,
    DEFAULT_ROBOT,
    DEFAULT_STRATEGY,
    Aim,
    Blend,
    Goals,
    Haptic,
    Keys,
    Link,
    Log,
    Mismatch,
    Rig,
    Robot,
    Scene,
    Seed,
    Strategy,
    Task,
    Virtual,
    application,
    err,
    out,
    three_numbers,
)
from app.errors import ConfigError

if TYPE_CHECKING:
    from app.config.teleop import BlendParameters
    from app.station.session import Session

__all__ = ["blend_of", "check_display", "console", "drive"]


@application.callback(invoke_without_command=True)
def console(
    context: typer.Context,
    robot: Robot = DEFAULT_ROBOT,
    link: Link = DEFAULT_LINK,
    operator: Annotated[
        str,
        typer.Option(
            help="gamepad, or a scripted operator (see `limblink tasks`); or none."
        ),
    ] = "gamepad",
    seed: Seed = 0,
    log: Log = None,
    video: Annotated[
        bool,
        typer.Option(
            "--video", help="Keep pictures of the window beside the recording, 2 a s."
        ),
    ] = False,
    attach: Annotated[
        str | None,
        typer.Option(help="Open a window on a running session instead of a new one."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="With --attach: look, do not control.")
    ] = False,
    robot_address: Annotated[
        str | None,
        typer.Option(help="Drive the robot process at this address, e.g. tcp://h:5601"),
    ] = None,
    keys: Keys = None,
    rig: Rig = None,
    virtual: Virtual = False,
    scene: Scene = None,
    task: Task = None,
    strategy: Strategy = DEFAULT_STRATEGY,
    haptic: Haptic = None,
    goals: Goals = None,
    blend: Blend = 0.0,
    aim: Aim = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.")
    ] = False,
) -> None:
    """Open the console and drive (the default, when no command is given).

    [bold]Examples[/]

      limblink                                   URSULA over an optical link, simulated

      limblink --link acoustic-hs                the same over a slow acoustic modem

      limblink --operator circle                 watch a scripted operator

      limblink --scene wall                      something to press against

      limblink --rig ursula-dynamixel --virtual  its 24 winches, every byte of them

      limblink --robot-address tcp://192.168.2.2:5601 --keys ~/.limblink-keys
    """
    if context.invoked_subcommand is not None:
        return
    if version:
        from importlib.metadata import version as version_of

        out.print(f"limblink {version_of('limblink')}", highlight=False)
        return
    from app.station.session import default_log_path, find_session

    if attach is not None:
        session = find_session(attach)
        _open_console(session, None, watch=watch)
        return
    robot = _robot_of(rig, robot, virtual=virtual)
    if rig is not None and robot_address is not None:
        raise ConfigError(
            "--rig drives devices at this computer, --robot-address a robot elsewhere: "
            "give one of the two."
        )
    _start_console(
        robot,
        link,
        operator,
        seed,
        log or default_log_path(robot, link),
        {
            "robot_address": robot_address,
            "keys": keys,
            "rig": rig,
            "virtual": virtual,
            "scene": scene,
            "task": task,
            "strategy": strategy,
            "haptic": haptic,
            "goals": goals,
            "blend": blend_of(robot, blend, aim),
            "video": video,
        },
    )


def _robot_of(rig: str | None, robot: str, *, virtual: bool) -> str:
    """The robot that a rig is of; the one asked for where there is no rig.

    Raises:
        ConfigError: no such rig, another robot, or --virtual without a rig.
    """
    if rig is None:
        if virtual:
            raise ConfigError("--virtual belongs to a rig: give --rig NAME too.")
        return robot
    from app.robot.rig_file import rig_robot

    own = rig_robot(rig)
    if robot not in {DEFAULT_ROBOT, own}:
        raise ConfigError(f"Rig {rig} is of {own}, not of {robot}: leave --robot out.")
    return own


def blend_of(robot: str, share: float, aim: str | None) -> "BlendParameters":
    """Blended assistance as the options say it.

    Raises:
        ConfigError: the aim is no place of a limb of this robot.
    """
    from app.config.robot import load_robot
    from app.config.teleop import BlendParameters

    if aim is None:
        return BlendParameters(share=share)
    limbs = [limb.name for limb in load_robot(robot).limbs]
    name, _, place = aim.partition(":")
    if name not in limbs:
        raise ConfigError(
            f"--aim {aim}: {robot} has no limb {name!r}. Write LIMB:x,y,z in mm; "
            f"limbs are {', '.join(limbs)}."
        )
    place_mm = three_numbers("--aim", place)
    return BlendParameters(share=share, limb=limbs.index(name), aim_mm=place_mm)


def _touches(settings: dict[str, Any]) -> bool:
    """Whether there may be something to touch."""
    return settings["scene"] is not None or settings["task"] is not None


def _start_console(
    robot: str,
    link: str,
    operator: str,
    seed: int,
    log: Path,
    settings: dict[str, Any],
) -> None:
    """Start the processes of a new session, show the console, end them all."""
    from app.station.children import preload
    from app.station.processes import Supervisor
    from app.station.session import create_session
    from app.station.warmup import warm_up

    _check_choices(robot, link, operator, settings)
    check_display()
    warm_up(err, contact=_touches(settings))
    session = create_session(
        robot,
        link,
        operator=operator,
        seed=seed,
        log=log.absolute(),
        **settings,
    )
    supervisor = Supervisor(session)
    try:
        preload()
        supervisor.start(fork=True)
        _open_console(session, supervisor, watch=False)
    finally:
        supervisor.stop()
        session.close()


def check_display() -> None:
    """Refuse to open a window where there is no display.

    Raises:
        DeviceError: there is none.
    """
    import os

    from app.errors import DeviceError

    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY")
        or os.environ.get("WAYLAND_DISPLAY")
        or os.environ.get("QT_QPA_PLATFORM")
    ):
        raise DeviceError(
            "No display: neither DISPLAY nor WAYLAND_DISPLAY is set. Start from a "
            "desktop, use `ssh -X`, or drive without a window: "
            "`limblink drive --headless`."
        )


def _check_choices(
    robot: str, link: str, operator: str, settings: dict[str, Any]
) -> None:
    """Refuse what cannot be, before a process is started."""
    from app.config.link import load_link
    from app.config.robot import build_robot_model, check_drivable, load_robot
    from app.config.scene import load_scene
    from app.config.scene_reach import check_reach
    from app.config.task import load_task
    from app.config.task_place import place_task
    from app.operator.haptic.seat import haptic_parameters
    from app.station.session import check_operator
    from app.teleop.goal_plan import plan_for
    from app.teleop.strategy import strategy_named

    strategy_named(settings["strategy"])
    parameters = load_robot(robot)
    plan_for(settings["goals"], parameters)
    check_drivable(parameters)
    load_link(link)
    check_operator(operator)
    if settings["haptic"] is not None:
        haptic_parameters(settings["haptic"])
    scene, task = settings["scene"], settings["task"]
    if task is not None:
        placed = place_task(load_task(task), parameters)
        scene = scene or placed.parameters.scene
    if scene is not None:
        check_reach(load_scene(scene), parameters, build_robot_model(parameters))


def _open_console(session: "Session", supervisor: Any, *, watch: bool) -> None:
    from app.console import run_console

    status = run_console(session, supervisor, watch=watch)
    if status:
        raise typer.Exit(status)


@application.command()
def drive(
    headless: Annotated[
        bool, typer.Option("--headless", help="No window; ends after --seconds.")
    ] = False,
    robot: Robot = DEFAULT_ROBOT,
    link: Link = DEFAULT_LINK,
    operator: Annotated[
        str,
        typer.Option(
            help="A scripted operator (see `limblink tasks`), gamepad or "
            "virtual-gamepad."
        ),
    ] = "circle",
    seconds: Annotated[
        float, typer.Option(min=0.5, help="Length of the drive.")
    ] = 30.0,
    seed: Seed = 0,
    log: Log = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON summary on the last line.")
    ] = False,
    clock: Annotated[
        str,
        typer.Option(
            help="monotonic: the real processes. virtual: one process, simulated "
            "time, the same bytes for the same seed."
        ),
    ] = "monotonic",
    name: Annotated[
        str | None, typer.Option(help="Name of the session, for --attach.")
    ] = None,
    mismatch: Mismatch = None,
    rig: Rig = None,
    virtual: Virtual = False,
    scene: Scene = None,
    task: Task = None,
    strategy: Strategy = DEFAULT_STRATEGY,
    haptic: Haptic = None,
    goals: Goals = None,
    blend: Blend = 0.0,
    aim: Aim = None,
) -> None:
    """Drive for a while with a scripted operator or a gamepad, and sum it up.

    [bold]Examples[/]

      limblink drive --headless --link acoustic-hs --operator circle --seconds 30 --json

      limblink drive --headless --clock virtual --seed 7 --log run.mcap

      limblink drive --headless --clock virtual --operator presser --task press

      limblink drive --headless --rig silver2-modbus --virtual --link acoustic-hs

      limblink drive --headless --operator supervisor --goals visit
    """
    from app.station.children import make_mismatch, parse_mismatch
    from app.station.drive import drive_headless
    from app.station.session import default_log_path
    from app.teleop.strategy import strategy_named

    if clock not in ("monotonic", "virtual"):
        raise ConfigError(
            f"--clock {clock}: there is no such clock. Use monotonic or virtual."
        )
    robot = _robot_of(rig, robot, virtual=virtual)
    if rig is not None and clock == "virtual":
        raise ConfigError("A rig's devices keep real time: leave --clock virtual out.")
    path = log or default_log_path(robot, link)
    factors = parse_mismatch(mismatch or [])
    make_mismatch(factors)
    settings: dict[str, Any] = {
        "mismatch": factors,
        "rig": rig,
        "virtual": virtual,
        "scene": scene,
        "task": task,
        "strategy": strategy,
        "haptic": haptic,
        "goals": goals,
        "blend": blend_of(robot, blend, aim),
    }
    _check_choices(robot, link, operator, settings)
    if not headless:
        if clock == "virtual":
            raise ConfigError("--clock virtual has no window: add --headless.")
        _start_console(robot, link, operator, seed, path, settings)
        return
    from app.station.warmup import warm_up

    warm_up(err, contact=_touches(settings))
    if clock == "virtual":
        from app.config.robot import load_robot
        from app.config.teleop import TeleopParameters
        from app.study.trial_run import run_trial
        from app.study.trial_setup import TrialSetup
        from app.teleop.goal_plan import plan_for

        setup = TrialSetup(
            robot,
            link,
            operator,
            scene,
            task,
            teleop=TeleopParameters(
                strategy=strategy_named(strategy).short, blend=settings["blend"]
            ),
            mismatch=make_mismatch(factors),
            goals=plan_for(goals, load_robot(robot)),
            seed=seed,
        )
        summary = run_trial(setup, seconds, path)
    else:
        summary = drive_headless(
            err,
            robot=robot,
            link=link,
            operator=operator,
            seconds=seconds,
            seed=seed,
            log=path,
            name=name,
            **settings,
        )
    if as_json:
        print(json.dumps(summary), file=sys.stdout, flush=True)  # noqa: T201
    else:
        _print_summary(summary)


def _print_summary(summary: dict[str, Any]) -> None:
    table = Table(title="Drive", show_header=False)
    for key, value in summary.items():
        if key != "events":
            table.add_row(key, json.dumps(value))
    out.print(table)
    for event in summary.get("events", []):
        out.print(
            f"{event['time_s']:8.2f} s  {event['severity']:8} {event['source']}: "
            f"{event['text']}",
            highlight=False,
        )
