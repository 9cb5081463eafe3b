"""Files that a table is written to, batch by batch, so that memory stays bounded."""

import csv
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from app.clock import NS_PER_S
from app.session.table import Column, Row

__all__ = ["CsvSink", "NpzSink", "Sink"]

_COPY_BYTES = 1 << 20


class Sink(Protocol):
    """A file that is being written."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write a batch of rows."""

    def close(self) -> None:
        """Write the rest and close."""


class CsvSink:
    """Text: a head with units, then a line a row; nothing is an empty cell.

    Reals are written with all their digits, so that they come back as they were.
    """

    def __init__(self, path: Path, columns: Sequence[Column], zero_ns: int) -> None:
        """Write the head.

        Args:
            path: file to make.
            columns: beside the times.
            zero_ns: time that is 0 s [ns].
        """
        self._zero_ns = zero_ns
        self._file: IO[str] = path.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file)
        heads = [head for column in columns for head in column.heads()]
        self._writer.writerow(["time [s]", "time [ns]", *heads])

    def write(self, rows: Sequence[Row]) -> None:
        """Write a batch of rows."""
        self._writer.writerows(
            [repr((time_ns - self._zero_ns) / NS_PER_S), time_ns, *values]
            for time_ns, values in rows
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class NpzSink:
    """NumPy archive: an array a field, `time_s`, `time_ns`, and `units` by name.

    Whole numbers that are not known before a channel's first message are reals with
    NaN there, like all else; those of the base channel stay whole. Text is left out.
    """

    def __init__(
        self, path: Path, columns: Sequence[Column], zero_ns: int, base: str | None
    ) -> None:
        """Open a file of raw numbers for every array.

        Args:
            path: archive to make.
            columns: beside the times.
            zero_ns: time that is 0 s [ns].
            base: channel whose times are the rows'.
        """
        self._path, self._zero_ns, self._count = path, zero_ns, 0
        self._stack = ExitStack()
        self._folder = Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(dir=path.parent))
        )
        self._columns: list[tuple[Column, slice, np.dtype[Any], IO[bytes]]] = []
        place = 0
        for number, column in enumerate(columns):
            part = slice(place, place + column.size)
            place += column.size
            if column.kind is str:
                continue
            whole = column.kind is int and column.topic == base
            kind: np.dtype[Any] = np.dtype("<i8" if whole else "<f8")
            self._columns.append((column, part, kind, self._raw(str(number))))
        self._times = self._raw("time")

    def _raw(self, name: str) -> IO[bytes]:
        return self._stack.enter_context((self._folder / name).open("w+b"))

    def write(self, rows: Sequence[Row]) -> None:
        """Append a batch of rows to every array."""
        self._count += len(rows)
        self._times.write(np.array([time for time, _ in rows], dtype="<i8").tobytes())
        for _, part, kind, file in self._columns:
            values = np.array([row[part] for _, row in rows], dtype=kind)
            file.write(values.tobytes())

    def close(self) -> None:
        """Put the arrays together."""
        units = [("time_s", "s"), ("time_ns", "ns")]
        with (
            self._stack,
            zipfile.ZipFile(
                self._path, "w", zipfile.ZIP_DEFLATED, allowZip64=True
            ) as archive,
        ):
            for column, _, kind, file in self._columns:
                units.append((column.name, column.unit))
                self._add(archive, column.name, column.shape, kind, file)
            self._add(archive, "time_ns", (), np.dtype("<i8"), self._times)
            self._times.seek(0)
            with archive.open("time_s.npy", "w", force_zip64=True) as made:
                _head(made, (self._count,), np.dtype("<f8"))
                while block := self._times.read(_COPY_BYTES):
                    times = np.frombuffer(block, dtype="<i8") - self._zero_ns
                    made.write((times / NS_PER_S).astype("<f8").tobytes())
            with archive.open("units.npy", "w") as made:
                np.lib.format.write_array(made, np.array(units), allow_pickle=False)

    def _add(
        self,
        archive: zipfile.ZipFile,
        name: str,
        shape: tuple[int, ...],
        kind: np.dtype[Any],
        file: IO[bytes],
    ) -> None:
        file.seek(0)
        with archive.open(f"{name}.npy", "w", force_zip64=True) as made:
            _head(made, (self._count, *shape), kind)
            shutil.copyfileobj(file, made, _COPY_BYTES)


def _head(file: IO[bytes], shape: tuple[int, ...], kind: np.dtype[Any]) -> None:
    """Write the head of an array in NumPy's own format."""
    head = {"descr": kind.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)
