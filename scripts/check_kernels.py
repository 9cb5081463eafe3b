"""Check that every @kernel keeps the rules of the 1 kHz path.

Usage: check_kernels.py [FILE ...]     (without files: models/ and app/)

A kernel's arrays go model, then inputs and Data, then `_out` (an `_out` that is changed
in place may stand before); all arguments are annotated, and so is the result. It
writes only to arguments that end in `_out`, to mutable blocks (see _MUTABLE_TYPES) and
to its own names. It allocates nothing, does no array algebra, builds no containers but
tuples, and never raises. A private or inner kernel, which has no entry for Python and
would crash the process, is called from kernels only.
"""

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))

from models.cache import KERNEL_FOLDERS  # noqa: E402

_KERNELS = frozenset(("kernel", "called_kernel", "inner_kernel", "kernel_part"))
_SCALARS = ("int", "float", "bool")
_MUTABLE_TYPES = ("Data", "Work", "Block", "Statistics", "State")
_ALLOCATORS = frozenset(
    (
        *("array", "arange", "asarray", "ascontiguousarray", "concatenate", "copy"),
        *("diag", "empty", "empty_like", "eye", "full", "full_like", "hstack"),
        *("identity", "linspace", "ones", "ones_like", "stack", "vstack", "zeros"),
        "zeros_like",
    )
)
_ALGEBRA = frozenset(
    ("cross", "dot", "einsum", "inner", "kron", "linalg", "matmul", "outer")
)
_CONTAINERS = (
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
    ast.GeneratorExp,
    ast.JoinedStr,
)
_FORBIDDEN = {
    ast.Raise: "a kernel never raises: return a status",
    ast.Assert: "a kernel never asserts: return a status",
    ast.Try: "a kernel does not catch: test the value before",
    ast.With: "a kernel holds no context",
    ast.Lambda: "a kernel makes no functions",
    ast.Global: "a kernel has no global state",
    ast.Yield: "a kernel is not a generator",
}


def _decorators(function: ast.FunctionDef) -> set[str]:
    return {item.id for item in function.decorator_list if isinstance(item, ast.Name)}


def _is_kernel(function: ast.FunctionDef) -> bool:
    return bool(_decorators(function) & _KERNELS)


def _is_inner(function: ast.FunctionDef) -> bool:
    return "inner_kernel" in _decorators(function)


def _type_name(argument: ast.arg) -> str:
    if argument.annotation is None:
        return ""
    return ast.unparse(argument.annotation).split(".")[-1].strip("\"'")


def _rank(argument: ast.arg) -> int:
    """Place of an argument: model 0, input 1, Data 2, output 3."""
    if argument.arg.endswith("_out"):
        return 3
    name = _type_name(argument)
    if name.endswith("Model"):
        return 0
    return 2 if name.endswith(_MUTABLE_TYPES) else 1


def _root(node: ast.expr) -> str | None:
    """The name that a chain of attributes and subscripts starts from."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _inputs(function: ast.FunctionDef) -> set[str]:
    """Names that must not be written through: inputs and the views of them."""
    inputs = {item.arg for item in function.args.args if _rank(item) < 2}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(
            node.value, ast.Name | ast.Attribute | ast.Subscript
        ):
            for target in node.targets:
                if isinstance(target, ast.Name) and _root(node.value) in inputs:
                    inputs.add(target.id)
    return inputs


def _read(function: ast.FunctionDef) -> set[str]:
    """Names of which an item is read: an `_out` among them is changed in place."""
    return {
        root
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and (root := _root(node))
    }


def _signature_faults(function: ast.FunctionDef) -> list[tuple[int, str]]:
    faults = []
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        faults.append((function.lineno, "only plain positional arguments"))
    faults += [
        (argument.lineno, f"argument {argument.arg} has no type")
        for argument in arguments.args
        if argument.annotation is None
    ]
    if function.returns is None:
        faults.append((function.lineno, "the result has no type"))
    in_place = _read(function)
    ranks = [
        1 if item.arg in in_place else _rank(item)
        for item in arguments.args
        if _type_name(item) not in _SCALARS
    ]
    outputs = [rank == 3 for rank in ranks]
    models = [rank != 0 for rank in ranks]
    if outputs != sorted(outputs):
        faults.append((function.lineno, "arrays that are only written come last"))
    if models != sorted(models):
        faults.append((function.lineno, "the model is the first argument"))
    return faults


def _call_fault(node: ast.Call) -> str | None:
    parts = ast.unparse(node.func).split(".")
    if parts[0] == "np" and len(parts) > 1:
        if parts[1] in _ALLOCATORS:
            return f"np.{parts[1]} allocates: keep the array in a Data"
        if parts[1] in _ALGEBRA:
            return f"np.{parts[1]}: write the loop"
    if parts[-1] in {"copy", "astype", "tolist", "flatten"} and len(parts) > 1:
        return f".{parts[-1]}() allocates: keep the array in a Data"
    if parts == ["print"]:
        return "a kernel does no output"
    return None


def _body_faults(function: ast.FunctionDef) -> list[tuple[int, str]]:
    faults = []
    inputs = _inputs(function)
    for node in (item for part in function.body for item in ast.walk(part)):
        line = getattr(node, "lineno", function.lineno)
        for kind, text in _FORBIDDEN.items():
            if isinstance(node, kind):
                faults.append((line, text))
        if isinstance(node, _CONTAINERS):
            faults.append((line, "a kernel builds no container but a tuple"))
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(
            node.op, ast.MatMult
        ):
            faults.append((line, "matrix product: write the loop"))
        if isinstance(node, ast.Call) and (fault := _call_fault(node)):
            faults.append((line, fault))
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(
            node.ctx, ast.Store
        ):
            name = _root(node)
            if name in inputs:
                faults.append((line, f"writes to {name}, which is an input"))
    return faults


def _entry_faults(tree: ast.Module, inner: set[str]) -> list[tuple[int, str, str]]:
    """Calls of private and inner kernels from functions that are no kernels."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    closed = inner | {
        node.name
        for node in functions
        if _is_kernel(node) and node.name.startswith("_")
    }
    return [
        (call.lineno, node.name, f"calls {call.func.id}, which has no entry for Python")
        for node in functions
        if not _is_kernel(node)
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in closed
    ]


def _inner_kernels(trees: Iterable[ast.Module]) -> set[str]:
    """Names of the kernels, in any file, that only kernels of any file may call."""
    return {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and _is_inner(node)
        and not node.name.startswith("_")
    }


def check(path: Path, tree: ast.Module, inner: set[str]) -> list[str]:
    """List the faults of the kernels in one file, as `path:line: kernel: fault`."""
    faults = []
    shown = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _is_kernel(node):
            found = _signature_faults(node) + _body_faults(node)
            faults += [
                f"{shown}:{line}: {node.name}: {text}" for line, text in sorted(found)
            ]
    faults += [
        f"{shown}:{line}: {name}: {text}"
        for line, name, text in _entry_faults(tree, inner)
    ]
    return faults


def main(arguments: list[str]) -> int:
    """Check the given files, or all of the project; 1 where a fault was found."""
    paths = [Path(item).resolve() for item in arguments] or [
        path
        for folder in ("models", "app")
        for path in sorted((_ROOT / folder).rglob("*.py"))
    ]
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in paths
    }
    inner = _inner_kernels(trees.values())
    kept = {_ROOT / folder for folder in KERNEL_FOLDERS}
    faults = [fault for path in paths for fault in check(path, trees[path], inner)]
    faults += [
        f"{path.relative_to(_ROOT)}: has kernels, but its folder is none of "
        "KERNEL_FOLDERS in models/cache.py: a change would go unnoticed"
        for path in paths
        if path.is_relative_to(_ROOT)
        and path.parent not in kept
        and any(
            isinstance(node, ast.FunctionDef) and _is_kernel(node)
            for node in trees[path].body
        )
    ]
    for fault in faults:
        print(fault)
    print(f"check_kernels: {len(paths)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
