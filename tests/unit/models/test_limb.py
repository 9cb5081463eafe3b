"""A whole limb: its segments' poses end to end, and the tip's Jacobian.

Tolerances: 1e-12 for products of poses; 1e-8 for central differences (step 1e-5).
"""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from models.arc import arc_pose
from models.limb import (
    build_limb_model,
    limb_frames,
    limb_jacobian,
    limb_model_of_robot,
    limb_poses,
    limb_shape,
    limb_tip_jacobian,
)
from models.material import segment_material

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


_GAPS = np.array([0.01, 0.03, 0.0, 0.02, 0.05])
_LIMB = build_limb_model(
    [0.2, 0.1, 0.3, 0.15],
    [[0.03, 0.025], [0.02, 0.02], [0.02, 0.015], [0.01, 0.005]],
    2.5,
    [-0.02, 0.05],
    gap=_GAPS,
)


def _limb_coordinates(generator):
    coordinates = generator.uniform([-1.7, -1.7, -0.02], [1.7, 1.7, 0.05], size=(4, 3))
    coordinates[generator.random(4) < 0.2, :2] = 0.0
    return coordinates


def _frames(coordinates):
    frames = np.empty((5, 4, 4))
    limb_frames(_LIMB, coordinates, frames)
    return frames


def _ahead(distance):
    pose = np.eye(4)
    pose[2, 3] = distance
    return pose


def test_frames_are_the_product_of_gaps_and_arcs():
    generator = np.random.default_rng(1)
    for _ in range(50):
        coordinates = _limb_coordinates(generator)
        frames = _frames(coordinates)
        product = _ahead(_GAPS[0])
        assert np.array_equal(frames[0], product)
        for k, (delta_x, delta_y, change) in enumerate(coordinates):
            arc = np.empty((4, 4))
            arc_pose(delta_x, delta_y, _LIMB.segment_length[k] + change, arc)
            product = product @ arc @ _ahead(_GAPS[k + 1])
            assert np.allclose(frames[k + 1], product, rtol=0.0, atol=1e-12)


def test_jacobian_with_gaps_is_the_derivative_of_the_tip():
    generator = np.random.default_rng(2)
    for trial in range(50):
        coordinates = _limb_coordinates(generator)
        if trial == 0:
            coordinates[:] = 0.0
        frames, jacobian = np.empty((5, 4, 4)), np.empty((6, 12))
        limb_jacobian(_LIMB, coordinates, frames, jacobian)
        for column, index in enumerate(np.ndindex(4, 3)):
            ends = []
            for sign in (1.0, -1.0):
                moved = coordinates.copy()
                moved[index] += sign * _STEP
                ends.append(_frames(moved)[4])
            rate = (ends[0] - ends[1]) / (2.0 * _STEP)
            spin = rate[:3, :3] @ frames[4, :3, :3].T
            twist = [spin[2, 1], spin[0, 2], spin[1, 0], *rate[:3, 3]]
            assert np.allclose(jacobian[:, column], twist, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("limb", _LIMBS)
def test_a_limb_of_a_robot_is_the_same_limb(limb):
    generator = np.random.default_rng(20 + limb)
    alone = limb_model_of_robot(_MODEL, limb)
    coordinates = _random_coordinates(generator, limb)
    count = len(coordinates)
    poses, frames = np.empty((count + 1, 4, 4)), np.empty((count + 1, 4, 4))
    there, here = np.empty((6, 3 * count)), np.empty((6, 3 * count))
    limb_tip_jacobian(_MODEL, limb, coordinates, poses, there)
    limb_jacobian(alone, coordinates, frames, here)
    assert np.allclose(frames, poses, rtol=0.0, atol=1e-15)
    assert np.allclose(here, there, rtol=0.0, atol=1e-15)
    start = _MODEL.limb_segment_start[limb]
    bends = [segment_material(_MODEL, start + k)[0] for k in range(count)]
    assert alone.stiffness[:, 0] == pytest.approx(bends / np.min(bends))


def test_shape_along_the_limb():
    generator = np.random.default_rng(4)
    coordinates = _limb_coordinates(generator)
    lengths = _LIMB.segment_length + coordinates[:, 2]
    total = lengths.sum() + _GAPS.sum()
    fraction = np.concatenate([[1.0, 0.0, -1.0, 2.0], np.linspace(0.0, 1.0, 20_001)])
    frames, poses = np.empty((5, 4, 4)), np.empty((fraction.size, 4, 4))
    radii = np.empty(fraction.size)
    limb_shape(_LIMB, coordinates, fraction, frames, poses, radii)
    assert np.allclose(poses[0], frames[4], rtol=0.0, atol=1e-12)
    assert np.allclose(poses[1], np.eye(4), rtol=0.0, atol=1e-12)
    assert np.array_equal(poses[2], poses[1])
    assert np.array_equal(poses[3], poses[0])
    assert radii[:2] == pytest.approx([0.005, 0.03])
    poses, radii = poses[4:], radii[4:]
    # equal steps along the axis, each along the tangents at its ends
    step = total / 20_000
    way = np.diff(poses[:, :3, 3], axis=0)
    assert np.allclose(np.linalg.norm(way, axis=1), step, rtol=1e-6, atol=0.0)
    tangent = 0.5 * (poses[1:, :3, 2] + poses[:-1, :3, 2])
    assert np.abs(way - step * tangent).max() < 1e-8
    spin = poses[:, :3, :3] @ np.swapaxes(poses[:, :3, :3], 1, 2)
    assert np.allclose(spin, np.eye(3), rtol=0.0, atol=1e-12)
    # in the middle of the second segment, and inside the gap before it
    before = _GAPS[0] + lengths[0] + _GAPS[1]
    places = np.array([before + 0.5 * lengths[1], before - 0.01]) / total
    pair, radius = np.empty((2, 4, 4)), np.empty(2)
    limb_shape(_LIMB, coordinates, places, frames, pair, radius)
    arc = np.empty((4, 4))
    arc_pose(*(0.5 * coordinates[1, :2]), 0.5 * lengths[1], arc)
    assert np.allclose(pair[0], frames[1] @ arc, rtol=0.0, atol=1e-12)
    assert np.allclose(pair[1], frames[1] @ _ahead(-0.01), rtol=0.0, atol=1e-12)
    assert radius == pytest.approx([0.02, 0.025])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"segment_length": [0.2, -0.1]}, "segment_length is to be positive"),
        ({"bend_limit": 7.0}, "bend_limit"),
        ({"extension_range": [0.1, 0.0]}, "is to rise"),
        ({"extension_range": [-0.2, 0.0]}, "least length"),
        ({"gap": -0.1}, "gap"),
        ({"radius": 0.0}, "radius"),
    ],
)
def test_wrong_limbs_are_refused(change, words):
    good = {
        "segment_length": [0.2, 0.1],
        "radius": [0.02, 0.01],
        "bend_limit": 1.5,
        "extension_range": [-0.01, 0.02],
    }
    assert build_limb_model(**good).segment_radius.tolist() == [[0.02] * 2, [0.01] * 2]
    with pytest.raises(ValueError, match=words):
        build_limb_model(**(good | change))
