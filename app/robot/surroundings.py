"""The world of a session: what the simulated robot touches, and what happens to it.

The plant advances it with the limbs (app.robot.plant). Anything of it can be changed
while it runs: for a wall that has moved, an object that is gone, a wrong friction.
"""

from collections.abc import Sequence

import numpy as np

from app.config.robot_parameters import RobotParameters
from app.config.scene import SceneParameters
from app.config.scene_world import SceneWorld, build_scene_world
from app.errors import ConfigError
from app.messages import Event, Severity
from models.contact_law import ContactLaw, pack_law
from models.grasp import DROPPED, GRASPED, NOTHING, RELEASED
from models.numerics import FloatArray
from models.robot import RobotModel
from models.robot_contact import (
    SurroundingsData,
    SurroundingsModel,
    allocate_surroundings_data,
)

__all__ = ["Surroundings"]

_FAR_M = 1e4  # where a thing that is gone is kept
_KEPT_EVENTS = 64
_WORDS = {
    GRASPED: "Limb {limb} holds object {item}.",
    RELEASED: "Limb {limb} has released object {item}.",
    DROPPED: "Limb {limb} has dropped object {item}.",
}


class Surroundings:
    """Obstacles, objects and grippers about one simulated robot."""

    def __init__(
        self, scene: SceneParameters, robot: RobotParameters, model: RobotModel
    ) -> None:
        """Put everything where the scene has it.

        Args:
            scene: the scene.
            robot: the robot's parameters.
            model: its model.

        Raises:
            ConfigError: as `build_scene_world`.
        """
        self.world: SceneWorld = build_scene_world(scene, robot, model)
        self.model: SurroundingsModel = self.world.model
        self.data: SurroundingsData = allocate_surroundings_data(model, self.model)
        self.current_m_s = np.array(scene.current_m_s)
        self._limbs = [limb.name for limb in robot.limbs]
        self._names = [item.name for item in self.world.objects]
        self._gone: set[str] = set()
        self._events: list[Event] = []
        self._time_ns = 0
        self._gripped = b""
        self.reset()

    def reset(self) -> None:
        """Put the objects back, still, and open the grippers."""
        bodies, grasp = self.data.bodies, self.data.grasp
        for number, item in enumerate(self.world.objects):
            bodies.pose[number] = item.pose
        bodies.twist[:] = 0.0
        bodies.status[:] = 0
        grasp.grip[:] = 0.0
        self._gripped = b""
        grasp.held[:] = -1
        grasp.empty[:] = 0
        self._gone.clear()

    @property
    def objects(self) -> Sequence[str]:
        """Names of the objects."""
        return self._names

    @property
    def poses(self) -> FloatArray:
        """(B, 4, 4) of the objects in the hull's frame [m]; a view."""
        return self.data.bodies.pose

    @property
    def contact_wrench(self) -> FloatArray:
        """(L, 6) what contact does to each limb, hull frame; a view.

        Moment about the hull's origin [N m], then force [N].
        """
        return self.data.contact_wrench

    @property
    def tip_force(self) -> FloatArray:
        """(L, 3) force at each tip, with what its gripper holds, hull frame [N]."""
        return self.data.tip_force

    def grip(self, command: FloatArray) -> None:
        """Tell the grippers.

        Args:
            command: (L,) 0 open .. 1 closed; what is not finite is left alone.
        """
        if command.tobytes() == self._gripped:  # looked at every millisecond
            return
        self._gripped = command.tobytes()
        told = np.isfinite(command)
        self.data.grasp.grip[told] = np.clip(command[told], 0.0, 1.0)

    def held_by(self, limb: int) -> str:
        """Name of the object that a limb's gripper holds; empty where none."""
        held = int(self.data.grasp.held[limb])
        return self._names[held] if held >= 0 else ""

    @property
    def held_limbs(self) -> int:
        """Bit k is set where the gripper of limb k holds something."""
        return sum(1 << k for k, held in enumerate(self.data.grasp.held) if held >= 0)

    def in_basket(self, name: str) -> bool:
        """Whether an object's centre is inside the basket and no gripper holds it."""
        number = self._object(name)
        if self.world.basket is None or np.any(self.data.grasp.held == number):
            return False
        opening, radius, depth = self.world.basket
        off = self.poses[number, :3, 3] - opening
        inside = bool(np.hypot(off[0], off[1]) <= radius)
        return inside and -depth <= float(off[2]) <= 0.0

    def note(self, now_ns: int) -> None:
        """Take note of what the last step did.

        Args:
            now_ns: robot time [ns].
        """
        self._time_ns = now_ns
        grasp = self.data.grasp
        for limb, event in enumerate(grasp.event.tolist()):
            if event == NOTHING:
                continue
            item = self._names[int(grasp.event_body[limb])]
            severity = Severity.WARNING if event == DROPPED else Severity.INFO
            self._say(severity, _WORDS[event].format(limb=self._limbs[limb], item=item))
        grasp.event[:] = NOTHING

    def events(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def move_obstacle(self, name: str, shift: Sequence[float]) -> None:
        """Move an obstacle, or the basket, at once.

        Args:
            name: its name.
            shift: (3,) [m], hull frame.

        Raises:
            ConfigError: there is no such obstacle.
        """
        for k in self._rows(name):
            self.model.contacts.obstacle.pose[k, :3, 3] += shift
        if name == "basket" and self.world.basket is not None:
            self.world.basket[0][:] += shift

    def obstacle_poses(self) -> FloatArray:
        """(K, 4, 4) of `world.obstacles` as they are now, hull frame [m]; a view."""
        return self.model.contacts.obstacle.pose

    def remove(self, name: str) -> None:
        """Take an object or obstacle away; a gripper that held it has dropped it.

        Args:
            name: its name.

        Raises:
            ConfigError: there is nothing of that name.
        """
        if name in self._names:
            number = self._object(name)
            self.data.bodies.status[number] = 1
            self.data.bodies.pose[number, :3, 3] = -_FAR_M
            self._gone.add(name)
            return
        for k in self._rows(name):
            self.model.contacts.obstacle.pose[k, :3, :3] = np.eye(3)
            self.model.contacts.obstacle.pose[k, :3, 3] = (0.0, 0.0, -_FAR_M)
        self._gone.add(name)

    @property
    def gone(self) -> frozenset[str]:
        """Names of what has been removed."""
        return frozenset(self._gone)

    def change_law(self, name: str, **changes: float) -> None:
        """Change how an obstacle, an object or the seabed answers to touch.

        Args:
            name: its name.
            changes: fields of `ContactLaw` and their new values.

        Raises:
            ConfigError: there is nothing of that name, or a value is out of range.
        """
        if name in self._names:
            rows = [self.model.bodies.law[self._object(name)]]
        elif name == "seabed" and self.model.contacts.field.height.size:
            rows = [self.model.contacts.law[-1]]
        else:
            rows = [self.model.contacts.law[k] for k in self._rows(name)]
        for row in rows:
            try:
                row[:] = pack_law(ContactLaw(*row.tolist())._replace(**changes))
            except ValueError as error:
                raise ConfigError(f"The contact of {name!r}: {error}.") from error

    def _say(self, severity: Severity, text: str) -> None:
        self._events.append(Event(self._time_ns, severity, "robot", text))
        del self._events[:-_KEPT_EVENTS]  # nobody may be listening

    def _object(self, name: str) -> int:
        if name not in self._names:
            raise ConfigError(
                f"There is no object {name!r}; there are "
                f"{', '.join(self._names) or 'none'}."
            )
        return self._names.index(name)

    def _rows(self, name: str) -> list[int]:
        rows = [k for k, item in enumerate(self.world.obstacles) if item.name == name]
        if not rows:
            known = dict.fromkeys(item.name for item in self.world.obstacles)
            raise ConfigError(
                f"There is nothing called {name!r}; there are "
                f"{', '.join([*known, *self._names]) or 'no things'}."
            )
        return rows
