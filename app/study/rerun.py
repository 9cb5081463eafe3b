"""A recorded operator through the same code again, in virtual time.

With the settings of the recording, a session of virtual time gives the same messages
bit for bit, which is verified; with others, what comes of them is compared with what
comes of the recorded settings. The operator does not react: it does what it did,
whatever it is shown.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.clock import NS_PER_S
from app.config.link import load_link
from app.config.scene import load_scene
from app.control.loop import PERIOD_NS
from app.robot.plant import PlantMismatch
from app.session import Recorder, open_log
from app.station.service import versions
from app.study.recorded_session import RecordedSession
from app.study.recording_difference import Comparison, compare_recordings
from app.study.rerun_figures import RerunTraces, figures_of
from app.study.setup_record import record_setup
from app.study.trial import Trial
from app.study.trial_setup import TrialSetup
from app.teleop.strategy import Strategy

__all__ = ["Changes", "Drive", "Rerun", "rerun"]

_TELL_TICKS = 250
_FACTS = ("robot", "link", "scene", "task")


@dataclass(frozen=True)
class Changes:
    """What is to be otherwise than it was; None: nothing.

    Attributes:
        strategy: for the whole session; changes in mid-session are left out.
        link: shipped name or path; changes, cuts and outages by hand are left out.
        scene: shipped name or path.
        mismatch: of the simulated robot.
        seed: of channel and sensors.
    """

    strategy: Strategy | None = None
    link: str | None = None
    scene: str | None = None
    mismatch: PlantMismatch | None = None
    seed: int | None = None

    @property
    def any(self) -> bool:
        """Something is."""
        return self != Changes()

    def of(self, setup: TrialSetup) -> TrialSetup:
        """Return a set-up with these changes.

        Raises:
            ConfigError: no such link or scene.
        """
        if self.strategy is not None:
            wish = {"strategy": self.strategy.short}
            setup = replace(setup, teleop=setup.teleop.model_copy(update=wish))
        if self.link is not None:
            setup = replace(setup, link=load_link(self.link))
        if self.scene is not None:
            setup = replace(setup, scene=load_scene(self.scene))
        if self.mismatch is not None:
            setup = replace(setup, mismatch=self.mismatch)
        if self.seed is not None:
            setup = replace(setup, seed=self.seed)
        return setup


@dataclass(frozen=True)
class Drive:
    """One drive of a recorded operator.

    Attributes:
        setup: what was driven.
        traces: as it ran.
        figures: summed up, by the names of `rerun_figures.FIGURES`.
        waited_s: how long the operator was kept back, not being armed [s].
    """

    setup: TrialSetup
    traces: RerunTraces
    figures: dict[str, float]
    waited_s: float


@dataclass
class Rerun:
    """What came of a rerun.

    Attributes:
        session: the recording.
        recorded: driven with the settings of the recording.
        changed: driven with others; None where none were asked for.
        comparison: of `recorded` with the recording; None of a live recording, whose
            processes ran on clocks of their own.
        versions: of what is not what the recording was made with: (was, is).
    """

    session: RecordedSession
    recorded: Drive
    changed: Drive | None = None
    comparison: Comparison | None = None
    versions: dict[str, tuple[str, str]] = field(default_factory=dict)


def rerun(
    session: RecordedSession,
    changes: Changes,
    log: Path | None = None,
    tell: Callable[[str, float], None] = lambda *_: None,
) -> Rerun:
    """Drive a recorded session again.

    Args:
        session: the recording.
        changes: what is to be otherwise.
        log: recording to make of the drive; None for none.
        tell: is told what is done and which share of it is, 0..1.

    Raises:
        ConfigError: a change, or the recorded set-up, is wrong.
        LogError: a recording cannot be read, or not be made.
    """
    changed = changes.of(session.setup) if changes.any else None
    metadata = session.recording.metadata
    result_versions = {
        name: (metadata.get(name, "?"), version)
        for name, version in versions().items()
        if metadata.get(name) != version
    }
    with tempfile.TemporaryDirectory(prefix="limblink-rerun-") as folder:
        again = log if log is not None and changed is None else None
        again = again or Path(folder) / "again.mcap"
        recorded = _drive(
            session,
            session.setup,
            Changes(),
            again,
            lambda share: tell("driving again", share),
        )
        result = Rerun(session, recorded, versions=result_versions)
        if session.virtual:
            tell("comparing", 1.0)
            result.comparison = compare_recordings(
                session.recording,
                open_log(again),
                to_the_end=session.recording.complete,
            )
    if changed is not None:
        result.changed = _drive(
            session, changed, changes, log, lambda share: tell("driving changed", share)
        )
    return result


def _drive(
    session: RecordedSession,
    setup: TrialSetup,
    changes: Changes,
    log: Path | None,
    tell: Callable[[float], None],
) -> Drive:
    recorder = None
    if log is not None:
        facts, files = record_setup(setup)
        was = session.recording.metadata
        facts["robot"] = was.get("robot", facts["robot"])
        if changes == Changes():
            facts |= {name: was[name] for name in _FACTS if name in was}
        facts["operator"] = "recorded"
        facts["rerun_of"] = session.recording.path.name
        recorder = Recorder(log, facts, files)
    traces = RerunTraces()
    wishes = session.wishes(
        strategy=changes.strategy is None, link=changes.link is None
    )
    wanted = next(wishes, None)
    try:
        exact = session.virtual and changes == Changes()
        hands = session.hands(patient=not exact)
        trial = Trial(setup, recorder, hands)
        try:
            while trial.ticks < session.ticks + hands.waited_ns // PERIOD_NS:
                heard_ns = trial.now_ns - hands.waited_ns
                while wanted is not None and wanted.time_ns <= heard_ns:
                    trial.want(wanted.wish)
                    wanted = next(wishes, None)
                trial.step()
                traces.step(trial)
                if trial.ticks % _TELL_TICKS == 0:
                    tell(min(1.0, trial.ticks / session.ticks))
        finally:
            trial.finish()
    finally:
        if recorder is not None:
            recorder.close()
    return Drive(setup, traces, figures_of(traces), hands.waited_ns / NS_PER_S)
