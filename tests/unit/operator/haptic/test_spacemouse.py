"""SpaceMouse: golden HID reports, finding, silence, unplugging."""

import os
import struct
from pathlib import Path

import pytest

from app.clock import NS_PER_MS, VirtualClock
from app.errors import DeviceError
from app.operator.haptic.spacemouse import SpaceMouse, find_caps
from app.operator.haptic.spacemouse_reports import (
    CapReport,
    decode_report,
    encode_cap,
)
from app.operator.haptic.virtual_spacemouse import VirtualSpaceMouse, cap_hand

TOLERANCE = 1.0 / 350.0  # a count


def test_translation_of_a_wired_model() -> None:
    # 350 to the right, 175 toward the user, 35 down
    report = bytes.fromhex("01 5e01 af00 2300".replace(" ", ""))
    assert decode_report(report) == CapReport(translation=(1.0, -0.5, -0.1))


def test_translation_and_rotation_in_one_report() -> None:
    report = struct.pack("<B6h", 1, -350, 0, 0, 70, 0, -350)
    told = decode_report(report)
    assert told.translation == (-1.0, 0.0, 0.0)
    assert told.rotation == (0.2, 0.0, 1.0)


def test_rotation_buttons_and_what_is_not_known() -> None:
    assert decode_report(struct.pack("<B3h", 2, 0, -350, 0)).rotation == (0, 1, 0)
    assert decode_report(bytes([3, 0b10])).buttons == 2
    assert decode_report(bytes([3, 0, 0, 0x40, 0])).buttons == 1 << 22
    for unknown in (b"", b"\x17\x64", b"\x01\x00", b"\x03"):
        assert decode_report(unknown) == CapReport()


def test_more_than_full_is_full() -> None:
    assert decode_report(struct.pack("<B3h", 1, 32767, -32768, 0)).translation == (
        1.0,
        1.0,
        0.0,
    )


def test_reports_of_the_virtual_cap_are_the_same() -> None:
    translation, rotation, buttons = encode_cap((1.0, -0.5, -0.1), (0, 0, 0), 1)
    assert translation == bytes.fromhex("015e01af002300")
    assert rotation == bytes.fromhex("02000000000000")
    assert buttons == bytes.fromhex("0301000000")


class Desk:
    """A cap and its reader on a virtual clock."""

    def __init__(self) -> None:
        self.clock = VirtualClock(NS_PER_MS)
        self.cap = VirtualSpaceMouse(cap_hand("firm"))
        self.mouse = SpaceMouse(opener=self.cap.open, clock=self.clock)

    def run(self, milliseconds: int):
        reading = None
        for _ in range(milliseconds):
            now_ns = self.clock.wait_until(self.clock.now_ns() + NS_PER_MS)
            self.cap.advance(now_ns)
            reading = self.mouse.read()
        return reading


@pytest.fixture
def desk():
    made = Desk()
    made.mouse.open()
    yield made
    made.mouse.close()
    made.cap.close()


def test_a_pushed_cap_is_read(desk: Desk) -> None:
    import numpy as np

    desk.cap.hand.reference = np.array([0.005, 0.002, 0.0])
    reading = desk.run(500)
    model = desk.cap.hand.model
    share = model.arm_stiffness / (model.arm_stiffness + model.device_stiffness)
    expected = (0.005 * share / 3e-3, 0.002 * share / 3e-3, 0.0)
    assert reading.rate == pytest.approx(expected, abs=TOLERANCE)
    assert reading.buttons == 1


def test_a_cap_at_rest_may_be_silent(desk: Desk) -> None:
    reading = desk.run(1000)
    assert reading.buttons == 1
    assert reading.rate == (0.0, 0.0, 0.0)
    assert desk.mouse.notice == ""


def test_a_lost_radio_lets_go(desk: Desk) -> None:
    import numpy as np

    desk.cap.hand.reference = np.array([0.005, 0.0, 0.0])
    assert desk.run(300).rate[0] > 0.2
    desk.cap.silent = True
    assert desk.run(100).rate[0] > 0.2
    reading = desk.run(100)
    assert (reading.rate, reading.buttons) == ((0.0, 0.0, 0.0), 0)
    assert "silent" in desk.mouse.notice
    desk.cap.silent = False
    assert desk.run(50).rate[0] > 0.2
    assert desk.mouse.notice == ""


def list_device(folder: Path, number: int, name: str, identity: str) -> None:
    entry = folder / "system" / f"hidraw{number}" / "device"
    entry.mkdir(parents=True)
    entry.joinpath("uevent").write_text(
        f"DRIVER=hid-generic\nHID_ID={identity}\nHID_NAME={name}\n", encoding="utf-8"
    )


def test_caps_are_found_by_their_makers_numbers(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    (nodes / "hidraw2").touch()
    list_device(tmp_path, 0, "A mouse", "0003:0000046D:0000C077")
    list_device(tmp_path, 1, "SpaceNavigator", "0003:0000046D:0000C626")
    list_device(tmp_path, 2, "SpaceMouse Compact", "0003:0000256F:0000C635")
    list_device(tmp_path, 3, "Nonsense", "nonsense")
    (tmp_path / "system" / "hidraw4").mkdir()
    found = find_caps(tmp_path / "system", nodes)
    assert [(cap.path.name, cap.name) for cap in found] == [
        ("hidraw1", "SpaceNavigator"),
        ("hidraw2", "SpaceMouse Compact"),
    ]
    assert [cap.permitted for cap in found] == [False, True]


def test_a_node_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="cannot be opened"):
        SpaceMouse(tmp_path / "hidraw9").open()


def test_a_node_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hidraw0"
    os.mkfifo(path)
    mouse = SpaceMouse(path)
    mouse.open()
    writer = os.open(path, os.O_WRONLY)
    os.write(writer, bytes.fromhex("01 5e01 0000 0000".replace(" ", "")))
    reading = mouse.read()
    assert reading is not None
    assert reading.rate == (1.0, 0.0, 0.0)
    os.close(writer)
    with pytest.raises(DeviceError, match="unplugged"):
        mouse.read()
