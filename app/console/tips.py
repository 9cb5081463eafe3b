"""The tip panel: gaps of model, robot and target, forces at the tip, and pulls."""

import numpy as np

from app.console.plots import History, Strip, StripPlots
from app.console.readings import StationReadings
from app.console.touch import strategy_of
from app.console.widgets import Panel
from models.robot import RobotModel

__all__ = ["TIP_FIELDS", "TipPanel"]

TIP_FIELDS = (
    *("model_robot", "target_tip", "speed"),
    *("force_hand", "force_robot"),
    *("pull_model", "pull_robot"),
)
_STRIPS = (
    Strip(
        "mm",
        ("model_robot", "target_tip"),
        ("model to robot", "target to tip"),
        1e3,
        20.0,
    ),
    Strip("N", ("force_hand", "force_robot"), ("force: hand", "robot"), 1.0, 1.0),
    Strip(
        "N",
        ("pull_model", "pull_robot"),
        ("greatest pull: model", "robot"),
        1.0,
        5.0,
    ),
    Strip("mm/s", ("speed",), ("tip speed",), 1e3, 50.0),
)


class TipPanel(Panel):
    """The selected limb's last minute."""

    def __init__(self, model: RobotModel, history: History | None = None) -> None:
        """Make the panel.

        Args:
            model: the robot.
            history: where the curves come from; None takes them from the readings.
        """
        super().__init__("Selected limb, last minute")
        self._model = model
        self.history = history or History(TIP_FIELDS)
        self.plots = StripPlots(
            self.history,
            _STRIPS,
            "gaps, forces and tendon tensions of the selected limb",
        )
        self.body.addWidget(self.plots, 1)

    def take(self, readings: StationReadings) -> None:
        """Sample the selected limb; a gap where station or robot is silent."""
        if not self.history.is_due(readings.now_ns):
            return
        state, health = readings.state, readings.health
        limb = int(state.selected_limb[0])
        first, last = self._model.limb_tendon_start[limb : limb + 2]
        values = [np.nan] * len(TIP_FIELDS)
        if readings.is_alive:
            values[1] = float(state.reach_error[limb])
            values[2] = float(readings.tip_speed[limb])
            if strategy_of(readings).feels:
                values[3] = float(np.linalg.norm(state.force_hand))
            values[5] = float(np.abs(state.tension_model[first:last]).max(initial=0.0))
            if readings.has_robot:
                gap = state.tip_model[limb] - readings.tip_confirmed[limb]
                values[0] = float(np.linalg.norm(gap))
                values[4] = float(np.linalg.norm(health.contact_force[limb]))
                told = np.abs(health.confirmed_tension[first:last])
                measured = float(told.max(initial=0.0))
                values[6] = measured if measured > 0.0 else np.nan
        self.history.take(readings.now_ns, values)
