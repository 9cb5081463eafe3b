"""A trial from its first tick to its last, with its recording."""

import time
from pathlib import Path
from typing import Any

from app.clock import NS_PER_S
from app.control.loop import PERIOD_NS
from app.session import Recorder
from app.study.setup_record import record_setup
from app.study.trial import Trial
from app.study.trial_setup import TrialSetup

__all__ = ["run_trial"]


def run_trial(setup: TrialSetup, seconds: float, log: Path) -> dict[str, Any]:
    """Drive in virtual time and sum it up.

    Args:
        setup: what is tried; robot, link and scene by name.
        seconds: virtual length [s].
        log: recording to make.

    Raises:
        ConfigError: robot, link, operator, scene, task or mismatch is wrong.
        LogError: the recording exists or cannot be made.
    """
    facts, files = record_setup(setup)
    wall_ns = time.monotonic_ns()
    with Recorder(log, facts, files) as recorder:
        trial = Trial(setup, recorder)
        trial.run(round(seconds * NS_PER_S / PERIOD_NS))
        trial.finish()
    wall_ns = time.monotonic_ns() - wall_ns
    summary = trial.summary.as_dict(trial.statistics, str(log))
    summary["clock"] = "virtual"
    summary["real_time_factor"] = round(trial.ticks * PERIOD_NS / wall_ns, 2)
    return summary
