"""Weber's share, its floor, and the motion of a tip as its measure."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.link.deadband import Deadband
from app.link.schema import Schema

SCHEMA = Schema(build_robot_model(load_robot("ursula")))


def pose(bend, extension=0.0):
    rows = np.zeros((6, 3))
    rows[:2, 0], rows[:2, 2] = bend, extension
    return rows


def test_motion_is_the_sum_over_levers():
    gate = Deadband(SCHEMA)
    # 300 + 300 mm: levers 450 and 150 mm
    assert gate.motion(0, pose(0.1), pose(0.0)) == pytest.approx(0.06)
    assert gate.motion(0, pose(0.0, -0.01), pose(0.0)) == pytest.approx(0.02)
    assert gate.motion(1, pose(0.1), pose(0.0)) == 0.0


def test_off_lets_everything_through():
    assert Deadband(SCHEMA).exceeded(0, pose(0.0), pose(0.0), 1e-3)


def test_the_share_is_of_what_was_sent_and_the_floor_holds_at_rest():
    gate = Deadband(SCHEMA, 0.1)
    sent = pose(0.5)
    assert not gate.exceeded(0, pose(0.549), sent, 1e-3)
    assert gate.exceeded(0, pose(0.551), sent, 1e-3)
    still = pose(0.0)
    assert not gate.exceeded(0, pose(0.0016), still, 1e-3)
    assert gate.exceeded(0, pose(0.0017), still, 1e-3)
