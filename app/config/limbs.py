"""A soft limb as its TOML gives it: geometry, what drives it, what it is made of."""

import itertools
import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.loader import Parameters

__all__ = [
    "Actuation",
    "ChamberParameters",
    "Color",
    "GripperParameters",
    "LengthMm",
    "LimbHydrodynamics",
    "LimbMaterial",
    "LimbParameters",
    "Name",
    "Vector",
]

Actuation = Literal["tendons", "chambers", "moment", "passive"]
LengthMm = Annotated[float, Field(ge=5.0, le=10_000.0)]
Vector = tuple[float, float, float]
Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,15}$")]

_GapMm = Annotated[float, Field(ge=0.0, le=10_000.0)]
_Azimuth = Annotated[float, Field(ge=-360.0, le=360.0)]


class LimbMaterial(Parameters):
    """What a limb's elastomer has other than the robot's `[material]`."""

    density_kg_m3: Annotated[float, Field(ge=500.0, le=5000.0)] | None = None
    young_modulus_kpa: Annotated[float, Field(ge=1.0, le=1e5)] | None = None
    poisson_ratio: Annotated[float, Field(ge=0.0, le=0.5)] | None = None
    axial_stiffness_ratio: Annotated[float, Field(ge=1.0, le=1000.0)] | None = None
    viscosity_pa_s: Annotated[float, Field(ge=0.0, le=1e5)] | None = None
    tensile_strength_mpa: Annotated[float, Field(gt=0.0, le=100.0)] | None = None


class LimbHydrodynamics(Parameters):
    """What a limb has other than the robot's `[hydrodynamics]`."""

    drag_normal: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    drag_tangent: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    added_mass: Annotated[float, Field(ge=0.0, le=10.0)] | None = None


class ChamberParameters(Parameters):
    """The chambers of one segment: three or more that bend it, or one that extends it.

    The length without pressure is the segment's. With `one_idle` the shortest chamber
    keeps it, whatever the bend; `assumed` names the keys that no source gives.
    """

    kind: Literal["bending", "elongation"] = "bending"
    azimuth_deg: tuple[_Azimuth, ...] = ()
    distance_mm: Annotated[float, Field(ge=0.0, le=500.0)] = 0.0
    length_range_mm: tuple[LengthMm, LengthMm]
    pressure_range_kpa: tuple[float, float]
    one_idle: bool = False
    assumed: tuple[
        Literal["distance_mm", "length_range_mm", "pressure_range_kpa"], ...
    ] = ()

    @model_validator(mode="after")
    def _consistent(self) -> "ChamberParameters":
        count = len(self.azimuth_deg)
        if self.kind == "bending" and (count < 3 or self.distance_mm <= 0.0):
            raise ValueError(
                f"a bending segment needs at least three azimuth_deg, not {count}, and "
                "distance_mm above 0; one chamber along the axis is kind = "
                '"elongation"'
            )
        if self.kind == "elongation" and (count or self.distance_mm or self.one_idle):
            raise ValueError(
                "an elongation chamber lies along the axis: leave out azimuth_deg, "
                "distance_mm and one_idle"
            )
        if self.kind == "bending" and not self._stand_around():
            raise ValueError(
                f"azimuth_deg {list(self.azimuth_deg)} puts the chambers in one line: "
                "put them around the axis, as [90, 210, 330]"
            )
        if self.length_range_mm[0] >= self.length_range_mm[1]:
            raise ValueError("length_range_mm must be [least, greatest]")
        low, high = self.pressure_range_kpa
        if not -101.0 <= low < high <= 2000.0:
            raise ValueError(
                "pressure_range_kpa must be [least, greatest] over ambient, within "
                "-101 and 2000 kPa; the unit is kilopascals"
            )
        return self

    def _stand_around(self) -> bool:
        angles = [math.radians(value) for value in self.azimuth_deg]
        return any(
            abs(math.sin(b - a) + math.sin(c - b) + math.sin(a - c)) > 0.05
            for a, b, c in itertools.combinations(angles, 3)
        )


class GripperParameters(Parameters):
    """A soft gripper at the tip, with one chamber for all its fingers."""

    length_mm: LengthMm
    fingers: Annotated[int, Field(ge=2, le=8)]
    pressure_range_kpa: tuple[float, float]


class LimbParameters(Parameters):
    """One soft limb."""

    name: Name
    role: Literal["grasper", "palpation", "camera", "light", "arm", "body"]
    color: Color
    actuation: Actuation = "tendons"
    base_position_mm: Vector
    base_direction: Vector
    base_roll_deg: Annotated[float, Field(ge=-360.0, le=360.0)] = 0.0
    segment_length_mm: Annotated[
        tuple[LengthMm, ...], Field(min_length=1, max_length=16)
    ]
    gap_mm: tuple[_GapMm, ...] = ()
    extension_range_mm: tuple[float, float] | None = None
    base_diameter_mm: Annotated[float, Field(ge=2.0, le=1000.0)]
    tip_diameter_mm: Annotated[float, Field(ge=2.0, le=1000.0)]
    rest_bend_deg: tuple[float, ...]
    rest_direction_deg: tuple[float, ...]
    printed_workspace_mm: tuple[LengthMm, LengthMm, LengthMm] | None = None
    opposing: bool = False
    opposing_pressure_gain: Annotated[float, Field(gt=0.0, le=10.0)] = 1.0
    opposing_pressure_offset_kpa: Annotated[float, Field(ge=-100.0, le=100.0)] = 0.0
    moment_limit_mn_m: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    chambers: tuple[ChamberParameters, ...] = ()
    gripper: GripperParameters | None = None
    tip_force_sensor: bool = False
    """A sensor at the tip tells the force on it in three components."""
    material: LimbMaterial = LimbMaterial()
    hydrodynamics: LimbHydrodynamics = LimbHydrodynamics()

    @model_validator(mode="after")
    def _consistent(self) -> "LimbParameters":
        count = len(self.segment_length_mm)
        if len(self.rest_bend_deg) != count or len(self.rest_direction_deg) != count:
            raise ValueError(
                f"rest_bend_deg and rest_direction_deg need {count} values, "
                "one a segment"
            )
        if self.gap_mm and len(self.gap_mm) != count + 1:
            raise ValueError(
                f"gap_mm needs {count + 1} values, the rigid length before each "
                "segment and behind the last one, or none"
            )
        if math.hypot(*self.base_direction) < 1e-6:
            raise ValueError("base_direction must not be zero")
        if self.actuation == "chambers":
            self._check_chambers()
        elif self.chambers:
            raise ValueError('chambers need actuation = "chambers"')
        else:
            self._check_extension()
        if (self.actuation == "moment") != (self.moment_limit_mn_m is not None):
            raise ValueError(
                'moment_limit_mn_m belongs to actuation = "moment", which needs it'
            )
        return self

    def _check_extension(self) -> None:
        if self.extension_range_mm is None:
            raise ValueError("extension_range_mm is missing; add [least, greatest]")
        low, high = self.extension_range_mm
        if not low <= 0.0 <= high:
            raise ValueError("extension_range_mm must contain 0, the rest length")
        if -low >= 0.5 * min(self.segment_length_mm):
            raise ValueError("extension_range_mm would halve the shortest segment")
        if self.opposing:
            raise ValueError('opposing = true needs actuation = "chambers"')

    def _check_chambers(self) -> None:
        count = len(self.segment_length_mm)
        if len(self.chambers) != count:
            raise ValueError(
                f"{count} segments need {count} tables [[limbs.chambers]], from base "
                f"to tip; there are {len(self.chambers)}"
            )
        if self.extension_range_mm is not None:
            raise ValueError(
                "extension_range_mm follows from the chambers' length_range_mm: leave "
                "it out"
            )
        for number, (segment, rest) in enumerate(
            zip(self.chambers, self.segment_length_mm, strict=True), start=1
        ):
            low, high = segment.length_range_mm
            if not low <= rest <= high:
                raise ValueError(
                    f"length_range_mm of segment {number} must contain its "
                    f"segment_length_mm, {rest:g}: that is the length without pressure"
                )
        if self.opposing:
            self._check_opposing()

    def _check_opposing(self) -> None:
        pair = self.chambers[:2]
        if len(pair) < 2 or pair[0].kind == "elongation":
            raise ValueError("opposing = true needs two bending segments at the base")
        turned = [
            abs((b - a) % 360.0 - 180.0)
            for a, b in zip(pair[0].azimuth_deg, pair[1].azimuth_deg, strict=False)
        ]
        turn = {"azimuth_deg": ()}
        alike = pair[0].model_copy(update=turn) == pair[1].model_copy(update=turn)
        lengths = self.segment_length_mm
        if not alike or lengths[0] != lengths[1] or max(turned, default=1.0) > 1e-6:
            raise ValueError(
                "opposing = true needs two alike segments at the base, the azimuth_deg "
                "of the second turned by 180"
            )
