"""What was wanted is found again by its time, however it was added."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.control.mailbox import Layout
from app.control.wanted import WantedHistory
from app.messages import StationMode, StationState, state_shapes
from models.tip import limb_tip

MS = 1_000_000


@pytest.fixture(scope="module")
def model():
    return build_robot_model(load_robot("ursula"))


def states(model, count, *, idle=()):
    """(count, words) states 2 ms apart, that say of themselves which they are."""
    layout = Layout(StationState, state_shapes(model))
    rows = np.zeros((count, layout.words), dtype=np.int64)
    for number, row in enumerate(rows):
        state = layout.view(row)
        state.time_ns[0] = 2 * MS * (number + 1)
        state.mode[0] = StationMode.ARMED
        state.active_source[0] = -1 if number in idle else 1
        state.selected_limb[0] = number % 3
        state.target_position[:] = number
        state.tip_commanded[:] = -number
    return layout, rows


def found(model, history, time_ns, limb=-1):
    return history.compare(limb, time_ns, time_ns, model.rest_coordinates)


def apart(model, number):
    """How far the tip is from what the state of that number wants."""
    tip = limb_tip(model, number % 3, model.rest_coordinates)
    return pytest.approx([np.linalg.norm(tip - number), np.linalg.norm(tip + number)])


def test_one_by_one_and_many_at_once_are_the_same(model):
    layout, rows = states(model, 50, idle={7})
    single, many = WantedHistory(model), WantedHistory(model)
    for row in rows:
        single.add(layout.view(row))
    for part in (rows[:1], rows[1:1], rows[1:31], rows[31:]):
        many.add_rows(part)
    for time_ns in range(0, 120 * MS, MS // 2):
        assert found(model, many, time_ns) == found(model, single, time_ns)
    assert many.newest_ns == single.newest_ns == 100 * MS


def test_the_newest_that_is_not_after_a_time_counts(model):
    history = WantedHistory(model)
    assert found(model, history, 10**12) == []
    _, rows = states(model, 50, idle={7})
    history.add_rows(rows)
    assert found(model, history, 2 * MS - 1) == []
    assert found(model, history, 2 * MS) == apart(model, 0)
    assert found(model, history, 12 * MS - 1) == apart(model, 4)
    assert found(model, history, 12 * MS - 1, limb=1) == apart(model, 4)
    assert found(model, history, 12 * MS - 1, limb=2) == []  # another was driven
    assert found(model, history, 16 * MS) == []  # nobody drove
    assert found(model, history, 10**12) == apart(model, 49)


def test_a_command_that_is_not_remembered_is_not_compared(model):
    history = WantedHistory(model)
    _, rows = states(model, 50, idle={7})
    history.add_rows(rows)
    rest = model.rest_coordinates
    for then_ns in (MS, 16 * MS):
        assert len(history.compare(-1, 12 * MS, then_ns, rest)) == 1
    both = history.compare(-1, 12 * MS, 20 * MS, rest)
    tip = limb_tip(model, 2, rest)  # of the limb that was driven when it was so
    assert both == pytest.approx([np.linalg.norm(tip - 5), np.linalg.norm(tip + 9)])


def test_it_reaches_sixteen_seconds_back(model):
    history = WantedHistory(model)
    _, rows = states(model, 9000)
    for first in range(0, 9000, 700):
        history.add_rows(rows[first : first + 700])
    assert found(model, history, 2 * MS * 9000) == apart(model, 8999)
    oldest = 9000 - 8192
    assert found(model, history, 2 * MS * (oldest + 1)) == apart(model, oldest)
    assert found(model, history, 2 * MS * oldest) == []


def test_states_too_close_together_are_left_out(model):
    layout, rows = states(model, 3)
    rows[1, 0] = rows[0, 0] + MS
    history = WantedHistory(model)
    for row in rows:
        history.add(layout.view(row))
    assert found(model, history, int(rows[1, 0])) == apart(model, 0)
    assert found(model, history, int(rows[2, 0])) == apart(model, 2)
