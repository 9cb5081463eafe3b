"""Contact force that a game controller shows, through the real SDL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.clock import NS_PER_MS
from app.operator import gamepad as gamepad_module
from app.operator.gamepad import Gamepad, VirtualGamepad
from app.operator.mapping import GamepadMapping

TOLERANCE = 1e-4  # 16 bits


class Desk:
    """A pad that is polled, and told a force, every 4 ms of a virtual clock."""

    def __init__(self) -> None:
        self.pad = VirtualGamepad()
        self.gamepad = Gamepad(GamepadMapping(), 4, virtual=[self.pad])
        self.now_ns = 0
        self.pad.press("rightshoulder")

    def feel(self, force_n: float, milliseconds: int = 4) -> tuple[float, float]:
        for _ in range(0, milliseconds, 4):
            self.now_ns += 4 * NS_PER_MS
            self.gamepad.poll(self.now_ns)
            self.gamepad.show_force(self.now_ns, force_n)
        assert self.pad._device is not None
        return self.pad._device.shaken


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Desk]:
    monkeypatch.setattr(gamepad_module, "operator_config_folder", lambda: tmp_path)
    made = Desk()
    yield made
    made.gamepad.close()


def test_no_contact_does_not_shake(desk: Desk) -> None:
    assert desk.feel(0.0, 40) == (0.0, 0.0)
    assert desk.feel(0.19, 40) == (0.0, 0.0)


def test_force_is_felt_and_contact_ticks(desk: Desk) -> None:
    low, high = desk.feel(1.65)
    assert low == pytest.approx(0.15 + 0.85 * 0.5, abs=TOLERANCE)
    assert high == pytest.approx(0.6, abs=TOLERANCE)
    low, high = desk.feel(3.3, 160)
    assert (low, high) == pytest.approx((1.0, 0.0), abs=TOLERANCE)
    assert desk.feel(50.0, 100)[0] == pytest.approx(1.0, abs=TOLERANCE)


@pytest.mark.parametrize("force", [0.0, float("nan"), -1.0])
def test_it_ends_with_the_contact(desk: Desk, force: float) -> None:
    assert desk.feel(2.0, 100)[0] > 0.5
    assert desk.feel(force) == (0.0, 0.0)


def test_a_pad_that_went_does_not_matter(desk: Desk) -> None:
    desk.feel(2.0)
    desk.pad.detach()
    desk.now_ns += NS_PER_MS
    desk.gamepad.poll(desk.now_ns)
    desk.gamepad.show_force(desk.now_ns, 3.0)
