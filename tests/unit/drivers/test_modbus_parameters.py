"""Modbus register maps and parameters: what is refused, and orders of words."""

from itertools import pairwise

import numpy as np
import pytest

from app.config.loader import parse_toml
from app.drivers.modbus_image import join_runs
from app.drivers.modbus_parameters import ModbusParameters, build_modbus
from app.drivers.modbus_profile import ModbusProfile, load_profile
from app.errors import ConfigError


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"host": "a"}, "give port"),
        ({"devices": [{"profile": "festo-vtem"}]}, "speaks Modbus TCP: give host"),
        ({"devices": [{"profile": "nothing"}]}, "No device called 'nothing'"),
        (
            {"devices": [{"profile": "waveshare-ao8b", "watchdog_s": 1.0}]},
            "no watchdog",
        ),
        ({"actuators": [{"outlet": 9, "range_mv": [0, 1]}]}, "outlets 1 to 8, not 9"),
        ({"actuators": [{"outlet": 1, "range_kpa": [0, 1]}]}, "give range_mv"),
        ({"actuators": [{"outlet": 1, "range_mv": [0, 10_001]}]}, "outside 0 to 10000"),
        ({"actuators": [{"outlet": 1, "range_mv": [5, 1]}]}, r"\[least, greatest\]"),
        ({"actuators": [{"outlet": 1, "range_mv": [0, 1], "device": 3}]}, "device 3"),
        ({"actuators": 2 * [{"outlet": 1, "range_mv": [0, 1]}]}, "is taken"),
    ],
)
def test_what_is_refused(change: dict[str, object], text: str) -> None:
    good: dict[str, object] = {
        "port": "-",
        "devices": [{"profile": "waveshare-ao8b"}],
        "actuators": [{"outlet": 1, "range_mv": [0, 1]}],
    }
    build_modbus(ModbusParameters.model_validate(good))
    with pytest.raises((ConfigError, ValueError), match=text):
        build_modbus(ModbusParameters.model_validate(good | change))


def test_the_parameters_example_is_valid() -> None:
    text = """
port = "/dev/ttyUSB0"
[[devices]]
number = 1
profile = "waveshare-ao8b"
full_scale_kpa = 100.0
[[actuators]]
name = "chamber 1"
device = 1
outlet = 1
range_kpa = [0.0, 60.0]
"""
    driver = build_modbus(parse_toml(text, ModbusParameters, "example"))
    assert driver.channels[0].unit == "kPa"
    assert np.isnan(driver.watchdog_s)


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("order", ["high first", "low first"])
@pytest.mark.parametrize("swap", [False, True])
def test_counts_round_trip(words: int, order: str, swap: bool) -> None:
    profile = load_profile("waveshare-ao8b").model_dump()
    profile["setpoint"] |= {
        "words": words,
        "word_order": order,
        "byte_swap": swap,
        "signed": True,
        "counts": [-100, 300],
    }
    registers = ModbusProfile.model_validate(profile).setpoint
    for count in (-100, -1, 0, 1, 258, 300):
        assert registers.decode(registers.encode(count)) == count


def test_word_and_byte_order() -> None:
    profile = load_profile("waveshare-ao8b").model_dump()
    profile["setpoint"] |= {"words": 2, "word_order": "low first", "byte_swap": True}
    registers = ModbusProfile.model_validate(profile).setpoint
    assert registers.encode(0x01020304) == [0x0403, 0x0201]


def test_runs_are_joined_and_cut() -> None:
    runs = join_runs([5, 3, 4, 9, *range(20, 150)], 100)
    assert runs == [range(3, 6), range(9, 10), range(20, 120), range(120, 150)]
    assert all(a.stop <= b.start for a, b in pairwise(runs))
