"""Feetech STS servos, in position mode (0) with a torque limit.

    FOLLOW  goal position, torque limit = limit
    HOLD    the last goal position, same limit
    RELAX   goal position = where it stands, torque limit = relaxed limit: gives way
    SAFE    torque off

An STS has NO watchdog: when the bus falls silent it holds its last goal for good. Cut
its power where that is not safe. Its angle is within one turn, so a restart loses none;
it shows as torque off, and the servo is set up again. Goal position and torque limit
travel in one sync write, all present values in one sync read; alarms stand in every
status. A goal turns the torque on by itself, so a servo that is off is sent none.

Feetech, memory table of the STS series.
"""

import math

import numpy as np

from app.drivers.base import BoolArray, Channel, Identity
from app.drivers.servo_bus import Answer
from app.drivers.servo_driver import ServoDriver
from app.drivers.servo_items import Indices, Refused, ServoSettings, Unanswered
from models.numerics import FloatArray

__all__ = ["FeetechDriver"]

_POSITION = 0
_GOAL_ADDRESS = 42  # goal position, time, speed, torque limit: 2 bytes each
_GOALS = ("goal_position", "goal_time", "goal_speed", "torque_limit")
_BLOCK_START = 56
_ALARMS = {
    0x01: "supply voltage",
    0x02: "angle sensor",
    0x04: "overheated",
    0x08: "overcurrent",
    0x20: "overload",
}


class FeetechDriver(ServoDriver):
    """Feetech servos on one line; positions in rad, loads in % of the stall torque."""

    protocol = 1
    block = (
        _BLOCK_START,
        15,
    )  # position, speed, load, voltage, temperature ... current

    def __init__(
        self,
        channels: tuple[Channel, ...],
        servos: tuple[ServoSettings, ...],
        *,
        port: str,
        baud_rate: int = 1_000_000,
        timeout_s: float = 0.02,
        start_incomplete: bool = False,
    ) -> None:
        """Describe the bus; nothing is opened.

        Args:
            channels: of the servos, in rad.
            servos: their settings, in the same order; limits in % of the stall torque.
            port: path of the serial port.
            baud_rate: of all servos.
            timeout_s: longest wait for one answer [s].
            start_incomplete: open although some servos do not answer.

        Raises:
            DeviceError: no servos, or a timeout out of range.
        """
        super().__init__(
            channels,
            servos,
            port=port,
            baud_rate=baud_rate,
            timeout_s=timeout_s,
            start_incomplete=start_incomplete,
        )
        per_turn = np.array([s.model.counts_per_turn for s in servos], dtype=float)
        self._counts_per_rad = per_turn / (2.0 * math.pi)
        unit = np.array([s.model.load_per_count for s in servos])
        self._limit = np.floor(np.array([s.limit for s in servos]) / unit + 1e-9)
        self._relaxed = np.floor(np.array([s.relaxed for s in servos]) / unit + 1e-9)

    def _identify(self) -> list[Identity]:
        found = []
        for i, settings in enumerate(self._servos):
            try:
                number = self._items.get(i, "model_number")
                major = self._items.get(i, "firmware")
                minor = self._items.get(i, "firmware_minor")
            except Unanswered:
                continue
            known = number == settings.model.number
            model = settings.model.name if known else f"model number {number}"
            found.append(Identity(str(self._ids[i]), model, f"{major}.{minor}"))
        return found

    def _set_up(self, i: int) -> None:
        servo, model, items = self._ids[i], self._servos[i].model, self._items
        self._send_torque(np.array([i]), on=False)
        number = items.get(i, "model_number")
        if number != model.number:
            raise Refused(
                f"Servo {servo} has model number {number}, not {model.number} of "
                f"{model.name}: correct the configuration."
            )
        wanted = {"response_level": 1, "return_delay": 0, "mode": _POSITION}
        differs = [
            name for name, value in wanted.items() if items.get(i, name) != value
        ]
        if differs:
            # with level 0 a write is not answered, but done
            items.put_to(np.array([i]), "lock", [0])
            items.put_to(np.array([i]), "response_level", [1])
            for name in differs:
                items.put(i, name, wanted[name])
            items.put(i, "lock", 1)
            for name in differs:
                if items.get(i, name) != wanted[name]:
                    raise Refused(f"Servo {servo} does not keep {name}.")
        self._need_range(i)
        if items.get(i, "torque_enable"):
            raise Refused(f"Servo {servo} does not turn its torque off.")
        counts = items.get(i, "present_position")
        self._position[i] = counts / self._counts_per_rad[i]
        self._temperature[i] = items.get(i, "present_temperature")
        text = self._alarm(i)
        if text:
            self._latch(i, text)

    def _need_range(self, i: int) -> None:
        """Refuse a servo whose own angle limits are narrower than its channel."""
        least = self._items.get(i, "min_angle_limit")
        greatest = self._items.get(i, "max_angle_limit")
        scale = self._counts_per_rad[i]
        inside = (
            least <= self._least[i] * scale + 1
            and self._greatest[i] * scale <= greatest + 1
        )
        if not inside:
            raise Refused(
                f"Servo {self._ids[i]} lets pass {least / scale:.3f} to "
                f"{greatest / scale:.3f} rad only: narrow the channel's range, or "
                "widen the servo's angle limits with the maker's tool."
            )

    def _is_intact(self, i: int) -> bool:
        return not self._torque[i] or self._items.get(i, "torque_enable") == 1

    def _decode(self, i: int, data: bytes) -> float:
        items = self._servos[i].model.items
        values = {}
        for name in ("present_position", "present_load", "present_temperature"):
            item = items[name]
            start = item.address - _BLOCK_START
            values[name] = item.decode(data[start : start + item.size])
        self._load[i] = values["present_load"] * self._servos[i].model.load_per_count
        self._temperature[i] = values["present_temperature"]
        return float(values["present_position"] / self._counts_per_rad[i])

    def _tells_alarm(self, answer: Answer) -> bool:
        return bool(answer.error)

    def _alarm(self, i: int) -> str:
        bits = self._items.get(i, "status")
        names = [name for bit, name in _ALARMS.items() if bits & bit]
        if not names:
            return ""
        return (
            f"Servo {self._ids[i]} tells: {', '.join(names)}. Remove the cause, then "
            "clear the fault."
        )

    def _inspect(self, i: int, turn: int) -> None:
        if not self._is_intact(i):
            self._note(
                i,
                f"Servo {self._ids[i]} lost its torque (restarted?); set up again.",
                restarted=True,
            )
            self._forget(i)

    def _clear(self, i: int) -> None:
        self._send_torque(np.array([i]), on=False)  # ends an overload's protection

    def _send_goals(
        self, indices: Indices, goals: FloatArray, gives_way: BoolArray
    ) -> FloatArray:
        scale = self._counts_per_rad[indices]
        counts = np.rint(goals * scale)
        # a count more or less may lie outside the range
        least = np.ceil(self._least[indices] * scale - 1e-6)
        greatest = np.floor(self._greatest[indices] * scale + 1e-6)
        counts = np.where(gives_way, counts, np.clip(counts, least, greatest))
        limit = np.where(gives_way, self._relaxed[indices], self._limit[indices])
        rows = []
        for i, count, torque in zip(indices, counts, limit, strict=True):
            items = self._servos[i].model.items
            values = (int(count), 0, 0, int(torque))
            pairs = zip(_GOALS, values, strict=True)
            rows.append(b"".join(items[name].encode(v) for name, v in pairs))
        ids = [self._ids[i] for i in indices]
        self._items.bus.sync_write(ids, _GOAL_ADDRESS, rows)
        return np.asarray(counts / scale)

    def _reason(self, error: int) -> str:
        return ""  # the STS tells alarms only, whatever it did with a write
