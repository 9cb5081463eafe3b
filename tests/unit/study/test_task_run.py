"""How tasks end, judged at the robot."""

import numpy as np
import pytest

from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.errors import ModelError
from app.study.task_judges import PathJudge, ReachJudge
from app.study.task_run import TaskRun
from app.study.task_truth import MOMENTS, Truth, Verdict
from models.curve import curve_nearest, curve_point
from models.numerics import FloatArray

ROV = load_robot("rov-arm")
MS = 1_000_000
QUIET = np.zeros(3)


def placed(name: str, variant: str | None = None) -> PlacedTask:
    return place_task(load_task(name), ROV, variant)


def truth(at_s: float, tip: FloatArray, **more) -> Truth:  # type: ignore[no-untyped-def]
    facts = {"speed": 0.0, "force": QUIET} | more
    return Truth(time_ns=round(at_s * 1e9), tip=tip, **facts)


def test_reaching_asks_for_every_target_and_half_a_second_of_rest() -> None:
    task = placed("reach")
    run = TaskRun(task, 0, 0.0)
    time_s = 0.0
    for number, target in enumerate(task.targets):
        for k in range(499):
            time_s = number + 1e-3 * k
            assert run.step(truth(time_s, target)) is Verdict.RUNNING
        # a moment of motion: the half second begins anew
        run.step(truth(time_s + 0.001, target, speed=0.006))
        for k in range(502):
            verdict = run.step(truth(time_s + 0.002 + 1e-3 * k, target))
    assert verdict is Verdict.SUCCESS
    assert run.time_s == pytest.approx(8.0 + 0.5 + 0.5, abs=0.01)


def test_a_target_s_edge_is_half_its_width_away() -> None:
    task = placed("reach")
    for gap, done in ((0.0099, True), (0.0101, False)):
        run = TaskRun(task, 0, 0.0)
        for k in range(600):
            run.step(truth(1e-3 * k, task.targets[0] + np.array([gap, 0.0, 0.0])))
        assert isinstance(run.judge, ReachJudge)
        assert run.judge.hits_ns == ([500 * MS] if done else [])


@pytest.mark.parametrize(
    ("aside", "verdict"),
    [(0.005, Verdict.SUCCESS), (0.02, Verdict.FAILED)],
)
def test_a_path_asks_for_its_end_and_for_little_beside_it(
    aside: float, verdict: Verdict
) -> None:
    task = placed("line")
    assert task.curve is not None
    across = np.cross(task.curve.points[-1] - task.curve.points[0], [0.0, 0.0, 1.0])
    across *= aside / np.linalg.norm(across)
    run = TaskRun(task, 0, 0.0)
    for _ in range(800):  # on the way to the start nothing counts
        run.step(truth(0.0, task.curve.points[0] + 0.06, path_begun=False))
    for k in range(800):
        tip = curve_point(task.curve, 0.032 * 0.01 * k) + across
        run.step(truth(0.01 * k, tip))
    assert run.verdict is Verdict.RUNNING  # not before the reference is there
    run.step(truth(8.1, task.curve.points[-1], path_over=True))
    assert run.verdict is verdict


def test_a_path_is_judged_by_its_nearest_points() -> None:
    task = placed("circle")
    assert task.curve is not None
    run = TaskRun(task, 0, 0.0)
    judge = run.judge
    assert isinstance(judge, PathJudge)
    shifts = np.random.default_rng(4).normal(0.0, 8e-3, (200, 3))
    tips = [curve_point(task.curve, 5e-4 * k) + shift for k, shift in enumerate(shifts)]
    for k, tip in enumerate(tips):
        assert run.step(truth(1e-3 * k, tip)) is Verdict.RUNNING
    gaps, arcs = zip(*(curve_nearest(task.curve, tip) for tip in tips), strict=True)
    assert judge.rms == pytest.approx(np.sqrt(np.mean(np.square(gaps))), rel=1e-9)
    assert judge.furthest == pytest.approx(max(arcs), rel=1e-9)
    run.step(truth(1.0, tips[0], path_begun=False))
    assert judge.rms == 0.0  # the reference sets out anew


def press(task: PlacedTask, newtons: float) -> FloatArray:
    return newtons * task.pads[0].normal


def test_pressing_asks_for_three_seconds_within_ten_per_cent() -> None:
    task = placed("press")
    run = TaskRun(task, 0, 0.0)
    for k in range(2990):
        run.step(truth(1e-3 * k, task.start, force=press(task, 2.19)))
    run.step(truth(2.99, task.start, force=press(task, 2.21)))
    for k in range(2999):
        run.step(truth(2.991 + 1e-3 * k, task.start, force=press(task, 1.81)))
    assert run.verdict is Verdict.RUNNING
    for k in range(3):
        run.step(truth(5.99 + 1e-3 * k, task.start, force=press(task, 1.81)))
    assert run.verdict is Verdict.SUCCESS
    assert run.peak_force == pytest.approx(2.21)


@pytest.mark.parametrize("together", [1, 7, 256])
def test_milliseconds_together_are_judged_one_by_one(together: int) -> None:
    task = placed("press")
    run = TaskRun(task, 0, 0.0)
    now, first = run.moments, 5 * MOMENTS - 40  # over the end of the ring
    judged = 0
    while run.verdict is Verdict.RUNNING:
        for k in range(judged, judged + together):
            row = (first + k) % MOMENTS
            now.time_ns[row] = (1 + k) * MS
            now.tip[row], now.force[row] = task.start, press(task, 2.0)
            if k in (100, 3200):  # let go; and too hard, when it is over
                now.force[row] = press(task, 0.0 if k == 100 else 9.0)
        judged += run.take(first + judged, together)
    assert run.verdict is Verdict.SUCCESS
    assert judged == 101 + 3001
    assert run.time_s == pytest.approx(1e-3 * judged)
    assert run.take(first + judged, together) == 0  # it stays ended
    assert run.peak_force == pytest.approx(2.0)


def test_pressing_too_hard_ends_it() -> None:
    task = placed("press")
    run = TaskRun(task, 0, 0.0)
    assert run.step(truth(0.1, task.start, force=press(task, 5.1))) is (
        Verdict.OVER_FORCE
    )
    run.step(truth(0.2, task.start))
    assert run.verdict is Verdict.OVER_FORCE  # it stays ended


@pytest.mark.parametrize(("variant", "stiffer"), [("k180", 1), ("k120", 0)])
def test_the_stiffer_pad_must_be_named(variant: str, stiffer: int) -> None:
    task = placed("compare", variant)
    for answer in (0, 1):
        run = TaskRun(task, 0, 0.0)
        run.step(truth(1.0, task.start))
        assert run.verdict is Verdict.RUNNING
        run.step(truth(2.0, task.start, answer=answer))
        right = answer == stiffer
        assert run.verdict is (Verdict.SUCCESS if right else Verdict.FAILED)


@pytest.mark.parametrize(("inside", "verdict"), [(True, "success"), (False, "drop")])
def test_what_was_fetched_must_come_to_rest_in_the_basket(
    inside: bool, verdict: str
) -> None:
    task = placed("retrieve")
    assert task.object_place is not None
    assert task.goal is not None
    run = TaskRun(task, 0, 0.0)
    run.step(truth(0.0, task.start, object_place=task.object_place))
    for k in range(100):  # carried
        share = k / 99.0
        place = (1 - share) * task.object_place + share * task.goal
        run.step(truth(1 + 0.1 * k, task.start, object_place=place, held=True))
    assert run.verdict is Verdict.RUNNING
    end = task.goal if inside else task.goal + np.array([0.2, 0.0, 0.0])
    for k in range(1500):
        run.step(truth(12 + 1e-3 * k, task.start, object_place=end - 0.03 * task.up))
    assert run.verdict.value == verdict


def test_without_its_object_no_retrieval_is_judged() -> None:
    task = placed("retrieve")
    with pytest.raises(ModelError, match="needs an object"):
        TaskRun(task, 0, 0.0).step(truth(0.0, task.start))


def test_out_of_a_cavity_the_object_need_not_be_let_go() -> None:
    task = place_task(load_task("opening"), ROV)
    assert task.object_place is not None
    assert task.goal is not None
    run = TaskRun(task, 0, 0.0)
    run.step(truth(0.0, task.start, object_place=task.object_place, held=True))
    assert run.verdict is Verdict.RUNNING
    low = task.goal - (task.goal_radius + 1e-3) * task.up
    run.step(truth(0.1, task.start, object_place=low, held=True))
    assert run.verdict is Verdict.RUNNING
    run.step(truth(0.2, task.start, object_place=task.goal, held=True))
    assert run.verdict is Verdict.SUCCESS


def test_a_peg_must_be_deep_in_the_hole_not_beside_it() -> None:
    task = placed("peg")
    assert task.mouth is not None
    deep = task.mouth - 0.03 * task.up
    for aside, verdict in ((0.0, Verdict.SUCCESS), (0.02, Verdict.RUNNING)):
        run = TaskRun(task, 0, 0.0)
        assert run.step(truth(1.0, deep + np.array([aside, 0.0, 0.0]))) is verdict
    run = TaskRun(task, 0, 0.0)
    run.step(truth(1.0, deep, force=np.array([3.1, 0.0, 0.0])))
    assert run.verdict is Verdict.OVER_FORCE


def test_time_divergence_and_wild_values() -> None:
    task = placed("press")
    slow = TaskRun(task, 0, 2.0)
    slow.step(truth(79.9, task.start))
    assert slow.verdict is Verdict.RUNNING
    slow.step(truth(80.0, task.start))  # 60 s and ten round trips
    assert slow.verdict is Verdict.TIMEOUT
    far = TaskRun(task, 0, 0.0)
    far.step(truth(0.0, task.start))
    far.step(truth(0.1, task.start + np.array([0.51, 0.0, 0.0])))
    assert far.verdict is Verdict.DIVERGED
    wild = TaskRun(task, 0, 0.0)
    assert wild.step(truth(0.0, np.full(3, np.nan))) is Verdict.DIVERGED


def test_a_task_without_a_time_out_gets_five_times_its_nominal_time() -> None:
    assert load_task("line").timeout(2.0) == pytest.approx(5 * 7.99 + 20.0)
