"""Recordings."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import application, out

__all__ = ["recover"]


@application.command()
def recover(
    log: Annotated[Path, typer.Argument(help="Recording that a crash cut short.")],
    output: Annotated[
        Path | None,
        typer.Option("--out", help="File to write; by default beside the log."),
    ] = None,
) -> None:
    """Rebuild a recording that was cut short, so that any MCAP reader opens it."""
    from app.session import recover as rebuild

    out.print(f"Wrote {rebuild(log, output)}", highlight=False)
