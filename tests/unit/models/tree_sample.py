"""Random trees and states, for tests and long runs: the same seed, the same robot.

Rods of any basis, joints, bodies and cylinders hang on one another in any way, at any
angle, on a fixed or a free root. Sizes, densities and moduli are those of soft
underwater robots: limbs of 0.1 to 0.5 m, 10 to 30 mm thick, of 30 kPa to 1 MPa.
"""

from typing import Literal

import numpy as np

from models.numerics import FloatArray
from models.strain_basis import STRAINS, StrainBasis, constant_curvature, legendre
from models.tree import TreeData, TreeModel
from models.tree_builder import ROOT, TreeBuilder, frame

__all__ = ["random_frame", "random_rotation", "random_state", "random_tree"]


def random_rotation(generator: np.random.Generator) -> FloatArray:
    """A rotation matrix (3, 3), uniform over all rotations."""
    w, x, y, z = quaternion = generator.normal(size=4)
    axis = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    square = quaternion @ quaternion
    return np.asarray(np.eye(3) + 2.0 / square * (w * axis + axis @ axis))


def random_frame(generator: np.random.Generator, reach: float = 0.1) -> FloatArray:
    """A pose (4, 4) at any angle, its origin within a cube of ± reach [m]."""
    return frame(generator.uniform(-reach, reach, 3), random_rotation(generator))


def _basis(generator: np.random.Generator) -> tuple[StrainBasis, int]:
    """A basis of few coordinates, and points enough for it."""
    kind = int(generator.integers(4))
    if kind == 0:
        return constant_curvature(), int(generator.integers(2, 5))
    if kind == 1:
        return constant_curvature(stretch=False), int(generator.integers(2, 5))
    count = int(generator.integers(1, 5))
    names = generator.permutation(STRAINS)[:count]
    most = 3 if count <= 2 else 1
    orders = {str(name): int(generator.integers(0, most + 1)) for name in names}
    return legendre(orders), max(orders.values()) + 2


def _add_random(
    tree: TreeBuilder, generator: np.random.Generator, parent: int, lossless: bool
) -> int:
    loss = 0.0 if lossless else 1.0
    pose = random_frame(generator)
    kind = int(generator.integers(5))
    if kind >= 2:
        radius = generator.uniform(0.01, 0.03)
        basis, points = _basis(generator)
        young = 10.0 ** generator.uniform(4.5, 6.0)
        curved = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        if generator.random() < 0.3:
            curved[:3] = generator.uniform(-3.0, 3.0, 3)
        return tree.add_rod(
            parent,
            pose,
            length=generator.uniform(0.1, 0.5),
            radius=(radius, radius * generator.uniform(0.4, 1.0)),
            density=generator.uniform(900.0, 1300.0),
            young_modulus=young,
            shear_modulus=young / 3.0,
            viscosity=loss * generator.uniform(0.0, 500.0),
            basis=basis,
            points=points,
            pieces=1 if len(basis.order) > 3 else int(generator.integers(1, 3)),
            drag_normal=loss * generator.uniform(0.0, 1.5),
            drag_tangent=loss * generator.uniform(0.0, 0.05),
            added_mass=generator.uniform(0.0, 1.5),
            reference_strain=curved,
        )
    if kind == 1:
        parent = tree.add_joint(
            parent,
            pose,
            component=str(generator.choice(STRAINS)),
            stiffness=generator.choice([0.0, 1.0]) * generator.uniform(0.0, 5.0),
            damping=loss * generator.uniform(0.0, 0.05),
            rest=generator.uniform(-0.3, 0.3),
        )
        pose = random_frame(generator)
    if generator.random() < 0.5:
        radius = generator.uniform(0.01, 0.04)
        length = generator.uniform(0.05, 0.3)
        water = 1000.0 * np.pi * radius**2 * length
        return tree.add_cylinder(
            parent,
            pose,
            length=length,
            radius=radius,
            mass=water * generator.uniform(0.7, 1.5),
            displaced_mass=water,
            drag_normal=loss * generator.uniform(0.0, 1.5),
            drag_tangent=loss * generator.uniform(0.0, 0.05),
            added_mass=generator.uniform(0.0, 1.5),
            added_mass_along=generator.uniform(0.0, 0.2),
            points=int(generator.integers(2, 5)),
        )
    return _add_body(tree, generator, parent, pose, loss)


def _add_body(
    tree: TreeBuilder,
    generator: np.random.Generator,
    parent: int,
    pose: FloatArray,
    loss: float,
) -> int:
    mass = generator.uniform(0.1, 2.0)
    size = generator.uniform(0.03, 0.1)
    # moments of a box: none is above the sum of the others
    square = mass * size**2 * generator.uniform(0.1, 1.0, 3)
    return tree.add_body(
        parent,
        pose,
        mass=mass,
        inertia=square.sum() - square,
        displaced_mass=mass * generator.uniform(0.5, 1.2),
        added_mass=np.concatenate(
            [
                generator.uniform(0.0, 1.0, 3) * mass * size**2,
                generator.uniform(0.0, 1.0, 3) * mass,
            ]
        ),
        drag_linear=loss * generator.uniform(0.0, 0.1, 6) * [*[size**2] * 3, 1, 1, 1],
        drag_quadratic=loss
        * generator.uniform(0.0, 500.0, 6)
        * [*[size**5] * 3, *[size**2] * 3],
        radius=size,
    )


def random_tree(
    generator: np.random.Generator,
    *,
    root: Literal["fixed", "free"] | None = None,
    elements: int = 4,
    lossless: bool = False,
    gravity: bool = True,
    current: float = 0.0,
) -> TreeModel:
    """Build a random tree that moves.

    Args:
        generator: source of its numbers.
        root: fixed or free; either where None.
        elements: at least 1; a joint counts as one with the body behind it.
        lossless: without drag, viscosity and friction, and with the Munk moment, so
            that it keeps its energy.
        gravity: whether there is weight; buoyancy goes with it.
        current: greatest velocity of the water along an axis [m/s]; its shear is a
            tenth of that in 1/s.

    Returns:
        The model; every branch of it has mass, and its mass matrix is regular.
    """
    kind = root or ("free" if generator.random() < 0.5 else "fixed")
    tree = TreeBuilder(
        root=kind,
        gravity=(0.0, 0.0, -9.81 if gravity else 0.0),
        current=current * generator.uniform(-1.0, 1.0, 3),
        current_shear=0.1 * current * generator.uniform(-1.0, 1.0, 3),
        drag_form="norm" if generator.random() < 0.5 else "component",
        munk_moment=lossless or generator.random() < 0.5,
    )
    made: list[int] = []
    if kind == "free":
        pose = random_frame(generator)
        made.append(_add_body(tree, generator, ROOT, pose, 0.0 if lossless else 1.0))
    while len(made) < elements or tree.build().dof_parent.size == 0:
        parent = ROOT if generator.random() < 0.3 or not made else made[-1]
        made.append(_add_random(tree, generator, parent, lossless))
    return tree.build()


def random_state(
    model: TreeModel,
    generator: np.random.Generator,
    data: TreeData,
    *,
    bend: float = 0.7,
    speed: float = 1.0,
) -> None:
    """Bend a tree, set it moving and, with a free root, put it anywhere.

    Args:
        model: the tree.
        generator: source of the numbers.
        data: root_pose, position and velocity are set, status is cleared.
        bend: greatest change of a coordinate that turns [rad]; a tenth of it where a
            coordinate shifts [m].
        speed: greatest rate likewise [rad/s].
    """
    size = model.dof_parent.size
    root = int(model.root_size[0])
    scale = np.where(model.dof_component < 3, 1.0, 0.1)
    scale[3:root] = 1.0
    data.position[:] = model.dof_rest + scale * generator.uniform(-bend, bend, size)
    data.position[:root] = 0.0
    data.velocity[:] = scale * generator.uniform(-speed, speed, size)
    data.velocity[:root] *= model.root_free[:root]
    data.root_pose[:] = random_frame(generator, 1.0)
    data.status[:] = (0, -1)
