"""A person who gives goals: which, in what order, and when."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.messages import StationMode
from app.study.task_goals import TaskGoals, goals_can
from app.teleop.goals import Goal, GoalKind, GoalState, GoalStatus

ROV, URSULA = load_robot("rov-arm"), load_robot("ursula")


class Station:
    """Takes goals, and is told of their end half a second later."""

    def __init__(self, task: PlacedTask) -> None:
        self.asked: list[Goal] = []
        self.state = SimpleNamespace(mode=np.array([int(StationMode.ARMED)]))
        self.exchange = SimpleNamespace(goals=SimpleNamespace(newest=None))
        self.outcomes: dict[int, GoalState] = {}
        self.marks = 0
        self.wishes = SimpleNamespace(goal=lambda goal: goal)
        self.refused: set[GoalKind] = set()
        self.goals = TaskGoals(self, task, lambda: self.marks)  # type: ignore[arg-type]
        self._now_ms = 0

    def want(self, goal: Goal) -> None:
        self.asked.append(goal)
        self._due_ms = self._now_ms + 500
        if goal.kind in self.refused:
            return
        running = GoalStatus(1, GoalState.RUNNING)
        self.exchange.goals.newest = SimpleNamespace(goal=goal, status=running)

    def run(self, seconds: float) -> None:
        for _ in range(round(1e3 * seconds)):
            self._now_ms += 1
            if self.asked and self._now_ms == self._due_ms:
                state = self.outcomes.get(len(self.asked), GoalState.DONE)
                newest = self.exchange.goals.newest
                newest.status = GoalStatus(1, state)
            self.goals.step(1_000_000 * self._now_ms)


def placed(name: str, robot: Any = ROV, variant: str | None = None) -> PlacedTask:
    return place_task(load_task(name), robot, variant)


def test_the_next_target_is_for_when_the_screen_marks_the_last_as_met() -> None:
    task = placed("reach")
    station = Station(task)
    station.run(2.0)
    assert len(station.asked) == 3  # the first again and again, and more exactly
    assert {goal.position for goal in station.asked} == {tuple(task.targets[0])}
    tolerances = [goal.tolerance for goal in station.asked]
    assert tolerances == sorted(tolerances, reverse=True)
    assert len(set(tolerances)) == 3
    station.marks = 1
    station.run(0.8)
    assert station.asked[-1].position == pytest.approx(task.targets[1])
    station.marks = len(task.targets)
    count = len(station.asked)
    station.run(2.0)
    assert len(station.asked) == count


def test_nothing_is_asked_of_a_robot_that_is_not_armed() -> None:
    station = Station(placed("reach"))
    station.state.mode[0] = int(StationMode.DISARMED)
    station.run(1.0)
    assert station.asked == []


def test_a_path_is_followed_from_its_start_and_over_when_that_is_told() -> None:
    task = placed("circle")
    assert task.curve is not None
    station = Station(task)
    station.outcomes[1] = GoalState.FAILED  # its start is gone to again
    station.run(3.0)
    assert [goal.kind for goal in station.asked] == [GoalKind.REACH] * 2
    assert station.goals.started_ns is None
    station.run(1.2)
    follow = station.asked[2]
    assert follow.kind is GoalKind.FOLLOW
    assert follow.position == pytest.approx(task.curve.points[-1])
    gaps = [
        np.linalg.norm(task.curve.points - np.array(point), axis=1).min()
        for point in follow.points
    ]
    assert len(gaps) == 7
    assert max(gaps) < 1e-3
    assert station.goals.started_ns is not None
    assert not station.goals.path_over
    station.run(2.0)
    assert station.goals.path_over
    assert len(station.asked) == 3


def test_a_path_that_the_station_cannot_tell_is_not_over() -> None:
    station = Station(placed("circle"))
    station.refused = {GoalKind.FOLLOW}
    station.run(10.0)
    assert GoalKind.FOLLOW in {goal.kind for goal in station.asked}
    assert not station.goals.path_over


def test_a_pad_is_pressed_from_above_and_again_where_that_failed() -> None:
    task = placed("press", URSULA, "k300")
    station = Station(task)
    station.outcomes[2] = GoalState.FAILED
    station.run(3.2)
    kinds = [goal.kind for goal in station.asked]
    assert kinds == [GoalKind.REACH, GoalKind.PRESS, GoalKind.REACH, GoalKind.PRESS]
    press = station.asked[1]
    assert press.normal == pytest.approx(-task.pads[0].normal)
    assert press.force == 2.0


def test_what_goals_cannot_do() -> None:
    assert goals_can(placed("line"))
    assert goals_can(placed("peg"))
    assert not goals_can(placed("compare"))
    assert not goals_can(placed("retrieve"))
