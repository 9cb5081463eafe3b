"""Modbus driver and virtual devices against pymodbus's own server and client."""

import asyncio
import os
import pty
import select
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from pymodbus import FramerType
from pymodbus.client import ModbusSerialClient, ModbusTcpClient
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from app.drivers.base import Action
from app.drivers.modbus_parameters import ModbusParameters, build_modbus
from app.drivers.virtual.modbus import virtual_modbus


@contextmanager
def _null_modem() -> Iterator[tuple[str, str]]:
    """Two serial ports, joined crosswise."""
    near = [pty.openpty() for _ in range(2)]
    for pair in near:
        for end in pair:
            tty.setraw(end)
    masters = [pair[0] for pair in near]
    stop_read, stop_write = os.pipe()

    def pump() -> None:
        other = {masters[0]: masters[1], masters[1]: masters[0]}
        while True:
            ready, _, _ = select.select([*masters, stop_read], [], [])
            if stop_read in ready:
                return
            for end in ready:
                os.write(other[end], os.read(end, 4096))

    thread = threading.Thread(target=pump)
    thread.start()
    try:
        yield os.ttyname(near[0][1]), os.ttyname(near[1][1])
    finally:
        os.write(stop_write, b"\0")
        thread.join()
        for end in (*near[0], *near[1], stop_read, stop_write):
            os.close(end)


class _Server:
    """pymodbus's server with its simulated registers, in a thread of its own."""

    def __init__(self, device: SimDevice, serial_port: str | None) -> None:
        self._device, self._serial_port = device, serial_port
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        if self._serial_port is None:
            self._server = ModbusTcpServer(self._device, address=("127.0.0.1", 0))
        else:
            self._server = ModbusSerialServer(
                self._device,
                port=self._serial_port,
                baudrate=9600,
                framer=FramerType.RTU,
            )
        self._loop = asyncio.get_running_loop()
        await self._server.serve_forever(background=True)
        if self._serial_port is None:
            self.port = self._server.transport.sockets[0].getsockname()[1]
        self._ready.set()
        await self._server.serving
        await asyncio.sleep(0)

    def __enter__(self) -> "_Server":
        self._thread.start()
        assert self._ready.wait(10.0)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.shutdown(), self._loop).result(10)
        self._thread.join()


def _held(first: int, words: list[int]) -> SimData:
    return SimData(first, values=words, datatype=DataType.REGISTERS)


def test_the_driver_writes_a_simulated_board_over_rtu() -> None:
    seen: list[list[int]] = []

    async def note(
        function: int,
        start: int,
        address: int,
        count: int,
        current: list[int],
        new: list[int] | list[bool] | None,
    ) -> None:
        if new is not None:
            seen.append([function, address, *map(int, new)])

    board = SimDevice(1, simdata=[_held(0, [0] * 8), _held(0x8000, [100])], action=note)
    with _null_modem() as (ours, theirs), _Server(board, theirs):
        driver = build_modbus(
            ModbusParameters(
                port=ours,
                timeout_s=1.0,
                devices=[{"profile": "waveshare-ao8b"}],
                actuators=[{"outlet": i, "range_mv": [0, 9000]} for i in (1, 2, 4)],
            )
        )
        with driver:
            assert driver.identify()[0].firmware == "1.00"
            reading = driver.exchange(Action.FOLLOW, np.array([1000.4, 1e9, np.nan]))
            assert reading.answered.all()
            assert not reading.faults
    assert seen[0] == [16, 0, 0, 0, 0, 0], "opened at safe"
    assert seen[1] == [16, 0, 1000, 9000, 0, 0], "clamped; none yet is safe"
    assert seen[-1] == [16, 0, 0, 0, 0, 0], "closed at safe"
    np.testing.assert_allclose(reading.applied, [1000.0, 9000.0, 0.0])


def test_the_driver_runs_a_simulated_io_link_master_over_tcp() -> None:
    blocks = []
    for port in range(2):
        base = 1000 * (port + 1)
        blocks += [_held(base + 1, [3, 0x0800 - port]), _held(base + 101, [0])]
        blocks.append(_held(9000 + 6 * port, [0, 0, 0, 0, 0, 0x0100 * (1 - port)]))
    with _Server(SimDevice(1, simdata=blocks), None) as server:
        driver = build_modbus(
            ModbusParameters(
                host="127.0.0.1",
                tcp_port=server.port,
                timeout_s=1.0,
                devices=[{"profile": "ifm-al1940-itv", "full_scale_kpa": 100.0}],
                actuators=[{"outlet": i, "range_kpa": [0, 59.99]} for i in (1, 2)],
            )
        )
        with driver:
            assert len(driver.warnings) == 1
            assert "slot 2: fail-safe mode" in driver.warnings[0]
            reading = driver.exchange(Action.FOLLOW, np.array([50.0, 60.0]))
            assert reading.faults[0].text == driver.warnings[0]
            client = ModbusTcpClient("127.0.0.1", port=server.port)
            client.connect()
            assert client.read_holding_registers(1101).registers == [2048]
            # 59.99 kPa is nearer to count 2457, which lies above the range
            assert client.read_holding_registers(2101).registers == [2456]
            client.close()
    np.testing.assert_allclose(reading.measured, [204800 / 4095, 204700 / 4095])
    np.testing.assert_allclose(reading.applied, [204800 / 4095, 245600 / 4095])


@pytest.mark.parametrize("profile", ["waveshare-ao8b", "festo-vtem"])
def test_the_librarys_client_works_the_virtual_device(profile: str) -> None:
    rtu = profile == "waveshare-ao8b"
    unit = "range_mv" if rtu else "range_kpa"
    carrier, parameters = virtual_modbus(
        ModbusParameters(
            **({"port": "-"} if rtu else {"host": "-"}),
            devices=[{"profile": profile}],
            actuators=[{"outlet": i + 1, unit: [0, 900]} for i in range(4)],
        )
    )
    with carrier:
        client: ModbusSerialClient | ModbusTcpClient
        if rtu:
            client = ModbusSerialClient(str(parameters.port), baudrate=9600)
        else:
            client = ModbusTcpClient("127.0.0.1", port=parameters.tcp_port)
        assert client.connect()
        first = 0 if rtu else 40_004
        if not rtu:
            assert not client.write_register(40_003, 0x00C3).isError()
            status = client.read_holding_registers(45_395, count=3).registers
            assert status[0] in (0x03, 0x83), "asked at once it is on its way"
        assert not client.write_register(first, 500).isError()
        assert client.read_holding_registers(first).registers == [500]
        both = client.write_registers(first, [100, 200])
        assert both.count == 2
        assert client.read_holding_registers(first, count=2).registers == [100, 200]
        refused = client.read_holding_registers(7, count=2)
        assert refused.isError()
        assert refused.exception_code == 2
        assert client.read_coils(0).exception_code == 1
        client.close()
