"""What was wanted is found again by its time, however it was added."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.control.mailbox import Layout
from app.control.wanted import WantedHistory
from app.messages import StationMode, StationState, state_shapes

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


def found(history, time_ns):
    wanted = history.at(time_ns)
    if wanted is None:
        return None
    return wanted.limb, wanted.targets[2, 1], wanted.commands[3, 0]


def test_one_by_one_and_many_at_once_are_the_same(model):
    layout, rows = states(model, 50, idle={7})
    single, many = WantedHistory(model), WantedHistory(model)
    for row in rows:
        single.add(layout.view(row))
    for part in (rows[:1], rows[1:1], rows[1:31], rows[31:]):
        many.add_rows(part)
    for time_ns in range(0, 120 * MS, MS // 2):
        assert found(many, time_ns) == found(single, time_ns)
    assert many.newest_ns == single.newest_ns == 100 * MS


def test_the_newest_that_is_not_after_a_time_counts(model):
    history = WantedHistory(model)
    assert history.at(10**12) is None
    _, rows = states(model, 50, idle={7})
    history.add_rows(rows)
    assert found(history, 2 * MS - 1) is None
    assert found(history, 2 * MS) == (0, 0.0, 0.0)
    assert found(history, 12 * MS - 1) == (1, 4.0, -4.0)
    assert found(history, 16 * MS) is None  # nobody drove
    assert found(history, 10**12) == (1, 49.0, -49.0)


def test_it_reaches_sixteen_seconds_back(model):
    history = WantedHistory(model)
    _, rows = states(model, 9000)
    for first in range(0, 9000, 700):
        history.add_rows(rows[first : first + 700])
    assert found(history, 2 * MS * 9000) == (2, 8999.0, -8999.0)
    oldest = 9000 - 8192
    assert found(history, 2 * MS * (oldest + 1)) == (oldest % 3, oldest, -oldest)
    assert found(history, 2 * MS * oldest) is None


def test_states_too_close_together_are_left_out(model):
    layout, rows = states(model, 3)
    rows[1, 0] = rows[0, 0] + MS
    history = WantedHistory(model)
    for row in rows:
        history.add(layout.view(row))
    assert found(history, rows[1, 0]) == (0, 0.0, 0.0)
    assert found(history, rows[2, 0]) == (2, 2.0, -2.0)
