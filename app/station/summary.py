"""What a drive came to: the figures of the closing JSON, gathered as it runs.

Pure: fed with times and values, used by the live station and by virtual-time trials.
"""

import math
from typing import Any

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.control.blocks import LoopStatistics, histogram_percentile_us
from app.control.wanted import WantedHistory
from app.link.packets import Direction, Fate, PacketRecord
from app.messages import Event, LinkHealth, StationState
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel

__all__ = ["DriveSummary"]

_BATCH = (
    256  # packets are counted so many at once: one by one takes several times as long
)
_LOST = (Fate.LOST_BURST, Fate.LOST_RESIDUAL, Fate.CUT)


class _Counted:
    """Delivered and lost packets of one direction, and their bits."""

    def __init__(self, bits: int = 0) -> None:
        self.delivered = 0
        self.lost = 0
        self.bits = bits
        self.scheduled_ms: list[float] = []
        """From submission to the time at which each ought to have come [ms]."""
        self.carried_ms: list[float] = []
        """To when it came [ms]."""


class DriveSummary:
    """Collects while a drive runs; `as_dict` is the summary."""

    def __init__(self, model: RobotModel, start_ns: int) -> None:
        self._model = model
        self._start_ns = start_ns
        self._wanted = WantedHistory(model)
        self._errors: list[float] = []
        self._tracking: list[float] = []
        self._ages: list[float] = []
        self._delays: list[float] = []
        self._sent_bits = 0
        self._heard_bits = 0
        self._counted: dict[Direction, _Counted] = {}
        self._superseded = 0
        self._ended: list[PacketRecord] = []  # not counted yet
        self._events: list[Event] = []

    def add_state(self, state: StationState) -> None:
        """Remember target and command, every 2 ms at most."""
        self._wanted.add(state)

    def add_states(self, rows: IntArray, first: int, every: int) -> None:
        """Do as `add_state` with states as logged; see `WantedHistory.add_rows`."""
        self._wanted.add_rows(rows, first, every)

    def add_telemetry(
        self,
        limb: int,
        generated_ns: int,
        received_ns: int,
        down_delay_ms: float,
        coordinates: FloatArray,
    ) -> None:
        """Compare a confirmed pose with what was wanted when it was measured.

        Args:
            limb: its limb; `WHOLE_ROBOT` for all.
            generated_ns: when it was measured, station time [ns].
            received_ns: when it came [ns].
            down_delay_ms: one-way delay of commands, for the aligned error [ms]; NaN
                where it is not known.
            coordinates: (S, 3) all confirmed coordinates, this limb's just updated.
        """
        self._delays.append((received_ns - generated_ns) / NS_PER_MS)
        delay_known = math.isfinite(down_delay_ms)
        then_ns = generated_ns - int(down_delay_ms * NS_PER_MS) if delay_known else 0
        apart = self._wanted.compare(limb, generated_ns, then_ns, coordinates)
        self._errors += apart[:1]
        self._tracking += apart[1:]

    def add_sent(self, size_bytes: int) -> None:
        """Count a frame handed to the link."""
        self._sent_bits += 8 * size_bytes

    def add_heard(self, size_bytes: int) -> None:
        """Count a frame that came."""
        self._heard_bits += 8 * size_bytes

    def add_packet(self, packet: PacketRecord) -> None:
        """Take a packet that has ended in the emulated channel."""
        self._ended.append(packet)
        if len(self._ended) >= _BATCH:
            self._count()

    def _count(self) -> None:
        """Count the fates of packets."""
        for packet in self._ended:
            if packet.fate is Fate.SUPERSEDED:
                self._superseded += 1
                continue
            counted = self._counted.get(packet.direction)
            if counted is None:
                counted = self._counted[packet.direction] = _Counted()
            submitted_ns = packet.submitted_ns
            if packet.fate is Fate.DELIVERED:
                counted.delivered += 1
                scheduled_ns = packet.scheduled_due_ns - submitted_ns
                counted.scheduled_ms.append(scheduled_ns / NS_PER_MS)
                carried_ns = packet.delivered_ns - submitted_ns
                counted.carried_ms.append(carried_ns / NS_PER_MS)
            elif packet.fate in _LOST:
                counted.lost += 1
            if packet.started_ns:
                counted.bits += 8 * packet.size_bytes
        self._ended.clear()

    def add_health(self, health: LinkHealth) -> None:
        """Sample the age of the robot's pose."""
        if health.robot_heard_ns[0]:
            self._ages.append(float(health.age_ms[0]))

    def add_event(self, event: Event) -> None:
        """Keep an event."""
        self._events.append(event)

    def as_dict(self, statistics: LoopStatistics, log: str | None) -> dict[str, Any]:
        """Sum the drive up.

        Args:
            statistics: of the control loop.
            log: path of the recording, None where there is none.
        """
        self._count()
        seconds = max((self._wanted.newest_ns - self._start_ns) / NS_PER_S, 1e-9)
        down = self._counted.get(Direction.DOWN) or _Counted(self._sent_bits)
        up = self._counted.get(Direction.UP) or _Counted(self._heard_bits)
        ways = (Direction.DOWN, down), (Direction.UP, up)
        tried = down.delivered + down.lost + up.delivered + up.lost
        return {
            "seconds": round(seconds, 3),
            "loop": {
                "ticks": int(statistics.ticks[0]),
                "overruns": int(statistics.overruns[0]),
                "late_1ms": int(statistics.late_1ms[0]),
                "scheduler": ["ordinary", "SCHED_FIFO", "python"][
                    int(statistics.scheduler[0])
                ],
                "lateness_us": _percentiles(statistics, "lateness"),
                "tick_us": _percentiles(statistics, "cost"),
            },
            "link": {
                "down_bps": round(down.bits / seconds, 1),
                "up_bps": round(up.bits / seconds, 1),
                "delay_ms": _quantiles(self._delays),
                "scheduled_delay_ms": {
                    way.name.lower(): _quantiles(counted.scheduled_ms)
                    for way, counted in ways
                },
                "carried_delay_ms": {
                    way.name.lower(): _quantiles(counted.carried_ms)
                    for way, counted in ways
                },
                "loss": round((down.lost + up.lost) / tried, 5) if tried else 0.0,
                "packets": tried,
                "superseded": self._superseded,
            },
            "age_ms": {
                "mean": _round(np.mean(self._ages)) if self._ages else None,
                "p99": _round(np.percentile(self._ages, 99)) if self._ages else None,
            },
            "tip_error_mm": _error(self._errors),
            "tip_tracking_mm": _error(self._tracking),
            "events": [
                {
                    "time_s": round((event.time_ns - self._start_ns) / NS_PER_S, 3),
                    "severity": event.severity.name.lower(),
                    "source": event.source,
                    "text": event.text,
                }
                for event in self._events
            ],
            "log": log,
        }


def _round(value: Any) -> float:
    return round(float(value), 3)


def _percentiles(statistics: LoopStatistics, name: str) -> dict[str, float]:
    histogram = getattr(statistics, name)
    return {
        key: round(histogram_percentile_us(histogram, percent), 2)
        for key, percent in (("p50", 50.0), ("p99", 99.0), ("p999", 99.9))
    }


def _quantiles(values: list[float]) -> dict[str, float | None]:
    if not values:
        return {"p50": None, "p99": None}
    return {
        "p50": _round(np.percentile(values, 50)),
        "p99": _round(np.percentile(values, 99)),
    }


def _error(values: list[float]) -> dict[str, float | None]:
    if not values:
        return {"rms": None, "max": None}
    millimetres = 1e3 * np.asarray(values)
    return {
        "rms": _round(np.sqrt(np.mean(millimetres**2))),
        "max": _round(millimetres.max()),
    }
