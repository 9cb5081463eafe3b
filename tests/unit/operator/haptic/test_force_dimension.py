"""Force Dimension through ctypes, on the compiled stand-in for libdhd."""

from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS, VirtualClock
from app.errors import DeviceError
from app.operator.haptic import virtual_force_dimension
from app.operator.haptic.force_dimension import ForceDimension
from app.operator.haptic.virtual_force_dimension import (
    VirtualForceDimension,
    build_standin,
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_standin(tmp_path_factory.mktemp("dhd"))


@pytest.fixture
def pair(library: Path):
    clock = VirtualClock(NS_PER_MS)
    virtual = VirtualForceDimension(library, clock=clock)
    device = ForceDimension(str(library), clock)
    yield device, virtual, clock
    device.close()
    virtual.close()


def test_it_tells_its_name_and_all_buttons(pair) -> None:
    device, virtual, _ = pair
    virtual.hand.buttons = 0b1010
    device.open()
    assert device.facts.name == "stand-in"
    assert device.read().buttons == 0b1010


def test_a_saturated_motor_is_no_failure(pair) -> None:
    device, virtual, _ = pair
    device.open()
    device.facts = device.facts._replace(greatest_force=20.0)
    device.write(np.array([15.0, 0.0, 0.0]))
    assert virtual.hand.force == pytest.approx((15.0, 0.0, 0.0))


@pytest.mark.parametrize("call", ["write", "read"])
def test_the_first_call_that_fails_is_told(pair, call: str) -> None:
    device, virtual, _ = pair
    device.open()
    virtual.plugged = False
    with pytest.raises(DeviceError, match="no device found"):
        device.write(np.zeros(3)) if call == "write" else device.read()
    assert not device.is_open


def test_the_hand_moves_between_calls(pair) -> None:
    device, _, clock = pair
    device.open()
    before = device.read().position[0]
    for _ in range(100):
        clock.wait_until(clock.now_ns() + NS_PER_MS)
        device.write(np.array([2.0, 0.0, 0.0]))
        reading = device.read()
    assert reading.position[0] > before + 1e-3
    assert reading.velocity[0] > 0.0
    assert reading.time_ns == clock.now_ns()


def test_nothing_plugged_in_is_told(pair) -> None:
    device, virtual, _ = pair
    virtual.plugged = False
    with pytest.raises(DeviceError, match="opens no device"):
        device.open()
    virtual.plugged = True
    device.open()


def test_no_compiler_is_told(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(virtual_force_dimension.shutil, "which", lambda _: None)
    with pytest.raises(DeviceError, match="C compiler"):
        build_standin(tmp_path)
