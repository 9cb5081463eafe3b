"""The robot trims its push: as hard as the hand, never after what is not there."""

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.link.frame import SignalField, SignalTold
from app.robot.body import Applied
from app.robot.plant import Plant, PlantMismatch
from app.robot.pressing import Pressing
from app.robot.safety import Actuation
from models.tip import tip_position

MODEL = build_robot_model(load_robot("ursula"))
LIMB, ROWS = 1, slice(2, 4)
POSE = MODEL.rest_coordinates.copy()
POSE[ROWS] = (0.0, 0.0, -0.005)
AXIS = MODEL.pose_base_to_hull[LIMB, :3, 2].copy()
PATIENCE_NS = 500 * NS_PER_MS
PERIOD_NS = NS_PER_MS


def told(newton: float, direction: np.ndarray = AXIS) -> SignalTold:
    x, y, z = (newton * direction).tolist()
    return SignalTold(LIMB, 4, 1, SignalField.FORCE, force=(x, y, z))


def felt(newton: float) -> np.ndarray:
    force = np.zeros((4, 3))
    force[LIMB] = newton * AXIS
    return force


def run(pressing: Pressing, start_ns: int, ticks: int, force: np.ndarray | None) -> int:
    for tick in range(ticks):
        now_ns = start_ns + tick * PERIOD_NS
        pressing.step(now_ns, 1e-3, PATIENCE_NS, force, POSE, POSE)
    return start_ns + ticks * PERIOD_NS


def tip_of(rows: np.ndarray) -> np.ndarray:
    tip = np.zeros(3)
    tip_position(MODEL, LIMB, np.ascontiguousarray(rows), np.zeros((3, 4, 4)), tip)
    return tip


@pytest.mark.parametrize(
    ("newton", "stiffness"), [(0.5, 500.0), (1.0, 500.0), (1.0, 150.0)]
)
def test_a_soft_limb_pushes_as_hard_as_the_hand(
    newton: float, stiffness: float
) -> None:
    plant = Plant(MODEL, PlantMismatch(noise=0.0), 0, POSE)
    for _ in range(2000):
        plant.step(Applied(POSE, Actuation.STIFF))
    wall = tip_of(plant.coordinates[ROWS]) @ AXIS - 0.4 * newton / stiffness
    pressing, now_ns, pushed, last = Pressing(MODEL), NS_PER_S, 0.0, None
    for tick in range(12_000):
        now_ns += PERIOD_NS
        if tick % 50 == 0:
            pressing.tell(now_ns, told(newton))
        deep = tip_of(plant.coordinates[ROWS]) @ AXIS - wall
        speed = 0.0 if last is None else (deep - last) / 1e-3
        last = deep
        pushed = max(0.0, stiffness * deep + 2.0 * speed) if deep > 0.0 else 0.0
        plant.push(LIMB, np.zeros(3), -pushed * AXIS)
        pose = plant.coordinates
        pressing.step(now_ns, 1e-3, PATIENCE_NS, felt(pushed), POSE, pose)
        plant.step(Applied(pressing.pressed(POSE, 1e-3), Actuation.STIFF))
    assert pushed == pytest.approx(newton, rel=0.03)


def test_what_is_not_felt_is_not_chased() -> None:
    pressing = Pressing(MODEL)
    pressing.tell(0, told(2.0))
    run(pressing, 0, 400, None)
    run(pressing, 0, 400, felt(0.0))
    assert pressing.push_m == 0.0
    assert pressing.pressed(POSE, 1e-3) is POSE


def test_a_limb_that_stops_short_of_its_posture_goes_on_to_it_and_no_further() -> None:
    """The tip stays 4 mm behind what it is told; nothing is there to be felt."""
    pressing, now_ns, short = Pressing(MODEL), 0, np.array([0.0, 0.0, -0.002])
    for _ in range(4000):
        pressing.tell(now_ns, told(2.0))
        pose = pressing.pressed(POSE, 1e-3).copy()
        pose[ROWS] += short
        pressing.step(now_ns, 1e-3, PATIENCE_NS, felt(0.0), POSE, pose)
        now_ns += PERIOD_NS
    assert pressing.push_m == pytest.approx(0.004, abs=2e-4)
    pressing.step(
        now_ns, 1e-3, PATIENCE_NS, felt(0.0), POSE, np.full_like(POSE, np.nan)
    )
    assert np.isfinite(pressing.push_m)


def test_the_push_is_bounded_in_size_and_speed() -> None:
    pressing = Pressing(MODEL)
    now_ns, pushes = 0, []
    for _ in range(10_000):
        pressing.tell(now_ns, told(1e6))
        now_ns = run(pressing, now_ns, 1, felt(0.2))
        pushes.append(pressing.push_m)
    assert pushes[-1] == pytest.approx(0.06)
    assert np.diff(pushes).max() <= 0.02e-3 * (1.0 + 1e-9)
    bend = np.hypot(*pressing.pressed(POSE, 1e-3)[:, :2].T)
    assert (bend <= MODEL.bend_limit + 1e-9).all()


def test_silence_takes_the_push_back() -> None:
    pressing = Pressing(MODEL)
    now_ns = 0
    for _ in range(1000):
        pressing.tell(now_ns, told(2.0))
        now_ns = run(pressing, now_ns, 1, felt(0.5))
    assert pressing.push_m > 0.01
    run(pressing, now_ns, 3000, felt(0.5))
    assert pressing.push_m == 0.0


def test_another_limb_waits_until_the_first_is_back() -> None:
    pressing = Pressing(MODEL)
    now_ns = 0
    for _ in range(500):
        pressing.tell(now_ns, told(2.0))
        now_ns = run(pressing, now_ns, 1, felt(0.5))
    before = pressing.pressed(POSE, 1e-3)[:2].copy()
    other = SignalTold(0, 4, 1, SignalField.FORCE, force=(1.0, 0.0, 0.0))
    pressing.tell(now_ns, other)
    np.testing.assert_array_equal(pressing.pressed(POSE, 1e-3)[:2], before)


@pytest.mark.parametrize("wild", [np.nan, np.inf])
def test_a_wild_measurement_pushes_nobody(wild: float) -> None:
    pressing = Pressing(MODEL)
    pressing.tell(0, told(2.0))
    run(pressing, 0, 100, felt(wild))
    assert np.isfinite(pressing.pressed(POSE, 1e-3)).all()
    assert abs(pressing.push_m) <= 0.03


def test_limpness_forgets_the_push() -> None:
    pressing = Pressing(MODEL)
    pressing.tell(0, told(2.0))
    run(pressing, 0, 400, felt(0.5))
    assert pressing.push_m > 0.0
    pressing.forget()
    assert pressing.pressed(POSE, 1e-3) is POSE
