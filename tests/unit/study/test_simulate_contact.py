"""What touches in a case: limbs each other, objects the ground, and who carries it.

Forces at rest to 1 %, what is left of the motion; places to 1 mm, the depth at which
2e4 N/m carry 20 N.
"""

import math

import numpy as np
import pytest

from app.config.case import CaseParameters
from app.config.robot import load_robot, robot_names
from app.config.tree import build_tree
from app.errors import ConfigError
from app.study.simulate import simulate
from app.study.simulation_run import Simulator
from app.study.simulation_scene import robot_surfaces
from app.study.simulation_world import limb_pairs
from models.numerics import FloatArray
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion

CALM = {"viscosity_pa_s": 3000.0}


def case(**fields: object) -> CaseParameters:
    return CaseParameters.model_validate({"title": "t", **fields})


def points(simulator: Simulator) -> FloatArray:
    """(P, 3) where all points are, root frame."""
    model = simulator.plan.model
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.position[:] = simulator.sample().position
    tree_motion(model, 0.0, data, work)
    return work.point_position


def settled(robot: str, made: CaseParameters, seconds: float) -> Simulator:
    parameters = load_robot(robot)
    simulator = Simulator(parameters, build_tree(parameters, made), made, 1e-3)
    for _ in simulator.run(seconds, seconds):
        pass
    assert simulator.fault is None
    return simulator


def test_limbs_that_are_pressed_together_stay_beside_each_other() -> None:
    """Camera and light, 1 N each: the base carries nothing of it."""
    push = {"time_s": [0.0]}
    loads = [
        {**push, "limbs": ["camera"], "force_n": [[0.0, 1.0, 0.0]]},
        {**push, "limbs": ["light"], "force_n": [[0.0, -1.0, 0.0]]},
    ]
    together = {
        "posture": "straight",
        "water": {"gravity_m_s2": 0.0},
        "material": CALM,
        "tip_loads": loads,
        "strain": {"basis": "legendre", "order": {"k_x": 3, "k_y": 1}, "points": 12},
    }
    apart = []
    for touching in (True, False):
        made = case(**together, contact={"limbs": touching})
        simulator = settled("ursula", made, 3.0)
        at = points(simulator)
        model = simulator.plan.model
        camera, light = (
            at[slice(*model.element_step_start[limb.tip : limb.tip + 2])]
            for limb in simulator.plan.limbs[2:]
        )
        radius = model.point_radius[model.element_step_start[-2] :]
        gaps = (light - camera)[:, 1] - 2.0 * radius
        apart.append(gaps.min())
        if touching:
            wrench = simulator.sample().base_wrench
            np.testing.assert_allclose(wrench[3:], 0.0, atol=0.01)
    assert -1e-3 < apart[0] < 1e-3
    assert apart[1] < -0.1


@pytest.mark.parametrize("name", sorted(robot_names()))
def test_limbs_of_a_robot_at_rest_do_not_touch(name: str) -> None:
    robot, made = load_robot(name), case(contact={"limbs": True})
    plan = build_tree(robot, made)
    if len(plan.limbs) < 2:
        with pytest.raises(ConfigError, match="a single limb is simulated"):
            limb_pairs(plan)
        return
    pairs = limb_pairs(plan)
    owner = {e: limb.number for limb in plan.limbs for e in limb.elements}
    assert all(owner[a] != owner[b] for a, b in pairs)
    between = {frozenset((owner[a], owner[b])) for a, b in pairs}
    assert len(between) == math.comb(len(plan.limbs), 2)
    simulator = Simulator(robot, plan, made, 1e-3)
    assert simulator._step()
    world = simulator._world
    assert world is not None
    assert not (world._found.depth[: world._found.count[0]] > 0.0).any()


def test_the_ground_takes_its_share_of_a_limb_from_the_base() -> None:
    """Force and moment of weight, ground and base are in balance."""
    made = case(
        base={"limb": "camera"},
        posture="straight",
        ground={"height_mm": -60.0},
        material=CALM,
    )
    simulator = settled("ursula", made, 6.0)
    model = simulator.plan.model
    net = (model.point_displaced - model.point_mass) * 9.81
    at = points(simulator)
    weight = np.zeros((net.size, 3))
    weight[:, 2] = net
    base = simulator.sample().base_wrench
    lever = at - simulator.plan.limbs[0].base[:3, 3]
    world = simulator._world
    assert world is not None
    found, count = world._found, int(world._found.count[0])
    ground = np.zeros((count, 3))
    ground[:, 2] = found.impulse[:count, 0] / 1e-3
    arm = found.place[:count] - simulator.plan.limbs[0].base[:3, 3]
    assert ground[:, 2].sum() > 0.1 * -net.sum()
    force = weight.sum(axis=0) + ground.sum(axis=0)
    moment = np.cross(lever, weight).sum(axis=0) + np.cross(arm, ground).sum(axis=0)
    np.testing.assert_allclose(base[3:], force, atol=0.01 * -net.sum())
    np.testing.assert_allclose(base[:3], moment, atol=0.01 * abs(base[:3]).max())


@pytest.mark.parametrize(
    ("tilt", "height"), [(0.0, 0.06), (90.0, 0.02)], ids=["stands", "lies"]
)
def test_a_cylinder_on_the_ground(tilt: float, height: float) -> None:
    thing = {
        "shape": "cylinder",
        "size_mm": [20.0, 120.0],
        "mass_kg": 0.3,
        "position_mm": [500.0, 0.0, 200.0],
        "roll_pitch_yaw_deg": [tilt, 0.0, 0.0],
    }
    made = case(
        base={"limb": "arm", "position_mm": [0, 0, 2000]},
        ground={"height_mm": 0.0},
        objects=[thing],
    )
    robot = load_robot("rov-arm")
    done = simulate(robot, made, seconds=2.5)
    assert done.fault is None
    pose = done.trace.objects[-1, 0]
    assert pose[2, 3] == pytest.approx(height, abs=1e-3)
    assert abs(pose[2, 2]) == pytest.approx(math.cos(math.radians(tilt)), abs=1e-3)
    simulator = Simulator(robot, done.plan, made, 1e-3)
    drawn = robot_surfaces(robot, done.plan, made, simulator.sample())[0].points
    size = np.ptp(drawn.reshape(-1, 3), axis=0)
    expected = [0.04, 0.04, 0.12] if tilt == 0.0 else [0.04, 0.12, 0.04]
    np.testing.assert_allclose(size, expected, rtol=0.02)


def test_objects_float_in_the_water_of_the_case() -> None:
    """In a vacuum g t²/2 to the step's error g t h/2, whatever the shape."""
    shapes = {"sphere": [30.0], "cylinder": [30.0, 80.0], "box": [50.0, 60.0, 70.0]}
    things = [
        {
            "shape": shape,
            "size_mm": size,
            "mass_kg": 0.2,
            "position_mm": [500.0 * (k + 1), 0.0, 0.0],
        }
        for k, (shape, size) in enumerate(shapes.items())
    ]
    made = case(base={"limb": "arm"}, water={"density_kg_m3": 0.0}, objects=things)
    done = simulate(load_robot("rov-arm"), made, seconds=0.3)
    fallen = -done.trace.objects[-1, :, 2, 3]
    np.testing.assert_allclose(fallen, 0.5 * 9.81 * 0.09, atol=9.81 * 0.3 * 0.6e-3)


def test_small_steps_bounce_off_the_ground_as_the_reference_run_does() -> None:
    """A limb that falls onto a plane: its first bounce, of first order in the step.

    At 1 ms a contact of this stiffness ends within a step or two, and the bounce is
    26 mm too low; at 62.5 µs 2 mm.
    """
    made = case(
        base={"limb": "camera"},
        posture="straight",
        material={"density_kg_m3": 1400.0},
        ground={"height_mm": -60.0},
        output={"every_ms": 50.0},
    )
    robot = load_robot("ursula")
    exact = simulate(robot, made, seconds=0.6, reference=True).trace
    height = exact.tips[:, 0, 2]
    assert height.min() < -0.045
    assert height[-1] > -0.025  # on its way up
    apart = []
    for step_us in (250.0, 62.5):
        stepped = simulate(robot, made, seconds=0.6, step_us=step_us).trace
        apart.append(np.abs(stepped.tips - exact.tips).max())
    assert apart[1] < 2.5e-3
    assert 3.0 < apart[0] / apart[1] < 5.0


def test_what_has_steps_of_its_own_has_no_reference_run() -> None:
    made = case(
        ground={"height_mm": -500.0},
        objects=[{"shape": "sphere", "size_mm": [50.0], "mass_kg": 1.0,
                  "position_mm": [500.0, 0.0, 0.0]}],
    )  # fmt: skip
    with pytest.raises(ConfigError, match="free objects"):
        simulate(load_robot("ursula"), made, seconds=0.01, reference=True)
