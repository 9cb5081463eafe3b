"""Before a drive: what a limb reaches, and what its chambers do under pressure."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import Seed, application, out
from app.errors import ConfigError

if TYPE_CHECKING:
    from app.config.robot import RobotParameters
    from app.study.reach import Reached

__all__ = ["calibrate", "pose", "reach", "workspace"]


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
    emet: Annotated[
        bool, typer.Option("--emet", help="Print the bends as Emet 2023 counts too.")
    ] = False,
    jacobian: Annotated[
        Path | None, typer.Option(help="CSV to write the tip's Jacobian into.")
    ] = None,
    avoid: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep clear of sphere:x,y,z,radius, cylinder:x,y,z,radius,height, "
            "box:x,y,z,length,width,height or plane:z [mm]; may be repeated."
        ),
    ] = None,
    with_body: Annotated[
        bool,
        typer.Option("--with-body", help="On legs: move the body over its feet too."),
    ] = False,
) -> None:
    """Turn a wanted tip into bends, tendon or chamber lengths, or joint angles.

    [bold]Examples[/]

      limblink reach ursula grasper --tip 560 -100 -150 --toward 1 0 -0.2

      limblink reach silver2 port-front --tip 300 400 -200

      limblink reach ursula grasper --tip 560 -100 -150 --avoid sphere:300,-90,-40,30

      limblink reach silver2 arm --tip 380 0 -190 --with-body

    Ends with status 1 where the tip cannot get there; the nearest point is shown.
    """
    import numpy as np

    from app.config.robot import load_robot
    from app.study.body import reach_over_feet
    from app.study.reach import reach_goal, read_obstacle

    parameters, tip = load_robot(robot), np.asarray(goal) * 1e-3
    if with_body:
        if direction is not None or calibration or emet or jacobian or avoid:
            raise ConfigError("--with-body goes with --tip alone: leave others out.")
        lines, done = reach_over_feet(parameters, limb, tip)
    else:
        toward = None if direction is None else np.asarray(direction)
        obstacles = [read_obstacle(text) for text in avoid or []]
        reached = reach_goal(parameters, limb, tip, toward, obstacles)
        lines = _reach_lines(parameters, limb, reached, calibration, emet=emet)
        done = not reached.reasons
        if jacobian is not None:
            from app.study.jacobian import write_jacobian

            write_jacobian(parameters, limb, reached, jacobian)
            lines.append(f"Wrote {jacobian}")
    for line in lines:
        out.print(line, highlight=False)
    if not done:
        raise typer.Exit(1)


@application.command()
def pose(
    robot: Annotated[str, typer.Argument(help="A shipped name or a TOML file.")],
    limb: Annotated[str, typer.Argument(help="Name of one of its limbs or legs.")],
    values: Annotated[
        list[float],
        typer.Argument(help="Tendon or chamber lengths [mm], or joint angles [deg]."),
    ],
    shape: Annotated[
        Path | None, typer.Option(help="CSV to write points along the limb into.")
    ] = None,
    emet: Annotated[
        bool, typer.Option("--emet", help="Print the bends as Emet 2023 counts too.")
    ] = False,
) -> None:
    """Find where a limb or leg is from its lengths or angles: `reach` backwards.

    [bold]Examples[/]

      limblink pose silver2 port-front -- -35.7 28.0 128.6

      limblink pose rov-arm arm 116 115 100 116 115 100 90 --shape arm.csv

    Ends with status 1 where no posture has these lengths together.
    """
    import numpy as np

    from app.config.robot import load_robot
    from app.study.pose import limb_pose, write_shape
    from app.study.reach import describe_in_emets_convention, describe_reach

    parameters = load_robot(robot)
    is_leg = any(leg.name == limb for leg in parameters.legs)
    scaled = np.radians(values) if is_leg else 1e-3 * np.asarray(values)
    found = limb_pose(parameters, limb, scaled)
    lines = describe_reach(parameters, limb, found._replace(reasons=()))
    if emet and not is_leg:
        soft = next(part for part in parameters.limbs if part.name == limb)
        lines += describe_in_emets_convention(soft, found)
    if shape is not None:
        write_shape(parameters, limb, found, shape)
        lines.append(f"Wrote {shape}")
    lines += [f"NOT AS GIVEN: {reason}" for reason in found.reasons]
    for line in lines:
        out.print(line, highlight=False)
    if found.reasons:
        raise typer.Exit(1)


def _reach_lines(
    robot: "RobotParameters",
    limb: str,
    reached: "Reached",
    calibration: Path | None,
    *,
    emet: bool,
) -> list[str]:
    from app.drivers.calibration import load_calibration
    from app.study.reach import (
        describe_in_emets_convention,
        describe_pressures,
        describe_reach,
    )

    lines = describe_reach(robot, limb, reached)
    soft = next((part for part in robot.limbs if part.name == limb), None)
    if soft is None:
        if emet or calibration is not None:
            raise ConfigError("A leg has no bends and no chambers: leave these out.")
        return lines
    if emet:
        lines += describe_in_emets_convention(soft, reached)
    if calibration is not None:
        lines += describe_pressures(soft, reached, load_calibration(calibration))
    return lines
