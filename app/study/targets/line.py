"""How far from the line a soft arm strays (Gong 2018): from a plan's own trials.

The paper's arm was led along its line by a computer, blindly, at constant speed in
still water, and strayed by less than 6.6 mm over the first 85 % of it; it came to the
end about 2 s late. Ours is the simulated arm of the same robot with its sensors'
nominal noise, over the plan's links, led by a program as theirs was (`programme`), or
by a simulated person who corrects by eye (`tracker`). What is judged is the greatest
distance of each trial with the nominal robot; the root mean square, the lag, and robots
that differ from their model are told.
"""

from collections.abc import Sequence

import numpy as np

from app.study.analysis.statistics import bootstrap_interval
from app.study.analysis.table import Row
from app.study.fact import Fact

__all__ = ["LINE_HOW", "LINE_SOURCE", "PUBLISHED_MM", "judge_line", "line_cells"]

LINE_SOURCE = (
    "Gong 2018, Sec. III.A: an arm led blindly along a line of 256 mm at 32 mm/s "
    "strays by less than 6.6 mm over the first 85 %, and is about 2 s late at its end"
)
LINE_HOW = (
    "The plan's own trials of the task `line`, in the whole product: the simulated "
    "arm, its actuators and its sensors' nominal noise; its model fits it unless a "
    "mismatch is named. The programme leads as the paper's computer did; a tracker is "
    "a person who looks."
)
PUBLISHED_MM = 6.6
_JUDGED = "path_most_85_mm"
_COLUMNS = (
    (
        "path_most_85_mm",
        "greatest distance, first 85 %",
        "mm",
        f"< {PUBLISHED_MM:g} mm",
    ),
    ("path_rms_85_mm", "RMS distance, first 85 %", "mm", "–"),
    ("path_lag_s", "behind the reference", "s", "2 s at the end"),
)


def line_cells(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the trials on the line, by strategy, link, operator and mismatch."""
    cells: dict[str, list[Row]] = {}
    for row in rows:
        cell = row.cell
        if cell.task == "line":
            words = [cell.operator, cell.strategy, cell.link]
            if cell.mismatch != "nominal":
                words.append(cell.mismatch)
            cells.setdefault(", ".join(words), []).append(row)
    return cells


def judge_line(rows: Sequence[Row]) -> list[Fact]:
    """Make facts of the trials on the line; one that never set out fails its cell."""
    facts = []
    for title, own in line_cells(rows).items():
        for column, what, unit, published in _COLUMNS:
            kept = [row.figures.get(column) for row in own]
            values = np.array([x for x in kept if x is not None], dtype=np.float64)
            judged = column == _JUDGED and own[0].cell.mismatch == "nominal"
            if not values.size:
                if judged:
                    facts.append(
                        Fact("line", f"{title}: {what}", published, "no trial set out",
                             published, holds=False)
                    )  # fmt: skip
                continue
            found = bootstrap_interval(values, seed=11)
            missing = len(own) - values.size
            ours = f"{found.value:.2f} {unit} [{found.low:.2f}, {found.high:.2f}]"
            if missing:
                ours += f", {missing} of {len(own)} did not set out"
            worst = float(values.max())
            if judged:
                ours += f"; worst {worst:.2f}"
            facts.append(
                Fact(
                    "line",
                    f"{title}: {what}",
                    published,
                    ours,
                    f"all {published}" if judged else "told only",
                    not judged or (worst < PUBLISHED_MM and not missing),
                )
            )
    return facts
