"""The linear solver and the checker of kernels.

Tolerance 1e-10 relative: condition numbers up to 1e4 in doubles.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.cache import kernel_cache_folder
from models.numerics import cholesky_solve, inner_kernel, kernel

_ROOT = Path(__file__).resolve().parents[3]
_CHECKER = _ROOT / "scripts" / "check_kernels.py"


@settings(deadline=None)
@given(size=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_cholesky_solves_a_positive_definite_system(size, seed):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(size, size))
    matrix = root @ root.T + 0.01 * np.eye(size)
    right = generator.normal(size=size)
    solution = right.copy()
    assert cholesky_solve(matrix.copy(), solution, size) == 0
    assert np.allclose(solution, np.linalg.solve(matrix, right), rtol=1e-8, atol=1e-8)


def test_cholesky_reads_only_the_leading_block():
    matrix = np.full((4, 4), np.nan)
    matrix[:2, :2] = [[4.0, 1.0], [1.0, 3.0]]
    right = np.array([1.0, 2.0, np.nan, np.nan])
    assert cholesky_solve(matrix, right, 2) == 0
    assert np.allclose(right[:2], [1.0 / 11.0, 7.0 / 11.0], rtol=1e-14)


@pytest.mark.parametrize("pivot", [0.0, -1.0, np.nan, np.inf])
def test_cholesky_tells_of_a_bad_pivot(pivot):
    assert cholesky_solve(np.diag([1.0, pivot]), np.ones(2), 2) == 1


@inner_kernel
def half_or_whole(value: float, whole: bool, count: int) -> float:
    return count * (value if whole else 0.5 * value)


@kernel
def sum_of_both(value: float) -> float:
    return half_or_whole(value, True, 1) + half_or_whole(value, False, 3)


def test_a_kernel_is_compiled_once_for_all_constants():
    assert sum_of_both(2.0) == 5.0
    assert len(half_or_whole.signatures) == 1


def test_the_cache_folder_carries_a_digest_of_the_sources(monkeypatch, tmp_path):
    monkeypatch.setenv("LIMBLINK_CACHE", str(tmp_path))
    folder = kernel_cache_folder()
    assert folder.parent == tmp_path
    assert folder == kernel_cache_folder()


def _check(*arguments):
    return subprocess.run(
        [sys.executable, str(_CHECKER), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


_BAD_KERNELS = {
    "allocates": ("x: float, y_out: FloatArray", "y_out[0] = np.zeros(3)[0]"),
    "raises": ("x: float", "raise ValueError(x)"),
    "asserts": ("x: float", "assert x > 0"),
    "writes to an input": ("x: FloatArray", "x[0] = 1.0"),
    "writes through a view": ("x: FloatArray", "y = x[1:]; y[0] = 1.0"),
    "order of arguments": ("y_out: FloatArray, x: FloatArray", "y_out[0] = x[0]"),
    "model is the first": ("x: FloatArray, model: RobotModel", "return x[0]"),
    "array algebra": ("x: FloatArray", "return np.dot(x, x)"),
    "matrix product": ("x: FloatArray", "return x @ x"),
    "builds a list": ("x: float", "return [x][0]"),
    "no annotation": ("x", "return x"),
}


@pytest.mark.parametrize(("arguments", "body"), _BAD_KERNELS.values(), ids=_BAD_KERNELS)
def test_the_checker_finds_a_bad_kernel(arguments, body, tmp_path):
    path = tmp_path / "bad.py"
    path.write_text(f"@kernel\ndef f({arguments}) -> None:\n    {body}\n")
    result = _check(path)
    assert result.returncode == 1
    assert "bad.py:" in result.stdout


def test_the_checker_passes_a_good_kernel(tmp_path):
    path = tmp_path / "good.py"
    path.write_text(
        "@kernel\n"
        "def f(model: RobotModel, x: FloatArray, data: RobotData,"
        " y_out: FloatArray) -> int:\n"
        "    row = data.rates[0]\n"
        "    row[0] = x[0]\n"
        "    view = y_out[1:]\n"
        "    view[0] += 1.0\n"
        "    return 0\n"
        "def plain(x):\n"
        "    raise ValueError(np.zeros(3))\n"
    )
    result = _check(path)
    assert result.returncode == 0, result.stdout


def test_the_checker_refuses_a_private_kernel_called_from_python(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(
        "@kernel\ndef _inner(x: float) -> float:\n    return x\n\n\n"
        "@kernel\ndef outer(x: float) -> float:\n    return _inner(x)\n\n\n"
        "def plain() -> float:\n    return _inner(1.0)\n"
    )
    result = _check(path)
    assert result.returncode == 1
    assert "plain: calls _inner" in result.stdout
    assert result.stdout.count("no entry") == 1


def test_the_checker_refuses_an_inner_kernel_of_another_file_called_from_python(
    tmp_path,
):
    kernels, caller = tmp_path / "kernels.py", tmp_path / "caller.py"
    kernels.write_text("@inner_kernel\ndef inner(x: float) -> float:\n    return x\n")
    caller.write_text("def plain() -> float:\n    return inner(1.0)\n")
    result = _check(kernels, caller)
    assert result.returncode == 1
    assert "plain: calls inner" in result.stdout
