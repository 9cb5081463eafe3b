"""Stiffness of tapered segments against integrals and against the real tapered rod.

Tolerance 1e-12 relative for integrals of polynomials.
"""

import math

import numpy as np
import pytest

from models.limb import limb_tip_jacobian
from models.material import segment_material
from tests.unit.models.rods import LENGTH, URSULA, YOUNG, one_limb

_NODE, _WEIGHT = np.polynomial.legendre.leggauss(8)

# Exact compliances of URSULA's limb, linear taper 3:1, E I0 at its base
_BASE = YOUNG * math.pi * 0.03**4 / 4
_PER_FORCE = LENGTH**3 * 3 / (3 * _BASE)  # deflection by a force at the tip [m/N]
_PER_MOMENT = LENGTH * (3 + 9 + 27) / (3 * _BASE)  # rotation by a moment [rad/N m]


@pytest.mark.parametrize("segment", [0, 1, 4])
def test_stiffness_and_damping_are_averages_over_the_taper(segment):
    r0, r1 = URSULA.segment_radius[segment]
    radius = 0.5 * (r0 + r1) + 0.5 * (r1 - r0) * _NODE
    length = URSULA.segment_length[segment]
    area = 0.5 * (_WEIGHT @ (np.pi * radius**2)) / length
    moment = 0.5 * (_WEIGHT @ (np.pi * radius**4 / 4)) / length
    assert segment_material(URSULA, segment) == pytest.approx(
        (69e3 * moment, 69e3 * area * 8.0, 900.0 * moment, 900.0 * area), rel=1e-12
    )


def _compliances(segments):
    """Deflection by a tip force and rotation by a tip moment, about the straight."""
    model = one_limb(segments)
    jacobian = np.zeros((6, 3 * segments))
    limb_tip_jacobian(
        model,
        0,
        np.zeros((segments, 3)),
        np.zeros((segments + 1, 4, 4)),
        jacobian,
    )
    bending = np.array([segment_material(model, k)[0] for k in range(segments)])
    turn, shift = jacobian[1, ::3], jacobian[3, ::3]
    return shift @ (shift / bending), turn @ (turn / bending)


def test_compliances_converge_to_those_of_the_tapered_rod_from_below():
    counts = (1, 2, 4, 8, 16, 32)
    results = np.array([_compliances(count) for count in counts])
    missing = 1.0 - results / [_PER_FORCE, _PER_MOMENT]
    assert np.all(missing > 0.0)
    # second order: halving the segments quarters the error
    assert np.allclose(missing[-2] / missing[-1], 4.0, atol=0.25)
    assert missing[-1] == pytest.approx([0.0, 0.0], abs=0.004)
    # what the module says of one segment
    assert results[0] / [_PER_FORCE, _PER_MOMENT] == pytest.approx(
        [0.84, 1 / 3.9], abs=0.005
    )


def test_a_uniform_limb_is_exact_under_a_moment_with_any_segments():
    model = one_limb(3, uniform=True)
    bending = [segment_material(model, k)[0] for k in range(3)]
    assert sum(1.0 / value for value in bending) == pytest.approx(
        LENGTH / _BASE, rel=1e-12
    )
