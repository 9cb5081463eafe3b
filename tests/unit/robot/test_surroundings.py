"""The world of a session: objects are taken and put down, and things change."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.config.scene import load_scene
from app.config.scene_reach import reached_points
from app.errors import ConfigError
from app.messages import Severity
from app.robot.body import Applied
from app.robot.plant import Plant, PlantMismatch
from app.robot.safety import Actuation
from app.robot.surroundings import Surroundings
from models.numerics import FloatArray

URSULA = load_robot("ursula")
MODEL = build_robot_model(URSULA)
GRASP = load_scene("grasp")
LIMB = 0


class Session:
    """URSULA in a scene, driven by poses."""

    def __init__(self, scene: str) -> None:
        self.around = Surroundings(load_scene(scene), URSULA, MODEL)
        self.plant = Plant(MODEL, PlantMismatch(noise=0.0), 0, surroundings=self.around)
        self.target = MODEL.rest_coordinates.copy()
        self.texts: list[str] = []

    def go(self, limb: int, pose: FloatArray, seconds: float) -> None:
        """Move a limb there smoothly in two thirds of the time, then wait."""
        start, stop = MODEL.limb_segment_start[limb : limb + 2]
        before = self.target[start:stop].copy()
        count = int(1000 * seconds)
        for k in range(count):
            share = min(1.5 * (k + 1) / count, 1.0)
            share = share * share * (3.0 - 2.0 * share)
            self.target[start:stop] = before + share * (pose - before)
            assert self.plant.step(Applied(self.target, Actuation.STIFF)) == 0
        self.texts += [event.text for event in self.plant.events()]


def closure(share: float) -> FloatArray:
    """What the grippers are told: this limb's `share`, nothing for the others."""
    told = np.full(MODEL.tip_speed_limit.size, np.nan)
    told[LIMB] = share
    return told


def poses() -> dict[str, FloatArray]:
    return {
        item.what: item.coordinates for item in reached_points(GRASP, URSULA, MODEL)
    }


def test_an_object_is_taken_lifted_and_put_down() -> None:
    session = Session("grasp")
    ball = poses()["object ball"]
    around = session.around
    assert around.objects == ["ball"]
    session.go(LIMB, ball, 4.0)
    around.grip(closure(1.0))
    session.go(LIMB, ball, 1.0)
    assert session.texts == ["Limb grasper holds object ball."]
    assert around.held_by(LIMB) == "ball"
    resting = around.poses[0, 2, 3]
    # lift by bending the inner segment, as an operator would by the tip
    up = ball.copy()
    up[0, 0] += 0.25
    session.go(LIMB, up, 3.0)
    assert around.poses[0, 2, 3] > resting + 0.05
    assert around.tip_force[LIMB, 2] == pytest.approx(-0.2, abs=0.05)
    assert not around.in_basket("ball")
    around.grip(closure(0.0))
    session.go(LIMB, up, 1.5)
    assert session.texts[1:] == ["Limb grasper has released object ball."]
    # it came down on the table, and stays there
    assert around.poses[0, 2, 3] == pytest.approx(resting, abs=2e-3)


def test_an_object_over_the_basket_ends_in_it() -> None:
    session = Session("grasp")
    around = session.around
    assert around.world.basket is not None
    opening, _, depth = around.world.basket
    around.poses[0, :3, 3] = opening + np.array([0.02, 0.01, 0.04])
    session.go(LIMB, MODEL.rest_coordinates[:2], 3.0)
    assert around.in_basket("ball")
    assert around.poses[0, 2, 3] == pytest.approx(opening[2] - depth + 0.02, abs=1e-3)
    around.move_obstacle("basket", (0.0, 0.3, 0.0))
    assert not around.in_basket("ball")
    session.go(LIMB, MODEL.rest_coordinates[:2], 1.0)
    assert not around.in_basket("ball")


def test_the_palpation_arm_presses_the_wall_with_two_newtons() -> None:
    """The stock robot presses 2 N by stretching out towards a wall of 150 N/m."""
    session = Session("wall")
    around = session.around
    placed = next(item for item in load_scene("wall").robots if item.name == "ursula")
    deeper = placed.model_copy(
        update={"reach_mm": ((0, 0, 40), (0, 0, 10), (0, 0, -12))}
    )
    wall = load_scene("wall").model_copy(update={"robots": (deeper,)})
    for item, seconds in zip(
        reached_points(wall, URSULA, MODEL), (2.0, 2.0, 4.0), strict=True
    ):
        session.go(1, item.coordinates, seconds)
    out = around.world.obstacles[0].pose[:3, 2]
    assert around.tip_force[1] @ out > 2.0
    assert around.contact_wrench[1, 3:] == pytest.approx(around.tip_force[1])
    assert not around.contact_wrench[[0, 2, 3]].any()
    # the wall goes away from under it: nothing is left to press
    before = float(around.tip_force[1] @ out)
    around.move_obstacle("wall", (-0.005 * out).tolist())
    session.go(1, session.target[2:4].copy(), 2.0)
    softer = float(around.tip_force[1] @ out)
    assert 0.0 < softer < before - 0.2
    around.change_law("wall", stiffness=75.0)
    session.go(1, session.target[2:4].copy(), 2.0)
    assert 0.0 < float(around.tip_force[1] @ out) < softer
    around.remove("wall")
    session.go(1, session.target[2:4].copy(), 0.2)
    assert not around.contact_wrench.any()
    assert around.gone == {"wall"}


def test_an_object_that_is_gone_is_dropped_and_comes_back_with_a_reset() -> None:
    session = Session("grasp")
    around = session.around
    session.go(LIMB, poses()["object ball"], 4.0)
    around.grip(closure(1.0))
    session.go(LIMB, poses()["object ball"], 0.5)
    around.grip(closure(float("nan")))
    assert around.held_by(LIMB) == "ball"
    around.remove("ball")
    session.plant.step(Applied(session.target, Actuation.STIFF))
    events = session.plant.events()
    assert [event.text for event in events] == ["Limb grasper has dropped object ball."]
    assert events[0].severity == Severity.WARNING
    assert around.held_by(LIMB) == ""
    around.reset()
    assert around.poses[0] == pytest.approx(around.world.objects[0].pose)
    assert around.gone == frozenset()


def test_what_is_not_there_is_named_with_what_is() -> None:
    around = Surroundings(GRASP, URSULA, MODEL)
    with pytest.raises(ConfigError, match="no object 'cup'; there are ball"):
        around.in_basket("cup")
    with pytest.raises(
        ConfigError, match="called 'cup'; there are table, basket, ball"
    ):
        around.move_obstacle("cup", (0.0, 0.0, 0.0))
    with pytest.raises(ConfigError, match="contact of 'table': friction is -1"):
        around.change_law("table", friction=-1.0)
