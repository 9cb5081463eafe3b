"""How a strategy shows a wall: its impedance at the hand, and the energies, by delay.

The hand aims 15 mm past a wall, lets go, presses again (so that a model is known),
and its aim then trembles by a sum of sines from 0.1 to 5 Hz. The impedance shown is
taken over two whole periods of the slowest; with cap, slew limit and guard in force,
and a contact force that is measured with noise.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.config.teleop import TeleopParameters
from app.study.metrics.transparency import impedance_error, shown_impedance
from app.study.one_dof import Run, run_one_dof
from app.study.one_dof_setup import SOFT, STIFF, Line, Move, Probe, Setup, Wall
from app.teleop.strategy import Strategy, strategy_named
from models.numerics import FloatArray

__all__ = [
    "DELAYS_MS",
    "FREQUENCIES_HZ",
    "SHOWN_AT_MS",
    "WALLS",
    "measure_probes",
    "wall_impedance",
]

WALLS = {"150 N/m": SOFT, "2000 N/m": STIFF}
DELAYS_MS = (1.0, 10.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""One way."""
SHOWN_AT_MS = 100.0
"""Of which all frequencies and energies are kept."""
FREQUENCIES_HZ = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0)

_REACH, _AIM = 0.065, 0.008  # [m]; the aim trembles by no more than the latter
_HOLD_S, _AWAY_S, _SETTLE_S = 2.0, 1.5, 4.0
_PERIOD_S, _PERIODS = 10.0, 2
_NOISE_N = 0.02
_THIN = 50  # ms


def _setup(
    strategy: Strategy, parameters: TeleopParameters, wall: Wall, delay: float
) -> Setup:
    trip = 2.0 * delay
    away = 1.0 + _HOLD_S + trip
    again = away + 1.0 + _AWAY_S + trip
    start = again + 1.0 + _SETTLE_S + trip
    weights = np.array(FREQUENCIES_HZ) ** -0.5
    sizes = _AIM * weights / weights.sum()
    return Setup(
        strategy=strategy,
        parameters=parameters,
        wall=wall,
        line=Line(delay),
        moves=(
            Move(0.0, _REACH, 1.0),
            Move(away, 0.0, 1.0),
            Move(again, _REACH, 1.0),
        ),
        probe=Probe(start, FREQUENCIES_HZ, tuple(sizes.tolist())),
        duration=start + _PERIOD_S + _PERIODS * _PERIOD_S,
        force_noise=_NOISE_N,
        limited=True,
    )


def wall_impedance(wall: Wall) -> FloatArray:
    """Return |Z_e| of a wall of Kelvin and Voigt at `FREQUENCIES_HZ` [N s/m]."""
    rate = 2.0 * np.pi * np.array(FREQUENCIES_HZ)
    true: FloatArray = np.hypot(wall.damping, wall.stiffness / rate)
    return true


def _impedance(run: Run) -> FloatArray | None:
    """|Z_t| over the last whole periods [N s/m]; None where it diverged."""
    if run.diverged:
        return None
    count = round(_PERIODS * _PERIOD_S / run.setup.period)
    span = slice(run.ticks - count, run.ticks)
    return shown_impedance(
        run.traces.hand_force[span],
        run.traces.hand_velocity[span],
        np.array(FREQUENCIES_HZ),
        run.setup.period,
    )


def _energies(run: Run) -> dict[str, Any]:
    port = run.traces.port_energy[: run.ticks]
    every = slice(None, None, _THIN)
    return {
        "time_s": np.round(run.time[every], 3).tolist(),
        "port_j": np.round(port[every], 7).tolist(),
        "net_j": np.round(run.net_energy[every], 7).tolist(),
        "least_port_j": run.least_port,
        "least_net_j": float(run.net_energy.min()),
    }


def measure_probes(
    parameters: TeleopParameters, delays_ms: Sequence[float] = DELAYS_MS
) -> dict[str, Any]:
    """Probe the strategy of some parameters at every wall and delay.

    Args:
        parameters: of the strategy, with its name.
        delays_ms: each way.

    Returns:
        By wall: ε_Z for every delay (None: it diverged, or shows nothing); at
        `SHOWN_AT_MS` |Z_t| and the energies.
    """
    strategy = strategy_named(parameters.strategy)
    found: dict[str, Any] = {}
    for name, wall in WALLS.items():
        errors: list[float | None] = []
        kept: dict[str, Any] = {}
        for delay_ms in delays_ms:
            run = run_one_dof(_setup(strategy, parameters, wall, 1e-3 * delay_ms))
            shown = _impedance(run)
            error = None
            if shown is not None and shown.min() > 0.0:
                error = impedance_error(shown, wall_impedance(wall))
            errors.append(error)
            if delay_ms == SHOWN_AT_MS:
                kept = _energies(run)
                kept["impedance"] = None if shown is None else shown.tolist()
        found[name] = {"error": errors, **kept}
    return found
