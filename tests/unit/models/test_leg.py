"""SILVER2's leg: eq. 1a corrected, eq. 1b, Jacobian, limits, nearest point.

Tolerances: 1e-9 for round trips and 1e-7 for central differences, as promised; 1e-12
where both sides are closed forms. A nearest point is held against a grid of the joint
box: no point of the grid may be nearer by more than rounding.
"""

import math

import numpy as np
import pytest

from models.leg import build_leg_model, leg_forward, leg_jacobian, narrow_joint_range
from models.leg_inverse import (
    COXA_LIMITED,
    FEMUR_LIMITED,
    INSIDE_OFFSET,
    NOT_FINITE,
    TOO_FAR,
    TOO_NEAR,
    leg_inverse,
    leg_inverse_batch,
    leg_reasons,
)
from models.legs import leg_points, legs_forward, legs_inverse, legs_jacobian
from tests.unit.models.silver2 import JOINT_RANGE, LINK, mounts, silver2_legs

_ROUND_TRIP = 1e-9
_DIFFERENCE = 1e-7
_EXACT = 1e-12
_STEP = 1e-6

_OFFSETS = [0.0, 0.03, -0.05]
_KNEE_DOWN = np.radians([[-80.0, 100.0], [-60.0, 90.0], [-150.0, -10.0]])
_LEGS = silver2_legs()


def _forward(model, joint, leg=0):
    foot = np.empty(3)
    leg_forward(model, leg, np.asarray(joint, dtype=float), foot)
    return foot


def _inverse(model, foot, leg=0):
    joint, reached = np.full(3, np.nan), np.full(3, np.nan)
    status = leg_inverse(model, leg, np.asarray(foot, dtype=float), joint, reached)
    return joint, reached, status


def _batch(model, foot, leg=0):
    joint, reached = np.empty(foot.shape), np.empty(foot.shape)
    status = np.empty(len(foot), dtype=np.int64)
    solved = leg_inverse_batch(model, leg, foot, joint, reached, status)
    assert solved == np.count_nonzero(status == 0)
    return joint, reached, status


def _formula(joint, link):
    """Eq. 1a corrected, for many: the reference beside the kernel."""
    q1, q2, q3 = np.moveaxis(np.asarray(joint), -1, 0)
    l0, l1, l2, l3 = link
    rho = l0 + l2 * np.cos(q2) + l3 * np.cos(q2 - q3)
    return np.stack(
        [
            rho * np.cos(q1) - l1 * np.sin(q1),
            rho * np.sin(q1) + l1 * np.cos(q1),
            l2 * np.sin(q2) + l3 * np.sin(q2 - q3),
        ],
        axis=-1,
    )


def _printed_1a(joint, link):
    q1, q2, q3 = np.moveaxis(np.asarray(joint), -1, 0)
    l0, l1, l2, l3 = link
    rho = l0 + l2 * np.cos(q2) + l3 * np.cos(q2 - q3)
    return np.stack(
        [
            rho * np.cos(q1) - l1 * np.cos(q1),
            rho * np.sin(q1) - l1 * np.sin(q1),
            l2 * np.sin(q2) + l3 * np.sin(q2 - q3),
        ],
        axis=-1,
    )


def _printed_1b(foot, link):
    x, y, z = np.moveaxis(np.asarray(foot), -1, 0)
    l0, l1, l2, l3 = link
    distance = np.hypot(x, y)
    gamma = np.arctan2(l1, np.sqrt(distance**2 - l1**2))
    r = distance * np.cos(gamma) - l0
    m = np.hypot(r, z)
    q2 = np.arccos((l2**2 + m**2 - l3**2) / (2.0 * l2 * m)) + np.arctan2(z, r)
    q3 = math.pi - np.arccos((l2**2 - m**2 + l3**2) / (2.0 * l2 * l3))
    return np.stack([np.arctan2(y, x) - gamma, q2, q3], axis=-1)


def _postures(number, seed, joint_range=JOINT_RANGE):
    generator = np.random.default_rng(seed)
    return generator.uniform(joint_range[:, 0], joint_range[:, 1], (number, 3))


def _grid(joint_range, number=41):
    axes = [np.linspace(*ends, number) for ends in joint_range]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def test_foot_of_the_simulation_model():
    """Paper fact P003-035."""
    foot = _forward(_LEGS, np.radians([0.0, 45.0, 130.0]))
    assert np.allclose(foot, [0.288681, 0.0, -0.117124], atol=1e-6)


@pytest.mark.parametrize("offset", _OFFSETS)
def test_printed_1b_inverts_the_corrected_1a(offset):
    """Paper facts P003-001 and P003-002: not the printed one, wrong by up to √2 l1."""
    link = np.array([LINK[0], offset, LINK[2], LINK[3]])
    joint = _postures(2000, 1, np.radians([[-80, 80], [-45, 60], [10, 120]]))
    joint = joint[_formula(joint, [0.0, 0.0, *link[2:]])[:, 0] > 0.0]
    corrected = _formula(joint, link)
    assert np.abs(_printed_1b(corrected, link) - joint).max() < 1e-11
    wrong = np.linalg.norm(_printed_1a(joint, link) - corrected, axis=1)
    assert np.allclose(wrong, math.sqrt(2.0) * abs(offset), atol=_EXACT)
    with np.errstate(invalid="ignore"):  # the printed foot may be out of reach
        found = _printed_1b(_printed_1a(joint, link), link)
    slip = np.abs(found - joint).max(axis=1)
    if offset:
        assert np.nanmin(slip) > 0.01
    else:
        assert slip.max() < 1e-11


@pytest.mark.parametrize("offset", _OFFSETS)
def test_solution_is_1b(offset):
    link = np.array([LINK[0], offset, LINK[2], LINK[3]])
    model = silver2_legs(offset)
    joint = _postures(2000, 2, np.radians([[-80, 80], [-20, 60], [10, 120]]))
    joint = joint[_formula(joint, [*link[:1], 0.0, *link[2:]])[:, 0] > 0.0]
    found, _, status = _batch(model, _formula(joint, link))
    assert not status.any()
    assert np.abs(found - _printed_1b(_formula(joint, link), link)).max() < 1e-9


@pytest.mark.parametrize("offset", _OFFSETS)
@pytest.mark.parametrize("joint_range", [JOINT_RANGE, _KNEE_DOWN])
def test_round_trip_of_every_posture(offset, joint_range):
    """Where two postures are in range the foot comes back, not always the angles."""
    link = np.array([LINK[0], offset, LINK[2], LINK[3]])
    model = silver2_legs(offset, joint_range)
    joint = _postures(100_000, 3, joint_range)
    # the ends of the ranges, and the straight and the folded leg
    corners = _grid(joint_range, 3)
    joint = np.vstack([joint, corners])
    foot = _formula(joint, link)
    found, reached, status = _batch(model, foot)
    assert not status.any()
    assert np.abs(_formula(found, link) - foot).max() < _ROUND_TRIP
    assert np.abs(reached - foot).max() < _ROUND_TRIP
    assert np.all((found >= joint_range[:, 0]) & (found <= joint_range[:, 1]))
    outer = _formula(joint, [*link[:1], 0.0, *link[2:]])
    outer = np.hypot(outer[:, 0], outer[:, 1]) * np.sign(
        outer[:, 0] * np.cos(joint[:, 0]) + outer[:, 1] * np.sin(joint[:, 0])
    )
    # off the axis and the straight knee, where angles are not determined to 1e-9
    plain = (outer > 1e-3) & (np.abs(joint[:, 2]) > 1e-3)
    assert np.count_nonzero(plain) > 70_000
    assert np.abs(found - joint)[plain].max() < _ROUND_TRIP


def test_kernel_is_the_formula():
    model = silver2_legs(0.03)
    for joint in _postures(50, 4):
        expected = _formula(joint, model.link[0])
        assert np.allclose(_forward(model, joint), expected, atol=1e-15)


@pytest.mark.parametrize("offset", _OFFSETS)
def test_jacobian_against_central_differences(offset):
    model = silver2_legs(offset)
    jacobian = np.empty((3, 3))
    worst = 0.0
    for joint in _postures(1000, 5):
        leg_jacobian(model, 0, joint, jacobian)
        for k in range(3):
            step = _STEP * np.eye(3)[k]
            rate = _forward(model, joint + step) - _forward(model, joint - step)
            worst = max(worst, np.abs(jacobian[:, k] - rate / (2 * _STEP)).max())
    assert worst < _DIFFERENCE


def test_force_of_the_stalled_legs():
    """Paper fact P003-025: 3.8 N m on a tibia of 0.35 m, six legs: 65 N."""
    model = build_leg_model([0.1, 0.0, 0.2, 0.35], JOINT_RANGE, mounts())
    jacobian = np.empty((3, 3))
    leg_jacobian(model, 0, np.radians([0.0, 90.0, 90.0]), jacobian)  # tibia level
    torque = jacobian.T @ np.array([0.0, 0.0, 1.0])
    assert math.isclose(6 * 3.8 / abs(torque[2]), 65.1, abs_tol=0.05)


@pytest.mark.parametrize("joint", [0, 1, 2])
@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("knee", [[30.0, 110.0], [-110.0, -30.0]])
def test_each_limit_at_both_ends(joint, end, knee):
    """A foot just inside is reached, one just outside is led to the limit."""
    joint_range = np.radians([[-40.0, 50.0], [-30.0, 60.0], knee])
    model = silver2_legs(0.02, joint_range)
    up = knee[0] > 0.0
    fold = [0.0, 135.0] if up else [-135.0, 0.0]
    wide = silver2_legs(0.02, np.radians([[-90.0, 90.0], [-90.0, 90.0], fold]))
    posture = joint_range.mean(axis=1)
    outward = 1.0 if end else -1.0
    folds = TOO_NEAR if up == bool(end) else TOO_FAR
    expected = [COXA_LIMITED, FEMUR_LIMITED, folds][joint]
    posture[joint] = joint_range[joint, end] - 1e-6 * outward
    assert _inverse(model, _forward(model, posture))[2] == 0
    posture[joint] = joint_range[joint, end] + 0.05 * outward
    wanted = _forward(model, posture)
    assert _inverse(wide, wanted)[2] == 0
    found, reached, status = _inverse(model, wanted)
    assert status == expected
    assert len(leg_reasons(status)) == 1
    assert found[joint] == joint_range[joint, end]
    assert np.allclose(_forward(model, found), reached, atol=1e-15)


@pytest.mark.parametrize("offset", _OFFSETS)
@pytest.mark.parametrize(
    "joint_range",
    [
        JOINT_RANGE,
        _KNEE_DOWN,
        np.radians([[-30.0, 20.0], [-20.0, 70.0], [40.0, 130.0]]),
    ],
)
def test_out_of_reach_gives_the_nearest_point(offset, joint_range):
    model = silver2_legs(offset, joint_range)
    feet = _formula(_grid(joint_range), model.link[0])
    generator = np.random.default_rng(6)
    wanted = generator.uniform(-0.8, 0.8, (80, 3))
    wanted[:20] *= 0.1
    found, reached, status = _batch(model, wanted)
    assert np.all((found >= joint_range[:, 0]) & (found <= joint_range[:, 1]))
    assert np.abs(_formula(found, model.link[0]) - reached).max() < _EXACT
    beyond = np.flatnonzero(status)
    assert beyond.size > 30
    for i in beyond:
        distance = np.linalg.norm(reached[i] - wanted[i])
        assert distance > _EXACT
        least = np.linalg.norm(feet - wanted[i], axis=1).min()
        assert distance <= least + 1e-9
        assert leg_reasons(status[i])


def test_reasons():
    x = LINK[0] + LINK[2] + LINK[3]
    assert _inverse(_LEGS, [x + 0.1, 0.0, 0.0])[2] == TOO_FAR
    assert _inverse(_LEGS, _forward(_LEGS, [0.0, 0.5, 2.5]))[2] == TOO_NEAR
    _, reached, status = _inverse(_LEGS, [x + 0.1, 0.0, 0.0])
    assert np.allclose(reached, [x, 0.0, 0.0], atol=_EXACT)
    # straight up, above what the femur can swing to
    narrow = silver2_legs(0.0, np.radians([[-90.0, 90.0], [-90.0, 0.0], [0.0, 135.0]]))
    assert _inverse(narrow, _forward(_LEGS, [0.0, 0.7, 0.5]))[2] == FEMUR_LIMITED
    assert _inverse(silver2_legs(0.05), [0.0, 0.01, 0.2])[2] & INSIDE_OFFSET
    behind = np.array([-0.4, 0.1, -0.1])
    assert _inverse(_LEGS, behind)[2] & COXA_LIMITED
    narrow = silver2_legs(0.0, np.radians([[-90.0, 90.0], [-30.0, 90.0], [0.0, 90.0]]))
    joint, _, status = _inverse(narrow, behind)
    assert status & COXA_LIMITED
    assert joint[0] == JOINT_RANGE[0, 1]  # the end on the foot's side


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_foot_that_is_no_number_writes_nothing(bad):
    for i in range(3):
        foot = np.array([0.3, 0.0, -0.1])
        foot[i] = bad
        joint, reached, status = _inverse(_LEGS, foot)
        assert status == NOT_FINITE
        assert np.all(np.isnan(joint))
        assert np.all(np.isnan(reached))


def test_on_the_coxa_axis():
    joint, reached, status = _inverse(_LEGS, _forward(_LEGS, [0.3, 1.5, 0.0]))
    assert status == 0
    assert np.all(np.isfinite(joint))
    joint, reached, _ = _inverse(_LEGS, [0.0, 0.0, 0.0])
    assert np.all(np.isfinite(joint))
    assert np.allclose(_forward(_LEGS, joint), reached, atol=_EXACT)


def test_angles_are_continuous_along_a_path_in_and_out_of_reach():
    """Speed of the joints is bounded by that of the foot, across the limits too."""
    angle = np.linspace(0.0, 2.0 * math.pi, 20_001)
    foot = np.stack(
        [
            0.32 + 0.12 * np.cos(angle),
            0.15 * np.sin(angle),
            -0.15 - 0.2 * np.sin(angle),
        ],
        axis=1,
    )
    joint, _, status = _batch(_LEGS, foot)
    assert 0 < np.count_nonzero(status) < len(foot)
    step = np.linalg.norm(np.diff(foot, axis=0), axis=1).max()
    # the square-root law at the straight leg: 2 √(2 step / reach)
    assert np.abs(np.diff(joint, axis=0)).max() < 2.0 * math.sqrt(2.0 * step / 0.1)


def test_all_legs_on_theirmounts():
    joint = _postures(6, 7)
    foot, reached = np.empty((6, 3)), np.empty((6, 3))
    found = np.empty((6, 3))
    status = np.empty(6, dtype=np.int64)
    model = silver2_legs(0.03)
    legs_forward(model, joint, foot)
    for leg in range(6):
        local = np.append(_forward(model, joint[leg], leg), 1.0)
        assert np.allclose(foot[leg], (mounts()[leg] @ local)[:3], atol=1e-15)
    assert legs_inverse(model, foot, found, reached, status) == 6
    legs_forward(model, found, reached)
    assert np.abs(reached - foot).max() < _ROUND_TRIP
    points = leg_points(model, joint)
    assert np.allclose(points[:, 0], mounts()[:, :3, 3], atol=1e-15)
    assert np.allclose(points[:, 3], foot, atol=1e-15)
    lengths = np.linalg.norm(np.diff(points, axis=1), axis=2)
    expected = [math.hypot(LINK[0], 0.03), LINK[2], LINK[3]]
    assert np.allclose(lengths, expected, atol=_EXACT)


def test_one_leg_out_of_reach_leaves_the_others():
    foot, reached = np.empty((6, 3)), np.empty((6, 3))
    joint = np.radians(np.tile([0.0, 45.0, 120.0], (6, 1)))
    status = np.empty(6, dtype=np.int64)
    legs_forward(_LEGS, joint, foot)
    foot[1, 0] += 1.0
    foot[4] = math.nan
    assert legs_inverse(_LEGS, foot, joint, reached, status) == 4
    assert status[1] == TOO_FAR
    assert status[4] == NOT_FINITE
    assert np.allclose(joint[4], np.radians([0.0, 45.0, 120.0]))
    assert np.all(np.isnan(reached[4]))
    legs_forward(_LEGS, joint, foot)
    assert np.allclose(foot[:4], reached[:4], atol=_EXACT)


def test_jacobian_of_all_legs_against_central_differences():
    joint = _postures(6, 8)
    jacobian = np.empty((6, 3, 3))
    legs_jacobian(_LEGS, joint, jacobian)
    after, before = np.empty((6, 3)), np.empty((6, 3))
    for k in range(3):
        step = _STEP * np.eye(3)[k]
        legs_forward(_LEGS, joint + step, after)
        legs_forward(_LEGS, joint - step, before)
        rate = (after - before) / (2.0 * _STEP)
        assert np.abs(jacobian[:, :, k] - rate).max() < _DIFFERENCE


@pytest.mark.parametrize("each", [(), (6,)])
def test_what_all_legs_share_is_laid_out_as_what_each_has(each):
    """Or every kernel would be compiled for both."""
    link = np.broadcast_to(LINK, (*each, *LINK.shape))
    joint_range = np.broadcast_to(JOINT_RANGE, (*each, *JOINT_RANGE.shape))
    model = build_leg_model(link, joint_range, mounts())
    assert all(array.flags.c_contiguous for array in model)


def test_narrowed_ranges():
    narrow = narrow_joint_range(_LEGS, 0.1)
    assert np.allclose(narrow.joint_range[..., 0], _LEGS.joint_range[..., 0] + 0.1)
    assert np.allclose(narrow.joint_range[..., 1], _LEGS.joint_range[..., 1] - 0.1)
    assert np.all(np.ptp(narrow_joint_range(_LEGS, 9.0).joint_range, axis=-1) == 0.0)


@pytest.mark.parametrize(
    ("link", "joint_range", "pose", "word"),
    [
        ([0.1, 0.0, 0.0, 0.3], JOINT_RANGE, mounts(), "link"),
        ([0.1, math.nan, 0.2, 0.3], JOINT_RANGE, mounts(), "link"),
        (LINK, JOINT_RANGE[:, ::-1], mounts(), "joint_range"),
        (LINK, [[-4.0, 4.0], [0.0, 1.0], [0.0, 1.0]], mounts(), "joint_range"),
        (LINK, [[-1.0, 1.0], [0.0, 1.0], [-0.1, 1.0]], mounts(), "one side"),
        (LINK, [[-1.0, 1.0], [0.0, 1.0], [math.nan, 1.0]], mounts(), "joint_range"),
        (LINK, JOINT_RANGE, 2.0 * mounts(), "rigid"),
        (LINK, JOINT_RANGE, np.eye(4), "shape"),
    ],
)
def test_parameters_that_make_no_leg(link, joint_range, pose, word):
    with pytest.raises(ValueError, match=word):
        build_leg_model(link, joint_range, pose)
