"""Group `dynamics` of scripts/bench: what a step of the tree costs, and peers.

Costs are processor time of the thread, on one core, so that others on the machine do
not count. What they take of its caches does, and on a virtual machine the host's other
guests, which no clock here shows: spells of seconds at which all runs 1.6 times slower
were seen on an idle one. So all robots take turns, at the start, in the middle and at
the end of the run, and each figure is the median of its turns; `least` beside it is the
machine undisturbed. Ratios, whose two sides run one behind the other, are good to such
a factor. Accuracy is measured in the same run.

1. Steps of 1 ms of the robots that the product has.
2. The law of the cost, by segments, limbs and order of the basis (dynamics_law), drawn
   into assets/images/dynamics-cost.png.
3. Peers on the same limb at equal tip error (dynamics_limb, dynamics_peers): the ratio
   is our cost by theirs, ours being the cheapest of our runs that is no worse.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from bench_record import Record, record
from dynamics_law import (
    Sweep,
    features,
    fit_law,
    measure_sweeps,
    plain_law,
    plot_law,
)
from dynamics_limb import CASES, Run, arm_error, cheapest, our_runs
from dynamics_peers import INSTALL, PEERS, missing
from dynamics_robots import (
    ARM_BASIS,
    ARM_POINTS,
    PERIOD,
    Robot,
    limb_tree,
    measure,
    poseidrone,
    poseidrone_arms,
    snake,
    snake_tree,
    tree_robot,
    ursula,
    ursula_floating,
)
from rich.console import Console
from rich.table import Table

from models.numerics import FloatArray

__all__ = ["bench_dynamics"]

_PICTURE = Path(__file__).resolve().parent.parent / "assets/images/dynamics-cost.png"
_TURNS = 15
# wall s a simulated second, of the compiled published scheme (Renda 2018), on the
# machine that made the reference runs, not this one
_PUBLISHED_ROBOT = (12.0, 16.0)
_PUBLISHED_ARM = (2.6, 12.0)


@contextmanager
def _one_core() -> Iterator[int]:
    """Stay on the core that is least busy."""
    allowed = os.sched_getaffinity(0)
    busy = psutil.cpu_percent(interval=0.5, percpu=True)
    core = min(allowed, key=lambda number: busy[number])
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


def _spread(cost: FloatArray) -> str:
    return f"least {cost.min():.1f}, 90 % {np.percentile(cost, 90):.1f} µs"


def _robots(console: Console) -> list[Robot]:
    """All robots whose steps are timed."""
    console.print("dynamics: loading and compiling the robots")
    arms = poseidrone_arms()
    return [
        tree_robot("limb of 2 segments", limb_tree(2)),
        *ursula(),
        ursula_floating(),
        tree_robot("snake of 3 modules", snake_tree()),
        snake(),
        tree_robot("Poseidrone, arms alone", arms),
        poseidrone(arms),
    ]


def _turns(robots: list[Robot], console: Console) -> FloatArray:
    """Let all robots take turns: (turns, robots) costs of a step [µs]."""
    console.print(f"dynamics: {_TURNS} turns of {len(robots)} robots")
    return np.array(
        [[float(measure(robot, 1, 500)[0]) for robot in robots] for _ in range(_TURNS)]
    )


def _steps(robots: list[Robot], turns: FloatArray, console: Console) -> list[Record]:
    """Steps of the robots."""
    cost = turns.T
    middle = np.median(cost, axis=1)
    goals = (5.0, 15.0, 25.0, 25.0, 20.0, 25.0, 1000.0)
    records = [
        record(
            f"step of {robot.name}", float(middle[n]), "µs", goals[n],
            f"{robot.tree.dof_parent.size} coordinates, {robot.tree.step_length.size} "
            f"points; {_spread(cost[n])}",
        )
        for n, robot in enumerate(robots[:-1])
    ]  # fmt: skip
    error = arm_error(ARM_BASIS, ARM_POINTS, PERIOD)
    console.print(f"dynamics: an arm of the Poseidrone is off by {error:.2f} mm")
    share = float(middle[-1]) * 1e-6 / PERIOD
    alone = float(middle[-2]) * 1e-6 / PERIOD / 4.0
    low, high = (figure / share for figure in _PUBLISHED_ROBOT)
    arm_low, arm_high = (figure / alone for figure in _PUBLISHED_ARM)
    basis = " ".join(f"{name}:{order}" for name, order in ARM_BASIS.items())
    records += [
        record(
            "an arm of the Poseidrone, tip error", error, "mm", 0.5,
            f"reference case A at {1e3 * PERIOD:g} ms, {basis}, {ARM_POINTS} points",
        ),
        record(
            "Poseidrone, arms and mantle, of real time", share, "s/s", 1.0,
            f"{middle[-1]:.0f} µs a step ({_spread(cost[-1])}). The published scheme, "
            f"compiled, took {_PUBLISHED_ROBOT[0]:g}-{_PUBLISHED_ROBOT[1]:g} s on the "
            f"reference machine: {low:.0f}-{high:.0f} times this. One arm "
            f"{_PUBLISHED_ARM[0]:g}-{_PUBLISHED_ARM[1]:g} s there: {arm_low:.0f}-"
            f"{arm_high:.0f} times a quarter of our arms",
        ),
    ]  # fmt: skip
    return records


def _law(
    console: Console, robots: list[Robot], turns: FloatArray, sweeps: list[Sweep]
) -> list[Record]:
    """The law, drawn, and how well it foretells robots that it was not fitted to."""
    law = fit_law(sweeps)
    plot_law(sweeps, law, _PICTURE)
    for sweep in sweeps:
        console.print(
            f"dynamics: {sweep.title}: {plain_law(sweep)[0]} µs, n {sweep.axis}"
        )
    told = [
        f"{robots[k].name} {features(robots[k].tree) @ law.coefficient:.1f} for "
        f"{np.median(turns[:, k]):.1f} µs"
        for k in (1, 3, 4, 6)
    ]
    return [
        record(
            "law of a step's cost, median miss", 100.0 * law.middle, "%", 10.0,
            f"worst {100.0 * law.worst:.0f} % of {sum(s.size.size for s in sweeps)} "
            f"trees; {law.text()}. Foretold: {', '.join(told)}",
        )
    ]  # fmt: skip


def _show(
    console: Console, case: str, runs: list[Run], ours: dict[bool, list[Run]]
) -> None:
    """One case as a table: every run of a peer, and ours that are no worse."""
    table = Table(title=f"Limb let go, case {case}: error, processor time of a second")
    for head in ("program", "size", "error mm", "ms/s", "limblink in space: mm, ms/s",
                 "in the plane: mm, ms/s"):  # fmt: skip
        table.add_column(head)
    for run in runs:
        row = [run.program, run.size, f"{run.error:.2f}", f"{1e3 * run.cost:.2f}"]
        for planar in (False, True):
            best = cheapest(ours[planar], run.error)
            row.append(
                "none as good"
                if best is None
                else f"{best.error:.2f}, {1e3 * best.cost:.2f} ({best.size})"
            )
        table.add_row(*row)
    console.print(table)


def _peers(console: Console) -> list[Record]:
    """All peers on both cases, and the best and worst ratio of each."""
    found: dict[str, list[tuple[float, Run, Run, str]]] = {}
    for case in CASES:
        console.print(f"dynamics: case {case} by our own step")
        ours = {planar: our_runs(case, planar=planar) for planar in (False, True)}
        runs = []
        for name, (module, peer) in PEERS.items():
            if missing(module):
                console.print(
                    f"[yellow]dynamics: {name} is not installed, so it is left out. "
                    f"Install it with: {INSTALL}"
                )
                continue
            console.print(f"dynamics: case {case} by {name}")
            for run in peer(case):
                runs.append(run)
                best = cheapest(ours[run.planar], run.error)
                ratio = np.inf if best is None else best.cost / run.cost
                found.setdefault(name, []).append((ratio, run, best or run, case))
        _show(console, case, runs, ours)
    records = []
    for name, pairs in found.items():
        order = sorted(pairs, key=lambda pair: pair[0])
        for word, (ratio, run, best, case) in (
            ("best", order[0]),
            ("worst", order[-1]),
        ):
            where = "in the plane" if run.planar else "in space"
            records.append(
                record(
                    f"limb at equal error against {name}, {word}", 1e3 * best.cost,
                    "ms/s", 1.0,
                    f"case {case}, both {where}: {run.size}: {run.error:.1f} mm, "
                    f"{1e3 * run.cost:.1f} ms/s; ours {best.size}: {best.error:.1f} "
                    f"mm; {1.0 / ratio:.0f} times quicker",
                    name, ratio,
                )
            )  # fmt: skip
    return records


def bench_dynamics(console: Console) -> list[Record]:
    """Cost of a step, its law, and peers at equal error."""
    with _one_core() as core:
        console.print(f"dynamics: on core {core}")
        robots = _robots(console)
        turns = [_turns(robots, console)]
        sweeps = measure_sweeps(console)
        turns.append(_turns(robots, console))
        peers = _peers(console)
        turns.append(_turns(robots, console))
        every = np.concatenate(turns)
        return [
            *_steps(robots, every, console),
            *_law(console, robots, every, sweeps),
            *peers,
        ]
