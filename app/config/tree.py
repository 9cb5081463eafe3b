"""From a robot's parameters and a case to the tree that the engine moves.

Limbs become rods, gaps and grippers rigid cylinders, the hull bodies on the root. Legs
become joints and links where the base moves; a robot that is held needs none.
"""

import math
from typing import NamedTuple

import numpy as np

from app.config.case import CaseParameters, LimbCase, StrainCase
from app.config.kinematics import limb_gaps
from app.config.limbs import LimbParameters
from app.config.robot_model import build_robot_model, limb_base_pose
from app.config.robot_parameters import RobotParameters
from app.config.tree_hull import add_hull, add_module
from app.config.tree_legs import LegPlan, add_legs
from app.errors import ConfigError
from models.numerics import FloatArray
from models.strain_basis import StrainBasis, constant_curvature, legendre
from models.tree import TreeModel
from models.tree_builder import ROOT, TreeBuilder, frame

__all__ = [
    "LimbPlan",
    "PiecePlan",
    "TreePlan",
    "build_tree",
    "limb_radius",
    "named_limbs",
]

_FREE = {
    "fixed": (0, 0, 0, 0, 0, 0),
    "floating": (1, 1, 1, 1, 1, 1),
    "surge": (0, 0, 0, 1, 0, 0),
}


class PiecePlan(NamedTuple):
    """One element of a limb's soft length."""

    element: int
    start: float
    """Material abscissa where it begins, gaps left out [m]."""
    length: float
    """[m]"""


class LimbPlan(NamedTuple):
    """Where a limb is in the tree."""

    limb: LimbParameters
    number: int
    """Its place in the robot's file."""
    pieces: tuple[PiecePlan, ...]
    modules: tuple[int, ...]
    """Elements of a snake's rigid modules behind the first; () for other limbs."""
    elements: tuple[int, ...]
    """All, base to tip."""
    tip: int
    """Element whose end is the tip: that of the last segment or rigid part."""
    base: FloatArray
    """(4, 4) base frame in the hull [m]."""
    posture: FloatArray
    """(S, 3) coordinates that the case starts it with [rad, rad, m]."""

    def radius(self, at: float) -> float:
        """Radius of the section at an abscissa of the soft length [m]."""
        return limb_radius(self.limb, at)

    def segment_span(self, segment: int) -> tuple[float, float]:
        """Where a segment begins and ends along the soft length [m]."""
        lengths = 1e-3 * np.asarray(self.limb.segment_length_mm)
        return float(lengths[:segment].sum()), float(lengths[: segment + 1].sum())


class TreePlan(NamedTuple):
    """A tree, and which of its parts is what."""

    model: TreeModel
    names: tuple[str, ...]
    """Of every element, for people."""
    limbs: tuple[LimbPlan, ...]
    modules: tuple[int, ...]
    """Element of each module of a snake, tail to head."""
    legs: tuple[LegPlan, ...] = ()
    """None where the base is held."""


def limb_radius(limb: LimbParameters, at: float) -> float:
    """Radius of a limb's section at an abscissa of its soft length [m]."""
    share = at / (1e-3 * sum(limb.segment_length_mm))
    taper = limb.tip_diameter_mm - limb.base_diameter_mm
    return 0.5e-3 * (limb.base_diameter_mm + taper * share)


def named_limbs(plan: TreePlan, names: tuple[str, ...], key: str) -> list[LimbPlan]:
    """Limbs that a case names; all of them where it names none.

    Raises:
        ConfigError: there is no such limb, or it is not simulated.
    """
    known = {limb.limb.name: limb for limb in plan.limbs}
    for name in names:
        if name not in known:
            raise ConfigError(
                f"The case's {key} names the limb {name!r}; simulated are "
                f"{', '.join(known)}."
            )
    return [known[name] for name in names] if names else list(plan.limbs)


def build_tree(robot: RobotParameters, case: CaseParameters) -> TreePlan:
    """Make the tree of a robot under a case.

    Raises:
        ConfigError: the case names a limb that the robot has not, or does not fit it.
    """
    gravity, water = case.water.gravity_m_s2, case.water.density(robot)
    physics = case.physics
    builder = TreeBuilder(
        root="free",  # a fixed one too, all of it held: that gives the force on it
        free=_FREE[case.base.motion],
        gravity=(
            0.0,
            0.0,
            -(robot.water.gravity_m_s2 if gravity is None else gravity),
        ),
        water_density=water,
        current=1e-3 * np.asarray(case.water.current_mm_s),
        current_shear=1e-3 * np.asarray(case.water.shear_mm_s_per_m),
        drag_form=physics.drag,
        munk_moment=physics.munk,
    )
    if case.base.limb is None:
        add_hull(
            builder,
            robot,
            water,
            code=physics.is_code("cone_inertia"),
            code_drag=physics.is_code("root_drag_area"),
        )
    stands = case.base.limb is None and case.base.motion == "floating"
    legs = add_legs(builder, robot, water) if stands else ()
    tail = builder.names.index("module 0") if robot.snake is not None else -1
    _check_names(robot, case)
    rest = build_robot_model(robot).rest_coordinates
    limbs, first = [], 0
    for number, shipped in enumerate(robot.limbs):
        limb = _placed(shipped, case)
        count = len(limb.segment_length_mm)
        if case.base.limb in {None, limb.name}:
            posture = _posture(limb, case, rest[first : first + count])
            maker = _LimbMaker(builder, robot, case, limb, water)
            limbs.append(maker.make(number, posture))
        first += count
    modules = (tail, *limbs[0].modules) if robot.snake is not None else ()
    return TreePlan(builder.build(), tuple(builder.names), tuple(limbs), modules, legs)


def _check_names(robot: RobotParameters, case: CaseParameters) -> None:
    known = [limb.name for limb in robot.limbs]
    given = [("base.limb", case.base.limb)] if case.base.limb else []
    given += [(f"limbs.{k}.name", limb.name) for k, limb in enumerate(case.limbs)]
    for key, name in given:
        if name not in known:
            raise ConfigError(
                f"{key} = {name!r} of the case is no limb of {robot.name!r}, which has "
                f"{', '.join(known)}. Name one of these, or simulate another robot."
            )
    if robot.snake is not None and case.base.limb is not None:
        raise ConfigError(
            f"base.limb leaves the modules of {robot.name!r} out: leave it away."
        )


def _placed(limb: LimbParameters, case: CaseParameters) -> LimbParameters:
    """A limb with its base where the case puts it."""
    own = next((item for item in case.limbs if item.name == limb.name), None)
    if own is None or own.base_position_mm is None:
        return limb
    return limb.model_copy(update={"base_position_mm": own.base_position_mm})


def _posture(
    limb: LimbParameters, case: CaseParameters, rest: FloatArray
) -> FloatArray:
    """(S, 3) coordinates that a limb starts with."""
    own = next((item for item in case.limbs if item.name == limb.name), None)
    start = rest.copy() if case.posture == "rest" else np.zeros_like(rest)
    if own is None:
        return start
    count = len(limb.segment_length_mm)
    for key in ("bend_deg", "direction_deg", "extension_mm"):
        values = getattr(own, key)
        if values is not None and len(values) != count:
            raise ConfigError(
                f"limbs {limb.name!r}: {key} has {len(values)} values; the limb has "
                f"{count} segments: give one value for each."
            )
    if own.bend_deg is not None:
        bend = np.radians(own.bend_deg)
        direction = np.radians(own.direction_deg or (0.0,) * count)
        start[:, 0] = bend * np.cos(direction)
        start[:, 1] = bend * np.sin(direction)
    if own.extension_mm is not None:
        start[:, 2] = 1e-3 * np.asarray(own.extension_mm)
    return start


def _basis(strain: StrainCase) -> StrainBasis:
    if strain.basis == "constant-curvature":
        return constant_curvature()
    return legendre({str(name): order for name, order in strain.order.items()})


class _LimbMaker:
    """Adds one limb to a tree."""

    def __init__(
        self,
        builder: TreeBuilder,
        robot: RobotParameters,
        case: CaseParameters,
        limb: LimbParameters,
        water: float,
    ) -> None:
        own: LimbCase | None = next(
            (item for item in case.limbs if item.name == limb.name), None
        )
        self._builder, self._robot, self._limb = builder, robot, limb
        self._water = water
        self._strain = (own.strain if own else None) or case.strain
        layers = (robot.material, limb.material, case.material)
        self._material = {
            key: _last(layers, key) for key in type(case.material).model_fields
        }
        layers_of_water = (robot.hydrodynamics, limb.hydrodynamics, case.hydrodynamics)
        self._fluid = {
            key: _last(layers_of_water, key)
            for key in type(case.hydrodynamics).model_fields
        }
        self._parent, self._pose = ROOT, limb_base_pose(limb)
        self._pieces: list[PiecePlan] = []
        self._modules: list[int] = []
        self._elements: list[int] = []

    def make(self, number: int, posture: FloatArray) -> LimbPlan:
        """Add rods and rigid parts in their order along the limb."""
        limb = self._limb
        gaps = limb_gaps(limb)
        lengths = 1e-3 * np.asarray(limb.segment_length_mm)
        base = limb_base_pose(limb)
        is_snake = self._robot.snake is not None
        if self._strain.rods == "limb":
            if any(gaps[1:-1]):
                raise ConfigError(
                    f'strain.rods = "limb" joins segments that rigid gaps part in limb '
                    f'{limb.name!r}: write rods = "segment".'
                )
            lengths = np.array([lengths.sum()])
            gaps = gaps[[0, -1]]
        if is_snake:  # the first module is the hull
            self._pose = base @ frame((0.0, 0.0, gaps[0]))
        else:
            self._gap(gaps[0])
        start = 0.0
        for k, length in enumerate(lengths):
            name = limb.name if len(lengths) == 1 else f"{limb.name} segment {k + 1}"
            self._rod(name, start, float(length))
            start += float(length)
            if is_snake:
                self._module(k + 1)
            else:
                self._gap(gaps[k + 1])
        self._gripper()
        return LimbPlan(
            limb,
            number,
            tuple(self._pieces),
            tuple(self._modules),
            tuple(self._elements),
            self._elements[-1],
            base,
            posture,
        )

    def _hang(self, first: int, last: int) -> None:
        self._elements += range(first, last + 1)
        self._parent, self._pose = last, np.eye(4)

    def _rod(self, name: str, start: float, length: float) -> None:
        strain, material = self._strain, self._material
        young = 1e3 * material["young_modulus_kpa"]
        viscosity = material["viscosity_pa_s"]
        if self._robot.snake is not None:  # the walls of its actuators carry the load
            self._check_walls()
            young = viscosity = 0.0
        ends = limb_radius(self._limb, start), limb_radius(self._limb, start + length)
        last = self._builder.add_rod(
            self._parent,
            self._pose,
            length=length,
            radius=ends,
            density=material["density_kg_m3"],
            young_modulus=young,
            shear_modulus=young / (2.0 * (1.0 + material["poisson_ratio"])),
            viscosity=viscosity,
            axial_stiffness_ratio=material["axial_stiffness_ratio"],
            basis=_basis(strain),
            pieces=strain.pieces,
            points=strain.points,
            drag_normal=self._fluid["drag_normal"],
            drag_tangent=self._fluid["drag_tangent"],
            added_mass=self._fluid["added_mass"],
            name=name,
        )
        first = last - strain.pieces + 1
        part = length / strain.pieces
        for k in range(strain.pieces):
            self._pieces.append(PiecePlan(first + k, start + k * part, part))
        self._hang(first, last)

    def _check_walls(self) -> None:
        """Refuse strains of a snake's joint that its actuators do not resist."""
        free = set(self._strain.order) - {"k_x", "k_y", "q_z"}
        if free:
            raise ConfigError(
                f"strain.order frees {', '.join(sorted(free))}: the walls of a snake's "
                "joints resist bending and stretch alone. Leave the others out."
            )

    def _module(self, number: int) -> None:
        element = add_module(
            self._builder, self._robot, self._parent, self._pose, number, self._water
        )
        self._modules.append(element)
        self._hang(element, element)

    def _gap(self, length: float) -> None:
        if length > 0.0:
            self._cylinder(f"{self._limb.name} gap", length)

    def _gripper(self) -> None:
        if self._limb.gripper is not None:
            length = 1e-3 * self._limb.gripper.length_mm
            self._cylinder(f"{self._limb.name} gripper", length)

    def _cylinder(self, name: str, length: float) -> None:
        """A rigid part of the limb's own density and section."""
        radius = limb_radius(self._limb, sum(piece.length for piece in self._pieces))
        volume = math.pi * radius * radius * length
        element = self._builder.add_cylinder(
            self._parent,
            self._pose,
            length=length,
            radius=radius,
            mass=self._material["density_kg_m3"] * volume,
            displaced_mass=self._water * volume,
            drag_normal=self._fluid["drag_normal"],
            drag_tangent=self._fluid["drag_tangent"],
            added_mass=self._fluid["added_mass"],
            name=name,
        )
        self._hang(element, element)


def _last(layers: tuple[object, ...], key: str) -> float:
    """The value of the last of some tables that gives one."""
    values = [getattr(layer, key) for layer in layers]
    return float([value for value in values if value is not None][-1])
