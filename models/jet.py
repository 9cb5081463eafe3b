"""The mantle's water and its actuation: volume, thrust, drag, muscles, power.

Thrust and drag are spread over the mid-surface at rest, along the axis:

    thrust  -ρ_w C_f U̇ |U̇| / A_n   (Renda 2018 eq. 15), A_no out, A_ni in
    drag    -ρ_w C_d π max(r)² V |V| / 2   (eq. 12), V the root's surge velocity

U is by choice the enclosed volume -∫π r² z' dX, the paper's ∫π r² |g'| dX, which counts
arc length for altitude (343.94 against 338.94 mL at rest), or the latter with the
published code's rate, where the term of the stretch stands twice. Rates are exact
derivatives of the discrete volumes.

Added mass (eq. 14) is taken, as printed, from the rates of the velocity's components in
the turning microstructure: of B m a the part B m ω x v is not there. It works nothing,
but is a force on the whole: with it, momentum balances.
"""

import numpy as np

from models.mantle import MantleModel
from models.mantle_parameters import VOLUME_CODE, VOLUME_TRUE
from models.mantle_shell import point_values
from models.numerics import FloatArray, kernel

__all__ = [
    "add_mantle_loads",
    "mantle_actuation_power",
    "mantle_drag",
    "mantle_thrust",
    "mantle_volume_rate",
    "triangle",
]

_PI = 3.141592653589793


@kernel
def triangle(time: float, period: float) -> float:
    """A triangle wave, 0 at the start of a period and 1 in its middle.

    Renda 2018 sec. 7.1: the hoop tension is 15 N/m times this, with a period of 0.66 s.

    Args:
        time: [s], not negative.
        period: [s].

    Returns:
        0..1.
    """
    phase: float = time / period - np.floor(time / period)
    return 2.0 * phase if phase < 0.5 else 2.0 - 2.0 * phase


@kernel
def mantle_volume_rate(
    model: MantleModel, position: FloatArray, velocity: FloatArray, form: int
) -> tuple[float, float]:
    """Volume of the mantle and its rate.

    Args:
        model: of the mantle.
        position: (K, 3) r [m], z [m], θ [rad].
        velocity: (K, 3) [m/s, m/s, rad/s].
        form: VOLUME_TRUE, VOLUME_PATH or VOLUME_CODE.

    Returns:
        [m3], [m3/s].
    """
    volume, rate = 0.0, 0.0
    elements, points = model.point_area.shape
    for e in range(elements):
        for p in range(points):
            r, r_x, z_x, _, _ = point_values(model, position, e, p)
            r_t, r_xt, z_xt, _, _ = point_values(model, velocity, e, p)
            length = model.point_area[e, p] / (2.0 * model.point_radius[e, p])
            if form == VOLUME_TRUE:
                volume -= length * r * r * z_x
                rate -= length * r * (2.0 * r_t * z_x + r * z_xt)
                continue
            path = np.sqrt(r_x * r_x + z_x * z_x)
            path_rate = (r_x * r_xt + z_x * z_xt) / path
            if form == VOLUME_CODE:
                path_rate *= 2.0
            volume += length * r * r * path
            rate += length * r * (2.0 * r_t * path + r * path_rate)
    return volume, rate


@kernel
def mantle_thrust(model: MantleModel, volume_rate: float) -> float:
    """Thrust of the jet (Renda 2018 eq. 15).

    Args:
        model: of the mantle.
        volume_rate: U̇ [m3/s].

    Returns:
        Force along the axis, forward where the mantle empties [N].
    """
    nozzle = model.outflow_area if volume_rate < 0.0 else model.inflow_area
    flow = model.water_density * model.flow_loss * volume_rate
    return -flow * abs(volume_rate) / nozzle


@kernel
def mantle_drag(
    model: MantleModel, position: FloatArray, surge_velocity: float
) -> tuple[float, float]:
    """Drag of the shell (Renda 2018 eq. 12).

    Args:
        model: of the mantle.
        position: (K, 3) r [m], z [m], θ [rad].
        surge_velocity: of the root along the axis [m/s].

    Returns:
        Force along the axis [N], its slope with the velocity [N s/m].
    """
    radius = 0.0
    for k in range(position.shape[0]):
        radius = max(radius, position[k, 0])
    half = 0.5 * model.water_density * model.drag_coefficient * _PI * radius * radius
    speed = abs(surge_velocity)
    return -half * speed * surge_velocity, -2.0 * half * speed


@kernel
def mantle_actuation_power(
    model: MantleModel, velocity: FloatArray, hoop_tension: float, radial_force: float
) -> float:
    """Power that the muscles give (Renda 2018 eq. 27).

    Args:
        model: of the mantle.
        velocity: (K, 3) [m/s, m/s, rad/s].
        hoop_tension: line tension of the hoops, contracting [N/m].
        radial_force: sum of the inward radial force on the band [N].

    Returns:
        [W].
    """
    power = 0.0
    for k in range(velocity.shape[0]):
        pull = model.hoop_weight[k] * hoop_tension
        pull += model.radial_weight[k] * radial_force
        power -= pull * velocity[k, 0]
    return power


@kernel
def add_mantle_loads(
    model: MantleModel,
    position: FloatArray,
    velocity: FloatArray,
    surge_velocity: float,
    hoop_tension: float,
    radial_force: float,
    force_out: FloatArray,
) -> tuple[float, float]:
    """Add the muscles, the thrust and the turning of the added mass; not the drag.

    Args:
        model: of the mantle.
        position: (K, 3) r [m], z [m], θ [rad].
        velocity: (K, 3) relative to the root [m/s, m/s, rad/s].
        surge_velocity: of the root along the axis [m/s].
        hoop_tension: line tension of the hoops, contracting [N/m].
        radial_force: sum of the inward radial force on the band [N].
        force_out: (K, 3) [N, N, N m], added to.

    Returns:
        Thrust, and the axial sum of the added mass's turning [N].
    """
    _, rate = mantle_volume_rate(model, position, velocity, model.volume_form)
    thrust = mantle_thrust(model, rate)
    turning = 0.0
    for k in range(position.shape[0]):
        spin = model.node_convected[k] * velocity[k, 2]
        force_out[k, 0] -= (
            model.hoop_weight[k] * hoop_tension
            + model.radial_weight[k] * radial_force
            + spin * (velocity[k, 1] + surge_velocity)
        )
        force_out[k, 1] += thrust * model.node_area[k] / model.area
        force_out[k, 1] += spin * velocity[k, 0]
        turning += spin * velocity[k, 0]
    return thrust, turning
