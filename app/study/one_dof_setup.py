"""What is run on the harness of one degree of freedom: hand, tip, wall, link, plan."""

from dataclasses import dataclass, field, replace

import numpy as np

from app.config.teleop import TeleopParameters
from app.teleop.strategy import Strategy
from models.human_arm import (
    FORCE_DEAD_ZONE,
    FORCE_DELAY,
    FORCE_GAIN,
    GRIPS,
    ArmGrip,
)
from models.numerics import FloatArray, IntArray

__all__ = [
    "FIRM",
    "FREE",
    "LIGHT",
    "RELAXED",
    "SOFT",
    "STIFF",
    "Line",
    "Move",
    "Press",
    "Probe",
    "Setup",
    "Wall",
    "newest_told",
    "reference_path",
    "wall_path",
]

NEVER = -1


RELAXED = GRIPS["relaxed"]
LIGHT = GRIPS["light"]
FIRM = GRIPS["firm"]


@dataclass(frozen=True)
class Wall:
    """A wall that the tip meets: F = K p^n + B p^m dp/dt >= 0, m = n but 0 for n = 1.

    Attributes:
        stiffness: K [N/m^n]; 0 = no wall.
        damping: B [N s/m^(m+1)].
        exponent: n; 1 is the law of Kelvin and Voigt, above it Hunt and Crossley's.
        position: where it is [m].
        moves: (when [s], to where [m]); an infinite place takes it away.
    """

    stiffness: float = 2000.0
    damping: float = 5.0
    exponent: float = 1.0
    position: float = 0.05
    moves: tuple[tuple[float, float], ...] = ()


STIFF = Wall()
SOFT = Wall(stiffness=150.0, damping=2.0)
FREE = Wall(stiffness=0.0, damping=0.0)


@dataclass(frozen=True)
class Line:
    """A link of constant mean delay.

    Attributes:
        down: delay to the robot [s].
        up: delay to the hand [s]; None = as down.
        packet_ticks: a packet every so many ticks, held in between.
        loss: share of packets that are lost, drawn one by one.
        jitter: standard deviation of the delay, never below half the mean [s].
        outages: (from [s], to [s]) in which nothing passes.
    """

    down: float = 1e-3
    up: float | None = None
    packet_ticks: int = 1
    loss: float = 0.0
    jitter: float = 0.0
    outages: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Move:
    """A movement of the hand's aim of least jerk (Flash and Hogan 1985)."""

    start: float
    target: float
    duration: float


@dataclass(frozen=True)
class Press:
    """The operator holds a force: the aim moves with its error, felt late.

    Attributes:
        start: from when [s].
        end: until when [s].
        force: wanted [N].
        gain: of the aim [m/(N s)].
        delay: until a force is felt [s].
        dead: share of the force within which the error is ignored.
    """

    start: float
    end: float
    force: float
    gain: float = FORCE_GAIN
    delay: float = FORCE_DELAY
    dead: float = FORCE_DEAD_ZONE


@dataclass(frozen=True)
class Probe:
    """The aim trembles by a sum of sines, so that the impedance shown can be measured.

    Attributes:
        start: from when on [s].
        frequencies: [Hz].
        amplitudes: of each [m].
    """

    start: float
    frequencies: tuple[float, ...]
    amplitudes: tuple[float, ...]


@dataclass(frozen=True)
class Setup:
    """One run. Times count from the end of an idle time in which the link fills.

    Attributes:
        strategy: engaged at first.
        parameters: of the strategies, and the masses and dampings of handle and tip.
        arm: of the operator.
        wall: that the tip meets.
        line: between the two.
        moves: of the hand's aim.
        press: force holding, if any.
        probe: added to the moves, if any.
        switches: (when [s], to which strategy).
        duration: [s].
        period: tick [s].
        force_noise: standard deviation of the contact force that is measured [N].
        limited: whether guard, cap and slew limit act on the shown force. Facts of the
            bare strategies are without.
        seed: of loss, jitter and noise.
    """

    strategy: Strategy = Strategy.POSITION_POSITION
    parameters: TeleopParameters = field(default_factory=TeleopParameters)
    arm: ArmGrip = RELAXED
    wall: Wall = STIFF
    line: Line = Line()
    moves: tuple[Move, ...] = (Move(0.0, 0.08, 1.0),)
    press: Press | None = None
    probe: Probe | None = None
    switches: tuple[tuple[float, Strategy], ...] = ()
    duration: float = 20.0
    period: float = 1e-3
    force_noise: float = 0.0
    limited: bool = False
    seed: int = 0

    @property
    def idle_ticks(self) -> int:
        """Ticks before time 0: the round trip and 50 ms."""
        up = self.line.down if self.line.up is None else self.line.up
        slack = 3.0 * self.line.jitter + 0.05
        held = 2 * self.line.packet_ticks
        return round((self.line.down + up + slack) / self.period) + held

    @property
    def ticks(self) -> int:
        """All ticks of the run."""
        return self.idle_ticks + round(self.duration / self.period)

    def with_delay(self, delay: float) -> "Setup":
        """Return this set-up with another delay each way [s]."""
        return replace(self, line=replace(self.line, down=delay, up=None))

    def times(self) -> FloatArray:
        """Time of every tick, negative while idle [s]."""
        ticks: FloatArray = np.arange(self.ticks, dtype=np.float64)
        return (ticks - self.idle_ticks) * self.period


def reference_path(setup: Setup) -> tuple[FloatArray, FloatArray]:
    """Position [m] and velocity [m/s] of the hand's aim at every tick."""
    time = setup.times()
    position = np.zeros_like(time)
    velocity = np.zeros_like(time)
    at = 0.0
    for move in setup.moves:
        phase = np.clip((time - move.start) / move.duration, 0.0, 1.0)
        way = move.target - at
        position += way * phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2)
        velocity += way * 30.0 * phase**2 * (1.0 - phase) ** 2 / move.duration
        at = move.target
    if setup.probe is not None:
        _tremble(setup.probe, time, position, velocity)
    return position, velocity


def _tremble(
    probe: Probe, time: FloatArray, position: FloatArray, velocity: FloatArray
) -> None:
    """Add a probe's sines, each with its phase of Schroeder so that peaks are low."""
    since = np.maximum(0.0, time - probe.start)
    count = len(probe.frequencies)
    for k, (hertz, size) in enumerate(
        zip(probe.frequencies, probe.amplitudes, strict=True)
    ):
        rate, phase = 2.0 * np.pi * hertz, -np.pi * k * (k + 1) / count
        position += size * (np.sin(rate * since + phase) - np.sin(phase))
        velocity += size * rate * np.cos(rate * since + phase) * (since > 0.0)


def wall_path(setup: Setup) -> FloatArray:
    """Place of the wall at every tick, infinite where there is none [m]."""
    time = setup.times()
    place = np.full_like(time, setup.wall.position)
    if setup.wall.stiffness == 0.0:
        place[:] = np.inf
    for when, where in setup.wall.moves:
        place[time >= when] = where
    return place


def newest_told(
    setup: Setup,
    delay: float,
    generator: np.random.Generator,
    told: IntArray | None = None,
) -> IntArray:
    """Tick whose telling is the newest heard at every tick; NEVER where none is.

    A packet is known by the tick it was made in; one that is overtaken is dropped.

    Args:
        setup: the run.
        delay: of this way [s].
        generator: of loss and jitter.
        told: (n,) 1 in the ticks in which something is told; None: in all.
    """
    line = setup.line
    made = np.arange(0, setup.ticks, line.packet_ticks)
    kept = np.ones(made.size, dtype=bool)
    if line.loss > 0.0:
        kept = generator.random(made.size) >= line.loss
    late = np.full(made.size, delay)
    if line.jitter > 0.0:
        late += line.jitter * generator.normal(size=made.size)
        late = np.maximum(late, 0.5 * delay)
    for begin, end in line.outages:
        time = setup.times()[made]
        kept &= (time < begin) | (time >= end)
    due = made + np.maximum(1, np.rint(late / setup.period)).astype(np.int64)
    heard = np.full(setup.ticks, NEVER, dtype=np.int64)
    if told is not None:
        kept &= told[made] != 0
    inside = kept & (due < setup.ticks)
    np.maximum.at(heard, due[inside], made[inside])
    return np.maximum.accumulate(heard)
