"""The simulated robot: the rod dynamics of a model that is not quite the station's.

The winches are told what the nominal model says, as on a real robot whose controller
knows its limbs only so well; the limbs then move by the perturbed one. What is left
out: the hull's own motion, contact, friction of the tendons in their sheaths.
"""

from dataclasses import dataclass, fields

import numpy as np

from app.errors import ConfigError
from app.messages import Event, RobotFault
from app.robot.body import Applied
from app.robot.safety import Actuation
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotData, RobotModel, allocate_robot_data
from models.robot_tree import changed_robot
from models.rod import RodWork, allocate_rod_work, reset_robot_data, robot_step
from models.tendon import tendon_lengths
from models.winch import winch_lengths

__all__ = ["PLANT_PERIOD", "Plant", "PlantMismatch"]

PLANT_PERIOD = 1e-3
"""Time step of the plant [s]."""

_BEND_NOISE = 2e-3  # rad, of a shape sensor; ASSUMED
_EXTENSION_NOISE = 1e-4  # m; ASSUMED
_TENSION_NOISE = 0.02  # N, of a load cell; ASSUMED
_TENSION_LOOP = 5e-3  # s, time constant of a winch under tension control; ASSUMED
_SLACK_MARGIN = 5e-3  # m paid out beyond what any pose inside the envelope needs

_NOISE_ROWS = 256  # measurements whose noise is drawn at once

_STIFF, _COMPLIANT = int(Actuation.STIFF), int(Actuation.COMPLIANT)
_EACH = -1  # every winch is told for itself

_FACTOR_RANGE = (0.2, 5.0)


@dataclass(frozen=True)
class PlantMismatch:
    """Factors on the nominal parameters, each 0.2 to 5; 1 = as the model says.

    Attributes:
        stiffness: Young's modulus.
        viscosity: Kelvin-Voigt viscosity.
        mass: density of the limbs; with it their weight in water changes much more.
        drag: normal and tangential drag coefficients.
        added_mass: added mass coefficient.
        servo_lag: time constant of the winches or valves.
        offset_ratio: distance of the tendons or chambers from the backbone.
        noise: of all sensors; 0 to 100, 0 = none.
    """

    stiffness: float = 1.0
    viscosity: float = 1.0
    mass: float = 1.0
    drag: float = 1.0
    added_mass: float = 1.0
    servo_lag: float = 1.0
    offset_ratio: float = 1.0
    noise: float = 1.0

    def __post_init__(self) -> None:
        """Refuse factors out of range.

        Raises:
            ConfigError: names the factor, its value and its range.
        """
        for entry in fields(self):
            value = getattr(self, entry.name)
            low, high = (0.0, 100.0) if entry.name == "noise" else _FACTOR_RANGE
            if not low <= value <= high:
                raise ConfigError(
                    f"Mismatch {entry.name} = {value}: allowed are {low:g} to "
                    f"{high:g}, 1 = as the model says."
                )

    def apply(self, model: RobotModel) -> RobotModel:
        """Return the model of the robot that is really there.

        Raises:
            ConfigError: a tendon would lie outside the limb.
        """
        ratio = model.tendon_offset_ratio * self.offset_ratio
        pulls = model.tendon_tension_least == 0.0  # a chamber may lie on the surface
        if np.any(ratio[pulls] >= 1.0):
            most = float(0.99 / np.max(model.tendon_offset_ratio[pulls]))
            raise ConfigError(
                f"Mismatch offset_ratio = {self.offset_ratio}: the tendons would leave "
                f"the limb; at most {most:.2f} for this robot."
            )
        return changed_robot(
            model,
            young_modulus=model.young_modulus * self.stiffness,
            viscosity=model.viscosity * self.viscosity,
            density=model.density * self.mass,
            drag_normal=model.drag_normal * self.drag,
            drag_tangent=model.drag_tangent * self.drag,
            added_mass=model.added_mass * self.added_mass,
            servo_time_constant=model.servo_time_constant * self.servo_lag,
            tendon_offset_ratio=ratio,
        )


@kernel
def _stiff_winches(
    model: RobotModel, coordinates: FloatArray, work: RodWork, length_out: FloatArray
) -> None:
    """Lengths (T,) that hold a pose (S, 3); a limb that is not finite keeps its own."""
    for limb in range(model.tip_speed_limit.size):
        start, stop = model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        first, last = model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
        winch_lengths(
            model, limb, coordinates[start:stop], work, length_out[first:last]
        )


@kernel
def _compliant_winches(
    model: RobotModel, data: RobotData, work: RodWork, length_out: FloatArray
) -> None:
    """Lengths (T,) to ask of the winches so that every tendon carries its pretension.

    A winch under tension control does not wait for its own lag: it asks for more than
    is missing, so that the loop closes with `_TENSION_LOOP`, up to its speed limit.
    """
    for limb in range(model.tip_speed_limit.size):
        start, stop = model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        first, last = model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
        tendon_lengths(
            model,
            limb,
            data.coordinates[start:stop],
            length_out[first:last],
            work.tendon_jacobian,
        )
        for t in range(first, last):
            stretch = model.tendon_pretension[t] / model.tendon_stiffness[t]
            missing = length_out[t] - stretch - data.servo_length[t]
            lead = max(1.0, model.servo_time_constant[t] / _TENSION_LOOP)
            length_out[t] = data.servo_length[t] + lead * missing


@kernel
def plant_step(
    nominal: RobotModel,
    real: RobotModel,
    actuation: int,
    target: FloatArray,
    slack: FloatArray,
    drive: IntArray,
    given: FloatArray,
    data: RobotData,
    work: RodWork,
    winch_out: FloatArray,
) -> int:
    """Advance the plant by `PLANT_PERIOD`.

    Args:
        nominal: what the winches' controller believes the robot to be.
        real: what it is.
        actuation: an `Actuation` of all winches; -1: each as `drive` says.
        target: (S, 3) pose to hold where that is STIFF [rad, rad, m].
        slack: (T,) lengths at which nothing loads the limb [m].
        drive: (T,) an `Actuation` each.
        given: (T,) lengths where that is STIFF [m].
        data: state of the plant, advanced.
        work: scratch.
        winch_out: (T,) lengths asked of the winches [m].

    Returns:
        Number of limbs that are frozen.
    """
    if actuation == _STIFF:
        _stiff_winches(nominal, target, work, winch_out)
    elif actuation == _COMPLIANT:
        # a winch under tension control feels its tendon: the real geometry
        _compliant_winches(real, data, work, winch_out)
    elif actuation == _EACH:
        _compliant_winches(real, data, work, winch_out)
        for t in range(winch_out.size):
            if drive[t] == _STIFF:
                winch_out[t] = given[t]
            elif drive[t] != _COMPLIANT:
                winch_out[t] = slack[t]
    else:
        for t in range(winch_out.size):
            winch_out[t] = slack[t]
    return int(robot_step(real, PLANT_PERIOD, winch_out, data, work))


def _slack_lengths(model: RobotModel, work: RodWork) -> FloatArray:
    """Lengths (T,) at which nothing loads the limb at any pose inside the envelope."""
    lengths = np.zeros(model.tendon_angle.size)
    for limb in range(model.tip_speed_limit.size):
        start, stop = model.limb_segment_start[limb : limb + 2]
        first, last = model.limb_tendon_start[limb : limb + 2]
        for t in range(first, last):
            if model.tendon_tension_least[t] < 0.0:
                lengths[t] = model.tendon_range[t, 0] - _SLACK_MARGIN
                continue
            # longest on the outside of a bend straight away from it, extended
            angle = model.tendon_angle[t]
            pose = np.stack(
                [
                    -model.bend_limit[start:stop] * np.cos(angle),
                    -model.bend_limit[start:stop] * np.sin(angle),
                    model.extension_range[start:stop, 1],
                ],
                axis=1,
            )
            all_lengths = np.zeros(last - first)
            tendon_lengths(model, limb, pose, all_lengths, work.tendon_jacobian)
            lengths[t] = all_lengths[t - first] + _SLACK_MARGIN
    return lengths


class Plant:
    """One simulated robot, advanced 1 ms at a time; pure but for its own state."""

    def __init__(
        self,
        model: RobotModel,
        mismatch: PlantMismatch,
        seed: int,
        coordinates: FloatArray | None = None,
    ) -> None:
        """Put the robot at rest.

        Args:
            model: the robot as its file gives it; the winches are driven by it.
            mismatch: how the robot that is really there differs.
            seed: of the sensor noise.
            coordinates: (S, 3) pose to start at; None = the rest posture.

        Raises:
            ConfigError: the mismatch does not fit the robot.
        """
        self._nominal = model
        self._real = mismatch.apply(model)
        self._work = allocate_rod_work(model)
        self._data = allocate_robot_data(model)
        self._winch = np.zeros(model.tendon_angle.size)
        self._slack = _slack_lengths(self._real, self._work)
        self._drive = np.zeros(model.tendon_angle.size, dtype=np.int64)
        self._given = np.zeros(model.tendon_angle.size)
        self._noise = mismatch.noise
        self._generator = np.random.default_rng(seed)
        self._measured = 0
        self._pose_noise = np.zeros((_NOISE_ROWS, *model.rest_coordinates.shape))
        self._tension_noise = np.zeros((_NOISE_ROWS, model.tendon_angle.size))
        self._frozen = 0
        start = model.rest_coordinates if coordinates is None else coordinates
        reset_robot_data(self._real, start, self._work, self._data)
        self._winch[:] = self._data.servo_length

    @property
    def coordinates(self) -> FloatArray:
        """(S, 3) the true pose [rad, rad, m]; a view."""
        return self._data.coordinates

    @property
    def tension(self) -> FloatArray:
        """(T,) the true tensions [N]; a view."""
        return self._data.tension

    @property
    def unsafe(self) -> str:
        """Empty: nothing of a simulated robot fails."""
        return ""

    @property
    def faults(self) -> RobotFault:
        """None: nothing of a simulated robot fails."""
        return RobotFault(0)

    def clear_faults(self) -> None:
        """Nothing to do."""

    def events(self) -> list[Event]:
        """Nothing: what there is to say the core says."""
        return []

    @property
    def frozen(self) -> int:
        """Number of limbs whose simulation left its range and stands still."""
        return self._frozen

    def push(self, limb: int, moment: FloatArray, force: FloatArray) -> None:
        """Load a limb's tip from now on, as a current or a hand would.

        Args:
            limb: index of the limb.
            moment: (3,) [N m], hull frame.
            force: (3,) [N], hull frame.
        """
        self._data.tip_wrench[limb, :3] = moment
        self._data.tip_wrench[limb, 3:] = force

    def step(self, applied: Applied) -> int:
        """Advance by `PLANT_PERIOD`; simulated winches do not lag behind a pose.

        Args:
            applied: what the winches are told; a limb whose pose is not finite keeps
                its winches where they are.

        Returns:
            Number of limbs that are frozen.
        """
        self._frozen = int(
            plant_step(
                self._nominal,
                self._real,
                int(applied.actuation),
                applied.coordinates,
                self._slack,
                self._drive,
                self._given,
                self._data,
                self._work,
                self._winch,
            )
        )
        return self._frozen

    def step_lines(self, length: FloatArray, drive: IntArray) -> int:
        """Advance by `PLANT_PERIOD` with every winch told for itself.

        Args:
            length: (T,) what each is driven to [m].
            drive: (T,) an `Actuation` each.

        Returns:
            Number of limbs that are frozen.
        """
        self._frozen = int(
            plant_step(
                self._nominal,
                self._real,
                _EACH,
                self._data.coordinates,
                self._slack,
                drive,
                length,
                self._data,
                self._work,
                self._winch,
            )
        )
        return self._frozen

    @property
    def servo_length(self) -> FloatArray:
        """(T,) what the winches have paid out [m]; a view."""
        return self._data.servo_length

    def measure(self) -> tuple[FloatArray, FloatArray]:
        """Read the sensors.

        Returns:
            (S, 3) pose [rad, rad, m] and (T,) tensions [N], with noise.
        """
        pose = self._data.coordinates.copy()
        tension = self._data.tension.copy()
        if self._noise > 0.0:
            row = self._measured % _NOISE_ROWS
            if row == 0:
                self._draw_noise()
            self._measured += 1
            pose += self._pose_noise[row]
            tension += self._tension_noise[row]
            np.maximum(tension, 0.0, out=tension)
        return pose, tension

    def _draw_noise(self) -> None:
        poses, tensions = self._pose_noise, self._tension_noise
        many = (_NOISE_ROWS, poses[0].size + tensions[0].size)
        draw = self._noise * self._generator.standard_normal(many)
        poses[...] = draw[:, : poses[0].size].reshape(poses.shape)
        poses *= (_BEND_NOISE, _BEND_NOISE, _EXTENSION_NOISE)
        tensions[...] = _TENSION_NOISE * draw[:, poses[0].size :]

    def recover(self) -> None:
        """Put frozen limbs, and all others, at rest where they are."""
        reset_robot_data(
            self._real, self._data.coordinates.copy(), self._work, self._data
        )
        self._winch[:] = self._data.servo_length
        self._frozen = 0
