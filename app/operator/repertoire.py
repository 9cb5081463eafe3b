"""The simulated persons by name, each with what it does where no task is set.

| name      | who                                                                     |
|-----------|-------------------------------------------------------------------------|
| submover  | reaches in minimum-jerk moves, looks, waits as long as the link is late |
| chaser    | the same without waiting: chases what is displayed                      |
| vite      | reaches by the VITE law                                                 |
| tracker   | follows a path by the crossover model                                   |
| presser   | holds a force on a surface, or tells which of two is the stiffer        |
| retriever | fetches an object step by step                                          |
| programme | no person: leads along a path by the clock, looking at nothing          |
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from app.config.task_place import PlacedStep, PlacedTask
from app.errors import ConfigError
from app.operator.look import Display, Eye
from app.operator.paths import Dome, TipPath, steepest
from app.operator.patience import Patience
from app.operator.performer import Hand, Performer, Reacher
from app.operator.presser import Pad, PressingHand
from app.operator.programme import ProgrammedHand
from app.operator.replay import ReplayHand, read_recording
from app.operator.retriever import RetrievingHand
from app.operator.submover import Submover
from app.operator.targets import TargetHand
from app.operator.tracker import CurveTrack, RoundTrack, Track, TrackingHand
from app.operator.vite import Vite
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = [
    "HAND_SPEED",
    "PERFORMERS",
    "PERFORMER_NAMES",
    "REPLAY",
    "check_performer",
    "make_performer",
]

HAND_SPEED = 0.05
"""Greatest speed of a simulated person's hand [m/s] (the arm of Liu 2020)."""
REPLAY = "replay"
"""`replay:FILE` is a recorded hand."""
PERFORMERS = {
    "submover": "reaches in moves, looks, and waits as long as the link is late",
    "chaser": "reaches without waiting: chases what is displayed",
    "vite": "reaches by the VITE law, and waits like the submover",
    "tracker": "follows a path, the slower the later the display",
    "presser": "holds a force on a surface; tells which of two is the stiffer",
    "retriever": "fetches an object: approach, align, grip, lift, carry, release",
    "programme": "no person: leads along a path by the clock, looking at nothing",
}
PERFORMER_NAMES = tuple(PERFORMERS)

_COUNT = 9  # targets of a ring
_WIDTH = 0.02
_RING = 0.05  # [m] radius where no task is set
_AHEAD = 0.03
_FORCE = 1.0
_HOLD_S = 3.0
_KINDS = {
    "submover": "targets",
    "chaser": "targets",
    "vite": "targets",
    "tracker": "a path",
    "presser": "pads",
    "retriever": "steps",
    "programme": "a path",
}


def make_performer(
    name: str,
    model: RobotModel,
    limb: int,
    speed: float,
    seed: int,
    circle: Callable[[FloatArray], TipPath],
    task: PlacedTask | None,
    display: Display,
) -> Performer:
    """Make a simulated person.

    Args:
        name: one of `PERFORMER_NAMES`, or "replay:FILE".
        model: the robot.
        limb: index of the limb.
        speed: greatest speed of the hand [m/s].
        seed: of its draws.
        circle: makes a circle through the tip, for a tracker without a task.
        task: what to do; None: something about where the tip is.
        display: what is seen.

    Raises:
        ConfigError: the task is not for this operator, or the file cannot be read.
    """
    eye = Eye(model, limb, display, 0.0 if task is None else task.ahead)
    if name.startswith(f"{REPLAY}:"):
        path = Path(name.partition(":")[2]).expanduser()
        return Performer(limb, eye, ReplayHand(read_recording(path)))
    reacher: Reacher = (
        Vite(seed, speed, Patience(practised=True))
        if name == "vite"
        else Submover(seed, speed, Patience(naive=name == "chaser", practised=True))
    )
    hand = _without_task(
        name, reacher, model.pose_base_to_hull[limb], speed, seed, circle
    )
    if task is not None:
        hand = _with_task(name, reacher, task, speed, seed)
    return Performer(limb, eye, hand)


def check_performer(name: str, task: PlacedTask) -> None:
    """Say whether somebody can do a task; a recorded hand is taken for anything.

    Raises:
        ConfigError: there is no such simulated person, or the task is not for it.
    """
    if name.startswith(f"{REPLAY}:"):
        return
    if name not in PERFORMERS:
        raise ConfigError(
            f"No simulated operator {name!r} does tasks. There are: "
            f"{', '.join(PERFORMER_NAMES)}, {REPLAY}:FILE."
        )
    there = {
        "targets": bool(task.targets.size),
        "a path": task.curve is not None,
        "pads": task.parameters.press is not None,
        "steps": bool(task.steps),
    }
    kind = _KINDS[name]
    if not there[kind]:
        raise ConfigError(
            f"The operator {name!r} needs {kind}, which task {task.parameters.name!r} "
            f"has not: choose {task.parameters.operator!r} for it."
        )


def _with_task(
    name: str, reacher: Reacher, task: PlacedTask, speed: float, seed: int
) -> Hand:
    kind = _KINDS[name]
    curve, press = task.curve, task.parameters.press
    if kind == "targets" and task.targets.size:
        return TargetHand(reacher, lambda _: task.targets, task.width)
    if kind == "a path" and curve is not None:
        track = CurveTrack(curve, task.speed)
        if name == "programme":
            return ProgrammedHand(reacher, lambda _: track)
        return TrackingHand(
            reacher, lambda _: track, seed, max(speed, 2.0 * task.speed)
        )
    if kind == "pads" and press is not None:
        pads = tuple(Pad(pad.place, pad.normal) for pad in task.pads)
        return PressingHand(
            reacher,
            lambda _: pads,
            press.force_n,
            press.hold_s,
            1e-3 * press.start_above_mm,
            seed,
        )
    if kind == "steps" and task.steps:
        return RetrievingHand(reacher, lambda _: task.steps)
    check_performer(name, task)
    raise ConfigError(f"The operator {name!r} cannot do {task.parameters.name!r}.")


def _without_task(
    name: str,
    reacher: Reacher,
    base: FloatArray,
    speed: float,
    seed: int,
    circle: Callable[[FloatArray], TipPath],
) -> Hand:
    """Something to do about where the tip is, on the surface that it reaches easily."""
    axis = base[:3, 2].copy()

    def beside(tip: FloatArray, angle: float) -> FloatArray:
        across = (base[:3, :3].T @ (tip - base[:3, 3]))[:2]
        way = _RING * np.array([np.cos(angle), np.sin(angle)])
        return Dome.through(base, tip).point(across + way)

    def ring(tip: FloatArray) -> FloatArray:
        turns = np.arange(_COUNT) * ((_COUNT + 1) // 2) / _COUNT
        return np.stack([beside(tip, 2.0 * np.pi * turn) for turn in turns])

    def track(tip: FloatArray) -> Track:
        path = circle(tip)
        return RoundTrack(path, steepest(path) / (0.5 * speed))

    def pads(tip: FloatArray) -> tuple[Pad, ...]:
        return (Pad(tip + _AHEAD * axis, -axis),)

    def steps(tip: FloatArray) -> Sequence[PlacedStep]:
        there, back = beside(tip, 0.0), beside(tip, np.pi)
        return (
            PlacedStep("approach", tip, _WIDTH, 0.0, exact=True),
            PlacedStep("grip", there, _WIDTH, 1.0, exact=True),
            PlacedStep("carry", tip, 2.0 * _WIDTH, None, exact=False),
            PlacedStep("release", back, _WIDTH, 0.0, exact=True),
        )

    if name == "programme":
        return ProgrammedHand(reacher, track)
    if name == "tracker":
        return TrackingHand(reacher, track, seed, speed)
    if name == "presser":
        return PressingHand(reacher, pads, _FORCE, _HOLD_S, _AHEAD, seed)
    if name == "retriever":
        return RetrievingHand(reacher, steps)
    return TargetHand(reacher, ring, _WIDTH, endless=True)
