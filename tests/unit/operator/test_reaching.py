"""Persons who reach: moves, draws, waiting, the VITE law, and visiting targets."""

import numpy as np
import pytest

from app.clock import NS_PER_S
from app.operator.draws import draw_move, draw_noise
from app.operator.look import FRAME_HZ, Trail
from app.operator.patience import Patience
from app.operator.submover import Submover, move_duration
from app.operator.targets import TargetHand
from app.operator.vite import Vite, go_signal
from models.numerics import FloatArray
from tests.unit.operator.stage import Screen, act

SPEED = 0.05


def reach(
    person: Submover | Vite,
    screen: Screen,
    target: FloatArray,
    width: float,
    seconds: float = 30.0,
) -> FloatArray:
    """Places of the hand, frame by frame, until the target is met at rest."""
    person.take_up(0, np.zeros(3))
    person.aim(0, target, width)
    places = []
    for frame in range(round(seconds * FRAME_HZ)):
        now_ns = frame * NS_PER_S // FRAME_HZ
        place = person.step(now_ns, screen.show(now_ns))
        screen.command(place)
        places.append(place.copy())
        if person.at_target:
            break
    return np.stack(places)


def test_reactions_have_their_mean_and_spread() -> None:
    reactions = np.array([draw_move(3, move).reaction_s for move in range(4000)])
    # three standard errors of 4000 draws
    assert reactions.mean() == pytest.approx(0.25, abs=3 * 0.05 / 4000**0.5)
    assert reactions.std() == pytest.approx(0.05, rel=0.06)
    assert reactions.min() > 0.1


def test_draws_belong_to_the_move_not_to_the_call() -> None:
    late = draw_move(1, 7)
    draw_move(1, 0), draw_noise(1, 0, 5)
    assert draw_move(1, 7) == late
    assert draw_move(2, 7) != late
    assert draw_move(1, 8) != late
    np.testing.assert_array_equal(draw_noise(1, 4, 9), draw_noise(1, 4, 9))


def test_a_move_takes_as_long_as_fitts_and_the_speed_limit_say() -> None:
    assert move_duration(0.2, 0.02, SPEED) == pytest.approx(1.875 * 0.2 / 0.05)
    assert move_duration(0.002, 0.02, SPEED) == pytest.approx(0.2 + 0.1 * 0.2630344)


def test_a_move_is_a_minimum_jerk_stroke_below_the_speed_limit() -> None:
    places = reach(Submover(0, SPEED), Screen(), np.array([0.1, 0.0, 0.0]), 0.04)
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) * FRAME_HZ
    way = np.linalg.norm(places[-1])  # its end misses the target
    assert speeds.max() == pytest.approx(SPEED * way / 0.1, rel=0.01)
    moving = np.flatnonzero(speeds > 1e-9)
    assert moving[0] / FRAME_HZ == pytest.approx(draw_move(0, 0).reaction_s, abs=0.04)
    assert (moving[-1] - moving[0]) / FRAME_HZ == pytest.approx(3.75, abs=0.04)


def test_where_moves_end_has_the_stated_spread_along_and_across() -> None:
    ends = []
    for seed in range(300):
        person = Submover(seed, SPEED)
        screen = Screen()
        person.take_up(0, np.zeros(3))
        person.aim(0, np.array([0.0, 0.1, 0.0]), 0.5e-3)
        for now_ns in (0, NS_PER_S, 10 * NS_PER_S):  # look, start, end
            place = person.step(now_ns, screen.show(now_ns))
        ends.append(place.copy())
    errors = np.stack(ends) - np.array([0.0, 0.1, 0.0])
    deviation = 0.08 * 0.1 + 0.5e-3
    # a standard deviation of 300 draws is known to 4 %
    assert errors[:, 1].std() == pytest.approx(deviation, rel=0.12)
    for axis in (0, 2):
        assert errors[:, axis].std() == pytest.approx(0.5 * deviation, rel=0.12)


@pytest.mark.parametrize("round_trip_s", [0.0, 1.0, 3.0])
def test_a_practised_person_waits_for_each_move_to_be_seen(round_trip_s: float) -> None:
    person = Submover(4, SPEED, Patience(practised=True))
    screen = Screen(round_trip_s, predicted=False)
    places = reach(person, screen, np.array([0.06, 0.05, 0.0]), 0.004)
    assert person.at_target
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1)
    still = np.diff(np.flatnonzero(np.diff((speeds > 1e-9).astype(int)))[1::2])
    assert len(still) == 0 or still.min() >= 0.0
    assert np.linalg.norm(places[-1] - [0.06, 0.05, 0.0]) < 0.002
    at_once = Submover(4, SPEED, Patience(practised=True))
    quick = reach(at_once, Screen(), np.array([0.06, 0.05, 0.0]), 0.004)
    assert person.moves == at_once.moves
    waited_s = (len(places) - len(quick)) / FRAME_HZ
    assert waited_s == pytest.approx(person.moves * round_trip_s, abs=0.1)


def test_a_person_learns_the_round_trip_from_the_display() -> None:
    person = Submover(0, SPEED, Patience())
    screen = Screen(0.5, predicted=False)
    targets = np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.0]] * 8)
    hand = TargetHand(person, lambda _: targets, 0.04)
    act(hand, screen, 120.0, lambda: hand.is_done)
    assert hand.is_done
    assert person.patience.round_trip_s == pytest.approx(0.5, abs=0.03)


def test_one_who_does_not_wait_makes_many_more_moves() -> None:
    patient = Submover(2, SPEED, Patience(practised=True))
    chaser = Submover(2, SPEED, Patience(naive=True))
    goal = np.array([0.1, 0.0, 0.0])
    reach(patient, Screen(2.0, predicted=False), goal, 0.005, 40.0)
    reach(chaser, Screen(2.0, predicted=False), goal, 0.005, 40.0)
    assert patient.at_target
    assert chaser.moves > 3 * patient.moves


def test_the_go_signal() -> None:
    assert go_signal(-1.0) == 0.0
    assert go_signal(0.2) == pytest.approx(4.0)
    assert go_signal(1e3) == pytest.approx(8.0, rel=1e-6)


def test_vite_reaches_with_one_bell_of_speed() -> None:
    person = Vite(0, 1.0)  # above what it does by itself
    places = reach(person, Screen(), np.array([0.1, 0.0, 0.0]), 0.004)
    assert person.at_target
    assert person.moves == 1
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1)
    peak = int(speeds.argmax())
    assert np.all(np.diff(speeds[: peak + 1]) >= -1e-9)
    assert np.all(np.diff(speeds[peak:]) <= 1e-9)
    slow = reach(Vite(0, SPEED), Screen(), np.array([0.1, 0.0, 0.0]), 0.004)
    limited = np.linalg.norm(np.diff(slow, axis=0), axis=1) * FRAME_HZ
    assert limited.max() <= SPEED * (1 + 1e-6)  # frames are a nanosecond uneven


def test_a_target_counts_when_the_robot_itself_has_dwelt_in_it() -> None:
    targets = np.array([[0.05, 0.0, 0.0], [0.0, 0.05, 0.0]])
    hand = TargetHand(Submover(0, SPEED), lambda _: targets, 0.02)
    screen = Screen(2.0)
    act(hand, screen, 60.0, lambda: bool(hand.hits_ns))
    # reaction, a move of 1.875 s or more, the way there and back, half a second
    assert hand.hits_ns[0] > (1.875 + 2.0 + 0.5) * NS_PER_S
    assert np.linalg.norm(screen.robot - targets[0]) < 0.01


def test_a_robot_that_rests_beside_the_prediction_is_believed() -> None:
    targets = np.array([[0.05, 0.0, 0.0]])
    hand = TargetHand(Submover(0, SPEED), lambda _: targets, 0.01)
    screen = Screen(1.0, offset=np.array([0.0, 0.02, 0.0]))
    act(hand, screen, 60.0, lambda: hand.is_done)
    assert hand.is_done
    assert np.linalg.norm(screen.robot - targets[0]) < 0.005
    assert "1 targets met" in hand.events()[0].text


def test_what_a_person_draws_does_not_hang_on_the_display() -> None:
    def first_move(screen: Screen) -> FloatArray:
        return reach(Submover(9, SPEED), screen, np.array([0.1, 0.0, 0.0]), 0.04, 4.5)

    one = first_move(Screen(2.0))
    other = first_move(Screen(0.3, predicted=False))
    np.testing.assert_array_equal(one[:240], other[:240])


def test_a_screen_that_marks_targets_is_believed_and_waited_for() -> None:
    targets = np.array([[0.05, 0.0, 0.0], [0.1, 0.0, 0.0]])
    hand = TargetHand(Submover(0, SPEED), lambda _: targets, 0.02)
    hand.hits_shown = 0
    screen = Screen()

    def marked() -> bool:
        there = float(np.linalg.norm(screen.robot - targets[0])) < 0.01
        hand.hits_shown = int(there)
        return bool(hand.hits_ns)

    act(hand, screen, 8.0, lambda: False)
    assert hand.hits_ns == []
    assert np.linalg.norm(screen.robot - targets[0]) < 0.01
    act(hand, screen, 8.0, marked)
    assert len(hand.hits_ns) == 1


def test_no_move_begins_while_the_robot_s_picture_is_old() -> None:
    person, screen = Submover(0, SPEED, Patience(practised=True)), Screen(1.0)
    person.take_up(0, np.zeros(3))
    person.aim(0, np.array([0.05, 0.0, 0.0]), 0.01)
    for frame in range(round(12.0 * FRAME_HZ)):
        now_ns = frame * NS_PER_S // FRAME_HZ
        # the robot has followed nothing since the start; after 4 s it has
        followed_ns = 1 if now_ns < 4 * NS_PER_S else now_ns - NS_PER_S
        late = now_ns > 2.1 * NS_PER_S and now_ns < 4 * NS_PER_S
        if now_ns < NS_PER_S:
            followed_ns = 0  # not known: as ever
        if frame == round(2.1 * FRAME_HZ):
            person.aim(now_ns, np.array([-0.05, 0.0, 0.0]), 0.01)
        seen = screen.show(now_ns)._replace(followed_ns=followed_ns)
        before = person.moves
        screen.command(person.step(now_ns, seen))
        if late:
            assert person.moves == before
    assert person.at_target


def test_a_hand_that_has_left_its_target_takes_hold_of_it_again() -> None:
    held = np.array([0.01, 0.0, 0.0])  # as far as the limb can follow
    person, screen = Submover(0, SPEED, Patience(practised=True)), Screen()
    person.take_up(0, np.zeros(3))
    person.aim(0, np.array([0.06, 0.0, 0.0]), 0.01)
    places = []
    for frame in range(round(30.0 * FRAME_HZ)):
        now_ns = frame * NS_PER_S // FRAME_HZ
        seen = screen.show(now_ns)._replace(tip=held, shown=Trail(), target=held)
        places.append(person.step(now_ns, seen).copy())
    assert person.moves > 5
    # each move over the error that is seen, from the target: nothing is wound up
    assert np.max(np.abs(places)) < 0.08
