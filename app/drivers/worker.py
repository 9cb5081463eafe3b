"""One thread for one bus: rounds at its own rate, the newest command wins.

    newest (action, setpoints, time) -> round -> newest Reading

The owner writes what it wants and reads what came last; neither ever waits for the bus.
A command that is not renewed grows old: after `stale_s` the actuators hold, after
`safe_s` they are made safe, whatever the owner does. A bus that is gone is closed and
opened again once a second; then its actuators give way, until the owner acknowledges
(`resume`) that it knows and its next command is the first of a new arming.
"""

import threading
import time
from collections import deque
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.drivers.base import Action, Driver, Fault, Reading
from app.errors import DeviceError
from app.real_time import prefer_real_time
from models.numerics import FloatArray

__all__ = ["BusState", "BusWorker"]

_PRIORITY = 35  # of SCHED_FIFO, where permitted: below the robot's own loop
_RETRY_S = 1.0
_RATE_ROUNDS = 64


class BusState(NamedTuple):
    """What a worker knows of its bus.

    Attributes:
        reading: of the newest round; None before the first.
        alive: the bus is open and answers.
        interrupted: it was lost since the last `resume`: only giving way until then.
        rate_hz: rounds a second really held; NaN before the second round.
        round_s: length of the longest of the last rounds [s].
        text: why it is not alive; empty where it is.
    """

    reading: Reading | None
    alive: bool
    interrupted: bool
    rate_hz: float
    round_s: float
    text: str


class BusWorker:
    """Owns a driver; started by `start`, ended by `close`."""

    def __init__(
        self,
        driver: Driver,
        name: str,
        rate_hz: float,
        *,
        stale_s: float = 0.2,
        safe_s: float = 5.0,
    ) -> None:
        """Prepare; nothing is opened.

        Args:
            driver: not open.
            name: of the bus, for people.
            rate_hz: rounds a second that are wanted.
            stale_s: age of a command after which the actuators hold [s].
            safe_s: age after which they are made safe [s].
        """
        self.name = name
        self.driver = driver
        self.wanted_hz = rate_hz
        self._period_ns = round(NS_PER_S / rate_hz)
        self._stale_ns = round(stale_s * NS_PER_S)
        self._safe_ns = round(safe_s * NS_PER_S)
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._action = Action.SAFE
        self._setpoint = np.full(len(driver.channels), np.nan)
        self._command_ns = 0
        self._interrupted = False
        self._clear = False
        self._reading: Reading | None = None
        self._text = "not opened yet"
        self._times: deque[tuple[int, int]] = deque(maxlen=_RATE_ROUNDS)
        self._thread = threading.Thread(target=self._run, name=f"bus {name}")

    def start(self) -> None:
        """Open the bus and begin; the first rounds make safe.

        Raises:
            DeviceError: it cannot be opened.
        """
        self.driver.open()
        self._text = ""
        self._thread.start()

    def close(self) -> None:
        """Make safe, close and end the thread; any further call does nothing."""
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()
        self.driver.close()

    def command(self, now_ns: int, action: Action, setpoint: FloatArray) -> None:
        """Leave a command; it replaces the last one.

        Args:
            now_ns: its time, CLOCK_MONOTONIC [ns].
            action: what all actuators shall do.
            setpoint: (n,) in the channels' units.
        """
        with self._lock:
            self._action = action
            self._setpoint[:] = setpoint
            self._command_ns = now_ns

    def resume(self) -> None:
        """Acknowledge an interruption: commands are obeyed again from the next one."""
        with self._lock:
            self._interrupted = False
            self._action = Action.RELAX

    def clear_faults(self) -> None:
        """Clear latched faults in the next round: a deliberate act of a person."""
        with self._lock:
            self._clear = True

    def state(self) -> BusState:
        """Return what is known now."""
        with self._lock:
            rate, longest = np.nan, np.nan
            if len(self._times) > 1:
                span = self._times[-1][0] - self._times[0][0]
                rate = (len(self._times) - 1) * NS_PER_S / max(span, 1)
                longest = max(took for _, took in self._times) / NS_PER_S
            return BusState(
                self._reading,
                not self._text,
                self._interrupted,
                float(rate),
                float(longest),
                self._text,
            )

    def _run(self) -> None:
        try:
            self._go_round()
        finally:
            if not self._wake.is_set():  # a mistake: nobody speaks to the bus any more
                self._lost(time.monotonic_ns(), "its thread has ended by a mistake.")
                self.driver.close()

    def _go_round(self) -> None:
        prefer_real_time(_PRIORITY, on_any_core=True)
        next_ns = time.monotonic_ns()
        while not self._wake.is_set():
            started_ns = time.monotonic_ns()
            if self.driver.is_open:
                self._round(started_ns)
            else:
                self._open_again()
            now_ns = time.monotonic_ns()
            pause = (
                self._period_ns if self.driver.is_open else round(_RETRY_S * NS_PER_S)
            )
            next_ns = max(next_ns + pause, now_ns)
            self._wake.wait((next_ns - now_ns) / NS_PER_S)

    def _round(self, started_ns: int) -> None:
        with self._lock:
            age_ns = started_ns - self._command_ns
            action = self._action
            if self._interrupted:
                action = max(action, Action.RELAX)
            if age_ns > self._safe_ns:
                action = Action.SAFE
                self._interrupted |= self._command_ns > 0
            elif age_ns > self._stale_ns:
                action = max(action, Action.HOLD)
            setpoint = self._setpoint.copy()
            clear, self._clear = self._clear, False
        try:
            if clear:
                self.driver.clear_faults()
            reading = self.driver.exchange(action, setpoint)
        except DeviceError as error:
            self.driver.close()
            self._lost(started_ns, str(error))
            return
        with self._lock:
            self._interrupted |= any(fault.restarted for fault in reading.faults)
            self._reading = reading
            self._times.append((started_ns, time.monotonic_ns() - started_ns))

    def _lost(self, now_ns: int, text: str) -> None:
        nothing = np.full(len(self.driver.channels), np.nan)
        with self._lock:
            self._text = text
            self._interrupted = True
            self._times.clear()
            self._reading = self.driver.nothing_read(nothing, Fault(-1, text))

    def _open_again(self) -> None:
        try:
            self.driver.open()
        except DeviceError as error:
            with self._lock:
                self._text = str(error)
            return
        with self._lock:
            self._text = ""
