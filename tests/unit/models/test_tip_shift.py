"""A shift of the tip as a shift of the posture."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from models.limb import limb_poses
from models.robot import RobotModel
from models.tip_shift import allocate_tip_shift, tip_shift

STEP = 1e-4  # m: small enough for the shift to be linear


def tip(model: RobotModel, limb: int, rows: np.ndarray) -> np.ndarray:
    poses = np.zeros((len(rows) + 1, 4, 4))
    limb_poses(model, limb, rows, poses)
    return poses[-1, :3, 3]


@pytest.mark.parametrize("robot", ["ursula", "rov-arm", "silver2"])
@pytest.mark.parametrize("axis", range(3))
def test_the_tip_moves_by_what_is_asked(robot: str, axis: int) -> None:
    model = build_robot_model(load_robot(robot))
    for limb in range(model.tip_speed_limit.size):
        first, last = model.limb_segment_start[limb : limb + 2]
        rows = model.rest_coordinates[first:last].copy()
        rows[:, :2] += 0.2, -0.1
        shift = np.zeros_like(rows)
        wanted = STEP * np.eye(3)[axis]
        data = allocate_tip_shift(model)
        assert tip_shift(model, limb, rows, wanted, data, shift) == 0
        moved = tip(model, limb, rows + shift) - tip(model, limb, rows)
        if last - first > 1:
            np.testing.assert_allclose(moved, wanted, atol=0.02 * STEP)
        assert moved @ wanted > 0.0


def test_a_straight_limb_pushes_ahead_by_its_length() -> None:
    model = build_robot_model(load_robot("ursula"))
    rows, shift = np.zeros((2, 3)), np.zeros((2, 3))
    data = allocate_tip_shift(model)
    assert tip_shift(model, 1, rows, np.array([0.0, 0.0, STEP]), data, shift) == 0
    np.testing.assert_allclose(shift[:, :2], 0.0, atol=1e-12)
    assert shift[:, 2].sum() == pytest.approx(STEP, rel=0.02)


@pytest.mark.parametrize("wild", [np.nan, np.inf])
def test_a_wild_shift_is_none(wild: float) -> None:
    model = build_robot_model(load_robot("ursula"))
    shift = np.ones((2, 3))
    data = allocate_tip_shift(model)
    wanted = np.array([0.0, wild, 0.0])
    assert tip_shift(model, 1, np.zeros((2, 3)), wanted, data, shift) == 1
    assert not shift.any()
