"""A study's finished trials as rows, and the cells that they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.study.factorial.cells import Cell
from models.numerics import FloatArray

__all__ = ["Row", "Table", "column_names", "row_of"]


@dataclass(frozen=True)
class Row:
    """One trial.

    Attributes:
        name: of its folder.
        cell: its levels.
        seed: its root seed.
        verdict: how it ended.
        figures: by name.
        result: all of its result.
    """

    name: str
    cell: Cell
    seed: int
    verdict: str
    figures: dict[str, Any]
    result: dict[str, Any]

    @property
    def success(self) -> bool:
        """Whether the task was done."""
        return self.verdict == "success"


def row_of(result: dict[str, Any]) -> Row:
    """Make a row of what `result.json` holds."""
    return Row(
        result["name"],
        Cell(**result["cell"]),
        int(result["seed"]),
        result["verdict"],
        result["figures"],
        result,
    )


class Table:
    """All rows of a study, in the order of its plan."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Sort the rows into cells."""
        self.rows = list(rows)
        self._cells: dict[Cell, list[Row]] = {}
        for row in self.rows:
            self._cells.setdefault(row.cell, []).append(row)

    @property
    def cells(self) -> list[Cell]:
        """Cells in their order."""
        return list(self._cells)

    def of(self, cell: Cell) -> list[Row]:
        """Rows of a cell."""
        return self._cells.get(cell, [])

    def levels(self, factor: str) -> list[str]:
        """Levels of a factor ("strategy", "link", ...) in their order."""
        return list(dict.fromkeys(getattr(cell, factor) for cell in self._cells))

    @property
    def conditions(self) -> list[tuple[str, ...]]:
        """What strategies are compared in, in their order."""
        return list(dict.fromkeys(cell.condition for cell in self._cells))

    def values(self, rows: Sequence[Row], name: str) -> FloatArray:
        """Figures of rows (n,), NaN where there is none."""
        found: FloatArray = np.array(
            [
                np.nan if row.figures.get(name) is None else row.figures[name]
                for row in rows
            ],
            dtype=np.float64,
        )
        return found


def column_names(rows: Sequence[Row]) -> list[str]:
    """Names of all figures that any row has, in their order."""
    return list(dict.fromkeys(name for row in rows for name in row.figures))
