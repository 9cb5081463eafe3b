"""`limblink link` alone between two ends: it carries, tells, and leaves nothing."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.link.emulator_protocol import (
    EmulatorSettings,
    EmulatorStatus,
    decode_status,
    encode_settings,
)
from app.link.endpoint import Endpoint
from tests.system.rig import wait_for

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]

_PEER = """
import sys
from app.link.endpoint import Endpoint
with Endpoint(sys.argv[1], "connect") as end:
    while True:
        for _, packet in end.receive(20):
            end.send(packet)
"""


class Emulator:
    """A process of `limblink link`, and the way to its three addresses."""

    def __init__(self, folder: Path, *words: str, tty: int | None = None) -> None:
        self.folder = folder
        self.addresses = {
            name: f"ipc://{folder}/{name}" for name in ("station", "robot", "control")
        }
        options = [
            word
            for name, address in self.addresses.items()
            for word in (f"--{name}", address)
        ]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "link", *words, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if tty is None else tty,
            text=True,
        )

    def end(self, number: int = signal.SIGTERM) -> tuple[str, str]:
        """End it by a signal; return what it printed."""
        self.process.send_signal(number)
        out, error = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, error
        assert list(self.folder.iterdir()) == []
        return out, error or ""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Emulator]]:
    """Start an emulator; it is killed where a test leaves it."""
    begun: list[Emulator] = []

    def make(*words: str, tty: int | None = None) -> Emulator:
        folder = tmp_path / "sockets"
        folder.mkdir(exist_ok=True)
        begun.append(Emulator(folder, *words, tty=tty))
        return begun[-1]

    yield make
    for emulator in begun:
        if emulator.process.poll() is None:
            emulator.process.kill()
            emulator.process.communicate()


def _echoes(near: Endpoint, far: Endpoint, packet: bytes) -> bool:
    near.send(packet)
    return packet in [body for _, body in far.receive(20)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_carries_both_ways_sums_up_and_leaves_nothing(
    start: Callable[..., Emulator], number: int
) -> None:
    emulator = start("ideal", "--json")
    with (
        Endpoint(emulator.addresses["station"], "connect") as station,
        Endpoint(emulator.addresses["robot"], "connect") as robot,
    ):
        wait_for("down", lambda: _echoes(station, robot, b"\x20 any bytes"))
        wait_for("up", lambda: _echoes(robot, station, b"\xfe\0\xff"))
    out, error = emulator.end(number)
    summary = json.loads(out.splitlines()[-1])
    assert summary["link"] == "ideal"
    assert summary["packets"]["down.delivered"] >= 1
    assert summary["packets"]["up.delivered"] >= 1
    assert error == ""  # no progress where nobody looks


def test_a_killed_end_is_missed_and_may_come_back(
    start: Callable[..., Emulator],
) -> None:
    emulator = start("ideal")
    command = [sys.executable, "-c", _PEER, emulator.addresses["robot"]]
    with Endpoint(emulator.addresses["station"], "connect") as station:
        for _ in range(2):
            peer = subprocess.Popen(command)
            try:
                wait_for("an echo", lambda: _echoes(station, station, b"\x20 ping"))
            finally:
                peer.send_signal(signal.SIGKILL)
                peer.wait()
            station.receive(50)
        assert emulator.process.poll() is None
    emulator.end()


def test_outage_distance_and_trace_are_in_force(
    start: Callable[..., Emulator], tmp_path: Path
) -> None:
    trace = tmp_path / "sea.csv"
    trace.write_text("time_s,loss\n0,1\n")
    emulator = start(
        "acoustic-hs", "--distance", "150", "--outage", "0:1e6",
        "--trace", str(trace), "--trace-end", "hold",
    )  # fmt: skip
    with Endpoint(emulator.addresses["control"], "connect") as control:
        told: list[EmulatorStatus] = []

        def hears(revision: int) -> bool:
            if revision >= 0:
                control.send(encode_settings(EmulatorSettings(revision, "tether")))
            told.extend(decode_status(packet) for _, packet in control.receive(50))
            return bool(told) and told[-1].revision == revision

        wait_for("a status", lambda: hears(-1))
        assert told[-1].cut
        assert told[-1].delay_ms == pytest.approx(400.0)
        wait_for("other settings", lambda: hears(1))
        assert (told[-1].cut, told[-1].delay_ms) == (False, 3.0)
    emulator.end()


def test_a_person_sees_a_line_a_second(start: Callable[..., Emulator]) -> None:
    near, far = pty.openpty()
    try:
        emulator = start("tether", "--seconds", "2.5", "--outage", "0:1.5", tty=far)
        emulator.process.communicate(timeout=30)
        said = os.read(near, 65536).decode()
    finally:
        os.close(near)
        os.close(far)
    lines = said.splitlines()
    assert 2 <= len(lines) <= 3
    assert "tether OUT" in lines[0]
    assert "OUT" not in lines[-1]
    assert "kbit/s" in lines[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("tether", "--outage", "5"), "START:LENGTH"),
        (("tether", "--outage", "5:9:3"), "period_s must be longer"),
        (("tether", "--distance", "10"), "does not depend on distance"),
        (("tether", "--trace", "none.csv"), "none.csv cannot be read"),
        (("carrier-pigeon",), "Shipped: acoustic-hs"),
        (("tether", "--station", "tcp://0.0.0.0:5600"), "keys are"),
    ],
)
def test_a_wrong_option_is_a_sentence(words: tuple[str, ...], told: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "app", "link", *words],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "COLUMNS": "300"},
    )  # fmt: skip
    assert result.returncode == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_help_has_examples() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "app", "link", "--help"],
        capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    for words in ("--outage 30:5", "--trace sea-trial.csv", "--distance 400", "--json"):
        assert words in result.stdout
