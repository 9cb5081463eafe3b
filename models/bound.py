"""Calling a kernel with a thousand arrays for the price of one pointer.

To take a Model's and its Data's arrays out of Python at every call costs several times
what a millisecond of the robot costs to compute: 0.4 ms to look at the types of the
loop's arguments and 0.2 ms to unbox them, against 0.03 ms of work. What never changes
between calls is therefore bound once: addresses and shapes of all arrays lie in one
block of memory, and the kernel reads them from there.

    entry = bind(kernel, Bound((model, data)), 0)   # compiled or loaded here
    entry(bound, once)

A kernel takes a `Bound` as any other argument and begins with
`model, data = unbound(bound)`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models as data_models
from numba.extending import (
    NativeValue,
    intrinsic,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

__all__ = ["Bound", "bind", "unbound"]

_Result = TypeVar("_Result")

_WORD = ir.IntType(64)


class Bound:
    """Arguments whose arrays stay where they are and whose numbers never change."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        """Note where everything lies.

        Args:
            arguments: arrays, integers, floats, and (named) tuples of them. The arrays
                are kept alive; what is written to them later is seen by the kernel.

        Raises:
            TypeError: something else is among them.
        """
        self.arguments = arguments
        self.kind = numba.typeof(arguments)
        words: list[int] = []
        _write(self.kind, arguments, words)
        self._words = np.array(words, dtype=np.int64)
        self.address = int(self._words.ctypes.data)


def bind(
    kernel: Callable[..., _Result], *arguments: Any
) -> Callable[..., _Result]:
    """Compile a kernel, or load it, for arguments like these, and return its entry.

    The entry takes arguments of exactly these types, and looks at none of them.
    """
    signature = tuple(numba.typeof(argument) for argument in arguments)
    kernel.compile(signature)  # type: ignore[attr-defined]
    entry: Callable[..., _Result] = kernel.get_overload(  # type: ignore[attr-defined]
        signature
    )
    return entry


class _BoundType(types.Type):  # type: ignore[misc]
    """A `Bound` as kernels see it."""

    def __init__(self, held: Any) -> None:
        self.held = held
        super().__init__(name=f"Bound({held})")


@typeof_impl.register(Bound)  # type: ignore[untyped-decorator]
def _type_of(bound: Bound, _context: Any) -> _BoundType:
    return _BoundType(bound.kind)


register_model(_BoundType)(data_models.OpaqueModel)


@unbox(_BoundType)  # type: ignore[untyped-decorator]
def _unbox(_kind: _BoundType, bound: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(bound, "address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(word, ir.IntType(8).as_pointer()))


@intrinsic  # type: ignore[untyped-decorator]
def unbound(_context: Any, bound: Any) -> Any:
    """Return the tuple of arguments that a `Bound` holds; for kernels."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        words = builder.bitcast(arguments[0], _WORD.as_pointer())
        value, _ = _read(context, builder, bound.held, words, 0)
        return value

    return bound.held(bound), generate


def _write(kind: types.Type, value: Any, words_out: list[int]) -> None:
    """Add what `_read` needs to make a value anew."""
    if isinstance(kind, types.containers.BaseTuple):
        for inner, item in zip(kind, value, strict=True):
            _write(inner, item, words_out)
    elif isinstance(kind, types.Array):
        words_out.append(value.ctypes.data)
        words_out.extend(value.shape)
        if kind.layout != "C":
            words_out.extend(value.strides)
    elif kind == types.int64:
        words_out.append(int(value))
    elif kind == types.float64:
        words_out.append(int(np.float64(value).view(np.int64)))
    else:
        raise TypeError(
            f"A kernel cannot be bound to a {kind}: arrays, integers, floats and "
            "tuples of them can."
        )


def _read(
    context: Any, builder: Any, kind: types.Type, words: Any, at: int
) -> tuple[Any, int]:
    """Make a value of the words from `at` on; returns it and where the next begins."""
    if isinstance(kind, types.containers.BaseTuple):
        items = []
        for inner in kind:
            item, at = _read(context, builder, inner, words, at)
            items.append(item)
        return context.make_tuple(builder, kind, items), at
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, words, at)
    word = _word(builder, words, at)
    if kind == types.float64:
        word = builder.bitcast(word, ir.DoubleType())
    return word, at + 1


def _read_array(
    context: Any, builder: Any, kind: types.Array, words: Any, at: int
) -> tuple[Any, int]:
    array = context.make_array(kind)(context, builder)
    item_bytes = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    data = builder.inttoptr(_word(builder, words, at), array.data.type)
    at += 1
    shape = [_word(builder, words, at + axis) for axis in range(kind.ndim)]
    at += kind.ndim
    if kind.layout == "C":
        stride: Any = ir.Constant(_WORD, item_bytes)
        strides: list[Any] = []
        for length in reversed(shape):
            strides.insert(0, stride)
            stride = builder.mul(stride, length)
    else:
        strides = [_word(builder, words, at + axis) for axis in range(kind.ndim)]
        at += kind.ndim
    populate_array(
        array,
        data=data,
        shape=shape,
        strides=strides,
        itemsize=ir.Constant(_WORD, item_bytes),
        meminfo=None,
    )
    return array._getvalue(), at  # noqa: SLF001  numba offers no other way


def _word(builder: Any, words: Any, at: int) -> Any:
    """Load a word that no kernel ever writes."""
    load = builder.load(builder.gep(words, [ir.Constant(_WORD, at)]))
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load
