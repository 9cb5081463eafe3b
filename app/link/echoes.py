"""Frames sent, to be found again by their echo; pure."""

from collections import OrderedDict
from typing import NamedTuple

from app.link.records import TelemetryFrame
from app.link.stamps import SETPOINT_STAMP

__all__ = ["Echoes", "Sent"]

_KEPT = 1024


class Sent(NamedTuple):
    """One frame that was sent."""

    sent_ns: int
    """When it went [ns]."""
    commanded_ns: int
    """When its command was made [ns]."""
    stamp_ns: int
    """The same in the robot's clock, as it was told [ns]."""


class Echoes:
    """The last frames of one station."""

    def __init__(self) -> None:
        self._sent: OrderedDict[int, Sent] = OrderedDict()

    def clear(self) -> None:
        """Forget all: the robot began anew."""
        self._sent.clear()

    def keep(self, sequence: int, sent: Sent) -> None:
        """Remember a frame that goes."""
        self._sent[sequence] = sent
        if len(self._sent) > _KEPT:
            self._sent.popitem(last=False)

    def find(self, frame: TelemetryFrame) -> Sent | None:
        """Return the frame that telemetry echoes, None where it is none of ours.

        Its number is told modulo 1024 (8 in compact frames), and a robot may echo
        another station's: its time tells, where it is told.
        """
        sent = self._sent.get(frame.echo_sequence)
        if sent is None or frame.echo_generated_ns < 0:
            return sent
        _, code = SETPOINT_STAMP.told(sent.stamp_ns)
        return sent if code == SETPOINT_STAMP.code(frame.echo_generated_ns) else None
