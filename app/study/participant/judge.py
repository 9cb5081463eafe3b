"""A person's trial, judged from its recording as a simulated one is from the truth.

Nobody sees the truth of a live session: what stands for it is what telemetry said, at
the times for which it said it, smoothed over 0.3 s against the sensors' noise, and the
force that the station was told of. All figures are those of `app.study.factorial`.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from app.clock import NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.errors import LogError
from app.link.packets import Direction, Fate, PacketRecord
from app.messages import StationMode
from app.session import open_log
from app.session.reader import Recording
from app.station.service import versions
from app.study.factorial.cells import TrialSpec, round_trip_s
from app.study.factorial.measure import Outcome, jsonable, measure
from app.study.factorial.run import RECORDING, RESULT, TRACE, packed
from app.study.factorial.trace import PERIOD_S, TrialTrace, trace_table
from app.study.participant.stand import PersonStand
from app.study.task_truth import Verdict
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel
from models.tip import limb_tips

__all__ = ["judge_recording"]

_SMOOTH = 301  # ms
_THIN = 10
_STATE = (
    "target_position",
    "surface_known",
    "mode",
    "active_source",
    "tip_model",
    "force_hand",
    "port_energy",
    "injected_energy",
    "mismatch",
    "surface_stiffness",
    "surface_point",
    "surface_normal",
)


def judge_recording(
    spec: TrialSpec, folder: Path, extra: dict[str, Any]
) -> dict[str, Any]:
    """Judge and measure the recording in a trial's folder; write its other files.

    Args:
        spec: what was done.
        folder: of the trial; holds recording.mcap.
        extra: goes into the result as it is.

    Returns:
        What `result.json` holds.

    Raises:
        LogError: the recording cannot be read, or a file not be written.
    """
    robot = load_robot(spec.robot)
    model = build_robot_model(robot)
    task = place_task(load_task(spec.task), robot, spec.cell.variant)
    recording = open_log(folder / RECORDING)
    trace = _trace(recording, model, task)
    longest_s = spec.longest_s or task.parameters.timeout(round_trip_s(spec.link))
    trace, stand = _judge(task, trace, longest_s)
    verdict = stand.verdict
    if verdict is Verdict.RUNNING:
        verdict = Verdict.TIMEOUT
    zero_ns = trace.clock_zero_ns
    hits_s = [(at_ns - zero_ns) / NS_PER_S for at_ns in stand.hits_ns]
    path_s = None if stand.path_ns is None else (stand.path_ns - zero_ns) / NS_PER_S
    _, trips = recording.series("/health", "rtt_ms")
    tip = int(model.limb_segment_start[task.limb + 1]) - 1
    outcome = Outcome(
        task=task,
        trace=trace,
        verdict=verdict,
        timeout_s=longest_s,
        hits_s=hits_s,
        path_s=path_s,
        packets=_packets(recording),
        suppressed=0,
        round_trips_s=(1e-3 * trips).tolist(),
        delay_up_s=0.5 * round_trip_s(spec.link),
        tip_radius=float(model.segment_radius[tip, 1]),
        force_scale=spec.teleop.render.force_scale,
        hardness=1.0,
    )
    result = {
        "name": spec.name,
        "cell": asdict(spec.cell),
        "seed": spec.seed,
        "versions": versions(),
        "verdict": verdict.value,
        "hits_s": hits_s,
        "path_s": path_s,
        "hardness": 1.0,
        "round_trip_set_s": round_trip_s(spec.link),
        "events": _events(recording, trace.clock_zero_ns),
        "figures": jsonable(measure(outcome)),
        "trace_sha256": trace.fingerprint(),
    } | extra
    try:
        (folder / TRACE).write_bytes(packed(trace.thinned(_THIN)))
        text = json.dumps(result, indent=1, sort_keys=True, allow_nan=False)
        (folder / RESULT).write_text(text, encoding="utf-8")
    except OSError as error:
        raise LogError(f"{folder}: cannot be written: {error.strerror}.") from error
    return result


def _trace(recording: Recording, model: RobotModel, task: PlacedTask) -> TrialTrace:
    """What the recording tells, every millisecond that the loop ran."""
    limb, limbs = task.limb, int(model.tip_speed_limit.size)
    times, states = recording.several("/state", _STATE)
    if not times.size:
        raise LogError(f"{recording.path}: holds no state: nothing was driven.")
    told_ns, told_tip = _measured(recording, model, limb)

    def state(name: str) -> FloatArray:
        return states[name].reshape(len(times), -1)

    def of_limb(values: FloatArray) -> FloatArray:
        return values.reshape(len(times), limbs, -1)[:, limb]

    tip = np.stack(
        [np.interp(times, told_ns, told_tip[:, k]) for k in range(3)], axis=1
    )
    health_ns, force = recording.series("/health", "contact_force")
    force = force.reshape(len(health_ns), limbs, 3)[:, limb]
    told = np.stack(
        [np.interp(times, health_ns, force[:, k]) for k in range(3)], axis=1
    )
    known = of_limb(state("surface_known"))[:, 0] > 0
    driving = (state("mode")[:, 0] == StationMode.ARMED) & (
        state("active_source")[:, 0] >= 0
    )
    table = trace_table(
        len(times),
        {
            "time_s": (times - times[0]) / NS_PER_S + PERIOD_S,
            "tip": _smoothed(tip),
            "hand": of_limb(state("target_position")),
            "shown": of_limb(state("tip_model")),
            "force_hand": state("force_hand"),
            "force_tip": told,
            "force_limb": told,
            "force_told": told,
            "object": np.full((len(times), 3), np.nan),
            "port_energy": of_limb(state("port_energy"))[:, 0],
            "injected_energy": of_limb(state("injected_energy"))[:, 0],
            "mismatch": of_limb(state("mismatch"))[:, 0],
            "surface_stiffness": np.where(
                known, of_limb(state("surface_stiffness"))[:, 0], np.nan
            ),
            "surface_point": of_limb(state("surface_point")),
            "surface_normal": of_limb(state("surface_normal")),
            "driving": driving.astype(np.float64),
            "held": np.zeros(len(times)),
        },
    )
    nothing = np.zeros((0, 2), dtype=np.int64)
    return TrialTrace(table, nothing, int(times[0]) - round(PERIOD_S * NS_PER_S))


def _measured(
    recording: Recording, model: RobotModel, limb: int
) -> tuple[IntArray, FloatArray]:
    """When telemetry measured the limb, and where its tip was then."""
    start, stop = model.limb_segment_start[limb : limb + 2]
    pose = model.rest_coordinates.copy()
    rows: list[tuple[int, FloatArray]] = []
    for message in recording.messages({"/telemetry"}):
        found = np.array(message.content.coordinates_measured).reshape(-1, 3)
        if found.shape != pose.shape or not np.isfinite(found[start:stop]).all():
            continue
        pose[start:stop] = found[start:stop]
        tip = limb_tips(model, pose)[limb]
        rows.append((int(message.content.generated_ns), tip))
    if not rows:
        raise LogError(f"{recording.path}: holds no telemetry of the limb: no verdict.")
    rows.sort(key=lambda row: row[0])
    return (
        np.array([row[0] for row in rows], dtype=np.int64),
        np.stack([row[1] for row in rows]),
    )


def _smoothed(places: FloatArray) -> FloatArray:
    """Mean over 0.3 s about each millisecond."""
    half = _SMOOTH // 2
    padded = np.pad(places, ((half + 1, half), (0, 0)), mode="edge")
    sums = np.cumsum(padded, axis=0)
    mean: FloatArray = (sums[_SMOOTH:] - sums[:-_SMOOTH]) / _SMOOTH
    return mean


def _speeds(places: FloatArray) -> FloatArray:
    """Speed over 0.3 s about each millisecond [m/s]: a tenth of that jumps by noise."""
    half = _SMOOTH // 2
    padded = np.pad(places, ((half, half), (0, 0)), mode="edge")
    way = np.linalg.norm(padded[2 * half :] - padded[: -2 * half], axis=1)
    found: FloatArray = way / (2 * half * PERIOD_S)
    return found


def _judge(
    task: PlacedTask, trace: TrialTrace, longest_s: float
) -> tuple[TrialTrace, PersonStand]:
    """Trace up to the end, and how the trial stood then."""
    zero_ns = trace.clock_zero_ns
    stand = PersonStand(task, longest_s)
    speed = _speeds(trace.tip)
    driving = trace.driving > 0.0
    for k in range(len(trace)):
        verdict = stand.step(
            zero_ns + round(float(trace.time_s[k]) * NS_PER_S),
            trace.tip[k],
            float(speed[k]),
            -trace.force_limb[k],
            driving=bool(driving[k]),
        )
        if verdict is not Verdict.RUNNING:
            return trace.until(k + 1), stand
    return trace, stand


def _packets(recording: Recording) -> list[PacketRecord]:
    names = {way.name.lower(): way for way in Direction}
    return [
        PacketRecord(
            names[message.content.direction],
            message.content.key,
            message.content.size_bytes,
            Fate(message.content.fate),
            message.content.submitted_ns,
            message.content.started_ns,
            message.content.scheduled_due_ns,
            message.content.delivered_ns,
        )
        for message in recording.messages({"/packet"})
    ]


def _events(recording: Recording, zero_ns: int) -> list[dict[str, Any]]:
    from app.messages import Severity

    return [
        {
            "time_s": round((message.content.time_ns - zero_ns) / NS_PER_S, 3),
            "severity": Severity(message.content.severity).name.lower(),
            "source": message.content.source,
            "text": message.content.text,
        }
        for message in recording.messages({"/event"})
    ]
