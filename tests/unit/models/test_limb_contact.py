"""Contact between two limbs, and of limbs with objects: balance, rates, a grasp.

Tolerances: 1e-12 for balances that hold to rounding; 2e-5 for one-sided differences
(step 1e-7) of distances.
"""

import math

import numpy as np
import pytest

from models.contact import build_contact_model
from models.contact_law import ContactLaw
from models.contact_step import allocate_contacts, contact_step
from models.free_body import (
    allocate_free_body_data,
    box_body,
    build_free_bodies,
    sphere_body,
)
from models.limb_contact import build_limb_contacts
from models.strain_basis import constant_curvature
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder
from models.tree_step import TREE_OK

_PERIOD = 1e-3
_LAW = ContactLaw(2e4, 1.0, 0.5, 0.5, 1e-3)
_STILL = {
    "displaced_mass": 0.0,
    "added_mass": (0.0,) * 6,
    "drag_quadratic": (0.0,) * 6,
    "law": _LAW,
}


def _pose(position, rotation=None):
    pose = np.eye(4)
    pose[:3, 3] = position
    if rotation is not None:
        pose[:3, :3] = rotation
    return pose


def _tilted(angle):
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])


class _Scene:
    def __init__(self, tree, pairs=(), bodies=(), gravity=(0.0, 0.0, 0.0), ground=()):
        self.tree = tree
        self.contacts = build_contact_model(ground, _LAW)
        self.limbs = build_limb_contacts(pairs, _LAW, elements=len(tree.element_parent))
        self.bodies = build_free_bodies(bodies, gravity=gravity)
        self.body_data = allocate_free_body_data(self.bodies)
        self.data = allocate_tree_data(tree)
        self.work = allocate_tree_work(tree)
        self.found = allocate_contacts(tree, self.contacts, self.limbs, self.bodies)

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

    def active(self):
        return [c for c in range(self.found.count[0]) if self.found.impulse[c, 0] > 0.0]


def _pair(root="free"):
    """Two soft limbs that lean towards each other, crosswise."""
    tree = TreeBuilder(root=root, water_density=0.0, gravity=(0.0, 0.0, 0.0))
    hull = tree.add_body(ROOT, np.eye(4), mass=1.0, inertia=[0.01] * 3)
    limbs = [
        tree.add_rod(
            hull,
            _pose((0.05 * side, 0.004 * side, 0.0), _tilted(-0.1 * side)),
            length=0.25,
            radius=(0.015, 0.008),
            density=1100.0,
            young_modulus=1e5,
            shear_modulus=3.3e4,
            viscosity=200.0,
            basis=constant_curvature(),
            points=8,
        )
        for side in (-1.0, 1.0)
    ]
    return tree.build(), tuple(limbs)


def test_limbs_push_each_other_with_opposite_forces():
    tree, limbs = _pair()
    scene = _Scene(tree, [limbs])
    scene.data.applied[6] = 0.003
    scene.data.applied[9] = -0.003
    seen = 0
    deepest = 0.0
    for _ in range(400):
        assert scene.step() == TREE_OK
        for c in scene.active():
            # the root's six rows are the moment and force on the whole robot
            assert np.abs(scene.found.row[c, :, :6]).max() < 1e-12
            deepest = max(deepest, scene.found.depth[c])
            seen += 1
    assert seen > 100
    assert 0.0 < deepest < 2e-3


def test_limbs_pass_through_each_other_without_contact():
    tree, limbs = _pair()
    gaps = []
    for pairs in ((), (limbs,)):
        scene = _Scene(tree, pairs)
        scene.data.applied[6] = 0.003
        scene.data.applied[9] = -0.003
        for _ in range(400):
            scene.step()
        last = tree.element_step_start[1:] - 1
        tips = scene.work.point_position[last[list(limbs)]]
        gaps.append(tips[1, 0] - tips[0, 0])
    assert gaps[0] < gaps[1] - 0.01


def test_rows_are_the_rate_of_the_gap():
    tree, limbs = _pair(root="fixed")
    scene = _Scene(tree, [limbs], [box_body((0.1, 0.04, 0.08), 1.0, **_STILL)])
    generator = np.random.default_rng(1)
    checked = 0
    for _ in range(30):
        rest = generator.normal(size=6) * [0.4, 0.2, 0.005, 0.4, 0.2, 0.005]
        rest += [0.8, 0.0, 0.0, -0.8, 0.0, 0.0]
        moved = _depths(scene, rest)
        for d in range(6):
            step = 1e-7
            other = _depths(scene, rest + step * np.eye(6)[d])
            for slot, (depth, row) in moved.items():
                if slot in other:
                    rate = (depth - other[slot][0]) / step
                    assert row[d] == pytest.approx(rate, abs=1e-4)
                    checked += 1
    assert checked > 100


def _depths(scene, coordinates):
    """Depth and normal row of every contact at some coordinates, at rest."""
    scene.data.position[:] = coordinates
    scene.data.velocity[:] = 0.0
    scene.data.status[0] = TREE_OK
    scene.body_data.pose[0] = _pose((0.0, 0.0, 0.2))
    scene.body_data.twist[:] = 0.0
    scene.step(1e-9)
    found = scene.found
    return {
        int(found.slot[c]): (found.depth[c], found.row[c, 0, :6].copy())
        for c in range(found.count[0])
        if found.depth[c] > -1e-3
    }


def _gripper():
    """A carriage that moves up and down with two fingers that slide towards each other.

    Its coordinates: height, then each finger's way along x.
    """
    tree = TreeBuilder(root="fixed", water_density=0.0)
    lift = tree.add_joint(ROOT, np.eye(4), component="q_z", name="lift")
    carriage = tree.add_body(lift, np.eye(4), mass=0.2)
    for side in (-1.0, 1.0):
        slide = tree.add_joint(
            carriage, _pose((0.07 * side, 0.0, 0.0)), component="q_x", damping=2.0
        )
        for y in (-0.02, 0.02):
            tree.add_body(slide, _pose((0.0, y, 0.0)), mass=0.005, radius=0.01)
    return tree.build()


def test_object_is_grasped_carried_and_dropped():
    mass = 0.3
    body = box_body((0.08, 0.08, 0.08), mass, **_STILL)
    scene = _Scene(
        _gripper(), (), [body], (0.0, 0.0, -9.81), [("plane", (0.0, 0.0, -0.04), [])]
    )
    weight = 9.81 * (0.2 + 4 * 0.005)

    def hold(squeeze, start, end, steps):
        """Squeeze; a controller leads the carriage from height to height."""
        for n in range(steps):
            goal = start + (end - start) * min(1.0, n / (0.8 * steps))
            height, rate = scene.data.position[0], scene.data.velocity[0]
            scene.data.applied[0] = weight + 3000.0 * (goal - height) - 60.0 * rate
            scene.data.applied[1:] = [squeeze, -squeeze]
            assert scene.step() == TREE_OK
            found = scene.found
            for c in range(found.count[0]):
                normal, *across = found.impulse[c]
                assert normal >= 0.0
                assert math.hypot(*across) <= 0.5 * normal * (1.0 + 1e-12)

    hold(8.0, 0.0, 0.0, 500)
    hold(8.0, 0.0, 0.2, 1500)
    held = scene.body_data.pose[0, 2, 3]
    assert held == pytest.approx(scene.data.position[0], abs=5e-3)
    # 8 N on each side hold 8 N by friction: the share 0.37 creeps at 0.4 mm/s
    share = mass * 9.81 / 8.0
    creep = 1e-3 * share / math.sqrt(1.0 - share**2)
    rate = (scene.body_data.pose[0, :3, :3] @ scene.body_data.twist[0, 3:])[2]
    assert rate == pytest.approx(scene.data.velocity[0] - creep, abs=1e-4)
    hold(0.5, 0.2, 0.2, 600)
    assert scene.body_data.pose[0, 2, 3] < 0.01  # dropped: it lies on the ground
    assert abs(scene.data.position[0] - 0.2) < 0.01


def test_limb_and_object_balance_their_momentum():
    tree = TreeBuilder(root="free", water_density=0.0, gravity=(0.0, 0.0, 0.0))
    tree.add_body(ROOT, np.eye(4), mass=0.5, inertia=[0.001] * 3, radius=0.05)
    scene = _Scene(tree.build(), (), [sphere_body(0.06, 0.8, **_STILL)])
    scene.body_data.pose[0, :3, 3] = [0.2, 0.03, 0.0]
    scene.data.velocity[3:] = [1.0, 0.1, 0.0]
    touched = 0
    first = np.array([0.5, 0.05, 0.0])
    for _ in range(300):
        assert scene.step() == TREE_OK
        for c in scene.active():
            row = scene.found.row[c]
            pose = scene.body_data.pose[0]
            normal = scene.found.normal[c]
            np.testing.assert_allclose(row[0, 3:6], normal, atol=0.02)
            force = scene.found.impulse[c] @ row
            touched += 1
            assert np.linalg.norm(force[3:6]) == pytest.approx(
                np.linalg.norm(force[9:12]), rel=1e-12
            )
            assert np.all(np.isfinite(pose))
    assert touched > 3
    tree_part = 0.5 * scene.data.root_pose[:3, :3] @ scene.data.velocity[3:]
    pose = scene.body_data.pose[0]
    total = tree_part + 0.8 * pose[:3, :3] @ scene.body_data.twist[0, 3:]
    np.testing.assert_allclose(total, first, atol=1e-3)


def test_wrong_pairs_are_refused():
    with pytest.raises(ValueError, match="touch itself"):
        build_limb_contacts([(2, 2)])
    with pytest.raises(ValueError, match="has 4 elements"):
        build_limb_contacts([(1, 5)], elements=4)
