"""Builds the firmware's core for this computer and speaks to it in virtual time."""

import shutil
import struct
import subprocess
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

_FLAGS = (
    "-std=c++11",
    "-O1",
    "-g",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Werror",
    "-fno-exceptions",
    "-fno-rtti",
)
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def firmware_folder() -> Path:
    return Path(str(resources.files("assets").joinpath("firmware")))


def compiler() -> str:
    found = shutil.which("g++")
    if found is None:
        raise AssertionError("No g++ here; scripts/setup test installs it.")
    return found


def build_host(folder: Path) -> Path:
    """Compile assets/firmware/host, with sanitizers where this computer has them."""
    root = firmware_folder()
    sources = [
        str(root / "host" / "main.cpp"),
        str(root / "limblink_board" / "board_core.cpp"),
        str(root / "limblink_board" / "board_frame.cpp"),
    ]
    program = folder / "board_host"
    command = [compiler(), *_FLAGS, *sources, "-o", str(program)]
    with_sanitizers = subprocess.run(
        [*command, *_SANITIZERS], capture_output=True, text=True, check=False
    )
    if with_sanitizers.returncode != 0:
        subprocess.run(command, check=True)
    return program


class Answer(NamedTuple):
    sent: bytes
    output_mv: tuple[int, ...]
    vented: bool


class ScriptedBoard:
    """The compiled core; the time is what each record says."""

    def __init__(self, program: Path, channels: int) -> None:
        self.channels = channels
        self._process = subprocess.Popen(
            [str(program), "script", str(channels)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _, complaints = self._process.communicate()
        if kind is None:
            assert self._process.returncode == 0, complaints.decode()

    def feed(
        self,
        now_ms: int,
        received: bytes,
        measured_mv: Sequence[int] | None = None,
        load_ma: Sequence[int] | None = None,
        *,
        dac_fails: bool = False,
    ) -> Answer:
        n = self.channels
        words = [*(measured_mv or [0] * n), *(load_ma or [0] * n)]
        head = struct.pack(f"<IB{2 * n}HH", now_ms, dac_fails, *words, len(received))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(head + received)
        self._process.stdin.flush()
        out = self._process.stdout
        (length,) = struct.unpack("<H", self._exactly(2))
        sent = self._exactly(length)
        *output_mv, vent = struct.unpack(f"<{n}HB", self._exactly(2 * n + 1))
        assert not out.closed
        return Answer(sent, tuple(output_mv), bool(vent))

    def _exactly(self, length: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(length)
        if len(data) != length:
            _, complaints = self._process.communicate()
            raise AssertionError(f"The firmware ended: {complaints.decode()}")
        return data


class LiveBoard:
    """The compiled core on a pseudo terminal, in real time."""

    def __init__(self, program: Path, channels: int) -> None:
        self._process = subprocess.Popen(
            [str(program), "pty", str(channels)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.path = self._process.stdout.readline().strip()
        self.vent_moves: list[tuple[int, str]] = []
        """When the vent opened or shut, CLOCK_MONOTONIC [ms]; known after the end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        told, complaints = self._process.communicate()
        for line in told.splitlines():
            at_ms, _, state = line.split()
            self.vent_moves.append((int(at_ms), state))
        if kind is None:
            assert self._process.returncode == 0, complaints
