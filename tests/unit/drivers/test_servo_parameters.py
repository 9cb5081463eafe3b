import pytest

from app.config.loader import parse_toml
from app.drivers.servo_parameters import (
    DynamixelParameters,
    FeetechParameters,
    build_dynamixel,
)
from app.errors import ConfigError

SERVO = """
[[servos]]
id = 1
model = "xm430-w350"
least_rad = -12.0
greatest_rad = 12.0
current_limit_ma = 400.0
"""
BUS = 'driver = "dynamixel"\nport = "/dev/ttyUSB0"\n'


def test_a_table_becomes_a_driver():
    driver = build_dynamixel(parse_toml(BUS + SERVO, DynamixelParameters, "rig"))
    assert driver.channels[0].name == "servo 1"
    assert driver.channels[0].unit == "rad"
    assert driver.channels[0].load_unit == "mA"
    assert driver.watchdog_s == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("line", "instead", "words"),
    [
        ("current_limit_ma = 400.0", "current_limit_ma = 4000.0", "allows up to 3209"),
        ("current_limit_ma = 400.0", "current_limit_ma = 20.0", "must be below"),
        ("greatest_rad = 12.0", "greatest_rad = -12.0", "at least 0.01 above"),
        ("greatest_rad = 12.0", "greatest_rad = 2000.0", "greatest_rad = 2000"),
        ("id = 1", "id = 254", "id = 254"),
        ("id = 1", "id = 1\nspeed = 3", "unknown key"),
        ("xm430-w350", "xl430-w250", "xm430-w350"),
    ],
)
def test_what_cannot_be_is_refused_with_its_cure(line, instead, words):
    with pytest.raises(ConfigError, match=words):
        parse_toml(BUS + SERVO.replace(line, instead), DynamixelParameters, "rig")


def test_a_silent_servo_must_not_trip_the_watchdog():
    text = BUS + "watchdog_ms = 40\n" + SERVO
    with pytest.raises(ConfigError, match="at least three times"):
        parse_toml(text, DynamixelParameters, "rig")


def test_an_id_is_used_once():
    with pytest.raises(ConfigError, match="own id"):
        parse_toml(BUS + SERVO + SERVO, DynamixelParameters, "rig")


def test_a_feetech_stays_within_its_turn():
    text = """
driver = "feetech"
port = "x"
[[servos]]
id = 1
least_rad = -1.0
greatest_rad = 2.0
torque_limit_percent = 60.0
"""
    with pytest.raises(ConfigError, match="least_rad"):
        parse_toml(text, FeetechParameters, "rig")
