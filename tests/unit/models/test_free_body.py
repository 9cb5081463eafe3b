"""Free objects: closed forms of sinking, swinging, spinning, sliding and rolling.

Tolerances: 1e-10 for what the step keeps to rounding; 1 % for accelerations over a
thousand steps, first order in the step; 1e-12 of the energy for "never rises".
"""

import math

import numpy as np
import pytest

from models.contact import build_contact_model
from models.contact_law import ContactLaw
from models.contact_step import allocate_contacts, contact_step
from models.free_body import (
    allocate_free_body_data,
    body_energy,
    box_body,
    build_free_bodies,
    cylinder_body,
    sphere_body,
)
from models.free_body_motion import BODY_DIVERGED, BODY_NOT_FINITE, BODY_OK
from models.limb_contact import build_limb_contacts
from models.surface import build_height_field
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder

_PERIOD = 1e-3
_GRAVITY = 9.81
_LAW = ContactLaw(2e4, 1.0, 0.5, 0.5, 1e-3)
_DRY = {
    "displaced_mass": 0.0,
    "added_mass": (0.0,) * 6,
    "drag_quadratic": (0.0,) * 6,
    "law": _LAW,
}


def _nothing():
    """A tree without mass or motion: objects are alone."""
    tree = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    tree.add_body(ROOT, np.eye(4))
    return tree.build()


_PLACE = _nothing()
_STILL, _WORK = allocate_tree_data(_PLACE), allocate_tree_work(_PLACE)


def _tilted(angle):
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])


def _turned(generator):
    q, r = np.linalg.qr(generator.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    q[:, 0] *= np.linalg.det(q)
    return q


class _World:
    """Objects among surfaces."""

    def __init__(self, bodies, obstacles=(), seabed=None, **water):
        self.contacts = build_contact_model(obstacles, _LAW, seabed=seabed)
        self.model = build_free_bodies(bodies, **water)
        self.data = allocate_free_body_data(self.model)
        self.limbs = build_limb_contacts()
        self.found = allocate_contacts(_PLACE, self.contacts, self.limbs, self.model)

    def run(self, steps=1, period=_PERIOD):
        status = 0
        for _ in range(steps):
            status = max(
                status,
                contact_step(
                    _PLACE,
                    self.contacts,
                    self.limbs,
                    self.model,
                    period,
                    _STILL,
                    self.data,
                    _WORK,
                    self.found,
                ),
            )
        return status

    def velocity(self, body=0):
        """Of the centre, in the world."""
        return self.data.pose[body, :3, :3] @ self.data.twist[body, 3:]

    def momentum(self, body=0):
        """Angular about the centre, and linear; in the world, without current."""
        rotation = self.data.pose[body, :3, :3]
        own = self.model.inertia[body] * self.data.twist[body]
        return np.concatenate([rotation @ own[:3], rotation @ own[3:]])


def _slope(angle):
    pose = np.eye(4)
    pose[:3, :3] = _tilted(angle)
    return ("plane", pose, [])


def test_sphere_sinks_and_rises_at_its_terminal_speed():
    radius = 0.05
    volume = 4.0 / 3.0 * math.pi * radius**3
    for density in (2000.0, 400.0):
        world = _World([sphere_body(radius, density * volume)])
        world.data.pose[0, :3, :3] = _turned(np.random.default_rng(1))
        world.run(3000)
        drag = 0.5 * 1000.0 * 0.47 * math.pi * radius**2
        net = (density - 1000.0) * volume * _GRAVITY
        speed = -math.copysign(math.sqrt(abs(net) / drag), net)
        np.testing.assert_allclose(world.velocity(), [0.0, 0.0, speed], atol=1e-5)


def test_acceleration_at_the_start_has_the_added_mass():
    world = _World([sphere_body(0.05, 1.0, drag_quadratic=(0.0,) * 6)])
    world.run(100)
    displaced = 1000.0 * 4.0 / 3.0 * math.pi * 0.05**3
    wanted = -(1.0 - displaced) * _GRAVITY / (1.0 + 0.5 * displaced)
    assert world.velocity()[2] == pytest.approx(0.1 * wanted, rel=1e-9)


def test_neutral_object_floats_and_drifts_with_the_current():
    body = box_body((0.1, 0.2, 0.3), 6.0, drag_linear=[0, 0, 0, 5.0, 5.0, 5.0])
    world = _World([body], current=(0.2, -0.1, 0.05))
    world.data.pose[0, :3, :3] = _turned(np.random.default_rng(2))
    world.run(1)
    assert abs(world.velocity()[2]) < 1e-3
    world.run(20000)
    np.testing.assert_allclose(world.velocity(), [0.2, -0.1, 0.05], atol=1e-5)


def test_restoring_moment_swings_at_its_frequency():
    mass, height = 5.0, 0.04
    body = sphere_body(
        0.1,
        mass,
        displaced_mass=mass,
        buoyancy_centre=(0.0, 0.0, height),
        drag_quadratic=(0.0,) * 6,
    )
    world = _World([body])
    world.data.pose[0, :3, :3] = _tilted(0.02)
    pulse = math.sqrt(mass * _GRAVITY * height / (0.4 * mass * 0.01))
    angle = []
    for _ in range(4000):
        world.run()
        angle.append(world.data.pose[0, 0, 2])
    up = [
        n + angle[n] / (angle[n] - angle[n + 1])
        for n in range(3999)
        if angle[n] <= 0.0 < angle[n + 1]
    ]
    period = (up[-1] - up[0]) / (len(up) - 1) * _PERIOD
    assert period == pytest.approx(2.0 * math.pi / pulse, rel=1e-3)
    assert max(np.abs(angle[3000:])) == pytest.approx(0.02, rel=0.02)


@pytest.mark.parametrize("added", [0.0, 0.7])
def test_free_spin_keeps_energy_and_momentum(added):
    body = box_body((0.1, 0.2, 0.3), 2.0)._replace(
        displaced_mass=2.0,
        added_mass=[0.01, 0.002, 0.004, added, added, added],
        drag_quadratic=(0.0,) * 6,
    )
    world = _World([body])
    world.data.twist[0] = [3.0, 0.1, 20.0, 0.3, -0.5, 0.2]
    world.data.pose[0, :3, :3] = _turned(np.random.default_rng(3))
    energy = body_energy(world.model, world.data)[0, 0]
    momentum = world.momentum()
    way = world.velocity() * 10.0
    start = world.data.pose[0, :3, 3].copy()
    world.run(10000)
    assert body_energy(world.model, world.data)[0, 0] == pytest.approx(
        energy, rel=1e-10
    )
    np.testing.assert_allclose(world.momentum(), momentum, atol=1e-10)
    np.testing.assert_allclose(world.data.pose[0, :3, 3] - start, way, atol=1e-9)
    rotation = world.data.pose[0, :3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)


def test_added_mass_turns_a_body_across_its_way_and_keeps_energy():
    # Munk: a long body that moves along its axis in an ideal fluid turns broadside
    body = cylinder_body(0.02, 0.3, 0.4, drag_quadratic=(0.0,) * 6)
    world = _World([body._replace(mass=body.displaced_mass)])
    world.data.twist[0] = [0.0, 1e-4, 0.0, 0.0, 0.0, 0.5]
    energy = body_energy(world.model, world.data)[0, 0]
    momentum = world.momentum()[3:]
    most = 0.0
    for _ in range(5000):
        world.run()
        most = max(most, abs(world.data.twist[0, 3]))
    assert most > 0.24  # broadside: half the speed, as the mass is doubled
    assert body_energy(world.model, world.data)[0, 0] == pytest.approx(
        energy, rel=1e-10
    )
    np.testing.assert_allclose(world.momentum()[3:], momentum, atol=1e-10)


@pytest.mark.parametrize(
    ("body", "radius", "share"),
    [
        (sphere_body(0.05, 1.0, **_DRY), 0.05, 5.0 / 7.0),
        (cylinder_body(0.04, 0.1, 1.5, **_DRY), 0.04, 2.0 / 3.0),
    ],
)
def test_round_objects_roll_down_a_slope(body, radius, share):
    angle = 0.3
    world = _World([body], [_slope(angle)])
    across = np.array(
        [[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]]
    )  # axis along the world's y
    world.data.pose[0, :3, :3] = _tilted(angle) @ across
    world.data.pose[0, :3, 3] = radius * _tilted(angle)[:, 2]
    assert world.run(1000) == 0
    speed = world.velocity() @ _tilted(angle)[:, 0]
    assert speed == pytest.approx(share * _GRAVITY * math.sin(angle), rel=0.01)
    turn = world.data.pose[0, :3, :3] @ world.data.twist[0, :3]
    assert turn[1] * radius == pytest.approx(speed, rel=0.01)


def test_sphere_slides_on_a_steep_slope():
    angle = 1.2
    world = _World([sphere_body(0.05, 1.0, **_DRY)], [_slope(angle)])
    world.data.pose[0, :3, 3] = 0.05 * _tilted(angle)[:, 2]
    world.run(500)
    speed = world.velocity() @ _tilted(angle)[:, 0]
    wanted = _GRAVITY * (math.sin(angle) - 0.5 * math.cos(angle))
    assert speed == pytest.approx(0.5 * wanted, rel=0.01)
    turn = world.data.pose[0, :3, :3] @ world.data.twist[0, :3]
    wanted = 0.5 * _GRAVITY * math.cos(angle) / (0.4 * 0.05)
    assert turn[1] == pytest.approx(0.5 * wanted, rel=0.01)


@pytest.mark.parametrize(
    "body",
    [
        box_body((0.2, 0.1, 0.06), 2.0, **_DRY),
        cylinder_body(0.05, 0.04, 2.0, **_DRY),
    ],
)
def test_flat_objects_slide_or_stay_on_a_slope(body):
    for angle, slides in ((0.3, False), (0.6, True)):
        world = _World([body], [_slope(angle)])
        half = body.size[-1]
        world.data.pose[0, :3, :3] = _tilted(angle)
        world.data.pose[0, :3, 3] = half * _tilted(angle)[:, 2]
        world.run(500)
        speed = world.velocity() @ _tilted(angle)[:, 0]
        if slides:
            wanted = _GRAVITY * (math.sin(angle) - 0.5 * math.cos(angle))
            assert speed == pytest.approx(0.5 * wanted, rel=0.02)
        else:
            share = math.tan(angle) / 0.5
            creep = 1e-3 * share / math.sqrt(1.0 - share**2)
            assert speed == pytest.approx(creep, rel=0.3)
            assert np.abs(world.data.twist[0, :3]).max() < 1e-3


def test_random_impacts_of_objects_never_add_energy():
    generator = np.random.default_rng(4)
    x, y = np.meshgrid(np.linspace(-3, 3, 13), np.linspace(-3, 3, 13), indexing="ij")
    worst = 0.0
    for case in range(6):
        seabed = build_height_field(0.1 * x - 0.05 * y, 0.5, (-3.0, -3.0))
        world = _World(
            [
                sphere_body(0.05, 0.6, **_DRY),
                box_body((0.12, 0.1, 0.06), 0.8, **_DRY),
                cylinder_body(0.04, 0.15, 0.7, **_DRY),
            ],
            [("sphere", (0.0, 0.0, 0.0), [0.2])],
            seabed if case % 2 else None,
        )
        for b in range(3):
            world.data.pose[b, :3, :3] = _turned(generator)
            world.data.pose[b, :3, 3] = [0.02 * b, 0.01, 0.4 + 0.2 * b]
        world.data.twist[:] = generator.normal(size=(3, 6)) * [4, 4, 4, 1, 1, 1]
        before = first = _energy(world)
        for _ in range(800):
            assert world.run() == 0
            after = _energy(world)
            worst = max(worst, (after - before) / first)
            before = after
        assert np.all(world.data.status == BODY_OK)
        assert after < 0.9 * first or not case % 2
    assert worst < 1e-12


def _energy(world):
    """Energy of the objects and of the springs (p = 1) at the end of a step."""
    found = world.found
    count = found.count[0]
    ahead = np.zeros(count)
    for c in range(count):
        end = found.velocity
        ahead[c] = found.depth[c] - _PERIOD * found.row[c, 0] @ end
    springs = 0.5 * _LAW.stiffness * np.sum(np.maximum(0.0, ahead) ** 2)
    return body_energy(world.model, world.data).sum() + springs


def test_objects_that_collide_keep_their_momentum():
    generator = np.random.default_rng(5)
    bodies = [
        box_body((0.1, 0.1, 0.1), 1.0, **_DRY),
        sphere_body(0.06, 0.5, **_DRY),
        cylinder_body(0.03, 0.12, 0.4, **_DRY),
    ]
    world = _World(bodies, gravity=(0.0, 0.0, 0.0))
    for b in range(3):
        world.data.pose[b, :3, :3] = _turned(generator)
        world.data.pose[b, :3, 3] = [0.16 * b, 0.02 * b, 0.0]
        world.data.twist[b, :3] = generator.normal(size=3)
        rotation = world.data.pose[b, :3, :3]
        world.data.twist[b, 3:] = rotation.T @ [0.8 - 0.8 * b, 0.0, 0.1]

    def total():
        momentum = np.zeros(6)
        for b in range(3):
            own = world.momentum(b)
            momentum += own
            momentum[:3] += np.cross(world.data.pose[b, :3, 3], own[3:])
        return momentum

    first = total()
    touched = 0
    for _ in range(500):
        world.run()
        touched += np.any(world.found.impulse[: world.found.count[0], 0] > 0.0)
        np.testing.assert_allclose(total()[3:], first[3:], atol=1e-12)
    assert touched > 5
    # the moments meet at the contact's place, to second order of the step's turn
    np.testing.assert_allclose(total()[:3], first[:3], atol=1e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_garbage_freezes_its_object_only(value):
    bodies = [sphere_body(0.05, 1.0), box_body((0.1, 0.1, 0.1), 2.0)]
    world = _World(bodies, [("plane", (0.0, 0.0, 0.0), [])])
    world.data.pose[:, 2, 3] = 0.05
    world.data.pose[1, 0, 3] = 0.09  # within reach of each other
    world.run(10)
    world.data.twist[1, 2] = value
    world.run(50)
    assert world.data.status[0] == BODY_OK
    assert world.data.status[1] in {BODY_NOT_FINITE, BODY_DIVERGED}
    assert np.all(np.isfinite(world.data.pose))
    assert np.all(world.data.twist[1] == 0.0)
    world.data.pose[0, 0, 3] = value
    world.run(50)
    assert np.all(np.isfinite(world.data.twist))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (sphere_body(0.05, 1.0)._replace(kind=0), "kind"),
        (sphere_body(0.05, 1.0)._replace(size=[0.1, 0.1]), "sizes"),
        (sphere_body(0.05, 1.0)._replace(size=[-0.1]), "sizes"),
        (sphere_body(0.05, 0.0), "mass"),
        (sphere_body(0.05, 1.0, inertia=(1.0, 1.0)), "inertia needs 3"),
        (sphere_body(0.05, 1.0, drag_linear=(-1.0,) * 6), "negative"),
        (sphere_body(0.05, 1.0, law=ContactLaw(0.0)), "stiffness"),
    ],
)
def test_wrong_objects_are_refused(body, message):
    with pytest.raises(ValueError, match=message):
        build_free_bodies([body])
