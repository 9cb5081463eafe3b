"""Stepping a simulated robot: one state, one period at a time, and its samples.

A step is that of models/tree_step with the case's loads between motion and solution. A
base that is moved along a path is held in the system of equations, with its known
acceleration on the right-hand side; the force and moment that hold or move a base are
what is left over in its rows.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from app.config.case import CaseParameters
from app.config.case_loads import Stroke
from app.config.robot_parameters import RobotParameters
from app.config.tree import LimbPlan, PiecePlan, TreePlan
from app.errors import ConfigError
from app.study.simulation_drives import MantleLoad, make_drives
from app.study.simulation_loads import PlainLoad, make_loads, strain_nodes
from app.study.simulation_reference import break_times, reference_states
from app.study.simulation_world import make_world
from models.numerics import FloatArray
from models.tree import TreeModel, allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor
from models.tree_step import (
    TREE_DIVERGED,
    TREE_NOT_FINITE,
    TREE_OK,
    TREE_SINGULAR,
    add_elastic,
    finish_step,
    hold_root,
    tree_energy,
    tree_step,
)

__all__ = ["Fault", "Sample", "Simulator"]

_SHORT = 1e-6  # for the acceleration of a stroked base [s]
_CAUSES = {
    TREE_NOT_FINITE: "a force or the state is not a finite number",
    TREE_SINGULAR: "its mass matrix is not positive definite",
    TREE_DIVERGED: "it moves faster than anything of such a robot can",
}


class Fault(NamedTuple):
    """Why a simulation had to stop."""

    time_s: float
    body: str
    cause: str


class Sample(NamedTuple):
    """What is kept of one moment, SI units, world frame where none is named."""

    time_s: float
    root_pose: FloatArray
    """(4, 4) root in the world [m]."""
    root_twist: FloatArray
    """(6,) of the root, angular first, in its own frame [rad/s, m/s]."""
    position: FloatArray
    """(N,) coordinates."""
    velocity: FloatArray
    """(N,) their rates."""
    tips: FloatArray
    """(L, 3) tip of each limb [m]."""
    energy: FloatArray
    """(3,) kinetic, elastic, potential [J]."""
    loads: FloatArray
    """(C,) what drives the robot, by channel."""
    base_wrench: FloatArray
    """(6,) moment and force of the robot on what holds or moves its base, root frame,
    about the root's origin, or the base of the one limb that is simulated [N m, N];
    zero where the root is free."""
    objects: FloatArray
    """(B, 4, 4) free objects in the world [m]."""
    mantle: FloatArray
    """(K, 2) radius and altitude of the mantle's nodes [m]; none without a mantle."""


class Simulator:
    """A robot under a case, at one moment."""

    def __init__(
        self,
        robot: RobotParameters,
        plan: TreePlan,
        case: CaseParameters,
        period_s: float,
    ) -> None:
        """Set the state that a case begins with.

        Raises:
            ConfigError: the strain basis cannot take the posture, or a load does not
                fit the robot.
        """
        self.plan, self.case = plan, case
        self.loads: list[PlainLoad] = [
            *make_loads(plan, case),
            *make_drives(robot, plan, case),
        ]
        mantles = [load for load in self.loads if isinstance(load, MantleLoad)]
        self._mantle = mantles[0] if mantles else None
        self.channels = [channel for load in self.loads for channel in load.channels]
        self.fault: Fault | None = None
        self.time_s = 0.0
        self._model, self._period = plan.model, period_s
        self._world = make_world(plan, case)
        self._data = allocate_tree_data(plan.model)
        self._work = allocate_tree_work(plan.model)
        self._reaction = np.zeros(6)
        self._energy = np.zeros(3)
        self._steps = 0
        self._begin()

    def run(self, seconds: float, every_s: float) -> Iterator[Sample]:
        """Advance to a time, and give a sample at the start and after each interval.

        Ends early, with `fault` set, where the state is lost.
        """
        stride = max(round(every_s / self._period), 1)
        yield self.sample()
        for count in range(1, math.ceil(seconds / self._period - 1e-9) + 1):
            if not self._step():
                return
            if count % stride == 0:
                yield self.sample()

    def run_reference(self, seconds: float, every_s: float) -> Iterator[Sample]:
        """The same by error-controlled integration of the equations of motion.

        Raises:
            ConfigError: the case has a part whose steps are its own.
            ModelError: the integration cannot go on.
        """
        if self._mantle is not None or self._world is not None:
            raise ConfigError(
                "--reference integrates rods, bodies and loads; a mantle and contacts "
                "have steps of their own: take small --step-us instead."
            )
        data = self._data
        times = np.append(np.arange(0.0, seconds - 1e-9 * every_s, every_s), seconds)
        yield self.sample()
        for time_s, pose, position, velocity in reference_states(
            self._accelerations,
            data.root_pose.copy(),
            data.position.copy(),
            data.velocity.copy(),
            times,
            break_times(self.case, seconds),
            self.case.integrator.reference_tolerance,
        ):
            self._accelerations(time_s, pose, position, velocity)
            self.time_s = time_s
            yield self.sample()

    def _accelerations(
        self, now: float, pose: FloatArray, position: FloatArray, velocity: FloatArray
    ) -> FloatArray:
        """(N,) accelerations at a state, by the plain equations of motion."""
        model, data, work = self._model, self._data, self._work
        data.root_pose[:] = pose
        data.position[:] = position
        data.position[:6] = 0.0
        data.velocity[:] = velocity
        held = self.case.base.motion == "fixed"
        push = np.zeros(6)
        if held:
            data.velocity[:6] = 0.0
            if self.case.stroke is not None:
                before, after = (
                    _stroke_speed(self.case.stroke, now + side * _SHORT)
                    for side in (-1.0, 1.0)
                )
                self._move_base(self.case.stroke, (after - before) / (2.0 * _SHORT))
                push = data.velocity[:6].copy()
                self._move_base(self.case.stroke, 0.5 * (before + after))
        data.applied[:] = 0.0
        data.wrench[:] = 0.0
        for load in self.loads:
            load.set_inputs(now, data)
        tree_motion(model, 0.0, data, work)
        add_elastic(model, 0.0, data, work)
        for load in self.loads:
            load.add(0.0, data, work)
        columns = work.matrix[6:, :6].copy()
        own = np.tril(work.matrix[:6, :6])
        own = own + np.tril(own, -1).T
        left = work.load[:6].copy()
        work.load[6:] -= columns @ push
        hold_root(model, work)
        if tree_factor(model, work) >= 0:
            return np.full(velocity.size, np.nan)
        out: FloatArray = work.load.copy()
        solve_tree(model, work, out)
        if held:
            out[:6] = push
            self._reaction = left - own @ push - columns.T @ out[6:]
        return out

    def sample(self) -> Sample:
        """Describe the present state."""
        data, work = self._data, self._work
        tree_energy(self._model, data, work, self._energy)
        if self._mantle is not None:
            surge = self._mantle.surge(data.velocity)
            self._energy[:2] += self._mantle.energy(surge)
        pose = data.root_pose
        last = self._model.element_step_start[1:] - 1
        tips = np.array(
            [work.point_position[last[limb.tip]] for limb in self.plan.limbs]
        ).reshape(-1, 3)
        return Sample(
            time_s=self.time_s,
            root_pose=pose.copy(),
            root_twist=data.velocity[:6].copy(),
            position=data.position.copy(),
            velocity=data.velocity.copy(),
            tips=tips @ pose[:3, :3].T + pose[:3, 3],
            energy=self._energy.copy(),
            loads=np.array([value for load in self.loads for value in load.values()]),
            base_wrench=self._base_wrench(),
            objects=(
                np.zeros((0, 4, 4)) if self._world is None else self._world.poses.copy()
            ),
            mantle=(
                np.zeros((0, 2))
                if self._mantle is None
                else self._mantle.data.position[:, :2].copy()
            ),
        )

    def _base_wrench(self) -> FloatArray:
        """The reaction about where the base is."""
        wrench = self._reaction.copy()
        if self.case.base.limb is not None:
            lever = self.plan.limbs[0].base[:3, 3]
            wrench[:3] -= np.cross(lever, wrench[3:])
        return wrench

    def _begin(self) -> None:
        base, data = self.case.base, self._data
        data.root_pose[:3, :3] = _rotation(np.radians(base.roll_pitch_yaw_deg))
        data.root_pose[:3, 3] = 1e-3 * np.asarray(base.position_mm)
        if base.motion != "fixed":
            data.velocity[:3] = np.radians(base.turn_deg_s)
            data.velocity[3:6] = 1e-3 * np.asarray(base.velocity_mm_s)
            data.velocity[:6] *= self._model.root_free
        for limb in self.plan.limbs:
            for piece in limb.pieces:
                _set_strains(self._model, limb, piece, data.position)
        for load in self.loads:
            load.set_inputs(0.0, data)
        if self.case.stroke is not None:
            self._move_base(self.case.stroke, _stroke_speed(self.case.stroke, 0.0))

    def _step(self) -> bool:
        """Advance by one period; False where the state is lost."""
        model, data, work, period = self._model, self._data, self._work, self._period
        self._steps += 1
        now = self._steps * period
        if not self.loads and self._world is None and self.case.base.motion != "fixed":
            status = tree_step(model, period, data, work)
        else:
            data.applied[:] = 0.0
            data.wrench[:] = 0.0
            for load in self.loads:
                load.set_inputs(now, data)
            tree_motion(model, period, data, work)
            add_elastic(model, period, data, work)
            for load in self.loads:
                load.add(period, data, work)
            status = self._solve(now)
        if status != TREE_OK:
            element = int(data.status[1])
            name = self.plan.names[element] if element >= 0 else "root"
            self.fault = Fault(now, name, _CAUSES.get(status, f"status {status}"))
            return False
        for load in self.loads:
            words = load.finish(period, work)
            if words:
                self.fault = Fault(now, words.split(":")[0], words)
                return False
        self.time_s = now
        return True

    def _solve(self, now: float) -> int:
        """Solve and advance, with the base held or moved as the case says."""
        data, work, period = self._data, self._work, self._period
        if self.case.base.motion != "fixed":
            return self._finish()
        before = data.velocity[:6].copy()
        stroke = self.case.stroke
        if stroke is not None:  # the mean over the step: the base stays on its path
            way = _stroke_way(stroke, now) - _stroke_way(stroke, now - period)
            self._move_base(stroke, way / period)
        push = (data.velocity[:6] - before) / period
        columns = work.matrix[6:, :6].copy()
        own = np.tril(work.matrix[:6, :6])
        own = own + np.tril(own, -1).T
        load = work.load[:6].copy()
        work.load[6:] -= columns @ push
        status = self._finish()
        rates = work.change[6:] / period
        self._reaction = load - own @ push - columns.T @ rates
        if self._world is not None:
            self._reaction += self._world.root_wrench(period)
        return status

    def _finish(self) -> int:
        """Solve and advance, with contacts where there is something to touch."""
        if self._world is None:
            return int(finish_step(self._model, self._period, self._data, self._work))
        return self._world.finish(self._model, self._period, self._data, self._work)

    def _move_base(self, stroke: Stroke, speed: float) -> None:
        """Set the velocity of a base that is stroked."""
        axis = np.asarray(stroke.direction) / np.linalg.norm(stroke.direction)
        self._data.velocity[:6] = 0.0
        self._data.velocity[3:6] = self._data.root_pose[:3, :3].T @ (speed * axis)


def _ramp(stroke: Stroke, time_s: float) -> tuple[float, float]:
    """How much of a stroke is taken up, 0 to 1, and the rate of that [1/s]."""
    if time_s >= stroke.ramp_s:
        return 1.0, 0.0
    part = time_s / stroke.ramp_s
    return part * part * (3.0 - 2.0 * part), 6.0 * part * (1.0 - part) / stroke.ramp_s


def _stroke_way(stroke: Stroke, time_s: float) -> float:
    """Place of a base on its stroke: r(t) a sin(2π f t), r the ramp [m]."""
    share, _ = _ramp(stroke, time_s)
    turn = 2.0 * math.pi * stroke.frequency_hz * time_s
    return 0.5e-3 * stroke.stroke_mm * share * math.sin(turn)


def _stroke_speed(stroke: Stroke, time_s: float) -> float:
    """Speed of a base along its stroke [m/s]."""
    share, slope = _ramp(stroke, time_s)
    omega = 2.0 * math.pi * stroke.frequency_hz
    sine, cosine = math.sin(omega * time_s), math.cos(omega * time_s)
    return 0.5e-3 * stroke.stroke_mm * (share * omega * cosine + slope * sine)


def _rotation(angles: FloatArray) -> FloatArray:
    """Rotation of roll, pitch, yaw about x, then y, then z of the world."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _set_strains(
    model: TreeModel, limb: LimbPlan, piece: PiecePlan, position_out: FloatArray
) -> None:
    """Set one piece's coordinates to the strains of a limb's posture.

    The nearest in the mean square over the piece; exact where a segment ends with it.
    """
    lengths = 1e-3 * np.asarray(limb.limb.segment_length_mm)
    ends = np.cumsum(lengths)
    wanted = np.zeros((lengths.size, 6))
    wanted[:, 0] = -limb.posture[:, 1] / lengths
    wanted[:, 1] = limb.posture[:, 0] / lengths
    wanted[:, 5] = limb.posture[:, 2] / lengths
    first, stop = model.element_dof_start[piece.element : piece.element + 2]
    nodes = strain_nodes(model, piece.element)
    rows = []
    for _, _, at, _ in nodes:
        rows.append(min(int(np.searchsorted(ends, piece.start + at)), len(ends) - 1))
    target = wanted[rows]
    scale = np.sqrt([weight for *_, weight in nodes])
    component = model.dof_component[first:stop]
    for k in range(6):
        own = np.flatnonzero(component == k)
        if own.size == 0:
            if np.abs(target[:, k]).max(initial=0.0) > 1e-9:
                name = ("k_x", "k_y", "k_z", "q_x", "q_y", "q_z")[k]
                raise ConfigError(
                    f"The posture of limb {limb.limb.name!r} needs the strain {name}, "
                    f"which strain.order leaves out. Add {name} = 0 or more, or start "
                    'with posture = "straight".'
                )
            continue
        basis = np.array([model.step_basis[s, side, own] for s, side, *_ in nodes])
        solution = np.linalg.lstsq(
            basis * scale[:, None], target[:, k] * scale, rcond=None
        )[0]
        position_out[first + own] = solution
