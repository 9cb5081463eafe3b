"""A snake's rigid module as a part of a tree: Zhang 2022 eqs 28-34, corrected.

A module is a cylinder of length L and radius R along x, its frame at the tail end.
About its middle the corrected matrices (29), (30) and (32) are diagonal. So one body
there, with these diagonals, is the whole module: exactly, not by strips. Quadratic drag
has no such point; `add_module` puts it on strips. With R = 90 mm a module displaces
5.09 kg and weighs 0.563: the effective volume is an input.

What the paper prints, and what is right: see the matrices that the tests compare with,
tests/unit/models/snake_matrices.py, and models/README.md.
"""

from typing import Any, NamedTuple

import numpy as np

from models.numerics import FloatArray
from models.tree_builder import TreeBuilder, frame

__all__ = ["BODY_TO_ELEMENT", "SnakeModule", "add_module", "drag_scale", "outer_water"]

BODY_TO_ELEMENT = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""A vector of the body (x to the head) in the axes of an element (z along)."""


class SnakeModule(NamedTuple):
    """Parameters of one rigid module; the defaults are Tables 1 and 2 of Zhang 2022."""

    length: float = 0.2
    """L_R [m]."""
    radius: float = 0.09
    """R_r as printed [m]; probably the diameter: a module would displace 5.09 kg."""
    mass: float = 0.563
    """m_R [kg]."""
    displaced_mass: float = 0.563
    """Mass of the water displaced, flooding left out [kg]; neutral as the text says."""
    centre_of_mass: tuple[float, float, float] = (0.1, 0.0, 0.0)
    """γ_g in the module's frame [m]."""
    centre_of_buoyancy: tuple[float, float, float] = (0.1, 0.0, 0.0)
    """γ_b [m]."""
    water_density: float = 1000.0
    """ρ [kg/m3]."""
    added_mass: float = 1.0
    """C_a."""
    added_mass_surge: float = 0.2
    """α."""
    drag: float = 1.0
    """C_d; in quadratic drag too."""
    drag_surge: float = 0.2
    """β."""
    drag_roll: float = 0.5
    """Ω."""
    drag_speed: float = 0.0
    """V, reference velocity of the linear drag [m/s]; 0 = none."""


def outer_water(module: SnakeModule) -> float:
    """ρ π R² L C_a [kg]."""
    volume = np.pi * module.radius**2 * module.length
    return float(module.water_density * volume * module.added_mass)


def drag_scale(module: SnakeModule) -> float:
    """ρ π R L C_d V [kg/s]."""
    area = np.pi * module.radius * module.length
    return float(module.water_density * area * module.drag * module.drag_speed)


def _module_at_centre(module: SnakeModule) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Diagonals of (29), (30) and (32) about the middle, element axes, angular first.

    Args:
        module: the module.

    Returns:
        (3,) principal moments of the body [kg m2], (6,) added mass [kg m2, kg] and (6,)
        linear drag [N m s, N s/m], for `TreeBuilder.add_body`.
    """
    m, r, length = module.mass, module.radius, module.length
    across = length * length / 12.0
    solid = m * np.array([0.25 * r * r + across, 0.25 * r * r + across, 0.5 * r * r])
    added = outer_water(module) * np.array(
        [across, across, 0.0, 1.0, 1.0, module.added_mass_surge]
    )
    roll = module.drag_roll * r * r
    drag = drag_scale(module) * np.array(
        [across, across, roll, 1.0, 1.0, module.drag_surge]
    )
    return solid, added, drag


def add_module(
    builder: TreeBuilder,
    parent: int,
    pose: FloatArray,
    module: SnakeModule,
    *,
    quadratic_drag: bool = True,
    strips: int = 4,
    name: str = "module",
) -> int:
    """Add a module to a tree: a cylinder of strips, and bodies at its three centres.

    Centres at one place share a body.

    Args:
        builder: the tree; its water is the module's.
        parent: element at whose end the module begins, or ROOT.
        pose: (4, 4) the module's tail end there, z along it [m].
        module: the module.
        quadratic_drag: whether the strips have drag.
        strips: of the quadratic drag.
        name: of the elements.

    Returns:
        Index of the element that ends at the head face.
    """
    normal = module.drag if quadratic_drag else 0.0
    face = builder.add_cylinder(
        parent,
        pose,
        length=module.length,
        radius=module.radius,
        mass=0.0,
        displaced_mass=0.0,
        drag_normal=normal,
        drag_tangent=2.0 / np.pi * normal * module.drag_surge,
        points=strips,
        name=name,
    )
    solid, added, drag = _module_at_centre(module)
    middle = (0.5 * module.length, 0.0, 0.0)
    parts: dict[tuple[float, ...], dict[str, Any]] = {}
    for place, part in (
        (middle, {"added_mass": added, "drag_linear": drag}),
        (module.centre_of_mass, {"mass": module.mass, "inertia": solid}),
        (module.centre_of_buoyancy, {"displaced_mass": module.displaced_mass}),
    ):
        parts.setdefault(tuple(place), {}).update(part)
    for centre, loads in parts.items():
        way = BODY_TO_ELEMENT @ np.asarray(centre) - [0.0, 0.0, module.length]
        builder.add_body(face, frame(way), name=f"{name}.centre", **loads)
    return face
