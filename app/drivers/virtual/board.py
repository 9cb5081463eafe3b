"""The virtual board: a second implementation of the firmware in assets/firmware.

It answers the same bytes with the same bytes, and vents by itself when nobody drives
it. It does not imitate: the time a frame takes on the wire, the steps of a 12-bit DAC,
noise of the inputs, a processor that resets when the port is opened.
"""

import numpy as np

from app.clock import NS_PER_MS
from app.drivers.base import Action
from app.drivers.board_codec import (
    Clear,
    Drive,
    FrameReader,
    Identify,
    Identity,
    Message,
    Setup,
    SetupReply,
    Status,
    StatusBit,
    decode,
    encode,
)
from app.drivers.board_parameters import BoardParameters
from app.drivers.virtual.base import Drive as Hold
from app.drivers.virtual.base import VirtualActuators, VirtualDevice
from app.drivers.virtual.carrier import PtyCarrier
from app.errors import FrameError

__all__ = ["FIRMWARE", "VirtualBoard", "virtual_board"]

FIRMWARE = 0x0100
_HIGHEST_OUTPUT_MV = 10_000
_LEAST_WATCHDOG_MS, _FIRST_WATCHDOG_MS, _GREATEST_WATCHDOG_MS = 20, 200, 5000
_U16, _U32 = 0xFFFF, 0xFFFF_FFFF
_MOVES = (Action.FOLLOW, Action.HOLD)


def virtual_board(parameters: BoardParameters) -> tuple[PtyCarrier, BoardParameters]:
    """Serve a virtual board that fits; return it with parameters that point at it.

    Raises:
        DeviceError: no pseudo terminal can be had.
    """
    carrier = PtyCarrier(VirtualBoard(len(parameters.actuators)))
    return carrier, parameters.model_copy(update={"port": carrier.path})


class VirtualBoard(VirtualDevice):
    """One board; actuators in mV, loads in mA.

    Attributes:
        dac_fails: set to imitate a DAC that does not answer.
        wrong_checksum: set to imitate answers that the line has damaged.
    """

    def __init__(
        self, channels: int, serial: int = 7, name: str = "virtual board"
    ) -> None:
        """Switch on, outputs at 0 V and vented.

        Args:
            channels: number of channels, 1..16.
            serial: number of the board.
            name: at most 16 ASCII characters.
        """
        self.actuators = VirtualActuators(
            np.zeros(channels), off_value=np.zeros(channels)
        )
        self.dac_fails = False
        self.wrong_checksum = False
        self._channels = channels
        self._serial = serial
        self._name = name
        self._restart = True

    def restart(self) -> None:
        """Imitate a power cut: all that was set is lost, the valves vent."""
        self._restart = True

    @property
    def output_mv(self) -> tuple[int, ...]:
        """Outputs [mV]."""
        return tuple(self._applied)

    @property
    def is_vented(self) -> bool:
        """The vent is open."""
        return self._action is Action.SAFE

    def feed(self, now_ns: int, received: bytes) -> bytes:
        """Take bytes; answer each whole frame."""
        now_ms = self._step(now_ns)
        answer = bytearray()
        for frame in self._reader.feed(received):
            answer += self._take(frame, now_ms)
        if self.actuators.silent.any():
            return b""
        if self.wrong_checksum and len(answer) > 2:
            answer[1] ^= 0x55
        return bytes(answer)

    def advance(self, now_ns: int) -> bytes:
        """Run the watchdog and the motion; a board says nothing unasked."""
        self._step(now_ns)
        return super().advance(now_ns)

    def _begin(self, now_ms: int) -> None:
        n = self._channels
        self._restart = False
        self._started_ms = now_ms
        self._last_drive_ms = now_ms
        self._watchdog_ms = _FIRST_WATCHDOG_MS
        self._rejected = 0
        self._faults = 0
        self._last_sequence = -1
        self._set_up = self._tripped = self._output_failed = False
        self._action = Action.SAFE
        self._limits_mv: tuple[tuple[int, int, int], ...] = ((0, 0, 0),) * n
        self._target = [0] * n
        self._applied = [0] * n
        self._reader = FrameReader()
        self._apply()

    def _step(self, now_ns: int) -> int:
        now_ms = now_ns // NS_PER_MS
        if self._restart:
            self._begin(now_ms)
        self._watch(now_ms)
        return now_ms

    def _watch(self, now_ms: int) -> None:
        measured = self._words(self.actuators.measured)
        for channel, (_, _, trip_mv) in enumerate(self._limits_mv):
            if trip_mv and measured[channel] > trip_mv:
                self._faults |= 1 << channel
        silent_ms = now_ms - self._last_drive_ms
        if self._action is not Action.SAFE and silent_ms >= self._watchdog_ms:
            self._tripped = True
            self._relax(Action.SAFE)
        self._apply()

    def _take(self, frame: bytes | None, now_ms: int) -> bytes:
        try:
            if frame is None:
                raise FrameError("A frame was too long.")
            message = decode(frame)
            self._watch(now_ms)
            return encode(self._answer(message, now_ms))
        except FrameError:
            self._rejected = (self._rejected + 1) & _U16
            return b""

    def _answer(self, message: Message, now_ms: int) -> Message:
        match message:
            case SetupReply():
                raise FrameError("A board takes no answers.")
            case Drive() if len(message.setpoint_mv) == self._channels:
                return self._drive(message, now_ms)
            case Setup() if len(message.limits_mv) == self._channels:
                return self._take_setup(message)
            case Identify():
                return Identity(
                    message.sequence, FIRMWARE, self._channels, self._serial, self._name
                )
            case Clear():
                self._faults = 0
                self._output_failed = False
                self._relax(Action.SAFE)
                self._apply()
                return self._status(message.sequence, 0, now_ms)
        raise FrameError(f"Not for a board of {self._channels} channels.")

    def _drive(self, message: Drive, now_ms: int) -> Status:
        if message.sequence == self._last_sequence:
            return self._status(message.sequence, StatusBit.DUPLICATE, now_ms)
        self._last_sequence = message.sequence
        asked = Action(message.action)
        held = self._tripped and asked in _MOVES
        if self._set_up and not self._output_failed and not held:
            self._tripped = False
            self._last_drive_ms = now_ms
            if asked is Action.FOLLOW:
                self._follow(message)
            elif asked is Action.HOLD:
                self._action = asked
            else:
                self._relax(asked)
            self._apply()
        refused = 0 if asked is self._action else StatusBit.REFUSED
        return self._status(message.sequence, refused, now_ms)

    def _follow(self, message: Drive) -> None:
        self._action = Action.FOLLOW
        for channel, setpoint in enumerate(message.setpoint_mv):
            greatest, relax, _ = self._limits_mv[channel]
            is_driven = message.driven >> channel & 1
            self._target[channel] = min(setpoint, greatest) if is_driven else relax

    def _take_setup(self, message: Setup) -> SetupReply:
        self._watchdog_ms = max(
            _LEAST_WATCHDOG_MS, min(message.watchdog_ms, _GREATEST_WATCHDOG_MS)
        )
        limits = []
        for greatest, relax, trip in message.limits_mv:
            highest = min(greatest, _HIGHEST_OUTPUT_MV)
            limits.append((highest, min(relax, highest), trip))
        self._limits_mv = tuple(limits)
        self._set_up = True
        self._tripped = False
        self._last_sequence = -1
        self._relax(Action.SAFE)
        self._apply()
        return SetupReply(message.sequence, self._watchdog_ms, self._limits_mv)

    def _relax(self, action: Action) -> None:
        self._action = action
        self._target = [relax for _, relax, _ in self._limits_mv]

    def _apply(self) -> None:
        if self.dac_fails and not self._output_failed:
            self._output_failed = True
        if self._output_failed and self._action is not Action.SAFE:
            self._relax(Action.SAFE)
        for channel, target in enumerate(self._target):
            off = self._action is Action.SAFE or bool(self._faults >> channel & 1)
            self._applied[channel] = 0 if off else target
            if not self.dac_fails:
                self.actuators.command(
                    channel, self._applied[channel], Hold.OFF if off else Hold.DRIVEN
                )

    def _status(self, sequence: int, extra: int, now_ms: int) -> Status:
        bits = (
            extra
            | (StatusBit.SET_UP if self._set_up else 0)
            | (StatusBit.TRIPPED if self._tripped else 0)
            | (StatusBit.VENTED if self.is_vented else 0)
            | (StatusBit.OUTPUT_FAILED if self._output_failed else 0)
            | (StatusBit.CHANNEL_FAULT if self._faults else 0)
        )
        return Status(
            sequence,
            (now_ms - self._started_ms) & _U32,
            FIRMWARE,
            self._watchdog_ms,
            int(bits),
            self._rejected,
            self._faults,
            self._action,
            tuple(self._applied),
            self._words(self.actuators.measured),
            self._words(self.actuators.load),
        )

    @staticmethod
    def _words(values: np.ndarray) -> tuple[int, ...]:
        return tuple(int(v) for v in np.clip(np.rint(values), 0, _U16))
