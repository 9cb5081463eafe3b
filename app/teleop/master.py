"""The master half of every strategy: from the hand's motion to the hand's force.

One call a tick. A change of strategy is taken up at the present pose: the hand leans on
a spring that begins with the force that was shown and can only resist. It does so until
the robot follows the new strategy, and again whenever the robot is silent; then the
strategy's own force takes over within `Gains.fade`. A greater force takes over only as
far as the hand has put energy in, so that a change never pushes the hand.

Forces are what the hand pushes with (`app.teleop.signals`): a device shows minus
`force_out`. Positions, velocities and forces are in the robot's scale; a device's force
is the scaled one (`Gains.power_scale` is the ratio of the powers).
"""

from app.teleop.gains import Gains
from app.teleop.halves import MasterData
from app.teleop.model_mediated import mediated_master
from app.teleop.passivity import observe, power, reset_port
from app.teleop.position_force import position_force_master
from app.teleop.position_position import position_position_master
from app.teleop.render import render
from app.teleop.signals import Signal
from app.teleop.strategy import Strategy
from app.teleop.two_port import two_port_master
from app.teleop.unilateral import unilateral_master
from app.teleop.wave_decoding import reset_wave
from app.teleop.waves import wave_master
from models.environment import LocalSurface
from models.numerics import FloatArray, called_kernel, kernel

__all__ = ["SILENCE", "master_step", "reset_master"]

SILENCE = 0.5
"""Time without a word of the other half after which it counts as silent [s]."""

_JUST_TUNED = 2
_ALIKE = 1e-3  # forces between which there is nothing to bridge [N]
_BRAKE = 5.0  # how much faster a force gives way than it takes over
_POSITION_POSITION = int(Strategy.POSITION_POSITION)
_POSITION_FORCE = int(Strategy.POSITION_FORCE)
_WAVES = int(Strategy.WAVES)
_TWO_PORT = int(Strategy.TWO_PORT)
_MEDIATED = int(Strategy.MODEL_MEDIATED)


@kernel
def reset_master(data: MasterData) -> None:
    """Disengage: the next `master_step` begins with no force and no energy.

    Args:
        data: the half; its count of engagements goes on.
    """
    data.strategy[0] = -1
    for i in range(3):
        data.force[i] = 0.0
    data.reserve[0] = 0.0
    data.guard[0] = 0.0
    reset_port(data.session)


@called_kernel
def master_step(
    strategy: int,
    gains: Gains,
    period: float,
    hand_position: FloatArray,
    hand_velocity: FloatArray,
    heard: Signal,
    surface: LocalSurface,
    data: MasterData,
    force_out: FloatArray,
    sent_out: Signal,
) -> None:
    """Advance the master half of a limb by one tick.

    Args:
        strategy: `Strategy` to be used; a new number engages it.
        gains: parameters.
        period: tick [s].
        hand_position: (3,) of the hand, mapped to the tip's frame and scale [m].
        hand_velocity: (3,) [m/s].
        heard: newest that the slave told.
        surface: local environment, for the model-mediated strategy alone.
        data: the half, advanced in place.
        force_out: (3,) force that the hand is to push against [N].
        sent_out: what is told to the slave; its time is the caller's to write.
    """
    if strategy != data.strategy[0]:
        _engage(strategy, hand_position, data)
    tuned = _listen(period, hand_position, heard, data)
    for i in range(3):
        sent_out.position[i] = hand_position[i]
        sent_out.velocity[i] = hand_velocity[i]
        force_out[i] = 0.0
        sent_out.force[i] = 0.0
    sent_out.strategy[0] = strategy
    sent_out.engagement[0] = data.engagement[0]
    sent_out.fresh[0] = 1
    data.credit[0] += (
        gains.credit[0]
        * gains.handle_damping[0]
        * power(hand_velocity, hand_velocity)
        * period
    )
    if not tuned:
        _lean(gains, hand_position, data)
        for i in range(3):
            force_out[i] = data.leaning[i]
    if strategy == _POSITION_POSITION and tuned:
        position_position_master(gains, hand_position, hand_velocity, heard, force_out)
    elif strategy == _POSITION_FORCE and tuned:
        position_force_master(gains, heard, force_out)
    elif strategy == _WAVES:
        wave_master(
            gains, period, hand_velocity, heard, tuned, data, force_out, sent_out
        )
    elif strategy == _TWO_PORT and tuned:
        two_port_master(gains, period, hand_velocity, heard, data, force_out)
    elif strategy == _MEDIATED:
        mediated_master(
            gains,
            period,
            hand_position,
            hand_velocity,
            surface,
            data,
            force_out,
            sent_out,
        )
    elif strategy > _MEDIATED:
        unilateral_master(force_out)
    if tuned and data.share[0] < 1.0:
        _take_over(gains, period, hand_position, data, force_out)
    render(gains, period, hand_velocity, data, force_out)
    energy = power(force_out, hand_velocity) * period
    burnt = data.guard[0] * power(hand_velocity, hand_velocity) * period
    observe(energy - burnt, data.port)
    observe(energy * gains.power_scale[0], data.session)
    sent_out.energy[0] = data.port.energy_in[0]


@kernel
def _engage(strategy: int, hand_position: FloatArray, data: MasterData) -> None:
    """Begin a strategy at the present pose, with the force that is shown."""
    data.strategy[0] = strategy
    data.engagement[0] += 1
    data.began[0] = 2
    data.credit[0] = 0.0
    reset_port(data.port)
    reset_wave(data.wave)
    _begin_to_lean(hand_position, data)


@kernel
def _begin_to_lean(hand_position: FloatArray, data: MasterData) -> None:
    """Set the spring that the hand leans on."""
    data.waiting[0] = 1
    data.share[0] = 0.0
    for i in range(3):
        data.leaning_first[i] = data.force[i]
        data.leaning_at[i] = hand_position[i]


@kernel
def _listen(
    period: float, hand_position: FloatArray, heard: Signal, data: MasterData
) -> bool:
    """Note whether the slave follows this engagement and is heard."""
    if data.began[0] > 0:
        data.began[0] -= 1
    if data.strategy[0] >= _MEDIATED:
        data.waiting[0] = _JUST_TUNED if data.began[0] == 1 else 0
        return True
    data.silent[0] += 1
    follows = heard.time_ns[0] > 0 and heard.engagement[0] == data.engagement[0]
    if follows and heard.fresh[0] == 1:
        data.silent[0] = 0
        if data.waiting[0] == 1:
            data.waiting[0] = _JUST_TUNED
    if data.waiting[0] != 1 and data.silent[0] * period > SILENCE:
        _begin_to_lean(hand_position, data)
    return bool(data.waiting[0] != 1)


@kernel
def _lean(gains: Gains, hand_position: FloatArray, data: MasterData) -> None:
    """Force of the spring that the hand leans on; it can only resist."""
    size = power(data.leaning_first, data.leaning_first) ** 0.5
    force = size
    for i in range(3):
        data.leaning[i] = 0.0
        if size > 0.0:
            way = hand_position[i] - data.leaning_at[i]
            force += gains.stiffness[i] * way * data.leaning_first[i] / size
    if force > 0.0 and size > 0.0:
        for i in range(3):
            data.leaning[i] = force * data.leaning_first[i] / size


@kernel
def _take_over(
    gains: Gains,
    period: float,
    hand_position: FloatArray,
    data: MasterData,
    force_out: FloatArray,
) -> None:
    """Pass from the spring to the strategy's own force."""
    _lean(gains, hand_position, data)
    greater = power(force_out, force_out) > power(data.leaning, data.leaning)
    step = period / gains.fade[0]
    apart = 0.0
    for i in range(3):
        apart += (force_out[i] - data.leaning[i]) ** 2
    if data.waiting[0] == _JUST_TUNED and apart < _ALIKE * _ALIKE:
        step = 1.0
    elif greater and data.reserve[0] < 0.0:
        step *= -_BRAKE
    data.waiting[0] = 0
    data.share[0] = min(max(data.share[0] + step, 0.0), 1.0)
    for i in range(3):
        force_out[i] = (
            data.share[0] * force_out[i] + (1.0 - data.share[0]) * data.leaning[i]
        )
