"""A person's trial judged while it runs: what is told as done is done."""

import itertools

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import place_task
from app.study.participant.live import LiveStand
from app.study.participant.stand import PersonStand
from app.study.task_truth import Verdict

TASK = place_task(load_task("reach-short"), load_robot("rov-arm"), "a100-w20")
NOTHING = np.zeros(3)


def way(dwell_s: float) -> np.ndarray:
    """(n, 3) places each millisecond: to each target in 1 s, there for a while."""
    corners = [TASK.start, *TASK.targets]
    parts = []
    for start, stop in itertools.pairwise(corners):
        share = np.linspace(0.0, 1.0, 1000)[:, None]
        parts += [start + share * (stop - start)]
        parts += [np.repeat(stop[None], round(1e3 * dwell_s), axis=0)]
    return np.concatenate(parts)


def live(places: np.ndarray, longest_s: float = 60.0) -> LiveStand:
    """Judge telemetry of 20 Hz with a sensor's noise of 1 mm."""
    stand = LiveStand(TASK, longest_s)
    noise = np.random.default_rng(1).normal(0.0, 1e-3, places.shape)
    for at in range(0, len(places), 50):
        place = places[at] + noise[at]
        if stand.hear(at * NS_PER_MS, place, NOTHING, driving=True) is not (
            Verdict.RUNNING
        ):
            break
    return stand


def test_balls_are_met_by_standing_still_in_them_in_spite_of_noise():
    done = live(way(dwell_s=3.0)).stand
    assert done.verdict is Verdict.SUCCESS
    assert len(done.hits_ns) == 3
    for number, at_ns in enumerate(done.hits_ns):
        came_s = 1.0 + 4.0 * number
        assert came_s + 0.5 < at_ns / NS_PER_S < came_s + 3.0
    assert live(way(dwell_s=0.3)).stand.hits_ns == []


def test_what_is_told_at_once_is_never_sooner_than_what_counts():
    places = way(dwell_s=2.0)
    exact = PersonStand(TASK, 60.0)
    for at, place in enumerate(places):
        still = 0.0 if at and np.array_equal(place, places[at - 1]) else 0.1
        exact.step(at * NS_PER_MS, place, still, NOTHING, driving=True)
    assert exact.verdict is Verdict.SUCCESS
    told = live(places).stand.hits_ns
    assert all(late > true for true, late in zip(exact.hits_ns, told, strict=True))


def test_time_runs_from_when_the_arm_is_taken_in_hand():
    stand = PersonStand(TASK, 5.0)
    for second in range(100):
        driving = second >= 60
        verdict = stand.step(
            second * NS_PER_S, TASK.start, 0.0, NOTHING, driving=driving
        )
        assert verdict is (Verdict.TIMEOUT if second >= 65 else Verdict.RUNNING)
    assert stand.begun_ns == 60 * NS_PER_S
    assert stand.left_s(62 * NS_PER_S) == pytest.approx(3.0)
