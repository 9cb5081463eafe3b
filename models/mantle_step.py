"""One step of the mantle, implicit in elasticity and viscosity, with its root.

The linearly implicit method of Verwer, Spee, Blom and Hundsdorfer (1999, SIAM J. Sci.
Comput. 20, 1456), two stages with one matrix, of second order for any approximation of
the Jacobian, L-stable for γ = 1 - 1/√2:

    (1 - γhJ) k1 = f(y),  (1 - γhJ) k2 = f(y + h k1) - 2 k1,  y += h (3/2 k1 + 1/2 k2)

J holds elasticity and the viscous potential; thrust and the turning added mass are
explicit. The root's surge acceleration is constant in a step and predicted by the last
step's: `mantle_terms` steps the shell with it and finds how the shell answers to
another. By the shell's momentum the root feels F0 - m_eff · acceleration, exact for the
step as it will be taken: the sum of root and shell changes by the water's impulse only.
The caller adds m_eff to the root's surge inertia and F0 to its load, solves, and calls
`mantle_finish` with the change of the surge velocity.

A mantle that is not finite, has collapsed to its axis, or whose matrix is not positive
is frozen in its last good state and rides on the root as a rigid body. Its `status`
tells the cause.
"""

import numpy as np

from models.jet import (
    add_mantle_loads,
    mantle_actuation_power,
    mantle_drag,
    mantle_volume_rate,
)
from models.mantle import (
    MANTLE_COLLAPSED,
    MANTLE_DIVERGED,
    MANTLE_NOT_FINITE,
    MANTLE_OK,
    MANTLE_SINGULAR,
    MantleData,
    MantleModel,
    MantleWork,
)
from models.mantle_parameters import VOLUME_TRUE
from models.mantle_shell import add_stiffness_product, mantle_forces, mantle_matrix
from models.numerics import FloatArray, kernel

__all__ = ["mantle_finish", "mantle_kinetic_energy", "mantle_terms"]

_GAMMA = 1.0 - 0.5 * 2.0**0.5
# m/s; beyond it a shell in water is no shell
_FASTEST = 100.0


@kernel
def mantle_kinetic_energy(
    model: MantleModel, velocity: FloatArray, surge_velocity: float
) -> float:
    """Kinetic energy of the shell with its added mass.

    Args:
        model: of the mantle.
        velocity: (K, 3) relative to the root [m/s, m/s, rad/s].
        surge_velocity: of the root along the axis [m/s].

    Returns:
        [J].
    """
    energy = 0.0
    for k in range(velocity.shape[0]):
        axial = velocity[k, 1] + surge_velocity
        energy += model.node_mass[k] * (velocity[k, 0] ** 2 + axial * axial)
        energy += model.node_rotary[k] * velocity[k, 2] ** 2
    return 0.5 * energy


@kernel
def _factor(band_out: FloatArray) -> int:
    """Cholesky factor of the band from row 3 on, in place; 1 where it fails."""
    rows, width = band_out.shape
    for i in range(3, rows):
        first = max(3, i - width + 1)
        for j in range(first, i + 1):
            total = band_out[i, i - j]
            for k in range(max(first, j - width + 1), j):
                total -= band_out[i, i - k] * band_out[j, j - k]
            if i == j:
                if not (total > 0.0 and total < np.inf):
                    return 1
                band_out[i, 0] = 1.0 / np.sqrt(total)
            else:
                band_out[i, i - j] = total * band_out[j, 0]
    return 0


@kernel
def _solve(band: FloatArray, vector_out: FloatArray) -> None:
    """Solve with the factor, in place; the rows of node 0 become 0."""
    rows, width = band.shape
    for i in range(3):
        vector_out[0, i] = 0.0
    for i in range(3, rows):
        total = vector_out[i // 3, i % 3]
        for k in range(max(3, i - width + 1), i):
            total -= band[i, i - k] * vector_out[k // 3, k % 3]
        vector_out[i // 3, i % 3] = total * band[i, 0]
    for i in range(rows - 1, 2, -1):
        value = vector_out[i // 3, i % 3] * band[i, 0]
        vector_out[i // 3, i % 3] = value
        for k in range(max(3, i - width + 1), i):
            vector_out[k // 3, k % 3] -= band[i, i - k] * value


@kernel
def _stage_force(
    model: MantleModel,
    data: MantleData,
    stage: int,
    surge_velocity: float,
    middle_velocity: float,
    hoop_tension: float,
    radial_force: float,
    work: MantleWork,
) -> tuple[float, float, float]:
    """Right-hand side of a stage in work.rate; thrust, turning and drag [N]."""
    position, velocity, force = work.stage[0], work.stage[1], work.rate[stage]
    mantle_forces(model, position, velocity, force)
    thrust, turning = add_mantle_loads(
        model,
        position,
        velocity,
        surge_velocity,
        hoop_tension,
        radial_force,
        force,
    )
    drag, _ = mantle_drag(model, position, middle_velocity)
    twice = 2.0 * stage
    for k in range(position.shape[0]):
        mass = model.node_mass[k]
        force[k, 0] -= twice * mass * work.rate[0, k, 0]
        force[k, 1] -= mass * (data.surge_acceleration[0] + twice * work.rate[0, k, 1])
        force[k, 1] += drag * model.node_area[k] / model.area
        force[k, 2] -= twice * model.node_rotary[k] * work.rate[0, k, 2]
    return thrust, turning, drag


@kernel
def _advance(data: MantleData, stage: int, period: float, work: MantleWork) -> None:
    """Add a solved stage to the step; after the first, go to where the second is."""
    rate, direction = work.rate[stage], work.direction
    weight = (1.5 - stage) * period
    for k in range(rate.shape[0]):
        for i in range(3):
            advance = direction[k, i] + _GAMMA * period * rate[k, i]
            if stage == 0:
                work.change[0, k, i] = weight * advance
                work.change[1, k, i] = weight * rate[k, i]
                work.stage[0, k, i] = data.position[k, i] + period * advance
                work.stage[1, k, i] = data.velocity[k, i] + period * rate[k, i]
                direction[k, i] = work.stage[1, k, i] - 2.0 * advance
            else:
                work.change[0, k, i] += weight * advance
                work.change[1, k, i] += weight * rate[k, i]


@kernel
def mantle_terms(
    model: MantleModel,
    data: MantleData,
    surge_velocity: float,
    hoop_tension: float,
    radial_force: float,
    period: float,
    work: MantleWork,
) -> int:
    """Step the shell for the predicted surge, and find what the root feels.

    Args:
        model: of the mantle.
        data: read; its status and `measured` are set.
        surge_velocity: of the root along the axis, at the step's start [m/s].
        hoop_tension: line tension of the hoops in this step, contracting [N/m].
        radial_force: sum of the inward radial force on the band in this step [N].
        period: h [s].
        work: `effective` is set; the rest is kept for `mantle_finish`.

    Returns:
        The status.
    """
    mass = 0.0
    for k in range(model.node_mass.size):
        mass += model.node_mass[k]
    work.effective[0] = 0.0
    work.effective[1] = mass
    for i in range(6):
        data.measured[i] = 0.0
    guess = data.surge_acceleration[0]
    if not np.isfinite(surge_velocity + hoop_tension + radial_force):
        data.status[0] = MANTLE_NOT_FINITE
    if data.status[0] != MANTLE_OK:
        return int(data.status[0])
    lag = _GAMMA * period
    mantle_matrix(model, data.position, lag, lag * lag, work)
    if _factor(work.band) != 0:
        data.status[0] = MANTLE_SINGULAR
        return int(data.status[0])

    middle = surge_velocity + 0.5 * period * guess
    _, slope = mantle_drag(model, data.position, middle)
    slope *= 0.5 * period
    water = 0.0
    for k in range(model.node_mass.size):
        for i in range(3):
            work.stage[0, k, i] = data.position[k, i]
            work.stage[1, k, i] = data.velocity[k, i]
            work.direction[k, i] = data.velocity[k, i]
            work.rate[2, k, i] = 0.0
        work.rate[2, k, 1] = slope * model.node_area[k] / model.area
        work.rate[2, k, 1] -= model.node_mass[k]
    # two stages, then the answer to a surge acceleration of 1
    for stage in range(3):
        if stage < 2:
            thrust, turning, drag = _stage_force(
                model,
                data,
                stage,
                surge_velocity + stage * period * guess,
                middle,
                hoop_tension,
                radial_force,
                work,
            )
            data.measured[1] += 0.5 * thrust
            data.measured[2] += 0.5 * drag
            water += 0.5 * (thrust + turning + drag)
            add_stiffness_product(
                model, work.point_stiffness, work.direction, -lag, work.rate[stage]
            )
        _solve(work.band, work.rate[stage])
        if stage < 2:
            _advance(data, stage, period, work)

    answer = -slope
    for k in range(model.node_mass.size):
        water -= model.node_mass[k] * work.change[1, k, 1] / period
        answer += model.node_mass[k] * work.rate[2, k, 1]
    data.status[0] = _new_state(0.0, period, data, work)
    if data.status[0] == MANTLE_OK and not (mass + answer > 0.0 and np.isfinite(water)):
        data.status[0] = MANTLE_SINGULAR
    if data.status[0] != MANTLE_OK:
        return int(data.status[0])
    work.effective[0] = water + answer * guess
    work.effective[1] = mass + answer
    data.measured[3], data.measured[4] = mantle_volume_rate(
        model, data.position, data.velocity, VOLUME_TRUE
    )
    work.held[0] = hoop_tension
    work.held[1] = radial_force
    work.held[2] = slope
    return MANTLE_OK


@kernel
def mantle_finish(
    model: MantleModel,
    surge_change: float,
    period: float,
    data: MantleData,
    work: MantleWork,
) -> int:
    """End the step that `mantle_terms` began.

    Args:
        model: of the mantle.
        surge_change: of the root's velocity along the axis in this step [m/s].
        period: h [s].
        data: advanced by a step, or frozen.
        work: from `mantle_terms`.

    Returns:
        The status.
    """
    acceleration = surge_change / period
    data.measured[0] = work.effective[0] - work.effective[1] * acceleration
    if data.status[0] == MANTLE_OK:
        surplus = acceleration - data.surge_acceleration[0]
        data.status[0] = _new_state(surplus, period, data, work)
    if data.status[0] != MANTLE_OK:
        for k in range(data.velocity.shape[0]):
            for i in range(3):
                data.velocity[k, i] = 0.0
        for i in range(6):
            data.measured[i] = 0.0
        data.surge_acceleration[0] = 0.0
        return int(data.status[0])
    data.measured[2] += work.held[2] * (acceleration - data.surge_acceleration[0])
    data.measured[5] = mantle_actuation_power(
        model, work.direction, work.held[0], work.held[1]
    )
    for k in range(data.velocity.shape[0]):
        for i in range(3):
            data.position[k, i] = work.stage[0, k, i]
            data.velocity[k, i] = work.stage[1, k, i]
    data.surge_acceleration[0] = acceleration
    return MANTLE_OK


@kernel
def _new_state(
    surplus: float, period: float, data: MantleData, work: MantleWork
) -> int:
    """Put the state after the step, and its mean rate, into work; its status.

    surplus is the surge acceleration less the predicted one [m/s2].
    """
    fastest = 0.0
    total = 0.0
    collapsed = False
    for k in range(data.position.shape[0]):
        for i in range(3):
            answer = period * surplus * work.rate[2, k, i]
            change = work.change[0, k, i] + _GAMMA * period * answer
            velocity = data.velocity[k, i] + work.change[1, k, i] + answer
            work.direction[k, i] = change / period
            work.stage[0, k, i] = data.position[k, i] + change
            work.stage[1, k, i] = velocity
            total += abs(change) + abs(velocity)
            if i < 2:
                fastest = max(fastest, abs(velocity))
        collapsed = collapsed or work.stage[0, k, 0] <= 0.0
    if not np.isfinite(total):
        return MANTLE_NOT_FINITE
    if collapsed:
        return MANTLE_COLLAPSED
    return MANTLE_OK if fastest < _FASTEST else MANTLE_DIVERGED
