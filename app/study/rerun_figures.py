"""What came of a drive in virtual time, in figures: force, path, energy, traffic, age.

Taken from a trial as it runs, at the robot where that is where the truth is.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.link.packets import Direction, Fate
from app.messages import StationMode
from app.study.trial import Trial
from models.numerics import FloatArray
from models.tip import limb_tips

__all__ = ["FIGURES", "RerunTraces", "figures_of"]

_SAMPLE_TICKS = 5
_TOUCH = 0.05  # [N] below it a tip is not counted as touching

FIGURES: tuple[tuple[str, str, str], ...] = (
    ("contact_peak", "N", "greatest force of the driven tip on what it touches"),
    ("contact_mean", "N", "mean of it while it touches"),
    ("contact_time", "s", "time it touches"),
    ("hand_peak", "N", "greatest force shown to the hand"),
    ("hand_rms", "N", "root mean square of it while armed"),
    ("target_error_rms", "mm", "robot's tip from the operator's target, same instant"),
    ("path_length", "mm", "way of the robot's tip"),
    ("command_length", "mm", "way of the commanded tip"),
    ("injected", "mJ", "energy the hand's port has given beyond what it took"),
    ("port", "mJ", "energy of the hand's port at the end"),
    ("sent_down", "1/s", "packets to the robot"),
    ("sent_up", "1/s", "packets to the station"),
    ("bits_down", "bit/s", "carried to the robot"),
    ("bits_up", "bit/s", "carried to the station"),
    ("lost", "%", "packets lost, cut or too big, both ways"),
    ("age_mean", "ms", "age of the driven limb's pose at the station, mean"),
    ("age_p99", "ms", "the same, 99th percentile"),
    ("command_age_mean", "ms", "age of the command the robot last told of, mean"),
    ("armed_time", "s", "time armed"),
)
"""Name, unit and meaning of each figure."""


@dataclass
class RerunTraces:
    """One drive, sampled every 5 ms, the greatest contact force of each millisecond.

    Attributes:
        times: [s].
        tip: (3,) each, the driven limb's tip at the robot [m].
        target: likewise where the operator wanted it.
        command: likewise what was commanded.
        contact: greatest force of the driven tip since the last sample [N].
        hand: force shown to the hand [N].
        age: of the driven limb's pose at the station [ms].
        command_age: [ms].
        armed: whether armed.
        totals: packets of the channel by direction and fate.
        bits: carried each way, overhead included.
        injected: most energy that a hand's port has given beyond what it took [J].
        port: energy of the hand's ports [J].
    """

    times: list[float] = field(default_factory=list)
    tip: list[FloatArray] = field(default_factory=list)
    target: list[FloatArray] = field(default_factory=list)
    command: list[FloatArray] = field(default_factory=list)
    contact: list[float] = field(default_factory=list)
    hand: list[float] = field(default_factory=list)
    age: list[float] = field(default_factory=list)
    command_age: list[float] = field(default_factory=list)
    armed: list[bool] = field(default_factory=list)
    totals: Counter[tuple[Direction, Fate]] = field(default_factory=Counter)
    bits: tuple[int, int] = (0, 0)
    injected: float = 0.0
    port: float = 0.0
    _peak: float = 0.0

    def step(self, trial: Trial) -> None:
        """Look at a trial after a tick."""
        state = trial.state
        limb = int(state.selected_limb[0])
        around = trial.core.surroundings
        if around is not None:
            force = float(np.linalg.norm(around.tip_force[limb]))
            self._peak = max(self._peak, force if np.isfinite(force) else 0.0)
        if trial.ticks % _SAMPLE_TICKS:
            return
        self.times.append(trial.ticks * 1e-3)
        self.tip.append(limb_tips(trial.model, trial.true_pose)[limb])
        self.target.append(state.target_position[limb].copy())
        self.command.append(state.tip_commanded[limb].copy())
        self.contact.append(self._peak)
        self._peak = 0.0
        self.hand.append(float(np.linalg.norm(state.force_hand)))
        self.age.append(float(trial.health.age_ms[0]))
        self.command_age.append(float(trial.health.command_age_ms[0]))
        self.armed.append(int(state.mode[0]) == StationMode.ARMED)
        self.injected = float(state.injected_energy.max())
        self.port = float(state.port_energy.sum())
        self.totals = trial.channel.totals
        self.bits = (trial.channel.bits_sent[0], trial.channel.bits_sent[1])


def _way(points: list[FloatArray]) -> float:
    if len(points) < 2:
        return 0.0
    return float(np.linalg.norm(np.diff(np.array(points), axis=0), axis=1).sum())


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else float("nan")


def figures_of(traces: RerunTraces) -> dict[str, float]:
    """Sum a drive up; a figure of which nothing is known is NaN."""
    contact, hand = np.array(traces.contact), np.array(traces.hand)
    armed = np.array(traces.armed, dtype=bool)
    touching = contact > _TOUCH
    seconds = max(traces.times[-1] if traces.times else 0.0, 1e-3)
    age = np.array(traces.age)
    age = age[np.isfinite(age)]
    command_age = np.array(traces.command_age)
    command_age = command_age[np.isfinite(command_age)]
    gap = np.array(traces.tip) - np.array(traces.target)
    gap = np.linalg.norm(gap.reshape(-1, 3), axis=1)[armed] if armed.any() else gap[:0]
    sent = {
        way: sum(
            count
            for (direction, fate), count in traces.totals.items()
            if direction is way and fate is not Fate.SUPERSEDED
        )
        for way in Direction
    }
    came = sum(traces.totals[way, Fate.DELIVERED] for way in Direction)
    every = sum(sent.values())
    step = _SAMPLE_TICKS * NS_PER_MS / NS_PER_S
    return {
        "contact_peak": float(contact.max(initial=0.0)),
        "contact_mean": _mean(contact[touching]),
        "contact_time": float(touching.sum()) * step,
        "hand_peak": float(hand.max(initial=0.0)),
        "hand_rms": float(np.sqrt(_mean(hand[armed] ** 2))),
        "target_error_rms": 1e3 * float(np.sqrt(_mean(gap**2))),
        "path_length": 1e3 * _way(traces.tip),
        "command_length": 1e3 * _way(traces.command),
        "injected": 1e3 * traces.injected,
        "port": 1e3 * traces.port,
        "sent_down": sent[Direction.DOWN] / seconds,
        "sent_up": sent[Direction.UP] / seconds,
        "bits_down": traces.bits[Direction.DOWN] / seconds,
        "bits_up": traces.bits[Direction.UP] / seconds,
        "lost": 100.0 * (every - came) / every if every else float("nan"),
        "age_mean": _mean(age),
        "age_p99": float(np.percentile(age, 99)) if age.size else float("nan"),
        "command_age_mean": _mean(command_age),
        "armed_time": float(armed.sum()) * step,
    }
