"""A surface that the station has learned pushes its local model as it was felt."""

import numpy as np
import pytest

from models.environment import allocate_surface
from models.robot_contact import allocate_surroundings_data
from models.robot_contact_local import add_learned_surfaces, place_learned_surface
from models.robot_contact_step import surroundings_step
from tests.unit.models.touching import PALPATION, PERIOD, Touching, tip_at_rest

TIP = tip_at_rest()
RADIUS = 0.01


def known(case: Touching) -> int:
    """Make room for one learned surface; its index."""
    case.world = add_learned_surfaces(case.world, 1)
    case.state = allocate_surroundings_data(case.model, case.world)
    return case.world.contacts.obstacle.kind.size - 1


def place(case: Touching, index: int, surface) -> None:  # type: ignore[no-untyped-def]
    obstacle = case.world.contacts.obstacle
    place_learned_surface(
        surface,
        index,
        RADIUS,
        0.3,
        obstacle.pose,
        case.world.contacts.law,
        obstacle.kind,
        obstacle.size,
    )


@pytest.mark.parametrize("kind", [0, 1])
def test_the_tip_is_pushed_from_where_it_was_felt_as_stiffly(kind: int) -> None:
    case = Touching([("sphere", np.eye(4), [0.01])])
    index = known(case)
    surface = allocate_surface()
    place(case, index, surface)
    case.step(200)
    assert case.state.found.count[0] == 0
    surface.known[0] = 1
    surface.kind[0] = kind
    surface.normal[:] = -TIP[:3, 2]
    inside = TIP[:3, 3] - 0.004 * TIP[:3, 2]  # the tip's middle is 4 mm beyond
    surface.radius[0] = 0.05
    surface.point[:] = inside if kind == 0 else inside + 0.05 * TIP[:3, 2]
    surface.stiffness[0] = 300.0
    surface.damping[0] = 2.0
    place(case, index, surface)
    assert case.world.contacts.law[index] == pytest.approx([300.0, 1.0, 1.0, 0.3, 1e-3])
    case.step(3000)
    force = case.state.tip_force[PALPATION]
    case.step()
    depth = (case.tip()[:3, 3] - inside) @ TIP[:3, 2]
    if kind == 1:
        depth = 0.05 - float(np.linalg.norm(case.tip()[:3, 3] - surface.point))
    assert np.linalg.norm(force) == pytest.approx(300.0 * depth, rel=0.02)
    assert force @ -TIP[:3, 2] > 0.1
    assert not case.state.contact_wrench[[0, 2]].any()


def test_a_law_with_an_exponent_keeps_its_damping() -> None:
    case = Touching()
    index = known(case)
    surface = allocate_surface()
    surface.known[0] = 1
    surface.stiffness[0], surface.damping[0], surface.exponent[0] = 2000.0, 30.0, 1.3
    place(case, index, surface)
    law = case.world.contacts.law[index]
    assert law[:3] == pytest.approx([2000.0, 1.3, 0.015])
    turn = case.world.contacts.obstacle.pose[index][:3, :3]
    assert turn.T @ turn == pytest.approx(np.eye(3), abs=1e-12)
    assert int(
        surroundings_step(
            case.model, case.world, PERIOD, case.winch, case.data, case.state, case.work
        )
    ) == 0  # fmt: skip
