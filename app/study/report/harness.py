"""The part of a report that comes from the harness of one degree of freedom."""

from functools import partial
from pathlib import Path
from typing import Any

from app.study.fact import Fact
from app.study.factorial.store import write_whole
from app.study.harness.probe import DELAYS_MS, SHOWN_AT_MS, WALLS
from app.study.report.canvas import drawn_svg
from app.study.report.data import StudyData
from app.study.report.figures_harness import (
    draw_critical_delays,
    draw_impedance,
    draw_net_energy,
)
from app.study.report.page import Page
from app.study.report.tables import facts_csv

__all__ = ["add_harness", "fact_rows"]

_HEADS = ("fact", "what", "to be met", "here", "tolerance", "holds")
_EXHIBITS = (
    (
        draw_critical_delays,
        (
            "From which delay each way on a strategy is unstable, by wall and grip, "
            "found on a grid and then to 1 ms; bare strategies, no cap and no guard. "
            "Pale: stable up to the greatest delay tried."
        ),
    ),
    (
        draw_impedance,
        (
            "The impedance that the hand is shown while its aim trembles at 0.1 to "
            "5 Hz: above ε_Z, the mean of |log10 |Z_t|/|Z_e|| over the frequencies (0: "
            "the wall itself; 1: ten times off); below the impedances at "
            f"{SHOWN_AT_MS:g} ms. One run each; a point that is missing diverged."
        ),
    ),
    (
        draw_net_energy,
        (
            f"Two presses and the probe at {SHOWN_AT_MS:g} ms each way. E_port: what "
            "the hand has put in, less what it got. E_net: that, less what the "
            "coupling has given to the robot's tip; below zero the coupling was active."
        ),
    ),
)


def add_harness(page: Page, data: StudyData) -> list[Path]:
    """Add what the plan asks of the harness, as far as it is worked out.

    Returns:
        The files written beside the page.

    Raises:
        LogError: a file cannot be written.
    """
    if not data.harness:
        return []
    page.heading("On one degree of freedom")
    page.text(
        "The product's strategy kernels at 1 kHz, a hand's arm, a mass in water and a "
        "wall; no limb, no actuators. Found on this machine, with this version."
    )
    for draw, caption in _EXHIBITS:
        svg = drawn_svg(partial(draw, data))
        if svg is not None:
            page.figure(svg, caption)
    _probe_table(page, data.harness.get("probes", {}))
    found = data.harness.get("facts")
    if not found:
        return []
    facts = [Fact(**row) for rows in found.values() for row in rows]
    off = [fact for fact in facts if not fact.holds]
    page.text(
        f"{len(facts) - len(off)} of {len(facts)} acceptance facts hold.",
        "warn" if off else "",
    )
    if off:
        page.table(_HEADS, fact_rows(off), "Acceptance facts that do not hold.")
    page.table(
        _HEADS,
        fact_rows(facts),
        "Acceptance facts, found by this study.",
        folded=f"All {len(facts)} facts",
    )
    path = data.store.folder / "facts.csv"
    write_whole(path, facts_csv(_HEADS, facts).encode())
    return [path]


def fact_rows(facts: list[Fact]) -> list[tuple[str, ...]]:
    """Return facts as rows of a page's table, those that do not hold first."""
    return [
        (
            fact.name,
            fact.what,
            fact.printed,
            fact.ours,
            fact.tolerance,
            "+yes" if fact.holds else "!NO",
        )
        for fact in sorted(facts, key=lambda fact: fact.holds)
    ]


def _probe_table(page: Page, found: dict[str, dict[str, Any]]) -> None:
    rows = [
        (
            label,
            name,
            *("–" if error is None else f"{error:.2f}" for error in own["error"]),
            f"{1e3 * own['least_port_j']:.1f}",
            f"{1e3 * own['least_net_j']:.1f}",
        )
        for label, walls in found.items()
        for name in WALLS
        for own in (walls[name],)
    ]
    if rows:
        page.table(
            (
                "strategy", "wall", *(f"#ε_Z, {delay:g} ms" for delay in DELAYS_MS),
                "#least E_port [mJ]", "#least E_net [mJ]",
            ),
            rows,
            f"The same in figures; energies at {SHOWN_AT_MS:g} ms.",
        )  # fmt: skip
