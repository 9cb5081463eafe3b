"""The pacer over a plain queue that loses nothing: the worst case for lateness."""

import heapq
import math

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import link_names, load_link
from app.link.pacing import PaceBudget, Pacer, budget_for

SIZE = 25


def over_a_queue(pacer, rate_bps, base_ms, seconds, rate_after=None):
    """Send over an endless first-in-first-out queue; answers come back at once.

    Returns:
        The queue's length [ms] for every ms, and the bits sent in the second half.
    """
    free_ns, bits, queue = 0, 0, []
    answers = []
    for k in range(seconds * 1000):
        now_ns = k * NS_PER_MS
        if rate_after and k == seconds * 500:
            rate_bps = rate_after
        while answers and answers[0][0] <= now_ns:
            pacer.echo(now_ns, now_ns - heapq.heappop(answers)[1])
        limb = pacer.choose(now_ns, [0.01, 0.0, 0.0, 0.0])
        if limb >= 0:
            pacer.sent(now_ns, (limb,), SIZE)
            bits += 8 * SIZE if k >= seconds * 500 else 0
            free_ns = max(free_ns, now_ns) + round(8 * SIZE * NS_PER_S / rate_bps)
            heapq.heappush(answers, (free_ns + base_ms * NS_PER_MS, now_ns))
        queue.append(max(0, free_ns - now_ns) / NS_PER_MS)
    return queue, bits


@pytest.mark.parametrize("rate_bps", [64.0, 463.0, 5e3, 31.2e3, 1e6])
@pytest.mark.parametrize("base_ms", [10, 1300])
def test_known_rate_never_queues_more_than_one_frame(rate_bps, base_ms):
    queue, bits = over_a_queue(Pacer(4, PaceBudget(rate_bps)), rate_bps, base_ms, 60)
    frame_ms = 8e3 * SIZE / rate_bps
    assert max(queue) <= frame_ms + 1
    if rate_bps < 30e3:  # above, the limbs' own cap of 50 Hz is the limit
        assert 0.7 <= bits / 30 / rate_bps <= 0.8 + frame_ms / 3e4


@pytest.mark.parametrize("rate_bps", [463.0, 5e3, 31.2e3])
@pytest.mark.parametrize("base_ms", [10, 1300])
def test_unknown_rate_is_found_and_the_queue_stays_bounded(rate_bps, base_ms):
    queue, bits = over_a_queue(Pacer(4, PaceBudget(None)), rate_bps, base_ms, 200)
    frame_ms = 8e3 * SIZE / rate_bps
    assert max(queue) < 2 * base_ms + 10 * frame_ms + 250
    assert bits / 100 / rate_bps > 0.6


def test_a_link_that_gets_slower_than_it_should_is_noticed():
    pacer = Pacer(4, PaceBudget(31.2e3, certain=False))
    queue, _ = over_a_queue(pacer, 31.2e3, 100, 120, rate_after=8e3)
    assert max(queue[:59_000]) < 20
    assert max(queue[60_000:]) < 1000
    assert sum(queue[90_000:]) / 30_000 < 150


def test_no_answer_stops_an_uncertain_sender_but_for_probes():
    pacer = Pacer(4, PaceBudget(1e6, certain=False))
    for k in range(1000):
        if pacer.choose(k * NS_PER_MS, [0.0] * 4) >= 0:
            pacer.sent(k * NS_PER_MS, (0,), SIZE)
            pacer.echo(k * NS_PER_MS, 0)
    count = 0
    for k in range(1000, 21_000):
        limb = pacer.choose(k * NS_PER_MS, [0.0] * 4)
        if limb >= 0:
            pacer.sent(k * NS_PER_MS, (limb,), SIZE)
            count += 1
    assert 15 <= count <= 30


def test_limbs_are_capped_and_the_moving_one_is_served_most():
    pacer = Pacer(4, PaceBudget(1e9))
    counts = [0] * 4
    for k in range(2000):
        while (limb := pacer.choose(k * NS_PER_MS, [0.0] * 4)) >= 0:
            pacer.sent(k * NS_PER_MS, (limb,), SIZE)
            counts[limb] += 1
    assert all(95 <= count <= 106 for count in counts)
    assert pacer.send_hz(2 * NS_PER_S) == pytest.approx(200, rel=0.1)
    assert pacer.period_ms(0) == pytest.approx(20, abs=2)
    slow = Pacer(4, PaceBudget(8e3))  # 32 frames/s in all
    counts = [0] * 4
    moved = [0.0] * 4
    for k in range(10_000):
        moved[2] += 0.0005  # 0.5 rad/s
        limb = slow.choose(k * NS_PER_MS, moved)
        if limb >= 0:
            slow.sent(k * NS_PER_MS, (limb,), SIZE)
            moved[limb] = 0.0
            counts[limb] += 1
    assert counts[2] > 1.5 * max(counts[0], counts[1], counts[3])
    assert min(counts) > 20  # none is forgotten
    assert slow.period_ms(2) < slow.period_ms(0)


def test_no_burst_after_a_pause():
    pacer = Pacer(4, PaceBudget(1e4, limb_hz=1000))
    sent = 0
    for k in range(60_000, 61_000):
        while (limb := pacer.choose(k * NS_PER_MS, [0.0] * 4)) >= 0:
            pacer.sent(k * NS_PER_MS, (limb,), SIZE)
            sent += 1
    assert sent <= 41  # 0.8 * 10 kbit/s / 200 bit, and the first


def test_configure_starts_afresh():
    pacer = Pacer(4, PaceBudget(64.0))
    pacer.sent(0, (pacer.choose(0, [0.0] * 4),), SIZE)
    assert not pacer.ready(NS_PER_S)
    pacer.configure(PaceBudget(1e6))
    assert pacer.ready(NS_PER_S)


@pytest.mark.parametrize("name", link_names())
def test_both_budgets_fit_the_link(name):
    link = load_link(name)
    down, up = budget_for(link, up=False), budget_for(link, up=True)
    used = [8 * budget.bytes_per_s() for budget in (down, up)]
    total = sum(used) if link.medium.duplex == "half" else max(used)
    use = 1.0 if link.medium.duplex == "tdd" else 0.8
    assert total <= use * link.down_bps * 1.000001


def test_delay_that_varies_for_seconds_is_no_queue():
    # as of acoustic-hs: 50 ms each way, for 5 s; its least is 180 ms below the mean
    random = np.random.default_rng(3)
    pacer, jitter, backoffs = Pacer(1, PaceBudget(31.2e3)), 0.0, []
    kept = math.exp(-0.025 / 5.0)
    for k in range(120 * 40):
        jitter = kept * jitter + 0.07 * math.sqrt(1 - kept**2) * random.normal()
        pacer.echo(k * 25 * NS_PER_MS, round((1.27 + jitter) * NS_PER_S))
        backoffs.append(pacer.backoff)
    assert min(backoffs) > 0.2
    assert np.mean(backoffs) > 0.9


def test_limbs_told_together_count_as_told_one_by_one():
    together, apart = Pacer(4, PaceBudget(1e9)), Pacer(4, PaceBudget(1e9))
    now_ns = 0
    for gap_ms in (20, 20, 35, 21, 90, 20):
        now_ns += gap_ms * NS_PER_MS
        together.sent(now_ns, (0, 1, 2, 3), SIZE)
        apart.sent(now_ns, (2, 3), SIZE)
        apart.sent(now_ns, (0, 1), SIZE)
        assert together.soonest_ns == apart.soonest_ns > now_ns
        for limb in range(4):
            assert together.period_ms(limb) == apart.period_ms(limb)
        for ahead_ms in (18, 19, 20):
            later_ns = now_ns + ahead_ms * NS_PER_MS
            assert together.due(later_ns) == apart.due(later_ns) == (ahead_ms > 18)
            change = [0.01, 0.03, 0.02, 0.03]
            assert together.choose(later_ns, change) == apart.choose(later_ns, change)
    together.sent(now_ns + 40 * NS_PER_MS, (1,), SIZE)
    assert together.period_ms(1) > together.period_ms(0)
    assert together.choose(now_ns + 40 * NS_PER_MS, [0.0, 1.0, 0.0, 0.0]) == 0
