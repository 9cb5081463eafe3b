"""A standing body moves over fixed feet: angles, limits, how far it can go.

Tolerance: 1e-12 m, closed forms and their inverses.
"""

import math

import numpy as np
import pytest

from models.gait import neutral_feet
from models.leg_inverse import COXA_LIMITED, NOT_FINITE, TOO_FAR, TOO_NEAR
from models.legs import legs_forward
from models.stance import body_pose, stance_joints, stance_room
from tests.unit.models.silver2 import SPLAY, STANCE_WIDTH, silver2_legs

_EXACT = 1e-12
_HEIGHT = 0.2
_LEGS = silver2_legs()
_FEET = neutral_feet(_LEGS, _HEIGHT, STANCE_WIDTH, SPLAY)
_FEET[:, 2] += _HEIGHT
_START = np.array([0.0, 0.0, _HEIGHT, 0.0, 0.0, 0.0])


def _pose(motion):
    pose = np.full((4, 4), np.nan)
    body_pose(np.asarray(motion, dtype=float), pose)
    return pose


def _stand(pose):
    joint, foot = np.zeros((6, 3)), np.empty((6, 3))
    status = np.empty(6, dtype=np.int64)
    held = stance_joints(_LEGS, _FEET, pose, joint, foot, status)
    assert held == np.count_nonzero(status == 0)
    return joint, foot, status


def _room(change, start=_START):
    joint, foot, pose = np.zeros((6, 3)), np.empty((6, 3)), np.empty((4, 4))
    status = np.empty(6, dtype=np.int64)
    goal = _START + np.asarray(change, dtype=float)
    part = stance_room(_LEGS, _FEET, start, goal, pose, joint, foot, status)
    return part, pose, joint, status


def _feet_in_ground(pose, joint):
    foot = np.empty((6, 3))
    legs_forward(_LEGS, joint, foot)
    return foot @ pose[:3, :3].T + pose[:3, 3]


def _about(axis, angle):
    turn = np.eye(3)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    turn[i, i] = turn[j, j] = math.cos(angle)
    turn[i, j], turn[j, i] = -math.sin(angle), math.sin(angle)
    return turn


def test_pose_of_roll_pitch_yaw():
    pose = _pose([1.0, 2.0, 3.0, 0.3, -0.4, 0.5])
    expected = _about(2, 0.5) @ _about(1, -0.4) @ _about(0, 0.3)
    assert np.allclose(pose[:3, :3], expected, atol=_EXACT)
    assert np.array_equal(pose[:, 3], [1.0, 2.0, 3.0, 1.0])
    assert np.array_equal(pose[3, :3], np.zeros(3))


@pytest.mark.parametrize(
    "change",
    [
        [0.0, 0.0, 0.2, 0.0, 0.0, 0.0],  # raise, as in the paper's workspace protocol
        [0.0, 0.0, -0.05, 0.0, 0.0, 0.0],  # lower
        [0.06, 0.0, 0.0, 0.0, 0.0, 0.0],  # shift
        [0.0, -0.06, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.05, 0.2, 0.0, 0.0],  # tilt
        [0.0, 0.0, 0.05, 0.0, -0.2, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.3],  # turn
        [0.03, -0.02, 0.06, 0.1, -0.08, 0.15],
    ],
)
def test_feet_stay_while_the_body_moves(change):
    for part in np.linspace(0.0, 1.0, 11):
        pose = _pose(_START + part * np.array(change))
        joint, foot, status = _stand(pose)
        assert not status.any()
        assert np.abs(_feet_in_ground(pose, joint) - _FEET).max() < _EXACT
        assert np.allclose(foot @ pose[:3, :3].T + pose[:3, 3], _FEET, atol=_EXACT)


def test_random_poses_hold_the_feet_or_say_why():
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(500):
        change = generator.uniform(-0.5, 0.5, 6) * [0.2, 0.2, 0.3, 0.5, 0.5, 0.8]
        pose = _pose(_START + change)
        joint, foot, status = _stand(pose)
        place = _feet_in_ground(pose, joint)
        slip = np.linalg.norm(place - _FEET, axis=1)
        assert np.all(slip[status == 0] < _EXACT)
        assert np.all(slip[status != 0] > _EXACT)
        assert np.allclose(foot @ pose[:3, :3].T + pose[:3, 3], place, atol=_EXACT)
        assert np.all(joint >= _LEGS.joint_range[..., 0])
        assert np.all(joint <= _LEGS.joint_range[..., 1])
        held += not status.any()
    assert 50 < held < 450


@pytest.mark.parametrize(
    ("change", "bit"),
    [
        ([0.0, 0.0, 0.6, 0.0, 0.0, 0.0], TOO_FAR),
        ([0.0, 0.0, -0.3, 0.0, 0.0, 0.0], TOO_NEAR),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 1.5], COXA_LIMITED),
        ([0.0, 0.0, 0.0, 0.0, 0.0, -1.5], COXA_LIMITED),
    ],
)
def test_room_ends_at_a_limit(change, bit):
    part, pose, joint, status = _room(change)
    assert 0.0 < part < 1.0
    assert status.max() & bit
    assert np.allclose(pose, _pose(_START + part * np.array(change)), atol=1e-9)
    assert np.abs(_feet_in_ground(pose, joint) - _FEET).max() < 1e-9
    for beyond, stays in ((-1e-9, True), (1e-9, False)):
        _, _, met = _stand(_pose(_START + (part + beyond) * np.array(change)))
        assert stays == (not met.any())
    # as exact where the limit comes late on the way
    late, _, _, _ = _room(1.01 * part * np.array(change))
    assert math.isclose(late, 1.0 / 1.01, abs_tol=1e-9)


def test_height_of_the_straight_legs():
    """Where the room to rise ends, femur and tibia of the widest leg are in line."""
    part, _, joint, _ = _room([0.0, 0.0, 0.6, 0.0, 0.0, 0.0])
    reach = 0.483081 - 0.1944 - 0.1068
    top = math.sqrt((0.2232 + 0.276) ** 2 - reach**2) + 0.0336
    assert math.isclose(_HEIGHT + 0.6 * part, top, abs_tol=1e-9)
    assert np.abs(joint[:, 2]).max() < 1e-4


def test_room_for_the_whole_way_and_for_none():
    part, pose, joint, status = _room([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    assert part == 1.0
    assert not status.any()
    assert np.abs(_feet_in_ground(pose, joint) - _FEET).max() < _EXACT
    high = _START.copy()
    high[2] += 1.0
    part, _, _, status = _room([0.0, 0.0, 0.2, 0.0, 0.0, 0.0], start=high)
    assert part == -1.0
    assert status.all()
    assert _room(np.zeros(6))[0] == 1.0


def test_a_pose_that_is_no_number():
    _, _, status = _stand(_pose([0.0, 0.0, math.nan, 0.0, 0.0, 0.0]))
    assert np.all(status == NOT_FINITE)
