"""Where the robot's proxy is while the hand is at a surface shown elsewhere."""

import numpy as np
import pytest

from models.environment import allocate_surface
from models.environment_proxy import place_proxy
from models.environment_report import SurfaceStatus
from models.environment_update import update_surface

FAST = np.array([0.05, 0.02, 0.0])
EXACT = 1e-12  # [m], [m/s]: rounding only


def report(made, wall=0.05, stiffness=1000.0, status=SurfaceStatus.AS_KNOWN):
    heard = made.heard
    heard.number[0] += 1
    heard.status[0] = status
    heard.normal[:], heard.point[:] = (-1.0, 0.0, 0.0), (wall, 0.0, 0.0)
    heard.stiffness[0] = stiffness


def at(made, x, ticks=1, most=100.0):
    hand, position, velocity = np.array([x, 0.0, 0.0]), np.zeros(3), np.zeros(3)
    for _ in range(ticks):
        update_surface(hand, made)
        place_proxy(hand, FAST, most, made, velocity, position)
    return position[0], velocity


def test_free_the_proxy_is_the_hand():
    made = allocate_surface()
    assert at(made, 0.3)[0] == 0.3
    report(made)
    place, velocity = at(made, 0.04)
    assert place == pytest.approx(0.04)
    assert velocity == pytest.approx(FAST)


def test_in_a_surface_shown_as_it_is_the_proxy_is_the_hand():
    made = allocate_surface()
    report(made)
    at(made, 0.04)
    place, velocity = at(made, 0.052)
    assert place == pytest.approx(0.052)
    assert velocity == pytest.approx(FAST)


def test_in_a_surface_shown_softer_the_proxy_is_less_deep():
    made = allocate_surface()  # at most 3200 N/m without damping
    report(made, stiffness=6400.0)
    at(made, 0.04)
    place, velocity = at(made, 0.052)
    assert place == pytest.approx(0.051)
    assert velocity == pytest.approx([0.025, 0.02, 0.0])


def test_past_what_the_device_can_show_the_robot_goes_no_deeper():
    made = allocate_surface()
    report(made)
    at(made, 0.04)
    assert at(made, 0.06, most=3.3)[0] == pytest.approx(0.0533)


def test_a_surface_that_appears_behind_the_hand_draws_the_robot_back_to_it():
    made = allocate_surface()
    report(made)
    place, velocity = at(made, 0.06)
    assert place == pytest.approx(0.06 - 0.05e-3)
    assert velocity == pytest.approx([0.0, 0.02, 0.0])
    assert at(made, 0.06, 250)[0] == pytest.approx(0.05)
    # pressing on presses the robot as much
    assert at(made, 0.062)[0] == pytest.approx(0.052)
    # and the way back ends where hand and robot are one again
    assert at(made, 0.055, 20)[0] == pytest.approx(0.05)
    assert at(made, 0.049, 20)[0] == pytest.approx(0.049)


def test_a_wall_that_came_nearer_is_pressed_no_harder_than_the_hand_presses():
    made = allocate_surface()
    report(made)
    at(made, 0.04)
    at(made, 0.052)
    report(made, wall=0.045, status=SurfaceStatus.MOVED)
    before = 0.052
    for _ in range(100):
        place = at(made, 0.052)[0]
        assert 0.0 <= before - place <= 0.05e-3 + EXACT
        before = place
    assert place == pytest.approx(0.047)


def test_when_it_is_gone_the_proxy_goes_back_to_the_hand():
    made = allocate_surface()
    report(made)
    at(made, 0.06, 250)
    report(made, status=SurfaceStatus.GONE)
    assert at(made, 0.06, 30)[0] == pytest.approx(0.06)
