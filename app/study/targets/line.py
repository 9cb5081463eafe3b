"""How far from the line a soft arm strays (Gong 2018): from a plan's own trials.

The paper's arm strayed less than 6.6 mm over the first 85 % of its line, still water,
static errors of 2.7 to 13.4 mm over the range. Ours is the simulated arm of the same
robot, followed by a simulated person over the link, with the sensors' nominal noise.
"""

from collections.abc import Sequence

import numpy as np

from app.study.analysis.statistics import bootstrap_interval
from app.study.analysis.table import Row
from app.study.fact import Fact

__all__ = ["LINE_HOW", "LINE_SOURCE", "judge_line"]

LINE_SOURCE = "Gong 2018, Sec. III.A: less than 6.6 mm in the first 85 % of the line"
LINE_HOW = (
    "The plan's own trials of the task `line`, in the whole product; strategies and "
    "links as named."
)
_PUBLISHED_MM = 6.6


def judge_line(rows: Sequence[Row]) -> list[Fact]:
    """Make facts of the trials on the line, one for each strategy and link."""
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.cell.task == "line" and row.figures.get("path_most_85_mm") is not None:
            cells.setdefault((row.cell.strategy, row.cell.link), []).append(row)
    facts = []
    for (strategy, link), own in cells.items():
        for column, what, limit in (
            ("path_rms_85_mm", "RMS", _PUBLISHED_MM),
            ("path_most_85_mm", "greatest", None),
        ):
            values = np.array([row.figures[column] for row in own], dtype=np.float64)
            found = bootstrap_interval(values, seed=11)
            facts.append(
                Fact(
                    "line",
                    f"{strategy}, {link}: {what} distance, first 85 %",
                    f"< {_PUBLISHED_MM:g} mm" if limit else "–",
                    f"{found.value:.1f} mm [{found.low:.1f}, {found.high:.1f}]",
                    f"< {_PUBLISHED_MM:g} mm" if limit else "told only",
                    limit is None or found.value < limit,
                )
            )
    return facts
