"""How fast a session runs on the virtual clock, and how two at a time scale.

URSULA's arm presses a wall with model mediation, over a link that carries fifty frames
a second each way and over one that carries one: after the first contact all that a
session has is at work, and the difference is the price of the frames. What is compared
is the processor time of a simulated second, of which the compiled kernels of the two
1 kHz loops are the least that is possible; that of one in a study, where the trial is
judged and traced as it runs; and the time of two trials on two cores beside that of
one.
"""

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from queue import Queue

import numpy as np
from bench_record import Record, record
from rich.console import Console

from app.operator.presser import PressingHand
from app.study.factorial.trace import TraceLog
from app.study.task_truth import Verdict
from app.study.task_watch import TaskWatch
from app.study.trial import Trial
from app.study.trial_setup import TrialSetup

__all__ = ["bench_trial"]

_INTO_CONTACT, _TICKS, _ROUNDS = 20_000, 1000, 40  # a shared host is quiet in some
_FELT = 0.2  # N
_JUDGED = 4  # ticks at once, as a study does
_TURNS = 3
_PER_CORE = 20.0  # simulated seconds a second
_SCALING = 1.8
_LINKS = ("optical-lab", "acoustic-m64")


def _pressing(link: str = "optical-lab") -> Trial:
    """Return a trial whose tip is on the wall, and stays there."""
    trial = Trial(TrialSetup(link=link, operator="presser", task="press"))
    hand = getattr(trial.operator, "hand", None)
    if not isinstance(hand, PressingHand):
        raise TypeError("The presser's hand does not press.")
    hand.held_shown = False  # nobody lets go of a pad that is not marked as held
    trial.run(_INTO_CONTACT)
    return trial


def _check_contact(trial: Trial) -> None:
    """Say so where the tip is not on the wall: the figure would mean nothing.

    Raises:
        RuntimeError: the wall is not felt.
    """
    around = trial.core.surroundings
    force = 0.0 if around is None else float(np.abs(around.tip_force).max())
    if not force > _FELT:
        raise RuntimeError(f"The tip is not on the wall: {force:.2f} N are felt.")


def _clocked(
    trial: Trial, advance: Callable[[int], None] | None = None
) -> tuple[float, float]:
    """Return the least processor and wall time of a simulated second [s].

    Args:
        trial: in contact.
        advance: does so many ticks of it; None: nothing else is done beside them.
    """
    advance = advance or trial.run
    best = [float("inf"), float("inf")]
    for _ in range(_ROUNDS):
        began = time.process_time(), time.perf_counter()
        advance(_TICKS)
        took = time.process_time() - began[0], time.perf_counter() - began[1]
        _check_contact(trial)
        best = [min(old, new) for old, new in zip(best, took, strict=True)]
    return 1e3 * best[0] / _TICKS, 1e3 * best[1] / _TICKS


def _kernels(trial: Trial) -> float:
    """Return the processor time of the two loops alone, for a simulated second [s].

    They are called as the trial calls them, but that time stands still, so that nothing
    that was heard grows old; the robot goes on with what it applies.
    """
    best, now_ns = float("inf"), trial.now_ns
    for _ in range(_ROUNDS):
        began = time.process_time()
        for _ in range(_TICKS):
            trial.loop.step_at(now_ns, now_ns)
            trial.core.body.step(trial.core.applied)
        best = min(best, time.process_time() - began)
    return 1e3 * best / _TICKS


def _worker(start: Barrier, walls: "Queue[float]") -> None:
    trial = _pressing()
    start.wait()
    walls.put(_clocked(trial)[1])
    start.wait()
    trial.finish()


def _together(count: int) -> float:
    """Wall time of a simulated second where so many run at once [s]."""
    spawn = multiprocessing.get_context("spawn")
    start, walls = spawn.Barrier(count), spawn.Queue()
    workers = [spawn.Process(target=_worker, args=(start, walls)) for _ in range(count)]
    for worker in workers:
        worker.start()
    slowest = max(walls.get() for _ in workers)
    for worker in workers:
        worker.join()
    return slowest


def _simulated(link: str) -> Record:
    """Measure a simulated second over a link."""
    trial = _pressing(link)
    processor_s, _ = _clocked(trial)
    kernels_s = _kernels(trial)
    trial.finish()
    return record(
        f"a simulated second, URSULA, model-mediated, in contact, {link}",
        1e3 * processor_s,
        "ms",
        1e3 / _PER_CORE,
        f"{1.0 / processor_s:.1f} simulated seconds a second and core, goal "
        f"{_PER_CORE:g}; the loops' compiled kernels alone {1.0 / kernels_s:.1f}",
    )


def _studied(link: str) -> Record:
    """Measure a simulated second of a study's trial.

    Raises:
        RuntimeError: the task has ended: no more was judged.
    """
    trial = _pressing(link)
    watch = TaskWatch(trial, 0.0)
    log = TraceLog(trial, watch)

    def advance(ticks: int) -> None:
        for tick in range(trial.ticks, trial.ticks + ticks, _JUDGED):
            trial.run(_JUDGED)
            log.take(watch.run.take(tick, watch.take()))

    processor_s, _ = _clocked(trial, advance)
    trial.finish()
    if watch.run.verdict is not Verdict.RUNNING:
        raise RuntimeError(f"The task has ended: {watch.run.verdict.value}.")
    return record(
        f"a simulated second of a study, the same, judged and traced, {link}",
        1e3 * processor_s,
        "ms",
        1e3 / _PER_CORE,
        f"{1.0 / processor_s:.1f} simulated seconds a second and core, goal "
        f"{_PER_CORE:g}",
    )


def bench_trial(console: Console) -> list[Record]:
    """Measure all; takes two or three minutes."""
    console.print("Trials on the virtual clock, one and then two at a time")
    simulated = [_simulated(link) for link in _LINKS] + [_studied(_LINKS[0])]
    turns = [(_together(1), _together(2)) for _ in range(_TURNS)]
    alone, both = map(min, zip(*turns, strict=True))  # a shared host slows either
    return [
        *simulated,
        record(
            "two trials on two cores",
            1e3 * both,
            "ms",
            1.0 / _SCALING,
            f"scaling {2.0 * alone / both:.2f}; goal {_SCALING:g}",
            "two one after the other",
            both / (2.0 * alone),
        ),
    ]
