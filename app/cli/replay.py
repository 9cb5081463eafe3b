"""Showing what was recorded: in the console, or as pictures and films."""

from pathlib import Path
from typing import Annotated, cast

import typer

from app.cli.options import application, out
from app.cli.sessions import progress
from app.errors import ConfigError

__all__ = ["replay"]

_ALIGN = ("start", "armed", "mark")
_PICTURES = ("console", "robot")
_VIEWS = ("behind", "front", "side", "top")


@application.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A recording (.mcap), whole or cut.")],
    beside: Annotated[
        Path | None, typer.Option(help="Another recording, to be shown beside it.")
    ] = None,
    align: Annotated[
        str, typer.Option(help="With --beside, laid over by: start, armed or mark.")
    ] = "start",
    frames: Annotated[
        Path | None, typer.Option(help="No window: PNG pictures into this folder.")
    ] = None,
    video: Annotated[
        Path | None, typer.Option(help="No window: a film (.avi, Motion JPEG).")
    ] = None,
    picture: Annotated[
        str, typer.Option(help="What is filmed: console or robot.")
    ] = "console",
    view: Annotated[
        str, typer.Option(help="Of the robot: behind, front, side or top.")
    ] = "behind",
    first: Annotated[
        float, typer.Option("--from", min=0.0, help="Begin of the film [s].")
    ] = 0.0,
    last: Annotated[float, typer.Option("--to", help="End of the film [s].")] = float(
        "inf"
    ),
    fps: Annotated[
        float, typer.Option(min=0.1, max=120.0, help="Frames a second of the film.")
    ] = 25.0,
    speed: Annotated[
        float, typer.Option(min=0.01, max=1000.0, help="Times the speed of life.")
    ] = 1.0,
    size: Annotated[
        str, typer.Option(help="Of the pictures [px], WIDTHxHEIGHT.")
    ] = "1366x768",
) -> None:
    """Open a recording in the console, with everything live but the commands.

    [bold]Examples[/]

      limblink replay run.mcap

      limblink replay waves.mcap --beside mediated.mcap --align armed

      limblink replay run.mcap --frames pictures --from 60 --to 70 --fps 5

      limblink replay run.mcap --video run.avi --picture robot --speed 4

    SPACE plays, a click on the timeline goes there, . and , step by a control tick,
    [ and ] change the speed (0.1 to 16 times), N and P go to the next mark, warning
    or outage.
    """
    _check(align, picture, view)
    if frames is None and video is None:
        from app.cli.drive import check_display
        from app.console.replay_run import run_replay

        check_display()
        status = run_replay(file, beside, align)
        if status:
            raise typer.Exit(status)
        return
    if beside is not None:
        raise ConfigError("--beside is for the window: film one recording at a time.")
    if video is not None and video.suffix.lower() != ".avi":
        raise ConfigError(
            f"--video {video}: films are written as .avi (Motion JPEG). Name it so; "
            "ffmpeg and every editor turn it into others."
        )
    from app.console.film import FilmSettings, PictureName, film

    width, height = _size(size)
    settings = FilmSettings(
        cast("PictureName", picture),
        view,
        width,
        height,
        fps,
        speed,
        first,
        last,
    )
    with progress("filming") as tell:
        count = film(file, settings, frames, video, tell)
    made = " and ".join(str(place) for place in (frames, video) if place is not None)
    out.print(f"Wrote {count} frames to {made}", highlight=False)


def _check(align: str, picture: str, view: str) -> None:
    for option, value, allowed in (
        ("--align", align, _ALIGN),
        ("--picture", picture, _PICTURES),
        ("--view", view, _VIEWS),
    ):
        if value not in allowed:
            raise ConfigError(
                f"{option} {value}: there is no such one. Use {', '.join(allowed)}."
            )


def _size(words: str) -> tuple[int, int]:
    parts = words.lower().split("x")
    if len(parts) == 2 and all(part.isdigit() for part in parts):
        width, height = int(parts[0]), int(parts[1])
        if 160 <= width <= 7680 and 120 <= height <= 4320:
            return width, height
    raise ConfigError(f"--size {words}: give WIDTHxHEIGHT, 160x120 to 7680x4320.")
