"""Chambers: exact lags at any period, limits, hysteresis, and the work of pressure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.hysteresis import AFTER_FALLING, HysteresisModel
from models.strain_basis import constant_curvature
from models.strand import (
    StrandModel,
    StrandWork,
    add_strands,
    allocate_strand_work,
    strand_geometry,
)
from models.strand_builder import (
    make_strands,
    straight_route,
)
from models.tree import TreeModel, allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder
from models.tree_motion import tree_motion
from models.tree_step import add_elastic, finish_step
from models.valve import (
    ValveModel,
    add_chambers,
    advance_pressure,
    allocate_valve_data,
    make_valves,
)

LENGTH = 0.2
OFFSET = 0.024
AREA = np.pi * 0.008**2
AZIMUTHS = np.radians([0.0, 120.0, 240.0])


@pytest.fixture(scope="module")
def joint() -> tuple[TreeModel, StrandModel]:
    """One soft joint with three chambers."""
    tree = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    tree.add_rod(
        ROOT,
        np.eye(4),
        length=LENGTH,
        radius=(0.03, 0.03),
        density=1080.0,
        young_modulus=1e5,
        shear_modulus=4e4,
        viscosity=1e4,
        basis=constant_curvature(),
    )
    model = tree.build()
    return model, make_strands(
        model,
        [[(0, straight_route(LENGTH, OFFSET, OFFSET, b))] for b in AZIMUTHS],
    )


def geometry(joint: tuple[TreeModel, StrandModel], position: np.ndarray) -> StrandWork:
    model, strands = joint
    data = allocate_tree_data(model)
    data.position[:] = position
    work = allocate_strand_work(model, strands)
    strand_geometry(model, strands, data, work)
    return work


def pressures(
    valves: ValveModel, command: float, period: float, steps: int
) -> np.ndarray:
    data = allocate_valve_data(valves, AFTER_FALLING)
    data.command[:] = command
    history = []
    for _ in range(steps):
        assert advance_pressure(valves, period, data) == 0
        history.append(data.pressure[0])
    return np.array(history)


def test_fill_and_vent_lag_are_those_of_first_order(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    valves = make_valves(
        joint[1], np.arange(3), AREA, fill_time=0.2, vent_time=0.05, highest=2e5
    )
    rise = pressures(valves, 1e5, 1e-3, 300)
    time = 1e-3 * np.arange(1, 301)
    assert np.allclose(rise, 1e5 * (1.0 - np.exp(-time / 0.2)), rtol=1e-12)
    data = allocate_valve_data(valves, AFTER_FALLING)
    data.pressure[:] = 1e5
    advance_pressure(valves, 0.1, data)
    assert data.pressure[0] == pytest.approx(1e5 * np.exp(-2.0), rel=1e-13)


@settings(deadline=None, max_examples=60)
@given(
    st.floats(-1e6, 1e6),
    st.floats(0.0, 0.5),
    st.floats(1e4, 1e7),
    st.integers(1, 40),
)
def test_pressure_does_not_depend_on_the_period(
    joint: tuple[TreeModel, StrandModel],
    command: float,
    lag: float,
    rate: float,
    steps: int,
) -> None:
    valves = make_valves(
        joint[1],
        np.arange(1),
        AREA,
        fill_time=lag,
        vent_time=0.5 * lag,
        rate_limit=rate,
        lowest=-5e4,
        highest=3e5,
    )
    whole = pressures(valves, command, 0.3, 1)[-1]
    parts = pressures(valves, command, 0.3 / steps, steps)
    assert parts[-1] == pytest.approx(whole, rel=1e-9, abs=1e-3)
    assert np.all(parts >= -5e4)
    assert np.all(parts <= 3e5)
    assert np.all(np.diff(parts, prepend=0.0) * np.sign(command) >= -1e-9)
    assert np.max(np.abs(np.diff(parts, prepend=0.0))) <= 0.3 / steps * rate * 1.000001


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_command_that_is_no_number_holds_the_pressure(
    joint: tuple[TreeModel, StrandModel], bad: float
) -> None:
    valves = make_valves(joint[1], np.arange(3), AREA, fill_time=0.1, highest=2e5)
    data = allocate_valve_data(valves, AFTER_FALLING)
    data.pressure[:] = 5e4
    data.command[:] = (bad, 1e5, bad)
    assert advance_pressure(valves, 0.01, data) == 2
    assert data.pressure[0] == data.pressure[2] == data.effective[0] == 5e4
    assert data.pressure[1] > 5e4
    data.command[:] = 1e300
    advance_pressure(valves, 10.0, data)
    assert np.all(data.pressure <= 2e5)


def test_hysteresis_makes_a_loop_that_takes_energy(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    plays = HysteresisModel(
        threshold=np.array([0.0, 5e3, 2e4]),
        weight=np.array([0.6, 0.25, 0.15]),
        knot=np.array([0.0, 1e5]),
        length=np.array([0.0, 1e5]),
    )
    valves = make_valves(joint[1], np.arange(1), AREA, highest=2e5, hysteresis=plays)
    data = allocate_valve_data(valves, AFTER_FALLING)
    course = 1e5 * np.sin(np.linspace(0.0, 3.0 * np.pi, 3000)) ** 2
    pressure, effective = [], []
    for wanted in course:
        data.command[0] = wanted
        advance_pressure(valves, 1e-3, data)
        pressure.append(data.pressure[0])
        effective.append(data.effective[0])
    assert pressure == pytest.approx(course)
    # the area of one loop of a play of threshold r and stroke s is 2 r (s - 2 r) w
    one = slice(1000, 2000)
    loop = np.trapezoid(effective[one], pressure[one])
    expected = -sum(
        2.0 * r * (1e5 - 2.0 * r) * w
        for r, w in zip(plays.threshold, plays.weight, strict=True)
    )
    assert loop == pytest.approx(expected, rel=1e-3)


def test_lengths_are_those_of_zhang_2022_eq_3(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    theta, phi = 0.2405626121623441, 2.6179938779914944
    position = np.array([theta * np.cos(phi), theta * np.sin(phi), 0.005])
    length = geometry(joint, position).length
    assert length == pytest.approx([0.21, 0.2, 0.205], abs=1e-14)


def test_force_is_the_work_of_pressure_on_volume(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    model, strands = joint
    valves = make_valves(strands, np.arange(3), AREA, highest=3e5)
    data = allocate_valve_data(valves, AFTER_FALLING)
    data.command[:] = (1e5, 3e4, 0.0)
    advance_pressure(valves, 1.0, data)
    position = np.array([0.5, -0.2, 0.02])
    work = geometry(joint, position)
    tree = allocate_tree_work(model)
    add_chambers(valves, data, work)
    add_strands(model, strands, work, tree)
    step = 1e-6
    for d in range(3):
        ends = []
        for side in (-step, step):
            moved = position.copy()
            moved[d] += side
            ends.append(float(data.pressure @ geometry(joint, moved).length) * AREA)
        assert tree.load[d] == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-7)


def test_one_chamber_bends_away_and_lengthens_to_the_static_balance(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    """K q = p A g; the chamber at azimuth 0 pushes the joint to -x: Δx < 0."""
    model, strands = joint
    valves = make_valves(
        strands, np.arange(3), AREA, fill_time=0.05, vent_time=0.05, highest=3e5
    )
    pressure = allocate_valve_data(valves, AFTER_FALLING)
    pressure.command[0] = 1e5
    data, tree = allocate_tree_data(model), allocate_tree_work(model)
    work = allocate_strand_work(model, strands)
    period = 2e-3
    for _ in range(5000):
        advance_pressure(valves, period, pressure)
        tree_motion(model, period, data, tree)
        add_elastic(model, period, data, tree)
        strand_geometry(model, strands, data, work)
        add_chambers(valves, pressure, work)
        add_strands(model, strands, work, tree)
        assert finish_step(model, period, data, tree) == 0
    stiffness = np.diag(model.element_stiffness[0])
    force = 1e5 * AREA
    expected = [-force * OFFSET / stiffness[0], 0.0, force / stiffness[2]]
    assert data.position == pytest.approx(expected, abs=1e-6)


def test_numbers_out_of_range_are_refused(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    with pytest.raises(ValueError, match="3 strands"):
        make_valves(joint[1], np.array([3]), AREA)
    with pytest.raises(ValueError, match="rate"):
        make_valves(joint[1], np.arange(3), AREA, rate_limit=0.0)
    with pytest.raises(ValueError, match="0 between"):
        make_valves(joint[1], np.arange(3), AREA, lowest=1.0)
