"""`limblink doctor`: looks a machine over and says what to do."""

from collections.abc import Callable, Iterable

from rich.console import Console
from rich.table import Table

from app.station import library_checks, machine_checks
from app.station.findings import Finding, Grade
from app.station.session import default_log_path, sessions_folder
from app.station.warmup import is_warm
from models.cache import kernel_cache_folder

__all__ = ["all_checks", "run_doctor"]

_STYLE = {Grade.OK: "green", Grade.WARN: "yellow", Grade.FAIL: "bold red"}


def all_checks() -> list[Callable[[], list[Finding]]]:
    """Every check, in the order of the report."""
    return [
        library_checks.check_python,
        library_checks.check_graphics,
        library_checks.check_display,
        library_checks.check_window,
        library_checks.check_scene,
        machine_checks.check_real_time,
        machine_checks.check_controllers,
        machine_checks.check_serial_ports,
        library_checks.check_messaging,
        lambda: machine_checks.check_shared_memory(sessions_folder()),
        lambda: library_checks.check_kernels(kernel_cache_folder(), warm=is_warm()),
        lambda: machine_checks.check_disk(default_log_path("", "").parent),
    ]


def run_doctor(
    console: Console, todo: Iterable[Callable[[], list[Finding]]] | None = None
) -> int:
    """Run the checks and print a table.

    Args:
        console: where to print.
        todo: the checks; None for all.

    Returns:
        0, or 1 where something stops limblink from working.
    """
    table = Table(title="limblink doctor", title_justify="left", show_lines=False)
    table.add_column("")
    table.add_column("what", no_wrap=True)
    table.add_column("found", overflow="fold")
    table.add_column("what to do", overflow="fold")
    findings: list[Finding] = []
    with console.status("looking …"):
        for check in all_checks() if todo is None else todo:
            findings += check()
    for finding in findings:
        style = _STYLE[finding.grade]
        table.add_row(
            f"[{style}]{finding.grade.value}[/]",
            finding.subject,
            _plain(finding.found),
            _plain(finding.cure),
        )
    console.print(table)
    failed = sum(finding.grade is Grade.FAIL for finding in findings)
    warned = sum(finding.grade is Grade.WARN for finding in findings)
    if failed:
        verdict = f"[bold red]{failed} to mend before limblink works fully[/]"
    elif warned:
        verdict = f"[yellow]limblink works; {warned} to better[/]"
    else:
        verdict = "[green]all well[/]"
    console.print(verdict)
    return 1 if failed else 0


def _plain(text: str) -> str:
    """Keep square brackets in a device's name from being read as markup."""
    return text.replace("[", r"\[")
