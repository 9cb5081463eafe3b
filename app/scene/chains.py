"""The layout of the RRP chains as multibodies: which joints, which links to read.

Source: Emet 2023 eqs 7-13. A segment is N sections of three joints (plane angle about
z, bend about y, slide along z) and two closing joints: half a bend about y and the
plane angle back about z (see models/chain).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from models.chain import chain_joints
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["ChainPlan", "Joint", "joint_values", "plan_chains", "section_radius"]

Joint = Literal["turn z", "turn y", "slide z"]

_JOINTS_A_SECTION = 3
_CLOSING_JOINTS = 2
_JOINT_LIMIT = 127  # PyBullet's shared records hold 128 degrees of freedom a body


@dataclass(frozen=True)
class ChainPlan:
    """One multibody: successive segments of one limb, as many as fit.

    Attributes:
        limb: index of the limb.
        first: index of its first segment in the whole robot.
        count: number of its segments.
        follows: its base sits at the end of the segment before, and moves with it.
        joints: kind of every joint from base to tip.
        solids: (segment, section) whose solid the joint's link carries, or None.
        moved: indices of the joints that ever leave zero, in `joint_values`' order.
        read: indices of the links to read: N section ends and the closed end a segment.
        shifts: rigid length before every joint, along z of the link before it [m].
    """

    limb: int
    first: int
    count: int
    follows: bool
    joints: tuple[Joint, ...]
    solids: tuple[tuple[int, int] | None, ...]
    moved: tuple[int, ...]
    read: tuple[int, ...]
    shifts: tuple[float, ...]


def plan_chains(
    model: RobotModel, sections: int, gap_before: FloatArray | None = None
) -> list[ChainPlan]:
    """Lay out the chains of one copy of a robot.

    Args:
        model: the robot.
        sections: N, sections a segment.
        gap_before: (S,) rigid length before every segment [m]; None for no gaps.

    Returns:
        Chains in the order of the segments.
    """
    a_segment = _JOINTS_A_SECTION * sections + _CLOSING_JOINTS
    at_once = max(_JOINT_LIMIT // a_segment, 1)
    gaps = np.zeros(model.segment_length.size) if gap_before is None else gap_before
    plans = []
    for limb in range(model.tip_speed_limit.size):
        start = int(model.limb_segment_start[limb])
        stop = int(model.limb_segment_start[limb + 1])
        for first in range(start, stop, at_once):
            count = min(at_once, stop - first)
            plans.append(
                _plan(limb, first, first > start, sections, gaps[first : first + count])
            )
    return plans


def joint_values(
    model: RobotModel,
    plan: ChainPlan,
    coordinates: FloatArray,
    joints: FloatArray,
) -> list[list[float]]:
    """Positions of a chain's moving joints.

    Args:
        model: the robot.
        plan: the chain.
        coordinates: (S, 3) of the whole robot [rad, rad, m].
        joints: (N, 3) room to work in.

    Returns:
        One [position] for each of `plan.moved` [rad or m].
    """
    values: list[list[float]] = []
    for segment in range(plan.first, plan.first + plan.count):
        delta_x, delta_y, extension = coordinates[segment].tolist()
        length = float(model.segment_length[segment]) + extension
        chain_joints(delta_x, delta_y, length, joints.shape[0], joints)
        plane, half = float(joints[0, 0]), float(joints[0, 1])
        values.append([plane])
        values.extend([value] for value in joints[:, 1:].ravel().tolist())
        values.extend(([half], [-plane]))
    return values


def _plan(
    limb: int, first: int, follows: bool, sections: int, gaps: FloatArray
) -> ChainPlan:
    count = gaps.size
    joints: list[Joint] = []
    solids: list[tuple[int, int] | None] = []
    moved: list[int] = []
    read: list[int] = []
    shifts: list[float] = []
    for segment in range(first, first + count):
        shifts += [float(gaps[segment - first])]
        shifts += [0.0] * (_JOINTS_A_SECTION * sections + _CLOSING_JOINTS - 1)
        for section in range(sections):
            here = len(joints)
            # Emet's chain has a plane angle in every section; only the first one moves
            moved += [here] * (section == 0) + [here + 1, here + 2]
            read.append(here + 2)
            joints += ["turn z", "turn y", "slide z"]
            solids += [None, None, (segment, section)]
        here = len(joints)
        moved += [here, here + 1]
        read.append(here + 1)
        joints += ["turn y", "turn z"]
        solids += [None, None]
    return ChainPlan(
        limb,
        first,
        count,
        follows,
        tuple(joints),
        tuple(solids),
        tuple(moved),
        tuple(read),
        tuple(shifts),
    )


def section_radius(
    model: RobotModel, segment: int, section: int, sections: int
) -> float:
    """Radius in the middle of a section [m]."""
    start, end = model.segment_radius[segment]
    return float(np.interp((section + 0.5) / sections, (0.0, 1.0), (start, end)))
