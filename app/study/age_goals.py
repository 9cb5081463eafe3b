"""Age of information on the emulated link beside its law.

Commands every 0.2 s over a one-way delay of 1 s, none, a tenth or three tenths of them
lost: mean age and the age not exceeded for 99 % of the time.
"""

import struct
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.config.link import load_link
from app.link.channel import Channel, ChannelSettings, Direction, LinkOverrides
from app.study.age import age_mean, age_pieces, age_quantile

__all__ = ["AGE_GOALS", "DELAY_S", "PERIOD_S", "QUANTILE", "AgeGoal", "measure_age"]

PERIOD_S = 0.2
DELAY_S = 1.0
QUANTILE = 0.99
_STAMP = struct.Struct("<q")


class AgeGoal(NamedTuple):
    """What was found with an independent reference."""

    loss: float
    mean_s: float
    p99_s: float


AGE_GOALS = (
    AgeGoal(0.0, 1.100, 1.198),
    AgeGoal(0.1, 1.122, 1.400),
    AgeGoal(0.3, 1.186, 1.781),
)


def measure_age(loss: float, packets: int, seed: int) -> tuple[float, float]:
    """Send commands through a channel; return mean and p99 of their age [s].

    Args:
        loss: of a packet, 0..1.
        packets: how many are sent.
        seed: of the channel.
    """
    wish = LinkOverrides(delay_ms=1e3 * DELAY_S, jitter_ms=0.0, loss=loss)
    channel = Channel(ChannelSettings.of(load_link("ideal"), wish), seed)
    period_ns = round(PERIOD_S * NS_PER_S)
    times: list[tuple[int, int]] = []
    for number in range(packets):
        now_ns = (number + 1) * period_ns
        times.extend(
            (_STAMP.unpack(delivery.payload)[0], delivery.due_ns)
            for delivery in channel.advance(now_ns)
        )
        channel.submit(now_ns, Direction.DOWN, 1, _STAMP.pack(now_ns))
        channel.take_records()
    generated, applied = np.array(times, dtype=np.int64).T
    pieces = age_pieces(generated, applied, int(applied[0]), int(applied[-1]))
    return age_mean(pieces), age_quantile(pieces, QUANTILE)
