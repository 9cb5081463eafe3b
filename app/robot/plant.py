"""The simulated robot: the rod dynamics of a model that is not quite the station's.

The winches are told what the nominal model says, as on a real robot whose controller
knows its limbs only so well; the limbs then move by the perturbed one. What is left
out: the hull's own motion, friction of the tendons in their sheaths. Where it is given
surroundings, its limbs touch them.
"""

from dataclasses import dataclass, fields

import numpy as np

from app.errors import ConfigError
from app.messages import Event, RobotFault
from app.robot.body import Applied
from app.robot.plant_step import (
    EACH,
    HAPPENED,
    PLANT_PERIOD,
    AroundParts,
    PlantParts,
    SensorParts,
    plant_contact_step,
    plant_step,
    read_sensors,
)
from app.robot.safety import Actuation
from app.robot.surroundings import Surroundings
from app.robot.truth import allocate_truth
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel, allocate_robot_data
from models.robot_contact import allocate_surroundings_work
from models.robot_tree import changed_robot
from models.rod import RodWork, allocate_rod_work, reset_robot_data
from models.tendon import tendon_lengths

__all__ = ["NOISE_ROWS", "PLANT_PERIOD", "Plant", "PlantMismatch"]

_BEND_NOISE = 2e-3  # rad, of a shape sensor; ASSUMED
_EXTENSION_NOISE = 1e-4  # m; ASSUMED
_TENSION_NOISE = 0.02  # N, of a load cell; ASSUMED
_SLACK_MARGIN = 5e-3  # m paid out beyond what any pose inside the envelope needs

NOISE_ROWS = 256
"""Measurements whose noise is drawn at once."""

_NO_FAULT = RobotFault(0)

_STEP_NS = round(1e9 * PLANT_PERIOD)
_STIFF = int(Actuation.STIFF)

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
        surroundings: Surroundings | None = None,
    ) -> None:
        """Put the robot at rest.

        Args:
            model: the robot as its file gives it; the winches are driven by it.
            mismatch: how the robot that is really there differs.
            seed: of the sensor noise.
            coordinates: (S, 3) pose to start at; None = the rest posture.
            surroundings: what it can touch; None = open water.

        Raises:
            ConfigError: the mismatch does not fit the robot.
        """
        self._nominal = model
        self._real = mismatch.apply(model)
        self.surroundings = surroundings
        if surroundings is None:
            self._work = allocate_rod_work(model, rests=True)
        else:
            self._work = allocate_surroundings_work(model, rests=True)
            self._real.tree.current[:] = surroundings.current_m_s
        self.time_ns = 0
        """Robot time before a `step` [ns]; for events, set by who knows it."""
        self._data = allocate_robot_data(model)
        self._winch = np.zeros(model.tendon_angle.size)
        self._slack = _slack_lengths(self._real, self._work)
        self._drive = np.zeros(model.tendon_angle.size, dtype=np.int64)
        self._given = np.zeros(model.tendon_angle.size)
        self._wound = np.full_like(model.rest_coordinates, np.nan)
        self._noise = mismatch.noise
        self._generator = np.random.default_rng(seed)
        self.measured = 0
        """How many measurements were taken."""
        self._drawn = 0  # of how many the noise was drawn
        self._pose_noise = np.zeros((NOISE_ROWS, *model.rest_coordinates.shape))
        self._tension_noise = np.zeros((NOISE_ROWS, model.tendon_angle.size))
        self.frozen = 0
        """Number of limbs whose simulation left its range and stands still."""
        start = model.rest_coordinates if coordinates is None else coordinates
        reset_robot_data(self._real, start, self._work, self._data)
        self._winch[:] = self._data.servo_length
        self.target = self._data.coordinates.copy()
        """(S, 3) pose that the winches hold where they are STIFF [rad, rad, m]."""
        self.sensors = SensorParts(
            data=self._data,
            pose_noise=self._pose_noise,
            tension_noise=self._tension_noise,
            tension_least=self._nominal.tendon_tension_least,
        )
        """What `read_sensors` works on."""
        self.truth = allocate_truth(model)
        """What was so after each step."""
        self._sensors = Bound(self.sensors)
        self._read = bind(read_sensors, self._sensors, 0, self.target, self._winch)
        parts = Bound(
            PlantParts(
                nominal=self._nominal,
                real=self._real,
                target=self.target,
                slack=self._slack,
                drive=self._drive,
                given=self._given,
                wound=self._wound,
                data=self._data,
                work=self._work,
                winch=self._winch,
                truth=self.truth,
            )
        )
        self.parts: tuple[Bound, ...] = (parts,)
        """What `plant_step` works on, or `plant_contact_step`."""
        if surroundings is None:
            self._step = bind(plant_step, parts, EACH)
        else:
            around = Bound(AroundParts(surroundings.model, surroundings.data))
            self.parts = (parts, around)
            self._step = bind(plant_contact_step, parts, around, EACH)

    @property
    def coordinates(self) -> FloatArray:
        """(S, 3) the true pose [rad, rad, m]; a view."""
        return self._data.coordinates

    @property
    def limbs(self) -> int:
        """Number of limbs."""
        return int(self._real.tip_speed_limit.size)

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
        return _NO_FAULT

    def clear_faults(self) -> None:
        """Nothing to do."""

    def events(self) -> list[Event]:
        """What happened to things around; of the rest the core says what there is."""
        return [] if self.surroundings is None else self.surroundings.events()

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
        return self._advance(int(applied.actuation), applied.coordinates)

    def step_lines(self, length: FloatArray, drive: IntArray) -> int:
        """Advance by `PLANT_PERIOD` with every winch told for itself.

        Args:
            length: (T,) what each is driven to [m].
            drive: (T,) an `Actuation` each.

        Returns:
            Number of limbs that are frozen.
        """
        self._drive[:] = drive
        self._given[:] = length
        return self._advance(EACH, self._data.coordinates)

    def _advance(self, actuation: int, target: FloatArray) -> int:
        self.target[:] = target
        self.time_ns += _STEP_NS
        self.frozen = told = self._step(*self.parts, actuation)
        if told:
            self.moved(self.time_ns, told)
        return self.frozen

    def moved(self, time_ns: int, told: int) -> None:
        """Note what happened in a step.

        Args:
            time_ns: robot time at its end [ns].
            told: what `plant_step` returned, or `plant_contact_step`.
        """
        if told >= HAPPENED and self.surroundings is not None:
            told -= HAPPENED
            self.surroundings.note(time_ns)
        self.frozen = told

    @property
    def servo_length(self) -> FloatArray:
        """(T,) what the winches have paid out [m]; a view."""
        return self._data.servo_length

    def measure(self) -> tuple[FloatArray, FloatArray]:
        """Read the sensors.

        Returns:
            (S, 3) pose [rad, rad, m] and (T,) tensions [N], with noise.
        """
        pose, tension = np.empty(self.target.shape), np.empty(self._winch.size)
        self.read(pose, tension)
        return pose, tension

    def read(self, pose_out: FloatArray, tension_out: FloatArray) -> None:
        """Do as `measure`, into (S, 3) and (T,) arrays of the caller's."""
        row = self.measured % NOISE_ROWS
        if row == 0:
            self.noise_rows(1)
        self._read(self._sensors, row, pose_out, tension_out)
        self.measured += 1

    def noise_rows(self, most: int) -> tuple[int, int]:
        """Return where the noise of the next measurements is, which is drawn.

        Args:
            most: how many are wanted at most, at least 1.

        Returns:
            The row of the first, and of how many the noise is there.
        """
        row = self.measured % NOISE_ROWS
        if row == 0 and self._noise > 0.0 and self._drawn <= self.measured:
            self._draw_noise()
            self._drawn = self.measured + NOISE_ROWS
        return row, min(most, NOISE_ROWS - row)

    def _draw_noise(self) -> None:
        poses, tensions = self._pose_noise, self._tension_noise
        many = (NOISE_ROWS, poses[0].size + tensions[0].size)
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
        self._wound[:] = np.nan
        self.frozen = 0
