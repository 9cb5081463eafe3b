"""Trends of Zhang 2022: the snake straight, turning, pitching, on a helix.

The paper prints no numbers of its motions: signs, orders and symmetries are what can be
checked. Symmetries to 1e-9, trends as stated at each.
"""

from functools import cache

import numpy as np
import pytest

from app.config.case import BaseCase, CaseParameters, PhysicsCase, load_case
from app.config.tree import build_tree
from app.study.simulation_run import Sample, Simulator
from models.tree_motion import tree_motion
from tests.unit.models.snakes import SNAKE, WHOLE, Snake, place, simulate


def mirrored(name):
    """Chambers of a case with those at 120 and 240 degrees in each other's place."""
    return tuple(
        chambers.model_copy(
            update={
                "pressure_kpa": tuple((a, c, b) for a, b, c in chambers.pressure_kpa)
            }
        )
        for chambers in load_case(name).chambers
    )


_LONGEST = {  # [s]
    "snake-yaw": 15.0,
    "snake-yaw-wide": 15.0,
    "snake-straight": 6.0,
    "snake-pitch": 12.0,
    "snake-spiral": 30.0,
}
_EVERY = 0.5  # [s]


@cache
def run_of(name: str) -> list[Sample]:
    """A case as its file has it, for as long as any test here looks at it."""
    return simulate(name, _LONGEST[name], every=_EVERY)


def seen(name: str, seconds: float, every: float = _EVERY) -> list[Sample]:
    """The samples of a case's first seconds."""
    return run_of(name)[: round(seconds / _EVERY) + 1 : round(every / _EVERY)]


def turn_of(name):
    last = seen(name, 15.0)[-1]
    bend = np.hypot(last.position[6::3], last.position[7::3])
    speed = np.linalg.norm(last.root_twist[3:])
    return speed, speed / np.linalg.norm(last.root_twist[:3]), bend


def test_less_pressure_turns_wider_at_the_same_speed() -> None:
    """ "the range of motion increases as the bending angle of the joint decreases"."""
    speed, radius, bend = turn_of("snake-yaw")
    speed_wide, radius_wide, bend_wide = turn_of("snake-yaw-wide")
    assert radius_wide > 3.0 * radius
    assert (bend_wide < 0.4 * bend).all()
    assert speed_wide == pytest.approx(speed, rel=0.1)


@pytest.mark.parametrize("munk", [False, True])
@pytest.mark.parametrize("name", ["snake-straight", "snake-yaw", "snake-yaw-wide"])
def test_yaw_and_straight_motion_keep_their_depth(name, munk) -> None:
    physics = PhysicsCase(munk_moment=munk)
    for sample in simulate(name, 6.0, every=3.0, physics=physics):
        assert abs(sample.root_pose[2, 3]) < 1e-9
        assert sample.root_pose[2, 2] == pytest.approx(1.0, abs=1e-9)


def test_back_is_the_mirror_of_ahead() -> None:
    """The head, when it goes back, does what the tail does ahead."""
    ahead = seen("snake-straight", 6.0)
    back = simulate("snake-back", 6.0)
    snake = Snake(load_case("snake-straight"))
    for one, other in zip(ahead, back, strict=True):
        head = place(snake, other)
        tree_motion(head.model, 0.0, head.data, head.work)
        last = head.model.element_step_start[head.plan.modules[2] + 1] - 1
        way = head.work.point_position[last, 0] + other.root_pose[0, 3] - WHOLE
        assert -way == pytest.approx(one.root_pose[0, 3], abs=1e-6)
        assert np.abs(one.root_pose[1:3, 3]).max() < 1e-12
    assert ahead[-1].root_pose[0, 3] > 3.0


@pytest.mark.parametrize("name", ["snake-pitch", "snake-spiral"])
def test_depth_is_lost_or_won_as_the_actuators_stand(name) -> None:
    """With the actuators below in the place of those above, the path is mirrored.

    So that a snake whose motion goes down here goes up by the same: the paper's "spiral
    rising" is a matter of where its actuators are, which it does not print.
    """
    down = seen(name, 12.0)
    up = simulate(name, 12.0, chambers=mirrored(name))
    flip = np.array([1.0, 1.0, -1.0])
    for one, other in zip(down, up, strict=True):
        assert other.root_pose[:3, 3] == pytest.approx(
            flip * one.root_pose[:3, 3], abs=1e-9
        )
    assert down[-1].root_pose[2, 3] < -1.0
    depth = [sample.root_pose[2, 3] for sample in up]
    assert (np.diff(depth[12:]) > 0.0).all()  # after 6 s it only rises


def test_pitch_bends_upright_and_spiral_askew() -> None:
    """Orientation angles of eq. 3: near 90 degrees; within a quarter turn, and 180."""
    pitch = seen("snake-pitch", 4.0)[-1].position[6:]
    angle = np.degrees(np.arctan2(pitch[1], pitch[0]))
    assert abs(abs(angle) - 90.0) < 12.0
    assert np.hypot(pitch[3], pitch[4]) < 0.1 * np.hypot(pitch[0], pitch[1])
    spiral = seen("snake-spiral", 2.0)[-1].position[6:]
    assert 0.0 < abs(np.degrees(np.arctan2(spiral[1], spiral[0]))) < 120.0
    assert abs(np.degrees(np.arctan2(spiral[4], spiral[3]))) > 170.0


def test_spiral_is_a_helix() -> None:
    """Turn and fall are steady in the end, and the axis is upright."""
    samples = seen("snake-spiral", 30.0, every=1.0)[15:]
    place_xyz = np.array([sample.root_pose[:3, 3] for sample in samples])
    fall = np.diff(place_xyz[:, 2])
    assert fall == pytest.approx(np.full(fall.size, fall.mean()), rel=0.25)
    turn = np.array([s.root_pose[:3, :3] @ s.root_twist[:3] for s in samples])
    assert (np.abs(turn[:, 2]) > 5.0 * np.hypot(turn[:, 0], turn[:, 1])).all()
    assert np.ptp(place_xyz[:, :2], axis=0).max() < 4.0


def test_a_snake_at_rest_stays() -> None:
    case = CaseParameters(title="rest", base=BaseCase(motion="floating"))
    case = case.model_copy(update={"posture": "straight"})
    simulator = Simulator(SNAKE, build_tree(SNAKE, case), case, 1e-3)
    last = list(simulator.run(2.0, 2.0))[-1]
    assert np.abs(last.root_pose - np.eye(4)).max() < 1e-9
