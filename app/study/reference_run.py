"""Reference runs: a tree's equations of motion, integrated to a tolerance.

What the 1 kHz step (models/tree_step) approximates in a fixed time a step, this does
as exactly as one asks. Of scipy's methods:

- "LSODA" (default), implicit and of order up to 5: for soft rods with viscosity, whose
  fastest modes decay within 10 µs;
- "Radau", implicit and of order 5, where that fails;
- "DOP853", explicit and of order 8: for rods without viscosity, of which all modes
  swing on: a tenth of the evaluations there.

Forces of actuators, contacts and others are added by a callable, the one that a step
of the semi-implicit scheme calls too (`stepped_run`).
"""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from app.errors import ModelError
from models.numerics import FloatArray
from models.tree import TreeData, TreeModel, TreeWork, allocate_tree_work
from models.tree_motion import tree_motion
from models.tree_rate import (
    begin_rate,
    finish_rate,
    rate_jacobian,
    read_state,
    state_size,
    tree_rate,
    tree_state,
    tree_steps,
)
from models.tree_step import TREE_OK, add_elastic, finish_step

__all__ = ["Forces", "Method", "Run", "point_path", "reference_run", "stepped_run"]

Forces = Callable[[float, TreeModel, float, TreeData, TreeWork], None]
"""Time [s], model, period [s], data, work: adds to work.load, and to work.matrix where
the period is not 0. Called behind `tree_motion` and `add_elastic`."""

Method = Literal["LSODA", "Radau", "BDF", "DOP853"]


_EDGE = 1e-12


class Run(NamedTuple):
    """A motion at T times."""

    time: FloatArray
    """(T,) [s]."""
    root_pose: FloatArray
    """(T, 4, 4) root to world [m]."""
    position: FloatArray
    """(T, N) coordinates."""
    velocity: FloatArray
    """(T, N) their rates."""
    evaluations: int
    """Of the equations of motion, or steps."""
    wall: float
    """Time that it took [s]."""


def reference_run(
    model: TreeModel,
    data: TreeData,
    times: FloatArray,
    *,
    forces: Forces | None = None,
    breaks: Sequence[float] = (),
    tolerance: float = 1e-7,
    method: Method = "LSODA",
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Integrate a tree from its present state, with error control.

    Args:
        model: the tree.
        data: the state at times[0]; left at that of times[-1]. Its applied forces and
            wrenches act throughout.
        times: (T,) rising times at which the motion is wanted [s].
        forces: adds further forces, here always with period 0.
        breaks: times at which a force jumps: no step crosses them [s].
        tolerance: relative error of a step; the absolute one is a hundredth of it.
        method: of scipy's solve_ivp.
        progress: called with the time reached [s], about a hundred times.

    Returns:
        The motion.

    Raises:
        ModelError: the integration cannot go on.
    """
    from scipy.integrate import solve_ivp

    times = np.asarray(times, dtype=float)
    work = allocate_tree_work(model)
    size = state_size(model)
    rate = np.zeros(size)
    scratch = np.zeros((3, size))
    matrix = np.zeros((size, size))
    count = 0
    told = times[0]
    interval = 0.01 * (times[-1] - times[0])

    def rates(now: float, state: FloatArray) -> FloatArray:
        nonlocal count, told
        count += 1
        if forces is None:
            failed = tree_rate(model, state, data, work, rate)
        else:
            begin_rate(model, state, data, work)
            # at an end, the force on this side of a jump
            inside = _EDGE * (stop - start)
            now = min(max(now, start + inside), stop - inside)
            forces(now, model, 0.0, data, work)
            failed = finish_rate(model, state, data, work, rate)
        if failed >= 0:
            rate[:] = np.nan
        if progress is not None and now >= told + interval:
            told = now
            progress(now)
        return rate.copy()

    def jacobian(_now: float, state: FloatArray) -> FloatArray:
        nonlocal count
        count += size + 1
        rate_jacobian(model, state, data, work, scratch, matrix)
        return matrix.copy()

    own = jacobian if forces is None and method != "DOP853" else None
    inner = sorted(b for b in breaks if times[0] < b < times[-1])
    bounds = [float(times[0]), *inner, float(times[-1])]
    state = tree_state(model, data)
    if not np.isfinite(state).all():
        raise ModelError("The state that a reference run begins with is not finite.")
    kept = [state[:, None]]
    begin = time.perf_counter()
    for start, stop in itertools.pairwise(bounds):
        inside = times[(times > start) & (times <= stop)]
        wanted = inside if inside.size and inside[-1] == stop else [*inside, stop]
        done = solve_ivp(
            rates,
            (start, stop),
            state,
            method=method,
            t_eval=wanted,
            rtol=tolerance,
            atol=0.01 * tolerance,
            **({} if own is None else {"jac": own}),
        )
        if not done.success or not np.isfinite(done.y).all():
            reached = done.t[-1] if len(done.t) else start
            raise ModelError(
                f"The reference run ends at {reached:.6g} s of {times[-1]:.6g} s: "
                f"{done.message} A load that jumps belongs into `breaks`; a motion "
                f"that diverges shows in a semi-implicit run."
            )
        state = done.y[:, -1]
        kept.append(done.y[:, : inside.size])
    wall = time.perf_counter() - begin
    poses = np.tile(np.eye(4), (times.size, 1, 1))
    position = np.zeros((times.size, data.position.size))
    velocity = np.zeros_like(position)
    for k, column in enumerate(np.hstack(kept).T):
        read_state(model, np.ascontiguousarray(column), data)
        poses[k], position[k], velocity[k] = (
            data.root_pose,
            data.position,
            data.velocity,
        )
    return Run(times, poses, position, velocity, count, wall)


def stepped_run(
    model: TreeModel,
    data: TreeData,
    times: FloatArray,
    period: float,
    *,
    forces: Forces | None = None,
) -> Run:
    """The same motion by the semi-implicit step of the station and the robot.

    Args:
        model: the tree.
        data: the state at times[0]; left at the last one.
        times: (T,) at which the motion is wanted, each a whole number of periods after
            the first [s].
        period: time step [s].
        forces: adds further forces, with this period.

    Returns:
        The motion.

    Raises:
        ModelError: the tree froze.
    """
    work = allocate_tree_work(model)
    count = 0
    poses, positions, velocities = [], [], []
    begin = time.perf_counter()
    for wanted in np.round((np.asarray(times) - times[0]) / period).astype(int):
        if forces is None:
            status = tree_steps(model, period, int(wanted) - count, data, work)
            count = int(wanted)
        else:
            status = TREE_OK
            while count < wanted and status == TREE_OK:
                count += 1
                tree_motion(model, period, data, work)
                add_elastic(model, period, data, work)
                # the load is that at the end of the step, as all that is implicit
                forces(times[0] + count * period, model, period, data, work)
                status = finish_step(model, period, data, work)
        if status != TREE_OK:
            raise ModelError(
                f"The tree froze in element {data.status[1]} before {times[0]} s + "
                f"{count} steps of {period:g} s (status {status}): take shorter steps."
            )
        poses.append(data.root_pose.copy())
        positions.append(data.position.copy())
        velocities.append(data.velocity.copy())
    wall = time.perf_counter() - begin
    return Run(
        np.asarray(times, dtype=float),
        np.array(poses),
        np.array(positions),
        np.array(velocities),
        count,
        wall,
    )


def point_path(model: TreeModel, data: TreeData, run: Run, point: int) -> FloatArray:
    """Where one point of a tree goes.

    Args:
        model: the tree.
        data: overwritten.
        run: a motion of it.
        point: index of the point.

    Returns:
        (T, 3) in the world [m].
    """
    work = allocate_tree_work(model)
    path = np.zeros((run.time.size, 3))
    for k in range(run.time.size):
        data.position[:] = run.position[k]
        data.velocity[:] = run.velocity[k]
        tree_motion(model, 0.0, data, work)
        pose = run.root_pose[k]
        path[k] = pose[:3, :3] @ work.point_position[point] + pose[:3, 3]
    return path
