"""The linearised step of a simulated robot, for estimators and controllers.

    x⁺ = x₁ + A (x - x₀) + B u,   x = (coordinates, their rates)

about the state x₀ in which a simulation ends, u further generalised forces. A and B are
the exact derivative of one `tree_step` (models/tree_sensitivity), in which the case's
drives act with the forces that they have at x₀. How the forces of tendons, chambers and
other kernels change with x is not in A: it stands beside it, F = ∂force/∂x by central
differences, and enters through the forces, A + B F to first order in the period.

A root that floats comes first, its pose varied by a twist in its own frame, angular
first; components that are held are left out. The derivative of a mantle and of contacts
is not known: such a case is refused.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from app.config.case import CaseParameters
from app.config.robot_parameters import RobotParameters
from app.config.tree import TreePlan
from app.errors import ConfigError, ModelError
from app.study.reference_run import Forces, Inputs
from models.lie import pose_exp
from models.numerics import FloatArray
from models.strain_basis import STRAINS
from models.tree import TreeData, allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion
from models.tree_sensitivity import allocate_sensitivity_work, step_sensitivity
from models.tree_step import TREE_OK

__all__ = [
    "LinearStep",
    "check_linear",
    "coordinate_names",
    "linear_step",
    "write_linear",
]

_APART = 1e-6  # of a coordinate or rate, to either side
_ROOT_NAMES = ("turn x", "turn y", "turn z", "shift x", "shift y", "shift z")


class LinearStep(NamedTuple):
    """One step about a state: n coordinates that are free, SI units."""

    A: FloatArray
    """(2n, 2n) of the tree's own forces."""
    B: FloatArray
    """(2n, n) by generalised forces."""
    force_by_state: FloatArray
    """(n, 2n) F: how the drives' generalised forces change with the state."""
    coordinates: tuple[str, ...]
    """(n,) names; the state is these, then their rates."""
    position: FloatArray
    """(n,) of x₀; zero for the root."""
    velocity: FloatArray
    """(n,) of x₀."""
    next_position: FloatArray
    """(n,) of x₁; for the root the twist from the pose of x₀, over unit time."""
    next_velocity: FloatArray
    """(n,) of x₁."""
    root_pose: FloatArray
    """(4, 4) of x₀, in the world [m]."""
    period_s: float
    time_s: float


def check_linear(robot: RobotParameters, case: CaseParameters) -> None:
    """Refuse a case whose step has parts without a derivative.

    Raises:
        ConfigError: it has a mantle or contacts.
    """
    parts = []
    if robot.mantle is not None and case.base.limb is None:
        parts.append("the mantle (simulate one limb: base.limb)")
    if case.ground or case.obstacles or case.objects or case.contact.limbs:
        parts.append("contacts (leave ground, obstacles, objects, contact.limbs away)")
    if parts:
        raise ConfigError(
            f"--linear: the derivative of {' and of '.join(parts)} is not in the "
            "linearised step: it would be that of another robot."
        )


def linear_step(
    plan: TreePlan,
    data: TreeData,
    time_s: float,
    period: float,
    inputs: Inputs,
    forces: Forces,
) -> LinearStep:
    """Linearise the step that follows a state.

    Args:
        plan: the tree.
        data: the state; unchanged.
        time_s: of the state [s].
        period: of the step [s].
        inputs: of the drives, what depends on time alone.
        forces: of the drives, what depends on the state.

    Returns:
        The derivatives.

    Raises:
        ModelError: the state is no state to go on from.
    """
    model = plan.model
    here = _copy(plan, data)
    work = allocate_tree_work(model)
    inputs(time_s + period, here)

    def pushed(state: TreeData) -> FloatArray:
        tree_motion(model, 0.0, state, work)
        before = work.load.copy()
        forces(time_s + period, model, 0.0, state, work)
        return work.load - before

    slopes = _slopes(plan, here, pushed)
    here.applied[:] += pushed(here)
    size = model.dof_parent.size
    whole, by_force = np.zeros((2 * size, 2 * size)), np.zeros((2 * size, size))
    sensitivity = allocate_sensitivity_work(model)
    sensitivity.data.root_acceleration[:] = here.root_acceleration
    status = step_sensitivity(model, period, here, work, sensitivity, whole, by_force)
    after = here.velocity + work.change
    if status != TREE_OK or not np.isfinite(whole).all():
        raise ModelError(
            f"--linear: the step at {time_s:.6g} s has no derivative (status {status})."
        )
    kept = np.append(np.flatnonzero(model.root_free), np.arange(6, size))
    both = np.append(kept, kept + size)
    names = [*(f"root {name}" for name in _ROOT_NAMES), *coordinate_names(plan)]
    return LinearStep(
        A=whole[np.ix_(both, both)],
        B=by_force[np.ix_(both, kept)],
        force_by_state=slopes[np.ix_(kept, both)],
        coordinates=tuple(names[k] for k in kept),
        position=here.position[kept],
        velocity=here.velocity[kept],
        next_position=(here.position + period * after)[kept],
        next_velocity=after[kept],
        root_pose=here.root_pose,
        period_s=period,
        time_s=time_s,
    )


def _copy(plan: TreePlan, data: TreeData) -> TreeData:
    copy = allocate_tree_data(plan.model)
    for own, value in zip(copy, data, strict=True):
        own[...] = value
    copy.position[:6] = 0.0
    return copy


def _slopes(
    plan: TreePlan, data: TreeData, pushed: Callable[[TreeData], FloatArray]
) -> FloatArray:
    """(N, 2N) derivative of the drives' forces by the state."""
    size = plan.model.dof_parent.size
    slopes = np.zeros((size, 2 * size))
    turn = np.eye(4)
    for k in range(2 * size):
        ends = []
        for side in (_APART, -_APART):
            state = _copy(plan, data)
            if k >= size:
                state.velocity[k - size] += side
            elif k >= 6:
                state.position[k] += side
            else:
                pose_exp(side * np.eye(6)[k], turn)
                state.root_pose[:] = data.root_pose @ turn
            ends.append(pushed(state))
        slopes[:, k] = (ends[0] - ends[1]) / (2.0 * _APART)
    return slopes


def coordinate_names(plan: TreePlan) -> list[str]:
    """Element, strain and number of each coordinate behind the root's."""
    names = []
    model = plan.model
    for dof in range(6, model.dof_parent.size):
        element = int(model.dof_element[dof])
        first = int(model.element_dof_start[element])
        component = model.dof_component
        number = int(np.sum(component[first:dof] == component[dof]))
        names.append(f"{plan.names[element]} {STRAINS[component[dof]]} {number}")
    return names


def write_linear(step: LinearStep, out: Path) -> None:
    """Write a linearised step as a NumPy archive, one array for each field.

    Raises:
        ConfigError: the file cannot be written.
    """
    fields: dict[str, Any] = step._asdict()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        np.savez(out, **fields)
    except OSError as error:
        raise ConfigError(
            f"{out}: the linearised step cannot be written: {error}. Choose another "
            "place."
        ) from error
