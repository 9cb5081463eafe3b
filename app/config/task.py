"""A task's TOML file: what is to be done, where, and when it counts as done.

A task stands in a scene, whose frame it then uses and whose objects, basket and
obstacles it is about; or it has presets of its own. These put a frame before a robot's
limb: Gong 2018's, with the origin in the limb's base and z against the straight limb
(which hangs down, z below 0); x and y are as in the base frame of a limb that hangs
from a level hull. `shift_mm` moves the task in this frame, `turn_deg` turns it about z.
On a limb that points ahead, "down" is ahead.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.limbs import Name, Vector
from app.config.loader import Parameters, asset_names, find_asset, load_toml

__all__ = [
    "PadParameters",
    "PathParameters",
    "PegParameters",
    "PresetParameters",
    "PressParameters",
    "ReachParameters",
    "RetrieveParameters",
    "StepParameters",
    "TaskParameters",
    "load_task",
    "task_names",
]

_SizeMm = Annotated[float, Field(gt=0.0, le=2000.0)]
_Force = Annotated[float, Field(gt=0.0, le=100.0)]
_Stiffness = Annotated[float, Field(ge=1.0, le=1e6)]


class PresetParameters(Parameters):
    """How the task lies before one limb of one robot."""

    robot: str
    limb: str
    shift_mm: Vector = (0.0, 0.0, 0.0)
    turn_deg: Annotated[float, Field(ge=-360.0, le=360.0)] = 0.0


class ReachParameters(Parameters):
    """Spheres on a level circle, visited across (ISO/TS 9241-411 style).

    Success: the robot's tip within half of the target's diameter, slower than
    `speed_mm_s`, for `dwell_s`; the first target does not count.
    """

    centre_mm: Vector
    count: Annotated[int, Field(ge=3, le=25)] = 9
    diameter_mm: Annotated[tuple[_SizeMm, ...], Field(min_length=1)]
    target_mm: Annotated[tuple[_SizeMm, ...], Field(min_length=1)]
    speed_mm_s: _SizeMm = 5.0
    dwell_s: Annotated[float, Field(gt=0.0, le=10.0)] = 0.5


class PathParameters(Parameters):
    """A line, or an arc about the frame's z axis whose height follows its azimuth.

    An arc is p = (r cos ψ, r sin ψ, height - rise cos(ψ - end)) for ψ from `from_deg`
    to from_deg + sweep_deg; the end of the half turn is at azimuth end = from_deg +
    180. Success: the end within `end_mm`, distance to the curve below `rms_mm` rms.
    """

    speed_mm_s: _SizeMm
    from_mm: Vector | None = None
    to_mm: Vector | None = None
    radius_mm: _SizeMm | None = None
    height_mm: float = 0.0
    rise_mm: float = 0.0
    from_deg: float = 0.0
    sweep_deg: Annotated[dict[Name, float], Field(default_factory=dict)]
    end_mm: _SizeMm = 10.0
    rms_mm: _SizeMm = 15.0

    @model_validator(mode="after")
    def _one_form(self) -> "PathParameters":
        line = self.from_mm is not None and self.to_mm is not None
        arc = self.radius_mm is not None and bool(self.sweep_deg)
        if line == arc:
            raise ValueError(
                "give from_mm and to_mm for a line, or radius_mm and sweep_deg for an "
                "arc, and not both"
            )
        return self


class PadParameters(Parameters):
    """A flat elastic surface: F = K p^n (+ B p' or + B p^n p' where n is not 1)."""

    place_mm: Vector
    normal: Vector = (0.0, 0.0, 1.0)
    stiffness_n_per_m: Annotated[tuple[_Stiffness, ...], Field(min_length=1)]
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e4)] = 2.0
    exponent: Annotated[float, Field(ge=1.0, le=2.0)] = 1.0


class PressParameters(Parameters):
    """Hold a force on a pad, or say which of two pads is the stiffer.

    With one pad, success is `force_n` within `tolerance` for `hold_s`, never above
    `peak_n`. With two (2AFC), the first one's stiffness is the standard; the second
    one's values are the variants, and success is the right answer.
    """

    pads: Annotated[tuple[PadParameters, ...], Field(min_length=1, max_length=2)]
    start_above_mm: _SizeMm = 30.0
    force_n: _Force = 2.0
    tolerance: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.1
    hold_s: Annotated[float, Field(gt=0.0, le=60.0)] = 3.0
    peak_n: _Force = 5.0


class StepParameters(Parameters):
    """One move of a retrieving operator: where to, how exactly, what the gripper does.

    `place_mm` is where the gripper goes, from the object's place at the start, from the
    middle of the basket's opening, or in the task's frame. `grip` is what the gripper
    does on arrival, 0 open to 1 closed; without it, it stays as it is. `exact`: wait
    until the robot itself is seen to be there.
    """

    name: Name
    of: Literal["frame", "object", "basket"] = "frame"
    place_mm: Vector = (0.0, 0.0, 0.0)
    width_mm: _SizeMm = 20.0
    grip: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    exact: bool = False


class RetrieveParameters(Parameters):
    """Grasp the scene's object, carry it to the basket or out of a cavity, let it go.

    A grasp holds where the gripper's middle is within `offset_mm` of the object, slower
    than `speed_mm_s`, with a grip of `grip` or more. Once released, the object must
    come to rest within the basket, or, where the scene has none, within
    `goal_radius_mm` of `goal_mm` (level distance). Where it is not to be released, it
    is enough that it is held so near to `goal_mm`.
    """

    object: Name
    goal_mm: Vector = (0.0, 0.0, 0.0)
    goal_radius_mm: _SizeMm = 60.0
    offset_mm: _SizeMm = 15.0
    speed_mm_s: _SizeMm = 20.0
    grip: Annotated[float, Field(gt=0.0, le=1.0)] = 0.8
    contact_n: _Force | None = None
    release: bool = True
    steps: Annotated[tuple[StepParameters, ...], Field(min_length=3)]


class PegParameters(Parameters):
    """Put a peg at the tip into a hole; success is its depth, below a lateral force."""

    mouth_mm: Vector
    peg_mm: _SizeMm = 20.0
    hole_mm: Annotated[tuple[_SizeMm, ...], Field(min_length=1)]
    depth_mm: _SizeMm = 30.0
    chamfer_mm: Annotated[float, Field(ge=0.0, le=50.0)] = 2.0
    lateral_n: _Force = 3.0

    @model_validator(mode="after")
    def _fits(self) -> "PegParameters":
        if min(self.hole_mm) <= self.peg_mm:
            raise ValueError(f"each of hole_mm must be above peg_mm = {self.peg_mm:g}")
        return self


class TaskParameters(Parameters):
    """A whole task. Time-out: `timeout_s`, or five times nominal, and the round trips.

    A trial is aborted at a contact force above `abort_n`.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    source: str
    success: str
    operator: Literal["submover", "tracker", "presser", "retriever"]
    start_mm: Vector | None = None
    nominal_s: Annotated[float, Field(gt=0.0, le=3600.0)]
    timeout_s: Annotated[float, Field(gt=0.0, le=36000.0)] | None = None
    timeout_round_trips: Annotated[float, Field(ge=0.0, le=1000.0)] = 10.0
    abort_n: _Force = 10.0
    reach: ReachParameters | None = None
    path: PathParameters | None = None
    press: PressParameters | None = None
    retrieve: RetrieveParameters | None = None
    peg: PegParameters | None = None
    scene: str | None = None
    presets: tuple[PresetParameters, ...] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> "TaskParameters":
        kinds = (self.reach, self.path, self.press, self.retrieve, self.peg)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("give one of reach, path, press, retrieve and peg")
        if (self.scene is None) == (not self.presets):
            raise ValueError("give a scene, or [[presets]], and not both")
        if self.start_mm is None and self.retrieve is None:
            raise ValueError("start_mm is missing: a retrieval alone starts at a step")
        if self.retrieve is not None and self.scene is None:
            raise ValueError("a task with retrieve needs the scene that has its object")
        return self

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the conditions that the task comes in; the first is the default."""
        if self.reach is not None:
            return tuple(
                f"a{across:g}-w{width:g}"
                for across in self.reach.diameter_mm
                for width in self.reach.target_mm
            )
        if self.path is not None:
            return tuple(self.path.sweep_deg) or ("line",)
        if self.press is not None:
            return tuple(f"k{k:g}" for k in self.press.pads[-1].stiffness_n_per_m)
        if self.peg is not None:
            return tuple(f"d{hole:g}" for hole in self.peg.hole_mm)
        return ("one",)

    def timeout(self, round_trip_s: float) -> float:
        """Return the time-out [s] on a link of so long a round trip [s]."""
        own_s = 5.0 * self.nominal_s if self.timeout_s is None else self.timeout_s
        return own_s + self.timeout_round_trips * round_trip_s


def task_names() -> list[str]:
    """Return the names of the shipped tasks."""
    return asset_names("tasks")


def load_task(name: str) -> TaskParameters:
    """Load a task by its shipped name or the path of a TOML file.

    Raises:
        ConfigError: missing or not valid.
    """
    return load_toml(find_asset("tasks", name), TaskParameters)
