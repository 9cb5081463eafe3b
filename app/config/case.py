"""One case of a simulation: what is free, what drives it, in what water, and how.

`limblink simulate` reads it from TOML. Everything has a value but what a case is
about; every key does something. assets/README.md explains the keys.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.case_legs import LegsCase
from app.config.case_loads import (
    Chambers,
    InternalLoad,
    MantlePulse,
    PropellerThrust,
    Stroke,
    Tendon,
    TipLoad,
    TravellingMoment,
)
from app.config.limbs import LimbHydrodynamics, LimbMaterial, Name, Vector
from app.config.loader import Parameters, asset_names, find_asset, load_toml
from app.config.robot_parameters import RobotParameters

__all__ = [
    "BaseCase",
    "CaseParameters",
    "ContactCase",
    "GroundCase",
    "IntegratorCase",
    "LimbCase",
    "ObjectCase",
    "OutputCase",
    "PhysicsCase",
    "StrainCase",
    "WaterCase",
    "case_names",
    "default_case",
    "load_case",
]

Reading = Literal["paper", "published-code"]
StrainName = Literal["k_x", "k_y", "k_z", "q_x", "q_y", "q_z"]
_Angle = Annotated[float, Field(ge=-360.0, le=360.0)]
_Order = Annotated[int, Field(ge=0, le=12)]


class BaseCase(Parameters):
    """The root: what it may do and where it begins.

    With `limb` that limb alone is simulated, on its place of the hull.
    """

    motion: Literal["fixed", "floating", "surge"] = "fixed"
    limb: Name | None = None
    position_mm: Vector = (0.0, 0.0, 0.0)
    roll_pitch_yaw_deg: Vector = (0.0, 0.0, 0.0)
    velocity_mm_s: Vector = (0.0, 0.0, 0.0)
    turn_deg_s: Vector = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _moving(self) -> "BaseCase":
        if self.motion == "fixed" and any((*self.velocity_mm_s, *self.turn_deg_s)):
            raise ValueError(
                'a base with motion = "fixed" has no velocity_mm_s and no turn_deg_s'
            )
        return self


class WaterCase(Parameters):
    """The water; what is left out is the robot's. A density of 0 is a vacuum."""

    density_kg_m3: Annotated[float, Field(ge=0.0, le=1100.0)] | None = None
    gravity_m_s2: Annotated[float, Field(ge=0.0, le=20.0)] | None = None
    current_mm_s: Vector = (0.0, 0.0, 0.0)
    shear_mm_s_per_m: Vector = (0.0, 0.0, 0.0)

    def density(self, robot: RobotParameters) -> float:
        """Its density, or that of the robot's water where none is given [kg/m3]."""
        given = self.density_kg_m3
        return robot.water.density_kg_m3 if given is None else given


class PhysicsCase(Parameters):
    """Which of two readings of Renda 2018, as a whole and item by item.

    The paper and the code published with it differ in each key below; one that is given
    goes before `version`.
    """

    version: Reading = "paper"
    drag_form: Literal["norm", "component"] | None = None
    munk_moment: bool | None = None
    root_drag_area: Reading | None = None
    cone_inertia: Reading | None = None
    recruitment: Reading | None = None
    volume_rate: Reading | None = None
    jet_areas: Reading | None = None
    shell: Reading | None = None

    def is_code(self, item: str) -> bool:
        """Whether an item whose values are the two readings is the code's."""
        return (getattr(self, item) or self.version) == "published-code"

    @property
    def drag(self) -> Literal["norm", "component"]:
        """The form of the drag of limbs and root."""
        code = self.version == "published-code"
        return self.drag_form or ("component" if code else "norm")

    @property
    def munk(self) -> bool:
        """Whether the added mass of limbs turns them too."""
        code = self.version == "published-code"
        return code if self.munk_moment is None else self.munk_moment


class StrainCase(Parameters):
    """Strain basis of the limbs: the reduced model, or as rich as is asked for.

    `order` names the strains that are free, each with the order of its Legendre
    polynomials; with "constant-curvature" two curvatures and the elongation are, and
    `order` is left out. `rods` says whether each segment has its own basis or the
    whole limb one.
    """

    basis: Literal["constant-curvature", "legendre"] = "constant-curvature"
    order: dict[StrainName, _Order] = Field(default_factory=dict)
    rods: Literal["segment", "limb"] = "segment"
    pieces: Annotated[int, Field(ge=1, le=64)] = 1
    points: Annotated[int, Field(ge=2, le=64)] = 4

    @model_validator(mode="after")
    def _complete(self) -> "StrainCase":
        if (self.basis == "legendre") != bool(self.order):
            raise ValueError(
                'order = { k_y = 4, q_z = 0 } and basis = "legendre" go together'
            )
        return self


class LimbCase(Parameters):
    """How one limb begins, and its strain basis where it is another than the rest.

    One value a segment; left out, they are those of the posture. `base_position_mm`
    puts its base elsewhere on the hull than the robot's file does.
    """

    name: Name
    base_position_mm: Vector | None = None
    bend_deg: tuple[_Angle, ...] | None = None
    direction_deg: tuple[_Angle, ...] | None = None
    extension_mm: tuple[Annotated[float, Field(ge=-1000.0, le=1000.0)], ...] | None = (
        None
    )
    strain: StrainCase | None = None


class GroundCase(Parameters):
    """The seabed: a plane at a height, with a swell of sand on it where asked for."""

    height_mm: Annotated[float, Field(ge=-1e5, le=1e5)]
    friction: Annotated[float, Field(ge=0.0, le=2.0)] = 0.6
    wave_height_mm: Annotated[float, Field(ge=0.0, le=1e4)] = 0.0
    wave_length_mm: Annotated[float, Field(ge=10.0, le=1e6)] = 1000.0


class ContactCase(Parameters):
    """What can touch beside ground, obstacles and objects, and how rough things are.

    With `limbs` every limb feels every other. `friction` is that of limbs on each
    other, on obstacles and on objects; the ground has its own.
    """

    limbs: bool = False
    friction: Annotated[float, Field(ge=0.0, le=2.0)] = 0.5


class ObjectCase(Parameters):
    """A free ball, cylinder or box in the water, moved by what touches it."""

    shape: Literal["sphere", "cylinder", "box"]
    size_mm: Annotated[
        tuple[Annotated[float, Field(gt=0.0, le=1e4)], ...],
        Field(min_length=1, max_length=3),
    ]
    mass_kg: Annotated[float, Field(gt=0.0, le=1e4)]
    position_mm: Vector
    roll_pitch_yaw_deg: Vector = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _sized(self) -> "ObjectCase":
        needed = {"sphere": 1, "cylinder": 2, "box": 3}[self.shape]
        if len(self.size_mm) != needed:
            raise ValueError(
                "size_mm is [radius] of a sphere, [radius, length] of a cylinder, "
                "[length, width, height] of a box"
            )
        return self


class IntegratorCase(Parameters):
    """Fixed steps, and the tolerance that `--reference` keeps instead."""

    step_us: Annotated[float, Field(ge=1.0, le=20_000.0)] = 1000.0
    reference_tolerance: Annotated[float, Field(ge=1e-12, le=1e-2)] = 1e-6


class OutputCase(Parameters):
    """What is kept and how it is drawn; azimuth 0 looks from the bow, 90 from port."""

    every_ms: Annotated[float, Field(ge=0.1, le=10_000.0)] = 10.0
    frames: Annotated[int, Field(ge=2, le=24)] = 7
    azimuth_deg: _Angle = 90.0
    elevation_deg: Annotated[float, Field(ge=-90.0, le=90.0)] = 12.0
    follow: bool = True


class CaseParameters(Parameters):
    """One case as its TOML gives it."""

    title: str
    source: str = ""
    robot: str | None = None
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 5.0
    base: BaseCase = BaseCase()
    water: WaterCase = WaterCase()
    physics: PhysicsCase = PhysicsCase()
    material: LimbMaterial = LimbMaterial()
    hydrodynamics: LimbHydrodynamics = LimbHydrodynamics()
    strain: StrainCase = StrainCase()
    posture: Literal["rest", "straight"] = "rest"
    limbs: tuple[LimbCase, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    moments: tuple[TravellingMoment, ...] = ()
    internal_loads: tuple[InternalLoad, ...] = ()
    chambers: tuple[Chambers, ...] = ()
    tip_loads: tuple[TipLoad, ...] = ()
    propellers: tuple[PropellerThrust, ...] = ()
    mantle: MantlePulse | None = None
    stroke: Stroke | None = None
    legs: LegsCase | None = None
    contact: ContactCase = ContactCase()
    ground: GroundCase | None = None
    obstacles: tuple[str, ...] = ()
    objects: tuple[ObjectCase, ...] = ()
    integrator: IntegratorCase = IntegratorCase()
    output: OutputCase = OutputCase()

    @model_validator(mode="after")
    def _consistent(self) -> "CaseParameters":
        names = [limb.name for limb in self.limbs]
        if len(set(names)) != len(names):
            raise ValueError(f"two tables [[limbs]] share a name: {names}")
        if self.stroke is not None and self.base.motion != "fixed":
            raise ValueError(
                'a [stroke] moves the base: leave [base] at motion = "fixed"'
            )
        return self


def case_names() -> list[str]:
    """Return the names of the shipped cases."""
    return asset_names("cases")


def load_case(name: str) -> CaseParameters:
    """Load a shipped case by name, or a file of the user's own by path.

    Raises:
        ConfigError: no such case, or its file is wrong.
    """
    return load_toml(find_asset("cases", name), CaseParameters)


def default_case(robot: RobotParameters) -> CaseParameters:
    """Make the case that needs no file: let go from rest posture in still water.

    Swimmers and the snake float; a hull that hangs on a vehicle, stands on legs or
    carries heavy limbs at the bow is held.
    """
    floats = robot.mantle is not None or robot.snake is not None
    return CaseParameters(
        title=f"{robot.name} let go from its rest posture in still water",
        robot=robot.name,
        base=BaseCase(motion="floating" if floats else "fixed"),
    )
