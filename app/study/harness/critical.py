"""The critical delays of one strategy, by wall and grip, as a study keeps them."""

from typing import Any

from app.config.teleop import TeleopParameters
from app.study.one_dof_setup import Setup
from app.study.trcrit import critical_cases, find_critical
from app.teleop.strategy import strategy_named

__all__ = ["GREATEST_S", "measure_critical"]

GREATEST_S = 1.0
"""Delay each way up to which is looked [s]."""
_WALLS = ("free", "soft", "stiff")
_ARMS = ("relaxed", "light")


def measure_critical(parameters: TeleopParameters) -> list[dict[str, Any]]:
    """Return one row a case: wall, arm, delay and linear limit [s], None for none."""
    cases = critical_cases(
        [strategy_named(parameters.strategy)],
        _WALLS,
        _ARMS,
        Setup(parameters=parameters),
    )
    rows = []
    for item in find_critical(cases, GREATEST_S):
        linear = item.linear
        if linear is not None and linear > GREATEST_S:
            linear = None
        rows.append(
            {
                "wall": item.case.wall,
                "arm": item.case.arm,
                "delay_s": item.delay,
                "linear_s": linear,
                "sign": item.sign,
            }
        )
    return rows
