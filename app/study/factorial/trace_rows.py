"""How a trace's columns lie in its table, and the kernel that fills them."""

from typing import NamedTuple

import numpy as np

from app.control.mailbox import Layout
from app.messages import StationMode, StationState, state_shapes
from app.study.task_truth import MomentsData
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotModel

__all__ = ["SPANS", "WIDTH", "RowsData", "allocate_rows", "write_rows"]

_COLUMNS = {
    "time_s": 1,
    "tip": 3,  # true
    "hand": 3,  # where the operator wants the tip
    "shown": 3,  # the local model's tip
    "force_hand": 3,  # that the hand pushes with
    "force_tip": 3,  # that the tip pushes with, true
    "force_limb": 3,  # that the whole limb pushes with, true
    "force_told": 3,  # that the tip pushes with, as the station has heard
    "object": 3,  # place of the object, NaN where there is none
    "port_energy": 1,
    "injected_energy": 1,
    "mismatch": 1,
    "surface_stiffness": 1,  # as rendered, NaN while none is known
    "surface_point": 3,
    "surface_normal": 3,
    "driving": 1,
    "held": 1,
}
_OF_LIMB = {  # fields of the station's state, by the columns that are theirs
    "hand": "target_position",
    "shown": "tip_model",
    "port_energy": "port_energy",
    "injected_energy": "injected_energy",
    "mismatch": "mismatch",
    "surface_stiffness": "surface_stiffness",
    "surface_point": "surface_point",
    "surface_normal": "surface_normal",
}
SPANS: dict[str, slice] = {}
"""Where the columns are, by name."""
WIDTH = 0
"""Numbers in a millisecond."""
for _name, _size in _COLUMNS.items():
    SPANS[_name] = slice(WIDTH, WIDTH + _size)
    WIDTH += _size

_TIME, _TIP = SPANS["time_s"].start, SPANS["tip"].start
_FORCE_TIP, _FORCE_LIMB = SPANS["force_tip"].start, SPANS["force_limb"].start
_OBJECT, _STIFFNESS = SPANS["object"].start, SPANS["surface_stiffness"].start
_DRIVING, _HELD = SPANS["driving"].start, SPANS["held"].start
_ARMED = int(StationMode.ARMED)


class RowsData(NamedTuple):
    """A table that is being filled, and what it is filled from."""

    moments: MomentsData
    words: IntArray
    """(WIDTH,) word of the station's state that is a column; -1 = none is."""
    known: int
    """Word that says whether a surface is known."""
    mode: int
    """Word of its mode."""
    source: int
    """Word of the source in charge."""
    touches: bool
    """Whether there is anything that the tip could touch."""
    table: FloatArray
    """(n, WIDTH)."""


def allocate_rows(
    model: RobotModel, limb: int, moments: MomentsData, count: int, *, touches: bool
) -> RowsData:
    """Return an empty table.

    Args:
        model: the robot.
        limb: index of the limb.
        moments: what was true.
        count: of milliseconds that it takes.
        touches: see `RowsData`.
    """
    layout = Layout(StationState, state_shapes(model))
    first = {name: at for name, at, _ in layout.describe()}
    words = np.full(WIDTH, -1)
    words[SPANS["force_hand"]] = first["force_hand"] + np.arange(3)
    for column, field in _OF_LIMB.items():
        size = _COLUMNS[column]
        words[SPANS[column]] = first[field] + size * limb + np.arange(size)
    return RowsData(
        moments=moments,
        words=words,
        known=first["surface_known"] + limb,
        mode=first["mode"],
        source=first["active_source"],
        touches=touches,
        table=np.zeros((count, WIDTH)),
    )


@kernel
def write_rows(
    data: RowsData,
    states: IntArray,
    numbers: FloatArray,
    first: int,
    row: int,
    given: bool,
) -> None:
    """Write milliseconds into the table; the force that was told is left out.

    Args:
        data: its table is written.
        states: (n, words) of the station, one a millisecond.
        numbers: the same as floats.
        first: number of the first millisecond.
        row: of the table, for the first.
        given: whether a goal has been given, which drives as a hand does.
    """
    moments = data.moments
    for k in range(states.shape[0]):
        at, out = (first + k) % moments.time_ns.size, data.table[row + k]
        for column in range(data.words.size):
            if data.words[column] >= 0:
                out[column] = numbers[k, data.words[column]]
        out[_TIME] = 1e-3 * (first + k + 1)
        for i in range(3):
            out[_TIP + i] = moments.tip[at, i]
            out[_FORCE_TIP + i] = -moments.tip_force[at, i] if data.touches else 0.0
            out[_FORCE_LIMB + i] = -moments.force[at, i]
            out[_OBJECT + i] = moments.place[at, i]
        if states[k, data.known] == 0:
            out[_STIFFNESS] = np.nan
        driven = given or states[k, data.source] >= 0
        out[_DRIVING] = 1.0 if driven and states[k, data.mode] == _ARMED else 0.0
        out[_HELD] = 1.0 if moments.held[at] == 1 else 0.0
