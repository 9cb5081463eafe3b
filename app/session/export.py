"""A recording written as Parquet, CSV or a NumPy archive, on one time base."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from app.errors import ConfigError, LogError
from app.session.parquet import ParquetSink
from app.session.reader import Recording
from app.session.sinks import CsvSink, NpzSink, Sink
from app.session.table import Row, Table, TableChoice

__all__ = ["ExportFormat", "Exported", "export"]

ExportFormat = Literal["parquet", "csv", "npz"]

_BATCH = 5000


class Exported(NamedTuple):
    """What was written."""

    rows: int
    values: int
    """In a row, beside the times."""
    left_out: list[str]
    """Fields that the format cannot hold."""


def export(
    recording: Recording,
    out: Path,
    kind: ExportFormat,
    choice: TableChoice,
    tell: Callable[[float], None] = lambda _: None,
) -> Exported:
    """Write a recording as a table; the file is there when all of it is.

    Args:
        recording: the recording, whole or cut.
        out: file to make.
        kind: of file.
        choice: what of it is wanted.
        tell: is told now and then which share is done, 0..1.

    Raises:
        LogError: it cannot be read, has no such channel, or Parquet is not installed.
        ConfigError: the file cannot be made.
    """
    table = Table(recording, choice)
    part = out.with_name(f"{out.name}.part")
    base = None if choice.rate_hz is not None else choice.base
    try:
        sink: Sink
        if kind == "csv":
            sink = CsvSink(part, table.columns, table.first_ns)
        elif kind == "npz":
            sink = NpzSink(part, table.columns, table.first_ns, base)
        else:
            sink = ParquetSink(part, table.columns, table.first_ns)
        count = _write(table, sink, tell)
        part.replace(out)
    except OSError as error:
        raise ConfigError(
            f"{out} cannot be written: {error.strerror or error}. Choose another place."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    left_out = list(table.left_out)
    if kind == "npz":
        texts = [column for column in table.columns if column.kind is str]
        left_out += [f"{column.topic}:{column.field}" for column in texts]
    return Exported(count, sum(column.size for column in table.columns), left_out)


def _write(table: Table, sink: Sink, tell: Callable[[float], None]) -> int:
    batch: list[Row] = []
    count, span_ns = 0, max(1, table.last_ns - table.first_ns)
    try:
        for row in table.rows():
            batch.append(row)
            if len(batch) == _BATCH:
                sink.write(batch)
                count += len(batch)
                tell((row[0] - table.first_ns) / span_ns)
                batch = []
        if batch:
            sink.write(batch)
        count += len(batch)
    finally:
        sink.close()
    if not count:
        raise LogError("No row came out: the channel of the time base holds nothing.")
    return count
