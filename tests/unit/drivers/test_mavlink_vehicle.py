"""MAVLink: ports, what a vehicle tells of itself, and parameters."""

import numpy as np
import pytest

from app.config.loader import parse_toml
from app.drivers.mavlink_messages import StatusText
from app.drivers.mavlink_parameters import MavlinkParameters, build_mavlink
from app.drivers.mavlink_port import UdpMavlinkPort
from app.drivers.mavlink_vehicle import VehicleWatch, own_watchdog_s
from app.errors import ConfigError


def test_a_listening_port_takes_the_first_that_speaks() -> None:
    port = UdpMavlinkPort("127.0.0.1", 0, listen=True)
    port.open()
    assert port._socket is not None
    at = port._socket.getsockname()
    near, far = (UdpMavlinkPort(*at) for _ in range(2))
    near.open()
    far.open()
    port.send(b"nobody is there yet")
    near.send(b"first")
    assert port.receive(1 << 62) == b"first"
    far.send(b"second")
    assert port.receive(1 << 62) == b""
    port.send(b"answer")
    assert near.receive(1 << 62) == b"answer"
    for end in (port, near, far):
        end.close()


def test_long_texts_are_joined() -> None:
    watch = VehicleWatch()
    watch.take(1, StatusText(3, "a" * 50, 9, 0))
    assert watch.texts() == []
    watch.take(2, StatusText(3, "bc", 9, 1))
    watch.take(3, StatusText(6, "only information", 0, 0))
    assert watch.texts() == [f"The vehicle says (error): {'a' * 50}bc"]


def test_own_watchdog() -> None:
    assert own_watchdog_s({"FS_PILOT_INPUT": 1.0, "FS_PILOT_TIMEOUT": 1.5}) == 1.5
    assert np.isnan(own_watchdog_s({"FS_GCS_ENABLE": 1.0, "FS_GCS_TIMEOUT": 5.0}))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "give one of host"),
        ('host = "a"\nserial = "b"', "give one of host"),
        ('host = "a"\nmode = "auto"', "mode"),
        ('host = "a"\ngreatest_stick = [1.0, 1.0, 1.0]', "greatest_stick"),
        ('host = "a"\nvehicle_system = 255', "must differ"),
        ('host = "a"\nspeed = 3', "unknown key"),
    ],
)
def test_what_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        parse_toml(text, MavlinkParameters, "rig")


def test_a_rate_that_is_too_slow_is_refused() -> None:
    with pytest.raises(ConfigError, match="10 Hz or more"):
        build_mavlink(MavlinkParameters(host="a"), rate_hz=5.0)
