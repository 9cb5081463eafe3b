"""What a check of the machine finds, and a safe way to ask."""

import subprocess
import sys
from dataclasses import dataclass
from enum import Enum

__all__ = ["SCRIPTS_RUN", "Finding", "Grade", "probe"]

SCRIPTS_RUN = "run scripts/run once: it installs what is missing"


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
