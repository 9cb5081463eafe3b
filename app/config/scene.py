"""What stands and lies around a robot: a scene's TOML file.

Places are in the scene's frame, which `[[robots]]` puts into a robot's hull (x bow,
y port, z up); a scene without that table is in the hull's frame for any robot. The hull
stands still. app.config.scene_world makes models of it, app.config.scene_reach checks
that the limb that is to act there reaches what it is to reach.
"""

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.limbs import Color, LengthMm, Name, Vector
from app.config.loader import Parameters, asset_names, find_asset, load_toml
from app.errors import ConfigError

__all__ = [
    "BasketParameters",
    "GraspParameters",
    "ObjectParameters",
    "ObstacleParameters",
    "PlacementParameters",
    "SceneParameters",
    "SeabedParameters",
    "SurfaceParameters",
    "load_scene",
    "placement_for",
    "scene_names",
]

_Size = Annotated[float, Field(gt=0.0, le=20_000.0)]
_Angle = Annotated[float, Field(ge=-360.0, le=360.0)]
_Angles = tuple[_Angle, _Angle, _Angle]
_Height = Annotated[float, Field(ge=-20_000.0, le=20_000.0)]
_Force = Annotated[float, Field(gt=0.0, le=1000.0)]

SIZES = {"plane": 0, "sphere": 1, "cylinder": 2, "box": 3}
"""How many numbers describe each kind: diameter; diameter and length; three sides."""


class SurfaceParameters(Parameters):
    """How a surface answers a touch: F = k p^n (1 + d dp/dt), and friction.

    Hunt and Crossley's law: d = B/k, `dissipation_s_per_m`. A Kelvin-Voigt wall
    F = K p + B dp/dt has no such d; with `damping_n_s_per_m` the law has n = 1 and
    d = B/F, so that its damping is B at the force `damping_at_n`.
    """

    stiffness_n_per_m: Annotated[float, Field(ge=1.0, le=1e6)] = 20_000.0
    exponent: Annotated[float, Field(ge=1.0, le=3.0)] = 1.0
    dissipation_s_per_m: Annotated[float, Field(ge=0.0, le=100.0)] | None = None
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e4)] | None = None
    damping_at_n: _Force = 2.0
    friction: Annotated[float, Field(ge=0.0, le=5.0)] = 0.5

    @model_validator(mode="after")
    def _one_damping(self) -> "SurfaceParameters":
        if self.dissipation_s_per_m is not None and self.damping_n_s_per_m is not None:
            raise ValueError(
                "give dissipation_s_per_m (Hunt-Crossley) or damping_n_s_per_m "
                "(Kelvin-Voigt), not both"
            )
        if self.damping_n_s_per_m is not None and self.exponent != 1.0:
            raise ValueError(
                "damping_n_s_per_m is of a Kelvin-Voigt wall, exponent 1; for another "
                "exponent give dissipation_s_per_m"
            )
        return self


class SeabedParameters(SurfaceParameters):
    """The ground: level at `height_mm`, or heights over it on a grid.

    `relief_mm` are rows along x, each of them along y, centred under the scene's frame.
    """

    height_mm: _Height
    relief_mm: tuple[tuple[_Height, ...], ...] = ()
    spacing_mm: Annotated[float, Field(ge=5.0, le=10_000.0)] = 100.0

    @model_validator(mode="after")
    def _even(self) -> "SeabedParameters":
        widths = {len(row) for row in self.relief_mm}
        if self.relief_mm and (len(self.relief_mm) < 2 or min(widths) < 2):
            raise ValueError("relief_mm needs at least two rows of two heights")
        if len(widths) > 1:
            raise ValueError(f"the rows of relief_mm have {sorted(widths)} heights")
        return self


class _Solid(SurfaceParameters):
    """A shape at a place."""

    name: Name
    kind: str
    position_mm: Vector
    roll_pitch_yaw_deg: _Angles = (0.0, 0.0, 0.0)
    size_mm: tuple[_Size, ...] = ()
    color: Color = "#8f9aa3"

    def _check_size(self, kind: str) -> None:
        if len(self.size_mm) != SIZES[kind]:
            raise ValueError(
                f"a {kind} has {SIZES[kind]} size_mm (sphere: diameter; cylinder: "
                f"diameter, length; box: three sides), not {list(self.size_mm)}"
            )


class ObstacleParameters(_Solid):
    """Something that stands still; a plane is solid below its own z = 0."""

    kind: Literal["plane", "sphere", "cylinder", "box"]

    @model_validator(mode="after")
    def _sized(self) -> "ObstacleParameters":
        self._check_size(self.kind)
        return self


class ObjectParameters(_Solid):
    """Something that can be pushed, taken and carried.

    `displaced_l` is the volume of water that it displaces; left out, that of its shape.
    `grasp_size_mm` is its width where a gripper holds it; left out, its least width.
    """

    kind: Literal["sphere", "cylinder", "box"]
    mass_kg: Annotated[float, Field(gt=0.0, le=100.0)]
    displaced_l: Annotated[float, Field(ge=0.0, le=100.0)] | None = None
    drag: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    grasp_size_mm: _Size | None = None
    color: Color = "#d8573c"

    @model_validator(mode="after")
    def _sized(self) -> "ObjectParameters":
        self._check_size(self.kind)
        return self

    @property
    def volume_l(self) -> float:
        """Volume of the shape [l]."""
        size = [1e-2 * value for value in self.size_mm]
        if self.kind == "sphere":
            return math.pi / 6.0 * size[0] ** 3
        if self.kind == "cylinder":
            return 0.25 * math.pi * size[0] ** 2 * size[1]
        return size[0] * size[1] * size[2]

    @property
    def grasp_mm(self) -> float:
        """Width that a gripper has to span [mm]."""
        least = min(self.size_mm)
        return least if self.grasp_size_mm is None else self.grasp_size_mm


class BasketParameters(SurfaceParameters):
    """A round basket with a floor: where objects are brought to.

    `position_mm` is the middle of its opening: the floor lies `rim_height_mm` below it,
    on a base of `base_height_mm`.
    """

    position_mm: Vector
    diameter_mm: LengthMm
    rim_height_mm: LengthMm
    base_height_mm: LengthMm = 20.0
    color: Color = "#c9a24b"


class GraspParameters(Parameters):
    """How firmly a gripper holds."""

    force_limit_n: _Force = 4.0
    stiffness_n_per_m: Annotated[float, Field(ge=10.0, le=1e5)] = 400.0
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e3)] = 4.0


class PlacementParameters(Parameters):
    """Where the scene's frame is in a robot's hull, and which limb acts there.

    `positions_mm` moves single things, by their names ("basket" for the basket), still
    in the scene's frame. `reach_mm` are points, in the scene's frame, that the limb's
    tip has to reach. `rest_bend_deg` and `rest_direction_deg` are the limb's rest
    posture here, in place of its own (`app.config.scene_posture`).
    """

    name: Name
    limb: Name
    origin_mm: Vector = (0.0, 0.0, 0.0)
    roll_pitch_yaw_deg: _Angles = (0.0, 0.0, 0.0)
    positions_mm: dict[str, Vector] = Field(default_factory=dict)
    reach_mm: tuple[Vector, ...] = ()
    rest_bend_deg: tuple[Annotated[float, Field(ge=0.0, le=360.0)], ...] | None = None
    rest_direction_deg: tuple[_Angle, ...] | None = None

    @model_validator(mode="after")
    def _whole_posture(self) -> "PlacementParameters":
        if (self.rest_bend_deg is None) != (self.rest_direction_deg is None):
            raise ValueError("give rest_bend_deg and rest_direction_deg, or neither")
        return self


class SceneParameters(Parameters):
    """A scene as its TOML file gives it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    current_m_s: Vector = (0.0, 0.0, 0.0)
    limbs_touch: bool = False
    """Limbs touch each other too, not only what is around them."""
    seabed: SeabedParameters | None = None
    grasp: GraspParameters = GraspParameters()
    basket: BasketParameters | None = None
    obstacles: Annotated[tuple[ObstacleParameters, ...], Field(max_length=64)] = ()
    objects: Annotated[tuple[ObjectParameters, ...], Field(max_length=16)] = ()
    robots: tuple[PlacementParameters, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> "SceneParameters":
        names = [item.name for item in (*self.obstacles, *self.objects)]
        names += ["basket"] if self.basket is not None else []
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two things are called {twice[0]!r}: rename one")
        robots = [item.name for item in self.robots]
        if len(set(robots)) != len(robots):
            raise ValueError(f"two tables [[robots]] share a name: {robots}")
        for item in self.robots:
            unknown = sorted(set(item.positions_mm) - set(names))
            if unknown:
                raise ValueError(
                    f"positions_mm of robot {item.name!r} names {unknown[0]!r}, which "
                    f"the scene has not; it has {', '.join(names) or 'nothing'}"
                )
        if math.hypot(*self.current_m_s) > 5.0:
            raise ValueError("current_m_s is faster than 5 m/s: the unit is m/s")
        return self

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to touch."""
        return not (self.seabed or self.basket or self.obstacles or self.objects)


def scene_names() -> list[str]:
    """Return the names of the shipped scenes."""
    return asset_names("scenes")


def load_scene(name: str) -> SceneParameters:
    """Load a shipped scene by name, or a file of the user's own by path.

    Raises:
        ConfigError: no such scene, or its file is wrong.
    """
    return load_toml(find_asset("scenes", name), SceneParameters)


def placement_for(scene: SceneParameters, robot: str) -> PlacementParameters | None:
    """Find where a scene is for a robot; None where it is in the hull's frame.

    Args:
        scene: the scene.
        robot: name of the robot.

    Raises:
        ConfigError: the scene has places for other robots alone.
    """
    if not scene.robots:
        return None
    for item in scene.robots:
        if item.name == robot:
            return item
    known = ", ".join(item.name for item in scene.robots)
    raise ConfigError(
        f"The scene {scene.name!r} has no place for the robot {robot!r}: it has for "
        f"{known}. Add a table [[robots]] with name, limb and origin_mm to a copy."
    )
