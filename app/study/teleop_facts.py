"""All facts of the strategies, from whatever module finds them."""

from collections.abc import Callable, Iterator

from app.study.bilateral_facts import bilateral_facts
from app.study.fact import Fact
from app.study.mediated_facts import mediated_facts
from app.study.operator_facts import operator_facts

__all__ = ["FACT_SOURCES", "teleop_facts"]

FACT_SOURCES: tuple[Callable[[], Iterator[Fact]], ...] = (
    bilateral_facts,
    mediated_facts,
    operator_facts,
)
"""What finds facts; each stands in a module of its own."""


def teleop_facts() -> Iterator[Fact]:
    """Find all facts, one after another."""
    for source in FACT_SOURCES:
        yield from source()
