"""A whole limb: its segments' poses end to end, and the tip's Jacobian.

Tolerances: 1e-12 for products of poses; 1e-8 for central differences (step 1e-5).
"""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from models.arc import arc_pose
from models.limb import limb_poses, limb_tip_jacobian

_STEP = 1e-5
_MODEL = build_robot_model(load_robot("ursula"))
_LIMBS = range(_MODEL.tip_speed_limit.size)


def _segments(limb):
    return slice(_MODEL.limb_segment_start[limb], _MODEL.limb_segment_start[limb + 1])


def _random_coordinates(generator, limb):
    count = _MODEL.segment_length[_segments(limb)].size
    return generator.uniform([-1.5, -1.5, -0.01], [1.5, 1.5, 0.0], size=(count, 3))


def _poses(limb, coordinates):
    poses = np.empty((len(coordinates) + 1, 4, 4))
    limb_poses(_MODEL, limb, coordinates, poses)
    return poses


@pytest.mark.parametrize("limb", _LIMBS)
def test_poses_are_the_product_of_the_arcs(limb):
    generator = np.random.default_rng(limb)
    for _ in range(20):
        coordinates = _random_coordinates(generator, limb)
        poses = _poses(limb, coordinates)
        product = np.eye(4)
        assert np.array_equal(poses[0], product)
        rest = _MODEL.segment_length[_segments(limb)]
        for k, (delta_x, delta_y, change) in enumerate(coordinates):
            arc = np.empty((4, 4))
            arc_pose(delta_x, delta_y, rest[k] + change, arc)
            product = product @ arc
            assert np.allclose(poses[k + 1], product, atol=1e-12)


@pytest.mark.parametrize("limb", _LIMBS)
def test_tip_jacobian_is_the_derivative_of_the_tip(limb):
    generator = np.random.default_rng(10 + limb)
    for trial in range(20):
        coordinates = _random_coordinates(generator, limb)
        if trial == 0:
            coordinates[:] = 0.0
        count = len(coordinates)
        poses = np.empty((count + 1, 4, 4))
        jacobian = np.empty((6, 3 * count))
        limb_tip_jacobian(_MODEL, limb, coordinates, poses, jacobian)
        tip = poses[count]
        for column in range(3 * count):
            step = np.zeros(3 * count)
            step[column] = _STEP
            step = step.reshape(count, 3)
            after = _poses(limb, coordinates + step)[count]
            before = _poses(limb, coordinates - step)[count]
            rate = (after - before) / (2.0 * _STEP)
            spin = rate[:3, :3] @ tip[:3, :3].T
            twist = [
                *(spin[2, 1], spin[0, 2], spin[1, 0]),
                *rate[:3, 3],
            ]
            assert np.allclose(jacobian[:, column], twist, atol=1e-8)


def test_a_straight_limb_points_along_its_base():
    for limb in _LIMBS:
        count = _MODEL.segment_length[_segments(limb)].size
        tip = _poses(limb, np.zeros((count, 3)))[count]
        assert np.allclose(tip[:3, 3], [0.0, 0.0, 0.6], atol=1e-15)
