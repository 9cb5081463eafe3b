"""The scene's bodies in PyBullet: limbs as RRP chains, twice, legs and obstacles.

PyBullet is the one source of the poses that are drawn and of the clearances that are
shown. Nothing is simulated here, and no OpenGL is needed.
"""

import math
from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from app.config.bodies import LegParameters
from app.config.kinematics import limb_gaps
from app.config.robot import RobotParameters
from app.errors import DeviceError
from app.scene.chains import ChainPlan, joint_values, plan_chains, section_radius
from app.scene.clearance import Clearance
from app.scene.legs import LEG_JOINTS, leg_joint_frames, leg_mount
from app.scene.poses import (
    closing_rotations,
    poses_from_quaternions,
    quaternion_from_rotation,
)
from app.scene.quiet import silence
from app.scene.site import Ground, Obstacle, site_obstacles
from models.numerics import FloatArray
from models.robot import RobotModel

with silence():
    import pybullet

__all__ = ["COPIES", "Clearance", "Copy", "World"]

Copy = Literal["model", "confirmed"]
COPIES: tuple[Copy, ...] = ("model", "confirmed")

_UNSEEN = 1e-5  # [rad] or [m]: 6 µm at the tip of a 600 mm limb
_LOOKED_THROUGH, _PAST_M = 40, 0.004  # bodies of limbs on a line of sight


class World:
    """One PyBullet client with the robot's chains, twice, obstacles and objects."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        obstacles: Sequence[Obstacle] | None = None,
        objects: Sequence[Obstacle] = (),
    ) -> None:
        """Build every body.

        Args:
            robot: the robot's parameters; its chain.sections is N.
            model: the same robot's model.
            obstacles: what stands about the robot; None for the site of every day.
            objects: what can be moved.

        Raises:
            DeviceError: PyBullet cannot start.
        """
        self._model = model
        self._sections = robot.chain.sections
        segments = model.segment_length.size
        with silence():
            self._client = pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise DeviceError(
                "PyBullet did not open its DIRECT client; reinstall it with "
                "scripts/run, or free memory"
            )
        shape = (segments, self._sections, 4, 4)
        self._links = {name: np.tile(np.eye(4), (*shape[:2], 1, 1)) for name in COPIES}
        self._ends = {name: np.tile(np.eye(4), (segments, 1, 1)) for name in COPIES}
        starts = model.limb_segment_start
        self._limb_of = np.repeat(np.arange(starts.size - 1), np.diff(starts)).tolist()
        self._coordinates = {name: np.full((segments, 3), np.nan) for name in COPIES}
        self._joints = np.zeros((self._sections, 3))
        gaps = [limb_gaps(limb) for limb in robot.limbs]
        self._gap_before = np.concatenate([gap[:-1] for gap in gaps])
        self._gap_behind = np.array([gap[-1] for gap in gaps])
        self._plans = plan_chains(model, self._sections, self._gap_before)
        self._bodies = {
            name: [self._build_chain(plan) for plan in self._plans] for name in COPIES
        }
        if obstacles is None:
            obstacles = site_obstacles(Ground.under(robot))
        self._obstacles = {self._build_obstacle(item): item for item in obstacles}
        self._objects = [self._build_obstacle(item) for item in objects]
        self._legs = [self._build_leg(leg) for leg in robot.legs]
        for number, leg in enumerate(robot.legs):
            self.pose_leg(number, np.radians(leg.stance_deg))
        for name in COPIES:
            self.pose(name, model.rest_coordinates)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What lies about the robot."""
        return tuple(self._obstacles.values())

    def pose_objects(self, poses: FloatArray) -> None:
        """Put the objects where they are now.

        Args:
            poses: (B, 4, 4) [m], hull frame; one that is not finite is passed over.
        """
        for body, pose in zip(self._objects, poses, strict=True):
            if np.all(np.isfinite(pose)):
                self._rebase(body, pose)

    def object_poses(self) -> FloatArray:
        """(B, 4, 4) poses of the objects as PyBullet holds them [m], hull frame."""
        held = [
            np.concatenate(pybullet.getBasePositionAndOrientation(body, self._client))
            for body in self._objects
        ]
        rows = np.array(held).reshape(-1, 7)
        return poses_from_quaternions(rows[:, :3], rows[:, 3:])

    def hit(self, start: FloatArray, stop: FloatArray) -> tuple[int, FloatArray] | None:
        """Find the first obstacle or object on a line; limbs are looked through.

        Args:
            start: (3,) [m], hull frame.
            stop: (3,) [m].

        Returns:
            Index of the object, -1 of an obstacle, and (3,) where it is met [m]; None
            where nothing is.
        """
        way = stop - start
        length = max(float(np.linalg.norm(way)), 1e-9)
        begin = np.asarray(start, dtype=float)
        for _ in range(_LOOKED_THROUGH):
            body, _link, share, place, _ = pybullet.rayTest(
                begin.tolist(), stop.tolist(), physicsClientId=self._client
            )[0]
            if body < 0:
                return None
            if body in self._obstacles:
                return -1, np.array(place)
            if body in self._objects:
                return self._objects.index(body), np.array(place)
            begin = begin + share * (stop - begin) + _PAST_M / length * way
        return None

    def close(self) -> None:
        """End the client; safe to call again."""
        if self._client >= 0:
            pybullet.disconnect(self._client)
            self._client = -1

    def __enter__(self) -> "World":
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the client."""
        self.close()

    def pose(
        self, which: Copy, coordinates: FloatArray, limbs: Collection[int] | None = None
    ) -> None:
        """Pose one copy of the robot and read its link poses back.

        A segment with a coordinate that is not finite keeps its pose, and so does a
        chain whose coordinates have moved by less than can be seen.

        Args:
            which: "model" or "confirmed".
            coordinates: (S, 3) segment coordinates [rad, rad, m].
            limbs: pose these alone; None = all.
        """
        known = self._coordinates[which]
        finite = np.isfinite(coordinates).all(axis=1, keepdims=True)
        wanted = np.where(finite, coordinates, known)
        # a chain behind another one of its limb starts where that one ends
        moved = -1
        for plan, body in zip(self._plans, self._bodies[which], strict=True):
            limb = self._limb_of[plan.first]
            rows = slice(plan.first, plan.first + plan.count)
            if limbs is not None and limb not in limbs:
                continue
            still = np.abs(wanted[rows] - known[rows]).max() < _UNSEEN
            if still and limb != moved:
                continue
            moved = limb
            known[rows] = wanted[rows]
            self._pose_chain(which, plan, body)

    def section_frames(self, which: Copy) -> FloatArray:
        """Frames of the chain as PyBullet holds them.

        Args:
            which: "model" or "confirmed".

        Returns:
            (S, N+1, 4, 4) in the hull frame [m]: frame 0 is the segment's start, k its
            k-th section's end with z along the k-th chord, N the segment's end, closed.
        """
        frames = np.empty((*self._links[which].shape[:1], self._sections + 1, 4, 4))
        frames[:, 0] = self._starts(which)
        frames[:, 1:-1] = self._links[which][:, :-1]
        frames[:, -1] = self._ends[which]
        return frames

    def link_frames(self, which: Copy) -> FloatArray:
        """(S, N, 4, 4) end of every section, hull frame [m], z along its chord."""
        return self._links[which].copy()

    def skin_frames(self, which: Copy) -> FloatArray:
        """Frames for a smooth skin: z tangent to the arc, no torsion along it.

        Every section is closed as the last one is: by half a bend and the plane angle
        back.

        Args:
            which: "model" or "confirmed".

        Returns:
            (S, N+1, 4, 4) in the hull frame [m].
        """
        frames = self.section_frames(which)
        coordinates = self._coordinates[which]
        closing = closing_rotations(coordinates, self._sections)
        frames[:, 1:-1, :3, :3] = frames[:, 1:-1, :3, :3] @ closing[:, None]
        return frames

    def tip_poses(self, which: Copy) -> FloatArray:
        """(L, 4, 4) pose of every limb's tip in the hull frame [m]."""
        tips = self._ends[which][self._model.limb_segment_start[1:] - 1]
        tips[:, :3, 3] += self._gap_behind[:, None] * tips[:, :3, 2]
        return tips

    def leg_frames(self) -> FloatArray:
        """Frames of the legs' links, hull frame [m], x along each link.

        Returns:
            (legs, 4, 4, 4): coxa, femur and tibia at their joints, and the foot.
        """
        frames = np.empty((len(self._legs), len(LEG_JOINTS), 4, 4))
        for leg, body in enumerate(self._legs):
            states = pybullet.getLinkStates(
                body,
                range(len(LEG_JOINTS)),
                computeForwardKinematics=1,
                physicsClientId=self._client,
            )
            frames[leg] = poses_from_quaternions(
                np.array([state[0] for state in states]),
                np.array([state[1] for state in states]),
            )
        return frames

    def pose_leg(self, leg: int, angles: FloatArray) -> None:
        """Turn the joints of one leg.

        Args:
            leg: its index.
            angles: (3,) coxa, femur, tibia [rad].
        """
        for joint, angle in enumerate(angles):
            pybullet.resetJointState(
                self._legs[leg], joint, float(angle), physicsClientId=self._client
            )

    def clearance(self, which: Copy, limb: int, within: float) -> Clearance:
        """Find how near a limb comes to the obstacles.

        Args:
            which: "model" or "confirmed".
            limb: index of the limb.
            within: distance beyond which nothing is reported [m].
        """
        best = Clearance(math.inf, "", np.zeros(3), np.zeros(3))
        for plan, body in zip(self._plans, self._bodies[which], strict=True):
            if plan.limb != limb:
                continue
            for other, obstacle in self._obstacles.items():
                for found in pybullet.getClosestPoints(
                    body, other, within, physicsClientId=self._client
                ):
                    if found[8] < best.distance:
                        best = Clearance(
                            float(found[8]),
                            obstacle.name,
                            np.asarray(found[5]),
                            np.asarray(found[6]),
                        )
        return best

    def _starts(self, which: Copy) -> FloatArray:
        """(S, 4, 4) pose of every segment's start in the hull frame."""
        starts = np.empty_like(self._ends[which])
        starts[1:] = self._ends[which][:-1]
        starts[self._model.limb_segment_start[:-1]] = self._model.pose_base_to_hull
        starts[:, :3, 3] += self._gap_before[:, None] * starts[:, :3, 2]
        return starts

    def _build_leg(self, leg: LegParameters) -> int:
        """One leg as a multibody of three turning joints and a foot."""
        kinds = [pybullet.JOINT_REVOLUTE] * 3 + [pybullet.JOINT_FIXED]
        links = len(LEG_JOINTS)
        body = int(
            pybullet.createMultiBody(
                baseMass=0.0,
                baseCollisionShapeIndex=-1,
                baseVisualShapeIndex=-1,
                linkMasses=[0.0] * links,
                linkCollisionShapeIndices=[-1] * links,
                linkVisualShapeIndices=[-1] * links,
                linkPositions=leg_joint_frames(leg).tolist(),
                linkOrientations=[(0.0, 0.0, 0.0, 1.0)] * links,
                linkInertialFramePositions=[(0.0, 0.0, 0.0)] * links,
                linkInertialFrameOrientations=[(0.0, 0.0, 0.0, 1.0)] * links,
                linkParentIndices=list(range(links)),
                linkJointTypes=kinds,
                linkJointAxis=[axis for _, axis in LEG_JOINTS],
                physicsClientId=self._client,
            )
        )
        self._rebase(body, leg_mount(leg))
        return body

    def _build_chain(self, plan: ChainPlan) -> int:
        kinds = {
            "turn z": (pybullet.JOINT_REVOLUTE, (0.0, 0.0, 1.0)),
            "turn y": (pybullet.JOINT_REVOLUTE, (0.0, 1.0, 0.0)),
            "slide z": (pybullet.JOINT_PRISMATIC, (0.0, 0.0, 1.0)),
        }
        shapes = [
            -1 if solid is None else self._section_shape(*solid)
            for solid in plan.solids
        ]
        links = len(plan.joints)
        body = int(
            pybullet.createMultiBody(
                baseMass=0.0,
                baseCollisionShapeIndex=-1,
                baseVisualShapeIndex=-1,
                linkMasses=[0.0] * links,
                linkCollisionShapeIndices=shapes,
                linkVisualShapeIndices=[-1] * links,
                linkPositions=[(0.0, 0.0, shift) for shift in plan.shifts],
                linkOrientations=[(0.0, 0.0, 0.0, 1.0)] * links,
                linkInertialFramePositions=[(0.0, 0.0, 0.0)] * links,
                linkInertialFrameOrientations=[(0.0, 0.0, 0.0, 1.0)] * links,
                linkParentIndices=list(range(links)),
                linkJointTypes=[kinds[joint][0] for joint in plan.joints],
                linkJointAxis=[kinds[joint][1] for joint in plan.joints],
                physicsClientId=self._client,
            )
        )
        for link, shape in enumerate(shapes):
            if shape >= 0:  # nothing is stepped here: keep no list of near pairs
                pybullet.setCollisionFilterGroupMask(
                    body, link, 0, 0, physicsClientId=self._client
                )
        if not plan.follows:
            self._rebase(body, self._model.pose_base_to_hull[plan.limb])
        return body

    def _section_shape(self, segment: int, section: int) -> int:
        """Capsule about one section, behind the frame at its end."""
        length = float(self._model.segment_length[segment]) / self._sections
        return int(
            pybullet.createCollisionShape(
                pybullet.GEOM_CAPSULE,
                radius=section_radius(self._model, segment, section, self._sections),
                height=length,
                collisionFramePosition=(0.0, 0.0, -0.5 * length),
                physicsClientId=self._client,
            )
        )

    def _build_obstacle(self, obstacle: Obstacle) -> int:
        size = obstacle.size
        form: dict[str, object]
        if obstacle.kind == "sphere":
            kind, form = pybullet.GEOM_SPHERE, {"radius": size[0]}
        elif obstacle.kind == "box":
            kind, form = pybullet.GEOM_BOX, {"halfExtents": size}
        else:
            kind = pybullet.GEOM_CYLINDER
            form = {"radius": size[0], "height": size[1]}
        shape = pybullet.createCollisionShape(
            kind, **form, physicsClientId=self._client
        )
        body = int(
            pybullet.createMultiBody(
                baseMass=0.0,
                baseCollisionShapeIndex=shape,
                physicsClientId=self._client,
            )
        )
        self._rebase(body, obstacle.pose)
        return body

    def _rebase(self, body: int, pose: FloatArray) -> None:
        pybullet.resetBasePositionAndOrientation(
            body,
            pose[:3, 3].tolist(),
            quaternion_from_rotation(pose[:3, :3]),
            physicsClientId=self._client,
        )

    def _pose_chain(self, which: Copy, plan: ChainPlan, body: int) -> None:
        if plan.follows:
            self._rebase(body, self._ends[which][plan.first - 1])
        pybullet.resetJointStatesMultiDof(
            body,
            plan.moved,
            joint_values(self._model, plan, self._coordinates[which], self._joints),
            physicsClientId=self._client,
        )
        states = pybullet.getLinkStates(
            body, plan.read, computeForwardKinematics=1, physicsClientId=self._client
        )
        # entries 0 and 1, the centre of mass, are double precision and here equal to
        # the link frame; entries 4 and 5 pass through single precision
        poses = poses_from_quaternions(
            np.array([state[0] for state in states]),
            np.array([state[1] for state in states]),
        ).reshape(plan.count, self._sections + 1, 4, 4)
        stop = plan.first + plan.count
        self._links[which][plan.first : stop] = poses[:, :-1]
        self._ends[which][plan.first : stop] = poses[:, -1]
