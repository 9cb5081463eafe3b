"""The exponential of one step and its derivatives, against series in exact fractions.

Tolerances: the closed forms lose (1/u)^2 of rounding in their second derivatives, and
are worst at u = 0.25 where they begin: 1e-11 relative there, 1e-14 for the values.
"""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from models.arc import arc_coefficients
from models.lie import left_tangent, pose_exp, twist_adjoint
from models.numerics import kernel
from models.strain_step import (
    screw_bracket,
    step_bias,
    step_column,
    step_pose,
)


@kernel
def coefficients(u: float, values_out: np.ndarray) -> None:
    a, b, c, da, db, dc, dda, ddb, ddc = arc_coefficients(u)
    values_out[0], values_out[1], values_out[2] = a, b, c
    values_out[3], values_out[4], values_out[5] = da, db, dc
    values_out[6], values_out[7], values_out[8] = dda, ddb, ddc


@kernel
def complex_coefficients(u: complex, values_out: np.ndarray) -> None:
    a, b, c, da, db, dc, _, _, _ = arc_coefficients(u)
    values_out[0], values_out[1], values_out[2] = a, b, c
    values_out[3], values_out[4], values_out[5] = da, db, dc


@kernel
def whole_step(
    s: np.ndarray,
    d: np.ndarray,
    pose_out: np.ndarray,
    column_out: np.ndarray,
    bias_out: np.ndarray,
) -> None:
    a, b, c, da, db, dc, dda, ddb, ddc = arc_coefficients(
        s[0] * s[0] + s[1] * s[1] + s[2] * s[2]
    )
    r = step_pose(a, b, c, s[0], s[1], s[2], s[3], s[4], s[5])
    for i in range(3):
        for j in range(3):
            pose_out[i, j] = r[3 * i + j]
        pose_out[i, 3] = r[9 + i]
    y = step_column(
        a,
        b,
        c,
        da,
        db,
        dc,
        s[0],
        s[1],
        s[2],
        s[3],
        s[4],
        s[5],
        d[0],
        d[1],
        d[2],
        d[3],
        d[4],
        d[5],
    )
    z = step_bias(
        a,
        b,
        c,
        da,
        db,
        dc,
        dda,
        ddb,
        ddc,
        s[0],
        s[1],
        s[2],
        s[3],
        s[4],
        s[5],
        d[0],
        d[1],
        d[2],
        d[3],
        d[4],
        d[5],
    )
    for i in range(6):
        column_out[i] = y[i]
        bias_out[i] = z[i]


@kernel
def bracket_of(p: np.ndarray, q: np.ndarray, bracket_out: np.ndarray) -> None:
    r = screw_bracket(
        p[0], p[1], p[2], p[3], p[4], p[5], q[0], q[1], q[2], q[3], q[4], q[5]
    )
    for i in range(6):
        bracket_out[i] = r[i]


def _series(u, offset, derivative):
    """Exact derivative of sum (-u)^k / (2k + offset)!"""
    u, total = Fraction(u), Fraction(0)
    for k in range(derivative, 60):
        term = Fraction((-1) ** k * factorial(k), factorial(k - derivative))
        total += term * u ** (k - derivative) / factorial(2 * k + offset)
    return float(total)


@pytest.mark.parametrize("u", [0.0, 1e-12, 0.01, 0.2, 0.2499, 0.25, 0.3, 1, 10, 40])
def test_coefficients_are_the_entire_functions(u):
    values = np.empty(9)
    coefficients(float(u), values)
    exact = [_series(u, offset, n) for n in range(3) for offset in (2, 1, 3)]
    scale = np.maximum(np.abs(exact), 1e-3)
    error = np.abs(values - exact) / scale
    assert np.all(error[:3] < 2e-14)
    assert np.all(error[3:6] < 3e-13)
    assert np.all(error[6:] < 1e-11)


@pytest.mark.parametrize("u", [0.1, 0.24, 0.26, 5.0])
def test_coefficients_take_a_complex_step(u):
    values, real = np.empty(6, complex), np.empty(9)
    complex_coefficients(u + 1e-30j, values)
    coefficients(u, real)
    assert np.allclose(values.imag / 1e-30, real[3:], rtol=1e-10, atol=1e-13)


def _random(generator, turn):
    strain = generator.normal(size=6)
    return strain * turn / np.linalg.norm(strain[:3])


def _all(strain, change):
    pose, column, bias = np.eye(4), np.empty(6), np.empty(6)
    whole_step(strain, change, pose, column, bias)
    return pose, column, bias


@pytest.mark.parametrize("turn", [1e-9, 0.3, 0.49, 0.51, 2.0, 6.0])
def test_pose_and_column_are_those_of_the_group(turn):
    generator = np.random.default_rng(1)
    strain, change = _random(generator, turn), generator.normal(size=6)
    pose, column, _ = _all(strain, change)
    expected, tangent = np.eye(4), np.empty((6, 6))
    pose_exp(strain, expected)
    left_tangent(strain, tangent)
    assert np.allclose(pose, expected, atol=1e-13)
    assert np.allclose(column, tangent @ change, atol=1e-12)


@pytest.mark.parametrize("turn", [1e-9, 0.3, 0.49, 0.51, 2.0, 6.0])
def test_bias_is_the_rate_of_the_column(turn):
    generator = np.random.default_rng(2)
    strain, change = _random(generator, turn), generator.normal(size=6)
    _, _, bias = _all(strain, change)
    step = 1e-5
    ahead = _all(strain + step * change, change)[1]
    behind = _all(strain - step * change, change)[1]
    assert np.allclose(bias, (ahead - behind) / (2 * step), atol=2e-9)


def test_bracket_is_the_adjoint_of_the_algebra():
    generator = np.random.default_rng(3)
    p, q = generator.normal(size=(2, 6))
    bracket, matrix = np.empty(6), np.empty((6, 6))
    bracket_of(p, q, bracket)
    twist_adjoint(p, matrix)
    assert np.allclose(bracket, matrix @ q, atol=1e-14)
