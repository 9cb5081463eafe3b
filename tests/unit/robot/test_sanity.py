"""Which readings are believed. Times in ns, values in a channel's unit."""

import numpy as np

from app.clock import NS_PER_MS
from app.robot.sanity import Doubt, SensorSanity

STEP_NS = 10 * NS_PER_MS


def sensor() -> SensorSanity:
    return SensorSanity(np.array([0.0]), np.array([100.0]), np.array([200.0]))


def feed(sanity, values, asked=None, start=0):
    """Readings 10 ms apart; the last believed value and doubt."""
    believed = np.array([np.nan])
    for k, value in enumerate(values):
        want = np.nan if asked is None else asked[k]
        believed, _ = sanity.judge(
            (start + k) * STEP_NS, np.array([value]), np.array([want])
        )
    return believed[0], Doubt(sanity.doubt[0])


def test_a_steady_reading_is_believed() -> None:
    assert feed(sensor(), [10.0, 11.0, 12.0]) == (12.0, Doubt.NONE)


def test_nan_range_and_jump_are_not() -> None:
    for bad, doubt in (
        (np.nan, Doubt.MISSING),
        (np.inf, Doubt.MISSING),
        (101.0, Doubt.RANGE),
        (-1.0, Doubt.RANGE),
        (20.0, Doubt.JUMP),
    ):
        value, why = feed(sensor(), [10.0, 10.1, bad])
        assert np.isnan(value)
        assert why is doubt


def test_trust_returns_after_five_good_readings() -> None:
    sanity = sensor()
    feed(sanity, [10.0, 10.1, np.nan])
    value, why = feed(sanity, [10.2, 10.3, 10.2, 10.3], start=3)
    assert np.isnan(value)
    assert why is Doubt.MISSING
    assert feed(sanity, [10.25], start=7) == (10.25, Doubt.NONE)


def test_frozen_only_while_driven() -> None:
    still = [10.0] * 300
    assert feed(sensor(), still)[1] is Doubt.NONE
    assert feed(sensor(), still, asked=[10.0] * 300)[1] is Doubt.NONE
    driven = [10.0] * 10 + [60.0] * 290
    assert feed(sensor(), still, asked=driven)[1] is Doubt.FROZEN
    noisy = [10.0 + 0.01 * (k % 2) for k in range(300)]
    assert feed(sensor(), noisy, asked=driven)[1] is Doubt.NONE


def test_frozen_stays_so_while_it_reads_the_same_and_no_longer() -> None:
    sanity = sensor()
    asked = [10.0] * 10 + [60.0] * 290
    assert feed(sanity, [10.0] * 300, asked=asked)[1] is Doubt.FROZEN
    # let go, nothing is asked: five good readings of the same are no proof
    assert feed(sanity, [10.0] * 20, start=300)[1] is Doubt.FROZEN
    # it has moved, and then rests
    assert feed(sanity, [10.5] * 6, start=320) == (10.5, Doubt.NONE)


def test_a_person_may_say_that_a_sensor_is_mended() -> None:
    sanity = sensor()
    asked = [10.0] * 10 + [60.0] * 290
    feed(sanity, [10.0] * 300, asked=asked)
    sanity.forget()
    assert feed(sanity, [10.0], start=300) == (10.0, Doubt.NONE)


def test_only_changes_are_told() -> None:
    sanity = sensor()
    sanity.judge(0, np.array([10.0]), np.array([np.nan]))
    _, changed = sanity.judge(STEP_NS, np.array([np.nan]), np.array([np.nan]))
    assert list(changed) == [0]
    _, changed = sanity.judge(2 * STEP_NS, np.array([np.nan]), np.array([np.nan]))
    assert not len(changed)
