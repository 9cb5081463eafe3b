"""One millisecond of the robot: sensors, bridge, winches, limbs, telemetry.

Its body is the simulated plant or a rig of real actuators (app.robot.rig).

Live, a process calls it on the monotonic clock; a study calls the same on a virtual
one, a whole trial from one seed.
"""

import secrets

from app.clock import NS_PER_S
from app.config.link import LinkParameters
from app.config.robot import RobotParameters, build_robot_model
from app.config.scene import SceneParameters
from app.config.teleop import TeleopParameters
from app.link.frame import Codec
from app.link.pacing import budget_for
from app.messages import Event, RobotState, Severity
from app.robot.body import Applied, Body
from app.robot.bridge import Bridge
from app.robot.custody import Custody
from app.robot.feeling import Feeling
from app.robot.object_sight import ObjectSight
from app.robot.plant import PLANT_PERIOD, Plant, PlantMismatch
from app.robot.quiet import Quiet
from app.robot.safety import Actuation
from app.robot.surroundings import Surroundings
from app.robot.truth import TruthData
from models.numerics import FloatArray

__all__ = ["DEFAULT_ROBOT_ID", "STEP_NS", "RobotCore", "warm_up_robot"]

DEFAULT_ROBOT_ID = 1
STEP_NS = 1_000_000
"""Time between steps [ns]."""


class RobotCore:
    """Bridge and body; with the simulated plant pure: bytes and time in, bytes out."""

    def __init__(
        self,
        robot: RobotParameters,
        link: LinkParameters,
        mismatch: PlantMismatch,
        seed: int,
        *,
        robot_id: int = DEFAULT_ROBOT_ID,
        coordinates: FloatArray | None = None,
        session: int | None = None,
        body: Body | None = None,
        teleop: TeleopParameters | None = None,
        scene: SceneParameters | None = None,
    ) -> None:
        """Start idle, at rest.

        Args:
            robot: the robot as its file gives it.
            link: sets the frame size and telemetry's share of the link.
            mismatch: how the simulated robot differs from its file.
            seed: of the sensor noise.
            robot_id: number that frames for this robot carry, 0..255.
            coordinates: (S, 3) pose to start at; None = the rest posture.
            session: number of this life of the robot, 1..2**32 - 1, that its frames
                carry; None = drawn at random, so that no frame of an earlier life is
                obeyed.
            body: what is driven; None = a simulated plant with that mismatch.
            teleop: of the strategies' slave halves; None = the defaults.
            scene: what a simulated plant can touch and grasp; None = open water.

        Raises:
            ConfigError: the mismatch or the scene does not fit the robot.
            FrameError: the link's packets are too small for any frame.
        """
        self.model = build_robot_model(robot)
        self.custody = Custody()
        self.bridge = Bridge(
            self.model,
            robot,
            Codec(self.model, robot_id, link.medium.mtu_bytes),
            budget_for(link, up=True),
            session=session or secrets.randbits(32) or 1,
            custody=self.custody,
            teleop=teleop,
        )
        self._around = None
        self._sight: ObjectSight | None = None
        if scene is not None and not scene.is_empty:
            self._around = Surroundings(scene, robot, self.model)
            self._sight = ObjectSight(self._around)
        self._plant: Plant | None = None
        if body is None:
            body = self._plant = Plant(
                self.model, mismatch, seed, coordinates, surroundings=self._around
            )
        self.body = body
        self._feeling: Feeling | None = None
        self._quiet: Quiet | None = None
        if self._plant is not None:
            tips = None if self._around is None else self._around.tip_force
            noise = mismatch.noise
            self._feeling = Feeling(robot, self.model, seed, noise, tips)
            self._quiet = Quiet(self.bridge.onward, self._plant, self._feeling)
        self.bridge.followed.goals.senses = self._plant is not None
        self.applied = Applied(self.model.rest_coordinates.copy(), Actuation.COMPLIANT)
        self._feels = False  # what it touches
        self._frozen = 0
        self._stopped = False
        self._events: list[Event] = []

    @property
    def state(self) -> RobotState:
        """What the robot does now."""
        return self.bridge.state

    def receive(self, now_ns: int, buffer: bytes, peer: int = 0) -> bool:
        """Take one packet from the link.

        Args:
            now_ns: robot time [ns].
            buffer: the packet.
            peer: number of the connection it came by; 0 where there is only one.

        Returns:
            Whether it may move a limb.
        """
        return self.bridge.receive(now_ns, buffer, peer)

    def step(self, now_ns: int) -> list[bytes]:
        """Advance by one millisecond.

        Args:
            now_ns: robot time [ns]; `STEP_NS` after the last.

        Returns:
            Telemetry packets to send now.
        """
        return [packet for _, packet in self.run_on(now_ns, 1)]

    def run_on(self, now_ns: int, steps: int) -> list[tuple[int, bytes]]:
        """Advance by some milliseconds in which no packet comes.

        Args:
            now_ns: robot time of the first [ns].
            steps: how many.

        Returns:
            Telemetry packets, and when each is to be sent [ns].
        """
        sent: list[tuple[int, bytes]] = []
        while steps > 0:
            done = self._go_on(now_ns, steps)
            if done:
                now_ns += (done - 1) * STEP_NS
                packets = self._tell_quiet(now_ns)
            else:
                done = 1
                packets = self._decide(now_ns)
            if packets:
                sent += [(now_ns, packet) for packet in packets]
            steps -= done
            now_ns += STEP_NS
        return sent

    @property
    def quiet_until_ns(self) -> int:
        """Until when a step sends nothing, unless a packet comes [ns]; 0 = unknown."""
        return self.bridge.quiet_until_ns if self._feels else 0

    def _decide(self, now_ns: int) -> list[bytes]:
        """Do a whole millisecond; as `step`."""
        body, bridge = self.body, self.bridge
        measured, tension = body.measure()
        contact = self._feel(now_ns, measured, tension)
        self.applied = bridge.step(
            now_ns, measured, unsafe=body.unsafe, contact=contact
        )
        if bridge.decided:
            self._tell_grippers()
            stopped = self.state is RobotState.ESTOP
            if self._stopped and not stopped:
                body.clear_faults()
            self._stopped = stopped
        if self._plant is not None:
            self._plant.time_ns = now_ns - STEP_NS  # it counts on by a step
        frozen = body.step(self.applied)
        if frozen or self._frozen:
            self._note_frozen(now_ns, frozen)
        if bridge.is_silent(now_ns):
            return []
        return self._tell(now_ns, measured, tension, contact)

    def _tell(
        self,
        now_ns: int,
        measured: FloatArray,
        tension: FloatArray,
        contact: FloatArray | None,
    ) -> list[bytes]:
        """Return the telemetry of a millisecond that is not silent."""
        return self.bridge.telemetry(
            now_ns,
            measured,
            tension,
            faults=int(self.body.faults),
            contact=b"" if self._feeling is None else self._feeling.told(),
            felt=contact,
            sight=self._sight,
            held=self._held(),
        )

    def _tell_quiet(self, now_ns: int) -> list[bytes]:
        """Return the telemetry of the millisecond that `_go_on` has done last."""
        quiet, feeling, bridge = self._quiet, self._feeling, self.bridge
        if now_ns < bridge.silent_until_ns or quiet is None or feeling is None:
            return []
        if bridge.is_silent(now_ns):
            return []
        measured, tension = quiet.pose.copy(), quiet.tension.copy()
        return self._tell(now_ns, measured, tension, feeling.contact)

    def _go_on(self, now_ns: int, steps: int) -> int:
        """Do milliseconds in which nothing is to be decided.

        Up to the first in which something may be told.

        Returns:
            How many are done; none of a rig, of a limb that stands still frozen, and
            where a measurement is not finite.
        """
        quiet, bridge = self._quiet, self.bridge
        past_ns = now_ns - bridge.onward_until_ns
        if past_ns >= 0 or quiet is None or not self._feels or self._frozen:
            return 0
        if now_ns - bridge.stepped_ns == STEP_NS:
            silent = max(-((now_ns - bridge.silent_until_ns) // STEP_NS), 0)
            period, steps = PLANT_PERIOD, min(steps, -(past_ns // STEP_NS), silent + 1)
        else:
            period, steps = bridge.elapsed_ns(now_ns) / NS_PER_S, 1
        done = quiet.run(now_ns, steps, period, bridge.safety.hold_after_ns)
        if done:
            bridge.stepped_ns = now_ns + (done - 1) * STEP_NS
            self.applied = quiet.applied
            if self._plant is not None and self._plant.frozen:
                self._note_frozen(bridge.stepped_ns, self._plant.frozen)
        return done

    def _tell_grippers(self) -> None:
        if self._around is not None:
            self._around.grip(self.bridge.followed.closure)

    def _held(self) -> int:
        """Bit k is set where limb k holds something; -1 before any grip was told."""
        if self._around is None or not self.bridge.followed.has_gripped:
            return -1
        return self._around.held_limbs

    @property
    def true_pose(self) -> FloatArray:
        """(S, 3) of the simulated robot; of a rig what is applied; a view."""
        if self._plant is None:
            return self.applied.coordinates
        return self._plant.coordinates

    @property
    def truth(self) -> TruthData | None:
        """What was so after each step of the simulated robot; None of a rig."""
        return None if self._plant is None else self._plant.truth

    @property
    def surroundings(self) -> Surroundings | None:
        """What the simulated robot can touch; None in open water, and of a rig."""
        return self._around

    def _feel(
        self, now_ns: int, measured: FloatArray, tension: FloatArray
    ) -> FloatArray | None:
        """Forces of the tips on what they touch, while the robot holds itself.

        The pose of a rig is that of a model that follows its actuators
        (`app.robot.estimator`): contact is not in it.
        """
        feeling = self._feeling
        if feeling is None:
            return None
        self._feels = self.applied.actuation is Actuation.STIFF
        if self._feels:
            feeling.step(now_ns, measured, tension)
        else:
            feeling.rest()
        return feeling.contact

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load what an idle robot never calls; this core is thrown away.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        self.bridge.warm_up(coordinates)

    def events(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        events = sorted(
            [
                *self._events,
                *self.bridge.events(),
                *self.custody.events(),
                *self.body.events(),
            ],
            key=lambda event: event.time_ns,
        )
        self._events = []
        return events

    def _note_frozen(self, now_ns: int, frozen: int) -> None:
        if frozen and self.applied.actuation != Actuation.STIFF:
            self.body.recover()
            frozen = 0
        if frozen > self._frozen:
            self._events.append(
                Event(
                    now_ns,
                    Severity.ALARM,
                    "robot",
                    f"{frozen} simulated limb(s) left the range of the model and stand "
                    "still. Disarm: they recover once compliant.",
                )
            )
            del self._events[:-64]  # nobody may be listening
        self._frozen = frozen


def warm_up_robot(
    robot: RobotParameters,
    link: LinkParameters,
    scene: SceneParameters | None = None,
) -> None:
    """Compile or load every kernel that a `RobotCore` runs, on one that is thrown away.

    Args:
        robot: any robot; kernels are the same for all.
        link: any link.
        scene: what the robot can touch, if anything.
    """
    core = RobotCore(robot, link, PlantMismatch(), 0, scene=scene)
    core.step(0)
    core.step(STEP_NS)
    rest = core.model.rest_coordinates.copy()
    core.warm_up(rest)
    core.body.step(Applied(rest, Actuation.STIFF))
