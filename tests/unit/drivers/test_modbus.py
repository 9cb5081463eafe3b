"""The Modbus driver against the virtual devices: actions, faults, recovery."""

from collections.abc import Callable

import numpy as np
import pytest

from app.drivers.base import Action, Reading
from app.drivers.modbus import ModbusDriver
from app.drivers.modbus_image import DeviceImage
from app.drivers.modbus_parameters import ModbusParameters, build_modbus
from app.drivers.modbus_profile import LineParameters, load_profile
from app.drivers.virtual.base import VirtualActuators, VirtualDevice
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.modbus import VirtualModbus, virtual_modbus
from app.drivers.virtual.modbus_frames import rtu_frame
from app.errors import ConfigError, DeviceError

_MS = 1_000_000


def _parameters(
    profile: str, outlets: int, *, devices: int = 1, **of_device: float
) -> ModbusParameters:
    of_kind = load_profile(profile)
    unit = "kPa" if "full_scale_kpa" in of_device else of_kind.unit
    key = "range_kpa" if unit == "kPa" else "range_mv"
    numbers = range(1, devices + 1)
    return ModbusParameters(
        **{"port": "-"} if of_kind.transport == "rtu" else {"host": "-"},
        devices=[{"number": n, "profile": profile, **of_device} for n in numbers],
        actuators=[
            {"device": n, "outlet": i + 1, key: [0, 60]}
            for n in numbers
            for i in range(outlets)
        ],
    )


def _follow_until(
    driver: ModbusDriver, setpoint: float, done: Callable[[Reading], bool]
) -> Reading:
    """Exchange until done; the test's own time limit is the guard."""
    wanted = np.full(len(driver.channels), setpoint)
    while True:
        reading = driver.exchange(Action.FOLLOW, wanted)
        if done(reading):
            return reading


class _Recorder(VirtualDevice):
    """Notes what passes; `spoil` may change an answer."""

    def __init__(self, inner: VirtualDevice) -> None:
        self.inner = inner
        self.actuators = inner.actuators
        self.asked: list[bytes] = []
        self.spoil: Callable[[bytes], bytes] = lambda answer: answer

    def feed(self, now_ns: int, received: bytes) -> bytes:
        self.asked.append(received)
        return self.spoil(self.inner.feed(now_ns, received))

    def advance(self, now_ns: int) -> bytes:
        return self.inner.advance(now_ns)


def test_the_conversation_with_the_board() -> None:
    """Bytes: Waveshare wiki (registers from 0, mV) and V1.1b3 sec 6.12."""
    carrier, parameters = virtual_modbus(_parameters("waveshare-ao8b", 2))
    inner = carrier.device
    carrier.close()
    recorder = _Recorder(inner)
    with PtyCarrier(recorder) as line:
        driver = build_modbus(parameters.model_copy(update={"port": line.path}))
        with driver:
            driver.exchange(Action.FOLLOW, np.array([16.0, 48.0]))
            driver.exchange(Action.HOLD, np.zeros(2))
            driver.exchange(Action.RELAX, np.zeros(2))
            driver.exchange(Action.SAFE, np.zeros(2))
        asked = b"".join(recorder.asked).hex()
    rest = "01 10 0000 0002 04 0000 0000 F3AF".replace(" ", "").lower()
    driven = "01 10 0000 0002 04 0010 0030 F276".replace(" ", "").lower()
    assert asked[:26] == rest
    assert [asked[i : i + 22] for i in range(0, len(asked), 26)] == [
        rest[:22],
        driven[:22],
        driven[:22],
        rest[:22],
        rest[:22],
        rest[:22],
    ]


@pytest.mark.parametrize("profile", ["waveshare-ao8b", "ifm-al1940-itv"])
def test_setpoints_arrive_and_are_told_back(profile: str) -> None:
    carrier, parameters = virtual_modbus(_parameters(profile, 3, full_scale_kpa=100.0))
    with carrier, build_modbus(parameters) as driver:
        reading = driver.exchange(Action.FOLLOW, np.array([10.0, 70.0, np.nan]))
        assert reading.answered.all()
        goal, _ = carrier.device.actuators.told()
        np.testing.assert_allclose(goal, reading.applied, atol=1e-9)
        np.testing.assert_allclose(reading.applied, [10.0, 60.0, 0.0], atol=0.03)
        assert (reading.applied <= 60.0).all()
        driver.exchange(Action.SAFE, np.zeros(3))
        assert not carrier.device.actuators.told()[0].any()


def test_measured_follows_with_lag_and_hysteresis() -> None:
    carrier, parameters = virtual_modbus(
        _parameters("ifm-al1940-itv", 1, full_scale_kpa=100.0), hysteresis_share=0.02
    )
    with carrier, build_modbus(parameters) as driver:
        up = _follow_until(driver, 30.0, lambda r: r.measured[0] > 28.9)
        _follow_until(driver, 60.0, lambda r: r.measured[0] > 58.9)
        down = _follow_until(driver, 30.0, lambda r: r.measured[0] < 31.1)
    assert up.measured[0] < 29.1
    assert down.measured[0] > 30.9


def test_nothing_moves_after_open_until_followed() -> None:
    carrier, parameters = virtual_modbus(_parameters("waveshare-ao8b", 2))
    with carrier, build_modbus(parameters) as driver:
        for action in (Action.HOLD, Action.RELAX, Action.SAFE):
            driver.exchange(action, np.full(2, 50.0))
            assert not carrier.device.actuators.told()[0].any()


def test_a_silent_board_does_not_stall_the_other_and_comes_back_relaxed() -> None:
    carrier, parameters = virtual_modbus(_parameters("waveshare-ao8b", 2, devices=2))
    board = carrier.device
    assert isinstance(board, VirtualModbus)
    wanted = np.full(4, 40.0)
    with carrier, build_modbus(parameters) as driver:
        assert driver.exchange(Action.FOLLOW, wanted).answered.all()
        board.stations[2].silent = True
        asked = [driver.exchange(Action.FOLLOW, wanted) for _ in range(30)]
        for reading in asked:
            assert reading.answered.tolist() == [True, True, False, False]
            assert [fault.channel for fault in reading.faults] == [2, 3]
        waits = sum(not np.isnan(reading.applied[2]) for reading in asked)
        assert waits < 4, "asked again only now and then"
        board.stations[2].silent = False
        back = _follow_until(driver, 40.0, lambda r: bool(r.answered.all()))
        assert back.applied.tolist() == [40.0, 40.0, 0.0, 0.0], "first a round of RELAX"
        again = driver.exchange(Action.FOLLOW, wanted)
        assert again.applied.tolist() == [40.0] * 4


def test_safe_is_tried_at_once_on_a_silent_board() -> None:
    carrier, parameters = virtual_modbus(_parameters("waveshare-ao8b", 1, devices=2))
    board = carrier.device
    assert isinstance(board, VirtualModbus)
    with carrier, build_modbus(parameters) as driver:
        driver.exchange(Action.FOLLOW, np.full(2, 40.0))
        board.stations[2].silent = True
        driver.exchange(Action.FOLLOW, np.full(2, 40.0))
        board.stations[2].silent = False
        assert board.actuators.told()[0].tolist() == [40.0, 40.0]
        assert driver.exchange(Action.SAFE, np.zeros(2)).answered.all()
        assert not board.actuators.told()[0].any()


def test_a_spoilt_answer_is_no_answer() -> None:
    carrier, parameters = virtual_modbus(_parameters("waveshare-ao8b", 1))
    board = carrier.device
    assert isinstance(board, VirtualModbus)
    with carrier, build_modbus(parameters) as driver:
        driver.exchange(Action.FOLLOW, np.array([40.0]))
        board.wrong_answers = 1
        reading = driver.exchange(Action.FOLLOW, np.array([40.0]))
        assert not reading.answered.any()
        assert "does not answer" in reading.faults[0].text
        _follow_until(driver, 40.0, lambda r: bool(r.answered.all()))


@pytest.mark.parametrize(
    "pdu", ["04 02 0001", "04 08 0000 0000 0000 0000", "03 04 0000 0000", "84 02"]
)
def test_an_answer_to_something_else_is_none(pdu: str) -> None:
    """The driver asks for input registers 0 and 1 (function 4)."""
    carrier, parameters = virtual_modbus(_parameters("generic-watchdog-ao", 1))
    recorder = _Recorder(carrier.device)
    carrier.close()
    with PtyCarrier(recorder) as line:
        at = parameters.model_copy(update={"port": line.path})
        with build_modbus(at) as driver:
            assert driver.exchange(Action.FOLLOW, np.array([40.0])).answered.all()
            wrong = rtu_frame(1, bytes.fromhex(pdu))
            recorder.spoil = lambda answer: wrong if answer[1:2] == b"\x04" else answer
            reading = driver.exchange(Action.FOLLOW, np.array([40.0]))
            assert not reading.answered.any()
            assert np.isnan(reading.measured).all()
            assert len(reading.faults) == 1


@pytest.mark.parametrize("profile", ["waveshare-ao8b", "festo-vtem"])
def test_no_wait_reads_the_wall_clock_or_polls(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's own waits use time.time and time.sleep; ours replace them."""
    carrier, parameters = virtual_modbus(_parameters(profile, 1))
    board = carrier.device
    assert isinstance(board, VirtualModbus)
    for name in ("serial", "tcp"):
        monkeypatch.setattr(f"pymodbus.client.{name}.time", None)
    with carrier, build_modbus(parameters) as driver:
        assert driver.exchange(Action.FOLLOW, np.array([40.0])).answered.all()
        board.stations[1].silent = True
        assert not driver.exchange(Action.FOLLOW, np.array([40.0])).answered.any()


def test_nobody_answering_is_an_error_at_open() -> None:
    carrier, parameters = virtual_modbus(_parameters("waveshare-ao8b", 1))
    board = carrier.device
    assert isinstance(board, VirtualModbus)
    board.stations[1].silent = True
    driver = build_modbus(parameters)
    with carrier, pytest.raises(DeviceError, match="device 1 does not answer"):
        driver.open()
    assert not driver.is_open


@pytest.mark.parametrize("profile", ["waveshare-ao8b", "festo-vtem"])
def test_unplugged_and_plugged_again(profile: str) -> None:
    before = _parameters(profile, 2)
    carrier, parameters = virtual_modbus(before)
    driver = build_modbus(parameters)
    driver.open()
    driver.exchange(Action.FOLLOW, np.full(2, 40.0))
    carrier.close()
    with pytest.raises(DeviceError, match="gone"):
        driver.exchange(Action.FOLLOW, np.full(2, 40.0))
    driver.close()
    with pytest.raises(DeviceError, match="cannot be opened"):
        driver.open()
    carrier, parameters = virtual_modbus(before)
    with carrier, build_modbus(parameters) as driver:
        reading = driver.exchange(Action.HOLD, np.full(2, 40.0))
        assert reading.answered.all()
        assert not carrier.device.actuators.told()[0].any()


def test_a_slot_is_activated_followed_and_its_error_acknowledged() -> None:
    image = DeviceImage(load_profile("festo-vtem"), (1, 2, 3))
    assert image.write_runs == [range(40_003, 40_008)]
    assert image.read_runs == [(3, range(45_395, 45_400))]

    def round_at(ms: int, status: int) -> tuple[dict[int, int], list[str]]:
        written, _ = image.write_image(ms * _MS, {1: 60.0, 2: 50.0, 3: 40.0})
        read = dict.fromkeys(range(45_395, 45_400), 123) | {
            45_395: status,
            45_398: 0x83,
        }
        _, faults = image.take(ms * _MS, read)
        return written, [fault.text for fault in faults]

    written, faults = round_at(0, 0x003D)
    assert written == {40_003: 0xC3, 40_004: 0, 40_005: 0, 40_006: 0xC3, 40_007: 0}
    assert "slot 1 is not ready: status 0x003D" in faults[0]
    written, faults = round_at(10, 0x0003)
    assert written[40_007] == 400, "the other slot works"
    assert written[40_004] == 0
    round_at(20_100, 0x0003)
    assert round_at(20_200, 0x0003)[0][40_003] == 0x7E, "acknowledged after 20 s"
    assert round_at(20_500, 0x0003)[0][40_003] == 0x7E
    assert round_at(20_700, 0x0083)[0][40_003] == 0xC3, "and activated again"
    written, faults = round_at(20_800, 0x0083)
    assert (written[40_004], written[40_005]) == (600, 500)
    assert not faults


def test_the_virtual_terminal_is_activated_and_an_error_cleared() -> None:
    carrier, parameters = virtual_modbus(_parameters("festo-vtem", 10))
    terminal = carrier.device
    assert isinstance(terminal, VirtualModbus)
    with carrier, build_modbus(parameters) as driver:
        assert "more than 5 times" in driver.warnings[0]
        _follow_until(driver, 40.0, lambda r: bool((r.applied > 39.9).all()))
        terminal.stations[1].fail(4)
        reading = _follow_until(driver, 40.0, lambda r: bool(r.faults))
        assert [fault.channel for fault in reading.faults] == [8, 9]
        assert np.isnan(reading.measured[8:]).all()
        for _ in range(20):
            driver.exchange(Action.FOLLOW, np.full(10, 40.0))
        assert terminal.actuators.told()[0].tolist() == [40.0] * 8 + [0.0] * 2
        driver.clear_faults()
        _follow_until(driver, 40.0, lambda r: not r.faults)
        _follow_until(driver, 40.0, lambda r: bool((r.applied > 39.9).all()))


def test_a_devices_own_watchdog_vents_and_its_loss_is_noticed() -> None:
    parameters = _parameters("generic-watchdog-ao", 2, watchdog_s=0.25)
    carrier, parameters = virtual_modbus(parameters)
    board = carrier.device
    assert isinstance(board, VirtualModbus)
    carrier.close()
    station = board.stations[1]
    station.advance(0)
    station.hear(0)
    station.write(16, 100, [250])
    station.write(6, 0, [50])
    station.advance(250 * _MS)
    assert board.actuators.told()[0][0] == 50.0
    station.advance(251 * _MS)
    assert board.actuators.told()[0][0] == 0.0

    carrier, parameters = virtual_modbus(
        _parameters("generic-watchdog-ao", 2, watchdog_s=9.0)
    )
    board = carrier.device
    assert isinstance(board, VirtualModbus)
    with carrier, build_modbus(parameters) as driver:
        assert driver.watchdog_s == 9.0
        driver.exchange(Action.FOLLOW, np.full(2, 40.0))
        board.stations[1].restart()
        lost = _follow_until(driver, 40.0, lambda r: not r.answered.all())
        assert "lost its watchdog" in lost.faults[0].text
        back = _follow_until(driver, 40.0, lambda r: bool(r.answered.all()))
        assert not back.applied.any()


def test_time_on_the_wire_and_a_rate_that_it_cannot_hold() -> None:
    parameters = _parameters("waveshare-ao8b", 8)
    driver = build_modbus(parameters, rate_hz=20.0)
    # 25 bytes out, 8 in, 10 bits each, and twice 3.5 characters of silence
    assert driver.wire_time_s == pytest.approx((33 + 7) * 10 / 9600)
    with pytest.raises(ConfigError, match=r"25 Hz cannot be held: at most 24\.0 Hz"):
        build_modbus(parameters, rate_hz=25.0)
    fast = parameters.model_copy(update={"line": LineParameters(baud=115_200)})
    assert build_modbus(fast).wire_time_s == pytest.approx(330 / 115_200 + 3.5e-3)


def test_a_valve_much_too_large_is_told() -> None:
    fits = _parameters("waveshare-ao8b", 1, full_scale_kpa=100.0)
    large = _parameters("waveshare-ao8b", 1, full_scale_kpa=500.0)
    assert build_modbus(fits).warnings == ()
    assert "smaller valve" in build_modbus(large).warnings[0]
    carrier, large = virtual_modbus(large)
    with carrier, build_modbus(large) as driver:
        first = driver.exchange(Action.SAFE, np.zeros(1))
        assert [fault.text for fault in first.faults] == list(driver.warnings)
        assert not driver.exchange(Action.SAFE, np.zeros(1)).faults


def fuzz_modbus_driver(count: int, seed: int) -> None:
    """Answer the driver with random and spoilt bytes; only Fault or DeviceError."""
    draw = np.random.default_rng(seed)
    board = VirtualModbus([], VirtualActuators(np.zeros(1)), "rtu")
    recorder = _Recorder(board)

    def noise(answer: bytes) -> bytes:
        """A frame that begins like an answer, or anything."""
        kind = int(draw.integers(4))
        head = bytes([1, int(draw.choice([3, 4, 6, 16, 0x83, 0x90, 0x17]))])
        body = draw.bytes(int(draw.integers(0, 20)))
        if kind == 0:
            return body
        if kind == 1:
            return head + body
        return rtu_frame(1, head[1:] + body)

    recorder.spoil = noise
    text = _parameters("generic-watchdog-ao", 1)
    with PtyCarrier(recorder) as line:
        driver = build_modbus(
            text.model_copy(update={"port": line.path, "timeout_s": 0.002})
        )
        answered = 0
        for _ in range(count):
            try:
                with driver:
                    answered += int(
                        driver.exchange(Action.SAFE, np.zeros(1)).answered[0]
                    )
            except DeviceError:
                continue


def test_random_answers_do_no_harm() -> None:
    fuzz_modbus_driver(60, 2)
