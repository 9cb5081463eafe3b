"""Serial ports as the operating system lists them, and lines over a pseudo terminal."""

import contextlib
import errno
import os
import pty
import select
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers import transport
from app.drivers.transport import SerialLine
from app.errors import DeviceError


def test_ports_by_path_with_what_hangs_on_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usable = tmp_path / "ttyUSB0"
    usable.touch()
    rows = [
        SimpleNamespace(
            device=str(tmp_path / "ttyUSB1"), name="ttyUSB1", description="n/a"
        ),
        SimpleNamespace(device=str(usable), name="ttyUSB0", description="U2D2"),
    ]
    monkeypatch.setattr(transport.list_ports, "comports", lambda: rows)
    first, second = transport.list_serial_ports()
    assert (first.description, first.permitted) == ("U2D2", True)
    assert (second.description, second.permitted) == ("ttyUSB1", False)


def test_the_real_list_is_readable() -> None:
    for port in transport.list_serial_ports():
        assert port.device.startswith("/dev/")
        assert port.description


@pytest.fixture
def pair() -> Iterator[tuple[int, str]]:
    """A pseudo terminal: the near end's descriptor, the far end's path."""
    near, far = pty.openpty()
    tty.setraw(near)
    path = os.ttyname(far)
    os.close(far)
    yield near, path
    with contextlib.suppress(OSError):
        os.close(near)


def soon() -> int:
    return time.monotonic_ns() + 5 * NS_PER_S


def test_bytes_go_both_ways(pair: tuple[int, str]) -> None:
    near, path = pair
    with SerialLine(path, 4_500_000, parity="E", stop_bits=2) as line:
        line.write(b"out")
        assert line.drain(soon())
        assert os.read(near, 10) == b"out"
        os.write(near, b"in")
        assert line.read(soon()) == b"in"
    assert not line.is_open
    line.close()


def test_reading_ends_at_its_deadline(pair: tuple[int, str]) -> None:
    _, path = pair
    with SerialLine(path, 9600) as line:
        assert line.read(time.monotonic_ns() - 1) == b""
        assert line.read(time.monotonic_ns() + NS_PER_MS) == b""


def test_what_was_discarded_is_not_read(pair: tuple[int, str]) -> None:
    near, path = pair
    with SerialLine(path, 9600) as line:
        os.write(near, b"old")
        assert select.select([line._need_port().fileno()], [], [], 5.0)[0]
        line.discard_input()
        os.write(near, b"new")
        assert line.read(soon()) == b"new"


def test_a_second_opener_is_refused_and_told_why(pair: tuple[int, str]) -> None:
    _, path = pair
    with (
        SerialLine(path, 9600),
        pytest.raises(DeviceError, match="in use by another program"),
    ):
        SerialLine(path, 9600).open()


def test_a_missing_port_lists_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [transport.SerialPort("/dev/ttyUSB7", "U2D2", permitted=True)]
    monkeypatch.setattr(transport, "list_serial_ports", lambda: there)
    with pytest.raises(DeviceError, match=r"No serial port /dev/none.*/dev/ttyUSB7"):
        SerialLine("/dev/none", 9600).open()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(errno.EACCES, "no"), "usermod -aG dialout"),
        (OSError(errno.EBUSY, "no"), "in use by another program"),
        (OSError(errno.EIO, "no"), "cannot be opened as a serial port"),
        (ValueError("Not a valid baudrate"), "with these settings"),
    ],
)
def test_what_the_system_refuses_is_told_with_its_cure(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(transport.serial, "Serial", refuse)
    with pytest.raises(DeviceError, match=words):
        SerialLine("/dev/null", 9600).open()


def test_a_file_is_no_port(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(DeviceError, match="cannot be opened as a serial port"):
        SerialLine(str(path), 9600).open()


@pytest.mark.parametrize("what", ["read", "write", "drain", "discard_input"])
def test_an_unplugged_port_is_told_and_can_be_closed(
    pair: tuple[int, str], what: str
) -> None:
    near, path = pair
    with SerialLine(path, 9600) as line:
        os.close(near)
        uses: dict[str, Callable[[], object]] = {
            "read": lambda: line.read(soon()),
            "write": lambda: line.write(b"x"),
            "drain": lambda: line.drain(soon()),
            "discard_input": line.discard_input,
        }
        with pytest.raises(DeviceError, match=r"is gone.*Plug the device in again"):
            uses[what]()


def test_a_write_that_nobody_takes_ends(
    pair: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = pair
    monkeypatch.setattr(transport, "_WRITE_S", 0.01)
    with (
        SerialLine(path, 9600) as line,
        pytest.raises(DeviceError, match="takes no bytes"),
    ):
        line.write(bytes(1_000_000))


def test_a_line_that_is_not_open_says_so() -> None:
    with pytest.raises(DeviceError, match="is not open"):
        SerialLine("/dev/none", 9600).write(b"")
