"""Goals at the robot: motion, force, pre-emption, numbers; no link in between."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.robot.approach import Approach
from app.robot.body import Applied
from app.robot.goal_motion import TipMotion
from app.robot.goal_run import GoalRun
from app.robot.plant import Plant, PlantMismatch
from app.robot.safety import Actuation
from app.teleop.goals import GREATEST_SPEED, Goal, GoalKind, GoalReason, GoalState
from models.tip import tip_position

MODEL = build_robot_model(load_robot("ursula"))
LIMB, ROWS = 1, slice(2, 4)
BENT = MODEL.rest_coordinates * 2.3  # of the arm: 1 rad, from where it can press 2 N
BENT[ROWS, 2] = -0.006


def tip_of(rows):
    tip = np.zeros(3)
    tip_position(MODEL, LIMB, np.ascontiguousarray(rows), np.zeros((3, 4, 4)), tip)
    return tip


class Arm:
    """The arm's command alone: it is where it is told to be, and feels what is told."""

    def __init__(self, pose=MODEL.rest_coordinates):
        self.run = GoalRun(MODEL)
        self.run.senses = True
        self.pose = pose.copy()
        self.contact = np.zeros((4, 3))
        self.tips = []

    def take(self, number=1, kind=GoalKind.REACH, offset=(0.0, 0.0, 0.0), **changes):
        goal = Goal(number, kind, LIMB, tuple(self.tip + np.array(offset)), **changes)
        return self.run.take(goal, self.pose)

    @property
    def tip(self):
        return tip_of(self.pose[ROWS])

    def step(self, count=1):
        for _ in range(count):
            rows = self.run.step(1e-3, self.pose, self.contact)
            if rows is not None:
                self.pose[ROWS] = rows
            self.tips.append(self.tip)

    def speeds(self):
        return np.linalg.norm(np.diff(self.tips, axis=0), axis=1) / 1e-3


class Pressing(Arm):
    """The arm in the plant, before a surface of Kelvin and Voigt."""

    def __init__(self, normal, stiffness, gap=0.01):
        super().__init__(BENT)
        self.plant = Plant(MODEL, PlantMismatch(), 0, BENT)
        self.approach = Approach(MODEL)
        self.approach.follow(BENT)
        self.approach.forget(0)
        self.now_ns = 0
        self.normal, self.stiffness = np.array(normal), stiffness
        self.wall, self.last = None, None
        self.felt = []
        self.step(1500)
        self.wall = float(self.where @ self.normal) + gap

    @property
    def where(self):
        return tip_of(self.plant.coordinates[ROWS])

    def step(self, count=1):
        for _ in range(count):
            self.now_ns += 1_000_000
            measured, _ = self.plant.measure()
            rows = self.run.step(1e-3, measured, self.contact)
            if rows is not None:
                self.approach.set_out(self.now_ns, [2, 3], 0, 2, rows, None)
            self.approach.advance(self.now_ns, 1e-3)
            self.pose = self.approach.applied
            force = 0.0
            if self.wall is not None:
                deep = float(self.where @ self.normal) - self.wall
                speed = 0.0 if self.last is None else (deep - self.last) / 1e-3
                self.last = deep
                if deep > 0.0:
                    force = max(0.0, self.stiffness * deep + 2.0 * speed)
            self.contact[LIMB] = force * self.normal
            self.plant.push(LIMB, np.zeros(3), -force * self.normal)
            self.plant.step(Applied(self.pose, Actuation.STIFF))
            self.felt.append(force)


def test_reach_goes_straight_at_minimum_jerk_and_arrives():
    arm = Arm()
    start, way = arm.tip, np.array([-0.03, 0.04, 0.04])
    assert arm.take(offset=way, tolerance=1e-3, speed=0.04)
    assert arm.run.status.state is GoalState.ACCEPTED
    while arm.run.running:
        arm.step()
    assert arm.run.status.state is GoalState.DONE
    assert np.linalg.norm(arm.tip - start - way) < 1e-3
    assert arm.speeds().max() == pytest.approx(0.04, rel=0.02)
    along = (np.array(arm.tips) - start) @ way / (way @ way)
    off = np.array(arm.tips) - start - np.outer(along, way)
    assert np.linalg.norm(off, axis=1).max() < 1e-3
    acceleration = np.abs(np.diff(arm.speeds())) / 1e-3
    assert acceleration.max() < 0.2  # m/s2; 5.77 d/T2 is the law's greatest: 0.043


def test_follow_passes_its_points_no_faster_than_it_may():
    arm = Arm()
    start = arm.tip
    points = tuple(
        tuple(start + np.array(offset))
        for offset in ((-0.02, 0.02, 0.0), (-0.03, 0.0, 0.03))
    )
    arm.take(kind=GoalKind.FOLLOW, offset=(-0.01, -0.01, 0.02), points=points)
    while arm.run.running:
        arm.step()
    assert arm.run.status.state is GoalState.DONE
    tips = np.array(arm.tips)
    for point in points:
        assert np.linalg.norm(tips - point, axis=1).min() < 1e-3
    assert arm.speeds().max() <= GREATEST_SPEED * 1.02


def test_a_new_goal_takes_over_without_a_jolt_and_a_stop_comes_to_rest():
    arm = Arm()
    arm.take(1, offset=(-0.05, 0.08, 0.05))
    arm.step(900)
    fast = arm.speeds()[-1]
    assert fast > 0.02
    arm.take(2, offset=(-0.04, -0.04, 0.0))
    arm.step(600)
    arm.take(3, GoalKind.STOP)
    arm.step(400)
    assert arm.run.awaits(LIMB)
    assert arm.run.status.state is GoalState.RUNNING
    arm.run.give_back()
    assert arm.run.status.state is GoalState.DONE
    assert arm.speeds().max() <= GREATEST_SPEED * 1.02
    assert np.abs(np.diff(arm.speeds())).max() < 1.5e-3  # 1.5 m/s2 at 1 kHz
    held = arm.tip
    arm.step(200)
    assert np.array_equal(arm.tip, held)
    assert not arm.run.holds(LIMB)


def test_numbers_repeated_or_older_change_nothing():
    arm = Arm()
    assert arm.take(5, offset=(0.0, 0.02, 0.02))
    arm.step(100)
    before = arm.run.status
    for number in (5, 4, 3, 200):
        assert not arm.take(number, offset=(-0.1, 0.0, 0.0))
    assert arm.run.status == before
    while arm.run.running:
        arm.step()
    held = arm.tip
    assert not arm.take(5, offset=(-0.1, 0.0, 0.0))
    arm.step(100)
    assert np.array_equal(arm.tip, held), "done is done"
    assert arm.take(6)
    assert arm.take(133)
    assert arm.take(254)
    assert arm.take(1), "after 255 comes 1"
    assert not arm.take(254)


def test_another_limb_keeps_waiting_for_its_stop():
    arm = Arm()
    arm.take(1, offset=(0.0, 0.02, 0.02))
    arm.step(10)
    tip = tuple(arm.tip)
    assert arm.run.take(Goal(2, GoalKind.REACH, 0, tip), arm.pose)
    assert arm.run.holds(LIMB)
    assert arm.run.holds(0)
    arm.run.take(Goal(3, GoalKind.STOP, LIMB), arm.pose)
    arm.step(500)
    arm.run.give_back()
    assert not arm.run.holds(LIMB)
    assert arm.run.holds(0)
    arm.run.forget()
    assert not arm.run.holds(0)
    assert not arm.run.take(Goal(4, GoalKind.REACH, 7, tip), arm.pose)


def test_too_much_force_stops_it_where_it_is():
    arm = Arm()
    arm.take(offset=(-0.03, 0.04, 0.04), force=2.0)
    arm.step(500)
    arm.contact[LIMB] = (0.0, 2.1, 0.0)
    held = arm.tip
    arm.step(50)
    assert np.array_equal(arm.tip, held)
    assert arm.run.status.reason is GoalReason.OVER_FORCE
    arm.take(2, offset=(0.0, -0.02, -0.02), force=2.0)
    arm.contact[LIMB] *= 0.9
    arm.step(200)
    assert arm.run.running, "what is pressed can be taken back"


def test_out_of_reach_is_told():
    arm = Arm()
    arm.take(offset=(0.1, 0.0, 0.0))
    arm.step(13_000)
    assert arm.run.status.reason is GoalReason.OUT_OF_REACH


def test_it_ends_with_the_arming():
    arm = Arm()
    arm.take(offset=(-0.03, 0.04, 0.04))
    arm.step(300)
    arm.run.end(GoalReason.LINK_LOST)
    held = arm.tip
    arm.step(100)
    assert np.array_equal(arm.tip, held)
    assert arm.run.status.reason is GoalReason.LINK_LOST
    arm.run.end(GoalReason.DISARMED)
    assert arm.run.status.reason is GoalReason.LINK_LOST, "it had ended before"


def test_a_press_holds_its_force_within_a_tenth():
    arm = Pressing((0.0, 0.0, -1.0), 2000.0)
    arm.take(
        1, GoalKind.PRESS, normal=(0.0, 0.0, -1.0), force=2.0, time=3.0, speed=0.02
    )
    for _ in range(300):
        arm.step(100)
        if not arm.run.running:
            break
    assert arm.run.status.state is GoalState.DONE
    assert np.abs(np.array(arm.felt[-3000:]) - 2.0).max() < 0.2 + 0.1
    assert np.abs(np.mean(arm.felt[-3000:]) - 2.0) < 0.2
    assert max(arm.felt) < 2.6
    assert arm.run.status.progress == 1.0
    arm.step(1000)
    assert arm.felt[-1] == pytest.approx(2.0, abs=0.25), "it goes on holding"


def test_a_press_into_nothing_or_without_a_sense_fails():
    arm = Arm()
    arm.take(kind=GoalKind.PRESS, normal=(0.0, 0.0, -1.0), force=1.0)
    arm.step(9000)
    assert arm.run.status.reason is GoalReason.NO_CONTACT
    arm.run.senses = False
    arm.take(2, kind=GoalKind.PRESS, normal=(0.0, 0.0, -1.0), force=1.0)
    assert arm.run.status.reason is GoalReason.NO_SENSE


def test_motion_begins_with_its_velocity_and_ends_at_rest():
    velocity = np.array([0.03, -0.02, 0.0])
    motion = TipMotion(np.zeros(3), velocity, [(0.0, 0.05, 0.05)], 0.05, 0.05)
    before = np.zeros(3)
    steps = []
    while not motion.arrived:
        position = motion.step(1e-3)
        steps.append((position - before) / 1e-3)
        before = position
    assert steps[0] == pytest.approx(velocity, abs=5e-4)
    assert np.abs(np.diff(steps, axis=0)).max() < 1e-3
    assert before == pytest.approx([0.0, 0.05, 0.05], abs=1e-12)
