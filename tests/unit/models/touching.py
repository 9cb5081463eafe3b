"""URSULA among things, for the tests of contact: a robot, a world, and its steps."""

from collections.abc import Sequence

import numpy as np

from app.config.robot import build_robot_model, load_robot
from models.contact import build_contact_model
from models.contact_law import ContactLaw
from models.free_body import FreeBody, build_free_bodies
from models.grasp import DEFAULT_JOINT, GraspJoint, build_grasp_model
from models.limb_contact import build_limb_contacts
from models.numerics import FloatArray
from models.robot import allocate_robot_data
from models.robot_contact import (
    SurroundingsModel,
    allocate_surroundings_data,
    allocate_surroundings_work,
)
from models.robot_contact_step import surroundings_step
from models.rod import reset_robot_data, robot_energy

URSULA = build_robot_model(load_robot("ursula"))
PERIOD = 1e-3
PALPATION = 1


def facing(point: FloatArray, normal: FloatArray) -> FloatArray:
    """Pose of a plane through a point."""
    normal = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    side = np.eye(3)[int(np.argmin(np.abs(normal)))]
    across = np.cross(side, normal)
    across /= np.linalg.norm(across)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([across, np.cross(normal, across), normal], axis=1)
    pose[:3, 3] = point
    return pose


class Touching:
    """One robot and its world."""

    def __init__(
        self,
        obstacles: Sequence[tuple[str, FloatArray, list[float]]] = (),
        law: ContactLaw | None = None,
        bodies: Sequence[FreeBody] = (),
        places: Sequence[Sequence[float]] = (),
        *,
        reach: Sequence[float] = (-1.0,) * 4,
        size: float = 0.04,
        joint: GraspJoint = DEFAULT_JOINT,
        still: bool = False,
    ) -> None:
        self.model = URSULA
        gravity = (0.0, 0.0, 0.0) if still else URSULA.gravity_in_hull
        self.world = SurroundingsModel(
            build_contact_model(obstacles, law or ContactLaw()),
            build_limb_contacts(),
            build_free_bodies(bodies, gravity=gravity),
            build_grasp_model(
                reach, [0.1] * 4, [0.01] * 4, [size] * len(bodies), joint=joint
            ),
        )
        self.data = allocate_robot_data(self.model)
        self.work = allocate_surroundings_work(self.model)
        self.state = allocate_surroundings_data(self.model, self.world)
        for body, place in enumerate(places):
            self.state.bodies.pose[body, :3, 3] = place
        reset_robot_data(self.model, self.model.rest_coordinates, self.work, self.data)
        self.winch = self.data.servo_length.copy()

    def step(self, count: int = 1, period: float = PERIOD) -> int:
        """Advance; number of frozen limbs at the end."""
        frozen = 0
        for _ in range(count):
            frozen = int(
                surroundings_step(
                    self.model,
                    self.world,
                    period,
                    self.winch,
                    self.data,
                    self.state,
                    self.work,
                )
            )
        return frozen

    def tip(self, limb: int = PALPATION) -> FloatArray:
        """(4, 4) pose of a tip as the last step began, hull frame [m]."""
        element = self.model.limb_segment_start[limb + 1] - 1
        point = self.model.tree.element_step_start[element + 1] - 1
        pose = np.eye(4)
        pose[:3, :3] = self.work.tree.point_rotation[point]
        pose[:3, 3] = self.work.tree.point_position[point]
        return pose

    def energy(self) -> float:
        """Of limbs and cables, and of what contacts hold [J]."""
        parts = np.zeros(3)
        robot_energy(self.model, self.data, self.work, parts)
        total = float(parts.sum())
        found = self.state.found
        for c in range(int(found.count[0])):
            law = found.law[c]
            speed = float(
                found.row[c, 0, : self.data.tree.velocity.size]
                @ self.data.tree.velocity
            )
            depth = max(float(found.depth[c]) - PERIOD * speed, 0.0)
            total += law[0] * depth ** (law[1] + 1.0) / (law[1] + 1.0)
        return total


def tip_at_rest(limb: int = PALPATION) -> FloatArray:
    """(4, 4) pose of a tip of the resting robot [m]."""
    free = Touching()
    free.step()
    return free.tip(limb)
