"""Renda's star: frames of the three vehicles, arms, and the mantle's reference shape.

Tolerances: 1e-12 m and rad between closed forms; 0.01 for rotations printed with two
digits; 1e-7 for central differences with a step of 1e-5.
"""

import numpy as np
import pytest

from models.lie import pose_exp, pose_log, transform_twist_back
from models.star import (
    limb_frame,
    mantle_frame,
    mantle_profile,
    mantle_volume,
    monopus_frames,
    poseidrone_frames,
    quadropus_frames,
    star_arm_poses,
    star_arm_section,
    strain_poses,
    turned_copies,
)

_EXACT = 1e-12
_PRINTED = 0.01
_DIFFERENCE = 1e-7
_STEP = 1e-5
_ARM = 0.245
_VEHICLES = (monopus_frames, quadropus_frames, poseidrone_frames)
# columns x, y, z of a section of Renda in a section of a limb
_RENDA_TO_LIMB = np.array(
    [
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
)
# published code, octave driver: columns -E3, -E1, E2 of the dummy frame
_FIRST_SECTION = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])


def _exp(twist):
    pose = np.empty((4, 4))
    pose_exp(np.asarray(twist, dtype=float), pose)
    return pose


def _log(pose):
    twist = np.empty(6)
    pose_log(pose, twist)
    return twist


def _straight_tips(frames, root=None):
    count = len(frames.arm_to_root)
    poses = np.empty((2 * count, 4, 4))
    star_arm_poses(
        np.arange(count + 1),
        np.full(count, _ARM),
        np.zeros((count, 3)),
        frames.arm_to_root,
        np.eye(4) if root is None else root,
        poses,
    )
    return poses[1::2]


@pytest.mark.parametrize("vehicle", _VEHICLES)
def test_all_frames_are_rigid(vehicle):
    frames = vehicle()
    for pose in (*frames.dummy_arm_to_root, *frames.arm_to_root, *frames.part_to_root):
        assert np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-15)
        assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0, abs=1e-15)
        assert np.array_equal(pose[3], [0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize("vehicle", _VEHICLES)
def test_a_limb_is_rendas_first_section_with_its_axes_renamed(vehicle):
    frames = vehicle()
    first = np.eye(4)
    first[:3, :3] = _FIRST_SECTION
    for dummy, limb in zip(frames.dummy_arm_to_root, frames.arm_to_root, strict=True):
        expected = dummy @ first @ _RENDA_TO_LIMB.T
        assert np.allclose(limb, expected, rtol=0, atol=1e-15)


def test_printed_poseidrone_frame_is_not_a_rotation():
    printed = np.array([[0.70, -0.71, 0.06], [0.70, 0.71, -0.06], [0.09, 0.0, 0.99]])
    right = printed * [[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert abs(printed[:, 0] @ printed[:, 2]) == pytest.approx(0.0891, abs=1e-12)
    assert abs(right[:, 0] @ right[:, 2]) == pytest.approx(0.0051, abs=1e-12)
    used = poseidrone_frames().dummy_arm_to_root[0, :3, :3]
    assert np.abs(used - right).max() < _PRINTED
    assert np.abs(used - printed).max() > 0.1


def test_poseidrone_arms_end_the_bars():
    """A 141 mm bar from the root's origin, centred at g_rr, ends at an arm."""
    frames = poseidrone_frames()
    for arm, bar in zip(frames.dummy_arm_to_root, frames.part_to_root, strict=True):
        assert np.allclose(2.0 * bar[:3, 3], arm[:3, 3], atol=1e-15)
        assert np.linalg.norm(arm[:3, 3]) == pytest.approx(0.141, abs=1e-3)
        along = arm[:3, 3] / np.linalg.norm(arm[:3, 3])
        assert np.allclose(-bar[:3, 2], along, atol=_PRINTED)


def test_straight_tips_are_those_of_the_published_runs():
    """First rows of the reference runs of the three vehicles, at rest."""
    tip = _straight_tips(monopus_frames())[0]
    # the published code has the arm 2 mm further back than sec. 7
    assert np.allclose(tip[:3, 3], [-0.357 + 0.002, 0.0, 0.0], rtol=0, atol=_EXACT)
    tips = _straight_tips(quadropus_frames())[:, :3, 3]
    assert np.allclose(tips[0], [-0.357, 0.0, -0.01], rtol=0, atol=_EXACT)
    assert np.allclose(tips[1], [-0.357, 0.01, 0.0], rtol=0, atol=_EXACT)
    tips = _straight_tips(poseidrone_frames())[:, :3, 3]
    # the run begins with the printed first column, of two digits too: 0.9 mm at the tip
    first = np.array([0.70, 0.70, 0.09]) / np.linalg.norm([0.70, 0.70, 0.09])
    third = np.array([-0.06, -0.06, 0.99])
    third -= first * (first @ third)
    other = np.array([0.076, 0.076, -0.09]) - _ARM * third / np.linalg.norm(third)
    assert np.allclose(other, [0.0916853, 0.0916853, -0.333994], rtol=0, atol=1e-6)
    assert np.allclose(tips[0], other, rtol=0, atol=1e-3)
    assert np.allclose(tips[1], tips[0] * [-1.0, 1.0, 1.0], rtol=0, atol=_EXACT)
    assert np.allclose(tips[2], tips[0] * [-1.0, -1.0, 1.0], rtol=0, atol=_EXACT)


def test_quadropus_sections_point_back_with_normals_inward():
    frames = quadropus_frames()
    for arm in frames.arm_to_root:
        assert np.allclose(arm[:3, 2], [-1.0, 0.0, 0.0], atol=1e-15)
        inward = -arm[:3, 3] * [0.0, 1.0, 1.0]
        assert np.allclose(arm[:3, 0], inward / 0.01, atol=1e-12)


@pytest.mark.parametrize(("sign", "opens"), [(-1.0, True), (1.0, False)])
def test_a_negative_moment_opens_the_arms(sign, opens):
    """Eq. 25 prints +m, which closes them; the published code applies -m."""
    frames = quadropus_frames()
    pose = np.empty((4, 4))
    for arm in frames.arm_to_root:
        star_arm_section(_ARM, np.array([0.4 * sign, 0.0, 0.0]), arm, 1.0, pose)
        axis_gap = np.hypot(pose[1, 3], pose[2, 3])
        side = np.sign(arm[1:3, 3] @ pose[1:3, 3])
        assert (axis_gap * side > 0.01) == opens


def test_arms_hang_together_over_1e5_shapes():
    """Arms of 1, 2 and 3 segments; a straight one, tiny bends and up to 3 rad."""
    generator = np.random.default_rng(1)
    start = np.array([0, 1, 3, 6])
    length = generator.uniform(0.05, 0.2, size=6)
    bases = np.stack([_exp(generator.normal(size=6)) for _ in range(3)])
    size = 17_000
    theta = generator.uniform(-3.0, 3.0, size=(size, 6))
    theta[::40] = 0.0
    theta[1::40] *= 1e-9
    phi = generator.uniform(-np.pi, np.pi, size=theta.shape)
    change = generator.uniform(-0.01, 0.01, size=theta.shape)
    coordinates = np.stack([theta * np.cos(phi), theta * np.sin(phi), change], axis=2)
    root = _exp(generator.normal(size=6))
    poses = np.empty((size, 9, 4, 4))
    for k in range(size):
        star_arm_poses(start, length, coordinates[k], bases, root, poses[k])
    half = 0.5 * theta
    fall = 2.0 * np.sin(half) ** 2
    small = np.where(theta == 0.0, 1.0, theta)
    arc = length + change
    bends = np.zeros((size, 6, 4, 4))
    for angle, pose in ((-phi, np.zeros_like(bends)), (phi, np.zeros_like(bends))):
        pose[..., 0, 0] = pose[..., 1, 1] = np.cos(angle)
        pose[..., 1, 0] = np.sin(angle)
        pose[..., 0, 1] = -pose[..., 1, 0]
        pose[..., 2, 2] = pose[..., 3, 3] = 1.0
        if angle is phi:
            turn = np.zeros_like(bends)
            turn[..., 0, 0] = turn[..., 2, 2] = 1.0 - fall
            turn[..., 0, 2] = np.sin(theta)
            turn[..., 2, 0] = -turn[..., 0, 2]
            turn[..., 1, 1] = turn[..., 3, 3] = 1.0
            turn[..., 0, 3] = arc * np.where(theta == 0.0, 0.0, fall / small)
            turn[..., 2, 3] = arc * np.where(theta == 0.0, 1.0, np.sin(theta) / small)
            bends = pose @ turn @ bends
        else:
            bends = pose
    for arm in range(3):
        expected = np.broadcast_to(root @ bases[arm], (size, 4, 4))
        for s in range(start[arm], start[arm + 1] + 1):
            assert np.abs(poses[:, s + arm] - expected).max() < _EXACT
            if s < start[arm + 1]:
                expected = expected @ bends[:, s]


def test_a_section_stands_on_the_arc_of_its_segment():
    base = _exp([0.2, -0.4, 0.9, 0.1, 0.2, -0.3])
    coordinates = np.array([0.7, -1.1, 0.004])
    inside, end, rest = np.empty((4, 4)), np.empty((4, 4)), np.empty((4, 4))
    star_arm_section(_ARM, coordinates, base, 0.3, inside)
    star_arm_section(_ARM, coordinates, base, 1.0, end)
    star_arm_section(_ARM, coordinates, inside, 0.7, rest)
    assert np.allclose(rest, end, rtol=0, atol=_EXACT)


def _strain_poses(strain, step, start=None):
    poses = np.empty((len(step) + 1, 4, 4))
    work = np.empty(6)
    strain_poses(strain, step, np.eye(4) if start is None else start, poses, work)
    return poses


@pytest.mark.parametrize(("about_y", "about_z"), [(0.0, 5.0), (3.0, 0.0), (-4.0, 6.0)])
def test_constant_strain_is_an_arc(about_y, about_z):
    """k_z bends to y, a limb's x; k_y bends to -z, against a limb's y."""
    stretch = 1.03
    strain = np.tile([0.0, about_y, about_z, stretch, 0.0, 0.0], (7, 1))
    start = _exp([0.1, 0.5, -0.2, 0.3, 0.0, 0.2])
    poses = _strain_poses(strain, np.full(7, _ARM / 7), start @ np.eye(4))
    coordinates = np.array([about_z * _ARM, -about_y * _ARM, (stretch - 1.0) * _ARM])
    limb_start = start @ _RENDA_TO_LIMB.T
    section = np.empty((4, 4))
    for k, pose in enumerate(poses):
        star_arm_section(_ARM, coordinates, limb_start, k / 7, section)
        expected = section @ _RENDA_TO_LIMB
        assert np.allclose(pose, expected, rtol=0, atol=_EXACT)


def test_sampled_strain_converges_with_the_square_of_the_step():
    def tip(count):
        middle = (np.arange(count) + 0.5) / count
        strain = np.zeros((count, 6))
        strain[:, 0] = 2.0 * np.sin(3.0 * middle)
        strain[:, 1] = 4.0 * middle
        strain[:, 2] = 9.0 - 6.0 * middle * middle
        strain[:, 3] = 1.0
        return _strain_poses(strain, np.full(count, _ARM / count))[-1]

    exact = tip(4096)
    errors = [np.abs(tip(count) - exact).max() for count in (16, 32, 64)]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.1)


def test_twist_of_a_section_of_a_floating_star():
    """η = η_b + Ad⁻¹ of (g_rb g_b) of η_r (sec. 3.1)."""
    frames = quadropus_frames()
    generator = np.random.default_rng(2)
    coordinates = np.array([0.5, -0.8, 0.01])
    rates = np.array([1.0, 0.3, 0.02])
    root_twist = generator.normal(size=6)
    root = _exp(generator.normal(size=6))
    on_root, on_base, whole = [], [], []
    for side in (-_STEP, _STEP):
        pose = np.empty((4, 4))
        moved = coordinates + side * rates
        star_arm_section(_ARM, moved, frames.arm_to_root[2], 0.6, pose)
        on_root.append(pose)
        pose = np.empty((4, 4))
        star_arm_section(_ARM, moved, np.eye(4), 0.6, pose)
        on_base.append(pose)
        whole.append(root @ _exp(side * root_twist) @ on_root[-1])
    shape = _log(np.linalg.inv(on_base[0]) @ on_base[1]) / (2.0 * _STEP)
    pose = np.empty((4, 4))
    star_arm_section(_ARM, coordinates, frames.arm_to_root[2], 0.6, pose)
    carried = np.empty(6)
    transform_twist_back(pose, root_twist, carried)
    twist = _log(np.linalg.inv(whole[0]) @ whole[1]) / (2.0 * _STEP)
    assert np.allclose(twist, shape + carried, rtol=0, atol=_DIFFERENCE)


def test_copies_turn_about_the_axis():
    pose = _exp([0.3, 0.2, 0.1, 0.05, 0.02, 0.07])
    copies = turned_copies(pose, np.array([1.0, 0.0, 0.0]), 4)
    quarter = _exp([np.pi / 2, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert np.array_equal(copies[0], pose)
    for before, after in zip(copies, np.roll(copies, -1, axis=0), strict=True):
        assert np.allclose(after, quarter @ before, rtol=0, atol=1e-15)
    assert np.allclose(limb_frame(limb_frame(pose)), pose, rtol=0, atol=1e-15)


_RADIUS = 0.031
_CAP = np.pi / 4
_DOME = _RADIUS * (np.pi / 2 - _CAP)
_LENGTH = _DOME + 0.094


def test_mantle_reaches_back_over_the_cone():
    profile = mantle_profile(np.array([0.0, _DOME, _LENGTH]), _RADIUS, _CAP)
    assert profile[0, :2] == pytest.approx([_RADIUS * np.sin(_CAP), 0.0], abs=1e-15)
    assert profile[1, 0] == profile[2, 0] == pytest.approx(_RADIUS, abs=1e-15)
    assert profile[1, 1] - profile[2, 1] == pytest.approx(0.094, abs=1e-15)
    assert profile[:, 2] == pytest.approx([-np.pi / 4, -np.pi / 2, -np.pi / 2])
    mantle = quadropus_frames().mantle_to_root
    edge = mantle @ [0.0, 0.0, profile[2, 1], 1.0]
    # its edge is 116 mm behind the root's origin, the arms begin at 112 mm
    assert edge[:3] == pytest.approx([-0.11592, 0.0, 0.0], abs=1e-5)


def test_mantle_has_the_strains_of_section_3_1():
    """ξ1 = (0, 0, θ', 1, 0, 0) and ξ2 = (sin θ, cos θ, 0, 0, 0, -r) at rest."""
    for abscissa in (0.003, 0.011, 0.02, 0.05, 0.11):
        ends = mantle_profile(abscissa + np.array([-_STEP, 0.0, _STEP]), _RADIUS, _CAP)
        radius, _, theta = ends[1]
        pose = [mantle_frame(*row, 0.7) for row in ends]
        along = _log(np.linalg.inv(pose[0]) @ pose[2]) / (2.0 * _STEP)
        curvature = -1.0 / _RADIUS if abscissa < _DOME else 0.0
        expected = [0.0, 0.0, curvature, 1.0, 0.0, 0.0]
        assert np.allclose(along, expected, rtol=0, atol=_DIFFERENCE)
        around = [mantle_frame(*ends[1], 0.7 + side) for side in (-_STEP, _STEP)]
        across = _log(np.linalg.inv(around[0]) @ around[1]) / (2.0 * _STEP)
        expected = [np.sin(theta), np.cos(theta), 0.0, 0.0, 0.0, -radius]
        assert np.allclose(across, expected, rtol=0, atol=_DIFFERENCE)
        assert np.allclose(pose[1][:3, :3] @ pose[1][:3, :3].T, np.eye(3), atol=1e-15)


def test_mantle_volume_is_that_of_its_solid():
    dome = np.linspace(0.0, _DOME, 2000)
    profile = mantle_profile(np.append(dome, _LENGTH), _RADIUS, _CAP)
    exact = np.pi * _RADIUS**3 * (np.cos(_CAP) - np.cos(_CAP) ** 3 / 3.0)
    exact += np.pi * _RADIUS**2 * 0.094
    assert mantle_volume(profile) == pytest.approx(exact, rel=1e-7)
