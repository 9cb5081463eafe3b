"""The tip panel: how far model, robot and target are apart, and how hard it pulls."""

import numpy as np

from app.console.plots import History, Strip, StripPlots
from app.console.readings import StationReadings
from app.console.widgets import Panel
from models.robot import RobotModel

__all__ = ["TipPanel"]

_FIELDS = ("model_robot", "target_tip", "speed", "pull_model", "pull_robot")
_STRIPS = (
    Strip(
        "mm",
        ("model_robot", "target_tip"),
        ("model to robot", "target to tip"),
        1e3,
        20.0,
    ),
    Strip("mm/s", ("speed",), ("tip speed",), 1e3, 50.0),
    Strip(
        "N",
        ("pull_model", "pull_robot"),
        ("greatest pull or push: model", "robot"),
        1.0,
        5.0,
    ),
)


class TipPanel(Panel):
    """The selected limb's last minute."""

    def __init__(self, model: RobotModel) -> None:
        super().__init__("Selected limb, last minute")
        self._model = model
        self.history = History(_FIELDS)
        self.plots = StripPlots(
            self.history, _STRIPS, "gaps and tendon tensions of the selected limb"
        )
        self.body.addWidget(self.plots, 1)

    def take(self, readings: StationReadings) -> None:
        """Sample the selected limb; a gap where station or robot is silent."""
        if not self.history.is_due(readings.now_ns):
            return
        state, health = readings.state, readings.health
        limb = int(state.selected_limb[0])
        first, last = self._model.limb_tendon_start[limb : limb + 2]
        values = [np.nan] * len(_FIELDS)
        if readings.is_alive:
            values[1] = float(state.reach_error[limb])
            values[2] = float(readings.tip_speed[limb])
            values[3] = float(np.abs(state.tension_model[first:last]).max(initial=0.0))
            if readings.has_robot:
                gap = state.tip_model[limb] - readings.tip_confirmed[limb]
                values[0] = float(np.linalg.norm(gap))
                told = np.abs(health.confirmed_tension[first:last])
                measured = float(told.max(initial=0.0))
                values[4] = measured if measured > 0.0 else np.nan
        self.history.take(readings.now_ns, values)
