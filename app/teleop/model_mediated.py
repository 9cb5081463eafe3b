"""Model-mediated: the hand meets a local surface now, the robot does the same later.

The robot estimates what its tip touches (`models.surface_estimator_report`); the
station renders that surface to the hand at once (`models.environment_update`), so no
force comes over the link and no delay is in the loop that the hand closes. What goes
down is where the hand's proxy is and the force that the surface makes there:

    F_s = K_p (x_m - x_s) + K_d (v_m - v_s) + F_model,   |F_s| <= F_max

Without the force that is fed forward the robot would press with its coupling alone,
less than the hand feels wherever the coupling is softer than the surface (Mitra and
Niemeyer 2008 is the root of the scheme; the feed-forward is ours). The proxy is the
hand, but in a surface that is shown elsewhere or softer than it is, and past what the
device can show: there it is placed so that the robot presses no harder than the hand
feels (`models.environment_proxy`).
"""

import math

from app.teleop.gains import Gains
from app.teleop.halves import MasterData, SlaveCommand, SlaveData
from app.teleop.passivity import power
from app.teleop.signals import Signal
from models.environment import LocalSurface, surface_force
from models.environment_proxy import place_proxy
from models.environment_update import engage_surface, update_surface
from models.numerics import FloatArray, kernel

__all__ = ["mediated_master", "mediated_slave"]

_HELD = 0.5


@kernel
def mediated_master(
    gains: Gains,
    period: float,
    hand_position: FloatArray,
    hand_velocity: FloatArray,
    surface_out: LocalSurface,
    data: MasterData,
    force_out: FloatArray,
    sent_out: Signal,
) -> None:
    """Render the local surface, and tell the robot what it makes.

    Args:
        gains: parameters.
        period: tick [s].
        hand_position: (3,) of the proxy: the hand, in the robot's scale [m].
        hand_velocity: (3,) [m/s].
        surface_out: the surface, moved towards the newest report in place.
        data: the half; in the first tick of an engagement a surface that the hand is
            in is placed so that it makes the force that was shown.
        force_out: (3,) that the hand is to push against [N].
        sent_out: place and velocity of the proxy, and the surface's force.
    """
    if surface_out.period[0] != period:
        surface_out.period[0] = period
    surface_out.device_damping[0] = gains.handle_damping[0]
    if data.began[0] == 1:
        engage_surface(hand_position, data.force, surface_out)
    update_surface(hand_position, surface_out)
    surface_force(surface_out, hand_position, hand_velocity, force_out)
    most = gains.force_limit[0]
    size = power(force_out, force_out) ** 0.5
    share = most / size if size > most else 1.0
    place_proxy(
        hand_position,
        hand_velocity,
        most,
        surface_out,
        sent_out.velocity,
        sent_out.position,
    )
    for i in range(3):
        force_out[i] = -share * force_out[i]
        sent_out.force[i] = gains.feed_forward[0] * force_out[i]


@kernel
def mediated_slave(
    gains: Gains,
    period: float,
    tip_position: FloatArray,
    tip_velocity: FloatArray,
    heard: Signal,
    data: SlaveData,
    command_out: SlaveCommand,
    sent_out: Signal,
) -> None:
    """Follow the proxy and press with the model's force, within the greatest force.

    Args:
        gains: parameters.
        period: tick [s].
        tip_position: (3,) [m].
        tip_velocity: (3,) [m/s].
        heard: newest that the master told. While nothing new comes for half a second,
            the last place and force are held, at rest.
        data: the half.
        command_out: what the tip's controller follows.
        sent_out: nothing but the tip's state is told: `slave_step` writes that.
    """
    moving = 1.0 if data.silent[0] * period <= _HELD else 0.0
    size = 0.0
    for i in range(3):
        command_out.position[i] = heard.position[i]
        command_out.velocity[i] = moving * heard.velocity[i]
        command_out.force[i] = heard.force[i]
        size += _total(gains, i, tip_position, tip_velocity, command_out) ** 2
    size = math.sqrt(size)
    if size > gains.mediated_force_limit[0]:
        excess = 1.0 - gains.mediated_force_limit[0] / size
        for i in range(3):
            command_out.force[i] -= excess * _total(
                gains, i, tip_position, tip_velocity, command_out
            )


@kernel
def _total(
    gains: Gains,
    i: int,
    tip_position: FloatArray,
    tip_velocity: FloatArray,
    command: SlaveCommand,
) -> float:
    """One component of F_s [N]."""
    return float(
        gains.stiffness[i] * (command.position[i] - tip_position[i])
        + gains.damping[i] * (command.velocity[i] - tip_velocity[i])
        + command.force[i]
    )
