"""Wave variables: the delay becomes a line of impedance b, passive whatever its length.

    master:  F_m = b v_m - sqrt(2b) w_in,  tells  u = sqrt(2b) v_m - w_in
    slave:   v_sd = (sqrt(2b) u_in - K_p (x_sd - x_s) + K_d v_s) / (b + K_d)
             F_s = sqrt(2b) u_in - b v_sd,  tells  w = sqrt(2b) v_sd - u_in

(Anderson and Spong 1989; Niemeyer and Slotine 1991.) For a constant delay the line has
E = 1/2 sum(u_m^2 - u_s^2 + w_s^2 - w_m^2) h >= 0. At rest it is a spring of b/T, so a
wall is shown as 1 / (1/K_p + 1/K_e + T/b). The position of hand and tip is not tied:
it drifts by what is lost or quantised. `app.teleop.wave_decoding` says what is made of
lost and late waves.
"""

import numpy as np

from app.teleop.gains import Gains
from app.teleop.halves import MasterData, SlaveCommand, SlaveData
from app.teleop.signals import Signal
from app.teleop.wave_decoding import decode_wave
from models.numerics import FloatArray, kernel

__all__ = ["wave_master", "wave_slave"]


@kernel
def wave_master(
    gains: Gains,
    period: float,
    hand_velocity: FloatArray,
    heard: Signal,
    tuned: bool,
    data: MasterData,
    force_out: FloatArray,
    sent_out: Signal,
) -> None:
    """Advance the master's end of the line.

    Args:
        gains: b, what is made of missing waves, matching.
        period: tick [s].
        hand_velocity: (3,) [m/s].
        heard: the slave's wave w and its integral.
        tuned: whether the slave follows. Until it does, the line ends in the spring
            that the hand leans on.
        data: this end.
        force_out: (3,) on the way in the force of that spring [N].
        sent_out: wave u and its integral.
    """
    impedance = gains.wave_impedance[0]
    root = np.sqrt(2.0 * impedance)
    if tuned:
        decode_wave(gains, period, heard, data.credit[0], data.wave)
    for i in range(3):
        if tuned:
            force_out[i] = impedance * hand_velocity[i] - root * data.wave.passed[i]
        wave = (impedance * hand_velocity[i] + force_out[i]) / root
        force_out[i] += gains.wave_match[0] * hand_velocity[i]
        data.wave.sent[i] += wave * period
        sent_out.wave[i] = wave
        sent_out.wave_integral[i] = data.wave.sent[i]


@kernel
def wave_slave(
    gains: Gains,
    period: float,
    tip_position: FloatArray,
    tip_velocity: FloatArray,
    heard: Signal,
    data: SlaveData,
    command_out: SlaveCommand,
    sent_out: Signal,
) -> None:
    """Advance the slave's end of the line, and set where the tip goes.

    Args:
        gains: b, K_p, K_d.
        period: tick [s].
        tip_position: (3,) [m].
        tip_velocity: (3,) [m/s].
        heard: the master's wave u and its integral.
        data: this end, and the setpoint x_sd.
        command_out: x_sd and v_sd, and the force that K_d = b adds where matched.
        sent_out: wave w and its integral.
    """
    impedance = gains.wave_impedance[0]
    root = np.sqrt(2.0 * impedance)
    decode_wave(gains, period, heard, data.credit[0], data.wave)
    for i in range(3):
        damping = impedance if gains.wave_match[0] > 0.0 else gains.damping[i]
        came = data.wave.passed[i]
        velocity = (
            root * came
            - gains.stiffness[i] * (data.setpoint[i] - tip_position[i])
            + damping * tip_velocity[i]
        ) / (impedance + damping)
        command_out.position[i] = data.setpoint[i]
        command_out.velocity[i] = velocity
        command_out.force[i] = (damping - gains.damping[i]) * (
            velocity - tip_velocity[i]
        )
        wave = root * velocity - came
        data.wave.sent[i] += wave * period
        sent_out.wave[i] = wave
        sent_out.wave_integral[i] = data.wave.sent[i]
