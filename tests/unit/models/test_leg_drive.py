"""Drives of leg joints: the law, its limits, its implicit step, and its energy.

Tolerances: 1e-12 where an equation is evaluated; 1e-9 where a motion has settled, 1e-6
where it decays; 1 % of a frequency, to the first order of a step of 0.1 ms.
"""

import math

import numpy as np
import pytest

from models.leg_drive import (
    add_leg_drives,
    allocate_leg_drive_data,
    build_leg_drives,
    move_motors,
    read_leg_torques,
)
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder
from models.tree_motion import tree_motion
from models.tree_step import TREE_OK, finish_step

INERTIA = 0.02
WIDE = (-10.0, 10.0)


class Joint:
    """One joint with an inertia about it, in a vacuum without weight."""

    def __init__(self, period=1e-3, angle=0.0, **drive):
        builder = TreeBuilder(gravity=(0.0, 0.0, 0.0), water_density=0.0)
        joint = builder.add_joint(ROOT, np.eye(4))
        builder.add_body(joint, np.eye(4), mass=1.0, inertia=[INERTIA] * 3)
        self.tree = builder.build()
        law = {
            "stiffness": 20.0,
            "damping": 0.0,
            "torque_limit": np.inf,
            "rate_limit": np.inf,
            "joint_range": WIDE,
        }
        self.drives = build_leg_drives([0], **(law | drive))
        self.state = allocate_leg_drive_data(self.drives, angle)
        self.data, self.work = (
            allocate_tree_data(self.tree),
            allocate_tree_work(self.tree),
        )
        self.data.position[0] = angle
        self.period = period

    def step(self, load=0.0):
        self.data.applied[0] = load
        move_motors(self.drives, self.period, self.state)
        tree_motion(self.tree, self.period, self.data, self.work)
        add_leg_drives(self.drives, self.period, self.data, self.state, self.work)
        assert finish_step(self.tree, self.period, self.data, self.work) == TREE_OK
        read_leg_torques(self.drives, self.work, self.state)

    def energy(self):
        """Kinetic, and of the clipped spring with the motor at rest."""
        spring, most = self.drives.stiffness[0], self.drives.torque_limit[0]
        stretch = abs(self.data.position[0] - self.state.motor[0])
        limit = most / spring
        stored = 0.5 * spring * min(stretch, limit) ** 2
        stored += most * (stretch - limit) if stretch > limit else 0.0
        return 0.5 * INERTIA * self.data.velocity[0] ** 2 + stored


def test_the_plain_torque_is_the_law():
    generator = np.random.default_rng(1)
    for _ in range(300):
        k, d, most = generator.uniform([1.0, 0.0, 0.5], [50.0, 5.0, 5.0])
        low, high = -0.5, 0.7
        joint = Joint(
            stiffness=k, damping=d, torque_limit=most, joint_range=(low, high),
            stop_stiffness=40.0,
        )  # fmt: skip
        q, v, motor = generator.normal(size=3)
        joint.data.position[0], joint.data.velocity[0] = q, v
        joint.state.motor[0] = motor
        tree_motion(joint.tree, 0.0, joint.data, joint.work)
        add_leg_drives(joint.drives, 0.0, joint.data, joint.state, joint.work)
        torque = np.clip(k * (motor - q) - d * v, -most, most)
        stop = -40.0 * (max(q - high, 0.0) + min(q - low, 0.0))
        assert joint.state.torque[0] == pytest.approx(torque, rel=1e-12)
        assert joint.work.load[0] == pytest.approx(torque + stop, rel=1e-12)
        assert joint.work.matrix[0, 0] == pytest.approx(INERTIA, rel=1e-12)


def test_the_torque_read_is_that_of_the_end_of_the_step():
    joint = Joint(stiffness=30.0, damping=1.5, angle=0.2)
    joint.state.command[0] = 0.5
    for _ in range(50):
        joint.step(load=0.3)
        end = 30.0 * (joint.state.motor[0] - joint.data.position[0])
        end -= 1.5 * joint.data.velocity[0]
        assert joint.state.torque[0] == pytest.approx(end, rel=1e-9)
        gained = INERTIA * joint.work.change[0] / joint.period
        assert gained == pytest.approx(end + 0.3, rel=1e-9)


@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e8])
@pytest.mark.parametrize("damping", [1.0, 30.0])
def test_any_stiffness_and_damping_is_stable_and_holds_its_load(stiffness, damping):
    joint = Joint(stiffness=stiffness, damping=damping)
    joint.data.velocity[0] = 3.0
    for _ in range(5_000):
        joint.step(load=0.7)
    assert joint.data.position[0] == pytest.approx(0.7 / stiffness, rel=1e-6)
    assert joint.state.torque[0] == pytest.approx(-0.7, rel=1e-6)


def test_the_motor_keeps_its_rate_its_range_and_out_nonsense():
    joint = Joint(rate_limit=2.0, joint_range=(-0.3, 0.4))
    joint.state.command[0] = 5.0
    way = []
    for _ in range(300):
        move_motors(joint.drives, 1e-3, joint.state)
        way.append(joint.state.motor[0])
    assert np.diff(way).max() == pytest.approx(2e-3, rel=1e-9)
    assert way[99] == pytest.approx(0.2, rel=1e-9)
    assert way[-1] == 0.4
    for wrong in (math.nan, math.inf, -math.inf):
        joint.state.command[0] = wrong
        move_motors(joint.drives, 1e-3, joint.state)
        assert joint.state.motor[0] == 0.4


def test_a_load_above_the_stall_torque_drives_the_joint_and_below_it_returns():
    joint = Joint(stiffness=30.0, damping=0.5, torque_limit=3.8)
    for _ in range(3000):
        joint.step(load=3.7)
    assert joint.data.position[0] == pytest.approx(3.7 / 30.0, rel=1e-6)
    for _ in range(200):  # once at the limit, the surplus alone accelerates it
        joint.step(load=4.8)
    before = joint.data.velocity[0]
    for _ in range(100):
        joint.step(load=4.8)
        assert joint.state.torque[0] == -3.8
    assert joint.data.velocity[0] - before == pytest.approx(0.1 / INERTIA, rel=1e-9)
    for _ in range(5_000):
        joint.step(load=0.0)
    assert abs(joint.data.position[0]) < 1e-9


def test_the_spring_behind_the_motor_swings_at_its_frequency():
    joint = Joint(period=1e-4, angle=0.1, stiffness=30.0)
    joint.state.motor[0] = joint.state.command[0] = 0.0
    angle = []
    for _ in range(5_000):
        joint.step()
        angle.append(joint.data.position[0])
    falls = np.flatnonzero((np.array(angle[:-1]) > 0.0) & (np.array(angle[1:]) <= 0.0))
    found = 1.0 / (np.diff(falls).mean() * 1e-4)
    assert found == pytest.approx(math.sqrt(30.0 / INERTIA) / (2.0 * math.pi), rel=0.01)


def test_energy_never_rises_while_the_motor_stands():
    generator = np.random.default_rng(4)
    for _ in range(60):
        joint = Joint(
            stiffness=10.0 ** generator.uniform(0.0, 4.0),
            damping=generator.choice([0.0, 0.1, 5.0]),
            torque_limit=generator.uniform(0.5, 5.0),
        )
        joint.data.position[0], joint.data.velocity[0] = generator.normal(size=2)
        energy = joint.energy()
        for _ in range(200):
            clipped = joint.state.slope[0] == 0.0
            joint.step()
            now = joint.energy()
            # a step that begins below the limit and ends beyond it is the exception
            ends = abs(joint.state.torque[0]) <= joint.drives.torque_limit[0]
            if ends or clipped:
                assert now <= energy * (1.0 + 1e-9) + 1e-15
            energy = now


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stiffness": -1.0}, "stiffness"),
        ({"damping": math.nan}, "damping"),
        ({"torque_limit": -3.8}, "torque_limit"),
        ({"rate_limit": math.nan}, "rate_limit"),
        ({"joint_range": (1.0, -1.0)}, "least angle first"),
        ({"stiffness": math.inf}, "finite"),
    ],
)
def test_wrong_drives_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Joint(**wrong)
