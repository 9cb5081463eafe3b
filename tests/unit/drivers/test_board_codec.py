"""Bytes of the board protocol: golden frames, round trips, noise."""

import random

import pytest
from fastcrc import crc16
from hypothesis import given, settings
from hypothesis import strategies as st

from app.drivers.board_codec import (
    LONGEST_FRAME,
    Clear,
    Drive,
    FrameReader,
    Identify,
    Identity,
    Message,
    Setup,
    SetupReply,
    Status,
    decode,
    encode,
)
from app.errors import FrameError

GOLDEN: list[tuple[str, Message, str]] = [
    ("identify", Identify(1), "04 01 03 01 03 15 98 00"),
    ("clear", Clear(0x0102), "07 01 04 02 01 f7 58 00"),
    (
        "follow",
        Drive(2, 0, 0b01, (5000, 0)),
        "04 01 01 02 01 03 02 01 03 88 13 01 03 c4 e6 00",
    ),
    (
        "safe",
        Drive(0xFFFF, 3, 0, (0, 0)),
        "07 01 01 ff ff 03 02 01 01 01 01 01 03 6a 16 00",
    ),
    (
        "setup",
        Setup(3, 300, ((10_000, 0, 0), (5000, 250, 6000))),
        "04 01 02 03 04 2c 01 02 03 10 27 01 01 01 04 88 13 fa 05 70 17 0f fa 00",
    ),
    (
        "set up",
        SetupReply(3, 300, ((10_000, 0, 0), (5000, 250, 6000))),
        "04 01 82 03 04 2c 01 02 03 10 27 01 01 01 04 88 13 fa 05 70 17 c6 68 00",
    ),
    (
        "status",
        Status(2, 70_000, 0x0100, 300, 1, 4, 0, 0, (5000, 0), (4990, 12), (35, 0)),
        (
            "04 01 81 02 04 70 11 01 01 05 01 2c 01 01 02 04 01 01 01 04 02 88 13 01 "
            "04 7e 13 0c 02 23 01 01 03 ec 7e 00"
        ),
    ),
    (
        "identity",
        Identity(1, 0x0100, 2, 7, "limblink board"),
        (
            "04 01 83 01 01 03 01 02 02 07 01 01 0f 6c 69 6d 62 6c 69 6e 6b 20 62 6f "
            "61 72 64 01 03 7e aa 00"
        ),
    ),
]
u16 = st.integers(0, 0xFFFF)
u32 = st.integers(0, 0xFFFF_FFFF)
counts = st.integers(1, 16)


def words(count: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[u16] * count)


drives = counts.flatmap(
    lambda n: st.builds(Drive, u16, st.integers(0, 3), u16, words(n))
)
limits = counts.flatmap(lambda n: st.tuples(*[st.tuples(u16, u16, u16)] * n))
statuses = counts.flatmap(
    lambda n: st.builds(
        Status,
        u16,
        u32,
        u16,
        u16,
        u16,
        u16,
        u16,
        st.integers(0, 255),
        words(n),
        words(n),
        words(n),
    )
)
names = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=16)
messages = st.one_of(
    drives,
    statuses,
    st.builds(Setup, u16, u16, limits),
    st.builds(SetupReply, u16, u16, limits),
    st.builds(Identify, u16),
    st.builds(Clear, u16),
    st.builds(Identity, u16, u16, counts, u32, names),
)


def fuzz_board_codec(count: int, seed: int) -> None:
    """Give noise and damaged frames to the decoder: FrameError or a message."""
    draw = random.Random(seed)
    reader = FrameReader()
    golden = [bytes.fromhex(wire) for _, _, wire in GOLDEN]
    for _ in range(count):
        if draw.random() < 0.5:
            data = bytearray(draw.randbytes(draw.randrange(200)))
        else:
            data = bytearray(draw.choice(golden))
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        for frame in reader.feed(bytes(data)):
            if frame is None:
                continue
            assert len(frame) <= LONGEST_FRAME
            try:
                message = decode(frame)
            except FrameError:
                continue
            assert encode(message)


@pytest.mark.parametrize(("name", "message", "wire"), GOLDEN)
def test_golden_bytes(name: str, message: Message, wire: str) -> None:
    assert encode(message).hex(" ") == wire, name
    assert decode(bytes.fromhex(wire)[:-1]) == message


def test_the_checksum_is_the_one_of_the_catalogue() -> None:
    assert crc16.ibm_3740(b"123456789") == 0x29B1


@given(messages)
@settings(deadline=None, max_examples=150)
def test_every_message_comes_back(message: Message) -> None:
    wire = encode(message)
    assert wire.count(0) == 1
    assert len(wire) <= LONGEST_FRAME + 1
    assert decode(wire[:-1]) == message


@given(st.lists(messages, max_size=5), st.lists(st.integers(1, 40), min_size=1))
@settings(deadline=None, max_examples=50)
def test_frames_come_whole_from_any_pieces(
    sent: list[Message], sizes: list[int]
) -> None:
    stream = b"".join(encode(message) for message in sent)
    reader, got = FrameReader(), []
    place = step = 0
    while place < len(stream):
        size = sizes[step % len(sizes)]
        got += [f for f in reader.feed(stream[place : place + size]) if f is not None]
        place, step = place + size, step + 1
    assert [decode(frame) for frame in got] == sent


def test_any_single_bit_that_flips_is_found() -> None:
    wire = bytes.fromhex(GOLDEN[6][2])
    for bit in range(8 * (len(wire) - 1)):
        damaged = bytearray(wire)
        damaged[bit // 8] ^= 1 << bit % 8
        for frame in FrameReader().feed(bytes(damaged)):
            assert frame is not None
            with pytest.raises(FrameError):
                decode(frame)


def test_a_frame_that_is_too_long_is_dropped_and_the_next_one_read() -> None:
    reader = FrameReader()
    long = b"\x01" * (LONGEST_FRAME + 1)
    assert list(reader.feed(long)) == []
    assert list(reader.feed(b"\x01\0" + encode(Identify(1)))) == [
        None,
        encode(Identify(1))[:-1],
    ]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(FrameError, match="does not fit"):
        encode(Drive(0x1_0000, 0, 0, (0,)))
    with pytest.raises(FrameError, match="action 4"):
        decode(encode(Drive(1, 4, 0, (0,)))[:-1])


def test_noise() -> None:
    fuzz_board_codec(3000, seed=1)
