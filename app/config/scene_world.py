"""From a scene's parameters to the arrays that contact kernels take, in the hull frame.

Here millimetres, degrees and litres become SI.
"""

import math
from typing import NamedTuple

import numpy as np

from app.config.limbs import LimbParameters
from app.config.robot_parameters import RobotParameters
from app.config.scene import (
    BasketParameters,
    ObjectParameters,
    SceneParameters,
    SurfaceParameters,
    placement_for,
)
from app.errors import ConfigError
from models.contact import build_contact_model
from models.contact_law import ContactLaw
from models.free_body import (
    FreeBody,
    box_body,
    build_free_bodies,
    cylinder_body,
    sphere_body,
)
from models.grasp import DEFAULT_JOINT, build_grasp_model
from models.limb_contact import build_limb_contacts
from models.numerics import FloatArray
from models.robot import RobotModel
from models.robot_contact import SurroundingsModel
from models.surface import build_height_field

__all__ = [
    "SceneWorld",
    "Solid",
    "build_scene_world",
    "contact_law",
    "pose_from",
]

_STAVES = 10  # boxes that make a basket's rim
_STAVE_M = 0.004
_DISSIPATION = 0.5  # [s/m] where a surface states no damping
_GRIP_WIDTH = 0.5  # of a gripper's length: the middle of what it holds


class Solid(NamedTuple):
    """A shape to touch and to draw.

    Attributes:
        name: as in the scene; what a basket consists of shares its name.
        kind: "plane", "sphere", "cylinder" or "box".
        pose: (4, 4) in the hull frame [m].
        size: radius; radius and half length; three half lengths [m].
        law: its contact law.
        color: "#rrggbb".
    """

    name: str
    kind: str
    pose: FloatArray
    size: FloatArray
    law: ContactLaw
    color: str


class SceneWorld(NamedTuple):
    """A scene about one robot.

    Attributes:
        model: what contact kernels take; obstacle k is `obstacles[k]`.
        obstacles: what stands still.
        objects: what can be moved, where it lies at the start.
        basket: (3,) middle of the basket's opening, its radius and its depth [m]; None
            where there is no basket.
        limb: index of the limb that the scene is made for; 0 where it names none.
        reach: (n, 3) points that this limb's tip has to reach [m], hull frame.
        frame: (4, 4) of the scene in the hull [m].
    """

    model: SurroundingsModel
    obstacles: tuple[Solid, ...]
    objects: tuple[Solid, ...]
    basket: tuple[FloatArray, float, float] | None
    limb: int
    reach: FloatArray
    frame: FloatArray


def contact_law(surface: SurfaceParameters) -> ContactLaw:
    """Convert how a surface answers to the law of the kernels.

    Args:
        surface: see `SurfaceParameters` for what becomes of its damping.
    """
    dissipation = _DISSIPATION
    if surface.dissipation_s_per_m is not None:
        dissipation = surface.dissipation_s_per_m
    elif surface.damping_n_s_per_m is not None:
        dissipation = surface.damping_n_s_per_m / surface.damping_at_n
    return ContactLaw(
        stiffness=surface.stiffness_n_per_m,
        exponent=surface.exponent,
        dissipation=dissipation,
        friction=surface.friction,
    )


def pose_from(
    position_mm: tuple[float, float, float],
    roll_pitch_yaw_deg: tuple[float, float, float],
) -> FloatArray:
    """Pose (4, 4) [m] of a place [mm], turned about x, then y, then z [deg]."""
    roll, pitch, yaw = (math.radians(angle) for angle in roll_pitch_yaw_deg)
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    pose = np.eye(4)
    pose[:3, :3] = (
        np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
        @ np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
        @ np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    )
    pose[:3, 3] = 1e-3 * np.asarray(position_mm)
    return pose


def _half_sizes(size_mm: tuple[float, ...]) -> FloatArray:
    """Diameters, lengths and sides [mm] as radii and half lengths [m]."""
    return 0.5e-3 * np.asarray(size_mm, dtype=float)


def _basket_solids(
    basket: BasketParameters, opening: FloatArray, law: ContactLaw
) -> list[Solid]:
    """Floor with its base, and the rim as flat staves."""
    radius, height = 0.5e-3 * basket.diameter_mm, 1e-3 * basket.rim_height_mm
    base = 1e-3 * basket.base_height_mm
    floor = np.eye(4)
    floor[2, 3] = -height - 0.5 * base
    solids = [
        Solid(
            "basket",
            "cylinder",
            opening @ floor,
            np.array([radius + _STAVE_M, 0.5 * base]),
            law,
            basket.color,
        )
    ]
    half = radius * math.tan(math.pi / _STAVES) + 0.5 * _STAVE_M
    for k in range(_STAVES):
        turn = pose_from((0.0, 0.0, 0.0), (0.0, 0.0, 360.0 * k / _STAVES))
        turn[:3, 3] = (radius + 0.5 * _STAVE_M) * turn[:3, 0]
        turn[2, 3] -= 0.5 * height
        size = np.array([0.5 * _STAVE_M, half, 0.5 * height])
        solids.append(Solid("basket", "box", opening @ turn, size, law, basket.color))
    return solids


def _free_body(item: ObjectParameters, solid: Solid, water: float) -> FreeBody:
    """An object with its own buoyancy and drag."""
    size = solid.size
    if item.kind == "sphere":
        body = sphere_body(float(size[0]), item.mass_kg, water_density=water)
    elif item.kind == "cylinder":
        body = cylinder_body(
            float(size[0]), 2.0 * float(size[1]), item.mass_kg, water_density=water
        )
    else:
        body = box_body((2.0 * size).tolist(), item.mass_kg, water_density=water)
    if item.displaced_l is not None:
        body = body._replace(displaced_mass=1e-3 * water * item.displaced_l)
    if item.drag is not None:
        area = np.array([size[1] * size[2], size[0] * size[2], size[0] * size[1]])
        if item.kind == "sphere":
            area = np.full(3, 0.25 * math.pi * size[0] ** 2)
        elif item.kind == "cylinder":
            side = size[0] * size[1]
            area = np.array([side, side, 0.25 * math.pi * size[0] ** 2])
        linear = 0.5 * water * item.drag * 4.0 * area
        body = body._replace(drag_quadratic=[0.0, 0.0, 0.0, *linear.tolist()])
    # turning in water is damped as by its skin: a tenth of a second at 1 rad/s
    turn = [10.0 * moment for moment in body.inertia]
    return body._replace(drag_linear=[*turn, 0.0, 0.0, 0.0], law=solid.law)


def _can_grip(limb: LimbParameters) -> bool:
    return limb.gripper is not None or limb.role == "grasper"


def _grip_reach(limb: LimbParameters) -> float:
    """From the tip to the middle of the gripper [m]; -1 for a limb without one."""
    if not _can_grip(limb):
        return -1.0
    if limb.gripper is None:  # a grasper's tip itself
        return 0.0
    return 1e-3 * _GRIP_WIDTH * limb.gripper.length_mm


def _grip_opening(limb: LimbParameters) -> float:
    """Widest object that a limb's gripper takes [m]."""
    if limb.gripper is None:
        return 2e-3 * limb.tip_diameter_mm
    return 1e-3 * limb.gripper.length_mm


def _limb_pairs(model: RobotModel) -> list[tuple[int, int]]:
    """Segments of different limbs, but for those that grow out of the hull."""
    starts = model.limb_segment_start
    limb_of = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    first = set(starts[:-1].tolist())
    return [
        (a, b)
        for a in range(limb_of.size)
        for b in range(limb_of.size)
        if limb_of[a] < limb_of[b] and not (a in first and b in first)
    ]


def build_scene_world(
    scene: SceneParameters, robot: RobotParameters, model: RobotModel
) -> SceneWorld:
    """Put a scene about a robot.

    Args:
        scene: the scene.
        robot: the robot's parameters.
        model: its model.

    Raises:
        ConfigError: the scene has no place for this robot, names a limb that it does
            not have, or describes something that cannot be.
    """
    placement = placement_for(scene, robot.name)
    frame = np.eye(4)
    moved: dict[str, tuple[float, float, float]] = {}
    limb = 0
    reach = np.zeros((0, 3))
    if placement is not None:
        frame = pose_from(placement.origin_mm, placement.roll_pitch_yaw_deg)
        moved = placement.positions_mm
        names = [item.name for item in robot.limbs]
        if placement.limb not in names:
            raise ConfigError(
                f"The scene {scene.name!r} is for the limb {placement.limb!r} of "
                f"{robot.name!r}, which has {', '.join(names)}."
            )
        limb = names.index(placement.limb)
        points = 1e-3 * np.asarray(placement.reach_mm, dtype=float).reshape(-1, 3)
        reach = points @ frame[:3, :3].T + frame[:3, 3]
    obstacles: list[Solid] = []
    objects: list[Solid] = []
    for item in (*scene.obstacles, *scene.objects):
        place = moved.get(item.name, item.position_mm)
        solid = Solid(
            item.name,
            item.kind,
            frame @ pose_from(place, item.roll_pitch_yaw_deg),
            _half_sizes(item.size_mm),
            contact_law(item),
            item.color,
        )
        (objects if isinstance(item, ObjectParameters) else obstacles).append(solid)
    basket = None
    if scene.basket is not None:
        place = moved.get("basket", scene.basket.position_mm)
        opening = frame @ pose_from(place, (0.0, 0.0, 0.0))
        basket = (
            opening[:3, 3].copy(),
            0.5e-3 * scene.basket.diameter_mm,
            1e-3 * scene.basket.rim_height_mm,
        )
        obstacles += _basket_solids(scene.basket, opening, contact_law(scene.basket))
    field = None
    seabed_law = ContactLaw()
    if scene.seabed is not None:
        seabed_law = contact_law(scene.seabed)
        if scene.seabed.relief_mm:
            heights = 1e-3 * (scene.seabed.height_mm + np.array(scene.seabed.relief_mm))
            spacing = 1e-3 * scene.seabed.spacing_mm
            middle_at = 0.5 * spacing * (np.array(heights.shape) - 1)
            field = (heights + frame[2, 3], spacing, frame[:2, 3] - middle_at)
        else:
            floor = frame @ pose_from((0.0, 0.0, scene.seabed.height_mm), (0, 0, 0))
            obstacles.append(
                Solid("seabed", "plane", floor, np.zeros(0), seabed_law, "#c8b48a")
            )
    try:
        contacts = build_contact_model(
            [(item.kind, item.pose, item.size) for item in obstacles],
            [item.law for item in obstacles],
            seabed=None if field is None else build_height_field(*field),
            seabed_law=seabed_law,
        )
        bodies = build_free_bodies(
            [
                _free_body(item, solid, robot.water.density_kg_m3)
                for item, solid in zip(scene.objects, objects, strict=True)
            ],
            gravity=model.gravity_in_hull,
            current=scene.current_m_s,
        )
        grasp = build_grasp_model(
            [_grip_reach(item) for item in robot.limbs],
            [_grip_opening(item) for item in robot.limbs],
            [0.5e-3 * item.tip_diameter_mm for item in robot.limbs],
            [1e-3 * item.grasp_mm for item in scene.objects],
            joint=DEFAULT_JOINT._replace(
                stiffness=scene.grasp.stiffness_n_per_m,
                damping=scene.grasp.damping_n_s_per_m,
                force_limit=scene.grasp.force_limit_n,
            ),
        )
    except ValueError as error:
        raise ConfigError(f"The scene {scene.name!r}: {error}.") from error
    pairs = _limb_pairs(model) if scene.limbs_touch else []
    return SceneWorld(
        SurroundingsModel(contacts, build_limb_contacts(pairs), bodies, grasp),
        tuple(obstacles),
        tuple(objects),
        basket,
        limb,
        reach,
        frame,
    )
