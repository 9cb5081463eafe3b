"""The command line: one sub-command per job, errors as sentences.

Modules are imported inside the commands: `limblink --help` and the emulator must not
pay for Qt, PyBullet or the compiler.
"""

from pathlib import Path

import typer
from rich.text import Text

from app.cli import (  # noqa: F401  they add their commands
    devices,
    drive,
    export,
    goal,
    haptic,
    keys,
    kinematics,
    legs,
    link,
    lists,
    mark,
    participant,
    processes,
    replay,
    rerun,
    sessions,
    simulate,
    study,
    tasks,
    trcrit,
)
from app.cli.options import application, err
from app.errors import LimblinkError

__all__ = ["application", "run"]


def run(arguments: list[str]) -> int:
    """Run one command.

    Returns:
        0 on success, 2 for an error that the user can mend, 1 for a fault of ours.
    """
    try:
        result = application(args=arguments, standalone_mode=False)
    except LimblinkError as error:
        err.print(Text.assemble(("Error: ", "bold red"), str(error)))
        return 2
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001  the top frame of the process
        return _usage_or_fault(error)
    return int(result) if isinstance(result, int) else 0


def _usage_or_fault(error: Exception) -> int:
    """Explain a wrong option; keep the traceback of a fault of ours in a file."""
    import traceback

    import platformdirs

    show = getattr(error, "show", None)
    if show is not None:  # click's usage errors print themselves
        show()
        return 2
    folder = Path(platformdirs.user_log_dir("limblink"))
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "fault.txt"
    report.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    err.print(
        Text.assemble(
            ("Fault in limblink: ", "bold red"),
            f"{type(error).__name__}: {error}\n"
            f"Details are in {report}; please report them.",
        )
    )
    return 1
