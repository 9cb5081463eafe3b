"""Checks of the interpreter and the libraries; one a function, nothing is changed.

What a faulty driver or a missing library could bring down is asked in a process of its
own (`probe`).
"""

import os
import platform
import sys
from pathlib import Path

from app.station.findings import SCRIPTS_RUN, Finding, Grade, probe

__all__ = [
    "check_display",
    "check_graphics",
    "check_kernels",
    "check_messaging",
    "check_python",
    "check_scene",
    "check_window",
]


def check_python() -> list[Finding]:
    """The interpreter that runs this."""
    version = platform.python_version()
    where = f"{platform.python_implementation()} {version}, {platform.machine()}"
    if sys.version_info[:2] != (3, 11):
        return [
            Finding(Grade.FAIL, "Python", where, "Use Python 3.11: PyBullet needs it.")
        ]
    return [Finding(Grade.OK, "Python", where)]


def check_graphics() -> list[Finding]:
    """OpenGL 3.3 without a window, as the scene is drawn."""
    ok, answer = probe(
        "import moderngl\n"
        "context = moderngl.create_standalone_context(backend='egl', require=330)\n"
        "print(context.info['GL_RENDERER'], '|', context.info['GL_VERSION'])"
    )
    if not ok:
        return [
            Finding(
                Grade.FAIL,
                "Graphics",
                f"no OpenGL 3.3 through EGL: {answer}",
                f"Install libegl1, libgl1 and libgl1-mesa-dri ({SCRIPTS_RUN}), or "
                "the maker's driver. `limblink drive --headless` works without.",
            )
        ]
    renderer = answer.partition("|")[0].strip()
    if any(name in renderer.lower() for name in ("llvmpipe", "softpipe", "swrast")):
        return [
            Finding(
                Grade.OK,
                "Graphics",
                f"{renderer}: drawn by the processor",
                "Enough for 50 Hz at 1280 x 720; a graphics card's driver draws larger "
                "windows.",
            )
        ]
    return [Finding(Grade.OK, "Graphics", answer)]


def check_display(environment: dict[str, str] | None = None) -> list[Finding]:
    """Whether a window can appear anywhere."""
    env = dict(os.environ) if environment is None else environment
    for name in ("WAYLAND_DISPLAY", "DISPLAY"):
        if env.get(name):
            return [Finding(Grade.OK, "Display", f"{name}={env[name]}")]
    return [
        Finding(
            Grade.WARN,
            "Display",
            "none: neither DISPLAY nor WAYLAND_DISPLAY is set",
            "Start from a desktop or use `ssh -X`; `limblink drive --headless` needs "
            "none.",
        )
    ]


def check_window() -> list[Finding]:
    """Qt, without opening a window."""
    ok, answer = probe(
        "from PyQt6.QtCore import QT_VERSION_STR\n"
        "import ctypes, pathlib, PyQt6, PyQt6.QtWidgets\n"
        "folder = pathlib.Path(PyQt6.__file__).parent / 'Qt6/plugins/platforms'\n"
        "ctypes.CDLL(str(folder / 'libqxcb.so'))\n"
        "print('Qt', QT_VERSION_STR)"
    )
    if ok:
        return [Finding(Grade.OK, "Window", answer)]
    return [
        Finding(
            Grade.FAIL,
            "Window",
            f"Qt cannot be loaded: {answer}",
            f"Install the library that is named ({SCRIPTS_RUN}).",
        )
    ]


def check_scene() -> list[Finding]:
    """PyBullet, which holds the scene."""
    ok, answer = probe(
        "import os\n"
        "os.dup2(2, 1)\n"  # its banner goes to standard output
        "import pybullet\n"
        "client = pybullet.connect(pybullet.DIRECT)\n"
        "assert client >= 0\n"
    )
    if ok:
        return [Finding(Grade.OK, "Scene", "PyBullet answers")]
    return [
        Finding(
            Grade.FAIL, "Scene", f"PyBullet cannot be loaded: {answer}", SCRIPTS_RUN
        )
    ]


def check_messaging() -> list[Finding]:
    """ZeroMQ and its encryption."""
    ok, answer = probe("import zmq; print(zmq.zmq_version(), zmq.has('curve'))")
    if not ok:
        return [
            Finding(Grade.FAIL, "ZeroMQ", f"cannot be loaded: {answer}", SCRIPTS_RUN)
        ]
    version, _, curve = answer.partition(" ")
    if curve != "True":
        return [
            Finding(
                Grade.WARN,
                "ZeroMQ",
                f"{version} without CURVE encryption",
                "Only robots on this computer can be driven. Install pyzmq from PyPI.",
            )
        ]
    return [Finding(Grade.OK, "ZeroMQ", f"{version} with CURVE encryption")]


def check_kernels(folder: Path, *, warm: bool) -> list[Finding]:
    """Compiled kernels.

    Args:
        folder: their cache.
        warm: all of them are there.
    """
    if warm:
        return [Finding(Grade.OK, "Compiled kernels", f"ready in {folder}")]
    return [
        Finding(
            Grade.OK,
            "Compiled kernels",
            f"not compiled yet for these sources, in {folder}",
            "The next start compiles them, once, for one or two minutes.",
        )
    ]
