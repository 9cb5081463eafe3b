"""From the waves that were heard to the one that is passed on, though some are missing.

Each teller gives its wave and the wave's integral over time. What came since the one
before is known exactly then, and the least energy that it can have carried is half the
square of its mean times its time (Cauchy and Schwarz). What is passed on:

    null       the wave where one came, else 0: passive, but position is lost
    hold       the last wave, within the energy heard, E_0 and the lent dissipation
    integral   what the integral has gained, spread over the longest recent time between
               two that came, and longer where the energy heard asks for it: passive,
               and no position is lost

Ours; that lost waves need a reconstruction within the energy heard is shown by Chopra,
Berestesky and Spong 2008.
"""

import numpy as np

from app.teleop.gains import Gains
from app.teleop.halves import WaveData
from app.teleop.passivity import power
from app.teleop.signals import Signal
from app.teleop.strategy import WaveLoss
from models.numerics import kernel

__all__ = ["decode_wave", "reset_wave"]

_NULL = int(WaveLoss.NULL)
_HOLD = int(WaveLoss.HOLD)
_FORGET = 2.0  # in which the longest recent time is forgotten [s]
_LONGEST = 2000.0  # [ticks]


@kernel
def reset_wave(wave_out: WaveData) -> None:
    """Begin a pair of waves with nothing on its way."""
    for i in range(3):
        wave_out.sent[i] = 0.0
        wave_out.heard[i] = 0.0
        wave_out.passed[i] = 0.0
        wave_out.pending[i] = 0.0
    wave_out.heard_ns[0] = 0
    wave_out.reserve[0] = 0.0
    wave_out.spread[0] = 1.0
    wave_out.gap[0] = 0


@kernel
def decode_wave(
    gains: Gains, period: float, heard: Signal, credit: float, wave_out: WaveData
) -> None:
    """Set `passed` to the wave that this tick acts on.

    Args:
        gains: what is made of missing waves, and E_0.
        period: tick [s].
        heard: newest of the other half, of this engagement.
        credit: lent dissipation [J].
        wave_out: this end's state, advanced in place.
    """
    wave_out.gap[0] += 1
    came = heard.fresh[0] == 1
    if came:
        _take(period, heard, wave_out)
    mode = gains.wave_loss[0]
    if mode == _NULL or (mode == _HOLD and heard.time_ns[0] > 0):
        keep = 1.0 if came or mode == _HOLD else 0.0
        for i in range(3):
            wave_out.passed[i] = keep * heard.wave[i]
    else:
        _pace(period, wave_out)
    if mode != _NULL:
        allowed = wave_out.reserve[0]
        if mode == _HOLD:
            allowed += gains.initial_energy[0] + credit
        _keep_within(allowed, period, wave_out)


@kernel
def _take(period: float, heard: Signal, wave_out: WaveData) -> None:
    """Add what came since the last one."""
    time = period
    if wave_out.heard_ns[0] > 0:
        time = max(period, 1e-9 * (heard.time_ns[0] - wave_out.heard_ns[0]))
    square = 0.0
    for i in range(3):
        step = heard.wave[i] * period
        if wave_out.heard_ns[0] > 0:
            step = heard.wave_integral[i] - wave_out.heard[i]
        wave_out.pending[i] += step
        wave_out.heard[i] = heard.wave_integral[i]
        square += step * step
    wave_out.heard_ns[0] = heard.time_ns[0]
    wave_out.reserve[0] += 0.5 * square / time
    spread = 1.0 + (wave_out.spread[0] - 1.0) * np.exp(
        -period * wave_out.gap[0] / _FORGET
    )
    wave_out.spread[0] = min(max(1.0 * wave_out.gap[0], spread), _LONGEST)
    wave_out.gap[0] = 0


@kernel
def _pace(period: float, wave_out: WaveData) -> None:
    """Pass on a share of what is pending, slowly enough for the energy that there is.

    To pass on P at a constant rate with the energy R takes at least P^2 / 2R. At that
    rate P and R end together, so nothing is ever left behind for want of energy.
    """
    rate = 1.0 / (wave_out.spread[0] * period)
    square = power(wave_out.pending, wave_out.pending)
    if 2.0 * wave_out.reserve[0] < rate * square:
        rate = 2.0 * max(wave_out.reserve[0], 0.0) / square
    for i in range(3):
        wave_out.passed[i] = rate * wave_out.pending[i]


@kernel
def _keep_within(allowed: float, period: float, wave_out: WaveData) -> None:
    """Scale the wave down to the energy that may be passed on, and book it."""
    energy = 0.5 * power(wave_out.passed, wave_out.passed) * period
    scale = 1.0
    if energy > allowed:
        scale = np.sqrt(max(allowed, 0.0) / energy)
    for i in range(3):
        wave_out.passed[i] *= scale
        wave_out.pending[i] -= wave_out.passed[i] * period
    wave_out.reserve[0] -= scale * scale * energy
