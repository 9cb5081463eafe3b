"""The reference firmware, compiled for this computer.

Its core and the virtual board are two implementations of one protocol: they must answer
every conversation with the same bytes and move the same outputs.
"""

import random
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS
from app.drivers.base import Action
from app.drivers.board import BoardActuator, BoardParameters, build_board
from app.drivers.board_codec import (
    Clear,
    Drive,
    FrameReader,
    Identify,
    Message,
    Setup,
    SetupReply,
    Status,
    StatusBit,
    decode,
    encode,
)
from app.drivers.transport import SerialLine
from app.drivers.virtual.board import VirtualBoard
from app.errors import FrameError
from tests.unit.drivers.board_host import (
    LiveBoard,
    ScriptedBoard,
    build_host,
    compiler,
    firmware_folder,
)
from tests.unit.drivers.test_board_codec import GOLDEN

N = 4
BATCH = 32
"""Strings of noise fed at once, before it is looked at what moved."""
LIMITS = ((5000, 100, 6000), (10_000, 0, 0), (3000, 250, 3500), (65_535, 65_535, 0))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_host(tmp_path_factory.mktemp("firmware"))


def answers(sent: bytes) -> list[Message]:
    return [decode(frame) for frame in FrameReader().feed(sent) if frame is not None]


def status(board: ScriptedBoard, now_ms: int, message: Message) -> Status:
    (answer,) = answers(board.feed(now_ms, encode(message)).sent)
    assert isinstance(answer, Status)
    return answer


def set_up(board: ScriptedBoard, now_ms: int, watchdog_ms: int = 100) -> None:
    board.feed(now_ms, encode(Setup(1, watchdog_ms, LIMITS)))


def some_message(draw: random.Random) -> Message:
    sequence = draw.choice([draw.randrange(0x1_0000), draw.randrange(4)])
    count = draw.choice([N, N, N, N, N, N, draw.randrange(1, 17)])
    words = tuple(draw.randrange(0x1_0000) for _ in range(3 * count))
    kind = draw.random()
    if kind < 0.6:
        action, driven = draw.choice([0, 0, 0, 1, 2, 3]), draw.randrange(0x1_0000)
        return Drive(sequence, action, driven, words[:count])
    if kind < 0.75:
        limits = tuple(zip(words[::3], words[1::3], words[2::3], strict=True))
        return Setup(sequence, draw.randrange(0, 6000), limits)
    if kind < 0.85:
        return Identify(sequence)
    if kind < 0.95:
        return Clear(sequence)
    return SetupReply(sequence, 100, LIMITS)


def some_bytes(draw: random.Random) -> bytes:
    """Whole frames, damaged ones, noise, and any mixture."""
    data = bytearray()
    for _ in range(draw.randrange(4)):
        piece = bytearray(encode(some_message(draw)))
        if draw.random() < 0.15:
            piece[draw.randrange(len(piece))] = draw.randrange(256)
        if draw.random() < 0.05:
            del piece[draw.randrange(len(piece)) :]
        data += piece
        if draw.random() < 0.1:
            data += draw.randbytes(draw.randrange(300))
    return bytes(data)


def converse(program: Path, count: int, seed: int) -> int:
    """Let both boards take the same bytes; return how many answers were the same."""
    draw = random.Random(seed)
    twin = VirtualBoard(N, serial=7, name="limblink host")
    now_ms, same = 5, 0
    with ScriptedBoard(program, N) as board:
        for _ in range(count):
            now_ms += draw.choice([0, 1, 5, 30, draw.randrange(6000)])
            data = some_bytes(draw)
            high = draw.choice([0x1_0000, 3000, 3000, 3000])
            measured = [draw.randrange(high) for _ in range(N)]
            load = [draw.randrange(0x1_0000) for _ in range(N)]
            twin.dac_fails = draw.random() < 0.02
            twin.actuators.sense(np.array(measured, float), np.array(load, float))
            sent = twin.feed(now_ms * NS_PER_MS, data)
            answer = board.feed(now_ms, data, measured, load, dac_fails=twin.dac_fails)
            assert answer.sent == sent
            assert answer.vented == twin.is_vented
            if not twin.dac_fails:
                assert answer.output_mv == twin.output_mv
            same += bool(sent)
    return same


def fuzz_firmware(count: int, seed: int) -> None:
    """Feed `count` strings of noise to the compiled core: no crash, no motion."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        quiet_below_noise(build_host(Path(folder)), count, draw)


def quiet_below_noise(program: Path, count: int, draw: random.Random) -> None:
    held = (1000, 2000, 300, 4000)
    with ScriptedBoard(program, N) as board:
        set_up(board, 0, 5000)
        status(board, 0, Drive(1, Action.FOLLOW, 0xF, held))
        passed = 0
        for _ in range(0, count, BATCH):
            strings = [noise(draw) for _ in range(BATCH)]
            silent = [string for string in strings if not holds_a_frame(string)]
            passed += len(strings) - len(silent)
            answer = board.feed(10, b"\0".join(silent) + b"\0")
            assert not answer.sent
            assert answer.output_mv == held
            assert not answer.vented
        assert status(board, 20, Drive(2, Action.FOLLOW, 1, held)).applied_mv[0] == 1000
    assert passed <= 1 + count // 20_000  # a CRC-16 misses one damaged frame in 65536


def noise(draw: random.Random) -> bytes:
    """Random bytes, or a frame of which one bit was flipped."""
    if draw.random() < 0.5:
        return draw.randbytes(draw.randrange(200))
    frame = bytearray(encode(some_message(draw)))
    frame[draw.randrange(len(frame) - 1)] ^= 1 << draw.randrange(8)
    return bytes(frame)


def holds_a_frame(string: bytes) -> bool:
    return any(is_whole(piece) for piece in string.split(b"\0"))


def is_whole(frame: bytes) -> bool:
    try:
        decode(frame)
    except FrameError:
        return False
    return True


def test_firmware_and_virtual_board_answer_the_same_bytes(program: Path) -> None:
    assert converse(program, 1500, seed=1) > 800


def test_noise_moves_no_output_of_the_firmware(program: Path) -> None:
    quiet_below_noise(program, 1500, random.Random(2))


@pytest.mark.parametrize("name", [name for name, m, _ in GOLDEN if m.KIND < 0x80])
def test_the_firmware_takes_the_golden_bytes(program: Path, name: str) -> None:
    message, wire = next((m, w) for n, m, w in GOLDEN if n == name)
    count = len(getattr(message, "setpoint_mv", getattr(message, "limits_mv", "--")))
    with ScriptedBoard(program, count) as board:
        (answer,) = answers(board.feed(0, bytes.fromhex(wire)).sent)
    assert answer.sequence == message.sequence


@pytest.mark.parametrize("start_ms", [0, 2**32 - 50, 2**32 - 100])
def test_the_watchdog_vents_when_its_time_has_run_out(
    program: Path, start_ms: int
) -> None:
    def at(after_ms: int) -> int:
        return (start_ms + after_ms) % 2**32

    with ScriptedBoard(program, N) as board:
        set_up(board, at(0), watchdog_ms=100)
        status(board, at(0), Drive(1, Action.FOLLOW, 0xF, (1000, 2000, 300, 400)))
        assert board.feed(at(99), b"") == (b"", (1000, 2000, 300, 400), False)
        assert board.feed(at(100), b"") == (b"", (0, 0, 0, 0), True)
        refused = status(board, at(101), Drive(2, Action.FOLLOW, 0xF, (9, 9, 9, 9)))
        assert refused.applied_mv == (0, 0, 0, 0)
        assert refused.bits & StatusBit.TRIPPED
        assert refused.bits & StatusBit.REFUSED
        relaxed = status(board, at(102), Drive(3, Action.RELAX, 0, (0, 0, 0, 0)))
        assert relaxed.applied_mv == (100, 0, 250, 10_000)
        moved = status(board, at(103), Drive(4, Action.FOLLOW, 0xF, (9, 9, 9, 9)))
        assert moved.applied_mv == (9, 9, 9, 9)


def test_a_frame_sent_twice_neither_moves_nor_feeds_the_watchdog(
    program: Path,
) -> None:
    with ScriptedBoard(program, N) as board:
        set_up(board, 0, watchdog_ms=100)
        first = Drive(9, Action.FOLLOW, 0xF, (1, 2, 3, 4))
        status(board, 0, first)
        replayed = status(board, 60, first)
        assert replayed.bits & StatusBit.DUPLICATE
        assert board.feed(100, b"").vented


def test_a_board_without_limits_moves_nothing(program: Path) -> None:
    with ScriptedBoard(program, N) as board:
        refused = status(board, 0, Drive(1, Action.FOLLOW, 0xF, (1, 2, 3, 4)))
        assert refused.bits == StatusBit.VENTED | StatusBit.REFUSED


def test_a_measured_value_above_its_trip_latches_that_channel(program: Path) -> None:
    drive = (1000, 2000, 300, 400)
    with ScriptedBoard(program, N) as board:
        set_up(board, 0)
        status(board, 0, Drive(1, Action.FOLLOW, 0xF, drive))
        board.feed(10, b"", [6001, 0, 0, 0])
        held = status(board, 20, Drive(2, Action.FOLLOW, 0xF, drive))
        assert held.applied_mv == (0, 2000, 300, 400)
        assert held.faults == 1
        cleared = status(board, 30, Clear(3))
        assert (cleared.faults, cleared.action) == (0, Action.SAFE)
        again = status(board, 40, Drive(4, Action.FOLLOW, 0xF, drive))
        assert again.applied_mv == drive


def test_a_dac_that_fails_vents_all_until_cleared(program: Path) -> None:
    with ScriptedBoard(program, N) as board:
        set_up(board, 0)
        status(board, 0, Drive(1, Action.FOLLOW, 0xF, (1, 2, 3, 4)))
        assert board.feed(1, b"", dac_fails=True).vented
        stays = board.feed(2, encode(Drive(2, Action.FOLLOW, 0xF, (1, 2, 3, 4))))
        assert (stays.output_mv, stays.vented) == ((0, 0, 0, 0), True)


def test_the_driver_drives_the_firmware_and_its_watchdog_vents_live(
    program: Path,
) -> None:
    actuators = tuple(BoardActuator(name=f"valve {i}") for i in range(N))
    wanted = np.array([1000.0, 2000.0, np.nan, 12_000.0])
    with LiveBoard(program, N) as live:
        parameters = BoardParameters(
            driver="board",
            port=live.path,
            timeout_ms=200.0,
            watchdog_ms=450,
            actuators=actuators,
        )
        quick = parameters.model_copy(update={"watchdog_ms": 150})
        with build_board(quick) as driver:
            (identity,) = driver.identify()
            assert "limblink host" in identity.model
            reading = driver.exchange(Action.FOLLOW, wanted)
            assert reading.applied.tolist() == [1000.0, 2000.0, 0.0, 10_000.0]
            assert not reading.faults
            silent_ms = time.monotonic_ns() // NS_PER_MS
            wait_without_driving(driver._line, 200)
            late = driver.exchange(Action.FOLLOW, wanted)
            assert late.applied.tolist() == [0.0] * N
            assert "150 ms" in late.faults[0].text
            back = driver.exchange(Action.FOLLOW, wanted)
            while back.faults:  # this test itself was held up for so long
                back = driver.exchange(Action.FOLLOW, wanted)
            assert back.applied.tolist() == [1000.0, 2000.0, 0.0, 10_000.0]
        with build_board(parameters) as driver:  # the board has run on, closed: SAFE
            assert driver.exchange(Action.HOLD, wanted).applied.tolist() == [0.0] * N
    assert [state for _, state in live.vent_moves[:2]] == ["shut", "open"]
    assert live.vent_moves[1][0] % 2**32 >= (silent_ms + 140) % 2**32


def wait_without_driving(line: SerialLine, silence_ms: int) -> None:
    """Let real time pass; the board must say nothing unasked."""
    deadline_ns = time.monotonic_ns() + silence_ms * NS_PER_MS
    assert line.read(deadline_ns) == b""


@pytest.mark.parametrize("dac", ["LIMBLINK_GP8403", "LIMBLINK_MCP4728"])
def test_the_sketch_compiles_against_the_arduino_interface(
    tmp_path: Path, dac: str
) -> None:
    sketch = firmware_folder() / "limblink_board"
    stub = Path(__file__).parent / "arduino_stub"
    subprocess.run(
        [
            compiler(),
            "-std=c++11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fno-exceptions",
            "-fno-rtti",
            f"-D{dac}",
            f"-I{stub}",
            f"-I{sketch}",
            "-include",
            "Arduino.h",
            "-x",
            "c++",
            str(sketch / "limblink_board.ino"),
            str(sketch / "board_core.cpp"),
            str(sketch / "board_frame.cpp"),
            str(stub / "run.cpp"),
            "-o",
            str(tmp_path / "sketch"),
        ],
        check=True,
    )
    done = subprocess.run(
        [str(tmp_path / "sketch")], capture_output=True, text=True, check=True
    )
    assert DAC_BYTES[dac] in done.stdout


DAC_BYTES = {
    # full range, then 0 V to both outputs of the first chip
    "LIMBLINK_GP8403": "58: 01 11\n58: 02 00 00\n58: 04 00 00\n",
    # channel A: internal reference, gain 2, 0 V
    "LIMBLINK_MCP4728": "60: 40 90 00\n60: 42 90 00\n",
}
