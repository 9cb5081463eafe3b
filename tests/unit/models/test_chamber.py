"""Chambers against the papers' printed formulas, each written out as printed.

Tolerance 1e-12 (rounding of 0.2 m lengths, over d = 17 mm for angles).
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.chamber import (
    BEND_CUT,
    CHAMBER_LONG,
    CHAMBER_SHORT,
    LIU_PRESSURE_GAIN,
    LIU_PRESSURE_OFFSET,
    bend_room,
    box_extension_range,
    build_chamber_model,
    chamber_coordinates,
    chamber_lengths,
    distal_pressure,
    inscribed_bend,
    length_interval,
    limit_coordinates,
    proximal_pressure,
    shortest_idle_length,
    shortest_idle_room,
)

_EXACT = 1e-12
_D = 0.017
_LIU = np.radians([90.0, 210.0, 330.0])
_ZHANG = np.radians([0.0, 120.0, 240.0])
_THREE = build_chamber_model(_LIU, _D, 0.1, 0.16)
_SETS = [
    _THREE,
    build_chamber_model(_ZHANG, 0.024, 0.2, 0.25, 0.18),
    build_chamber_model(np.radians([10, 100, 190, 280]), 0.02, 0.1, 0.15),
    build_chamber_model(
        [0.3, 1.9, 2.2, 4.0, 5.5],
        [0.01, 0.02, 0.015, 0.02, 0.012],
        [0.1, 0.101, 0.099, 0.1, 0.102],
        [0.15, 0.14, 0.16, 0.145, 0.13],
        0.09,
    ),
]

thetas = st.floats(0.0, 1.9)
phis = st.floats(-np.pi, np.pi)


def _lengths(model, coordinates):
    out = np.full(len(model.offset), np.nan)
    chamber_lengths(model, np.asarray(coordinates, dtype=float), out)
    return out


def _coordinates(model, lengths):
    out = np.full(3, np.nan)
    left = chamber_coordinates(model, np.asarray(lengths, dtype=float), out)
    return out, left


def _gong(l1, l2, l3, d):
    """Gong 2018 eqs 1-3: r, φ, θ."""
    root = np.sqrt(l1**2 + l2**2 + l3**2 - l1 * l2 - l1 * l3 - l2 * l3)
    radius = (l1 + l2 + l3) * d / (2.0 * root)
    return (
        radius,
        np.arctan2(l2 + l3 - 2.0 * l1, np.sqrt(3.0) * (l2 - l3)),
        2.0 * root / (3.0 * d),
    )


def _zhang(l1, l2, l3, d):
    """Zhang 2022 eq. 3: L, θ, φ."""
    root = np.sqrt(l1**2 + l2**2 + l3**2 - l1 * l2 - l1 * l3 - l3 * l2)
    return (
        (l1 + l2 + l3) / 3.0,
        2.0 * root / (3.0 * d),
        np.arctan2(np.sqrt(3.0) * (l3 - l2), l2 + l3 - 2.0 * l1),
    )


def _printed_lengths(theta, phi, r, d):
    """Gong 2018 eq. 14 and Liu 2020 eq. 1f."""
    return [
        theta * (r - d * np.sin(phi)),
        theta * (r + d * np.cos(phi - np.pi / 6.0)),
        theta * (r - d * np.cos(phi + np.pi / 6.0)),
    ]


@settings(deadline=None)
@given(theta=st.floats(1e-3, 1.9), phi=phis, length=st.floats(0.08, 0.2))
def test_lengths_and_arc_are_gongs_and_lius(theta, phi, length):
    delta = [theta * np.cos(phi), theta * np.sin(phi), length - _THREE.rest_length]
    printed = _printed_lengths(theta, phi, length / theta, _D)
    assert np.allclose(_lengths(_THREE, delta), printed, rtol=0.0, atol=_EXACT)
    radius, direction, bend = _gong(*printed, _D)
    found, _ = _coordinates(_THREE, printed)
    back = [bend * np.cos(direction), bend * np.sin(direction), radius * bend - 0.1]
    assert np.allclose(found, back, rtol=0.0, atol=1e-9)  # root of a difference
    assert np.allclose(found, delta, rtol=0.0, atol=_EXACT)


@settings(deadline=None)
@given(theta=st.floats(1e-3, 1.5), phi=phis, length=st.floats(0.1, 0.3))
def test_arc_is_zhangs(theta, phi, length):
    model = build_chamber_model(_ZHANG, 0.024, 0.2, 0.3, 0.05)
    delta = np.array([theta * np.cos(phi), theta * np.sin(phi), length - 0.2])
    mean, bend, direction = _zhang(*_lengths(model, delta), 0.024)
    back = [bend * np.cos(direction), bend * np.sin(direction), mean - 0.2]
    assert np.allclose(back, delta, rtol=0.0, atol=1e-9)


def test_zhangs_joint_of_the_reference():
    model = build_chamber_model(_ZHANG, 0.024, 0.2, 0.3)
    found, left = _coordinates(model, [0.210, 0.200, 0.205])
    assert found[2] + 0.2 == pytest.approx(0.205, abs=_EXACT)
    assert np.hypot(found[0], found[1]) == pytest.approx(0.240563, abs=1e-6)
    assert np.degrees(np.arctan2(found[1], found[0])) == pytest.approx(150.0, abs=1e-9)
    assert left < 1e-15


@pytest.mark.parametrize("model", _SETS)
@settings(deadline=None, max_examples=40)
@given(theta=thetas, phi=phis, change=st.floats(-0.02, 0.03))
def test_coordinates_come_back(model, theta, phi, change):
    delta = np.array([theta * np.cos(phi), theta * np.sin(phi), change])
    found, left = _coordinates(model, _lengths(model, delta))
    assert np.allclose(found, delta, rtol=0.0, atol=_EXACT)
    assert left < 1e-15


def test_lengths_of_no_arc_give_the_nearest_arc_and_how_far_it_is():
    model = _SETS[3]
    lengths = np.array([0.11, 0.12, 0.10, 0.105, 0.11])
    found, left = _coordinates(model, lengths)
    gap = lengths - _lengths(model, found)
    matrix = np.column_stack([-model.offset, np.ones(5)])
    assert np.allclose(matrix.T @ gap, 0.0, atol=1e-15)
    assert left == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-12)
    assert left > 1e-3


@settings(deadline=None)
@given(theta=st.floats(1e-6, 1.9), phi=st.floats(0.0, 2.0 * np.pi, exclude_max=True))
def test_idle_chamber_is_that_of_the_printed_sectors(theta, phi):
    """Gong 2018 eq. 12, Liu 2020 eq. 1d."""
    if np.pi / 6.0 <= phi < 5.0 * np.pi / 6.0:
        idle, radius = 0, 0.1 / theta + _D * np.sin(phi)
    elif 5.0 * np.pi / 6.0 <= phi < 3.0 * np.pi / 2.0:
        idle, radius = 1, 0.1 / theta - _D * np.cos(phi - np.pi / 6.0)
    else:
        idle, radius = 2, 0.1 / theta + _D * np.cos(phi + np.pi / 6.0)
    delta = theta * np.cos(phi), theta * np.sin(phi)
    length = shortest_idle_length(_THREE, *delta)
    assert length == pytest.approx(theta * radius, abs=_EXACT)
    lengths = _lengths(_THREE, [*delta, length - 0.1])
    assert lengths[idle] == pytest.approx(0.1, abs=_EXACT)
    assert lengths.min() >= 0.1 - _EXACT


def test_straight_at_rest_no_chamber_is_active():
    length = shortest_idle_length(_THREE, 0.0, 0.0)
    assert np.array_equal(_lengths(_THREE, [0.0, 0.0, length - 0.1]), [0.1] * 3)
    assert bend_room(_THREE, 0.0, 0.0) == np.inf


@pytest.mark.parametrize("model", _SETS)
@pytest.mark.parametrize("phi", np.linspace(-3.0, 3.0, 13))
def test_room_ends_where_a_chamber_meets_its_limit(model, phi):
    way = np.array([np.cos(phi), np.sin(phi)])
    theta = bend_room(model, *way)
    for factor, open_ in ((1.0 - 1e-9, True), (1.0 + 1e-9, False)):
        least, greatest = length_interval(model, *(factor * theta * way))
        assert (least <= greatest) == open_
    theta = shortest_idle_room(model, *way)
    for factor, inside in ((1.0 - 1e-9, True), (1.0 + 1e-9, False)):
        bend = factor * theta * way
        lengths = _lengths(
            model, [*bend, shortest_idle_length(model, *bend) - model.rest_length]
        )
        assert np.all(lengths <= model.greatest_length) == inside
        assert np.all(lengths >= model.least_length - _EXACT)


@pytest.mark.parametrize("model", _SETS)
def test_limits_hold_and_what_is_inside_stays(model):
    generator = np.random.default_rng(5)
    seen = 0
    for _ in range(2000):
        wish = generator.uniform([-4, -4, -0.1], [4, 4, 0.1])
        lengths = _lengths(model, wish)
        within = np.all(lengths >= model.least_length) and np.all(
            lengths <= model.greatest_length
        )
        got = wish.copy()
        status = limit_coordinates(model, got)
        seen |= status
        assert (status == 0) == within
        if within:
            assert np.array_equal(got, wish)
        lengths = _lengths(model, got)
        assert np.all(lengths >= model.least_length - _EXACT)
        assert np.all(lengths <= model.greatest_length + _EXACT)
        # the direction of the bend is kept
        assert got[0] * wish[1] - got[1] * wish[0] == pytest.approx(0.0, abs=_EXACT)
        assert got[0] * wish[0] + got[1] * wish[1] >= 0.0
        again = got.copy()
        assert limit_coordinates(model, again) == 0
        assert np.allclose(again, got, rtol=0.0, atol=_EXACT)
    assert seen == BEND_CUT | CHAMBER_SHORT | CHAMBER_LONG


@pytest.mark.parametrize("model", _SETS)
def test_inscribed_bend_and_box_touch_the_limits(model):
    phi = np.linspace(0.0, 2.0 * np.pi, 3601)
    rooms = [bend_room(model, np.cos(p), np.sin(p)) for p in phi]
    assert inscribed_bend(model) == pytest.approx(min(rooms), rel=1e-5)
    assert inscribed_bend(model) <= min(rooms) + _EXACT
    bend = 0.6
    intervals = [
        length_interval(model, bend * np.cos(p), bend * np.sin(p)) for p in phi
    ]
    least, greatest = box_extension_range(model, bend)
    rest = model.rest_length
    assert least == pytest.approx(max(i[0] for i in intervals) - rest, abs=1e-7)
    assert greatest == pytest.approx(min(i[1] for i in intervals) - rest, abs=1e-7)


def test_inscribed_bend_of_three_like_chambers():
    assert inscribed_bend(_THREE) == pytest.approx(0.06 / (np.sqrt(3.0) * _D))


def test_pair_correction_of_liu_1g():
    assert proximal_pressure(
        LIU_PRESSURE_GAIN, LIU_PRESSURE_OFFSET, 30e3
    ) == pytest.approx(29.71e3)
    for pressure in (0.0, 12.5e3, 60e3):
        p1 = proximal_pressure(LIU_PRESSURE_GAIN, LIU_PRESSURE_OFFSET, pressure)
        p2 = distal_pressure(LIU_PRESSURE_GAIN, LIU_PRESSURE_OFFSET, p1)
        assert p2 == pytest.approx(pressure, abs=1e-10)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([0.0, 2.0], 0.02, 0.1, 0.15), "at least three"),
        (([0.0, np.pi, 0.0], 0.02, 0.1, 0.15), "not in one line"),
        (([0.0, 2.0, 4.0], 0.0, 0.1, 0.15), "at least three"),
        (([0.0, 2.0, np.nan], 0.02, 0.1, 0.15), "at least three"),
        ((_LIU, 0.02, 0.1, 0.09), "straight segment"),
        ((_LIU, 0.02, 0.1, 0.15, 0.12), "straight segment"),
        ((_LIU, 0.02, 0.1, np.nan), "straight segment"),
    ],
)
def test_impossible_chambers_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        build_chamber_model(*arguments)


def test_sector_borders_are_continuous():
    for phi, side in itertools.product(np.radians([30.0, 150.0, 270.0]), (-1, 1)):
        at = shortest_idle_length(_THREE, np.cos(phi), np.sin(phi))
        near = phi + side * 1e-9
        beside = shortest_idle_length(_THREE, np.cos(near), np.sin(near))
        assert beside == pytest.approx(at, abs=1e-10)
