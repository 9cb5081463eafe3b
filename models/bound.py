"""Passing a Model's hundreds of arrays to a kernel as one pointer.

Numba takes every array of a tuple out of Python at each call, and hands every one of
them on to every kernel that is called: of a millisecond of the robot, ten times what is
computed, and most of the compiler's time. So a (named) tuple of arrays is bound once:
where its arrays lie and how long they are is written to a block of memory, and kernels
read it there, field by field, as they need it. Within a kernel a `Bound` looks like the
tuple that it holds; kernels called from Python bind their named tuples themselves.

    bound = Bound(Parts(model, data))
    step = bind(kernel, bound, 0)  # compiled or loaded here
    step(bound, once)  # looks at no type: for what is called every millisecond

A `Bound` has the arrays of its tuple and nothing else to say: numbers in it, addresses
and shapes are taken to be constant.
"""

import hashlib
import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models as data_models
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_getattr_generic,
    overload,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

__all__ = ["Bound", "bind", "bound"]

_Result = TypeVar("_Result")

_WORD = ir.IntType(64)
_KEPT = 128  # tuples bound last; a robot has some twenty


class Bound:
    """A tuple whose arrays stay where they are and whose numbers never change."""

    def __init__(self, held: tuple[Any, ...]) -> None:
        """Note where everything lies.

        Args:
            held: arrays, numbers and tuples of them. The arrays are kept alive; what is
                written to them later is seen by the kernel.

        Raises:
            TypeError: something else is among them.
        """
        self.held = held
        kind = numba.typeof(held)
        words: list[int] = []
        _write(kind, held, words)
        self._numba_type_ = _BoundType(kind)  # looked at by the dispatcher
        self._words = np.array(words, dtype=np.int64)
        self.address = int(self._words.ctypes.data)


_newest: OrderedDict[int, Bound] = OrderedDict()


def bound(held: tuple[Any, ...]) -> Bound:
    """Bind a tuple, or return what it was bound to before."""
    known = _newest.get(id(held))
    if known is not None and known.held is held:
        return known
    known = _newest[id(held)] = Bound(held)
    if len(_newest) > _KEPT:
        _newest.popitem(last=False)
    return known


def bind(kernel: Callable[..., _Result], *arguments: Any) -> Callable[..., _Result]:
    """Compile a kernel, or load it, for arguments like these, and return its entry.

    The entry takes arguments of exactly these types, and looks at none of them.
    """
    signature = tuple(numba.typeof(argument) for argument in arguments)
    kernel.compile(signature)  # type: ignore[attr-defined]
    entry: Callable[..., _Result] = kernel.get_overload(  # type: ignore[attr-defined]
        signature
    )
    return entry


class _BoundType(types.Type):
    """A `Bound` as kernels see it: a pointer to the words of its tuple."""

    def __init__(self, held: Any) -> None:
        self.held = held
        # a symbol's name has the names of all its arguments: the tuple's own is long
        digest = hashlib.sha1(str(held).encode(), usedforsecurity=False).hexdigest()
        name = held.instance_class.__name__ if _is_named(held) else f"{len(held)}"
        super().__init__(name=f"Bound({name}-{digest[:12]})")


def _is_tuple(kind: Any) -> bool:
    return isinstance(kind, types.containers.BaseTuple)


def _is_named(kind: Any) -> bool:
    return isinstance(
        kind, types.containers.NamedTuple | types.containers.NamedUniTuple
    )


@typeof_impl.register(Bound)  # type: ignore[untyped-decorator]
def _type_of(value: Bound, _context: Any) -> _BoundType:
    return value._numba_type_


register_model(_BoundType)(data_models.OpaqueModel)


@unbox(_BoundType)  # type: ignore[untyped-decorator]
def _unbox(_kind: _BoundType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(word, ir.IntType(8).as_pointer()))


# -- what kernels can do with one ---------------------------------------------------


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """The type of a field."""

    key = _BoundType

    def generic_resolve(self, value: _BoundType, name: str) -> Any:
        """Return the type of a named tuple's field; None where it has none such."""
        held = value.held
        if not _is_named(held) or name not in held.fields:
            return None
        return _inner(held.types[held.fields.index(name)])


@lower_getattr_generic(_BoundType)  # type: ignore[untyped-decorator]
def _field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return _item(context, builder, kind.held, value, kind.held.fields.index(name))


@infer
class _FixedItem(AbstractTemplate):  # type: ignore[misc]
    """The type of an item whose index is written in the source."""

    key = "static_getitem"

    def generic(self, arguments: Any, _named: Any) -> Any:
        """Return the signature; None where this is something else."""
        value, index = arguments
        if not isinstance(value, _BoundType) or not isinstance(index, int):
            return None
        return signature(_inner(value.held.types[index]), *arguments)


@lower_builtin("static_getitem", _BoundType, types.Any)  # type: ignore[untyped-decorator]
def _fixed_item(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    value, index = arguments
    return _item(context, builder, kinds.args[0].held, value, index)


@infer_global(operator.getitem)
class _AnyItem(AbstractTemplate):  # type: ignore[misc]
    """The type of an item of a tuple whose items have one type."""

    def generic(self, arguments: Any, _named: Any) -> Any:
        """Return the signature; None where this is something else."""
        value, _ = arguments
        if not isinstance(value, _BoundType):
            return None
        if not isinstance(value.held, types.containers.UniTuple):
            return None
        return signature(_inner(value.held.dtype), value, types.int64)


@lower_builtin(operator.getitem, _BoundType, types.int64)  # type: ignore[untyped-decorator]
def _any_item(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    inner = kinds.args[0].held.dtype
    words = builder.bitcast(arguments[0], _WORD.as_pointer())
    first = builder.mul(arguments[1], ir.Constant(_WORD, _words(inner)))
    return _load(context, builder, inner, builder.gep(words, [first]))


@overload(len)  # type: ignore[untyped-decorator]
def _length(value: Any) -> Any:
    if not isinstance(value, _BoundType):
        return None
    count = len(value.held)

    def length(value: Any) -> Any:
        return count

    return length


# -- the words ------------------------------------------------------------------------


def _inner(kind: Any) -> Any:
    return _BoundType(kind) if _is_tuple(kind) else kind


def _words(kind: Any) -> int:
    """Return how many words a value of this type takes."""
    if _is_tuple(kind):
        return sum(_words(inner) for inner in kind)
    if isinstance(kind, types.Array):
        return int(1 + kind.ndim * (1 if kind.layout == "C" else 2))
    return 0 if kind == types.none else 1


def _write(kind: Any, value: Any, words_out: list[int]) -> None:
    """Add the words of a value."""
    if _is_tuple(kind):
        for inner, item in zip(kind, value, strict=True):
            _write(inner, item, words_out)
    elif isinstance(kind, types.Array):
        words_out.append(value.ctypes.data)
        words_out.extend(value.shape)
        if kind.layout != "C":
            words_out.extend(value.strides)
    elif isinstance(kind, types.Integer | types.Boolean):
        words_out.append(int(value))
    elif kind == types.float64:
        words_out.append(int(np.float64(value).view(np.int64)))
    elif kind != types.none:
        raise TypeError(
            f"A kernel cannot be bound to a {kind}: arrays, integers, floats and "
            "tuples of them can."
        )


def _item(context: Any, builder: Any, held: Any, value: Any, index: int) -> Any:
    """Return one item of the tuple whose words a pointer points to."""
    words = builder.bitcast(value, _WORD.as_pointer())
    at = sum(_words(inner) for inner in held.types[:index])
    first = builder.gep(words, [ir.Constant(_WORD, at)])
    return _load(context, builder, held.types[index], first)


def _load(context: Any, builder: Any, kind: Any, words: Any) -> Any:
    """Return the value whose words begin where a pointer points."""
    if _is_tuple(kind):
        return builder.bitcast(words, ir.IntType(8).as_pointer())
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, words)
    if kind == types.none:
        return context.get_dummy_value()
    word = _word(builder, words, 0)
    if kind == types.float64:
        return builder.bitcast(word, ir.DoubleType())
    bits = 1 if isinstance(kind, types.Boolean) else kind.bitwidth
    return word if bits == _WORD.width else builder.trunc(word, ir.IntType(bits))


def _array(context: Any, builder: Any, kind: Any, words: Any) -> Any:
    array = context.make_array(kind)(context, builder)
    item_bytes = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    data = builder.inttoptr(_word(builder, words, 0), array.data.type)
    shape = [_word(builder, words, 1 + axis) for axis in range(kind.ndim)]
    strides: list[Any] = []
    if kind.layout == "C":
        stride: Any = ir.Constant(_WORD, item_bytes)
        for length in reversed(shape):
            strides.insert(0, stride)
            stride = builder.mul(stride, length)
    else:
        first = 1 + kind.ndim
        strides = [_word(builder, words, first + axis) for axis in range(kind.ndim)]
    populate_array(
        array,
        data=data,
        shape=shape,
        strides=strides,
        itemsize=ir.Constant(_WORD, item_bytes),
        meminfo=None,
    )
    return array._getvalue()  # noqa: SLF001  numba offers no other way


def _word(builder: Any, words: Any, at: int) -> Any:
    """Load a word that no kernel ever writes."""
    load = builder.load(builder.gep(words, [ir.Constant(_WORD, at)]))
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load
