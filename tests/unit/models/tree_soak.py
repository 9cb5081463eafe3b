"""Many steps of random trees under random loads and garbage; what came of them.

Every robot gets its own period, current and loads; these change every `_CHUNK` steps.
One in four is among a ground, a ball, a box and two free objects, and touches itself.
Now and then one of its inputs is set to something that is no sensible number. Then the
step has to refuse: poses and coordinates stay as they were, bit for bit, and nothing
moves; or the input has no bearing, and the state stays finite.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from models.contact import ContactModel, build_contact_model
from models.contact_solve import ContactData
from models.contact_step import allocate_contacts, contact_step
from models.free_body import (
    FreeBodyData,
    FreeBodyModel,
    allocate_free_body_data,
    build_free_bodies,
    sphere_body,
)
from models.limb_contact import LimbContactModel, build_limb_contacts
from models.numerics import kernel
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
from models.tree_step import TREE_OK, tree_step
from tests.unit.models.tree_oracle import copied
from tests.unit.models.tree_sample import random_frame, random_state, random_tree

_CHUNK = 500
_CHUNKS = 20
_GARBAGE = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e160, 1e20, -1e20)
_PERIODS = (np.nan, np.inf, -np.inf, 0.0, -1e-3, 1e300)


class Soak(NamedTuple):
    """Counts of a run."""

    steps: int
    robots: int
    not_finite: int
    """States that were not finite and that no status told of."""
    frozen: Counter[int]
    """Robots frozen, by cause."""
    refused: int
    """Garbage that froze its robot."""
    harmless: int
    """Garbage that had no bearing."""
    propagated: int
    """Garbage that changed a pose or a coordinate."""


@kernel
def run_tree(
    model: TreeModel, period: float, steps: int, data: TreeData, work: TreeWork
) -> int:
    """Steps until the tree freezes; -1 where its state is not finite unnoticed."""
    for i in range(steps):
        if tree_step(model, period, data, work) != TREE_OK:
            return i
        total = 0.0
        for d in range(data.position.size):
            total += 0.0 * data.position[d] + 0.0 * data.velocity[d]
        for j in range(4):
            for k in range(4):
                total += 0.0 * data.root_pose[j, k]
        if total != 0.0:
            return -1
    return steps


@kernel
def run_touching_tree(
    model: TreeModel,
    contacts: ContactModel,
    limbs: LimbContactModel,
    bodies: FreeBodyModel,
    period: float,
    steps: int,
    data: TreeData,
    body_data: FreeBodyData,
    work: TreeWork,
    found: ContactData,
) -> int:
    """The same among obstacles and free objects."""
    for i in range(steps):
        status = contact_step(
            model, contacts, limbs, bodies, period, data, body_data, work, found
        )
        if status != TREE_OK:
            return i
        total = 0.0
        for d in range(data.position.size):
            total += 0.0 * data.position[d] + 0.0 * data.velocity[d]
        for j in range(4):
            for k in range(4):
                total += 0.0 * data.root_pose[j, k]
                for b in range(bodies.kind.size):
                    total += 0.0 * body_data.pose[b, j, k]
        for b in range(bodies.kind.size):
            for k in range(6):
                total += 0.0 * body_data.twist[b, k]
        if total != 0.0:
            return -1
    return steps


class _Surroundings:
    """What a robot can touch."""

    def __init__(self, model: TreeModel, generator: np.random.Generator) -> None:
        ground = np.eye(4)
        ground[2, 3] = -0.5
        ball, box = random_frame(generator, 0.5), random_frame(generator, 0.5)
        self._contacts = build_contact_model(
            [("plane", ground, []), ("sphere", ball, [0.1]), ("box", box, [0.1] * 3)]
        )
        elements = model.element_parent.size
        pairs = [(0, elements - 1)] if elements > 1 else []
        self._limbs = build_limb_contacts(pairs)
        objects = [sphere_body(0.05, 0.3), sphere_body(0.04, 0.5)]
        self._bodies = build_free_bodies(objects)
        self._moved = allocate_free_body_data(self._bodies)
        for pose in self._moved.pose:
            pose[:] = random_frame(generator, 0.5)
        self._found = allocate_contacts(
            model, self._contacts, self._limbs, self._bodies
        )

    def run(
        self, model: TreeModel, period: float, data: TreeData, work: TreeWork
    ) -> int:
        return run_touching_tree(
            model,
            self._contacts,
            self._limbs,
            self._bodies,
            period,
            _CHUNK,
            data,
            self._moved,
            work,
            self._found,
        )


def _load(model: TreeModel, generator: np.random.Generator, data: TreeData) -> None:
    """Loads that bend a limb by some tenths of a radian, stretch it by millimetres."""
    size = model.dof_parent.size
    for d in range(size):
        element = model.dof_element[d]
        stiffness = 0.0
        if element >= 0:
            own = d - model.element_dof_start[element]
            stiffness = model.element_stiffness[element, own, own]
        reach = 0.3 if model.dof_component[d] < 3 else 0.005
        data.applied[d] = generator.normal() * (stiffness * reach or 0.02)
    for e in range(model.element_parent.size):
        softest = 0.02
        for d in range(model.element_dof_start[e], model.element_dof_start[e + 1]):
            own = d - model.element_dof_start[e]
            softest = min(softest, model.element_stiffness[e, own, own] or softest)
        data.wrench[e] = 0.1 * softest * generator.normal(size=6)
        data.wrench[e, 3:] *= 3.0


def _spoil(
    model: TreeModel,
    generator: np.random.Generator,
    period: float,
    data: TreeData,
    work: TreeWork,
) -> str:
    """Put garbage into one input and take a step: refused, harmless or propagated."""
    spoilt = copied(data)
    garbage = generator.choice(_GARBAGE)
    kind = int(generator.integers(6))
    if kind < 5:
        field = (
            spoilt.position,
            spoilt.velocity,
            spoilt.applied,
            spoilt.wrench,
            spoilt.root_pose,
        )[kind].reshape(-1)
        field[generator.integers(field.size)] = garbage
        if kind == 0:
            spoilt.position[: model.root_size[0]] = 0.0
    else:
        period = float(generator.choice(_PERIODS))
    before = copied(spoilt)
    status = tree_step(model, period, spoilt, work)
    if status != TREE_OK:
        same = np.array_equal(before.position, spoilt.position, equal_nan=True)
        same &= np.array_equal(before.root_pose, spoilt.root_pose, equal_nan=True)
        return "refused" if same and not spoilt.velocity.any() else "propagated"
    fields = (spoilt.position, spoilt.velocity, spoilt.root_pose)
    finite = all(np.isfinite(field).all() for field in fields)
    return "harmless" if finite else "propagated"


def soak(steps: int, seed: int, longest_period: float = 1e-2) -> Soak:
    """Take at least so many steps, of periods from 10 µs to the longest."""
    generator = np.random.default_rng(seed)
    taken = robots = not_finite = 0
    frozen: Counter[int] = Counter()
    fates: Counter[str] = Counter()
    while taken < steps:
        model = random_tree(
            generator, elements=int(generator.choice((1, 1, 2, 2, 3))), current=1
        )
        data, work = allocate_tree_data(model), allocate_tree_work(model)
        random_state(model, generator, data, bend=0.5, speed=2.0)
        period = 10.0 ** generator.uniform(-5.0, np.log10(longest_period))
        touching = _Surroundings(model, generator) if robots % 4 == 3 else None
        robots += 1
        for _ in range(_CHUNKS):
            _load(model, generator, data)
            data.root_pose[:3, 3] = generator.uniform(-1.0, 1.0, 3)
            if generator.random() < 0.1:
                fates[_spoil(model, generator, period, data, work)] += 1
            if touching is None:
                made = run_tree(model, period, _CHUNK, data, work)
            else:
                made = touching.run(model, period, data, work)
            taken += max(made, 0)
            not_finite += made < 0
            if made < _CHUNK:
                frozen[int(data.status[0])] += 1
                break
    return Soak(
        taken,
        robots,
        not_finite,
        frozen,
        fates["refused"],
        fates["harmless"],
        fates["propagated"],
    )
