"""Facts A1 to A6 and A12: how the bilateral strategies behave under delay.

One degree of freedom, the defaults of `app.study.one_dof_setup`: reach of 80 mm in 1 s,
wall at 50 mm, 20 s. Delays are one-way.
"""

from collections.abc import Iterator
from dataclasses import replace

from app.config.teleop import (
    ForceParameters,
    TeleopParameters,
    TwoPortParameters,
    WaveMode,
    WaveParameters,
)
from app.study.fact import Fact, fact_at_least, fact_near, fact_that
from app.study.one_dof import run_one_dof
from app.study.one_dof_limits import critical_delay, loop_of
from app.study.one_dof_setup import (
    FIRM,
    FREE,
    LIGHT,
    SOFT,
    STIFF,
    Line,
    Setup,
)
from app.teleop.limits import delay_limit, lyapunov_bound, wave_stiffness
from app.teleop.strategy import Strategy

__all__ = ["bilateral_facts"]

_DELAYS = (0.001, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)


def _coupled(stiffness: float, damping: float) -> TeleopParameters:
    return TeleopParameters(
        stiffness_n_per_m=(stiffness,) * 3, damping_n_s_per_m=(damping,) * 3
    )


def _critical_ms(setup: Setup) -> float | None:
    found = critical_delay(setup)
    return None if found is None else 1e3 * found


def _linear_ms(setup: Setup, share: float | None = None) -> float:
    loop, contact = loop_of(setup)
    return 1e3 * delay_limit(loop, contact, share)


def _none_or_ms(found: float | None) -> str:
    return "none" if found is None else f"{found:.1f} ms"


def _position_position() -> Iterator[Fact]:
    soft = Setup(parameters=_coupled(200.0, 8.0))
    for wall, name in ((FREE, "free"), (STIFF, "stiff")):
        found = _critical_ms(replace(soft, wall=wall))
        yield fact_that(
            "A1", f"PP 200/8, relaxed, {name}: limit", "none", _none_or_ms(found)
        )
    light = replace(soft, arm=LIGHT, wall=FREE)
    linear = _linear_ms(light)
    yield fact_near("A1", "PP 200/8, light, free: linear", 93.3, linear, 0.1, "ms")
    yield fact_near(
        "A1", "PP 200/8, light, free", 101.7, _critical_ms(light), 0.12 * 93.3, "ms"
    )
    stiff = Setup(parameters=_coupled(1000.0, 10.0))
    for name, printed, linear_printed, setup in (
        ("relaxed, free", 27.5, 27.7, replace(stiff, wall=FREE)),
        ("relaxed, soft", 31.5, 31.6, replace(stiff, wall=SOFT)),
        ("light, stiff", 23.0, None, replace(stiff, arm=LIGHT)),
    ):
        yield fact_near(
            "A2", f"PP 1000/10, {name}", printed, _critical_ms(setup), 2.0, "ms"
        )
        if linear_printed is None:
            yield fact_that(
                "A2", f"PP 1000/10, {name}: linear", "inf", f"{_linear_ms(setup)}"
            )
        else:
            what = f"PP 1000/10, {name}: linear"
            ours = _linear_ms(setup)
            yield fact_near("A2", what, linear_printed, ours, 0.1, "ms")
    yield fact_that(
        "A2", "PP 1000/10, relaxed, stiff", "none", _none_or_ms(_critical_ms(stiff))
    )


def _undamped() -> Iterator[Fact]:
    for stiffness, printed, linear, bound in (
        (200.0, 35.0, 33.5, 29.1),
        (1000.0, 7.0, 6.3, 5.8),
    ):
        setup = Setup(parameters=_coupled(stiffness, 0.0), wall=FREE)
        loop, _ = loop_of(setup)
        below = 1e3 * lyapunov_bound(stiffness, loop.hand_damping, loop.tip_damping)
        exact = _linear_ms(setup)
        found = _critical_ms(setup)
        name = f"PP {stiffness:.0f}/0"
        yield fact_near("A3", f"{name}: bound", bound, below, 0.1, "ms")
        yield fact_near("A3", f"{name}: linear", linear, exact, 0.1, "ms")
        yield fact_near("A3", name, printed, found, 2.0, "ms")
        ordered = found is not None and below < exact <= found
        yield fact_that(
            "A3", f"{name}: bound < linear <= found", "yes", "yes" if ordered else "no"
        )


def _position_force() -> Iterator[Fact]:
    def setup(share: float) -> Setup:
        return Setup(
            strategy=Strategy.POSITION_FORCE,
            parameters=TeleopParameters(force=ForceParameters(share=share)),
        )

    for share, printed, linear in ((1.0, 33.0, 33.2), (0.5, 81.0, 83.4)):
        name = f"PF {share:g}, stiff"
        exact = _linear_ms(setup(share), share)
        yield fact_near("A4", f"{name}: linear", linear, exact, 0.1, "ms")
        yield fact_near("A4", name, printed, _critical_ms(setup(share)), 3.0, "ms")
    for name, other in (
        ("PF 0.25, stiff", setup(0.25)),
        ("PF 1, stiff, firm", replace(setup(1.0), arm=FIRM)),
    ):
        yield fact_that("A4", name, "none", _none_or_ms(_critical_ms(other)))
    run = run_one_dof(setup(1.0).with_delay(0.05))
    yield fact_at_least(
        "A4", "PF 1, stiff, 50 ms: injected in 20 s", "23.9 J", run.injected, 10.0, "J"
    )
    yield fact_near("A4", "the same: peak shown", 14.8, run.peak_shown, 0.2, "N")


def _waves() -> Iterator[Fact]:
    setup = Setup(strategy=Strategy.WAVES)
    least = 0.0
    unstable = 0
    for delay in _DELAYS:
        for wall in (FREE, STIFF):
            run = run_one_dof(replace(setup, wall=wall, line=Line(delay)))
            least = min(least, float(run.line_energy.min()))
            unstable += not run.stable
    yield fact_at_least(
        "A5", "waves, 1 ms to 2 s: least E_ch", "0 J", least, -1e-9, "J"
    )
    yield fact_that("A5", "waves, 1 ms to 2 s: unstable", "0", str(unstable))
    _, contact = loop_of(setup)
    for delay, printed in zip(
        _DELAYS, (179.10, 103.45, 72.29, 37.97, 21.20), strict=False
    ):
        shown = run_one_dof(setup.with_delay(delay)).displayed_stiffness
        name = f"waves, {1e3 * delay:.0f} ms: shown"
        yield fact_near("A5", name, printed, shown, 0.005 * printed, "N/m")
        formula = wave_stiffness(200.0, contact, 12.0, delay)
        yield fact_near("A5", f"{name}, formula", printed, formula, 0.01, "N/m")
    modes: tuple[tuple[WaveMode, float, float], ...] = (
        ("null", 0.0, 30.0),
        ("hold", 1.41, 18.8),
    )
    for mode, force, gap in modes:
        run = run_one_dof(
            replace(
                setup,
                parameters=TeleopParameters(waves=WaveParameters(mode=mode)),
                line=Line(0.1, loss=0.1),
            )
        )
        what = f"waves, 10 % lost, {mode}"
        held = run.mean(run.traces.contact_force)
        found = 1e3 * (run.mean(run.traces.hand) - run.mean(run.traces.tip))
        yield fact_near("A5", f"{what}: force", force, held, 0.01, "N")
        yield fact_near("A5", f"{what}: gap", gap, found, 0.2, "mm")


def _two_port() -> Iterator[Fact]:
    textbook = TeleopParameters(two_port=TwoPortParameters(textbook=True))
    setup = Setup(strategy=Strategy.TWO_PORT, wall=FREE)
    for delay in (0.05, 0.1, 0.5, 1.0):
        line = Line(delay)
        run = run_one_dof(replace(setup, parameters=textbook, line=line))
        gap = 1e3 * (run.mean(run.traces.hand) - run.mean(run.traces.tip))
        what = f"TDPA textbook, {1e3 * delay:.0f} ms: gap"
        yield fact_near("A6", what, 80.0, gap, 1.0, "mm")
        run = run_one_dof(replace(setup, line=line))
        gap = 1e3 * abs(run.mean(run.traces.hand) - run.mean(run.traces.tip))
        what = f"TDPA, {1e3 * delay:.0f} ms: gap in free water"
        yield fact_near("A6", what, 0.0, gap, 1.0, "mm")
    net, port = 0.0, 0.0
    printed = {0.001: 2.32, 0.05: 1.34, 0.1: 0.08}
    for delay in (0.001, 0.05, 0.1, 0.5, 1.0):
        run = run_one_dof(replace(setup, wall=STIFF, line=Line(delay)))
        net = min(net, float(run.net_energy.min()))
        port = min(port, run.least_port)
        if delay in printed:
            held = run.mean(run.traces.contact_force)
            what = f"TDPA, {1e3 * delay:.0f} ms: contact force"
            yield fact_near("A6", what, printed[delay], held, 0.05, "N")
    yield fact_at_least("A6", "TDPA: least E_net", "-0.087 J", net, -0.10, "J")
    yield fact_near("A6", "TDPA: least E_port", -0.036, port, 0.005, "J")


def _held_packets() -> Iterator[Fact]:
    for ticks, printed in ((1, "yes"), (50, "yes"), (100, "yes"), (200, "no")):
        run = run_one_dof(Setup(wall=FREE, line=Line(0.1, packet_ticks=ticks)))
        yield fact_that(
            "A12",
            f"PP held {ticks} ms, 0.1 s, free: stable",
            printed,
            "yes" if run.stable else "no",
        )


def bilateral_facts() -> Iterator[Fact]:
    """Find the facts one after another; some take a second of searching."""
    yield from _position_position()
    yield from _undamped()
    yield from _position_force()
    yield from _waves()
    yield from _two_port()
    yield from _held_packets()
