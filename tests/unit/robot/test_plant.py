"""The simulated robot goes where it is told, and gives way when it shall."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.robot import build_robot_model, load_robot
from app.errors import ConfigError
from app.robot.body import Applied
from app.robot.plant import Plant, PlantMismatch
from app.robot.safety import Actuation
from models.chamber_limits import hold_chambers
from models.numerics import FloatArray
from models.tendon import tendon_lengths
from models.workspace import allocate_rod_work

MODEL = build_robot_model(load_robot("ursula"))
QUIET = PlantMismatch(noise=0.0)
STIFF, COMPLIANT, SLACK = Actuation.STIFF, Actuation.COMPLIANT, Actuation.SLACK
POSE = MODEL.rest_coordinates * 0.7
# rad: what is left of the swing (damping 4 % of critical at 1 Hz) after 8 s
SETTLED = 0.02


def run(
    plant: Plant, target: FloatArray, actuation: Actuation, milliseconds: int
) -> None:
    for _ in range(milliseconds):
        assert plant.step(Applied(target, actuation)) == 0


def bends_off(plant: Plant, target: FloatArray) -> float:
    return float(np.max(np.abs((plant.coordinates - target)[:, :2])))


def test_holds_the_pose_it_starts_at() -> None:
    plant = Plant(MODEL, QUIET, 0)
    start = plant.coordinates.copy()
    run(plant, MODEL.rest_coordinates, STIFF, 500)
    assert np.max(np.abs(plant.coordinates - start)) < 1e-3


def test_goes_where_it_is_told() -> None:
    plant = Plant(MODEL, QUIET, 0)
    run(plant, POSE, STIFF, 8000)
    assert bends_off(plant, POSE) < SETTLED


def test_a_mismatch_shows_and_stays_bounded() -> None:
    soft = Plant(MODEL, PlantMismatch(stiffness=1.3, offset_ratio=0.9, noise=0.0), 0)
    run(soft, POSE, STIFF, 8000)
    assert SETTLED < bends_off(soft, POSE) < 0.3


def test_compliant_tendons_carry_their_pretension_and_the_limb_gives_way() -> None:
    plant = Plant(MODEL, QUIET, 0)
    run(plant, POSE, STIFF, 1000)
    run(plant, POSE, COMPLIANT, 8000)
    assert plant.tension == pytest.approx(MODEL.tendon_pretension, abs=0.05)
    stiff = Plant(MODEL, QUIET, 0)
    run(stiff, POSE, STIFF, 1000)
    push = np.array([0.0, 0.0, 0.3])
    moved = []
    for body, actuation in ((plant, COMPLIANT), (stiff, STIFF)):
        before = body.coordinates.copy()
        body.push(2, np.zeros(3), push)
        run(body, POSE, actuation, 1000)
        moved.append(float(np.max(np.abs(body.coordinates - before)[4])))
    assert moved[0] > 3.0 * moved[1]


def test_slack_tendons_carry_nothing() -> None:
    plant = Plant(MODEL, QUIET, 0)
    run(plant, POSE, SLACK, 3000)
    assert np.all(plant.tension == 0.0)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**31))
def test_slack_lengths_exceed_every_pose_of_the_envelope(seed: int) -> None:
    generator = np.random.default_rng(seed)
    plant = Plant(MODEL, QUIET, 0)
    work = allocate_rod_work(MODEL)
    for limb in range(4):
        start, stop = MODEL.limb_segment_start[limb : limb + 2]
        first, last = MODEL.limb_tendon_start[limb : limb + 2]
        angle = generator.uniform(-np.pi, np.pi, stop - start)
        bend = MODEL.bend_limit[start:stop] * generator.choice([0.0, 0.5, 1.0])
        pose = np.stack(
            [
                bend * np.cos(angle),
                bend * np.sin(angle),
                MODEL.extension_range[start:stop, 1],
            ],
            axis=1,
        )
        lengths = np.zeros(last - first)
        tendon_lengths(MODEL, limb, pose, lengths, work.tendon_jacobian)
        assert np.all(lengths < plant._slack[first:last])


def test_equal_seeds_give_equal_readings() -> None:
    first, second, other = (Plant(MODEL, PlantMismatch(), seed) for seed in (1, 1, 2))
    for _ in range(20):
        for plant in (first, second, other):
            plant.step(Applied(POSE, STIFF))
        reading = first.measure()
        assert all(map(np.array_equal, reading, second.measure()))
        assert not np.array_equal(reading[0], other.measure()[0])


def test_noise_is_of_the_stated_size_and_tension_is_never_negative() -> None:
    plant = Plant(MODEL, PlantMismatch(), 3)
    readings = [plant.measure() for _ in range(2000)]
    spread = np.std([pose for pose, _ in readings], axis=0)
    assert spread[:, :2] == pytest.approx(2e-3, rel=0.15)
    assert spread[:, 2] == pytest.approx(1e-4, rel=0.15)
    assert min(tension.min() for _, tension in readings) >= 0.0


def test_a_target_that_is_not_finite_leaves_the_winches_where_they_are() -> None:
    plant, twin = Plant(MODEL, QUIET, 0), Plant(MODEL, QUIET, 0)
    for body in (plant, twin):
        run(body, POSE, STIFF, 1000)
    wild = POSE.copy()
    wild[1, 2] = np.nan  # the limb's other segment must not be half obeyed
    wild[0, 0] = -1.0
    run(plant, wild, STIFF, 500)
    run(twin, POSE, STIFF, 500)
    assert np.array_equal(plant.coordinates, twin.coordinates)


def test_a_frozen_limb_is_told_and_recovers() -> None:
    plant = Plant(MODEL, QUIET, 0)
    plant.push(1, np.zeros(3), np.array([np.nan, 0.0, 0.0]))
    assert plant.step(Applied(POSE, STIFF)) == 1
    assert plant.frozen == 1
    assert np.all(np.isfinite(plant.measure()[0]))
    plant.recover()
    run(plant, POSE, STIFF, 100)
    assert plant.frozen == 0


@pytest.mark.parametrize("name", [entry.name for entry in fields(PlantMismatch)])
@pytest.mark.parametrize("value", [-1.0, 101.0, float("nan"), float("inf")])
def test_factors_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=rf"{name} = .*allowed are"):
        PlantMismatch(**{name: value})


def test_tendons_outside_the_limb_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"at most 1\.65"):
        Plant(MODEL, PlantMismatch(offset_ratio=1.7), 0)


def test_every_factor_changes_the_model() -> None:
    for entry in fields(PlantMismatch):
        changed = PlantMismatch(**{entry.name: 1.25}).apply(MODEL)
        same = all(map(np.array_equal, changed[:-1], MODEL[:-1]))
        assert same == (entry.name == "noise"), entry.name


@pytest.mark.parametrize("name", ["silver2", "rov-arm"])
def test_chambers_hold_a_pose_and_give_way(name: str) -> None:
    model = build_robot_model(load_robot(name))
    plant = Plant(model, QUIET, 0)
    wanted = model.rest_coordinates.copy()
    wanted[:2] *= 1.3
    hold_chambers(model, 0, wanted)
    run(plant, wanted, STIFF, 4000)
    assert bends_off(plant, wanted) < 0.01
    assert plant.tension.max() <= 0.0  # chambers only push
    assert plant.tension.min() < -1.0
    run(plant, wanted, COMPLIANT, 4000)
    assert np.abs(plant.tension).max() < 0.05
    run(plant, wanted, SLACK, 2000)
    assert np.abs(plant.tension).max() == 0.0
