"""Persons who press, fetch and replay."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from app.config.task_place import PlacedStep
from app.errors import ConfigError
from app.messages import Severity
from app.operator.arm import ForceHolder
from app.operator.patience import Patience
from app.operator.presser import Pad, PressingHand
from app.operator.replay import Recording, ReplayHand, read_recording
from app.operator.retriever import RetrievingHand
from app.operator.submover import Submover
from models.numerics import FloatArray
from tests.unit.operator.stage import Screen, act

UP = np.array([0.0, 0.0, 1.0])
MS = 1_000_000


def reacher(seed: int = 0) -> Submover:
    return Submover(seed, 0.05, Patience(practised=True))


def spring(stiffness: float, height: float = -0.03):  # type: ignore[no-untyped-def]
    """Reaction of a level surface on the hand."""

    def force(tip: FloatArray) -> FloatArray:
        return max(0.0, stiffness * (height - tip[2])) * UP

    return force


def test_a_held_force_is_approached_at_the_gain_after_the_delay() -> None:
    holder = ForceHolder(2.0)
    ways = [holder.step(k * MS, 1e-3, 1.0) for k in range(1000)]
    # nothing known for 0.15 s: as if no force were felt; then half of it
    assert ways[100] == pytest.approx(0.01 * 2.0 * 1e-3)
    assert ways[500] == pytest.approx(0.01 * 1.0 * 1e-3)


def test_an_error_below_ten_per_cent_is_let_be() -> None:
    holder = ForceHolder(2.0)
    for k in range(300):
        way = holder.step(k * MS, 1e-3, 1.81)
    assert way == 0.0
    assert holder.is_settled
    for k in range(300, 600):
        way = holder.step(k * MS, 1e-3, 1.79)
    assert way > 0.0
    assert not holder.is_settled


@pytest.mark.parametrize("stiffness", [100.0, 300.0, 2000.0])
def test_the_presser_holds_the_force_on_any_pad(stiffness: float) -> None:
    pads = (Pad(np.array([0.0, 0.0, -0.03]), UP),)
    hand = PressingHand(reacher(), lambda _: pads, 2.0, 3.0, 0.03, 0)
    soft = 1.0 / (1.0 / stiffness + 1.0 / 85.0)  # in series with the limb
    places = act(hand, Screen(force=spring(soft)), 40.0)
    forces = soft * np.maximum(0.0, -0.03 - places[:, 2])
    held = np.abs(forces - 2.0) <= 0.2
    assert held.sum() / 60.0 > 3.0
    assert forces.max() < 2.5
    (event,) = hand.events()
    assert "Held" in event.text
    assert abs(places[-1][2]) < 0.01  # back over the pad


def test_a_pad_that_the_screen_does_not_mark_is_held_on() -> None:
    pads = (Pad(np.array([0.0, 0.0, -0.03]), UP),)
    hand = PressingHand(reacher(), lambda _: pads, 2.0, 3.0, 0.03, 0)
    hand.held_shown = False
    places = act(hand, Screen(force=spring(66.0)), 40.0)
    assert 66.0 * (-0.03 - places[-1][2]) == pytest.approx(2.0, abs=0.21)
    assert hand.events() == []


def test_a_hand_rests_between_frames_only_where_nothing_would_move_it() -> None:
    pads = (Pad(np.array([0.0, 0.0, -0.03]), UP),)

    def places(*, rests: bool) -> FloatArray:
        hand = PressingHand(reacher(), lambda _: pads, 2.0, 3.0, 0.03, 0)
        hand.held_shown = False

        def force(tip: FloatArray) -> FloatArray:
            return spring(66.0 if k < 3502 else 90.0)(tip)

        screen = Screen(force=force)
        hand.take_up(0, np.zeros(3))
        gone = []
        for k in range(6000):
            if k % 4 == 0:
                seen = screen.show(4 * k * MS)
            if k == 4501:
                hand.held_shown = True
            place = hand.step(4 * k * MS, seen if rests else seen._replace()).place
            gone.append(place.copy())
            if k % 4 == 3:
                screen.command(place)
        return np.stack(gone)

    resting = places(rests=True)
    assert np.array_equal(resting, places(rests=False))
    assert resting[4500, 2] < -0.05  # it held on
    assert resting[-1, 2] > -0.03  # and let go once that was marked


def test_without_force_it_gives_up_and_goes_back() -> None:
    pads = (Pad(np.array([0.0, 0.0, -0.03]), UP),)
    hand = PressingHand(reacher(), lambda _: pads, 2.0, 3.0, 0.03, 0)
    places = act(hand, Screen(), 40.0)
    assert places[:, 2].min() == pytest.approx(-0.09, abs=1e-3)
    (event,) = hand.events()
    assert event.severity == Severity.WARNING
    assert "given up" in event.text


def test_two_pads_are_told_apart_as_well_as_a_person_can() -> None:
    right = 0
    persons = 30
    for seed in range(persons):
        stiff = seed % 2  # index of the stiffer one
        pads = tuple(Pad(np.array([x, 0.0, -0.03]), UP) for x in (-0.04, 0.04))

        def force(tip: FloatArray, stiff: int = stiff) -> FloatArray:
            which = int(tip[0] > 0.0)
            k = 210.0 if which == stiff else 150.0
            return k * max(0.0, -0.03 - tip[2]) * UP

        hand = PressingHand(reacher(seed), lambda _, p=pads: p, 2.0, 1.0, 0.03, seed)
        act(hand, Screen(force=force), 60.0, lambda h=hand: h.answer is not None)
        right += hand.answer == stiff
    # 150 against 210 N/m with 15 % each: right with probability 0.93
    assert right >= 24


STEPS = (
    PlacedStep("approach", np.array([0.05, 0.0, 0.03]), 0.03, 0.0, exact=False),
    PlacedStep("align", np.array([0.05, 0.0, 0.0]), 0.016, None, exact=True),
    PlacedStep("grip", np.array([0.05, 0.0, 0.0]), 0.016, 1.0, exact=True),
    PlacedStep("carry", np.array([0.0, 0.0, 0.05]), 0.04, None, exact=False),
    PlacedStep("release", np.array([-0.05, 0.0, 0.0]), 0.04, 0.0, exact=True),
)


def fetch(
    hand: RetrievingHand, screen: Screen, seconds: float
) -> list[tuple[str, float, float]]:
    """Name of the step, grip and distance of the robot from the object, by frame."""
    hand.take_up(0, np.zeros(3))
    rows = []
    for frame in range(round(60 * seconds)):
        now_ns = frame * 10**9 // 60
        name = hand.step_name
        done = hand.step(now_ns, screen.show(now_ns))
        screen.command(done.place)
        gap = float(np.linalg.norm(screen.robot - STEPS[1].place))
        rows.append((name, done.grip, gap))
    return rows


@pytest.mark.parametrize("round_trip_s", [0.0, 2.0])
def test_it_grips_at_the_object_and_lets_go_at_the_goal(round_trip_s: float) -> None:
    hand = RetrievingHand(reacher(), lambda _: STEPS)
    rows = fetch(hand, Screen(round_trip_s, holding=True), 60.0)
    assert hand.is_done
    order = list(dict.fromkeys(name for name, _, _ in rows))
    assert order == ["approach", "align", "grip", "carry", "release", ""]
    closing = [gap for name, grip, gap in rows if name == "grip" and 0.0 < grip < 1.0]
    assert max(closing) < 0.008
    assert all(grip == 1.0 for name, grip, _ in rows if name == "carry")
    assert rows[-1][1] == 0.0
    assert "Fetched" in hand.events()[-1].text


def test_an_empty_gripper_is_opened_and_tried_again_three_times() -> None:
    hand = RetrievingHand(reacher(), lambda _: STEPS)
    fetch(hand, Screen(holding=False), 60.0)
    assert hand.tries == 3
    assert hand.is_done
    texts = [event.text for event in hand.events()]
    assert sum("Nothing held" in text for text in texts) == 3
    assert "given up" in texts[-1]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_recorded_place_is_replayed_from_where_the_tip_is(tmp_path: Path) -> None:
    file = write(
        tmp_path / "hand.csv", "time_s,x_mm,y_mm,z_mm\n5,10,0,0\n6,20,0,0\n7,20,5,0\n"
    )
    hand = ReplayHand(read_recording(file))
    start = np.array([0.3, 0.0, 0.0])
    places = act(hand, Screen(start=start), 3.0, start=start)
    np.testing.assert_allclose(places[0], start)
    np.testing.assert_allclose(places[30], [0.305, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(places[-1], [0.31, 0.005, 0.0], atol=1e-9)
    assert "Open-loop" in hand.events()[0].text


def test_a_pause_does_not_skip_what_was_recorded() -> None:
    recording = Recording(
        "place", np.array([0.0, 10.0]), np.array([[0.0, 0, 0], [0.1, 0, 0]])
    )
    hand = ReplayHand(recording)
    seen = Screen().show(0)
    hand.take_up(0, np.zeros(3))
    hand.step(2 * 10**9, seen)
    hand.take_up(50 * 10**9, np.array([0.5, 0.0, 0.0]))
    place = hand.step(51 * 10**9, seen).place
    assert place[0] == pytest.approx(0.51)


def test_a_recorded_force_moves_the_handle_against_its_drag() -> None:
    recording = Recording("force", np.array([0.0, 100.0]), np.array([[0.1, 0, 0]] * 2))
    hand = ReplayHand(recording)
    places = act(hand, Screen(), 10.0)
    speed = (places[-1][0] - places[-61][0]) / 1.0
    assert speed == pytest.approx(0.1 / 2.0, rel=1e-3)  # force over damping


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time_s,x_mm\n0,1\n1,2\n", "y_mm"),
        ("time_s,x_mm,y_mm,z_mm\n0,1,2,3\n", "two rows"),
        ("time_s,x_mm,y_mm,z_mm\n0,1,2,3\n0,1,2,3\n", "increase"),
        ("time_s,x_mm,y_mm,z_mm\n0,1,2,3\n1,1,x,3\n", "not a number"),
    ],
)
def test_a_wrong_recording_is_explained(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_recording(write(tmp_path / "bad.csv", text))


def test_what_is_lost_on_the_way_is_fetched_again() -> None:
    hand = RetrievingHand(reacher(), lambda _: STEPS)
    screen = Screen(holding=True)
    hand.take_up(0, np.zeros(3))
    names = []
    for frame in range(60 * 60):
        now_ns = frame * 10**9 // 60
        screen.holding = not (hand.step_name == "carry" and hand.tries == 1)
        screen.command(hand.step(now_ns, screen.show(now_ns)).place)
        names.append(hand.step_name)
    assert hand.is_done
    assert hand.tries == 2
    order = [name for name, before in pairwise([*names, ""]) if name != before]
    # back the way it came: through the places of grip and align to the approach
    assert order == [
        *("approach", "align", "grip", "carry"),
        *("grip", "align", "approach", "align", "grip", "carry", "release"),
    ]
    assert "Lost on the way: try 2 from 'approach'." in [e.text for e in hand.events()]


def test_a_grip_is_believed_when_the_robot_has_followed_it() -> None:
    hand = RetrievingHand(reacher(), lambda _: STEPS)
    screen = Screen(holding=None)
    hand.take_up(0, np.zeros(3))
    closed_ns, frozen_ns, went_on_ns = 0, 0, 0
    for frame in range(60 * 60):
        now_ns = frame * 10**9 // 60
        # a blockage of ten seconds begins as the gripper closes
        blocked = bool(closed_ns) and now_ns < closed_ns + 10 * 10**9
        frozen_ns = frozen_ns if blocked else now_ns
        screen.holding = None if blocked or not closed_ns else True
        seen = screen.show(now_ns)._replace(followed_ns=max(1, frozen_ns))
        act = hand.step(now_ns, seen)
        screen.command(act.place)
        if act.grip > 0.0 and not closed_ns:
            closed_ns = now_ns
        if closed_ns and hand.step_name == "carry" and not went_on_ns:
            went_on_ns = now_ns
    assert went_on_ns - closed_ns >= 10 * 10**9
    assert hand.tries == 1
