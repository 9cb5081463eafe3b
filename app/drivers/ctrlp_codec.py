r"""Lines of the Ctrl-P protocol (Harvard's pressure_controller, command set 2.x).

    to the controller     name;value;value…\n
    echo of a command     _[NEW ]NAME: value<TAB>value…\r\n    NEW: something was set
    live data             time_ms<TAB>kind<TAB>value<TAB>value…\r\n

The protocol has no checksum, no address and no sequence number: a damaged line can
still be a valid one, and a `set` that lost its end sets all channels to its first
value. What tells is the echo, which repeats the values taken, with two decimals.

All is pure: bytes in, lines out, and nothing but FrameError on any bytes.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.errors import FrameError

__all__ = [
    "KPA_PER_UNIT",
    "LONGEST_LINE",
    "DataKind",
    "Echo",
    "LineReader",
    "LiveData",
    "Unit",
    "command",
    "parse",
]

LONGEST_LINE = 512
"""Bytes; a longer line is thrown away unread."""
Unit = Literal["psi", "kpa"]
KPA_PER_UNIT: dict[Unit, float] = {"psi": 6.89475729, "kpa": 1.0}
"""The firmware's own factor, which is a little off the exact 6.894757293."""
DataKind = Literal["setpoints", "measured", "input pressure"]
_KINDS: tuple[DataKind, ...] = ("setpoints", "measured", "input pressure")
_NUMBER = re.compile(r"[-+]?\d{1,10}(\.\d{0,10})?$")
_NOT_FINITE = frozenset({"nan", "-nan", "inf", "-inf", "ovf", "-ovf"})
_NAME = re.compile(r"[a-z]+$")


@dataclass(frozen=True)
class Echo:
    """What a controller says after a command.

    Attributes:
        name: of the command, in small letters; "unrec" for one it does not know.
        is_new: it has set something.
        words: the rest, split at tabs.
    """

    name: str
    is_new: bool
    words: tuple[str, ...]

    def numbers(self) -> tuple[float, ...]:
        """Return the words as numbers.

        Raises:
            FrameError: a word is no number.
        """
        return tuple(_number(word) for word in self.words)


@dataclass(frozen=True)
class LiveData:
    """One line of live data.

    Attributes:
        time_ms: since the controller started [ms]; wraps at 2^32.
        kind: what the values are.
        values: in the controller's output unit; NaN where it printed no finite number.
    """

    time_ms: int
    kind: DataKind
    values: tuple[float, ...]


def command(name: str, values: Sequence[float] = ()) -> bytes:
    """Return one command line; values have two decimals, as the echo has.

    Raises:
        FrameError: a value is not finite.
    """
    if not all(math.isfinite(value) for value in values):
        raise FrameError(f"{name}: {list(values)} holds a value that is not finite.")
    words = [f"{value + 0.0:.2f}" for value in values]
    return (";".join([name, *words]) + "\n").encode("ascii")


def parse(line: bytes) -> Echo | LiveData:
    """Read one line, without its end.

    Raises:
        FrameError: neither an echo nor live data; says what is wrong.
    """
    try:
        text = line.decode("ascii").strip(" \r\t")
    except UnicodeDecodeError as error:
        raise FrameError(f"Not ASCII: {error}.") from error
    return _echo(text[1:]) if text.startswith("_") else _live_data(text)


def _echo(text: str) -> Echo:
    is_new = text.startswith("NEW ")
    name, _, rest = text.removeprefix("NEW ").partition(":")
    name = name.strip().lower()
    if not _NAME.match(name):
        raise FrameError(f"No command's name in the echo {text[:40]!r}.")
    words = tuple(word.strip() for word in rest.split("\t"))
    return Echo(name, is_new, words if any(words) else ())


def _live_data(text: str) -> LiveData:
    words = text.split("\t")
    if len(words) < 3:
        raise FrameError(f"Neither an echo nor live data: {text[:40]!r}.")
    if not re.match(r"\d{1,10}$", words[0]) or words[1] not in {"0", "1", "2"}:
        raise FrameError(f"No time and kind of live data: {text[:40]!r}.")
    values = tuple(_number(word) for word in words[2:])
    return LiveData(int(words[0]), _KINDS[int(words[1])], values)


def _number(word: str) -> float:
    if word.lower() in _NOT_FINITE:
        return math.nan
    if not _NUMBER.match(word):
        raise FrameError(f"Not a number: {word[:20]!r}.")
    return float(word)


class LineReader:
    """Cuts a stream of bytes at its line feeds; holds at most one line."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._too_long = False

    def feed(self, received: bytes) -> list[bytes]:
        """Take bytes as they come, in any pieces; return each whole line."""
        lines = []
        *ended, rest = received.split(b"\n")
        for piece in ended:
            self._hold(piece)
            if not self._too_long:
                lines.append(bytes(self._held))
            self._held.clear()
            self._too_long = False
        self._hold(rest)
        return lines

    def _hold(self, piece: bytes) -> None:
        if len(self._held) + len(piece) > LONGEST_LINE:
            self._too_long = True
            self._held.clear()
        if not self._too_long:
            self._held += piece
