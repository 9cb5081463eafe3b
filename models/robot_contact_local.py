"""Surfaces that the station has learned, as obstacles of its local robot model.

`surroundings_step` then lets the local model meet what a tip has felt, with the same
contact as the plant. A plane becomes a flat round block about the point that was felt,
so that only what is near there meets it; a sphere stays one.

A surface is learned by the place of the tip's middle, and a tip is a ball: the block
stands one radius of it farther back. Of the law, B p^m dp/dt becomes d = B/K of Hunt
and Crossley, and for a Kelvin-Voigt surface (n = 1) d = B/F with F = 2 N.
"""

import math

import numpy as np

from models.environment import LocalSurface
from models.environment_report import PLANE as FELT_PLANE
from models.numerics import FloatArray, IntArray, kernel
from models.obstacle import CYLINDER, SPHERE, ObstacleModel
from models.robot_contact import SurroundingsModel

__all__ = ["add_learned_surfaces", "place_learned_surface"]

_RADIUS = 0.08  # of the block [m]
_HALF_DEPTH = 0.04
_FAR = 1e4  # where an unknown surface is kept [m]
_FORCE = 2.0  # at which a Kelvin-Voigt damping is met [N]
_LEAST_STIFFNESS = 1.0
_SLIP_SPEED = 1e-3


def add_learned_surfaces(world: SurroundingsModel, count: int) -> SurroundingsModel:
    """Make room for learned surfaces behind a world's obstacles.

    Args:
        world: what is known beforehand; not changed.
        count: how many, one a limb.

    Returns:
        A world with its own obstacles, the last `count` of them unknown yet.
    """
    known = world.contacts.obstacle
    pose = np.tile(np.eye(4), (count, 1, 1))
    pose[:, 2, 3] = -_FAR
    obstacle = ObstacleModel(
        np.concatenate([known.kind, np.full(count, CYLINDER, dtype=np.int64)]),
        np.concatenate([known.pose, pose]),
        np.concatenate([known.size, np.tile([_RADIUS, _HALF_DEPTH, 0.0], (count, 1))]),
    )
    law = np.tile([_LEAST_STIFFNESS, 1.0, 0.0, 0.0, _SLIP_SPEED], (count, 1))
    laws = np.concatenate([world.contacts.law[:-1], law, world.contacts.law[-1:]])
    return world._replace(contacts=world.contacts._replace(obstacle=obstacle, law=laws))


@kernel
def place_learned_surface(
    surface: LocalSurface,
    obstacle: int,
    tip_radius: float,
    friction: float,
    pose_out: FloatArray,
    law_out: FloatArray,
    kind_out: IntArray,
    size_out: FloatArray,
) -> None:
    """Put an obstacle where a surface was learned, or far off where none is known.

    Args:
        surface: as it is rendered now, hull frame.
        obstacle: its index among the world's obstacles.
        tip_radius: of the limb that learned it [m].
        friction: coefficient to meet it with.
        pose_out: (K, 4, 4) poses of the obstacles [m].
        law_out: (K+1, 5) contact laws.
        kind_out: (K,) kinds.
        size_out: (K, 3) sizes [m].
    """
    pose = pose_out[obstacle]
    law = law_out[obstacle]
    for i in range(3):
        for j in range(4):
            pose[i, j] = 1.0 if i == j else 0.0
    if surface.known[0] == 0:
        pose[2, 3] = -_FAR
        return
    nx, ny, nz = surface.normal[0], surface.normal[1], surface.normal[2]
    back = tip_radius + _HALF_DEPTH
    if surface.kind[0] == FELT_PLANE:
        # any two directions across the normal (Duff et al. 2017)
        sign = math.copysign(1.0, nz)
        a = -1.0 / (sign + nz)
        b = nx * ny * a
        pose[0, 0], pose[1, 0], pose[2, 0] = (
            1.0 + sign * nx * nx * a,
            sign * b,
            -sign * nx,
        )
        pose[0, 1], pose[1, 1], pose[2, 1] = b, sign + ny * ny * a, -ny
        pose[0, 2], pose[1, 2], pose[2, 2] = nx, ny, nz
        for i in range(3):
            pose[i, 3] = surface.point[i] - back * surface.normal[i]
        kind_out[obstacle] = CYLINDER
        size_out[obstacle, 0] = _RADIUS
        size_out[obstacle, 1] = _HALF_DEPTH
    else:
        for i in range(3):
            pose[i, 3] = surface.point[i]
        kind_out[obstacle] = SPHERE
        size_out[obstacle, 0] = max(surface.radius[0] - tip_radius, 1e-3)
    stiffness = max(surface.stiffness[0], _LEAST_STIFFNESS)
    exponent = min(max(surface.exponent[0], 1.0), 3.0)
    law[0] = stiffness
    law[1] = exponent
    law[2] = surface.damping[0] / (_FORCE if exponent == 1.0 else stiffness)
    law[3] = friction
    law[4] = _SLIP_SPEED
