"""Several game controllers, one in charge."""

import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.messages import InputMode, OperatorInput, Severity
from app.operator.mapping import GamepadMapping, PadReading
from app.operator.pads import PadCrew

RB = "rightshoulder"


class Bench:
    """Pads on a table; every `tick` reads them all, a millisecond apart."""

    def __init__(self, *identities: int, limbs: int = 4) -> None:
        self.crew = PadCrew(GamepadMapping(), limbs)
        self.now_ns = 0
        self.pads = {identity: PadReading() for identity in identities}
        for identity in identities:
            self.crew.join(identity, f"pad {identity}", 0)

    def tick(self, step_ns: int = NS_PER_MS) -> OperatorInput:
        self.now_ns += step_ns
        return self.crew.update(self.now_ns, self.pads)

    def hold(
        self,
        identity: int,
        *buttons: str,
        left: tuple[float, float] = (0.0, 0.0),
    ) -> OperatorInput:
        self.pads[identity] = PadReading(left=left, buttons=frozenset(buttons))
        return self.tick()

    def leave(self, identity: int) -> OperatorInput:
        del self.pads[identity]
        self.crew.leave(identity, self.now_ns)
        return self.tick()


def test_without_pads_the_sample_is_neutral_and_absent() -> None:
    sample = Bench().tick()
    assert not sample.present
    assert not sample.deadman
    assert sample.mode == InputMode.NEUTRAL
    assert sample.stamp_ns == NS_PER_MS


def test_a_held_deadman_moves_and_a_released_one_does_not() -> None:
    bench = Bench(0)
    bench.tick()
    sample = bench.hold(0, RB, left=(0.0, 1.0))
    assert (sample.deadman, sample.mode) == (True, InputMode.RATE)
    assert sample.rate == (1.0, 0.0, 0.0)
    assert not bench.hold(0, left=(0.0, 1.0)).deadman


def test_what_is_held_while_plugging_in_does_nothing_until_released() -> None:
    bench = Bench(0)
    assert not bench.hold(0, RB, "start", "guide").deadman
    sample = bench.hold(0, RB, "start", "guide")
    assert (sample.deadman, sample.arm_count, sample.estop_count) == (False, 0, 0)
    bench.hold(0)
    assert bench.hold(0, RB).deadman


@pytest.mark.parametrize(
    ("button", "count"),
    [
        ("start", "arm_count"),
        ("back", "disarm_count"),
        ("guide", "estop_count"),
        ("y", "estop_reset_count"),
    ],
)
def test_a_press_counts_once_however_long_it_is_held(button: str, count: str) -> None:
    bench = Bench(0)
    bench.tick()
    assert getattr(bench.hold(0, button), count) == 1
    assert getattr(bench.hold(0, button), count) == 1
    assert getattr(bench.hold(0), count) == 1
    assert getattr(bench.hold(0, button), count) == 2


def test_both_sticks_pressed_one_after_the_other_stop_once() -> None:
    bench = Bench(0)
    bench.tick()
    assert bench.hold(0, "leftstick").estop_count == 0
    assert bench.hold(0, "leftstick", "rightstick").estop_count == 1
    assert bench.hold(0, "leftstick", "rightstick", "guide").estop_count == 1


def test_a_held_stop_can_be_neither_reset_nor_armed_over() -> None:
    bench = Bench(0, 1)
    bench.tick()
    bench.hold(0, "guide")
    bench.hold(1, "y")
    sample = bench.hold(1, "start")
    assert (sample.estop_reset_count, sample.arm_count) == (0, 0)
    bench.hold(0)
    assert bench.hold(1, "y").estop_reset_count == 1


def test_selection_goes_round_both_ways() -> None:
    bench = Bench(0, limbs=3)
    bench.tick()
    limbs = []
    for button in ("a", "a", "a", "b"):
        limbs.append(bench.hold(0, button).limb)
        bench.hold(0)
    assert limbs == [1, 2, 0, 2]
    bench.crew.select(1)
    assert bench.hold(0, "a").limb == 2
    bench.crew.select(7)
    assert bench.tick().limb == 2


def test_the_first_deadman_keeps_charge() -> None:
    bench = Bench(0, 1)
    bench.tick()
    assert bench.hold(1, RB, left=(0.0, 1.0)).rate[0] == 1.0
    sample = bench.hold(0, RB, left=(0.0, -1.0))
    assert (bench.crew.in_charge, sample.rate[0]) == (1, 1.0)
    # pad 0 has held its own all along: it must press anew once pad 1 lets go
    sample = bench.hold(1)
    assert (bench.crew.in_charge, sample.deadman) == (1, False)
    bench.hold(0)
    assert bench.hold(0, RB, left=(0.0, -1.0)).rate[0] == -1.0


def test_any_pad_stops_and_disarms_but_only_the_one_in_charge_arms() -> None:
    bench = Bench(0, 1)
    bench.tick()
    bench.hold(0, RB)
    assert bench.hold(1, "start").arm_count == 0
    assert bench.hold(1, "back").disarm_count == 1
    assert bench.hold(1, "guide").estop_count == 1


def test_a_pad_whose_button_is_pressed_takes_charge_while_nobody_drives() -> None:
    bench = Bench(3, 0)
    bench.tick()
    assert bench.crew.in_charge == 3
    assert bench.hold(0, "start").arm_count == 1
    assert bench.crew.in_charge == 0


def test_unplugging_in_motion_is_neutral_at_once_and_an_alarm() -> None:
    bench = Bench(0)
    bench.tick()
    bench.hold(0, RB, left=(0.0, 1.0))
    bench.crew.events()
    sample = bench.leave(0)
    assert (sample.present, sample.deadman) == (False, False)
    assert sample.rate == (0.0, 0.0, 0.0)
    (event,) = bench.crew.events()
    assert event.severity == Severity.ALARM
    assert "disconnected while its deadman was held" in event.text


def test_an_unplugged_pad_hands_no_motion_to_one_that_is_held() -> None:
    bench = Bench(0, 1)
    bench.tick()
    bench.hold(0, RB)
    bench.hold(1, RB, left=(0.0, 1.0))
    sample = bench.leave(0)
    assert (sample.present, sample.deadman) == (True, False)
    bench.hold(1)
    assert bench.hold(1, RB).deadman


def test_counts_go_on_over_unplugging() -> None:
    bench = Bench(0)
    bench.tick()
    bench.hold(0, "start")
    bench.leave(0)
    bench.pads[5] = PadReading()
    bench.crew.join(5, "pad 5", bench.now_ns)
    bench.tick()
    assert bench.hold(5, "start").arm_count == 2


def test_a_reading_that_never_changes_is_frozen() -> None:
    bench = Bench(0)
    bench.tick()
    bench.hold(0, RB, left=(0.0, 0.7))
    assert bench.tick(4 * NS_PER_S).deadman
    sample = bench.tick(2 * NS_PER_S)
    assert (sample.deadman, sample.mode) == (False, InputMode.NEUTRAL)
    assert sample.rate == (0.0, 0.0, 0.0)
    assert [event.severity for event in bench.crew.events()][-1] == Severity.ALARM
    # coming back to life is not enough: the deadman must be pressed anew
    assert not bench.hold(0, RB, left=(0.0, 0.8)).deadman
    bench.hold(0)
    assert bench.hold(0, RB, left=(0.0, 0.8)).deadman


def test_a_frozen_pad_loses_charge() -> None:
    bench = Bench(0, 1)
    bench.tick()
    bench.hold(0, RB, left=(0.0, 0.7))
    bench.tick(6 * NS_PER_S)
    sample = bench.hold(1, RB, left=(0.0, -1.0))
    assert (bench.crew.in_charge, sample.deadman, sample.rate[0]) == (1, True, -1.0)


def test_a_live_or_a_centred_stick_is_not_frozen() -> None:
    bench = Bench(0)
    bench.tick()
    bench.hold(0, RB)
    assert bench.tick(60 * NS_PER_S).deadman  # centred: nothing moves anyway
    for k in range(20):
        sample = bench.hold(0, RB, left=(0.0, 0.7 + 0.0001 * (k % 2)))
        assert sample.deadman
        bench.now_ns += NS_PER_S
