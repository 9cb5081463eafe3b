"""What a simulated robot can touch: ground, obstacles, free objects, its own limbs."""

import numpy as np

from app.config.case import CaseParameters, GroundCase, ObjectCase
from app.config.tree import TreePlan
from app.errors import ConfigError
from app.study.reach import read_obstacle
from models.contact import ContactModel, build_contact_model
from models.contact_law import ContactLaw
from models.contact_solve import ContactData
from models.contact_step import allocate_contacts, finish_contact_step
from models.free_body import (
    FreeBody,
    FreeBodyData,
    FreeBodyModel,
    allocate_free_body_data,
    box_body,
    build_free_bodies,
    sphere_body,
)
from models.limb_contact import LimbContactModel, build_limb_contacts
from models.numerics import FloatArray, kernel
from models.surface import HeightFieldModel, build_height_field
from models.tree import TreeData, TreeModel, TreeWork

__all__ = ["World", "make_world"]

_FIELD_M = 4.0  # half the side of a ground with waves
_PER_WAVE = 16


@kernel
def finish_with_contacts(
    tree: TreeModel,
    contacts: ContactModel,
    limbs: LimbContactModel,
    bodies: FreeBodyModel,
    period: float,
    data: TreeData,
    body_data: FreeBodyData,
    work: TreeWork,
    found: ContactData,
) -> int:
    """Entry for Python of `finish_contact_step`: see there."""
    return int(
        finish_contact_step(
            tree, contacts, limbs, bodies, period, data, body_data, work, found
        )
    )


class World:
    """Surfaces and objects around a robot, and their contacts."""

    def __init__(
        self,
        tree: TreeModel,
        contacts: ContactModel,
        limbs: LimbContactModel,
        bodies: FreeBodyModel,
        places: FloatArray,
    ) -> None:
        """Put the objects at their places (B, 3) [m], still."""
        self._contacts, self._limbs, self._bodies = contacts, limbs, bodies
        self._data = allocate_free_body_data(bodies)
        self._data.pose[:, :3, 3] = places
        self._found = allocate_contacts(tree, contacts, limbs, bodies, capacity=256)

    @property
    def poses(self) -> FloatArray:
        """(B, 4, 4) of the objects in the world [m]."""
        return self._data.pose

    def finish(
        self, tree: TreeModel, period: float, data: TreeData, work: TreeWork
    ) -> int:
        """Solve what motion and loads left in work, with all contacts, and advance."""
        return int(
            finish_with_contacts(
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

    def root_wrench(self, period: float) -> FloatArray:
        """(6,) what the contacts of the last step did to the root's rows [N m, N]."""
        total = np.zeros(6)
        for c in range(int(self._found.count[0])):
            total += self._found.impulse[c] @ self._found.row[c, :, :6] / period
        return total


def make_world(plan: TreePlan, case: CaseParameters) -> World | None:
    """Make what a case has to touch; None where there is nothing.

    Raises:
        ConfigError: an obstacle or object is not well described.
    """
    if case.ground is None and not case.obstacles and not case.objects:
        return None
    listed = [read_obstacle(text) for text in case.obstacles]
    laws = [ContactLaw()] * len(listed)
    field = None
    seabed_law = ContactLaw()
    if case.ground is not None:
        law = ContactLaw(friction=case.ground.friction)
        if case.ground.wave_height_mm > 0.0:
            field, seabed_law = _waves(case.ground), law
        else:
            height = 1e-3 * case.ground.height_mm
            listed.append(("plane", np.array([0.0, 0.0, height]), np.zeros(0)))
            laws.append(law)
    try:
        contacts = build_contact_model(
            [(kind, _pose(place), size) for kind, place, size in listed],
            laws,
            seabed=field,
            seabed_law=seabed_law,
        )
        model = plan.model
        bodies = build_free_bodies(
            [_body(item) for item in case.objects],
            gravity=model.gravity,
            current=model.current,
        )
    except ValueError as error:
        raise ConfigError(f"The case's contacts: {error}.") from error
    places = 1e-3 * np.array([item.position_mm for item in case.objects])
    return World(model, contacts, build_limb_contacts(), bodies, places.reshape(-1, 3))


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


def _body(item: ObjectCase) -> FreeBody:
    size = [1e-3 * value for value in item.size_mm]
    if item.shape == "sphere":
        return sphere_body(size[0], item.mass_kg)
    return box_body(size, item.mass_kg)
