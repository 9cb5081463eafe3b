"""Build the arrays of a tree from rods, bodies and joints.

    tree = TreeBuilder(root="free", water_density=1000.0)
    hull = tree.add_body(ROOT, np.eye(4), mass=20.0, inertia=(1.0, 1.0, 1.0))
    limb = tree.add_rod(hull, pose, length=0.6, radius=(0.03, 0.01), density=1070.0,
                        young_modulus=69e3, shear_modulus=23e3,
                        basis=constant_curvature())
    model = tree.build()

A rod's coordinates weigh polynomials P_n(2 X/L - 1)/L (Legendre) in its strains. So the
first one of a curvature is the whole bend [rad], and of a stretch the whole elongation
[m]: with `constant_curvature` exactly the (Δx, Δy, δℓ) of models/arc. Points stand at
the right Gauss-Radau nodes, the last one at the tip. Stiffness and viscosity are those
of Renda 2018 eq. 6, integrated over the taper; loads those of its eqs 10, 11 and 13.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray
from models.strain_basis import STRAINS, StrainBasis
from models.tree import TreeModel
from models.tree_layout import lay_out_tree
from models.tree_parts import SPEED_LIMIT, Element, Point, cylinder_strips, rod_piece

__all__ = [
    "ROOT",
    "TreeBuilder",
    "frame",
]

ROOT = -1


def frame(
    position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None
) -> FloatArray:
    """A homogeneous pose (4, 4) from a position [m] and a rotation matrix."""
    pose = np.eye(4)
    pose[:3, 3] = position
    if rotation is not None:
        pose[:3, :3] = rotation
    return pose


class TreeBuilder:
    """Collects the parts of a tree; `build` makes its arrays."""

    def __init__(
        self,
        *,
        root: Literal["fixed", "free"] = "fixed",
        free: Sequence[int] = (1, 1, 1, 1, 1, 1),
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        water_density: float = 1000.0,
        current: ArrayLike = (0.0, 0.0, 0.0),
        current_shear: ArrayLike = (0.0, 0.0, 0.0),
        drag_form: Literal["norm", "component"] = "norm",
        munk_moment: bool = True,
    ) -> None:
        """Start an empty tree.

        Args:
            root: whether the root body moves.
            free: (6,) which components of its twist may, angular first.
            gravity: in the world [m/s2].
            water_density: 0 for a vacuum [kg/m3].
            current: velocity of the water at height 0 [m/s].
            current_shear: its change with height [1/s].
            drag_form: of Renda 2018 eq. 11 ("norm"), or by components.
            munk_moment: whether added mass turns sections across the flow.
        """
        self._root = root
        self._free = np.array(free, dtype=np.int64)
        self._gravity = np.array(gravity, dtype=float)
        self._water = float(water_density)
        self._current = np.array(current, dtype=float)
        self._shear = np.array(current_shear, dtype=float)
        self._form = 0 if drag_form == "norm" else 1
        self._munk = 1 if munk_moment else 0
        self._elements: list[Element] = []

    @property
    def names(self) -> list[str]:
        """Name of each element."""
        return [element.name for element in self._elements]

    def _append(self, element: Element) -> int:
        if not -1 <= element.parent < len(self._elements):
            raise ValueError(
                f"Element {element.name!r} hangs on element {element.parent}, which "
                f"does not exist; add it first, or hang on ROOT."
            )
        if element.pose.shape != (4, 4):
            raise ValueError(f"Pose of {element.name!r} must be (4, 4).")
        self._elements.append(element)
        return len(self._elements) - 1

    def add_rod(
        self,
        parent: int,
        pose: FloatArray,
        *,
        length: float,
        radius: tuple[float, float],
        density: float,
        young_modulus: float,
        shear_modulus: float,
        basis: StrainBasis,
        viscosity: float = 0.0,
        axial_stiffness_ratio: float = 1.0,
        drag_normal: float = 0.0,
        drag_tangent: float = 0.0,
        added_mass: float = 0.0,
        points: int = 4,
        pieces: int = 1,
        reference_strain: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        name: str = "rod",
    ) -> int:
        """Add a soft rod of linear taper along z.

        Args:
            parent: element at whose end it begins, or ROOT.
            pose: (4, 4) its start there [m].
            length: at rest [m].
            radius: of the section at start and end [m].
            density: of the material [kg/m3].
            young_modulus: [Pa].
            shear_modulus: [Pa].
            basis: strains of each piece.
            viscosity: Kelvin-Voigt shear viscosity; three times that in bending and
                stretch, Renda 2018 eq. 6 [Pa s].
            axial_stiffness_ratio: axial stiffness over E A.
            drag_normal: C_n, Renda 2018 eq. 11.
            drag_tangent: C_t.
            added_mass: B across the rod, Renda 2018 eq. 13.
            points: mass points, and steps, of each piece.
            pieces: equal pieces, each an element with coordinates of its own.
            reference_strain: (6,) strain at rest.
            name: of the element; pieces get a number after it.

        Returns:
            Index of the (last) element.

        Raises:
            ValueError: a length, radius or density that is not positive.
        """
        if not (length > 0.0 and min(radius) > 0.0 and density > 0.0):
            raise ValueError(
                f"Rod {name!r}: length {length}, radii {radius} and density {density} "
                f"must be positive."
            )
        if points < 1 or pieces < 1:
            raise ValueError(f"Rod {name!r}: at least one point and one piece.")
        index = parent
        for k in range(pieces):
            ends = tuple(
                radius[0] + (radius[1] - radius[0]) * (k + j) / pieces for j in (0, 1)
            )
            element = rod_piece(
                self._water,
                length / pieces,
                (ends[0], ends[1]),
                density,
                (young_modulus, shear_modulus, viscosity, axial_stiffness_ratio),
                (drag_normal, drag_tangent, added_mass),
                basis,
                points,
                np.asarray(reference_strain, dtype=float),
            )
            element.name = name if pieces == 1 else f"{name}.{k}"
            element.parent = index
            element.pose = np.array(pose if k == 0 else np.eye(4), dtype=float)
            index = self._append(element)
        return index

    def add_body(
        self,
        parent: int,
        pose: FloatArray,
        *,
        mass: float = 0.0,
        inertia: ArrayLike = (0.0, 0.0, 0.0),
        added_mass: ArrayLike = (0.0,) * 6,
        displaced_mass: float = 0.0,
        drag_linear: ArrayLike = (0.0,) * 6,
        drag_quadratic: ArrayLike = (0.0,) * 6,
        radius: float = 0.0,
        name: str = "body",
    ) -> int:
        """Add a rigid body, all of whose centres are at its frame's origin.

        A body whose centres differ is several bodies on one parent: one that carries
        the mass at its centre of gravity, one the displaced water at its centre of
        buoyancy, and so on.

        Args:
            parent: element to whose end it is fixed, or ROOT.
            pose: (4, 4) its frame there, principal axes [m].
            mass: [kg].
            inertia: (3,) principal moments [kg m2].
            added_mass: (6,) angular [kg m2] first, then linear [kg].
            displaced_mass: mass of the water that it displaces [kg]: its effective
                volume, flooding left out.
            drag_linear: (6,) [N m s] and [N s/m].
            drag_quadratic: (6,) [N m s2] and [N s2/m2].
            radius: of a sphere about it, for contact [m].
            name: of the element.

        Returns:
            Index of the element.

        Raises:
            ValueError: a mass that is negative.
        """
        if not (mass >= 0.0 and displaced_mass >= 0.0):
            raise ValueError(f"Body {name!r}: masses must not be negative.")
        added = np.asarray(added_mass, dtype=float)
        linear = np.asarray(drag_linear, dtype=float)
        quadratic = np.asarray(drag_quadratic, dtype=float)
        point = Point(
            kind=2,
            radius=radius,
            mass=mass,
            displaced=displaced_mass,
            inertia=np.asarray(inertia, dtype=float) + added[:3],
            added=added[3:],
            drag=quadratic[3:],
            drag_linear=linear[3:],
            drag_turn=quadratic[:3],
            drag_turn_linear=linear[:3],
        )
        return self._append(Element(name, parent, np.array(pose, dtype=float), [point]))

    def add_cylinder(
        self,
        parent: int,
        pose: FloatArray,
        *,
        length: float,
        radius: float,
        mass: float,
        displaced_mass: float,
        drag_normal: float = 0.0,
        drag_tangent: float = 0.0,
        added_mass: float = 0.0,
        added_mass_along: float = 0.0,
        points: int = 4,
        name: str = "cylinder",
    ) -> int:
        """Add a rigid solid cylinder along z, in strips: its end is at its far face.

        Args:
            parent: element at whose end it begins, or ROOT.
            pose: (4, 4) centre of its near face there [m].
            length: [m].
            radius: [m].
            mass: [kg].
            displaced_mass: mass of the water it displaces [kg].
            drag_normal: C_n of Renda 2018 eq. 11 in each strip.
            drag_tangent: C_t.
            added_mass: B across, times the water of its outer volume.
            added_mass_along: the same along its axis.
            points: strips.
            name: of the element.

        Returns:
            Index of the element.
        """
        strips = cylinder_strips(
            self._water,
            length,
            radius,
            mass,
            displaced_mass,
            (drag_normal, drag_tangent),
            (added_mass, added_mass_along),
            points,
        )
        return self._append(Element(name, parent, np.array(pose, dtype=float), strips))

    def add_joint(
        self,
        parent: int,
        pose: FloatArray,
        *,
        component: str = "k_z",
        stiffness: float = 0.0,
        damping: float = 0.0,
        rest: float = 0.0,
        name: str = "joint",
    ) -> int:
        """Add a joint: a turn about, or a slide along, one axis of its frame.

        Args:
            parent: element at whose end it is, or ROOT.
            pose: (4, 4) its frame there [m].
            component: k_x, k_y, k_z for a turn, q_x, q_y, q_z for a slide.
            stiffness: of its spring [N m/rad or N/m].
            damping: [N m s/rad or N s/m].
            rest: coordinate at which the spring is slack [rad or m].
            name: of the element.

        Returns:
            Index of the element.

        Raises:
            ValueError: an unknown component.
        """
        if component not in STRAINS:
            raise ValueError(
                f"Joint {name!r}: component {component!r}, allowed: {STRAINS}."
            )
        point = Point(length=1.0, basis=np.ones((2, 1)))
        return self._append(
            Element(
                name,
                parent,
                np.array(pose, dtype=float),
                [point],
                component=(STRAINS.index(component),),
                rest=(rest,),
                speed_limit=(10.0 * SPEED_LIMIT,),
                stiffness=np.array([[stiffness]]),
                damping=np.array([[damping]]),
            )
        )

    def build(self) -> TreeModel:
        """Make the arrays.

        Returns:
            The constant model.

        Raises:
            ValueError: the tree is empty.
        """
        if not self._elements:
            raise ValueError("A tree needs at least one element.")
        return lay_out_tree(
            self._elements,
            6 if self._root == "free" else 0,
            self._free,
            gravity=self._gravity,
            current=self._current,
            current_shear=self._shear,
            drag_form=self._form,
            munk_moment=self._munk,
        )
