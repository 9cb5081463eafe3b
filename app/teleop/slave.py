"""The slave half of every strategy: from what the hand did to what the tip follows.

One call a tick. The strategy is the one that the newest signal names; a change is taken
up at the present setpoint, which is led over to the new one's no faster than
`Gains.command_speed`.
"""

from app.teleop.gains import Gains
from app.teleop.halves import SlaveCommand, SlaveData
from app.teleop.master import SILENCE
from app.teleop.model_mediated import mediated_slave
from app.teleop.passivity import observe, power, reset_port
from app.teleop.signals import Signal
from app.teleop.strategy import Strategy
from app.teleop.two_port import two_port_slave
from app.teleop.unilateral import follow
from app.teleop.wave_decoding import reset_wave
from app.teleop.waves import wave_slave
from models.numerics import FloatArray, kernel

__all__ = ["reset_slave", "slave_step"]

_WAVES = int(Strategy.WAVES)
_TWO_PORT = int(Strategy.TWO_PORT)
_MEDIATED = int(Strategy.MODEL_MEDIATED)
_SUPERVISED = int(Strategy.SUPERVISED)


@kernel
def reset_slave(tip_position: FloatArray, data: SlaveData) -> None:
    """Disengage: the next `slave_step` begins at the tip.

    Args:
        tip_position: (3,) setpoint from which the next strategy is led over [m].
        data: the half.
    """
    data.strategy[0] = -1
    for i in range(3):
        data.setpoint[i] = tip_position[i]
        data.fading[i] = 0.0
        data.force[i] = 0.0


@kernel
def slave_step(
    strategy: int,
    gains: Gains,
    period: float,
    tip_position: FloatArray,
    tip_velocity: FloatArray,
    contact_force: FloatArray,
    heard: Signal,
    data: SlaveData,
    command_out: SlaveCommand,
    sent_out: Signal,
) -> None:
    """Advance the slave half of a limb by one tick.

    Args:
        strategy: `Strategy` that is to be followed: that of `heard`.
        gains: parameters.
        period: tick [s].
        tip_position: (3,) [m].
        tip_velocity: (3,) [m/s].
        contact_force: (3,) force with which the tip pushes what it touches [N].
        heard: newest that the master told; its time is 0 until it has.
        data: the half, advanced in place.
        command_out: what the tip's controller follows. With supervised goals it is
            left alone: the executor of goals writes it.
        sent_out: what is told to the master; its time is the caller's to write.
    """
    data.began[0] = 0
    if heard.time_ns[0] == 0:
        _stay(tip_position, tip_velocity, contact_force, data, command_out, sent_out)
        return
    if strategy != data.strategy[0] or heard.engagement[0] != data.engagement[0]:
        _engage(strategy, heard, data)
    data.silent[0] = 0 if heard.fresh[0] == 1 else data.silent[0] + 1
    stale = data.silent[0] * period > SILENCE
    for i in range(3):
        sent_out.position[i] = tip_position[i]
        sent_out.velocity[i] = tip_velocity[i]
        sent_out.force[i] = contact_force[i]
    sent_out.strategy[0] = strategy
    sent_out.engagement[0] = data.engagement[0]
    sent_out.fresh[0] = 1
    data.credit[0] += (
        gains.credit[0]
        * gains.tip_damping[0]
        * power(tip_velocity, tip_velocity)
        * period
    )
    if strategy == _WAVES:
        wave_slave(
            gains,
            period,
            tip_position,
            tip_velocity,
            heard,
            data,
            command_out,
            sent_out,
        )
    elif strategy == _TWO_PORT:
        two_port_slave(
            gains, period, tip_position, tip_velocity, heard, stale, data, command_out
        )
    elif strategy == _MEDIATED:
        mediated_slave(
            gains,
            period,
            tip_position,
            tip_velocity,
            heard,
            data,
            command_out,
            sent_out,
        )
    elif strategy != _SUPERVISED:
        follow(heard, stale, command_out)
    if strategy != _WAVES and strategy != _TWO_PORT and strategy != _SUPERVISED:
        _lead_over(gains, period, data, command_out)
    for i in range(3):
        data.setpoint[i] = command_out.position[i]
        data.force[i] = (
            gains.stiffness[i] * (command_out.position[i] - tip_position[i])
            + gains.damping[i] * (command_out.velocity[i] - tip_velocity[i])
            + command_out.force[i]
        )
    observe(-power(data.force, command_out.velocity) * period, data.port)
    if strategy == _TWO_PORT:
        for i in range(3):
            sent_out.force[i] = data.force[i]
            data.setpoint[i] += command_out.velocity[i] * period
    elif strategy == _WAVES:
        for i in range(3):
            data.setpoint[i] += command_out.velocity[i] * period
    sent_out.energy[0] = data.port.energy_in[0]


@kernel
def _stay(
    tip_position: FloatArray,
    tip_velocity: FloatArray,
    contact_force: FloatArray,
    data: SlaveData,
    command_out: SlaveCommand,
    sent_out: Signal,
) -> None:
    """Before a word of the master: hold the setpoint, and tell where the tip is."""
    sent_out.fresh[0] = 1
    for i in range(3):
        command_out.position[i] = data.setpoint[i]
        command_out.velocity[i] = 0.0
        command_out.force[i] = 0.0
        sent_out.position[i] = tip_position[i]
        sent_out.velocity[i] = tip_velocity[i]
        sent_out.force[i] = contact_force[i]


@kernel
def _engage(strategy: int, heard: Signal, data: SlaveData) -> None:
    """Begin a strategy at the present setpoint."""
    data.strategy[0] = strategy
    data.engagement[0] = heard.engagement[0]
    data.began[0] = 1
    data.silent[0] = 0
    data.credit[0] = 0.0
    reset_port(data.port)
    reset_wave(data.wave)


@kernel
def _lead_over(
    gains: Gains, period: float, data: SlaveData, command_out: SlaveCommand
) -> None:
    """Lead the old setpoint over to the strategy's own."""
    if data.began[0] == 1:
        for i in range(3):
            data.fading[i] = data.setpoint[i] - command_out.position[i]
    size = power(data.fading, data.fading) ** 0.5
    share = min(1.0, period / gains.fade[0])
    if size * share > gains.command_speed[0] * period:
        share = gains.command_speed[0] * period / size
    for i in range(3):
        command_out.position[i] += data.fading[i]
        command_out.velocity[i] -= share * data.fading[i] / period
        data.fading[i] *= 1.0 - share
