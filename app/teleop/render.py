"""The last stage before the hand: guard, cap and slew limit of the shown force.

The guard counts the energy of the force that is really rendered, after cap and slew
limit, so what these may give by lagging is its to damp. It never believes to have more
than a reserve: long pressing does not buy a long push. Its damping is 20 N s/m at most
and passes the slew limit as every other force does.
"""

from app.teleop.gains import Gains
from app.teleop.halves import MasterData
from app.teleop.passivity import damping_for, power
from models.numerics import FloatArray, kernel

__all__ = ["limit_force", "render"]


@kernel
def limit_force(
    shown: FloatArray, slew: float, cap: float, period: float, force_out: FloatArray
) -> bool:
    """Keep a force within a ball, and its change within one tick.

    The cap acts on what is aimed at; a force above a cap that was lowered comes down
    with the slew limit, so that no change is ever greater.

    Args:
        shown: (3,) force of the last tick [N].
        slew: greatest change [N/s].
        cap: greatest size [N].
        period: tick [s].
        force_out: (3,) force that is wanted, limited in place [N].

    Returns:
        Whether something was cut.
    """
    cut = False
    size = power(force_out, force_out) ** 0.5
    if size > cap:
        cut = True
        for i in range(3):
            force_out[i] *= cap / size
    change = 0.0
    for i in range(3):
        change += (force_out[i] - shown[i]) ** 2
    change = change**0.5
    if change > slew * period:
        cut = True
        share = slew * period / change
        for i in range(3):
            force_out[i] = shown[i] + share * (force_out[i] - shown[i])
    return cut


@kernel
def render(
    gains: Gains,
    period: float,
    hand_velocity: FloatArray,
    data: MasterData,
    force_out: FloatArray,
) -> None:
    """Guard and limit the force of a strategy.

    A force that is not finite is shown as none.

    Args:
        gains: limits of the device and of the guard.
        period: tick [s].
        hand_velocity: (3,) [m/s].
        data: the guard's reserve and damping, and the force shown last, advanced.
        force_out: (3,) force that the strategy wants, made the one to be shown [N].
    """
    if not power(force_out, force_out) < 1e12:
        for i in range(3):
            force_out[i] = 0.0
    data.guard[0] = 0.0
    if gains.guarded[0] == 1:
        energy = power(force_out, hand_velocity) * period
        data.guard[0] = damping_for(
            -data.reserve[0] - energy, hand_velocity, gains.guard_damping[0], period
        )
        for i in range(3):
            force_out[i] += data.guard[0] * hand_velocity[i]
    limit_force(data.force, gains.slew[0], gains.force_limit[0], period, force_out)
    data.reserve[0] = min(
        data.reserve[0] + power(force_out, hand_velocity) * period,
        gains.guard_reserve[0],
    )
    for i in range(3):
        data.force[i] = force_out[i]
