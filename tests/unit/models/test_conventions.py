"""Emet's convention and the torsion-free one, over many shapes at once.

Tolerances: 1e-12 m and rad between closed forms, 1e-9 for round trips.
"""

import numpy as np
import pytest

from models.conventions import (
    coordinates_of_emet,
    emet_direction,
    emet_frame,
    emet_of_coordinates,
    emet_poses,
    torsion_free_direction,
    torsion_free_frame,
)
from models.limb import build_limb_model, limb_frames

_EXACT = 1e-12
_ROUND_TRIP = 1e-9
_REST = np.array([0.2, 0.3, 0.15, 0.25])
_GAP = np.array([0.01, 0.0, 0.03, 0.02, 0.05])


def _shapes(number, segments=4):
    """θ of both signs, some exactly 0, φ all round, ℓ about the rest length."""
    generator = np.random.default_rng(segments)
    theta = generator.uniform(-3.0, 3.0, size=(number, segments))
    theta[generator.random(theta.shape) < 0.1] = 0.0
    theta[0] = 0.0
    phi = generator.uniform(-np.pi, np.pi, size=theta.shape)
    length = _REST[:segments] * generator.uniform(0.8, 1.3, size=theta.shape)
    return theta, phi, length


@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_both_conventions_have_the_same_points_and_axes(segments):
    theta, phi, length = _shapes(300, segments)
    rest, gap = _REST[:segments], _GAP[: segments + 1]
    limb = build_limb_model(rest, 0.02, 3.1, [-0.1, 0.1], gap=gap)
    printed = emet_poses(theta, phi, length, gap)
    coordinates = coordinates_of_emet(theta, phi, length, rest)
    poses = np.empty_like(printed)
    for k, item in enumerate(coordinates):
        limb_frames(limb, item, poses[k])
    assert np.allclose(poses[..., :3, 2:], printed[..., :3, 2:], atol=_EXACT)
    assert np.allclose(emet_frame(poses, phi), printed, rtol=0.0, atol=_EXACT)
    assert np.allclose(torsion_free_frame(printed, phi), poses, rtol=0.0, atol=_EXACT)
    if segments > 1:
        # and the frames of the second segment are not the same
        assert np.abs(poses[:, 2] - printed[:, 2]).max() > 0.5


def test_coordinates_come_back_from_the_papers_numbers():
    theta, phi, length = _shapes(100_000)
    coordinates = coordinates_of_emet(theta, phi, length, _REST)
    back = coordinates_of_emet(*emet_of_coordinates(coordinates, _REST), _REST)
    assert np.abs(back - coordinates).max() < _ROUND_TRIP


def test_the_papers_numbers_come_back_from_coordinates():
    theta, phi, length = _shapes(100_000)
    theta = np.abs(theta) + 1e-6
    coordinates = coordinates_of_emet(theta, phi, length, _REST)
    again, direction, extent = emet_of_coordinates(coordinates, _REST)
    assert np.abs(again - theta).max() < _ROUND_TRIP
    assert np.abs(np.exp(1j * direction) - np.exp(1j * phi)).max() < _ROUND_TRIP
    assert np.abs(extent - length).max() < _ROUND_TRIP


def test_a_straight_segment_turns_nothing():
    coordinates = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.3, 0.4, 0.0]])
    theta, phi, _ = emet_of_coordinates(coordinates, _REST[:3])
    assert theta == pytest.approx([0.5, 0.0, 0.5])
    assert phi == pytest.approx([0.0, 0.0, np.arctan2(0.4, 0.3)])


def test_two_segments_by_hand():
    """P002-029: φ2 of the paper is φ2 - φ1."""
    assert emet_direction([0.5, 1.2]) == pytest.approx([0.5, 0.7])
    assert torsion_free_direction([0.5, 0.7]) == pytest.approx([0.5, 1.2])
    assert emet_direction([3.0, -3.0]) == pytest.approx([3.0, 2.0 * np.pi - 6.0])
