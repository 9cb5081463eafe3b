"""The control tick in virtual time: who may command, when, and what moves no limb."""

from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.control.arming import ARM_REFUSAL_TEXT
from app.messages import InputMode, RobotState, Source, StationMode
from tests.unit.control.bench import MODEL, Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_nothing_moves_before_arming(bench: Bench) -> None:
    bench.drive()
    bench.run(5)
    before = bench.state.coordinates_commanded.copy()
    bench.run(200)
    assert np.array_equal(bench.state.coordinates_commanded, before)
    assert bench.state.active_source[0] == -1


def test_a_held_stick_moves_the_tip_at_its_speed(bench: Bench) -> None:
    bench.arm()
    before = bench.state.tip_commanded[0].copy()
    bench.drive()
    bench.run(300)
    moved = bench.state.tip_commanded[0] - before
    speed = 0.5 * MODEL.tip_speed_limit[0]
    assert moved[1] == pytest.approx(0.3 * speed, rel=0.05)
    assert np.abs(moved[[0, 2]]).max() < 1e-3
    assert bench.state.active_source[0] == Source.GAMEPAD


@pytest.mark.parametrize(
    ("source", "limit_ms"),
    [
        (Source.GAMEPAD, 20),
        (Source.CONSOLE, 150),
        (Source.SCRIPT, 20),
        (Source.HAPTIC, 20),
    ],
)
def test_a_silent_source_is_neutral_at_its_age_limit(
    bench: Bench, source: Source, limit_ms: int
) -> None:
    bench.arm(source)
    bench.drive(source)
    bench.run(50)
    bench.run(limit_ms, silent=(source,))
    assert bench.state.active_source[0] == source
    bench.run(1, silent=(source,))
    assert bench.state.active_source[0] == -1
    still = bench.state.tip_commanded[0].copy()
    bench.run(200, silent=(source,))
    assert np.linalg.norm(bench.state.tip_commanded[0] - still) < 1e-6


def test_an_unplugged_source_is_neutral_in_the_same_tick(bench: Bench) -> None:
    bench.arm()
    bench.drive()
    bench.run(50)
    bench.say(Source.GAMEPAD, present=False)
    bench.run(1)
    assert bench.state.active_source[0] == -1


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
def test_a_wild_sample_is_no_sample(bench: Bench, wild: float) -> None:
    bench.arm()
    bench.drive()
    bench.run(20)
    bench.say(Source.GAMEPAD, rate=(0.0, wild, 0.0))
    bench.run(20)
    assert bench.state.active_source[0] == -1
    assert np.isfinite(bench.state.coordinates_commanded).all()


def test_a_stamp_from_the_future_is_not_believed(bench: Bench) -> None:
    bench.arm()
    bench.drive()
    bench.run(20)
    bench.put(Source.GAMEPAD, bench.now_ns + 500 * NS_PER_MS)
    bench.run(5, silent=(Source.GAMEPAD,))
    assert bench.state.active_source[0] == -1


def _refusal(bench: Bench) -> str:
    assert bench.state.mode[0] != StationMode.ARMED
    return ARM_REFUSAL_TEXT[int(bench.state.arm_refusal[0])]


def test_arming_is_refused_with_its_reason(bench: Bench) -> None:
    bench.obeys = False
    health = bench.blocks.health.local
    bench.say(Source.GAMEPAD)
    bench.run(3)
    bench.hear(RobotState.IDLE, age_ns=2 * NS_PER_S)
    bench.press(Source.GAMEPAD, "arm")
    assert "too old" in _refusal(bench)
    bench.hear(RobotState.ESTOP)
    bench.press(Source.GAMEPAD, "arm")
    assert "still in emergency stop" in _refusal(bench)
    health.rtt_ms[0] = np.nan
    bench.hear(RobotState.IDLE)
    bench.press(Source.GAMEPAD, "arm")
    assert "has not heard us" in _refusal(bench)
    health.rtt_ms[0] = 1.0
    bench.hear(RobotState.IDLE)
    health.confirmed_generated_ns[2] = 0
    bench.blocks.health.publish()
    bench.press(Source.GAMEPAD, "arm")
    assert "not every limb" in _refusal(bench)
    bench.hear(RobotState.IDLE)
    bench.say(Source.GAMEPAD, deadman=True)
    bench.press(Source.GAMEPAD, "arm")
    assert "release the deadman" in _refusal(bench)
    health.robot_heard_ns[0] = 0
    bench.blocks.health.publish()
    bench.say(Source.GAMEPAD, deadman=False)
    bench.press(Source.GAMEPAD, "arm")
    assert "no telemetry" in _refusal(bench)


def test_arming_takes_over_the_measured_pose(bench: Bench) -> None:
    pose = MODEL.rest_coordinates.copy()
    pose[:, 1] += 0.3
    bench.blocks.health.local.confirmed_coordinates[:] = pose
    bench.arm()
    assert np.abs(bench.state.coordinates_commanded - pose).max() < 2e-3
    assert np.abs(bench.state.coordinates_model - pose)[:, :2].max() < 0.05


def test_the_emergency_stop_latches_and_two_acts_clear_it(bench: Bench) -> None:
    bench.arm()
    bench.drive()
    bench.run(50)
    bench.press(Source.GAMEPAD, "estop")
    assert bench.state.mode[0] == StationMode.ESTOP
    still = bench.state.coordinates_commanded.copy()
    bench.run(100)
    assert np.array_equal(bench.state.coordinates_commanded, still)
    bench.say(Source.GAMEPAD, deadman=False)
    bench.press(Source.GAMEPAD, "arm")
    assert "latched" in _refusal(bench)
    bench.press(Source.GAMEPAD, "estop_reset")
    assert bench.state.mode[0] == StationMode.DISARMED
    epoch = int(bench.state.arm_epoch[0])
    bench.press(Source.GAMEPAD, "arm")
    assert bench.state.mode[0] == StationMode.ARMED
    assert bench.state.arm_epoch[0] != epoch


def test_a_stop_counts_however_old_and_an_arming_does_not(bench: Bench) -> None:
    bench.arm()
    bench.say(Source.CONSOLE)
    bench.run(3)
    bench.say(Source.CONSOLE, estop_count=1)
    bench.put(Source.CONSOLE, bench.now_ns - NS_PER_S)
    bench.run(1, silent=(Source.CONSOLE,))
    assert bench.state.mode[0] == StationMode.ESTOP
    bench.press(Source.GAMEPAD, "estop_reset")
    bench.say(Source.CONSOLE, arm_count=1)
    bench.put(Source.CONSOLE, bench.now_ns - NS_PER_S)
    bench.run(2, silent=(Source.CONSOLE,))
    assert bench.state.mode[0] == StationMode.DISARMED


def test_a_restarted_source_presses_nothing(bench: Bench) -> None:
    bench.say(Source.CONSOLE, arm_count=7)
    bench.run(3)
    assert bench.state.mode[0] == StationMode.DISARMED
    bench.say(Source.CONSOLE, arm_count=0)
    bench.run(3)
    assert bench.state.mode[0] == StationMode.DISARMED
    bench.press(Source.CONSOLE, "arm")
    assert bench.state.mode[0] == StationMode.ARMED


def test_one_source_is_in_charge_until_it_lets_go(bench: Bench) -> None:
    bench.arm()
    bench.say(Source.CONSOLE)
    bench.drive(Source.CONSOLE, limb=1)
    bench.run(20)
    assert bench.state.active_source[0] == Source.CONSOLE
    bench.drive(Source.GAMEPAD)
    bench.run(20)
    assert bench.state.active_source[0] == Source.CONSOLE
    assert bench.state.selected_limb[0] == 1
    bench.say(Source.CONSOLE, deadman=False)
    bench.run(2)
    assert bench.state.active_source[0] == Source.GAMEPAD


def test_an_absolute_target_taken_up_elsewhere_does_not_jump(bench: Bench) -> None:
    bench.arm()
    before = bench.state.tip_commanded[0].copy()
    away = tuple(float(x) for x in before + 0.2)
    bench.say(Source.GAMEPAD, deadman=True, mode=InputMode.TARGET, target=away, limb=0)
    bench.run(300)
    assert np.linalg.norm(bench.state.tip_commanded[0] - before) < 1e-4
    moved = tuple(float(x) for x in before + 0.2 + np.array([0.0, 0.01, 0.0]))
    bench.say(Source.GAMEPAD, target=moved)
    bench.run(500)
    step = bench.state.tip_commanded[0] - before
    assert step[1] == pytest.approx(0.01, abs=1e-3)


def test_the_clutch_lets_the_hand_move_and_the_target_stay(bench: Bench) -> None:
    bench.arm()
    tip = bench.state.tip_commanded[0].copy()
    bench.say(
        Source.GAMEPAD,
        deadman=True,
        mode=InputMode.TARGET,
        target=tuple(float(x) for x in tip),
    )
    bench.run(20)
    bench.say(Source.GAMEPAD, clutch=True, target=tuple(float(x) for x in tip + 0.1))
    bench.run(100)
    bench.say(Source.GAMEPAD, clutch=False)
    bench.run(300)
    assert np.linalg.norm(bench.state.tip_commanded[0] - tip) < 1e-4


@pytest.mark.parametrize(
    "state", [RobotState.IDLE, RobotState.COMPLIANT, RobotState.SLACK, RobotState.ESTOP]
)
def test_a_robot_that_let_go_disarms_the_station(
    bench: Bench, state: RobotState
) -> None:
    bench.arm()
    bench.run(10)
    bench.obeys = False
    bench.hear(state)
    bench.run(2)
    assert bench.state.mode[0] == StationMode.DISARMED
    assert "let go by itself" in ARM_REFUSAL_TEXT[int(bench.state.arm_refusal[0])]


def test_a_holding_robot_does_not(bench: Bench) -> None:
    bench.arm()
    bench.run(10)
    bench.obeys = False
    bench.hear(RobotState.HOLD)
    bench.run(2)
    assert bench.state.mode[0] == StationMode.ARMED


def test_a_robot_whose_state_is_not_known_yet_does_not(bench: Bench) -> None:
    bench.arm()
    bench.run(10)
    bench.obeys = False
    health = bench.blocks.health.local
    health.robot_state[0], health.robot_epoch[0] = -1, 0  # as after its hello
    bench.blocks.health.publish()
    bench.run(2)
    assert bench.state.mode[0] == StationMode.ARMED


def test_letting_go_of_a_far_target_leaves_nothing_to_pull(bench: Bench) -> None:
    bench.arm()
    bench.drive(rate=(1.0, 0.0, 0.0))  # straight out, beyond reach
    bench.run(1500)
    lead = np.linalg.norm(bench.state.target_position[0] - bench.state.tip_commanded[0])
    assert lead < 0.051
    bench.say(Source.GAMEPAD, deadman=False)
    bench.run(2)
    still = bench.state.tip_commanded[0].copy()
    bench.run(300)
    assert np.linalg.norm(bench.state.tip_commanded[0] - still) < 1e-4
