"""What Renda's swimmers must show, and whether they do.

Wanted values are those of converged reference runs of the published equations: for the
Quadropus 0.102 m/s and an efficiency of 0.39 to 0.41, for Monopus and Poseidrone runs
at half the published grid. What is known on the published grid alone (effect of the
Quadropus's arms, turning of the Monopus with 7 mN m, the second turn) has its error.

Reference motions, each row a time: `mantle_quadropus_code.csv`, `mantle_quadropus_
paper.csv`, `mantle_poseidrone_<rate>.csv`, `swimmer_monopus.csv`, and
`swimmer_arm_force.csv`, the force of one clamped arm along its axis in the wave of
5 mN m on the published grid and on two finer ones.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.config.case import PhysicsCase, StrainCase, load_case
from app.config.robot import load_robot
from app.config.tree import build_tree
from app.study.simulation_run import Simulator
from app.study.swimmers import (
    ACTIVE_ARMS,
    CODE,
    PAPER,
    REFERENCE_PAPER,
    REFINED_CODE,
    Swim,
    arms_force,
    edge_gap,
    efficiency,
    mean_speed,
    swim,
    turning_radius,
)
from models.numerics import FloatArray

__all__ = [
    "GRIDS_MM",
    "ArmGrid",
    "Goal",
    "arm_grid",
    "arms_goals",
    "convergence",
    "monopus_goals",
    "poseidrone_goals",
    "poseidrone_readings",
    "quadropus_goals",
]

PERIOD_S = 0.66
"""Of the Quadropus's mantle in the reference runs; 1/1.51 Hz is 0.6623 s."""
MONOPUS_LENGTH = 0.118 + 0.245
"""L_s + L_b of Renda 2018 eq. 29 [m]."""
RATES = (1.89, 1.51, 1.26)
GRIDS_MM = (5.0, 2.5, 1.25)
"""Of the arm in the published scheme, and refined."""
_ARMS = 4
_PUBLISHED_GAIN = {5.0: (0.007, 0.016), 7.0: (0.010, 0.029)}
"""Mean speed over that of passive arms, less 1, in the first and second second."""
_PUBLISHED_PEAK = {0.0: 0.10, 5.0: 0.118, 7.0: 0.135}
"""Greatest force of the arms after release [N]."""
_PUBLISHED_OPENING = {5.0: -0.20, 7.0: -0.28}
"""Greatest drag of the arms as they open [N]."""


class Goal(NamedTuple):
    """One row: a value that is found, and the range in which it is to be."""

    what: str
    found: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether it is in its range."""
        return self.low <= self.found <= self.high


def _near(what: str, found: float, wanted: float, share: float) -> Goal:
    slack = share * abs(wanted)
    return Goal(what, found, wanted - slack, wanted + slack)


def _motion(folder: Path, name: str) -> dict[str, FloatArray]:
    table = np.genfromtxt(folder / name, delimiter=",", names=True)
    return {column: table[column] for column in table.dtype.names or ()}


def quadropus_goals(folder: Path, periods: int = 12) -> list[Goal]:
    """Speed, efficiency, momentum and volume, arms passive, both physics.

    The second half of the run is taken as steady, in whole periods.

    Args:
        folder: of the reference motions.
        periods: of the mantle's pulsation in a run, even, at least 8.
    """
    goals = []
    start, end = 0.5 * periods * PERIOD_S, periods * PERIOD_S
    code = swim("quadropus-m0", CODE, seconds=end + 1e-3, pulse_s=PERIOD_S)
    paper = swim("quadropus-m0", PAPER, seconds=end + 1e-3, pulse_s=PERIOD_S)
    for words, run in (("published code", code), ("paper", paper)):
        goals += [
            _near(
                f"Quadropus, {words}: terminal mean speed [m/s]",
                mean_speed(run, start, end), 0.102, 0.02,
            ),
            Goal(
                f"Quadropus, {words}: efficiency",
                efficiency(run, start, end), 0.39 - 0.02, 0.41 + 0.02,
            ),
            Goal(
                f"Quadropus, {words}: (thrust + drag - edge force)/thrust",
                edge_gap(run, start, end), -0.01, 0.01,
            ),
        ]  # fmt: skip
    paper = swim("quadropus-m0", REFERENCE_PAPER, seconds=4.0, pulse_s=PERIOD_S)
    for words, name, run in (
        ("published code", "mantle_quadropus_code.csv", code),
        ("paper, code's shell", "mantle_quadropus_paper.csv", paper),
    ):
        known = _motion(folder, name)
        volume = np.interp(known["t_s"], run.time_s, run.volume)
        error = np.abs(volume / known["shell_volume_m3"] - 1.0).max()
        speed = np.interp(known["t_s"], run.time_s, run.twist[:, 3])
        off = np.abs(speed - known["vr_x_m_s"]).max()
        goals += [
            Goal(f"Quadropus, {words}: shell volume, greatest error", error, 0.0, 0.01),
            Goal(f"Quadropus, {words}: speed, greatest error [m/s]", off, 0.0, 0.002),
        ]
    return goals


def arms_goals(moments: tuple[float, ...] = (5.0, 7.0)) -> list[Goal]:
    """What the Quadropus's arms do, beside the published grid's figures.

    Forces within 15 %: the greatest force of one clamped arm differs by 17 % between
    the published grid and one four times as fine.

    Args:
        moments: of the arms, 5 or 7 [mN m].
    """
    runs = {moment: _active(moment) for moment in (0.0, *moments)}
    goals = []
    for moment, run in runs.items():
        force, time_s = arms_force(run), run.time_s[1:]
        goals.append(
            _near(
                f"arms, {moment:g} mN m: greatest force after release [N]",
                float(force[time_s > 1.0].max()), _PUBLISHED_PEAK[moment], 0.15,
            )
        )  # fmt: skip
        if not moment:
            continue
        goals.append(
            _near(
                f"arms, {moment:g} mN m: greatest drag while they open [N]",
                float(force[time_s < 1.02].min()), _PUBLISHED_OPENING[moment], 0.15,
            )
        )  # fmt: skip
        for k, gain in enumerate(_gains(run, runs[0.0])):
            wanted = _PUBLISHED_GAIN[moment][k]
            goals.append(
                _near(
                    f"arms, {moment:g} mN m: gain of mean speed, {k} to {k + 1} s",
                    gain, wanted, 0.5,
                )
            )  # fmt: skip
    return goals


def _active(
    moment_mn_m: float,
    push: Callable[[float], float] | None = None,
    strain: StrainCase = ACTIVE_ARMS,
) -> Swim:
    return swim(
        "quadropus-m5", CODE, seconds=2.0, strain=strain, moment_mn_m=moment_mn_m,
        pulse_s=PERIOD_S, push=push,
    )  # fmt: skip


def _gains(run: Swim, passive: Swim) -> tuple[float, float]:
    """Mean speed over that of passive arms, less 1, in the first two seconds."""
    first, second = (
        mean_speed(run, t, t + 1.0) / mean_speed(passive, t, t + 1.0) - 1.0
        for t in (0.0, 1.0)
    )
    return first, second


class ArmGrid(NamedTuple):
    """What the published scheme's grid of the arm does to the arms' effect."""

    impulse: FloatArray
    """(3, 2) of the clamped arm on its base, forward, in the first and the second
    second, on each grid, coarsest first [N s]."""
    limit: FloatArray
    """(2,) extrapolated to no grid, of first order [N s]."""
    found: FloatArray
    """(2,) by this engine [N s]."""
    gain: tuple[float, float]
    """Of mean speed by 5 mN m in the first and second second."""
    gain_with_error: tuple[float, float]
    """The same with the published grid's error of that force pushing on the root."""


def arm_grid(folder: Path) -> ArmGrid:
    """Find what the published grid adds to the thrust of the Quadropus's arms.

    Args:
        folder: of the reference motions.
    """
    known = _motion(folder, "swimmer_arm_force.csv")
    time_s = known["t_s"]
    forces = np.array([-known[f"axial_{n}_N"] for n in (50, 99, 197)])
    limit = 2.0 * forces[2] - forces[1]
    error = _ARMS * (forces[0] - limit)

    def push(now: float) -> float:
        return float(np.interp(now, time_s, error))

    plain, driven, pushed = _active(0.0), _active(5.0), _active(5.0, push)
    return ArmGrid(
        impulse=np.array([_impulse_by_second(time_s, force) for force in forces]),
        limit=_impulse_by_second(time_s, limit),
        found=_impulse_by_second(*_clamped_arm()),
        gain=_gains(driven, plain),
        gain_with_error=_gains(pushed, plain),
    )


def _impulse_by_second(time_s: FloatArray, force: FloatArray) -> FloatArray:
    """(2,) impulse of a force in the first and in the second second [N s]."""
    steps = 0.5 * (force[1:] + force[:-1]) * np.diff(time_s)
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return np.diff(np.interp([0.0, 1.0, 2.0], time_s, total))


def _clamped_arm() -> tuple[FloatArray, FloatArray]:
    """Times and forward force of the clamped arm in the wave of 5 mN m [s, N]."""
    case = load_case("renda-arm-wave-m5")
    robot = load_robot("quadropus")
    plan = build_tree(robot, case)
    period = 1e-6 * case.integrator.step_us
    samples = list(Simulator(robot, plan, case, period).run(2.0, period))
    axis = plan.limbs[0].base[:3, 2]
    force: FloatArray = np.array([-axis @ s.base_wrench[3:] for s in samples])
    return np.array([s.time_s for s in samples]), force


def monopus_goals(folder: Path, moments: tuple[float, ...] = (5.0, 7.0)) -> list[Goal]:
    """Path of the Monopus, its turning radius and its rate of turning.

    Args:
        folder: of the reference motions.
        moments: of the arm [mN m].
    """
    published = {5.0: (0.577, 0.52, 0.47), 7.0: (0.802, 0.36, 0.32)}
    goals = []
    known = _motion(folder, "swimmer_monopus.csv")
    path = np.stack([known[f"ur_{axis}_m"] for axis in "xyz"], axis=1)
    rate = np.linalg.norm([known[f"wr_{axis}_rad_s"] for axis in "xyz"], axis=0)
    for moment in moments:
        run = swim(
            "monopus", REFINED_CODE, seconds=3.5, moment_mn_m=moment, pulse_s=PERIOD_S
        )
        turn = np.linalg.norm(run.twist[:, :3], axis=1)
        radius = turning_radius(run, MONOPUS_LENGTH)
        words = f"Monopus, {moment:g} mN m"
        if moment == 5.0:
            at = np.searchsorted(run.time_s, known["t_s"] - 1e-9)
            off = np.linalg.norm(run.place[at] - path, axis=1).max()
            way = np.linalg.norm(path[-1])
            goals += [
                Goal(f"{words}: greatest distance from the path / its way", off / way,
                     0.0, 0.1),
                _near(f"{words}: greatest rate of turning, fine run [rad/s]",
                      turn[run.time_s < 1.5].max(), rate[known["t_s"] < 1.5].max(),
                      0.05),
            ]  # fmt: skip
        most, first, second = published[moment]
        goals.append(
            _near(f"{words}: greatest rate of turning, published grid [rad/s]",
                  turn[run.time_s < 1.5].max(), most, 0.05)
        )  # fmt: skip
        for start, wanted in ((0.34, first), (2.84, second)):
            inside = (run.time_s >= start) & (run.time_s <= start + PERIOD_S)
            goals.append(
                _near(f"{words}: radius of turning, median from {start} s",
                      float(np.median(radius[inside])), wanted, 0.1)
            )  # fmt: skip
    return goals


def poseidrone_goals(folder: Path, rates: tuple[float, ...] = RATES) -> list[Goal]:
    """Mean speed of the Poseidrone, arms hanging, with the published code's physics.

    Args:
        folder: of the reference motions.
        rates: of pulsation [Hz].
    """
    goals = []
    for rate in rates:
        known = _motion(folder, f"mantle_poseidrone_{100 * rate:.0f}.csv")
        late = known["t_s"] >= 3.0 - 1e-9
        way = np.trapezoid(known["vr_x_m_s"][late], known["t_s"][late])
        name = f"Poseidrone, {rate:.2f} Hz: mean speed, 3 to 6 s [m/s]"
        speed = _late_speed(f"poseidrone-{rate:.2f}", CODE)
        goals.append(_near(name, speed, float(way) / 3.0, 0.03))
    return goals


def poseidrone_readings() -> dict[str, float]:
    """Mean speed at 1.51 Hz by the physics [m/s].

    The form of the drag parts the paper from its code: arms hang across the way with
    both normals at 45 degrees to it, where drag by components is 1/√2 of that by the
    norm. Nothing else is worth more than 1 %.
    """
    by_components = {"drag_form": "component"}
    by_norm = {"drag_form": "norm"}
    return {
        words: _late_speed("poseidrone-1.51", physics)
        for words, physics in (
            ("paper", PAPER),
            ("paper, drag by components", PAPER.model_copy(update=by_components)),
            ("published code", CODE),
            ("published code, drag by the norm", CODE.model_copy(update=by_norm)),
        )
    }


def _late_speed(name: str, physics: PhysicsCase, step_s: float = 1e-3) -> float:
    run = swim(name, physics, seconds=6.0, step_s=step_s, every_s=0.02)
    return mean_speed(run, 3.0, 6.0)


def convergence() -> list[tuple[str, list[float]]]:
    """Values by time step and by the arms' basis, with the published code's physics."""
    steps = (4e-3, 2e-3, 1e-3, 5e-4)
    end = 8.0 * PERIOD_S
    straight = [
        swim("quadropus-m0", CODE, seconds=end + 1e-2, step_s=h, pulse_s=PERIOD_S)
        for h in steps
    ]
    rows = [("time step [ms]", [1e3 * step for step in steps])]
    for words, measure in (
        ("terminal mean speed [m/s]", mean_speed),
        ("efficiency", efficiency),
        ("(thrust + drag - edge force)/thrust", edge_gap),
    ):
        rows.append(
            (f"Quadropus: {words}", [measure(r, 0.5 * end, end) for r in straight])
        )
    rows += [
        (
            "Poseidrone, 1.51 Hz: mean speed [m/s]",
            [_late_speed("poseidrone-1.51", CODE, h) for h in steps],
        ),
        (
            "Monopus, 5 mN m: way in 3 s [m]",
            [_monopus_way(step_s=h) for h in steps],
        ),
    ]
    bases = [
        StrainCase(
            basis="legendre",
            order={"k_x": k, "k_y": k, "q_x": q, "q_y": q, "q_z": q},
            rods="limb",
            points=k + 6,
        )
        for k, q in ((2, 0), (4, 2), (8, 4), (11, 6))
    ]
    rows.append(("order of the arms' curvature", [2.0, 4.0, 8.0, 11.0]))
    for moment in (5.0, 7.0):
        runs = [_active(moment, strain=basis) for basis in bases]
        for start in (0.0, 1.0):
            words = f"Quadropus, {moment:g} mN m: {start:g} to {start + 1:g} s [m/s]"
            rows.append((words, [mean_speed(r, start, start + 1.0) for r in runs]))
    rows.append(
        ("Monopus, 5 mN m: way in 3 s [m]", [_monopus_way(strain=b) for b in bases])
    )
    return rows


def _monopus_way(step_s: float = 1e-3, strain: StrainCase | None = None) -> float:
    run = swim(
        "monopus", REFINED_CODE, seconds=3.0, step_s=step_s, strain=strain,
        pulse_s=PERIOD_S,
    )  # fmt: skip
    return float(np.linalg.norm(run.place[-1]))
