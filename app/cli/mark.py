"""Marking a moment of a running session."""

from typing import Annotated

import typer

from app.cli.options import application, out

__all__ = ["mark"]


@application.command()
def mark(
    note: Annotated[str, typer.Argument(help="What to remember of this moment.")] = "",
    session: Annotated[
        str | None,
        typer.Option("--session", help="Which running session, where several run."),
    ] = None,
) -> None:
    """Mark this moment in the recording of a running session, with a note.

    [bold]Examples[/]

      limblink mark "first touch"

      limblink mark --session 3fa9c1 "light went out"

    In the console N marks, and CTRL+N asks for a note.
    """
    from app.clock import MonotonicClock
    from app.station.marks import leave_mark
    from app.station.session import only_session

    now_ns = MonotonicClock().now_ns()
    found = only_session(session)
    leave_mark(found.folder, now_ns, note, "command line")
    words = " in its recording" if found.log is not None else "; it is not recorded"
    out.print(f"Marked in session {found.name}{words}.", highlight=False)
