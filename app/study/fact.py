"""A figure to be met, what our harness makes of it, and how far apart they may be."""

from dataclasses import dataclass

__all__ = ["Fact", "fact_at_least", "fact_near", "fact_that"]


@dataclass(frozen=True)
class Fact:
    """One row of the table of facts.

    Attributes:
        name: of the fact, "A1".
        what: it says, in words.
        printed: the figure that is to be met.
        ours: the figure that was found.
        tolerance: in words.
        holds: whether it does.
    """

    name: str
    what: str
    printed: str
    ours: str
    tolerance: str
    holds: bool


def fact_near(
    name: str, what: str, printed: float, ours: float | None, margin: float, unit: str
) -> Fact:
    """Make a fact of a figure with a margin to both sides.

    Args:
        name: of the fact.
        what: it says.
        printed: figure in its unit.
        ours: figure in its unit; None where there is none.
        margin: in the same unit.
        unit: for people.
    """
    found = "none" if ours is None else f"{ours:.4g} {unit}"
    holds = ours is not None and abs(ours - printed) <= margin
    return Fact(name, what, f"{printed:.4g} {unit}", found, f"± {margin:.3g}", holds)


def fact_at_least(
    name: str, what: str, printed: str, ours: float, least: float, unit: str
) -> Fact:
    """Make a fact of a figure that must not fall below a bound.

    Args:
        name: of the fact.
        what: it says.
        printed: the figure, in words.
        ours: figure in its unit.
        least: bound in the same unit.
        unit: for people.
    """
    return Fact(
        name,
        what,
        printed,
        f"{ours:.4g} {unit}",
        f">= {least:.3g}",
        ours >= least,
    )


def fact_that(name: str, what: str, printed: str, ours: str) -> Fact:
    """Make a fact of words that must be the same."""
    return Fact(name, what, printed, ours, "exact", printed == ours)
