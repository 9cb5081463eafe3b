"""Looking around: what is shipped, and what this machine can do."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from app.cli.options import application, out
from app.errors import ConfigError

__all__ = ["doctor", "links", "robots", "scenes", "strategies"]


@application.command()
def robots(
    check: Annotated[
        Path | None, typer.Option(help="Validate a robot's TOML of your own.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--out", help="With --check: PNG to draw it into, as it stands."),
    ] = None,
) -> None:
    """List the robots that are shipped, or check a file of your own and draw it.

    [bold]Example[/]

      limblink robots --check my-robot.toml --out my-robot.png
    """
    from app.config.robot import load_robot, robot_names, why_not_drivable

    if picture is not None and check is None:
        raise ConfigError("--out draws the file named with --check FILE: add that.")
    if check is not None and picture is not None:
        from app.scene.portrait import check_robot

        check_robot(str(check), picture)
    names = [str(check)] if check else robot_names()
    table = Table(title="Robots")
    for head in ("name", "title", "limbs", "segments [mm]", "can be driven", "source"):
        table.add_column(head)
    for name in names:
        parameters = load_robot(name)
        segments = "; ".join(
            f"{limb.name} {'+'.join(f'{x:g}' for x in limb.segment_length_mm)}"
            for limb in parameters.limbs
        )
        table.add_row(
            parameters.name,
            parameters.title,
            str(len(parameters.limbs)),
            segments,
            f"not yet: {reason}" if (reason := why_not_drivable(parameters)) else "yes",
            parameters.source,
        )
    out.print(table)
    if picture is not None:
        out.print(f"Wrote {picture}", highlight=False)


@application.command()
def links(
    plan: Annotated[
        bool,
        typer.Option(help="Show what would be sent on each link, robot by robot."),
    ] = False,
    robot: Annotated[
        list[str] | None,
        typer.Option(help="With --plan: shipped name or path; may be repeated."),
    ] = None,
) -> None:
    """List the link presets that are shipped, with their figures.

    [bold]Example[/]

      limblink links --plan --robot ursula
    """
    from app.config.link import link_names, load_link

    if robot is not None and not plan:
        raise ConfigError("--robot names whose plan to show: add --plan.")
    if plan:
        _show_plans(robot)
        return
    table = Table(title="Links")
    for head in (
        "name",
        "bit/s down",
        "bit/s up",
        "one-way [ms]",
        "jitter [ms]",
        "loss",
        "MTU [B]",
        "duplex",
        "title",
    ):
        table.add_column(head)
    for name in link_names():
        link = load_link(name)
        table.add_row(
            link.name,
            f"{link.down_bps:g}",
            f"{link.up_bps:g}",
            f"{link.delay_ms:g}",
            f"{link.jitter.deviation_ms:g}",
            f"{100.0 * link.expected_loss():.2g} %",
            str(link.medium.mtu_bytes),
            link.medium.duplex,
            link.title,
        )
    out.print(table)


def _show_plans(robots: list[str] | None) -> None:
    """Print what is sent on each link by preset and robot."""
    from app.config.link import link_names, load_link
    from app.config.robot import (
        build_robot_model,
        load_robot,
        robot_names,
        why_not_drivable,
    )
    from app.link.frame import Codec
    from app.link.planner import plan_link

    for name in robots or robot_names():
        parameters = load_robot(name.lower() if name.isupper() else name)
        if reason := why_not_drivable(parameters):
            if robots:
                raise ConfigError(f"{name} cannot be driven yet: {reason}.")
            continue
        codec = Codec(build_robot_model(parameters), 0, 1500)
        table = Table(title=f"{parameters.name}: what is sent")
        for head in ("link", "bits", "bytes", "1/s", "limb 1/s", "mm", "deg"):
            table.add_column(head, justify="left" if head == "link" else "right")
        for head in ("up: bytes", "1/s", "mm"):
            table.add_column(head, justify="right", style="dim")
        for link in link_names():
            told = plan_link(codec, load_link(link))
            table.add_row(
                link,
                f"{told.payload_bits}",
                str(told.frame_bytes),
                f"{told.packets_per_s:.3g}",
                f"{told.limb_hz:.3g}",
                f"{1e3 * told.error:.2g}",
                f"{math.degrees(told.angle):.2g}",
                str(told.telemetry_bytes),
                f"{told.telemetry_per_s:.3g}",
                f"{1e3 * told.telemetry_error:.2g}",
            )
        out.print(table)
    out.print(
        "bits: of a full setpoint, without header and check; limb 1/s: how often a "
        "limb that moves alone is told whole; mm, deg: greatest error at the tip; up: "
        "telemetry. Packets of 8 bytes carry one limb."
    )


@application.command()
def doctor() -> None:
    """Check this machine: graphics, real-time rights, controllers, serial ports."""
    from app.station.doctor import run_doctor

    raise typer.Exit(run_doctor(out))


@application.command()
def strategies(
    link: Annotated[
        list[str] | None,
        typer.Option(help="Link to judge them on; may be repeated; else all presets."),
    ] = None,
) -> None:
    """List how hand and tip can be joined, and judge each on a link.

    [bold]Example[/]

      limblink strategies --link acoustic-hs --link tether
    """
    from app.config.link import link_names, load_link
    from app.config.robot import build_robot_model, load_robot
    from app.config.teleop import TeleopParameters
    from app.link.frame import Codec
    from app.link.pacing import budget_for
    from app.link.planner import plan_for
    from app.teleop.feasibility import feasibility_table, judge_all
    from app.teleop.traffic import figures_of

    model = build_robot_model(load_robot("ursula"))
    for name in link or link_names():
        parameters = load_link(name)
        codec = Codec(model, 1, parameters.medium.mtu_bytes)
        plan = plan_for(
            codec, budget_for(parameters, up=False), budget_for(parameters, up=True)
        )
        judged = judge_all(
            figures_of(parameters),
            TeleopParameters(),
            (plan.frame_bytes, plan.telemetry_bytes),
        )
        head, rows = feasibility_table(judged)
        table = Table(title=f"Strategies on {name}: {parameters.title}")
        for word in head[:-1]:
            table.add_column(word)
        for row in rows:
            table.add_row(*row[:-1])
        out.print(table)
        for row in rows:
            out.print(f"{row[0]}: {row[-1]}", highlight=False)


@application.command()
def scenes(
    check: Annotated[
        str | None,
        typer.Option(help="Scene, or its TOML, to check the reach in; needs --robot."),
    ] = None,
    robot: Annotated[
        str | None, typer.Option(help="With --check: shipped name or path.")
    ] = None,
) -> None:
    """List what can stand around a simulated robot, or check that a limb reaches it.

    [bold]Example[/]

      limblink scenes --check my-scene.toml --robot ursula
    """
    from app.config.robot import build_robot_model, load_robot
    from app.config.scene import load_scene, scene_names
    from app.config.scene_reach import check_reach

    if (check is None) != (robot is None):
        raise ConfigError("--check SCENE and --robot NAME go together: give both.")
    if check is not None and robot is not None:
        parameters = load_robot(robot)
        check_reach(load_scene(check), parameters, build_robot_model(parameters))
        out.print(f"{check}: within reach of {robot}.", highlight=False)
        return
    table = Table(title="Scenes")
    for head in ("name", "what", "obstacles", "objects", "robots"):
        table.add_column(head)
    for name in scene_names():
        scene = load_scene(name)
        table.add_row(
            scene.name,
            scene.title,
            ", ".join(item.name for item in scene.obstacles),
            ", ".join(item.name for item in scene.objects),
            ", ".join(f"{item.name}/{item.limb}" for item in scene.robots) or "any",
        )
    out.print(table)
