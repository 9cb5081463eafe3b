"""What crossed the link, each way: offered, sent, delivered.

Offered is what the strategy would have told, sent what was handed to the channel (a
deadband keeps the rest), carried what the medium took (a newer packet replaces one that
still waits), delivered what arrived. Bytes are those of the packets.

    reduction = 1 - sent/offered
"""

from collections.abc import Iterable
from typing import NamedTuple

from app.link.packets import Direction, Fate, PacketRecord

__all__ = ["Traffic", "measure_traffic"]


class Traffic(NamedTuple):
    """One way, in packets and bytes a second."""

    offered_hz: float
    sent_hz: float
    carried_hz: float
    delivered_hz: float
    sent_bytes_per_s: float
    delivered_bytes_per_s: float
    lost: float
    """Share of the carried packets that did not arrive, 0..1."""
    reduction: float
    """By the deadband, 0..1."""
    delay_s: float | None
    """Median time from handing over to arrival [s]; None where nothing arrived."""


def measure_traffic(
    records: Iterable[PacketRecord],
    direction: Direction,
    seconds: float,
    suppressed: int = 0,
) -> Traffic:
    """Sum one way up.

    Args:
        records: packets that have ended.
        direction: which way.
        seconds: length of the trial [s], above 0.
        suppressed: how many the deadband kept.
    """
    own = [item for item in records if item.direction is direction]
    carried = [item for item in own if item.started_ns]
    arrived = [item for item in own if item.fate is Fate.DELIVERED]
    delays = sorted(item.delivered_ns - item.submitted_ns for item in arrived)
    offered = len(own) + suppressed
    return Traffic(
        offered / seconds,
        len(own) / seconds,
        len(carried) / seconds,
        len(arrived) / seconds,
        sum(item.size_bytes for item in own) / seconds,
        sum(item.size_bytes for item in arrived) / seconds,
        1.0 - len(arrived) / len(carried) if carried else 0.0,
        1.0 - len(own) / offered if offered else 0.0,
        1e-9 * delays[len(delays) // 2] if delays else None,
    )
