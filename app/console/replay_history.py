"""The plots' last minute at any moment of a recording, from its overview."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from app.clock import NS_PER_S
from app.console.plots import History
from app.session.overview import OVERVIEW_STEP_NS, Overview
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel
from models.tip import limb_tip

__all__ = ["LinkReplay", "TipReplay"]

_SPAN_NS = 60 * NS_PER_S
_LONGEST_STEP_NS = 4 * OVERVIEW_STEP_NS


class _Replay(History, ABC):
    """A history that is there already."""

    def __init__(self, fields: Sequence[str], times: IntArray) -> None:
        super().__init__(fields)
        self._times_ns = times

    def is_due(self, now_ns: int) -> bool:
        """No sample is ever wanted."""
        return False

    def curve(self, name: str, now_ns: int) -> tuple[FloatArray, FloatArray]:
        """Return seconds before a moment (negative) and the values of a field."""
        times = self._times_ns
        first, last = np.searchsorted(times, [now_ns - _SPAN_NS, now_ns + 1])
        rows = np.arange(first, last)
        before = (times[rows] - now_ns) / NS_PER_S
        values = self._values_of(name, rows, now_ns).astype(float)
        gaps = np.flatnonzero(np.diff(times[rows]) > _LONGEST_STEP_NS)
        if gaps.size:  # a break in the line where nothing was recorded
            before = np.insert(before, gaps + 1, before[gaps])
            values = np.insert(values, gaps + 1, np.nan)
        return before, values

    @abstractmethod
    def _values_of(self, name: str, rows: IntArray, now_ns: int) -> FloatArray:
        """Return the values of a field in these rows; NaN where there is none."""


class LinkReplay(_Replay):
    """Age, round trip, loss and bit rates."""

    def __init__(self, fields: Sequence[str], overview: Overview) -> None:
        """Show these fields of the health."""
        super().__init__(fields, overview.health_ns)
        self._health = overview.health

    def _values_of(self, name: str, rows: IntArray, now_ns: int) -> FloatArray:
        values = self._health[name][rows, 0]
        heard = self._health["robot_state"][rows, 0] >= 0
        return np.where(heard & (values >= 0.0), values, np.nan)


class TipReplay(_Replay):
    """Gaps, forces, tensions and speed of the limb that is selected at the moment."""

    def __init__(
        self, fields: Sequence[str], overview: Overview, model: RobotModel
    ) -> None:
        """Show these fields, as `app.console.tips` takes them of a running session."""
        super().__init__(fields, overview.state_ns)
        self._state, self._health = overview.state, overview.health
        self._model = model
        self._limbs = model.tip_speed_limit.size
        after = np.searchsorted(overview.health_ns, overview.state_ns, side="right")
        self._of_health = after - 1  # row of the health that was known; -1: none yet
        count = overview.health_ns.size
        self._tips = np.full((count, self._limbs, 3), np.nan)
        self._known = np.zeros((count, self._limbs), dtype=bool)

    def limb_at(self, now_ns: int) -> int:
        """Return the limb that is selected at a moment."""
        row = int(np.searchsorted(self._times_ns, now_ns, side="right")) - 1
        return int(self._state["selected_limb"][max(row, 0), 0])

    def _values_of(self, name: str, rows: IntArray, now_ns: int) -> FloatArray:
        if not rows.size:
            return np.zeros(0)
        limb = self.limb_at(now_ns)
        first, last = self._model.limb_tendon_start[limb : limb + 2].tolist()
        state = self._state
        if name == "target_tip":
            return np.asarray(state["reach_error"][rows, limb])
        if name == "force_hand":
            return np.asarray(np.linalg.norm(state["force_hand"][rows], axis=1))
        if name == "pull_model":
            return self._greatest(state["tension_model"][rows, first:last])
        if name == "speed":
            return self._speed(rows, limb)
        told = self._of_health[rows]
        heard = told >= 0
        heard &= self._health["robot_state"][told, 0] >= 0
        if name == "model_robot":
            gap = self._tip(rows, limb) - self._confirmed(told, limb)
            values = np.linalg.norm(gap, axis=1)
        elif name == "force_robot":
            force = self._health["contact_force"].reshape(-1, self._limbs, 3)
            values = np.linalg.norm(force[told, limb], axis=1)
        else:
            pulls = self._greatest(self._health["confirmed_tension"][told, first:last])
            values = np.where(pulls > 0.0, pulls, np.nan)
        return np.where(heard, values, np.nan)

    @staticmethod
    def _greatest(pulls: FloatArray) -> FloatArray:
        return np.asarray(np.abs(pulls).max(axis=1, initial=0.0))

    def _tip(self, rows: IntArray, limb: int) -> FloatArray:
        tips = self._state["tip_model"].reshape(-1, self._limbs, 3)
        return np.asarray(tips[rows, limb], dtype=float)

    def _speed(self, rows: IntArray, limb: int) -> FloatArray:
        before = np.maximum(rows - 1, 0)
        way = np.linalg.norm(self._tip(rows, limb) - self._tip(before, limb), axis=1)
        seconds = (self._times_ns[rows] - self._times_ns[before]) / NS_PER_S
        return np.where(seconds > 0.0, way / np.maximum(seconds, 1e-9), np.nan)

    def _confirmed(self, told: IntArray, limb: int) -> FloatArray:
        """(n, 3) confirmed tips of rows of the health, reckoned where new."""
        coordinates = self._health["confirmed_coordinates"]
        rows = np.unique(told[told >= 0])
        for row in rows[~self._known[rows, limb]].tolist():
            pose = coordinates[row].reshape(-1, 3).astype(float)
            self._tips[row, limb] = limb_tip(self._model, limb, pose)
            self._known[row, limb] = True
        return np.asarray(self._tips[told, limb])
