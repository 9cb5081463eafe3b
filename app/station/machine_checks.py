"""Checks of the machine: real-time rights, devices, room; nothing is changed."""

import os
import platform
import pwd
import resource
import shutil
import threading
from pathlib import Path

from app.drivers.transport import list_serial_ports
from app.errors import DeviceError
from app.operator.gamepad import gamepad_names
from app.station.findings import Finding, Grade

__all__ = [
    "check_controllers",
    "check_disk",
    "check_real_time",
    "check_serial_ports",
    "check_shared_memory",
]

_GIB = 1024**3
_MIB = 1024**2
_SESSION_BYTES = 16 * _MIB  # one session's shared blocks, rounded up
_LOG_BYTES_PER_HOUR = 2.0 * _GIB
_LOOP_PRIORITY = 80
_LOCK_WANTED = 1 * _GIB  # the station's resident pages, rounded up


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
