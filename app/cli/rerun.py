"""A recorded operator, driven again."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from app.cli.options import application, err, out
from app.cli.writable import check_writable
from app.errors import ConfigError, LogError

if TYPE_CHECKING:
    from app.study.recorded_session import RecordedSession
    from app.study.rerun import Rerun
    from app.study.station_rerun import StationRerun

__all__ = ["rerun"]

_NOT_REDONE = "robot; channel; what the station says of its states; statistics"
_LIVE = (
    "A live recording: given the operators' samples, wishes and goals, the frames that "
    "came and when, its control loop and link thread are redone. Robot and channel ran "
    "on clocks of their own and are not, nor is what the station says when it watches "
    "its states. With a change, such as --seed or --link, all of it is driven in "
    "virtual time."
)


@application.command()
def rerun(
    recording: Annotated[Path, typer.Argument(help="Recording of a session (.mcap).")],
    strategy: Annotated[
        str | None,
        typer.Option(help="Another strategy, for all of it (`limblink strategies`)."),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(help="Another link: a shipped name (`limblink links`) or a TOML."),
    ] = None,
    mismatch: Annotated[
        list[str] | None,
        typer.Option(
            "--robot-mismatch",
            help="Simulated robot against model, e.g. stiffness=1.2; may be repeated.",
        ),
    ] = None,
    scene: Annotated[
        str | None, typer.Option(help="Other surroundings: a shipped name or a TOML.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Another seed of channel and sensors.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Recording to make of the drive (.mcap).")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Comparison to write: .html, .png or .csv."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON instead of words.")
    ] = False,
) -> None:
    """Put a recorded operator through the same code again, in virtual time.

    [bold]Examples[/]

      limblink rerun run.mcap                          is it the same, bit for bit?

      limblink rerun run.mcap --link acoustic-hs --report slow.html

      limblink rerun run.mcap --strategy waves --robot-mismatch stiffness=1.3

      limblink rerun run.mcap --seed 8 --log again.mcap

    Without changes, a recording of virtual time must come out the same: every frame,
    state, packet, event, and the hash that the recording keeps of itself; else the
    first difference is named and the status is 1. With changes, the recorded settings
    and the changed ones are driven, and compared. The operator does not react.
    """
    import tempfile
    from dataclasses import asdict

    from app.station.children import make_mismatch, parse_mismatch
    from app.station.warmup import warm_up
    from app.study.recorded_session import RecordedSession
    from app.study.rerun import Changes
    from app.study.rerun import rerun as drive_again
    from app.study.rerun_report import write_report
    from app.teleop.strategy import strategy_named

    check_writable(log, report)
    if log is not None and log.exists():
        raise LogError(f"Recording {log} exists and is not overwritten. Name another.")
    factors = parse_mismatch(mismatch or [])
    make_mismatch(factors)
    with tempfile.TemporaryDirectory(prefix="limblink-rerun-") as folder:
        session = RecordedSession(recording, Path(folder))
        was = asdict(session.setup.mismatch)
        changes = Changes(
            strategy=None if strategy is None else strategy_named(strategy),
            link=link,
            scene=scene,
            mismatch=make_mismatch(was | factors) if factors else None,
            seed=seed,
        )
        if report is not None and not changes.any:
            raise ConfigError(
                "--report compares with other settings: add --strategy, --link, "
                "--scene, --robot-mismatch or --seed."
            )
        warm_up(err, contact=True)
        if not (session.virtual or changes.any or log is not None):
            _redo_station(session, as_json=as_json)
            return
        with err.status("reading") as status:
            result = drive_again(
                session,
                changes,
                log,
                lambda what, share: status.update(f"{what}: {100.0 * share:.0f} %"),
            )
        if report is not None:
            write_report(result, report)
    if as_json:
        import json

        typer.echo(json.dumps(_as_dict(result)))
    else:
        _tell(result, log, report)
    if result.comparison is not None and not result.comparison.same:
        raise typer.Exit(1)


def _redo_station(session: "RecordedSession", *, as_json: bool) -> None:
    """Redo what can be exact of a live recording, and say what cannot."""
    from app.study.station_rerun import rerun_station

    with err.status("reading") as status:
        found = rerun_station(
            session, lambda share: status.update(f"redoing: {100.0 * share:.0f} %")
        )
    if as_json:
        import json

        told = {k: v for k, v in vars(found).items() if k != "first"}
        told["first_difference"] = None if found.first is None else vars(found.first)
        told["not_redone"] = _NOT_REDONE
        typer.echo(json.dumps({"clock": "live", "same": found.same} | told))
    else:
        for line in _station_words(found):
            out.print(line, highlight=False, soft_wrap=True)
    if not found.same:
        raise typer.Exit(1)


def _station_words(found: "StationRerun") -> list[str]:
    counts = ", ".join(f"{found.counts[topic]} {topic}" for topic in found.counts)
    full = ", the states in all 64 bits" if found.full_states else ""
    lines = []
    if found.first is not None:
        lines.append(f"NOT the same. First difference: {found.first}.")
        lines.append(
            "Messages that differ: "
            + ", ".join(
                f"{count} of {found.counts.get(topic, 0)} on {topic}"
                for topic, count in sorted(found.different.items())
            )
            + "."
        )
    elif found.full_states is False:
        lines.append(
            "NOT the same: the states differ below the single precision of the file."
        )
    elif found.unknown:
        lines.append(f"The same as far as it could be redone: {counts}{full}.")
    else:
        lines.append(
            f"The station's side came out the same, bit for bit: {counts}{full}."
        )
    lines += _hash_words(found.altered)
    if found.unknown:
        lines.append(f"Not redone to the end: {found.unknown}.")
    if found.goals or found.wishes:
        lines.append(
            f"Given again as recorded: {found.goals} goals, {found.wishes} changes of "
            "strategy or assistance."
        )
    if found.unchecked:
        lines.append(
            f"{found.unchecked} frames were not compared: of what was made then the "
            "socket took only a part."
        )
    return [*lines, _LIVE]


def _tell(result: "Rerun", log: Path | None, report: Path | None) -> None:
    from app.study.rerun_report import NO_REACTION, comparison_rows, settings_rows

    for line in _verdict(result):
        out.print(line, highlight=False, soft_wrap=True)
    if result.changed is not None:
        table = Table(title="Recorded and changed settings")
        for head in ("", "unit", "recorded", "changed", "change"):
            table.add_column(head, justify="left" if head in {"", "unit"} else "right")
        for name, one, other in settings_rows(result):
            table.add_row(name, "", one, other, "", end_section=name == "seed")
        for name, unit, one, other, change, _ in comparison_rows(result):
            table.add_row(name.replace("_", " "), unit, one, other, change)
        out.print(table)
        out.print(NO_REACTION, highlight=False)
    for path in (log, report):
        if path is not None:
            out.print(f"Wrote {path}", highlight=False)


def _verdict(result: "Rerun") -> list[str]:
    """Say whether the recorded settings gave what was recorded."""
    found = result.comparison
    if found is None:
        text = (
            "A live recording: its processes ran on clocks of their own, so that what "
            "comes out in virtual time is alike, not the same."
        )
        return [text]
    messages = sum(found.counts.values())
    lines = []
    if found.same:
        full = ", the state rows in all 64 bits" if found.full_states else ""
        lines.append(
            f"The same, bit for bit: {messages} messages on {len(found.counts)} "
            f"channels{full}."
        )
    elif found.first is not None:
        lines.append(f"NOT the same. First difference: {found.first}.")
        others = ", ".join(
            f"{count} of {found.counts.get(topic, 0)} on {topic}"
            for topic, count in sorted(found.different.items())
        )
        lines.append(f"Messages that differ: {others}.")
    else:
        lines.append(
            "NOT the same: the states differ below the single precision of the file."
        )
    lines += _hash_words(found.altered)
    if not found.same and result.versions:
        changed = ", ".join(
            f"{name} {was} -> {now}" for name, (was, now) in result.versions.items()
        )
        lines.append(f"Made with other versions: {changed}.")
    return lines


def _hash_words(altered: tuple[str, ...] | None) -> list[str]:
    if altered is None:
        return ["The recording was cut short and keeps no hash of itself."]
    if not altered:
        return []
    topics = ", ".join(altered)
    words = "The recording does not fit the hash it keeps of itself: changed after it "
    return [f"{words}was written: {topics}."]


def _finite(figures: dict[str, float]) -> dict[str, float | None]:
    """Figures as JSON can tell them: null where there is none."""
    return {
        name: value if math.isfinite(value) else None for name, value in figures.items()
    }


def _as_dict(result: "Rerun") -> dict[str, Any]:
    found = result.comparison
    told: dict[str, Any] = {
        "recording": str(result.session.recording.path),
        "clock": "virtual" if result.session.virtual else "live",
        "operator_reacts": False,
        "recorded": _finite(result.recorded.figures),
    }
    if found is not None:
        told |= {
            "same": found.same,
            "intact": found.intact,
            "altered": found.altered,
            "full_states_same": found.full_states,
            "messages": found.counts,
            "different": found.different,
            "first_difference": None if found.first is None else vars(found.first),
            "digest": found.digest,
        }
    if result.changed is not None:
        told["changed"] = _finite(result.changed.figures)
    return told
