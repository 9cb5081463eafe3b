"""The smallest motion of a standing body that brings a point into the arm's reach.

Tolerances: 1e-6 m, the module's own, for the arm; feet hold to 1e-12 m; moves against
closed forms to 1e-5, and never beaten by 1e-4 of a known allowed pose.
"""

import math

import numpy as np
import pytest

from models.body_reach import (
    ARM_OUT_OF_REACH,
    FEET_OUT_OF_REACH,
    UNSTABLE,
    ball_workspace,
    box_workspace,
    reach_with_body,
)
from models.gait import neutral_feet
from models.leg import narrow_joint_range
from models.legs import legs_forward
from models.stance import body_pose, stance_joints
from tests.unit.models.silver2 import SPLAY, STANCE_WIDTH, silver2_legs

_HEIGHT = 0.25
_RADIUS = 0.3
_LEGS = silver2_legs()
_FEET = neutral_feet(_LEGS, _HEIGHT, STANCE_WIDTH, SPLAY)
_FEET[:, 2] += _HEIGHT
_START = np.eye(4)
_START[2, 3] = _HEIGHT
# Paper fact P003-013, the size of the arm's workspace; its place below the arm's base,
# which hangs from the body, is assumed
_ARM = np.diag([1.0, -1.0, -1.0, 1.0])
_ARM[:3, 3] = [0.1, 0.15, 0.0]
_LOW, _HIGH = np.array([-0.25, -0.26, 0.2]), np.array([0.25, 0.26, 0.504])
_BOX = box_workspace(_LOW, _HIGH)


def _reach(point, arm=_BOX, mount=_ARM, **options):
    return reach_with_body(_LEGS, _FEET, _START, mount, point, arm, **options)


def _move(pose):
    shift = pose[:3, 3] - _START[:3, 3]
    turn = max(3.0 - np.trace(pose[:3, :3]), 0.0)  # 4 sin²(angle/2)
    return math.sqrt(shift @ shift + _RADIUS**2 * turn)


def _check_feet(found):
    foot = np.empty((6, 3))
    legs_forward(_LEGS, found.joint, foot)
    pose = found.pose_body_to_ground
    place = foot @ pose[:3, :3].T + pose[:3, 3]
    assert not found.leg_status.any()
    assert np.abs(place - _FEET).max() < 1e-12
    rotation = pose[:3, :3]
    assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)


def test_a_point_in_reach_moves_nothing():
    point = (_START @ _ARM @ [0.1, -0.1, 0.3, 1.0])[:3]
    found = _reach(point)
    assert found.status == 0
    assert _move(found.pose_body_to_ground) < 1e-9
    assert np.allclose(found.point_in_arm, [0.1, -0.1, 0.3], atol=1e-9)


@pytest.mark.parametrize("way", [-0.04, 0.1])
def test_body_lowers_and_rises_by_just_what_lacks(way):
    """Arm below the middle of the body: a tilt does not help, the move is straight."""
    mount = np.diag([1.0, -1.0, -1.0, 1.0])
    edge = _LOW[2] if way > 0 else _HIGH[2]
    found = _reach([0.0, 0.0, _HEIGHT - edge + way], mount=mount)
    assert found.status == 0
    assert np.allclose(
        found.pose_body_to_ground[:3, 3], [0.0, 0.0, _HEIGHT + way], atol=1e-5
    )
    assert np.allclose(found.pose_body_to_ground[:3, :3], np.eye(3), atol=1e-5)
    assert np.allclose(found.point_in_arm, [0.0, 0.0, edge], atol=1e-5)
    _check_feet(found)


def test_body_shifts_toward_a_ball():
    """A ball about the middle of the body: turning does not help at all."""
    ball = ball_workspace([0.0, 0.0, 0.0], 0.3)
    way = np.array([0.3, -0.2, 0.1]) / math.sqrt(0.14)
    found = _reach(_START[:3, 3] + 0.36 * way, arm=ball, mount=np.eye(4))
    shift = found.pose_body_to_ground[:3, 3] - _START[:3, 3]
    assert found.status == 0
    assert np.allclose(shift, 0.06 * way, atol=1e-5)
    assert np.allclose(found.pose_body_to_ground[:3, :3], np.eye(3), atol=1e-5)


def test_every_point_that_an_allowed_pose_reaches_is_reached_by_a_smaller_move():
    generator = np.random.default_rng(2)
    clear = narrow_joint_range(_LEGS, 0.01)
    joint, foot = np.zeros((6, 3)), np.empty((6, 3))
    status = np.empty(6, dtype=np.int64)
    pose = np.empty((4, 4))
    tried = 0
    while tried < 40:
        motion = generator.uniform(-1.0, 1.0, 6) * [0.15, 0.15, 0.15, 0.3, 0.3, 0.4]
        motion[2] += _HEIGHT
        body_pose(motion, pose)
        if stance_joints(clear, _FEET, pose, joint, foot, status) < 6:
            continue
        tried += 1
        in_arm = generator.uniform(_LOW, _HIGH)
        found = _reach((pose @ _ARM @ [*in_arm, 1.0])[:3])
        assert found.status == 0
        assert found.gap < 1e-6
        assert np.all(found.point_in_arm > _LOW - 1e-6)
        assert np.all(found.point_in_arm < _HIGH + 1e-6)
        assert _move(found.pose_body_to_ground) < _move(pose) + 1e-4
        _check_feet(found)


def test_no_allowed_pose_near_the_answer_moves_less():
    """With two faces of the box and a leg's limit in play."""
    generator = np.random.default_rng(3)
    point = (_START @ _ARM @ [0.33, 0.32, 0.53, 1.0])[:3]
    found = _reach(point)
    assert found.status == 0
    least = _move(found.pose_body_to_ground)
    joint, foot = np.zeros((6, 3)), np.empty((6, 3))
    status = np.empty(6, dtype=np.int64)
    pose, step = np.empty((4, 4)), np.empty((4, 4))
    clear = narrow_joint_range(_LEGS, 0.01)
    allowed = 0
    for size in (1e-3, 1e-2, 5e-2):
        for _ in range(1500):
            body_pose(generator.normal(size=6) * size, step)
            pose = found.pose_body_to_ground @ step
            in_arm = (np.linalg.inv(pose @ _ARM) @ [*point, 1.0])[:3]
            if np.linalg.norm(in_arm - _BOX(in_arm)) > 1e-6:
                continue
            if stance_joints(clear, _FEET, pose, joint, foot, status) == 6:
                allowed += 1
                assert _move(pose) > least - 1e-5
    assert allowed > 20


@pytest.mark.parametrize("point", [[1.5, 0.2, 0.1], [0.0, 0.0, 1.5], [-0.9, 0.9, -0.4]])
def test_out_of_reach_the_body_leans_and_feet_hold(point):
    found = _reach(point)
    assert found.status == ARM_OUT_OF_REACH
    _check_feet(found)
    start = np.linalg.inv(_START @ _ARM) @ [*point, 1.0]
    assert found.gap < np.linalg.norm(start[:3] - _BOX(start[:3])) - 0.05
    expected = np.linalg.norm(found.point_in_arm - _BOX(found.point_in_arm))
    assert math.isclose(found.gap, expected, abs_tol=1e-15)


def test_margin_of_the_centre_is_kept():
    point = (_START @ _ARM @ [0.40, 0.0, 0.3, 1.0])[:3]
    free = _reach(point)
    kept = _reach(point, least_margin=free.margin + 0.02)
    assert free.status == kept.status == 0
    assert kept.margin > free.margin + 0.02 - 1e-6
    assert _move(kept.pose_body_to_ground) > _move(free.pose_body_to_ground)
    assert _reach(point, least_margin=0.6).status & UNSTABLE


def test_a_start_that_the_legs_cannot_hold():
    feet = _FEET + np.array([3.0, 0.0, 0.0]) * (np.arange(6) == 1)[:, None]
    point = (_START @ _ARM @ [0.0, 0.0, 0.3, 1.0])[:3]
    found = reach_with_body(_LEGS, feet, _START, _ARM, point, _BOX)
    assert found.status & FEET_OUT_OF_REACH
    assert found.leg_status[1]


def test_the_arms_inverse_has_the_last_word():
    asked = []

    def inverse(point):
        asked.append(point)
        return 2.0 * point, False

    point = (_START @ _ARM @ [0.3, 0.0, 0.3, 1.0])[:3]
    found = _reach(point, arm_inverse=inverse)
    assert found.status == ARM_OUT_OF_REACH
    assert len(asked) == 1
    assert np.array_equal(found.arm_coordinates, 2.0 * found.point_in_arm)
    assert _reach(point).arm_coordinates is None


def test_height_that_the_legs_add():
    """Paper fact P003-030: an object lifted 0.17 m more with the legs than without."""
    without = (_START @ _ARM @ [0.0, 0.0, _LOW[2], 1.0])[2]
    found = _reach([0.1, 0.15, without + 0.17])
    assert found.status == 0
    _check_feet(found)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_input_that_is_no_number(bad):
    with pytest.raises(ValueError, match="finite"):
        _reach([0.0, bad, 0.0])
    with pytest.raises(ValueError, match="joint_margin"):
        _reach([0.0, 0.0, 0.0], joint_margin=0.0)
