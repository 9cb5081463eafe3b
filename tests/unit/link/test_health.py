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


def test_age_ignores_what_was_overtaken():
    meter = AgeMeter()
    assert math.isnan(meter.age_ms(0))
    meter.note(50)
    meter.note(40)
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


class Water:
    """Two clocks and a link between them: what a station hears of a robot."""

    def __init__(self, *, offset_s: float, ppm: float = 0.0, seed: int = 1) -> None:
        self.clock, self.rng = ClockOffset(), np.random.default_rng(seed)
        self.offset_ns, self.ppm = round(offset_s * NS_PER_S), ppm
        self.now_ns = 10**15

    def offset_now(self) -> int:
        return self.offset_ns + round(self.ppm * 1e-6 * (self.now_ns - 10**15))

    def exchange(self, period_ms: float, down_ms: float, up_ms: float) -> int:
        """One exchange; returns how much too young the frame was dated [ns]."""
        self.now_ns += round(period_ms * NS_PER_MS)
        up_ns = round((up_ms + self.rng.exponential(up_ms / 4)) * NS_PER_MS)
        down_ns = round((down_ms + self.rng.exponential(down_ms / 4)) * NS_PER_MS)
        stamp_ns = self.now_ns - up_ns + self.offset_now()
        early_ns = self.clock.ours(self.now_ns, stamp_ns) - (self.now_ns - up_ns)
        self.clock.note(self.now_ns, self.now_ns - stamp_ns, up_ns + down_ns)
        after_ns = self.clock.ours(self.now_ns, stamp_ns) - (self.now_ns - up_ns)
        assert self.clock.ours(self.now_ns, stamp_ns) <= self.now_ns
        return max(early_ns, after_ns)

    def error_ns(self) -> int:
        return self.clock.offset_ns - self.offset_now()


@pytest.mark.parametrize("ppm", [-180, -20, 0, 50, 180])
@pytest.mark.parametrize(
    ("down_ms", "up_ms"), [(3, 3), (5, 30), (600, 600), (1200, 300)]
)
def test_the_error_is_within_the_stated_uncertainty_and_drift_is_found(
    ppm: int, down_ms: float, up_ms: float
) -> None:
    water = Water(offset_s=-4000.0, ppm=ppm)
    for k in range(4 * 300):
        water.exchange(250, down_ms, up_ms)
        bound_ns = water.clock.uncertainty_ns
        assert bound_ns is not None
        # as much again as clocks drift from one exchange to the next
        assert abs(water.error_ns()) <= bound_ns + 50_000, k
    assert water.clock.rebased == 0
    assert water.clock.uncertainty_ns <= (3 + 0.6 * (down_ms + up_ms)) * NS_PER_MS
    assert water.clock.drift_ppm == pytest.approx(ppm, abs=2 + 0.1 * (down_ms + up_ms))
    if down_ms == up_ms:
        assert abs(water.error_ns()) < 0.2 * down_ms * NS_PER_MS


@pytest.mark.parametrize("step_s", [3600, -3600, 5, -5])
@pytest.mark.parametrize("whose", ["peer", "ours"])
def test_a_clock_step_is_followed_and_nothing_looks_younger_than_it_is(
    step_s: int, whose: str
) -> None:
    water = Water(offset_s=-4000.0)
    for _ in range(200):
        water.exchange(100, 100, 100)
    if whose == "peer":
        water.offset_ns += step_s * NS_PER_S
    else:
        water.now_ns += step_s * NS_PER_S
        water.offset_ns -= step_s * NS_PER_S
    for k in range(10):
        young_ns = water.exchange(100, 100, 100)
        assert young_ns <= 110 * NS_PER_MS, k  # half the round trip
        assert water.clock.doubtful == (k < 2)
        assert (water.clock.uncertainty_ns is None) == (k < 2)
    assert water.clock.rebased == 1
    assert abs(water.error_ns()) < 100 * NS_PER_MS


def test_one_wild_frame_moves_nothing() -> None:
    water = Water(offset_s=50.0)
    for _ in range(50):
        water.exchange(100, 20, 20)
    before = water.clock.offset_ns
    water.clock.note(water.now_ns, 3600 * NS_PER_S, 40 * NS_PER_MS)
    assert water.clock.doubtful
    water.clock.note(water.now_ns, -7200 * NS_PER_S, 40 * NS_PER_MS)
    water.clock.note(water.now_ns, 1800 * NS_PER_S, 40 * NS_PER_MS)  # they disagree
    water.exchange(100, 20, 20)
    assert not water.clock.doubtful
    assert water.clock.offset_ns == pytest.approx(before, abs=NS_PER_MS)
    assert water.clock.rebased == 0


@pytest.mark.parametrize("step_s", [3600, -3600])
@pytest.mark.parametrize("silence_s", [0, 8, 120])
def test_a_robot_that_refuses_us_for_the_time_of_our_stamps_is_found_again(
    step_s: int, silence_s: int
) -> None:
    """It answers nothing new, so the round trip of its last answer only grows."""
    water, up_ms = Water(offset_s=70.0), 50
    for _ in range(50):
        water.exchange(100, up_ms, up_ms)
    sent_ns = water.now_ns
    water.offset_ns += step_s * NS_PER_S
    water.now_ns += silence_s * NS_PER_S
    for _ in range(40):
        water.now_ns += 100 * NS_PER_MS
        stamp_ns = water.now_ns - up_ms * NS_PER_MS + water.offset_now()
        hold_ns = max(0, stamp_ns - (sent_ns + 70 * NS_PER_S))  # cannot be negative
        rtt_ns = max(0, water.now_ns - sent_ns - hold_ns)
        water.clock.note(water.now_ns, water.now_ns - stamp_ns, rtt_ns)
    assert water.clock.rebased == 1
    # stamps of ours that are on time look neither from the future nor much too old
    assert -2 * up_ms * NS_PER_MS < water.error_ns() < NS_PER_MS


@pytest.mark.parametrize("uptime_s", [5.0, 9e5])
def test_a_robot_that_began_anew_and_knows_us_not_is_found_again(
    uptime_s: float,
) -> None:
    water = Water(offset_s=-4000.0)
    for _ in range(50):
        water.exchange(100, 50, 50)
    water.offset_ns = -water.now_ns + round(uptime_s * NS_PER_S)
    for _ in range(4):
        water.now_ns += 100 * NS_PER_MS
        stamp_ns = water.now_ns - 50 * NS_PER_MS + water.offset_now()
        water.clock.guess(water.now_ns, water.now_ns - stamp_ns, 50 * NS_PER_MS)
        age_ns = water.now_ns - water.clock.ours(water.now_ns, stamp_ns)
        assert age_ns >= 50 * NS_PER_MS
    assert abs(water.error_ns()) < NS_PER_MS
