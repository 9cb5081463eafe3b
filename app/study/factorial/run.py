"""One trial of a study: driven, judged, measured, written to a folder of its own.

| file            | what                                                             |
|-----------------|------------------------------------------------------------------|
| result.json     | verdict, figures, events, fingerprint; equal for equal trials    |
| trace.npz       | a hundred moments a second of what is plotted                    |
| recording.mcap  | the session, as the product records one, for replay              |

Nothing of the host and no time of day is written: a trial gives the same bytes wherever
it is run.
"""

import hashlib
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from app.clock import NS_PER_S
from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import place_task
from app.control.loop import PERIOD_NS
from app.errors import ConfigError, LogError
from app.link.packets import PacketRecord
from app.operator.performer import Performer
from app.operator.presser import PressingHand
from app.operator.supervisor import SUPERVISOR
from app.operator.targets import TargetHand
from app.session import Recorder
from app.station.service import versions
from app.study.factorial.cells import TrialSpec, round_trip_s
from app.study.factorial.measure import Outcome, jsonable, measure
from app.study.factorial.surroundings import harder, scene_of
from app.study.factorial.trace import TraceLog
from app.study.setup_record import record_setup
from app.study.task_goals import TaskGoals
from app.study.task_judges import ReachJudge
from app.study.task_truth import Verdict
from app.study.task_watch import TaskWatch, path_started_ns
from app.study.trial import START_NS, Trial
from app.study.trial_seeds import TrialSeeds
from app.study.trial_setup import TrialSetup

__all__ = ["RECORDING", "RESULT", "TRACE", "packed", "run_spec"]

RESULT, TRACE, RECORDING = "result.json", "trace.npz", "recording.mcap"
_THIN = 10  # ms
_TRIP_PERIOD = 100  # ticks between looks at the measured round trip
_TOGETHER = 4  # ticks from one sample of the operator to the next
_KEPT_EVENTS = 200


def run_spec(spec: TrialSpec, folder: Path) -> dict[str, Any]:
    """Run a trial and write its files.

    Args:
        spec: the trial.
        folder: where its files go; it exists and is empty.

    Returns:
        What `result.json` holds.

    Raises:
        ConfigError: the trial cannot be set up.
        LogError: a file cannot be written.
    """
    seeds = TrialSeeds.of(spec.seed)
    placed = place_task(load_task(spec.task), load_robot(spec.robot), spec.cell.variant)
    scene, hardness = harder(
        placed, scene_of(placed), spec.stiffness_spread, seeds.environment
    )
    setup = TrialSetup(
        robot=spec.robot,
        link=spec.link,
        operator=SUPERVISOR if _supervised(spec) else spec.cell.operator,
        scene=scene,
        task=spec.task,
        teleop=spec.teleop,
        mismatch=spec.mismatch,
        seed=spec.seed,
        variant=spec.cell.variant,
        seeds=seeds,
        deadband=spec.deadband,
    )
    recorder = _recorder(spec, setup, folder / RECORDING) if spec.recording else None
    trial = Trial(setup, recorder)
    try:
        outcome, result = _drive(spec, trial, hardness)
    finally:
        trial.finish()
        if recorder is not None:
            recorder.close()
    result["figures"] = jsonable(measure(outcome))
    result["trace_sha256"] = outcome.trace.fingerprint()
    _write(folder / TRACE, packed(outcome.trace.thinned(_THIN)))
    if recorder is not None:
        result["recording_sha256"] = _sha256(folder / RECORDING)
    text = json.dumps(result, indent=1, sort_keys=True, allow_nan=False)
    _write(folder / RESULT, text.encode())
    return result


def _supervised(spec: TrialSpec) -> bool:
    """Whether goals do the task: no hand moves a limb then."""
    return spec.teleop.strategy == "supervised"


def _drive(
    spec: TrialSpec, trial: Trial, hardness: float
) -> tuple[Outcome, dict[str, Any]]:
    """Step the trial until it is judged, or its time is over."""
    task = trial.task
    if task is None:
        raise ConfigError(f"Trial {spec.name} has no task.")
    round_trip = round_trip_s(spec.link)
    timeout_s = task.parameters.timeout(round_trip)
    if spec.longest_s is not None:
        timeout_s = min(timeout_s, spec.longest_s)
    screen = _Screen(trial, 0.5 * round_trip)
    goals = None
    if _supervised(spec):
        goals = TaskGoals(trial, task, lambda: screen.shown)
    watch = TaskWatch(trial, round_trip, goals)
    run, log = watch.run, TraceLog(trial, watch)
    judge = run.judge
    packets: list[PacketRecord] = []
    trial.packets = packets
    trips: list[float] = []
    last_tick = _tick_of(timeout_s)
    together = _TOGETHER if goals is None else 1
    verdict = Verdict.RUNNING
    while verdict is Verdict.RUNNING:
        tick = trial.ticks
        trial.run(together)
        if goals is not None:
            goals.step(trial.now_ns)
        count = run.take(tick, min(watch.take(), last_tick - tick))
        log.take(count)
        tick += count
        if isinstance(judge, ReachJudge):
            screen.step(START_NS + tick * PERIOD_NS, judge)
        if tick % _TRIP_PERIOD == 0:
            trips.append(1e-3 * float(trial.health.rtt_ms[0]))
        verdict = run.verdict
        if verdict is Verdict.RUNNING and tick >= last_tick:
            verdict = Verdict.TIMEOUT
    trace = log.close()
    hits_ns = judge.hits_ns if isinstance(judge, ReachJudge) else []
    zero_ns = trace.clock_zero_ns
    end_ns = zero_ns + round(trace.time_s[-1] * NS_PER_S)
    started_ns = path_started_ns(trial, goals)
    tip = int(trial.model.limb_segment_start[task.limb + 1]) - 1
    outcome = Outcome(
        task=task,
        trace=trace,
        verdict=verdict,
        timeout_s=timeout_s,
        hits_s=[(at - zero_ns) / NS_PER_S for at in hits_ns],
        path_s=None if started_ns is None else (started_ns - zero_ns) / NS_PER_S,
        packets=[
            packet
            for packet in packets
            if max(packet.submitted_ns, packet.delivered_ns) <= end_ns
        ],
        suppressed=trial.exchange.side.deadband.suppressed,
        round_trips_s=trips,
        delay_up_s=0.5 * round_trip,
        tip_radius=float(trial.model.segment_radius[tip, 1]),
        force_scale=spec.teleop.render.force_scale,
        hardness=hardness,
    )
    summary = trial.summary.as_dict(trial.statistics, None)
    return outcome, {
        "name": spec.name,
        "cell": asdict(spec.cell),
        "seed": spec.seed,
        "seeds": TrialSeeds.of(spec.seed)._asdict(),
        "versions": versions(),
        "verdict": verdict.value,
        "hits_s": list(outcome.hits_s),
        "path_s": outcome.path_s,
        "hardness": hardness,
        "round_trip_set_s": round_trip,
        "tip_error_mm": summary["tip_error_mm"],
        "events": summary["events"][-_KEPT_EVENTS:],
    }


class _Screen:
    """Marks targets as met before the simulated person, as late as the link is.

    A pad that is pressed is not marked: with its force held the trial is over.
    """

    def __init__(self, trial: Trial, delay_s: float) -> None:
        operator = trial.operator
        self._delay_ns = round(delay_s * NS_PER_S)
        self._hand: TargetHand | None = None
        if isinstance(operator, Performer) and isinstance(operator.hand, TargetHand):
            self._hand = operator.hand
        self.shown = 0
        task = trial.task
        if (
            isinstance(operator, Performer)
            and isinstance(operator.hand, PressingHand)
            and task is not None
            and len(task.pads) == 1
        ):
            operator.hand.held_shown = False

    def step(self, now_ns: int, judge: ReachJudge) -> None:
        if self.shown < judge.hits:
            hits_ns = judge.hits_ns[self.shown :]
            self.shown += sum(now_ns >= at_ns + self._delay_ns for at_ns in hits_ns)
        if self._hand is not None:
            self._hand.hits_shown = self.shown


def _tick_of(time_s: float) -> int:
    """Return the first tick, 1 at least, after which a time is over [s]."""
    tick = 1
    while 1e-3 * tick < time_s:
        tick = max(tick + 1, int(1e3 * time_s) - 1)
    return tick


def _recorder(spec: TrialSpec, setup: TrialSetup, path: Path) -> Recorder:
    facts, files = record_setup(setup)
    facts |= {"trial": spec.name, "task": f"{spec.task} {spec.cell.variant}"}
    return Recorder(path, facts, files)


def packed(arrays: dict[str, Any]) -> bytes:
    """Return arrays as one compressed npz; its entries carry no time of day."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise LogError(
            f"{path}: cannot be written: {error.strerror}. Free disk space or choose "
            "another folder, and call the study again: it goes on."
        ) from error
