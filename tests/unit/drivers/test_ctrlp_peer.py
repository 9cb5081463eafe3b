"""The ctrlp package (Harvard's own client) as an independent peer.

Its command table, checker and serial client run against the virtual controller; the
lines that the driver sends are checked against its table.
"""

import time
from collections.abc import Iterator

import numpy as np
import pytest
from ctrlp import CommandValidator, CommHandler

from app.clock import NS_PER_S
from app.drivers.base import Action
from app.drivers.ctrlp import CtrlPActuator, CtrlPParameters, build_ctrlp
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.ctrlp import VirtualCtrlP

N = 4
SPEC = "2.5"
TABLE = CommandValidator(SPEC, N)
NAMES = [spec["cmd"] for spec in TABLE.cmd_spec["commands"]]


def echo_of(device: VirtualCtrlP, line: str) -> tuple[str, list[str]]:
    """Give a line to the controller; let the package's own reader read the echo."""
    said = device.feed(0, line.encode()).decode()
    assert said.count("\n") == 1, said
    out = TABLE.process_line(said.strip())
    assert out is not None
    fields, kind = out
    assert kind == "echo"
    return fields["_command"], [word.strip() for word in fields["_args"]]


def test_the_table_is_the_whole_one() -> None:
    assert len(NAMES) == 44


@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_the_table_is_known(name: str) -> None:
    least, most = TABLE.get_spec(name)["num_args"]
    for count in sorted({least, most}):
        values = [float(place + 1) for place in range(count)]
        line = TABLE.build_cmd_string(name, values)
        command, words = echo_of(VirtualCtrlP(N), line)
        assert command == name
        if values and name not in {"echo", "units", "set", "chan"}:
            assert {float(word) for word in words if word} <= set(values)


def test_what_is_not_in_the_table_is_not_known() -> None:
    assert echo_of(VirtualCtrlP(N), "intype;1\n")[0] == "unrec"


def test_the_driver_sends_what_the_table_allows() -> None:
    device = VirtualCtrlP(N)
    heard: list[bytes] = []

    def listen(data: bytes) -> bytes:
        heard.append(data)
        return data

    device.damage_in = listen
    with PtyCarrier(device) as carrier:
        parameters = CtrlPParameters(
            driver="ctrlp",
            port=carrier.path,
            timeout_ms=200.0,
            vent_above_kpa=90.0,
            actuators=tuple(
                CtrlPActuator(name=f"chamber {i}", greatest_kpa=60.0) for i in range(N)
            ),
        )
        with build_ctrlp(parameters) as driver:
            for action in Action:
                driver.exchange(action, np.full(N, 20.0))
    lines = [line for line in b"".join(heard).decode().split("\n") if line]
    assert len(lines) > 15
    for line in lines:
        name, *values = line.split(";")
        spec = TABLE.get_spec(name)
        assert spec is not None, line
        asks = not values  # the firmware answers a bare command with what is set
        least, most = spec["num_args"]
        assert asks or least <= len(values) <= most, line


@pytest.fixture
def client() -> Iterator[tuple[CommHandler, VirtualCtrlP]]:
    device = VirtualCtrlP(N)
    with PtyCarrier(device) as carrier:
        handler = CommHandler()
        handler.set_serial_settings(
            [
                {
                    "devname": carrier.path,
                    "baudrate": 115_200,
                    "num_channels": N,
                    "cmd_spec": SPEC,
                    "type": "pressure",
                }
            ]
        )
        handler.initialize()
        handler.s[0].timeout = 1.0  # its own 0 tears lines
        yield handler, device
        handler.shutdown()


def until(handler: CommHandler, key: str) -> dict[str, object]:
    """Read with the package's client until a message holds a key."""
    deadline_ns = time.monotonic_ns() + 5 * NS_PER_S
    while time.monotonic_ns() < deadline_ns:
        for message in handler.read_all() or []:
            if message[0] is not None and key in message[0]:
                return dict(message[0])
    raise AssertionError(f"The client never read a {key}.")


def test_the_package_s_client_drives_the_controller(
    client: tuple[CommHandler, VirtualCtrlP],
) -> None:
    handler, device = client
    handler.send_command("units", [0, 0])
    assert until(handler, "_command")["_args"] == ["psi", "psi"]
    handler.send_command("set", [0, 1, 2, 3, 4])
    assert until(handler, "_command")["_command"] == "set"
    assert device.setpoint_kpa == pytest.approx([6.8948, 13.7895, 20.684, 27.579], 1e-4)
    handler.send_command("time", 20)
    handler.send_command("on")
    data = until(handler, "measured")
    assert data["setpoints"] == [1.0, 2.0, 3.0, 4.0]
    assert len(data["measured"]) == N  # type: ignore[arg-type]
