"""Limbs among obstacles: as stiff as stated, and no energy comes from nowhere.

Laws at the end of a step are met to 1e-6 N, the solver's own measure; the place of a
tip then is known to first order of the period, 1e-3 of a depth.
"""

import numpy as np
import pytest

from models.contact_law import ContactLaw, contact_force
from models.free_body import sphere_body
from models.numerics import FloatArray
from models.robot import allocate_robot_data
from models.rod import allocate_rod_work, reset_robot_data, robot_step
from tests.unit.models.touching import (
    PALPATION,
    PERIOD,
    URSULA,
    Touching,
    facing,
    tip_at_rest,
)

TIP = tip_at_rest()
HALF = 0.015  # of a block [m]
RADIUS = float(URSULA.segment_radius[3, 1])


def wall(
    depth: float, normal: FloatArray | None = None
) -> tuple[str, FloatArray, list[float]]:
    """A block before the palpation arm's resting tip, which is `depth` inside [m]."""
    out = -TIP[:3, 2] if normal is None else normal / np.linalg.norm(normal)
    pose = facing(TIP[:3, 3] - (RADIUS - depth + HALF) * out, out)
    return "box", pose, [HALF, HALF, HALF]


def meets_its_law(case: Touching) -> float:
    """Greatest deviation of an impulse from the law at the step's end, over 1 N."""
    found = case.state.found
    worst = 0.0
    for c in range(int(found.count[0])):
        speed = found.row[c, :, : case.data.tree.velocity.size] @ (
            case.data.tree.velocity
        )
        normal, _, _ = contact_force(
            found.law[c], found.depth[c] - PERIOD * speed[0], *speed.tolist()
        )
        worst = max(worst, abs(found.impulse[c, 0] / PERIOD - normal))
    return worst


def test_without_anything_near_the_step_is_that_of_the_free_robot() -> None:
    far = facing(np.array([0.0, 0.0, -3.0]), np.array([0.0, 0.0, 1.0]))
    case = Touching([("plane", far, [])])
    data, work = allocate_robot_data(URSULA), allocate_rod_work(URSULA)
    reset_robot_data(URSULA, URSULA.rest_coordinates, work, data)
    start = case.winch.copy()
    generator = np.random.default_rng(4)
    for _ in range(10):
        case.winch[:] = start + 0.004 * generator.standard_normal(start.size)
        case.step(40)
        for _ in range(40):
            robot_step(URSULA, PERIOD, case.winch, data, work)
        assert np.array_equal(case.data.coordinates, data.coordinates)
        assert np.array_equal(case.data.tension, data.tension)
    assert case.state.found.count[0] == 0


@pytest.mark.parametrize("stiffness", [100.0, 150.0, 300.0, 2000.0])
def test_a_wall_is_as_stiff_as_it_says(stiffness: float) -> None:
    law = ContactLaw(stiffness=stiffness, dissipation=0.0, friction=0.3)
    case = Touching([wall(0.006)], law)
    case.step(4000)
    pose = case.world.contacts.obstacle.pose[0]
    force = case.state.tip_force[PALPATION] @ pose[:3, 2]
    case.step()  # the tip as this step began, and so as that force is told for
    depth = RADIUS + HALF - (case.tip()[:3, 3] - pose[:3, 3]) @ pose[:3, 2]
    assert force > 0.1
    assert force == pytest.approx(stiffness * depth, rel=1e-3)
    assert case.state.contact_wrench[PALPATION, 3:] == pytest.approx(
        case.state.tip_force[PALPATION]
    )
    assert not case.state.contact_wrench[[0, 2, 3]].any()


@pytest.mark.parametrize("stiffness", [2e3, 2e5])
@pytest.mark.parametrize("friction", [0.0, 0.8])
def test_a_limb_thrown_at_a_wall_gains_no_energy(
    stiffness: float, friction: float
) -> None:
    law = ContactLaw(stiffness=stiffness, dissipation=0.0, friction=friction)
    case = Touching([wall(-0.004, np.array([0.3, 0.2, 1.0]))], law)
    case.step()
    case.data.rates[2, 0] = -2.5
    case.data.rates[3, 0] = -2.5
    before = case.energy()
    touched = 0.0
    for _ in range(400):
        assert case.step() == 0
        # Coriolis forces are explicit: first order in the period
        assert case.energy() < before + 2e-5
        before = min(before, case.energy() + 1e-4)
        found = case.state.found
        impulse = found.impulse[: found.count[0]]
        touched = max(touched, float(impulse[:, 0].max(initial=0.0)) / PERIOD)
        assert np.all(impulse[:, 0] >= 0.0)
        slip = np.hypot(impulse[:, 1], impulse[:, 2])
        assert np.all(slip <= friction * impulse[:, 0] * (1.0 + 1e-9) + 1e-15)
    assert touched > 1.0
    assert case.state.found.count[4] == 0


def test_cables_that_go_slack_in_contact_and_the_contact_agree() -> None:
    law = ContactLaw(stiffness=2000.0, dissipation=1.0, friction=0.5)
    case = Touching([wall(0.001, np.array([-1.0, 0.0, 0.4]))], law)
    first, last = URSULA.limb_tendon_start[PALPATION : PALPATION + 2]
    case.step(200)
    states = set()
    for shift in (0.01, -0.03, 0.02, -0.02):
        case.winch[first:last] = case.data.servo_length[first:last]
        case.winch[first:last] += shift * np.cos(URSULA.tendon_angle[first:last])
        for _ in range(150):
            assert case.step() == 0
            assert meets_its_law(case) < 1e-6
            states |= {tuple((case.data.tension[first:last] <= 0.0).tolist())}
    assert len(states) > 4


def test_a_blow_that_tautens_and_slackens_cables_still_meets_its_law() -> None:
    law = ContactLaw(stiffness=2e5, dissipation=0.5, friction=0.4)
    case = Touching([wall(-0.003, np.array([0.3, 0.2, 1.0]))], law)
    first, last = URSULA.limb_tendon_start[PALPATION : PALPATION + 2]
    case.step(20)
    case.data.rates[2:4, 0] = -3.0
    hit = 0.0
    for _ in range(300):
        # winches that give just what the limb takes: every cable is at its edge
        case.winch[first:last] = case.data.servo_length[first:last]
        assert case.step() == 0
        hit = max(hit, float(np.linalg.norm(case.state.tip_force[PALPATION])))
        # with impulses and cables solved once, not in turns, 20 N are missing
        assert meets_its_law(case) < 1e-4
    assert hit > 30.0


def test_a_body_that_lies_against_the_middle_of_a_limb_bears_it() -> None:
    rest = Touching()
    rest.step()
    element = int(URSULA.limb_segment_start[PALPATION])
    point = int(URSULA.tree.element_step_start[element]) + 3
    at = rest.work.tree.point_position[point].copy()
    below = -rest.work.tree.point_rotation[point][:, 0]
    place = at + (0.03 + URSULA.tree.point_radius[point] - 0.004) * below
    pose = np.eye(4)
    pose[:3, 3] = place
    case = Touching([("sphere", pose, [0.03])], ContactLaw(500.0))
    case.step(1500)
    force = case.state.contact_wrench[PALPATION, 3:]
    assert force @ -below > 0.05
    assert not case.state.tip_force.any()
    lever = np.cross(place, force)
    assert case.state.contact_wrench[PALPATION, :3] == pytest.approx(lever, abs=2e-3)


def test_what_a_limb_gives_an_object_the_object_gives_back() -> None:
    ball = sphere_body(
        0.03, 0.2, displaced_mass=0.2, drag_quadratic=(0.0,) * 6, law=ContactLaw(3e3)
    )
    away = TIP[:3, 2]
    place = TIP[:3, 3] + (RADIUS + 0.03 + 1e-4) * away
    case = Touching((), None, [ball], [place.tolist()])
    case.step()
    case.data.rates[3, 0] = 1.5
    case.state.bodies.twist[0, 3:] = -0.2 * away
    bodies = case.state.bodies
    mass = case.world.bodies.inertia[0, 3]
    hit = False
    for _ in range(60):
        before = bodies.pose[0, :3, :3] @ bodies.twist[0, 3:]
        case.step()
        given = mass * (bodies.pose[0, :3, :3] @ bodies.twist[0, 3:] - before)
        force = case.state.contact_wrench[PALPATION, 3:]
        assert given == pytest.approx(-PERIOD * force, abs=1e-12)
        hit = hit or bool(np.linalg.norm(force) > 0.5)
    assert hit


def test_a_limb_that_is_not_finite_is_frozen_and_the_world_goes_on() -> None:
    ball = sphere_body(0.03, 0.15)
    case = Touching([wall(0.002)], ContactLaw(500.0), [ball], [(0.0, 0.0, -0.5)])
    case.step(5)
    case.data.rates[0, 0] = np.nan
    assert case.step() == 1
    assert case.step(20) == 1
    assert np.all(np.isfinite(case.data.coordinates))
    assert np.all(np.isfinite(case.state.bodies.pose))
    assert np.linalg.norm(case.state.tip_force[PALPATION]) > 0.01


def test_more_contacts_than_there_is_room_for_are_counted() -> None:
    case = Touching([wall(0.002)], ContactLaw(500.0))
    many = [wall(0.001 + 1e-5 * k) for k in range(120)]
    crowded = Touching(many, ContactLaw(5.0))
    assert case.step(3) == crowded.step(3) == 0
    assert case.state.found.count[2] == 0
    assert crowded.state.found.count[2] > 0
