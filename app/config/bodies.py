"""The rigid and shell-like parts of a robot as its TOML gives them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.limbs import Color, LengthMm, Name, Vector
from app.config.loader import Parameters

__all__ = [
    "HullParameters",
    "LegDynamics",
    "LegParameters",
    "MantleParameters",
    "PropellerParameters",
    "SnakeParameters",
]

_SmallMm = Annotated[float, Field(gt=0.0, le=1000.0)]
_LinkMm = Annotated[float, Field(ge=0.0, le=5000.0)]
_AngleDeg = Annotated[float, Field(ge=-180.0, le=180.0)]
_Positive = Annotated[float, Field(gt=0.0, le=1e4)]
_Ratio = Annotated[float, Field(ge=0.0, le=10.0)]

_DIMENSIONS = {
    "squid": ("diameter_mm",),
    "vehicle": ("width_mm", "height_mm"),
    "frame": ("width_mm", "height_mm"),
    "bars": ("diameter_mm",),
    "cone": ("diameter_mm",),
    "module": ("diameter_mm",),
}


class HullParameters(Parameters):
    """The rigid body that carries the limbs; its frame has x bow, y port, z up.

    `wet_mass_kg` is the weight in water over gravity of the whole robot, limbs and
    legs included: what keeps a robot on legs on the seabed.
    """

    shape: Literal["squid", "vehicle", "frame", "bars", "cone", "module"] = "squid"
    base: Literal["floating", "three-dof", "legs", "chain"] = "floating"
    length_mm: LengthMm
    diameter_mm: Annotated[float, Field(ge=1.0, le=10_000.0)] | None = None
    width_mm: LengthMm | None = None
    height_mm: LengthMm | None = None
    dry_mass_kg: Annotated[float, Field(gt=0.0, le=1e5)]
    drag_area_m2: Annotated[float, Field(ge=0.0, le=1000.0)] | None = None
    wet_mass_kg: Annotated[float, Field(ge=0.0, le=1e5)] | None = None
    over_seabed_mm: Annotated[float, Field(ge=20.0, le=10_000.0)] = 620.0

    @model_validator(mode="after")
    def _sized(self) -> "HullParameters":
        needed = _DIMENSIONS[self.shape]
        for key in ("diameter_mm", "width_mm", "height_mm"):
            given = getattr(self, key) is not None
            if given != (key in needed):
                word = "without" if given else "with"
                raise ValueError(
                    f'shape = "{self.shape}" is described by length_mm and '
                    f"{' and '.join(needed)}: write it {word} {key}"
                )
        return self


class LegDynamics(Parameters):
    """Masses of one leg and the drives of its joints, for simulation.

    Canisters of the motors of femur and tibia, at the femur joint and the knee; bars of
    femur and tibia; drives of coxa, femur and tibia (models/leg_drive).
    """

    canister_mass_kg: tuple[_Positive, _Positive]
    canister_volume_l: tuple[_Positive, _Positive]
    bar_mass_kg: tuple[_Positive, _Positive]
    bar_diameter_mm: _SmallMm
    foot_radius_mm: _SmallMm
    joint_stiffness_n_m_per_rad: tuple[_Positive, _Positive, _Positive]
    joint_damping_n_m_s_per_rad: tuple[_Positive, _Positive, _Positive]
    torque_limit_n_m: tuple[_Positive, _Positive, _Positive]
    motor_rate_deg_s: tuple[_Positive, _Positive, _Positive]


class LegParameters(Parameters):
    """One rigid leg of three joints (Liu 2020 eq. 1a, corrected).

    Joints turn by coxa (about z), femur and tibia; links are l0 and l1 of the connector
    between coxa and femur motor, l2 the femur and l3 the tibia.
    """

    name: Name
    color: Color
    mount_position_mm: Vector
    mount_yaw_deg: _AngleDeg
    link_mm: tuple[
        _LinkMm, Annotated[float, Field(ge=-500, le=500)], LengthMm, LengthMm
    ]
    stance_deg: tuple[_AngleDeg, _AngleDeg, _AngleDeg]
    joint_range_deg: tuple[
        tuple[_AngleDeg, _AngleDeg],
        tuple[_AngleDeg, _AngleDeg],
        tuple[_AngleDeg, _AngleDeg],
    ]
    dynamics: LegDynamics | None = None

    @model_validator(mode="after")
    def _within(self) -> "LegParameters":
        for joint, angle, (low, high) in zip(
            ("coxa", "femur", "tibia"),
            self.stance_deg,
            self.joint_range_deg,
            strict=True,
        ):
            if joint == "tibia" and low < 0.0 < high:
                raise ValueError(
                    f"joint_range_deg of the tibia, [{low:g}, {high:g}], lets the knee "
                    "fold to both sides: keep it to one side of 0"
                )
            if not low <= angle <= high:
                raise ValueError(
                    f"stance_deg of the {joint} is {angle:g}, outside its "
                    f"joint_range_deg [{low:g}, {high:g}]"
                )
        return self


class PropellerParameters(Parameters):
    """One propeller of a snake's module, in the frame of the module's tail end."""

    module: Annotated[int, Field(ge=0, le=31)]
    position_mm: Vector
    direction: Vector


class SnakeParameters(Parameters):
    """Rigid modules about the soft joints of one limb (Zhang 2022 Tables 1 and 2).

    The modules are the limb's gaps, from tail to head; module 0 is the hull too.
    """

    limb: Name
    module_mass_kg: Annotated[float, Field(gt=0.0, le=1e4)]
    module_volume_l: Annotated[float, Field(gt=0.0, le=1e4)]
    joint_mass_kg: Annotated[float, Field(gt=0.0, le=1e4)]
    actuator_radius_mm: _SmallMm
    silicone_wall_mm: _SmallMm
    fabric_layer_mm: _SmallMm
    yeoh_j_m3: tuple[float, float, float]
    viscous_consistency: Annotated[float, Field(ge=0.0, le=1e7)]
    viscous_index: Annotated[float, Field(gt=0.0, le=2.0)]
    fabric_modulus_kpa: Annotated[float, Field(gt=0.0, le=1e7)]
    added_mass: _Ratio
    added_mass_surge: _Ratio
    drag: _Ratio
    drag_surge: _Ratio
    drag_roll: _Ratio
    propellers: tuple[PropellerParameters, ...] = ()


class MantleParameters(Parameters):
    """A pulsed-jet mantle: a dome cut open at its apex, then a cylinder (Renda 2018).

    `direction` is its axis E_3s, towards the dome; `position_mm` the middle of the cut.
    """

    position_mm: Vector
    direction: Vector
    color: Color
    radius_mm: LengthMm
    cut_angle_deg: Annotated[float, Field(gt=0.0, lt=90.0)]
    cylinder_length_mm: LengthMm
    half_thickness_mm: _SmallMm
    outflow_area_mm2: Annotated[float, Field(gt=0.0, le=1e6)]
    inflow_area_mm2: Annotated[float, Field(gt=0.0, le=1e6)]
    active_range_mm: tuple[float, float]
    density_kg_m3: Annotated[float, Field(ge=500.0, le=20_000.0)]
    young_modulus_kpa: Annotated[float, Field(ge=1.0, le=1e5)]
    poisson_ratio: Annotated[float, Field(ge=0.0, le=0.5)]
    viscosity_pa_s: Annotated[float, Field(ge=0.0, le=1e5)]
    drag: _Ratio
    added_mass: _Ratio
    flow_loss: Annotated[float, Field(gt=0.0, le=1.0)]
    pulse_frequency_hz: Annotated[float, Field(gt=0.0, le=20.0)]
