"""Goals in virtual time: the parts that a live session runs, from plan to hand-over."""

import numpy as np

from app.config.robot import build_robot_model, load_robot
from app.config.teleop import TeleopParameters
from app.messages import RobotState
from app.study.trial import Trial
from app.study.trial_setup import TrialSetup
from app.teleop.goals import Goal, GoalKind, GoalState
from models.tip import limb_tips

MODEL = build_robot_model(load_robot("ursula"))
LIMB = 1


def test_a_plan_is_done_and_the_limb_given_back_without_a_jump() -> None:
    place = limb_tips(MODEL, MODEL.rest_coordinates)[LIMB] + [-0.01, 0.01, 0.02]
    goals = (
        Goal(1, GoalKind.REACH, LIMB, tuple(place.tolist())),
        Goal(1, GoalKind.STOP, LIMB),
    )
    setup = TrialSetup(
        link="optical-rov",
        operator="supervisor",
        teleop=TeleopParameters(strategy="supervised"),
        goals=goals,
    )
    trial = Trial(setup)
    applied, holds = [], []
    while trial.exchange.desk.planned or trial.exchange.goals.busy or not holds:
        trial.step()
        assert trial.ticks < 12_000, trial.exchange.goals.newest
        if trial.core.state == RobotState.ACTIVE:
            tips = limb_tips(MODEL, trial.core.applied.coordinates)
            applied.append(tips[LIMB].copy())
            holds.append(int(trial.health.goal_hold[LIMB]))
    asked = trial.exchange.goals.goals
    assert [item.status.state for item in asked] == [GoalState.DONE] * 2
    assert {1, 2} <= set(holds)
    assert holds[-1] == 0
    for _ in range(500):
        before = trial.state.tip_commanded[LIMB].copy()
        trial.step()
        tips = limb_tips(MODEL, trial.core.applied.coordinates)
        applied.append(tips[LIMB].copy())
        assert np.linalg.norm(trial.state.tip_commanded[LIMB] - before) < 1e-4
    steps = np.linalg.norm(np.diff(applied, axis=0), axis=1)
    assert steps.max() < 0.06e-3, "m in a millisecond: 60 mm/s"
    shown = trial.state.tip_commanded[LIMB]
    assert np.linalg.norm(shown - place) < 8e-3
    trial.finish()
