"""A robot on legs in water on a seabed: it stands, walks, and is pulled.

The tree holds hull, legs and soft limbs (reduced model); joints are driven by the gait,
open loop; contacts are solved exactly. `Legged` is one copy that runs, at 1 kHz.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from app.config.case import BaseCase, CaseParameters
from app.config.kinematics import leg_model
from app.config.robot_model import build_robot_model
from app.config.robot_parameters import RobotParameters
from app.config.tree import TreePlan, build_tree
from app.config.tree_legs import foot_points, leg_drives
from app.errors import ConfigError, ModelError
from models.contact import build_contact_model
from models.contact_law import ContactLaw
from models.contact_step import allocate_contacts
from models.free_body import allocate_free_body_data, build_free_bodies
from models.gait import GAITS, GaitModel, build_gait_model
from models.leg import LegModel
from models.leg_drive import allocate_leg_drive_data
from models.leg_inverse import leg_reasons
from models.legged import (
    LeggedCourse,
    allocate_legged_work,
    legged_command,
    legged_steps,
    make_course,
)
from models.legs import legs_forward
from models.limb_contact import build_limb_contacts
from models.numerics import FloatArray
from models.surface import HeightFieldModel, height_and_slope
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_step import TREE_OK

__all__ = ["SAND", "Legged", "LeggedTrace", "legged_gait", "legged_tree"]

SAND = ContactLaw(friction=0.6)
"""Feet on sand: friction assumed, as in app.study.simulation_world."""


class LeggedTrace(NamedTuple):
    """T samples of a run, L legs; world frame."""

    time_s: FloatArray
    """(T,)."""
    pose: FloatArray
    """(T, 4, 4) of the hull [m]."""
    foot: FloatArray
    """(T, L, 3) centres of the feet [m]."""
    force: FloatArray
    """(T, L, 2) of the ground on each foot, along its normal and across [N]."""
    slip: FloatArray
    """(T, L) way slipped since the start [m]."""
    torque: FloatArray
    """(T, L, 3) of the drives [N m]."""
    joint: FloatArray
    """(T, L, 3) angles [rad]."""


def _legs_of(robot: RobotParameters) -> LegModel:
    """The legs of a robot that has some.

    Raises:
        ConfigError: it has none.
    """
    legs = leg_model(robot)
    if legs is None:
        raise ConfigError(
            f"The robot {robot.name!r} has no legs. Choose one that has, such as "
            "silver2."
        )
    return legs


def legged_tree(robot: RobotParameters) -> TreePlan:
    """Make the tree of a robot on legs, free, as a case without more makes it.

    Raises:
        ConfigError: it has no legs, or they have no dynamics.
    """
    _legs_of(robot)
    return build_tree(
        robot, CaseParameters(title=robot.name, base=BaseCase(motion="floating"))
    )


def legged_gait(
    robot: RobotParameters,
    gait: str = "ripple",
    *,
    speed: float = 0.0,
    stride: float = 0.06,
    elevation: float = 0.04,
    direction: float = 0.0,
    turn: float = 0.0,
) -> GaitModel:
    """Gait at a speed, from the feet of the robot's file.

    Args:
        robot: a robot on legs.
        gait: name in `models.gait.GAITS`.
        speed: of the body; 0 for feet that never lift [m/s].
        stride: way of the body while a foot stands [m].
        elevation: of a foot's arc [m].
        direction: of the way, from the bow to port [rad].
        turn: of the body while a foot stands [rad].

    Raises:
        ConfigError: no legs.
    """
    legs = _legs_of(robot)
    feet = np.zeros((len(robot.legs), 3))
    legs_forward(legs, np.radians([leg.stance_deg for leg in robot.legs]), feet)
    phase, duty = GAITS[gait]
    if speed == 0.0:
        return build_gait_model(feet, phase, duty, 1.0, 0.0, 0.0)
    period = stride / (duty * speed)
    return build_gait_model(
        feet, phase, duty, period, elevation, stride, direction, turn
    )


class Legged:
    """One robot on legs that runs; its state is open to be set and read."""

    def __init__(
        self,
        robot: RobotParameters,
        gait: GaitModel | None = None,
        course: LeggedCourse | None = None,
        *,
        seabed: HeightFieldModel | None = None,
        law: ContactLaw = SAND,
        period: float = 1e-3,
        gap: float = 0.0,
        limbs: FloatArray | None = None,
    ) -> None:
        """Put the robot on the ground, joints as commanded at the start.

        Args:
            robot: its parameters.
            gait: how it walks; None to stand.
            course: what it does; None to stand.
            seabed: height field; None for a plane at height 0.
            law: of the seabed.
            period: time step [s].
            gap: of the feet above the highest ground under one of them [m].
            limbs: (S, 3) coordinates that the limbs' chambers hold; None for those of
                its file.

        Raises:
            ConfigError: it has no legs.
        """
        self.tree = legged_tree(robot)
        model = self.tree.model
        self._segments = [
            piece.element for limb in self.tree.limbs for piece in limb.pieces
        ]
        self.period, self.steps = period, 0
        self.gait = legged_gait(robot) if gait is None else gait
        self.course = make_course() if course is None else course
        self.legs = _legs_of(robot)
        self.drives = leg_drives(self.tree.legs, model)
        self.foot_point = foot_points(self.tree.legs, model)
        plane = [] if seabed is not None else [("plane", np.zeros(3), np.zeros(0))]
        self.contacts = build_contact_model(plane, law, seabed=seabed, seabed_law=law)
        self.limbs, self.bodies = build_limb_contacts(), build_free_bodies()
        self.body_data = allocate_free_body_data(self.bodies)
        self.found = allocate_contacts(model, self.contacts, self.limbs, self.bodies)
        self.data, self.tree_work = allocate_tree_data(model), allocate_tree_work(model)
        self.work = allocate_legged_work(len(self.tree.legs))
        command = np.zeros(self.drives.dof.size)
        legged_command(self.legs, self.gait, self.course, 0.0, self.work, command)
        self.drive_data = allocate_leg_drive_data(self.drives, command)
        if limbs is None:
            limbs = build_robot_model(robot).rest_coordinates
        self.data.position[:] = self.posture(limbs)
        self.data.position[self.drives.dof] = command
        self.hold_limbs(self.data.position)
        radius = model.point_radius[self.foot_point]
        under = np.zeros(radius.size)
        if seabed is not None:
            for k, (x, y, _) in enumerate(self.work.reached):
                under[k] = height_and_slope(seabed, x, y)[0]
        over = under + radius - self.work.reached[:, 2]
        self.data.root_pose[2, 3] = over.max() + gap

    @property
    def time_s(self) -> float:
        """Time since the start [s]."""
        return self.steps * self.period

    def posture(self, coordinates: FloatArray) -> FloatArray:
        """(N,) positions with the limbs' segments at (S, 3) coordinates, else zero."""
        position = np.zeros(self.data.position.size)
        for element, own in zip(self._segments, coordinates, strict=True):
            first = int(self.tree.model.element_dof_start[element])
            position[first : first + 3] = own
        return position

    def hold_limbs(self, position: FloatArray) -> None:
        """Let chambers push the limbs towards a posture (N,), against elasticity."""
        model, data = self.tree.model, self.data
        for element in self._segments:
            first, stop = model.element_dof_start[element : element + 2]
            data.applied[first:stop] = (
                model.element_stiffness[element, : stop - first, : stop - first]
                @ (position - model.dof_rest)[first:stop]
            )

    def push(self, element: int, force: FloatArray) -> None:
        """Set the force from outside on an element's end (3,), world axes [N]."""
        self.data.wrench[element, 3:] = self.data.root_pose[:3, :3].T @ force

    def feet(self) -> FloatArray:
        """(L, 3) centres of the feet in the world [m]."""
        pose = self.data.root_pose
        places = self.tree_work.point_position[self.foot_point]
        feet: FloatArray = places @ pose[:3, :3].T + pose[:3, 3]
        return feet

    def advance(self, steps: int) -> None:
        """Advance by some steps.

        Raises:
            ModelError: the state is lost.
        """
        status = legged_steps(
            self.tree.model,
            self.drives,
            self.legs,
            self.gait,
            self.contacts,
            self.limbs,
            self.bodies,
            self.course,
            self.foot_point,
            self.period,
            self.steps,
            steps,
            self.data,
            self.drive_data,
            self.body_data,
            self.tree_work,
            self.found,
            self.work,
        )
        self.steps += steps
        if status != TREE_OK:
            element = int(self.data.status[1])
            name = self.tree.names[element] if element >= 0 else "root"
            raise ModelError(
                f"The robot on legs is lost at {self.time_s:.3f} s at {name!r} (status "
                f"{status}): take smaller steps, or gentler loads."
            )

    def run(
        self,
        seconds: float,
        every: float = 0.02,
        before: Callable[[float], None] | None = None,
    ) -> LeggedTrace:
        """Advance by a time, with a sample at the end of each interval.

        Args:
            seconds: how long [s].
            every: interval of the samples [s].
            before: called with the time before each interval, to set loads.

        Raises:
            ModelError: the state is lost.
        """
        stride = max(round(every / self.period), 1)
        rows: list[tuple[FloatArray | float, ...]] = []
        for _ in range(round(seconds / (stride * self.period))):
            if before is not None:
                before(self.time_s)
            self.advance(stride)
            rows.append(
                (
                    self.time_s,
                    self.data.root_pose.copy(),
                    self.feet(),
                    self.work.force.copy(),
                    self.work.slip.copy(),
                    self.drive_data.torque.reshape(-1, 3).copy(),
                    self.data.position[self.drives.dof].reshape(-1, 3),
                )
            )
        return LeggedTrace(*(np.array(column) for column in zip(*rows, strict=True)))

    def unreached(self) -> list[str]:
        """What kept a leg from a commanded foot so far, in words."""
        return sorted({word for bits in self.work.status for word in leg_reasons(bits)})
