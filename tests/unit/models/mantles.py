"""States of the mantle, and its swim on a line, for the tests."""

from typing import NamedTuple

import numpy as np

from models.jet import add_mantle_loads, mantle_drag, mantle_volume_rate, triangle
from models.mantle import (
    MANTLE_OK,
    MantleModel,
    allocate_mantle_data,
    allocate_mantle_work,
)
from models.mantle_parameters import VOLUME_PATH
from models.mantle_shell import mantle_forces
from models.mantle_step import mantle_finish, mantle_terms
from models.numerics import FloatArray, kernel

# four straight arms in line with the jet: mass, and drag along them (Renda 2018 eq. 11)
_ARM_LENGTH, _ARM_MEAN_RADIUS = 0.245, 0.006
_ARMS_MASS = 4 * 1080.0 * np.pi * _ARM_LENGTH * (1e-4 + 2e-5 + 4e-6) / 3
ARMS_DRAG = 4 * 1022.0 * 0.5 * np.pi * 0.01 * _ARM_MEAN_RADIUS * _ARM_LENGTH


def random_state(model, seed, size=1.0):
    """A deformed, moving shell; node 0 at rest."""
    random = np.random.default_rng(seed)
    scale = size * np.array([3e-3, 3e-3, 0.1])
    position = model.rest_position + scale * random.uniform(
        -1, 1, model.rest_position.shape
    )
    velocity = random.uniform(-1, 1, position.shape) * np.array([0.2, 0.2, 5.0])
    position[0], velocity[0] = model.rest_position[0], 0.0
    return position, velocity


def forces(model, position, velocity):
    out = np.full_like(position, np.nan)
    mantle_forces(model, position, velocity, out)
    return out


@kernel
def mantle_rates(
    model: MantleModel,
    position: FloatArray,
    velocity: FloatArray,
    surge_velocity: float,
    hoop_tension: float,
    radial_force: float,
    acceleration_out: FloatArray,
) -> tuple[float, float]:
    """Right-hand side for a reference integrator.

    Args:
        model: of the mantle.
        position: (K, 3) r [m], z [m], θ [rad].
        velocity: (K, 3) relative to the root [m/s, m/s, rad/s].
        surge_velocity: of the root along the axis [m/s].
        hoop_tension: line tension of the hoops, contracting [N/m].
        radial_force: sum of the inward radial force on the band [N].
        acceleration_out: (K, 3) in space [m/s2, m/s2, rad/s2]: relative to the root it
            is less by the surge acceleration in z; node 0's is 0.

    Returns:
        F and m [N], [kg]: the root feels F - m · surge acceleration.
    """
    mantle_forces(model, position, velocity, acceleration_out)
    add_mantle_loads(
        model,
        position,
        velocity,
        surge_velocity,
        hoop_tension,
        radial_force,
        acceleration_out,
    )
    drag, _ = mantle_drag(model, position, surge_velocity)
    force = acceleration_out[0, 1] + drag * model.node_area[0] / model.area
    for k in range(position.shape[0]):
        acceleration_out[k, 1] += drag * model.node_area[k] / model.area
        for i in range(2):
            acceleration_out[k, i] /= model.node_mass[k]
        acceleration_out[k, 2] /= model.node_rotary[k]
    for i in range(3):
        acceleration_out[0, i] = 0.0
    return force, model.node_mass[0]


class Swim(NamedTuple):
    """What a run of a root on a line gave, one row a step."""

    velocity: np.ndarray
    volume: np.ndarray
    end_radius: np.ndarray
    measured: np.ndarray
    drag_area: np.ndarray
    data: object


def swim(
    model,
    seconds,
    period=1e-3,
    *,
    hoop=0.0,
    radial=0.0,
    cycle=0.66,
    mass=0.204 + _ARMS_MASS,
    drag=0.5 * 1022.0 * 0.021 + ARMS_DRAG,
    velocity=None,
):
    """Step a mantle on a root that is free along the axis, or goes as it is told."""
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    steps = round(seconds / period)
    rows = np.zeros((steps + 1, 10))
    surge = 0.0 if velocity is None else velocity[0]
    for n in range(steps + 1):
        volume, _ = mantle_volume_rate(model, data.position, data.velocity, VOLUME_PATH)
        rows[n, :3] = surge, volume, data.position[-1, 0]
        rows[n, 9] = -mantle_drag(model, data.position, 1.0)[0]
        if n == steps:
            break
        pull = triangle((n + 0.5) * period, cycle)
        mantle_terms(model, data, surge, hoop * pull, radial * pull, period, work)
        if velocity is None:
            inertia = mass + work.effective[1] + period * drag * abs(surge)
            load = work.effective[0] - drag * abs(surge) * surge
            change = period * load / inertia
        else:
            change = velocity[n + 1] - velocity[n]
        status = mantle_finish(model, change, period, data, work)
        assert status == MANTLE_OK
        rows[n, 3:9] = data.measured
        surge += change
    return Swim(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:9], rows[:, 9], data)
