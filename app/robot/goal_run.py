"""Goals executed at the robot: reach, follow, press, grasp, place, stop.

    goal ──▶ MOVE ──▶ SETTLE ──┬──────────────▶ DONE
                               └─▶ GRIP ──────▶ DONE      (grasp, place)
    press ─▶ APPROACH ─▶ PUSH ────────────────▶ DONE
    stop ──▶ MOVE (comes to rest) ─▶ AWAIT ───▶ DONE, and setpoints drive the limb again

The tip's command goes along a minimum-jerk motion of at most 50 mm/s; where it has
arrived, what the measured tip lacks is added slowly. A press goes along its normal
until it feels contact and then moves on by k_i (F_ref - F) n: F is the force of contact
along the normal. A limb with a goal listens to no setpoints, also where it has ended,
until a stop or a new arming. A stop awaits setpoints that begin where the limb is:
those that the station sent before it knew are for where the limb has been. Any goal
ends where the contact force goes above its limit, and with the arming (`end`).
"""

import math
from enum import Enum

import numpy as np

from app.robot.goal_motion import TipMotion
from app.teleop.goals import (
    GREATEST_FORCE,
    GREATEST_SPEED,
    Goal,
    GoalKind,
    GoalReason,
    GoalState,
    GoalStatus,
)
from models.inverse import OUT_OF_REACH, allocate_inverse_data, inverse_step
from models.numerics import FloatArray
from models.robot import RobotModel
from models.tip import point_to_base, tip_position

__all__ = ["GoalRun"]

_FILTER_S = 0.05  # of the measured tip and the force along the normal
_CORRECT_PER_S = 1.0
_CORRECT_MOST = 0.03  # m
_STEADY_S = 0.2  # within the tolerance for so long is there
_SETTLE_S = 8.0
_TOUCH = 0.3  # N
_MORE = 0.5  # N above what was felt at the begin: a tip that is pressed can go back
_APPROACH_SPEED = 0.02  # m/s at most; a wall is met with no more
_APPROACH_WAY = 0.15  # m
_GAIN = 5e-3  # k_i [m/(N s)]
_PUSH_WAY = 0.15  # m from where it touched
_BAND = 0.1  # of the force, held within it
_PUSH_S = 30.0  # and the time to hold, until it is given up


class _Phase(Enum):
    """What is being done."""

    REST = 0
    MOVE = 1
    SETTLE = 2
    GRIP = 3
    APPROACH = 4
    PUSH = 5
    AWAIT = 6


class GoalRun:
    """The one goal that a robot works on; pure, stepped every millisecond."""

    def __init__(self, model: RobotModel) -> None:
        """Begin without a goal.

        Args:
            model: the robot as its file gives it.
        """
        self._model = model
        longest = int(np.max(np.diff(model.limb_segment_start)))
        self._inverse = allocate_inverse_data(model)
        self._poses = np.zeros((longest + 1, 4, 4))
        self._in_base = np.zeros(3)
        self._measured = np.zeros(3)
        self._rows = np.zeros((0, 3))
        self._goal: Goal | None = None
        self._phase = _Phase.REST
        self._state, self._reason = GoalState.NONE, GoalReason.NONE
        self._motion = TipMotion(np.zeros(3), np.zeros(3), (), 1.0, 1.0)
        self._tip = np.zeros(3)
        self._command = np.zeros(3)
        self._correction = np.zeros(3)
        self._reach = 0
        self._limit = GREATEST_FORCE
        self._held: set[int] = set()
        self._pushed = 0.0
        self._depth = 0.0
        self._force = self._size = 0.0
        self._phase_s = self._held_s = 0.0
        self._progress = 0.0
        self._newest = 0
        self.senses = False
        """The robot senses contact; else a press is refused, and no force is feared."""
        self.closure = math.nan
        """What a goal wants of its limb's gripper, 0..1; NaN: nothing."""

    @property
    def limb(self) -> int:
        """The limb of the newest goal; -1 = none."""
        return -1 if self._goal is None else self._goal.limb

    def holds(self, limb: int) -> bool:
        """Tell whether a limb listens to goals alone."""
        return limb in self._held

    @property
    def running(self) -> bool:
        """Something is being done."""
        return self._phase is not _Phase.REST

    @property
    def state(self) -> GoalState:
        """How the newest goal stands; NONE: there was none."""
        return self._state

    @property
    def status(self) -> GoalStatus:
        """What the station is told."""
        return GoalStatus(
            self._newest, self._state, self._reason, self._progress, self._force
        )

    def awaits(self, limb: int) -> bool:
        """Tell whether a limb has stopped and awaits setpoints that begin there."""
        return self._phase is _Phase.AWAIT and self.limb == limb

    def give_back(self) -> None:
        """Setpoints begin where the limb is: they drive it again."""
        if self._phase is _Phase.AWAIT:
            self._done()

    def forget(self) -> None:
        """A new arming: no goal of an earlier one counts, and numbers begin anew."""
        self._goal, self._phase = None, _Phase.REST
        self._state, self._reason = GoalState.NONE, GoalReason.NONE
        self._newest, self._progress = 0, 0.0
        self._held.clear()
        self.closure = math.nan

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels, on goals that are thrown away.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        spare = GoalRun(self._model)
        spare.take(Goal(1, GoalKind.STOP, 0), coordinates)
        spare.step(1e-3, coordinates, None)

    def end(self, reason: GoalReason) -> None:
        """What is being done fails where it is."""
        if self.running:
            self._fail(reason)

    def take(self, goal: Goal, applied: FloatArray) -> bool:
        """Begin a goal, in the place of another; nothing where it is not newer.

        Args:
            goal: as the station wants it.
            applied: (S, 3) pose applied now [rad, rad, m].

        Returns:
            Whether it is begun.
        """
        ahead = (goal.number - self._newest) % 255
        if self._newest and not 0 < ahead < 128:
            return False
        if goal.limb >= self._model.tip_speed_limit.size:
            return False
        velocity = np.zeros(3)
        if self.limb == goal.limb and self.running:
            velocity = self._motion.velocity
            self._tip = self._command.copy()
        else:
            start, stop = self._model.limb_segment_start[goal.limb : goal.limb + 2]
            self._rows = applied[start:stop].copy()
            tip_position(self._model, goal.limb, self._rows, self._poses, self._tip)
            self._measured[:] = self._tip
            self._force = self._size = 0.0
        self._goal, self._newest = goal, goal.number
        self._held.add(goal.limb)
        limit = GREATEST_FORCE if goal.kind is GoalKind.PRESS else goal.force
        self._limit = max(min(limit, GREATEST_FORCE), self._size + _MORE)
        self.closure = math.nan
        self._state, self._reason = GoalState.ACCEPTED, GoalReason.NONE
        self._progress = self._held_s = self._phase_s = 0.0
        self._correction[:] = 0.0
        self._pushed = self._depth = 0.0
        self._begin(goal, velocity)
        return True

    def _begin(self, goal: Goal, velocity: FloatArray) -> None:
        points: tuple[tuple[float, float, float], ...] = ()
        if goal.kind not in {GoalKind.STOP, GoalKind.PRESS}:
            points = (*goal.points, goal.position)
        self._phase = _Phase.MOVE
        if goal.kind is GoalKind.PRESS:
            self._phase = _Phase.APPROACH
            if not self.senses:
                self._fail(GoalReason.NO_SENSE)
        if goal.kind is GoalKind.GRASP:
            self.closure = 0.0
        self._motion = TipMotion(
            self._tip, velocity, points, goal.speed, GREATEST_SPEED
        )

    def step(
        self, period: float, measured: FloatArray, contact: FloatArray | None
    ) -> FloatArray | None:
        """Go on with the goal.

        Args:
            period: time since the last step [s].
            measured: (S, 3) pose [rad, rad, m]; rows may be not finite.
            contact: (L, 3) force of each tip on what it touches, hull frame [N]; None
                where the robot senses none.

        Returns:
            (n, 3) wanted of `limb` [rad, rad, m], reused by the next step; None where
            nothing is being done.
        """
        goal = self._goal
        if goal is None or not self.running or period <= 0.0:
            return None
        self._state = GoalState.RUNNING
        felt = self._feel(goal, period, measured, contact)
        if felt > self._limit and goal.kind is not GoalKind.STOP:
            self._fail(GoalReason.OVER_FORCE)
            return None
        self._phase_s += period
        {
            _Phase.MOVE: self._move,
            _Phase.SETTLE: self._settle,
            _Phase.GRIP: self._grip,
            _Phase.APPROACH: self._approach,
            _Phase.PUSH: self._push,
            _Phase.AWAIT: self._await,
        }[self._phase](goal, period)
        if self._state is GoalState.FAILED:
            return None
        return self._follow(goal, period)

    def _feel(
        self,
        goal: Goal,
        period: float,
        measured: FloatArray,
        contact: FloatArray | None,
    ) -> float:
        """Filter tip and force; return the contact force's size [N]."""
        start, stop = self._model.limb_segment_start[goal.limb : goal.limb + 2]
        rows = measured[start:stop]
        share = min(period / _FILTER_S, 1.0)
        if np.isfinite(rows).all():
            tip = np.zeros(3)
            tip_position(self._model, goal.limb, rows, self._poses, tip)
            self._measured += share * (tip - self._measured)
        force = np.zeros(3) if contact is None else contact[goal.limb]
        size = float(np.linalg.norm(force))
        along = size
        if goal.kind is GoalKind.PRESS:
            along = float(force @ goal.normal)
        if not math.isfinite(along):
            return 0.0
        self._force += share * (along - self._force)
        self._size = size
        return size

    def _fail(self, reason: GoalReason) -> None:
        self._phase = _Phase.REST
        self._state, self._reason = GoalState.FAILED, reason
        self._motion.velocity = np.zeros(3)

    def _done(self) -> None:
        self._phase, self._progress = _Phase.REST, 1.0
        self._state = GoalState.DONE
        if self._goal is not None and self._goal.kind is GoalKind.STOP:
            self._held.discard(self._goal.limb)

    def _enter(self, phase: _Phase) -> None:
        self._phase, self._phase_s, self._held_s = phase, 0.0, 0.0

    def _move(self, goal: Goal, period: float) -> None:
        self._tip = self._motion.step(period)
        self._progress = self._motion.share
        if not self._motion.arrived:
            return
        still = goal.kind is GoalKind.STOP
        self._enter(_Phase.AWAIT if still else _Phase.SETTLE)

    def _await(self, _goal: Goal, _period: float) -> None:
        """Stay; `give_back` ends it."""
        self._progress = 1.0

    def _settle(self, goal: Goal, period: float) -> None:
        """Add slowly what the measured tip lacks, until it is near and stays there."""
        lacking = goal.position - self._measured
        distance = float(np.linalg.norm(lacking))
        if self._force < _TOUCH:
            self._correction += period * _CORRECT_PER_S * lacking
            size = float(np.linalg.norm(self._correction))
            self._correction *= min(1.0, _CORRECT_MOST / max(size, 1e-12))
        self._held_s = self._held_s + period if distance <= goal.tolerance else 0.0
        if self._held_s >= _STEADY_S:
            if goal.kind in {GoalKind.GRASP, GoalKind.PLACE}:
                self.closure = 1.0 if goal.kind is GoalKind.GRASP else 0.0
                self._enter(_Phase.GRIP)
            else:
                self._done()
        elif self._phase_s > _SETTLE_S:
            reach = self._reach & OUT_OF_REACH
            self._fail(GoalReason.OUT_OF_REACH if reach else GoalReason.NOT_REACHED)

    def _grip(self, goal: Goal, _period: float) -> None:
        if self._phase_s >= goal.time:
            self._done()

    def _approach(self, goal: Goal, period: float) -> None:
        """Go along the normal until it touches."""
        self._tip = self._motion.step(period)
        self._pushed += period * min(goal.speed, _APPROACH_SPEED)
        if self._force >= _TOUCH:
            self._depth = self._pushed
            self._enter(_Phase.PUSH)
        elif self._pushed > _APPROACH_WAY:
            self._fail(GoalReason.NO_CONTACT)

    def _push(self, goal: Goal, period: float) -> None:
        """Hold the force along the normal."""
        error = goal.force - self._force
        most = _APPROACH_SPEED * period
        self._pushed += min(max(_GAIN * error * period, -most), most)
        self._tip = self._motion.step(period)
        inside = abs(error) <= _BAND * goal.force
        self._held_s = self._held_s + period if inside else 0.0
        self._progress = min(self._held_s / max(goal.time, period), 1.0)
        if self._held_s >= goal.time:
            self._done()
        elif (
            self._pushed - self._depth > _PUSH_WAY
            or self._phase_s > _PUSH_S + goal.time
        ):
            self._fail(GoalReason.NOT_HELD)

    def _follow(self, goal: Goal, period: float) -> FloatArray:
        """Return the limb's posture for the tip's command."""
        wanted = self._tip + self._correction
        if goal.kind is GoalKind.PRESS:
            wanted = wanted + self._pushed * np.array(goal.normal)
        self._command = wanted
        point_to_base(self._model, goal.limb, wanted, self._in_base)
        self._reach = inverse_step(
            self._model,
            goal.limb,
            self._in_base,
            period,
            self._rows,
            self._inverse,
            self._rows,
        )
        return self._rows
