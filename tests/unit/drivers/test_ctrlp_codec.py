"""Lines of the Ctrl-P protocol: golden lines, round trips, noise."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.drivers.ctrlp_codec import (
    LONGEST_LINE,
    Echo,
    LineReader,
    LiveData,
    command,
    parse,
)
from app.errors import FrameError

# As the firmware's documentation (Command Spec 2.0) writes commands and as
# command_handler.cpp of pressure_control_firmware prints echoes and live data.
COMMANDS = [
    ("set", [0.0, 1.5, -2.0], b"set;0.00;1.50;-2.00\n"),
    ("mode", [1.0], b"mode;1.00\n"),
    ("valve", [-1.0], b"valve;-1.00\n"),
    ("units", [0.0, 0.0], b"units;0.00;0.00\n"),
    ("on", [], b"on\n"),
    ("set", [-0.0, 1e-9], b"set;0.00;0.00\n"),
]
LINES: list[tuple[bytes, Echo | LiveData]] = [
    (
        b"_NEW SET: 0.00\t1.50\t-2.00\r",
        Echo("set", True, ("0.00", "1.50", "-2.00")),
    ),
    (b"_SET: 0.00\t1.50\t-2.00\r", Echo("set", False, ("0.00", "1.50", "-2.00"))),
    (b"_NEW MODE: 1\t1\t\r", Echo("mode", True, ("1", "1"))),
    (b"_NEW UNITS: psi\tkPa\r", Echo("units", True, ("psi", "kPa"))),
    (b"_ECHO: ON\r", Echo("echo", False, ("ON",))),
    (b"_ON: Outputs On\r", Echo("on", False, ("Outputs On",))),
    (
        b"_UNREC: Unrecognized Command\r",
        Echo("unrec", False, ("Unrecognized Command",)),
    ),
    (b"12345\t0\t1.50\t-2.00\r", LiveData(12345, "setpoints", (1.5, -2.0))),
    (b"12345\t1\t1.49\t-1.98\r", LiveData(12345, "measured", (1.49, -1.98))),
    (b"12345\t2\t30.00\r", LiveData(12345, "input pressure", (30.0,))),
]
WRONG = [
    b"",
    b"\r",
    b"_",
    b"_LCD Not Attached!\r",
    b"12345\t1\r",
    b"12345\t7\t1.0",
    b"1_2\t1\t1.0",
    b"12345\t1\t1.0\t1e9",
    b"12345\t1\t0x10",
    b"-1\t1\t1.0",
    b"12345\t1\t1.0\t\xb2",
    b"12345\t1\t 1.0 ",
    "١\t1\t1.0".encode(),
]


def fuzz_ctrlp_codec(count: int, seed: int) -> None:
    """Give noise and damaged lines to the parser: FrameError, or finite or NaN."""
    draw = random.Random(seed)
    reader = LineReader()
    for _ in range(count):
        if draw.random() < 0.3:
            data = bytearray(draw.randbytes(draw.randrange(100)))
        else:
            data = bytearray(draw.choice(LINES)[0] + b"\n")
            for _ in range(draw.randrange(1, 4)):
                data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        for line in reader.feed(bytes(data)):
            assert len(line) <= LONGEST_LINE
            try:
                said = parse(line)
            except FrameError:
                continue
            if isinstance(said, LiveData):
                assert not any(math.isinf(value) for value in said.values)


@pytest.mark.parametrize(("name", "values", "line"), COMMANDS)
def test_golden_commands(name: str, values: list[float], line: bytes) -> None:
    assert command(name, values) == line


@pytest.mark.parametrize(("line", "said"), LINES)
def test_golden_answers(line: bytes, said: Echo | LiveData) -> None:
    assert parse(line) == said


@pytest.mark.parametrize("line", WRONG)
def test_what_is_no_line_of_the_protocol_is_refused(line: bytes) -> None:
    with pytest.raises(FrameError):
        parse(line)


@pytest.mark.parametrize("word", ["nan", "NAN", "inf", "-inf", "ovf"])
def test_what_arduino_prints_for_no_number_is_not_a_number(word: str) -> None:
    said = parse(f"1\t1\t{word}\t2.00".encode())
    assert isinstance(said, LiveData)
    assert math.isnan(said.values[0])
    assert said.values[1] == 2.0


@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_never_sent(wild: float) -> None:
    with pytest.raises(FrameError, match="not finite"):
        command("set", [0.0, wild])


@given(st.lists(st.integers(-99_999, 99_999), min_size=1, max_size=16))
@settings(deadline=None, max_examples=100)
def test_values_come_back_to_two_decimals(hundredths: list[int]) -> None:
    sent = command("set", [value / 100.0 for value in hundredths])
    words = sent.decode().rstrip("\n").split(";")[1:]
    echo = parse(("_NEW SET: " + "\t".join(words)).encode())
    assert isinstance(echo, Echo)
    back = [round(value * 100.0) for value in echo.numbers()]
    assert back == hundredths


def test_lines_come_whole_from_any_pieces() -> None:
    stream = b"".join(line + b"\n" for line, _ in LINES)
    for size in range(1, 40):
        reader, got = LineReader(), []
        for place in range(0, len(stream), size):
            got += reader.feed(stream[place : place + size])
        assert [parse(line) for line in got] == [said for _, said in LINES]


def test_a_line_that_is_too_long_is_dropped() -> None:
    reader = LineReader()
    assert reader.feed(b"x" * (LONGEST_LINE + 1)) == []
    assert reader.feed(b"x\n_ECHO: ON\n") == [b"_ECHO: ON"]


def test_noise() -> None:
    fuzz_ctrlp_codec(3000, seed=1)
