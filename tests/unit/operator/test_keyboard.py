"""The keyboard as an operator."""

import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.messages import InputMode
from app.operator.keyboard import KEYS, KeyboardOperator

LATE = 10 * NS_PER_S


def moving(*keys: str) -> tuple[float, float, float]:
    """Rate once these keys and the deadman have been down for a while."""
    keyboard = KeyboardOperator(4)
    keyboard.press("SPACE")
    for key in keys:
        keyboard.press(key)
    keyboard.sample(0)
    return keyboard.sample(LATE).rate


@pytest.mark.parametrize(
    ("keys", "rate"),
    [
        ("W", (1.0, 0.0, 0.0)),
        ("S", (-1.0, 0.0, 0.0)),
        ("A", (0.0, 1.0, 0.0)),
        ("D", (0.0, -1.0, 0.0)),
        ("R", (0.0, 0.0, 1.0)),
        ("F", (0.0, 0.0, -1.0)),
        ("WS", (0.0, 0.0, 0.0)),
        ("WA", (0.5**0.5, 0.5**0.5, 0.0)),
    ],
)
def test_letters_move_the_tip_along_the_hull(
    keys: str, rate: tuple[float, float, float]
) -> None:
    assert moving(*keys) == pytest.approx(rate, abs=1e-12)


def test_alt_halves_and_the_rise_is_gradual_and_the_stop_is_not() -> None:
    assert moving("W", "ALT") == (0.5, 0.0, 0.0)
    keyboard = KeyboardOperator(4)
    keyboard.press("SPACE")
    keyboard.press("W")
    assert keyboard.sample(0).rate[0] == 0.0
    assert keyboard.sample(75 * NS_PER_MS).rate[0] == pytest.approx(0.5)
    assert keyboard.sample(LATE).rate[0] == 1.0
    keyboard.release("W")
    assert keyboard.sample(LATE + 1).rate[0] == 0.0


def test_nothing_moves_without_the_deadman() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("W")
    keyboard.sample(0)
    sample = keyboard.sample(LATE)
    assert (sample.deadman, sample.rate[0]) == (False, 0.0)
    assert (sample.present, sample.mode) == (True, InputMode.RATE)
    assert sample.stamp_ns == LATE


def test_arming_needs_a_hold_and_happens_once() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("ENTER")
    keyboard.sample(0)
    assert keyboard.sample(399 * NS_PER_MS).arm_count == 0
    assert keyboard.sample(400 * NS_PER_MS).arm_count == 1
    keyboard.sample(NS_PER_S)
    assert keyboard.sample(LATE).arm_count == 1
    keyboard.release("ENTER")
    keyboard.press("ENTER")
    keyboard.sample(LATE)
    assert keyboard.sample(LATE + NS_PER_S).arm_count == 2


def test_a_tap_does_not_arm() -> None:
    keyboard = KeyboardOperator(4)
    for k in range(5):
        keyboard.press("ENTER")
        keyboard.sample(k * NS_PER_S)
        keyboard.release("ENTER")
        keyboard.sample(k * NS_PER_S + 300 * NS_PER_MS)
    assert keyboard.sample(LATE).arm_count == 0


def test_stop_is_at_once_and_its_reset_takes_two_keys() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("ESC")
    assert keyboard.sample(0).estop_count == 1
    keyboard.release("ESC")
    keyboard.press("F12")
    keyboard.release("F12")
    keyboard.sample(NS_PER_S)
    assert keyboard.sample(2 * NS_PER_S).estop_reset_count == 0
    keyboard.press("ENTER")
    keyboard.sample(2 * NS_PER_S)
    sample = keyboard.sample(3 * NS_PER_S)
    assert (sample.estop_reset_count, sample.arm_count) == (1, 0)
    assert keyboard.sample(LATE).arm_count == 0  # the same hold does not arm as well


def test_a_late_second_key_does_not_reset() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("F12")
    keyboard.sample(0)
    keyboard.press("ENTER")
    keyboard.sample(3 * NS_PER_S)
    sample = keyboard.sample(4 * NS_PER_S)
    assert (sample.estop_reset_count, sample.arm_count) == (0, 1)


def test_a_stop_cancels_an_arming_in_progress() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("ENTER")
    keyboard.sample(0)
    keyboard.press("ESC")
    keyboard.sample(NS_PER_S)
    sample = keyboard.sample(LATE)
    assert (sample.estop_count, sample.arm_count) == (1, 0)


def test_selection_by_number_and_by_tab() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("3")
    assert keyboard.sample(0).limb == 2
    keyboard.press("8")
    assert keyboard.sample(0).limb == 2  # there is no eighth limb
    keyboard.press("TAB")
    keyboard.release("TAB")
    assert keyboard.sample(0).limb == 3
    keyboard.press("TAB")
    keyboard.release("TAB")
    assert keyboard.sample(0).limb == 0
    keyboard.press("BACKTAB")
    assert keyboard.sample(0).limb == 3


def test_clutch_and_disarm() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("SHIFT")
    keyboard.press("BACKSPACE")
    keyboard.press("BACKSPACE")  # a repeat of the window system
    sample = keyboard.sample(0)
    assert (sample.clutch, sample.disarm_count) == (True, 1)


def test_losing_the_focus_lets_go_of_everything_but_forgets_no_press() -> None:
    keyboard = KeyboardOperator(4)
    for key in ("SPACE", "W", "SHIFT", "ESC", "ENTER"):
        keyboard.press(key)
    keyboard.sample(0)
    keyboard.release_all()
    sample = keyboard.sample(LATE)
    assert (sample.deadman, sample.clutch, sample.rate) == (
        False,
        False,
        (0.0, 0.0, 0.0),
    )
    assert (sample.estop_count, sample.arm_count) == (1, 0)


def test_keys_that_mean_nothing_are_handed_back() -> None:
    keyboard = KeyboardOperator(4)
    assert not keyboard.press("Q")
    assert not keyboard.release("Q")
    assert keyboard.press("W")
    assert keyboard.release("W")


def test_the_help_names_every_key() -> None:
    shown = " ".join(key for key, _ in KEYS)
    for key in ("SPACE", "SHIFT", "ALT", "ENTER", "TAB", "BACKSPACE", "ESC", "F12"):
        assert key in shown


def test_g_closes_what_is_open_and_opens_what_is_closed() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("G")
    assert keyboard.sample(0).grip == 1.0
    keyboard.press("G")  # a repeat of the window system
    assert keyboard.sample(1).grip == 1.0
    keyboard.release("G")
    keyboard.follow_grip(1.0, 2)
    keyboard.press("G")
    assert keyboard.sample(3).grip == 0.0


def test_g_changes_the_grip_that_the_station_has_not_the_one_it_last_asked_for() -> (
    None
):
    keyboard = KeyboardOperator(4)
    keyboard.press("G")
    assert keyboard.sample(0).grip == 1.0
    keyboard.release("G")
    keyboard.follow_grip(0.0, 10 * NS_PER_MS)  # the station has not seen it yet
    assert keyboard.sample(20 * NS_PER_MS).grip == 1.0
    keyboard.follow_grip(0.0, NS_PER_S)  # it never will: nobody held the deadman
    assert keyboard.sample(NS_PER_S).grip == 0.0
    keyboard.follow_grip(0.8, LATE)  # another limb, closed with the gamepad
    assert keyboard.sample(LATE).grip == 0.8
    keyboard.press("G")
    assert keyboard.sample(LATE).grip == 0.0


def test_a_g_that_was_not_looked_at_before_the_focus_was_lost_is_forgotten() -> None:
    keyboard = KeyboardOperator(4)
    keyboard.press("G")
    keyboard.release_all()
    assert keyboard.sample(0).grip == 0.0
