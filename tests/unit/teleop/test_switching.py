"""Strategies change in contact: no step above the slew limit, no energy given."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from app.study.one_dof import run_one_dof
from app.study.one_dof_setup import Line, Move, Setup
from app.teleop.strategy import Strategy

_ALL = [item for item in Strategy if item != Strategy.SUPERVISED]
_SWITCH = 8.0
_STEP = 1.0 + 1e-9  # 1000 N/s for a tick [N]
_LENT = 0.03  # that two-port passivity may give by itself: E_0 and a slip [J]
_SMALL = 1e-3  # [J]


def _run(first, delay, *switches, **changes):
    return run_one_dof(
        Setup(
            strategy=first,
            line=Line(delay),
            limited=True,
            switches=switches,
            **changes,
        )
    )


@pytest.fixture(scope="module", params=[0.05, 0.5])
def own(request):
    return request.param, {item: _run(item, request.param).injected for item in _ALL}


def test_a_change_in_contact_neither_jumps_nor_gives_energy(own):
    delay, alone = own
    for first, second in permutations(_ALL, 2):
        run = _run(first, delay, (_SWITCH, second))
        force = run.traces.hand_force[: run.ticks]
        lent = _LENT if Strategy.TWO_PORT in {first, second} else 0.0
        names = f"{first.short} -> {second.short}, {delay} s"
        assert np.abs(np.diff(force)).max() <= _STEP, names
        allowed = max(alone[first], alone[second]) + lent + _SMALL
        assert run.injected <= allowed, names
        assert not run.diverged, names


def test_the_force_is_kept_until_the_robot_follows():
    run = _run(Strategy.POSITION_POSITION, 0.5, (_SWITCH, Strategy.TWO_PORT))
    at = np.searchsorted(run.time, _SWITCH + np.array([-0.01, 0.49, 0.99, 7.0]))
    assert run.traces.hand_force[at] == pytest.approx([2.324] * 4, rel=0.01)
    assert run.traces.strategy_up[at].tolist() == [0, 0, 3, 3]


def test_a_force_that_was_not_shown_never_pushes_but_comes_with_the_next_press():
    moves = (Move(0.0, 0.08, 1.0), Move(10.0, 0.0, 1.0), Move(13.0, 0.08, 1.0))
    run = _run(
        Strategy.PREDICTIVE, 0.05, (_SWITCH, Strategy.POSITION_POSITION), moves=moves
    )
    held = np.searchsorted(run.time, 9.9)
    assert abs(run.traces.hand[held] - 0.08) < 1e-3
    assert run.mean(run.traces.hand_force) == pytest.approx(2.324, rel=0.01)
    assert run.injected < 1e-4


def test_a_change_to_and_fro_does_not_hear_what_was_told_before():
    waves, pair = Strategy.WAVES, Strategy.POSITION_POSITION
    switches = ((8.0, pair), (8.05, waves), (8.1, pair), (8.15, waves))
    run = _run(waves, 0.5, *switches)
    assert np.abs(np.diff(run.traces.hand_force[: run.ticks])).max() <= _STEP
    assert run.injected < _SMALL
    assert run.traces.engagement_up[run.ticks - 1] == 5


def test_a_silent_robot_leaves_the_hand_a_spring_that_only_resists():
    line = Line(0.02, outages=((5.0, 9.0),))
    base = _run(Strategy.POSITION_FORCE, 0.02)
    run = run_one_dof(
        replace(
            base.setup,
            line=line,
            moves=(Move(0.0, 0.08, 1.0), Move(7.0, 0.0, 0.5), Move(11.0, 0.08, 1.0)),
        )
    )
    at = np.searchsorted(run.time, (4.9, 6.5, 8.0))
    force = run.traces.hand_force[at]
    assert force[1] == pytest.approx(force[0], rel=0.05)
    assert force[2] == 0.0
    assert np.abs(np.diff(run.traces.hand_force[: run.ticks])).max() <= _STEP
    assert run.injected < _SMALL
    assert run.mean(run.traces.hand_force) == pytest.approx(
        base.mean(base.traces.hand_force), rel=0.02
    )


def test_ten_minutes_of_changes_and_losses_hold_the_slew_limit():
    generator = np.random.default_rng(6)
    times = np.sort(generator.uniform(1.0, 119.0, 60))
    chosen = generator.integers(0, len(_ALL), times.size)
    moves = tuple(
        Move(2.0 * i, float(generator.uniform(0.0, 0.09)), 1.0) for i in range(59)
    )
    for seed in range(5):
        cuts = np.sort(generator.uniform(0.0, 120.0, 20)).reshape(-1, 2)
        run = run_one_dof(
            Setup(
                strategy=Strategy.WAVES,
                line=Line(
                    0.1,
                    loss=0.2,
                    jitter=0.03,
                    outages=tuple((a, min(b, a + 3.0)) for a, b in cuts.tolist()),
                ),
                limited=True,
                moves=moves,
                switches=tuple(
                    (float(t), _ALL[c]) for t, c in zip(times, chosen, strict=True)
                ),
                duration=120.0,
                seed=seed,
            )
        )
        force = run.traces.hand_force[: run.ticks]
        assert np.abs(np.diff(force)).max() <= _STEP
        assert np.abs(force).max() <= 3.3 + 1e-9
        assert not run.diverged


def test_what_the_guard_burns_is_not_the_robots_to_spend():
    run = _run(Strategy.TWO_PORT, 0.5)
    assert run.traces.guard[: run.ticks].max() == 20.0
    assert run.injected < 0.02
    assert run.stable
