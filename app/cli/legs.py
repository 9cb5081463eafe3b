"""Robots on legs: how they walk, and how they stand."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import application, out

__all__ = ["stand", "walk"]

_LegRobot = Annotated[str, typer.Argument(help="A shipped name or a TOML file.")]


@application.command()
def walk(
    robot: _LegRobot = "silver2",
    gait: Annotated[str, typer.Option(help="tripod, ripple or wave.")] = "tripod",
    stride_mm: Annotated[
        float, typer.Option("--stride", help="Way while a foot stands [mm].")
    ] = 60.0,
    elevation_mm: Annotated[
        float, typer.Option("--elevation", help="Height of a foot's arc [mm].")
    ] = 40.0,
    period: Annotated[float, typer.Option(help="Time of a cycle [s].")] = 2.0,
    direction_deg: Annotated[
        float, typer.Option("--direction", help="From the bow to port [degrees].")
    ] = 0.0,
    turn_deg: Annotated[
        float, typer.Option("--turn", help="Turn while a foot stands [degrees].")
    ] = 0.0,
    picture: Annotated[
        Path | None, typer.Option("--out", help="Picture: PNG, PDF or SVG.")
    ] = None,
) -> None:
    """Check a gait over one cycle: reach, stability, angles and speeds of the joints.

    [bold]Examples[/]

      limblink walk silver2 --gait ripple --stride 80 --out gait.png

      limblink walk silver2 --stride 0 --turn 15

    Ends with status 1 where a foot is out of reach or the robot would fall.
    """
    import math

    from app.config.robot import load_robot
    from app.study.walk import describe_walk, draw_walk, plan_walk

    found = plan_walk(
        load_robot(robot),
        gait,
        period=period,
        elevation=1e-3 * elevation_mm,
        stride=1e-3 * stride_mm,
        direction=math.radians(direction_deg),
        turn=math.radians(turn_deg),
    )
    for line in describe_walk(found):
        out.print(line, highlight=False)
    if picture is not None:
        draw_walk(found, picture)
        out.print(f"Wrote {picture}", highlight=False)
    if not found.report.reached or found.report.least_margin < 0.0:
        raise typer.Exit(1)


@application.command()
def stand(
    robot: _LegRobot = "silver2",
    shift_mm: Annotated[
        tuple[float, float, float],
        typer.Option("--shift", help="Of the body: bow, port, up [mm]."),
    ] = (0.0, 0.0, 0.0),
    tilt_deg: Annotated[
        tuple[float, float, float],
        typer.Option("--tilt", help="Of the body: roll, pitch, yaw [degrees]."),
    ] = (0.0, 0.0, 0.0),
) -> None:
    """Raise, lower, shift or tilt the body over fixed feet: the joint angles for it.

    [bold]Example[/]

      limblink stand silver2 --shift 0 0 100 --tilt 0 5 0

    Ends with status 1 where a leg's end or the support stops the body on the way.
    """
    import numpy as np

    from app.config.robot import load_robot
    from app.study.walk import stand as move_body

    motion = np.concatenate([1e-3 * np.asarray(shift_mm), np.radians(tilt_deg)])
    lines, done = move_body(load_robot(robot), motion)
    for line in lines:
        out.print(line, highlight=False)
    if not done:
        raise typer.Exit(1)
