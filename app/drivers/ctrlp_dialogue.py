"""Question and answer on a Ctrl-P line, with live data in between."""

import math
import time

from app.drivers.ctrlp_codec import Echo, LineReader, LiveData, command, parse
from app.drivers.transport import SerialLine
from app.errors import FrameError

__all__ = ["Dialogue"]

_MOST_READS = 64
"""Of a line on which bytes come without end."""


class Dialogue:
    """Sends commands, matches their echoes, keeps the newest live data.

    Attributes:
        fresh_ns: when live data last came, CLOCK_MONOTONIC [ns].
        has_restarted: the time in the live data went back; the owner resets it.
    """

    def __init__(self, line: SerialLine, channels: int, timeout_ns: int) -> None:
        """Describe it; nothing is opened.

        Args:
            line: its port.
            channels: values in a line of live data.
            timeout_ns: longest wait for an echo [ns].
        """
        self._line = line
        self._channels = channels
        self._timeout_ns = timeout_ns
        self.reset()

    def reset(self) -> None:
        """Forget all that was heard."""
        self._reader = LineReader()
        self._newest: LiveData | None = None
        self._is_used = True
        self.has_restarted = False
        self.fresh_ns = time.monotonic_ns()

    def open(self) -> None:
        """Open the port and end whatever half a line the controller still holds.

        Raises:
            DeviceError: the port cannot be opened.
        """
        self._line.open()
        self.discard()
        self.reset()
        self._line.write(b"\n")

    def discard(self) -> None:
        """Throw away what has come in: it says what was."""
        self._line.discard_input()
        self._is_used = True

    def drain(self) -> None:
        """Hear all that has come in.

        Raises:
            DeviceError: unplugged.
        """
        for _ in range(_MOST_READS):
            if self.listen() is None:
                return

    def ask(self, name: str, values: list[float] | None = None) -> Echo | None:
        """Send a command.

        Returns:
            Its echo, or the one that says that it is not known ("unrec"); None where
            neither came in time.

        Raises:
            DeviceError: unplugged.
        """
        self.drain()  # an echo that came too late must not be taken for this one
        self._line.write(command(name, values or []))
        deadline_ns = time.monotonic_ns() + self._timeout_ns
        while time.monotonic_ns() < deadline_ns:
            for echo in self.listen(deadline_ns) or []:
                if echo.name in {name, "unrec"}:
                    return echo
        return None

    def numbers(self, name: str, values: list[float]) -> tuple[float, ...] | None:
        """Ask; return the echo's numbers, None where it is missing or not of numbers.

        Raises:
            DeviceError: unplugged.
        """
        echo = self.ask(name, values)
        if echo is None or echo.name != name:
            return None
        try:
            numbers = echo.numbers()
        except FrameError:
            return None
        return numbers if all(math.isfinite(number) for number in numbers) else None

    def listen(self, deadline_ns: int = 0) -> list[Echo] | None:
        """Read what is there, waiting for something until a deadline.

        Returns:
            The echoes in it; None where nothing came.

        Raises:
            DeviceError: unplugged.
        """
        received = self._line.read(deadline_ns)
        if not received:
            return None
        echoes = []
        for line in self._reader.feed(received):
            try:
                said = parse(line)
            except FrameError:
                continue
            if isinstance(said, Echo):
                echoes.append(said)
            else:
                self._keep(said)
        return echoes

    def wait_for_live_data(self, deadline_ns: int) -> None:
        """Wait until live data come; `fresh_ns` is 0 where none did.

        Raises:
            DeviceError: unplugged.
        """
        self.fresh_ns = 0
        while not self.fresh_ns and time.monotonic_ns() < deadline_ns:
            self.listen(deadline_ns)

    def take_measured(self, deadline_ns: int) -> tuple[float, ...] | None:
        """Return what was measured and not yet taken, waiting for it.

        Returns:
            The newest values, in the controller's unit; None where none came.

        Raises:
            DeviceError: unplugged.
        """
        while self._is_used and time.monotonic_ns() < deadline_ns:
            self.listen(deadline_ns)
        if self._is_used or self._newest is None:
            return None
        self._is_used = True
        return self._newest.values

    def _keep(self, data: LiveData) -> None:
        if data.kind != "measured" or len(data.values) != self._channels:
            return
        before = self._newest
        if before is not None and (data.time_ms - before.time_ms) % 2**32 > 2**31:
            self.has_restarted = True
        self._newest = data
        self._is_used = False
        self.fresh_ns = time.monotonic_ns()
