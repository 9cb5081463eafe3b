"""Forces at the tips are found from pose and tensions, as far as noise allows."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.robot.body import Applied
from app.robot.contact_sense import DEAD_ZONE_N
from app.robot.plant import Plant, PlantMismatch
from app.robot.safety import Actuation
from models.numerics import FloatArray
from tests.unit.robot.senses import TipSense

ROBOTS = {
    name: (load_robot(name), build_robot_model(load_robot(name)))
    for name in ("ursula", "rov-arm", "silver2")
}
# N: what the limb's own swing leaves after some seconds
SWING = 0.03


def felt(
    name: str, limb: int, force: FloatArray, *, noise: float, seconds: float = 5.0
) -> tuple[TipSense, FloatArray]:
    """The sense after a push, and its mean estimate over the last second."""
    robot, model = ROBOTS[name]
    plant = Plant(model, PlantMismatch(noise=noise), 3)
    sense = TipSense(robot, model, noise=noise)
    plant.push(limb, np.zeros(3), force)
    kept = []
    for _ in range(int(1000 * seconds)):
        sense.step(*plant.measure())
        plant.step(Applied(model.rest_coordinates, Actuation.STIFF))
        kept.append(sense.raw[limb].copy())
    return sense, np.mean(kept[-1000:], axis=0)


@pytest.mark.parametrize(
    ("name", "limb"), [("ursula", 1), ("ursula", 3), ("rov-arm", 0), ("silver2", 0)]
)
@pytest.mark.parametrize("force", [(0.15, 0.0, 0.0), (0.0, 0.3, 0.0), (0.2, -0.2, 0.2)])
def test_a_push_is_found_without_a_sensor(
    name: str, limb: int, force: tuple[float, float, float]
) -> None:
    sense, mean = felt(name, limb, np.array(force), noise=0.0)
    assert mean == pytest.approx(force, abs=SWING)
    assert sense.valid[limb] == 1


def test_noise_stays_below_the_dead_zone_and_shows_no_contact() -> None:
    sense, mean = felt("ursula", 0, np.zeros(3), noise=1.0, seconds=2.0)
    assert np.abs(mean).max() < 0.02
    assert not sense.force[[0, 2, 3]].any()
    assert np.abs(sense.raw).max() < 0.5 * DEAD_ZONE_N


def test_an_estimate_fades_in_above_the_dead_zone_and_is_then_told_in_full() -> None:
    robot, model = ROBOTS["silver2"]
    sense, _ = felt("silver2", 0, np.array([0.0, 0.3, 0.0]), noise=0.0)
    size = float(np.linalg.norm(sense.raw[0]))
    assert np.linalg.norm(sense.force[0]) == pytest.approx(
        size * (size / DEAD_ZONE_N - 1.0)
    )
    full, _ = felt("silver2", 0, np.array([0.0, 0.9, 0.0]), noise=0.0)
    assert full.force[0] == pytest.approx(full.raw[0])
    assert TipSense(robot, model).step(
        model.rest_coordinates, np.zeros(model.tendon_angle.size)
    ).shape == (1, 3)


def test_a_sensor_at_the_tip_is_read_as_it_is_with_its_noise() -> None:
    robot, model = ROBOTS["ursula"]
    assert [limb.tip_force_sensor for limb in robot.limbs] == [
        False,
        True,
        False,
        False,
    ]
    sense = TipSense(robot, model, 5)
    plant = Plant(model, PlantMismatch(), 1)
    read = np.zeros((4, 3))
    read[:] = (0.05, -1.0, 2.0)
    told = []
    for _ in range(300):
        told.append(sense.step(*plant.measure(), read)[1].copy())
        assert not sense.force[[0, 2, 3]].any()
    assert np.mean(told, axis=0) == pytest.approx([0.05, -1.0, 2.0], abs=3e-3)
    assert 0.005 < np.std(told, axis=0).max() < 0.02
    read[1, 0] = np.nan  # a sensor that fails leaves the estimate
    assert np.abs(sense.step(*plant.measure(), read)[1]).max() < 0.5


def test_what_is_not_measured_is_not_made_up_and_comes_back() -> None:
    robot, model = ROBOTS["ursula"]
    sense = TipSense(robot, model, noise=0.0)
    plant = Plant(model, PlantMismatch(noise=0.0), 1)
    pose, tension = plant.measure()
    sense.step(pose, tension)
    lost = pose.copy()
    lost[0, 1] = np.nan
    for _ in range(3):
        sense.step(lost, tension)
    assert sense.valid.tolist() == [0, 1, 1, 1]
    assert not sense.force[0].any()
    sense.step(pose, tension)
    assert sense.valid.tolist() == [1, 1, 1, 1]
    sense.reset()
    assert not sense.valid.any()


def test_a_wrong_model_shows_as_force_in_proportion() -> None:
    robot, model = ROBOTS["silver2"]
    plant = Plant(model, PlantMismatch(stiffness=1.2, noise=0.0), 1)
    sense = TipSense(robot, model, noise=0.0)
    for _ in range(4000):
        sense.step(*plant.measure())
        plant.step(Applied(model.rest_coordinates, Actuation.STIFF))
    assert 0.0 < np.linalg.norm(sense.raw[0]) < 1.0


@pytest.mark.parametrize(("name", "limp_ms"), [("ursula", 1000), ("silver2", 50)])
def test_a_limb_that_has_just_stiffened_swings_and_tells_no_force(
    name: str, limp_ms: int
) -> None:
    robot, model = ROBOTS[name]
    plant = Plant(model, PlantMismatch(), 3)
    for _ in range(limp_ms):
        plant.step(Applied(model.rest_coordinates, Actuation.COMPLIANT))
    held = plant.coordinates.copy()
    sense = TipSense(robot, model, settles=True)
    estimated, told = 0.0, 0.0
    for _ in range(5000):
        told = max(told, np.linalg.norm(sense.step(*plant.measure())[0]))
        estimated = max(estimated, np.linalg.norm(sense.raw[0]))
        plant.step(Applied(held, Actuation.STIFF))
    assert estimated > 1.5 * DEAD_ZONE_N
    assert told < 0.05
    plant.push(0, np.zeros(3), np.array([0.0, 0.9, 0.0]))
    for _ in range(1000):
        force = sense.step(*plant.measure())
        plant.step(Applied(held, Actuation.STIFF))
    assert force[0, 1] > 0.5
