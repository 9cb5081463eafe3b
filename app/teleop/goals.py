"""Goals that a limb reaches by itself, and how it gets on with them.

Supervisory control: the operator says what, the robot does it and tells how it went
(Sheridan 1992). A goal has a number; the same number again is the same goal, so that it
can be repeated until the robot has told that it knows it (`app.teleop.goal_bytes` has
its bytes).
"""

from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "GREATEST_FORCE",
    "GREATEST_SPEED",
    "Goal",
    "GoalKind",
    "GoalReason",
    "GoalState",
    "GoalStatus",
    "Vector",
]

GREATEST_SPEED = 0.05
"""Of a tip that goes by itself [m/s]."""
GREATEST_FORCE = 5.0
"""Of contact [N]."""

Vector = tuple[float, float, float]


class GoalKind(IntEnum):
    """What the limb shall do."""

    REACH = 0  # go to the position
    FOLLOW = 1  # go to the position by way of the points
    PRESS = 2  # go along the normal until it touches, and hold the force
    GRASP = 3  # go to the position and close the gripper
    PLACE = 4  # go to the position and open the gripper
    STOP = 5  # stop, and let setpoints drive the limb again


class GoalState(IntEnum):
    """How far the robot is with it."""

    NONE = 0
    ACCEPTED = 1
    RUNNING = 2
    DONE = 3
    FAILED = 4


class GoalReason(IntEnum):
    """Why it failed."""

    NONE = 0
    OVER_FORCE = 1
    NOT_REACHED = 2
    OUT_OF_REACH = 3
    NO_CONTACT = 4
    NOT_HELD = 5
    NO_SENSE = 6
    DISARMED = 7
    LINK_LOST = 8
    STOPPED = 9
    FAULT = 10
    REPLACED = 11
    FORGOTTEN = 12

    @property
    def words(self) -> str:
        """What a person is told."""
        return _WORDS[self]


_WORDS = {
    GoalReason.NONE: "",
    GoalReason.OVER_FORCE: "the contact force went above its limit",
    GoalReason.NOT_REACHED: "the tip did not come within the tolerance",
    GoalReason.OUT_OF_REACH: "the position is out of the limb's reach",
    GoalReason.NO_CONTACT: "there was nothing to press against",
    GoalReason.NOT_HELD: "the force could not be held",
    GoalReason.NO_SENSE: "the robot does not sense contact",
    GoalReason.DISARMED: "the robot was disarmed",
    GoalReason.LINK_LOST: "the link was silent for too long",
    GoalReason.STOPPED: "emergency stop",
    GoalReason.FAULT: "something of the robot failed",
    GoalReason.REPLACED: "another goal took its place",
    GoalReason.FORGOTTEN: "the robot began anew and knows nothing of it",
}


@dataclass(frozen=True)
class Goal:
    """One goal.

    Attributes:
        number: 1..255, one more than that of the goal before; after 255 comes 1.
        kind: what to do.
        limb: index of the limb.
        position: of the tip, hull frame [m]; of no meaning to PRESS and STOP.
        normal: for PRESS, the unit vector into the surface, hull frame.
        points: for FOLLOW, on the way there [m]; at most 7, of which a coarse goal
            tells 2.
        speed: greatest speed of the tip [m/s].
        force: PRESS: to be held; else the greatest that is borne [N].
        time: PRESS: how long to hold; GRASP, PLACE: to let the gripper work [s].
        tolerance: how near is there [m].
    """

    number: int
    kind: GoalKind
    limb: int
    position: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 0.0)
    points: tuple[Vector, ...] = ()
    speed: float = GREATEST_SPEED
    force: float = GREATEST_FORCE
    time: float = 1.0
    tolerance: float = 5e-3


@dataclass(frozen=True)
class GoalStatus:
    """How the robot gets on with its newest goal.

    Attributes:
        number: of the goal; 0 = it has none.
        state: how far it is.
        reason: why it failed.
        progress: 0..1 of the way, or of the time to hold.
        force: of contact now, up to 12.7 [N].
    """

    number: int = 0
    state: GoalState = GoalState.NONE
    reason: GoalReason = GoalReason.NONE
    progress: float = 0.0
    force: float = 0.0

    @property
    def ended(self) -> bool:
        """Nothing of it is left to be done."""
        return self.state in {GoalState.DONE, GoalState.FAILED}
