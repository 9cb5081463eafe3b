"""What is seen: as the strategy draws, late or not, at 60 Hz, beyond the tip."""

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.control.mailbox import Layout
from app.messages import LinkHealth, StationState, health_shapes, state_shapes
from app.operator.look import Eye, Trail
from app.teleop.strategy import Strategy

MODEL = build_robot_model(load_robot("rov-arm"))
REST = MODEL.rest_coordinates


def blocks() -> tuple[StationState, LinkHealth]:
    state_layout = Layout(StationState, state_shapes(MODEL))
    health_layout = Layout(LinkHealth, health_shapes(MODEL))
    state = state_layout.view(np.zeros(state_layout.words, dtype=np.int64))
    health = health_layout.view(np.zeros(health_layout.words, dtype=np.int64))
    state.coordinates_model[:] = REST
    return state, health


@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_eye_follows_what_the_strategy_draws(strategy: Strategy) -> None:
    state, health = blocks()
    state.strategy[0] = strategy
    health.rtt_ms[0] = 1500.0
    health.confirmed_generated_ns[0] = 1  # straight, as the zeros say
    seen = Eye(MODEL, 0).look(NS_PER_S, state, health)
    assert seen is not None
    predicted = strategy in {Strategy.MODEL_MEDIATED, Strategy.PREDICTIVE}
    assert seen.predicted is predicted
    assert seen.visual_delay_s == (0.0 if predicted else 1.5)
    np.testing.assert_allclose(seen.confirmed, [0.0, 0.0, -0.138 - 0.287], atol=1e-12)
    off = float(np.linalg.norm(seen.tip - seen.confirmed))
    assert (off > 0.01) is predicted


def test_nothing_is_seen_before_telemetry() -> None:
    state, health = blocks()
    assert Eye(MODEL, 0).look(NS_PER_S, state, health) is None


def test_a_point_ahead_of_the_tip_and_the_reaction_on_the_hand() -> None:
    state, health = blocks()
    health.confirmed_generated_ns[0] = 1
    state.force_hand[:] = [1.0, 0.0, -2.0]
    seen = Eye(MODEL, 0, "delayed", ahead=0.03).look(NS_PER_S, state, health)
    assert seen is not None
    np.testing.assert_allclose(seen.tip, [0.0, 0.0, -0.138 - 0.317], atol=1e-12)
    np.testing.assert_allclose(seen.force, [-1.0, 0.0, 2.0])


def test_there_are_sixty_frames_a_second() -> None:
    state, health = blocks()
    health.confirmed_generated_ns[0] = 1
    eye = Eye(MODEL, 0)
    times = set()
    for k in range(1000):
        seen = eye.look(NS_PER_S + k * NS_PER_MS, state, health)
        assert seen is not None
        times.add(seen.time_ns)
    assert len(times) == 60


def test_speed_is_that_of_what_is_shown_however_seldom() -> None:
    for period_ms in (4, 17, 500):
        trail = Trail()
        for k in range(20):
            place = np.array([0.02 * k * period_ms * 1e-3, 0.0, 0.0])
            trail.show(1 + k * period_ms * NS_PER_MS, place)
            trail.show(1 + k * period_ms * NS_PER_MS, place)  # shown again
        assert trail.speed == pytest.approx(0.02)


@pytest.mark.parametrize("period_ms", [20, 200, 500])
def test_noise_is_seen_as_rest_and_motion_is_still_seen(period_ms: int) -> None:
    random = np.random.default_rng(2)
    still, moving = Trail(0.5e-3), Trail(0.5e-3)
    rests, speeds = [], []
    for k in range(400):
        noise = 0.5e-3 * random.standard_normal(3)
        stamp_ns = 1 + k * period_ms * NS_PER_MS
        still.show(stamp_ns, noise)
        moving.show(stamp_ns, noise + np.array([5e-5 * k * period_ms, 0.0, 0.0]))
        rests.append(still.speed < 3e-3)
        speeds.append(moving.speed)
    assert np.mean(rests[10:]) > 0.95
    assert np.median(speeds[10:]) == pytest.approx(0.05, rel=0.2)


@pytest.mark.parametrize(("told", "seen_as"), [(0, None), (1, True), (-1, False)])
def test_what_the_gripper_holds_is_seen_as_it_was_told(
    told: int, seen_as: bool | None
) -> None:
    state, health = blocks()
    health.confirmed_generated_ns[0] = 1
    health.holding[0] = told
    health.confirmed_command_ns[0] = NS_PER_S
    health.rtt_ms[0] = 1000.0
    seen = Eye(MODEL, 0).look(2 * NS_PER_S, state, health)
    assert seen is not None
    assert seen.holding is seen_as
    assert not seen.is_stale
    late = Eye(MODEL, 0).look(3 * NS_PER_S + 100, state, health)
    assert late is not None
    assert late.is_stale  # more than a second beyond the round trip
