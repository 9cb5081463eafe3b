"""Motions of one soft arm in a plane, to measure the tree's accuracy with.

A, B1, B5, T: the arm of Renda 2018 (Table 1), released from an arc, bent by a muscle
wave (eq. 25), pulled by a tendon. UW, UV: URSULA's limb released in water, without
viscosity and added mass, and in a vacuum. UR, UT: the same limb with the viscosity,
added mass and stiff axis of the shipped robot, released and pulled. LR, LS: the arm of
Liu et al. 2020 as shipped, released, and driven into its S shape by opposite moments in
its first two segments.

Converged motions of A to UV by an independent planar Cosserat code are in tests/data:
clamp at the origin, x along the straight arm, y to the side to which it bends. Here the
arm is along z and bends towards x. No gravity.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.polynomial import Legendre

from app.study.reference_run import (
    Forces,
    Method,
    Run,
    point_path,
    reference_run,
    stepped_run,
)
from models.numerics import FloatArray
from models.strain_basis import StrainBasis
from models.strand import (
    add_strands,
    add_tension,
    allocate_strand_data,
    allocate_strand_work,
    strand_geometry,
)
from models.strand_builder import make_strands, rod_passes, straight_route
from models.travelling_moment import add_travelling_moment, make_travelling_moment
from models.tree import TreeData, TreeModel, TreeWork, allocate_tree_data
from models.tree_builder import ROOT, TreeBuilder

__all__ = [
    "ARM_CASES",
    "LIU_ARM",
    "RENDA_ARM",
    "URSULA_LIMB",
    "Arm",
    "ArmCase",
    "arm_forces",
    "build_arm",
    "moment_load",
    "run_case",
    "start_arm",
]

_K_Y = 1
_ROOT_12 = 12.0**0.5


@dataclass(frozen=True)
class Arm:
    """An arm and the water about it, SI units."""

    length: float
    radius: tuple[float, float]
    density: float
    young_modulus: float
    shear_modulus: float
    viscosity: float
    water_density: float
    drag_normal: float
    drag_tangent: float
    added_mass: float
    segments: int = 1
    axial_stiffness_ratio: float = 1.0


RENDA_ARM = Arm(
    0.245, (0.01, 0.002), 1080.0, 110e3, 55e3, 300.0, 1022.0, 2.5, 0.01, 1.5
)
URSULA_LIMB = Arm(
    0.6, (0.03, 0.01), 1070.0, 69e3, 23e3, 300.0, 1000.0, 1.1, 0.01, 1.5, 2, 8.0
)
LIU_ARM = Arm(
    0.31, (0.024, 0.024), 1070.0, 150e3, 50e3, 300.0, 1025.0, 1.1, 0.01, 1.0, 3
)


@dataclass(frozen=True)
class ArmCase:
    """One motion of an arm."""

    arm: Arm
    seconds: float
    """Length of the run [s]."""
    drive: Literal["release", "wave", "tendon", "opposing"]
    size: float
    """Whole bend at the start [rad], m0 [N m], tension [N] or moment [N m]."""
    method: Method = "LSODA"

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which the load jumps [s]."""
        return (1.0,) if self.drive == "wave" else ()


_BARE = replace(URSULA_LIMB, viscosity=0.0, added_mass=0.0, axial_stiffness_ratio=1.0)

ARM_CASES = {
    "A": ArmCase(RENDA_ARM, 2.0, "release", np.pi / 2),
    "B1": ArmCase(RENDA_ARM, 2.5, "wave", 1e-3),
    "B5": ArmCase(RENDA_ARM, 2.5, "wave", 5e-3),
    "T": ArmCase(RENDA_ARM, 2.0, "tendon", 0.05),
    "UW": ArmCase(_BARE, 4.0, "release", np.pi / 2, "DOP853"),
    "UV": ArmCase(
        replace(_BARE, water_density=0.0), 4.0, "release", np.pi / 2, "DOP853"
    ),
    "UR": ArmCase(URSULA_LIMB, 30.0, "release", np.pi / 2),
    "UT": ArmCase(URSULA_LIMB, 20.0, "tendon", 2.0),
    "LR": ArmCase(LIU_ARM, 12.0, "release", np.pi / 2),
    "LS": ArmCase(LIU_ARM, 12.0, "opposing", 0.25),
}


def build_arm(
    arm: Arm, basis: StrainBasis, *, points: int = 8, pieces: int = 1
) -> TreeModel:
    """Make the tree of one arm, clamped at the origin along z, without gravity.

    Args:
        arm: the arm.
        basis: strains of each piece.
        points: mass points of each piece.
        pieces: equal pieces.

    Returns:
        The tree; its last point is the tip.
    """
    tree = TreeBuilder(
        gravity=(0.0, 0.0, 0.0), water_density=arm.water_density, munk_moment=False
    )
    tree.add_rod(
        ROOT,
        np.eye(4),
        length=arm.length,
        radius=arm.radius,
        density=arm.density,
        young_modulus=arm.young_modulus,
        shear_modulus=arm.shear_modulus,
        viscosity=arm.viscosity,
        axial_stiffness_ratio=arm.axial_stiffness_ratio,
        drag_normal=arm.drag_normal,
        drag_tangent=arm.drag_tangent,
        added_mass=arm.added_mass,
        basis=basis,
        points=points,
        pieces=pieces,
    )
    return tree.build()


def start_arm(case: ArmCase, model: TreeModel) -> TreeData:
    """State of an arm at the start of a case: at rest, straight or an arc.

    Args:
        case: the case.
        model: of `build_arm`, by a basis whose first k_y coordinate is its bend.

    Returns:
        The state, with the loads that stay constant in `applied`.
    """
    data = allocate_tree_data(model)
    pieces = model.element_parent.size
    if case.drive == "release":
        for e in range(pieces):
            own = np.arange(*model.element_dof_start[e : e + 2])
            bend = own[model.dof_component[own] == _K_Y][0]
            data.position[bend] = case.size / pieces
    elif case.drive == "opposing":
        edges = np.linspace(0.0, case.arm.length, case.arm.segments + 1)
        data.applied[:] = moment_load(model, edges, [case.size, -case.size, 0.0])
    return data


def moment_load(
    model: TreeModel, edges: FloatArray, moments: Sequence[float]
) -> FloatArray:
    """Generalised force of moments that act inside an arm, about its y axis.

    They do work on the curvature: the integral of m(X) p(X), exact for the polynomials
    of the basis.

    Args:
        model: of `build_arm`.
        edges: (K+1,) distances from the clamp [m] between which the moment is constant.
        moments: (K,) the moments there [N m].

    Returns:
        (N,) for `applied`.
    """
    load = np.zeros(model.dof_parent.size)
    begin = 0.0
    for e in range(model.element_parent.size):
        own = np.arange(*model.element_dof_start[e : e + 2])
        steps = np.arange(*model.element_step_start[e : e + 2])
        apart = model.step_length[steps]
        centre = model.point_abscissa[steps] - 0.5 * apart
        node = np.stack([centre - apart / _ROOT_12, centre + apart / _ROOT_12], axis=1)
        length = float(apart.sum())
        ends = np.clip((edges - begin) / length, 0.0, 1.0)
        for k, dof in enumerate(own):
            if model.dof_component[dof] == _K_Y:
                value = model.step_basis[steps, :, k]
                fit = Legendre.fit(
                    node.ravel() / length, value.ravel(), node.size - 1, domain=[0, 1]
                )
                load[dof] = length * np.diff(fit.integ()(ends)) @ moments
        begin += length
    return load


def arm_forces(case: ArmCase, model: TreeModel) -> Forces | None:
    """What drives an arm in a case beside `applied`, None for nothing."""
    pieces = list(range(model.element_parent.size))
    if case.drive == "wave":
        wave = make_travelling_moment(model, pieces, _K_Y, case.size)

        def push(
            now: float,
            _model: TreeModel,
            _period: float,
            _data: TreeData,
            work: TreeWork,
        ) -> None:
            add_travelling_moment(wave, now, work)

        return push
    if case.drive == "tendon":
        offset = [0.6 * r for r in case.arm.radius]
        route = straight_route(case.arm.length, offset[0], offset[1], 0.0)
        strands = make_strands(model, [rod_passes(model, pieces, route)])
        command = allocate_strand_data(strands)
        command.tension[:] = case.size
        strand_work = allocate_strand_work(model, strands)

        def pull(
            _now: float, model: TreeModel, period: float, data: TreeData, work: TreeWork
        ) -> None:
            strand_geometry(model, strands, data, strand_work)
            add_tension(strands, period, command, strand_work)
            add_strands(model, strands, strand_work, work)

        return pull
    return None


def run_case(
    case: ArmCase,
    model: TreeModel,
    times: FloatArray,
    *,
    tolerance: float = 1e-6,
    period: float = 0.0,
) -> tuple[Run, FloatArray]:
    """Run a case.

    Args:
        case: the case.
        model: of `build_arm` for its arm.
        times: (T,) from 0 on [s].
        tolerance: of the reference integrator.
        period: of the semi-implicit step instead [s]; 0: the reference integrator.

    Returns:
        The motion, and (T, 2) the path of the tip: along the straight arm, and across
        it [m].
    """
    data = start_arm(case, model)
    forces = arm_forces(case, model)
    if period > 0.0:
        run = stepped_run(model, data, times, period, forces=forces)
    else:
        run = reference_run(
            model,
            data,
            times,
            forces=forces,
            breaks=case.breaks,
            tolerance=tolerance,
            method=case.method,
        )
    path = point_path(model, data, run, model.step_length.size - 1)
    return run, path[:, [2, 0]]
