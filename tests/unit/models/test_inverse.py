"""The inverse of the tip: exactness, limits, smoothness, behaviour out of reach.

Tolerances: 0.01 mm is the promised error of a held target; the damping leaves at most
5e-8 m, which is what is tested. 1e-12 for limits, which hold to rounding. The tip's
speed may pass its limit by 1 %, the curvature of a step that the Jacobian leaves out.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.robot import build_robot_model, load_robot
from models.constrained_step import project_bend
from models.inverse import (
    BEND_LIMITED,
    EXTENSION_LIMITED,
    NOT_FINITE,
    OUT_OF_REACH,
    RATE_LIMITED,
    allocate_inverse_data,
    inverse_solve,
    inverse_step,
)
from models.limb import limb_poses, limb_tip_jacobian

_MODEL = build_robot_model(load_robot("ursula"))
_DATA = allocate_inverse_data(_MODEL)
_PERIOD = 1e-3
_GRASPER, _CAMERA = 0, 2  # two segments of 300 mm, one of 600 mm
_LIMBS = [_GRASPER, _CAMERA]


def _segments(limb):
    return slice(_MODEL.limb_segment_start[limb], _MODEL.limb_segment_start[limb + 1])


def _rest(limb):
    return _MODEL.rest_coordinates[_segments(limb)].copy()


def _tip(limb, coordinates):
    poses = np.empty((len(coordinates) + 1, 4, 4))
    limb_poses(_MODEL, limb, coordinates, poses)
    return poses[-1, :3, 3].copy()


def _postures(limb, generator, number):
    """Random postures inside the limits, uniform on the disc of the bends."""
    count = len(_rest(limb))
    low, high = _MODEL.extension_range[_segments(limb)].T
    for _ in range(number):
        bend = 0.98 * (math.pi / 2) * np.sqrt(generator.uniform(size=count))
        plane = generator.uniform(-math.pi, math.pi, size=count)
        yield np.column_stack(
            [
                bend * np.cos(plane),
                bend * np.sin(plane),
                generator.uniform(low, high),
            ]
        )


class _Run:
    """A limb that follows a list of targets; every command is checked on the way."""

    def __init__(self, limb, start, targets, period=_PERIOD):
        self.limb = limb
        at = start.copy()
        commands, statuses = [at.copy()], []
        for target in targets:
            status = inverse_step(_MODEL, limb, target, period, at, _DATA, at)
            commands.append(at.copy())
            statuses.append(status)
        self.commands = np.array(commands)
        self.status = np.array(statuses)
        self.tips = np.array([_tip(limb, item) for item in self.commands])
        self.steps = np.diff(self.commands, axis=0)
        self.final = at
        s = _segments(limb)
        bend = np.hypot(self.commands[..., 0], self.commands[..., 1])
        low, high = _MODEL.extension_range[s].T
        assert np.all(bend <= _MODEL.bend_limit[s] + 1e-12)
        assert np.all(self.commands[..., 2] >= low - 1e-12)
        assert np.all(self.commands[..., 2] <= high + 1e-12)
        rate = np.hypot(self.steps[..., 0], self.steps[..., 1])
        assert np.all(rate <= _MODEL.bend_rate_limit[s] * period + 1e-12)
        travel = _MODEL.extension_rate_limit[s] * period
        assert np.all(np.abs(self.steps[..., 2]) <= travel + 1e-12)
        speed = np.linalg.norm(np.diff(self.tips, axis=0), axis=1)
        assert np.all(speed <= 1.01 * _MODEL.tip_speed_limit[limb] * period)


def _hold(limb, start, target, ticks):
    return _Run(limb, start, [np.asarray(target, dtype=float)] * ticks)


@pytest.mark.parametrize("limb", _LIMBS)
def test_a_held_target_is_met_and_then_all_is_still(limb):
    generator = np.random.default_rng(3)
    for posture in _postures(limb, generator, 6):
        # a posture near the rest one, so that the straight way to it is in reach
        goal = _rest(limb) + 0.25 * (posture - _rest(limb))
        target = _tip(limb, goal)
        run = _hold(limb, _rest(limb), target, 6000)
        error = np.linalg.norm(run.tips[-1000:] - target, axis=1)
        assert error.max() < 5e-8
        assert run.status[-1] & (OUT_OF_REACH | RATE_LIMITED) == 0
        # the drift to rest halves every third of a second and dies away
        assert np.abs(run.steps[-1]).max() < 1e-6
        assert np.abs(run.steps[-1]).max() <= np.abs(run.steps[-1000]).max() + 1e-15


@pytest.mark.parametrize("limb", _LIMBS)
def test_the_rest_posture_stays_at_rest(limb):
    run = _hold(limb, _rest(limb), _tip(limb, _rest(limb)), 50)
    assert np.abs(run.steps).max() < 1e-15
    assert np.all(run.status == 0)


def test_the_spare_freedom_goes_to_the_least_elastic_energy():
    """At the end of the drift no spare direction lowers the elastic energy."""
    posture = np.array([[0.9, -0.3, -0.004], [-0.5, 0.8, -0.004]])
    target = _tip(_GRASPER, 0.5 * posture + 0.5 * _rest(_GRASPER))
    at = _hold(_GRASPER, _rest(_GRASPER), target, 12_000).final
    radius = _MODEL.segment_radius[_segments(_GRASPER)]
    bending = np.array(
        [np.mean(np.linspace(a, b, 2001) ** 4) for a, b in radius]
    )  # all else is equal in both segments
    gap = (at - _rest(_GRASPER))[:, :2]
    gradient = (bending[:, None] * gap).ravel() / bending[1]
    poses, jacobian = np.empty((3, 4, 4)), np.empty((6, 6))
    limb_tip_jacobian(_MODEL, _GRASPER, at, poses, jacobian)
    # both lengths rest on their upper limit: 4 bends, 3 conditions, 1 spare direction
    bends = jacobian[3:, [0, 1, 3, 4]]
    spare = np.linalg.svd(bends)[2][3]
    assert np.linalg.norm(gradient) > 0.1
    assert abs(spare @ gradient) < 2e-3 * np.linalg.norm(gradient)


@pytest.mark.parametrize("limb", _LIMBS)
def test_a_moving_target_is_followed_without_lag(limb):
    rest = _tip(limb, _rest(limb))
    time = np.arange(4000) * _PERIOD
    angle = 1.5 * time  # 45 mm/s
    ramp = np.minimum(time, 1.0)
    centre = rest - [0.0, 0.0, 0.04 if limb == _GRASPER else 0.008]
    radius = 0.03 if limb == _GRASPER else 0.004
    shift = (
        radius
        * ramp[:, None]
        * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    )
    run = _Run(limb, _rest(limb), centre + shift)
    error = np.linalg.norm(run.tips[1:] - (centre + shift), axis=1)[1000:]
    assert error.max() < 1e-5
    assert np.all(run.status[1000:] & OUT_OF_REACH == 0)


@pytest.mark.parametrize("limb", _LIMBS)
def test_no_jump_through_the_straight_limb(limb):
    """A line across θ = 0, where φ turns by π at once."""
    straight = np.zeros_like(_rest(limb))
    straight[:, 2] = -0.004
    centre = _tip(limb, straight)
    side = np.linspace(-0.05, 0.05, 2001)  # 50 mm/s
    targets = centre + np.outer(side, [0.8, 0.6, 0.0])
    start = straight.copy()
    assert inverse_solve(_MODEL, limb, targets[0], 3000, _DATA, start) == 0
    run = _Run(limb, start, targets)
    change = np.diff(run.steps, axis=0)[5:]
    assert np.abs(change[..., :2]).max() < 1e-5  # [rad/tick], of steps near 2e-4
    assert np.abs(run.tips[1:] - targets)[5:].max() < 1e-5


@pytest.mark.parametrize("target", [(0.0, 0.0, 0.9), (0.9, 0.3, 0.4), (-0.3, 0.5, 0.6)])
@pytest.mark.parametrize("limb", _LIMBS)
def test_no_trembling_at_a_target_out_of_reach(limb, target):
    run = _hold(limb, _rest(limb), target, 8000)
    assert run.status[-1] & OUT_OF_REACH
    distance = np.linalg.norm(run.tips - target, axis=1)
    assert np.all(np.diff(distance) < 1e-7)  # always nearer
    # a step turns back on the one before at most where one more limit is met
    late = run.steps[4000:].reshape(len(run.steps[4000:]), -1)
    size = np.linalg.norm(late, axis=1)
    turn = np.einsum("ij,ij->i", late[1:], late[:-1])
    assert np.sum(turn < -1e-14) <= 1
    assert size[-1] < 1e-3 * _MODEL.bend_rate_limit[0]


def test_the_nearest_point_out_of_reach_is_found():
    """A stretched limb points at a target straight beyond its reach."""
    at = _rest(_CAMERA)
    status = inverse_solve(_MODEL, _CAMERA, np.array([0.0, 0.0, 0.9]), 3000, _DATA, at)
    assert status & OUT_OF_REACH
    assert status & EXTENSION_LIMITED
    assert np.linalg.norm(_tip(_CAMERA, at) - [0.0, 0.0, 0.6]) < 3e-4
    # below the least length nothing is nearer than the whole retraction
    status = inverse_solve(_MODEL, _CAMERA, np.array([0.0, 0.0, 0.55]), 3000, _DATA, at)
    assert status & OUT_OF_REACH
    assert np.linalg.norm(_tip(_CAMERA, at) - [0.0, 0.0, 0.58]) < 1e-4


def test_a_limb_slides_along_its_bend_limit():
    """A target that runs round beyond the 90 degree edge: no stop and no jump."""
    angle = np.linspace(0.0, 1.5, 6000)
    edge = 0.41  # the tip's edge is a circle of 0.382 m at a height of 0.382 m
    targets = np.stack(
        [edge * np.cos(angle), edge * np.sin(angle), 0.34 + 0.0 * angle], axis=1
    )
    start = np.array([[1.5, 0.0, 0.0]])
    inverse_solve(_MODEL, _CAMERA, targets[0], 2000, _DATA, start)
    run = _Run(_CAMERA, start, targets)
    assert np.all(run.status[100:] & BEND_LIMITED)
    assert np.all(run.status[100:] & OUT_OF_REACH)
    theta = np.hypot(run.commands[:, 0, 0], run.commands[:, 0, 1])
    assert np.allclose(theta[100:], math.pi / 2, atol=1e-9)
    change = np.diff(run.steps[100:, 0, :2], axis=0)
    assert np.abs(change).max() < 2e-6
    direction = np.arctan2(run.commands[-1, 0, 1], run.commands[-1, 0, 0])
    assert 0.0 < 1.5 - direction < 0.08  # the pull along the edge follows the target


def test_far_targets_are_gone_to_at_the_speed_limit():
    run = _hold(_GRASPER, _rest(_GRASPER), _tip(_GRASPER, -_rest(_GRASPER)), 300)
    speed = np.linalg.norm(np.diff(run.tips, axis=0), axis=1) / _PERIOD
    assert np.all(run.status & RATE_LIMITED)
    assert speed.max() > 0.95 * _MODEL.tip_speed_limit[_GRASPER]


def test_a_posture_outside_its_range_is_led_back_at_the_rate():
    start = np.array([[2.0, 0.0, 0.005]])
    target = _tip(_CAMERA, np.array([[1.0, 0.0, 0.0]]))
    at = start.copy()
    previous = at.copy()
    for _ in range(2000):
        inverse_step(_MODEL, _CAMERA, target, _PERIOD, at, _DATA, at)
        step = at - previous
        assert np.hypot(*step[0, :2]) <= _MODEL.bend_rate_limit[4] * _PERIOD + 1e-12
        assert abs(step[0, 2]) <= _MODEL.extension_rate_limit[4] * _PERIOD + 1e-12
        previous = at.copy()
    assert np.linalg.norm(_tip(_CAMERA, at) - target) < 1e-5


@pytest.mark.parametrize("limb", _LIMBS)
def test_the_inverse_of_reachable_postures(limb):
    generator = np.random.default_rng(11)
    missed = 0
    for posture in _postures(limb, generator, 60):
        target = _tip(limb, posture)
        at = posture + 0.3 * (_rest(limb) - posture)
        status = inverse_solve(_MODEL, limb, target, 1500, _DATA, at)
        error = np.linalg.norm(_tip(limb, at) - target)
        assert error < 1e-6 or status & OUT_OF_REACH
        missed += error > 1e-6
    assert missed <= 3


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_step_is_the_best_of_all_allowed_steps(seed):
    """No random allowed step has a lower objective than the one taken."""
    generator = np.random.default_rng(seed)
    limb = int(generator.integers(0, 4))
    at = next(_postures(limb, generator, 1))
    target = generator.normal(size=3) * 0.6
    after = at.copy()
    inverse_step(_MODEL, limb, target, _PERIOD, at, _DATA, after)
    count = len(at)
    jacobian = _DATA.jacobian[3:, : 3 * count]
    way = _DATA.vector[0]
    weight = np.repeat(_DATA.weight[:count], [2, 1], axis=1).ravel()
    drift = _DATA.drift[:count].ravel()

    def objective(step):
        miss = jacobian @ step - way
        return 0.5 * miss @ miss + 0.5 * (step - drift) @ (weight * (step - drift))

    taken = (after - at).ravel()
    best = objective(taken)
    for _ in range(200):
        scale = 10.0 ** generator.uniform(-6, 0)
        other = taken.reshape(count, 3) + scale * generator.normal(size=(count, 3)) * [
            1.5e-3,
            1.5e-3,
            2e-5,
        ]
        for k in range(count):
            bound = _DATA.bound[k]
            other[k, :2] = project_bend(
                at[k, 0], at[k, 1], bound[0], bound[1], other[k, 0], other[k, 1]
            )[:2]
            other[k, 2] = min(max(other[k, 2], bound[2]), bound[3])
        assert objective(other.ravel()) >= best - 1e-7 * (way @ way)


@settings(deadline=None, max_examples=300)
@given(
    at=st.tuples(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2)),
    wish=st.tuples(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0)),
    travel=st.floats(0.01, 1.0),
)
def test_the_projection_on_both_discs_is_the_nearest_point(at, wish, travel):
    limit = max(1.0, math.hypot(*at) - travel)
    x, y, xx, xy, yy, _, _ = project_bend(*at, limit, travel, *wish)
    assert math.hypot(x, y) <= travel + 1e-9
    assert math.hypot(at[0] + x, at[1] + y) <= limit + 1e-9
    # nearest: no allowed point lies on the wish's side of the tangent at the answer
    generator = np.random.default_rng(0)
    points = travel * generator.uniform(-1.0, 1.0, size=(400, 2))
    allowed = points[
        (np.hypot(*points.T) <= travel) & (np.hypot(*(points + at).T) <= limit)
    ]
    gap = np.array(wish) - [x, y]
    assert np.all((allowed - [x, y]) @ gap <= 1e-7)
    slope = np.array([[xx, xy], [xy, yy]])
    values = np.linalg.eigvalsh(slope)
    assert values[0] >= -1e-12
    assert values[1] <= 1.0 + 1e-12


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_input_that_is_not_finite_moves_nothing(bad):
    rest = _rest(_GRASPER)
    target = np.array([0.1, 0.1, 0.5])
    out = np.full_like(rest, 7.0)
    wrong = np.array([0.1, bad, 0.5])
    status = inverse_step(_MODEL, _GRASPER, wrong, _PERIOD, rest, _DATA, out)
    assert status == NOT_FINITE
    assert np.array_equal(out, rest)
    broken = rest.copy()
    broken[1, 0] = bad
    status = inverse_step(_MODEL, _GRASPER, target, _PERIOD, broken, _DATA, out)
    assert status == NOT_FINITE
    assert np.array_equal(out, broken, equal_nan=True)
    if abs(bad) != 1e200:
        status = inverse_step(_MODEL, _GRASPER, target, bad, rest, _DATA, out)
        assert status == NOT_FINITE
        assert np.array_equal(out, rest)
    guess = rest.copy()
    assert inverse_solve(_MODEL, _GRASPER, wrong, 10, _DATA, guess) == NOT_FINITE
    assert np.array_equal(guess, rest)
    # and the work arrays are not poisoned for the next tick
    assert inverse_step(_MODEL, _GRASPER, target, _PERIOD, rest, _DATA, out) != (
        NOT_FINITE
    )
    assert np.all(np.isfinite(out))
