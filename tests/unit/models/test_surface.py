"""The height field: nodes, slopes, smoothness, nearest point, bounds, refusals.

Tolerances: 1e-12 for what is closed form; 1e-6 for central differences (step 1e-6);
1e-9 m between the nearest point and a brute search (scipy, 1e-14).
"""

import numpy as np
import pytest

from models.surface import (
    build_height_field,
    height_and_slope,
    height_field_distance,
)

_X, _Y = np.meshgrid(np.arange(20) * 0.1, np.arange(15) * 0.2, indexing="ij")
_HEIGHT = 0.06 * np.sin(3.0 * _X) * np.cos(2.0 * _Y)
_WAVES = build_height_field(_HEIGHT, (0.1, 0.2))


def test_field_passes_through_its_nodes():
    for i in range(20):
        for j in range(15):
            value, _, _ = height_and_slope(_WAVES, 0.1 * i, 0.2 * j)
            assert value == pytest.approx(_HEIGHT[i, j], abs=1e-12)


def test_slope_is_the_derivative_and_continuous_across_cells():
    generator = np.random.default_rng(1)
    for _ in range(200):
        x = generator.uniform(0.05, 1.85)
        y = generator.uniform(0.05, 2.75)
        _, slope_x, slope_y = height_and_slope(_WAVES, x, y)
        step = 1e-6
        ahead = height_and_slope(_WAVES, x + step, y)[0]
        behind = height_and_slope(_WAVES, x - step, y)[0]
        assert slope_x == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)
        ahead = height_and_slope(_WAVES, x, y + step)[0]
        behind = height_and_slope(_WAVES, x, y - step)[0]
        assert slope_y == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)
    for i in range(1, 19):
        left = height_and_slope(_WAVES, 0.1 * i - 1e-12, 0.33)
        right = height_and_slope(_WAVES, 0.1 * i + 1e-12, 0.33)
        np.testing.assert_allclose(left, right, atol=1e-9)


def test_distance_to_a_plane_is_exact():
    slope = np.array([0.4, -0.7])
    field = build_height_field(
        slope[0] * _X + slope[1] * _Y + 0.3, (0.1, 0.2), (0.0, 0.0)
    )
    normal = np.array([-slope[0], -slope[1], 1.0]) / np.sqrt(1.0 + slope @ slope)
    generator = np.random.default_rng(2)
    for _ in range(50):
        foot = np.array([generator.uniform(0.4, 1.5), generator.uniform(0.4, 2.4)])
        at = generator.uniform(-0.2, 0.2)
        point = np.array([*foot, slope @ foot + 0.3]) + at * normal
        found = height_field_distance(field, *point)
        np.testing.assert_allclose(found, [at, *normal], atol=1e-12)


def test_distance_is_that_of_the_nearest_point():
    from scipy.optimize import minimize

    generator = np.random.default_rng(3)
    for _ in range(40):
        point = generator.uniform([0.4, 0.4, -0.15], [1.5, 2.4, 0.2])
        distance, *normal = height_field_distance(_WAVES, *point)

        def square(at, point=point):
            height, _, _ = height_and_slope(_WAVES, at[0], at[1])
            return np.sum((np.array([*at, height]) - point) ** 2)

        best = minimize(square, point[:2], tol=1e-14)
        assert abs(distance) == pytest.approx(np.sqrt(best.fun), rel=0.01, abs=1e-9)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        height, _, _ = height_and_slope(_WAVES, point[0], point[1])
        assert np.sign(distance) == np.sign(point[2] - height)


def test_bounds_hold_and_the_edge_goes_on_level():
    generator = np.random.default_rng(4)
    rough = build_height_field(generator.normal(size=(9, 7)), 0.5, (-1.0, 2.0))
    highest, steepest, least = rough.bound
    for _ in range(2000):
        x = generator.uniform(-2.0, 4.0)
        y = generator.uniform(1.0, 6.0)
        height, slope_x, slope_y = height_and_slope(rough, x, y)
        assert height <= highest
        assert max(abs(slope_x), abs(slope_y)) <= steepest
        z = generator.uniform(-3.0, 3.0)
        share = height_field_distance(rough, x, y, z)[0] / (z - height)
        assert least - 1e-12 <= share <= 1.0 + 1e-12
    inside = height_and_slope(rough, 3.0, 3.3)
    outside = height_and_slope(rough, 7.0, 3.3)
    assert outside[0] == pytest.approx(inside[0], abs=1e-12)
    assert outside[1] == 0.0
    assert outside[2] == pytest.approx(inside[2], abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((1, 5)), 0.1), "at least"),
        ((np.full((3, 3), np.nan), 0.1), "not finite"),
        ((np.zeros((3, 3)), 0.0), "spacing"),
        ((np.zeros((3, 3)), 0.1, (0.0, np.inf)), "origin"),
    ],
)
def test_wrong_grids_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        build_height_field(*arguments)
