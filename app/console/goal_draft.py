"""The goal that a person is about to ask for, and the place that is marked. No Qt.

The marked place serves both: a goal goes there, and blended assistance leads there.
"""

from dataclasses import dataclass, replace

import numpy as np

from app.errors import FrameError
from app.messages import GOAL_POINTS
from app.teleop.blending import BLEND_MOST
from app.teleop.goal_wish import check_goal
from app.teleop.goals import GREATEST_FORCE, GREATEST_SPEED, Goal, GoalKind, Vector
from models.numerics import FloatArray

__all__ = ["KINDS", "GoalDraft"]

KINDS = (
    GoalKind.REACH,
    GoalKind.FOLLOW,
    GoalKind.PRESS,
    GoalKind.GRASP,
    GoalKind.PLACE,
)
"""What a person chooses among; a stop has its own button."""

_PRESS_FORCE = 1.0  # N at first


@dataclass(frozen=True)
class GoalDraft:
    """What is set in the goals panel; every change makes another.

    Attributes:
        kind: what the limb shall do.
        limb: which; the selected one.
        place: (x, y, z) marked in the picture [m], hull frame; None = none.
        points: on the way there, of a path to follow [m].
        along: unit direction of a press; None = not chosen yet.
        tolerance: how near is there [m].
        press_force: to be held by a press [N].
        bear_force: the most that another goal bears [N].
        speed: greatest of the tip [m/s].
        hold: of a press, or for the gripper to work [s].
        blend: greatest share of blended assistance.
        assisted: it is on.
    """

    kind: GoalKind = GoalKind.REACH
    limb: int = 0
    place: Vector | None = None
    points: tuple[Vector, ...] = ()
    along: Vector | None = None
    tolerance: float = 5e-3
    press_force: float = _PRESS_FORCE
    bear_force: float = GREATEST_FORCE
    speed: float = GREATEST_SPEED
    hold: float = 1.0
    blend: float = BLEND_MOST
    assisted: bool = False

    def marked(self, place: FloatArray) -> "GoalDraft":
        """Mark a (3,) place [m]; what is not finite marks none."""
        if not bool(np.isfinite(place).all()):
            return replace(self, place=None)
        x, y, z = np.asarray(place, dtype=float).tolist()
        return replace(self, place=(x, y, z))

    def pointed(self, direction: FloatArray) -> "GoalDraft":
        """Choose the (3,) direction of a press."""
        length = float(np.linalg.norm(direction))
        if not length > 1e-9:
            return self
        x, y, z = (np.asarray(direction, dtype=float) / length).tolist()
        return replace(self, along=(x, y, z))

    def with_point(self) -> "GoalDraft":
        """Make the marked place a point on the way."""
        if self.place is None or len(self.points) >= GOAL_POINTS:
            return self
        return replace(self, points=(*self.points, self.place))

    def selecting(self, limb: int) -> "GoalDraft":
        """Take another limb: what was marked was for the one before."""
        if limb == self.limb:
            return self
        return replace(self, limb=limb, place=None, points=(), along=None)

    @property
    def goal(self) -> Goal:
        """The goal as it stands; its number does not matter."""
        press = self.kind is GoalKind.PRESS
        return Goal(
            number=1,
            kind=self.kind,
            limb=self.limb,
            position=self.place or (0.0, 0.0, 0.0),
            normal=(self.along if press else None) or (0.0, 0.0, 0.0),
            points=self.points if self.kind is GoalKind.FOLLOW else (),
            speed=self.speed,
            force=self.press_force if press else self.bear_force,
            time=self.hold,
            tolerance=self.tolerance,
        )

    def missing(self, limbs: int) -> str:
        """What is missing before it can be sent, as a sentence; "" = nothing.

        Args:
            limbs: number of limbs of the robot.
        """
        if self.kind is GoalKind.PRESS:
            if self.along is None:
                return "Choose the direction of the press."
        elif self.place is None:
            return "Mark where to: M, then click in the picture; or T: at the tip."
        elif self.kind is GoalKind.FOLLOW and not self.points:
            return "Mark a point of the way, take it up with + WAY, mark the end."
        try:
            check_goal(self.goal, limbs)
        except FrameError as error:
            return str(error)
        return ""
