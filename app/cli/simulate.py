"""Simulating a robot with the full model, under a case."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import application, err, out
from app.cli.writable import check_writable
from app.errors import ConfigError

__all__ = ["simulate"]


@application.command()
def simulate(
    robot: Annotated[
        str | None,
        typer.Argument(help="A shipped name or a TOML file; else the case's own."),
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(help="What happens: a shipped case (see --list) or a TOML file."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.001, max=3600.0, help="How long; else as the case says."),
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--out", help="Recording to write (.mcap).")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Figure to draw: PNG, PDF or SVG.")
    ] = None,
    strip: Annotated[
        Path | None, typer.Option(help="Strip of pictures to draw: PNG, PDF or SVG.")
    ] = None,
    linear: Annotated[
        Path | None,
        typer.Option(help="Linearised step at the end to write: NumPy archive (.npz)."),
    ] = None,
    frames: Annotated[
        int | None, typer.Option(min=2, max=24, help="Pictures in the strip.")
    ] = None,
    step_us: Annotated[
        float | None,
        typer.Option("--step-us", min=1.0, max=20_000.0, help="Time step [µs]."),
    ] = None,
    reference: Annotated[
        bool,
        typer.Option("--reference", help="Error-controlled integration: slow, exact."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON instead of words.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing but errors.")
    ] = False,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the shipped cases, and end.")
    ] = False,
) -> None:
    """Simulate a robot in water with the full model: soft limbs, hull, mantle, contact.

    [bold]Examples[/]

      limblink simulate --list

      limblink simulate ursula --plot ursula.png

      limblink simulate --case quadropus-m5 --strip swim.png --out swim.mcap

      limblink simulate quadropus --case my-case.toml --step-us 250 --json

      limblink simulate ursula --seconds 2 --linear step.npz

    The last one writes A and B of the step that would follow, with names of
    coordinates, period and state; assets/README.md says what is in it.

    Without --case the robot is let go from its rest posture in still water. A run
    whose state is lost ends with status 2; what was recorded until then is kept.
    """
    if show_list:
        _list_cases()
        return
    if reference and step_us is not None:
        raise ConfigError("--reference chooses its own steps: leave --step-us out.")
    import json

    from app.study.simulate import (
        check_fault,
        describe,
        prepare,
        summary,
    )
    from app.study.simulate import simulate as run

    parameters, chosen = prepare(robot, case)
    if linear is not None and linear.suffix != ".npz":
        raise ConfigError(f"--linear {linear}: give the file the ending .npz.")
    check_writable(record, plot, strip, linear)
    simulation = run(
        parameters,
        chosen,
        seconds=seconds,
        step_us=step_us,
        reference=reference,
        linear=linear is not None,
        record=record,
        console=None if quiet else err,
    )
    if plot is not None:
        from app.study.simulation_plot import draw_plot

        draw_plot(simulation, plot)
    if linear is not None and simulation.linear is not None:
        from app.study.simulation_linear import write_linear

        write_linear(simulation.linear, linear)
    if strip is not None:
        from app.study.simulation_strip import draw_strip

        draw_strip(simulation, strip, frames)
    figures = summary(simulation)
    if as_json:
        typer.echo(json.dumps(figures))
    elif not quiet:
        for line in describe(figures):
            out.print(line, highlight=False)
        reached = linear if simulation.linear is not None else None
        for path in (record, plot, strip, reached):
            if path is not None:
                out.print(f"Wrote {path}", highlight=False)
    check_fault(simulation, record)


def _list_cases() -> None:
    """Print name, robot and title of every shipped case."""
    from rich.table import Table

    from app.study.simulate import describe_cases

    table = Table(title="Cases")
    for head in ("name", "robot", "title"):
        table.add_column(head)
    for row in describe_cases():
        table.add_row(*row)
    out.print(table)
