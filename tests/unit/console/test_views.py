"""Words, scales, histories and statistics behind the panels.

Tolerance: one step of a slider, a thousandth of its way.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock import NS_PER_MS, NS_PER_S
from app.console.frames import FrameStatistics
from app.console.link import SliderScale, age_shade
from app.console.plots import History
from app.console.resolution import AdaptiveResolution
from app.console.theme import ALARM, AMBER, TEXT
from app.console.words import bit_rate, duration_ms, latency_us, percent, reach_words

STEP = 1e-3


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0.0 ms"),
        (9.94, "9.9 ms"),
        (42.4, "42 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (12_340.0, "12.3 s"),
        (250_000.0, "250 s"),
        (float("nan"), "–"),
        (-1.0, "–"),
    ],
)
def test_durations(value: float, words: str) -> None:
    assert duration_ms(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (64.0, "64 bit/s"),
        (31_200.0, "31.2 kbit/s"),
        (600_000.0, "600 kbit/s"),
        (5e6, "5.0 Mbit/s"),
        (float("nan"), "–"),
    ],
)
def test_bit_rates(value: float, words: str) -> None:
    assert bit_rate(value) == words


def test_shares_and_latencies() -> None:
    assert percent(0.03) == "3.0 %"
    assert percent(1e-5) == "0.00 %"
    assert percent(0.001) == "0.10 %"
    assert latency_us(4.26) == "4.3 µs"
    assert latency_us(52.0) == "52 µs"
    assert latency_us(12_000.0) == "12.0 ms"


def test_the_worst_of_a_limb_is_said_first() -> None:
    assert reach_words(0, 0.0) == ("on target", 0)
    assert reach_words(0, 0.042) == ("moving, 42 mm to go", 0)
    assert reach_words(1 | 2 | 8, 0.1)[0].startswith("too far")
    assert reach_words(8, 0.1, force=1.62) == ("pressing with 1.6 N", 0)
    assert reach_words(16, 0.1, force=1.62)[0] == "bad target refused"
    assert reach_words(1 | 2, 0.1)[0] == "at bend limit"
    assert reach_words(16 | 1, 0.1)[1] == 2
    assert reach_words(0, 0.0, fault=3) == ("model frozen (fault 3): arm again", 2)


@settings(deadline=None)
@given(
    st.sampled_from(
        [
            SliderScale(0.0, 5000.0, 2.5),
            SliderScale(0.0, 0.9, 2.0),
            SliderScale(32.0, 1e8, 0.0),
        ]
    ),
    st.integers(0, 1000),
)
def test_a_slider_stays_where_its_value_puts_it(
    scale: SliderScale, position: int
) -> None:
    assert scale.low <= scale.value(position) <= scale.high * (1.0 + 1e-12)
    assert abs(scale.position(scale.value(position)) - position) <= 1


def test_values_outside_a_slider_sit_at_its_ends() -> None:
    scale = SliderScale(32.0, 1e8, 0.0)
    assert (scale.position(1.0), scale.position(1e11)) == (0, 1000)


def test_an_unknown_age_is_an_alarm() -> None:
    assert age_shade(400.0, 1000.0) == TEXT
    assert age_shade(600.0, 1000.0) == AMBER
    assert age_shade(1001.0, 1000.0) == ALARM
    assert age_shade(float("nan"), 1000.0) == ALARM


def test_frame_percentiles() -> None:
    statistics = FrameStatistics(kept=100)
    assert statistics.summary().frames == 0
    for frame in range(150):
        start = frame * 20 * NS_PER_MS
        cost = 9 if frame % 10 else 14
        statistics.add(start, start + cost * NS_PER_MS)
    summary = statistics.summary()
    assert summary.frames == 100
    assert summary.rate_hz == pytest.approx(50.0, rel=0.01)
    assert (summary.interval_p50_ms, summary.cost_p50_ms) == (20.0, 9.0)
    assert summary.cost_p99_ms == 14.0
    assert summary.interval_p99_ms == 25.0
    statistics.clear()
    assert statistics.summary().frames == 0


def test_a_history_keeps_the_newest_minute() -> None:
    history = History(("a", "b"))
    now_ns = 0
    for sample in range(700):
        now_ns = sample * 100 * NS_PER_MS
        assert history.is_due(now_ns)
        history.take(now_ns, [float(sample), np.nan])
        assert not history.is_due(now_ns + 50 * NS_PER_MS)
    before, values = history.curve("a", now_ns)
    assert values[0] == 100.0
    assert values[-1] == 699.0
    assert before[-1] == 0.0
    assert before[0] == pytest.approx(-59.9)
    assert np.isnan(history.curve("b", now_ns + NS_PER_S)[1]).all()


def _feed(resolution: AdaptiveResolution, cost_ms: float, windows: int) -> None:
    for _ in range(25 * windows):
        resolution.add(cost_ms)


def test_dear_frames_get_fewer_pixels_and_cheap_ones_keep_theirs() -> None:
    resolution = AdaptiveResolution()
    assert resolution.size(1000, 600) == (1000, 600)
    _feed(resolution, 9.0, 10)
    assert resolution.scale == 1.0
    for _ in range(12):
        _feed(resolution, 4.0 + 60.0 * resolution.scale**2, 1)
    assert resolution.scale == 0.5


def test_pixels_are_given_back_where_fewer_make_nothing_cheaper() -> None:
    resolution = AdaptiveResolution()
    _feed(resolution, 25.0, 1)
    assert resolution.scale < 1.0
    _feed(resolution, 24.9, 1)
    assert resolution.scale == 1.0
    _feed(resolution, 25.0, 20)
    assert resolution.scale == 1.0


def test_a_large_window_starts_within_a_megapixel() -> None:
    width, height = AdaptiveResolution().size(1784, 1115)
    assert width * height <= 1_000_000


def test_a_level_that_was_too_dear_is_tried_again_only_later() -> None:
    resolution = AdaptiveResolution()
    _feed(resolution, 25.0, 1)
    lower = resolution.scale
    _feed(resolution, 4.0, 30)
    assert resolution.scale == lower
    _feed(resolution, 4.0, 15)
    assert resolution.scale == 1.0
