"""The rigid root of a simulated robot: bodies for its hull, from what its file says.

The sources give masses and Renda's drag area; all else is assumed from the shape: the
root is neutral in water, a flooded hull carries the water of its outline along, and a
bluff hull has the quadratic drag of its outline with the coefficients below.
"""

import math

import numpy as np

from app.config.bodies import HullParameters
from app.config.robot_model import limb_base_pose
from app.config.robot_parameters import RobotParameters
from models.numerics import FloatArray
from models.snake_module import SnakeModule
from models.snake_module import add_module as add_snake_module
from models.star import poseidrone_frames
from models.tree_builder import ROOT, TreeBuilder, frame

__all__ = ["add_hull", "add_module", "hull_outline"]

_BUOYANCY_CENTRE = 0.005  # of a snake's module above its centre of gravity [m]
_MODULE_SPEED = 0.1  # of the linear drag of Zhang 2022 eq. 32 [m/s]
_BOX_DRAG = 1.1  # of a blunt face
_BOX_ADDED = 0.6  # of the water of the outline
_SPHEROID_DRAG = (0.15, 1.0)  # along, across
_SPHEROID_ADDED = (0.06, 0.9)  # of a 1 : 5 spheroid, Lamb 1932 art. 115
_CODE_DRAG_AREA = 1.05  # the published code's C_r over the paper's
_CODE_CONE_RADIUS = 0.010  # what the code's inertia of the cone takes [m]


def add_hull(
    builder: TreeBuilder,
    robot: RobotParameters,
    water: float,
    *,
    code: bool = False,
    code_drag: bool = False,
) -> None:
    """Add the hull to the root.

    Args:
        builder: the tree.
        robot: its parameters.
        water: density of the water, 0 for a vacuum [kg/m3].
        code: a cone has the inertia of Renda's published code.
        code_drag: the drag area is that of his published code.
    """
    hull = robot.hull
    if robot.snake is not None:
        body = next(limb for limb in robot.limbs if limb.name == robot.snake.limb)
        add_module(builder, robot, ROOT, limb_base_pose(body), 0, water)
        return
    if hull.shape == "cone":
        _add_cone(builder, hull, water, code=code)
    elif hull.shape == "bars":
        _add_bars(builder, robot, water)
    else:
        _add_bluff(builder, hull, water)
    if hull.drag_area_m2 is not None:
        area = hull.drag_area_m2 * (_CODE_DRAG_AREA if code_drag else 1.0)
        drag = 0.5 * water * area
        builder.add_body(
            ROOT,
            np.eye(4),
            drag_quadratic=(0.0, 0.0, 0.0, drag, drag, drag),
            name="hull drag",
        )


def _neutral(mass: float, water: float) -> float:
    """Displaced mass of a body that is neutral: its own, nothing in a vacuum."""
    return mass if water > 0.0 else 0.0


def _add_cone(
    builder: TreeBuilder, hull: HullParameters, water: float, *, code: bool
) -> None:
    """A solid cone, apex at the origin, base astern (Renda 2018 sec. 7)."""
    mass, length = hull.dry_mass_kg, 1e-3 * hull.length_mm
    radius = 0.5e-3 * (hull.diameter_mm or 0.0)
    across = mass * (0.15 * radius**2 + 0.0375 * length**2)
    if code:  # the moment about the apex, with another radius, taken for the centre's
        across = 0.6 * mass * (0.25 * _CODE_CONE_RADIUS**2 + length**2)
    builder.add_body(
        ROOT,
        frame((-0.75 * length, 0.0, 0.0)),
        mass=mass,
        inertia=(0.3 * mass * radius**2, across, across),
        displaced_mass=_neutral(mass, water),
        name="hull",
    )


def _add_bars(builder: TreeBuilder, robot: RobotParameters, water: float) -> None:
    """Four bars from the apex to the arms (Renda 2018 sec. 6.1)."""
    hull = robot.hull
    frames = poseidrone_frames().part_to_root
    mass = hull.dry_mass_kg / len(frames)
    length, thick = 1e-3 * hull.length_mm, 1e-3 * (hull.diameter_mm or 0.0)
    across = mass * (length**2 + thick**2) / 12.0
    for k, pose in enumerate(frames):
        builder.add_body(
            ROOT,
            pose,
            mass=mass,
            inertia=(across, across, mass * thick**2 / 6.0),
            displaced_mass=_neutral(mass, water),
            name=f"hull bar {k + 1}",
        )


def _add_bluff(builder: TreeBuilder, hull: HullParameters, water: float) -> None:
    """A box or a spheroid, neutral, flooded up to the water of its outline."""
    size = hull_outline(hull)
    length, width, height = size
    round_hull = hull.shape == "squid"
    volume = math.prod(size) * (math.pi / 6.0 if round_hull else 1.0)
    mass = max(hull.dry_mass_kg, water * volume)
    moments = size**2 * mass / (20.0 if round_hull else 12.0)
    inertia = np.array(
        [moments[1] + moments[2], moments[0] + moments[2], moments[0] + moments[1]]
    )
    faces = np.array([width * height, length * height, length * width])
    if round_hull:
        faces *= 0.25 * math.pi
        coefficients = np.array(
            [_SPHEROID_DRAG[0], _SPHEROID_DRAG[1], _SPHEROID_DRAG[1]]
        )
        share = np.array([_SPHEROID_ADDED[0], _SPHEROID_ADDED[1], _SPHEROID_ADDED[1]])
    else:
        coefficients, share = np.full(3, _BOX_DRAG), np.full(3, _BOX_ADDED)
    drag = 0.5 * water * coefficients * faces
    turn = np.zeros(3)  # strips across each axis: ∫ |x| x² dx over the outline
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        turn[k] = (drag[i] * size[j] ** 3 + drag[j] * size[i] ** 3) / 32.0
    middle = -0.5 * length if round_hull else 0.0
    builder.add_body(
        ROOT,
        frame((middle, 0.0, 0.0)),
        mass=mass,
        inertia=inertia,
        added_mass=np.concatenate([0.5 * share * inertia, share * water * volume]),
        displaced_mass=_neutral(mass, water),
        drag_quadratic=np.concatenate([turn, drag]),
        name="hull",
    )


def hull_outline(hull: HullParameters) -> FloatArray:
    """(3,) length, width, height of a hull's outline [m]."""
    wide = hull.width_mm or hull.diameter_mm or hull.length_mm
    high = hull.height_mm or hull.diameter_mm or hull.length_mm
    return 1e-3 * np.array([hull.length_mm, wide, high])


def add_module(
    builder: TreeBuilder,
    robot: RobotParameters,
    parent: int,
    pose: FloatArray,
    number: int,
    water: float,
) -> int:
    """Add a snake's rigid module, its centre of buoyancy 5 mm above that of mass.

    The linear drag of Zhang 2022 eq. 32 needs a reference velocity that is not printed:
    0.1 m/s is taken, the order of what the snake reaches.

    Args:
        builder: the tree.
        robot: a snake.
        parent: element at whose end it begins, or ROOT.
        pose: (4, 4) of its near face, z along it [m].
        number: of the module, 0 is the tail.
        water: density of the water [kg/m3].

    Returns:
        The element that ends at its far face.

    Raises:
        ValueError: the robot is no snake.
    """
    snake = robot.snake
    if snake is None:
        raise ValueError("only a snake has modules")
    limb = next(limb for limb in robot.limbs if limb.name == snake.limb)
    length = 1e-3 * limb.gap_mm[number]
    return add_snake_module(
        builder,
        parent,
        pose,
        SnakeModule(
            length=length,
            radius=0.5e-3 * (robot.hull.diameter_mm or limb.base_diameter_mm),
            mass=snake.module_mass_kg,
            displaced_mass=1e-3 * snake.module_volume_l * water,
            centre_of_mass=(0.5 * length, 0.0, 0.0),
            centre_of_buoyancy=(0.5 * length, 0.0, _BUOYANCY_CENTRE),
            water_density=water,
            added_mass=snake.added_mass,
            added_mass_surge=snake.added_mass_surge,
            drag=snake.drag,
            drag_surge=snake.drag_surge,
            drag_roll=snake.drag_roll,
            drag_speed=_MODULE_SPEED,
        ),
        name=f"module {number}",
    )
