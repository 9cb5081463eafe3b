"""Compilation of kernels and the small linear algebra that they share.

A kernel is a plain function over numbers and flat arrays that numba compiles
without the global interpreter lock. Compiled code is kept in a cache folder whose
name carries a digest of every kernel source: numba alone does not notice that a
called kernel in another file has changed.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral
from numpy.typing import NDArray

from models.bound import bound
from models.cache import kernel_cache_folder

__all__ = [
    "FloatArray",
    "IntArray",
    "called_kernel",
    "cholesky_solve",
    "inner_kernel",
    "kernel",
    "kernel_cache_folder",
    "kernel_part",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_Function = TypeVar("_Function", bound=Callable[..., Any])


# Vectorised short loops cost compile time and, at 3 to 6 items, run slower: 45 µs
# against 38 µs a step of URSULA.
numba.config.LOOP_VECTORIZE = 0
numba.config.SLP_VECTORIZE = 0
if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(kernel_cache_folder())


def kernel(function: _Function) -> _Function:
    """Compile a function for the 1 kHz path: no GIL, cached, IEEE arithmetic.

    Arguments go model, inputs, `_out`; a kernel writes only what ends in `_out` or
    is a Data, returns a status or a number, and never raises. A kernel whose name
    begins with an underscore can be called from kernels only: it is compiled without
    an entry for Python. Kernels are inlined into their callers; called from Python they
    bind their named tuples (models/bound). They have no memory runtime (`_nrt`): no
    array is counted, and to allocate one does not compile.
    """
    return _compile(function, for_python=not function.__name__.startswith("_"))


def inner_kernel(function: _Function) -> _Function:
    """Compile a kernel that other modules' kernels call, and Python never does."""
    return _compile(function, for_python=False)


def called_kernel(function: _Function) -> _Function:
    """Compile a large kernel that many kernels call, and that is not inlined.

    Compiled once for all its callers; a call costs about 0.5 µs.
    """
    for_python = not function.__name__.startswith("_")
    return _compile(function, for_python=for_python, inline=False)


def _compile(
    function: _Function, *, for_python: bool, inline: bool = True
) -> _Function:
    compiled = numba.njit(
        cache=True,
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=not for_python,
        forceinline=inline,
        no_cfunc_wrapper=True,
        _nrt=False,
    )(function)
    compiled.__class__ = _CalledFromPython if for_python else _Kernel
    return cast("_Function", compiled)


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel that is compiled for the types of constants, not for each value.

    Where it is inlined, the compiler of machine code sees the value all the same.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what a kernel that calls this one with these types needs of it."""
        named = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(unliteral, args)), named)


class _CalledFromPython(_Kernel):
    """A kernel that binds the named tuples it is called with."""

    def __call__(self, *arguments: Any) -> Any:
        """Run it; a named tuple is bound at its first use."""
        return super().__call__(*map(_bound_if_named, arguments))


def _bound_if_named(item: Any) -> Any:
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return bound(item)
    return item


def kernel_part(function: _Function) -> _Function:
    """Make a function a part of the kernels that call it, never compiled alone.

    For a large kernel with one caller, whose compilation would be paid twice.
    """
    compiled = numba.njit(inline="always", nogil=True, error_model="numpy", _nrt=False)(
        function
    )
    return cast("_Function", compiled)


@kernel
def cholesky_solve(
    matrix_out: FloatArray, right_hand_side_out: FloatArray, size: int
) -> int:
    """Solve a symmetric positive definite system in place.

    Args:
        matrix_out: leading (size, size) block is the matrix [any unit]; its lower
            triangle is overwritten by the factor.
        right_hand_side_out: (size,) right-hand side, overwritten by the solution.
        size: number of unknowns.

    Returns:
        0, or 1 where a pivot is not positive or not finite (outputs then undefined).
    """
    for i in range(size):
        for j in range(i + 1):
            total = matrix_out[i, j]
            for k in range(j):
                total -= matrix_out[i, k] * matrix_out[j, k]
            if i == j:
                if not (total > 0.0 and total < np.inf):
                    return 1
                matrix_out[i, i] = np.sqrt(total)
            else:
                matrix_out[i, j] = total / matrix_out[j, j]
    for i in range(size):
        total = right_hand_side_out[i]
        for k in range(i):
            total -= matrix_out[i, k] * right_hand_side_out[k]
        right_hand_side_out[i] = total / matrix_out[i, i]
    for i in range(size - 1, -1, -1):
        total = right_hand_side_out[i]
        for k in range(i + 1, size):
            total -= matrix_out[k, i] * right_hand_side_out[k]
        right_hand_side_out[i] = total / matrix_out[i, i]
    return 0
