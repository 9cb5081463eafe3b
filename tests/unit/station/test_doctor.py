"""The check-up: each fault is graded and comes with its cure."""

import io
import os
import resource
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from app.drivers.transport import SerialPort
from app.errors import DeviceError
from app.station import library_checks, machine_checks
from app.station.doctor import all_checks, run_doctor
from app.station.findings import Finding, Grade, probe


def report(*findings: Finding) -> tuple[int, str]:
    out = io.StringIO()
    console = Console(file=out, width=200)
    return run_doctor(console, [lambda: list(findings)]), out.getvalue()


def test_what_it_returns_and_prints() -> None:
    fine = Finding(Grade.OK, "A", "here")
    poor = Finding(Grade.WARN, "B", "old [usb]", "Replace it.")
    bad = Finding(Grade.FAIL, "C", "gone", "Bring it back.")
    status, text = report(fine)
    assert (status, "all well" in text) == (0, True)
    status, text = report(fine, poor)
    assert status == 0
    assert "old [usb]" in text
    assert "Replace it." in text
    status, text = report(fine, poor, bad)
    assert status == 1
    assert "1 to mend" in text


def test_all_checks_run_here() -> None:
    """On any machine: no check raises, every bad finding says what to do."""
    findings = [finding for check in all_checks() for finding in check()]
    assert len({finding.subject for finding in findings}) >= 12
    assert all(f.cure for f in findings if f.grade is not Grade.OK)


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("print('hello')", (True, "hello")),
        ("raise ImportError('libEGL.so.1')", (False, "ImportError: libEGL.so.1")),
        ("import os; os.abort()", (False, "it died of signal 6")),
        ("raise SystemExit(3)", (False, "exit status 3")),
    ],
)
def test_a_probe_outlives_what_it_tries(code: str, answer: tuple[bool, str]) -> None:
    assert probe(code) == answer


def test_a_probe_that_hangs_is_given_up() -> None:
    ok, answer = probe("import signal; signal.pause()", timeout_s=0.05)
    assert not ok
    assert "no answer" in answer


@pytest.mark.parametrize(
    ("check", "answer", "grade", "words"),
    [
        (
            library_checks.check_graphics,
            (True, "llvmpipe (LLVM 15) | 4.5"),
            Grade.OK,
            "processor",
        ),
        (library_checks.check_graphics, (True, "NVIDIA RTX | 4.6"), Grade.OK, "NVIDIA"),
        (library_checks.check_graphics, (False, "no libEGL"), Grade.FAIL, "no libEGL"),
        (
            library_checks.check_window,
            (False, "no libxcb-cursor"),
            Grade.FAIL,
            "libxcb-cursor",
        ),
        (
            library_checks.check_scene,
            (False, "it died of signal 4"),
            Grade.FAIL,
            "signal 4",
        ),
        (library_checks.check_messaging, (True, "4.3.5 True"), Grade.OK, "with CURVE"),
        (
            library_checks.check_messaging,
            (True, "4.3.5 False"),
            Grade.WARN,
            "without CURVE",
        ),
        (library_checks.check_messaging, (False, "no zmq"), Grade.FAIL, "no zmq"),
    ],
)
def test_libraries(
    monkeypatch: pytest.MonkeyPatch,
    check: Callable[[], list[Finding]],
    answer: tuple[bool, str],
    grade: Grade,
    words: str,
) -> None:
    monkeypatch.setattr(library_checks, "probe", lambda _code: answer)
    [finding] = check()
    assert finding.grade is grade
    assert words in finding.found


def test_display() -> None:
    [finding] = library_checks.check_display({"DISPLAY": ":0"})
    assert (finding.grade, finding.found) == (Grade.OK, "DISPLAY=:0")
    [finding] = library_checks.check_display({})
    assert finding.grade is Grade.WARN
    assert "--headless" in finding.cure


def test_real_time_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (65536, 65536))
    by_subject = {
        finding.subject: finding for finding in machine_checks.check_real_time()
    }
    assert "rtprio 95" in by_subject["Real-time priority"].cure
    assert "Operation not permitted" in by_subject["Real-time priority"].found
    assert "64 KiB" in by_subject["Locked memory"].found
    assert by_subject["Locked memory"].grade is Grade.WARN
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    by_subject = {
        finding.subject: finding for finding in machine_checks.check_real_time()
    }
    assert "SYS_NICE" in by_subject["Real-time priority"].cure
    assert by_subject["Locked memory"].grade is Grade.OK


def test_a_processor_quota_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/sys/fs/cgroup/cpu.max": "150000 100000\n"}
    monkeypatch.setattr(machine_checks, "_read", lambda path: files.get(path, ""))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    processors = machine_checks.check_real_time()[2]
    assert processors.grade is Grade.WARN
    assert "1.5" in processors.found
    files["/sys/fs/cgroup/cpu.max"] = "max 100000\n"
    assert machine_checks.check_real_time()[2].grade is Grade.OK


def test_controllers(monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(names: list[tuple[str, bool]]) -> list[Finding]:
        monkeypatch.setattr(machine_checks, "gamepad_names", lambda: names)
        return machine_checks.check_controllers()

    assert seen([])[0].grade is Grade.WARN
    good, unknown = seen([("DualSense", True), ("Odd wheel", False)])
    assert (good.grade, good.found) == (Grade.OK, "DualSense")
    assert "gamecontrollerdb.txt" in unknown.cure

    def broken() -> list[tuple[str, bool]]:
        raise DeviceError("SDL cannot open its game controllers: no.")

    monkeypatch.setattr(machine_checks, "gamepad_names", broken)
    assert machine_checks.check_controllers()[0].grade is Grade.WARN


def test_serial_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[SerialPort] = []
    monkeypatch.setattr(machine_checks, "list_serial_ports", lambda: ports)
    assert machine_checks.check_serial_ports()[0].grade is Grade.OK
    ports += [
        SerialPort("/dev/ttyUSB0", "U2D2", permitted=True),
        SerialPort("/dev/ttyUSB1", "Teensy", permitted=False),
    ]
    good, closed = machine_checks.check_serial_ports()
    assert (good.grade, good.found) == (Grade.OK, "/dev/ttyUSB0: U2D2")
    assert "dialout" in closed.cure


def test_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def with_free(free: int) -> tuple[Grade, Grade]:
        usage = SimpleNamespace(total=1 << 40, used=0, free=free)
        monkeypatch.setattr(machine_checks.shutil, "disk_usage", lambda _: usage)
        [memory] = machine_checks.check_shared_memory(tmp_path / "session")
        [disk] = machine_checks.check_disk(tmp_path / "not" / "yet")
        return memory.grade, disk.grade

    assert with_free(1 << 36) == (Grade.OK, Grade.OK)
    assert with_free(1 << 30) == (Grade.OK, Grade.WARN)
    assert with_free(1 << 20) == (Grade.FAIL, Grade.WARN)


def test_kernels(tmp_path: Path) -> None:
    [warm] = library_checks.check_kernels(tmp_path, warm=True)
    [cold] = library_checks.check_kernels(tmp_path, warm=False)
    assert warm.cure == ""
    assert "next start compiles" in cold.cure
