"""What a machine needs to drive a robot, one check a function.

A check looks, changes nothing, and returns `Finding`s. What a faulty driver or a
missing library could bring down is asked in a process of its own (`probe`).
"""

import os
import platform
import pwd
import resource
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from app.drivers.transport import list_serial_ports
from app.errors import DeviceError

__all__ = [
    "Finding",
    "Grade",
    "check_controllers",
    "check_disk",
    "check_display",
    "check_graphics",
    "check_kernels",
    "check_messaging",
    "check_python",
    "check_real_time",
    "check_scene",
    "check_serial_ports",
    "check_shared_memory",
    "check_window",
    "probe",
]

_SCRIPTS_RUN = "run scripts/run once: it installs what is missing"
_GIB = 1024**3
_MIB = 1024**2
_SESSION_BYTES = 16 * _MIB  # one session's shared blocks, rounded up
_LOG_BYTES_PER_HOUR = 2.0 * _GIB
_LOOP_PRIORITY = 80
_LOCK_WANTED = 1 * _GIB  # the station's resident pages, rounded up


class Grade(Enum):
    """How good a finding is."""

    OK = "ok"
    WARN = "warn"  # limblink works, less well or without that part
    FAIL = "fail"  # limblink does not work


@dataclass(frozen=True)
class Finding:
    """One row of the report.

    Attributes:
        grade: how good.
        subject: what was looked at.
        found: what is there.
        cure: what to do; empty where nothing needs doing.
    """

    grade: Grade
    subject: str
    found: str
    cure: str = ""


def probe(code: str, timeout_s: float = 20.0) -> tuple[bool, str]:
    """Run Python code in a process of its own.

    Args:
        code: statements; what they print is the answer.
        timeout_s: how long to wait [s].

    Returns:
        Whether it ended well, and what it printed; else the last line of its error.
    """
    try:
        result = subprocess.run(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {timeout_s:g} s"
    if result.returncode == 0:
        return True, result.stdout.strip()
    words = result.stderr.strip().splitlines()
    if result.returncode < 0:
        return False, f"it died of signal {-result.returncode}"
    return False, words[-1] if words else f"exit status {result.returncode}"


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
                f"Install libegl1, libgl1 and libgl1-mesa-dri ({_SCRIPTS_RUN}), or "
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
            f"Install the library that is named ({_SCRIPTS_RUN}).",
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
            Grade.FAIL, "Scene", f"PyBullet cannot be loaded: {answer}", _SCRIPTS_RUN
        )
    ]


def check_messaging() -> list[Finding]:
    """ZeroMQ and its encryption."""
    ok, answer = probe("import zmq; print(zmq.zmq_version(), zmq.has('curve'))")
    if not ok:
        return [
            Finding(Grade.FAIL, "ZeroMQ", f"cannot be loaded: {answer}", _SCRIPTS_RUN)
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


def check_real_time() -> list[Finding]:
    """What the 1 kHz loop may ask of the kernel."""
    return [_scheduler(), _locked_memory(), _processors()]


def _fifo_error() -> OSError | None:
    """Try the loop's priority in a thread that ends at once."""
    errors: list[OSError] = []

    def attempt() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_LOOP_PRIORITY))
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return errors[0] if errors else None


def _scheduler() -> Finding:
    kernel = f"Linux {platform.release()}"
    if _read("/sys/kernel/realtime").strip() == "1":
        kernel += ", PREEMPT_RT"
    error = _fifo_error()
    if error is None:
        return Finding(
            Grade.OK, "Real-time priority", f"SCHED_FIFO {_LOOP_PRIORITY} on {kernel}"
        )
    cure = (
        f"As root, write `{_user()} - rtprio 95` to "
        "/etc/security/limits.d/limblink.conf and log in again; in a container, "
        "start it with --cap-add=SYS_NICE."
    )
    if os.geteuid() == 0:
        cure = (
            "Even root may not: a container without --cap-add=SYS_NICE, or a control "
            "group without a real-time share (`sysctl kernel.sched_rt_runtime_us=-1`)."
        )
    return Finding(
        Grade.WARN,
        "Real-time priority",
        f"refused ({error.strerror}) on {kernel}: a busy machine will make ticks late",
        cure,
    )


def _locked_memory() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft == resource.RLIM_INFINITY or soft >= _LOCK_WANTED or os.geteuid() == 0:
        return Finding(Grade.OK, "Locked memory", "permitted")
    return Finding(
        Grade.WARN,
        "Locked memory",
        f"limited to {soft // 1024} KiB: a page fault can delay a tick",
        f"As root, write `{_user()} - memlock unlimited` to "
        "/etc/security/limits.d/limblink.conf and log in again.",
    )


def _processors() -> Finding:
    count = len(os.sched_getaffinity(0))
    governor = _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip()
    found = f"{count} usable" + (f", governor {governor}" if governor else "")
    quota = _read("/sys/fs/cgroup/cpu.max").split()
    if quota and quota[0] != "max":
        share = int(quota[0]) / int(quota[1])
        if share < count:
            return Finding(
                Grade.WARN,
                "Processors",
                f"{found}; a quota of {share:g} stops the loop when it is used up",
                "Lift the container's CPU quota (docker: --cpus), or pin CPUs instead.",
            )
    if count < 2:
        return Finding(
            Grade.WARN,
            "Processors",
            found,
            "One is too few for loop and window together; use --headless.",
        )
    if governor == "powersave" and "intel_pstate" not in _read(
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"
    ):
        return Finding(
            Grade.WARN,
            "Processors",
            found,
            "As root: `cpupower frequency-set -g performance`, for steady ticks.",
        )
    return Finding(Grade.OK, "Processors", found)


def check_controllers() -> list[Finding]:
    """Game controllers that SDL sees."""
    from app.operator.gamepad import gamepad_names

    try:
        names = gamepad_names()
    except DeviceError as error:
        return [Finding(Grade.WARN, "Controllers", str(error))]
    if not names:
        return [
            Finding(
                Grade.WARN,
                "Controllers",
                "none",
                "Plug one in, also later; or drive with keyboard and mouse. If one is "
                "plugged in: as root `usermod -aG input "
                f"{_user()}`, and log in again.",
            )
        ]
    return [
        Finding(Grade.OK, "Controller", name)
        if usable
        else Finding(
            Grade.WARN,
            "Controller",
            f"{name}: its sticks and buttons are not known",
            "Add its line of SDL_GameControllerDB to your gamecontrollerdb.txt.",
        )
        for name, usable in names
    ]


def check_serial_ports() -> list[Finding]:
    """Serial ports for a real robot's controllers."""
    ports = list_serial_ports()
    if not ports:
        return [
            Finding(Grade.OK, "Serial ports", "none; the simulated robot needs none")
        ]
    return [
        Finding(Grade.OK, "Serial port", f"{port.device}: {port.description}")
        if port.permitted
        else Finding(
            Grade.WARN,
            "Serial port",
            f"{port.device}: {port.description}: not permitted",
            f"As root: `usermod -aG dialout {_user()}`, and log in again.",
        )
        for port in ports
    ]


def check_shared_memory(folder: Path) -> list[Finding]:
    """Room for a session's shared blocks.

    Args:
        folder: where sessions keep them; its parent is looked at.
    """
    free = shutil.disk_usage(folder.parent).free
    found = f"{free / _MIB:.0f} MiB free in {folder.parent}"
    if free < _SESSION_BYTES:
        return [
            Finding(
                Grade.FAIL,
                "Shared memory",
                found,
                f"A session needs {_SESSION_BYTES // _MIB} MiB: remove old sessions in "
                f"{folder}; docker: --shm-size=256m.",
            )
        ]
    return [Finding(Grade.OK, "Shared memory", found)]


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
            "The next start compiles them, once, for up to a minute.",
        )
    ]


def check_disk(folder: Path) -> list[Finding]:
    """Room for recordings.

    Args:
        folder: where recordings go; it need not exist.
    """
    there = next(path for path in (folder, *folder.parents) if path.is_dir())
    free = shutil.disk_usage(there).free
    hours = free / _LOG_BYTES_PER_HOUR
    found = f"{free / _GIB:.1f} GiB free for {folder}: {hours:.0f} h of recording"
    if not os.access(there, os.W_OK):
        return [
            Finding(
                Grade.FAIL,
                "Recordings",
                f"{there} may not be written to",
                "Give another place with --log, or mend its permissions.",
            )
        ]
    if hours < 2.0:
        return [
            Finding(
                Grade.WARN, "Recordings", found, "Remove old recordings, or use --log."
            )
        ]
    return [Finding(Grade.OK, "Recordings", found)]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as a number without a name
        return str(os.getuid())
