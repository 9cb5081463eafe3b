"""What the tick does with limbs that work on goals.

    nobody's -> asked for: stand still -> known to the robot: follow what it reports
    -> stopped, and the robot has been told where it is: the operator's again

While the robot drives a limb by itself, its command here goes along with the confirmed
pose. The robot gives the limb back to setpoints only when one begins where the limb is
(`app.robot.goal_run`), so neither side jumps.
"""

import math

from app.control.arming import adopt_limb
from app.control.coupling_data import CouplingData
from app.control.tick_data import TickData
from app.messages import LinkHealth
from app.teleop.strategy import Strategy
from models.numerics import kernel
from models.robot import RobotModel

__all__ = ["FOLLOWS", "STANDS", "goes_along", "is_guided"]

STANDS = 1
"""Of `LinkHealth.goal_hold`: a goal is on its way to the limb."""
FOLLOWS = 2
"""Of `LinkHealth.goal_hold`: the limb listens to goals alone."""

_FOLLOW_S = 0.2  # time constant: sensors are noisy, and a hand-over must not be
_SUPERVISED = int(Strategy.SUPERVISED)


@kernel
def is_guided(health: LinkHealth, driven: int, coupling: CouplingData) -> bool:
    """Tell whether no hand moves the limb that is selected.

    Args:
        health: newest knowledge of goals.
        driven: limb that is selected.
        coupling: the strategy: with supervised goals hands move nothing.
    """
    return bool(health.goal_hold[driven] != 0 or coupling.strategy[0] == _SUPERVISED)


@kernel
def goes_along(
    model: RobotModel,
    period: float,
    health: LinkHealth,
    limb: int,
    data: TickData,
    coupling: CouplingData,
) -> bool:
    """Let the command of a limb that works on a goal go along with the robot.

    Args:
        model: the robot.
        period: tick [s].
        health: newest knowledge of goals and poses.
        limb: which.
        data: of the tick.
        coupling: its grip is left as the goal left the gripper.

    Returns:
        Whether the limb's command is settled for this tick.
    """
    hold = health.goal_hold[limb]
    if hold == 0:
        return False
    for i in range(3):
        data.target[limb, i] = data.tip[limb, i]
    if hold != FOLLOWS:
        return False
    adopt_limb(model, health, limb, period / _FOLLOW_S, data)
    if math.isfinite(health.goal_grip[limb]):
        coupling.grip[limb] = min(max(health.goal_grip[limb], 0.0), 1.0)
    return True
