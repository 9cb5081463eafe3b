"""Bound tuples: kernels read and write the very arrays, and see nothing else change."""

from typing import NamedTuple

import numpy as np
import pytest

from models.bound import Bound, bind, bound
from models.numerics import FloatArray, kernel


class Inner(NamedTuple):
    pose: FloatArray


class Outer(NamedTuple):
    rows: FloatArray
    column: FloatArray  # not contiguous
    count: int
    share: float
    inner: Inner
    several: tuple[Inner, ...]


@kernel
def work_on(outer: Outer, factor: float) -> float:
    """Write to every array, and sum up what can be read."""
    outer.rows[0, 1] = factor * outer.share
    outer.column[1] = outer.several[1].pose[0]
    total = float(outer.count)
    for k in range(len(outer.several)):
        total += outer.several[k].pose.sum()
    outer.inner.pose[2] = outer.rows.shape[0] + 10 * outer.rows.shape[1]
    return total


def example() -> Outer:
    table = np.zeros((4, 5))
    several = (Inner(np.array([1.0, 2.0])), Inner(np.array([3.0, 4.0])))
    return Outer(np.zeros((3, 2)), table[:, 2], 7, 2.5, Inner(np.zeros(4)), several)


def test_a_kernel_works_on_the_arrays_of_the_tuple() -> None:
    outer = example()
    assert work_on(outer, 2.0) == 17.0
    assert outer.rows[0, 1] == 5.0
    assert outer.column.tolist() == [0.0, 3.0, 0.0, 0.0]
    assert outer.inner.pose.tolist() == [0.0, 0.0, 23.0, 0.0]
    outer.several[0].pose[1] = 12.0  # written later, seen
    assert work_on(outer, 2.0) == 27.0


def test_a_bound_entry_does_the_same() -> None:
    outer = example()
    block = Bound(outer)
    entry = bind(work_on, block, 1.0)
    assert entry(block, 4.0) == 17.0
    assert outer.rows[0, 1] == 10.0


def test_an_array_in_one_more_tuple_of_the_same_shape_is_its_own() -> None:
    first, second = example(), example()
    work_on(first, 1.0)
    work_on(second, 2.0)
    assert (first.rows[0, 1], second.rows[0, 1]) == (2.5, 5.0)
    assert bound(first) is bound(first)
    assert bound(first) is not bound(second)


def test_what_is_neither_array_nor_number_is_refused() -> None:
    class Odd(NamedTuple):
        text: str

    with pytest.raises(TypeError, match="cannot be bound to a unicode_type"):
        Bound(Odd("x"))
