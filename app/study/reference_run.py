"""Reference runs: a tree's equations of motion, integrated to a tolerance.

What the 1 kHz step (models/tree_step) approximates in a fixed time a step, this does
as exactly as one asks. Of scipy's methods:

- "LSODA" (default), implicit and of order up to 5: for soft rods with viscosity, whose
  fastest modes decay within 10 µs;
- "Radau", implicit and of order 5, where that fails;
- "DOP853", explicit and of order 8: for rods without viscosity, of which all modes
  swing on: a tenth of the evaluations there.

Forces of actuators, contacts and others are added by a callable, the one that a step
of the semi-implicit scheme calls too (`stepped_run`); what depends on time alone, and
the motion of a root that is held, is set by another.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
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

__all__ = [
    "Forces",
    "Inputs",
    "Method",
    "Run",
    "point_path",
    "reference_run",
    "reference_states",
    "stepped_run",
]

Forces = Callable[[float, TreeModel, float, TreeData, TreeWork], None]
"""Time [s], model, period [s], data, work: adds to work.load, and to work.matrix where
the period is not 0. Called behind `tree_motion` and `add_elastic`."""

Inputs = Callable[[float, TreeData], None]
"""Time [s], data: sets applied forces, wrenches and the root's acceleration. Called
before `tree_motion`."""

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


class _Equations:
    """The equations of motion of a tree as an integrator wants them."""

    def __init__(
        self,
        model: TreeModel,
        data: TreeData,
        inputs: Inputs | None,
        forces: Forces | None,
    ) -> None:
        self.count = 0
        self.span = (-np.inf, np.inf)
        self._model, self._data = model, data
        self._inputs, self._forces = inputs, forces
        size = state_size(model)
        self._work = allocate_tree_work(model)
        self._rate = np.zeros(size)
        self._scratch = np.zeros((3, size))
        self._matrix = np.zeros((size, size))

    @property
    def are_own(self) -> bool:
        """Whether nothing but the tree's own forces acts."""
        return self._inputs is None and self._forces is None

    def rates(self, now: float, state: FloatArray) -> FloatArray:
        """Rate of change of a state (S,); not a number where there is none."""
        model, data, work, rate = self._model, self._data, self._work, self._rate
        self.count += 1
        # at an end, what acts on this side of a jump
        now = min(max(now, self.span[0]), self.span[1])
        if self._inputs is not None:
            self._inputs(now, data)
        if self._forces is None:
            failed = tree_rate(model, state, data, work, rate)
        else:
            begin_rate(model, state, data, work)
            self._forces(now, model, 0.0, data, work)
            failed = finish_rate(model, state, data, work, rate)
        if failed >= 0:
            rate[:] = np.nan
        return rate.copy()

    def jacobian(self, _now: float, state: FloatArray) -> FloatArray:
        """Derivative (S, S) of the rates by the state."""
        self.count += state.size + 1
        rate_jacobian(
            self._model, state, self._data, self._work, self._scratch, self._matrix
        )
        return self._matrix.copy()


def reference_states(
    model: TreeModel,
    data: TreeData,
    times: FloatArray,
    *,
    inputs: Inputs | None = None,
    forces: Forces | None = None,
    breaks: Sequence[float] = (),
    tolerance: float = 1e-7,
    method: Method = "LSODA",
) -> Iterator[float]:
    """Integrate a tree from its present state, with error control, time by time.

    Args:
        model: the tree.
        data: the state at times[0]; set to that of each time when it is given. Its
            applied forces, wrenches and root acceleration act throughout where
            `inputs` sets no others.
        times: (T,) rising times at which the motion is wanted [s].
        inputs: sets what depends on time alone.
        forces: adds further forces, here always with period 0.
        breaks: times at which a force jumps: no step crosses them [s].
        tolerance: relative error of a step; the absolute one is a hundredth of it.
        method: of scipy's `integrate`.

    Yields:
        times[1:], with `data` at the state there.

    Raises:
        ModelError: the integration cannot go on.
    """
    equations = _Equations(model, data, inputs, forces)
    yield from _states(equations, model, data, times, breaks, tolerance, method)


def _states(
    equations: _Equations,
    model: TreeModel,
    data: TreeData,
    times: FloatArray,
    breaks: Sequence[float],
    tolerance: float,
    method: Method,
) -> Iterator[float]:
    from scipy import integrate

    times = np.asarray(times, dtype=float)
    options: dict[str, object] = {"rtol": tolerance, "atol": 0.01 * tolerance}
    if equations.are_own and method != "DOP853":
        options["jac"] = equations.jacobian
    inner = sorted(b for b in breaks if times[0] < b < times[-1])
    bounds = [float(times[0]), *inner, float(times[-1])]
    state = tree_state(model, data)
    if not np.isfinite(state).all():
        raise ModelError("The state that a reference run begins with is not finite.")
    for start, stop in itertools.pairwise(bounds):
        edge = _EDGE * (stop - start)
        equations.span = (start + edge, stop - edge)
        solver = getattr(integrate, method)(
            equations.rates, start, state, stop, **options
        )
        wanted = times[(times > start) & (times <= stop)].tolist()
        while solver.status == "running":
            message = solver.step()
            state = solver.y
            if solver.status == "failed" or not np.isfinite(state).all():
                raise ModelError(
                    f"The reference run ends at {solver.t:.6g} s of {times[-1]:.6g} "
                    f"s: {message or 'the state is not finite.'} A load that jumps "
                    "belongs into `breaks`; a motion that diverges shows in a "
                    "semi-implicit run."
                )
            path = solver.dense_output() if wanted and wanted[0] <= solver.t else None
            while wanted and wanted[0] <= solver.t:
                at = wanted.pop(0)
                here = state if at == solver.t or path is None else path(at)
                read_state(model, np.ascontiguousarray(here), data)
                yield at


def reference_run(
    model: TreeModel,
    data: TreeData,
    times: FloatArray,
    *,
    inputs: Inputs | None = None,
    forces: Forces | None = None,
    breaks: Sequence[float] = (),
    tolerance: float = 1e-7,
    method: Method = "LSODA",
) -> Run:
    """Integrate a tree from its present state, with error control.

    Args:
        model: the tree.
        data: the state at times[0]; left at that of times[-1].
        times: (T,) rising times at which the motion is wanted [s].
        inputs: as in `reference_states`, and so are the others.
        forces: adds further forces.
        breaks: times at which a force jumps [s].
        tolerance: relative error of a step.
        method: of scipy's `integrate`.

    Returns:
        The motion.

    Raises:
        ModelError: the integration cannot go on.
    """
    equations = _Equations(model, data, inputs, forces)
    begin = time.perf_counter()
    poses, positions, velocities = [], [], []
    states = _states(equations, model, data, times, breaks, tolerance, method)
    for _ in itertools.chain(times[:1], states):
        poses.append(data.root_pose.copy())
        positions.append(data.position.copy())
        velocities.append(data.velocity.copy())
    return Run(
        np.asarray(times, dtype=float),
        np.array(poses),
        np.array(positions),
        np.array(velocities),
        equations.count,
        time.perf_counter() - begin,
    )


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
