"""What the servo drivers share: rounds on a bus where servos fall silent and come back.

One round:

    torque off    sync write, to the servos that shall not pull
    goals         sync write of torque limit and position, to the others
    torque on     sync write, to those that have a goal now and had none before
    present       sync read; where one servo is silent, reads one by one
    one extra     a silent servo is tried, a suspect examined, or a slow value read

A servo pulls only after it was set up and its position read: its first goal is where it
stands, at low torque. A silent servo costs at most `_MISSES` timeouts in the round in
which it falls silent; then it is left out and tried again after 0.1 s, 0.2 s ... 2 s,
one servo a round. Until it answers it gets no goal but to give way.
"""

import time
from abc import abstractmethod

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers.base import Action, BoolArray, Channel, Driver, Fault, Reading
from app.drivers.servo_bus import Answer, ServoBus
from app.drivers.servo_items import (
    Indices,
    Refused,
    ServoItems,
    ServoSettings,
    Unanswered,
)
from app.errors import DeviceError
from models.numerics import FloatArray

__all__ = ["ServoDriver"]

_MISSES = 2
_OPEN_TRIES = 5
_FIRST_RETRY_NS = 100 * NS_PER_MS
_LAST_RETRY_NS = 2 * NS_PER_S
_NOBODY_NS = NS_PER_S
_NOBODY_ROUNDS = 5
_JUMP_RAD = 1.0
_TALK_S = 0.002
"""Longest that one answered exchange with one servo takes, USB adapter and all [s]."""


class ServoDriver(Driver):
    """Servos on one line; positions in rad."""

    protocol: int
    block: tuple[int, int]
    """Address and size of the present values."""

    def __init__(
        self,
        channels: tuple[Channel, ...],
        servos: tuple[ServoSettings, ...],
        *,
        port: str,
        baud_rate: int,
        timeout_s: float,
        start_incomplete: bool,
    ) -> None:
        """Describe the bus; nothing is opened.

        Args:
            channels: of the servos, in rad.
            servos: their settings, in the same order.
            port: path of the serial port.
            baud_rate: of all servos.
            timeout_s: longest wait for one answer [s].
            start_incomplete: open although some servos do not answer.

        Raises:
            DeviceError: no servos, or a timeout out of range.
        """
        super().__init__(channels, timeout_s=timeout_s)
        count = len(servos)
        self._servos = servos
        self._ids = [settings.servo for settings in servos]
        self._port = port
        self._baud_rate = baud_rate
        self._start_incomplete = start_incomplete
        self._line: ServoItems | None = None
        self._position = np.full(count, np.nan)
        self._doubted = np.full(count, np.nan)
        self._load = np.full(count, np.nan)
        self._temperature = np.full(count, np.nan)
        self._fresh = np.zeros(count, dtype=np.bool_)
        self._ready = np.zeros(count, dtype=np.bool_)
        self._silent = np.zeros(count, dtype=np.bool_)
        self._torque = np.zeros(count, dtype=np.bool_)
        self._soften = np.zeros(count, dtype=np.bool_)
        self._retry_ns = [0] * count
        self._gap_ns = [_FIRST_RETRY_NS] * count
        self._latched: dict[int, str] = {}
        self._suspects: list[int] = []
        self._notes: list[Fault] = []
        self._turn_to_look = 0
        self._last_ns = 0
        self._answered_ns = 0
        self._quiet_rounds = 0

    @property
    def longest_exchange_s(self) -> float:
        """No round takes longer [s]."""
        waits = (_MISSES + 4) * self.timeout_s
        return waits + _TALK_S * (2 * len(self._ids) + 20)

    def _open_bus(self) -> None:
        bus = ServoBus(
            self._port,
            baud_rate=self._baud_rate,
            timeout_s=self.timeout_s,
            protocol=self.protocol,
        )
        self._line = ServoItems(bus, self._servos, self._reason)
        self._latched.clear()
        self._suspects.clear()
        for flags in (self._ready, self._silent, self._torque, self._fresh):
            flags[:] = False
        now_ns = time.monotonic_ns()
        for i in range(len(self._ids)):
            try:
                any(self._revive(i, now_ns) for _ in range(_OPEN_TRIES))
            except Refused as refused:
                raise DeviceError(str(refused)) from refused
        missing = [str(self._ids[i]) for i in np.flatnonzero(self._silent)]
        nobody = len(missing) == len(self._ids)
        if nobody or (missing and not self._start_incomplete):
            cure = "." if nobody else ", or allow start_incomplete."
            raise DeviceError(
                f"Servo bus {self._port}: no answer at {self._baud_rate} baud from "
                f"servo {', '.join(missing)}. Check power, cable, id and baud rate"
                + cure
            )
        self._last_ns = self._answered_ns = time.monotonic_ns()
        self._quiet_rounds = 0

    def _close_bus(self) -> None:
        if self._line is not None:
            self._line.bus.close()
            self._line = None

    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        now_ns = time.monotonic_ns()
        self._notes.clear()
        self._after_pause(now_ns - self._last_ns)
        sent = self._tell(action, applied)
        self._hear(now_ns)
        heard_ns = time.monotonic_ns()
        answered = self._fresh.copy()
        self._look_after_one(now_ns)
        self._last_ns = time.monotonic_ns()
        self._need_somebody(answered)
        return Reading(
            heard_ns,
            sent,
            np.where(answered, self._position, np.nan),
            np.where(answered, self._load, np.nan),
            np.where(answered, self._temperature, np.nan),
            answered,
            self._faults(),
        )

    def _clear_faults(self) -> None:
        now_ns = time.monotonic_ns()
        for i in list(self._latched):
            self._clear(i)
            del self._latched[i]
            self._forget(i)
            self._retry_ns[i] = now_ns
            self._gap_ns[i] = _FIRST_RETRY_NS

    def _tell(self, action: Action, applied: FloatArray) -> FloatArray:
        """Send torque and goals; return what was sent, NaN where the torque is off."""
        able = self._ready.copy()
        able[list(self._latched)] = False
        follows = action in {Action.FOLLOW, Action.HOLD}
        if action is Action.SAFE:
            able[:] = False
        elif follows:
            able &= np.isfinite(applied)
        begins = able & ~self._torque
        able &= ~begins | (self._fresh & np.isfinite(self._position))
        begins &= able
        gives_way = begins | self._soften | (action is Action.RELAX)
        gives_way &= np.isfinite(self._position)
        self._soften[:] = False
        off = np.flatnonzero(~able)
        if off.size:
            self._send_torque(off, on=False)
            self._torque[off] = False
        if follows:
            # a silent servo holds its last goal: it may have restarted unseen
            able &= ~self._silent
        sent = np.full(len(self._ids), np.nan)
        on = np.flatnonzero(able)
        if on.size:
            goals = np.where(gives_way, self._position, applied)
            sent[on] = self._send_goals(on, goals[on], gives_way[on])
        first = np.flatnonzero(begins)
        if first.size:
            self._send_torque(first, on=True)
            self._torque[first] = True
        return sent

    def _hear(self, now_ns: int) -> None:
        self._fresh[:] = False
        asked = np.flatnonzero(self._ready & ~self._silent)
        if not asked.size:
            return
        answers = self._items.bus.sync_read([self._ids[i] for i in asked], *self.block)
        if answers is not None:
            for i, answer in zip(asked, answers, strict=True):
                self._take(int(i), answer)
            return
        misses = 0
        for i in asked:
            single = self._items.bus.read(self._ids[i], *self.block)
            if single is not None:
                self._take(int(i), single)
                continue
            self._fall_silent(int(i), now_ns)
            misses += 1
            if misses == _MISSES:
                return

    def _take(self, i: int, answer: Answer) -> None:
        """Take up the present values of a servo."""
        position = self._decode(i, answer.data)
        if abs(position - self._position[i]) > _JUMP_RAD:
            before, self._doubted[i] = self._doubted[i], position
            if not abs(position - before) <= _JUMP_RAD:
                return  # one wild reading is none; the next one tells
            try:
                intact = self._is_intact(i)
            except Unanswered:
                return
            if not intact:
                self._forget(i)
                return
        self._position[i] = position
        self._doubted[i] = np.nan
        self._fresh[i] = True
        known = i in self._latched or i in self._suspects
        if self._tells_alarm(answer) and not known:
            self._suspects.append(i)

    def _look_after_one(self, now_ns: int) -> None:
        """Do one of the jobs that need not be done in each round."""
        due = [
            i
            for i in range(len(self._ids))
            if (self._silent[i] or not self._ready[i]) and now_ns >= self._retry_ns[i]
        ]
        try:
            if due:
                i = min(due, key=lambda i: self._retry_ns[i])
                self._revive(i, now_ns)
            elif self._suspects:
                i = self._suspects.pop(0)
                text = self._alarm(i)
                if text:
                    self._latch(i, text)
            else:
                self._turn_to_look += 1
                i = self._turn_to_look % len(self._ids)
                if self._fresh[i]:
                    self._inspect(i, self._turn_to_look // len(self._ids))
        except Unanswered:
            return  # the next round will find whether it is silent
        except Refused as refused:
            self._latch(i, str(refused))

    def _revive(self, i: int, now_ns: int) -> bool:
        """Set up a servo that is new or was silent; return whether it answered.

        Raises:
            Refused: it cannot be used as it is.
        """
        try:
            if not (self._ready[i] and self._is_intact(i)):
                self._forget(i)
                self._set_up(i)
        except Unanswered:
            self._fall_silent(i, now_ns)
            return False
        finally:
            self._retry_ns[i] = max(self._retry_ns[i], now_ns + _FIRST_RETRY_NS)
        self._ready[i] = True
        self._silent[i] = False
        self._gap_ns[i] = _FIRST_RETRY_NS
        return True

    def _forget(self, i: int) -> None:
        """Take a servo for one that must be set up, its torque off."""
        self._ready[i] = False
        self._torque[i] = False

    def _fall_silent(self, i: int, now_ns: int) -> None:
        self._silent[i] = True
        self._fresh[i] = False
        self._retry_ns[i] = now_ns + self._gap_ns[i]
        self._gap_ns[i] = min(2 * self._gap_ns[i], _LAST_RETRY_NS)

    def _latch(self, i: int, text: str) -> None:
        """Let a channel move no more until `clear_faults`."""
        self._latched.setdefault(i, text)

    def _note(self, i: int, text: str, *, restarted: bool = False) -> None:
        """Tell of something in this round's reading only."""
        self._notes.append(Fault(i, text, restarted=restarted))

    def _faults(self) -> tuple[Fault, ...]:
        latched = [Fault(i, text, True) for i, text in sorted(self._latched.items())]
        silent = [
            Fault(
                int(i),
                f"Servo {self._ids[i]} does not answer; check its cable and power.",
            )
            for i in np.flatnonzero(self._silent)
        ]
        return (*latched, *silent, *self._notes)

    def _need_somebody(self, answered: BoolArray) -> None:
        if answered.any():
            self._answered_ns = self._last_ns
            self._quiet_rounds = 0
            return
        self._quiet_rounds += 1
        quiet_ns = self._last_ns - self._answered_ns
        if self._quiet_rounds >= _NOBODY_ROUNDS and quiet_ns > _NOBODY_NS:
            raise DeviceError(
                f"Servo bus {self._port}: no servo has answered for "
                f"{quiet_ns / NS_PER_S:.1f} s. Check the power of the bus."
            )

    @property
    def _items(self) -> ServoItems:
        if self._line is None:
            raise DeviceError(f"Servo bus {self._port} is not open.")
        return self._line

    def _send_torque(self, indices: Indices, *, on: bool) -> None:
        self._items.put_to(indices, "torque_enable", [int(on)] * len(indices))

    @abstractmethod
    def _set_up(self, i: int) -> None:
        """Bring a servo from any state to: set up, torque off. Raises both."""

    @abstractmethod
    def _is_intact(self, i: int) -> bool:
        """Whether a servo still is as it was set up. Raises Unanswered."""

    @abstractmethod
    def _decode(self, i: int, data: bytes) -> float:
        """Take up load and temperature; return the position [rad]."""

    @abstractmethod
    def _tells_alarm(self, answer: Answer) -> bool:
        """Whether an answer hints at a fault."""

    @abstractmethod
    def _alarm(self, i: int) -> str:
        """Return what is wrong with a servo; empty: nothing. Raises Unanswered."""

    @abstractmethod
    def _inspect(self, i: int, turn: int) -> None:
        """Read a slow value, another each turn. Raises Unanswered."""

    @abstractmethod
    def _clear(self, i: int) -> None:
        """Clear the fault in the servo itself; it is set up again after that."""

    @abstractmethod
    def _send_goals(
        self, indices: Indices, goals: FloatArray, gives_way: BoolArray
    ) -> FloatArray:
        """Send positions [rad] and torque limits; return the positions sent."""

    @abstractmethod
    def _reason(self, error: int) -> str:
        """Return why a write was refused; empty: it was not."""

    def _after_pause(self, pause_ns: int) -> None:
        """See what the servos' own watchdogs did in a pause between rounds."""
        return
