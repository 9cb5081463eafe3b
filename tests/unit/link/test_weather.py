"""The water, slot by slot: its laws, and that it does not depend on who asks when."""

from dataclasses import replace

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import link_names, load_link
from app.link.settings import ChannelSettings
from app.link.weather import SLOT_NS, Weather

RESIDUAL = 0.02


def weather(name, seed=3, **changes):
    settings = ChannelSettings.of(load_link(name)).weather
    return Weather(replace(settings, **changes), seed, 0)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("lognormal", "tether"),
        ("uniform", "optical-lab"),
        ("normal", "acoustic-nano"),
        ("gamma", "wifi-buoy"),
    ],
)
def test_jitter_has_its_standard_deviation(kind, name):
    jitter = load_link(name).jitter
    assert jitter.kind == kind
    water = weather(name, spike_per_s=0.0)
    draws = np.array([water.draw(k * SLOT_NS, 0.0)[1] for k in range(20_000)])
    # Of 2e4 the deviation is known to 0.5 % if normal, 1.1 % if gamma or lognormal.
    assert draws.std() == pytest.approx(jitter.deviation_ms, rel=0.035)
    if kind in {"normal", "uniform"}:
        assert abs(draws.mean()) < 0.03 * jitter.deviation_ms
    else:
        assert draws.min() >= 0.0


@pytest.mark.parametrize("name", link_names())
def test_strategies_of_different_rates_meet_the_same_water(name):
    """Asked once a slot, three times, now and then, and after a long rest."""
    slots = 3000
    every = weather(name)
    first = [every.draw(k * SLOT_NS, RESIDUAL) for k in range(slots)]
    often = weather(name)
    asked = [
        [often.draw(k * SLOT_NS + part * 3 * NS_PER_MS, RESIDUAL) for part in range(3)]
        for k in range(slots)
    ]
    for k, (draw, others) in enumerate(zip(first, asked, strict=True)):
        assert others[0] == draw, k
        blocked = {loss == "lost-burst" for loss, _ in others}
        assert blocked == {draw[0] == "lost-burst"}, k
    seldom = weather(name)
    for k in range(0, slots, 7):
        assert seldom.draw(k * SLOT_NS, RESIDUAL) == first[k]
    rested = weather(name)
    assert rested.draw((slots - 1) * SLOT_NS, RESIDUAL) == first[-1]


def test_the_two_ways_have_weather_of_their_own():
    settings = ChannelSettings.of(load_link("optical-turbid")).weather
    ways = [Weather(settings, 3, way) for way in (0, 1)]
    blocked = np.array(
        [[way.is_blocked(k * SLOT_NS) for k in range(100_000)] for way in ways]
    )
    assert abs(np.corrcoef(blocked)[0, 1]) < 0.3


def test_other_settings_decide_from_the_next_slot_on():
    settings = ChannelSettings.of(load_link("acoustic-hs")).weather
    water = Weather(settings, 3, 0)
    water.advance(10 * NS_PER_S)
    water.apply(replace(settings, good_s=1e-9, bad_s=1e6))
    assert water.is_blocked(10 * NS_PER_S + SLOT_NS)
    water.apply(replace(settings, bad_s=0.0))
    assert not water.is_blocked(10 * NS_PER_S + 2 * SLOT_NS)
    # What holds the mean of jitter goes on where it was.
    water.apply(settings)
    same = Weather(settings, 3, 0)
    time_ns = 12 * NS_PER_S
    assert water.draw(time_ns, 0.0)[1] == same.draw(time_ns, 0.0)[1]


def test_a_change_in_mid_block_keeps_the_jitter_between_slots_small():
    settings = ChannelSettings.of(load_link("acoustic-hs")).weather
    water = Weather(settings, 5, 0)
    before = water.draw(1_230 * NS_PER_MS, 0.0)[1]
    water.apply(replace(settings, residual=0.5))
    after = water.draw(1_240 * NS_PER_MS, 0.0)[1]
    assert abs(after - before) < 5 * settings.jitter_ms * (2 * 0.01 / 5.0) ** 0.5
