"""Sticks and buttons as a person may set them."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.loader import parse_toml
from app.errors import ConfigError
from app.operator import mapping as mapping_module
from app.operator.mapping import (
    GamepadMapping,
    PadReading,
    load_gamepad_mapping,
    shape_stick,
)

# readings and curves are plain float arithmetic
TOLERANCE = 1e-12

axis = st.floats(-1.0, 1.0)


@given(axis, axis, st.floats(0.0, 0.5), st.floats(1.0, 4.0))
@settings(deadline=None)
def test_a_shaped_stick_keeps_its_direction_and_stays_in_the_unit_disc(
    x: float, y: float, deadband: float, expo: float
) -> None:
    right, up = shape_stick((x, y), deadband, expo)
    assert math.hypot(right, up) <= 1.0 + TOLERANCE
    assert abs(right * y - up * x) <= TOLERANCE
    assert right * x >= 0.0
    assert up * y >= 0.0
    if math.hypot(x, y) <= deadband:
        assert (right, up) == (0.0, 0.0)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@settings(deadline=None)
def test_more_stick_is_never_less_speed(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert shape_stick((low, 0.0), 0.1, 1.7)[0] <= shape_stick((high, 0.0), 0.1, 1.7)[0]


def test_the_curve_is_continuous_at_the_deadband_and_full_at_the_stop() -> None:
    assert shape_stick((0.1, 0.0), 0.1, 1.7) == (0.0, 0.0)
    assert shape_stick((0.101, 0.0), 0.1, 1.7)[0] < 1e-4
    assert shape_stick((0.0, -1.0), 0.1, 1.7) == (0.0, -1.0)
    half = shape_stick((0.55, 0.0), 0.1, 1.7)[0]
    assert half == pytest.approx(0.5**1.7, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("reading", "rate"),
    [
        (PadReading(left=(0.0, 1.0)), (1.0, 0.0, 0.0)),
        (PadReading(left=(0.0, -1.0)), (-1.0, 0.0, 0.0)),
        (PadReading(left=(-1.0, 0.0)), (0.0, 1.0, 0.0)),
        (PadReading(left=(1.0, 0.0)), (0.0, -1.0, 0.0)),
        (PadReading(right=(0.0, 1.0)), (0.0, 0.0, 1.0)),
        (PadReading(right=(0.0, -1.0)), (0.0, 0.0, -1.0)),
        (PadReading(right=(1.0, 0.0)), (0.0, 0.0, 0.0)),
        (PadReading(left=(0.0, 1.0), triggers=(1.0, 0.0)), (0.25, 0.0, 0.0)),
        (PadReading(left=(0.0, 1.0), triggers=(0.0, 1.0)), (1.0, 0.0, 0.0)),
    ],
)
def test_sticks_move_the_tip_along_the_hull(
    reading: PadReading, rate: tuple[float, float, float]
) -> None:
    assert GamepadMapping().rate(reading) == pytest.approx(rate, abs=TOLERANCE)


def test_a_chord_needs_both_and_alternatives_need_one() -> None:
    mapping = GamepadMapping()
    assert mapping.holds("estop", frozenset({"guide"}))
    assert mapping.holds("estop", frozenset({"leftstick", "rightstick", "a"}))
    assert not mapping.holds("estop", frozenset({"leftstick"}))


def test_the_help_tells_every_action_as_printed_on_the_pad() -> None:
    rows = {does: press for press, does in GamepadMapping().describe()}
    assert rows["deadman: hold it to move"] == "RB (R1)"
    assert (
        rows["EMERGENCY STOP"]
        == "GUIDE (the logo) or left stick pressed + right stick pressed"
    )
    assert rows["tip to port"] == "left stick left"
    assert len(rows) == 12


def test_a_file_of_ones_own_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapping_module, "operator_config_folder", lambda: tmp_path)
    assert load_gamepad_mapping() == GamepadMapping()
    (tmp_path / "gamepad.toml").write_text(
        '[stick]\nexpo = 1.0\n[axes]\nup = "rightx"\n[buttons]\narm = ["x"]\n'
    )
    own = load_gamepad_mapping()
    assert own.stick.expo == 1.0
    assert own.stick.deadband == 0.1
    assert own.axes.up == "rightx"
    assert own.buttons.arm == ("x",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[buttons]\narm = ["strat"]', ["line 2", "strat", "known: a, b"]),
        ('[buttons]\narm = ["y"]', ["bound to", "arm", "estop_reset"]),
        ("[buttons]\nestop = []", ["estop needs at least one button"]),
        ('[buttons]\ndeadman = ["lefttrigger"]', ["scales the speed", "axes.fine"]),
        ("[stick]\nexpoo = 2.0", ["line 2", "unknown key", "expo"]),
        ("[stick]\ndeadband = 0.9", ["line 2", "deadband", "0.5"]),
        ('[axes]\nup = "lefty"', ["three different stick axes"]),
        ('[axes]\nup = "throttle"', ["axes.up", "righty"]),
    ],
)
def test_a_wrong_mapping_says_what_and_how_to_mend_it(
    text: str, words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, GamepadMapping, "gamepad.toml")
    for word in ["gamepad.toml", *words]:
        assert word in str(caught.value)
