"""Polylines: points by arc length, and distances."""

import math

import numpy as np
import pytest

from models.curve import build_curve, curve_nearest, curve_point

RADIUS = 0.065
# chords of 1 mm lie s²/8r = 2 µm inside the circle
TOLERANCE = 3e-6

ARC = build_curve(
    lambda share: (
        RADIUS * np.array([math.cos(math.pi * share), math.sin(math.pi * share), 0.0])
    )
)


def test_length_and_points() -> None:
    assert ARC.length == pytest.approx(math.pi * RADIUS, rel=1e-4)
    middle = curve_point(ARC, 0.5 * ARC.length)
    np.testing.assert_allclose(middle, [0.0, RADIUS, 0.0], atol=TOLERANCE)
    np.testing.assert_allclose(curve_point(ARC, -1.0), ARC.points[0])
    np.testing.assert_allclose(curve_point(ARC, 9.0), ARC.points[-1], atol=1e-15)


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("radius", [0.05, 0.065, 0.1])
def test_distance_and_progress(angle: float, radius: float) -> None:
    place = np.array([radius * math.cos(angle), radius * math.sin(angle), 0.01])
    wanted = math.hypot(radius - RADIUS, 0.01)
    assert curve_nearest(ARC, place)[0] == pytest.approx(wanted, abs=TOLERANCE)
    # outside, the corners of the polyline are nearest: half a chord
    assert curve_nearest(ARC, place)[1] == pytest.approx(RADIUS * angle, abs=5e-4)


def test_beyond_an_end_the_end_is_nearest() -> None:
    assert curve_nearest(ARC, np.array([RADIUS, -0.02, 0.0]))[0] == pytest.approx(0.02)
