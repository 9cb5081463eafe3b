"""The snake as `limblink simulate` builds it: its limit and its balances.

Tolerances: identities to rounding of their sums (1e-9 relative), central differences
over 2e-4 s to 2e-6, reference integration to 1e-7.
"""

import numpy as np
import pytest

from app.config.case import BaseCase, PhysicsCase, WaterCase, load_case
from app.config.tree import build_tree
from app.study.simulation_drives import ChamberLoad, PropellerLoad
from app.study.simulation_run import Simulator
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder
from models.tree_motion import tree_motion
from models.tree_step import tree_step
from tests.unit.models.snakes import PART, SNAKE, WHOLE, Snake, place, simulate

_RADIUS, _WATER = 0.045, 1000.0
_STILL = WaterCase(gravity_m_s2=0.0)
_MUNK = PhysicsCase(munk_moment=True)


def changed(robot=SNAKE, hydrodynamics=None, **snake):
    """The snake with other values in its [snake] and [hydrodynamics]."""
    robot = robot.model_copy(update={"snake": robot.snake.model_copy(update=snake)})
    if hydrodynamics is not None:
        fluid = robot.hydrodynamics.model_copy(update=hydrodynamics)
        robot = robot.model_copy(update={"hydrodynamics": fluid})
    return robot


def bare(**snake):
    """A snake of bare cylinders of one density, all alike, without drag."""
    mass = _WATER * np.pi * _RADIUS**2 * PART
    still = {
        "module_mass_kg": mass,
        "module_volume_l": 1e3 * mass / _WATER,
        "added_mass_surge": 0.0,
        "drag": 0.0,
    }
    return changed(
        hydrodynamics={"drag_normal": 0.0, "drag_tangent": 0.0}, **{**still, **snake}
    )


# limit of a straight body


def one_cylinder():
    """A rigid cylinder as long as the bare snake, of its density."""
    builder = TreeBuilder(root="free", gravity=(0.0, 0.0, 0.0), water_density=_WATER)
    mass = _WATER * np.pi * _RADIUS**2 * WHOLE
    turn = np.array([[0, 0, 1.0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    builder.add_cylinder(
        ROOT, turn, length=WHOLE, radius=_RADIUS, mass=mass, displaced_mass=mass,
        added_mass=1.0, points=6,
    )  # fmt: skip
    return builder.build()


def side_thrust(case):
    """The two propellers on port, at x = 0.1 and 0.9 m, 76 mm aside; their wrench."""
    thrust = case.propellers[0]
    pair = tuple(thrust.model_copy(update={"propeller": k}) for k in (1, 4))
    force = np.array([1.0, 0.0, 0.0])
    wrench = np.concatenate([2.0 * np.cross([0.0, 0.076, 0.0], force), 2.0 * force])
    return pair, wrench


def straight_case(**changes):
    changes = {"water": _STILL, "physics": _MUNK, **changes}
    return load_case("snake-straight").model_copy(update=changes)


def test_straight_snake_is_one_rigid_cylinder() -> None:
    """Joints held: matrix, Coriolis and thrust are a cylinder's, to rounding."""
    pair, wrench = side_thrust(load_case("snake-straight"))
    snake = Snake(straight_case(propellers=pair), bare())
    model = one_cylinder()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    for seed in range(5):
        twist = np.random.default_rng(seed).normal(0.0, 1.0, 6)
        snake.data.velocity[:6] = data.velocity[:6] = twist
        snake.set_up()
        data.applied[:6] = wrench
        tree_motion(model, 0.0, data, work)
        assert np.tril(snake.work.matrix[:6, :6]) == pytest.approx(
            np.tril(work.matrix[:6, :6]), abs=1e-12
        )
        assert snake.work.load[:6] == pytest.approx(work.load[:6], abs=1e-11)
        own = np.tril(work.matrix[:6, :6])
        rates = np.linalg.solve(own + np.tril(own, -1).T, work.load[:6])
        held = np.tril(snake.work.matrix[:6, :6])
        found = np.linalg.solve(held + np.tril(held, -1).T, snake.work.load[:6])
        assert found == pytest.approx(rates, rel=1e-10, abs=1e-10)


def test_stiff_snake_moves_as_one_cylinder_of_first_order_in_its_compliance() -> None:
    pair, wrench = side_thrust(load_case("snake-straight"))
    twist = np.array([0.4, 0.3, -0.5, 0.3, 0.1, -0.1])
    model = one_cylinder()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.velocity[:6] = twist
    data.applied[:6] = wrench
    period, steps = 1e-3, 1000
    for _ in range(steps):
        assert tree_step(model, period, data, work) == 0
    poses = []
    for factor in (3e1, 3e2, 3e3):
        yeoh = tuple(factor * value for value in SNAKE.snake.yeoh_j_m3)
        robot = bare(yeoh_j_m3=yeoh, viscous_consistency=300.0 * factor)
        snake = Snake(straight_case(propellers=pair), robot)
        snake.data.velocity[:6] = twist
        for n in range(steps):
            snake.step(n * period, period)
        poses.append(snake.data.root_pose)
    errors = [np.abs(pose - data.root_pose).max() for pose in poses]
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.02)
    rigid = poses[2] + (poses[2] - poses[1]) / 9.0
    assert np.abs(rigid - data.root_pose).max() < 1e-5


def test_terminal_speed_is_where_drag_along_takes_the_thrust() -> None:
    """D_L v + D_NL v² = Σ T by eq. 32 and strips; two of four propellers are slower."""
    linear = 3.0 * _WATER * np.pi * _RADIUS * PART * 0.1 * 0.2
    strips = 3.0 * _WATER * _RADIUS * PART * 0.2
    strips += 2.0 * _WATER * _RADIUS * PART * 0.5 * np.pi * 0.01
    speeds = []
    for count in (4, 2):
        some = load_case("snake-straight").propellers[:count]
        last = simulate("snake-straight", 20.0, every=20.0, propellers=some)[-1]
        wanted = np.sqrt(linear**2 + 4.0 * strips * count) - linear
        speeds.append(np.linalg.norm(last.root_twist[3:]))
        assert speeds[-1] == pytest.approx(wanted / (2.0 * strips), rel=1e-4)
    assert 0.5 < speeds[1] / speeds[0] < np.sqrt(0.5)


# balances


def test_pressures_and_walls_do_not_push_the_snake() -> None:
    """No water: their generalised forces have no part in the root's rows."""
    case = load_case("snake-spiral").model_copy(update={"propellers": ()})
    snake = Snake(case)
    (chambers,) = [load for load in snake.loads if isinstance(load, ChamberLoad)]
    random = np.random.default_rng(1)
    snake.data.position[6:] = random.normal(0.0, [0.5, 0.5, 0.02] * 2)
    snake.data.velocity[:] = random.normal(0.0, 0.3, 12)
    tree_motion(snake.model, 0.0, snake.data, snake.work)
    before = snake.work.load.copy()
    chambers.set_inputs(2.0, snake.data)
    chambers.add(0.0, snake.data, snake.work)
    assert np.array_equal(snake.work.load[:6], before[:6])
    assert np.abs(snake.work.load[6:] - before[6:]).max() > 1.0


def free_snake():
    """Pressures bend a snake that turns in a vacuum."""
    return load_case("snake-spiral").model_copy(
        update={
            "propellers": (),
            "water": WaterCase(density_kg_m3=0.0, gravity_m_s2=0.0),
            "base": BaseCase(
                motion="floating",
                velocity_mm_s=(100.0, -50.0, 30.0),
                turn_deg_s=(20.0, -30.0, 40.0),
            ),
        }
    )


def momenta(samples, case):
    snake = Snake(case)
    return np.array([place(snake, sample).momentum() for sample in samples])


def test_a_free_snake_keeps_its_momentum_while_pressures_bend_it() -> None:
    case = free_snake()
    case = case.model_copy(
        update={
            "integrator": case.integrator.model_copy(
                update={"reference_tolerance": 1e-9}
            )
        }
    )
    simulator = Simulator(SNAKE, build_tree(SNAKE, case), case, 1e-3)
    samples = list(simulator.run_reference(1.5, 0.25))
    assert np.abs(samples[-1].position[6:]).max() > 0.1
    kept = momenta(samples, case)
    assert np.abs(kept - kept[0]).max() < 1e-7 * np.abs(kept[0]).max()


def test_steps_of_the_product_keep_momentum_of_first_order() -> None:
    case = free_snake()
    drift = []
    for period in (1e-3, 5e-4):
        simulator = Simulator(SNAKE, build_tree(SNAKE, case), case, period)
        kept = momenta(list(simulator.run(1.5, 0.25)), case)
        drift.append(np.abs(kept - kept[0]).max() / np.abs(kept[0]).max())
    assert drift[0] < 2e-3
    assert drift[0] / drift[1] == pytest.approx(2.0, rel=0.1)


def drag_power(snake):
    """Power that the water takes, from the velocities of points: eqs 11 and 32 [W]."""
    model, work = snake.model, snake.work
    power = 0.0
    for s in range(model.step_length.size):
        axes, twist = work.point_rotation[s], work.point_twist[s]
        v = axes.T @ (twist[3:] + np.cross(twist[:3], work.point_position[s]))
        w = axes.T @ twist[:3]
        power += model.point_drag[s] @ v**2 * np.linalg.norm(v)
        power += model.point_drag_linear[s] @ v**2
        power += model.point_drag_turn_linear[s] @ w**2
        assert not model.point_drag_turn[s].any()
    return power


def attack_points(snake):
    """(K, 3) attack points of the case's propellers in the world, and their ways."""
    model, places, ways = snake.model, [], []
    for item in load_case("snake-yaw").propellers:
        own = SNAKE.snake.propellers[item.propeller - 1]
        at, way = 1e-3 * np.array(own.position_mm), np.array(own.direction)
        tail, turn = np.zeros(3), np.eye(3)
        if own.module:
            head = snake.plan.modules[own.module]
            last = model.element_step_start[head + 1] - 1
            axes = snake.work.point_rotation[last]
            turn = axes[:, [2, 0, 1]]  # x to the head
            tail = snake.work.point_position[last] - PART * turn[:, 0]
        pose = snake.data.root_pose
        places.append(pose[:3, :3] @ (tail + turn @ at) + pose[:3, 3])
        ways.append(pose[:3, :3] @ turn @ way)
    return np.array(places), np.array(ways)


@pytest.mark.parametrize("name", ["snake-yaw", "snake-spiral", "snake-pitch"])
def test_power_of_thrust_and_chambers_is_rate_of_energy_and_dissipation(name) -> None:
    """Kinetic and potential energy by central differences along the motion.

    Power of the propellers from the ways of their attack points, of pressures and walls
    from the lengths of the chambers, of drag from the velocities of points.
    """
    case = load_case(name).model_copy(update={"physics": _MUNK})
    snake, short = Snake(case), 1e-4
    (chambers,) = [load for load in snake.loads if isinstance(load, ChamberLoad)]
    assert any(isinstance(load, PropellerLoad) for load in snake.loads)
    for sample in simulate(name, 4.0, every=1.0, physics=_MUNK)[1:]:
        place(snake, sample)
        rates = snake.accelerations(sample.time_s)
        taken = drag_power(snake)
        force = chambers._work.force.copy()
        velocity = snake.data.velocity.copy()
        _, ways = attack_points(snake)
        sides = []
        for sign in (-1.0, 1.0):
            near = snake.after(velocity, rates, sign * short)
            energy = near.energy()
            points, _ = attack_points(near)
            chambers.add(0.0, near.data, near.work)
            sides.append((energy[0] + energy[2], points, chambers._work.length.copy()))
        stored = (sides[1][0] - sides[0][0]) / (2.0 * short)
        moved = (sides[1][1] - sides[0][1]) / (2.0 * short)
        longer = (sides[1][2] - sides[0][2]) / (2.0 * short)
        thrust = np.sum(ways * moved)  # of 1 N each
        given = thrust - force @ longer
        assert taken > 0.1
        assert given - taken == pytest.approx(stored, abs=2e-6 * taken)
