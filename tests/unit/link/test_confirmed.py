"""What the robot has told of itself, newest first limb by limb."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.link.confirmed import Confirmed
from app.link.frame import WHOLE_ROBOT, TelemetryFrame
from app.link.schema import Schema
from app.messages import RobotState

SCHEMA = Schema(build_robot_model(load_robot("ursula")))
SEGMENTS, TENDONS = SCHEMA.segment_start[-1], SCHEMA.tendon_start[-1]


def frame(limb: int, value: float) -> TelemetryFrame:
    whole = limb == WHOLE_ROBOT
    rows = SEGMENTS if whole else SCHEMA.segments(limb)
    tendons = range(TENDONS)[slice(None) if whole else SCHEMA.tendons(limb)]
    return TelemetryFrame(
        sequence=1,
        generated_ns=0,
        robot=1,
        limb=limb,
        epoch=1,
        state=RobotState.ACTIVE,
        coordinates=np.full((rows, 3), value),
        tension=np.full(len(tendons), value),
        echo_sequence=1,
        echo_hold_ms=0.0,
        received=1,
    )


@pytest.fixture
def confirmed() -> Confirmed:
    return Confirmed(SCHEMA)


def test_the_whole_robot_is_taken_where_no_limb_is_newer(confirmed: Confirmed) -> None:
    assert confirmed.take(frame(WHOLE_ROBOT, 0.1), 5, 3) == [0, 1, 2, 3]
    assert (confirmed.coordinates == 0.1).all()
    assert (confirmed.tension == 0.1).all()
    assert confirmed.generated_ns.tolist() == [5] * 4
    assert confirmed.command_ns.tolist() == [3] * 4


def test_a_limb_that_is_known_newer_stays(confirmed: Confirmed) -> None:
    confirmed.take(frame(2, 0.2), 9)
    assert confirmed.take(frame(WHOLE_ROBOT, 0.1), 5) == [0, 1, 3]
    rows, tendons = SCHEMA.rows(2), SCHEMA.tendons(2)
    assert (confirmed.coordinates[rows] == 0.2).all()
    assert (confirmed.tension[tendons] == 0.2).all()
    assert confirmed.coordinates.sum() == pytest.approx(
        3 * (0.1 * SEGMENTS + 0.1 * SCHEMA.segments(2))
    )
    assert confirmed.generated_ns.tolist() == [5, 5, 9, 5]


def test_segments_that_the_newest_measurement_leaves_out_are_marked(
    confirmed: Confirmed,
) -> None:
    confirmed.take(frame(WHOLE_ROBOT, 0.1), 5)
    part = frame(1, 0.2)
    part.coordinates[0] = np.nan
    assert confirmed.take(part, 6) == [1]
    start = SCHEMA.rows(1).start
    marked = np.flatnonzero(confirmed.earlier).tolist()
    assert marked == [start]
    assert confirmed.coordinates[start : start + 2, 0].tolist() == [0.1, 0.2]
    confirmed.take(frame(WHOLE_ROBOT, 0.1), 7)
    assert not confirmed.earlier.any()


def test_rows_that_are_not_told_stay(confirmed: Confirmed) -> None:
    told = frame(WHOLE_ROBOT, 0.1)
    told.coordinates[SCHEMA.rows(1)] = np.nan
    assert confirmed.take(told, 5) == [0, 2, 3]
    assert (confirmed.coordinates[SCHEMA.rows(1)] == 0.0).all()
