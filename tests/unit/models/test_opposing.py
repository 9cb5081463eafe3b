"""Liu's and Gong's arms against the papers' formulas, their paths and random poses.

Error of the tip 1e-9 m (the acceptance limit; found 1e-15). Chamber lengths that the
papers do not give are assumed here: initial length 100 mm (Gong, as in the reference)
and 103.3 mm (a third of Liu's 310 mm), the greatest 175 and 180 mm, the elongation
segment 70 to 130 mm, 80 mm at rest. d is the radius of the arm.
"""

import numpy as np
import pytest

from models.arc import arc_pose
from models.chamber import build_chamber_model, chamber_lengths
from models.opposing import (
    END_BEND,
    END_LONG,
    END_SHORT,
    MOST_ITERATIONS,
    NOT_FINITE,
    PAIR_BEND,
    PAIR_LONG,
    PAIR_SHORT,
    PairBendModel,
    PairElongationModel,
    hanging_to_base,
    opposing_reasons,
    pair_bend_batch,
    pair_bend_forward,
    pair_bend_inverse,
    pair_elongation_batch,
    pair_elongation_forward,
    pair_elongation_inverse,
)

_ERROR = 1e-9
_COUNT = 100_000
_BETA = np.radians([90.0, 210.0, 330.0])
_LIU_SEGMENT = build_chamber_model(_BETA, 0.024, 0.31 / 3.0, 0.18)
_LIU = PairBendModel(_LIU_SEGMENT, _LIU_SEGMENT)
_GONG = PairElongationModel(
    build_chamber_model(_BETA, 0.017, 0.1, 0.175), 0.08, 0.07, 0.13
)


def _offsets(model, phi):
    """d cos(φ - β) of each chamber: (n, C)."""
    return np.outer(np.cos(phi), model.offset[:, 0]) + np.outer(
        np.sin(phi), model.offset[:, 1]
    )


def _arc(theta, phi, radius):
    """Arc end of the papers' r, θ, φ."""
    aside = radius * (1.0 - np.cos(theta))
    return np.stack(
        [aside * np.cos(phi), aside * np.sin(phi), radius * np.sin(theta)], axis=-1
    )


def _idle_radius(model, theta, phi):
    """Liu 2020 eq. 1d, Gong 2018 eq. 12."""
    return model.initial_length[0] / theta + _offsets(model, phi).max(axis=1)


def _random_arcs(generator, model, count, most):
    """Bends with the shortest chamber idle and the others within their limits."""
    phi = generator.uniform(-np.pi, np.pi, count)
    offsets = _offsets(model, phi)
    travel = model.greatest_length[0] - model.initial_length[0]
    room = travel / (offsets.max(axis=1) - offsets.min(axis=1))
    theta = generator.uniform(1e-3, 1.0, count) * np.minimum(room, most)
    return theta, phi


def _liu_solutions(target):
    count = len(target)
    coordinates = np.full((count, 3, 3), np.nan)
    lengths = np.full((count, 6), np.nan)
    status = np.full(count, -1)
    solved = pair_bend_batch(_LIU, target, coordinates, lengths, status)
    assert solved == np.count_nonzero(status == 0)
    return coordinates, lengths, status


def _gong_solutions(position, model=_GONG):
    count = len(position)
    coordinates = np.full((count, 3, 3), np.nan)
    lengths = np.full((count, 4), np.nan)
    status = np.full(count, -1)
    steps = np.full(count, -1)
    solved = pair_elongation_batch(model, position, coordinates, lengths, status, steps)
    assert solved == np.count_nonzero(status == 0)
    return coordinates, lengths, status, steps


def _chain(lengths, coordinates):
    """Pose of three arcs one after the other; nothing is taken for granted."""
    pose = np.eye(4)
    link = np.empty((4, 4))
    for rest, (x, y, extension) in zip(lengths, coordinates, strict=True):
        arc_pose(x, y, rest + extension, link)
        pose = pose @ link
    return pose


def _liu_pose(coordinates):
    return _chain([_LIU.pair.rest_length] * 2 + [_LIU.end.rest_length], coordinates)


def _gong_pose(coordinates):
    return _chain([_GONG.pair.rest_length] * 2 + [_GONG.elongation_rest], coordinates)


def test_liu_solves_random_poses():
    generator = np.random.default_rng(20)
    theta3, phi3 = _random_arcs(generator, _LIU.end, _COUNT, 3.0)
    end = _arc(theta3, phi3, _idle_radius(_LIU.end, theta3, phi3))
    # of the pair all chambers are free: lengths within limits, then the arc
    theta1, phi1 = _random_arcs(generator, _LIU.pair, _COUNT, 3.0)
    offsets = _offsets(_LIU.pair, phi1)
    least = _LIU.pair.initial_length[0] + theta1 * offsets.max(axis=1)
    greatest = _LIU.pair.greatest_length[0] + theta1 * offsets.min(axis=1)
    length1 = generator.uniform(least, greatest)
    tip = 2.0 * _arc(theta1, phi1, length1 / theta1) + end
    coordinates, lengths, status = _liu_solutions(np.column_stack([tip, theta3, phi3]))
    assert not status.any()
    # tip by the papers' r, θ, φ of the solution
    found = np.hypot(coordinates[..., 0], coordinates[..., 1])
    way = np.arctan2(coordinates[..., 1], coordinates[..., 0])
    rest = np.array([_LIU.pair.rest_length] * 2 + [_LIU.end.rest_length])
    radius = (rest + coordinates[..., 2]) / found
    reached = 2.0 * _arc(found[:, 0], way[:, 0], radius[:, 0])
    reached += _arc(found[:, 2], way[:, 2], radius[:, 2])
    assert np.abs(reached - tip).max() < _ERROR
    assert np.abs(found[:, 0] - theta1).max() < _ERROR
    assert np.abs(found[:, 2] - theta3).max() < _ERROR
    assert np.abs(rest[0] + coordinates[:, 0, 2] - length1).max() < _ERROR
    assert lengths.min() >= _LIU.pair.initial_length[0] - 1e-12
    assert lengths.max() <= _LIU.pair.greatest_length[0] + 1e-12
    for i in range(0, _COUNT, 5000):
        pose = _liu_pose(coordinates[i])
        assert np.abs(pose[:3, 3] - tip[i]).max() < _ERROR
        axis = [
            np.sin(theta3[i]) * np.cos(phi3[i]),
            np.sin(theta3[i]) * np.sin(phi3[i]),
            np.cos(theta3[i]),
        ]
        assert np.abs(pose[:3, 2] - axis).max() < _ERROR
        back = np.empty(5)
        pair_bend_forward(_LIU, coordinates[i], back)
        assert np.abs(back - [*tip[i], theta3[i], phi3[i]]).max() < _ERROR


def test_gong_solves_random_positions_in_eight_steps():
    generator = np.random.default_rng(21)
    theta, phi = _random_arcs(generator, _GONG.pair, _COUNT, 2.331)
    assert theta.max() > 2.32
    tip = 2.0 * _arc(theta, phi, _idle_radius(_GONG.pair, theta, phi))
    tip[:, 2] += generator.uniform(0.08, 0.13, _COUNT)
    coordinates, lengths, status, steps = _gong_solutions(tip)
    assert not status.any()
    assert steps.max() <= MOST_ITERATIONS
    found = np.hypot(coordinates[:, 0, 0], coordinates[:, 0, 1])
    way = np.arctan2(coordinates[:, 0, 1], coordinates[:, 0, 0])
    radius = (_GONG.pair.rest_length + coordinates[:, 0, 2]) / found
    reached = 2.0 * _arc(found, way, radius)
    reached[:, 2] += lengths[:, 3]
    assert np.abs(reached - tip).max() < _ERROR
    assert np.abs(found - theta).max() < _ERROR
    assert np.abs(lengths[:, :3].min(axis=1) - 0.1).max() < 1e-12  # one is idle
    assert lengths[:, :3].max() <= 0.175 + 1e-12
    for i in range(0, _COUNT, 5000):
        pose = _gong_pose(coordinates[i])
        assert np.abs(pose[:3, 3] - tip[i]).max() < _ERROR
        assert np.abs(pose[:3, :3] - np.eye(3)).max() < 1e-12
        back = np.empty(3)
        pair_elongation_forward(_GONG, coordinates[i], back)
        assert np.abs(back - tip[i]).max() < _ERROR


@pytest.mark.parametrize("distance", [0.005, 0.01, 0.03, 0.05])
def test_eight_steps_are_enough_for_slim_and_stout_arms(distance):
    model = PairElongationModel(
        build_chamber_model(_BETA, distance, 0.1, 0.4), 0.08, 0.07, 0.13
    )
    generator = np.random.default_rng(22)
    theta, phi = _random_arcs(generator, model.pair, 20_000, 2.3)
    tip = 2.0 * _arc(theta, phi, _idle_radius(model.pair, theta, phi))
    tip[:, 2] += 0.1
    coordinates, _, status, steps = _gong_solutions(tip, model)
    assert not status.any()
    assert steps.max() <= MOST_ITERATIONS
    found = np.hypot(coordinates[:, 0, 0], coordinates[:, 0, 1])
    assert np.abs(found - theta).max() < _ERROR


def test_unlike_chambers_are_solved_across_the_change_of_the_idle_one():
    model = PairElongationModel(
        build_chamber_model(_BETA, 0.017, [0.1, 0.104, 0.102], 0.175), 0.08, 0.07, 0.13
    )
    generator = np.random.default_rng(23)
    aside = generator.uniform(0.0, 0.15, 5000)
    phi = generator.uniform(-np.pi, np.pi, 5000)
    # at the rest of the elongation segment whatever the bend, so any height will do
    tip = np.column_stack([aside * np.cos(phi), aside * np.sin(phi), np.zeros(5000)])
    coordinates, lengths, status, steps = _gong_solutions(tip, model)
    assert not np.any(status & ~(END_SHORT | END_LONG))
    assert steps.max() <= MOST_ITERATIONS
    idle = lengths[:, :3] - model.pair.initial_length
    assert np.abs(idle.min(axis=1)).max() < 1e-12
    assert len(set(idle.argmin(axis=1))) == 3
    back = np.empty(3)
    for i in range(5000):
        pair_elongation_forward(model, coordinates[i], back)
        assert np.abs(back[:2] - tip[i, :2]).max() < _ERROR


@pytest.mark.parametrize(
    ("world_mm", "phi_deg", "theta_deg", "radius_mm", "lengths_mm"),
    [
        # paper facts P004-012 to P004-015: l0 = 100 mm, d = 17 mm assumed
        (
            (-110, -64, -270),
            149.8083770390424,
            75.99986456651548,
            83.93850874624411,
            (100.0, 100.13062426, 133.88954359, 107.1097433872255),
        ),
        (
            (110, 64, -295),
            329.8083770390424,
            68.35403812068543,
            100.8219893081051,
            (130.48014845, 130.36266541, 100.0, 107.57577683424722),
        ),
        (
            (-55, -35, -285),
            147.52880770915152,
            36.518526196578506,
            166.02198697759994,
            (100.0, 100.80918796, 116.64237648, 87.40638301595956),
        ),
        (
            (55, 35, -320),
            327.5288077091515,
            34.91613655927344,
            181.07960638178304,
            (115.91212873, 115.13844698, 100.0, 112.70845598941872),
        ),
    ],
)
def test_gongs_points(world_mm, phi_deg, theta_deg, radius_mm, lengths_mm):
    target = hanging_to_base(1e-3 * np.array(world_mm))
    coordinates, lengths, status, _ = _gong_solutions(target[None])
    assert status[0] == 0
    x, y, extension = coordinates[0, 0]
    theta = np.hypot(x, y)
    assert np.degrees(np.arctan2(y, x)) % 360.0 == pytest.approx(phi_deg, abs=1e-9)
    assert np.degrees(theta) == pytest.approx(theta_deg, abs=1e-9)
    assert 1e3 * (0.1 + extension) / theta == pytest.approx(radius_mm, abs=1e-9)
    assert np.allclose(1e3 * lengths[0], lengths_mm, rtol=0.0, atol=1e-8)


def test_gongs_printed_signs_hold_in_the_turned_frame():
    """Eq. 11 with its quadrant, and the elongation of eq. 14, in the hanging world."""
    world = np.array([0.06, 0.03, -0.31])
    coordinates, lengths, status, _ = _gong_solutions(hanging_to_base(world)[None])
    assert status[0] == 0
    x, y, extension = coordinates[0, 0]
    theta, radius = np.hypot(x, y), (0.1 + extension) / np.hypot(x, y)
    assert np.arctan2(y, x) == pytest.approx(-np.arctan(world[1] / world[0]))
    elongation = -2.0 * radius * np.sin(theta) - world[2]
    assert lengths[0, 3] == pytest.approx(elongation, abs=1e-12)


def test_gongs_printed_equation_13_fixes_no_bend_at_x_0():
    phi = 0.5 * np.pi
    for theta in (0.3, 0.9):
        assert 0.1 / theta * np.cos(phi) * (1.0 - np.cos(theta)) < 1e-17
    _, _, status, _ = _gong_solutions(np.array([[0.0, 0.08, 0.3]]))
    assert status[0] == 0


def _path_in_limits(lengths, least, greatest, step_limit):
    assert np.all(lengths >= np.subtract(least, 1e-12))
    assert np.all(lengths <= np.add(greatest, 1e-12))
    assert np.abs(np.diff(lengths, axis=0)).max() < step_limit


def _follows_gong(world):
    target = hanging_to_base(world)
    coordinates, lengths, status, _ = _gong_solutions(target)
    assert not status.any()
    for i in range(0, len(target), 7):
        assert np.abs(_gong_pose(coordinates[i])[:3, 3] - target[i]).max() < 1e-12
    # no chamber moves faster than twice the tip: a jump would be many times that
    travel = np.linalg.norm(np.diff(world, axis=0), axis=1).max()
    _path_in_limits(lengths, [0.1] * 3 + [0.07], [0.175] * 3 + [0.13], 2.0 * travel)
    return lengths


def test_gongs_line_is_followed():
    start = np.array([-0.110, -0.064, -0.270])
    end = np.array([0.110, 0.064, -0.295])
    length = np.linalg.norm(end - start)
    assert 1e3 * length == pytest.approx(255.75183283800723, abs=1e-9)
    assert length / 0.032 == pytest.approx(7.992, abs=1e-3)
    assert 6.0 * 0.032 / length == pytest.approx(0.75, abs=1e-3)  # printed: 85 %
    share = np.arange(0.0, 7.992, 1e-3)[:, None] / 7.992
    lengths = _follows_gong(start + share * (end - start))
    # near the middle the elongation segment is down to 77 mm: with l0 = 100 mm the soft
    # lengths at rest add up to less than the 300 mm of the arm
    assert lengths[:, 3].min() == pytest.approx(0.0771, abs=1e-4)
    assert lengths[:, 3].max() == pytest.approx(0.1076, abs=1e-4)
    assert lengths[:, :3].max() == pytest.approx(0.1339, abs=1e-4)


def test_gongs_circle_is_followed():
    a, b = np.array([-55.0, -35.0, -285.0]), np.array([55.0, 35.0, -320.0])
    assert np.linalg.norm(b - a) > 2.0 * 65.0  # no chord of the printed circle
    middle = np.arctan2(35.0, 55.0)
    psi = np.arctan2(-35.0, -55.0) + np.linspace(0.0, 2.0 * np.pi, 9001)
    radius = np.hypot(55.0, 35.0)
    assert radius == pytest.approx(65.192, abs=1e-3)
    height = -302.5 - 17.5 * np.cos(psi - middle)
    world = np.column_stack([radius * np.cos(psi), radius * np.sin(psi), height])
    assert np.allclose(world[0], a, atol=1e-9)
    assert np.allclose(world[4500], b, atol=1e-9)
    assert np.allclose(world[-1], a, atol=1e-9)
    _follows_gong(1e-3 * world)


@pytest.mark.parametrize("theta3", [0.0, 0.35])
def test_lius_helix_is_followed(theta3):
    """Fig. 3(f) without its numbers: 60 mm radius, three turns, 40 mm down (assumed).

    The third segment leans outward all the way, so that all three sectors are passed.
    """
    turn = np.linspace(0.0, 6.0 * np.pi, 20_001)
    tip = np.column_stack(
        [0.06 * np.cos(turn), 0.06 * np.sin(turn), 0.35 + 0.04 * turn / turn[-1]]
    )
    target = np.column_stack([tip, np.full(len(turn), theta3), turn])
    coordinates, lengths, status = _liu_solutions(target)
    assert not status.any()
    for i in range(0, len(turn), 17):
        assert np.abs(_liu_pose(coordinates[i])[:3, 3] - tip[i]).max() < 1e-12
    travel = np.linalg.norm(np.diff(tip, axis=0), axis=1).max()
    _path_in_limits(lengths, 0.31 / 3.0, 0.18, 2.0 * travel)
    if theta3:
        assert set(lengths[:, 3:].argmin(axis=1)) == {0, 1, 2}


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_through_straight_nothing_jumps(sign):
    aside = sign * np.concatenate([[0.0], np.logspace(-300, -1.5, 400)])
    zero = np.zeros_like(aside)
    target = np.column_stack([aside, zero, zero + 0.36, 10.0 * aside, zero + 0.7])
    coordinates, lengths, status = _liu_solutions(target)
    assert not status.any()
    assert np.all(np.isfinite(coordinates))
    for i in range(len(aside)):
        assert np.abs(_liu_pose(coordinates[i])[:3, 3] - target[i, :3]).max() < 1e-12
    assert np.allclose(lengths[1:200], lengths[0], rtol=0.0, atol=1e-12)
    coordinates, lengths, status, _ = _gong_solutions(
        np.column_stack([aside, zero, zero + 0.3])
    )
    assert not status.any()
    for i in range(len(aside)):
        tip = _gong_pose(coordinates[i])[:3, 3]
        assert np.abs(tip - [aside[i], 0.0, 0.3]).max() < 1e-12
    assert np.allclose(lengths[1:200], lengths[0], rtol=0.0, atol=1e-12)


def test_at_rest_nothing_is_reported():
    _, lengths, status = _liu_solutions(np.array([[0.0, 0.0, 0.31, 0.0, 0.0]]))
    assert status[0] == 0
    assert np.allclose(lengths, 0.31 / 3.0, rtol=0.0, atol=1e-15)
    _, lengths, status, steps = _gong_solutions(np.array([[0.0, 0.0, 0.28]]))
    assert (status[0], steps[0]) == (0, 0)
    assert np.allclose(lengths[0], [0.1, 0.1, 0.1, 0.08], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ([0.0, 0.0, 0.25, 0.0, 0.0], PAIR_SHORT),
        ([0.0, 0.0, -0.3, 0.0, 0.0], PAIR_SHORT),
        ([0.0, 0.0, 0.6, 0.0, 0.0], PAIR_LONG),
        ([0.30, 0.0, -0.05, 0.0, 0.0], PAIR_BEND),
        ([0.1, 0.0, 0.35, 3.0, 0.0], END_BEND),
    ],
)
def test_liu_out_of_reach_says_why_and_stays_in_limits(target, expected):
    coordinates, lengths, status = _liu_solutions(np.array([target]))
    assert status[0] & expected
    assert opposing_reasons(status[0])
    assert lengths.min() >= 0.31 / 3.0 - 1e-12
    assert lengths.max() <= 0.18 + 1e-12
    own = np.empty(3)
    for k, columns in ((0, slice(0, 3)), (2, slice(3, 6))):
        chamber_lengths(_LIU_SEGMENT, coordinates[0, k], own)
        assert np.array_equal(own, lengths[0, columns])
    assert np.array_equal(coordinates[0, 0] * [-1, -1, 1], coordinates[0, 1])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ([0.0, 0.0, 0.26], END_SHORT),
        ([0.0, 0.0, 0.34], END_LONG),
        ([0.5, 0.0, 0.2], PAIR_BEND),
    ],
)
def test_gong_out_of_reach_says_why_and_stays_in_limits(target, expected):
    coordinates, lengths, status, steps = _gong_solutions(np.array([target]))
    assert status[0] & expected
    assert opposing_reasons(status[0])
    assert steps[0] == 0
    assert np.all(lengths[0] >= [0.1 - 1e-12] * 3 + [0.07])
    assert np.all(lengths[0] <= [0.175 + 1e-12] * 3 + [0.13])
    assert np.array_equal(coordinates[0, 0] * [-1, -1, 1], coordinates[0, 1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_refused_and_nothing_written(value):
    coordinates, lengths = np.full((3, 3), 7.0), np.full(6, 7.0)
    for place in range(5):
        target = np.array([0.0, 0.0, 0.35, 0.1, 0.1])
        target[place] = value
        assert pair_bend_inverse(_LIU, target, coordinates, lengths) == NOT_FINITE
    for place in range(3):
        target = np.array([0.0, 0.0, 0.3])
        target[place] = value
        got = pair_elongation_inverse(_GONG, target, coordinates, lengths)
        assert got == (NOT_FINITE, 0)
    assert np.all(coordinates == 7.0)
    assert np.all(lengths == 7.0)
    assert opposing_reasons(NOT_FINITE) == ["the wanted pose is not a number"]
    assert opposing_reasons(0) == []


def test_a_slim_pair_may_bend_past_half_a_turn():
    segment = build_chamber_model(_BETA, 0.005, 0.1, 0.2)
    model = PairBendModel(segment, segment)
    theta, phi = np.linspace(0.1, 4.5, 45), np.linspace(-3.0, 3.0, 45)
    radius = 0.15 / theta
    tip = 2.0 * _arc(theta, phi, radius)
    tip[:, 2] += 0.1
    target = np.column_stack([tip, np.zeros((45, 2))])
    coordinates = np.full((45, 3, 3), np.nan)
    status = np.full(45, -1)
    pair_bend_batch(model, target, coordinates, np.empty((45, 6)), status)
    assert not status.any()
    assert np.allclose(coordinates[:, 0, 0], theta * np.cos(phi), rtol=0.0, atol=1e-12)
    assert np.allclose(coordinates[:, 0, 1], theta * np.sin(phi), rtol=0.0, atol=1e-12)
    assert np.allclose(coordinates[:, 0, 2], 0.05, rtol=0.0, atol=1e-12)


def test_negative_bend_of_the_third_segment_is_the_opposite_direction():
    one, _, _ = _liu_solutions(np.array([[0.02, 0.01, 0.36, -0.4, 0.3]]))
    other, _, _ = _liu_solutions(np.array([[0.02, 0.01, 0.36, 0.4, 0.3 + np.pi]]))
    assert np.allclose(one, other, rtol=0.0, atol=1e-14)
