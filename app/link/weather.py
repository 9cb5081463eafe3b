"""What the water does to one way of the link, slot by slot of 10 ms; pure, seeded.

Everything is drawn for a slot of time, not for a packet, from the seed, the direction,
the slot and, where several packets start in one slot, their number in it. So two runs
with different packet rates meet the same blockages, losses and delays.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.clock import NS_PER_MS, NS_PER_S

__all__ = ["SLOT_NS", "Weather", "WeatherSettings"]

SLOT_NS = 10 * NS_PER_MS
_SLOT_S = SLOT_NS / NS_PER_S
_MASK = (1 << 64) - 1
_STRIDE, _STEP = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
_SLOTS = 256  # worked out at once; blocks are aligned, so that nothing depends on calls
_NORMAL = NormalDist()
_LOGNORMAL_SHAPE = 0.5
# Standard deviation of exp(shape z) and of gamma(2) with unit scale.
_LOGNORMAL_UNIT = math.exp(0.5 * _LOGNORMAL_SHAPE**2) * math.sqrt(
    math.expm1(_LOGNORMAL_SHAPE**2)
)
_GAMMA_UNIT = math.sqrt(2.0)
_SQRT_2, _SQRT_3 = math.sqrt(2.0), math.sqrt(3.0)
_BLOCK, _RESIDUAL, _JITTER, _SPIKE = range(4)


@dataclass(frozen=True)
class WeatherSettings:
    """Loss and jitter of one way.

    Attributes:
        good_s: mean time between blockages [s].
        bad_s: mean length of a blockage [s].
        residual: loss outside blockages, 0..1.
        jitter_kind: distribution, see `app.config.link.JitterParameters`.
        jitter_ms: its standard deviation [ms].
        correlation_s: time over which jitter keeps its value [s]; 0 = independent.
        spike_ms: length of a stall [ms].
        spike_per_s: stalls a second.
    """

    good_s: float
    bad_s: float
    residual: float
    jitter_kind: Literal["none", "normal", "uniform", "lognormal", "gamma"]
    jitter_ms: float
    correlation_s: float
    spike_ms: float
    spike_per_s: float


def _mix(value: int) -> int:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014)."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def _mix_all(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """`_mix` of each, in arithmetic that wraps."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _gamma_quantile(probability: float) -> float:
    """Quantile of gamma with shape 2, unit scale, by Newton from its mode."""
    x = 1.0
    for _ in range(50):
        step = (1.0 - (1.0 + x) * math.exp(-x) - probability) / (x * math.exp(-x))
        x = max(x - step, 0.1 * x)
        if abs(step) < 1e-9 * (1.0 + x):
            break
    return x


def _cumulative(z: float) -> float:
    """Probability that a standard normal deviate is below z."""
    return 0.5 * (1.0 + math.erf(z / _SQRT_2))


def _uniform_ms(jitter_ms: float, z: float) -> float:
    return jitter_ms * _SQRT_3 * (2.0 * _cumulative(z) - 1.0)


def _lognormal_ms(jitter_ms: float, z: float) -> float:
    return jitter_ms / _LOGNORMAL_UNIT * math.exp(_LOGNORMAL_SHAPE * z)


def _gamma_ms(jitter_ms: float, z: float) -> float:
    return jitter_ms / _GAMMA_UNIT * _gamma_quantile(_cumulative(z))


_JITTERS: dict[str, Callable[[float, float], float]] = {
    "normal": operator.mul,
    "uniform": _uniform_ms,
    "lognormal": _lognormal_ms,
    "gamma": _gamma_ms,
}
"""By kind: the jitter [ms] of a standard deviation [ms] for a normal deviate."""


class _Draws(dict[int, list[float]]):
    """What a block of slots draws in (0, 1), as number 0 of each slot, by purpose.

    Drawn when it is first asked for.
    """

    def __init__(self, key: int, first: int) -> None:
        super().__init__()
        self._key, self._first = key, first

    def __missing__(self, purpose: int) -> list[float]:
        slots = np.arange(self._first, self._first + _SLOTS, dtype=np.uint64)
        values = _mix_all(np.uint64(self._key) + slots * np.uint64(_STRIDE))
        values = _mix_all(values + np.uint64(purpose * _STEP & _MASK))
        values >>= np.uint64(11)
        drawn = (values.astype(np.float64) + 0.5) / (1 << 53)
        shares: list[float] = drawn.tolist()
        self[purpose] = shares
        return shares


class _Block:
    """What one block of slots draws, and what follows for each of its slots."""

    def __init__(self, key: int, first: int) -> None:
        """Begin at slot `first`; nothing is drawn until it is needed."""
        self.first = first
        self.blocked = [False] * _SLOTS
        self.deviates = [0.0] * _SLOTS
        self.stalls_ns = [0] * _SLOTS
        self.draws = _Draws(key, first)


class Weather:
    """State of one way: blocked or not, jitter, stalls."""

    def __init__(self, settings: WeatherSettings, seed: int, direction: int) -> None:
        """Start at slot 0, blocked as often as the long run is."""
        self._key = _mix((seed * _STRIDE + direction + 1) & _MASK)
        self._slot = 0
        self._in_slot = 0
        self._block = block = _Block(self._key, 0)
        self._apply(settings)
        block.blocked[0] = block.draws[_BLOCK][0] < self._blocked_share
        block.deviates[0] = _NORMAL.inv_cdf(block.draws[_JITTER][0])
        self._fill(1, block.blocked[0], block.deviates[0], 0)

    def apply(self, settings: WeatherSettings) -> None:
        """Take up other settings; they decide from the next slot on."""
        self._apply(settings)
        block, at = self._block, self._slot - self._block.first
        self._fill(at + 1, block.blocked[at], block.deviates[at], block.stalls_ns[at])

    def _apply(self, settings: WeatherSettings) -> None:
        self._settings = settings
        self._jitter = _JITTERS.get(settings.jitter_kind)  # None: there is none
        if settings.jitter_ms <= 0.0:
            self._jitter = None
        good, bad = settings.good_s, settings.bad_s
        self._blocked_share = bad / (good + bad)
        # Exact transition of the continuous-time chain over a slot.
        settled = -math.expm1(-_SLOT_S * (1.0 / good + 1.0 / bad)) if bad else 1.0
        self._to_blocked = self._blocked_share * settled
        self._to_open = (1.0 - self._blocked_share) * settled
        self._keep = (
            math.exp(-_SLOT_S / settings.correlation_s)
            if settings.correlation_s > 0.0
            else 0.0
        )

    def _again(self, purpose: int, number: int) -> float:
        """Draw in (0, 1) for the present slot, as a later number than 0."""
        value = _mix((self._key + self._slot * _STRIDE) & _MASK)
        value = _mix((value + (number << 3 | purpose) * _STEP) & _MASK)
        return ((value >> 11) + 0.5) / (1 << 53)

    def _fill(self, start: int, blocked: bool, deviate: float, until_ns: int) -> None:
        """Work out the block's slots from `start` on, from the state before it."""
        block, settings = self._block, self._settings
        rest = range(start, _SLOTS)
        if settings.bad_s > 0.0:
            draws, stays = block.draws[_BLOCK], 1.0 - self._to_open
            if not blocked and min(draws[start:], default=1.0) >= self._to_blocked:
                block.blocked[start:] = [False] * len(rest)  # so it is mostly
            else:
                for k in rest:
                    blocked = draws[k] < (stays if blocked else self._to_blocked)
                    block.blocked[k] = blocked
        else:
            block.blocked[start:] = [False] * len(rest)
        block.deviates[start:] = [deviate] * len(rest)
        if self._keep > 0.0:
            draws, fresh = block.draws[_JITTER], math.sqrt(1.0 - self._keep**2)
            for k in rest:
                deviate = self._keep * deviate + fresh * _NORMAL.inv_cdf(draws[k])
                block.deviates[k] = deviate
        block.stalls_ns[start:] = [until_ns] * len(rest)
        if settings.spike_per_s > 0.0:
            draws = block.draws[_SPIKE]
            chance = -math.expm1(-settings.spike_per_s * _SLOT_S)
            length_ns = round(settings.spike_ms * NS_PER_MS)
            for k in rest:
                if draws[k] < chance:
                    until_ns = (block.first + k) * SLOT_NS + length_ns
                block.stalls_ns[k] = until_ns

    def advance(self, time_ns: int) -> int:
        """Step to the slot of a time [ns] since the channel's start.

        Returns:
            Its place in the block.
        """
        slot, first = time_ns // SLOT_NS, self._block.first
        if slot > self._slot:
            while slot >= first + _SLOTS:
                last = self._block
                first += _SLOTS
                self._block = _Block(self._key, first)
                self._fill(0, last.blocked[-1], last.deviates[-1], last.stalls_ns[-1])
            self._slot, self._in_slot = slot, 0
        return self._slot - first

    def is_blocked(self, time_ns: int) -> bool:
        """Whether nothing passes at a time [ns], not before the last one."""
        at = self.advance(time_ns)
        return self._block.blocked[at]

    def draw(self, time_ns: int, residual: float) -> tuple[str, float]:
        """Decide on a packet that starts now.

        Args:
            time_ns: time since the channel's start [ns], not before the last one.
            residual: share lost outside blockages, 0..1.

        Returns:
            "" or the loss ("lost-burst", "lost-residual"), and the deviation from
            the mean delay [ms]; that of `normal` and `uniform` may be negative.
        """
        at = self.advance(time_ns)
        block, number = self._block, self._in_slot
        self._in_slot = number + 1
        deviation_ms = 0.0
        if self._jitter is not None:
            z = block.deviates[at]
            if self._keep == 0.0:
                z = _NORMAL.inv_cdf(
                    self._again(_JITTER, number) if number else block.draws[_JITTER][at]
                )
            deviation_ms = self._jitter(self._settings.jitter_ms, z)
        stalled_ns = block.stalls_ns[at]
        if stalled_ns > time_ns:
            deviation_ms += (stalled_ns - time_ns) / NS_PER_MS
        if block.blocked[at]:
            return "lost-burst", deviation_ms
        if residual > 0.0:
            draws = block.draws[_RESIDUAL]
            drawn = self._again(_RESIDUAL, number) if number else draws[at]
            if drawn < residual:
                return "lost-residual", deviation_ms
        return "", deviation_ms
