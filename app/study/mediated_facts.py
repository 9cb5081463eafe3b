"""Facts A7 to A11 and A13: model mediation, and the deadband of its signals.

The printed figures are those of a reference that fits in metres, keeps the estimate's
shrinkage of 11 %, and caps the shown stiffness only. Ours fits in centimetres, and puts
the robot's proxy where it presses as hard as the hand feels, so most errors are 0. A10
is shown with a force noise of 0.2 N: at 0.02 N ours creeps by 0.1 mm in 20 s. A13 is of
one reach into the stiff wall, of 5 s; two reaches need 11 % of the velocity, and one in
which the model comes while the hand bounces (1 ms) 16 %.
"""

from collections.abc import Iterator

import numpy as np

from app.link.signal_deadband import (
    FORCE_DEADBAND,
    VELOCITY_DEADBAND,
    sent_share,
)
from app.study.fact import Fact, fact_at_least, fact_near
from app.study.mediated import UNGATED, press_twice
from app.study.one_dof import run_one_dof
from app.study.one_dof_setup import SOFT, STIFF, Line, Setup
from app.teleop.strategy import Strategy

__all__ = ["mediated_facts"]

_DELAYS = (0.1, 0.5, 1.0, 2.0)
_SEEDS = 20
_LONG_HOLD_S = 60.0
_MUCH_NOISE_N = 0.2


def _at_most(
    name: str, what: str, printed: str, ours: float, most: float, unit: str
) -> Fact:
    bound = f"<= {most:.3g}"
    return Fact(name, what, printed, f"{ours:.3g} {unit}", bound, ours <= most)


def _second_press() -> Iterator[Fact]:
    for wall, name, printed in ((STIFF, "stiff", "1.3-1.7 %"), (SOFT, "soft", "0.3 %")):
        presses = [press_twice(delay, wall) for delay in _DELAYS]
        error = 100.0 * max(press.error for press in presses)
        yield _at_most("A7", f"MMT {name}, 0.1-2 s: error", printed, error, 5.0, "%")
        apart = max(abs(press.hand - press.robot) for press in presses)
        what = f"MMT {name}: hand less robot"
        yield _at_most("A7", what, "0.02 N", apart, 0.02, "N")
        injected = 1e3 * max(press.injected for press in presses)
        what = f"MMT {name}: injected"
        yield _at_most("A7", what, "0.0 mJ", injected, 0.1, "mJ")
        jump = max(press.jump for press in presses)
        what = f"MMT {name}: greatest step in 1 ms"
        yield _at_most("A7", what, "0.87, 0.24 N", jump, 0.87, "N")
        told = [press.reports()[-1] for press in presses]
        for item in (told[0], told[-1]):
            true = wall.stiffness
            what = f"{name}: stiffness told"
            yield fact_near("A9", what, true, item[2], 0.15 * true, "N/m")
            what = f"{name}: place told"
            yield fact_near("A9", what, 50.0, 1e3 * item[1], 1.0, "mm")
    errors = [
        press_twice(0.5, force_noise=0.02, seed=seed).error for seed in range(_SEEDS)
    ]
    what = f"MMT stiff, {_SEEDS} seeds of noise: worst"
    yield _at_most("A7", what, "1.7 %", 100.0 * max(errors), 5.0, "%")


def _without() -> Iterator[Fact]:
    naive = press_twice(0.5, naive=True)
    what = "MMT naive: greatest step in 1 ms"
    yield fact_at_least("A8", what, "11.7 N", naive.jump, 5.0, "N")
    what = "MMT naive: injected"
    yield fact_at_least("A8", what, "218-240 mJ", 1e3 * naive.injected, 100.0, "mJ")
    noise, hold = _MUCH_NOISE_N, _LONG_HOLD_S
    gated = press_twice(0.5, force_noise=noise, hold=hold)
    ungated = press_twice(0.5, force_noise=noise, hold=hold, estimator=UNGATED)
    lost = 100.0 * (1.0 - ungated.hand / gated.hand)
    yield fact_at_least("A10", "MMT ungated: force lost", "12-15 %", lost, 8.0, "%")
    creep = 1e3 * (ungated.shown - 0.05)
    yield fact_at_least("A10", "MMT ungated: creep", "5-7 mm", creep, 5.0, "mm")
    still = 1e3 * abs(gated.shown - 0.05)
    yield _at_most("A10", "MMT gated, same noise: creep", "", still, 1.0, "mm")
    alone = press_twice(0.5, feed_forward=False)
    what = "MMT, no feed-forward: hand"
    yield fact_near("A11", what, 3.80, alone.hand, 0.19, "N")
    what = "MMT, no feed-forward: robot"
    yield fact_near("A11", what, 0.34, alone.robot, 0.02, "N")
    sparse = press_twice(1.0, packet_ticks=200)
    what = "MMT at 5 Hz, 1 s: error"
    yield _at_most("A11", what, "1.7 %", 100.0 * sparse.error, 5.0, "%")
    what = "MMT at 5 Hz, 1 s: injected"
    yield _at_most("A11", what, "0 mJ", 1e3 * sparse.injected, 0.1, "mJ")


def _deadband() -> Iterator[Fact]:
    for strategy, delay in (
        (Strategy.POSITION_FORCE, 0.001),
        (Strategy.MODEL_MEDIATED, 0.1),
    ):
        setup = Setup(strategy=strategy, wall=STIFF, line=Line(delay), duration=5.0)
        traces = run_one_dof(setup).traces
        rows = (
            ("velocity", VELOCITY_DEADBAND, traces.hand_velocity, ("6.6 %", "2.1 %")),
            ("force", FORCE_DEADBAND, traces.hand_force, ("0.5 %", "0.6 %")),
        )
        for name, band, trace, printed in rows:
            for linear, figure in enumerate(printed):
                samples = np.zeros((trace.size, 3))
                samples[:, 0] = trace
                model = band._replace(linear=linear)
                share = 100.0 * sent_share(model, samples, 1_000_000)
                held = "line" if linear else "held"
                what = f"deadband, {strategy.short}, {name}, {held}"
                yield _at_most("A13", what, figure, share, 10.0, "%")


def mediated_facts() -> Iterator[Fact]:
    """Find the facts one after another."""
    yield from _second_press()
    yield from _without()
    yield from _deadband()
