"""A millisecond in which nothing is decided: what is under way goes on.

Between two frames that are heard a robot that follows setpoints has nothing to decide:
the push is trimmed, the applied pose goes on along its paths, and the push is put into
it. That is one kernel here, called instead of the longer way through `app.robot.bridge`
and `app.robot.followed`, which does the same.
"""

from typing import NamedTuple

import numpy as np

from app.robot.approach import Approach, PathsData, advance_paths
from app.robot.body import Applied
from app.robot.pressing import PressData, Pressing, press_on, pressed_pose
from app.robot.safety import Actuation
from models.bound import Bound, bind
from models.numerics import FloatArray, kernel

__all__ = ["Onward", "OnwardData", "move_on"]


class OnwardData(NamedTuple):
    """What is under way."""

    paths: PathsData
    press: PressData


@kernel
def move_on(
    data: OnwardData,
    now_ns: int,
    period: float,
    patience_ns: int,
    senses: int,
    contact: FloatArray,
    measured: FloatArray,
) -> int:
    """Go on for one step.

    Args:
        data: advanced.
        now_ns: robot time [ns].
        period: since the last step [s].
        patience_ns: a push that was told so long ago counts no more [ns].
        senses: 1 where the robot senses contact.
        contact: (L, 3) force of each tip on what it touches, hull frame [N].
        measured: (S, 3) pose [rad, rad, m].

    Returns:
        1 where something is pushed, so that the pose is in `pressed`; else 0; -1 where
        the measurement is not finite, and nothing was done.
    """
    total = 0.0
    for k in range(measured.shape[0]):
        for j in range(3):
            total += abs(measured[k, j])
    if not total < np.inf:
        return -1
    applied = data.paths.applied
    press_on(
        data.press, now_ns, period, patience_ns, senses, contact, applied, measured
    )
    advance_paths(data.paths, now_ns, period)
    return int(pressed_pose(data.press, applied, period))


class Onward:
    """Moves on what a bridge's approach and pressing have under way."""

    def __init__(self, approach: Approach, pressing: Pressing) -> None:
        """Bind both; this does not move anything.

        Args:
            approach: the bridge's own.
            pressing: the bridge's own.
        """
        pose = approach.applied
        self.data = OnwardData(approach.paths, pressing.data)
        """What `move_on` works on."""
        self._data = Bound(self.data)
        self._unfelt = pressing.unfelt
        self._move = bind(move_on, self._data, 0, 0.0, 0, 0, self._unfelt, pose)
        self.applied = (
            Applied(pose, Actuation.STIFF),
            Applied(pressing.data.pressed, Actuation.STIFF),
        )
        """What is applied, by what `move_on` returns; views."""

    def step(
        self,
        now_ns: int,
        period: float,
        patience_ns: int,
        measured: FloatArray,
        contact: FloatArray | None,
    ) -> Applied | None:
        """Go on for one step.

        Args:
            now_ns: robot time [ns].
            period: since the last step [s].
            patience_ns: a push that was told so long ago counts no more [ns].
            measured: (S, 3) pose [rad, rad, m].
            contact: (L, 3) force of each tip on what it touches, hull frame [N]; None
                where the robot senses none.

        Returns:
            What is to be applied; None where the measurement is not finite: that is
            to be decided on, and nothing was done.
        """
        felt = self._unfelt if contact is None else contact
        pushes = self._move(
            self._data,
            now_ns,
            period,
            patience_ns,
            0 if contact is None else 1,
            felt,
            measured,
        )
        return None if pushes < 0 else self.applied[pushes]
