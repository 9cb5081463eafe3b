"""The chain of rigid sections against the arc, and the slips of Emet 2023.

Tolerance 1e-12 m: both sides are closed forms of numbers near 1. Names such as
P002-020 are the facts of the paper that a test reproduces.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.arc import arc_pose
from models.chain import chain_frames, chain_joints, limb_sections
from models.conventions import emet_direction, torsion_free_direction
from models.limb import build_limb_model, limb_frames
from models.numerics import kernel

_EXACT = 1e-12

bends = st.floats(-2.5, 2.5)
sections_range = st.integers(2, 29)


def _arc(delta_x, delta_y, length):
    pose = np.empty((4, 4))
    arc_pose(delta_x, delta_y, length, pose)
    return pose


def _frames(delta_x, delta_y, length, sections):
    poses = np.empty((sections + 1, 4, 4))
    chain_frames(delta_x, delta_y, length, sections, poses)
    return poses


def _joints(delta_x, delta_y, length, sections):
    joints = np.empty((sections, 3))
    chain_joints(delta_x, delta_y, length, sections, joints)
    return joints


def _about(axis, angle):
    """Exponential of a turn about a unit axis, by Rodrigues' formula."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


_X, _Y, _Z = np.eye(3)


def _denavit_hartenberg(joints):
    """Eqs 10 and 11 of the paper, literally: position, rotation after each section."""
    rotation, position, frames = np.eye(3), np.zeros(3), []
    for plane, bend, slide in joints:
        rotation = rotation @ _about(_Z, plane) @ _about(_X, -math.pi / 2)
        rotation = rotation @ _about(_Z, bend) @ _about(_X, math.pi / 2)
        position = position + slide * rotation @ _Z
        frames.append((position, rotation))
    return frames


@settings(deadline=None)
@given(delta_x=bends, delta_y=bends, length=st.floats(0.05, 2.0), n=sections_range)
def test_every_section_ends_on_the_arc(delta_x, delta_y, length, n):
    """P002-020: the first bend is Δ/2, the others Δ, the chord 2 r sin(Δ/2)."""
    poses = _frames(delta_x, delta_y, length, n)
    for k in range(n + 1):
        part = k / n
        on_arc = _arc(part * delta_x, part * delta_y, part * length)
        assert np.allclose(poses[k, :3, 3], on_arc[:3, 3], rtol=0.0, atol=_EXACT)


@settings(deadline=None)
@given(delta_x=bends, delta_y=bends, length=st.floats(0.05, 2.0), n=sections_range)
def test_the_tip_frame_is_the_arcs(delta_x, delta_y, length, n):
    poses = _frames(delta_x, delta_y, length, n)
    assert np.allclose(poses[n], _arc(delta_x, delta_y, length), rtol=0.0, atol=_EXACT)
    assert np.array_equal(poses[0], np.eye(4))


@settings(deadline=None)
@given(delta_x=bends, delta_y=bends, length=st.floats(0.05, 2.0), n=sections_range)
def test_joints_through_the_papers_kinematics_give_the_frames(
    delta_x, delta_y, length, n
):
    joints = _joints(delta_x, delta_y, length, n)
    assert np.all(joints[1:, 0] == 0.0)
    poses = _frames(delta_x, delta_y, length, n)
    frames = _denavit_hartenberg(joints)
    for k, (position, rotation) in enumerate(frames, start=1):
        assert np.allclose(poses[k, :3, 3], position, rtol=0.0, atol=_EXACT)
        if k < n:
            assert np.allclose(poses[k, :3, :3], rotation, rtol=0.0, atol=_EXACT)
    closed = frames[-1][1] @ _about(_Y, joints[0, 1]) @ _about(_Z, -joints[0, 0])
    assert np.allclose(poses[n, :3, :3], closed, rtol=0.0, atol=_EXACT)


def test_the_least_numbers_still_make_a_rotation():
    poses = _frames(5e-324, 5e-324, 0.3, 4)
    assert np.allclose(poses[2, :3, :3] @ poses[2, :3, :3].T, np.eye(3), atol=_EXACT)
    assert np.allclose(poses[4], _arc(0.0, 0.0, 0.3), atol=_EXACT)


def test_positions_are_smooth_through_the_straight_arc():
    for bend in (1e-3, 1e-6, 1e-9, 1e-12, 0.0):
        ahead = _frames(bend, 0.0, 0.3, 10)[:, :3, 3]
        behind = _frames(-bend, 0.0, 0.3, 10)[:, :3, 3]
        assert np.allclose(ahead, behind, rtol=0.0, atol=0.3 * bend + 1e-16)
    assert np.allclose(_joints(0.0, 0.0, 0.3, 10), [[0.0, 0.0, 0.03]] * 10)


def test_the_papers_example_is_an_arc_of_90_degrees():
    """P002-022, P002-023: ζ = [30 4.5 0 0 9 ...] degrees; the slide is not 60 mm."""
    bend, plane = math.radians(90.0), math.radians(30.0)
    joints = _joints(bend * math.cos(plane), bend * math.sin(plane), 0.6, 10)
    degrees = np.degrees(joints[:, :2])
    assert np.allclose(degrees[0], [30.0, 4.5], atol=1e-12)
    assert np.allclose(degrees[1:], [0.0, 9.0], atol=1e-12)
    assert np.allclose(1e3 * joints[:, 2], 59.938333994912306, rtol=0.0, atol=1e-9)
    literal = math.radians(45.0)
    joints = _joints(literal, 0.0, 0.6, 10)
    assert np.allclose(np.degrees(joints[:2, 1]), [2.25, 4.5], atol=1e-12)
    assert math.isclose(1e3 * joints[0, 2], 59.98458, abs_tol=5e-6)


def test_an_arc_length_for_the_chord_misses_the_tip():
    """P002-023, P002-030: 60 mm puts the tip 0.5558 mm too far."""
    joints = _joints(math.radians(90.0), 0.0, 0.6, 10)
    tip = _denavit_hartenberg(joints)[-1][0]
    joints[:, 2] = 0.06
    wrong = _denavit_hartenberg(joints)[-1][0]
    assert math.isclose(1e3 * np.linalg.norm(wrong - tip), 0.5558, abs_tol=5e-5)
    assert np.allclose(wrong, 1.0010288 * tip, rtol=1e-7)


def test_a_whole_first_bend_misses_the_tip():
    """P002-027: the tip is 42.4155 mm off without the half angle."""
    joints = _joints(math.radians(90.0), 0.0, 0.6, 10)
    tip = _denavit_hartenberg(joints)[-1][0]
    joints[0, 1] *= 2.0
    wrong = _denavit_hartenberg(joints)[-1][0]
    assert math.isclose(1e3 * np.linalg.norm(wrong - tip), 42.4155, abs_tol=1e-3)


def test_the_last_half_angle_is_missing_in_the_paper():
    """P002-021: eqs 13 and 20 differ by Ry(θ/2N), 4.5 degrees in the example."""
    bend, plane = math.radians(90.0), math.radians(30.0)
    joints = _joints(bend * math.cos(plane), bend * math.sin(plane), 0.6, 10)
    printed = _denavit_hartenberg(joints)[-1][1]
    eq_20 = _about(_Z, plane) @ _about(_Y, bend)
    gap = math.acos((np.trace(printed.T @ eq_20) - 1.0) / 2.0)
    assert math.isclose(math.degrees(gap), 4.5, abs_tol=1e-9)
    assert np.allclose(printed @ _about(_Y, bend / 20.0), eq_20, atol=_EXACT)


@pytest.mark.parametrize("angle", [-1.3, 0.0, 0.4, 2.9])
def test_equations_11_and_13_agree(angle):
    """P002-028."""
    product = _about(_X, -math.pi / 2) @ _about(_Z, angle) @ _about(_X, math.pi / 2)
    assert np.allclose(product, _about(_Y, angle), atol=1e-15)


def test_joints_stay_in_the_papers_table():
    """P002-015 and Table I: bends to π/20, slides from ℓ_min/10 to ℓ_max/10."""
    joints = _joints(math.pi / 2, 0.0, 0.6, 10)
    assert np.all(np.abs(joints[:, 1]) <= math.pi / 20 + 1e-15)
    assert np.all(joints[:, 2] <= 0.06)


@settings(deadline=None)
@given(
    theta=st.lists(st.floats(0.0, 1.5), min_size=3, max_size=3),
    phi=st.lists(st.floats(-3.1, 3.1), min_size=3, max_size=3),
)
def test_emets_directions_describe_the_same_limb(theta, phi):
    """P002-029: eq. 20 has no Rz(-φ), so φ2 counts from the plane of segment 1."""
    paper = emet_direction(np.array(phi))
    here, there = np.eye(3), np.eye(3)
    for k in range(3):
        turn = _about(_Z, phi[k])
        here = here @ turn @ _about(_Y, theta[k]) @ turn.T
        there = there @ _about(_Z, paper[k]) @ _about(_Y, theta[k])
        assert np.allclose(here @ _about(_Z, phi[k]), there, atol=_EXACT)
    back = torsion_free_direction(paper)
    assert np.allclose(np.exp(1j * back), np.exp(1j * np.array(phi)), atol=_EXACT)


@kernel
def many_frames(delta_x, delta_y, length, sections, pose_out, point_out, tip_out):
    for i in range(delta_x.size):
        chain_frames(delta_x[i], delta_y[i], length[i], sections, pose_out)
        for k in range(sections + 1):
            for j in range(3):
                point_out[i, k, j] = pose_out[k, j, 3]
        for j in range(3):
            for k in range(3):
                tip_out[i, j, k] = pose_out[sections, j, k]


@pytest.mark.parametrize(("sections", "number"), [(1, 25_000), (10, 75_000)])
def test_a_hundred_thousand_shapes(sections, number):
    """Points against r (1 - cos, sin) by half angles, frames against Rodrigues."""
    generator = np.random.default_rng(sections)
    theta = generator.uniform(-3.1, 3.1, number)
    theta[:2000] *= 10.0 ** generator.uniform(-12.0, 0.0, 2000)
    theta[:10] = 0.0
    theta[10:12] = 3.1, -3.1
    phi = generator.uniform(-np.pi, np.pi, number)
    length = generator.uniform(0.05, 1.0, number)
    point = np.empty((number, sections + 1, 3))
    tip = np.empty((number, 3, 3))
    many_frames(
        theta * np.cos(phi), theta * np.sin(phi), length, sections,
        np.empty((sections + 1, 4, 4)), point, tip,
    )  # fmt: skip
    part = np.linspace(0.0, 1.0, sections + 1)
    half = 0.5 * theta[:, None] * part
    chord = length[:, None] * part * np.sinc(half / np.pi)
    across = chord * np.sin(half)
    expected = np.stack(
        [
            across * np.cos(phi)[:, None],
            across * np.sin(phi)[:, None],
            chord * np.cos(half),
        ],
        axis=-1,
    )
    assert np.abs(point - expected).max() < _EXACT
    zero = np.zeros(number)
    cross = np.array([
        [zero, zero, np.cos(phi)],
        [zero, zero, np.sin(phi)],
        [-np.cos(phi), -np.sin(phi), zero],
    ])  # fmt: skip
    cross = np.moveaxis(cross, -1, 0)
    turn = (
        np.eye(3)
        + np.sin(theta)[:, None, None] * cross
        + (1.0 - np.cos(theta))[:, None, None] * cross @ cross
    )
    assert np.abs(tip - turn).max() < _EXACT


def test_sections_of_a_limb_with_gaps_end_at_its_frames():
    limb = build_limb_model(
        [0.2, 0.3, 0.1], 0.02, 2.0, [-0.05, 0.05], gap=[0.01, 0.02, 0.0, 0.04]
    )
    coordinates = np.array([[0.9, -0.4, 0.02], [0.0, 0.0, 0.0], [-1.0, 1.1, -0.01]])
    frames, again = np.empty((4, 4, 4)), np.empty((4, 4, 4))
    poses = np.empty((3, 8, 4, 4))
    limb_sections(limb, coordinates, 7, frames, poses)
    limb_frames(limb, coordinates, again)
    assert np.array_equal(frames, again)
    for k in range(3):
        ahead = np.eye(4)
        ahead[2, 3] = limb.gap[k + 1]
        assert np.allclose(poses[k, 0], frames[k], rtol=0.0, atol=_EXACT)
        assert np.allclose(poses[k, 7] @ ahead, frames[k + 1], rtol=0.0, atol=_EXACT)
