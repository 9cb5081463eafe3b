"""Leading a participant through a human study: consent, trials, forms, breaks.

Every trial is a live session of its own with a console that hides the strategy, draws
what is to be done and ends once it is; what counts is judged from the recording. What
is finished is kept at once, so that whoever stops, or is stopped, goes on from there.
"""

import datetime
import hashlib
import json
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication, QDialog

from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.console.guide import TaskGuide
from app.console.questions import (
    AgainDialog,
    BreakDialog,
    ConsentDialog,
    Cover,
    TellDialog,
    WorkloadDialog,
)
from app.console.run import make_application
from app.errors import LogError, ProcessError
from app.study.factorial.cells import TrialSpec
from app.study.factorial.run import RECORDING
from app.study.factorial.store import Store, write_whole
from app.study.participant.judge import judge_recording
from app.study.participant.order import Turn, turns_of
from app.study.participant.people import workload_path
from app.study.participant.plan import ParticipantPlan, read_consent
from app.study.participant.specs import spec_of
from app.study.participant.workload import raw_load
from app.study.task_truth import Verdict

__all__ = ["Drive", "Led", "lead_participant"]

_WAKE_MS = 200  # so often a signal is looked for while a question waits

Drive = Callable[[TrialSpec, Turn, Path, TaskGuide, Callable[[], None]], None]
"""Runs one live trial, recorded at the path, and returns once its window is closed;
the last is called when the window is about to come."""


class Led(Enum):
    """How it ended."""

    REFUSED = "they do not take part"
    STOPPED = "stopped; the rest is left for another time"
    DONE = "all is done"


def lead_participant(
    plan: ParticipantPlan, participant: int, store: Store, drive: Drive
) -> Led:
    """Lead a participant, counted from 1, through what is left of their trials.

    Args:
        plan: the study.
        participant: number.
        store: where trials are kept; those that are there are not done again.
        drive: runs one trial.

    Raises:
        LogError: a recording cannot be read, or a file not be written.
        ProcessError: a session does not start.
    """
    _application = make_application()
    leader = _Leader(plan, participant, store, drive)
    with _interruptible(leader):
        try:
            return leader.lead()
        finally:
            leader.cover.done(0)


class _Leader:
    def __init__(
        self, plan: ParticipantPlan, participant: int, store: Store, drive: Drive
    ) -> None:
        self._plan, self._participant = plan, participant
        self._store, self._drive = store, drive
        self._turns = turns_of(plan, participant - 1)
        self._specs = [spec_of(plan, turn, participant) for turn in self._turns]
        self._begun = 0
        self.interrupted = False
        self.cover = Cover()

    def lead(self) -> Led:
        """Go through all."""
        text = read_consent(self._plan)
        if not self._asked(ConsentDialog(self._plan.title, text)):
            return Led.STOPPED if self.interrupted else Led.REFUSED
        self._keep_consent(text)
        for number, turn in enumerate(self._turns):
            spec = self._specs[number]
            trial = not self._is_done(turn, spec)
            if trial and not (self._tell(turn, spec, number) and self._do(turn, spec)):
                return Led.STOPPED
            form = turn.last and not self._form(turn).exists()
            if form and not self._ask(turn, spec):
                return Led.STOPPED
            done = number + 1
            left = len(self._turns) - done
            if trial and left and done % self._plan.break_after == 0:
                pause = BreakDialog(self._plan.break_s, done, left)
                if not self._asked(pause):
                    return Led.STOPPED
        thanks = "That was all. Thank you for taking part."
        self._asked(TellDialog("Thank you", thanks, "Close", last=True))
        return Led.DONE

    def _asked(self, dialog: QDialog) -> bool:
        """Ask, and return whether to go on."""
        self.cover.hide()
        return bool(dialog.exec()) and not self.interrupted

    def _is_done(self, turn: Turn, spec: TrialSpec) -> bool:
        """Whether a trial is kept; a practice, once one of its system is."""
        if not turn.practice:
            return self._store.has(spec.name)
        return any(
            self._store.has(other.name)
            for other, its in zip(self._specs, self._turns, strict=True)
            if its.strategy == turn.strategy and not its.practice
        )

    def _form(self, turn: Turn) -> Path:
        return workload_path(self._store, self._participant, turn.letter)

    def _keep_consent(self, text: str) -> None:
        """Note that they agreed, to which text and when."""
        told = {
            "participant": self._participant,
            "agreed_utc": datetime.datetime.now(datetime.UTC).isoformat("T", "seconds"),
            "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
        path = self._store.folder / f"consent_p{self._participant:02d}.json"
        write_whole(path, json.dumps(told, indent=1).encode())

    def _tell(self, turn: Turn, spec: TrialSpec, number: int) -> bool:
        task = _placed(spec)
        kind = "Practice: it does not count." if turn.practice else "This one counts."
        title = f"Trial {number + 1} of {len(self._turns)}: system {turn.letter}"
        text = (
            f"{task.parameters.title}. {_what_to_do(task)}\n\n{kind} Arm the robot and "
            "take the arm in hand: the time runs from then. The window closes by "
            f"itself when it is done, at the latest after {self._plan.longest_s:g} s. "
            "F1 shows which key or stick does what."
        )
        return self._asked(TellDialog(title, text, "Begin"))

    def _do(self, turn: Turn, spec: TrialSpec) -> bool:
        """Do one trial until it counts; a practice leaves nothing."""
        attempts = 0
        while True:
            attempts += 1
            self._begun += 1
            folder = self._store.begin(spec.name, self._begun)
            guide = TaskGuide(_placed(spec), turn.letter, self._plan.longest_s)
            self.cover.tell("The system starts.")
            self._drive(spec, turn, folder / RECORDING, guide, self.cover.hide)
            self.interrupted |= guide.interrupted
            self.cover.tell("The trial is put away.")
            if turn.practice:
                return not self.interrupted
            judged = self._judge(turn, spec, folder, attempts, sure=guide.ended)
            if self.interrupted and not guide.ended:
                return False
            if judged is None or not (guide.ended or judged == Verdict.SUCCESS.value):
                question = AgainDialog(can_count=judged is not None)
                if not self._asked(question):
                    return False
                if not question.gives_up:
                    shutil.rmtree(folder, ignore_errors=True)
                    continue
            self._store.accept(spec.name, folder)
            return not self.interrupted

    def _judge(
        self, turn: Turn, spec: TrialSpec, folder: Path, attempts: int, *, sure: bool
    ) -> str | None:
        """Judge a trial by its recording; None where that is too short to tell."""
        if not (folder / RECORDING).exists():
            raise ProcessError(
                f"{folder / RECORDING}: the session left no recording, so the trial "
                "does not count. Start again: it is done anew."
            )
        extra = {
            "participant": self._participant,
            "letter": turn.letter,
            "repeat": turn.repeat,
            "attempts": attempts,
        }
        try:
            return str(judge_recording(spec, folder, extra)["verdict"])
        except LogError:
            if sure:
                raise
            return None

    def _ask(self, turn: Turn, spec: TrialSpec) -> bool:
        """Ask for the workload of a system; kept at once."""
        form = WorkloadDialog(turn.letter)
        if not self._asked(form):
            return False
        answers: dict[str, Any] = {
            "participant": self._participant,
            "strategy": spec.cell.strategy,
            "letter": turn.letter,
            "answers": form.answers,
            "raw_load": raw_load(form.answers),
        }
        write_whole(self._form(turn), json.dumps(answers, indent=1).encode())
        return True


def _placed(spec: TrialSpec) -> PlacedTask:
    return place_task(load_task(spec.task), load_robot(spec.robot), spec.cell.variant)


def _what_to_do(task: PlacedTask) -> str:
    parameters = task.parameters
    if parameters.reach is not None:
        return (
            f"There are {len(task.targets)} balls. Bring the tip of the arm into the "
            f"one that is drawn thick and keep it still there for "
            f"{parameters.reach.dwell_s:g} s; then the next one is."
        )
    if task.curve is not None:
        return (
            "Bring the tip of the arm to the ball at the line's begin, then along the "
            "line to its end, as near to it as you can."
        )
    if parameters.press is not None:
        return (
            f"Press the marked place with {parameters.press.force_n:g} N and hold that "
            f"for {parameters.press.hold_s:g} s."
        )
    return f"Done when: {parameters.success}."


@contextmanager
def _interruptible(leader: _Leader) -> Iterator[None]:
    """Let CTRL+C and a termination end the question that is open, and so all."""

    def stop(*_: object) -> None:
        leader.interrupted = True
        QTimer.singleShot(0, _close_questions)

    timer = QTimer()
    timer.timeout.connect(lambda: None)  # Python looks for signals only when it runs
    timer.start(_WAKE_MS)
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        timer.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def _close_questions() -> None:
    for window in QApplication.topLevelWidgets():
        if isinstance(window, QDialog) and window.isVisible():
            window.done(0)
