"""One figure of scripts/bench, in the form in which all of its groups give theirs."""

from typing import Any

__all__ = ["Record", "record"]

Record = dict[str, Any]


def record(
    name: str,
    value: float,
    unit: str,
    goal: float,
    note: str,
    peer: str = "",
    ratio: float | None = None,
) -> Record:
    """Judge one figure.

    Args:
        name: what was measured.
        value: how much.
        unit: of the value.
        goal: most that the ratio may be or, where there is none, the value.
        note: what a reader must know beside it.
        peer: what the ratio is to.
        ratio: to the peer; None where there is none.

    Returns:
        A row of the table and of the JSON.
    """
    judged = value if ratio is None else ratio
    return {
        "name": name,
        "value": _short(value),
        "unit": unit,
        "goal": goal,
        "holds": bool(judged <= goal),
        "peer": peer,
        "ratio": None if ratio is None else _short(ratio),
        "note": note,
    }


def _short(figure: float) -> float:
    """Six figures, whatever the size: far below what a machine repeats."""
    return float(f"{figure:.6g}")
