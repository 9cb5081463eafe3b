"""What operators can be set to do, and who can do it."""

import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from app.cli.options import application, out
from app.errors import ConfigError

if TYPE_CHECKING:
    from app.config.task import TaskParameters

__all__ = ["tasks"]


@application.command()
def tasks(
    check: Annotated[
        str | None,
        typer.Option(
            help="A robot, by shipped name or TOML file: whether it reaches every "
            "place of the tasks that have a preset for it."
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="A shipped task or a TOML file; may be repeated."),
    ] = None,
) -> None:
    """List the tasks and the simulated operators, or check a robot's reach.

    [bold]Examples[/]

      limblink tasks

      limblink tasks --check rov-arm --task circle

    With --check, ends with status 1 where a place is out of reach.
    """
    from app.config.task import load_task, task_names
    from app.config.task_place import task_robots

    loaded = [load_task(name) for name in task or task_names()]
    if check is not None:
        if not _show_reach(check, loaded):
            raise typer.Exit(1)
        return
    table = Table(title="Tasks")
    for head in ("name", "what", "variants", "robots", "operator", "success"):
        table.add_column(head)
    for item in loaded:
        table.add_row(
            item.name,
            item.title,
            " ".join(item.variants),
            " ".join(f"{robot}/{limb}" for robot, limb in task_robots(item)),
            item.operator,
            item.success,
        )
    out.print(table)
    if task is None:
        _show_operators()


def _show_operators() -> None:
    from app.operator.repertoire import PERFORMERS

    table = Table(title="Simulated operators (limblink drive --operator NAME)")
    for head in ("name", "what it does"):
        table.add_column(head)
    table.add_row("circle, line", "leads the tip along a path, seeing nothing")
    table.add_row("supervisor", "arms and looks on, while goals are reached (--goals)")
    for name, words in PERFORMERS.items():
        table.add_row(name, words)
    table.add_row("replay:FILE", "a recorded hand over again: does not react")
    out.print(table)


def _show_reach(robot: str, tasks: "list[TaskParameters]") -> bool:
    """Print how near the robot gets to each place; whether it gets to all."""
    from app.config.robot import load_robot
    from app.config.task_place import task_robots
    from app.study.task_reach import check_variants

    parameters = load_robot(robot)
    able = [
        item
        for item in tasks
        if any(name == parameters.name for name, _ in task_robots(item))
    ]
    if not able:
        raise ConfigError(
            f"None of these tasks has a preset for the robot {parameters.name!r}: add "
            "a [[presets]] to a copy of a task's file."
        )
    table = Table(title=f"{parameters.name}: reach")
    for head in ("task", "variant", "places", "reached"):
        table.add_column(head)
    for head in ("worst miss [mm]", "limb clear by [mm]"):
        table.add_column(head, justify="right")
    reached = True
    for item in able:
        for found in check_variants(item, parameters):
            reached = reached and found.reached
            clear = f"{1e3 * found.clearance:.0f}"
            table.add_row(
                item.name,
                found.variant,
                str(len(found.misses)),
                "yes" if found.reached else "NO",
                f"{1e3 * float(found.misses.max()):.2f}",
                clear if math.isfinite(found.clearance) else "-",
            )
    out.print(table)
    return reached
