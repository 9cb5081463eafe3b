"""Limits of a limb's chambers in the loop: against models/chamber, and in the inverse.

Exact up to rounding; the inverse's tip to 0.1 mm.
"""

import numpy as np
import pytest

from app.config.kinematics import chamber_models
from app.config.robot import build_robot_model, load_robot
from models.chamber import limit_coordinates, shortest_idle_length
from models.chamber_limits import chamber_floor, hold_chambers
from models.inverse import allocate_inverse_data, inverse_step
from models.limb import limb_poses

ROBOTS = {name: load_robot(name) for name in ("silver2", "rov-arm")}
MODELS = {name: build_robot_model(robot) for name, robot in ROBOTS.items()}


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_are_those_of_each_segment(name: str) -> None:
    model, (limb,) = MODELS[name], ROBOTS[name].limbs
    generator = np.random.default_rng(4)
    for _ in range(300):
        wanted = generator.normal(size=(3, 3)) * [1.5, 1.5, 0.03]
        held = wanted.copy()
        hold_chambers(model, 0, held)
        for k, chambers in enumerate(chamber_models(limb)):
            if chambers is None:  # elongation: along the axis only
                low, high = model.extension_range[k]
                assert low <= held[k, 2] <= high
                continue
            expected = wanted[k].copy()
            limit_coordinates(chambers, expected)
            if model.idle_chamber[k]:
                idle = shortest_idle_length(chambers, expected[0], expected[1])
                expected[2] = idle - chambers.rest_length
            assert held[k] == pytest.approx(expected, abs=1e-12)
        again = held.copy()
        assert hold_chambers(model, 0, again) == 0


def test_tendons_have_no_such_limits() -> None:
    model = build_robot_model(load_robot("ursula"))
    wanted = np.full((2, 3), 9.0)
    assert hold_chambers(model, 0, wanted) == 0
    assert (wanted == 9.0).all()


def test_slope_of_the_least_extension() -> None:
    model = MODELS["silver2"]
    x, y, step = 0.4, -0.3, 1e-6
    _, by_x, by_y, _ = chamber_floor(model, 1, x, y)
    for slope, dx, dy in ((by_x, step, 0.0), (by_y, 0.0, step)):
        after, before = (
            chamber_floor(model, 1, x + s * dx, y + s * dy)[0] for s in (1, -1)
        )
        assert slope == pytest.approx((after - before) / (2.0 * step), abs=1e-9)


def tip(model, coordinates):
    poses = np.zeros((len(coordinates) + 1, 4, 4))
    limb_poses(model, 0, coordinates, poses)
    return poses[-1, :3, 3].copy()


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("axis", [0, 1])
def test_the_tip_follows_a_target_that_moves(name: str, axis: int) -> None:
    """To 0.1 mm at half the greatest speed: what a bend adds in length is foreseen."""
    model = MODELS[name]
    data = allocate_inverse_data(model)
    coordinates = model.rest_coordinates.copy()
    target = tip(model, coordinates)
    step = 0.5e-3 * model.tip_speed_limit[0]
    for _ in range(round(0.05 / step)):
        target[axis] += step
        inverse_step(model, 0, target, 1e-3, coordinates, data, coordinates)
        held = coordinates.copy()
        assert hold_chambers(model, 0, held) == 0
    assert np.linalg.norm(tip(model, coordinates) - target) < 1e-4
