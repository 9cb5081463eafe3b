"""The last stage before the hand: cap, slew, guard, and ports."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.teleop import RenderParameters, TeleopParameters
from app.teleop.gains import gains_from
from app.teleop.halves import allocate_master
from app.teleop.passivity import (
    allocate_port,
    damping_for,
    observe,
    power,
    reset_port,
)
from app.teleop.render import limit_force, render

_H = 1e-3
_component = st.floats(-50.0, 50.0)
_vector = st.tuples(_component, _component, _component)


@settings(deadline=None)
@given(shown=_vector, wanted=_vector, slew=st.floats(1.0, 1e5))
def test_no_change_is_above_the_slew_limit_and_none_away_from_the_cap(
    shown, wanted, slew
):
    last = np.array(shown)
    force = np.array(wanted)
    limit_force(last, slew, 3.0, _H, force)
    assert np.linalg.norm(force - last) <= slew * _H * (1 + 1e-9)
    assert np.linalg.norm(force) <= max(3.0, np.linalg.norm(last)) * (1 + 1e-9)


def test_a_force_within_the_limits_is_left_alone():
    force = np.array([0.3, -0.2, 0.1])
    assert not limit_force(np.zeros(3), 1000.0, 3.0, _H, force)
    assert force.tolist() == [0.3, -0.2, 0.1]


def test_a_cap_is_reached_by_the_slew_limit():
    shown = np.zeros(3)
    for _ in range(10):
        force = np.array([0.0, 20.0, 0.0])
        assert limit_force(shown, 1000.0, 3.3, _H, force)
        shown = force
    assert shown[1] == pytest.approx(3.3)


def test_a_force_that_is_not_finite_is_shown_as_none():
    gains = gains_from(TeleopParameters())
    data = allocate_master()
    for bad in (np.nan, np.inf, -np.inf):
        force = np.array([bad, 0.0, 0.0])
        render(gains, _H, np.zeros(3), data, force)
        assert force.tolist() == [0.0, 0.0, 0.0]


def _push(guard):
    """A source that pushes the hand away without end; energy that it gives [J]."""
    render_parameters = RenderParameters(guard=guard, slew_n_per_s=1e5)
    gains = gains_from(TeleopParameters(render=render_parameters))
    data = allocate_master()
    velocity = np.zeros(3)
    given_energy = 0.0
    for _ in range(3000):
        force = np.array([-1.0, 0.0, 0.0])
        render(gains, _H, velocity, data, force)
        given_energy -= power(force, velocity) * _H
        # The hand gives way to what it is shown: 0.5 kg, 1 N s/m.
        velocity -= _H * (force + 1.0 * velocity) / 0.5
    return given_energy


def test_the_guard_takes_back_what_an_active_source_gives():
    assert _push(guard=False) > 1.0
    assert _push(guard=True) < 0.02


def test_the_guard_does_not_believe_in_more_than_its_reserve():
    parameters = RenderParameters(guard_reserve_mj=10.0)
    gains = gains_from(TeleopParameters(render=parameters))
    data = allocate_master()
    for _ in range(2000):
        render(gains, _H, np.array([0.1, 0, 0]), data, np.array([2.0, 0, 0]))
    assert data.reserve[0] == pytest.approx(0.01)


def test_ports_count_in_and_out_apart():
    port = allocate_port()
    for energy in (0.5, -0.7, 0.1):
        observe(energy, port)
    assert port.energy_in[0] == pytest.approx(0.6)
    assert port.energy_out[0] == pytest.approx(0.7)
    assert port.least[0] == pytest.approx(-0.2)
    reset_port(port)
    assert (port.energy_in[0], port.energy_out[0], port.least[0]) == (0, 0, 0)


def test_a_lack_is_burnt_within_a_tick_where_the_limit_allows():
    velocity = np.array([0.0, 0.3, 0.4])
    damping = damping_for(1e-4, velocity, 1000.0, _H)
    assert damping * 0.25 * _H == pytest.approx(1e-4)
    assert damping_for(1e-2, velocity, 20.0, _H) == 20.0
    assert damping_for(0.0, velocity, 20.0, _H) == 0.0
    assert damping_for(1e-4, np.zeros(3), 20.0, _H) == 20.0
