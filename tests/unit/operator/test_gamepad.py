"""Virtual pads through the real SDL; SDL is not told that they are not real."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.errors import DeviceError
from app.messages import InputMode, OperatorInput, Severity
from app.operator import gamepad as gamepad_module
from app.operator import sdl
from app.operator.gamepad import Gamepad, VirtualGamepad, gamepad_names
from app.operator.mapping import BUTTONS, GamepadMapping

# SDL carries an axis as 15 bits and a virtual one's last bit flickers
TOLERANCE = 2e-4

WAIT_S = 20.0  # a thread that has not come by then never will


class Desk:
    """A Gamepad over virtual pads, polled every millisecond of a virtual clock."""

    def __init__(self, *pads: VirtualGamepad, database: Path | None = None) -> None:
        self.gamepad = Gamepad(GamepadMapping(), 4, virtual=pads, database=database)
        self.now_ns = 0

    def poll(self) -> OperatorInput:
        self.now_ns += NS_PER_MS
        return self.gamepad.poll(self.now_ns)


@pytest.fixture
def desk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[..., Desk]]:
    """Make desks; what they opened is closed at the end."""
    monkeypatch.setattr(gamepad_module, "operator_config_folder", lambda: tmp_path)
    made: list[Desk] = []

    def make(*pads: VirtualGamepad, database: Path | None = None) -> Desk:
        made.append(Desk(*pads, database=database))
        return made[-1]

    yield make
    for one in made:
        one.gamepad.close()


def test_sticks_and_deadman_come_through(desk: Callable[..., Desk]) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    assert table.poll().present
    pad.press("rightshoulder")
    pad.set_axis("lefty", 1.0)
    sample = table.poll()
    assert (sample.deadman, sample.mode) == (True, InputMode.RATE)
    assert sample.rate == pytest.approx((1.0, 0.0, 0.0), abs=TOLERANCE)
    assert sample.stamp_ns == table.now_ns
    pad.center()
    pad.set_axis("leftx", -1.0)
    sample = table.poll()
    assert not sample.deadman
    assert sample.rate == pytest.approx((0.0, 1.0, 0.0), abs=TOLERANCE)
    pad.center()
    pad.set_axis("righty", -1.0)
    assert table.poll().rate == pytest.approx((0.0, 0.0, -1.0), abs=TOLERANCE)


@pytest.mark.parametrize("button", BUTTONS[:15])
def test_every_button_is_read_under_its_own_name(
    desk: Callable[..., Desk], button: str
) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    table.poll()
    pad.press(button)
    table.poll()
    assert table.gamepad.status.reading.buttons == {button}
    pad.release()
    table.poll()
    assert table.gamepad.status.reading.buttons == frozenset()


def test_triggers_rest_at_zero_and_press_past_half_way(
    desk: Callable[..., Desk],
) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    table.poll()
    assert table.gamepad.status.reading.triggers == (0.0, 0.0)
    pad.set_axis("righttrigger", 0.8)
    table.poll()
    reading = table.gamepad.status.reading
    assert reading.triggers == pytest.approx((0.0, 0.8), abs=TOLERANCE)
    assert reading.buttons == {"righttrigger"}


def test_unplugged_in_motion_is_neutral_at_the_very_next_poll(
    desk: Callable[..., Desk],
) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    table.poll()
    pad.press("rightshoulder")
    pad.set_axis("lefty", 1.0)
    assert table.poll().deadman
    pad.detach()
    sample = table.poll()
    assert (sample.present, sample.deadman) == (False, False)
    assert sample.rate == (0.0, 0.0, 0.0)
    assert sample.mode == InputMode.NEUTRAL
    assert not pad.attached
    assert table.gamepad.status.pads == 0
    events = table.gamepad.events()
    assert events[-1].severity == Severity.ALARM
    assert "disconnected while its deadman was held" in events[-1].text


def test_plugged_in_again_it_must_press_its_deadman_anew(
    desk: Callable[..., Desk],
) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    table.poll()
    pad.press("rightshoulder")
    table.poll()
    pad.detach()
    table.poll()
    pad.attach()
    sample = table.poll()
    assert (sample.present, sample.deadman) == (True, False)
    assert not table.poll().deadman
    pad.release()
    table.poll()
    pad.press("rightshoulder")
    assert table.poll().deadman


def test_a_blocked_driver_gives_no_new_sample(desk: Callable[..., Desk]) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    samples: list[OperatorInput] = []
    polled, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def read() -> None:
        samples.append(table.poll())
        pad.press("rightshoulder")
        samples.append(table.poll())
        polled.set()
        go_on.wait(WAIT_S)
        samples.append(table.poll())
        table.gamepad.close()
        done.set()

    thread = threading.Thread(target=read)
    thread.start()
    assert polled.wait(WAIT_S)
    pad.block()
    go_on.set()
    assert pad.blocked.wait(WAIT_S)  # now SDL hangs inside the driver
    assert len(samples) == 2
    assert samples[-1].stamp_ns == 2 * NS_PER_MS
    pad.unblock()
    assert done.wait(WAIT_S)
    thread.join(WAIT_S)
    # stamped with the time before the block: it is as old as it is
    assert samples[-1].stamp_ns == 3 * NS_PER_MS


def test_a_pad_that_repeats_itself_is_stopped(desk: Callable[..., Desk]) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    table.poll()
    pad.press("rightshoulder")
    pad.set_axis("lefty", 0.7)
    for _ in range(20):
        table.now_ns += NS_PER_S
        assert table.poll().deadman  # held still by a live hand
    pad.freeze()
    table.poll()
    table.now_ns += 6 * NS_PER_S
    sample = table.poll()
    assert (sample.deadman, sample.rate) == (False, (0.0, 0.0, 0.0))
    assert "taken as frozen" in table.gamepad.events()[-1].text


def test_two_pads_are_told_apart(desk: Callable[..., Desk]) -> None:
    first, second = VirtualGamepad("first"), VirtualGamepad("second")
    table = desk(first, second)
    table.poll()
    assert table.gamepad.status.pads == 2
    second.press("rightshoulder")
    second.set_axis("lefty", -1.0)
    first.set_axis("lefty", 1.0)
    sample = table.poll()
    assert sample.rate[0] == pytest.approx(-1.0, abs=TOLERANCE)
    assert table.gamepad.status.name == "second"
    second.detach()
    sample = table.poll()
    assert (sample.present, sample.deadman) == (True, False)
    assert table.gamepad.status.name == "first"


def test_plugging_in_and_out_many_times(desk: Callable[..., Desk]) -> None:
    pad = VirtualGamepad()
    table = desk(pad)
    for _ in range(50):
        pad.attach()
        assert table.poll().present
        pad.detach()
        assert not table.poll().present
    assert len(table.gamepad.events()) == 100


def test_a_known_make_is_read_by_its_own_mapping(desk: Callable[..., Desk]) -> None:
    pad = VirtualGamepad("DualSense Wireless Controller", 0x054C, 0x0CE6)
    table = desk(pad)
    table.poll()
    pad.press("start")
    assert table.poll().arm_count == 1


def test_a_database_of_ones_own_is_added_or_complained_of(
    desk: Callable[..., Desk], tmp_path: Path
) -> None:
    good = tmp_path / "good.txt"
    good.write_text("03000000fe0f0000ce0a000011010000,Mine,a:b1,b:b0,platform:Linux,\n")
    table = desk(database=good)
    table.poll()
    (event,) = table.gamepad.events()
    assert str(good) in event.text
    assert "1 of them" in event.text
    table = desk(database=tmp_path / "missing.txt")
    assert not table.poll().present
    (event,) = table.gamepad.events()
    assert event.severity == Severity.WARNING
    assert "missing.txt" in event.text
    assert "Mend or remove" in event.text


def test_a_joystick_that_is_no_gamepad_is_named_once(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = sdl.Found(99, 0, "Odd throttle", mapped=False)
    monkeypatch.setattr(sdl, "scan", lambda: [odd])
    table = desk()
    assert not table.poll().present
    table.now_ns += 2 * NS_PER_S
    table.poll()
    (event,) = table.gamepad.events()
    assert "'Odd throttle'" in event.text
    assert "gamecontrollerdb.txt" in event.text


def test_another_thread_is_refused(desk: Callable[..., Desk]) -> None:
    table = desk()
    table.poll()
    caught: list[DeviceError] = []

    def intrude() -> None:
        try:
            table.gamepad.poll(0)
        except DeviceError as error:
            caught.append(error)

    thread = threading.Thread(target=intrude)
    thread.start()
    thread.join(WAIT_S)
    assert "thread that polled first" in str(caught[0])


def test_closing_twice_and_polling_after_it() -> None:
    with Gamepad(GamepadMapping(), 4, virtual=(VirtualGamepad(),)) as gamepad:
        gamepad.poll(0)
    gamepad.close()
    with pytest.raises(DeviceError, match="closed"):
        gamepad.poll(1)


def test_names_of_the_wrong_kind_are_refused() -> None:
    pad = VirtualGamepad()
    with pytest.raises(DeviceError, match="No button 'fire'"):
        pad.press("fire")
    with pytest.raises(DeviceError, match="No axis 'throttle'"):
        pad.set_axis("throttle", 1.0)


def test_the_check_up_lists_nothing_of_ours() -> None:
    assert all("limblink" not in name for name, _ in gamepad_names())
