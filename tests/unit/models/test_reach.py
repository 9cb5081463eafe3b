"""Inverse kinematics of any limb: cold, warm, out of reach, spare freedom.

Tolerances: 1e-9 m of a cold solution, position and direction together; limits hold to
1e-12; 5e-5 m and rad of lag while a path is followed at some tenths of a metre a
second, of which the damping is the cause. Derivatives to 1e-8 (central, step 1e-5).
"""

import numpy as np
import pytest

from models.clearance import allocate_clearance_data, limb_clearance
from models.limb import build_limb_model, limb_frames
from models.limited_step import (
    REACH_BEND_LIMITED,
    REACH_EXTENSION_LIMITED,
    allocate_reach_data,
    linearise,
    solve_limited_step,
)
from models.numerics import kernel
from models.obstacle import build_obstacle_model
from models.posture import reach_posture
from models.reach import (
    REACH_MISSED,
    REACH_NOT_FINITE,
    REACH_NOT_SETTLED,
    REACH_SOLVED,
    REACH_TOO_FAR,
    build_reach_model,
    reach_batch,
    reach_outcome,
    reach_reasons,
    reach_solve,
)
from models.reach_step import reach_settle, reach_step, reach_step_clear

_PERIOD = 1e-3
_HALF_PI = 0.5 * np.pi
_LIMB = build_limb_model(
    [0.2, 0.2, 0.2],
    [[0.03, 0.025], [0.025, 0.02], [0.02, 0.015]],
    _HALF_PI,
    [-0.03, 0.05],
    gap=[0.0, 0.02, 0.02, 0.03],
    bend_rate_limit=5.0,
    tip_speed_limit=1.0,
)
_MODEL = build_reach_model(_LIMB)
_NONE = build_obstacle_model([])


def _postures(limb, number, seed):
    """Anywhere inside the limits, uniform on the discs of the bends."""
    generator = np.random.default_rng(seed)
    count = limb.segment_length.size
    bend = limb.bend_limit * np.sqrt(generator.random((number, count)))
    plane = generator.uniform(-np.pi, np.pi, (number, count))
    low, high = limb.extension_range.T
    extension = generator.uniform(low, high, (number, count))
    return np.stack([bend * np.cos(plane), bend * np.sin(plane), extension], axis=-1)


def _goals(limb, coordinates):
    count = limb.segment_length.size
    frame, goals = np.empty((count + 1, 4, 4)), np.empty((len(coordinates), 6))
    for goal, item in zip(goals, coordinates, strict=True):
        limb_frames(limb, item, frame)
        goal[:3], goal[3:] = frame[count, :3, 3], frame[count, :3, 2]
    return goals


def _miss(limb, coordinates, goals):
    """Way [m] and angle [rad] from the tips to the goals, by other means."""
    tips = _goals(limb, coordinates)
    way = np.linalg.norm(tips[:, :3] - goals[:, :3], axis=1)
    return way, np.linalg.norm(np.cross(tips[:, 3:], goals[:, 3:]), axis=1)


def _assert_inside(limb, coordinates):
    bend = np.hypot(coordinates[..., 0], coordinates[..., 1])
    low, high = limb.extension_range.T
    assert np.all(bend <= limb.bend_limit + 1e-12)
    assert np.all(coordinates[..., 2] >= low - 1e-12)
    assert np.all(coordinates[..., 2] <= high + 1e-12)


def _batch(model, goals, pointing, starts=24):
    count = model.limb.segment_length.size
    data = allocate_reach_data(model.limb)
    status = np.full(len(goals), -1)
    found = np.full((len(goals), count, 3), np.nan)
    met = reach_batch(model, goals, pointing, 1e-9, starts, data, status, found)
    assert met == np.sum(status == REACH_SOLVED)
    return status, found


def test_two_thousand_poses_from_cold():
    goals = _goals(_LIMB, _postures(_LIMB, 2000, 5))
    status, found = _batch(_MODEL, goals, 1)
    way, angle = _miss(_LIMB, found, goals)
    assert np.all(status == REACH_SOLVED)
    assert way.max() < 1e-9
    assert angle.max() < 1e-8
    _assert_inside(_LIMB, found)


def _equal(count, bend, extension, gap=0.0):
    length = np.full(count, 0.6 / count)
    return build_limb_model(length, 0.02, bend, extension, gap=gap)


_OTHERS = {
    "one segment": (_equal(1, _HALF_PI, [-0.03, 0.05]), 0),
    "one segment, pointing": (_equal(1, _HALF_PI, [-0.03, 0.05]), 1),
    "two segments": (_equal(2, 2.0, [-0.03, 0.05], 0.03), 1),
    "no extension": (_equal(3, _HALF_PI, [0.0, 0.0]), 1),
    "bends to 180 degrees": (_equal(3, np.pi, [-0.03, 0.05]), 1),
    "unequal": (
        build_limb_model(
            [0.1, 0.4, 0.15], 0.02, [2.0, 1.0, 2.5], [-0.02, 0.1], gap=0.05
        ),
        1,
    ),
    "five segments": (_equal(5, _HALF_PI, [-0.01, 0.02]), 1),
    "ten segments": (_equal(10, _HALF_PI, [-0.005, 0.01]), 1),
}


@pytest.mark.parametrize("name", _OTHERS)
def test_other_limbs_from_cold(name):
    limb, pointing = _OTHERS[name]
    goals = _goals(limb, _postures(limb, 300, 6))
    status, found = _batch(build_reach_model(limb), goals, pointing)
    way, angle = _miss(limb, found, goals)
    assert np.all(status == REACH_SOLVED)
    assert way.max() < 1e-9
    assert not pointing or angle.max() < 2e-8
    _assert_inside(limb, found)


def test_goals_on_the_axis_and_at_the_edges_of_the_limits():
    on_axis = np.zeros((3, 3, 3))
    on_axis[1, :, 2] = 0.05
    on_axis[2, :, 2] = -0.03
    generator = np.random.default_rng(8)
    plane = generator.uniform(-np.pi, np.pi, (300, 3))
    edge = np.stack(
        [
            _HALF_PI * np.cos(plane),
            _HALF_PI * np.sin(plane),
            generator.choice([-0.03, 0.05], (300, 3)),
        ],
        axis=-1,
    )
    goals = _goals(_LIMB, np.concatenate([on_axis, edge]))
    # a thousandth inside the boundary of what can be reached
    status, found = _batch(_MODEL, goals, 0)
    way, _ = _miss(_LIMB, found, goals)
    assert np.all(way < 1e-6)
    assert np.mean(status == REACH_SOLVED) > 0.99
    _assert_inside(_LIMB, found)


def test_solutions_are_the_same_each_time():
    goals = _goals(_LIMB, _postures(_LIMB, 20, 9))
    assert np.array_equal(_batch(_MODEL, goals, 1)[1], _batch(_MODEL, goals, 1)[1])


def test_the_nearest_seed_leads_to_the_goal_in_few_steps():
    data, found = allocate_reach_data(_LIMB), np.zeros((3, 3))
    effort = []
    for goal in _goals(_LIMB, _postures(_LIMB, 300, 7)):
        reach_solve(_MODEL, goal, 1, 1e-9, 24, 0, data, found)
        effort.append(data.effort.copy())
        # the first seed, turned and mirrored, is where the table says it is
        seed = _MODEL.seed_tip[data.start[0]]
        rho, along = np.hypot(*goal[:2]), goal[:2] @ goal[3:5]
        gap = (seed[0] - rho) ** 2 + (seed[1] - goal[2]) ** 2
        gap += _MODEL.direction_length**2 * (
            (seed[2] - along / rho) ** 2 + (seed[4] - goal[5]) ** 2
        )
        assert gap <= data.start_gap[0] + 1e-12
    steps, starts = np.array(effort).T
    assert np.all(starts == 1)
    assert np.median(steps) <= 6
    assert steps.max() <= 10


def test_a_warm_start_is_kept_to():
    posture = _postures(_LIMB, 1, 10)[0]
    goal = _goals(_LIMB, posture[None])[0]
    found = posture.copy()
    data = allocate_reach_data(_LIMB)
    assert reach_solve(_MODEL, goal, 1, 1e-9, 24, -1, data, found) == REACH_SOLVED
    assert np.array_equal(found, posture)
    found = posture + 1e-2 * np.array([1.0, -1.0, 0.0])
    assert reach_solve(_MODEL, goal, 1, 1e-9, 24, -1, data, found) == REACH_SOLVED
    assert np.abs(found - posture).max() < 0.05


def test_the_jacobian_is_the_derivative_of_the_way():
    generator = np.random.default_rng(11)
    data = allocate_reach_data(_LIMB)
    for posture in _postures(_LIMB, 30, 12):
        goal = generator.normal(size=6)
        goal[3:] /= np.linalg.norm(goal[3:])
        square = linearise(_LIMB, goal, 0.15, 0, posture, data)
        assert square == pytest.approx(np.sum(data.residual[0] ** 2))
        for column, index in enumerate(np.ndindex(3, 3)):
            ends = []
            for sign in (1.0, -1.0):
                moved = posture.copy()
                moved[index] += sign * 1e-5
                linearise(_LIMB, goal, 0.15, 1, moved, data)
                ends.append(data.residual[1].copy())
            slope = -(ends[0] - ends[1]) / 2e-5
            assert np.allclose(data.jacobian[0, :, column], slope, rtol=0, atol=1e-8)


def test_a_limited_step_is_the_best_of_all_allowed_steps():
    generator = np.random.default_rng(13)
    data = allocate_reach_data(_LIMB)
    for at in _postures(_LIMB, 30, 14):
        goal = _goals(_LIMB, _postures(_LIMB, 1, generator.integers(99)))[0]
        linearise(_LIMB, goal, 0.15, 0, at, data)
        data.vector[0] = data.residual[0]
        data.weight[:] = [1e-3, 1.0]
        data.bound[:, :2] = [_HALF_PI, 0.3]
        data.bound[:, 2] = -0.03 - at[:, 2]
        data.bound[:, 3] = 0.05 - at[:, 2]
        data.bound[:, 4] = np.inf
        data.drift[:] = generator.normal(size=(3, 3)) * [0.1, 0.1, 0.01]
        iterations = solve_limited_step(3, 6, 0, at, data)
        assert 1 <= iterations < 40
        step = data.step.copy()
        _assert_inside(_LIMB, at + step)
        # no allowed step lies downhill: the gradient's best step over the set is 0
        jacobian = data.jacobian[0]
        weight = np.repeat(data.weight, [2, 1], axis=1)
        gradient = (jacobian.T @ (jacobian @ step.ravel() - data.vector[0])).reshape(
            3, 3
        ) + weight * (step - data.drift)
        for _ in range(300):
            other = generator.normal(size=(3, 3)) * [0.3, 0.3, 0.02]
            size = np.hypot(other[:, 0], other[:, 1])
            other[:, :2] *= np.minimum(1.0, 0.3 / size)[:, None]
            total = at + other
            bend = np.hypot(total[:, 0], total[:, 1])
            other[:, 2] = np.clip(other[:, 2], data.bound[:, 2], data.bound[:, 3])
            if np.all(bend <= _HALF_PI):
                assert np.sum(gradient * (other - step)) > -1e-7


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_input_that_is_not_finite_changes_nothing(bad):
    data = allocate_reach_data(_LIMB)
    clearance = allocate_clearance_data(_LIMB)
    good = np.array([0.1, 0.1, 0.5, 0.0, 0.0, 1.0])
    for i in range(6):
        goal = good.copy()
        goal[i] = bad
        for pointing in (0, 1):
            if i >= 3 and not pointing:
                continue
            at = np.full((3, 3), 0.01)
            status = reach_solve(_MODEL, goal, pointing, 1e-9, 24, 0, data, at)
            assert status == REACH_NOT_FINITE
            status = reach_step(_MODEL, goal, pointing, _PERIOD, data, at)
            assert status == REACH_NOT_FINITE
            status = reach_step_clear(
                _MODEL, _NONE, goal, pointing, 0.01, _PERIOD, clearance, data, at
            )
            assert status == REACH_NOT_FINITE
            assert np.all(at == 0.01)
    broken = np.zeros((3, 3))
    broken[1, 1] = bad
    before = broken.copy()
    assert reach_solve(_MODEL, good, 1, 1e-9, 24, -1, data, broken) == REACH_NOT_FINITE
    assert reach_step(_MODEL, good, 1, _PERIOD, data, broken) == REACH_NOT_FINITE
    assert np.array_equal(broken, before, equal_nan=True)
    # a cold solution does not read the guess, and nothing of it stays in the arrays
    assert reach_solve(_MODEL, good, 1, 1e-9, 24, 0, data, broken) == REACH_SOLVED


# -- out of reach ----------------------------------------------------------------------


def test_beyond_its_greatest_length_a_limb_is_stretched():
    found = reach_posture(_MODEL, [0.0, 0.0, 1.5])
    assert found.outcome == "unreachable"
    assert found.status & REACH_TOO_FAR
    assert "greatest length" in found.reasons[0]
    assert found.position == pytest.approx([0.0, 0.0, 0.82], abs=1e-6)
    assert found.position_error == pytest.approx(0.68, abs=1e-9)


def test_the_nearest_point_of_a_single_segment_is_known():
    limb = _equal(1, 1.0, [-0.05, 0.05])
    model = build_reach_model(limb)
    # too far sideways for its bend: along the ray of the greatest bend, half its angle
    found = reach_posture(model, [0.5, 0.0, 0.2])
    assert found.outcome == "limited"
    assert found.status & REACH_BEND_LIMITED
    assert not found.status & REACH_NOT_SETTLED
    along = np.array([np.sin(0.5), 0.0, np.cos(0.5)])
    chord = np.clip(
        along @ [0.5, 0.0, 0.2], *(np.sin(0.5) / 0.5 * np.array([0.55, 0.65]))
    )
    assert found.position == pytest.approx(chord * along, abs=1e-6)
    # too near: the least length, on the straight way up
    found = reach_posture(model, [0.0, 0.0, 0.52])
    assert found.outcome == "limited"
    assert found.status & REACH_EXTENSION_LIMITED
    assert "length" in " ".join(found.reasons)


def test_a_direction_that_the_limb_cannot_point_in_is_reported():
    limb = _equal(1, 3.0, [-0.3, 0.3])
    model = build_reach_model(limb)
    reachable = reach_posture(model, [0.2, 0.0, 0.5])
    assert reachable.outcome == "solved"
    assert reachable.reasons == ()
    found = reach_posture(model, [0.2, 0.0, 0.5], [0.0, 1.0, 0.2])
    assert found.outcome == "unreachable"
    assert found.status == REACH_MISSED
    assert found.reasons == ("no posture of the limb has this position and direction",)
    assert found.direction_error > 0.5


def test_the_nearest_posture_is_bettered_by_no_small_change():
    goals = _goals(_LIMB, _postures(_LIMB, 60, 15))
    goals[:, :3] *= 1.4
    status, found = _batch(_MODEL, goals, 1)
    generator = np.random.default_rng(16)
    data = allocate_reach_data(_LIMB)
    tested = 0
    for code, at, goal in zip(status, found, goals, strict=True):
        if code == REACH_SOLVED:
            continue
        assert code & REACH_MISSED
        assert code & (REACH_BEND_LIMITED | REACH_EXTENSION_LIMITED)
        assert not code & REACH_NOT_SETTLED
        tested += 1
        length = _MODEL.direction_length
        square = linearise(_LIMB, goal, length, 0, at, data)
        for size in (1e-2, 1e-3, 1e-4):
            for _ in range(30):
                other = at + size * generator.normal(size=(3, 3)) * [1.0, 1.0, 0.05]
                bend = np.hypot(other[:, 0], other[:, 1])
                other[:, :2] *= np.minimum(1.0, _HALF_PI / bend)[:, None]
                other[:, 2] = np.clip(other[:, 2], -0.03, 0.05)
                assert linearise(_LIMB, goal, length, 1, other, data) > square - 1e-12
    assert tested > 20


def test_outcomes_in_words():
    assert reach_outcome(REACH_SOLVED) == "solved"
    assert reach_outcome(REACH_BEND_LIMITED) == "solved"
    assert reach_outcome(REACH_MISSED | REACH_BEND_LIMITED) == "limited"
    assert reach_outcome(REACH_MISSED) == "unreachable"
    assert reach_outcome(REACH_MISSED | REACH_TOO_FAR | 4) == "unreachable"
    assert reach_reasons(REACH_BEND_LIMITED) == []
    assert len(reach_reasons(REACH_MISSED | REACH_TOO_FAR | 4)) == 2
    with pytest.raises(ValueError, match="points nowhere"):
        reach_posture(_MODEL, [0.1, 0.0, 0.5], [0.0, 0.0, 0.0])


# -- warm ------------------------------------------------------------------------------


@kernel
def follow(model, goals, pointing, period, data, at_out, status_out, commands_out):
    for m in range(goals.shape[0]):
        status_out[m] = reach_step(model, goals[m], pointing, period, data, at_out)
        for k in range(at_out.shape[0]):
            for j in range(3):
                commands_out[m, k, j] = at_out[k, j]


class _Run:
    """A path that is followed at 1 kHz, the limits checked on the way."""

    def __init__(self, goals, pointing, start):
        data = allocate_reach_data(_LIMB)
        self.status = np.zeros(len(goals), dtype=np.int64)
        self.commands = np.empty((len(goals), 3, 3))
        at = start.copy()
        follow(_MODEL, goals, pointing, _PERIOD, data, at, self.status, self.commands)
        _assert_inside(_LIMB, self.commands)
        step = np.diff(self.commands, axis=0)
        rate = np.hypot(step[..., 0], step[..., 1])
        assert rate.max() <= 5.0 * _PERIOD + 1e-12
        assert np.abs(step[..., 2]).max() <= 0.2 * _PERIOD + 1e-12
        self.way, self.angle = _miss(_LIMB, self.commands, goals)
        tips = _goals(_LIMB, self.commands)
        self.tip_step = np.linalg.norm(np.diff(tips[:, :3], axis=0), axis=1)
        self.path_step = np.linalg.norm(np.diff(goals[:, :3], axis=0), axis=1)
        # change of the step from tick to tick, relative to 1 rad and to the radius
        self.jerk = np.abs(np.diff(step, axis=0) / [1.0, 1.0, 0.02]).max(axis=(1, 2))


_TIME = np.arange(6000) * _PERIOD


@pytest.mark.parametrize("pointing", [0, 1])
def test_through_the_straight_limb_without_a_jump(pointing):
    """All three segments pass θ = 0 at once, where φ turns by π."""
    size = np.array([[0.6, 0.2, 0.01], [-0.5, 0.4, 0.01], [0.7, -0.3, 0.01]])
    path = size * np.sin(0.5 * np.pi * _TIME)[:, None, None] + [0.0, 0.0, 0.01]
    run = _Run(_goals(_LIMB, path), pointing, path[0])
    assert np.all(run.status == REACH_SOLVED)
    assert run.way.max() < 5e-5
    assert not pointing or run.angle.max() < 5e-5
    assert run.tip_step[100:].max() < 1.001 * run.path_step.max()
    # the bend rates are near 1 rad/s, so a step is near 1e-3 rad
    assert run.jerk[100:].max() < 2e-5


@pytest.mark.parametrize("pointing", [0, 1])
def test_along_the_limits_without_a_jump(pointing):
    """A path on the greatest bends and a millimetre from the greatest lengths."""
    turn = np.pi * _TIME[:, None] / 4.0 + [0.0, 0.4, 0.9]
    path = np.stack(
        [
            0.9999 * _HALF_PI * np.cos(turn),
            0.9999 * _HALF_PI * np.sin(turn),
            np.full_like(turn, 0.049),
        ],
        axis=-1,
    )
    run = _Run(_goals(_LIMB, path), pointing, path[0])
    bend = np.hypot(run.commands[..., 0], run.commands[..., 1])
    assert np.mean(bend.max(axis=1) > _HALF_PI - 1e-6) > 0.9
    assert run.way.max() < 5e-5
    assert not pointing or run.angle.max() < 2e-4
    assert run.tip_step[100:].max() < 1.001 * run.path_step.max()
    assert run.jerk[500:].max() < 2e-5


def test_beyond_reach_the_tip_follows_the_edge_without_trembling():
    turn = np.pi * _TIME / 4.0
    goals = np.zeros((len(_TIME), 6))
    goals[:, 0] = 0.9 * np.cos(turn)
    goals[:, 1] = 0.9 * np.sin(turn)
    goals[:, 2] = 0.4
    goals[:, 3:5] = 0.6 * goals[:, :2] / 0.9
    goals[:, 5] = 0.8
    start = reach_posture(_MODEL, goals[0, :3], goals[0, 3:]).coordinates
    run = _Run(goals, 1, start)
    assert np.all(run.status[100:] & REACH_MISSED)
    assert np.ptp(run.way[4000:]) < 1e-4
    assert run.jerk[1000:].max() < 1e-5


def test_a_held_goal_is_met_and_then_all_is_still():
    goal = _goals(_LIMB, _postures(_LIMB, 1, 17))
    start = _batch(_MODEL, goal, 1)[1][0]
    goals = np.repeat(goal, 8000, axis=0)
    run = _Run(goals, 1, start)
    assert run.way[-1] < 1e-7
    assert run.angle[-1] < 1e-6
    last = np.abs(np.diff(run.commands[-1000:], axis=0))
    assert last.max() < 1e-6
    assert last[-1].max() <= last[0].max()


def test_a_far_goal_is_gone_to_at_the_rates():
    slow = build_reach_model(
        _LIMB._replace(
            bend_rate_limit=np.array([0.5, 0.7, 0.9]),
            extension_rate_limit=np.array([0.01, 0.02, 0.005]),
        )
    )
    posture = np.array([[0.9, -0.3, 0.03], [-0.4, 0.8, 0.02], [0.3, 0.5, 0.0]])
    goal = _goals(_LIMB, posture[None])[0]
    data, at = allocate_reach_data(_LIMB), np.zeros((3, 3))
    statuses, steps = [], []
    for _ in range(6000):
        before = at.copy()
        statuses.append(reach_step(slow, goal, 1, _PERIOD, data, at))
        steps.append(at - before)
    step = np.array(steps)
    rate = np.hypot(step[..., 0], step[..., 1]).max(axis=0)
    assert np.all(rate <= slow.limb.bend_rate_limit * _PERIOD + 1e-12)
    assert np.any(rate > 0.99 * slow.limb.bend_rate_limit * _PERIOD)
    travel = np.abs(step[..., 2]).max(axis=0)
    assert np.all(travel <= slow.limb.extension_rate_limit * _PERIOD + 1e-12)
    assert statuses[0] & REACH_NOT_SETTLED
    assert not statuses[0] & REACH_MISSED
    assert not statuses[-1] & (REACH_NOT_SETTLED | REACH_MISSED)
    assert _miss(_LIMB, at[None], goal[None])[0][0] < 1e-6


# -- spare freedom ---------------------------------------------------------------------


def _settled(goal, pointing, start, obstacles=_NONE, margin=0.0, steps=60):
    found = start.copy()
    least = reach_settle(
        _MODEL,
        obstacles,
        goal,
        pointing,
        margin,
        1e-8,
        steps,
        allocate_clearance_data(_LIMB),
        allocate_reach_data(_LIMB),
        found,
    )
    return found, least


@pytest.mark.parametrize("pointing", [0, 1])
def test_settling_leads_to_the_least_energy_at_the_goal(pointing):
    goals = _goals(_LIMB, 0.7 * _postures(_LIMB, 60, 18))
    _, starts = _batch(_MODEL, goals, pointing)
    stiffness = np.repeat(_LIMB.stiffness, [2, 1], axis=1)
    data = allocate_reach_data(_LIMB)
    spare_pull = []
    for goal, start in zip(goals, starts, strict=True):
        found, least = _settled(goal, pointing, start)
        assert least == np.inf
        length = _MODEL.direction_length * pointing
        assert np.sqrt(linearise(_LIMB, goal, length, 0, found, data)) < 1e-8
        _assert_inside(_LIMB, found)
        energy = np.sum(stiffness * found**2)
        assert energy <= np.sum(stiffness * start**2) * (1.0 + 1e-6)
        bend = np.hypot(found[:, 0], found[:, 1])
        on_limit = np.any(bend > _HALF_PI - 1e-6) or np.any(
            np.abs(found[:, 2] - 0.01) > 0.04 - 1e-6
        )
        if not on_limit:
            root = np.sqrt(stiffness).ravel()
            rows = 6 if pointing else 3
            _, _, basis = np.linalg.svd(data.jacobian[0, :rows] / root)
            pull = root * found.ravel()
            spare = basis[5 if pointing else 3 :] @ pull
            spare_pull.append(np.linalg.norm(spare) / np.linalg.norm(pull))
    assert len(spare_pull) > 30
    assert np.median(spare_pull) < 1e-4
    assert np.percentile(spare_pull, 90) < 1e-2


def _ball_in_the_way(found, index):
    """A sphere that overlaps the end of the first segment by 15 mm."""
    frame = np.empty((4, 4, 4))
    limb_frames(_LIMB, found, frame)
    side = frame[1, :3, 0] * np.cos(index) + frame[1, :3, 1] * np.sin(index)
    return build_obstacle_model([("sphere", frame[1, :3, 3] + 0.03 * side, [0.02])])


def test_settling_clears_an_obstacle_without_moving_the_tip():
    goals = _goals(_LIMB, 0.7 * _postures(_LIMB, 60, 19))
    _, starts = _batch(_MODEL, goals, 0)
    clearance, gradient = allocate_clearance_data(_LIMB), np.empty((3, 3))
    before, after = [], []
    for index, (goal, start) in enumerate(zip(goals, starts, strict=True)):
        rest, _ = _settled(goal, 0, start)
        ball = _ball_in_the_way(rest, index)
        before.append(limb_clearance(_LIMB, ball, rest, clearance, gradient))
        found, _ = _settled(goal, 0, rest, ball, 0.01)
        after.append(limb_clearance(_LIMB, ball, found, clearance, gradient))
        assert _miss(_LIMB, found[None], goal[None])[0][0] < 1e-8
        _assert_inside(_LIMB, found)
    assert np.median(before) < -0.014
    assert np.median(after) > 0.005
    assert np.mean(np.array(after) > 0.0) > 0.9


def test_a_warm_limb_moves_off_an_obstacle():
    goal = _goals(_LIMB, 0.7 * _postures(_LIMB, 1, 20))[0]
    rest, _ = _settled(goal, 0, _batch(_MODEL, goal[None], 0)[1][0])
    ball = _ball_in_the_way(rest, 2)
    clearance, gradient = allocate_clearance_data(_LIMB), np.empty((3, 3))
    data, at = allocate_reach_data(_LIMB), rest.copy()
    distances, last = [], at.copy()
    for _ in range(3000):
        last = at.copy()
        reach_step_clear(_MODEL, ball, goal, 0, 0.01, _PERIOD, clearance, data, at)
        distances.append(limb_clearance(_LIMB, ball, at, clearance, gradient))
        assert np.abs(at - last).max() <= 5.0 * _PERIOD
    assert distances[0] < -0.01
    assert distances[-1] > 0.005
    assert np.abs(at - last).max() < 1e-5
    assert _miss(_LIMB, at[None], goal[None])[0][0] < 1e-6


def test_a_posture_in_one_call():
    wall = build_obstacle_model([("box", [0.15, 0.0, 0.3], [0.02, 0.3, 0.05])])
    found = reach_posture(
        _MODEL, [0.1, 0.2, 0.5], [0.0, 0.0, 2.0], obstacles=wall, margin=0.01
    )
    assert found.outcome == "solved"
    assert found.position == pytest.approx([0.1, 0.2, 0.5], abs=1e-8)
    assert found.direction == pytest.approx([0.0, 0.0, 1.0], abs=1e-7)
    assert found.clearance > 0.0
    again = reach_posture(
        _MODEL, [0.1, 0.2, 0.5], [0.0, 0.0, 1.0], guess=found.coordinates,
        settle_steps=0,
    )  # fmt: skip
    assert np.array_equal(again.coordinates, found.coordinates)
