"""The verdict on a strategy before it is chosen."""

import math

import pytest

from app.config.link import link_names, load_link
from app.config.teleop import TeleopParameters
from app.teleop.feasibility import (
    Verdict,
    coast_after_release,
    feasibility_table,
    judge_all,
    judge_strategy,
)
from app.teleop.strategy import Strategy
from app.teleop.traffic import TRAFFIC, LinkFigures, figures_of, passage

_DEFAULTS = TeleopParameters()


def _figures(delay, bps, **changes):
    return LinkFigures(delay, delay, bps, bps, **changes)


@pytest.mark.parametrize(
    ("bps", "hz", "wire"),
    [(100.0, 0.5, 1.6), (1e3, 5.0, 0.16), (5e3, 25.0, 0.032), (30e3, 150.0, 0.005)],
)
def test_rate_and_serialisation_of_twenty_bytes(bps, hz, wire):
    way = passage(TRAFFIC[Strategy.POSITION_FORCE], _figures(0.1, bps), up=False)
    assert way.hz == pytest.approx(hz)
    assert way.serialisation == pytest.approx(wire, rel=0.07)
    assert way.delay == pytest.approx(0.1 + way.serialisation + 0.5 / hz)


def test_no_bilateral_strategy_fits_any_acoustic_link():
    for name in link_names():
        if not name.startswith("acoustic"):
            continue
        judged = judge_all(figures_of(load_link(name)), _DEFAULTS)
        for item in judged:
            if item.strategy.bilateral:
                assert item.verdict == Verdict.UNFIT, name


def test_all_fit_a_tether():
    judged = judge_all(figures_of(load_link("tether")), _DEFAULTS)
    assert {item.verdict for item in judged} == {Verdict.FITS}


def test_an_unstable_strategy_does_not_fit_though_its_packets_do():
    wide = _figures(0.15, 1e7)
    item = judge_strategy(Strategy.POSITION_POSITION, wide, _DEFAULTS)
    assert item.verdict == Verdict.UNFIT
    assert item.margin < 0.0
    assert item.limit == pytest.approx(0.0933, abs=1e-4)
    assert "93 ms" in item.reason
    near = judge_strategy(Strategy.POSITION_POSITION, _figures(0.04, 1e7), _DEFAULTS)
    assert near.verdict == Verdict.FITS
    assert 0.5 < near.margin < 0.6
    shaky = _figures(0.08, 1e7, jitter=0.02)
    shaken = judge_strategy(Strategy.POSITION_POSITION, shaky, _DEFAULTS)
    assert shaken.verdict == Verdict.DEGRADED


def test_passive_strategies_say_what_they_lose():
    wide = _figures(0.1, 1e7)
    waves = judge_strategy(Strategy.WAVES, wide, _DEFAULTS)
    assert waves.limit == math.inf
    assert waves.verdict == Verdict.DEGRADED
    assert waves.stiffness == pytest.approx(72.0, abs=0.5)
    ports = judge_strategy(Strategy.TWO_PORT, wide, _DEFAULTS)
    assert ports.verdict == Verdict.DEGRADED
    assert ports.stiffness == 0.0
    local = judge_strategy(Strategy.MODEL_MEDIATED, wide, _DEFAULTS)
    assert local.stiffness == 1600.0


def test_half_duplex_halves_the_rate():
    link = load_link("acoustic-hs")
    assert link.medium.duplex == "half"
    assert figures_of(link).down_bps == pytest.approx(0.5 * link.down_bps)


def test_packets_that_are_too_long_or_too_seldom_do_not_fit():
    narrow = _figures(0.1, 1e4, mtu=8)
    item = judge_strategy(Strategy.PREDICTIVE, narrow, _DEFAULTS)
    assert item.verdict == Verdict.UNFIT
    assert "22 bytes" in item.reason
    told = judge_strategy(Strategy.PREDICTIVE, narrow, _DEFAULTS, (8, 8))
    assert told.verdict == Verdict.FITS
    slow = judge_strategy(Strategy.MODEL_MEDIATED, _figures(1.0, 30.0), _DEFAULTS)
    assert slow.verdict == Verdict.UNFIT
    loose = judge_strategy(Strategy.MODEL_MEDIATED, _figures(1.0, 400.0), _DEFAULTS)
    assert loose.verdict == Verdict.DEGRADED


def test_coast_is_speed_times_round_trip_and_reaction():
    coast = coast_after_release(Strategy.MOVE_AND_WAIT, 0.05, 2.0)
    assert coast == pytest.approx(0.1125)
    assert coast_after_release(Strategy.PREDICTIVE, 0.05, 2.0) == 0.0125
    assert coast_after_release(Strategy.SUPERVISED, 0.05, 2.0) == 0.0


def test_every_row_is_in_the_table_with_a_sentence():
    judged = judge_all(figures_of(load_link("acoustic-nano")), _DEFAULTS)
    head, rows = feasibility_table(judged)
    assert len(rows) == len(Strategy)
    assert {len(row) for row in rows} == {len(head)}
    assert all(row[-1].endswith(".") for row in rows)
