"""The harness itself: energy, lines, walls, instability, and what it takes up."""

from dataclasses import replace

import numpy as np
import pytest

from app.study.one_dof import run_one_dof
from app.study.one_dof_limits import critical_delay, loop_of
from app.study.one_dof_setup import (
    FREE,
    LIGHT,
    STIFF,
    Line,
    Move,
    Press,
    Setup,
    Wall,
    newest_told,
    wall_path,
)
from app.teleop.limits import delay_limit
from app.teleop.strategy import Strategy


def test_at_rest_the_contact_is_a_chain_of_springs():
    run = run_one_dof(Setup())
    force = 0.03 / (1 / 135.0 + 1 / 200.0 + 1 / 2000.0)
    assert run.mean(run.traces.hand_force) == pytest.approx(force, rel=1e-6)
    assert run.mean(run.traces.contact_force) == pytest.approx(force, rel=1e-6)
    assert run.displayed_stiffness == pytest.approx(1 / (1 / 200 + 1 / 2000), rel=1e-6)


def test_the_energy_of_the_port_is_the_work_that_the_arm_does():
    run = run_one_dof(Setup(duration=3.0))
    trace, n, h = run.traces, run.ticks, run.setup.period
    handle, arm = run.setup.parameters.handle, run.setup.arm
    velocity = trace.hand_velocity[:n]
    aim_velocity = np.gradient(trace.aim[:n], h)
    push = arm.stiffness * (trace.aim[:n] - trace.hand[:n])
    push += arm.damping * (aim_velocity - velocity)
    mean = 0.5 * (velocity[1:] + velocity[:-1])
    work = np.sum(push[:-1] * mean) * h
    burnt = handle.damping_n_s_per_m * np.sum(velocity[:-1] * mean) * h
    kinetic = 0.5 * (handle.mass_kg + arm.mass) * velocity[-1] ** 2
    assert trace.port_energy[n - 2] == pytest.approx(work - burnt - kinetic, rel=2e-3)


def test_hunt_crossley_and_kelvin_voigt_make_their_forces():
    soft = Wall(stiffness=3000.0, damping=20.0, exponent=1.3)
    run = run_one_dof(Setup(wall=soft))
    depth = run.mean(run.traces.tip) - soft.position
    assert run.mean(run.traces.contact_force) == pytest.approx(
        3000.0 * depth**1.3, rel=1e-3
    )
    assert run.traces.contact_force.min() == 0.0


def test_a_wall_that_is_taken_away_lets_the_tip_go():
    run = run_one_dof(Setup(wall=replace(STIFF, moves=((5.0, 0.06), (10.0, np.inf)))))
    at = np.searchsorted(run.time, (4.9, 9.9, 19.9))
    tip = run.traces.tip[at]
    assert 0.05 < tip[0] < 0.052
    assert 0.06 < tip[1] < 0.062
    assert tip[2] == pytest.approx(0.08, abs=1e-4)


def test_a_line_holds_drops_and_orders():
    setup = Setup(line=Line(0.01, packet_ticks=5, outages=((0.1, 0.2),)), duration=1.0)
    heard = newest_told(setup, 0.01, np.random.default_rng(0))
    ticks = np.arange(setup.ticks)
    known = heard >= 0
    assert (heard[known] % 5 == 0).all()
    assert (ticks[known] - heard[known] >= 10).all()
    assert (np.diff(heard) >= 0).all()
    start = setup.idle_ticks
    assert (heard[start + 115 : start + 205] < start + 100).all()
    rough = replace(setup, line=Line(0.05, jitter=0.02, loss=0.3))
    heard = newest_told(rough, 0.05, np.random.default_rng(1))
    told = np.unique(heard).size / rough.ticks
    assert 0.1 < told < 0.2  # most are overtaken
    assert (np.diff(heard) >= 0).all()


def test_the_same_seed_is_the_same_run_and_another_is_not():
    setup = Setup(strategy=Strategy.WAVES, line=Line(0.05, loss=0.2), duration=4.0)
    first, again = run_one_dof(setup), run_one_dof(setup)
    other = run_one_dof(replace(setup, seed=1))
    assert np.array_equal(first.traces.hand, again.traces.hand)
    assert not np.array_equal(first.traces.hand, other.traces.hand)


def test_a_held_force_is_reached():
    press = Press(2.0, 19.0, 1.5)
    run = run_one_dof(Setup(press=press))
    assert run.mean(run.traces.hand_force, 0.5) == pytest.approx(1.5, rel=0.1)


def test_unstable_runs_are_told_from_stable_ones():
    setup = Setup(arm=LIGHT, wall=FREE)
    assert run_one_dof(setup.with_delay(0.08)).stable
    wild = run_one_dof(setup.with_delay(0.2))
    assert not wild.stable
    assert wild.diverged
    assert not run_one_dof(setup.with_delay(0.11)).stable


def test_a_run_that_swings_longer_comes_closer_to_the_linear_limit():
    setup = Setup(arm=LIGHT, wall=FREE)
    exact = delay_limit(*loop_of(setup))
    near = [
        critical_delay(replace(setup, duration=duration), grid=(0.08, 0.15))
        for duration in (10.0, 20.0, 80.0)
    ]
    assert near[0] > near[1] > near[2] > exact
    assert near[2] == pytest.approx(exact, abs=2e-3)


def test_the_first_crossing_is_found_and_a_stable_grid_gives_none():
    setup = Setup()

    def judge(item):
        return not (0.0415 < item.line.down < 0.06 or item.line.down > 0.2)

    assert critical_delay(setup, stable=judge) == pytest.approx(0.0415)
    assert critical_delay(setup, stable=lambda _: True) is None


def test_moves_and_walls_are_given_in_time_from_the_end_of_idling():
    setup = Setup(
        moves=(Move(0.0, 0.08, 1.0), Move(2.0, 0.0, 1.0)),
        wall=FREE,
        line=Line(0.5),
        duration=4.0,
    )
    run = run_one_dof(setup)
    at = np.searchsorted(run.time, (0.0, 1.5, 3.9))
    assert run.traces.aim[at] == pytest.approx([0.0, 0.08, 0.0], abs=1e-9)
    assert np.isinf(wall_path(setup)).all()
    assert np.all(run.traces.hand[: at[0]] == 0.0)
