"""Exact linear limits against poles of the loop with its delay as a rational one."""

import math

import numpy as np
import pytest

from app.config.teleop import ForceParameters, TeleopParameters
from app.teleop.held_loop import held_loop, shown_share
from app.teleop.limits import (
    NO_CONTACT,
    Contact,
    Loop,
    delay_limit,
    lyapunov_bound,
    position_force_loop,
    position_position_loop,
    safe_force_share,
    wave_stiffness,
)
from models.human_arm import GRIPS

_STIFF = Contact(2000.0, 5.0)
_FREQUENCIES = np.geomspace(0.1, 1e3, 4000)


def _loop(grip, stiffness=200.0, damping=8.0):
    arm = GRIPS[grip]
    return Loop(
        0.3 + arm.mass, 2.0 + arm.damping, arm.stiffness, 0.4, 4.0, stiffness, damping
    )


def _worst_pole(loop, contact, delay, order=9):
    """Largest real part of the poles with exp(-2sT) as a Pade fraction."""
    top, bottom = [1.0], [1.0]
    for k in range(1, order + 1):
        ratio = math.comb(order, k) / math.comb(2 * order, k)
        term = ratio * (2.0 * delay) ** k / math.factorial(k)
        top.insert(0, term * (-1) ** k)
        bottom.insert(0, term)
    coupling = np.array([loop.damping, loop.stiffness])
    hand = np.array([loop.hand_mass, loop.hand_damping, loop.hand_stiffness])
    tip = np.array([loop.tip_mass, loop.tip_damping, 0.0])
    touched = np.array([contact.damping, contact.stiffness])
    ends = np.polymul(
        np.polyadd(hand, coupling), np.polyadd(np.polyadd(tip, coupling), touched)
    )
    closed = np.polysub(
        np.polymul(ends, bottom), np.polymul(np.polymul(coupling, coupling), top)
    )
    return np.roots(closed).real.max()


@pytest.mark.parametrize(
    ("grip", "stiffness", "damping"),
    [("light", 200.0, 8.0), ("relaxed", 1000.0, 10.0), ("relaxed", 200.0, 0.0)],
)
def test_poles_cross_where_the_limit_says(grip, stiffness, damping):
    loop = _loop(grip, stiffness, damping)
    limit = delay_limit(loop, NO_CONTACT)
    assert _worst_pole(loop, NO_CONTACT, 0.97 * limit) < 0.0
    assert _worst_pole(loop, NO_CONTACT, 1.03 * limit) > 0.0


def test_a_loop_below_one_has_no_limit():
    loop = _loop("relaxed")
    for contact in (NO_CONTACT, _STIFF):
        gain = np.abs(position_position_loop(loop, contact, _FREQUENCIES)).max()
        assert gain < 1.0
        assert delay_limit(loop, contact) == math.inf


@pytest.mark.parametrize("stiffness", [100.0, 200.0, 1000.0])
def test_the_bound_lies_below_the_exact_limit(stiffness):
    loop = _loop("relaxed", stiffness, 0.0)
    bound = lyapunov_bound(stiffness, loop.hand_damping, loop.tip_damping)
    assert bound < delay_limit(loop, NO_CONTACT)


def test_the_safe_share_leaves_a_fifth_and_has_no_limit():
    loop = _loop("relaxed")
    share = safe_force_share(loop, _STIFF)
    gain = np.abs(position_force_loop(loop, _STIFF, _FREQUENCIES, share)).max()
    assert gain == pytest.approx(0.8, rel=1e-3)
    assert delay_limit(loop, _STIFF, share) == math.inf
    assert delay_limit(loop, _STIFF, 1.3 * share) < math.inf


def test_auto_takes_the_safe_share_but_no_more_than_was_asked():
    def parameters(share):
        return TeleopParameters(force=ForceParameters(share=share, auto=True))

    loop = held_loop(parameters(1.0), GRIPS["relaxed"])
    safe = safe_force_share(loop, _STIFF)
    assert shown_share(parameters(1.0)) == pytest.approx(safe)
    assert shown_share(parameters(0.1)) == 0.1
    assert shown_share(TeleopParameters(force=ForceParameters(share=0.9))) == 0.9


def test_waves_show_a_chain_of_springs():
    assert wave_stiffness(200.0, _STIFF, 12.0, 0.1) == pytest.approx(72.29, abs=0.005)
