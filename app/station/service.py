"""The station process: control loop, link, operators, recorder. No Qt.

`Station` puts the parts together and can be run inside a test with a virtual gamepad;
`run_station` is the process.
"""

import gc
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

from app.clock import MonotonicClock
from app.config.link import load_link
from app.config.robot import build_robot_model, load_robot
from app.config.scene import load_scene
from app.config.scene_posture import robot_in_scene
from app.config.task import load_task
from app.config.task_place import place_task
from app.config.teleop import TeleopParameters
from app.control.blocks import SessionBlocks
from app.control.loop import ControlLoop
from app.errors import LogError
from app.messages import (
    Event,
    LinkWish,
    Severity,
    Source,
    TeleopWish,
    pack_event,
)
from app.operator.haptic.seat import HapticSeat
from app.operator.virtual_gamepad import VirtualGamepad
from app.real_time import prefer_real_time
from app.session import Recorder, RecorderThread
from app.station.link_worker import LinkWorker
from app.station.marks import MarkDesk
from app.station.operators import OperatorWorker
from app.station.record_facts import host_facts, resolved_files
from app.station.session import Session
from app.station.stop import StopFlag
from app.station.summary import DriveSummary
from app.station.watch import StateWatch
from app.teleop.goal_plan import plan_for

__all__ = ["Station", "run_station", "session_metadata", "versions"]

_WATCH_S = 0.01
_PRIORITY = 40  # of SCHED_FIFO: above every window, below the control loop at 80
_RECORDER_PRIORITY = 10
_STATISTICS_EVERY = 100  # rounds of the watch: once a second
_MARKS_EVERY = 10


def versions() -> dict[str, str]:
    """Versions that a recording was made with."""
    return {
        "limblink": version("limblink"),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "python": sys.version.split()[0],
    }


def session_metadata(session: Session) -> dict[str, str]:
    """Facts of a run for its recording: versions, robot, link, operator, seed."""
    return versions() | {
        "robot": session.robot,
        "link": session.link,
        "operator": session.operator,
        "scene": session.scene or "",
        "task": session.task or "",
        "strategy": session.strategy,
        "seed": str(session.seed),
        "mismatch": " ".join(f"{k}={v:g}" for k, v in sorted(session.mismatch.items())),
    }


def _free_path(path: Path) -> Path:
    """Return the path, numbered where a recording of that name exists."""
    number, free = 2, path
    while free.exists():
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
        number += 1
    return free


class Station:
    """All parts of the operator's side, started and stopped together."""

    def __init__(
        self, session: Session, virtual_pad: VirtualGamepad | None = None
    ) -> None:
        """Make everything; nothing moves before `start`.

        Args:
            session: settings; its folder receives the shared blocks.
            virtual_pad: a virtual gamepad that somebody else moves.

        Raises:
            ConfigError: robot, link or operator is wrong.
            LinkError: an address cannot be used.
        """
        self._session = session
        scene = load_scene(session.scene_name)
        self._robot = robot_in_scene(load_robot(session.robot), scene)
        link = load_link(session.link)
        model = build_robot_model(self._robot)
        self._clock = MonotonicClock()
        self._events_lock = threading.Lock()
        self.blocks = SessionBlocks(session.folder, model, create=True)
        self._teleop = TeleopParameters(strategy=session.strategy, blend=session.blend)
        self.loop = ControlLoop(model, self.blocks, self._teleop)
        self._marks = MarkDesk(session.folder)
        self.summary = DriveSummary(model, self._clock.now_ns())
        self._waiting: list[Event] = []
        self._told_failure = ""
        self._wishes: dict[type, int] = {}  # revisions that are recorded
        self._recorder = self._open_recorder(model_words=self.blocks)
        self._watch = StateWatch([limb.name for limb in self._robot.limbs])
        task = None
        if session.task is not None:
            task = place_task(load_task(session.task), self._robot)
        # every thread maps the blocks for itself: `local` copies are private
        self.operators = OperatorWorker(
            session.operator,
            model,
            SessionBlocks(session.folder, model, create=False),
            self._recorder,
            self.say,
            session.seed,
            virtual_pad,
            task,
        )
        self._haptic: HapticSeat | None = None
        if session.haptic is not None:
            self._haptic = self._seat(session.haptic)
        self._link = LinkWorker(
            session,
            model,
            link,
            SessionBlocks(session.folder, model, create=False),
            self._recorder,
            self.summary,
            self.say,
            plan_for(session.goals, self._robot),
        )
        for event in self._waiting:
            self.say(event)

    def _open_recorder(self, model_words: SessionBlocks) -> RecorderThread | None:
        session = self._session
        self.log: Path | None = None
        if session.log is None:
            return None
        try:
            self.log = _free_path(session.log)
            files = resolved_files(session, self._teleop)
            facts = session_metadata(session) | host_facts()
            recorder = Recorder(self.log, facts, files, part_bytes=session.part_bytes)
        except LogError as error:
            self.log = None
            self._waiting.append(
                Event(self._clock.now_ns(), Severity.ALARM, "recorder", str(error))
            )
            return None
        return RecorderThread(
            recorder, model_words.log, model_words.state_layout.describe()
        )

    def _seat(self, name: str) -> HapticSeat:
        """The haptic device's own thread, with mailboxes of its own."""
        session = self._session
        blocks = SessionBlocks(
            session.folder, build_robot_model(self._robot), create=False
        )
        return HapticSeat(name, blocks.inputs[Source.HAPTIC], blocks.state, self.say)

    def say(self, event: Event) -> None:
        """Show, keep and count an event; any thread may call."""
        with self._events_lock:
            self.blocks.events.push(pack_event(event))
            self.summary.add_event(event)
        if self._recorder is not None:
            self._recorder.write_event(event)

    def start(self, *, real_time: bool = False) -> None:
        """Load the kernels and start every thread.

        Args:
            real_time: ask for SCHED_FIFO for this and all other threads.

        Raises:
            LinkError: an address cannot be used.
        """
        self.loop.warm_up()
        self._link.open()
        gc.collect()
        gc.freeze()
        if real_time:  # now that all is loaded; the threads inherit it
            prefer_real_time(_PRIORITY)
            if self._recorder is not None:
                # below all others, but above windows: they share its GIL
                prefer_real_time(_RECORDER_PRIORITY, self._recorder.native_id)
        self.operators.start()
        if self._haptic is not None:
            self._haptic.start()
        self.loop.start()
        self._link.start()
        (self._session.folder / "ready").touch()

    def watch(self, round_number: int) -> None:
        """Notice changes worth an event; called every 10 ms."""
        if self._recorder is not None:
            self._say_not_recorded(self._recorder.failure)
        if self.blocks.state.refresh():
            for event in self._watch.step(self.blocks.state.local):
                self.say(event)
        if round_number % _MARKS_EVERY == 0:
            self._take_marks()
        self._keep_wishes()
        if round_number == _STATISTICS_EVERY:
            self._say_what_is_missing()
        if round_number % _STATISTICS_EVERY == 0 and self._recorder is not None:
            self._recorder.write_statistics(
                self._clock.now_ns(), self.blocks.statistics.local
            )

    def _take_marks(self) -> None:
        """Record what a person has marked, and show it among the events."""
        for mark in self._marks.take():
            note = f": {mark.note}" if mark.note else "."
            words = f"Mark {mark.number}{note}"
            self.say(Event(mark.time_ns, Severity.INFO, "operator", words))
            if self._recorder is not None:
                self._recorder.write_mark(mark)

    def _keep_wishes(self) -> None:
        """Record what the console wants otherwise, once for every revision."""
        if self._recorder is None:
            return
        teleop, link = self.blocks.teleop, self.blocks.wish
        wishes: list[TeleopWish | LinkWish] = []
        if teleop.count and teleop.refresh():
            wishes.append(teleop.local)
        if link.count and link.refresh():
            wishes.append(link.local)
        for wish in wishes:
            revision = int(wish.revision[0])
            if revision != self._wishes.get(type(wish), 0):
                self._wishes[type(wish)] = revision
                self._recorder.write_wish(self._clock.now_ns(), wish)

    def _say_not_recorded(self, failure: str) -> None:
        """Tell once that the recording has ended: driving goes on without it."""
        if failure == self._told_failure:
            return
        self._told_failure = failure
        self.say(Event(self._clock.now_ns(), Severity.ALARM, "recorder", failure))

    def _say_what_is_missing(self) -> None:
        """Tell of real-time rights that were not given, and of a missing pad."""
        now_ns = self._clock.now_ns()
        if int(self.blocks.statistics.local.scheduler[0]) != 1:
            self.say(
                Event(
                    now_ns,
                    Severity.WARNING,
                    "station",
                    "No real-time rights: the control loop may run late. Allow them "
                    "with `rtprio 90` and `memlock unlimited` for your user in "
                    "/etc/security/limits.d; see `limblink doctor`.",
                )
            )
        self.blocks.inputs[Source.GAMEPAD].refresh()
        absent = not self.blocks.inputs[Source.GAMEPAD].local.present[0]
        if self._session.operator == "gamepad" and absent:
            self.say(
                Event(
                    now_ns,
                    Severity.INFO,
                    "operator",
                    "No game controller is connected: plug one in at any time, or "
                    "drive with keyboard and mouse in the console.",
                )
            )

    def stop(self) -> dict[str, Any]:
        """Stop everything in order and return the summary; idempotent."""
        if self._haptic is not None:
            self._haptic.stop()
        self.operators.stop()
        self.loop.stop()
        self._link.stop()
        if self._recorder is not None:
            try:
                self._recorder.close()
            except LogError as error:
                self._say_not_recorded(str(error))
        summary = self.summary.as_dict(
            self.blocks.statistics.local, str(self.log) if self.log else None
        )
        if self._haptic is not None:
            summary["haptic"] = self._haptic.told()
        return summary


def run_station(session: Session, stop: StopFlag) -> None:
    """Run the station until it is asked to stop, then leave its summary."""
    # three threads share the GIL, four with a haptic device: 5 ms is too long
    sys.setswitchinterval(0.001 if session.haptic is None else 0.0005)
    station = Station(session)
    station.start(real_time=True)
    rounds = 0
    try:
        while not stop.wait(_WATCH_S):
            station.watch(rounds)
            rounds += 1
    finally:
        session.write_summary(station.stop())
