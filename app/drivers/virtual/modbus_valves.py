"""Pressure valves behind a virtual device: they lag and have hysteresis.

models/valve with a first-order lag, not the same for filling and venting, then a play
of the valve's own: coming from below its outlet stands half the band under the command,
from above half the band over it. Any unit of pressure, or mV.
"""

import numpy as np

from app.clock import NS_PER_S
from app.drivers.virtual.base import Drive, VirtualActuators
from models.hysteresis import VIRGIN, HysteresisModel
from models.numerics import FloatArray
from models.valve import ValveModel, advance_pressure, allocate_valve_data

__all__ = ["VirtualValves"]

_PLAY_SHARE = 0.8
_LEFT_NS = NS_PER_S // 1000


class VirtualValves(VirtualActuators):
    """Valves that are driven by what a device was told."""

    def __init__(
        self,
        full_scale: FloatArray,
        *,
        fill_time_s: float = 0.05,
        vent_time_s: float = 0.08,
        hysteresis_share: float = 0.005,
    ) -> None:
        """Put n valves at rest, vented.

        Args:
            full_scale: (n,) in the channels' units.
            fill_time_s: time constant where the pressure rises [s].
            vent_time_s: where it falls [s].
            hysteresis_share: width of the loop, of the largest full scale.
        """
        size = full_scale.size
        super().__init__(np.zeros(size), off_value=np.zeros(size))
        band = hysteresis_share * float(full_scale.max())
        line = np.array([0.0, 1.0])
        self._model = ValveModel(
            strand=np.zeros(size, dtype=np.int64),
            area=np.ones(size),
            fill_time=np.full(size, fill_time_s),
            vent_time=np.full(size, vent_time_s),
            rate_limit=np.full(size, np.inf),
            lowest=np.zeros(size),
            highest=full_scale.astype(np.float64),
            hysteresis=HysteresisModel(
                threshold=np.array([0.0, 0.5 * band / _PLAY_SHARE]),
                weight=np.array([1.0 - _PLAY_SHARE, _PLAY_SHARE]),
                knot=line,
                length=line.copy(),
            ),
        )
        self._state = allocate_valve_data(self._model, VIRGIN)
        self._moved_ns: int | None = None

    def outlet(self) -> FloatArray:
        """Return what leaves the valves (n,), also while a robot is attached."""
        with self._lock:
            return self._state.effective.copy()

    def advance(self, now_ns: int) -> None:
        """Let the valves move up to a time [ns]."""
        with self._lock:
            before_ns = self._moved_ns
            if before_ns is None or now_ns < before_ns:
                self._moved_ns = now_ns
                return
            if now_ns - before_ns < _LEFT_NS:
                return
            self._moved_ns = now_ns
            state = self._state
            wanted = np.where(self.drive == Drive.OFF, 0.0, self.goal)
            np.copyto(state.command, np.where(self.stuck, state.pressure, wanted))
            advance_pressure(self._model, (now_ns - before_ns) / NS_PER_S, state)
            if not self.attached:
                np.copyto(self.measured, state.effective, where=~self.stuck)
