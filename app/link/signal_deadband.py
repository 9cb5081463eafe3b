"""Perceptual deadband of what a strategy tells: a change too small to feel is not sent.

    send if |s - s^| > max(k |s^|, floor), or t_keep after the last time

s^ is what the other side makes of what it has: the last value (hold), or the line
through the last two (linear). The test is a sphere in three dimensions (Hinterseer,
Hirche, Chaudhuri, Steinbach and Buss 2008). The encoder moves on when it sends: after a
loss both sides differ until the next sending, by `t_keep` at the latest. Prediction
may generate energy: a strategy that counts energy does so behind it.

One stream a quantity; a signal of several quantities is sent when one of them must be.
"""

import math
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.link.signal_section import SignalField, SignalTold
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "FORCE_DEADBAND",
    "POSITION_DEADBAND",
    "VELOCITY_DEADBAND",
    "DeadbandModel",
    "SignalDeadband",
    "StreamData",
    "allocate_stream",
    "must_send",
    "note_sample",
    "predict",
    "sent_share",
]

_LONGEST_LINE_NS = 500_000_000


class DeadbandModel(NamedTuple):
    """The band of one quantity."""

    share: float
    """k, Weber fraction of what the other side believes."""
    floor: float
    """Least change that is sent, in the quantity's unit."""
    keep_ns: int
    """t_keep: after this a sample is sent whatever it is [ns]."""
    linear: int
    """1: the other side goes on along a line; 0: it holds."""


FORCE_DEADBAND = DeadbandModel(0.10, 0.02, 500_000_000, 0)
"""Of forces [N]."""
VELOCITY_DEADBAND = DeadbandModel(0.10, 1e-3, 500_000_000, 0)
"""Of velocities [m/s]."""
POSITION_DEADBAND = DeadbandModel(0.0, 0.5e-3, 500_000_000, 0)
"""Of positions [m]: absolute, for where the origin lies means nothing."""


class StreamData(NamedTuple):
    """What one side has of a quantity: the other's samples, or those it has sent."""

    value: FloatArray
    """(3,) the last sample."""
    slope: FloatArray
    """(3,) of the line through the last two [1/s]."""
    time_ns: IntArray
    """(1,) of the last sample [ns]."""
    samples: IntArray
    """(1,) samples so far, 2 at most."""


def allocate_stream() -> StreamData:
    """Make a stream without a sample."""
    return StreamData(
        np.zeros(3),
        np.zeros(3),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def predict(
    model: DeadbandModel, now: IntArray, data: StreamData, value_out: FloatArray
) -> None:
    """What is believed of the quantity now, from the samples so far.

    Args:
        model: the band.
        now: (1,) time of the teller [ns].
        data: the stream.
        value_out: (3,) zeros while there is no sample. A line ends after half a second.
    """
    ahead = 0.0
    if model.linear == 1:
        ahead = min(max(now[0] - data.time_ns[0], 0), _LONGEST_LINE_NS) / NS_PER_S
    for i in range(3):
        value_out[i] = data.value[i] + ahead * data.slope[i]


@kernel
def must_send(
    model: DeadbandModel, now: IntArray, value: FloatArray, data: StreamData
) -> bool:
    """Tell whether a sample leaves the band around what the other side believes.

    Args:
        model: the band.
        now: (1,) time of the sample [ns].
        value: (3,) of it.
        data: samples that were sent; not changed.
    """
    if data.samples[0] == 0 or now[0] - data.time_ns[0] >= model.keep_ns:
        return True
    ahead = 0.0
    if model.linear == 1:
        ahead = min(max(now[0] - data.time_ns[0], 0), _LONGEST_LINE_NS) / NS_PER_S
    change = 0.0
    believed = 0.0
    for i in range(3):
        expected = data.value[i] + ahead * data.slope[i]
        believed += expected * expected
        change += (value[i] - expected) ** 2
    band = max(model.share * math.sqrt(believed), model.floor)
    return bool(math.sqrt(change) > band)


@kernel
def note_sample(now: IntArray, value: FloatArray, data: StreamData) -> None:
    """Take a sample that was sent, or heard, into the stream; older ones are dropped.

    Args:
        now: (1,) time of the sample [ns].
        value: (3,) of it.
        data: the stream.
    """
    elapsed = now[0] - data.time_ns[0]
    if data.samples[0] > 0 and elapsed <= 0:
        return
    for i in range(3):
        if data.samples[0] > 0:
            data.slope[i] = (value[i] - data.value[i]) * NS_PER_S / elapsed
        data.value[i] = value[i]
    data.time_ns[0] = now[0]
    data.samples[0] = min(data.samples[0] + 1, 2)


def sent_share(model: DeadbandModel, samples: FloatArray, period_ns: int) -> float:
    """Share of the samples of a signal that the band lets through, keep-alives too.

    Only samples above the floor count, so that rest does not flatter.

    Args:
        model: the band.
        samples: (n, 3).
        period_ns: between samples [ns].
    """
    stream, now = allocate_stream(), np.zeros(1, dtype=np.int64)
    sent = active = 0
    for sample in samples:
        now[0] += period_ns
        moves = float(np.sqrt(sample @ sample)) > model.floor
        active += moves
        if must_send(model, now, sample, stream):
            note_sample(now, sample, stream)
            sent += moves
    return sent / max(active, 1)


_BANDS = (
    (SignalField.POSITION, "position", POSITION_DEADBAND),
    (SignalField.VELOCITY, "velocity", VELOCITY_DEADBAND),
    (SignalField.FORCE, "force", FORCE_DEADBAND),
)
_WHOLE = SignalField.WAVE | SignalField.INTEGRAL | SignalField.ENERGY


class SignalDeadband:
    """Tells which signals of one way need not be sent; a band for every limb.

    Waves and energies have no band of their own: an integral repairs what was left out,
    so a signal that has them is judged by its other fields where it has some, and is
    sent always where it has none.
    """

    def __init__(
        self, share: float = 0.1, keep_s: float = 0.5, *, linear: bool = False
    ) -> None:
        """Prepare.

        Args:
            share: Weber fraction k of forces and velocities; 0 = all is sent.
            keep_s: a signal goes at least so often [s].
            linear: the other side goes on along a line.
        """
        self.share = share
        self.suppressed = 0
        """Signals that were not sent for it."""
        keep_ns = round(keep_s * NS_PER_S)
        self._models = {
            name: band._replace(
                share=share if band.share > 0.0 else 0.0,
                keep_ns=keep_ns,
                linear=int(linear),
            )
            for _, name, band in _BANDS
        }
        self._streams: dict[tuple[int, str], StreamData] = {}
        self._engaged: dict[int, tuple[int, int, SignalField]] = {}
        self._now = np.zeros(1, dtype=np.int64)

    def exceeded(self, told: SignalTold, now_ns: int) -> bool:
        """Tell whether a signal must be sent, and count it where not.

        Args:
            told: the signal.
            now_ns: its time [ns].
        """
        must = self._must(told, now_ns)
        self.suppressed += not must
        return must

    def sent(self, told: SignalTold, now_ns: int) -> None:
        """Note that a signal was sent; arguments as for `exceeded`."""
        self._now[0] = now_ns
        self._engaged[told.limb] = (told.strategy, told.engagement, told.fields)
        for field, name, _ in _BANDS:
            if told.fields & field:
                stream = self._stream(told.limb, name)
                note_sample(self._now, np.array(getattr(told, name)), stream)

    def _must(self, told: SignalTold, now_ns: int) -> bool:
        engaged = (told.strategy, told.engagement, told.fields)
        if self.share <= 0.0 or self._engaged.get(told.limb) != engaged:
            return True
        if not told.fields & ~_WHOLE:
            return True
        self._now[0] = now_ns
        return any(
            must_send(
                self._models[name],
                self._now,
                np.array(getattr(told, name)),
                self._stream(told.limb, name),
            )
            for field, name, _ in _BANDS
            if told.fields & field
        )

    def _stream(self, limb: int, name: str) -> StreamData:
        return self._streams.setdefault((limb, name), allocate_stream())
