"""Leading a participant through a human study: consent, trials, forms, breaks.

Every trial is a live session of its own with a console whose strategy is hidden. It
ends when the window is closed or its time is over, and is judged from its recording.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.config.task import load_task
from app.console.questions import (
    BreakDialog,
    ConsentDialog,
    TellDialog,
    WorkloadDialog,
)
from app.console.run import make_application
from app.errors import ProcessError
from app.study.factorial.cells import TrialSpec
from app.study.factorial.run import RECORDING
from app.study.factorial.store import Store, write_whole
from app.study.participant.judge import judge_recording
from app.study.participant.order import Turn, turns_of
from app.study.participant.plan import ParticipantPlan, read_consent
from app.study.participant.specs import spec_of
from app.study.participant.workload import raw_load

__all__ = ["Drive", "lead_participant"]

Drive = Callable[[TrialSpec, Turn, Path], None]
"""Runs one live trial and returns once it is over and recorded at the path."""


def lead_participant(
    plan: ParticipantPlan, participant: int, store: Store, drive: Drive
) -> bool:
    """Lead a participant, counted from 1, through what is left of their trials.

    Args:
        plan: the study.
        participant: number.
        store: where trials are kept; those that are there are not done again.
        drive: runs one trial.

    Returns:
        Whether they agreed to take part.

    Raises:
        LogError: a recording cannot be read, or a file not be written.
        ProcessError: a session does not start.
    """
    _application = make_application()
    turns = turns_of(plan, participant - 1)
    specs = [spec_of(plan, turn, participant) for turn in turns]
    if not ConsentDialog(plan.title, read_consent(plan)).exec():
        return False
    for number, (turn, spec) in enumerate(zip(turns, specs, strict=True)):
        if not turn.practice and store.has(spec.name):
            continue
        _tell(plan, turn, number, len(turns))
        _one(turn, spec, store, drive, participant)
        if turn.last:
            _ask(store, participant, turn, spec)
        done = number + 1
        if done % plan.break_after == 0 and done < len(turns):
            BreakDialog(plan.break_s, done, len(turns) - done).exec()
    TellDialog("Thank you", "That was all. Thank you for taking part.", "Close").exec()
    return True


def _tell(plan: ParticipantPlan, turn: Turn, number: int, count: int) -> None:
    task = load_task(plan.tasks[turn.task].name)
    kind = "Practice, not counted" if turn.practice else "This one counts"
    TellDialog(
        f"Trial {number + 1} of {count}: system {turn.letter}",
        f"{task.title}.\nDone when: {task.success}.\n\n{kind}. Arm the robot, do the "
        f"task, then close the window; after {plan.longest_s:g} s it closes by itself.",
        "Begin",
    ).exec()


def _one(
    turn: Turn, spec: TrialSpec, store: Store, drive: Drive, participant: int
) -> None:
    """Do one trial; a practice leaves nothing."""
    folder = store.begin(spec.name, turn.repeat + (1000 if turn.practice else 1))
    drive(spec, turn, folder / RECORDING)
    if turn.practice:
        return
    if not (folder / RECORDING).exists():
        raise ProcessError(
            f"{folder / RECORDING}: the session left no recording, so the trial does "
            "not count. Start again: it is done anew."
        )
    extra = {"participant": participant, "letter": turn.letter, "repeat": turn.repeat}
    judge_recording(spec, folder, extra)
    store.accept(spec.name, folder)


def _ask(store: Store, participant: int, turn: Turn, spec: TrialSpec) -> None:
    """Ask for the workload of a system; kept at once."""
    form = WorkloadDialog(turn.letter)
    form.exec()
    answers: dict[str, Any] = {
        "participant": participant,
        "strategy": spec.cell.strategy,
        "letter": turn.letter,
        "answers": form.answers,
        "raw_load": raw_load(form.answers),
    }
    path = store.folder / f"workload_p{participant:02d}_{turn.letter}.json"
    write_whole(path, json.dumps(answers, indent=1).encode())
