"""Strategies inside the tick: what the hand is shown, what the robot is told."""

from pathlib import Path

import numpy as np
import pytest

from app.config.teleop import TeleopParameters
from app.messages import InputMode, Source
from app.teleop.strategy import Strategy
from tests.unit.control.bench import MODEL, Bench

STIFFNESS = 150.0
AHEAD = np.array([1.0, 0.0, 0.0])
SLEW_N = TeleopParameters().render.slew_n_per_s * 1e-3  # a tick


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def hold(bench: Bench, place: np.ndarray, source: Source = Source.HAPTIC, **fields):
    """Lead the hand to a place, deadman held."""
    x, y, z = (float(value) for value in place)
    bench.say(source, deadman=True, mode=InputMode.TARGET, target=(x, y, z), **fields)


def wish(bench: Bench, strategy: int) -> None:
    mailbox = bench.blocks.teleop
    mailbox.local.revision[0] += 1
    mailbox.local.strategy[0] = strategy
    mailbox.publish()


def test_a_surface_found_far_behind_the_hand_holds_the_tip_at_it(bench: Bench) -> None:
    # 2 s late, at 50 mm/s: the hand is 60 mm beyond what the robot met
    bench.arm(Source.HAPTIC)
    hold(bench, bench.state.tip_commanded[0])
    bench.run(3)
    tip = bench.state.tip_commanded[0].copy()
    for step in range(1, 1301):
        hold(bench, tip + AHEAD * 50e-6 * step)
        bench.run(1)
    wall = tip + AHEAD * 0.005
    bench.report_wall(wall, STIFFNESS)
    for _ in range(2500):
        hold(bench, tip + AHEAD * 0.065)
        bench.run(1)
    outside = (wall - bench.state.tip_commanded[0]) @ AHEAD
    assert outside == pytest.approx(0.0, abs=2e-3)


def press(bench: Bench, depth: float, source: Source = Source.HAPTIC) -> np.ndarray:
    """Arm, and press `depth` [m] into a reported wall; returns the wall's place."""
    bench.arm(source)
    hold(bench, bench.state.tip_commanded[0], source)
    bench.run(3)
    tip = bench.state.tip_commanded[0].copy()
    wall = tip + AHEAD * 0.005
    bench.report_wall(wall, STIFFNESS)
    way = (wall + AHEAD * depth - tip) / 200
    for step in range(1, 201):
        x, y, z = (float(value) for value in 1e3 * way)
        hold(bench, tip + step * way, source, velocity=(x, y, z))
        bench.run(1)
    bench.say(source, velocity=(0.0, 0.0, 0.0))
    bench.run(1)
    return wall


def test_the_reported_surface_pushes_back_at_once(bench: Bench) -> None:
    press(bench, 0.01)
    assert bench.state.strategy[0] == Strategy.MODEL_MEDIATED
    assert bench.state.surface_known[0] == 1
    np.testing.assert_allclose(
        bench.state.force_hand, (STIFFNESS * 0.01, 0.0, 0.0), atol=1e-2
    )
    np.testing.assert_allclose(bench.state.sent_force, bench.state.force_hand)
    assert bench.state.port_energy[0] > 0.9 * 0.5 * STIFFNESS * 0.01**2
    assert bench.state.injected_energy[0] < 1e-6


def test_letting_go_shows_no_force_and_sends_no_signal(bench: Bench) -> None:
    press(bench, 0.01)
    bench.say(Source.HAPTIC, deadman=False)
    bench.run(1)
    assert not bench.state.force_hand.any()
    assert not bench.state.sent_force.any()
    assert bench.state.sent_time_ns[0] == 0


def test_the_clutch_shows_no_force(bench: Bench) -> None:
    press(bench, 0.01)
    bench.say(Source.HAPTIC, clutch=True)
    bench.run(1)
    assert not bench.state.force_hand.any()
    assert not bench.state.sent_force.any()


def test_strategies_change_in_contact_without_a_step(bench: Bench) -> None:
    press(bench, 0.01)
    before = bench.state.force_hand.copy()
    for strategy in (*Strategy, Strategy.MODEL_MEDIATED):
        wish(bench, int(strategy))
        for _ in range(300):
            bench.run(1)
            step = np.linalg.norm(bench.state.force_hand - before)
            assert step <= SLEW_N * (1.0 + 1e-9)
            before = bench.state.force_hand.copy()
        assert bench.state.strategy[0] == strategy
    assert bench.state.injected_energy[0] < 1e-6


def test_a_strategy_that_there_is_not_changes_nothing(bench: Bench) -> None:
    bench.arm()
    for number in (-1, len(Strategy), 10**9):
        wish(bench, number)
        bench.run(2)
        assert bench.state.strategy[0] == Strategy.MODEL_MEDIATED


def test_a_grip_holds_until_its_source_changes_it(bench: Bench) -> None:
    bench.arm()
    bench.drive(grip=1.0)
    bench.run(5)
    assert bench.state.grip[0] == 1.0
    bench.say(Source.GAMEPAD, deadman=False)
    bench.run(5)
    bench.drive(Source.CONSOLE, grip=0.0)
    bench.run(5)
    assert bench.state.active_source[0] == Source.CONSOLE
    assert bench.state.grip[0] == 1.0
    bench.say(Source.CONSOLE, grip=0.6)
    bench.run(5)
    assert bench.state.grip[0] == pytest.approx(0.6)
    assert not bench.state.grip[1:].any()


@pytest.mark.parametrize("wild", [np.nan, np.inf])
def test_a_wild_grip_or_velocity_is_no_sample(bench: Bench, wild: float) -> None:
    bench.arm()
    bench.drive(grip=wild)
    bench.run(3)
    assert bench.state.active_source[0] == -1
    bench.say(Source.GAMEPAD, grip=0.0, velocity=(0.0, wild, 0.0))
    bench.run(3)
    assert bench.state.active_source[0] == -1


def test_a_wild_report_shows_no_wild_force(bench: Bench) -> None:
    wall = press(bench, 0.01)
    bench.report_wall(np.full(3, np.nan), STIFFNESS, number=2)
    bench.run(50)
    assert np.isfinite(bench.state.force_hand).all()
    assert np.isfinite(bench.state.sent_force).all()
    assert np.isfinite(bench.state.coordinates_commanded).all()
    bench.report_wall(wall, STIFFNESS, number=3)
    hold(bench, wall - (0.02, 0.0, 0.0))
    bench.run(300)
    assert bench.state.surface_known[0] == 1
    assert np.isfinite(bench.state.surface_point[0]).all()


def test_the_force_of_a_far_sample_is_capped(bench: Bench) -> None:
    press(bench, 0.5)
    limit = TeleopParameters().render.force_limit_n
    assert np.linalg.norm(bench.state.force_hand) <= limit * (1.0 + 1e-9)


def test_other_limbs_surfaces_follow_their_reports(bench: Bench) -> None:
    bench.arm()
    bench.report_wall(np.array([0.9, 0.1, 0.0]), STIFFNESS, limb=1)
    bench.run(5)
    assert bench.state.surface_known.tolist()[:2] == [0, 1]
    np.testing.assert_allclose(bench.state.surface_point[1], (0.9, 0.1, 0.0))
    assert MODEL.tip_speed_limit.size == bench.state.surface_known.size
