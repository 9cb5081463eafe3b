"""Limbs at rest are left alone: nobody can tell, and anything wakes them."""

import numpy as np
import pytest

from models.numerics import FloatArray
from models.robot import RobotData, allocate_robot_data
from models.rod import reset_robot_data, robot_step
from models.workspace import RodWork, allocate_rod_work
from tests.unit.models.touching import PALPATION, PERIOD, URSULA, Touching

ARM = slice(*URSULA.limb_segment_start[PALPATION : PALPATION + 2])
CABLES = slice(*URSULA.limb_tendon_start[PALPATION : PALPATION + 2])
AT_REST = 7000  # steps after which limbs that begin at rest are left alone


def robot(*, rests: bool) -> tuple[RobotData, RodWork, FloatArray]:
    data, work = allocate_robot_data(URSULA), allocate_rod_work(URSULA, rests=rests)
    assert reset_robot_data(URSULA, URSULA.rest_coordinates, work, data) == 0
    return data, work, data.servo_length.copy()


def advance(
    data: RobotData, work: RodWork, winch: FloatArray, steps: int = AT_REST
) -> None:
    for _ in range(steps):
        assert robot_step(URSULA, PERIOD, winch, data, work) == 0


def resting(data: RobotData) -> list[bool]:
    """Of each limb, whether it is left alone."""
    return [bool(data.tree.resting[k]) for k in URSULA.limb_segment_start[:-1]]


def test_limbs_rest_only_where_that_is_allowed() -> None:
    data, work, winch = robot(rests=False)
    advance(data, work, winch)
    assert not any(resting(data))


def test_a_limb_that_moves_is_computed_to_the_bit_beside_limbs_at_rest() -> None:
    data, work, winch = robot(rests=True)
    all_data, all_work, _ = robot(rests=False)
    for k in range(AT_REST // 350):
        winch[CABLES] += 1e-3 * np.sin(k + np.arange(8))
        advance(data, work, winch, 350)
        advance(all_data, all_work, winch, 350)
    assert resting(data) == [True, False, True, True]
    for name in ("coordinates", "rates", "tension", "servo_length"):
        told, full = getattr(data, name), getattr(all_data, name)
        own = ARM if len(told) == len(data.coordinates) else CABLES
        np.testing.assert_array_equal(told[own], full[own], err_msg=name)


def test_a_limb_comes_to_rest_next_to_where_it_would_have_swung_to() -> None:
    data, work, winch = robot(rests=True)
    all_data, all_work, _ = robot(rests=False)
    advance(data, work, winch, 10_000)
    advance(all_data, all_work, winch, 10_000)
    assert all(resting(data))
    assert np.abs(data.rates).max() == 0.0
    assert np.abs(data.coordinates - all_data.coordinates).max() < 3e-5


@pytest.mark.parametrize("cause", ["winch", "wrench", "pose", "rate", "servo", "fault"])
def test_whatever_is_changed_wakes_the_limb_in_that_step(cause: str) -> None:
    data, work, winch = robot(rests=True)
    advance(data, work, winch)
    assert all(resting(data))
    first, cable = ARM.start, CABLES.start
    if cause == "winch":
        winch[cable] -= 1e-3
    elif cause == "wrench":
        data.tip_wrench[PALPATION, 3] = 0.01
    elif cause == "pose":
        data.coordinates[first, 0] += 1e-6
    elif cause == "rate":
        data.rates[first, 1] = 1e-3
    elif cause == "servo":
        data.servo_length[cable] += 1e-4
    else:
        winch[cable] = np.nan
    before = data.coordinates.copy()
    frozen = robot_step(URSULA, PERIOD, winch, data, work)
    assert resting(data) == [True, False, True, True]
    if cause == "fault":
        assert frozen == 1
        return
    assert np.abs(data.rates[ARM]).max() > 0.0
    np.testing.assert_array_equal(data.coordinates[:first], before[:first])


def test_winches_that_creep_do_not_leave_a_limb_behind() -> None:
    data, work, winch = robot(rests=True)
    advance(data, work, winch)
    for _ in range(400):
        winch[CABLES] -= 5e-9  # each step too small to be a change
        advance(data, work, winch, 1)
    assert np.abs(winch[CABLES] - data.servo_length[CABLES]).max() < 1e-6


def test_what_comes_to_touch_a_limb_wakes_it() -> None:
    rest = Touching(still=True)
    rest.step()
    tip = rest.tip()
    along = tip[:3, 2]
    ball = np.eye(4)
    ball[:3, 3] = tip[:3, 3] + 0.1 * along
    case = Touching([("sphere", ball, [0.03])], still=True)
    case.work.rest.allowed[0] = 1
    case.step(AT_REST)
    assert all(resting(case.data))
    case.world.contacts.obstacle.pose[0, :3, 3] -= 0.065 * along
    case.step()
    assert resting(case.data) == [True, False, True, True]
    case.step(20)
    assert (case.tip()[:3, 3] - tip[:3, 3]) @ along < -1e-4
