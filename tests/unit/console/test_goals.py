"""Goals and assistance by mouse and keys, through the real window."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.console.goal_draft import GoalDraft
from app.console.goal_words import stopped_by
from app.messages import GoalSource
from app.teleop.goal_wish import goal_of
from app.teleop.goals import Goal, GoalKind, GoalState
from tests.unit.console.desk import LEFT, Desk

PLACE = np.array([0.4, 0.1, 0.2])


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(tmp_path / "session", qtbot)
    yield made
    made.ticker.stop()
    made.window.close()


def wanted(desk: Desk) -> Goal:
    mailbox = desk.station.blocks.goals[GoalSource.CONSOLE]
    desk.qtbot.waitUntil(lambda: mailbox.count > 0)
    mailbox.refresh()
    return goal_of(mailbox.local, 4)


def key(desk: Desk, which: Qt.Key) -> None:
    desk.qtbot.keyClick(desk.window.viewport, which)


def test_a_click_marks_where_f10_sends_the_limb(desk: Desk) -> None:
    desk.scene.place = PLACE
    desk.arm()
    panel = desk.window.goals
    desk.qtbot.waitUntil(panel.send.isEnabled)
    key(desk, Qt.Key.Key_F10)
    assert "Mark where to" in panel.status.text()
    desk.window.viewport.setFocus()
    key(desk, Qt.Key.Key_M)
    assert panel.mark.isChecked()
    desk.qtbot.mouseClick(desk.window.viewport, LEFT, pos=QPoint(300, 200))
    assert not panel.mark.isChecked()
    assert [spin.value() for spin in panel.place] == [400.0, 100.0, 200.0]
    panel.spins["tolerance"].setValue(8.0)
    key(desk, Qt.Key.Key_F10)
    goal = wanted(desk)
    assert (goal.kind, goal.limb) == (GoalKind.REACH, 0)
    assert goal.position == pytest.approx(PLACE)
    assert goal.tolerance == pytest.approx(8e-3)
    desk.qtbot.waitUntil(lambda: desk.scene.frame.aim is not None)
    assert desk.scene.frame.aim == pytest.approx(PLACE)


def test_f11_gives_back_a_limb_that_has_a_goal(desk: Desk) -> None:
    desk.arm()
    panel = desk.window.goals
    desk.qtbot.waitUntil(panel.send.isEnabled)
    assert not panel.stop.isEnabled()
    desk.station.health_also.update(
        goal_number=4, goal_state=int(GoalState.RUNNING), goal_progress=0.4, goal_hold=2
    )
    desk.qtbot.waitUntil(panel.stop.isEnabled)
    desk.qtbot.waitUntil(lambda: panel.status.text() == "4: reach 40 %")
    assert panel.progress.value() == 40
    key(desk, Qt.Key.Key_F11)
    assert wanted(desk).kind is GoalKind.STOP
    tip = desk.tip_pixel(0)
    desk.qtbot.mousePress(desk.window.viewport, LEFT, pos=tip)
    assert "F11" in desk.window.viewport.hint
    assert desk.window.controls.drag is None


def test_a_stop_is_for_what_runs_whatever_limb_is_selected(desk: Desk) -> None:
    health = desk.window.readings.health
    assert stopped_by(health, 0) == -1
    health.goal_hold[:] = 0, 2, 0, 2
    health.goal_limb[0], health.goal_state[0] = 3, GoalState.RUNNING
    assert stopped_by(health, 1) == 3
    health.goal_state[0] = GoalState.DONE
    assert stopped_by(health, 1) == 1
    assert stopped_by(health, 0) == 1


def test_nothing_is_sent_unarmed(desk: Desk) -> None:
    desk.window.goals.mark_at(PLACE)
    key(desk, Qt.Key.Key_F10)
    assert "armed" in desk.window.goals.status.text()
    assert desk.station.blocks.goals[GoalSource.CONSOLE].count == 0


def test_assistance_leads_to_the_mark_and_ends_with_it(desk: Desk) -> None:
    panel, wish = desk.window.goals, desk.station.blocks.teleop
    panel.mark_at(PLACE)
    panel.assist.amount.setValue(60)
    key(desk, Qt.Key.Key_B)
    desk.qtbot.waitUntil(lambda: wish.refresh() and wish.local.blend[0] == 0.6)
    assert wish.local.aim == pytest.approx(PLACE)
    assert wish.local.revision[0] == 0, "the strategy stays as it was"
    desk.window.select_limb(2)  # another limb has another place
    desk.qtbot.waitUntil(lambda: wish.refresh() and wish.local.aim_limb[0] == 2)
    assert np.isnan(wish.local.aim).all()
    key(desk, Qt.Key.Key_B)
    desk.qtbot.waitUntil(lambda: wish.refresh() and wish.local.blend[0] == 0.0)


def test_f9_shows_the_panel_with_the_keys_on_it(desk: Desk) -> None:
    key(desk, Qt.Key.Key_F9)
    panel = desk.window.goals
    assert panel.isVisible()
    assert panel.kind.hasFocus()
    assert not desk.window.tip.isVisible()
    desk.qtbot.keyClick(panel.kind, Qt.Key.Key_F9)
    assert not panel.isVisible()
    assert desk.window.viewport.hasFocus()


def test_a_draft_says_what_it_lacks() -> None:
    draft = GoalDraft()
    assert "Mark where to" in draft.missing(4)
    assert not draft.marked(PLACE).missing(4)
    press = GoalDraft(kind=GoalKind.PRESS)
    assert "direction" in press.missing(4)
    ready = press.pointed(np.array([0.0, 0.0, -2.0]))
    assert ready.goal.normal == (0.0, 0.0, -1.0)
    assert not ready.missing(4)
    follow = GoalDraft(kind=GoalKind.FOLLOW).marked(PLACE)
    assert "+ WAY" in follow.missing(4)
    assert not follow.with_point().missing(4)
    assert "finite" not in draft.marked(np.full(3, np.nan)).missing(4)
    assert "3.2 m" in draft.marked(np.full(3, 3.0)).missing(4)
    assert follow.with_point().selecting(1).points == ()
