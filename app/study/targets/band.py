"""A run of one degree of freedom whose signals pass a perceptual deadband, both ways.

What is sent decides what is heard, and that what is sent later. It is found by running
again with what the last run's signals let through: as a signal takes a delay to have an
effect, each run is right for one delay longer than the last, and the fixed point is the
run with the deadband in the loop.
"""

from typing import NamedTuple

import numpy as np

from app.link.signal_deadband import (
    FORCE_DEADBAND,
    POSITION_DEADBAND,
    VELOCITY_DEADBAND,
    DeadbandModel,
    StreamData,
    allocate_stream,
    must_send,
    note_sample,
)
from app.link.signal_fields import DOWN_FIELDS, UP_FIELDS
from app.link.signal_section import SignalField
from app.study.one_dof import Run, run_one_dof
from app.study.one_dof_setup import Setup
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["BandModel", "Banded", "band_ticks", "run_banded"]

_KEEP_NS = 500_000_000
_MOST_ROUNDS = 400


class BandModel(NamedTuple):
    """The bands of a way's quantities, and which of them it tells (1) or not (0)."""

    position: DeadbandModel
    velocity: DeadbandModel
    force: DeadbandModel
    tells_position: int
    tells_velocity: int
    tells_force: int


@kernel
def band_ticks(
    model: BandModel,
    times: IntArray,
    position: FloatArray,
    velocity: FloatArray,
    force: FloatArray,
    position_data: StreamData,
    velocity_data: StreamData,
    force_data: StreamData,
    sent_out: IntArray,
) -> int:
    """Decide tick by tick which signals of one way go.

    Args:
        model: bands, and what is told.
        times: (n,) [ns].
        position: (n, 3) [m].
        velocity: (n, 3) [m/s].
        force: (n, 3) [N].
        position_data: what the other side has of it; likewise the two that follow.
        velocity_data: of the velocity.
        force_data: of the force.
        sent_out: (n,) 1 where the signal goes.

    Returns:
        How many go.
    """
    sent = 0
    for k in range(times.size):
        now = times[k : k + 1]
        must = False
        if model.tells_position:
            must = must_send(model.position, now, position[k], position_data)
        if model.tells_velocity:
            must |= must_send(model.velocity, now, velocity[k], velocity_data)
        if model.tells_force:
            must |= must_send(model.force, now, force[k], force_data)
        sent_out[k] = must
        if must:
            sent += 1
            note_sample(now, position[k], position_data)
            note_sample(now, velocity[k], velocity_data)
            note_sample(now, force[k], force_data)
    return sent


class Banded(NamedTuple):
    """A run with deadband."""

    run: Run
    down: IntArray
    """(n,) 1 at the ticks in which the hand's signal went."""
    up: IntArray
    """(n,) 1 at those in which the robot's did."""
    exact: bool
    """Whether the fixed point was reached."""


def _model(fields: SignalField, share: float) -> BandModel:
    position, velocity, force = (
        band._replace(share=share if band.share > 0.0 else 0.0, keep_ns=_KEEP_NS)
        for band in (POSITION_DEADBAND, VELOCITY_DEADBAND, FORCE_DEADBAND)
    )
    return BandModel(
        position,
        velocity,
        force,
        int(bool(fields & SignalField.POSITION)),
        int(bool(fields & SignalField.VELOCITY)),
        int(bool(fields & SignalField.FORCE)),
    )


def _along(values: FloatArray) -> FloatArray:
    whole = np.zeros((values.size, 3))
    whole[:, 0] = values
    return whole


def _decide(
    model: BandModel, position: FloatArray, velocity: FloatArray, force: FloatArray
) -> IntArray:
    sent = np.ones(position.size, dtype=np.int64)
    if not (model.tells_position or model.tells_velocity or model.tells_force):
        return sent
    times = 1_000_000 * np.arange(1, position.size + 1, dtype=np.int64)
    band_ticks(
        model,
        times,
        _along(position),
        _along(velocity),
        _along(force),
        allocate_stream(),
        allocate_stream(),
        allocate_stream(),
        sent,
    )
    return sent


def run_banded(setup: Setup, share: float) -> Banded:
    """Run a set-up with a deadband of a Weber fraction; 0: all is sent.

    Where the robot's half tells nothing by signals (model mediation tells surfaces,
    when they change) its way is left as it is.
    """
    strategy = int(setup.strategy)
    down_model = _model(DOWN_FIELDS[strategy], share)
    up_model = _model(UP_FIELDS[strategy], share)
    # the harness tells the hand's place and speed with every strategy
    down_model = down_model._replace(tells_position=1, tells_velocity=1)
    run = run_one_dof(setup)
    every = np.ones(setup.ticks, dtype=np.int64)
    down, up = every, every
    if share <= 0.0:
        return Banded(run, down, up, exact=True)
    for _ in range(_MOST_ROUNDS):
        trace = run.traces
        wanted_down = _decide(
            down_model, trace.hand, trace.hand_velocity, trace.hand_force
        )
        wanted_up = _decide(
            up_model, trace.tip, trace.tip_velocity, trace.contact_force
        )
        if np.array_equal(wanted_down, down) and np.array_equal(wanted_up, up):
            return Banded(run, down, up, exact=True)
        down, up = wanted_down, wanted_up
        run = run_one_dof(setup, told=(down, up))
    return Banded(run, down, up, exact=False)
