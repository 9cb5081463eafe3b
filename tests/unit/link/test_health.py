"""Meters against sequences whose answer is known."""

import math

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.link.health import AgeMeter, ClockOffset, CountLoss, RateMeter, SequenceLoss


def test_loss_from_gaps_is_exact_and_forgives_reordering():
    meter = SequenceLoss()
    heard = [k for k in range(1000) if k % 4 != 3]
    heard[10], heard[11] = heard[11], heard[10]
    for k, number in enumerate(heard):
        meter.note(k * NS_PER_MS, number)
    assert meter.loss(NS_PER_S) == pytest.approx(0.25, abs=0.003)
    assert meter.heard_total == len(heard)
    meter.note(NS_PER_S, 10**6)  # a restarted sender is no loss
    assert meter.loss(NS_PER_S) == pytest.approx(0.25, abs=0.003)


def test_loss_window_moves_on_and_duplicates_do_not_count():
    meter = SequenceLoss(window_ns=NS_PER_S)
    for k in range(100):
        meter.note(k * 10 * NS_PER_MS, 2 * k)
    assert meter.loss(NS_PER_S) == pytest.approx(0.5, abs=0.02)
    for k in range(200):
        meter.note(NS_PER_S + k * 10 * NS_PER_MS, 198 + k)
        meter.note(NS_PER_S + k * 10 * NS_PER_MS, 198 + k)
    assert meter.loss(3 * NS_PER_S) == 0.0
    assert SequenceLoss().loss(0) == 0.0


def test_loss_on_the_way_out():
    meter = CountLoss()
    rng = np.random.default_rng(1)
    received = 0
    for sequence in range(1, 2001):
        if rng.random() < 0.3:
            continue
        received += 1
        if rng.random() < 0.5:  # half of the reports are lost too
            meter.note(sequence * NS_PER_MS, sequence, received)
    assert meter.loss(2 * NS_PER_S) == pytest.approx(1 - received / 2000, abs=0.01)
    meter.note(3 * NS_PER_S, 5, 1)  # the robot began anew
    assert meter.loss(3 * NS_PER_S) >= 0.0


def test_rate():
    meter = RateMeter()
    for k in range(1000):
        meter.note(k * 10 * NS_PER_MS, 25)
    assert meter.bps(10 * NS_PER_S) == pytest.approx(20_000, rel=0.01)
    assert meter.bps(20 * NS_PER_S) == 0.0
    assert meter.bits_total == 200_000


def test_age_of_information_of_a_periodic_source():
    """Mean T + P/2 and p99 T + 0.99 P without loss; T + P(1+p)/(2(1-p)) with."""
    meter = AgeMeter()
    delay, period = 100, 40
    for k in range(500):
        meter.note((k * period + delay) * NS_PER_MS, k * period * NS_PER_MS)
    end_ns = (499 * period + delay) * NS_PER_MS
    assert meter.mean_ms(end_ns) == pytest.approx(delay + period / 2, abs=0.01)
    assert meter.percentile_ms(end_ns, 99) == pytest.approx(
        delay + 0.99 * period, abs=1.1
    )
    assert meter.percentile_ms(end_ns, 50) == pytest.approx(
        delay + 0.5 * period, abs=1.1
    )
    assert meter.age_ms(end_ns + 7 * NS_PER_MS) == delay + 7
    lossy, rng, loss = AgeMeter(), np.random.default_rng(2), 0.3
    for k in range(40_000):
        if rng.random() >= loss:
            lossy.note((k * period + delay) * NS_PER_MS, k * period * NS_PER_MS)
    expected = delay + period * (1 + loss) / (2 * (1 - loss))
    assert lossy.mean_ms(40_000 * period * NS_PER_MS) == pytest.approx(
        expected, rel=0.01
    )


def test_age_ignores_what_was_overtaken():
    meter = AgeMeter()
    assert math.isnan(meter.age_ms(0))
    meter.note(100, 50)
    meter.note(200, 40)
    assert meter.age_ms(50 + NS_PER_MS) == 1.0


@pytest.mark.parametrize("offset_s", [0, -0.5, 0.7, 5000, -80_000])
def test_clock_offset(offset_s):
    """Zero where it can be zero; else within half of the least round trip."""
    offset_ns = round(offset_s * NS_PER_S)
    clock, rng = ClockOffset(), np.random.default_rng(3)
    for k in range(200):
        down, up = 20 + rng.exponential(10), 20 + rng.exponential(10)
        now_ns = k * 50 * NS_PER_MS
        stamp_ns = now_ns - round(up * NS_PER_MS) + offset_ns
        if k < 50:  # no exchange yet
            clock.guess(now_ns, now_ns - stamp_ns, 20 * NS_PER_MS)
            if (k == 0 and abs(offset_s) > 10) or k == 49:
                assert abs(clock.offset_ns - offset_ns) < 50 * NS_PER_MS
            elif k == 0:
                assert clock.offset_ns == 0
            continue
        clock.note(now_ns, now_ns - stamp_ns, round((down + up) * NS_PER_MS))
    if offset_s == 0:
        assert clock.offset_ns == 0
    assert abs(clock.offset_ns - offset_ns) <= 21 * NS_PER_MS


def test_a_clock_that_was_set_is_followed():
    clock = ClockOffset()
    for k in range(20):
        shift_ns = 0 if k < 10 else -60 * NS_PER_S
        clock.note(k * NS_PER_S, 10 * NS_PER_MS - shift_ns, 20 * NS_PER_MS)
    assert clock.offset_ns == pytest.approx(-60 * NS_PER_S, abs=20 * NS_PER_MS)
