"""Driver of our own board protocol: COBS frames with a CRC-16, setpoints in mV.

    FOLLOW   outputs go to the setpoints; a channel without one relaxes
    HOLD     outputs stay
    RELAX    outputs go to each channel's relax_mv
    SAFE     outputs at 0 V, vent open

The board itself clamps to each channel's greatest output, vents a channel whose input
rises above its trip_mv (latched), and vents all after `watchdog_ms` without a fresh
frame. After that, and after a restart, it refuses to move until it was told to RELAX:
the driver does so, in place of one round's FOLLOW, and reports a fault.

Formats: app/README.md. Firmware: assets/firmware.
"""

import time
from typing import TypeVar

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers.base import Action, Channel, Driver, Fault, Identity, Reading
from app.drivers.board_codec import (
    Clear,
    Drive,
    FrameReader,
    Identify,
    Message,
    Setup,
    SetupReply,
    Status,
    StatusBit,
    decode,
    encode,
)
from app.drivers.board_codec import Identity as BoardIdentity
from app.drivers.board_parameters import ATTEMPTS, BoardActuator, BoardParameters
from app.drivers.transport import SerialLine
from app.errors import DeviceError, FrameError
from models.numerics import FloatArray

__all__ = ["BoardActuator", "BoardDriver", "BoardParameters", "build_board"]

_SEQUENCES = 0x1_0000
_RECOVERY = ATTEMPTS + 1
"""Frames more, in a round that finds the board restarted."""
_Answer = TypeVar("_Answer", BoardIdentity, SetupReply, Status)


def build_board(parameters: BoardParameters) -> "BoardDriver":
    """Make the driver of a bus; nothing is opened."""
    return BoardDriver(
        SerialLine(parameters.port, parameters.baud),
        parameters.actuators,
        timeout_s=parameters.timeout_ms / 1000.0,
        watchdog_ms=parameters.watchdog_ms,
        start_s=parameters.start_s,
        silent_s=parameters.silent_s,
    )


class BoardDriver(Driver):
    """One board on one serial line."""

    def __init__(
        self,
        line: SerialLine,
        actuators: tuple[BoardActuator, ...],
        *,
        timeout_s: float = 0.02,
        watchdog_ms: int = 300,
        start_s: float = 4.0,
        silent_s: float = 1.0,
    ) -> None:
        """Describe the bus; nothing is opened.

        Args:
            line: its port.
            actuators: outputs 0, 1, … of the board, all of them.
            timeout_s: longest wait for one answer [s].
            watchdog_ms: silence after which the board vents [ms].
            start_s: how long it may take to answer after its port was opened [s].
            silent_s: silence after which it counts as gone [s].

        Raises:
            DeviceError: no actuators, or a timeout out of range.
        """
        super().__init__(
            tuple(
                Channel(a.name, "mV", a.least_mv, a.greatest_mv, "mA")
                for a in actuators
            ),
            timeout_s=timeout_s,
        )
        self.watchdog_s = watchdog_ms / 1000.0
        self._line = line
        self._setup = Setup(
            0,
            watchdog_ms,
            tuple((a.greatest_mv, a.relax_mv, a.trip_mv) for a in actuators),
        )
        self._start_ns = round(start_s * NS_PER_S)
        self._silent_ns = round(silent_s * NS_PER_S)
        self._timeout_ns = round(timeout_s * NS_PER_S)
        self._sequence = 0
        self._reader = FrameReader()
        self._heard_ns = 0
        self._rejected: int | None = None

    @property
    def longest_exchange_s(self) -> float:
        """No round takes longer [s]."""
        return (ATTEMPTS + _RECOVERY) * self.timeout_s + 0.01

    def _open_bus(self) -> None:
        self._line.open()
        self._line.discard_input()
        self._reader = FrameReader()
        self._line.write(b"\0")  # ends whatever half a frame the board still holds
        until_ns = time.monotonic_ns() + self._start_ns
        found = None
        while found is None:
            found = self._ask(Identify(self._next()), BoardIdentity)
            if found is None and time.monotonic_ns() >= until_ns:
                raise DeviceError(
                    f"No board answers at {self._line.path}. Is it powered, does it "
                    "run the firmware of assets/firmware, protocol version 1?"
                )
        wanted = len(self.channels)
        if found.channels != wanted:
            raise DeviceError(
                f"The board at {self._line.path} has {found.channels} channels, "
                f"{wanted} actuators are listed: list all of them, or build the "
                "firmware for as many."
            )
        if not self._set_up():
            raise DeviceError(
                f"The board at {self._line.path} did not confirm its limits and "
                "watchdog. Check the cable; look for another program on the port."
            )
        self._heard_ns = time.monotonic_ns()
        self._rejected = None

    def _close_bus(self) -> None:
        self._line.close()

    def _identify(self) -> list[Identity]:
        found = self._ask(Identify(self._next()), BoardIdentity)
        if found is None:
            return []
        model = f"{found.name}, no. {found.serial}, {found.channels} channels"
        version = f"{found.firmware >> 8}.{found.firmware & 0xFF}"
        return [Identity(self._line.path, model, version)]

    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        status = None
        for _ in range(ATTEMPTS):
            status = self._ask(self._drive_frame(action, applied), Status)
            if status is not None and len(status.applied_mv) == len(applied):
                break
            status = None
        now_ns = time.monotonic_ns()
        if status is None:
            return self._unanswered(now_ns, applied)
        self._heard_ns = now_ns
        faults = self._recover(status, applied) + self._faults(status)
        return self._reading(now_ns, status, faults)

    def _reading(
        self, now_ns: int, status: Status, faults: tuple[Fault, ...]
    ) -> Reading:
        n = len(self.channels)
        return Reading(
            now_ns,
            np.array(status.applied_mv, dtype=np.float64),
            np.array(status.measured_mv, dtype=np.float64),
            np.array(status.load_ma, dtype=np.float64),
            np.full(n, np.nan),
            np.ones(n, dtype=np.bool_),
            faults,
        )

    def _unanswered(self, now_ns: int, applied: FloatArray) -> Reading:
        silent_ns = now_ns - self._heard_ns
        if silent_ns >= self._silent_ns:
            raise DeviceError(
                f"The board at {self._line.path} has not answered for "
                f"{silent_ns / NS_PER_S:.1f} s; its watchdog has vented. Check its "
                "power and cable."
            )
        text = f"The board does not answer ({silent_ns / NS_PER_MS:.0f} ms)."
        return self.nothing_read(applied, Fault(-1, text))

    def _recover(self, status: Status, applied: FloatArray) -> tuple[Fault, ...]:
        """Bring a board that restarted or whose watchdog ran out to RELAX."""
        if not status.bits & StatusBit.SET_UP:
            self._set_up()
            self._ask(self._drive_frame(Action.RELAX, applied), Status)
            text = "The board has restarted and vented; set up again."
            return (Fault(-1, text, restarted=True),)
        if status.bits & StatusBit.TRIPPED:
            self._ask(self._drive_frame(Action.RELAX, applied), Status)
            text = f"The board vented: no fresh frame for {status.watchdog_ms} ms."
            return (Fault(-1, text, restarted=True),)
        return ()

    def _faults(self, status: Status) -> tuple[Fault, ...]:
        faults = [
            Fault(
                channel,
                f"{self.channels[channel].name}: above its trip value, vented. Find "
                "out why before clearing the fault.",
                latched=True,
            )
            for channel in range(len(self.channels))
            if status.faults >> channel & 1
        ]
        if status.bits & StatusBit.OUTPUT_FAILED:
            text = "A DAC does not answer; all vented. Check its I2C wiring and power."
            faults.append(Fault(-1, text, latched=True))
        before, self._rejected = self._rejected, status.rejected
        damaged = 0 if before is None else (status.rejected - before) % _SEQUENCES
        if 0 < damaged < _SEQUENCES // 2:  # above: it counts anew after a restart
            text = f"The board threw away {damaged} damaged frames: check the cable."
            faults.append(Fault(-1, text))
        return tuple(faults)

    def _clear_faults(self) -> None:
        self._ask(Clear(self._next()), Status)

    def _set_up(self) -> bool:
        wanted = self._setup
        for _ in range(ATTEMPTS):
            sent = Setup(self._next(), wanted.watchdog_ms, wanted.limits_mv)
            reply = self._ask(sent, SetupReply)
            if reply is not None:
                return (
                    reply.watchdog_ms == wanted.watchdog_ms
                    and reply.limits_mv == wanted.limits_mv
                )
        return False

    def _drive_frame(self, action: Action, applied: FloatArray) -> Drive:
        known = np.isfinite(applied)
        driven = sum(1 << channel for channel in range(known.size) if known[channel])
        setpoints = tuple(int(v) for v in np.rint(np.where(known, applied, 0.0)))
        return Drive(self._next(), int(action), driven, setpoints)

    def _next(self) -> int:
        self._sequence = (self._sequence + 1) % _SEQUENCES
        return self._sequence

    def _ask(self, message: Message, kind: type[_Answer]) -> _Answer | None:
        """Send, and wait for the answer with the same sequence number; None: none."""
        self._line.write(encode(message))
        deadline_ns = time.monotonic_ns() + self._timeout_ns
        while time.monotonic_ns() < deadline_ns:  # bytes may come without end
            received = self._line.read(deadline_ns)
            answers = [_read(frame) for frame in self._reader.feed(received)]
            for answer in answers:
                if type(answer) is kind and answer.sequence == message.sequence:
                    return answer
        return None


def _read(frame: bytes | None) -> Message | None:
    if frame is None:
        return None
    try:
        return decode(frame)
    except FrameError:
        return None
