"""A recording as a table for other programs."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from app.cli.options import application, err, out
from app.cli.writable import check_writable
from app.errors import ConfigError

__all__ = ["export"]

_FORMATS = ("parquet", "csv", "npz")


@application.command()
def export(
    recording: Annotated[Path, typer.Argument(help="Recording (.mcap), whole or cut.")],
    to: Annotated[str, typer.Option(help="parquet, csv or npz.")] = "parquet",
    rate: Annotated[
        float | None,
        typer.Option(min=1e-3, max=1e5, help="Rows evenly spaced, so many a second."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(help="Rows at the times of this channel; else of /state."),
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option(
            help="Channel or pattern, with :field,field where not all are wanted; may "
            "be repeated. Else /state, /input/*, /health and /robot."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--out", help="File to make; else beside the recording."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it is there.")
    ] = False,
) -> None:
    """Write a recording as one table: Parquet, CSV or a NumPy archive.

    [bold]Examples[/]

      limblink export run.mcap --to csv --rate 100

      limblink export run.mcap --channels /state:tip_model,force_hand --channels /robot

      limblink export run.mcap --to npz --base /health --channels "/*"

    One time base: rows at the times of a channel, or evenly spaced. Of every other
    channel a row has the newest value at or before its time; a cell is empty before the
    first. Heads name channel, field, index and unit. Memory does not grow with the
    recording. Bytes are left out, in an archive text too.
    """
    from app.session import open_log
    from app.session.export import export as write
    from app.session.table import DEFAULT_CHANNELS, TableChoice

    if to not in _FORMATS:
        raise ConfigError(f"--to {to}: there are {', '.join(_FORMATS)}.")
    if rate is not None and base is not None:
        raise ConfigError("One time base: give --rate or --base, not both.")
    made = output or recording.with_suffix(f".{to}")
    if made.exists() and not overwrite:
        raise ConfigError(
            f"{made} exists. Add --overwrite, or name another with --out."
        )
    check_writable(made)
    if base is not None and not base.startswith("/"):
        base = f"/{base}"
    choice = TableChoice(
        tuple(channels) if channels else DEFAULT_CHANNELS, base or "/state", rate
    )
    with Progress(
        TextColumn("exporting"),
        BarColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    ) as progress:
        task = progress.add_task("export", total=1.0)
        done = write(
            open_log(recording),
            made,
            to,  # type: ignore[arg-type]  # checked above
            choice,
            lambda share: progress.update(task, completed=share),
        )
    out.print(
        f"Wrote {made}: {done.rows} rows of {done.values} values", highlight=False
    )
    if done.left_out:
        out.print(f"Left out: {', '.join(done.left_out)}", highlight=False)
