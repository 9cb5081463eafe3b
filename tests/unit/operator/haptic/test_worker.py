"""The haptic thread, a cycle at a time on a virtual clock, on a virtual Inverse3."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from app.clock import NS_PER_MS, VirtualClock
from app.errors import DeviceError
from app.messages import Event, Severity
from app.operator.haptic.inverse3 import INVERSE3_FACTS, Inverse3
from app.operator.haptic.rendering import RenderModel
from app.operator.haptic.signals import LocalBox, allocate_force, allocate_sample
from app.operator.haptic.virtual_hand import VirtualHand
from app.operator.haptic.virtual_inverse3 import (
    DirectChannel,
    InverseService,
    VirtualInverse3,
)
from app.operator.haptic.wall import GentleWall
from app.operator.haptic.worker import HapticWorker

WAIT_S = 20.0  # a thread that has not come by then never will
ROUNDING_N = 2e-5  # five decimals in a message, three axes


class Desk:
    """A worker, its device, and a control loop that asks for a constant force."""

    def __init__(self) -> None:
        self.clock = VirtualClock(NS_PER_MS)
        self.hand = VirtualHand(INVERSE3_FACTS, "firm", "line", buttons=1)
        self.device = VirtualInverse3(self.hand)
        self.channel: DirectChannel | None = None
        self.refuse = False
        self.sample = LocalBox(allocate_sample())
        self.force = LocalBox(allocate_force())
        self.events: list[Event] = []
        self.worker = HapticWorker(
            Inverse3(connect=self._connect, clock=self.clock),
            self.sample,
            self.force,
            self.events.append,
            RenderModel(fade_in=0.05),
            self.clock,
        )
        self.felt: list[float] = []

    def _connect(self) -> DirectChannel:
        if self.refuse:
            raise DeviceError("nobody there.")
        self.channel = DirectChannel(self.device, self.clock)
        return self.channel

    def run(
        self,
        milliseconds: int,
        force: tuple[float, float, float] | None = (1.0, 0.0, 0.0),
    ) -> None:
        """Go on; a force of None is not renewed."""
        end_ns = self.clock.now_ns() + milliseconds * NS_PER_MS
        while self.clock.now_ns() < end_ns:
            due_ns = (self.clock.now_ns() // NS_PER_MS + 1) * NS_PER_MS
            now_ns = self.clock.wait_until(due_ns)
            if force is not None:
                self.force.local.force[:] = force
                self.force.local.time_ns[0] = now_ns
            self.worker.step(now_ns)
            self.felt.append(float(np.linalg.norm(self.hand.force)))

    @property
    def age_ms(self) -> float:
        """Of the newest sample, as a control tick judges it."""
        return (self.clock.now_ns() - self.sample.local.stamp_ns[0]) / NS_PER_MS

    def told(self, severity: Severity) -> list[str]:
        return [event.text for event in self.events if event.severity is severity]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_samples_are_fresh_and_the_force_is_felt(desk: Desk) -> None:
    desk.run(200)
    sample = desk.sample.local
    assert sample.present[0] == 1
    assert desk.age_ms <= 1.0
    assert sample.position == pytest.approx(desk.hand.position, abs=1e-6)
    assert sample.buttons[0] == 1
    assert sample.force == pytest.approx((1.0, 0.0, 0.0))
    assert desk.hand.force == pytest.approx((1.0, 0.0, 0.0), abs=ROUNDING_N)
    assert [event.text for event in desk.events] == ["Inverse3 is there."]


def test_a_silent_control_loop_is_felt_as_a_fade(desk: Desk) -> None:
    desk.run(200)
    desk.felt.clear()
    desk.run(130, None)
    assert desk.felt[18] == pytest.approx(1.0, abs=ROUNDING_N)
    assert desk.felt[-1] == 0.0
    assert max(-np.diff(desk.felt)) < 0.0101 + ROUNDING_N
    assert any("No force comes" in text for text in desk.told(Severity.WARNING))
    desk.run(100)
    assert desk.felt[-1] == pytest.approx(1.0, abs=ROUNDING_N)


@pytest.mark.parametrize("end", ["unplugged", "cut"])
def test_a_device_that_goes_leaves_an_absent_sample(desk: Desk, end: str) -> None:
    desk.run(200)
    opened = int(desk.sample.local.opened[0])
    if end == "unplugged":
        desk.device.plugged = False
    else:
        assert desk.channel is not None
        desk.channel.cut = True
    desk.run(25)
    assert desk.sample.local.present[0] == 0
    assert desk.age_ms > 20.0
    assert not desk.sample.local.velocity.any()
    (text,) = desk.told(Severity.ALARM)
    assert "gone" in text
    assert "comes back by itself" in text
    desk.device.plugged = True
    desk.felt.clear()
    desk.run(700)
    assert desk.sample.local.present[0] == 1
    assert desk.sample.local.opened[0] == opened + 1
    assert desk.felt[-1] == pytest.approx(1.0, abs=ROUNDING_N)
    assert max(np.diff(desk.felt)) < 1.0 / 50.0 + ROUNDING_N


def test_it_is_told_once_that_nobody_is_there(desk: Desk) -> None:
    desk.refuse = True
    desk.run(3000)
    assert desk.sample.local.present[0] == 0
    assert desk.told(Severity.WARNING) == ["nobody there."]
    desk.refuse = False
    desk.run(600)
    assert desk.sample.local.present[0] == 1


def test_a_service_that_hangs_is_owed_little_and_wakes_softly(desk: Desk) -> None:
    desk.run(200, (3.0, 0.0, 0.0))
    commands = desk.hand.commands
    desk.device.hangs = True
    desk.run(80, (3.0, 0.0, 0.0))
    assert desk.age_ms > 20.0
    assert desk.hand.commands == commands
    desk.hand.greatest_step = 0.0
    desk.device.hangs = False
    desk.run(2, (3.0, 0.0, 0.0))
    assert desk.hand.commands <= commands + 7
    assert desk.felt[-1] < 2.5, "what was blind for 60 ms has faded"
    desk.run(200, (3.0, 0.0, 0.0))
    assert desk.sample.local.opened[0] == 1
    assert desk.age_ms <= 1.0
    assert desk.hand.greatest_step <= 1.0 + ROUNDING_N
    assert desk.felt[-1] == pytest.approx(3.0, abs=ROUNDING_N)


def test_a_service_that_hangs_for_good_is_given_up(desk: Desk) -> None:
    desk.run(200)
    desk.device.hangs = True
    desk.run(200)
    assert not desk.worker.device.is_open
    desk.device.hangs = False
    desk.felt.clear()
    desk.run(600)
    assert max(np.diff(desk.felt)) < 0.0201 + ROUNDING_N
    assert "no answer" in desk.told(Severity.ALARM)[0]


def test_stopping_lets_the_force_fade(desk: Desk) -> None:
    desk.run(200, (3.0, 0.0, 0.0))
    before = desk.hand.greatest_step
    desk.hand.greatest_step = 0.0
    desk.worker.close()
    assert desk.hand.greatest_step <= max(before, 0.0301) + ROUNDING_N
    assert not desk.hand.force.any()
    assert desk.hand.cut == 0.0
    assert desk.sample.local.present[0] == 0


def test_what_to_do_is_told(desk: Desk) -> None:
    desk.device._grip = False
    desk.run(20)
    assert any("VerseGrip" in text for text in desk.told(Severity.WARNING))


def test_a_wild_force_is_told_once_and_not_felt(desk: Desk) -> None:
    desk.run(200)
    desk.run(200, (float("nan"), 0.0, 0.0))
    assert desk.felt[-1] == 0.0
    assert len(desk.told(Severity.ALARM)) == 1


def test_a_wall_holds_the_hand(desk: Desk) -> None:
    desk.worker = HapticWorker(
        desk.worker.device,
        desk.sample,
        GentleWall(INVERSE3_FACTS, desk.sample, 200.0, desk.clock),
        desk.events.append,
        RenderModel(),
        desk.clock,
    )
    desk.run(1500, None)
    depth = desk.hand.position[1] - INVERSE3_FACTS.centre[1] - 0.02
    # it wants to be 20 mm inside: 400 N/m of the arm against 200 of the wall
    assert depth == pytest.approx(0.02 * 400.0 / 600.0, abs=5e-4)
    assert desk.hand.force[1] == pytest.approx(-200.0 * depth, abs=0.02)


def wait_for(condition: Callable[[], bool]) -> bool:
    pause = threading.Event()
    for _ in range(round(WAIT_S / 0.002)):
        if condition():
            return True
        pause.wait(0.002)
    return False


def test_the_thread_starts_ends_and_finds_its_device_again() -> None:
    device = VirtualInverse3()
    sample = LocalBox(allocate_sample())
    wall = GentleWall(INVERSE3_FACTS, sample)
    events: list[Event] = []
    with InverseService(device) as service:
        worker = HapticWorker(Inverse3(service.url), sample, wall, events.append)
        worker.start()
        assert wait_for(lambda: worker.timing().cycles > 20)
        service.cut()
        assert wait_for(lambda: sample.local.opened[0] == 2)
        assert wait_for(lambda: sample.local.present[0] == 1)
        worker.stop()
        worker.stop()
    assert not worker.device.is_open
    assert sample.local.present[0] == 0
    names = {thread.name for thread in threading.enumerate()}
    assert names.isdisjoint({"haptic", "virtual Inverse3"})
