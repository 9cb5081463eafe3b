"""What a participant is to do now: drawn in the picture, told above it, ended in time.

Trials with people only. It knows no more than telemetry has told; what counts is
judged from the recording afterwards, a little less strictly.
"""

import numpy as np

from app.clock import NS_PER_S
from app.config.task_place import PlacedTask
from app.console.readings import StationReadings
from app.messages import StationMode
from app.scene.marks import GuideMark
from app.study.participant.live import LiveStand
from app.study.task_truth import Verdict
from models.numerics import FloatArray

__all__ = ["TaskGuide"]

_SHOWN_NS = 2 * NS_PER_S
_ENDS = {
    Verdict.SUCCESS: "Done. Let go.",
    Verdict.TIMEOUT: "The time is over. Let go.",
    Verdict.OVER_FORCE: "Pressed too hard: this trial is over. Let go.",
    Verdict.FAILED: "Too far from the line: this trial is over. Let go.",
}
_PAD_M = 0.03
_NEAREST_M = 0.5
_WIDE = 6.0  # of the view's distance over the task's radius


class TaskGuide:
    """Leads through one trial."""

    def __init__(self, task: PlacedTask, letter: str, longest_s: float) -> None:
        """Begin.

        Args:
            task: laid before the robot.
            letter: what the strategy is called before the participant.
            longest_s: time from when the limb is taken in hand [s].
        """
        self.letter = letter
        self.interrupted = False
        """Set by whoever ends the whole study while the trial runs."""
        self._task = task
        self._longest_s = longest_s
        self._live = LiveStand(task, longest_s)
        self._now_ns = 0
        self._ended_ns: int | None = None
        self._verdict = Verdict.RUNNING

    @property
    def ended(self) -> bool:
        """The trial has come to its end, in whatever way."""
        return self._ended_ns is not None

    @property
    def seen(self) -> bool:
        """Its end has been shown for long enough."""
        return self._ended_ns is not None and self._now_ns - self._ended_ns >= _SHOWN_NS

    def take(self, readings: StationReadings) -> None:
        """Take the newest readings in; cheap enough for every frame."""
        self._now_ns = readings.now_ns
        if self.ended or not readings.has_robot:
            return
        limb, state, health = self._task.limb, readings.state, readings.health
        driving = (
            int(state.mode[0]) == StationMode.ARMED and int(state.active_source[0]) >= 0
        )
        verdict = self._live.hear(
            int(health.confirmed_generated_ns[limb]),
            readings.tip_confirmed[limb],
            -health.contact_force[limb],
            driving=driving,
        )
        stand = self._live.stand
        if stand.begun_ns is not None and stand.left_s(self._now_ns) <= 0.0:
            verdict = Verdict.TIMEOUT if verdict is Verdict.RUNNING else verdict
        if verdict is not Verdict.RUNNING:
            self._verdict, self._ended_ns = verdict, self._now_ns

    @property
    def words(self) -> str:
        """One line: what to do now, and how much time is left."""
        stand = self._live.stand
        if self.ended:
            return _ENDS.get(self._verdict, "This trial is over. Let go.")
        if stand.begun_ns is None:
            return f"Arm and take the arm in hand: {self._longest_s:g} s from then"
        return f"{self._aim()}  ·  {stand.left_s(self._now_ns):.0f} s left"

    def _aim(self) -> str:
        task, stand = self._task, self._live.stand
        if task.curve is not None:
            if stand.path_ns is None:
                return "Go to the ball at the line's begin"
            return "Follow the line to its end"
        if task.parameters.press is not None:
            force = task.parameters.press.force_n
            return f"Press the marked place with {force:g} N, and hold"
        return f"Ball {1 + len(stand.hits_ns)} of {len(task.targets)}: stop inside it"

    def sight(self) -> tuple[FloatArray, float]:
        """Where to look, (3,) [m] in the hull frame, and from how far away [m]."""
        mark = self.mark
        points = mark.balls if mark.line is None else mark.line
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        wide = float(np.linalg.norm(points - middle, axis=1).max()) + mark.radius
        return middle, max(_NEAREST_M, _WIDE * wide)

    @property
    def mark(self) -> GuideMark:
        """What is drawn of it."""
        task, stand = self._task, self._live.stand
        if task.curve is not None:
            points = task.curve.points
            done = (1 if stand.path_ns is not None else 0) + self.ended
            balls = points[[0, -1]]
            return GuideMark(balls, 0.01, done, points[::8])
        if len(task.targets):
            return GuideMark(task.targets, 0.5 * task.width, len(stand.hits_ns))
        places = task.pads[0].place[None]
        return GuideMark(places, _PAD_M, int(self.ended))
