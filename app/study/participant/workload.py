"""NASA-TLX (Hart and Staveland 1988), raw: six scales from 0 to 100, and their mean."""

from typing import NamedTuple

__all__ = ["SCALES", "Scale", "raw_load"]


class Scale(NamedTuple):
    """One question."""

    key: str
    title: str
    question: str
    low: str
    high: str


SCALES = (
    Scale(
        "mental",
        "Mental demand",
        "How mentally demanding was it?",
        "very low",
        "very high",
    ),
    Scale(
        "physical",
        "Physical demand",
        "How physically demanding was it?",
        "very low",
        "very high",
    ),
    Scale(
        "temporal",
        "Temporal demand",
        "How hurried or rushed was the pace?",
        "very low",
        "very high",
    ),
    Scale(
        "performance",
        "Performance",
        "How successful were you in doing what you were asked to do?",
        "perfect",
        "failure",
    ),
    Scale(
        "effort",
        "Effort",
        "How hard did you have to work for that?",
        "very low",
        "very high",
    ),
    Scale(
        "frustration",
        "Frustration",
        "How insecure, discouraged, irritated or annoyed were you?",
        "very low",
        "very high",
    ),
)
"""In the order of the form."""


def raw_load(answers: dict[str, int]) -> float:
    """Return the mean of all six answers, 0 to 100."""
    return sum(answers[scale.key] for scale in SCALES) / len(SCALES)
