"""Dynamixel X servos on Protocol 2.0, in current-based position mode (5).

    FOLLOW  goal position, goal current = current limit: a tension limit for a tendon
    HOLD    the last goal position, same current
    RELAX   goal position = where it stands, goal current = relaxed current: gives way
    SAFE    torque off

The bus watchdog (address 98, ROBOTIS e-manual, XM430-W350) stops a servo WHERE IT IS,
torque on, and locks its goals; it does not slacken. The driver finds a servo that was
stopped so after any pause of more than half the watchdog's time, and in turn; it arms
the watchdog again and lets the servo give way for one round.

A servo that restarted comes back with its RAM lost (watchdog 0, torque off) and with
its angle within one turn. It is set up again, and its turns are restored from the last
angle; where that is off by more than a quarter of a turn the channel is latched.

Temperature, torque and watchdog are read from one servo each round, in turn; a hardware
error shows in the alert bit of every answer.
"""

import math

import numpy as np

from app.clock import NS_PER_S
from app.drivers.base import BoolArray, Channel, Identity
from app.drivers.servo_bus import Answer
from app.drivers.servo_driver import ServoDriver
from app.drivers.servo_items import Indices, Refused, ServoSettings, Unanswered
from app.errors import DeviceError
from models.numerics import FloatArray

__all__ = ["DynamixelDriver"]

_CURRENT_BASED_POSITION = 5
_TORQUE_ON_BY_GOAL = 0x08
_WATCHDOG_UNIT_S = 0.02
_OLDEST_FIRMWARE = 38
_ALERT = 0x80
_TORQUE_ADDRESS, _RETURN_LEVEL_ADDRESS = 64, 68

_REASONS = {
    1: "it failed to process it",
    2: "unknown instruction",
    3: "wrong checksum",
    4: "out of range",
    5: "too short",
    6: "beyond a limit in its EEPROM",
    7: "not writable now",
}
_HARDWARE_ERRORS = {
    0x01: "input voltage",
    0x04: "overheated",
    0x08: "encoder",
    0x10: "electrical shock",
    0x20: "overload",
}


class DynamixelDriver(ServoDriver):
    """Dynamixel servos on one line; positions in rad, loads in mA."""

    protocol = 2
    block = (126, 10)  # present current, velocity, position

    def __init__(
        self,
        channels: tuple[Channel, ...],
        servos: tuple[ServoSettings, ...],
        *,
        port: str,
        baud_rate: int = 1_000_000,
        timeout_s: float = 0.02,
        watchdog_s: float = 0.2,
        start_incomplete: bool = False,
    ) -> None:
        """Describe the bus; nothing is opened.

        Args:
            channels: of the servos, in rad.
            servos: their settings, in the same order; limits in mA.
            port: path of the serial port.
            baud_rate: of all servos.
            timeout_s: longest wait for one answer [s].
            watchdog_s: silence after which a servo stops by itself [s].
            start_incomplete: open although some servos do not answer.

        Raises:
            DeviceError: no servos, or a timeout or watchdog out of range.
        """
        super().__init__(
            channels,
            servos,
            port=port,
            baud_rate=baud_rate,
            timeout_s=timeout_s,
            start_incomplete=start_incomplete,
        )
        self._watchdog = round(watchdog_s / _WATCHDOG_UNIT_S)
        if not 1 <= self._watchdog <= 127:
            raise DeviceError(
                f"Bus watchdog {watchdog_s:g} s: allowed are 0.02 to 2.54."
            )
        self.watchdog_s = self._watchdog * _WATCHDOG_UNIT_S
        per_turn = np.array([s.model.counts_per_turn for s in servos], dtype=float)
        self._per_turn = per_turn
        self._counts_per_rad = per_turn / (2.0 * math.pi)
        self._turns = np.zeros(len(servos))
        self._was_set_up = np.zeros(len(servos), dtype=np.bool_)
        unit_ma = np.array([s.model.load_per_count for s in servos])
        self._limit = np.floor(np.array([s.limit for s in servos]) / unit_ma)
        self._relaxed = np.floor(np.array([s.relaxed for s in servos]) / unit_ma)

    def _identify(self) -> list[Identity]:
        found = []
        for i, settings in enumerate(self._servos):
            try:
                number = self._items.get(i, "model_number")
                firmware = self._items.get(i, "firmware")
            except Unanswered:
                continue
            known = number == settings.model.number
            model = settings.model.name if known else f"model number {number}"
            found.append(Identity(str(self._ids[i]), model, str(firmware)))
        return found

    def _set_up(self, i: int) -> None:
        servo, model = self._ids[i], self._servos[i].model
        # a servo may be set to answer nothing: these two need no answer
        self._items.bus.sync_write([servo], _TORQUE_ADDRESS, [b"\x00"])
        self._items.bus.sync_write([servo], _RETURN_LEVEL_ADDRESS, [b"\x02"])
        number, firmware = (
            self._items.get(i, "model_number"),
            self._items.get(i, "firmware"),
        )
        if number != model.number:
            raise Refused(
                f"Servo {servo} has model number {number}, not {model.number} of "
                f"{model.name}: correct the configuration."
            )
        if firmware < _OLDEST_FIRMWARE:
            raise Refused(
                f"Servo {servo} has firmware {firmware}, which has no bus watchdog: "
                f"update it to {_OLDEST_FIRMWARE} or later."
            )
        restarted = self._items.get(i, "bus_watchdog") == 0
        self._items.put(i, "torque_enable", 0)
        if self._items.get(i, "status_return_level") != 2:
            raise Refused(f"Servo {servo} keeps its status return level: restart it.")
        self._items.put_where_it_differs(i, "operating_mode", _CURRENT_BASED_POSITION)
        self._items.put_where_it_differs(i, "return_delay", 0)
        drive_mode = self._items.get(i, "drive_mode")
        self._items.put_where_it_differs(
            i, "drive_mode", drive_mode & ~_TORQUE_ON_BY_GOAL
        )
        self._items.put(i, "bus_watchdog", 0)
        counts = self._items.get(i, "present_position")
        off_by = self._restore_turns(i, counts, restarted=restarted)
        self._items.put(i, "goal_current", int(self._relaxed[i]))
        self._items.put(i, "goal_position", counts)
        self._items.put(i, "bus_watchdog", self._watchdog)
        self._temperature[i] = self._items.get(i, "present_temperature")
        self._was_set_up[i] = True
        if abs(off_by) > 0.25:
            self._latch(
                i,
                f"Servo {servo} restarted and lost its turns: it stands "
                f"{off_by:+.2f} turns from where it was, or more. Check its angle and "
                "zero, then clear the fault.",
            )
        error = self._alarm(i)
        if error:
            self._latch(i, error)

    def _restore_turns(self, i: int, counts: int, *, restarted: bool) -> float:
        """Choose whole turns after a restart; return how far that is off [turns]."""
        before = float(self._position[i])
        if not (restarted and self._was_set_up[i] and math.isfinite(before)):
            self._position[i] = self._angle(i, counts)
            return 0.0
        turns = (before * self._counts_per_rad[i] - counts) / self._per_turn[i]
        self._turns[i] = round(turns)
        self._position[i] = self._angle(i, counts)
        self._note(
            i,
            f"Servo {self._ids[i]} restarted; it was set up again, at turn "
            f"{self._turns[i]:+.0f}.",
            restarted=True,
        )
        return float(self._turns[i] - turns)

    def _angle(self, i: int, counts: int) -> float:
        whole = counts + self._turns[i] * self._per_turn[i]
        return float(whole / self._counts_per_rad[i])

    def _is_intact(self, i: int) -> bool:
        watchdog = self._items.get(i, "bus_watchdog")
        if watchdog < 0:
            self._rearm(np.array([i]))
        return watchdog != 0

    def _rearm(self, indices: Indices) -> None:
        """Take servos out of the watchdog's stop; they give way for a round."""
        count = len(indices)
        relaxed = [int(value) for value in self._relaxed[indices]]
        self._items.put_to(indices, "bus_watchdog", [0] * count)
        self._items.put_to(indices, "goal_current", relaxed)
        self._items.put_to(indices, "bus_watchdog", [self._watchdog] * count)
        self._soften[indices] = True
        for i in indices:
            self._note(
                int(i),
                f"Servo {self._ids[i]} was stopped by its watchdog "
                f"({self.watchdog_s:g} s without an instruction); it is armed again.",
            )

    def _after_pause(self, pause_ns: int) -> None:
        if pause_ns < 0.5 * self.watchdog_s * NS_PER_S:
            return
        asked = np.flatnonzero(self._ready & ~self._silent & self._torque)
        if not asked.size:
            return
        item = self._servos[0].model.items["bus_watchdog"]
        ids = [self._ids[i] for i in asked]
        answers = self._items.bus.sync_read(ids, item.address, item.size)
        if answers is None:
            self._suspects.extend(int(i) for i in asked if i not in self._suspects)
            return
        state = np.array([item.decode(answer.data) for answer in answers])
        if (state < 0).any():
            self._rearm(asked[state < 0])
        for i in asked[state == 0]:
            self._forget(int(i))

    def _decode(self, i: int, data: bytes) -> float:
        items = self._servos[i].model.items
        current = items["present_current"].decode(data[0:2])
        self._load[i] = current * self._servos[i].model.load_per_count
        return self._angle(i, items["present_position"].decode(data[6:10]))

    def _tells_alarm(self, answer: Answer) -> bool:
        return bool(answer.error & _ALERT)

    def _alarm(self, i: int) -> str:
        if not self._is_intact(i):
            self._forget(i)
            return ""
        bits = self._items.get(i, "hardware_error_status")
        names = [name for bit, name in _HARDWARE_ERRORS.items() if bits & bit]
        if not names:
            return ""
        return (
            f"Servo {self._ids[i]} shut down: {', '.join(names)}. Remove the cause, "
            "then clear the fault, which restarts it."
        )

    def _inspect(self, i: int, turn: int) -> None:
        kind = turn % 3
        if kind == 0:
            self._temperature[i] = self._items.get(i, "present_temperature")
        elif kind == 1:
            if not self._is_intact(i):
                self._forget(i)
        elif self._torque[i] and not self._items.get(i, "torque_enable"):
            self._torque[i] = False

    def _clear(self, i: int) -> None:
        try:
            if self._items.get(i, "hardware_error_status"):
                self._items.bus.reboot(self._ids[i])
        except Unanswered:
            return  # it is set up when it answers again

    def _send_goals(
        self, indices: Indices, goals: FloatArray, gives_way: BoolArray
    ) -> FloatArray:
        scale, per_turn = self._counts_per_rad[indices], self._per_turn[indices]
        counts = np.rint(goals * scale)
        # a count more or less may lie outside the range
        least = np.ceil(self._least[indices] * scale - 1e-6)
        greatest = np.floor(self._greatest[indices] * scale + 1e-6)
        follows = np.clip(counts, least, greatest)
        counts = np.where(gives_way, counts, follows)
        current = np.where(gives_way, self._relaxed[indices], self._limit[indices])
        self._items.put_to(indices, "goal_current", [int(value) for value in current])
        raw = counts - self._turns[indices] * per_turn
        self._items.put_to(indices, "goal_position", [int(value) for value in raw])
        return np.asarray(counts / scale)

    def _reason(self, error: int) -> str:
        number = error & ~_ALERT
        return _REASONS.get(number, f"error {number}") if number else ""
