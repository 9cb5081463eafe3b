"""Reaching over a late link: how completion time grows with the round trip.

One degree of freedom, a robot that follows at once, and the simulated person of
`app.operator.submover` who knows the round trip from practice. With the robot's own
late picture, each move costs one round trip (Ferrell 1965):

    T = sum of (reaction + duration) of the N moves + N RTT.

With a prediction only the confirmation of the last one does. T is when the person
knows, one round trip after the end of the last move. N is a mean over persons: a
single one makes whole moves.
"""

from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.operator.draws import draw_move
from app.operator.look import FRAME_HZ, Seen, Trail
from app.operator.patience import Patience
from app.operator.submover import (
    ENDPOINT_SD,
    ENDPOINT_SHARE,
    Submover,
    move_duration,
)

__all__ = [
    "WAIT_GOALS",
    "Reached",
    "WaitGoal",
    "mean_reach",
    "plan_reach",
    "step_reach",
]

_DISTANCE = 0.2  # [m]
_SPEED = 0.05  # [m/s]
_LONGEST_S = 120.0


class WaitGoal(NamedTuple):
    """Mean number of moves for a width of the target [mm], found independently."""

    width_mm: float
    moves: float


WAIT_GOALS = (
    WaitGoal(40.0, 1.23),
    WaitGoal(20.0, 1.55),
    WaitGoal(10.0, 1.78),
    WaitGoal(5.0, 2.00),
)


class Reached(NamedTuple):
    """How one reach went."""

    time_s: float
    """From when the target was shown until the person knows that it is met [s]."""
    moves: float
    """How many there were."""


def plan_reach(
    width: float,
    round_trip_s: float,
    seed: int,
    *,
    predicted: bool = False,
    distance: float = _DISTANCE,
) -> Reached:
    """Work a reach out move by move, from the person's draws alone.

    Args:
        width: of the target [m].
        round_trip_s: of the link [s].
        seed: of the person.
        predicted: the display is a prediction.
        distance: to the target [m].
    """
    error, time_s, moves = distance, 0.0, 0
    while abs(error) > 0.5 * width:
        draws = draw_move(seed, moves)
        length = abs(error)
        time_s += draws.reaction_s + move_duration(length, width, _SPEED)
        miss = draws.along * (ENDPOINT_SHARE * length + ENDPOINT_SD)
        error = -np.sign(error) * miss
        moves += 1
    waits = min(moves, 1) if predicted else moves
    return Reached(time_s + waits * round_trip_s, moves)


def step_reach(
    width: float,
    round_trip_s: float,
    seed: int,
    *,
    predicted: bool = False,
    practised: bool = True,
    distance: float = _DISTANCE,
) -> Reached:
    """Let the simulated person reach, frame by frame at 60 Hz.

    Args:
        width: of the target [m].
        round_trip_s: of the link [s].
        seed: of the person.
        predicted: the display is a prediction.
        practised: the person knows the round trip; else it is learned from 0.
        distance: to the target [m].

    Returns:
        How it went; infinite time where it took longer than two minutes.
    """
    patience = Patience(practised=practised)
    person = Submover(seed, _SPEED, patience, axes=(True, False, False))
    target = np.array([distance, 0.0, 0.0])
    person.take_up(0, np.zeros(3))
    person.aim(0, target, width)
    late = round(round_trip_s * FRAME_HZ)
    hands = [np.zeros(3)] * (late + 1)  # of the last frames, oldest first
    eye, confirmed = Trail(), Trail()
    for frame in range(round(_LONGEST_S * FRAME_HZ)):
        now_ns = frame * NS_PER_S // FRAME_HZ
        shown = hands[-1] if predicted else hands[0]
        eye.show(now_ns, shown)
        confirmed.show(now_ns, hands[0])
        seen = Seen(
            now_ns,
            shown,
            eye,
            hands[0],
            confirmed,
            np.zeros(3),
            predicted,
            round_trip_s,
            None,
        )
        hand = person.step(now_ns, seen).copy()
        hands = [*hands[1:], hand]
        if person.at_target and abs(hands[0][0] - hand[0]) < 1e-6:
            rested_s = person.rested_ns / NS_PER_S
            return Reached(rested_s + round_trip_s, person.moves)
    return Reached(np.inf, person.moves)


def mean_reach(
    width: float, round_trip_s: float, persons: int, *, predicted: bool = False
) -> Reached:
    """Average `plan_reach` over persons of seeds 0 to `persons` - 1."""
    reaches = [
        plan_reach(width, round_trip_s, seed, predicted=predicted)
        for seed in range(persons)
    ]
    times, moves = np.array(reaches).T
    return Reached(float(times.mean()), float(moves.mean()))
