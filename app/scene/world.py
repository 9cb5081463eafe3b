"""The scene's bodies in PyBullet: two copies of the limbs as RRP chains, and obstacles.

Source: Emet 2023 eqs 7-13. Each segment is N sections of (plane angle, bend, chord),
then two closing joints that turn the last chord's frame into the arc's end frame: a
half bend and the plane angle back (torsion-free). PyBullet is the one source of the
poses that are drawn; nothing is simulated here, and no OpenGL is needed.
"""

import contextlib
import ctypes
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from app.config.robot import RobotParameters
from app.errors import DeviceError
from app.scene.site import Obstacle, site_obstacles
from models.chain import chain_joints
from models.numerics import FloatArray
from models.robot import RobotModel


@contextlib.contextmanager
def _silent_stdout() -> Iterator[None]:
    """Send what C code prints to stdout nowhere; PyBullet prints its build time."""
    libc = ctypes.CDLL(None)
    try:
        kept = os.dup(1)
    except OSError:  # stdout is closed: nothing to protect
        yield
        return
    libc.fflush(None)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        yield
    finally:
        libc.fflush(None)
        os.dup2(kept, 1)
        os.close(sink)
        os.close(kept)


with _silent_stdout():
    import pybullet

__all__ = ["COPIES", "Clearance", "Copy", "World"]

Copy = Literal["model", "confirmed"]
COPIES: tuple[Copy, ...] = ("model", "confirmed")

_JOINTS_A_SECTION = 3
_CLOSING_JOINTS = 2
_BODY_JOINT_LIMIT = 127  # PyBullet's shared-memory records hold 128 degrees of freedom


class Clearance(NamedTuple):
    """The nearest approach of a limb to the obstacles.

    Attributes:
        distance: [m]; negative where they overlap, inf where farther than asked.
        obstacle: its name, or "" where none is near.
        point_limb: (3,) on the limb [m], hull frame.
        point_obstacle: (3,) on the obstacle [m], hull frame.
    """

    distance: float
    obstacle: str
    point_limb: FloatArray
    point_obstacle: FloatArray


@dataclass(frozen=True)
class _Chain:
    """One multibody: successive segments of one limb."""

    body: int
    limb: int
    first: int
    """Index of its first segment in the whole robot."""
    count: int
    """Number of its segments."""
    follows: bool
    """Its base sits at the end of the segment before it, and moves with it."""
    set_joints: tuple[int, ...]
    read_links: tuple[int, ...]


class World:
    """One PyBullet client with the robot's chains, twice, and the obstacles."""

    def __init__(self, robot: RobotParameters, model: RobotModel) -> None:
        """Build every body.

        Args:
            robot: the robot's parameters; its chain.sections is N.
            model: the same robot's model.

        Raises:
            DeviceError: PyBullet cannot start.
        """
        self._model = model
        self._sections = robot.chain.sections
        segments = model.segment_length.size
        with _silent_stdout():
            self._client = pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise DeviceError(
                "PyBullet did not open its DIRECT client; reinstall it with "
                "scripts/run, or free memory"
            )
        shape = (segments, self._sections, 4, 4)
        self._links = {name: np.tile(np.eye(4), (*shape[:2], 1, 1)) for name in COPIES}
        self._ends = {name: np.tile(np.eye(4), (segments, 1, 1)) for name in COPIES}
        self._coordinates = {name: np.full((segments, 3), np.nan) for name in COPIES}
        self._joints = np.zeros((self._sections, 3))
        self._chains = {name: self._build_chains() for name in COPIES}
        self._obstacles = {
            self._build_obstacle(obstacle): obstacle for obstacle in site_obstacles()
        }
        for name in COPIES:
            self.pose(name, model.rest_coordinates)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What lies about the robot."""
        return tuple(self._obstacles.values())

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

    def pose(self, which: Copy, coordinates: FloatArray) -> None:
        """Pose one copy of the robot and read its link poses back.

        A segment with a coordinate that is not finite keeps its pose.

        Args:
            which: "model" or "confirmed".
            coordinates: (S, 3) segment coordinates [rad, rad, m].
        """
        known = self._coordinates[which]
        finite = np.isfinite(coordinates).all(axis=1)
        wanted = np.where(finite[:, None], coordinates, known)
        if np.array_equal(wanted, known):
            return
        known[:] = wanted
        for chain in self._chains[which]:
            self._pose_chain(which, chain)

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
        half = 0.5 * np.hypot(coordinates[:, 0], coordinates[:, 1]) / self._sections
        plane = np.arctan2(coordinates[:, 1], coordinates[:, 0])
        closing = np.zeros((half.size, 3, 3))
        closing[:, 0, 0] = np.cos(half) * np.cos(plane)
        closing[:, 0, 1] = np.cos(half) * np.sin(plane)
        closing[:, 0, 2] = np.sin(half)
        closing[:, 1, 0] = -np.sin(plane)
        closing[:, 1, 1] = np.cos(plane)
        closing[:, 2, 0] = -np.sin(half) * np.cos(plane)
        closing[:, 2, 1] = -np.sin(half) * np.sin(plane)
        closing[:, 2, 2] = np.cos(half)
        frames[:, 1:-1, :3, :3] = frames[:, 1:-1, :3, :3] @ closing[:, None]
        return frames

    def tip_poses(self, which: Copy) -> FloatArray:
        """(L, 4, 4) pose of every limb's tip in the hull frame [m]."""
        return self._ends[which][self._model.limb_segment_start[1:] - 1]

    def clearance(self, which: Copy, limb: int, within: float) -> Clearance:
        """Find how near a limb comes to the obstacles.

        Args:
            which: "model" or "confirmed".
            limb: index of the limb.
            within: distance beyond which nothing is reported [m].

        Returns:
            The nearest pair of points.
        """
        best = Clearance(math.inf, "", np.zeros(3), np.zeros(3))
        for chain in self._chains[which]:
            if chain.limb != limb:
                continue
            for body, obstacle in self._obstacles.items():
                for found in pybullet.getClosestPoints(
                    chain.body, body, within, physicsClientId=self._client
                ):
                    if found[8] < best.distance:
                        best = Clearance(
                            found[8],
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
        return starts

    def _build_chains(self) -> list[_Chain]:
        model = self._model
        a_segment = _JOINTS_A_SECTION * self._sections + _CLOSING_JOINTS
        at_once = max(_BODY_JOINT_LIMIT // a_segment, 1)
        chains = []
        for limb in range(model.tip_speed_limit.size):
            start, stop = model.limb_segment_start[limb : limb + 2]
            for first in range(int(start), int(stop), at_once):
                count = min(at_once, int(stop) - first)
                chains.append(self._build_chain(limb, first, count, first > start))
        return chains

    def _build_chain(self, limb: int, first: int, count: int, follows: bool) -> _Chain:
        sections = self._sections
        types: list[int] = []
        axes: list[tuple[float, float, float]] = []
        shapes: list[int] = []
        set_joints: list[int] = []
        read_links: list[int] = []
        revolute, prismatic = pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC
        x_none, about_y, about_z = -1, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        for segment in range(first, first + count):
            for k in range(sections):
                joint = len(types)
                set_joints += [joint, joint + 1, joint + 2] if k == 0 else [
                    joint + 1,
                    joint + 2,
                ]
                read_links.append(joint + 2)
                types += [revolute, revolute, prismatic]
                axes += [about_z, about_y, about_z]
                shapes += [x_none, x_none, self._section_shape(segment, k)]
            joint = len(types)
            set_joints += [joint, joint + 1]
            read_links.append(joint + 1)
            types += [revolute, revolute]
            axes += [about_y, about_z]
            shapes += [x_none, x_none]
        links = len(types)
        body = pybullet.createMultiBody(
            baseMass=0.0,
            baseCollisionShapeIndex=-1,
            baseVisualShapeIndex=-1,
            linkMasses=[0.0] * links,
            linkCollisionShapeIndices=shapes,
            linkVisualShapeIndices=[-1] * links,
            linkPositions=[(0.0, 0.0, 0.0)] * links,
            linkOrientations=[(0.0, 0.0, 0.0, 1.0)] * links,
            linkInertialFramePositions=[(0.0, 0.0, 0.0)] * links,
            linkInertialFrameOrientations=[(0.0, 0.0, 0.0, 1.0)] * links,
            linkParentIndices=list(range(links)),
            linkJointTypes=types,
            linkJointAxis=axes,
            physicsClientId=self._client,
        )
        if not follows:
            self._rebase(body, self._model.pose_base_to_hull[limb])
        return _Chain(
            body, limb, first, count, follows, tuple(set_joints), tuple(read_links)
        )

    def _section_shape(self, segment: int, k: int) -> int:
        """Capsule about one section, behind the frame at its end."""
        length = self._model.segment_length[segment] / self._sections
        start, end = self._model.segment_radius[segment]
        radius = start + (end - start) * (k + 0.5) / self._sections
        return int(
            pybullet.createCollisionShape(
                pybullet.GEOM_CAPSULE,
                radius=radius,
                height=length,
                collisionFramePosition=(0.0, 0.0, -0.5 * length),
                physicsClientId=self._client,
            )
        )

    def _build_obstacle(self, obstacle: Obstacle) -> int:
        if obstacle.kind == "sphere":
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_SPHERE,
                radius=obstacle.size[0],
                physicsClientId=self._client,
            )
        elif obstacle.kind == "box":
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_BOX,
                halfExtents=obstacle.size,
                physicsClientId=self._client,
            )
        else:
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_CYLINDER,
                radius=obstacle.size[0],
                height=obstacle.size[1],
                physicsClientId=self._client,
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
            _quaternion_xyzw(pose[:3, :3]),
            physicsClientId=self._client,
        )

    def _pose_chain(self, which: Copy, chain: _Chain) -> None:
        sections = self._sections
        if chain.follows:
            self._rebase(chain.body, self._ends[which][chain.first - 1])
        values: list[list[float]] = []
        for segment in range(chain.first, chain.first + chain.count):
            delta_x, delta_y, extension = self._coordinates[which][segment]
            length = self._model.segment_length[segment] + extension
            chain_joints(delta_x, delta_y, length, sections, self._joints)
            rows = self._joints.tolist()
            values.append([rows[0][0]])
            for _, bend, chord in rows:
                values += [[bend], [chord]]
            values += [[0.5 * math.hypot(delta_x, delta_y) / sections], [-rows[0][0]]]
        pybullet.resetJointStatesMultiDof(
            chain.body, chain.set_joints, values, physicsClientId=self._client
        )
        states = pybullet.getLinkStates(
            chain.body,
            chain.read_links,
            computeForwardKinematics=1,
            physicsClientId=self._client,
        )
        # entries 0 and 1, the centre of mass, are double precision and here equal to
        # the link frame; entries 4 and 5 pass through single precision
        poses = _poses(
            np.array([state[0] for state in states]),
            np.array([state[1] for state in states]),
        ).reshape(chain.count, sections + 1, 4, 4)
        stop = chain.first + chain.count
        self._links[which][chain.first : stop] = poses[:, :-1]
        self._ends[which][chain.first : stop] = poses[:, -1]


def _poses(position: FloatArray, quaternion_xyzw: FloatArray) -> FloatArray:
    """(n, 4, 4) poses of (n, 3) positions and (n, 4) unit quaternions, xyzw."""
    x, y, z, w = quaternion_xyzw.T
    poses = np.zeros((position.shape[0], 4, 4))
    poses[:, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    poses[:, 0, 1] = 2.0 * (x * y - z * w)
    poses[:, 0, 2] = 2.0 * (x * z + y * w)
    poses[:, 1, 0] = 2.0 * (x * y + z * w)
    poses[:, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    poses[:, 1, 2] = 2.0 * (y * z - x * w)
    poses[:, 2, 0] = 2.0 * (x * z - y * w)
    poses[:, 2, 1] = 2.0 * (y * z + x * w)
    poses[:, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    poses[:, :3, 3] = position
    poses[:, 3, 3] = 1.0
    return poses


def _quaternion_xyzw(rotation: FloatArray) -> list[float]:
    """Unit quaternion of a rotation matrix, xyzw as PyBullet wants it."""
    m = rotation
    candidates = np.array(
        [
            1.0 + m[0, 0] - m[1, 1] - m[2, 2],
            1.0 - m[0, 0] + m[1, 1] - m[2, 2],
            1.0 - m[0, 0] - m[1, 1] + m[2, 2],
            1.0 + m[0, 0] + m[1, 1] + m[2, 2],
        ]
    )
    largest = int(np.argmax(candidates))
    root = 0.5 * math.sqrt(float(candidates[largest]))
    f = 0.25 / root
    pairs = {
        (0, 1): f * (m[0, 1] + m[1, 0]),
        (0, 2): f * (m[0, 2] + m[2, 0]),
        (1, 2): f * (m[1, 2] + m[2, 1]),
        (0, 3): f * (m[2, 1] - m[1, 2]),
        (1, 3): f * (m[0, 2] - m[2, 0]),
        (2, 3): f * (m[1, 0] - m[0, 1]),
    }
    return [
        root
        if k == largest
        else float(pairs[min(k, largest), max(k, largest)])
        for k in range(4)
    ]
