"""The crossover model, on the paths of Gong 2018."""

import math

import numpy as np
import pytest

from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import place_task
from app.operator.look import FRAME_HZ
from app.operator.patience import Patience
from app.operator.submover import Submover
from app.operator.tracker import CurveTrack, TrackingHand, crossover
from models.curve import Curve, build_curve, curve_nearest
from models.numerics import FloatArray
from tests.unit.operator.stage import Screen, act

ROV = load_robot("rov-arm")
SPEED = 0.1


@pytest.mark.parametrize(
    ("delay_s", "wanted"),
    [(0.0, 3.0), (0.2, 1.94), (0.5, 1.16), (1.0, 0.70), (2.0, 0.39)],
)
def test_the_crossover_frequency_falls_with_the_delay(
    delay_s: float, wanted: float
) -> None:
    assert crossover(delay_s) == pytest.approx(wanted, abs=0.005)


def track(curve: Curve, speed: float, screen: Screen, seed: int = 0) -> FloatArray:
    """Robot's places (n, 3) from the path's start to two seconds past its end."""
    reacher = Submover(seed, SPEED, Patience(practised=True))
    hand = TrackingHand(reacher, lambda _: CurveTrack(curve, speed), seed, SPEED)
    start = curve.points[0]
    hand.take_up(0, start)
    robot = []
    frames = round((curve.length / speed + 30.0) * FRAME_HZ)
    for frame in range(frames):
        now_ns = frame * 10**9 // FRAME_HZ
        seen = screen.show(now_ns)
        screen.command(hand.step(now_ns, seen).place)
        if hand.started_ns is not None:
            robot.append(screen.robot.copy())
            if (now_ns - hand.started_ns) / 1e9 > curve.length / speed + 6.0:
                break
    return np.stack(robot)


@pytest.mark.parametrize("name", ["line", "circle"])
@pytest.mark.parametrize(("round_trip_s", "predicted"), [(0.0, True), (2.0, True)])
def test_predicted_paths_are_followed_within_the_success_of_the_task(
    name: str, round_trip_s: float, predicted: bool
) -> None:
    task = place_task(load_task(name), ROV)
    assert task.curve is not None
    start = task.curve.points[0]
    screen = Screen(round_trip_s, predicted=predicted, start=start)
    robot = track(task.curve, task.speed, screen)
    errors = np.array([curve_nearest(task.curve, place)[0] for place in robot[::6]])
    assert np.sqrt(np.mean(errors**2)) < 0.006
    assert np.linalg.norm(robot[-1] - task.curve.points[-1]) < 0.005


def test_a_late_display_makes_a_person_slow_but_not_unstable() -> None:
    task = place_task(load_task("circle"), ROV, "full")
    assert task.curve is not None
    errors = []
    for screen in (
        Screen(0.0, start=task.curve.points[0]),
        Screen(1.0, predicted=False, start=task.curve.points[0]),
    ):
        robot = track(task.curve, task.speed, screen)
        errors.append(max(curve_nearest(task.curve, place)[0] for place in robot[::6]))
    assert errors[1] > 2.0 * errors[0]  # corners are cut
    assert errors[1] < 0.13  # within the circle


def test_the_remnant_is_that_of_the_seed_and_small() -> None:
    curve = build_curve(lambda share: np.array([0.2 * share, 0.0, 0.0]))
    one = track(curve, 0.03, Screen())
    same = track(curve, 0.03, Screen())
    np.testing.assert_array_equal(one, same)
    other = track(curve, 0.03, Screen(), seed=1)
    count = min(len(one), len(other))
    assert 1e-5 < np.abs(one[:count, 1] - other[:count, 1]).max() < 5e-3


def test_a_person_who_is_stopped_begins_again_from_the_start() -> None:
    curve = build_curve(lambda share: np.array([0.1 * share, 0.0, 0.0]))
    hand = TrackingHand(Submover(0, SPEED), lambda _: CurveTrack(curve, 0.03), 0, SPEED)
    act(hand, Screen(), 4.0)
    assert hand.started_ns is not None
    hand.take_up(5 * 10**9, np.zeros(3))
    assert hand.started_ns is None


def test_the_line_takes_as_long_as_gong_says() -> None:
    task = place_task(load_task("line"), ROV)
    assert task.curve is not None
    assert task.curve.length == pytest.approx(0.25575, abs=1e-5)
    assert CurveTrack(task.curve, task.speed).duration_s == pytest.approx(
        7.99, abs=0.01
    )


def test_gong_s_circle_as_printed_does_not_fit_itself_and_ours_meets_both_points() -> (
    None
):
    a, b = np.array([-55.0, -35.0, -285.0]), np.array([55.0, 35.0, -320.0])
    gap = float(np.linalg.norm(b - a))
    assert gap == pytest.approx(135.0, abs=0.05)
    assert gap > 2.0 * 65.0  # no circle of 65 mm through both
    assert 2.0 * 65.0 * math.sin(math.radians(60.0)) == pytest.approx(112.6, abs=0.05)
    task = place_task(load_task("circle"), ROV)
    assert task.curve is not None
    base = np.array([0.0, 0.0, -0.138])
    np.testing.assert_allclose(1e3 * (task.curve.points[0] - base), a, atol=1e-3)
    np.testing.assert_allclose(1e3 * (task.curve.points[-1] - base), b, atol=1e-3)
    full = place_task(load_task("circle"), ROV, "full").curve
    assert full is not None
    np.testing.assert_allclose(full.points[0], full.points[-1], atol=1e-9)
