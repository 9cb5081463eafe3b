"""Waves that are late, lost and held: position is kept, and energy never made."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.teleop import TeleopParameters, TwoPortParameters, WaveParameters
from app.teleop.gains import gains_from
from app.teleop.halves import allocate_master
from app.teleop.signals import allocate_signal
from app.teleop.wave_decoding import decode_wave

_H = 1e-3


def _pass(mode, waves, told):
    """Send waves, of which some ticks are told; what is passed on at each tick."""
    parameters = TeleopParameters(
        waves=WaveParameters(mode=mode), two_port=TwoPortParameters(textbook=True)
    )
    gains = gains_from(parameters)
    state = allocate_master().wave
    heard = allocate_signal()
    total = 0.0
    passed = []
    for k, wave in enumerate(waves):
        total += wave * _H
        heard.fresh[0] = int(told[k])
        if told[k]:
            heard.time_ns[0] = (k + 1) * 1_000_000
            heard.wave[0] = wave
            heard.wave_integral[0] = total
        decode_wave(gains, _H, heard, 0.0, state)
        passed.append(state.passed[0])
    return np.array(passed)


def _smooth(generator, size):
    phase = generator.uniform(0.0, 6.0)
    time = np.arange(size) * _H
    return np.sin(2.0 * time + phase) + 0.4 * np.sin(11.0 * time) + 0.5


@pytest.mark.parametrize("mode", ["null", "hold", "integral"])
def test_without_loss_each_wave_is_passed_on_as_it_is(mode):
    waves = _smooth(np.random.default_rng(1), 2000)
    passed = _pass(mode, waves, np.ones(waves.size, dtype=bool))
    assert passed == pytest.approx(waves, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    loss=st.floats(0.0, 0.9),
    mode=st.sampled_from(["null", "hold", "integral"]),
    rough=st.booleans(),
)
def test_never_more_energy_is_passed_on_than_was_sent(seed, loss, mode, rough):
    generator = np.random.default_rng(seed)
    waves = _smooth(generator, 1500)
    if rough:
        waves = generator.normal(size=1500)
    told = generator.random(waves.size) >= loss
    told[0] = True
    passed = _pass(mode, waves, told)
    sent = np.cumsum(waves**2)
    assert (np.cumsum(passed**2) <= sent + 1e-9).all()


@pytest.mark.parametrize("loss", [0.1, 0.5])
def test_the_integral_is_kept_where_the_others_lose_it(loss):
    generator = np.random.default_rng(3)
    waves = np.concatenate([np.full(4000, 0.3), np.zeros(2000)])
    told = generator.random(waves.size) >= loss
    told[0] = told[-1] = True
    way = waves.sum()
    assert _pass("integral", waves, told).sum() == pytest.approx(way, rel=0.01)
    assert _pass("null", waves, told).sum() < (1.0 - 0.8 * loss) * way


@pytest.mark.parametrize("ticks", [5, 20, 100])
def test_held_waves_are_passed_on_evenly_at_a_steady_level(ticks):
    waves = np.full(20 * ticks + 2000, 0.3)
    told = np.arange(waves.size) % ticks == 0
    passed = _pass("integral", waves, told)
    assert passed[-ticks:].mean() == pytest.approx(0.3, rel=0.02)
