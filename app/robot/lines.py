"""Actuation maps of a rig: winch and chamber lengths to channel values, and back.

    winch    u = zero + sign (L - L_rest) / drum radius
    chamber  u = zero + units a kPa x p(L), p the inverse of its pressure-length curve

L is what a winch has paid out or, of a chamber, its length under no load; at L_rest the
robot stands at rest. A chamber's curve has hysteresis: its states go along with what is
asked of it (the way down) and with what is measured (the way up), each for itself.
Rows of all arrays are the robot's tendons and chambers, as in `RobotModel`.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.config.robot import RobotParameters
from app.drivers.base import BoolArray
from app.drivers.calibration import (
    build_hysteresis_model,
    load_calibration,
    starting_plays,
)
from app.errors import ConfigError
from app.robot.rig_file import ChamberLineParameters, LimbActuators, RigParameters
from models.hysteresis import (
    VIRGIN,
    HysteresisModel,
    hysteresis_length,
    hysteresis_pressure,
    initial_plays,
)
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel
from models.winch import winch_lengths
from models.workspace import allocate_rod_work

__all__ = ["ChamberCurve", "Lines", "rest_lengths"]


def rest_lengths(model: RobotModel) -> FloatArray:
    """Return what winches pay out at the rest posture, (T,) [m]."""
    work = allocate_rod_work(model)
    lengths = np.zeros(model.tendon_angle.size)
    for limb in range(model.tip_speed_limit.size):
        start, stop = model.limb_segment_start[limb : limb + 2]
        first, last = model.limb_tendon_start[limb : limb + 2]
        winch_lengths(
            model, limb, model.rest_coordinates[start:stop], work, lengths[first:last]
        )
    return lengths


class ChamberCurve:
    """Pressure and length of one chamber, with the states of its hysteresis."""

    def __init__(
        self, model: HysteresisModel, plays: FloatArray, span: tuple[float, float]
    ) -> None:
        """Begin at a known state.

        Args:
            model: of the chamber.
            plays: states of its plays [Pa].
            span: least and greatest pressure that may be asked for [Pa].
        """
        self._model = model
        self._asked, self._felt = plays.copy(), plays.copy()
        self._span = span

    def pressure(self, length: float) -> float:
        """Pressure that brings the chamber to a length [m], inside its span [Pa]."""
        wanted = float(hysteresis_pressure(self._model, length, self._asked))
        if not math.isfinite(wanted):
            return math.nan
        held = min(max(wanted, self._span[0]), self._span[1])
        hysteresis_length(self._model, held, self._asked)
        return held

    def length(self, pressure: float) -> float:
        """Length [m] at a measured pressure [Pa]; NaN for NaN."""
        return float(hysteresis_length(self._model, pressure, self._felt))


class Lines:
    """The map of all tendons and chambers of a rig."""

    def __init__(
        self,
        rig: RigParameters,
        robot: RobotParameters,
        model: RobotModel,
        folder: Path,
    ) -> None:
        """Lay the map out.

        Args:
            rig: fits the robot (`load_rig`).
            robot: as its file gives it.
            model: made from it.
            folder: from which calibration files are found.

        Raises:
            ConfigError: a calibration file is missing or wrong.
        """
        count = model.tendon_angle.size
        self.rest = rest_lengths(model)
        self.bus: list[str] = [""] * count
        self.channel: IntArray = np.zeros(count, dtype=np.int64)
        self._gain = np.ones(count)
        """(T,) channel units a metre of winch, or a pascal of chamber."""
        self._zero = np.zeros(count)
        self._curve: dict[int, ChamberCurve] = {}
        self._is_chamber: BoolArray = np.zeros(count, dtype=np.bool_)
        self.load_gain = np.zeros(count)
        """(T,) tension by the channel's load [N a unit]; 0: not measured."""
        self.open_loop: BoolArray = np.zeros(count, dtype=np.bool_)
        """(T,) what was sent stands for what is measured."""
        self.rate = np.zeros(count)
        """(T,) greatest [m/s]."""
        self.behind_limit = np.zeros(count)
        """(T,) greatest distance from what is asked, for long [m]."""
        self.acceleration = np.zeros(count)
        """(T,) greatest [m/s2]."""
        self.load_limit = np.full(count, np.inf)
        """(T,) greatest [the channel's load unit]."""
        self.temperature_limit = np.zeros(count)
        """(T,) greatest [deg C]."""
        starts = {
            limb.name: int(start)
            for limb, start in zip(
                robot.limbs, model.limb_tendon_start[:-1], strict=True
            )
        }
        for winch in rig.winches:
            rows = self._place(winch, starts)
            self._gain[rows] = np.array(winch.signs) / (winch.drum_radius_mm * 1e-3)
            self.load_gain[rows] = winch.load_n_per_unit
        for part in rig.chambers:
            rows = self._place(part, starts)
            self._gain[rows] = part.unit_per_kpa * 1e-3
            self._add_curves(part, robot, model, rows, folder)
            self._is_chamber[rows] = True

    def _place(self, part: LimbActuators, starts: dict[str, int]) -> range:
        """Take up what all limbs' actuators have; return their rows.

        A limb may have several tables, one behind the other.
        """
        rows = range(starts[part.limb], starts[part.limb] + len(part.channels))
        starts[part.limb] = rows.stop
        for place, row in enumerate(rows):
            self.bus[row] = part.bus
            self.channel[row] = part.channels[place] - 1
            self._zero[row] = part.zeros[place]
        self.open_loop[rows] = part.open_loop
        self.rate[rows] = part.limits.rate_mm_s * 1e-3
        self.behind_limit[rows] = part.limits.behind_mm * 1e-3
        self.acceleration[rows] = part.limits.acceleration_mm_s2 * 1e-3
        self.temperature_limit[rows] = part.limits.temperature_c
        if part.limits.load is not None:
            self.load_limit[rows] = part.limits.load
        return rows

    def _add_curves(
        self,
        part: ChamberLineParameters,
        robot: RobotParameters,
        model: RobotModel,
        rows: range,
        folder: Path,
    ) -> None:
        limb = next(limb for limb in robot.limbs if limb.name == part.limb)
        first = int(model.limb_tendon_start[robot.limbs.index(limb)])
        spans = [
            (1e3 * chambers.pressure_range_kpa[0], 1e3 * chambers.pressure_range_kpa[1])
            for chambers in limb.chambers
            for _ in chambers.azimuth_deg or (0.0,)
        ]
        files = _one_each(part.calibration, len(rows), part.limb)
        for place, row in enumerate(rows):
            span = spans[row - first]
            if files:
                fitted = load_calibration(folder / files[place])
                curve = build_hysteresis_model(fitted)
                plays = starting_plays(fitted, span[0])
            else:
                # under its greatest push a chamber is shorter than under no load
                give = -model.tendon_tension_least[row] / model.tendon_stiffness[row]
                least, greatest = model.tendon_range[row]
                curve = HysteresisModel(
                    threshold=np.zeros(1),
                    weight=np.ones(1),
                    knot=np.array(span),
                    length=np.array([least, greatest + give]),
                )
                plays = initial_plays(curve.threshold, span[0], VIRGIN)
            self._curve[row] = ChamberCurve(curve, plays, span)

    def rows(self, bus: str) -> IntArray:
        """Rows whose actuators hang on a bus."""
        return np.array(
            [row for row, name in enumerate(self.bus) if name == bus], dtype=np.int64
        )

    def are_chambers(self, rows: IntArray) -> BoolArray:
        """Which of some rows (k,) are chambers."""
        return self._is_chamber[rows]

    def to_channels(self, rows: IntArray, length: FloatArray) -> FloatArray:
        """Values to ask of the channels of some rows.

        Args:
            rows: (k,).
            length: (T,) wanted lengths [m].

        Returns:
            (k,) in the channels' units; NaN where a length is not finite.
        """
        asked = (length - self.rest)[rows]
        for place in np.flatnonzero(self._is_chamber[rows]):
            row = int(rows[place])
            asked[place] = self._curve[row].pressure(float(length[row]))
        values: FloatArray = self._zero[rows] + self._gain[rows] * asked
        return values

    def to_lengths(self, rows: IntArray, measured: FloatArray) -> FloatArray:
        """Undo `to_channels` for what was measured.

        Args:
            rows: (k,).
            measured: (k,) in the channels' units.

        Returns:
            (k,) lengths [m]; NaN where not measured.
        """
        back = (measured - self._zero[rows]) / self._gain[rows]
        lengths: FloatArray = self.rest[rows] + back
        for place in np.flatnonzero(self._is_chamber[rows]):
            curve = self._curve[int(rows[place])]
            lengths[place] = curve.length(float(back[place]))
        return lengths


def _one_each(files: Sequence[str], count: int, limb: str) -> Sequence[str]:
    """One calibration file a chamber, or none.

    Raises:
        ConfigError: neither one nor as many as there are chambers.
    """
    if len(files) == 1:
        return tuple(files) * count
    if files and len(files) != count:
        raise ConfigError(
            f"Limb {limb!r}: {len(files)} calibration files for {count} chambers: give "
            "one for all, or one each."
        )
    return files
