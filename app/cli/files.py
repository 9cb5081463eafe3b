"""Keys and recordings."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import application, out

__all__ = ["keys", "recover"]


@application.command()
def keys(
    folder: Annotated[Path, typer.Argument(help="Folder to make the keys in.")],
) -> None:
    """Make the CURVE keys of a station and a robot that share a network.

    [bold]Example[/]

      limblink keys ~/.limblink-keys

    Copy station.key and robot.key (public) to both computers; station.key_secret stays
    with the station, robot.key_secret with the robot.
    """
    from app.link.endpoint import make_keys

    for name in ("station", "robot"):
        public = make_keys(folder.expanduser(), name)
        out.print(f"{public} and {public.name}_secret", highlight=False)


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
