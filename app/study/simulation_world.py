"""What a simulated robot can touch: ground, obstacles, free objects, its own limbs."""

from itertools import combinations

import numpy as np

from app.config.case import CaseParameters, GroundCase, ObjectCase
from app.config.tree import LimbPlan, TreePlan
from app.errors import ConfigError
from app.study.reach import read_obstacle
from app.study.simulation_base import base_rotation
from models.contact import (
    ContactModel,
    add_contact_forces,
    build_contact_model,
    find_contacts,
)
from models.contact_law import ContactLaw
from models.contact_list import forget_contacts
from models.contact_step import (
    allocate_contacts,
    finish_contact_step,
    outside_wrench,
)
from models.free_body import (
    FreeBody,
    FreeBodyModel,
    allocate_free_body_data,
    box_body,
    build_free_bodies,
    cylinder_body,
    sphere_body,
)
from models.limb_contact import LimbContactModel, build_limb_contacts
from models.numerics import FloatArray
from models.surface import HeightFieldModel, build_height_field
from models.tree import TreeData, TreeModel, TreeWork

__all__ = ["World", "limb_pairs", "make_world"]

_FIELD_M = 4.0  # half the side of a ground with waves
_PER_WAVE = 16


class World:
    """Surfaces and objects around a robot, and their contacts."""

    def __init__(
        self,
        tree: TreeModel,
        contacts: ContactModel,
        limbs: LimbContactModel,
        bodies: FreeBodyModel,
        places: FloatArray,
        turns: FloatArray,
    ) -> None:
        """Put the objects at their places (B, 3) [m], turned by (B, 3, 3), still."""
        self._contacts, self._limbs, self._bodies = contacts, limbs, bodies
        self._data = allocate_free_body_data(bodies)
        self._data.pose[:, :3, 3] = places
        self._data.pose[:, :3, :3] = turns
        self._found = allocate_contacts(tree, contacts, limbs, bodies, capacity=256)
        self._wrench = np.zeros(6)

    @property
    def poses(self) -> FloatArray:
        """(B, 4, 4) of the objects in the world [m]."""
        return self._data.pose

    def finish(
        self, tree: TreeModel, period: float, data: TreeData, work: TreeWork
    ) -> int:
        """Solve what motion and loads left in work, with all contacts, and advance."""
        return int(
            finish_contact_step(
                tree,
                self._contacts,
                self._limbs,
                self._bodies,
                period,
                data,
                self._data,
                work,
                self._found,
            )
        )

    @property
    def own_steps(self) -> str:
        """What of it has a state that its steps alone advance, in words."""
        if self._bodies.kind.size:
            return "free objects"
        return "limbs that touch each other" if self._limbs.pair.shape[0] else ""

    def add(self, tree: TreeModel, data: TreeData, work: TreeWork) -> None:
        """Add the plain forces of the contacts at the present state."""
        forget_contacts(self._found)
        find_contacts(tree, self._contacts, 0.0, data, work, self._found)
        add_contact_forces(tree, 0.0, data, work, self._found)

    def root_wrench(self, pose: FloatArray, period: float) -> FloatArray:
        """What the contacts of the last step did to the whole robot.

        Args:
            pose: (4, 4) of the root in the world [m].
            period: of the step [s]; 1 after `add`, which leaves forces.

        Returns:
            (6,) moment about the root's origin and force, root frame [N m, N].
        """
        outside_wrench(self._found, period, self._wrench)
        moment, force = np.split(self._wrench, 2)
        moment = moment - np.cross(pose[:3, 3], force)
        return np.concatenate([pose[:3, :3].T @ moment, pose[:3, :3].T @ force])


def make_world(plan: TreePlan, case: CaseParameters, water: float) -> World | None:
    """Make what a case has to touch; None where there is nothing.

    Args:
        plan: the tree.
        case: what happens.
        water: density of the water [kg/m3].

    Raises:
        ConfigError: an obstacle or object is not well described, or limbs are to touch
            where there is one alone.
    """
    touching = case.contact.limbs
    if not (case.ground or case.obstacles or case.objects or touching):
        return None
    law = ContactLaw(friction=case.contact.friction)
    listed = [read_obstacle(text) for text in case.obstacles]
    laws = [law] * len(listed)
    field = None
    seabed_law = ContactLaw()
    if case.ground is not None:
        sand = ContactLaw(friction=case.ground.friction)
        if case.ground.wave_height_mm > 0.0:
            field, seabed_law = _waves(case.ground), sand
        else:
            height = 1e-3 * case.ground.height_mm
            listed.append(("plane", np.array([0.0, 0.0, height]), np.zeros(0)))
            laws.append(sand)
    try:
        contacts = build_contact_model(
            [(kind, _pose(place), size) for kind, place, size in listed],
            laws,
            seabed=field,
            seabed_law=seabed_law,
        )
        model = plan.model
        bodies = build_free_bodies(
            [_body(item, water)._replace(law=law) for item in case.objects],
            gravity=model.gravity,
            current=model.current,
        )
    except ValueError as error:
        raise ConfigError(f"The case's contacts: {error}.") from error
    limbs = build_limb_contacts(limb_pairs(plan) if touching else (), law)
    places = 1e-3 * np.array([item.position_mm for item in case.objects])
    turns = np.array([base_rotation(item.roll_pitch_yaw_deg) for item in case.objects])
    return World(
        model, contacts, limbs, bodies, places.reshape(-1, 3), turns.reshape(-1, 3, 3)
    )


def limb_pairs(plan: TreePlan) -> list[tuple[int, int]]:
    """Every element of a limb with every one of another, the finer of the two first.

    Not so the first elements of two limbs whose bases are inside each other.

    Raises:
        ConfigError: there are no two limbs.
    """
    if len(plan.limbs) < 2:
        raise ConfigError(
            "contact.limbs = true, but a single limb is simulated: leave it away."
        )
    points = np.diff(plan.model.element_step_start)
    apart = [
        float(plan.model.step_length[first : first + count].max(initial=0.0))
        for first, count in zip(plan.model.element_step_start, points, strict=False)
    ]
    return [
        (a, b) if apart[a] <= apart[b] else (b, a)
        for one, other in combinations(plan.limbs, 2)
        for a in one.elements
        for b in other.elements
        if not (
            a == one.elements[0] and b == other.elements[0] and _overlap(one, other)
        )
    ]


def _overlap(one: LimbPlan, other: LimbPlan) -> bool:
    """Whether two limbs grow out of one place."""
    apart = np.linalg.norm(one.base[:3, 3] - other.base[:3, 3])
    return bool(apart < one.radius(0.0) + other.radius(0.0))


def _pose(place: FloatArray) -> FloatArray:
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


def _waves(ground: GroundCase) -> HeightFieldModel:
    """A swell along x and, of another length, along y."""
    spacing = 1e-3 * ground.wave_length_mm / _PER_WAVE
    at = np.arange(-_FIELD_M, _FIELD_M + spacing, spacing)
    number = 2.0 * np.pi / (1e-3 * ground.wave_length_mm)
    swell = 0.5 * (np.sin(number * at)[:, None] + np.sin(0.7 * number * at)[None])
    height = 1e-3 * (ground.height_mm + 0.5 * ground.wave_height_mm * swell)
    return build_height_field(height, spacing, (-_FIELD_M, -_FIELD_M))


def _body(item: ObjectCase, water: float) -> FreeBody:
    size = [1e-3 * value for value in item.size_mm]
    if item.shape == "sphere":
        return sphere_body(size[0], item.mass_kg, water_density=water)
    if item.shape == "cylinder":
        return cylinder_body(size[0], size[1], item.mass_kg, water_density=water)
    return box_body(size, item.mass_kg, water_density=water)
