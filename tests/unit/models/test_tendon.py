"""Tendon lengths against the tendon's own path, their derivatives, and the way back.

Tolerance 1e-12 m: rounding of a 0.6 m length, 100 times; 1e-7 relative for central
differences.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.robot_tree import changed_robot
from models.rod import allocate_rod_work
from models.tendon import (
    TENDON_NOT_FINITE,
    TENDON_OK,
    tendon_coordinates,
    tendon_in_segment,
    tendon_lengths,
    tendon_load,
    tendon_tensions,
)
from tests.unit.models.rods import URSULA, one_limb, random_pose, section_pose

_WORK = allocate_rod_work(URSULA)
_SEEDS = st.integers(0, 2**32 - 1)


def _lengths(limb, coordinates, model=URSULA):
    tendons = int(np.diff(model.limb_tendon_start)[limb])
    length = np.full(tendons, np.nan)
    jacobian = np.full((tendons, coordinates.size), np.nan)
    tendon_lengths(model, limb, coordinates, length, jacobian)
    return length, jacobian


def _path_length(limb, coordinates, tendon):
    """Length of the path through the sections, as chords, extrapolated twice."""
    row = URSULA.limb_tendon_start[limb] + tendon
    angle = URSULA.tendon_angle[row]
    ratio = URSULA.tendon_offset_ratio[row]
    results = []
    for chords in (64, 128, 256):
        total = 0.0
        for segment in range(URSULA.tendon_termination[row] + 1):
            r0, r1 = URSULA.segment_radius[URSULA.limb_segment_start[limb] + segment]
            points = []
            for sigma in np.linspace(0.0, 1.0, chords + 1):
                offset = ratio * (r0 + (r1 - r0) * sigma)
                local = [offset * np.cos(angle), offset * np.sin(angle), 0.0, 1.0]
                pose = section_pose(URSULA, limb, coordinates, segment, sigma)
                points.append((pose @ local)[:3])
            total += np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
        results.append(total)
    coarse, middle, fine = results
    first, second = (4.0 * middle - coarse) / 3.0, (4.0 * fine - middle) / 3.0
    return (16.0 * second - first) / 15.0


@pytest.mark.parametrize(("limb", "tendon"), [(0, 0), (0, 2), (0, 5), (2, 1)])
def test_length_is_that_of_the_path_through_the_sections(limb, tendon):
    pose = np.array([[0.9, -0.7, -0.006], [-0.4, 1.1, -0.002]])
    pose = pose[: np.diff(URSULA.limb_segment_start)[limb]]
    length, _ = _lengths(limb, pose)
    assert length[tendon] == pytest.approx(_path_length(limb, pose, tendon), abs=1e-11)


@pytest.mark.parametrize("theta", [0.0, 1e-6, 0.3, 1.5])
def test_without_taper_it_is_the_papers_formula(theta):
    length, by_bend, by_length = tendon_in_segment(0.3, theta, 0.018, 0.018)
    assert length == pytest.approx(0.3 - 0.018 * theta, abs=1e-15)
    assert by_bend == pytest.approx(-0.018, abs=1e-15)
    assert by_length == pytest.approx(1.0, abs=1e-15)


@settings(deadline=None, max_examples=60)
@given(limb=st.sampled_from([0, 2]), seed=_SEEDS)
def test_jacobian_is_the_derivative(limb, seed):
    pose = random_pose(URSULA, limb, seed)
    _, jacobian = _lengths(limb, pose)
    step = 1e-5
    for column in range(pose.size):
        change = np.zeros(pose.size)
        change[column] = step
        change = change.reshape(pose.shape)
        difference = _lengths(limb, pose + change)[0] - _lengths(limb, pose - change)[0]
        assert np.allclose(jacobian[:, column], difference / (2 * step), atol=1e-10)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_series_and_closed_form_meet(sign):
    # 1e-4 rad is the switch by bend; of x by bend it lies at 1e-4 / (d' / ℓ)
    for bend in (1e-4, 1e-4 * 0.3 / 0.012):
        below = tendon_in_segment(0.3, sign * bend * (1 - 1e-9), 0.018, 0.006)
        above = tendon_in_segment(0.3, sign * bend * (1 + 1e-9), 0.018, 0.006)
        assert np.allclose(below, above, rtol=0.0, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(limb=st.sampled_from([0, 2]), seed=_SEEDS)
def test_coordinates_come_back_from_lengths(limb, seed):
    pose = random_pose(URSULA, limb, seed)
    length, _ = _lengths(limb, pose)
    found = np.full_like(pose, np.nan)
    assert tendon_coordinates(URSULA, limb, length, _WORK, found) == TENDON_OK
    assert np.allclose(found, pose, rtol=0.0, atol=1e-10)


def test_lengths_that_no_pose_has_give_the_nearest_pose():
    pose = np.array([[0.5, 0.2, -0.004]])
    length, _ = _lengths(2, pose)
    wrong = length + np.array([1e-3, -2e-3, 2e-3, 0.5e-3])
    found = np.zeros_like(pose)
    assert tendon_coordinates(URSULA, 2, wrong, _WORK, found) == TENDON_OK
    reached, jacobian = _lengths(2, found)
    assert np.linalg.norm(wrong - reached) > 1e-3
    assert np.allclose(jacobian.T @ (wrong - reached), 0.0, atol=1e-11)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_lengths_that_are_not_finite_are_refused(value):
    length, _ = _lengths(0, np.zeros((2, 3)))
    length[3] = value
    out = np.zeros((2, 3))
    assert tendon_coordinates(URSULA, 0, length, _WORK, out) == TENDON_NOT_FINITE


def test_a_tendon_feels_no_segment_beyond_its_end():
    near = np.array([[0.4, 0.1, -0.002], [0.0, 0.0, 0.0]])
    far = near.copy()
    far[1] = [-0.9, 0.8, -0.01]
    assert np.array_equal(_lengths(0, near)[0][:4], _lengths(0, far)[0][:4])
    assert not np.any(_lengths(0, far)[1][:4, 3:])
    assert np.all(_lengths(0, near)[0][4:] != _lengths(0, far)[0][4:])


def _routed(azimuths, ends, ratios, **changes):
    """A tapered limb of as many segments as there are ends, with this routing."""
    segments = max(ends) + 1
    tendons = len(azimuths)
    model = one_limb(
        segments,
        limb_tendon_start=np.array([0, tendons]),
        tendon_angle=np.array(azimuths),
        tendon_termination=np.array(ends),
        tendon_offset_ratio=np.array(ratios),
        tendon_stiffness=np.full(tendons, 2e4),
        tendon_origin=np.zeros(tendons, dtype=np.int64),
        tendon_tension_least=np.zeros(tendons),
        tendon_tension_limit=np.full(tendons, 40.0),
        tendon_range=np.tile([0.0, np.inf], (tendons, 1)),
        tendon_damping=np.zeros(tendons),
        tendon_pretension=np.zeros(tendons),
    )
    return changed_robot(model, **changes)


def _thirds(segments):
    """Three tendons a segment, each set turned, as Zhang and Gong place chambers."""
    azimuths, ends = [], []
    for k in range(segments):
        azimuths += [np.radians(90.0 + 40.0 * k + 120.0 * j) for j in range(3)]
        ends += [k] * 3
    return _routed(azimuths, ends, np.linspace(0.9, 0.5, 3 * segments))


_ROUTINGS = {
    "3 of 1": _thirds(1),
    "3 of 2": _thirds(2),
    "3 of 3": _thirds(3),
    "4 of 3": one_limb(3),
    "6 of 1": _routed(np.radians([0, 50, 130, 170, 260, 300]), [0] * 6, [0.8, 0.4] * 3),
    "3 and 5": _routed(np.radians([0, 90, 200, 10, 80, 150, 220, 290]),
                       [0] * 3 + [1] * 5, [0.9, 0.8, 0.7, 0.3, 0.6, 0.5, 0.8, 0.4]),
}  # fmt: skip


@pytest.mark.parametrize("name", _ROUTINGS)
def test_any_routing_there_and_back(name):
    model = _ROUTINGS[name]
    work = allocate_rod_work(model)
    generator = np.random.default_rng(1)
    segments = model.segment_length.size
    for trial in range(200):
        bend = np.pi / 2 * np.sqrt(generator.random(segments))
        plane = generator.uniform(-np.pi, np.pi, segments)
        pose = np.stack(
            [
                bend * np.cos(plane),
                bend * np.sin(plane),
                generator.uniform(-0.03, 0.03, segments),
            ],
            axis=1,
        )
        if trial == 0:
            pose[:] = 0.0
        length, _ = _lengths(0, pose, model)
        found = np.full_like(pose, np.nan)
        assert tendon_coordinates(model, 0, length, work, found) == TENDON_OK
        assert np.abs(found - pose).max() < 1e-9
        assert np.abs(_lengths(0, found, model)[0] - length).max() < 1e-12


def test_a_proximal_bend_moves_a_distal_tendon():
    model = _ROUTINGS["3 of 2"]
    straight, _ = _lengths(0, np.zeros((2, 3)), model)
    bent, jacobian = _lengths(0, np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]), model)
    assert np.all(np.abs(bent[3:] - straight[3:]) > 1e-4)
    assert np.all(jacobian[:3, 3:] == 0.0)
    assert np.all(np.abs(jacobian[3:, 0]) > 1e-4)


@pytest.mark.parametrize("name", _ROUTINGS)
def test_tension_loads_the_coordinates_by_virtual_work(name):
    """The load is the derivative of the work that constant tensions do."""
    model = _ROUTINGS[name]
    generator = np.random.default_rng(2)
    segments, tendons = model.segment_length.size, model.tendon_angle.size
    for _ in range(20):
        pose = generator.uniform([-1.0, -1.0, -0.02], [1.0, 1.0, 0.02], (segments, 3))
        tension = generator.uniform(0.0, 30.0, tendons)
        _, jacobian = _lengths(0, pose, model)
        load = np.full(3 * segments, np.nan)
        tendon_load(jacobian, tension, 3 * segments, load)
        for column, index in enumerate(np.ndindex(segments, 3)):
            ends = []
            for sign in (1.0, -1.0):
                moved = pose.copy()
                moved[index] += sign * 1e-5
                ends.append(-tension @ _lengths(0, moved, model)[0])
            slope = (ends[0] - ends[1]) / 2e-5
            assert load[column] == pytest.approx(slope, abs=1e-7)
    assert np.all(load[2::3] < 0.0)  # tendons only shorten


def test_slack_tendons_are_found():
    model = _ROUTINGS["3 of 1"]
    pose = np.array([[0.0, 0.8, 0.0]])  # towards azimuth 90°, where tendon 0 runs
    straight, _ = _lengths(0, np.zeros((1, 3)), model)
    bent, _ = _lengths(0, pose, model)
    tension, slack = np.full(3, np.nan), np.full(3, np.nan)
    assert tendon_tensions(model, 0, bent, straight, tension, slack) == 1
    assert slack[0] == pytest.approx(straight[0] - bent[0])
    assert slack[0] > 0.01
    assert tension[0] == 0.0
    assert np.all(slack[1:] == 0.0)
    assert tension[1:] == pytest.approx(2e4 * (bent - straight)[1:])
    assert tendon_tensions(model, 0, bent, bent, tension, slack) == 3
    assert not np.any(tension)
    assert not np.any(slack)
