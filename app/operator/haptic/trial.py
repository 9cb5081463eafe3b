"""A haptic session in virtual time: does any force step exceed the slew limit?

The kernels of the haptic thread (`render_force`), of the control tick (`map_hand`,
`map_force`) and of the simulated hand, a millisecond a turn, through random trouble:
the device goes and comes back, the control loop falls silent, the clutch is pressed,
the force that is asked for jumps, is far beyond the limit or is not a number. Ten
minutes take a second or two. `scripts/haptic_session` runs it, and the same live.
"""

from typing import NamedTuple

import numpy as np

from app.messages import INPUT_SHAPES, InputBlock
from app.operator.haptic.hand import (
    HandData,
    HandModel,
    allocate_hand,
    move_hand,
    place_hand,
)
from app.operator.haptic.mapping import (
    MAPPED,
    MappingData,
    MappingModel,
    allocate_mapping,
    map_force,
    map_hand,
)
from app.operator.haptic.rendering import (
    RenderData,
    RenderModel,
    allocate_render_data,
    render_force,
)
from app.operator.haptic.signals import (
    HapticForce,
    HapticSample,
    allocate_force,
    allocate_sample,
)
from models.numerics import FloatArray, IntArray, inner_kernel, kernel

__all__ = [
    "TrialResult",
    "TrialWork",
    "Trouble",
    "draw_trouble",
    "run_trial",
    "step_turns",
]

_GONE, _SILENT, _CLUTCH = 1, 2, 4
_TURN_NS = 1_000_000
_LATE_NS = 130_000_000


class Trouble(NamedTuple):
    """What happens, a row a millisecond."""

    what: IntArray
    """(n,) bits: 1 the device is gone, 2 the control loop is silent, 4 clutch."""
    force: FloatArray
    """(n, 3) asked for beside the wall, hull frame [N]."""


class TrialWork(NamedTuple):
    """What the turns remember; all (3,) but the results."""

    nothing: FloatArray
    """Zeros."""
    told: FloatArray
    """Force that the device was told [N]."""
    before: FloatArray
    """The one before [N]."""
    aim: FloatArray
    """Where the hand wants to be [m]."""
    asked: FloatArray
    """Force that is asked for, hull frame [N]."""
    target: FloatArray
    """The tip's target a turn ago [m]."""
    hand: FloatArray
    """Where the hand was a turn ago [m]."""
    results: FloatArray
    """(4,) as `TrialResult` begins."""


class TrialResult(NamedTuple):
    """What was found.

    Attributes:
        greatest_step: between two forces that the device was told [N].
        greatest_force: [N].
        late_force: greatest 0.13 s and more after the loop fell silent [N].
        greatest_jump: of the tip's target in a turn, beyond S times the hand's [m].
        disconnects: how often the device went.
        silences: how often the loop fell silent.
        clutches: how often the clutch was pressed.
        jumps: how often the asked force changed by more than the slew limit allows.
    """

    greatest_step: float
    greatest_force: float
    late_force: float
    greatest_jump: float
    disconnects: int
    silences: int
    clutches: int
    jumps: int


def draw_trouble(seconds: float, seed: int) -> Trouble:
    """Draw trouble: something about twice a second.

    Args:
        seconds: length [s].
        seed: of the draws.
    """
    generator = np.random.default_rng(seed)
    count = round(1000 * seconds)
    what = np.zeros(count, dtype=np.int64)
    for bit, mean_ms, lengths_ms in (
        (_GONE, 4000.0, (1, 900)),
        (_SILENT, 1500.0, (5, 400)),
        (_CLUTCH, 1500.0, (20, 800)),
    ):
        start = 0
        while start < count:
            start += round(generator.exponential(mean_ms)) + 1
            length = int(generator.integers(*lengths_ms))
            what[start : start + length] |= bit
            start += length
    force = np.zeros((count, 3))
    start = 0
    while start < count:
        length = int(generator.integers(1, 1500))
        asked = generator.normal(0.0, 3.0, 3) * generator.choice([0.0, 1.0, 1.0, 20.0])
        if generator.random() < 0.02:
            asked[0] = np.nan
        force[start : start + length] = asked
        start += length
    return Trouble(what, force)


def run_trial(
    render: RenderModel,
    hand: HandModel,
    mapping: MappingModel,
    trouble: Trouble,
    wall_stiffness: float = 1000.0,
) -> TrialResult:
    """Run a session: a hand goes to and fro through a wall, with trouble.

    Args:
        render: bounds of the force.
        hand: arm and handle.
        mapping: scale and turn; its deadman is held all the time.
        trouble: what happens.
        wall_stiffness: of a wall across the hand's way, at the hand [N/m].
    """
    data = allocate_hand(hand)
    place_hand(data, 0, mapping.centre)
    rows = np.zeros((7, 3))
    work = TrialWork(
        rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], np.zeros(4)
    )
    command = InputBlock(
        **{name: np.zeros(shape, kind) for name, (kind, shape) in INPUT_SHAPES.items()}
    )
    step_turns(
        render,
        hand,
        mapping,
        trouble.what,
        trouble.force,
        wall_stiffness,
        data,
        allocate_render_data(),
        allocate_mapping(),
        work,
        allocate_sample(),
        allocate_force(),
        command,
    )
    onsets = np.diff(trouble.what, prepend=0) & trouble.what
    change = np.linalg.norm(np.diff(np.nan_to_num(trouble.force), axis=0), axis=1)
    jumps = np.count_nonzero(change > render.slew_limit * render.period)
    step, force, late, jump = work.results
    return TrialResult(
        float(step),
        float(force),
        float(late),
        float(jump),
        int(np.count_nonzero(onsets & _GONE)),
        int(np.count_nonzero(onsets & _SILENT)),
        int(np.count_nonzero(onsets & _CLUTCH)),
        int(jumps),
    )


@inner_kernel
def _distance(first: FloatArray, second: FloatArray) -> float:
    square = 0.0
    for i in range(3):
        square += (first[i] - second[i]) ** 2
    return float(np.sqrt(square))


@kernel
def step_turns(
    render: RenderModel,
    hand: HandModel,
    mapping: MappingModel,
    what: IntArray,
    extra: FloatArray,
    wall_stiffness: float,
    data: HandData,
    render_data: RenderData,
    mapping_data: MappingData,
    work: TrialWork,
    sample_out: HapticSample,
    force_out: HapticForce,
    command_out: InputBlock,
) -> None:
    """Step every millisecond.

    Args:
        render: bounds of the force.
        hand: arm and handle.
        mapping: scale and turn.
        what: (n,) bits of `Trouble`.
        extra: (n, 3) forces of `Trouble`.
        wall_stiffness: of a wall across the hand's way [N/m].
        data: the hand, moved in place.
        render_data: memory of rendering.
        mapping_data: memory of mapping.
        work: what is found.
        sample_out: last reading.
        force_out: last force that was asked for.
        command_out: last input of the control tick.
    """
    turn = mapping.rotation_device_to_hull
    results = work.results
    target = mapping_data.target
    spoken_ns = 0
    present = 0
    for k in range(what.size):
        now_ns = (k + 1) * _TURN_NS
        # the haptic thread: out with the force, in with the reading
        for i in range(3):
            work.before[i] = work.told[i]
        if what[k] & _GONE:
            present = 0
            for i in range(3):
                work.told[i] = 0.0
        else:
            if present == 0:
                present = 1
                sample_out.opened[0] += 1
                render_data.gain[0] = 0.0
            render_force(
                render, now_ns, False, work.before, force_out, render_data, work.told
            )
            results[0] = max(results[0], _distance(work.told, work.before))
            results[1] = max(results[1], _distance(work.told, work.nothing))
            if now_ns - spoken_ns > _LATE_NS:
                results[2] = max(results[2], _distance(work.told, work.nothing))
        # the hand
        angle = 0.5e-9 * np.pi * (now_ns % 4_000_000_000)
        for i in range(3):
            work.hand[i] = data.position[i]
            work.aim[i] = mapping.centre[i] + 0.06 * turn[0, i] * np.sin(angle)
        move_hand(hand, now_ns, work.aim, work.nothing, work.told, work.nothing, data)
        sample_out.present[0] = present
        if present == 1:
            sample_out.stamp_ns[0] = now_ns
            sample_out.buttons[0] = mapping.deadman
            if what[k] & _CLUTCH:
                sample_out.buttons[0] |= mapping.clutch
            for i in range(3):
                sample_out.position[i] = data.position[i]
                sample_out.velocity[i] = data.velocity[i]
        # the control tick: the tip's target, and what the hand shall feel
        for i in range(3):
            work.target[i] = target[i]
        mapped = map_hand(
            mapping, sample_out, 1, 0, work.target, mapping_data, command_out
        )
        moved = mapping.scale * _distance(data.position, work.hand)
        jump = _distance(target, work.target) - moved
        results[3] = max(results[3], jump)
        if what[k] & _SILENT:
            continue
        spoken_ns = now_ns
        depth = 0.0
        for j in range(3):
            depth += turn[0, j] * (data.position[j] - mapping.centre[j])
        for i in range(3):
            work.asked[i] = extra[k, i]
        work.asked[0] -= wall_stiffness * max(0.0, depth)
        map_force(
            mapping, now_ns, k, work.asked, 1 if mapped & MAPPED else 0, force_out
        )
