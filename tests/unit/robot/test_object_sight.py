"""Objects in telemetry: which, how often, and not at the cost of the limbs."""

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.robot import build_robot_model, load_robot
from app.config.scene import load_scene
from app.link.frame import Codec
from app.robot.core import RobotCore
from app.robot.object_sight import ObjectSight
from app.robot.plant import PlantMismatch
from app.robot.surroundings import Surroundings

ROBOT = load_robot("ursula")
MODEL = build_robot_model(ROBOT)
SCENE = load_scene("grasp")


def seen_in(sight: ObjectSight, seconds: float, rate: float | None = None, start_s=0):
    """Every object that is told of, looked for every 10 ms."""
    times = np.arange(start_s * 100, round((start_s + seconds) * 100)) * 10 * NS_PER_MS
    told = [sight.next(int(now), rate) for now in times + NS_PER_S]
    return [item for item in told if item is not None]


def test_what_moves_is_told_of_often_and_what_lies_still_now_and_then() -> None:
    around = Surroundings(SCENE, ROBOT, MODEL)
    sight = ObjectSight(around)
    count = len(around.objects)
    assert {item.number for item in seen_in(sight, 1.0)} == set(range(count))
    still = seen_in(sight, 10.0, start_s=1)
    assert 4 * count <= len(still) <= 6 * count
    around.data.grasp.held[1] = 0
    (told,) = seen_in(sight, 0.2, start_s=11)
    assert (told.number, told.holder) == (0, 1)
    frames = []
    for k in range(100):
        around.poses[0, :3, 3] += 2e-3
        frames += seen_in(sight, 0.01, start_s=12 + 0.01 * k)
    assert 18 <= len([item for item in frames if item.number == 0]) <= 21
    assert frames[-1].place == pytest.approx(around.poses[0, :3, 3], abs=0.15)
    around.remove(around.objects[0])
    assert all(item.number != 0 for item in seen_in(sight, 5.0, start_s=14))


def test_a_slow_link_is_left_to_the_limbs() -> None:
    around = Surroundings(SCENE, ROBOT, MODEL)
    sight = ObjectSight(around)
    told = 0
    for k in range(1000):
        around.poses[0, :3, 3] += 2e-3 * (-1) ** k
        told += len(seen_in(sight, 0.01, 100.0, start_s=0.01 * k))
    assert 12 * told <= 0.2 * 100.0 * 10.0


@pytest.mark.parametrize(("link", "tells"), [("tether", True), ("acoustic-m64", False)])
def test_it_crosses_the_link_where_there_is_room(link: str, tells: bool) -> None:
    parameters = load_link(link)
    core = RobotCore(ROBOT, parameters, PlantMismatch(), 0, session=9, scene=SCENE)
    codec = Codec(MODEL, 1, parameters.medium.mtu_bytes, 9)
    seen = []
    for k in range(500 if tells else 3000):
        now_ns = NS_PER_S + k * NS_PER_MS
        for packet in core.step(now_ns):
            frame = codec.decode(packet, now_ns)
            seen.append(getattr(frame, "seen", None))
    told = [item for item in seen if item is not None]
    assert bool(told) == tells
    assert len(seen) > 1
    if tells:
        pose = core.surroundings.poses[told[-1].number]
        assert told[-1].place == pytest.approx(pose[:3, 3], abs=2e-3)
