"""Group `kinematics` of scripts/bench: inverse kinematics beside named peers.

One arm of three segments, 2,000 poses anywhere inside its limits, position and pointing
direction. Peers on the same poses in the same run: scipy's least_squares on the same
residual with the same Jacobian (both compiled), begun at the same seed, by the one of
its methods with limits that is quickest here; and ikpy on a chain of 30 rigid joints,
whose ten RRP sections stand for the same arm.

A single solution is timed by the monotonic clock, read before and after it inside the
compiled loop: no call from Python is in the figure, two readings of the clock (0.05 µs)
are. Our figure of a pose or of a step is the median of five rounds, since the machine
is shared and may stop one of them.
"""

import ctypes
import time
import warnings
from collections.abc import Callable

import ikpy.chain
import ikpy.link
import numba
import numpy as np
from bench_record import Record, record
from rich.console import Console
from scipy.optimize import least_squares  # noqa: TID253

from models.chain import chain_joints
from models.chamber import build_chamber_model
from models.limb import LimbModel, build_limb_model, limb_frames
from models.limited_step import allocate_reach_data, linearise
from models.numerics import FloatArray, IntArray
from models.opposing import (
    PairBendModel,
    PairElongationModel,
    pair_bend_batch,
    pair_elongation_batch,
)
from models.reach import (
    REACH_SOLVED,
    ReachModel,
    build_reach_model,
    reach_solve,
)
from models.reach_step import reach_step

__all__ = ["bench_kinematics"]

_POSES, _ROUNDS, _STARTS = 2000, 5, 24
_SCIPY_POSES, _SLOW_POSES, _IKPY_POSES = 500, 50, 12
_SECTIONS = (3, 4, 3)
_WAY, _ANGLE = 1e-4, np.radians(0.1)
_PERIOD = 1e-3
_BATCH, _BATCHES = 2000, 50

_clock = ctypes.CDLL(None).clock_gettime
_clock.argtypes = [ctypes.c_int, ctypes.c_void_p]
_clock.restype = ctypes.c_int


def _arm() -> LimbModel:
    """Three segments of 200 mm with gaps, 90 degrees, -15 to 25 % of extension."""
    return build_limb_model(
        [0.2, 0.2, 0.2],
        [[0.03, 0.025], [0.025, 0.02], [0.02, 0.015]],
        0.5 * np.pi,
        [-0.03, 0.05],
        gap=[0.0, 0.02, 0.02, 0.03],
        bend_rate_limit=5.0,
        tip_speed_limit=1.0,
    )


def _postures(limb: LimbModel, number: int) -> FloatArray:
    generator = np.random.default_rng(5)
    count = limb.segment_length.size
    bend = limb.bend_limit * np.sqrt(generator.random((number, count)))
    plane = generator.uniform(-np.pi, np.pi, (number, count))
    low, high = limb.extension_range.T
    extension = generator.uniform(low, high, (number, count))
    return np.stack([bend * np.cos(plane), bend * np.sin(plane), extension], axis=-1)


def _tips(limb: LimbModel, coordinates: FloatArray) -> FloatArray:
    frame = np.empty((limb.segment_length.size + 1, 4, 4))
    tips = np.empty((len(coordinates), 6))
    for tip, item in zip(tips, coordinates, strict=True):
        limb_frames(limb, item, frame)
        tip[:3], tip[3:] = frame[-1, :3, 3], frame[-1, :3, 2]
    return tips


def _hits(tips: FloatArray, goals: FloatArray) -> float:
    """Share of tips within 0.1 mm and 0.1 degree of their goals."""
    way = np.linalg.norm(tips[:, :3] - goals[:, :3], axis=1)
    cross = np.linalg.norm(np.cross(tips[:, 3:], goals[:, 3:]), axis=1)
    angle = np.arctan2(cross, np.sum(tips[:, 3:] * goals[:, 3:], axis=1))
    return float(np.mean((way <= _WAY) & (angle <= _ANGLE)))


@numba.njit(error_model="numpy")
def _cold(model, goals, starts, data, status, found, cost_ns):  # type: ignore[no-untyped-def]
    at = np.zeros(4, np.int64)
    for m in range(goals.shape[0]):
        _clock(1, at[:2].ctypes)
        status[m] = reach_solve(model, goals[m], 1, 1e-9, starts, 0, data, found[m])
        _clock(1, at[2:].ctypes)
        cost_ns[m] = (at[2] - at[0]) * 1_000_000_000 + at[3] - at[1]


@numba.njit(error_model="numpy")
def _warm(model, goals, period, data, posture, commands, status, cost_ns):  # type: ignore[no-untyped-def]
    at = np.zeros(4, np.int64)
    for m in range(goals.shape[0]):
        _clock(1, at[:2].ctypes)
        status[m] = reach_step(model, goals[m], 1, period, data, posture)
        _clock(1, at[2:].ctypes)
        cost_ns[m] = (at[2] - at[0]) * 1_000_000_000 + at[3] - at[1]
        commands[m] = posture


def _measure_cold(
    model: ReachModel, goals: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Cost of each pose [µs], the solutions and their status."""
    count = model.limb.segment_length.size
    data = allocate_reach_data(model.limb, _STARTS)
    status = np.zeros(len(goals), np.int64)
    found = np.zeros((len(goals), count, 3))
    cost_ns = np.zeros((_ROUNDS, len(goals)), np.int64)
    _cold(model, goals[:10], _STARTS, data, status, found, cost_ns[0])
    for row in cost_ns:
        _cold(model, goals, _STARTS, data, status, found, row)
    return np.median(cost_ns, axis=0) / 1e3, found, status


def _paths() -> dict[str, FloatArray]:
    """(m, 3, 3) postures whose tips are the path, at 1 kHz."""
    seconds = np.arange(6000) * _PERIOD
    size = np.array([[0.6, 0.2, 0.01], [-0.5, 0.4, 0.01], [0.7, -0.3, 0.01]])
    through = size * np.sin(0.5 * np.pi * seconds)[:, None, None] + [0.0, 0.0, 0.01]
    turn = 0.25 * np.pi * seconds[:, None] + [0.0, 0.4, 0.9]
    bend = 0.9999 * 0.5 * np.pi
    along = np.stack(
        [bend * np.cos(turn), bend * np.sin(turn), np.full_like(turn, 0.049)], axis=-1
    )
    phase = np.arange(9.0).reshape(3, 3)
    rate = 0.3 + 0.05 * np.cos(3.0 * phase)
    size = np.array([1.0, 1.0, 0.03])
    inside = size * np.sin(rate * seconds[:, None, None] + phase)
    middle = np.array([0.0, 0.0, 0.01])
    return {
        "through θ = 0": through,
        "along the limits": along,
        "anywhere": inside + middle,
    }


def _measure_warm(model: ReachModel) -> tuple[FloatArray, list[str], bool]:
    """Cost of each step of every path [µs], what was seen, whether it is smooth."""
    data = allocate_reach_data(model.limb)
    costs, notes, smooth = [], [], True
    for name, path in _paths().items():
        goals = _tips(model.limb, path)
        cost_ns = np.zeros((_ROUNDS, len(goals)), np.int64)
        commands, status = np.empty_like(path), np.zeros(len(goals), np.int64)
        for row in cost_ns:
            _warm(model, goals, _PERIOD, data, path[0].copy(), commands, status, row)
        tips = _tips(model.limb, commands)
        step = np.linalg.norm(np.diff(tips[100:, :3], axis=0), axis=1).max()
        own = np.linalg.norm(np.diff(goals[:, :3], axis=0), axis=1).max()
        lag = np.linalg.norm(tips[:, :3] - goals[:, :3], axis=1).max()
        smooth &= bool(step <= 1.001 * own)
        notes.append(
            f"{name}: step {step / own:.4f} of the path's, lag {1e6 * lag:.0f} µm"
        )
        costs.append(np.median(cost_ns, axis=0) / 1e3)
    return np.concatenate(costs), notes, smooth


def _seed(model: ReachModel, goal: FloatArray) -> FloatArray:
    """Posture that our own cold solution starts from."""
    cosine, sine = goal[:2] / np.hypot(*goal[:2])
    turn = np.array([[cosine, -sine], [sine, cosine]])
    direction = np.append(goal[3:5] @ turn, goal[5])
    mirror = 1.0 if direction[1] >= 0.0 else -1.0
    direction[1] *= mirror
    want = np.array([np.hypot(*goal[:2]), goal[2]])
    gap = np.sum((model.seed_tip[:, :2] - want) ** 2, axis=1)
    gap += model.direction_length**2 * np.sum(
        (model.seed_tip[:, 2:] - direction) ** 2, axis=1
    )
    posture = model.seed_coordinates[np.argmin(gap)].copy()
    posture[:, 1] *= mirror
    posture[:, :2] = posture[:, :2] @ turn.T
    return posture


def _scipy(
    model: ReachModel, goals: FloatArray, method: str
) -> tuple[FloatArray, FloatArray]:
    """Cost of each pose [µs] and the solutions, lengths and bends in a box."""
    limb = model.limb
    data = allocate_reach_data(limb)
    count = limb.segment_length.size
    length = model.direction_length
    bound = np.repeat(limb.bend_limit[:, None], 2, axis=1)
    low = np.hstack([-bound, limb.extension_range[:, :1]]).ravel()
    high = np.hstack([bound, limb.extension_range[:, 1:]]).ravel()
    costs, found = [], []
    for goal in goals:
        last = np.full(3 * count, np.nan)

        def at(x: FloatArray, goal: FloatArray, last: FloatArray) -> None:
            if not np.array_equal(x, last):
                linearise(limb, goal, length, 0, x.reshape(count, 3), data)
                last[:] = x

        def residual(x: FloatArray, goal: FloatArray, last: FloatArray) -> FloatArray:
            at(x, goal, last)
            return data.residual[0].copy()

        def jacobian(x: FloatArray, goal: FloatArray, last: FloatArray) -> FloatArray:
            at(x, goal, last)
            return -data.jacobian[0]

        start = np.clip(_seed(model, goal).ravel(), low, high)
        begin = time.perf_counter_ns()
        result = least_squares(
            residual, start, jacobian, (low, high), method, args=(goal, last)
        )
        costs.append((time.perf_counter_ns() - begin) / 1e3)
        found.append(result.x.reshape(count, 3))
    return np.array(costs), np.array(found)


def _rigid_chain(limb: LimbModel) -> ikpy.chain.Chain:
    """Ten RRP sections, 3 + 4 + 3: 30 joints, and the gaps."""
    links, ahead = [ikpy.link.OriginLink()], limb.gap[0]

    def joint(name: str, kind: str, axis: list[float], low: float, high: float) -> None:
        nonlocal ahead
        moves = "translation" if kind == "prismatic" else "rotation"
        links.append(
            ikpy.link.URDFLink(
                name,
                origin_translation=[0.0, 0.0, ahead],
                origin_orientation=[0.0, 0.0, 0.0],
                joint_type=kind,
                bounds=(low, high),
                **{moves: axis},
            )
        )
        ahead = 0.0

    for k, sections in enumerate(_SECTIONS):
        bend = limb.bend_limit[k] / sections
        chord = (limb.segment_length[k] + limb.extension_range[k]) / sections
        for s in range(sections):
            # the shortest chord is that of the greatest bend
            low = chord[0] * np.sinc(0.5 * bend / np.pi)
            joint(f"{k}.{s} plane", "revolute", [0.0, 0.0, 1.0], -np.pi, np.pi)
            joint(f"{k}.{s} bend", "revolute", [0.0, 1.0, 0.0], -bend, bend)
            joint(f"{k}.{s} slide", "prismatic", [0.0, 0.0, 1.0], low, chord[1])
        ahead = limb.gap[k + 1]
    links.append(
        ikpy.link.URDFLink(
            "tip",
            origin_translation=[0.0, 0.0, ahead],
            origin_orientation=[0.0, 0.0, 0.0],
            joint_type="fixed",
        )
    )
    active = [link.joint_type != "fixed" for link in links]
    return ikpy.chain.Chain(links, active_links_mask=active)


def _ikpy(
    model: ReachModel, goals: FloatArray, console: Console
) -> tuple[FloatArray, FloatArray]:
    """Cost of each pose [µs] and where the tips are, begun at the same seed."""
    limb = model.limb
    chain = _rigid_chain(limb)
    costs, tips = [], []
    for goal in goals:
        posture = _seed(model, goal)
        joints = [0.0]
        for k, sections in enumerate(_SECTIONS):
            part = np.empty((sections, 3))
            length = limb.segment_length[k] + posture[k, 2]
            chain_joints(posture[k, 0], posture[k, 1], length, sections, part)
            joints.extend(part.ravel())
        joints.append(0.0)
        begin = time.perf_counter_ns()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a start on a bound is moved inside
            result = chain.inverse_kinematics(
                goal[:3], goal[3:], orientation_mode="Z", initial_position=joints
            )
        costs.append((time.perf_counter_ns() - begin) / 1e3)
        pose = chain.forward_kinematics(result)
        tips.append(np.concatenate([pose[:3, 3], pose[:3, 2]]))
    console.print(f"kinematics: ikpy {1e-6 * sum(costs):.1f} s for {len(goals)} poses")
    return np.array(costs), np.array(tips)


def _batch_cost(solve: Callable[[], object]) -> float:
    """Median cost of one solution in a compiled batch [µs]."""
    costs = []
    for _ in range(_BATCHES):
        begin = time.perf_counter_ns()
        solve()
        costs.append((time.perf_counter_ns() - begin) / _BATCH / 1e3)
    return float(np.median(costs))


def _opposing() -> list[Record]:
    """Liu's and Gong's arms, chambers as assumed in tests/unit/models/test_opposing."""
    beta = np.radians([90.0, 210.0, 330.0])
    segment = build_chamber_model(beta, 0.024, 0.31 / 3.0, 0.18)
    liu = PairBendModel(segment, segment)
    gong = PairElongationModel(
        build_chamber_model(beta, 0.017, 0.1, 0.175), 0.08, 0.07, 0.13
    )
    generator = np.random.default_rng(1)
    number = 20 * _BATCH
    low, high = [-0.15, -0.15, 0.3, 0.0, -np.pi], [0.15, 0.15, 0.45, 1.0, np.pi]
    target = generator.uniform(low, high, (number, 5))
    out, lengths = np.empty((number, 3, 3)), np.empty((number, 6))
    status, steps = np.empty(number, np.int64), np.empty(number, np.int64)
    pair_bend_batch(liu, target, out, lengths, status)
    target = target[status == 0][:_BATCH]
    first = slice(0, _BATCH)
    arrays = out[first], lengths[first], status[first]
    liu_cost = _batch_cost(lambda: pair_bend_batch(liu, target, *arrays))
    liu_met = int(np.sum(status[first] == 0))
    point = generator.uniform([-0.12, -0.12, 0.25], [0.12, 0.12, 0.45], (number, 3))
    lengths = np.empty((number, 4))
    pair_elongation_batch(gong, point, out, lengths, status, steps)
    point = point[status == 0][:_BATCH]
    arrays = out[first], lengths[first], status[first]
    gong_cost = _batch_cost(
        lambda: pair_elongation_batch(gong, point, *arrays, steps[first])
    )
    gong_met = int(np.sum(status[first] == 0))
    return [
        record(
            "inverse of Liu's arm, median", liu_cost, "µs", 0.5,
            f"closed form, batch of {_BATCH}, {liu_met} met; the paper: 11 µs",
        ),
        record(
            "inverse of Gong's arm, median", gong_cost, "µs", 1.0,
            f"Newton, at most {steps[first].max()} steps, {gong_met} of {_BATCH} met; "
            "the paper: 8.2 ms",
        ),
    ]  # fmt: skip


def bench_kinematics(console: Console) -> list[Record]:
    """Inverse kinematics of a three-segment arm, and of Liu's and Gong's arms."""
    limb = _arm()
    model = build_reach_model(limb)
    goals = _tips(limb, _postures(limb, _POSES))
    console.print("kinematics: cold and warm solutions")
    costs, found, status = _measure_cold(model, goals)
    share = 100.0 * _hits(_tips(limb, found), goals)
    met = int(np.sum(status == REACH_SOLVED))
    warm, paths, smooth = _measure_warm(model)
    console.print("kinematics: scipy and ikpy on the same poses")
    scipy_costs, scipy_found = _scipy(model, goals[:_SCIPY_POSES], "dogbox")
    scipy_share = 100.0 * _hits(_tips(limb, scipy_found), goals[:_SCIPY_POSES])
    slow_costs, _ = _scipy(model, goals[:_SLOW_POSES], "trf")
    ikpy_costs, ikpy_tips = _ikpy(model, goals[:_IKPY_POSES], console)
    ikpy_share = 100.0 * _hits(ikpy_tips, goals[:_IKPY_POSES])
    median, p99 = np.median(costs), np.percentile(costs, 99)
    ours = float(np.median(costs[:_SCIPY_POSES]))
    theirs = float(np.median(scipy_costs))
    few = float(np.median(costs[:_IKPY_POSES]))
    rigid = float(np.median(ikpy_costs))
    return [
        record(
            "generic inverse, poses missed", 100.0 - share, "%", 0.1,
            f"{_POSES} poses, position and direction; {met} to 1e-9 m, the others to "
            "0.1 mm and 0.1 degree or not at all",
        ),
        record(
            "generic inverse, cold, median", float(median), "µs", 100.0,
            "3 segments, timed inside the compiled loop",
        ),
        record(
            "generic inverse, cold, p99", float(p99), "µs", 500.0,
            f"greatest {costs.max():.0f} µs",
        ),
        record(
            "generic inverse, warm step, p99", float(np.percentile(warm, 99)), "µs",
            10.0 if smooth else 0.0,
            f"{warm.size} steps at 1 kHz, median {np.median(warm):.2f} µs; "
            + "; ".join(paths),
        ),
        record(
            "generic inverse against scipy", ours, "µs", 0.02,
            f"least_squares, dogbox: {theirs:.0f} µs, {theirs / ours:.0f} times ours, "
            f"{scipy_share:.1f} % of {_SCIPY_POSES} poses met, same residual, Jacobian "
            f"and start; its default, trf: {np.median(slow_costs):.0f} µs",
            "scipy", ours / theirs,
        ),
        record(
            "generic inverse against a rigid chain", few, "µs", 0.02,
            f"ikpy, 30 joints: {rigid:.0f} µs, {rigid / few:.0f} times ours, "
            f"{ikpy_share:.0f} % of {_IKPY_POSES} poses met, same start",
            "ikpy", few / rigid,
        ),
        *_opposing(),
    ]  # fmt: skip
