"""What every haptic device promises, on its shipped virtual device over real bytes.

One class over all: opens without force, tells where the hand is, pushes as it is told
and no harder, pushes nobody after an end of any kind, and comes back.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS, VirtualClock
from app.errors import DeviceError
from app.operator.haptic.base import HapticDevice, HapticReading
from app.operator.haptic.force_dimension import FORCE_DIMENSION_FACTS, ForceDimension
from app.operator.haptic.inverse3 import INVERSE3_FACTS, Inverse3
from app.operator.haptic.spacemouse import SpaceMouse
from app.operator.haptic.virtual_force_dimension import (
    VirtualForceDimension,
    build_standin,
)
from app.operator.haptic.virtual_hand import VirtualHand
from app.operator.haptic.virtual_inverse3 import (
    DirectChannel,
    InverseService,
    VirtualInverse3,
)
from app.operator.haptic.virtual_spacemouse import VirtualSpaceMouse, cap_hand

KINDS = ("inverse3", "inverse3 over WebSocket", "force-dimension", "spacemouse")
ROUNDING_N = 1e-5  # a message of the Inverse3 has five decimals


@dataclass
class Bench:
    """A device, its virtual one, and a clock that moves them."""

    device: HapticDevice
    hand: VirtualHand
    clock: VirtualClock | None
    unplug: Callable[[], None]
    plug_in: Callable[[], None]
    close: Callable[[], None]
    advance: Callable[[], None]

    def cycle(self, force: np.ndarray, count: int = 1) -> HapticReading:
        """Write and read as often; the last reading."""
        reading = None
        for _ in range(count):
            if self.clock is not None:
                self.clock.wait_until(self.clock.now_ns() + NS_PER_MS)
            self.advance()
            self.device.write(force)
            told = self.device.read()
            reading = told or reading
        for _ in range(400):  # the first answer over a real socket may be late
            if reading is not None:
                break
            reading = self.device.read()
        assert reading is not None
        return reading


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_standin(tmp_path_factory.mktemp("dhd"))


def nothing() -> None:
    """Do nothing."""


@pytest.fixture(params=KINDS)
def bench(request: pytest.FixtureRequest, standin: Path) -> Iterator[Bench]:
    clock = VirtualClock(NS_PER_MS)
    if request.param == "spacemouse":
        cap = VirtualSpaceMouse(cap_hand(path="circle"))
        made = Bench(
            SpaceMouse(opener=cap.open, clock=clock),
            cap.hand,
            clock,
            cap.unplug,
            nothing,
            cap.close,
            lambda: cap.advance(clock.now_ns()),
        )
    elif request.param == "force-dimension":
        hand = VirtualHand(FORCE_DIMENSION_FACTS, path="circle", buttons=1)
        virtual = VirtualForceDimension(standin, hand, clock)
        made = Bench(
            ForceDimension(str(standin), clock),
            hand,
            clock,
            lambda: setattr(virtual, "plugged", False),
            lambda: setattr(virtual, "plugged", True),
            virtual.close,
            nothing,
        )
    elif request.param == "inverse3":
        hand = VirtualHand(INVERSE3_FACTS, path="circle", buttons=1)
        device = VirtualInverse3(hand)
        made = Bench(
            Inverse3(connect=lambda: DirectChannel(device, clock), clock=clock),
            hand,
            clock,
            lambda: setattr(device, "plugged", False),
            lambda: setattr(device, "plugged", True),
            nothing,
            nothing,
        )
    else:
        hand = VirtualHand(INVERSE3_FACTS, path="circle", buttons=1)
        device = VirtualInverse3(hand)
        service = InverseService(device)
        made = Bench(
            Inverse3(service.url),
            hand,
            None,
            lambda: setattr(device, "plugged", False),
            lambda: setattr(device, "plugged", True),
            service.close,
            nothing,
        )
    yield made
    made.device.close()
    made.close()


NONE = np.zeros(3)
SOME = np.array([0.4, -0.3, 0.2])


class TestEveryDevice:
    def test_is_not_open_before(self, bench: Bench) -> None:
        assert not bench.device.is_open
        with pytest.raises(DeviceError, match="not open"):
            bench.device.read()
        with pytest.raises(DeviceError, match="not open"):
            bench.device.write(NONE)
        bench.device.close()

    def test_opens_twice_and_pushes_nobody(self, bench: Bench) -> None:
        bench.device.open()
        bench.device.open()
        assert not bench.device.applied.any()
        bench.cycle(NONE, 3)
        assert not bench.hand.force.any()

    def test_tells_where_the_hand_is(self, bench: Bench) -> None:
        bench.device.open()
        reading = bench.cycle(NONE, 30)
        facts = bench.device.facts
        assert reading.buttons == 1
        assert all(math.isfinite(value) for value in reading.velocity)
        if facts.rate_mode:
            assert all(-1.0 <= value <= 1.0 for value in reading.rate)
        else:
            centre = np.array(facts.centre)
            assert np.linalg.norm(reading.position - centre) < facts.reach
            if bench.clock is not None:
                assert reading.position == pytest.approx(bench.hand.position, abs=1e-6)

    def test_pushes_as_it_is_told(self, bench: Bench) -> None:
        bench.device.open()
        wanted = SOME if bench.device.facts.renders_force else NONE
        bench.cycle(SOME, 5)
        assert bench.device.applied == pytest.approx(wanted)
        assert bench.hand.force == pytest.approx(wanted, abs=ROUNDING_N)

    def test_no_force_beyond_its_greatest(self, bench: Bench) -> None:
        bench.device.open()
        bench.cycle(np.array([300.0, 0.0, -400.0]), 2)
        most = bench.device.facts.greatest_force
        expected = most * np.array([0.6, 0.0, -0.8])
        assert bench.device.applied == pytest.approx(expected)

    @pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
    def test_a_force_that_is_no_number_is_none(self, bench: Bench, wild: float) -> None:
        bench.device.open()
        bench.cycle(SOME, 3)
        bench.cycle(np.array([0.1, wild, 0.1]), 2)
        assert not bench.device.applied.any()
        assert not bench.hand.force.any()

    def test_close_ends_the_force(self, bench: Bench) -> None:
        bench.device.open()
        bench.cycle(SOME, 3)
        bench.device.close()
        bench.device.close()
        assert not bench.device.is_open
        assert not bench.device.applied.any()
        if bench.clock is not None:  # the service's thread has its own pace
            assert not bench.hand.force.any()
            assert bench.hand.cut == 0.0, "it was left to the device to end the force"

    def test_an_error_of_the_owner_ends_the_force(self, bench: Bench) -> None:
        with contextlib.suppress(KeyError), bench.device:
            bench.cycle(SOME, 3)
            raise KeyError
        assert not bench.device.is_open
        assert not bench.device.applied.any()

    def test_unplugged_it_says_so_and_closes(self, bench: Bench) -> None:
        bench.device.open()
        bench.cycle(SOME, 3)
        bench.unplug()
        with pytest.raises(DeviceError, match="gone"):
            bench.cycle(SOME, 400)
        assert not bench.device.is_open
        assert not bench.device.applied.any()

    def test_comes_back_without_force(self, bench: Bench) -> None:
        bench.device.open()
        bench.cycle(SOME, 3)
        bench.unplug()
        with pytest.raises(DeviceError):
            bench.cycle(SOME, 400)
        bench.plug_in()
        bench.device.open()
        assert not bench.device.applied.any()
        assert bench.cycle(NONE, 30).buttons == 1
        assert not bench.hand.force.any()
