import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.drivers.virtual.servo_packets import (
    Packet,
    PacketReader,
    crc,
    status,
    unstuff,
)

# ROBOTIS e-manual, Protocol 2.0, "Instruction Details": (bytes, id, code, parameters)
INSTRUCTIONS = [
    ("ff ff fd 00 01 03 00 01 19 4e", 1, 0x01, ""),
    ("ff ff fd 00 fe 03 00 01 31 42", 254, 0x01, ""),
    ("ff ff fd 00 01 07 00 02 84 00 04 00 1d 15", 1, 0x02, "84 00 04 00"),
    (
        "ff ff fd 00 01 09 00 03 74 00 00 02 00 00 ca 89",
        1,
        0x03,
        "74 00 00 02 00 00",
    ),
    (
        "ff ff fd 00 01 09 00 04 68 00 c8 00 00 00 ae 8e",
        1,
        0x04,
        "68 00 c8 00 00 00",
    ),
    ("ff ff fd 00 01 03 00 05 02 ce", 1, 0x05, ""),
    ("ff ff fd 00 01 04 00 06 01 a1 e6", 1, 0x06, "01"),
    ("ff ff fd 00 01 03 00 08 2f 4e", 1, 0x08, ""),
    (
        "ff ff fd 00 fe 09 00 82 84 00 04 00 01 02 ce fa",
        254,
        0x82,
        "84 00 04 00 01 02",
    ),
    (
        "ff ff fd 00 fe 11 00 83 74 00 04 00 01 96 00 00 00 02 aa 00 00 00 82 87",
        254,
        0x83,
        "74 00 04 00 01 96 00 00 00 02 aa 00 00 00",
    ),
    (
        "ff ff fd 00 fe 0d 00 92 01 90 00 02 00 02 92 00 01 00 1a 05",
        254,
        0x92,
        "01 90 00 02 00 02 92 00 01 00",
    ),
    (
        "ff ff fd 00 fe 10 00 93 01 20 00 02 00 a0 00 02 1f 00 01 00 50 b7 68",
        254,
        0x93,
        "01 20 00 02 00 a0 00 02 1f 00 01 00 50",
    ),
]

# the status packets printed there: (bytes, id, parameters)
STATUSES = [
    ("ff ff fd 00 01 07 00 55 00 06 04 26 65 5d", 1, "06 04 26"),
    ("ff ff fd 00 02 07 00 55 00 06 04 26 6f 6d", 2, "06 04 26"),
    ("ff ff fd 00 01 08 00 55 00 a6 00 00 00 8c c0", 1, "a6 00 00 00"),
    ("ff ff fd 00 01 04 00 55 00 a1 0c", 1, ""),
    ("ff ff fd 00 02 08 00 55 00 1f 08 00 00 ba be", 2, "1f 08 00 00"),
    ("ff ff fd 00 01 06 00 55 00 77 00 c3 69", 1, "77 00"),
    ("ff ff fd 00 02 05 00 55 00 24 8b a9", 2, "24"),
]


@pytest.mark.parametrize(("printed", "servo", "code", "parameters"), INSTRUCTIONS)
def test_instructions_of_the_manual_are_understood(printed, servo, code, parameters):
    packets = PacketReader(2).feed(0, bytes.fromhex(printed))
    assert packets == [Packet(servo, code, bytes.fromhex(parameters), True)]


@pytest.mark.parametrize(("printed", "servo", "parameters"), STATUSES)
def test_statuses_of_the_manual_are_made(printed, servo, parameters):
    made = status(2, servo, 0, bytes.fromhex(parameters))
    assert made == bytes.fromhex(printed)


def test_protocol_1_example_of_the_manual():
    # ROBOTIS e-manual, Protocol 1.0, "Read": id 1, present temperature 32
    packets = PacketReader(1).feed(0, bytes.fromhex("ff ff 01 04 02 2b 01 cc"))
    assert packets == [Packet(1, 2, b"\x2b\x01", True)]
    assert status(1, 1, 0, b"\x20") == bytes.fromhex("ff ff 01 03 00 20 db")


def test_a_header_among_the_parameters_is_stuffed():
    made = status(2, 1, 0, b"\xff\xff\xfd\x00")
    assert made[:12] == bytes.fromhex("ff ff fd 00 01 09 00 55 00 ff ff fd")
    assert made[12:14] == b"\xfd\x00"


@pytest.mark.parametrize("protocol", [1, 2])
@given(
    st.lists(st.sampled_from([0xFF, 0xFD, 0x00, 0x55]), max_size=40).map(bytes),
    st.integers(0, 252),
    st.integers(0, 40),
)
def test_packets_round_trip_in_any_pieces(protocol, parameters, servo, cut):
    # a status is an instruction to this reader: 0x55 in Protocol 2.0, else the error
    made = status(protocol, servo, 3, parameters)
    reader = PacketReader(protocol)
    packets = reader.feed(0, made[:cut]) + reader.feed(1, made[cut:])
    assert len(packets) == 1
    assert packets[0].intact
    assert packets[0].servo == servo
    assert packets[0].parameters[protocol - 1 :] == parameters


def test_a_packet_after_rubbish_and_after_a_wrong_checksum_is_found():
    ping = bytes.fromhex(INSTRUCTIONS[0][0])
    broken = ping[:-1] + b"\x00"
    packets = PacketReader(2).feed(0, b"\xff\xff\xfd" + broken + b"\xff" + ping)
    assert [packet.intact for packet in packets] == [False, True]


def test_a_packet_that_stops_is_given_up():
    ping = bytes.fromhex(INSTRUCTIONS[0][0])
    reader = PacketReader(2)
    assert reader.feed(0, ping[:7]) == []
    assert len(reader.feed(60_000_000, ping)) == 1


def test_unstuffing_takes_one_byte_for_each_header():
    assert unstuff(b"\xff\xff\xfd\xfd\xfd") == b"\xff\xff\xfd\xfd"
    assert crc(b"\xff\xff\xfd\x00\x01\x03\x00\x01") == 0x4E19


def fuzz_servo_packets(count: int, seed: int) -> None:
    """Feed random bytes, rich in header bytes; raise where the reader fails."""
    rng = random.Random(seed)
    readers = {protocol: PacketReader(protocol) for protocol in (1, 2)}
    for k in range(count):
        size = rng.randrange(1, 40)
        junk = bytes(
            rng.choice((0xFF, 0xFF, 0xFD, 0, 3, rng.randrange(256)))
            for _ in range(size)
        )
        for reader in readers.values():
            for packet in reader.feed(k * 1000, junk):
                assert 0 <= packet.servo <= 255
            assert len(reader._buffer) < 1100


def test_fuzz_servo_packets():
    fuzz_servo_packets(2000, 1)
