"""Free rigid objects in water: sphere, cylinder, box; their parameters and state.

The frame of an object is at its centre of gravity, along its principal axes, which are
those of its shape; the shape is about that centre too. Twists are in that frame,
angular first. The centre of buoyancy may lie anywhere.
Leaves out products of inertia and coupled terms of added mass and drag.
Drag and added-mass coefficients of the ready-made objects: Hoerner 1965, Brennen 1982.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.contact_law import ContactLaw, pack_law
from models.numerics import FloatArray, IntArray
from models.obstacle import BOX, CYLINDER, SPHERE

__all__ = [
    "FreeBody",
    "FreeBodyData",
    "FreeBodyModel",
    "allocate_free_body_data",
    "body_energy",
    "box_body",
    "build_free_bodies",
    "cylinder_body",
    "sphere_body",
]


class FreeBody(NamedTuple):
    """One object as given by a person; `build_free_bodies` checks it."""

    kind: int
    """SPHERE, CYLINDER or BOX of models/obstacle."""
    size: Sequence[float]
    """As there: radius; radius and half length; three half lengths [m]."""
    mass: float
    """[kg]."""
    inertia: Sequence[float]
    """(3,) principal moments about the centre of gravity [kg m2]."""
    displaced_mass: float = 0.0
    """Mass of the water displaced, flooded volume left out [kg]."""
    buoyancy_centre: Sequence[float] = (0.0, 0.0, 0.0)
    """(3,) in the object's frame [m]."""
    added_mass: Sequence[float] = (0.0,) * 6
    """(6,) angular [kg m2], then linear [kg]."""
    drag_linear: Sequence[float] = (0.0,) * 6
    """(6,) [N m s], [N s/m]."""
    drag_quadratic: Sequence[float] = (0.0,) * 6
    """(6,) [N m s2], [N s2/m2]."""
    law: ContactLaw = ContactLaw()
    """Of all that touches it."""


class FreeBodyModel(NamedTuple):
    """Constant parameters of B objects; fields as in `FreeBody`."""

    kind: IntArray
    """(B,)."""
    size: FloatArray
    """(B, 3) [m]."""
    mass: FloatArray
    """(B,) [kg]."""
    inertia: FloatArray
    """(B, 6) mass matrix's diagonal, added mass included [kg m2, kg]."""
    displaced: FloatArray
    """(B,) [kg]."""
    buoyancy_centre: FloatArray
    """(B, 3) [m]."""
    added: FloatArray
    """(B, 6) [kg m2, kg]."""
    drag_linear: FloatArray
    """(B, 6)."""
    drag_quadratic: FloatArray
    """(B, 6)."""
    law: FloatArray
    """(B, 5)."""
    gravity: FloatArray
    """(3,) in the world [m/s2]."""
    current: FloatArray
    """(3,) velocity of the water in the world [m/s]."""


class FreeBodyData(NamedTuple):
    """State of B objects."""

    pose: FloatArray
    """(B, 4, 4) in the world [m]."""
    twist: FloatArray
    """(B, 6) in the object's frame [rad/s, m/s]."""
    wrench: FloatArray
    """(B, 6) moment and force from outside on its centre, world axes [N m, N]."""
    corner: FloatArray
    """(8, 3) scratch: points of an object in the world [m]."""
    status: IntArray
    """(B,) a `BODY_…` code of models/free_body_motion; cleared by its owner only."""


def _solid(
    kind: int,
    size: Sequence[float],
    mass: float,
    moment: ArrayLike,
    displaced: float,
    added: ArrayLike,
    drag: ArrayLike,
    more: dict[str, Any],
) -> FreeBody:
    """An object of even density, with what was given instead of the defaults."""
    body = FreeBody(
        kind,
        size,
        mass,
        (mass * np.asarray(moment, dtype=float)).tolist(),
        displaced,
        added_mass=[0.0, 0.0, 0.0, *(displaced * np.asarray(added)).tolist()],
        drag_quadratic=[0.0, 0.0, 0.0, *np.asarray(drag, dtype=float).tolist()],
    )
    return body._replace(**more)


def sphere_body(
    radius: float, mass: float, *, water_density: float = 1000.0, **more: Any
) -> FreeBody:
    """Describe a solid sphere: added mass 1/2, drag coefficient 0.47.

    Args:
        radius: [m].
        mass: [kg].
        water_density: [kg/m3].
        more: fields of `FreeBody` to set otherwise.

    Returns:
        The object.
    """
    displaced = water_density * 4.0 / 3.0 * math.pi * radius**3
    drag = 0.5 * water_density * 0.47 * math.pi * radius**2
    moment = [0.4 * radius**2] * 3
    return _solid(
        SPHERE, [radius], mass, moment, displaced, [0.5] * 3, [drag] * 3, more
    )


def cylinder_body(
    radius: float,
    length: float,
    mass: float,
    *,
    water_density: float = 1000.0,
    **more: Any,
) -> FreeBody:
    """Describe a solid cylinder along z: added mass 1 across, drag 1.1 and 0.9 along.

    Args:
        radius: [m].
        length: [m].
        mass: [kg].
        water_density: [kg/m3].
        more: fields of `FreeBody` to set otherwise.

    Returns:
        The object.
    """
    displaced = water_density * math.pi * radius**2 * length
    across = 0.5 * water_density * 1.1 * 2.0 * radius * length
    along = 0.5 * water_density * 0.9 * math.pi * radius**2
    side = radius**2 / 4.0 + length**2 / 12.0
    moment = [side, side, 0.5 * radius**2]
    size = [radius, 0.5 * length]
    drag = [across, across, along]
    return _solid(CYLINDER, size, mass, moment, displaced, [1.0, 1.0, 0.0], drag, more)


def box_body(
    sides: Sequence[float], mass: float, *, water_density: float = 1000.0, **more: Any
) -> FreeBody:
    """Describe a solid box: added mass 0.67 (a cube's), drag coefficient 1.05.

    Args:
        sides: (3,) full lengths along x, y, z [m].
        mass: [kg].
        water_density: [kg/m3].
        more: fields of `FreeBody` to set otherwise.

    Returns:
        The object.
    """
    a, b, c = sides
    moment = [(b * b + c * c) / 12.0, (a * a + c * c) / 12.0, (a * a + b * b) / 12.0]
    drag = 0.5 * water_density * 1.05 * np.array([b * c, a * c, a * b])
    displaced = water_density * a * b * c
    half = [0.5 * a, 0.5 * b, 0.5 * c]
    return _solid(BOX, half, mass, moment, displaced, [0.67] * 3, drag, more)


def build_free_bodies(
    bodies: Sequence[FreeBody] = (),
    *,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    current: ArrayLike = (0.0, 0.0, 0.0),
) -> FreeBodyModel:
    """Check objects and lay them out for kernels.

    Args:
        bodies: the objects; none for a world without.
        gravity: (3,) in the world [m/s2].
        current: (3,) velocity of the water in the world [m/s].

    Returns:
        The model.

    Raises:
        ValueError: an unknown kind, sizes that are not positive or not as many as its
            kind has, a mass or moment that is not positive, another parameter that is
            negative or not finite, or a law out of range.
    """
    count = len(bodies)
    sizes = np.zeros((count, 3))
    for b, body in enumerate(bodies):
        if body.kind not in {SPHERE, CYLINDER, BOX}:
            message = f"object {b}: kind {body.kind}; allowed are sphere, cylinder, box"
            raise ValueError(message)
        size = np.asarray(body.size, dtype=float)
        if size.shape != (body.kind,) or not np.all((size > 0.0) & np.isfinite(size)):
            message = f"object {b}: {body.kind} positive sizes, not {size.tolist()}"
            raise ValueError(message)
        sizes[b, : size.size] = size

    def table(name: str, width: int) -> FloatArray:
        listed = [np.asarray(getattr(body, name), dtype=float) for body in bodies]
        for b, row in enumerate(listed):
            if row.size != width or not np.all(np.isfinite(row)):
                message = f"object {b}: {name} needs {width} finite numbers, not {row}"
                raise ValueError(message)
            if name != "buoyancy_centre" and np.any(row < 0.0):
                message = f"object {b}: {name} must not be negative, is {row.tolist()}"
                raise ValueError(message)
        return np.array(listed).reshape(count, width)

    mass = table("mass", 1)
    moment = table("inertia", 3)
    if not (np.all(mass > 0.0) and np.all(moment > 0.0)):
        message = "every object needs a mass and three moments of inertia above 0"
        raise ValueError(message)
    added = table("added_mass", 6)
    return FreeBodyModel(
        kind=np.array([body.kind for body in bodies], dtype=np.int64),
        size=sizes,
        mass=mass[:, 0].copy(),
        inertia=added + np.hstack([moment, np.repeat(mass, 3, axis=1)]),
        displaced=table("displaced_mass", 1)[:, 0].copy(),
        buoyancy_centre=table("buoyancy_centre", 3),
        added=added,
        drag_linear=table("drag_linear", 6),
        drag_quadratic=table("drag_quadratic", 6),
        law=np.array([pack_law(body.law) for body in bodies]).reshape(count, 5),
        gravity=np.array(gravity, dtype=float),
        current=np.array(current, dtype=float),
    )


def allocate_free_body_data(model: FreeBodyModel) -> FreeBodyData:
    """Make the Data of the objects: at the origin, still."""
    count = model.kind.size
    return FreeBodyData(
        pose=np.tile(np.eye(4), (count, 1, 1)),
        twist=np.zeros((count, 6)),
        wrench=np.zeros((count, 6)),
        corner=np.zeros((8, 3)),
        status=np.zeros(count, dtype=np.int64),
    )


def body_energy(model: FreeBodyModel, data: FreeBodyData) -> FloatArray:
    """Kinetic energy with added mass (still water) and potential of weight, buoyancy.

    Args:
        model: the objects.
        data: state.

    Returns:
        (B, 2) kinetic and potential, the latter zero at the world's origin [J].
    """
    kinetic = 0.5 * np.sum(model.inertia * data.twist**2, axis=1)
    centre = data.pose[:, :3, 3]
    lift = centre + np.einsum("bij,bj->bi", data.pose[:, :3, :3], model.buoyancy_centre)
    potential = model.displaced * (lift @ model.gravity) - model.mass * (
        centre @ model.gravity
    )
    return np.stack([kinetic, potential], axis=1)
