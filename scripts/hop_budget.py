#!/usr/bin/env python3
"""Where a command's age comes from, from stick to servo byte, hop by hop.

    scripts/hop_budget.py              drive 26 s, print the table
    scripts/hop_budget.py --json       the same as one line of JSON, and no table

URSULA on 24 virtual servos, a virtual gamepad, the three real processes, link `ideal`.
For each round in which goals reach the servos of the limb that is driven, the command
is followed back (see hop_probes for its stamps). Where a value is on its way between
two setpoints, its times lie between theirs in the same proportion: so the age is that
of the value, not that of the newest news. What rate and acceleration limits keep back
is counted by the value too: the gap to what is wanted, by its speed.

The whole is measured a second time without any stamp on the way: the time by which the
path that the servos are told lags behind that of the stick, about each of its turns.
"""

import argparse
import bisect
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / "bin" / "python"
if PYTHON.exists() and Path(sys.prefix) != ROOT / ".venv":
    os.execv(PYTHON, [str(PYTHON), *sys.argv])
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from hop_probes import HALF_NS, TENDONS, Tapes, install  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from app.clock import NS_PER_MS, NS_PER_S, MonotonicClock  # noqa: E402
from app.config.robot import load_robot  # noqa: E402
from app.errors import ProcessError  # noqa: E402
from app.station.children import preload  # noqa: E402
from app.station.processes import Supervisor  # noqa: E402
from app.station.ready import wait_for_blocks  # noqa: E402
from app.station.session import create_session  # noqa: E402
from models.numerics import FloatArray  # noqa: E402

__all__ = ["EXPECTED_ROUNDS", "HOPS", "Budget", "budget", "drive"]

DRIVE_S = 26.0
_ARMED_S = 40.0  # longest wait for the first command at the servos
_BREAK_NS = 250 * NS_PER_MS
_STEADY_NS = 300 * NS_PER_MS
"""After a turn of the stick, until limits and paths are in steady motion."""
_SHARES = {50.0: 10.0, 99.0: 1.0}
"""Percentiles whose journeys are shown, and how many of those next to it [%]."""
EXPECTED_ROUNDS = round(DRIVE_S * 100 * (1.0 - _STEADY_NS / HALF_NS))
"""In steady motion, at 100 rounds a second."""
_WINDOW_NS = (-350 * NS_PER_MS, 450 * NS_PER_MS)
_LAGS_MS = np.arange(0.0, 150.0, 0.5)
_COMPONENTS = 3
_LINE_MS = 1e3 * (2 * 14 + 16 * (2 + 2 + 4)) * 10 / 3e6
"""Sync writes of current and position to 16 servos at 3 Mbit/s."""
_LEAST_ROUNDS = 40
_SPEED_ASKS = 8
_SLOWEST = 1e-3  # m/s of a tendon


class Hop(NamedTuple):
    """One hop.

    Attributes:
        name: from where to where.
        cause: what sets its age.
        goal: most that its median may be [ms].
    """

    name: str
    cause: str
    goal: float


HOPS = (
    Hop("device read -> sample published", "the poll itself", 1.0),
    Hop("sample -> control tick that used it", "polled every 4 ms", 4.0),
    Hop("control tick -> setpoint frame", "link thread every 4 ms", 4.0),
    Hop("frame -> into the emulator", "ZeroMQ", 2.0),
    Hop("in -> out of the emulator", "link `ideal`", 2.0),
    Hop("emulator -> received by the bridge", "ZeroMQ", 3.0),
    Hop("received -> value applied", "straight path over a period, 20 ms", 25.0),
    Hop("applied -> rig asks", "steps of 1 ms, three at a time", 4.0),
    Hop("rate and acceleration limits", "gap by speed", 10.0),
    Hop("asked -> bus round that carries it", "asked every 5 ms", 5.0),
    Hop("round begun -> bytes at the servo", "pty, no baud rate", 2.0),
)


class Budget(NamedTuple):
    """Ages by hop.

    Attributes:
        hops: (n, hops) of each journey [ms].
        turns: (m,) lag about each turn of the stick, by value alone [ms]; NaN where
            no lag fits best within the range that is searched.
        late_rounds: share of intervals between goals above 1.5 times their median.
        breaks: how often no command came for longer than `_BREAK_NS`, as where a
            crowded machine held a process up; a journey begins anew after one.
    """

    hops: FloatArray
    turns: FloatArray
    late_rounds: float
    breaks: int

    @property
    def whole(self) -> FloatArray:
        """(n,) device read to servo byte [ms]."""
        total: FloatArray = self.hops.sum(axis=1)
        return total

    def near(self, percentile: float) -> FloatArray:
        """Mean hops of the journeys whose whole lies next to a percentile [ms]."""
        whole = self.whole
        off = np.abs(whole - np.percentile(whole, percentile))
        count = max(1, round(0.01 * _SHARES[percentile] * whole.size))
        chosen = np.argsort(off)[:count]
        mean: FloatArray = self.hops[chosen].mean(axis=0)
        return mean


def drive(seconds: float) -> Tapes:
    """Drive with every hop stamped, in processes forked from this one.

    Args:
        seconds: after the first command has reached the servos.

    Raises:
        ProcessError: the session did not come up, or was never armed.
    """
    clock, tapes = MonotonicClock(), Tapes()
    install(tapes)
    with tempfile.TemporaryDirectory(prefix="limblink-bench-") as folder:
        session = create_session(
            "ursula",
            "ideal",
            operator="virtual-gamepad",
            log=Path(folder) / "hops.mcap",
            rig="ursula-dynamixel",
            virtual=True,
        )
        supervisor = Supervisor(session)
        try:
            preload()
            supervisor.start(fork=True)
            wait_for_blocks(session, load_robot("ursula"), supervisor)
            due_ns = clock.now_ns() + round(_ARMED_S * NS_PER_S)
            while len(tapes.received.read()) == 0:
                words = supervisor.status()
                ended = any(said.startswith("ended") for said in words.values())
                if ended or clock.now_ns() > due_ns:
                    raise ProcessError(
                        f"No setpoint was obeyed within {_ARMED_S:g} s: {words}. Run "
                        "`limblink doctor`."
                    )
                clock.wait_until(clock.now_ns() + 50 * NS_PER_MS)
            clock.wait_until(clock.now_ns() + round(seconds * NS_PER_S))
        finally:
            supervisor.stop()
            session.close()
    return tapes


def budget(tapes: Tapes) -> Budget:
    """Follow every command back.

    Raises:
        ProcessError: none reached the servos in steady motion.
    """
    data = {name: tape.read() for name, tape in vars(tapes).items()}
    byte, asked, rounds = data["byte"], data["asked"], data["round"]
    edges = data["edge"][:, 0]
    paths = _Paths(data)
    hops = []
    for time_ns in byte[:, 0]:
        turn = int(np.searchsorted(edges, time_ns)) - 1
        if turn < 1 or time_ns - edges[turn] < _STEADY_NS:
            continue
        begun, command = rounds[np.searchsorted(rounds[:, 0], time_ns, "right") - 1]
        place = int(np.searchsorted(asked[:, 0], command))
        if place >= len(asked) or asked[place, 0] != command:
            continue
        grid = asked[place, 1]
        told, behind = paths.at(grid), _behind(asked, place)
        if told is None or behind is None:
            continue
        steps = np.diff([*told, grid, command, command + behind, begun + behind])
        hops.append(np.array([*steps, time_ns - begun]) / NS_PER_MS)
    if not hops:
        raise ProcessError("No command was followed to the servos: drive again.")
    gaps = np.diff(byte[:, 0])
    return Budget(
        np.array(hops),
        _lags(byte, data["edge"]),
        float((gaps > 1.5 * np.median(gaps)).mean()),
        paths.breaks,
    )


class _Paths:
    """What the value that is applied passed through, at any step of the bridge.

    The times are: device read, published, tick, composed, in, out, received [ns]. A
    path begins at what was applied at the last step before: so do its times.
    """

    def __init__(self, data: dict[str, FloatArray]) -> None:
        carried, delivered = dict(data["carried"]), dict(data["delivered"])
        published = dict(data["read"])
        sent = {row[0]: row[1:4] for row in data["sent"]}
        phase = data["asked"][0, 1] % NS_PER_MS
        self._begin: list[float] = []
        self._end: list[float] = []
        self._origin: list[FloatArray] = []
        self._goal: list[FloatArray] = []
        self.breaks = 0
        for packet, received, begin, end in data["received"]:
            if not (packet in sent and packet in carried and packet in delivered):
                continue
            sample, tick, composed = sent[packet]
            goal = np.array(
                [
                    sample,
                    published.get(sample, sample),
                    tick,
                    composed,
                    carried[packet],
                    delivered[packet],
                    received,
                ]
            )
            origin = self.at(begin - (begin - phase) % NS_PER_MS)
            if self._begin and begin - self._begin[-1] > _BREAK_NS:
                origin = None
                self.breaks += 1
            self._begin.append(begin)
            self._end.append(end)
            self._origin.append(goal if origin is None else origin)
            self._goal.append(goal)

    def at(self, time_ns: float) -> FloatArray | None:
        """Return the times of what is applied at a step; None before the first path."""
        k = bisect.bisect_right(self._begin, time_ns) - 1
        if k < 0:
            return None
        span = max(self._end[k] - self._begin[k], 1.0)
        share = min((time_ns - self._begin[k]) / span, 1.0)
        return self._origin[k] + share * (self._goal[k] - self._origin[k])


def _behind(asked: FloatArray, place: int) -> float | None:
    """Time by which what is asked lags behind what is wanted [ns]; None at rest."""
    if place < _SPEED_ASKS:
        return None
    before = place - _SPEED_ASKS
    wanted = asked[:, 2 : 2 + TENDONS]
    speed = wanted[place] - wanted[before]
    speed /= asked[place, 1] - asked[before, 1]
    if not np.abs(speed).max() * NS_PER_S > _SLOWEST:
        return None
    gap = wanted[place] - asked[place, 2 + TENDONS :]
    lag = float(speed @ gap / (speed @ speed))
    return lag if np.isfinite(lag) else None


def _lags(byte: FloatArray, edge: FloatArray) -> FloatArray:
    """Lag of the servos' path behind the stick's, about each turn [ms].

    The stick's way is a zigzag with corners where it was turned. Shifted by the lag, it
    is a linear function of what the servos are told (their first components, for their
    goals lie on a line or nearly).
    """
    knots = edge[:, 0]
    height = np.concatenate([[0.0], np.cumsum(edge[:-1, 1] * np.diff(knots))])
    lags = []
    for turned in knots[1:-1]:
        least, most = turned + _WINDOW_NS[0], turned + _WINDOW_NS[1]
        part = byte[(byte[:, 0] > least) & (byte[:, 0] < most)]
        if len(part) < _LEAST_ROUNDS:
            continue
        goals = part[:, 1:] - part[:, 1:].mean(axis=0)
        shape = np.linalg.svd(goals, full_matrices=False)[0][:, :_COMPONENTS]
        shape = np.column_stack([np.ones(len(part)), shape])
        base = np.linalg.qr(shape)[0]
        misses = []
        for lag in _LAGS_MS * NS_PER_MS:
            times = part[:, 0] - lag
            k = np.clip(np.searchsorted(knots, times, "right") - 1, 0, len(knots) - 1)
            way = (height[k] + edge[k, 1] * (times - knots[k])) / NS_PER_S
            miss = way - base @ (base.T @ way)
            misses.append(miss @ miss)
        best = int(np.argmin(misses))
        inside = 0 < best < len(_LAGS_MS) - 1
        lags.append(_LAGS_MS[best] if inside else np.nan)
    return np.array(lags)


def table(found: Budget) -> Table:
    """Show a budget."""
    median, top = found.near(50.0), found.near(99.0)
    shown = Table(
        title="Age of a command, stick to servo byte, link `ideal` [ms]",
        caption=(
            f"{len(found.hops)} rounds. The two columns on the right add up: they are "
            "the mean of the journeys about that percentile of the whole. On a real "
            f"line the goals' bytes take {_LINE_MS:.1f} ms more."
        ),
    )
    for head in ("hop", "set by", "p50", "p99", "of a p50 journey", "of a p99 journey"):
        shown.add_column(head, justify="left" if head in {"hop", "set by"} else "right")
    for k, hop in enumerate(HOPS):
        alone = np.percentile(found.hops[:, k], (50, 99))
        figures = (*alone, median[k], top[k])
        shown.add_row(hop.name, hop.cause, *(f"{figure:.2f}" for figure in figures))
    shown.add_section()
    whole = (*np.percentile(found.whole, (50, 99)), median.sum(), top.sum())
    shown.add_row("whole, by stamps", "", *(f"{figure:.2f}" for figure in whole))
    fitted = found.turns[np.isfinite(found.turns)]
    shown.add_row(
        "whole, by value alone",
        f"{fitted.size} of {found.turns.size} turns of the stick",
        f"{np.median(fitted):.2f}" if fitted.size else "none",
    )
    return shown


def main() -> int:
    """Drive, follow, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=DRIVE_S)
    options = parser.parse_args()
    found = budget(drive(options.seconds))
    if options.json:
        print(
            json.dumps(
                {key: np.asarray(v).tolist() for key, v in found._asdict().items()}
            )
        )
    else:
        Console().print(table(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
