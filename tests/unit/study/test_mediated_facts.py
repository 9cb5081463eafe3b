"""Facts A7 to A11 and A13, and what a wrong model does, each in its printed bounds."""

import math
from dataclasses import replace

import numpy as np
import pytest

from app.study.mediated import press_twice
from app.study.mediated_facts import mediated_facts
from app.study.one_dof_setup import SOFT, STIFF, Wall
from app.study.press import PressCase, run_case
from models.environment_report import SurfaceStatus

KELVIN_VOIGT = {"stiff": STIFF, "soft": SOFT}


def test_every_fact_holds():
    facts = list(mediated_facts())
    assert [fact for fact in facts if not fact.holds] == []
    assert {fact.name for fact in facts} == {"A7", "A8", "A9", "A10", "A11", "A13"}


@pytest.mark.parametrize("wall", KELVIN_VOIGT)
@pytest.mark.parametrize("moved", [0.04, 0.048, 0.055, 0.06])
def test_a_moved_wall_is_pressed_harder_only_until_the_operator_knows(wall, moved):
    delay = 0.5
    press = press_twice(delay, KELVIN_VOIGT[wall], moved=moved)
    assert press.injected < 1e-4
    assert press.error < 0.05


def test_until_the_round_trip_the_extra_force_is_that_of_the_coupling():
    """Base drift d adds d K_p K_e / (K_p + K_e)."""
    drift, stiffness, coupling = 0.01, SOFT.stiffness, 200.0
    delay = 2.0
    press = press_twice(delay, SOFT, moved=0.05 - drift)
    run = press.run
    # the hand has settled, and the robot at its old place; nothing has come back yet
    at = press.again + 1.0 + delay + 0.6
    tick = int(np.searchsorted(run.time, at))
    late = round(delay / run.setup.period)
    extra = run.traces.contact_force[tick] - run.traces.hand_force[tick - late]
    expected = drift * coupling * stiffness / (coupling + stiffness)
    assert extra == pytest.approx(expected, rel=0.1)


def test_a_wall_that_is_gone_lets_the_hand_go_gently():
    press = press_twice(0.5, moved=math.inf)
    assert press.hand < 0.05
    assert press.injected < 1e-4
    assert press.jump < 0.87
    assert press.reports()[-1][4] is SurfaceStatus.GONE
    assert math.isnan(press.shown)


def test_hunt_and_crossley_is_shown_within_5_percent():
    press = press_twice(1.0, Wall(1500.0, 5.0, 1.3), force_noise=0.02)
    assert press.error < 0.05
    assert press.reports()[-1][3] == pytest.approx(1.3, abs=0.1)


@pytest.mark.parametrize("stiffness", [100.0, 300.0, 1000.0, 2000.0])
@pytest.mark.parametrize("delay", [0.1, 2.0])
def test_in_three_dimensions_with_lag_noise_and_quantised_places(stiffness, delay):
    case = PressCase(delay, stiffness, 2.0, lag=0.2, tilt=0.3)
    run = run_case(case)
    assert run.robot == pytest.approx(run.hand, rel=0.05)
    assert run.report.stiffness[0] == pytest.approx(stiffness, rel=0.15)
    assert run.injected < 1e-4
    assert run.told == [SurfaceStatus.AS_KNOWN]
    assert run.tilt < math.radians(2.0)


def test_the_operator_is_told_within_a_round_trip_and_a_little():
    case = PressCase(0.5, 150.0, 2.0)
    for shift, status in (
        (-0.01, SurfaceStatus.MOVED),
        (0.01, SurfaceStatus.MOVED),
        (math.inf, SurfaceStatus.GONE),
    ):
        run = run_case(replace(case, shift=shift))
        assert run.told[-1] is status
        assert run.told_after < 1.0 + 0.2


def test_friction_is_taken_off_the_normal():
    case = PressCase(0.5, 2000.0, 5.0, slide=0.03, friction=0.3)
    run = run_case(case)
    assert run.tilt < math.radians(2.0)  # the friction angle is 17 degrees
    assert run.robot == pytest.approx(run.hand, rel=0.05)


def test_the_robot_presses_no_harder_than_the_device_can_show():
    run = run_case(PressCase(0.1, 2000.0, 5.0))
    assert run.hand == pytest.approx(3.3, rel=1e-3)
    assert run.robot == pytest.approx(3.3, rel=0.02)


def test_a_press_is_repeatable():
    case = PressCase(0.1, lag=0.2)
    one, other = run_case(case), run_case(case)
    assert np.array_equal(one.traces.contact, other.traces.contact)
