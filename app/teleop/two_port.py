"""Two-port time-domain passivity: velocity goes down, the controller's force comes up.

Each port counts what goes in and what comes out apart, and tells the other what went in
at its own. No port may give more than went in at the other, some time ago, and what
little it is lent:

    W_S = E_in^M[k-D] + E_0 + c sum b_s v_s^2 h - E_out^S
    W_M = E_in^S[k-D] + E_0 + c sum b_m v_m^2 h - E_out^M

Where W_S falls below 0 the setpoint's velocity is cut (admittance form); where W_M
does, the hand is damped (impedance form). (Ryu, Kwon and Hannaford 2004; Ryu, Artigas
and Preusche 2010.) The credit of known dissipation, c, is the energy reference; the
drift of the setpoint is made good while there is energy for it (Coelho et al. 2019).

In the textbook's form (E_0 = c = 0, no drift compensation) this causality stalls from
rest: without a force no energy goes in, and without energy the setpoint may not move.
"""

from app.teleop.gains import Gains
from app.teleop.halves import MasterData, SlaveCommand, SlaveData
from app.teleop.passivity import damping_for, power
from app.teleop.signals import Signal
from models.numerics import FloatArray, kernel

__all__ = ["two_port_master", "two_port_slave"]

_LEAST_SQUARE = 1e-18


@kernel
def two_port_master(
    gains: Gains,
    period: float,
    hand_velocity: FloatArray,
    heard: Signal,
    data: MasterData,
    force_out: FloatArray,
) -> None:
    """Show the slave's force, damped where the port has given what it had not.

    Args:
        gains: E_0 and alpha_max.
        period: tick [s].
        hand_velocity: (3,) [m/s].
        heard: force of the slave's controller, and what went in at its port.
        data: sums and credit of the hand's port.
        force_out: (3,) [N].
    """
    for i in range(3):
        force_out[i] = heard.force[i]
    given = max(0.0, -power(force_out, hand_velocity) * period)
    lack = (
        data.port.energy_out[0]
        + given
        - heard.energy[0]
        - gains.initial_energy[0]
        - data.credit[0]
    )
    damping = damping_for(lack, hand_velocity, gains.port_damping_limit[0], period)
    for i in range(3):
        force_out[i] += damping * hand_velocity[i]


@kernel
def two_port_slave(
    gains: Gains,
    period: float,
    tip_position: FloatArray,
    tip_velocity: FloatArray,
    heard: Signal,
    stale: bool,
    data: SlaveData,
    command_out: SlaveCommand,
) -> None:
    """Move the setpoint with the hand as far as there is energy for it.

    Args:
        gains: K_p, K_d, E_0 and k_dc.
        period: tick [s].
        tip_position: (3,) [m].
        tip_velocity: (3,) [m/s].
        heard: the hand's position and velocity, and what went in at its port.
        stale: whether nothing came for long, so that the velocity is old.
        data: sums and credit of the robot's port, and the setpoint x_sd.
        command_out: x_sd and v_sd.
    """
    moving = 0.0 if stale else 1.0
    for i in range(3):
        command_out.force[i] = 0.0
        command_out.position[i] = data.setpoint[i]
        command_out.velocity[i] = moving * heard.velocity[i]
    _find_force(gains, tip_position, tip_velocity, command_out, data.force)
    left = (
        heard.energy[0]
        + gains.initial_energy[0]
        + data.credit[0]
        - data.port.energy_out[0]
    )
    if left > 0.0 and gains.drift_rate[0] > 0.0:
        _draw_back(gains, period, heard, left, data, command_out)
        _find_force(gains, tip_position, tip_velocity, command_out, data.force)
    given = power(data.force, command_out.velocity) * period
    square = power(data.force, data.force)
    if given > left and given > 0.0 and square > _LEAST_SQUARE:
        cut = max(left - given, -given) / (square * period)
        for i in range(3):
            command_out.velocity[i] += cut * data.force[i]


@kernel
def _draw_back(
    gains: Gains,
    period: float,
    heard: Signal,
    left: float,
    data: SlaveData,
    command_out: SlaveCommand,
) -> None:
    """Add the velocity that makes the drift good, with half the energy at most."""
    size = 0.0
    into = 0.0
    for i in range(3):
        step = gains.drift_rate[0] * (heard.position[i] - data.setpoint[i])
        size += step * step
        into += step * data.force[i]
    size = size**0.5
    most = gains.drift_speed[0]
    strength = power(data.force, data.force) ** 0.5
    if into > 0.0 and strength > 0.0:
        most = min(most, 0.5 * left / (strength * period))
    share = gains.drift_rate[0] * min(1.0, most / max(size, 1e-12))
    for i in range(3):
        command_out.velocity[i] += share * (heard.position[i] - data.setpoint[i])


@kernel
def _find_force(
    gains: Gains,
    tip_position: FloatArray,
    tip_velocity: FloatArray,
    command: SlaveCommand,
    force_out: FloatArray,
) -> None:
    """Force of the slave's controller with a command [N]."""
    for i in range(3):
        force_out[i] = gains.stiffness[i] * (
            command.position[i] - tip_position[i]
        ) + gains.damping[i] * (command.velocity[i] - tip_velocity[i])
