"""A program that leads along a path by the clock."""

import numpy as np
import pytest

from app.operator.patience import Patience
from app.operator.programme import ProgrammedHand
from app.operator.submover import Submover
from app.operator.tracker import CurveTrack
from models.curve import build_curve
from tests.unit.operator.stage import Screen, act

SPEED = 0.05
CURVE = build_curve(lambda share: np.array([0.1 * share, 0.0, 0.0]))


def programme() -> ProgrammedHand:
    reacher = Submover(0, SPEED, Patience(practised=True))
    return ProgrammedHand(reacher, lambda _: CurveTrack(CURVE, 0.03))


def test_it_is_where_the_reference_is_whatever_the_screen_shows() -> None:
    hand = programme()
    act(hand, Screen(), 4.0)
    start = hand.started_ns
    assert start is not None
    far = Screen(offset=np.array([0.0, 0.05, 0.0])).show(start)
    for time_s in (2.0, 3.0):
        place = hand.step(start + round(time_s * 1e9), far).place
        np.testing.assert_allclose(place, [0.03 * time_s, 0.0, 0.0], atol=1e-6)


def test_it_comes_to_the_start_within_a_second_and_stops_at_the_end() -> None:
    hand, screen = programme(), Screen(start=np.array([0.0, 0.004, 0.0]))
    before = act(
        hand,
        screen,
        4.0,
        lambda: hand.started_ns is not None,
        np.array([0.0, 0.004, 0.0]),
    )[-1]
    start = hand.started_ns
    assert start is not None
    seen = screen.show(start)
    first = hand.step(start - 10**9 + 1, seen).place
    np.testing.assert_allclose(first, before, atol=1e-6)
    ready = hand.step(start, seen).place
    np.testing.assert_allclose(ready, CURVE.points[0], atol=5e-5)
    end = hand.step(start + 10 * 10**9, seen).place
    assert end == pytest.approx([0.1, 0.0, 0.0], abs=1e-9)
    assert "end was passed" in hand.events()[-1].text
