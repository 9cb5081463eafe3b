"""The board's driver against the virtual board, over a pseudo terminal."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from app.clock import NS_PER_MS
from app.config.loader import parse_toml
from app.drivers.base import Action
from app.drivers.board import (
    BoardActuator,
    BoardDriver,
    BoardParameters,
    build_board,
)
from app.drivers.board_codec import (
    Drive,
    FrameReader,
    Identify,
    Message,
    Setup,
    Status,
    decode,
    encode,
)
from app.drivers.transport import SerialLine
from app.drivers.virtual.base import VirtualActuators, VirtualDevice
from app.drivers.virtual.board import VirtualBoard, virtual_board
from app.drivers.virtual.carrier import PtyCarrier
from app.errors import ConfigError, DeviceError

N = 3
PARAMETERS = BoardParameters(
    driver="board",
    port="/dev/none",
    timeout_ms=100.0,
    watchdog_ms=2000,
    start_s=0.2,
    silent_s=0.3,
    actuators=(
        BoardActuator(name="grip", greatest_mv=6000, trip_mv=7000),
        BoardActuator(name="bend", relax_mv=200),
        BoardActuator(name="lift", least_mv=100, greatest_mv=5000),
    ),
)
WANTED = np.array([1000.0, 2000.0, 3000.0])
HASTY = PARAMETERS.model_copy(update={"timeout_ms": 5.0})
Rig = tuple[PtyCarrier, VirtualBoard, BoardDriver]


@pytest.fixture
def rig() -> Iterator[Rig]:
    carrier, parameters = virtual_board(PARAMETERS)
    assert isinstance(carrier.device, VirtualBoard)
    with carrier, build_board(parameters) as driver:
        yield carrier, carrier.device, driver


class Recorder(VirtualDevice):
    """A board that remembers what it was told."""

    def __init__(self, inner: VirtualBoard) -> None:
        self.inner = inner
        self.actuators: VirtualActuators = inner.actuators
        self.heard: list[Message] = []
        self._reader = FrameReader()

    def feed(self, now_ns: int, received: bytes) -> bytes:
        self.heard += [decode(f) for f in self._reader.feed(received) if f]
        return self.inner.feed(now_ns, received)


def test_the_exact_conversation() -> None:
    recorder = Recorder(VirtualBoard(N))
    with PtyCarrier(recorder) as carrier:
        parameters = PARAMETERS.model_copy(update={"port": carrier.path})
        with build_board(parameters) as driver:
            driver.exchange(Action.FOLLOW, WANTED)
            driver.exchange(Action.HOLD, WANTED)
    limits = ((6000, 0, 7000), (10_000, 200, 0), (5000, 0, 0))
    assert recorder.heard == [
        Identify(1),
        Setup(2, 2000, limits),
        Drive(3, Action.FOLLOW, 0b111, (1000, 2000, 3000)),
        Drive(4, Action.HOLD, 0b111, (1000, 2000, 3000)),
        Drive(5, Action.SAFE, 0, (0, 0, 0)),
    ]


def test_setpoints_are_clamped_and_what_was_applied_comes_back(rig: Rig) -> None:
    _, board, driver = rig
    reading = driver.exchange(Action.FOLLOW, np.array([1e9, -1e9, -5.0]))
    assert reading.applied.tolist() == [6000.0, 0.0, 100.0]
    assert reading.answered.all()
    assert not reading.faults
    assert board.output_mv == (6000, 0, 100)
    assert driver.watchdog_s == 2.0


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_drives_nothing(rig: Rig, wild: float) -> None:
    _, board, driver = rig
    driver.exchange(Action.FOLLOW, np.array([wild, wild, 1000.0]))
    assert board.output_mv == (0, 200, 1000)
    driver.exchange(Action.FOLLOW, WANTED)
    driver.exchange(Action.FOLLOW, np.array([wild, 100.0, wild]))
    assert board.output_mv == (1000, 100, 3000)


def test_the_four_actions(rig: Rig) -> None:
    _, board, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    driver.exchange(Action.HOLD, np.zeros(N))
    assert board.output_mv == (1000, 2000, 3000)
    driver.exchange(Action.RELAX, WANTED)
    assert (board.output_mv, board.is_vented) == ((0, 200, 0), False)
    driver.exchange(Action.SAFE, WANTED)
    assert (board.output_mv, board.is_vented) == ((0, 0, 0), True)


def test_measured_and_load_are_what_the_board_reads(rig: Rig) -> None:
    _, board, driver = rig
    board.actuators.sense(np.array([900.0, 1800.0, 0.0]), np.array([30.0, 40.0, 0.0]))
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert reading.measured.tolist() == [900.0, 1800.0, 0.0]
    assert reading.load.tolist() == [30.0, 40.0, 0.0]
    assert driver.identify()[0].model == "virtual board, no. 7, 3 channels"


def test_a_board_that_restarted_is_set_up_again_at_relax(rig: Rig) -> None:
    _, board, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    board.restart()
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert reading.applied.tolist() == [0.0, 0.0, 0.0]
    assert "restarted" in reading.faults[0].text
    assert board.output_mv == (0, 200, 0)
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert reading.applied.tolist() == WANTED.tolist()
    assert not reading.faults


def test_a_trip_latches_until_a_person_clears_it(rig: Rig) -> None:
    _, board, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    board.actuators.sense(np.array([7001.0, 0.0, 0.0]))
    driver.exchange(Action.FOLLOW, WANTED)
    board.actuators.sense(np.zeros(N))
    (fault,) = driver.exchange(Action.FOLLOW, WANTED).faults
    assert (fault.channel, fault.latched) == (0, True)
    assert "grip" in fault.text
    assert board.output_mv == (0, 2000, 3000)
    driver.clear_faults()
    assert board.is_vented
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert not reading.faults
    assert reading.applied.tolist() == WANTED.tolist()


def test_a_dac_that_fails_is_a_latched_fault(rig: Rig) -> None:
    _, board, driver = rig
    board.dac_fails = True
    faults = driver.exchange(Action.FOLLOW, WANTED).faults
    assert any("DAC" in fault.text and fault.latched for fault in faults)
    board.dac_fails = False
    assert driver.exchange(Action.FOLLOW, WANTED).applied.tolist() == [0.0] * N
    driver.clear_faults()
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert reading.applied.tolist() == WANTED.tolist()


@pytest.mark.parametrize("how", ["silent", "wrong checksum"])
def test_no_valid_answer_is_a_fault_then_an_error(how: str) -> None:
    carrier, parameters = virtual_board(PARAMETERS)
    board = carrier.device
    assert isinstance(board, VirtualBoard)
    with carrier, build_board(parameters) as driver:
        driver.exchange(Action.FOLLOW, WANTED)
        driver._timeout_ns = 5 * NS_PER_MS
        board.actuators.silent[0] = how == "silent"
        board.wrong_checksum = how == "wrong checksum"
        reading = driver.exchange(Action.FOLLOW, WANTED)
        assert not reading.answered.any()
        assert np.isnan(reading.measured).all()
        assert "does not answer" in reading.faults[0].text
        with pytest.raises(DeviceError, match="has not answered for"):
            exchange_often(driver)


def exchange_often(driver: BoardDriver) -> None:
    for _ in range(1000):
        driver.exchange(Action.FOLLOW, WANTED)


def test_damaged_frames_towards_the_board_are_told(rig: Rig) -> None:
    _, _, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    driver._line.write(b"\x05noise\0\x01\x01\x01\0")
    (fault,) = driver.exchange(Action.FOLLOW, WANTED).faults
    assert "2 damaged frames" in fault.text
    assert not driver.exchange(Action.FOLLOW, WANTED).faults


class Late(Recorder):
    """A board whose last answer comes once more, before the present one."""

    last = b""

    def feed(self, now_ns: int, received: bytes) -> bytes:
        before, self.last = self.last, super().feed(now_ns, received)
        return before + self.last


def test_an_answer_to_an_earlier_frame_is_not_taken_for_this_one() -> None:
    late = Late(VirtualBoard(N))
    with PtyCarrier(late) as carrier:
        parameters = PARAMETERS.model_copy(update={"port": carrier.path})
        with build_board(parameters) as driver:
            for value in (100.0, 200.0, 300.0):
                late.actuators.sense(np.full(N, value))
                reading = driver.exchange(Action.FOLLOW, np.full(N, 10 * value))
                assert reading.measured.tolist() == [value] * N
                assert reading.applied.tolist() == [10 * value] * N


def test_unplugged_and_plugged_again() -> None:
    carrier, parameters = virtual_board(PARAMETERS)
    driver = build_board(parameters)
    driver.open()
    driver.exchange(Action.FOLLOW, WANTED)
    carrier.unplug()
    with pytest.raises(DeviceError, match="is gone"):
        driver.exchange(Action.FOLLOW, WANTED)
    driver.close()
    with pytest.raises(DeviceError, match=r"No serial port|cannot be opened"):
        driver.open()
    again, parameters = virtual_board(PARAMETERS)
    board = again.device
    assert isinstance(board, VirtualBoard)
    driver._line = SerialLine(parameters.port, parameters.baud)
    with again, driver:
        assert board.output_mv == (0, 0, 0)
        reading = driver.exchange(Action.HOLD, WANTED)
        assert reading.applied.tolist() == [0.0, 200.0, 0.0]
        reading = driver.exchange(Action.FOLLOW, WANTED)
        assert reading.applied.tolist() == WANTED.tolist()


def test_close_vents(rig: Rig) -> None:
    _, board, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    driver.close()
    assert board.is_vented
    driver.close()


def test_a_board_with_other_channels_is_refused() -> None:
    with PtyCarrier(VirtualBoard(N + 1)) as carrier:
        driver = build_board(PARAMETERS.model_copy(update={"port": carrier.path}))
        with pytest.raises(DeviceError, match="has 4 channels, 3 actuators"):
            driver.open()


def test_nobody_there_is_refused_and_says_what_to_check() -> None:
    carrier, parameters = virtual_board(HASTY)
    carrier.device.actuators.silent[:] = True
    with carrier, pytest.raises(DeviceError, match="assets/firmware"):
        build_board(parameters).open()


TOML = """
driver = "board"
port = "/dev/ttyACM0"
watchdog_ms = 300
[[actuators]]
name = "grip"
greatest_mv = 6000
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("watchdog_ms = 300", "watchdog_ms = 40", "one lost answer would vent"),
        ("greatest_mv = 6000", "greatest_mv = 60000", "10000"),
        (
            "greatest_mv = 6000",
            "greatest_mv = 6\nrelax_mv = 7",
            "relax_mv 7 lies above",
        ),
        ("greatest_mv = 6000", "greatest_kpa = 60", "unknown key"),
    ],
)
def test_wrong_parameters_are_refused(old: str, new: str, words: str) -> None:
    assert parse_toml(TOML, BoardParameters, "rig.toml").actuators[0].name == "grip"
    with pytest.raises(ConfigError, match=words):
        parse_toml(TOML.replace(old, new), BoardParameters, "rig.toml")


class Noise(VirtualDevice):
    """Sets up like a board, then answers damaged, foreign or random frames."""

    def __init__(self, seed: int) -> None:
        self.inner = VirtualBoard(N)
        self.actuators = self.inner.actuators
        self.noisy = False
        self._draw = random.Random(seed)

    def feed(self, now_ns: int, received: bytes) -> bytes:
        answer = bytearray(self.inner.feed(now_ns, received))
        if not self.noisy:
            return bytes(answer)
        kind = self._draw.randrange(4)
        if kind == 0:
            return self._draw.randbytes(self._draw.randrange(300))
        if kind == 1 and answer:
            answer[self._draw.randrange(len(answer))] ^= 1 << self._draw.randrange(8)
        if kind == 2:
            words = (self._draw.randrange(65_536),) * (N + 1)
            answer[:0] = encode(Status(1, 2, 3, 4, 5, 6, 7, 0, words, words, words))
        return bytes(answer)


def fuzz_board_driver(count: int, seed: int) -> None:
    """Answer `count` rounds with noise: faults and DeviceError, never a wild value."""
    device = Noise(seed)
    with PtyCarrier(device) as carrier:
        update = {"silent_s": 60.0, "port": carrier.path}
        with build_board(PARAMETERS.model_copy(update=update)) as driver:
            driver._timeout_ns = NS_PER_MS
            device.noisy = True
            for _ in range(count):
                reading = driver.exchange(Action.FOLLOW, WANTED)
                assert set(device.inner.output_mv) <= {0, 200, 1000, 2000, 3000}
                known = reading.measured[reading.answered]
                assert ((known >= 0.0) & (known <= 65_535.0)).all()
            device.noisy = False


def test_noise_in_the_answers() -> None:
    fuzz_board_driver(150, seed=3)
