"""Critical delays of strategies."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from app.cli.options import application, err, out
from app.cli.writable import check_writable
from app.errors import ConfigError

if TYPE_CHECKING:
    from app.config.teleop import TeleopParameters
    from app.study.trcrit import CriticalDelay

__all__ = ["trcrit"]


@application.command()
def trcrit(
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="See `limblink strategies`; may be repeated. All that show a force, "
            "where none is named."
        ),
    ] = None,
    wall: Annotated[
        list[str] | None,
        typer.Option(
            help="free, soft (150 N/m, 2 N s/m), stiff (2000 N/m, 5 N s/m) or K,B; "
            "may be repeated. All three, where none is named."
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            help="relaxed, light or firm grip; may be repeated. Relaxed and light, "
            "where none is named."
        ),
    ] = None,
    stiffness: Annotated[
        float | None, typer.Option(help="K_p of the coupling [N/m]; else 200.")
    ] = None,
    damping: Annotated[
        float | None, typer.Option(help="K_d of the coupling [N s/m]; else 8.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="Position-force: share of the force shown; else 0.25."),
    ] = None,
    impedance: Annotated[
        float | None, typer.Option(help="Waves: impedance [N s/m]; else 12.")
    ] = None,
    textbook: Annotated[
        bool, typer.Option("--textbook", help="Two-port: no energy to begin with.")
    ] = False,
    naive: Annotated[
        bool, typer.Option("--naive", help="Model-mediated: models taken at once.")
    ] = False,
    held: Annotated[
        int, typer.Option(min=1, max=1000, help="A packet every so many ms.")
    ] = 1,
    limited: Annotated[
        bool,
        typer.Option(
            "--limited",
            help="With the cap, slew limit and guard of the shown force; else bare.",
        ),
    ] = False,
    up_to: Annotated[
        float, typer.Option(min=0.005, max=1.0, help="Greatest delay tried [s].")
    ] = 1.0,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="Bars to draw: PNG, PDF or SVG.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON instead of a table.")
    ] = False,
) -> None:
    """Find the delay each way from which on a strategy is unstable.

    [bold]Examples[/]

      limblink trcrit --strategy position-force --share 1 --wall stiff

      limblink trcrit --strategy position-position --stiffness 1000 --damping 10

      limblink trcrit --wall 500,2 --arm firm --plot trcrit.png

    On the product's own kernels with one degree of freedom: the hand reaches 80 mm in
    1 s, through a wall at 50 mm if there is one, and then stays. Unstable: hand or tip
    leaves 0.5 m, or goes on swinging. A grid of delays is tried first, the first
    unstable one is then bracketed to 1 ms. "linear": limit of the linear loop, where
    there is such a law; "again": first greater delay of the grid that is stable.
    """
    from app.study.one_dof_setup import Line, Setup
    from app.study.trcrit import critical_cases, draw_critical, find_critical
    from app.teleop.strategy import Strategy, strategy_named

    if picture is not None:
        check_writable(picture)
    named = [strategy_named(item) for item in strategy or []]
    cases = critical_cases(
        named or [item for item in Strategy if item.feels],
        wall or ["free", "soft", "stiff"],
        arm or ["relaxed", "light"],
        Setup(
            parameters=_parameters(
                stiffness, damping, share, impedance, textbook=textbook, naive=naive
            ),
            line=Line(packet_ticks=held),
            limited=limited,
        ),
    )
    found = []
    with err.status("") as status:
        for number, item in enumerate(find_critical(cases, up_to), start=1):
            found.append(item)
            status.update(f"{number} of {len(cases)} cases")
    if as_json:
        import json

        typer.echo(json.dumps([_as_dict(item) for item in found]))
    else:
        out.print(_table(found, up_to))
    if picture is not None:
        draw_critical(found, picture, up_to)
        if not as_json:
            out.print(f"Wrote {picture}", highlight=False)


def _parameters(
    stiffness: float | None,
    damping: float | None,
    share: float | None,
    impedance: float | None,
    *,
    textbook: bool,
    naive: bool,
) -> "TeleopParameters":
    """The strategies' parameters with what was asked for.

    Raises:
        ConfigError: a value is out of range.
    """
    from pydantic import ValidationError

    from app.config.teleop import TeleopParameters

    wish: dict[str, Any] = {
        "two_port": {"textbook": textbook},
        "mediated": {"naive": naive},
    }
    if stiffness is not None:
        wish["stiffness_n_per_m"] = stiffness
    if damping is not None:
        wish["damping_n_s_per_m"] = damping
    if share is not None:
        wish["force"] = {"share": share}
    if impedance is not None:
        wish["waves"] = {"impedance_n_s_per_m": impedance}
    try:
        return TeleopParameters.model_validate(wish)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "gains"
        raise ConfigError(f"{where}: {first['msg']}.") from error


def _ms(delay: float | None, absent: str) -> str:
    return absent if delay is None else f"{1e3 * delay:.1f}"


def _linear(item: "CriticalDelay") -> str:
    if item.linear is None:
        return ""
    return "none" if math.isinf(item.linear) else f"{1e3 * item.linear:.1f}"


def _table(found: list["CriticalDelay"], up_to: float) -> Table:
    table = Table(title=f"Critical delay each way in ms, up to {1e3 * up_to:g}")
    for head in ("strategy", "wall", "grip"):
        table.add_column(head, no_wrap=True)
    for head in ("critical", "linear", "again"):
        table.add_column(head, justify="right")
    table.add_column("how", no_wrap=True)
    for item in found:
        table.add_row(
            item.case.setup.strategy.short,
            item.case.wall,
            item.case.arm,
            _ms(item.delay, "none"),
            _linear(item),
            _ms(item.stable_again, ""),
            item.sign,
        )
    return table


def _as_dict(item: "CriticalDelay") -> dict[str, Any]:
    linear = item.linear
    if linear is not None and math.isinf(linear):
        linear = None
    return {
        "strategy": item.case.setup.strategy.short,
        "wall": item.case.wall,
        "arm": item.case.arm,
        "critical_s": item.delay,
        "linear_s": linear,
        "stable_again_s": item.stable_again,
        "how": item.sign,
    }
