"""What the robot is known to have of each limb."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.link.schema import Schema
from app.link.sent_limbs import SentLimbs

SCHEMA = Schema(build_robot_model(load_robot("ursula")))
ALL = SCHEMA.all_limbs
STILL = np.zeros((SCHEMA.segment_start[-1], 3))


@pytest.fixture(name="sent")
def make_sent() -> SentLimbs:
    sent = SentLimbs(SCHEMA)
    sent.round_to([2e-3] * SCHEMA.limbs)
    return sent


def bent(limb: int, angle: float) -> np.ndarray:
    rows = STILL.copy()
    rows[SCHEMA.segment_start[limb], 0] = angle
    return rows


def has(sent: SentLimbs, parts: int = 1) -> list[bool]:
    return [sent.has(limb, parts) for limb in ALL]


def test_what_is_accepted_holds_until_a_limb_moves(sent: SentLimbs) -> None:
    sent.sent(7, ALL, STILL, 1)
    assert not any(has(sent))
    sent.accepted(7)
    assert all(has(sent))
    sent.sent(8, ALL, bent(1, 1e-3), 1)  # less than rounding
    assert all(has(sent))
    sent.sent(9, ALL, bent(1, 0.5), 1)
    sent.accepted(8)
    assert has(sent) == [limb != 1 for limb in ALL]
    sent.accepted(9)
    assert all(has(sent))
    np.testing.assert_array_equal(sent.coordinates, bent(1, 0.5))


def test_a_limb_in_parts_is_there_when_all_are(sent: SentLimbs) -> None:
    for number in range(1, 4):
        sent.sent(number, (2,), STILL, 3)
        assert not sent.has(2, 3)
        sent.accepted(number)
    assert has(sent, 3) == [limb == 2 for limb in ALL]
    sent.reset()
    assert not any(has(sent, 3))


def test_a_frame_of_some_limbs_tells_no_other(sent: SentLimbs) -> None:
    sent.sent(1, (0, 2), bent(1, 0.5), 1)
    sent.accepted(1)
    assert has(sent) == [limb in (0, 2) for limb in ALL]
    np.testing.assert_array_equal(sent.coordinates, STILL)
