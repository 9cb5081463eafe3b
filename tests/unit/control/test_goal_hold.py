"""Limbs that work on goals, and blended assistance, in the loop's own tick."""

from pathlib import Path

import numpy as np
import pytest

from app.config.teleop import BlendParameters, TeleopParameters
from app.messages import InputMode, Source
from app.teleop.strategy import Strategy
from tests.unit.control.bench import MODEL, Bench

LIMB, ROWS = 1, slice(2, 4)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.arm()
    made.say(Source.GAMEPAD, limb=LIMB)
    made.run(2)
    return made


def hold(bench: Bench, value: int) -> None:
    bench.blocks.health.local.goal_hold[LIMB] = value


def move_robot(bench: Bench, bend: float) -> np.ndarray:
    """Let the robot's limb be elsewhere; return its pose."""
    pose = bench.blocks.health.local.confirmed_coordinates
    pose[ROWS, 0] = MODEL.rest_coordinates[ROWS, 0] + bend
    return pose[ROWS].copy()


def test_a_goal_on_its_way_lets_the_limb_stand(bench: Bench) -> None:
    bench.drive()
    bench.run(100)
    before = bench.state.coordinates_commanded[ROWS].copy()
    hold(bench, 1)
    move_robot(bench, 0.3)
    bench.run(200)
    assert np.abs(bench.state.coordinates_commanded[ROWS] - before).max() < 2e-3
    targets, tips = bench.state.target_position, bench.state.tip_commanded
    assert targets == pytest.approx(tips, abs=1e-5)


def test_after_a_goal_the_command_begins_at_the_confirmed_pose(bench: Bench) -> None:
    bench.drive()
    hold(bench, 2)
    others = bench.state.coordinates_commanded[:2].copy()
    for bend in np.linspace(0.0, 0.3, 30):
        pose = move_robot(bench, bend)
        bench.run(10)
    bench.run(2500)  # ten time constants and more
    assert bench.state.coordinates_commanded[ROWS] == pytest.approx(pose, abs=1e-5)
    assert np.array_equal(bench.state.coordinates_commanded[:2], others)
    assert not bench.state.unexplained.any()
    tip = bench.state.tip_commanded[LIMB].copy()
    hold(bench, 0)  # with the stick still held
    for _ in range(100):
        before = bench.state.tip_commanded[LIMB].copy()
        bench.run(1)
        step = np.linalg.norm(bench.state.tip_commanded[LIMB] - before)
        assert step < 1.5e-3 * MODEL.tip_speed_limit[LIMB]
    assert bench.state.tip_commanded[LIMB][1] > tip[1] + 1e-3, "the stick drives it"


def test_an_absolute_hand_that_moved_on_meanwhile_takes_up_where_the_limb_is(
    bench: Bench,
) -> None:
    bench.drive(mode=InputMode.TARGET, target=(0.5, 0.1, 0.1))
    hold(bench, 2)
    move_robot(bench, 0.2)
    bench.run(2500)
    tip = bench.state.tip_commanded[LIMB].copy()
    bench.say(Source.GAMEPAD, target=(0.3, -0.2, 0.3))
    bench.run(20)
    hold(bench, 0)
    bench.run(100)
    assert bench.state.tip_commanded[LIMB] == pytest.approx(tip, abs=1e-4)


def test_the_gripper_stays_as_the_goal_left_it(bench: Bench) -> None:
    bench.drive(rate=(0.0, 0.0, 0.0))
    bench.run(3)
    hold(bench, 2)
    bench.blocks.health.local.goal_grip[:] = np.nan
    bench.blocks.health.local.goal_grip[LIMB] = 1.0
    bench.say(Source.GAMEPAD, grip=0.4)
    bench.run(3)
    hold(bench, 0)
    bench.run(3)
    assert bench.state.grip[LIMB] == 1.0
    bench.say(Source.GAMEPAD, grip=0.0)
    bench.run(2)
    assert bench.state.grip[LIMB] == 0.0


def test_with_supervised_goals_no_hand_moves_a_limb(bench: Bench) -> None:
    wish = bench.blocks.teleop
    wish.local.revision[0] += 1
    wish.local.strategy[0] = int(Strategy.SUPERVISED)
    wish.publish()
    bench.run(2)
    before = bench.state.coordinates_commanded.copy()
    bench.drive()
    bench.run(300)
    assert np.abs(bench.state.coordinates_commanded - before).max() < 2e-3
    assert not bench.state.sent_time_ns[0], "no signal of a hand is sent"


def blend(bench: Bench, share: float, aim: np.ndarray, limb: int = LIMB) -> None:
    wish = bench.blocks.teleop
    wish.local.blend_revision[0] += 1
    wish.local.blend[0], wish.local.aim_limb[0] = share, limb
    wish.local.aim[:] = aim
    wish.publish()


@pytest.mark.parametrize("mode", [InputMode.RATE, InputMode.TARGET])
def test_assistance_leads_the_tip_to_its_aim(bench: Bench, mode: InputMode) -> None:
    aim = bench.state.tip_commanded[LIMB] + [-0.01, 0.02, -0.015]
    target = tuple(bench.state.tip_commanded[LIMB])
    bench.drive(mode=mode, rate=(0.0, 0.0, 0.0), target=target)
    bench.run(300)
    start = np.linalg.norm(bench.state.tip_commanded[LIMB] - aim)
    assert start > 0.02, "nothing leads it"
    blend(bench, 0.8, aim)
    steps, shares = [], []
    for _ in range(4000):
        before = bench.state.tip_commanded[LIMB].copy()
        bench.run(1)
        steps.append(np.linalg.norm(bench.state.tip_commanded[LIMB] - before))
        shares.append(float(bench.state.blend_share[0]))
    assert np.linalg.norm(bench.state.tip_commanded[LIMB] - aim) < 1e-3
    assert max(steps) < 1.5e-3 * MODEL.tip_speed_limit[LIMB]
    assert shares[0] == pytest.approx(1.0 - start / 0.05, abs=0.02)
    assert shares[-1] == 0.8
    assert np.abs(np.diff(shares)).max() < 2e-3
    bench.say(Source.GAMEPAD, deadman=False)
    bench.run(3)
    assert bench.state.blend_share[0] == 0.0


def test_assistance_leaves_the_operator_the_way_out(bench: Bench) -> None:
    aim = bench.state.tip_commanded[LIMB] + [0.0, 0.02, 0.0]
    blend(bench, 0.8, aim)
    bench.drive(rate=(0.0, -1.0, 0.0))
    bench.run(2500)
    assert np.linalg.norm(bench.state.tip_commanded[LIMB] - aim) > 0.05
    assert bench.state.blend_share[0] == 0.0


@pytest.mark.parametrize("wild", [np.nan, np.inf, -1.0, 7.0])
def test_a_wild_wish_for_assistance_does_nothing_wild(bench: Bench, wild) -> None:
    aim = bench.state.tip_commanded[LIMB] + [0.0, 0.02, 0.0]
    blend(bench, wild, aim)
    bench.run(2)
    assert 0.0 <= bench.state.blend[0] <= 0.8
    blend(bench, 0.8, np.array([wild, np.nan, 0.0]))
    bench.drive(rate=(0.0, 0.0, 0.0))
    before = bench.state.tip_commanded[LIMB].copy()
    bench.run(200)
    assert bench.state.tip_commanded[LIMB] == pytest.approx(before, abs=1e-5)
    blend(bench, 0.8, aim, limb=LIMB + 1)
    bench.run(200)
    assert bench.state.tip_commanded[LIMB] == pytest.approx(before, abs=1e-5)


def test_assistance_can_be_on_from_the_start(tmp_path: Path) -> None:
    parameters = BlendParameters(share=0.5, limb=LIMB, aim_mm=(500.0, 100.0, 120.0))
    made = Bench(tmp_path, TeleopParameters(blend=parameters))
    made.run(2)
    assert made.state.blend[0] == 0.5
    assert made.state.aim == pytest.approx([0.5, 0.1, 0.12])
