"""An object's pose in ten bytes, there and back, and what is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import FrameError
from app.link.object_section import OBJECT_BYTES, ObjectTold, read_object, write_object

PLACE = st.floats(-4.0, 4.0)
PART = st.floats(-1.0, 1.0)
# half a step e of each of three parts; where all four are 0.5 the derived one is off by
# 3 e, and the turn by 2 sqrt(3 + 9) e
TURN = 2.0 * math.sqrt(12.0) * 0.5 * math.sqrt(2.0) / 511.0


def test_golden_bytes() -> None:
    told = ObjectTold(2, 1, (0.5, -0.25, 0.0), (1.0, 0.0, 0.0, 0.0))
    assert write_object(told).hex() == "441f47c1800010080400"


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 7), st.integers(-1, 3), PLACE, PLACE, PLACE, PART, PART, PART, PART
)
def test_round_trip(number, holder, x, y, z, a, b, c, d) -> None:
    size = math.hypot(a, b, c, d)
    turn = (1.0, 0.0, 0.0, 0.0)
    if size > 1e-3:
        turn = (a / size, b / size, c / size, d / size)
    told = ObjectTold(number, holder, (x, y, z), turn)
    content = write_object(told)
    assert len(content) == OBJECT_BYTES
    read = read_object(content, 4)
    assert (read.number, read.holder) == (number, holder)
    assert read.place == pytest.approx((x, y, z), abs=2.6e-4)
    along = abs(sum(p * q for p, q in zip(read.turn, turn, strict=True)))
    assert 2.0 * math.acos(min(along, 1.0)) < TURN
    assert math.hypot(*read.turn) == pytest.approx(1.0)


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=12))
def test_any_bytes_are_a_tame_object_or_refused(content: bytes) -> None:
    try:
        read = read_object(content, 2)
    except FrameError:
        return
    assert -1 <= read.holder < 2
    assert all(map(math.isfinite, (*read.place, *read.turn)))
    assert math.hypot(*read.turn) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "told",
    [
        ObjectTold(8, -1, (0.0, 0.0, 0.0)),
        ObjectTold(0, 8, (0.0, 0.0, 0.0)),
        ObjectTold(0, -1, (0.0, 4.2, 0.0)),
        ObjectTold(0, -1, (0.0, math.nan, 0.0)),
    ],
)
def test_what_cannot_be_told_is_refused(told: ObjectTold) -> None:
    with pytest.raises(FrameError):
        write_object(told)
