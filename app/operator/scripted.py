"""Operators that are programs: the same samples as a person's, from a path. Pure."""

import math
from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from app.clock import NS_PER_S
from app.config.task_place import PlacedTask
from app.errors import ConfigError
from app.messages import (
    Event,
    InputMode,
    LinkHealth,
    OperatorInput,
    Source,
    StationState,
)
from app.operator.arming import ScriptedArming
from app.operator.look import Display
from app.operator.paths import (
    CirclePath,
    Dome,
    LinePath,
    TipPath,
    minimum_jerk,
    steepest,
)
from app.operator.repertoire import (
    HAND_SPEED,
    PERFORMER_NAMES,
    REPLAY,
    make_performer,
)
from app.operator.supervisor import SUPERVISOR, Supervisor
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = [
    "PATH_NAMES",
    "SCRIPTED_NAMES",
    "PathOperator",
    "Plane",
    "ScriptedOperator",
    "is_scripted",
    "make_scripted",
]

Plane = Literal["dome", "xy", "xz", "yz"]

PATH_NAMES = ("circle", "line")
"""Those that lead a tip along a path, blindly."""
SCRIPTED_NAMES = (*PATH_NAMES, SUPERVISOR, *PERFORMER_NAMES)
"""All that need no file; `replay:FILE` is one more."""

_PEAK_OVER_MEAN = 1.875  # of a minimum-jerk stroke's speed
_RISE_S = 1.0  # from rest to full speed along the path
_TREMOR_HZ = (8.0, 12.0)  # physiological tremor of the hand
_SPEED_SHARE = 0.6  # of the tip speed limit
_DEFAULT_SIZE = {"circle": 0.06, "line": 0.12}
_DEFAULT_SPEED = 0.06
_AXES = {"x": 0, "y": 1, "z": 2}


class ScriptedOperator(Protocol):
    """A program in the operator's place."""

    def step(
        self, now_ns: int, state: StationState, health: LinkHealth
    ) -> OperatorInput:
        """Return its sample at `now_ns` [ns], from what the screen shows it."""

    def events(self) -> list[Event]:
        """Return what happened since the last call."""


class PathOperator:
    """Leads one limb's tip along a path that begins where the tip is.

    Whenever it takes the limb up (again), it goes from the tip's present place to where
    it left the path, smoothly and no faster than the path, and on from there.
    """

    def __init__(
        self,
        limb: int,
        lay_out: Callable[[FloatArray], TipPath],
        speed: float,
        tremor: float,
        seed: int,
    ) -> None:
        """Prepare.

        Args:
            limb: index of the limb.
            lay_out: makes the path from the tip's place (3,) [m], hull frame.
            speed: greatest speed along the path [m/s].
            tremor: amplitude of the hand's tremor on each axis [m].
            seed: of the tremor's frequencies and phases.
        """
        self._limb = limb
        self._lay_out = lay_out
        self._speed = speed
        self._tremor = tremor
        random = np.random.default_rng(seed)
        self._tremor_hz = random.uniform(*_TREMOR_HZ, size=3)
        self._tremor_phase = random.uniform(0.0, 2.0 * math.pi, size=3)
        self._arming = ScriptedArming(Source.SCRIPT)
        self._path: TipPath | None = None
        self._round_s = math.inf
        self._progress = 0.0  # rounds done when the limb was last taken up
        self._taken_ns: int | None = None
        self._taken_at: FloatArray = np.zeros(3)
        self._approach_s = 0.0
        self._target: FloatArray = np.zeros(3)

    def step(
        self, now_ns: int, state: StationState, health: LinkHealth
    ) -> OperatorInput:
        """Return the sample at `now_ns` [ns]."""
        wish = self._arming.step(now_ns, state, health)
        if wish.drive:
            if self._taken_ns is None:
                self._take_up(now_ns, state.tip_commanded[self._limb].copy())
            self._target = self._follow(now_ns)
        elif self._taken_ns is not None:
            self._progress = self._progress_at(now_ns)
            self._taken_ns = None
        x, y, z = self._target.tolist()
        return OperatorInput(
            stamp_ns=now_ns,
            present=True,
            deadman=wish.drive,
            mode=InputMode.TARGET if wish.drive else InputMode.NEUTRAL,
            limb=self._limb,
            target=(x, y, z),
            arm_count=wish.arm_count,
            disarm_count=wish.disarm_count,
        )

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        return self._arming.events()

    def _take_up(self, now_ns: int, tip: FloatArray) -> None:
        if self._path is None:
            self._path = self._lay_out(tip)
            self._round_s = steepest(self._path) / self._speed
        gap = float(np.linalg.norm(self._path.point(self._progress) - tip))
        self._approach_s = _PEAK_OVER_MEAN * gap / self._speed
        self._taken_ns = now_ns
        self._taken_at = tip

    def _progress_at(self, now_ns: int) -> float:
        """Rounds done, in a smooth start from where the limb was taken up."""
        if self._taken_ns is None:
            return self._progress
        elapsed_s = (now_ns - self._taken_ns) / NS_PER_S - self._approach_s
        rise = min(1.0, max(0.0, elapsed_s / _RISE_S))
        # the integral of a minimum-jerk rise of the pace from 0 to 1
        paced_s = _RISE_S * rise**4 * (2.5 + rise * (rise - 3.0))
        paced_s += max(0.0, elapsed_s - _RISE_S)
        return self._progress + paced_s / self._round_s

    def _follow(self, now_ns: int) -> FloatArray:
        if self._path is None or self._taken_ns is None:
            return self._target
        point = self._path.point(self._progress_at(now_ns))
        elapsed_s = (now_ns - self._taken_ns) / NS_PER_S
        if elapsed_s < self._approach_s:
            part = minimum_jerk(elapsed_s / self._approach_s)
            point = self._taken_at + part * (point - self._taken_at)
        if not self._tremor:
            return point
        phase = 2.0 * math.pi * self._tremor_hz * (now_ns / NS_PER_S)
        shaken: FloatArray = point + self._tremor * np.sin(phase + self._tremor_phase)
        return shaken


def is_scripted(name: str) -> bool:
    """Whether `make_scripted` knows the name; of a replay, not whether the file is."""
    return name in SCRIPTED_NAMES or name.startswith(f"{REPLAY}:")


def make_scripted(
    name: str,
    model: RobotModel,
    *,
    limb: int = 0,
    size: float | None = None,
    speed: float | None = None,
    plane: Plane = "dome",
    tremor: float = 0.0,
    seed: int = 0,
    task: PlacedTask | None = None,
    display: Display = "strategy",
) -> ScriptedOperator:
    """Make a scripted operator.

    Args:
        name: "circle" (through the tip, its centre toward the limb's axis) or "line"
            (there and back, minimum jerk), which see nothing; or a simulated person of
            `app.operator.repertoire`; or "supervisor", who arms and looks on; or
            "replay:FILE", a recorded hand.
        model: the robot.
        limb: index of the limb to lead; a task names its own.
        size: radius of the circle or length of the line [m]; None: 60 and 120 mm.
        speed: greatest speed along the path [m/s]; None: 60 mm/s, or 60 % of the tip
            speed limit where that is less. Of a simulated person's hand: 50 mm/s.
        plane: "dome", the surface a limb's tip reaches at constant length; or a flat
            plane of the hull's axes, a line then going along its first axis toward the
            limb's base (away from it, it is soon out of reach).
        tremor: amplitude of the hand's tremor on each axis [m].
        seed: of the tremor, or of all that a simulated person draws.
        task: what a simulated person does; None: something about where the tip is.
        display: what a simulated person sees: as the strategy in force draws, or not.

    Raises:
        ConfigError: no such operator, limb or plane, a size or speed out of range, a
            recorded hand that cannot be read, or a task that is not this operator's.
    """
    if not is_scripted(name):
        raise ConfigError(
            f"No scripted operator {name!r}; there are {', '.join(SCRIPTED_NAMES)}, "
            f"{REPLAY}:FILE."
        )
    if name == SUPERVISOR:
        return Supervisor()
    if task is not None:
        limb = task.limb
        if name in PATH_NAMES:
            raise ConfigError(
                f"The operator {name!r} does no task: choose "
                f"{task.parameters.operator!r} for {task.parameters.name!r}."
            )
    limbs = model.tip_speed_limit.size
    if not 0 <= limb < limbs:
        raise ConfigError(f"No limb {limb}; this robot has 0 to {limbs - 1}.")
    if plane not in ("dome", "xy", "xz", "yz"):
        raise ConfigError(f"No plane {plane!r}; there are dome, xy, xz, yz.")
    limit = float(model.tip_speed_limit[limb])
    if speed is None and name in PATH_NAMES:
        speed = min(_DEFAULT_SPEED, _SPEED_SHARE * limit)
    elif speed is None:
        speed = min(HAND_SPEED, limit)
    if not 0.0 < speed <= limit:
        raise ConfigError(
            f"Speed {speed:g} m/s is outside 0 to {limit:g} m/s, this limb's tip speed "
            "limit. Choose a slower one."
        )
    size = _DEFAULT_SIZE.get(name, _DEFAULT_SIZE["circle"]) if size is None else size
    start = model.limb_segment_start[limb]
    reach = float(
        model.segment_length[start : model.limb_segment_start[limb + 1]].sum()
    )
    if not 0.0 < size <= reach:
        raise ConfigError(
            f"Size {size:g} m is outside 0 to {reach:g} m, this limb's length."
        )
    base = model.pose_base_to_hull[limb]

    def circle(tip: FloatArray) -> TipPath:
        normal, inward = _plane_and_inward(plane, base, tip)
        sideways = np.cross(normal, inward)
        if plane == "dome":
            turn = base[:3, :3].T
            dome = Dome.through(base, tip)
            return CirclePath(
                tip, size * (turn @ inward), size * (turn @ sideways), dome
            )
        return CirclePath(tip, size * inward, size * sideways)

    def line(tip: FloatArray) -> TipPath:
        normal, inward = _plane_and_inward(plane, base, tip)
        if plane == "dome":
            # sideways, about the axis: as much to reach on either hand
            along = base[:3, :3].T @ np.cross(normal, inward)
            return LinePath(tip, size * along, Dome.through(base, tip))
        first = _AXES[plane[0]]
        toward_base = -size if tip[first] >= base[first, 3] else size
        return LinePath(tip, toward_base * np.eye(3)[first])

    if name not in PATH_NAMES:
        return make_performer(name, model, limb, speed, seed, circle, task, display)
    lay_out = circle if name == "circle" else line
    return PathOperator(limb, lay_out, speed, tremor, seed)


def _plane_and_inward(
    plane: Plane, base: FloatArray, tip: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Normal of the plane, and the direction in it from the tip toward the limb's axis.

    Both (3,) of length 1 in the hull frame; a plane's first axis stands in where the
    tip lies on the axis.
    """
    if plane == "dome":
        normal, first = base[:3, 2], base[:3, 0]
    else:
        first = np.eye(3)[_AXES[plane[0]]]
        normal = np.cross(first, np.eye(3)[_AXES[plane[1]]])
    offset = tip - base[:3, 3]
    inward = base[:3, 2] * (base[:3, 2] @ offset) - offset
    inward = inward - normal * (normal @ inward)
    length = float(np.linalg.norm(inward))
    return normal, first if length < 1e-3 else inward / length
