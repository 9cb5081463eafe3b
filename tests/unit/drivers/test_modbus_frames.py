"""Golden bytes and random bytes of the serving side of Modbus.

Examples: MODBUS Application Protocol V1.1b3; Waveshare wiki, Modbus RTU Analog Output
8CH, Development Protocol.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.drivers.modbus_profile import load_profile
from app.drivers.virtual.base import VirtualActuators
from app.drivers.virtual.modbus import VirtualModbus, VirtualStation
from app.drivers.virtual.modbus_frames import (
    ILLEGAL_ADDRESS,
    answer_pdu,
    rtu_frame,
    take_rtu,
    take_tcp,
    tcp_frame,
)


class _Memory:
    """Registers as the examples of the standard hold them."""

    def __init__(self, **held: int) -> None:
        self.held = {int(address[1:], 16): word for address, word in held.items()}

    def read(self, function: int, first: int, count: int) -> list[int] | int:
        wanted = range(first, first + count)
        if any(address not in self.held for address in wanted):
            return ILLEGAL_ADDRESS
        return [self.held[address] for address in wanted]

    def write(self, function: int, first: int, words: list[int]) -> int:
        self.held.update({first + i: word for i, word in enumerate(words)})
        return 0


@pytest.mark.parametrize(
    ("asked", "said", "held"),
    [
        # sec 6.3, 6.4, 6.6, 6.12
        ("03 006B 0003", "03 06 022B 0000 0064", {"x6B": 0x22B, "x6C": 0, "x6D": 0x64}),
        ("04 0008 0001", "04 02 000A", {"x8": 10}),
        ("06 0001 0003", "06 0001 0003", {}),
        ("10 0001 0002 04 000A 0102", "10 0001 0002", {}),
        # sec 6.17: the write comes first
        (
            "17 0003 0006 000E 0003 06 00FF 00FF 00FF",
            "17 0C 00FE 0ACD 0001 0003 000D 00FF",
            {"x3": 0xFE, "x4": 0xACD, "x5": 1, "x6": 3, "x7": 13, "x8": 255},
        ),
        # sec 7: exceptions
        ("03 0000 0001", "83 02", {}),
        ("03 0000 007E", "83 03", {}),
        ("10 0001 0002 03 000A 01", "90 03", {}),
        ("01 04A1 0001", "81 01", {}),
    ],
)
def test_the_standards_examples(asked: str, said: str, held: dict[str, int]) -> None:
    memory = _Memory(**held)
    assert answer_pdu(bytes.fromhex(asked), memory) == bytes.fromhex(said)


def test_a_write_is_held() -> None:
    memory = _Memory()
    answer_pdu(bytes.fromhex("10 0001 0002 04 000A 0102"), memory)
    assert memory.held == {1: 10, 2: 0x102}


def _board(actuators: VirtualActuators | None = None) -> VirtualModbus:
    valves = actuators or VirtualActuators(np.zeros(8))
    station = VirtualStation(
        1, load_profile("waveshare-ao8b"), {i + 1: i for i in range(8)}, valves
    )
    return VirtualModbus([station], valves, "rtu")


@pytest.mark.parametrize("piece", [1, 3, 100])
def test_the_boards_examples(piece: int) -> None:
    board = _board()
    for line in ("01 06 00 00 03 E8 89 74", "01 06 00 01 13 88 D5 5C"):
        frame = bytes.fromhex(line)
        said = b""
        for start in range(0, len(frame), piece):
            said += board.feed(1_000_000, frame[start : start + piece])
        assert said == frame
    goal, _ = board.actuators.told()
    np.testing.assert_allclose(goal, [1000.0, 5000.0, 0, 0, 0, 0, 0, 0])


def test_a_request_for_another_or_spoilt_is_not_answered() -> None:
    board = _board()
    assert board.feed(0, bytes.fromhex("01 06 00 00 03 E8 89 75")) == b""
    assert board.feed(0, rtu_frame(2, bytes.fromhex("06 0000 03E8"))) == b""
    goal, _ = board.actuators.told()
    assert not goal.any()


def test_silence_ends_half_a_request() -> None:
    board = _board()
    frame = bytes.fromhex("01 06 00 00 03 E8 89 74")
    assert board.feed(0, frame[:5]) == b""
    assert board.feed(60_000_000, frame) == frame


def test_all_are_addressed_by_number_0_and_none_answers() -> None:
    board = _board()
    assert board.feed(0, rtu_frame(0, bytes.fromhex("06 0002 1388"))) == b""
    goal, _ = board.actuators.told()
    assert goal[2] == 5000.0


@given(
    device=st.integers(1, 247),
    first=st.integers(0, 0xFFFF),
    words=st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=123),
    rest=st.binary(max_size=8),
)
@settings(deadline=None, max_examples=60)
def test_frames_round_trip(
    device: int, first: int, words: list[int], rest: bytes
) -> None:
    data = b"".join(word.to_bytes(2, "big") for word in words)
    pdu = (
        b"\x10"
        + first.to_bytes(2, "big")
        + len(words).to_bytes(2, "big")
        + bytes([len(data)])
        + data
    )
    frame = rtu_frame(device, pdu)
    if len(frame) <= 256:
        used, request = take_rtu(frame + rest)
        assert (used, request) == (len(frame), (device, pdu, 0))
    used, request = take_tcp(b"\x12\x34\0\0" + bytes([0, len(pdu) + 1, device]) + pdu)
    assert request == (device, pdu, 0x1234)
    assert used == len(pdu) + 7
    assert tcp_frame(request, b"\x06")[:8] == b"\x12\x34\0\0\0\2" + bytes([device, 6])


def fuzz_modbus_device(count: int, seed: int) -> None:
    """Feed devices random bytes and spoilt requests; raise where an outlet moves.

    RTU requests have one bit of their checksum's reach changed (which it always finds);
    TCP has no checksum, so that only headers of another protocol are sent.
    """
    draw = np.random.default_rng(seed)
    profile = load_profile("festo-vtem")
    valves = VirtualActuators(np.zeros(16))
    places = {i + 1: i for i in range(16)}
    station = VirtualStation(1, profile, places, valves)
    terminal = VirtualModbus([station], valves, "tcp")
    board = _board()
    good = rtu_frame(1, bytes.fromhex("10 0000 0004 08 03E8 03E8 03E8 03E8"))
    for i in range(count):
        noise = draw.bytes(int(draw.integers(0, 40)))
        spoilt = bytearray(good)
        spoilt[int(draw.integers(len(good)))] ^= 1 << int(draw.integers(8))
        for sent in (noise, bytes(spoilt)):
            said = board.feed(i * 100_000_000, sent)
            if said and len(said) < 5:
                raise AssertionError(f"answer {said.hex()} to {sent.hex()}")
        header = bytearray(draw.bytes(7))
        header[2] |= 1
        terminal.feed(i * 100_000_000, bytes(header) + noise)
        answer_pdu(noise, _Memory())
    if board.actuators.told()[0].any() or valves.told()[0].any():
        raise AssertionError("an outlet was moved by bytes that are no request")


def test_random_bytes_move_nothing() -> None:
    fuzz_modbus_device(400, 1)
