"""What a report shows, in its order, and what is said about each figure."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from app.study.report import figures_contact, figures_outcome, figures_traces
from app.study.report.data import StudyData

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXHIBITS", "FAILURES", "THREATS", "Exhibit"]


class Exhibit(NamedTuple):
    """A figure, and its caption."""

    draw: "Callable[[StudyData], Figure | None]"
    """Draws it; None where the study has nothing for it."""
    caption: str
    """May name the measure: {title}."""


FAILURES = (
    Exhibit(
        figures_outcome.draw_success,
        "Trials that succeeded, of all, by strategy and link.",
    ),
    Exhibit(
        figures_outcome.draw_ends,
        "How the trials of the cells with failures ended; of the forty with the most, "
        "where there are more.",
    ),
)
"""What comes first."""

EXHIBITS = (
    Exhibit(
        figures_outcome.draw_times,
        "{title} against the round trip: medians with 95 % intervals (bootstrap over "
        "seeds, BCa); dots are trials, crosses trials that failed and count with their"
        " time-out.",
    ),
    Exhibit(
        figures_outcome.draw_forest,
        "Paired differences from the baseline, equal seeds against equal seeds. Filled"
        " marks: told apart at the 5 % level after Holm; open marks: not. The sixty "
        "clearest, where there are more.",
    ),
    Exhibit(
        figures_traces.draw_speed_accuracy,
        "Speed and accuracy: time from target to target against the index of "
        "difficulty log2(A/W + 1); medians with 95 % intervals.",
    ),
    Exhibit(
        figures_traces.draw_paths,
        "Paths as the robot went them, of the seed in which the most strategies "
        "succeed, and their distance from the curve along it.",
    ),
    Exhibit(
        figures_contact.draw_forces,
        "Push along the surface's normal in one trial of each strategy: true at the "
        "tip, as the station has heard of it, and shown to the hand.",
    ),
    Exhibit(
        figures_contact.draw_loops,
        "Push shown to the hand against its depth in the true surface; dotted: what "
        "the surface itself would answer.",
    ),
    Exhibit(
        figures_contact.draw_surface,
        "What was learned of the surface, all seeds: stiffness over the true one "
        "(shaded: within 15 %) and place; dots are updates.",
    ),
    Exhibit(
        figures_contact.draw_energy,
        "E_port: energy that the hand has put in, less what it got; below zero the port"
        " was active. E_net: that, less what the tip has done to its surroundings, "
        "scaled as forces are shown; it falls where the robot's actuators work for the "
        "hand, as they do wherever the hand is shown less than the tip meets.",
    ),
    Exhibit(
        figures_traces.draw_age,
        "Age of the newest command that the robot had applied: distribution over time,"
        " mean of all seeds; below, its peaks in one trial, outages shaded.",
    ),
    Exhibit(
        figures_outcome.draw_moves,
        "Moves of the hand in a trial (above 5 mm/s, apart by 0.2 s below 3 mm/s); "
        "pale: trials that failed.",
    ),
    Exhibit(
        figures_outcome.draw_packets,
        "Packets sent both ways against the Weber fraction of the deadband, 0: none; "
        "medians with 95 % intervals.",
    ),
    Exhibit(
        figures_outcome.draw_pareto,
        "What it costs: the measure against the traffic, median of every cell; larger "
        "marks are later links.",
    ),
)
"""Results, after the failures."""

THREATS = (
    (
        "Simulated operators follow published models whose constants are plausible, "
        "not fitted. Intervals cover their noise, the link's and the sensors', not the"
        " differences between people."
    ),
    (
        "Packets are emulated, not bits: a packet arrives whole or not at all; no "
        "echoes, no collisions in the water."
    ),
    (
        "Contact is a penalty law at the limb's points; surfaces are the scene's, and "
        "do not move unless it says so."
    ),
    (
        "Sensors add white noise; friction of tendons in their sheaths and the hull's "
        "own motion are left out."
    ),
    (
        "With n seeds a two-sided test of signed ranks cannot give less than 2/2^n: "
        "with five seeds 0.06, before Holm."
    ),
)
"""What may be wrong with any study here."""
