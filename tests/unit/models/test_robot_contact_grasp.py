"""A gripper takes what the rules allow, holds it as stiffly as stated, and loses it.

A held weight's sag is compared to 2 %: the limb still swings after some seconds.
"""

import numpy as np
import pytest

from models.contact_law import ContactLaw
from models.free_body import FreeBody, sphere_body
from models.grasp import (
    DEFAULT_JOINT,
    DROPPED,
    GRASPED,
    RELEASED,
    GraspRule,
    build_grasp_model,
)
from tests.unit.models.touching import Touching, tip_at_rest

LIMB = 0
TIP = tip_at_rest(LIMB)
BALL = 0.02
AHEAD = 0.01 + BALL
WET = 0.2  # N
REACH = (0.0, -1.0, -1.0, -1.0)
MIDDLE = TIP[:3, 3] + AHEAD * TIP[:3, 2]


def ball(weight: float = WET) -> FreeBody:
    displaced = 1000.0 * 4.0 / 3.0 * np.pi * BALL**3
    return sphere_body(BALL, displaced + weight / 9.81, law=ContactLaw(2e3))


def gripping(**more: object) -> Touching:
    given = {"places": [MIDDLE.tolist()], "reach": REACH, "size": 2.0 * BALL} | more
    case = Touching((), None, [ball()], **given)  # type: ignore[arg-type]
    case.state.grasp.grip[LIMB] = 1.0
    return case


def test_takes_hold_and_bears_the_weight_on_its_springs() -> None:
    case = gripping(places=[(MIDDLE + 0.006 * TIP[:3, 2]).tolist()])  # clear of the tip
    case.step()
    assert case.state.grasp.event[LIMB] == GRASPED
    case.step(8000)
    assert case.state.grasp.held[LIMB] == 0
    assert case.state.grasp.wrench[LIMB, 3:] == pytest.approx([0.0, 0.0, WET], abs=4e-3)
    assert case.state.tip_force[LIMB, 2] == pytest.approx(-WET, rel=0.02)
    kept = case.state.grasp.pose[LIMB, :3, 3]
    case.step()
    tip = case.tip(LIMB)
    sag = tip[:3, :3] @ kept + tip[:3, 3] - case.state.bodies.pose[0, :3, 3]
    assert sag[2] == pytest.approx(WET / DEFAULT_JOINT.stiffness, rel=0.1)


@pytest.mark.parametrize(
    ("shift", "speed", "grip", "size", "taken"),
    [
        (0.014, 0.0, 1.0, 0.04, True),
        (0.016, 0.0, 1.0, 0.04, False),
        (0.0, 0.018, 1.0, 0.04, True),
        (0.0, 0.022, 1.0, 0.04, False),
        (0.0, 0.0, 0.81, 0.04, True),
        (0.0, 0.0, 0.79, 0.04, False),
        (0.0, 0.0, 1.0, 0.11, False),
    ],
)
def test_takes_only_what_the_rules_allow(
    shift: float, speed: float, grip: float, size: float, taken: bool
) -> None:
    ahead = TIP[:3, 3] + max(AHEAD, 0.01 + 0.5 * size) * TIP[:3, 2]
    place = ahead + shift * TIP[:3, 0]
    case = gripping(places=[place.tolist()], size=size)
    case.state.bodies.twist[0, 3:] = speed * TIP[:3, 1]
    case.state.grasp.grip[LIMB] = grip
    case.step()
    assert (case.state.grasp.held[LIMB] == 0) == taken


def test_opens_at_the_command_and_lets_the_object_fall() -> None:
    case = gripping()
    case.step(50)
    case.state.grasp.grip[LIMB] = 0.51
    case.step(10)
    assert case.state.grasp.held[LIMB] == 0
    case.state.grasp.grip[LIMB] = 0.5
    case.step()
    assert case.state.grasp.event[LIMB] == RELEASED
    height = case.state.bodies.pose[0, 2, 3]
    case.step(300)
    assert case.state.bodies.pose[0, 2, 3] < height - 0.02
    assert not case.state.grasp.wrench[LIMB].any()


def test_too_great_a_force_tears_it_out_and_it_must_open_first() -> None:
    case = gripping()
    case.step(50)
    case.state.bodies.wrench[0, 3] = 4.5
    events = set()
    for _ in range(100):
        case.step()
        events.add(int(case.state.grasp.event[LIMB]))
    assert DROPPED in events
    assert case.state.grasp.held[LIMB] == -1
    case.state.bodies.wrench[0, 3] = 0.0
    tip = case.tip(LIMB)
    for grip, held in ((1.0, -1), (0.4, -1), (1.0, 0)):
        case.state.bodies.pose[0, :3, 3] = tip[:3, 3] + AHEAD * tip[:3, 2]
        case.state.bodies.twist[0] = 0.0
        case.state.bodies.twist[0, 3:] = case.work.tree.point_twist[9, 3:] * 0.0
        case.state.grasp.grip[LIMB] = grip
        for _ in range(400):
            case.step()
            tip = case.tip(LIMB)
            if grip < 1.0:
                break
            if case.state.grasp.held[LIMB] < 0:
                case.state.bodies.pose[0, :3, 3] = tip[:3, 3] + AHEAD * tip[:3, 2]
                case.state.bodies.twist[0] = 0.0
        assert case.state.grasp.held[LIMB] == held


@pytest.mark.parametrize("stiffness", [400.0, 1e5])
def test_the_joint_takes_energy_out_at_any_stiffness(stiffness: float) -> None:
    joint = DEFAULT_JOINT._replace(stiffness=stiffness, force_limit=1e3)
    case = gripping(joint=joint)
    case.step(20)
    case.state.bodies.twist[0, 3:] = (0.6, -0.3, 0.2)
    case.state.bodies.twist[0, :3] = (8.0, -5.0, 3.0)
    fastest = [0.0, 0.0]
    for _ in range(600):
        assert case.step() == 0
        speed = float(np.abs(case.state.bodies.twist[0, 3:]).max())
        fastest = [max(fastest[0], speed), speed]
    assert fastest[0] < 0.7
    assert fastest[1] < 0.15
    assert case.state.grasp.held[LIMB] == 0


def test_one_object_is_held_by_one_gripper_only() -> None:
    case = gripping(reach=(0.0, 0.0, -1.0, -1.0))
    case.state.grasp.grip[:] = 1.0
    case.step(5)
    assert case.state.grasp.held.tolist() == [0, -1, -1, -1]


def test_an_object_that_is_gone_has_been_dropped() -> None:
    case = gripping()
    case.step(5)
    case.state.bodies.status[0] = 1
    case.step()
    assert case.state.grasp.event[LIMB] == DROPPED


def test_refuses_grippers_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="opens at"):
        build_grasp_model([0.0], [0.1], [0.01], [], rule=GraspRule(close=0.4))
    with pytest.raises(ValueError, match="every limb"):
        build_grasp_model([0.0, 0.0], [0.1], [0.01], [])
    with pytest.raises(ValueError, match="finite"):
        build_grasp_model([np.nan], [0.1], [0.01], [])
    with pytest.raises(ValueError, match="below 0"):
        build_grasp_model(
            [0.0], [0.1], [0.01], [], joint=DEFAULT_JOINT._replace(damping=-1.0)
        )
