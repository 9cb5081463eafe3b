"""The owner of pyarrow: a table as a Parquet file, a row group a batch."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.clock import NS_PER_S
from app.errors import LogError
from app.session.table import Column, Row

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ParquetSink"]


class ParquetSink:
    """Columns named as in the CSV, each with its unit as metadata; nothing is null."""

    def __init__(self, path: Path, columns: Sequence[Column], zero_ns: int) -> None:
        """Write the head.

        Args:
            path: file to make.
            columns: beside the times.
            zero_ns: time that is 0 s [ns].

        Raises:
            LogError: pyarrow is not installed.
        """
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise LogError(
                "Parquet needs pyarrow, which is not installed. Install limblink with "
                'it (`pip install "limblink[export]"`, `uv sync --extra export`), or '
                "choose --to csv or npz."
            ) from error
        kinds = {float: pyarrow.float64(), int: pyarrow.int64(), str: pyarrow.string()}
        fields = [_field(pyarrow, "time [s]", kinds[float], "s")]
        fields.append(_field(pyarrow, "time [ns]", kinds[int], "ns"))
        for column in columns:
            kind, unit = kinds[column.kind], column.unit
            fields += [_field(pyarrow, head, kind, unit) for head in column.heads()]
        self._arrow = pyarrow
        self._zero_ns = zero_ns
        self._schema = pyarrow.schema(fields)
        self._writer = pyarrow.parquet.ParquetWriter(
            path, self._schema, compression="zstd"
        )

    def write(self, rows: Sequence[Row]) -> None:
        """Write a batch of rows as a row group."""
        times = [time_ns for time_ns, _ in rows]
        seconds = [(time_ns - self._zero_ns) / NS_PER_S for time_ns in times]
        values = zip(*(row for _, row in rows), strict=True)
        columns = [seconds, times, *(list(column) for column in values)]
        arrays = [
            self._arrow.array(column, type=field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(
            self._arrow.Table.from_arrays(arrays, schema=self._schema)
        )

    def close(self) -> None:
        """Write the foot and close."""
        self._writer.close()


def _field(arrow: "pa", name: str, kind: "pa.DataType", unit: str) -> "pa.Field":
    return arrow.field(name, kind, metadata={"unit": unit} if unit else None)
