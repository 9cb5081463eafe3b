"""One segment: closed forms, derivatives, the limit θ = 0.

Tolerances: 1e-12 where both sides are closed forms; 1e-8 for central differences with
a step of 1e-5, whose truncation and rounding are both near 1e-10.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.arc import (
    arc_coefficients,
    arc_jacobian,
    arc_parameters,
    arc_pose,
    segment_coordinates,
)

_EXACT = 1e-12
_DIFFERENCE = 1e-8
_STEP = 1e-5

bends = st.floats(-3.0, 3.0)
lengths = st.floats(0.05, 2.0)


def _pose(delta_x, delta_y, length):
    pose = np.empty((4, 4))
    arc_pose(delta_x, delta_y, length, pose)
    return pose


def _skew_part(matrix):
    return 0.5 * np.array(
        [
            matrix[2, 1] - matrix[1, 2],
            matrix[0, 2] - matrix[2, 0],
            matrix[1, 0] - matrix[0, 1],
        ]
    )


@pytest.mark.parametrize("u", [0.0, 1e-12, 1e-3, 0.2, 0.2499, 0.25, 0.2501, 2.0, 9.0])
def test_coefficients_are_their_definitions(u):
    value = arc_coefficients(u)
    if u >= 1e-3:
        theta = math.sqrt(u)
        expected = (
            (1.0 - math.cos(theta)) / u,
            math.sin(theta) / theta,
            (theta - math.sin(theta)) / theta**3,
        )
    else:
        expected = (0.5 - u / 24.0, 1.0 - u / 6.0, 1.0 / 6.0 - u / 120.0)
    # the definition of c loses 1e-16 / θ³ by cancellation
    assert np.allclose(value[:3], expected, rtol=0.0, atol=1e-11)


def test_series_and_closed_forms_meet():
    below = np.array(arc_coefficients(np.nextafter(0.25, 0.0)))
    above = np.array(arc_coefficients(0.25))
    assert np.allclose(below, above, rtol=0.0, atol=_EXACT)


@settings(deadline=None)
@given(u=st.floats(1e-4, 9.0))
def test_derivatives_of_the_coefficients(u):
    step = 1e-5 * max(u, 0.1) if u > 1e-3 else 1e-5
    value = np.array(arc_coefficients(u))
    after = np.array(arc_coefficients(u + step))
    before = np.array(arc_coefficients(u - step))
    slope = (after - before) / (2.0 * step)
    assert np.allclose(value[3:6], slope[0:3], atol=_DIFFERENCE)
    assert np.allclose(value[6:9], slope[3:6], atol=_DIFFERENCE)


@settings(deadline=None)
@given(theta=st.floats(-3.1, 3.1), phi=st.floats(-3.1, 3.1), length=lengths)
def test_pose_is_the_papers_arc_without_torsion(theta, phi, length):
    """Emet 2023 eqs 15-18, and R = Rz(φ) Ry(θ) Rz(-φ)."""
    delta_x, delta_y, _ = segment_coordinates(theta, phi, length, length)
    pose = _pose(delta_x, delta_y, length)
    cos_phi, sin_phi = math.cos(phi), math.sin(phi)
    about_z = np.array([[cos_phi, -sin_phi, 0], [sin_phi, cos_phi, 0], [0, 0, 1.0]])
    cosine, sine = math.cos(theta), math.sin(theta)
    about_y = np.array([[cosine, 0, sine], [0, 1.0, 0], [-sine, 0, cosine]])
    assert np.allclose(pose[:3, :3], about_z @ about_y @ about_z.T, atol=_EXACT)
    if abs(theta) > 1e-3:
        radius = length / theta
        along, up = radius * (1.0 - cosine), radius * sine
        expected = [along * cos_phi, along * sin_phi, up]
        assert np.allclose(pose[:3, 3], expected, atol=_EXACT)
    assert np.array_equal(pose[3], [0.0, 0.0, 0.0, 1.0])


@settings(deadline=None)
@given(delta_x=bends, delta_y=bends, length=lengths)
def test_two_halves_make_the_whole(delta_x, delta_y, length):
    half = _pose(0.5 * delta_x, 0.5 * delta_y, 0.5 * length)
    assert np.allclose(half @ half, _pose(delta_x, delta_y, length), atol=_EXACT)


@settings(deadline=None)
@given(delta_x=bends, delta_y=bends, length=lengths)
def test_jacobian_is_the_derivative_of_the_pose(delta_x, delta_y, length):
    jacobian = np.empty((6, 3))
    arc_jacobian(delta_x, delta_y, length, jacobian)
    at = np.array([delta_x, delta_y, length])
    rotation = _pose(*at)[:3, :3]
    for j in range(3):
        step = np.zeros(3)
        step[j] = _STEP
        rate = (_pose(*(at + step)) - _pose(*(at - step))) / (2.0 * _STEP)
        spin = _skew_part(rate[:3, :3] @ rotation.T)
        assert np.allclose(jacobian[:3, j], spin, atol=_DIFFERENCE)
        assert np.allclose(jacobian[3:, j], rate[:3, 3], atol=_DIFFERENCE)


def test_a_straight_arc_has_no_singularity():
    jacobian = np.empty((6, 3))
    arc_jacobian(0.0, 0.0, 0.6, jacobian)
    expected = np.zeros((6, 3))
    expected[1, 0] = 1.0
    expected[0, 1] = -1.0
    expected[3, 0] = expected[4, 1] = 0.3
    expected[5, 2] = 1.0
    assert np.allclose(jacobian, expected, atol=1e-15)


@pytest.mark.parametrize(
    ("theta", "phi", "tip_mm", "tolerance"),
    [
        # paper facts P002-024, P002-025, P002-026
        (90.0, 30.0, [330.79733725, 190.98593171, 381.97186342], 1e-7),
        (45.0, 30.0, [193.77659377, 111.87696857, 540.18978969], 1e-7),
        (90.0, -5.0, [380.51833, -33.29104, 381.97186], 1e-4),
    ],
)
def test_tips_of_emet_2023(theta, phi, tip_mm, tolerance):
    delta = segment_coordinates(math.radians(theta), math.radians(phi), 0.6, 0.6)
    tip = 1e3 * _pose(delta[0], delta[1], 0.6)[:3, 3]
    assert np.allclose(tip, tip_mm, rtol=0.0, atol=tolerance)


@settings(deadline=None)
@given(delta_x=bends, delta_y=bends, change=st.floats(-0.02, 0.02))
def test_parameters_and_coordinates_are_inverse(delta_x, delta_y, change):
    coordinates = np.array([[delta_x, delta_y, change]])
    rest = np.array([0.3])
    theta, phi, length = arc_parameters(coordinates, rest)
    back = segment_coordinates(theta, phi, length, rest)
    assert np.allclose(back, coordinates, atol=_EXACT)
