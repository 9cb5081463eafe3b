"""Integration to a tolerance: order of accuracy, conservation, loads, refusals."""

import numpy as np
import pytest

from app.errors import ModelError
from app.study.reference_run import (
    point_path,
    reference_run,
    reference_states,
    stepped_run,
)
from models.strain_basis import legendre
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_rate import rate_jacobian, state_size, tree_rate, tree_state
from models.tree_step import tree_energy, tree_momentum


def floating(*, viscosity: float = 0.0, water: float = 0.0) -> TreeModel:
    """A body with a rod and a jointed body, weightless."""
    tree = TreeBuilder(root="free", gravity=(0.0, 0.0, 0.0), water_density=water)
    hull = tree.add_body(ROOT, np.eye(4), mass=1.0, inertia=(0.01, 0.02, 0.015))
    tree.add_rod(
        hull,
        frame((0.05, 0.0, 0.0)),
        length=0.3,
        radius=(0.03, 0.02),
        density=1070.0,
        young_modulus=69e3,
        shear_modulus=23e3,
        viscosity=viscosity,
        drag_normal=1.1,
        drag_tangent=0.01,
        added_mass=1.0,
        basis=legendre({"k_x": 1, "k_y": 1, "q_z": 0}),
    )
    joint = tree.add_joint(hull, frame((-0.05, 0.0, 0.0)), stiffness=0.2)
    tree.add_body(joint, frame((0.0, 0.1, 0.0)), mass=0.3, inertia=(1e-3, 1e-3, 2e-3))
    return tree.build()


def moving(model: TreeModel, seed: int = 2) -> TreeData:
    rng = np.random.default_rng(seed)
    data = allocate_tree_data(model)
    data.velocity[:] = 0.5 * rng.standard_normal(data.velocity.size)
    data.position[6:] = 0.2 * rng.standard_normal(data.position.size - 6)
    return data


def pendulum() -> TreeModel:
    """One joint about x, a body 0.5 m below it."""
    tree = TreeBuilder(water_density=0.0)
    joint = tree.add_joint(ROOT, np.eye(4), component="k_x")
    tree.add_body(joint, frame((0.0, 0.0, -0.5)), mass=2.0)
    return tree.build()


@pytest.mark.parametrize("method", ["LSODA", "DOP853", "Radau"])
def test_pendulum_of_known_period(method: str) -> None:
    model = pendulum()
    data = allocate_tree_data(model)
    data.position[0] = 2.0
    # complete elliptic integral by the arithmetic-geometric mean
    a, b = 1.0, np.cos(1.0)
    for _ in range(8):
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    period = 2.0 * np.pi / a * np.sqrt(0.5 / 9.81)
    run = reference_run(
        model, data, period * np.array([0.0, 0.5, 1.0]), tolerance=1e-8, method=method
    )
    assert run.position[:, 0] == pytest.approx([2.0, -2.0, 2.0], abs=1e-6)
    assert data.position[0] == run.position[-1, 0]


def test_a_smaller_tolerance_is_nearer() -> None:
    model = floating(viscosity=300.0, water=1000.0)
    times = np.linspace(0.0, 0.3, 4)
    finest = reference_run(model, moving(model), times, tolerance=1e-11)
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8):
        run = reference_run(model, moving(model), times, tolerance=tolerance)
        errors.append(np.abs(run.position - finest.position).max())
    assert errors[0] < 1e-3
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 1e-7


def test_floating_tree_keeps_energy_and_momentum() -> None:
    model = floating()
    data, work = moving(model), allocate_tree_work(model)

    def measured() -> tuple[float, np.ndarray]:
        energy, momentum = np.zeros(3), np.zeros(6)
        tree_energy(model, data, work, energy)
        tree_momentum(model, data, work, momentum)
        return energy.sum(), momentum

    energy, momentum = measured()
    run = reference_run(
        model, data, np.linspace(0.0, 3.0, 5), tolerance=1e-11, method="DOP853"
    )
    after, momentum_after = measured()
    # a whole turn and more: the pose is still a rotation
    turn = run.root_pose[-1, :3, :3]
    assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-14)
    assert after == pytest.approx(energy, rel=1e-9)
    assert momentum_after == pytest.approx(momentum, abs=1e-9)


def test_free_root_agrees_with_small_steps() -> None:
    model = floating(viscosity=300.0, water=1000.0)
    times = np.array([0.0, 0.2, 0.4])
    exact = reference_run(model, moving(model), times)
    apart = []
    for period in (2e-4, 1e-4):
        stepped = stepped_run(model, moving(model), times, period)
        apart.append(np.abs(stepped.root_pose - exact.root_pose).max())
    assert apart[1] < 5e-4
    assert 1.8 < apart[0] / apart[1] < 2.2


def test_forces_and_breaks() -> None:
    # a body on a slide: constant force until 0.3 s, then none
    tree = TreeBuilder(gravity=(0.0, 0.0, 0.0), water_density=0.0)
    joint = tree.add_joint(ROOT, np.eye(4), component="q_x")
    tree.add_body(joint, np.eye(4), mass=2.0)
    model = tree.build()
    asked = []

    def push(
        now: float, _model: TreeModel, period: float, _data: TreeData, work: TreeWork
    ) -> None:
        asked.append(now)
        assert period == 0.0
        if now < 0.3:
            work.load[0] += 3.0

    times = np.array([0.0, 0.3, 1.0])
    data = allocate_tree_data(model)
    run = reference_run(model, data, times, forces=push, breaks=[0.3])
    way = 0.5 * 1.5 * 0.3**2
    expected = [0.0, way, way + 0.45 * 0.7]
    assert run.position[:, 0] == pytest.approx(expected, abs=1e-9)
    assert run.velocity[:, 0] == pytest.approx([0.0, 0.45, 0.45], abs=1e-9)
    assert 0.3 not in asked
    data = allocate_tree_data(model)
    states = reference_states(model, data, times, forces=push, breaks=[0.3])
    given = [(at, data.position[0]) for at in states]
    assert given == list(zip(times[1:], run.position[1:, 0], strict=True))

    def push_stepped(
        now: float, _model: TreeModel, period: float, _data: TreeData, work: TreeWork
    ) -> None:
        assert period == 1e-3
        if now < 0.3 + 1e-9:
            work.load[0] += 3.0

    stepped = stepped_run(
        model, allocate_tree_data(model), run.time, 1e-3, forces=push_stepped
    )
    assert stepped.velocity[:, 0] == pytest.approx([0.0, 0.45, 0.45], abs=1e-9)
    assert stepped.evaluations == 1000


def test_a_held_root_takes_its_acceleration_and_carries_the_rest() -> None:
    """A rod on a root that is swung along x, as one with that weight on it."""

    def rod(root: str, weight: tuple[float, float, float]) -> TreeModel:
        tree = TreeBuilder(root=root, free=(0,) * 6, gravity=weight, water_density=0.0)
        tree.add_rod(
            ROOT,
            np.eye(4),
            length=0.3,
            radius=(0.02, 0.02),
            density=1070.0,
            young_modulus=69e3,
            shear_modulus=23e3,
            viscosity=300.0,
            basis=legendre({"k_y": 1, "q_z": 0}),
        )
        return tree.build()

    def swing(now: float, data: TreeData) -> None:
        data.root_acceleration[3] = 3.0 if now < 0.2 else -2.0

    times = np.array([0.0, 0.2, 0.5])
    carried = rod("free", (0.0, 0.0, 0.0))
    data = allocate_tree_data(carried)
    run = reference_run(carried, data, times, inputs=swing, breaks=[0.2])
    speed = [0.0, 0.6, 0.0]
    way = [0.0, 0.06, 0.06 + 0.6 * 0.3 - 0.5 * 2.0 * 0.3**2]
    assert run.velocity[:, 3] == pytest.approx(speed, abs=1e-9)
    assert run.root_pose[:, 0, 3] == pytest.approx(way, abs=1e-8)
    assert np.abs(run.velocity[:, [0, 1, 2, 4, 5]]).max() == 0.0
    heavy = rod("fixed", (-3.0, 0.0, 0.0))
    first = reference_run(heavy, allocate_tree_data(heavy), times[:2])
    np.testing.assert_allclose(run.position[1, 6:], first.position[1], atol=1e-7)
    assert np.abs(first.position[1]).max() > 0.05


def test_path_of_a_point_is_in_the_world() -> None:
    model = floating()
    data = moving(model)
    data.root_pose[:3, 3] = 1.0, 2.0, 3.0
    run = reference_run(model, data, np.array([0.0, 0.1]), method="DOP853")
    path = point_path(model, data, run, 0)
    assert path == pytest.approx(run.root_pose[:, :3, 3], abs=1e-15)


def test_jacobian_is_that_of_the_rate() -> None:
    model = floating(viscosity=10.0, water=1000.0)
    data, work = moving(model), allocate_tree_work(model)
    state = tree_state(model, data)
    size = state_size(model)
    matrix = np.zeros((size, size))
    assert rate_jacobian(model, state, data, work, np.zeros((3, size)), matrix) == -1
    rate = np.zeros((2, size))
    for k in range(size):
        for side, out in zip((1e-5, -1e-5), rate, strict=True):
            moved = state.copy()
            moved[k] += side
            tree_rate(model, moved, data, work, out)
        column = (rate[0] - rate[1]) / 2e-5
        scale = max(1.0, np.abs(column).max())
        assert matrix[:, k] == pytest.approx(column, abs=1e-4 * scale)


def test_it_refuses_what_cannot_go_on() -> None:
    model = floating()
    data = moving(model)
    data.position[7] = np.nan
    with pytest.raises(ModelError, match="not finite"):
        reference_run(model, data, np.array([0.0, 0.1]))
    data = moving(model)
    data.velocity[0] = 1e9
    with pytest.raises(ModelError, match="froze"):
        stepped_run(model, data, np.array([0.0, 0.1]), 1e-3)


def test_massless_joint_is_refused() -> None:
    tree = TreeBuilder()
    tree.add_joint(ROOT, np.eye(4))
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    assert tree_rate(model, tree_state(model, data), data, work, np.zeros(2)) == 0
    tree_motion(model, 0.0, data, work)
    with pytest.raises(ModelError):
        reference_run(model, data, np.array([0.0, 0.1]))
