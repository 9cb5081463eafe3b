"""A link's recorded behaviour from a CSV file: delay, loss and bit rate over time.

The first line names the columns: `time_s` and one or more of `delay_ms` (one-way,
after serialisation), `loss` (share of packets, 0..1, or 0 and 1 for each moment) and
`rate_bps`. A row holds until the next one. What a file does not give, the link's own
TOML does. Empty lines, and lines that begin with #, are skipped.
"""

import csv
import math
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, Literal

from app.clock import NS_PER_S
from app.errors import ConfigError

__all__ = ["TRACE_COLUMNS", "TraceEnd", "TraceTable", "parse_trace", "read_trace"]

TraceEnd = Literal["loop", "hold", "cut"]
"""After the last row: from the start again, the last row for ever, or nothing."""

_ROWS_MAX = 1_000_000
_TIME = "time_s"
TRACE_COLUMNS: Final[dict[str, tuple[float, float]]] = {
    _TIME: (0.0, 1e7),
    "delay_ms": (0.0, 600_000.0),
    "loss": (0.0, 1.0),
    "rate_bps": (1.0, 1e11),
}
"""Columns a file may have, and the range of each."""


@dataclass(frozen=True)
class TraceTable:
    """Rows of a trace, by column; None where the file has no such column.

    Attributes:
        times_ns: start of each row [ns], rising; the first is 0.
        length_ns: end of the last row [ns]; it lasts as long as the one before it,
            and a single row lasts a second.
        delay_ms: one-way delay after serialisation [ms].
        loss: share of packets that are lost, 0..1.
        rate_bps: bit rate of each way, or of the shared medium [bit/s], whole.
        bits_before: what passes before each row and in all [bit s 1e-9].
    """

    times_ns: tuple[int, ...]
    length_ns: int
    delay_ms: tuple[float, ...] | None
    loss: tuple[float, ...] | None
    rate_bps: tuple[int, ...] | None
    bits_before: tuple[int, ...] = ()


def read_trace(path: Path) -> TraceTable:
    """Read a CSV file.

    Raises:
        ConfigError: unreadable or wrong; names file, line and column.
    """
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        raise ConfigError(f"Trace {path} cannot be read: {error}.") from error
    return parse_trace(text, str(path))


def parse_trace(text: str, where: str) -> TraceTable:
    """Read CSV text; `where` names it in messages.

    Raises:
        ConfigError: it is wrong; names line and column.
    """
    names: list[str] = []
    columns: dict[str, list[float]] = {}
    for line, raw in enumerate(text.splitlines(), start=1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        at = f"{where}: line {line}"
        cells = [cell.strip() for cell in next(csv.reader([raw]))]
        if not names:
            names = _header(cells, at)
            columns = {name: [] for name in names}
            continue
        if len(cells) != len(names):
            raise ConfigError(
                f"{at}: {len(cells)} columns instead of {len(names)} "
                f"({', '.join(names)}). Give every column a value."
            )
        for name, cell in zip(names, cells, strict=True):
            columns[name].append(_number(name, cell, at))
        times = columns[_TIME]
        if len(times) > 1 and times[-1] <= times[-2]:
            raise ConfigError(
                f"{at}, column {_TIME}: {times[-1]:g} does not come after "
                f"{times[-2]:g}. Sort the rows by time, each time once."
            )
        if len(times) > _ROWS_MAX:
            raise ConfigError(f"{at}: more than {_ROWS_MAX} rows. Shorten the file.")
    if not names:
        raise ConfigError(f"{where}: no header. {_wanted()}")
    if not columns[_TIME]:
        raise ConfigError(f"{where}: no row below the header. Add at least one.")
    return _table(columns, where)


def _wanted() -> str:
    return f"The first line names columns: {_TIME} and any of " + (
        ", ".join(name for name in TRACE_COLUMNS if name != _TIME) + "."
    )


def _header(cells: list[str], at: str) -> list[str]:
    for number, name in enumerate(cells, start=1):
        if name not in TRACE_COLUMNS:
            raise ConfigError(f"{at}, column {number}: {name!r} unknown. {_wanted()}")
        if name in cells[: number - 1]:
            raise ConfigError(f"{at}, column {number}: {name} twice. Remove one.")
    if _TIME not in cells or len(cells) < 2:
        raise ConfigError(f"{at}: {', '.join(cells)} will not do. {_wanted()}")
    return cells


def _number(name: str, cell: str, at: str) -> float:
    low, high = TRACE_COLUMNS[name]
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        hint = ""
        if name == "rate_bps" and value == 0.0:
            hint = " For a gap write loss = 1."
        raise ConfigError(
            f"{at}, column {name}: {cell!r} is no number from {low:g} to {high:g}."
            + hint
        )
    return value


def _table(columns: dict[str, list[float]], where: str) -> TraceTable:
    first = columns[_TIME][0]
    times = [round((time - first) * NS_PER_S) for time in columns[_TIME]]
    steps = [after - before for before, after in pairwise(times)]
    if steps and min(steps) < 1:
        raise ConfigError(f"{where}: rows less than 1 ns apart. Thin them out.")

    def column(name: str) -> tuple[float, ...] | None:
        return tuple(columns[name]) if name in columns else None

    lengths = [*steps, steps[-1] if steps else NS_PER_S]
    rates = [round(rate) for rate in columns.get("rate_bps", ())]
    passing = [rate * step for rate, step in zip(rates, lengths, strict=False)]
    return TraceTable(
        times_ns=tuple(times),
        length_ns=times[-1] + lengths[-1],
        delay_ms=column("delay_ms"),
        loss=column("loss"),
        rate_bps=tuple(rates) or None,
        bits_before=(0, *accumulate(passing)),
    )
