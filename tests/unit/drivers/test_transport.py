"""Serial ports as the operating system lists them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from app.drivers import transport


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
