"""What of the control loop's state somebody has to act on, and whether it has changed.

A state is written every millisecond, and most are of interest to nobody but the next.
Virtual time runs on until a state has news: what the station tells the robot beside a
command, or what it tells the person (`app.station.watch`, `app.station.exchange`).
"""

from app.messages import StationState
from models.numerics import IntArray, kernel
from models.robot import RobotModel

__all__ = ["note_news", "told_words"]

_SINGLE, _EACH_LIMB = 6, 3


def told_words(model: RobotModel) -> int:
    """Return how many words `note_news` keeps for a robot."""
    return _SINGLE + _EACH_LIMB * int(model.tip_speed_limit.size)


@kernel
def _note(value: int, place: int, told_out: IntArray) -> int:
    before, told_out[place] = told_out[place], value
    return int(before != value)


@kernel
def note_news(state: StationState, told_out: IntArray) -> int:
    """Note what a state has to tell.

    Args:
        state: the newest.
        told_out: (told_words,) what the last had to tell, replaced.

    Returns:
        1 where it is something else; 0 else.
    """
    news = _note(state.mode[0], 0, told_out)
    news |= _note(state.arm_epoch[0], 1, told_out)
    news |= _note(state.arm_refusal[0], 2, told_out)
    news |= _note(state.active_source[0], 3, told_out)
    news |= _note(state.strategy[0], 4, told_out)
    news |= _note(state.sent_engagement[0], 5, told_out)
    limbs = state.fault.size
    for limb in range(limbs):
        place = _SINGLE + _EACH_LIMB * limb
        news |= _note(state.fault[limb], place, told_out)
        news |= _note(state.surface_status[limb], place + 1, told_out)
        news |= _note(state.unexplained[limb], place + 2, told_out)
    return int(news)
