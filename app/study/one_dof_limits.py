"""From which delay on a strategy is unstable in the harness: a grid, then bisection."""

from collections.abc import Callable, Sequence

import numpy as np

from app.study.one_dof import run_one_dof
from app.study.one_dof_setup import Setup
from app.teleop.held_loop import held_loop
from app.teleop.limits import Contact, Loop

__all__ = ["DELAY_GRID", "critical_delay", "loop_of"]

DELAY_GRID = (
    *(float(value) for value in np.arange(0.005, 0.1, 0.005)),
    *(float(value) for value in np.arange(0.1, 0.2, 0.01)),
    *(float(value) for value in np.arange(0.2, 1.01, 0.1)),
)
"""Delays each way that are tried first [s]."""


def critical_delay(
    setup: Setup,
    grid: Sequence[float] = DELAY_GRID,
    stable: Callable[[Setup], bool] | None = None,
) -> float | None:
    """Smallest delay each way at which a set-up is unstable.

    The curve need not be monotone, so the grid's first unstable delay is taken.

    Args:
        setup: whose delay is varied.
        grid: delays that are tried first, rising [s].
        stable: judge of a set-up; None = of its run.

    Returns:
        Delay [s], within half a tick; None where it is stable on the whole grid.
    """
    judge = stable or (lambda item: run_one_dof(item).stable)
    period = setup.period
    low = 0.0
    for delay in grid:
        if not judge(setup.with_delay(delay)):
            high = delay
            break
        low = delay
    else:
        return None
    last, first = round(low / period), round(high / period)
    while first - last > 1:
        middle = (last + first) // 2
        if judge(setup.with_delay(middle * period)):
            last = middle
        else:
            first = middle
    return 0.5 * (last + first) * period


def loop_of(setup: Setup) -> tuple[Loop, Contact]:
    """Return the linear loop and contact of a set-up, along x."""
    contact = Contact(setup.wall.stiffness, setup.wall.damping)
    return held_loop(setup.parameters, setup.arm), contact
