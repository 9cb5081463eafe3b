"""Stepping a simulated robot: one state, one period at a time, and its samples.

A step is that of models/tree_step with the case's loads between motion and solution. A
base that is carried is held in the system of equations, its acceleration known; the
force and moment that hold or carry a base are what is left over in its rows. A
reference run takes the same loads at period 0 (app/study/reference_run).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from app.config.case import CaseParameters
from app.config.robot_parameters import RobotParameters
from app.config.tree import LimbPlan, PiecePlan, TreePlan
from app.errors import ConfigError
from app.study.reference_run import reference_states
from app.study.simulation_base import CarriedBase, base_rotation
from app.study.simulation_drives import make_drives
from app.study.simulation_linear import LinearStep, linear_step
from app.study.simulation_loads import (
    PlainLoad,
    break_times,
    make_loads,
    strain_nodes,
)
from app.study.simulation_mantle import MantleLoad
from app.study.simulation_world import make_world
from models.numerics import FloatArray
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
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
        self._world = make_world(plan, case, case.water.density(robot))
        self._carried: CarriedBase | None = None
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
        own = sorted({load.own_steps for load in self.loads if load.own_steps})
        if self.plan.legs:
            own.append("the motors of legs")
        if self._world is not None and self._world.own_steps:
            own.append(self._world.own_steps)
        if own:
            raise ConfigError(
                f"--reference integrates rods, bodies and loads; {' and '.join(own)} "
                "of this case have steps of their own: take small --step-us instead."
            )
        times = np.append(np.arange(0.0, seconds - 1e-9 * every_s, every_s), seconds)
        decays = bool(self.loads or self._world or self._model.element_damping.any())
        self._measure(0.0)
        yield self.sample()
        for time_s in reference_states(
            self._model,
            self._data,
            times,
            inputs=self._set_inputs,
            forces=self._add_loads,
            breaks=break_times(self.case, seconds),
            tolerance=self.case.integrator.reference_tolerance,
            method="LSODA" if decays else "DOP853",
        ):
            self.time_s = time_s
            self._measure(time_s)
            yield self.sample()

    def _set_inputs(self, now: float, data: TreeData) -> None:
        """Set what depends on time alone."""
        self._set_loads(now, data)
        if self._carried is not None:
            self._carried.accelerate(now, data)

    def _set_loads(self, now: float, data: TreeData) -> None:
        """Set what of the loads depends on time alone."""
        data.applied[:] = 0.0
        data.wrench[:] = 0.0
        for load in self.loads:
            load.set_inputs(now, data)

    def _add_loads(
        self, now: float, model: TreeModel, period: float, data: TreeData,
        work: TreeWork,
    ) -> None:  # fmt: skip
        """Add what depends on where the tree is."""
        for load in self.loads:
            load.add(period, data, work)
        if self._world is not None and period == 0.0:
            self._world.add(model, data, work)

    def _measure(self, now: float) -> None:
        """Loads and the reaction on the base at the present state, by plain motion."""
        model, data, work = self._model, self._data, self._work
        self._set_inputs(now, data)
        tree_motion(model, 0.0, data, work)
        add_elastic(model, 0.0, data, work)
        self._add_loads(now, model, 0.0, data, work)
        if self.case.base.motion != "fixed":
            return
        columns, load = work.matrix[6:, :6].copy(), work.load[:6].copy()
        hold_root(model, work)
        tree_factor(model, work)
        rates = work.load.copy()
        solve_tree(model, work, rates)
        self._reaction = load - columns.T @ rates[6:]
        if self._world is not None:
            self._reaction += self._world.root_wrench(data.root_pose, 1.0)

    def linearise(self) -> LinearStep:
        """Linearise the step that follows the present state.

        Raises:
            ModelError: the state is no state to go on from.
        """
        return linear_step(
            self.plan,
            self._data,
            self.time_s,
            self._period,
            self._set_inputs,
            self._add_loads,
        )

    def sample(self) -> Sample:
        """Describe the present state."""
        data, work = self._data, self._work
        tree_energy(self._model, data, work, self._energy)
        for load in self.loads:
            self._energy[:2] += load.energy(data)
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
        data.root_pose[:3, :3] = base_rotation(base.roll_pitch_yaw_deg)
        data.root_pose[:3, 3] = 1e-3 * np.asarray(base.position_mm)
        if base.motion != "fixed":
            data.velocity[:3] = np.radians(base.turn_deg_s)
            data.velocity[3:6] = 1e-3 * np.asarray(base.velocity_mm_s)
            data.velocity[:6] *= self._model.root_free
        for limb in self.plan.limbs:
            for piece in limb.pieces:
                _set_strains(self._model, limb, piece, data.position)
        self._set_loads(0.0, data)
        if self.case.stroke is not None:
            self._carried = CarriedBase(self.case.stroke, data.root_pose[:3, :3])
            self._carried.begin(data)

    def _step(self) -> bool:
        """Advance by one period; False where the state is lost."""
        model, data, work, period = self._model, self._data, self._work, self._period
        self._steps += 1
        now = self._steps * period
        if not self.loads and self._world is None and self.case.base.motion != "fixed":
            status = tree_step(model, period, data, work)
        else:
            self._set_loads(now, data)
            if self._carried is not None:
                self._carried.step(now, period, data)
            tree_motion(model, period, data, work)
            add_elastic(model, period, data, work)
            self._add_loads(now, model, period, data, work)
            status = self._solve()
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

    def _solve(self) -> int:
        """Solve and advance, and note the reaction on a base that is held."""
        work, period = self._work, self._period
        if self.case.base.motion != "fixed":
            return self._finish()
        columns, load = work.matrix[6:, :6].copy(), work.load[:6].copy()
        pose = self._data.root_pose.copy()
        status = self._finish()
        self._reaction = load - columns.T @ work.change[6:] / period
        if self._world is not None:
            self._reaction += self._world.root_wrench(pose, period)
        return status

    def _finish(self) -> int:
        """Solve and advance, with contacts where there is something to touch."""
        if self._world is None:
            return int(finish_step(self._model, self._period, self._data, self._work))
        return self._world.finish(self._model, self._period, self._data, self._work)


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
