"""What the console writes: merged samples, honest after a stall, one writer only."""

from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS
from app.console.controls import ConsoleControls, ControlLock
from app.console.drag import TipDrag
from app.control.blocks import SessionBlocks
from app.messages import InputBlock, InputMode, Source
from app.operator.keyboard import KeyboardOperator
from tests.unit.console.stand import MODEL

T0 = 10_000_000_000


def _controls(blocks: SessionBlocks) -> ConsoleControls:
    controls = ConsoleControls(blocks, KeyboardOperator(4))
    controls.is_writer = True
    return controls


@pytest.fixture
def blocks(tmp_path: Path) -> SessionBlocks:
    return SessionBlocks(tmp_path, MODEL, create=True)


def _seen(blocks: SessionBlocks) -> InputBlock:
    assert blocks.inputs[Source.CONSOLE].refresh()
    return blocks.inputs[Source.CONSOLE].local


def test_a_key_moves_only_with_the_deadman(blocks: SessionBlocks) -> None:
    controls = _controls(blocks)
    controls.keyboard.press("W")
    for step in range(40):
        controls.publish(T0 + step * 10 * NS_PER_MS)
    assert _seen(blocks).rate[0] == 0.0
    controls.keyboard.press("SPACE")
    for step in range(40, 80):
        controls.publish(T0 + step * 10 * NS_PER_MS)
    seen = _seen(blocks)
    assert seen.rate[0] == pytest.approx(1.0)
    assert seen.deadman[0] == 1
    assert seen.stamp_ns[0] == T0 + 790 * NS_PER_MS


def test_a_stall_counts_as_letting_go(blocks: SessionBlocks) -> None:
    controls = _controls(blocks)
    controls.keyboard.press("SPACE")
    controls.keyboard.press("W")
    controls.publish(T0)
    controls.publish(T0 + 10 * NS_PER_MS)
    assert _seen(blocks).deadman[0] == 1
    controls.publish(T0 + 5_010 * NS_PER_MS)
    assert _seen(blocks).deadman[0] == 0
    assert controls.stalls == 1


def test_a_stall_ends_a_drag(blocks: SessionBlocks) -> None:
    controls = _controls(blocks)
    controls.publish(T0)
    controls.drag = TipDrag(MODEL, 1, np.array([0.5, 0.0, 0.1]), (0.0, 0.0))
    controls.publish(T0 + 151 * NS_PER_MS)
    assert controls.drag is None
    assert _seen(blocks).deadman[0] == 0


def test_a_drag_is_a_target_with_the_button_as_deadman(blocks: SessionBlocks) -> None:
    controls = _controls(blocks)
    target = np.array([0.5, -0.1, 0.2])
    controls.drag = TipDrag(MODEL, 3, target, (0.0, 0.0))
    controls.publish(T0)
    seen = _seen(blocks)
    assert (seen.mode[0], seen.limb[0], seen.deadman[0]) == (InputMode.TARGET, 3, 1)
    np.testing.assert_array_equal(seen.target, target)
    controls.drag = None
    controls.publish(T0 + NS_PER_MS)
    assert _seen(blocks).deadman[0] == 0


def test_buttons_and_keys_count_together(blocks: SessionBlocks) -> None:
    controls = _controls(blocks)
    controls.press_estop()
    controls.keyboard.press("ESC")
    controls.press_disarm()
    controls.press_arm()
    controls.press_reset()
    controls.publish(T0)
    seen = _seen(blocks)
    counts = (seen.estop_count, seen.disarm_count, seen.arm_count)
    assert [int(count[0]) for count in counts] == [2, 1, 1]
    assert seen.estop_reset_count[0] == 1


def test_a_console_that_returns_counts_on_and_presses_nothing(
    blocks: SessionBlocks,
) -> None:
    first = _controls(blocks)
    for _ in range(3):
        first.press_arm()
    first.press_estop()
    first.publish(T0)
    second = _controls(blocks)
    second.publish(T0 + NS_PER_MS)
    assert (_seen(blocks).arm_count[0], _seen(blocks).estop_count[0]) == (3, 1)
    second.press_arm()
    second.publish(T0 + 2 * NS_PER_MS)
    assert _seen(blocks).arm_count[0] == 4


def test_attaching_again_presses_nothing(blocks: SessionBlocks) -> None:
    controls = _controls(blocks)
    controls.keyboard.press("ESC")
    controls.press_estop()
    controls.publish(T0)
    controls.attach(blocks)
    controls.publish(T0 + NS_PER_MS)
    assert _seen(blocks).estop_count[0] == 2


def test_a_watcher_writes_nothing(blocks: SessionBlocks) -> None:
    controls = ConsoleControls(blocks, KeyboardOperator(4))
    controls.press_arm()
    controls.publish(T0)
    assert blocks.inputs[Source.CONSOLE].count == 0
    assert blocks.wish.count == 0


def test_one_console_holds_control_until_it_ends(tmp_path: Path) -> None:
    first, second = ControlLock(tmp_path), ControlLock(tmp_path)
    assert first.is_free
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    assert not second.is_free
    assert second.holder.isdigit()
    first.close()
    first.close()
    assert second.is_free
    assert second.acquire()
    second.close()


def test_wishes_move_the_revision_and_carry_a_heartbeat(blocks: SessionBlocks) -> None:
    wishes = _controls(blocks).wishes
    assert wishes.override("delay_ms") is None
    wishes.choose_preset(2)
    wishes.set_override("delay_ms", 250.0)
    wishes.set_cut(True)
    wishes.publish(T0)
    blocks.wish.refresh()
    seen = blocks.wish.local
    assert (seen.revision[0], seen.preset[0], seen.cut[0]) == (3, 2, 1)
    assert (seen.delay_ms[0], seen.loss[0]) == (250.0, -1.0)
    assert seen.heartbeat_ns[0] == T0
    wishes.set_override("delay_ms", None)
    assert wishes.override("delay_ms") is None
    wishes.set_override("loss", 0.2)
    wishes.choose_preset(1)
    assert wishes.override("loss") is None


def test_of_delay_and_range_the_later_wish_counts(blocks: SessionBlocks) -> None:
    wishes = _controls(blocks).wishes
    wishes.set_override("delay_ms", 250.0)
    wishes.set_override("distance_m", 600.0)
    assert wishes.override("delay_ms") is None
    assert wishes.override("distance_m") == 600.0
    wishes.set_override("delay_ms", 40.0)
    assert wishes.override("distance_m") is None


def test_an_outage_is_wished_once_and_not_again_with_the_next_wish(
    blocks: SessionBlocks,
) -> None:
    wishes = _controls(blocks).wishes
    wishes.start_outage(5.0)
    wishes.publish(T0)
    blocks.wish.refresh()
    assert blocks.wish.local.outage_s[0] == 5.0
    assert blocks.wish.local.revision[0] == 1
    wishes.set_override("loss", 0.1)
    wishes.publish(T0)
    blocks.wish.refresh()
    assert blocks.wish.local.outage_s[0] == 0.0


def test_wishes_of_an_earlier_console_stand(blocks: SessionBlocks) -> None:
    first = _controls(blocks).wishes
    first.choose_preset(4)
    first.set_override("jitter_ms", 5.0)
    first.publish(T0)
    later = _controls(blocks).wishes
    assert (later.preset, later.override("jitter_ms"), later.revision) == (4, 5.0, 2)
