"""What the tick remembers of the local model beside the model's own state."""

from typing import NamedTuple

import numpy as np

from models.mismatch import MismatchData, MismatchModel, build_mismatch
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel
from models.state_history import StateHistoryData, allocate_history

__all__ = ["LocalData", "allocate_local_data"]

_HISTORY_S = 12.0  # more than the slowest round trip
_TIP_NOISE = 1e-3  # m, of a shape sensor's tip; ASSUMED
_TIP_STEP = 1e-3  # m, of standard telemetry


class LocalData(NamedTuple):
    """Mutable state of `app.control.local_model`; L limbs, S segments."""

    wound: FloatArray  # (S, 3) command that the winches' lengths belong to
    tip_shown: FloatArray  # (L, 3) of the local model, where a surface is known
    tip_speed: FloatArray  # (3,)
    touched: IntArray  # (L,) 1 once that is known
    pushed_ns: IntArray  # (L,) when a surface last pushed the tip [ns]
    history: StateHistoryData  # of `shown`
    shown: FloatArray  # (3 S,) pose of the local model, corrected by telemetry
    measured: FloatArray  # (S, 3)
    error: FloatArray  # (3 S,)
    tip_measured: FloatArray  # (3,)
    tip_error: FloatArray  # (3,)
    time_ns: IntArray  # (1,)
    compared_ns: IntArray  # (L,) measurement that was compared last
    poses: FloatArray  # (longest + 1, 4, 4)
    mismatch_model: MismatchModel
    mismatch: MismatchData  # every field (L,)


def allocate_local_data(model: RobotModel) -> LocalData:
    """Make the state of a local model that nothing has been compared with."""
    limbs = model.tip_speed_limit.size
    longest = int(np.max(np.diff(model.limb_segment_start)))

    def ints(size: int) -> IntArray:
        return np.zeros(size, dtype=np.int64)

    return LocalData(
        wound=np.full_like(model.rest_coordinates, np.nan),
        tip_shown=np.zeros((limbs, 3)),
        tip_speed=np.zeros(3),
        touched=ints(limbs),
        pushed_ns=ints(limbs),
        history=allocate_history(model.rest_coordinates.size, _HISTORY_S),
        shown=model.rest_coordinates.reshape(-1).copy(),
        measured=np.zeros_like(model.rest_coordinates),
        error=np.zeros(model.rest_coordinates.size),
        tip_measured=np.zeros(3),
        tip_error=np.zeros(3),
        time_ns=ints(1),
        compared_ns=ints(limbs),
        poses=np.zeros((longest + 1, 4, 4)),
        mismatch_model=build_mismatch(_TIP_NOISE, _TIP_STEP),
        mismatch=MismatchData(
            np.zeros(limbs), np.zeros(limbs), ints(limbs), ints(limbs)
        ),
    )
