"""Before a drive: what a limb reaches, and what its chambers do under pressure."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Seed, application, out

__all__ = ["calibrate", "reach", "workspace"]


@application.command()
def calibrate(
    samples: Annotated[
        Path,
        typer.Argument(help="CSV with pressure_kpa and length_mm, in time order."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--out", help="TOML to write; by default beside the samples."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="PNG to draw the samples and the fit into.")
    ] = None,
) -> None:
    """Fit a chamber's pressure-length curve, hysteresis included, from measurements.

    [bold]Example[/]

      limblink calibrate chamber3.csv --plot chamber3.png

    Fill and empty the chamber slowly, over all of its range and with a few turns on the
    way, and keep a row each time the length has settled.
    """
    from app.drivers.calibration import calibrate as fit

    target = output or samples.with_suffix(".toml")
    result = fit(samples, target, plot)
    out.print(
        f"{result.samples} samples fitted: error {result.error_rms_mm:.3g} mm rms, "
        f"{result.error_greatest_mm:.3g} mm at most. Wrote {target}"
        + (f" and {plot}." if plot else "."),
        highlight=False,
    )


@application.command()
def workspace(
    robot: Annotated[str, typer.Argument(help="A shipped name or a TOML file.")],
    limb: Annotated[str, typer.Argument(help="Name of one of its limbs or legs.")],
    output: Annotated[
        Path, typer.Option("--out", help="Picture to write: PNG, PDF or SVG.")
    ],
    samples: Annotated[
        int, typer.Option(min=1000, max=2_000_000, help="How many postures to try.")
    ] = 200_000,
    seed: Seed = 0,
) -> None:
    """Sample where a limb's tip, or a leg's foot, can get, and draw it.

    [bold]Examples[/]

      limblink workspace rov-arm arm --out arm.png

      limblink workspace silver2 port-front --out leg.svg
    """
    from app.study.workspace_picture import report_workspace

    for line in report_workspace(robot, limb, output, samples, seed):
        out.print(line, highlight=False)
    out.print(f"Wrote {output}", highlight=False)


@application.command()
def reach(
    robot: Annotated[str, typer.Argument(help="A shipped name or a TOML file.")],
    limb: Annotated[str, typer.Argument(help="Name of one of its limbs or legs.")],
    goal: Annotated[
        tuple[float, float, float],
        typer.Option("--tip", help="Wanted tip x y z in the hull frame [mm]."),
    ],
    direction: Annotated[
        tuple[float, float, float] | None,
        typer.Option("--toward", help="Where the tip is to point, x y z, hull frame."),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="TOML of `limblink calibrate`: print pressures as well."),
    ] = None,
) -> None:
    """Turn a wanted tip into bends, tendon or chamber lengths, or joint angles.

    [bold]Examples[/]

      limblink reach ursula grasper --tip 560 -100 -150 --toward 1 0 -0.2

      limblink reach silver2 port-front --tip 300 400 -200

    Ends with status 1 where the tip cannot get there; the nearest point is shown.
    """
    import numpy as np

    from app.config.robot import load_robot
    from app.drivers.calibration import load_calibration
    from app.study.reach import describe_pressures, describe_reach, reach_goal

    parameters = load_robot(robot)
    toward = None if direction is None else np.asarray(direction)
    reached = reach_goal(parameters, limb, np.asarray(goal) * 1e-3, toward)
    lines = describe_reach(parameters, limb, reached)
    if calibration is not None:
        lines += describe_pressures(reached, load_calibration(calibration))
    for line in lines:
        out.print(line, highlight=False)
    if reached.reasons:
        raise typer.Exit(1)
