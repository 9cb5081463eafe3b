"""The contact law, its implicit solution, and contacts of a tree with surfaces.

Tolerances: 1e-9 relative where an equation is solved; 1e-12 of the energy for "never
rises" (rounding); closed forms of motion to the first order of the step, 1 %.
"""

import math

import numpy as np
import pytest

from models.contact import ContactModel, add_contact_forces, build_contact_model
from models.contact import find_contacts as _find
from models.contact_law import (
    DEFAULT_LAW,
    ContactLaw,
    contact_force,
    friction_impulse,
    normal_impulse,
    pack_law,
)
from models.contact_solve import (
    ContactData,
    allocate_contact_data,
    forget_contacts,
    open_contact,
    solve_contacts,
)
from models.contact_step import allocate_contacts, contact_step
from models.free_body import allocate_free_body_data, build_free_bodies
from models.limb_contact import build_limb_contacts
from models.numerics import kernel
from models.strain_basis import constant_curvature
from models.surface import build_height_field
from models.tree import TreeData, TreeModel, TreeWork
from models.tree import allocate_tree_data as _tree_data
from models.tree import allocate_tree_work as _tree_work
from models.tree_builder import ROOT, TreeBuilder
from models.tree_motion import tree_motion
from models.tree_step import TREE_NOT_FINITE, TREE_OK, TREE_REFUSED, tree_energy

_PERIOD = 1e-3
_GRAVITY = 9.81


def _pose(position, rotation=None):
    pose = np.eye(4)
    pose[:3, 3] = position
    if rotation is not None:
        pose[:3, :3] = rotation
    return pose


def _tilted(angle):
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])


def _frame(normal):
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    return np.array([normal, first, np.cross(normal, first)])


class _PointMass:
    """A point of some mass among half-spaces, stepped with the contact solver."""

    def __init__(self, mass, law, normals=((0.0, 0.0, 1.0),), offsets=(0.0,)):
        self.mass, self.law = mass, law
        self.packed = pack_law(law)
        self.normals = np.array(normals, dtype=float)
        self.offsets = np.array(offsets)
        self.position = np.zeros(3)
        self.velocity = np.zeros(3)
        self.found = allocate_contact_data(8, 8, 3)
        self.impulse = np.zeros(3)

    def step(self, period=_PERIOD, force=(0.0, 0.0, 0.0)):
        found = self.found
        velocity = (
            self.velocity
            + period
            * np.array([force[0], force[1], force[2] - self.mass * _GRAVITY])
            / self.mass
        )
        forget_contacts(found)
        for k, normal in enumerate(self.normals):
            depth = self.offsets[k] - normal @ self.position
            if depth > -0.02:
                c = open_contact(self.packed, k, depth, *self.position, *normal, found)
                found.row[c] = _frame(normal)
                found.half[c] = found.row[c] / math.sqrt(self.mass)
        assert solve_contacts(period, velocity, found) == 0
        for c in range(found.count[0]):
            normal, *across = found.impulse[c]
            assert normal >= 0.0
            assert math.hypot(*across) <= self.law.friction * normal * (1.0 + 1e-12)
        self.velocity = velocity + found.sum / math.sqrt(self.mass)
        self.position = self.position + period * self.velocity

    def energy(self):
        depth = np.maximum(0.0, self.offsets - self.normals @ self.position)
        power = self.law.exponent + 1.0
        return (
            0.5 * self.mass * self.velocity @ self.velocity
            + self.mass * _GRAVITY * self.position[2]
            + self.law.stiffness / power * np.sum(depth**power)
        )


def test_force_never_pulls_and_stays_in_the_cone():
    generator = np.random.default_rng(1)
    for _ in range(2000):
        law = ContactLaw(
            stiffness=10.0 ** generator.uniform(2.0, 5.0),
            exponent=generator.choice([1.0, 1.5, 2.2]),
            dissipation=generator.uniform(0.0, 5.0),
            friction=generator.uniform(0.0, 1.2),
            slip_speed=10.0 ** generator.uniform(-5.0, -2.0),
        )
        depth = generator.uniform(-0.01, 0.02)
        speed, *slip = generator.normal(size=3)
        normal, *across = contact_force(pack_law(law), depth, speed, *slip)
        elastic = law.stiffness * max(depth, 0.0) ** law.exponent
        wanted = elastic * max(0.0, 1.0 - law.dissipation * speed)
        assert normal == pytest.approx(wanted, rel=1e-9)
        assert math.hypot(*across) <= law.friction * normal
        assert np.dot(across, slip) <= 0.0


def test_impulses_solve_their_equations():
    generator = np.random.default_rng(2)
    touched = 0
    for _ in range(2000):
        law = ContactLaw(
            stiffness=10.0 ** generator.uniform(2.0, 6.0),
            exponent=generator.choice([1.0, 1.5, 2.2]),
            dissipation=generator.uniform(0.0, 5.0),
            friction=generator.uniform(0.0, 1.2),
        )
        row = pack_law(law)
        depth = generator.uniform(-0.002, 0.004)
        free = generator.normal()
        compliance = 10.0 ** generator.uniform(-2.0, 3.0)
        normal = normal_impulse(row, _PERIOD, depth, free, compliance)
        end = free + compliance * normal
        ahead = max(0.0, depth - _PERIOD * end)
        force = law.stiffness * ahead**law.exponent
        force *= max(0.0, 1.0 - law.dissipation * end)
        # λ against its own equation through the speed, which is what is solved
        assert end - compliance * _PERIOD * force == pytest.approx(
            free, rel=1e-9, abs=1e-9 * (abs(free) + abs(end))
        )
        touched += normal > 0.0
        slip = generator.normal(size=2)
        both = np.array([compliance, compliance * generator.uniform(0.0, 1.0)])
        across = friction_impulse(row, normal, *slip, *both)
        last = slip + both * across
        wanted = -law.friction * normal * last / math.hypot(*last, law.slip_speed)
        brake = compliance * law.friction * normal
        np.testing.assert_allclose(across, wanted, atol=1e-9 * (1.0 + brake))
        assert math.hypot(*across) <= law.friction * normal
    assert touched > 500


@pytest.mark.parametrize("mass", [0.002, 1.0])
@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("dissipation", [0.0, 1.0])
def test_random_impacts_never_add_energy(mass, exponent, dissipation):
    generator = np.random.default_rng(3)
    law = ContactLaw(2e4, exponent, dissipation, 0.5, 1e-3)
    for _ in range(3):
        sides = generator.normal(size=(2, 3))
        sides /= np.linalg.norm(sides, axis=1)[:, None]
        body = _PointMass(mass, law, [(0.0, 0.0, 1.0), *sides], [0.0, -0.05, -0.05])
        body.position = np.array([0.0, 0.0, 0.05])
        body.velocity = generator.normal(size=3)
        before = body.energy()
        first = abs(before)
        for _ in range(400):
            body.step()
            after = body.energy()
            assert after <= before + 1e-12 * first
            before = after


def test_restitution_is_that_of_hunt_and_crossley():
    # Marhefka and Orin 1999: e = 1 - (2/3) d v / ... for F = k δ^p (1 + d δ̇) the
    # speeds before and after, u and w, fulfil d(u + w) = ln((1 + d u)/(1 - d w))
    for exponent in (1.0, 1.5):
        for dissipation in (0.1, 0.5, 1.0):
            law = ContactLaw(2e4, exponent, dissipation, 0.0)
            body = _PointMass(0.1, law)
            body.velocity = np.array([0.0, 0.0, -1.0])
            body.position = np.array([0.0, 0.0, 1e-6])
            for _ in range(200000):
                body.step(2e-6, (0.0, 0.0, 0.1 * _GRAVITY))
                if body.position[2] > 0.0 and body.velocity[2] > 0.0:
                    break
            out = body.velocity[2]
            assert dissipation * (1.0 + out) == pytest.approx(
                math.log((1.0 + dissipation) / (1.0 - dissipation * out)), rel=0.01
            )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_creep_under_a_held_load_is_as_stated(share):
    law = ContactLaw(2e4, 1.0, 0.5, 0.6, 1e-3)
    body = _PointMass(0.005, law)
    force = share * 0.6 * 0.005 * _GRAVITY
    for _ in range(2000):
        body.step(force=(force, 0.0, 0.0))
    creep = 1e-3 * share / math.sqrt(1.0 - share**2)
    assert body.velocity[0] == pytest.approx(creep, rel=1e-3)
    assert body.position[2] == pytest.approx(-0.005 * _GRAVITY / 2e4, rel=1e-6)


def test_a_point_slides_down_a_slope_at_the_closed_form():
    angle = 0.6
    normal = (math.sin(angle), 0.0, math.cos(angle))
    law = ContactLaw(2e4, 1.0, 0.5, 0.4, 1e-3)
    body = _PointMass(0.02, law, [normal], [0.0])
    for _ in range(1000):
        body.step()
    way = np.array([math.cos(angle), 0.0, -math.sin(angle)])
    wanted = _GRAVITY * (math.sin(angle) - 0.4 * math.cos(angle))
    assert body.velocity @ way == pytest.approx(wanted, rel=5e-3)
    sticky = _PointMass(0.02, law._replace(friction=0.8), [normal], [0.0])
    for _ in range(1000):
        sticky.step()
    assert np.linalg.norm(sticky.velocity) < 2e-3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stiffness": 0.0}, "stiffness"),
        ({"exponent": 0.9}, "exponent"),
        ({"dissipation": -1.0}, "dissipation"),
        ({"friction": -0.1}, "friction"),
        ({"slip_speed": 0.0}, "slip_speed"),
        ({"stiffness": np.inf}, "finite"),
        ({"friction": np.nan}, "finite"),
    ],
)
def test_laws_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        pack_law(ContactLaw()._replace(**change))


def test_wrong_models_are_refused():
    plane = ("plane", (0.0, 0.0, 0.0), [])
    with pytest.raises(ValueError, match="2 laws for 1"):
        build_contact_model([plane], [ContactLaw(), ContactLaw()])
    with pytest.raises(ValueError, match="rigid"):
        build_contact_model([("plane", 2.0 * np.eye(4), [])])
    with pytest.raises(ValueError, match="obstacle kind"):
        build_contact_model([("cone", (0.0, 0.0, 0.0), [])])


@kernel
def tree_contact_forces(
    model: TreeModel,
    contacts: ContactModel,
    period: float,
    data: TreeData,
    work: TreeWork,
    found: ContactData,
) -> None:
    forget_contacts(found)
    tree_motion(model, period, data, work)
    _find(model, contacts, period, data, work, found)
    add_contact_forces(model, period, data, work, found)


class _Scene:
    """A tree among surfaces, without limb pairs and objects."""

    def __init__(self, tree, contacts):
        self.tree, self.contacts = tree, contacts
        self.limbs = build_limb_contacts()
        self.bodies = build_free_bodies()
        self.body_data = allocate_free_body_data(self.bodies)
        self.data = _tree_data(tree)
        self.work = _tree_work(tree)
        self.found = allocate_contacts(tree, contacts, self.limbs, self.bodies)

    def step(self, period=_PERIOD):
        return contact_step(
            self.tree,
            self.contacts,
            self.limbs,
            self.bodies,
            period,
            self.data,
            self.body_data,
            self.work,
            self.found,
        )

    def forces(self, period):
        tree_contact_forces(
            self.tree, self.contacts, period, self.data, self.work, self.found
        )


def _ball(mass=0.3, radius=0.05):
    tree = TreeBuilder(root="free", water_density=0.0)
    moment = 0.4 * mass * radius**2
    tree.add_body(ROOT, np.eye(4), mass=mass, inertia=[moment] * 3, radius=radius)
    return tree.build()


def _robot(**keywords):
    """A hull with a limb, light and soft, whose points are a few grams."""
    tree = TreeBuilder(water_density=1000.0, **keywords)
    hull = tree.add_body(ROOT, np.eye(4), mass=1.0, inertia=[0.01] * 3, radius=0.05)
    for side in (-1.0, 1.0):
        tree.add_rod(
            hull,
            _pose((0.05 * side, 0.0, 0.0), _tilted(2.0 * side)),
            length=0.25,
            radius=(0.015, 0.006),
            density=1100.0,
            young_modulus=1e5,
            shear_modulus=3.3e4,
            viscosity=100.0,
            basis=constant_curvature(),
            drag_normal=1.1,
            added_mass=1.0,
        )
    return tree.build()


def _ground(law=DEFAULT_LAW):
    x, y = np.meshgrid(np.linspace(-2, 2, 21), np.linspace(-2, 2, 21), indexing="ij")
    return build_contact_model(
        [
            ("sphere", (0.25, 0.0, -0.1), [0.1]),
            ("box", (-0.3, 0.0, -0.1), [0.1, 0.2, 0.12]),
            ("cylinder", (0.0, 0.3, -0.1), [0.1, 0.1]),
        ],
        law,
        seabed=build_height_field(0.03 * np.sin(3 * x) * np.cos(2 * y), 0.2, (-2, -2)),
        seabed_law=law,
    )


def test_ball_of_a_tree_rests_and_rolls_down_a_slope():
    angle = 0.3
    plane = ("plane", _pose((0.0, 0.0, 0.0), _tilted(angle)), [])
    contacts = build_contact_model([plane], ContactLaw(2e4, 1.0, 0.5, 0.8, 1e-3))
    scene = _Scene(_ball(), contacts)
    up = _tilted(angle)[:, 2]
    scene.data.root_pose[:3, 3] = 0.05 * up
    for _ in range(200):
        assert scene.step() == TREE_OK
    speed = scene.data.root_pose[:3, :3] @ scene.data.velocity[3:]
    assert speed @ _tilted(angle)[:, 0] == pytest.approx(
        0.2 * 5.0 / 7.0 * _GRAVITY * math.sin(angle), rel=0.01
    )
    turn = scene.data.root_pose[:3, :3] @ scene.data.velocity[:3]
    assert turn[1] == pytest.approx(np.linalg.norm(speed) / 0.05, rel=0.01)
    depth = 0.05 - scene.data.root_pose[:3, 3] @ up
    assert depth == pytest.approx(0.3 * _GRAVITY * math.cos(angle) / 2e4, rel=0.02)


def test_rows_are_the_rate_of_the_distance():
    scene = _Scene(_robot(root="free"), _ground())
    generator = np.random.default_rng(4)
    seen = set()
    for _ in range(30):
        scene.data.root_pose[:3, :3] = np.eye(3)
        scene.data.root_pose[:3, 3] = generator.uniform(
            [-0.3, -0.1, 0.0], [0.3, 0.4, 0.1]
        )
        scene.data.position[6:] = generator.normal(size=6) * [1, 1, 0.01, 1, 1, 0.01]
        scene.data.velocity[:] = 0.0
        scene.forces(0.0)
        count = scene.found.count[0]
        seen |= {int(slot) % 4 for slot in scene.found.slot[:count]}
        depth = dict(zip(scene.found.slot[:count], scene.found.depth, strict=False))
        row = dict(
            zip(scene.found.slot[:count], scene.found.row[:, 0].copy(), strict=False)
        )
        step = 1e-7
        for d in (3, 4, 5, 6, 7, 8, 10):
            keep = scene.data.root_pose.copy(), scene.data.position.copy()
            if d < 6:
                scene.data.root_pose[d - 3, 3] += step
            else:
                scene.data.position[d] += step
            scene.forces(0.0)
            count = scene.found.count[0]
            for slot, now in zip(
                scene.found.slot[:count], scene.found.depth, strict=False
            ):
                if slot in depth:
                    rate = (depth[slot] - now) / step
                    assert row[slot][d] == pytest.approx(rate, abs=2e-5)
            scene.data.root_pose[:], scene.data.position[:] = keep
    assert seen == {0, 1, 2, 3}


def test_plain_forces_are_the_law_and_their_matrix_is_positive():
    law = ContactLaw(2e4, 1.5, 0.5, 0.6, 1e-3)
    scene = _Scene(_ball(), build_contact_model([("plane", (0, 0, 0), [])], law))
    scene.data.root_pose[2, 3] = 0.049
    scene.data.velocity[3:] = [0.02, -0.01, -0.3]
    scene.forces(0.0)
    slip = math.hypot(0.02, 0.01, 1e-3)
    normal = 2e4 * 0.001**1.5 * (1.0 + 0.5 * 0.3)
    weight = 0.3 * _GRAVITY
    np.testing.assert_allclose(
        scene.work.load[3:],
        [-0.6 * normal * 0.02 / slip, 0.6 * normal * 0.01 / slip, normal - weight],
        rtol=1e-9,
    )
    scene.forces(_PERIOD)
    matrix = np.tril(scene.work.matrix)
    matrix = matrix + np.tril(matrix, -1).T
    mass = np.diag([0.4 * 0.3 * 0.05**2] * 3 + [0.3] * 3)
    assert np.linalg.eigvalsh(matrix - mass).min() > -1e-12
    assert matrix[5, 5] > 0.3 + 1e-6 * 1.5 * 2e4 * math.sqrt(0.001)


def _energy(scene):
    """Energy of the tree and of the springs (p = 1) of its contacts."""
    parts = np.zeros(3)
    tree_energy(scene.tree, scene.data, scene.work, parts)
    scene.forces(0.0)
    count = scene.found.count[0]
    depth = np.maximum(0.0, scene.found.depth[:count])
    return parts.sum() + 0.5 * np.sum(scene.found.law[:count, 0] * depth**2)


@pytest.mark.parametrize("period", [1e-3, 5e-3])
def test_soft_limbs_among_all_surfaces_lose_energy_and_are_carried(period):
    scene = _Scene(_robot(root="free"), _ground(ContactLaw(2e4, 1.0, 0.5, 0.5, 1e-3)))
    scene.data.root_pose[2, 3] = 0.25
    scene.data.velocity[:3] = [0.5, -1.0, 0.3]
    before = first = _energy(scene)
    lift = []
    for _ in range(round(2.0 / period)):
        assert scene.step(period) == TREE_OK
        impulse = scene.found.impulse[: scene.found.count[0]]
        assert np.all(impulse[:, 0] >= 0.0)
        across = np.hypot(impulse[:, 1], impulse[:, 2])
        assert np.all(across <= 0.5 * impulse[:, 0] * (1.0 + 1e-12))
        world = [
            row @ _frame_of(n)
            for row, n in zip(impulse, scene.found.normal, strict=False)
        ]
        lift.append(sum(force[2] for force in world) / period if world else 0.0)
        after = _energy(scene)
        assert after <= before + 1e-12 * first
        before = after
    net = np.sum(scene.tree.point_mass - scene.tree.point_displaced)
    late = lift[len(lift) // 2 :]
    assert np.mean(late) == pytest.approx(net * _GRAVITY, rel=0.03)


def _frame_of(normal):
    """The solver's own tangents (Duff et al. 2017)."""
    x, y, z = normal
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array(
        [
            normal,
            [1.0 + sign * x * x * a, sign * b, -sign * x],
            [b, sign + y * y * a, -y],
        ]
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_garbage_freezes_the_tree(value):
    scene = _Scene(_robot(root="free"), _ground())
    scene.data.root_pose[2, 3] = 0.08
    assert scene.step() == TREE_OK
    before = scene.data.position.copy()
    scene.data.applied[7] = value
    assert scene.step() != TREE_OK
    assert np.array_equal(scene.data.position, before)
    assert np.all(scene.data.velocity == 0.0)
    assert np.all(np.isfinite(scene.data.root_pose))
    scene.data.root_pose[0, 3] = value
    scene.data.status[0] = TREE_OK
    scene.data.applied[7] = 0.0
    scene.step()
    assert scene.data.status[0] in {TREE_OK, TREE_NOT_FINITE, TREE_REFUSED}
    assert np.all(np.isfinite(scene.data.velocity))
