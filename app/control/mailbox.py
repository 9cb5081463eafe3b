"""Blocks of shared memory between processes: latest value, and single-writer rings.

A `Block` is a NamedTuple of int64 and float64 arrays laid end to end in 8-byte words.
A latest-value mailbox guards one block with a sequence lock: the writer makes the
count odd, writes, makes it even; a reader that saw an odd or a changed count tries
again. The compiler may merge the reader's two loads of the count, so an explicit
`fence seq_cst` stands between them (`tests/unit/control/test_mailbox.py` proves it
with two processes). A ring has one writer, which never waits; a reader that falls
behind by more than the ring's length loses the oldest rows and is told how many.
"""

import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from app.errors import ProcessError
from models.bound import bind
from models.numerics import IntArray, kernel

__all__ = [
    "Layout",
    "Mailbox",
    "Ring",
    "fence",
    "mailbox_look",
    "mailbox_read",
    "mailbox_write",
    "ring_push",
]

_Block = TypeVar("_Block", bound=tuple[Any, ...])
_HEADER_WORDS = 8  # one cache line: count or head, size, magic
_MAGIC = 0x4C494D42  # "LIMB"


@intrinsic  # type: ignore[untyped-decorator]
def fence(_typing_context: Any) -> Any:
    """Emit LLVM's `fence seq_cst` inside a kernel."""

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


@kernel
def mailbox_write(words_out: IntArray, value: IntArray) -> None:
    """Publish a value: words_out is header (8 words) then payload."""
    count = words_out[0]
    words_out[0] = count + 1
    fence()
    for i in range(value.size):
        words_out[8 + i] = value[i]
    fence()
    words_out[0] = count + 2


@kernel
def mailbox_read(words: IntArray, scratch_out: IntArray, value_out: IntArray) -> int:
    """Copy the newest whole value out by way of a scratch array of its size.

    Returns:
        1 on success; 0 where the writer was found writing 16 times in a row, or
        stopped for ever in the middle of a write: value_out is then untouched.
    """
    size = value_out.size
    for _ in range(16):
        before = words[0]
        fence()
        if before % 2 == 1:
            continue
        for i in range(size):
            scratch_out[i] = words[8 + i]
        fence()
        if words[0] == before:
            for i in range(size):
                value_out[i] = scratch_out[i]
            return 1
    return 0


@kernel
def ring_push(words_out: IntArray, row: IntArray, rows: int) -> None:
    """Append a row: words_out is header (8 words) then (rows, row.size) words."""
    head = words_out[0]
    base = 8 + (head % rows) * row.size
    words_out[1] = head + 1  # this slot is being written
    fence()
    for i in range(row.size):
        words_out[base + i] = row[i]
    fence()
    words_out[0] = head + 1


@kernel
def mailbox_look(
    words: IntArray, seen_out: IntArray, scratch_out: IntArray, value_out: IntArray
) -> None:
    """Do as `mailbox_read` where there is another value than the one seen last.

    Args:
        words: of the mailbox.
        seen_out: (1,) count of writes at the value that was read last, kept here.
        scratch_out: of the value's size, or longer.
        value_out: the value, left where there is none that is newer and whole.
    """
    count = words[0]
    fence()
    if count != seen_out[0] and mailbox_read(words, scratch_out, value_out) == 1:
        seen_out[0] = count


class Layout(Generic[_Block]):
    """Where each array of a block lies in its words."""

    def __init__(
        self, kind: type[_Block], shapes: Mapping[str, tuple[type, tuple[int, ...]]]
    ) -> None:
        """Lay the fields out in order.

        Args:
            kind: a NamedTuple class whose fields are arrays.
            shapes: for each field in order, np.int64 or np.float64 and its shape.
        """
        self.kind = kind
        self._fields = list(shapes.items())
        self.words = sum(int(np.prod(shape)) for _, (_, shape) in self._fields)

    def view(self, words: NDArray[np.int64]) -> _Block:
        """Return the block as typed views over (words,) int64."""
        arrays: list[NDArray[Any]] = []
        start = 0
        for _, (kind, shape) in self._fields:
            size = int(np.prod(shape))
            arrays.append(words[start : start + size].view(kind).reshape(shape))
            start += size
        return self.kind(*arrays)

    def describe(self) -> list[tuple[str, int, tuple[int, ...]]]:
        """Return (field, first word, shape) of every field, in order."""
        rows, start = [], 0
        for name, (_, shape) in self._fields:
            rows.append((name, start, shape))
            start += int(np.prod(shape))
        return rows


class _Shared(NamedTuple):
    words: NDArray[np.int64]
    memory: mmap.mmap


def _map(path: Path, words: int, *, create: bool) -> _Shared:
    size = 8 * words
    if create:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if os.fstat(descriptor).st_size != size:
            os.ftruncate(descriptor, size)
    else:
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError as error:
            raise ProcessError(
                f"No shared block {path}: the session it belongs to is not running. "
                "Start it with `limblink`, or name a running one with --attach."
            ) from error
    try:
        if os.fstat(descriptor).st_size != size:
            raise ProcessError(
                f"Shared block {path} has {os.fstat(descriptor).st_size} bytes where "
                f"{size} are expected: another version or robot wrote it. End that "
                "session and start again."
            )
        memory = mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)
    array = np.frombuffer(memory, dtype=np.int64)
    array[7] = _MAGIC
    return _Shared(array, memory)


class Mailbox(Generic[_Block]):
    """A latest-value mailbox in a file of shared memory.

    `local` is a private copy: a writer fills it and calls `publish`; a reader calls
    `refresh` and reads it. One writer; any number of readers.
    """

    def __init__(self, path: Path, layout: Layout[_Block], *, create: bool) -> None:
        """Map the file, making it where `create` is set.

        Raises:
            ProcessError: the file is missing or has another size.
        """
        self.shared, self._memory = _map(
            path, _HEADER_WORDS + layout.words, create=create
        )
        if create and self.shared[0] % 2 == 1:
            self.shared[0] += 1  # a writer died in the middle; we are the writer now
        self.layout = layout
        self.local_words = np.zeros(layout.words, dtype=np.int64)
        self.local = layout.view(self.local_words)
        self.scratch = np.zeros(layout.words, dtype=np.int64)
        self.path = path
        self._write = bind(mailbox_write, self.shared, self.local_words)
        self._read = bind(mailbox_read, self.shared, self.scratch, self.local_words)

    def publish(self) -> None:
        """Make `local` the newest value."""
        self._write(self.shared, self.local_words)

    def refresh(self) -> bool:
        """Copy the newest value into `local`; False where none could be read."""
        return bool(self._read(self.shared, self.scratch, self.local_words))

    @property
    def count(self) -> int:
        """Number of values published so far."""
        count: int = self.shared.item(0)
        return count // 2


class Ring:
    """A single-writer ring of rows of 8-byte words in shared memory."""

    def __init__(self, path: Path, rows: int, row_words: int, *, create: bool) -> None:
        """Map the file, making it where `create` is set.

        Raises:
            ProcessError: the file is missing or has another size.
        """
        self.rows = rows
        self.row_words = row_words
        self.shared, self._memory = _map(
            path, _HEADER_WORDS + rows * row_words, create=create
        )
        self._table = self.shared[_HEADER_WORDS:].reshape(rows, row_words)
        self.next = int(self.shared[0])
        self.path = path

    def push(self, row: IntArray) -> None:
        """Append one row of (row_words,) int64 (writer only)."""
        ring_push(self.shared, row, self.rows)

    @property
    def head(self) -> int:
        """Number of rows appended so far."""
        return int(self.shared.item(0))

    def own(self, first: int) -> list[IntArray]:
        """View the rows from number `first` on, oldest first (writer's thread only).

        Returns:
            Views (n, row_words), one before the ring's end and one from its start;
            good until as many rows as the ring has were appended.
        """
        head = self.head
        start, stop = first % self.rows, head % self.rows
        if start < stop or first == head:
            return [self._table[start:stop]]
        return [self._table[start:], self._table[:stop]]

    def read(self) -> tuple[IntArray, int]:
        """Return the rows that came since the last call, and how many were lost.

        Returns:
            A copy (n, row_words) of the new rows, oldest first, and the number of
            rows that the writer had already overwritten.
        """
        head = int(self.shared[0])
        first = max(self.next, head - self.rows)
        index = np.arange(first, head) % self.rows
        copy = self._table[index]
        fenced = int(self.shared[1])  # rows at or above fenced - rows are intact
        intact = max(first, fenced - self.rows)
        lost = intact - self.next
        self.next = head
        return copy[intact - first :], max(0, lost)
