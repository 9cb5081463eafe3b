"""The goals panel: what a limb shall do by itself, how it gets on, and assistance.

What is set here is a `GoalDraft`; the place is marked in the picture (app.console.
viewport). F9 shows the panel, F10 sends the goal, F11 stops the one that runs.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
)

from app.config.robot import RobotParameters
from app.console.assist import AssistRow
from app.console.controls import ConsoleControls
from app.console.goal_draft import KINDS, GoalDraft
from app.console.goal_words import goal_words, stopped_by, tip_axis
from app.console.readings import StationReadings
from app.console.theme import AMBER, base_pixel_size
from app.console.widgets import DropDown, Panel, Sentence
from app.messages import StationMode
from app.teleop.goals import Goal, GoalKind, Vector
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["GoalsPanel"]

_SPINS = (
    ("±", "tolerance", "mm", 1e3, 1.0, 25.0, 1.0, "tolerance: how near is there"),
    ("", "speed", "mm/s", 1e3, 1.0, 50.0, 5.0, "greatest speed of the tip"),
    (
        "≤",
        "force",
        "N",
        1.0,
        0.1,
        5.0,
        0.5,
        "force: to be held by a press; else the greatest contact force that is borne",
    ),
    (
        "",
        "hold",
        "s",
        1.0,
        0.0,
        60.0,
        1.0,
        "how long to press, or to let the gripper work",
    ),
)
_COLUMNS = ((0, 3), (3, 4), (7, 3), (10, 2))  # of twelve, the longest for mm/s
_ALONG = ("into surface", "along limb", "along view", "down", "ahead")


class GoalsPanel(Panel):
    """Sets, sends and follows goals of the selected limb, and assists its operator."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        controls: ConsoleControls,
        view_axis: Callable[[], FloatArray],
        mark_next: Callable[[bool], None],
    ) -> None:
        """Make the panel.

        Args:
            robot: names of the limbs.
            model: where their tips are.
            controls: takes goals and assistance.
            view_axis: (3,) direction of the picture's view.
            mark_next: whether the next click in the picture marks a place.
        """
        super().__init__("Goal")
        self._robot = robot
        self._model = model
        self._controls = controls
        self._view_axis = view_axis
        self.draft = GoalDraft()
        self._limbs = len(robot.limbs)
        self._published: tuple[float, int, Vector | None] = (0.0, 0, None)
        self._adopted = False
        self._tip = np.zeros(3)
        self._axis = np.array([1.0, 0.0, 0.0])
        self._into: FloatArray | None = None
        self._able = False
        self._stops = -1
        self.trouble = ""
        self._size = base_pixel_size()
        self._limb = QLabel("")
        self._limb.setStyleSheet("font-weight: bold")
        self.body.setSpacing(3)
        self._make_kind()
        self.head.addWidget(self._limb)
        self.head.addWidget(self.kind)
        self.body.addLayout(self._place_row(mark_next))
        self.body.addLayout(self._figures())
        self.body.addLayout(self._send_row())
        self.status = Sentence()
        self.status.setAccessibleName("how the goal gets on")
        self.progress = QProgressBar()
        self.progress.setRange(0, 100)
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(max(5, self._size // 2))
        self.body.addWidget(self.status)
        self.body.addWidget(self.progress)
        self.assist = AssistRow(
            lambda on: self._change(replace(self.draft, assisted=on)),
            lambda share: self._change(replace(self.draft, blend=share)),
        )
        self.body.addWidget(self.assist)
        self.body.addStretch(1)
        self._take_focus()
        self._show_draft()

    # -- widgets -------------------------------------------------------------------

    def _make_kind(self) -> None:
        self.kind = DropDown()
        self.kind.setAccessibleName("kind of goal")
        self.kind.setToolTip(
            "reach: go to the marked place; follow: by way of points; press: go along "
            "a direction until it touches, and hold the force; grasp, place: go there, "
            "close or open the gripper."
        )
        for kind in KINDS:
            self.kind.addItem(kind.name.capitalize())
        self.kind.activated.connect(
            lambda index: self._change(replace(self.draft, kind=KINDS[index]))
        )

    def _place_row(self, mark_next: Callable[[bool], None]) -> QHBoxLayout:
        self.mark = QPushButton("MARK  M")
        self.mark.setCheckable(True)
        self.mark.setToolTip("The next click in the picture marks the place (M).")
        self.mark.toggled.connect(mark_next)
        self.at_tip = QPushButton("TIP  T")
        self.at_tip.setToolTip("Mark where the tip of the local model is (T).")
        self.at_tip.clicked.connect(self.mark_tip)
        self.along = DropDown()
        self.along.setAccessibleName("direction of the press")
        self.along.addItem("direction …")
        self.along.addItems(_ALONG)
        self.along.setMinimumWidth(1)
        self.along.activated.connect(self._choose_along)
        self.way = QPushButton("+ WAY")
        self.way.setToolTip(
            "Take the marked place up as a point on the way, at most 7."
        )
        self.way.clicked.connect(lambda: self._change(self.draft.with_point()))
        self.clear_way = QPushButton("✕")
        self.clear_way.setAccessibleName("forget the points on the way")
        self.clear_way.setToolTip("Forget the points on the way.")
        self.clear_way.clicked.connect(
            lambda: self._change(replace(self.draft, points=()))
        )
        row = QHBoxLayout()
        row.setSpacing(4)
        for widget in (self.mark, self.at_tip, self.along, self.way, self.clear_way):
            row.addWidget(widget, 2 if widget is self.along else 1)
        return row

    def _figures(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(4)
        self.place: list[QDoubleSpinBox] = []
        for column, axis in enumerate("xyz"):
            spin = _spin(-3000.0, 3000.0, 5.0, 0)
            spin.setPrefix(f"{axis} ")
            spin.setSuffix(" mm")
            spin.setSpecialValueText(f"{axis} –")
            spin.setAccessibleName(f"{axis} of the marked place in millimetres")
            spin.setToolTip("of the marked place, hull frame [mm]")
            spin.valueChanged.connect(self._type_place)
            self.place.append(spin)
            grid.addWidget(spin, 0, 4 * column, 1, 4)
        self.spins: dict[str, QDoubleSpinBox] = {}
        for column, (sign, name, unit, scale, low, high, step, tip) in enumerate(
            _SPINS
        ):
            spin = _spin(low, high, step, 1 if scale == 1.0 else 0)
            spin.setPrefix(sign)
            spin.setSuffix(f" {unit}")
            spin.setToolTip(tip)
            spin.setAccessibleName(f"{name} of the goal")
            spin.valueChanged.connect(
                lambda value, name=name, scale=scale: self._set(name, value / scale)
            )
            self.spins[name] = spin
            first, span = _COLUMNS[column]
            grid.addWidget(spin, 1, first, 1, span)
        return grid

    def _send_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        self.send = QPushButton("SEND  F10")
        self.send.setAccessibleName("send the goal to the robot")
        self.send.clicked.connect(self.ask)
        self.stop = QPushButton("STOP  F11")
        self.stop.setObjectName("cut")
        self.stop.setAccessibleName("stop the goal; the limb is yours again")
        self.stop.setToolTip(
            "Stop the goal that runs, whatever its limb; else give the selected limb "
            "back to the operator, or another one that had a goal (F11)."
        )
        self.stop.clicked.connect(self.ask_stop)
        for button in (self.send, self.stop):
            button.setEnabled(False)  # until an armed robot is seen
        row.addWidget(self.send, 1)
        row.addWidget(self.stop, 1)
        return row

    def _take_focus(self) -> None:
        """Let every control be reached with the Tab key, and by no click."""
        for widget in (
            *(self.kind, self.along, self.way, self.clear_way, self.mark),
            *(self.at_tip, *self.place, *self.spins.values(), self.send),
            *(self.stop, self.assist.button, self.assist.amount),
        ):
            widget.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    # -- what a person does --------------------------------------------------------

    def mark_at(self, place: FloatArray, normal: FloatArray | None = None) -> None:
        """Mark a place.

        Args:
            place: (3,) hull frame [m].
            normal: (3,) out of the surface there; None where it is not known.
        """
        self.mark.setChecked(False)
        draft = self.draft.marked(place)
        self._change(draft if normal is None else draft.pointed(-normal))

    def mark_tip(self) -> None:
        """Mark where the tip of the local model is."""
        self.mark_at(self._tip)

    def ask(self) -> bool:
        """Send the goal as it stands; whether it could be sent."""
        self.trouble = self.draft.missing(self._limbs)
        if not self._able:
            self.trouble = "A goal needs an armed robot, and this console in control."
        if self.trouble:
            self._show_status(self.trouble, AMBER)
            return False
        self._controls.goals.ask(self.draft.goal)
        return True

    def ask_stop(self) -> None:
        """Stop what runs, else give a limb back that listens to goals alone."""
        if self._able and self._stops >= 0:
            self._controls.goals.ask(Goal(1, GoalKind.STOP, self._stops))

    def _choose_along(self, index: int) -> None:
        directions = (None, self._into, self._axis, self._view_axis(), -_UP, _BOW)
        direction = directions[index]
        if index == 1 and direction is None:
            self.trouble = "No surface is known here: touch it, or choose another."
            self._show_status(self.trouble, AMBER)
            self.along.setCurrentIndex(0)
        if direction is not None:
            self._change(self.draft.pointed(direction))

    def _type_place(self) -> None:
        self._change(self.draft.marked(np.array([s.value() for s in self.place]) / 1e3))

    def _set(self, name: str, value: float) -> None:
        draft = self.draft
        if name == "tolerance":
            draft = replace(draft, tolerance=value)
        elif name == "speed":
            draft = replace(draft, speed=value)
        elif name == "hold":
            draft = replace(draft, hold=value)
        elif draft.kind is GoalKind.PRESS:
            draft = replace(draft, press_force=value)
        else:
            draft = replace(draft, bear_force=value)
        self._change(draft)

    def _change(self, draft: GoalDraft) -> None:
        self.draft = draft
        self.trouble = ""
        self._show_draft()
        self._publish_assistance()

    def _publish_assistance(self) -> None:
        draft = self.draft
        wanted = (draft.blend if draft.assisted else 0.0, draft.limb, draft.place)
        if wanted != self._published and self._controls.is_writer:
            self._published = wanted
            self._controls.teleop.assist(*wanted)

    # -- what is shown -------------------------------------------------------------

    def _show_draft(self) -> None:
        draft = self.draft
        shown = {
            "tolerance": 1e3 * draft.tolerance,
            "speed": 1e3 * draft.speed,
            "force": draft.goal.force,
            "hold": draft.hold,
        }
        for name, figure in shown.items():
            _show(self.spins[name], figure)
        for axis, spin in enumerate(self.place):
            at = spin.minimum() if draft.place is None else 1e3 * draft.place[axis]
            _show(spin, at)
        self.kind.setCurrentIndex(KINDS.index(draft.kind))
        press = draft.kind is GoalKind.PRESS
        follow = draft.kind is GoalKind.FOLLOW
        self.along.setVisible(press)
        self.way.setVisible(follow)
        self.clear_way.setVisible(follow)
        if draft.along is None:
            self.along.setCurrentIndex(0)
        self.way.setText(f"+ WAY {len(draft.points) or ''}".rstrip())
        self.clear_way.setEnabled(bool(draft.points))
        self.way.setEnabled(draft.place is not None)
        self.spins["force"].setPrefix("" if press else "≤")
        for spin in (*self.place, self.spins["tolerance"]):
            spin.setEnabled(not press or draft.assisted)
        self.assist.show_draft(draft)

    def refresh(self, readings: StationReadings, *, writable: bool) -> None:
        """Take the newest tips, and show how goal and assistance get on."""
        state, health = readings.state, readings.health
        limb = int(state.selected_limb[0])
        if limb != self.draft.limb:
            self._change(self.draft.selecting(limb))
        self._limb.setText(f"{self._robot.limbs[limb].name} limb")
        self._tip = state.tip_model[limb].copy()
        self._axis = tip_axis(self._model, limb, state.coordinates_model)
        known = bool(state.surface_known[limb])
        self._into = -state.surface_normal[limb] if known else None
        armed = int(state.mode[0]) == StationMode.ARMED
        self._able = writable and readings.is_alive and armed
        self._stops = stopped_by(health, limb)
        self.send.setEnabled(self._able)
        self.stop.setEnabled(self._able and self._stops >= 0)
        if readings.is_alive:
            self._adopt_assistance(readings, limb)
        self.assist.refresh(readings, self.draft, writable=writable)
        if not self.trouble:
            self._show_status(*goal_words(readings, self._robot, limb))
        held = bool(health.goal_hold[int(health.goal_limb[0])])
        share = float(health.goal_progress[0]) if held else 0.0
        self.progress.setValue(round(100 * share))

    def _adopt_assistance(self, readings: StationReadings, limb: int) -> None:
        """Show what was wanted elsewhere, at the start (`--blend`)."""
        state = readings.state
        if not self._adopted:
            self._adopted = True
            share, aimed = float(state.blend[0]), int(state.aim_limb[0]) == limb
            if share > 0.0:
                draft = replace(self.draft, assisted=True, blend=share)
                self.draft = draft.marked(state.aim) if aimed else draft
                self._published = (share, int(state.aim_limb[0]), self.draft.place)
                self._show_draft()

    def _show_status(self, words: str, shade: str) -> None:
        if words != self.status.text():
            self.status.setText(words)
            self.status.setToolTip(words)
        self.status.setStyleSheet(f"color: {shade}")


_UP = np.array([0.0, 0.0, 1.0])
_BOW = np.array([1.0, 0.0, 0.0])


def _spin(low: float, high: float, step: float, decimals: int) -> QDoubleSpinBox:
    spin = QDoubleSpinBox()
    spin.setDecimals(decimals)
    spin.setRange(low, high)
    spin.setSingleStep(step)
    spin.setKeyboardTracking(False)
    spin.setButtonSymbols(QDoubleSpinBox.ButtonSymbols.NoButtons)
    spin.setMinimumWidth(1)
    return spin


def _show(spin: QDoubleSpinBox, value: float) -> None:
    """Show a value without telling of it; what is being typed is left alone."""
    if spin.hasFocus() and spin.value() != spin.minimum():
        return
    spin.blockSignals(True)
    spin.setValue(value)
    spin.blockSignals(False)
