"""The bytes of a servo bus: rustypot, its answers checked and its errors translated.

rustypot releases the interpreter lock while it waits (measured: a second thread counts
on at full speed through a wait of 300 ms), so a bus may be driven from a thread of the
robot's process. It does not check how long an answer is, nor wait until a line is quiet
after a failed Sync Read; both is done here.
"""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import rustypot

from app.errors import DeviceError

__all__ = ["Answer", "ServoBus"]

_UNANSWERED = ("timed out", "Parsing error", "Checksum error", "Incorrect id")
_BITS_PER_BYTE = 10
_STATUS_BYTES = {1: 6, 2: 11}
_TURNAROUND_S = 5e-4
_Result = TypeVar("_Result")


class Answer(NamedTuple):
    """What a servo answered.

    Attributes:
        data: the bytes asked for.
        error: of its status packet.
    """

    data: bytes
    error: int


class ServoBus:
    """An open serial line to servos. Not for several threads at once."""

    def __init__(
        self, port: str, *, baud_rate: int, timeout_s: float, protocol: int
    ) -> None:
        """Open the line.

        Args:
            port: path of the serial port.
            baud_rate: of all servos on it.
            timeout_s: longest wait for an answer [s].
            protocol: 2 for Dynamixel Protocol 2.0, 1 for Feetech.

        Raises:
            DeviceError: missing, busy, not permitted, or a baud rate it cannot take.
        """
        kind = (
            rustypot.Xl430PyController
            if protocol == 2
            else rustypot.Sts3215PyController
        )
        self._port = port
        self._byte_s = _BITS_PER_BYTE / baud_rate
        self._status_bytes = _STATUS_BYTES[protocol]
        try:
            self._line = kind(port, baud_rate, timeout_s)
        except (OSError, RuntimeError, ValueError, OverflowError) as error:
            raise DeviceError(
                f"Servo bus {port}: cannot be opened at {baud_rate} baud: {error}. "
                "Check that it is plugged in, that nothing else has it open and that "
                "this user may use it (`limblink doctor` lists the ports)."
            ) from error

    def close(self) -> None:
        """Close the line; any further call does nothing."""
        self._line.close()

    def read(self, servo: int, address: int, size: int) -> Answer | None:
        """Read bytes of one servo; None: no valid answer.

        Raises:
            DeviceError: the line is gone.
        """
        said = self._try(
            lambda: self._line.read_raw_data_with_error(servo, address, size)
        )
        if said is None or len(said[0]) != size:
            return None
        return Answer(bytes(said[0]), said[1])

    def write(self, servo: int, address: int, data: bytes) -> int | None:
        """Write bytes of one servo; return the error of its status, None: no answer.

        Raises:
            DeviceError: the line is gone.
        """
        return self._try(
            lambda: self._line.write_raw_data_with_error(servo, address, list(data))
        )

    def sync_read(
        self, servos: Sequence[int], address: int, size: int
    ) -> list[Answer] | None:
        """Read the same bytes of several servos at once.

        Returns:
            An answer each, in the order asked; None: one did not answer, and so what
            the others said is lost.

        Raises:
            DeviceError: the line is gone.
        """
        said = self._try(
            lambda: self._line.sync_read_raw_data_with_error(
                list(servos), address, size
            )
        )
        if said is not None and all(len(data) == size for data, _ in said):
            return [Answer(bytes(data), error) for data, error in said]
        rest = len(servos) * (size + self._status_bytes)
        threading.Event().wait(
            rest * self._byte_s + len(servos) * _TURNAROUND_S
        )  # those behind the silent one may still be talking
        return None

    def sync_write(
        self, servos: Sequence[int], address: int, data: Sequence[bytes]
    ) -> None:
        """Write bytes of several servos at once; none answers.

        Raises:
            DeviceError: the line is gone.
        """
        rows = [list(row) for row in data]
        self._try(lambda: self._line.sync_write_raw_data(list(servos), address, rows))

    def reboot(self, servo: int) -> bool:
        """Restart a servo; return whether it acknowledged.

        Raises:
            DeviceError: the line is gone.
        """
        return bool(self._try(lambda: self._line.reboot(servo)))

    def _try(self, call: Callable[[], _Result]) -> _Result | None:
        try:
            return call()
        except (RuntimeError, OSError) as error:
            if any(words in str(error) for words in _UNANSWERED):
                return None
            raise DeviceError(
                f"Servo bus {self._port}: the line is gone ({error}). Plug it in again."
            ) from error
