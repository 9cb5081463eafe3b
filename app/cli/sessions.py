"""Recorded sessions: list, describe, verify, recover and trim their files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from app.cli.options import application, err, out

__all__ = ["sessions"]

sessions = typer.Typer(
    name="sessions",
    help="List, describe, verify, recover and trim recorded sessions.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
application.add_typer(sessions)

File = Annotated[Path, typer.Argument(help="A recording (.mcap).")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="File to write; by default beside the recording."),
]


@contextmanager
def progress(words: str) -> Iterator[Callable[[int, int], object]]:
    """A progress bar on the error output, and the call that moves it."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn(words),
        BarColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    ) as bar:
        task = bar.add_task(words, total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield tell


@sessions.command("list")
def list_(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder of recordings; by default the user's."),
    ] = None,
) -> None:
    """List recordings: when, how long, with what, and whether they are whole.

    [bold]Examples[/]

      limblink sessions list

      limblink sessions list ~/dives/2026-11
    """
    from app.session.catalog import list_recordings
    from app.session.timeline import clock_words
    from app.station.session import default_log_path

    place = folder or default_log_path("robot", "link").parent
    table = Table(title=str(place))
    table.add_column("file", no_wrap=True)
    for head in ("made (UTC)", "length", "MB", "marks"):
        table.add_column(head, justify="right", no_wrap=True)
    for head in ("state", "robot, link, strategy"):
        table.add_column(head)
    for entry in list_recordings(place):
        facts = entry.metadata
        state = "whole" if entry.complete else "cut: recover it"
        if entry.trouble:
            state = "not readable"
        names = (facts.get(name, "") for name in ("robot", "link", "strategy"))
        table.add_row(
            entry.path.name,
            entry.changed.strftime("%m-%d %H:%M"),
            clock_words(round(entry.seconds * 1e9)),
            f"{entry.size_bytes / 1e6:.1f}",
            str(entry.marks),
            state,
            ", ".join(Path(name).stem for name in names if name),
        )
    out.print(table)


@sessions.command()
def describe(
    file: File,
    units: Annotated[
        bool, typer.Option("--units", help="Every field's unit as well.")
    ] = False,
) -> None:
    """Describe a recording: facts of the run, topics, marks, outages, events.

    [bold]Examples[/]

      limblink sessions describe run.mcap

      limblink sessions describe run.mcap --units
    """
    from app.session import Player
    from app.session.catalog import topic_facts
    from app.session.overview import OVERVIEW_NAME
    from app.session.timeline import build_timeline, clock_words

    with progress("reading") as tell, Player(file, tell) as player:
        start_ns = player.start_ns
        facts = Table(title=str(file), show_header=False)
        facts.add_row("length", clock_words(player.end_ns - start_ns))
        facts.add_row("state", player.recording.damage or "whole")
        for name, value in player.recording.metadata.items():
            facts.add_row(name, value)
        files = [
            name
            for name in player.recording.attachments
            if not name.startswith(OVERVIEW_NAME)
        ]
        facts.add_row("files inside", ", ".join(files))
        topics = Table("topic", "message", "messages", "a second")
        for topic in topic_facts(player.index):
            topics.add_row(
                topic.topic, topic.schema, str(topic.messages), f"{topic.rate_hz:.1f}"
            )
            if units:
                for name, unit in topic.units.items():
                    topics.add_row(f"  {name}", unit)
        timeline = build_timeline(player.overview, start_ns, player.end_ns)
    out.print(facts)
    out.print(topics)
    told = [
        (span.first_ns, f"{span.kind.value}, {span.seconds:.1f} s")
        for span in timeline.spans
    ]
    told += [
        (mark.time_ns, f"[bold]mark {mark.number}[/] {escape(mark.note)}")
        for mark in timeline.marks
    ]
    told += [
        (
            event.time_ns,
            f"{event.severity.name.lower()} {event.source}: {escape(event.text)}",
        )
        for event in timeline.events
        if event.severity
    ]
    for time_ns, words in sorted(told):
        at = clock_words(time_ns - start_ns)
        out.print(f"{at:>10}  {words}", highlight=False)


@sessions.command()
def verify(file: File) -> None:
    """Read every byte of a recording and say what is wrong with it.

    [bold]Example[/]

      limblink sessions verify run.mcap

    Ends with status 1 where something is wrong.
    """
    from app.session import verify as look

    with progress("verifying") as tell:
        verdict = look(file, tell)
    for note in verdict.notes:
        out.print(note, highlight=False)
    for problem in verdict.problems:
        out.print(f"[bold red]wrong[/] {problem}", highlight=False)
    told = f"{verdict.messages} messages in {verdict.chunks} chunks"
    if verdict.problems:
        out.print(f"{told}; {len(verdict.problems)} problems.", highlight=False)
        raise typer.Exit(1)
    out.print(f"{told}: all is well.", highlight=False)


@sessions.command()
def recover(file: File, output: Out = None) -> None:
    """Make a whole recording of one that a crash cut short, or that is damaged.

    [bold]Example[/]

      limblink sessions recover run.mcap --out saved.mcap

    The damaged file is left as it is.
    """
    from app.session import recover as rebuild

    with progress("recovering") as tell:
        made = rebuild(file, output, tell)
    out.print(f"Wrote {made}", highlight=False)


@sessions.command()
def trim(
    file: File,
    first: Annotated[
        float, typer.Option("--from", min=0.0, help="Begin, since the start [s].")
    ] = 0.0,
    last: Annotated[
        float, typer.Option("--to", help="End, since the start [s].")
    ] = float("inf"),
    output: Out = None,
) -> None:
    """Cut a span out of a recording, as a whole recording of its own.

    [bold]Examples[/]

      limblink sessions trim run.mcap --from 60 --to 90

      limblink sessions trim run.mcap --from 3000 --out end.mcap
    """
    from app.session import trim as cut

    with progress("trimming") as tell:
        made = cut(file, first, last, output, tell)
    out.print(f"Wrote {made}", highlight=False)
