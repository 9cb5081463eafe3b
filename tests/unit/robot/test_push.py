"""A shifted tip goes where it is wanted, as far as the limb reaches and no further."""

import numpy as np

from app.config.robot import build_robot_model, load_robot
from app.robot.push import allocate_push, push_limb
from models.tip import tip_position

MODEL = build_robot_model(load_robot("ursula"))
LIMB, ROWS, PERIOD_S = 1, slice(2, 4), 1e-3
AXIS = MODEL.pose_base_to_hull[LIMB, :3, 2].copy()
BENT = MODEL.rest_coordinates.copy()
BENT[ROWS] = [(-0.3, 0.0, -0.005), (0.6, 0.0, -0.005)]


def tip_of(pose: np.ndarray) -> np.ndarray:
    tip = np.zeros(3)
    rows = np.ascontiguousarray(pose[ROWS])
    tip_position(MODEL, LIMB, rows, np.zeros((3, 4, 4)), tip)
    return tip


class Push:
    """A push along the arm's base axis that grows and goes as it is told."""

    def __init__(self) -> None:
        self.data = allocate_push(MODEL)
        self.pose, self.made = BENT.copy(), 0.0

    def step(self, size: float, told: np.ndarray = BENT) -> None:
        before, self.pose = self.pose, told.copy()
        self.made = push_limb(self.data, LIMB, size, AXIS, PERIOD_S, self.pose)
        assert self.made <= max(size, 0.0)
        step = np.abs(self.pose - before)[ROWS]
        bend = np.hypot(step[:, 0], step[:, 1])
        assert (bend <= MODEL.bend_rate_limit[ROWS] * PERIOD_S + 1e-12).all()
        assert (step[:, 2] <= MODEL.extension_rate_limit[ROWS] * PERIOD_S + 1e-12).all()
        bend = np.hypot(self.pose[ROWS, 0], self.pose[ROWS, 1])
        assert (bend <= MODEL.bend_limit[ROWS] + 1e-12).all()


def test_a_small_push_moves_the_tip_as_far() -> None:
    push = Push()
    for size in np.linspace(0.0, 0.002, 500):
        push.step(float(size))
    assert push.made == 0.002
    moved = tip_of(push.pose) - tip_of(BENT)
    np.testing.assert_allclose(moved, 0.002 * AXIS, atol=2e-4)


def test_at_the_end_of_its_reach_a_limb_stays_there() -> None:
    """A shift of 60 mm, asked of a limb with 9 mm to go, bent it the other way."""
    push = Push()
    straight = BENT.copy()
    straight[ROWS, :2] = 0.0
    most = float((tip_of(straight) - tip_of(BENT)) @ AXIS)
    for size in np.linspace(0.0, 0.06, 4000):
        push.step(float(size))
    assert push.made < 0.06
    way = (tip_of(push.pose) - tip_of(BENT)) @ AXIS
    assert 0.7 * most < way <= most + 1e-6


def test_a_told_posture_that_straightens_under_a_push_throws_no_tip() -> None:
    push = Push()
    for size in np.linspace(0.0, 0.015, 1000):
        push.step(float(size))
    for share in np.linspace(1.0, 0.0, 800):
        told = BENT.copy()
        told[ROWS, :2] *= share
        push.step(0.015, told)
        off = tip_of(push.pose) - tip_of(told)
        assert np.linalg.norm(off - (off @ AXIS) * AXIS) < 0.02


def test_a_push_that_ends_leaves_nothing() -> None:
    push = Push()
    for size in [*np.linspace(0.0, 0.01, 1000), *np.linspace(0.01, 0.0, 400)]:
        push.step(float(size))
    for _ in range(200):
        push.step(0.0)
    assert not push.data.under_way[0]
    np.testing.assert_allclose(push.pose, BENT, atol=2e-4)


def test_a_stop_leaves_the_posture_where_it_is() -> None:
    push = Push()
    for _ in range(5):
        push.step(0.01)  # asked for at once: the rate limits are behind it
    stopped = BENT.copy()
    push_limb(push.data, LIMB, 0.01, AXIS, 0.0, stopped)
    np.testing.assert_array_equal(stopped, push.pose)


def test_what_is_not_finite_is_no_push_and_no_jump() -> None:
    push = Push()
    for size in np.linspace(0.0, 0.01, 500):
        push.step(float(size))
    for _ in range(800):
        push.step(np.inf)
        assert push.made == 0.0
    np.testing.assert_allclose(push.pose, BENT, atol=2e-4)
    wild = np.full_like(BENT, np.nan)
    assert push_limb(push.data, LIMB, 0.001, AXIS, PERIOD_S, wild) == 0.0
    push.pose = BENT.copy()
    for _ in range(50):
        push.step(0.001)
    assert push.made == 0.001
