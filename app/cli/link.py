"""The link emulator alone, between any two ends."""

import json
import os
import select
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import DEFAULT_LINK, Keys, Seed, application
from app.clock import NS_PER_S, MonotonicClock
from app.config.trace import TraceEnd
from app.errors import ConfigError
from app.link.emulator_protocol import EmulatorStatus
from app.messages import Event

__all__ = ["link", "parse_outage"]

_LINE_NS = NS_PER_S


@application.command()
def link(
    preset: Annotated[
        str, typer.Argument(help="Link to emulate: a shipped name or a TOML.")
    ] = DEFAULT_LINK,
    station_side: Annotated[
        str, typer.Option("--station", help="Address one end, the station, calls.")
    ] = "tcp://127.0.0.1:5600",
    robot_side: Annotated[
        str, typer.Option("--robot", help="Address the other end, the robot, calls.")
    ] = "tcp://127.0.0.1:5601",
    control: Annotated[
        str, typer.Option(help="Address for live settings.")
    ] = "tcp://127.0.0.1:5602",
    outage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="START:LENGTH[:PERIOD]",
            help="Outage by schedule, in seconds; may be repeated.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="CSV of time_s, delay_ms, loss, rate_bps to replay."),
    ] = None,
    trace_end: Annotated[
        TraceEnd,
        typer.Option(help="After the trace: again, its last row, or nothing passes."),
    ] = "loop",
    distance: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1e5, help="Metres between the ends; delays an acoustic link."
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, help="End by itself after so long.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON summary on the last line.")
    ] = False,
    seed: Seed = 0,
    keys: Keys = None,
) -> None:
    """Run the link emulator between two ends, until Ctrl-C.

    Both ends call it. Each packet is one message, and its first byte names its
    stream; a newer packet of a stream replaces one that still waits. With --keys, its
    own pair in the folder is `link`.

    [bold]Examples[/]

      limblink link acoustic-hs --station tcp://127.0.0.1:5600 --robot tcp://127.0.0.1:5601

      limblink link optical-rov --outage 30:5 --outage 60:2:20

      limblink link acoustic-psk --distance 400 --seconds 60 --json

      limblink link tether --trace sea-trial.csv --trace-end hold
    """
    from app.config.link import load_link
    from app.link.emulator import run_emulator
    from app.link.endpoint import load_keys
    from app.station.stop import StopFlag

    parameters = load_link(preset)
    if distance is not None:
        parameters = parameters.with_distance(distance)
    if trace is not None:
        parameters = parameters.with_trace(trace, trace_end)
    parameters = parameters.with_outages([parse_outage(text) for text in outage or []])
    stop = StopFlag()
    stop.install()
    clock = MonotonicClock()
    begin_ns = clock.now_ns()
    end_ns = None if seconds is None else begin_ns + round(seconds * NS_PER_S)
    progress = _Progress(begin_ns)
    last = run_emulator(
        station_side,
        robot_side,
        control,
        parameters,
        seed,
        lambda: stop() or (end_ns is not None and clock.now_ns() >= end_ns),
        None if keys is None else load_keys(keys, "link", "link"),
        watch=progress.status,
        tell=progress.event,
    )
    if as_json:
        print(json.dumps(_summary(last, begin_ns, clock.now_ns(), seed)), flush=True)  # noqa: T201


def parse_outage(text: str) -> tuple[float, ...]:
    """Read "START:LENGTH" or "START:LENGTH:PERIOD", in seconds.

    Raises:
        ConfigError: it is neither.
    """
    with suppress(ValueError):
        entry = tuple(float(part) for part in text.split(":"))
        if len(entry) in {2, 3}:
            return entry
    raise ConfigError(
        f"--outage {text}: write START:LENGTH or START:LENGTH:PERIOD in seconds, as "
        "30:5 or 60:2:20."
    )


class _Progress:
    """Tells a person how the link does; silent rather than wait for a terminal."""

    def __init__(self, begin_ns: int) -> None:
        self._begin_ns = self._due_ns = begin_ns
        self._clock = MonotonicClock()
        self._interactive = sys.stderr.isatty()
        self._load = [0.0, 0.0, 0]

    def event(self, event: Event) -> None:
        """Pass on what an end was refused for."""
        _say(f"{event.source}: {event.text}")

    def status(self, status: EmulatorStatus) -> None:
        """Print a line, at most once a second, where a person looks."""
        if not self._interactive:
            return
        self._load[0] += status.down_load_bps
        self._load[1] += status.up_load_bps
        self._load[2] += 1
        now_ns = self._clock.now_ns()
        if now_ns < self._due_ns:
            return
        self._due_ns = now_ns + _LINE_NS
        count = max(1, self._load[2])
        lost = {
            way: sum(
                number
                for name, number in status.totals.items()
                if name.startswith(f"{way}.") and not name.endswith(".delivered")
            )
            for way in ("down", "up")
        }
        ways = "  ".join(
            f"{way} {load / count / 1e3:.4g} kbit/s, "
            f"{status.totals.get(f'{way}.delivered', 0)} through, {lost[way]} not"
            for way, load in zip(("down", "up"), self._load, strict=False)
        )
        self._load = [0.0, 0.0, 0]
        _say(
            f"{(now_ns - self._begin_ns) / NS_PER_S:6.0f} s  {status.preset}"
            f"{' OUT' if status.cut else ''}  {ways}  "
            f"late p99 {status.lateness_us[1] / 1e3:.2g} ms"
            f"{'  ' + status.error if status.error else ''}"
        )


def _say(line: str) -> None:
    """Write a line to stderr where that can be done at once."""
    with suppress(OSError, ValueError):
        if select.select([], [sys.stderr], [], 0)[1]:
            os.write(sys.stderr.fileno(), f"{line}\n".encode(errors="replace"))


def _summary(
    status: EmulatorStatus, begin_ns: int, now_ns: int, seed: int
) -> dict[str, object]:
    return {
        "link": status.preset,
        "seed": seed,
        "seconds": round((now_ns - begin_ns) / NS_PER_S, 3),
        "packets": status.totals,
        "undelivered": status.undelivered,
        "late_us": {"p50": status.lateness_us[0], "p99": status.lateness_us[1]},
        "cut": status.cut,
        "error": status.error,
    }
