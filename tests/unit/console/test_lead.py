"""A participant led through a study by the real dialogs; trials are stood in for."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from app.console import participant as lead
from app.console.participant import Led, lead_participant
from app.console.questions import (
    AgainDialog,
    BreakDialog,
    ConsentDialog,
    TellDialog,
    WorkloadDialog,
    _Sure,
)
from app.study.factorial.store import Store
from app.study.participant.plan import ParticipantPlan, load_participant_plan

PLAN = """
name = "short"
title = "Short"
question = "Is it?"
consent = "consent.txt"
practice = 1
break_after = 3
break_s = 0.0
longest_s = 20.0
[[strategies]]
name = "move-and-wait"
[[strategies]]
name = "predictive"
[[links]]
label = "late"
preset = "ideal"
[[tasks]]
name = "reach-short"
variants = ["a100-w20"]
"""


class Person:
    """Answers every dialog with the keyboard; `wishes` says which are left otherwise.

    Attributes:
        asked: kinds of the dialogs that came, in order.
        drives: letter, practice of the trials that were driven.
        ends: whether a trial comes to its end, one after another; then: yes.
        wishes: what is done with a dialog in place of going on.
    """

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.asked: list[str] = []
        self.drives: list[tuple[str, bool]] = []
        self.ends: list[bool] = []
        self.wishes: dict[str, Callable[[QDialog], None]] = {}
        self._seen: list[QDialog] = []
        self.timer = QTimer()
        self.timer.setInterval(2)
        self.timer.timeout.connect(self._look)
        self.timer.start()

    def _look(self) -> None:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QDialog) or dialog in self._seen:
            return
        self._seen.append(dialog)
        self.asked.append(type(dialog).__name__)
        act = self.wishes.get(type(dialog).__name__) or self._go_on
        QTimer.singleShot(0, lambda: act(dialog))  # it may open another one

    def _go_on(self, dialog: QDialog) -> None:
        if isinstance(dialog, ConsentDialog):
            self.qtbot.keyClick(dialog, Qt.Key.Key_Return)
            assert dialog.isVisible()  # not before it is agreed to
            self.qtbot.keyClick(dialog.agreed, Qt.Key.Key_Space)
        elif isinstance(dialog, WorkloadDialog):
            for scale in dialog.scales.values():
                self.qtbot.keyClick(scale, Qt.Key.Key_Left)
        self.qtbot.keyClick(dialog, Qt.Key.Key_Return)

    def leave(self, dialog: QDialog) -> None:
        """Close it by the window's cross, and mean it."""
        self.wishes["_Sure"] = lambda sure: sure.done(2)
        dialog.close()

    def drive(self, spec, turn, log: Path, guide, seen) -> None:
        self.drives.append((turn.letter, turn.practice))
        seen()
        log.write_bytes(b"recorded")
        if self.ends.pop(0) if self.ends else True:
            guide._ended_ns = 1


@pytest.fixture
def person(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    def judge(spec, folder: Path, extra):
        result = {"verdict": "timeout"} | extra
        (folder / "result.json").write_text(json.dumps(result))
        return result

    monkeypatch.setattr(lead, "judge_recording", judge)
    made = Person(qtbot)
    yield made
    made.timer.stop()


@pytest.fixture
def plan(tmp_path: Path) -> ParticipantPlan:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "consent.txt").write_text("We ask you to reach.")
    return load_participant_plan(str(tmp_path / "plan.toml"))


def results(store: Store) -> list[dict]:
    return [store.result(name) for name in sorted(store.finished)]


def test_a_whole_session_leaves_consent_trials_and_forms(person, plan, tmp_path):
    with Store(tmp_path / "out") as store:
        assert lead_participant(plan, 1, store, person.drive) is Led.DONE
        assert [practice for _, practice in person.drives] == [True, False] * 2
        assert len(store.finished) == 2
        assert {item["attempts"] for item in results(store)} == {1}
    tell, form, pause = (k.__name__ for k in (TellDialog, WorkloadDialog, BreakDialog))
    assert person.asked == [
        ConsentDialog.__name__, tell, tell, form, tell, pause, tell, form, tell,
    ]  # fmt: skip
    forms = sorted((tmp_path / "out").glob("workload_p01_*.json"))
    assert [json.loads(path.read_text())["raw_load"] for path in forms] == [45.0, 45.0]
    consent = json.loads((tmp_path / "out" / "consent_p01.json").read_text())
    assert len(consent["text_sha256"]) == 64


def test_who_stops_goes_on_from_there(person, plan, tmp_path):
    person.wishes["WorkloadDialog"] = person.leave
    with Store(tmp_path / "out") as store:
        assert lead_participant(plan, 1, store, person.drive) is Led.STOPPED
    assert person.asked[-2:] == [WorkloadDialog.__name__, _Sure.__name__]
    first = person.drives[0][0]
    person.wishes.clear()
    person.asked.clear()
    person.drives.clear()
    with Store(tmp_path / "out") as store:
        assert lead_participant(plan, 1, store, person.drive) is Led.DONE
    # the form that was left is asked for again; its system's trials are not done again
    assert person.asked[:2] == [ConsentDialog.__name__, WorkloadDialog.__name__]
    assert {letter for letter, _ in person.drives} == {"A", "B"} - {first}


def test_escape_by_mistake_ends_nothing(person, plan, tmp_path):
    def slip(dialog: QDialog) -> None:
        person.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        person.qtbot.keyClick(dialog, Qt.Key.Key_Return)

    person.wishes["TellDialog"] = slip
    person.wishes["_Sure"] = lambda sure: person.qtbot.keyClick(sure, Qt.Key.Key_Escape)
    with Store(tmp_path / "out") as store:
        assert lead_participant(plan, 1, store, person.drive) is Led.DONE
    assert person.asked.count("_Sure") == 4  # none at the end: nothing is left to stop


def test_a_window_closed_too_early_asks_what_shall_count(person, plan, tmp_path):
    person.ends = [True, False, False]
    turns = iter((lambda _: None, lambda dialog: dialog.give_up.click()))

    def choose(dialog: QDialog) -> None:
        next(turns)(dialog)
        if dialog.isVisible():
            person.qtbot.keyClick(dialog, Qt.Key.Key_Return)

    person.wishes[AgainDialog.__name__] = choose
    with Store(tmp_path / "out") as store:
        assert lead_participant(plan, 1, store, person.drive) is Led.DONE
        assert sorted(item["attempts"] for item in results(store)) == [1, 2]
    assert [practice for _, practice in person.drives] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_a_signal_in_mid_trial_ends_all_without_a_question(person, plan, tmp_path):
    drive = person.drive

    def interrupted(spec, turn, log: Path, guide, seen) -> None:
        person.ends = [False]
        drive(spec, turn, log, guide, seen)
        guide.interrupted = not turn.practice

    with Store(tmp_path / "out") as store:
        assert lead_participant(plan, 1, store, interrupted) is Led.STOPPED
        assert not store.finished
    assert len(person.drives) == 2
    assert AgainDialog.__name__ not in person.asked


def test_who_does_not_agree_leaves_nothing(person, plan, tmp_path):
    person.wishes["ConsentDialog"] = lambda dialog: person.qtbot.keyClick(
        dialog, Qt.Key.Key_Escape
    )
    with Store(tmp_path / "out") as store:
        assert lead_participant(plan, 1, store, person.drive) is Led.REFUSED
    assert not list((tmp_path / "out").glob("*.json"))
    assert person.drives == []
