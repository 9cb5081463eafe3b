"""The figures of one trial: every family of metrics that its task has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.clock import NS_PER_S
from app.config.task_place import PlacedPad, PlacedTask
from app.errors import ModelError
from app.link.packets import Direction, PacketRecord
from app.study.age import age_mean, age_pieces, age_quantile
from app.study.factorial.trace import PERIOD_S, TrialTrace
from app.study.metrics.completion import measure_completion
from app.study.metrics.energy import injected_energy, net_energy, update_energies
from app.study.metrics.force import CONTACT_N, measure_force
from app.study.metrics.model_error import fit_surface, place_error
from app.study.metrics.moves import count_moves
from app.study.metrics.path import fit_path, length_ratio, path_profile
from app.study.metrics.throughput import (
    effective_throughput,
    overshoot,
    reaches_of,
)
from app.study.metrics.traffic import measure_traffic
from app.study.metrics.transparency import (
    force_error,
    local_error,
    stiffness_ratio,
)
from app.study.task_truth import Verdict
from models.curve import Curve
from models.numerics import FloatArray

__all__ = ["Figures", "Outcome", "jsonable", "measure"]

Figures = dict[str, float | int | bool | None]
"""By name with the unit at its end; None where there is none."""

_HOLD = 1000  # samples of the last second
_FIRST_PART = 0.85


@dataclass(frozen=True)
class Outcome:
    """What a trial left behind.

    Attributes:
        task: that was done.
        trace: of it.
        verdict: how it ended.
        timeout_s: T_out [s].
        hits_s: when targets were met [s].
        path_s: when the reference set out along the path [s]; None: it did not.
        packets: that ended in it.
        suppressed: limbs' setpoints that the deadband kept.
        round_trips_s: as the station measured it, now and then [s].
        delay_up_s: T_b as the link is set [s].
        tip_radius: of the limb's end [m].
        force_scale: S_f.
        hardness: factor on the stiffness of what is there.
    """

    task: PlacedTask
    trace: TrialTrace
    verdict: Verdict
    timeout_s: float
    hits_s: Sequence[float]
    path_s: float | None
    packets: Sequence[PacketRecord]
    suppressed: int
    round_trips_s: Sequence[float]
    delay_up_s: float
    tip_radius: float
    force_scale: float
    hardness: float


def measure(outcome: Outcome) -> Figures:
    """Work all figures out."""
    trace = outcome.trace
    driving = np.flatnonzero(trace.driving > 0.0)
    start_s = float(trace.time_s[driving[0]]) if driving.size else 0.0
    end_s = float(trace.time_s[-1]) if len(trace) else 0.0
    done = measure_completion(
        outcome.verdict, start_s, end_s, outcome.timeout_s, outcome.delay_up_s
    )
    driven = trace.after(start_s)
    figures: Figures = {
        "success": done.success,
        "time_s": done.time_s,
        "seen_s": done.seen_s,
        "counted_s": done.counted_s,
        "timeout_s": done.timeout_s,
        "start_s": start_s,
        "end_s": end_s,
    }
    figures |= _moves(driven) | _traffic(outcome, end_s) | _age(outcome, start_s, end_s)
    now_rms, now_max = place_error(driven.shown, driven.tip)
    figures |= {
        "model_now_rms_mm": 1e3 * now_rms,
        "model_now_max_mm": 1e3 * now_max,
        "model_fit_rms_mm": 1e3 * float(np.sqrt(np.mean(driven.mismatch**2)))
        if len(driven)
        else None,
    }
    figures |= _energy(driven)
    if len(outcome.task.targets) and outcome.task.parameters.reach is not None:
        figures |= _reaching(outcome)
    if outcome.task.curve is not None and outcome.path_s is not None:
        figures |= _path(outcome, outcome.path_s)
    if outcome.task.world is not None or outcome.task.pads:
        figures |= _contact(outcome, driven)
    return figures


def _moves(trace: TrialTrace) -> Figures:
    hand = count_moves(trace.hand, PERIOD_S)
    return {"moves": hand.number, "duty": hand.duty, "move_s": hand.mean_s}


def _traffic(outcome: Outcome, seconds: float) -> Figures:
    figures: Figures = {}
    if seconds <= 0.0:
        return figures
    for way in Direction:
        kept = outcome.suppressed if way is Direction.DOWN else 0
        found = measure_traffic(outcome.packets, way, seconds, kept)
        name = way.name.lower()
        figures |= {
            f"{name}_offered_hz": found.offered_hz,
            f"{name}_sent_hz": found.sent_hz,
            f"{name}_delivered_hz": found.delivered_hz,
            f"{name}_bytes_per_s": found.sent_bytes_per_s,
            f"{name}_lost": found.lost,
            f"{name}_reduction": found.reduction,
            f"{name}_delay_s": found.delay_s,
        }
    total = sum(
        float(figures[f"{way.name.lower()}_bytes_per_s"] or 0.0) for way in Direction
    )
    figures["bytes_per_s"] = total
    trips = np.array([item for item in outcome.round_trips_s if np.isfinite(item)])
    figures["round_trip_s"] = float(np.median(trips)) if trips.size else None
    return figures


def _age(outcome: Outcome, start_s: float, end_s: float) -> Figures:
    """Age of the newest command that the robot has applied."""
    applied, first_s = outcome.trace.applied, start_s
    nothing: Figures = {"age_mean_s": None, "age_p50_s": None, "age_p99_s": None}
    if not len(applied) or not len(outcome.trace):
        return nothing
    origin_ns = int(applied[0, 0])
    # trace times count from the trial's start, stamps from the clock's
    zero_ns = outcome.trace.clock_zero_ns
    start_ns = max(zero_ns + round(first_s * NS_PER_S), origin_ns)
    end_ns = zero_ns + round(end_s * NS_PER_S)
    try:
        pieces = age_pieces(applied[:, 1], applied[:, 0], start_ns, end_ns)
    except ModelError:
        return nothing
    return {
        "age_mean_s": age_mean(pieces),
        "age_p50_s": age_quantile(pieces, 0.5),
        "age_p99_s": age_quantile(pieces, 0.99),
    }


def _energy(trace: TrialTrace) -> Figures:
    port = injected_energy(trace.port_energy)
    most = float(trace.injected_energy[-1]) if len(trace) else 0.0
    return {
        "injected_mj": 1e3 * max(port.injected, most),
        "port_least_mj": 1e3 * port.least,
        "port_last_mj": 1e3 * port.last,
    }


def _reaching(outcome: Outcome) -> Figures:
    task, trace = outcome.task, outcome.trace
    hits = np.array(outcome.hits_s)
    reaches = reaches_of(trace.time_s, trace.tip, task.targets, hits)
    found = effective_throughput(reaches)
    past = overshoot(trace.time_s, trace.tip, task.targets, hits)
    distance = float(np.linalg.norm(task.targets[1] - task.targets[0]))
    index = float(np.log2(distance / task.width + 1.0))
    return {
        "hits": len(hits),
        "index_bit": index,
        "movement_s": None if not reaches.time_s.size else float(reaches.time_s.mean()),
        "throughput_bit_s": None if found is None else found.bits_per_s,
        "effective_bit": None if found is None else found.effective_bits,
        "overshoot": past,
    }


def _path(outcome: Outcome, path_s: float) -> Figures:
    task, curve = outcome.task, outcome.task.curve
    follows = outcome.trace.after(path_s)
    if curve is None or len(follows) < 2:
        return {}
    times = follows.time_s - path_s
    most = 2.0 + 2.0 * (outcome.delay_up_s * 2.0)
    fit = fit_path(curve, task.speed, times, follows.tip, most)
    return {
        "path_rms_mm": 1e3 * fit.rms,
        "path_max_mm": 1e3 * fit.greatest,
        "path_lag_s": fit.lag_s,
        "path_rms_lagged_mm": 1e3 * fit.rms_lagged,
        "path_ratio": length_ratio(follows.tip, curve.length),
    } | _first_part(curve, follows.tip)


def _first_part(curve: Curve, tip: FloatArray) -> Figures:
    """Distance over the first 85 % of the path, as Gong 2018 tells it."""
    arc, gap = path_profile(curve, tip)
    own = gap[arc < _FIRST_PART * curve.length]
    if not own.size:
        return {"path_rms_85_mm": None, "path_most_85_mm": None}
    return {
        "path_rms_85_mm": 1e3 * float(np.sqrt(np.mean(own**2))),
        "path_most_85_mm": 1e3 * float(own.max()),
    }


def _contact(outcome: Outcome, trace: TrialTrace) -> Figures:
    task = outcome.task
    limit = task.parameters.abort_n
    if task.parameters.press is not None:
        limit = task.parameters.press.peak_n
    force = measure_force(np.linalg.norm(trace.force_limb, axis=1), limit, PERIOD_S)
    late = round(outcome.delay_up_s / PERIOD_S)
    scale = outcome.force_scale
    net = net_energy(trace.port_energy, trace.force_tip, trace.tip, scale)
    figures: Figures = {
        "peak_force_n": force.peak,
        "contact_rms_n": force.rms,
        "overload_ns": force.overload,
        "contact_s": force.contact_s,
        "force_error": force_error(trace.force_hand, trace.force_tip, scale),
        "force_error_aligned": force_error(
            trace.force_hand, trace.force_tip, scale, late
        ),
        "net_least_mj": 1e3 * float(net.min()) if net.size else None,
    }
    if len(task.pads) == 1 and len(trace):
        figures |= _pad(outcome, trace, task.pads[0])
    return figures


def _pad(outcome: Outcome, trace: TrialTrace, pad: PlacedPad) -> Figures:
    """Against a single pad, along its normal; the tip's round end touches first."""
    normal = pad.normal
    face = float(pad.place @ normal) + outcome.tip_radius
    stiffness = pad.stiffness * outcome.hardness
    depth = face - trace.hand @ normal
    pushed = -(trace.force_hand @ normal)
    figures: Figures = {}
    hold = slice(-_HOLD, None)
    if pad.exponent == 1.0:
        figures = {
            "stiffness_ratio": stiffness_ratio(pushed[hold], depth[hold], stiffness),
            "local_error": local_error(pushed, depth, stiffness),
        }
    touching = np.flatnonzero(-(trace.force_tip @ normal) > CONTACT_N)
    touched_s = float(trace.time_s[touching[0]]) if touching.size else None
    place = trace.surface_point @ normal
    fit = fit_surface(
        trace.time_s, trace.surface_stiffness, place, stiffness, face, touched_s
    )
    updates = update_energies(trace.surface_stiffness, -place, -(trace.hand @ normal))
    return figures | {
        "stiffness_error": fit.stiffness_error,
        "surface_error_mm": None if fit.place_error is None else 1e3 * fit.place_error,
        "surface_near_s": fit.near_s,
        "update_greatest_mj": 1e3 * float(updates.max()) if updates.size else None,
    }


def jsonable(figures: Figures) -> dict[str, Any]:
    """Return figures with what is not finite as None, rounded to 9 digits."""
    kept: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, bool | int) or value is None:
            kept[name] = value
        else:
            kept[name] = float(f"{value:.9g}") if np.isfinite(value) else None
    return kept
