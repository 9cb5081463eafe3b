"""A session of real processes with a witness in the robot, for faults and their times.

    hand (console's mailbox) -> station -> emulator -> robot: bridge -> witness -> body

The robot's process is the shipped one (`run_robot`); its body is handed to it wrapped,
so that every millisecond's applied pose and actuation is seen, and what the robot says
is kept with its time. The hand is an operator as a console is one: it arms, moves and
rests when it is told to. Nothing else of the session is replaced.
"""

import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import app.link.station_side
from app.clock import NS_PER_MS, NS_PER_S, MonotonicClock
from app.config.link import LinkParameters, load_link
from app.config.robot import RobotParameters, build_robot_model, load_robot
from app.control.blocks import SessionBlocks
from app.control.mailbox import Mailbox, Ring
from app.errors import LimblinkError
from app.link.frame import Codec
from app.messages import (
    Event,
    InputMode,
    OperatorInput,
    RobotState,
    Source,
    StationMode,
    put_sample,
    unpack_event,
)
from app.robot.body import Applied
from app.robot.plant import Plant, PlantMismatch
from app.robot.rig_file import rig_robot
from app.robot.rig_session import open_rig
from app.robot.safety import Actuation
from app.robot.service import run_robot
from app.station.processes import Supervisor, _redirect_output, _rename_process
from app.station.service import run_station
from app.station.session import Session, create_session, find_session
from app.station.stop import StopFlag
from models.numerics import FloatArray, IntArray
from models.tip import limb_tips

CLOCK = MonotonicClock()
_RING_ROWS = 1 << 15
_KEPT_ROWS = 60_000  # a minute
_HAND_MS = 20
_TURN_S = 6.0
_STILL_M = 1e-5
_SETTLED = 0.02  # in half a second [rad, rad, m]
_YOUNG_NS = 300 * NS_PER_MS
_STEP_FILE, _SAID_FILE, _RING_FILE = "clock-step", "robot.said", "witness"


def wait_until(done: Callable[[], bool], timeout_s: float) -> bool:
    """Poll every 10 ms; whether it came true in time."""
    due_ns = CLOCK.now_ns() + round(timeout_s * NS_PER_S)
    while not done():
        if CLOCK.now_ns() > due_ns:
            return False
        CLOCK.wait_until(CLOCK.now_ns() + 10 * NS_PER_MS)
    return True


def pause(seconds: float) -> None:
    CLOCK.wait_until(CLOCK.now_ns() + round(seconds * NS_PER_S))


# -- in the robot's process ------------------------------------------------------------


class Witness:
    """A body that notes what it is asked for, and passes it on."""

    def __init__(self, body: Any, ring: Ring) -> None:
        self._body, self._ring = body, ring
        self._row = np.zeros(ring.row_words, dtype=np.int64)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)

    def step(self, applied: Applied) -> int:
        self._row[0] = CLOCK.now_ns()
        self._row[1] = int(applied.actuation)
        self._row[2:] = applied.coordinates.reshape(-1).view(np.int64)
        self._ring.push(self._row)
        return int(self._body.step(applied))


def _ring(folder: Path, segments: int) -> Ring:
    return Ring(folder / _RING_FILE, _RING_ROWS, 2 + 3 * segments, create=True)


def _be_robot(session: Session, stop: StopFlag) -> None:
    robot = load_robot(session.robot)
    model = build_robot_model(robot)
    ring = _ring(session.folder, model.segment_length.size)
    with ExitStack() as stack:
        said = stack.enter_context((session.folder / _SAID_FILE).open("a"))

        def say(event: Event) -> None:
            said.write(json.dumps([event.time_ns, event.text]) + "\n")
            said.flush()

        body: Any = None
        if session.rig is None:
            body = Plant(model, PlantMismatch(), session.seed)
        else:
            body = stack.enter_context(
                open_rig(
                    session.rig,
                    virtual=session.virtual,
                    mismatch=PlantMismatch(),
                    seed=session.seed,
                )
            ).rig
        run_robot(
            robot=robot,
            link=load_link(session.link),
            address=session.robot_address,
            role="connect",
            mismatch=PlantMismatch(),
            seed=session.seed,
            stop=stop,
            say=say,
            body=Witness(body, ring),
        )


# -- in the station's process ----------------------------------------------------------


class SteppedCodec(Codec):
    """The station's codec where its clock has stepped away from the robot's.

    All stamps are written, and all are read, in a clock that is ahead by the step. The
    station's own timers go on evenly, as a monotonic clock does: it is the difference
    of two hosts' clocks that steps, when one of them was asleep.
    """

    step_words: IntArray

    def encode(self, frame: Any) -> bytes:
        ahead_ns = int(self.step_words[0])
        stamp_ns = frame.generated_ns + ahead_ns
        return super().encode(frame._replace(generated_ns=stamp_ns))

    def decode(self, buffer: bytes, reference_ns: int, peer: int = 0) -> Any:
        ahead_ns = int(self.step_words[0])
        frame = super().decode(buffer, reference_ns + ahead_ns, peer)
        return frame._replace(generated_ns=frame.generated_ns - ahead_ns)


def _be_stepped_station(session: Session, stop: StopFlag) -> None:
    SteppedCodec.step_words = _step_words(session.folder)
    app.link.station_side.Codec = SteppedCodec  # type: ignore[misc]
    run_station(session, stop)


def _step_words(folder: Path) -> IntArray:
    words: IntArray = np.memmap(folder / _STEP_FILE, dtype=np.int64, mode="r+")
    return words


def _child_main(name: str, folder: Path, parent: int) -> None:
    os.setsid()
    _redirect_output(folder / f"{name}.err")
    _rename_process(f"limblink-{name}")
    stop = StopFlag(parent)
    stop.install()
    session = find_session(folder)
    try:
        (_be_robot if name == "robot" else _be_stepped_station)(session, stop)
    except LimblinkError as error:
        os.write(2, f"Error: {error}\n".encode())
        raise SystemExit(2) from error


class _Children(Supervisor):
    """The shipped processes, but for the robot with its witness."""

    def __init__(self, session: Session, own: set[str]) -> None:
        super().__init__(session)
        self._own = own

    def _begin(self, name: str, method: str) -> None:
        if name not in self._own:
            super()._begin(name, method)
            return
        child = multiprocessing.get_context("spawn").Process(
            target=_child_main,
            args=(name, self.session.folder, os.getpid()),
            daemon=True,
        )
        child.start()
        self._children[name] = child


# -- in this process -------------------------------------------------------------------


class Hand:
    """An operator as the console is one: arms, moves and rests as it is told."""

    def __init__(self, mailbox: Mailbox[Any], *, lateral: bool) -> None:
        self._mailbox = mailbox
        self._lateral = lateral
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hand")
        self._began_ns = CLOCK.now_ns()
        self.deadman = self.moving = False
        self.arms = self.disarms = self.stops = self.resets = 0
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def drive(self, *, moving: bool) -> None:
        """Hold the deadman, and move the tip round and round, or keep it still."""
        self._began_ns = CLOCK.now_ns()
        self.moving, self.deadman = moving, True

    def release(self) -> None:
        self.moving = self.deadman = False

    def _run(self) -> None:
        while not self._ended.wait(_HAND_MS * 1e-3):
            now_ns = CLOCK.now_ns()
            angle = 2.0 * np.pi * (now_ns - self._began_ns) / NS_PER_S / _TURN_S
            across, up = 0.6 * np.cos(angle), 0.6 * np.sin(angle)
            # about an axis that the limb points along: ahead, or down
            rate = (0.0, across, up) if self._lateral else (across, up, 0.0)
            sample = OperatorInput(
                stamp_ns=now_ns,
                present=True,
                deadman=self.deadman,
                mode=InputMode.RATE,
                rate=rate if self.moving else (0.0, 0.0, 0.0),
                arm_count=self.arms,
                disarm_count=self.disarms,
                estop_count=self.stops,
                estop_reset_count=self.resets,
            )
            put_sample(sample, self._mailbox.local_words)
            self._mailbox.publish()


@dataclass
class Said:
    """One event of the robot."""

    time_ns: int
    text: str


@dataclass
class Seen:
    """What the witness saw between two times."""

    time_ns: IntArray
    actuation: IntArray
    pose: FloatArray
    """(n, S, 3) as applied [rad, rad, m]."""

    @property
    def stiff(self) -> "Seen":
        held = self.actuation == Actuation.STIFF
        return Seen(self.time_ns[held], self.actuation[held], self.pose[held])


@dataclass
class Trial:
    """A running session, and how to look at it."""

    session: Session
    children: _Children
    robot: RobotParameters
    link: LinkParameters
    hand: Hand
    blocks: SessionBlocks
    ring: Ring
    told: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = build_robot_model(self.robot)
        self._table = np.zeros((_KEPT_ROWS, self.ring.row_words), dtype=np.int64)
        self._kept = 0
        self.tips(self.model.rest_coordinates)  # compiled or loaded before a fault

    # -- the station's view --

    @property
    def state(self) -> Any:
        self.blocks.state.refresh()
        return self.blocks.state.local

    @property
    def health(self) -> Any:
        self.blocks.health.refresh()
        return self.blocks.health.local

    @property
    def follows(self) -> bool:
        """The robot follows the present arming of a station that is alive."""
        state, health = self.state, self.health
        young_ns = CLOCK.now_ns() - _YOUNG_NS
        return (
            min(state.time_ns[0], health.time_ns[0]) > young_ns
            and state.mode[0] == StationMode.ARMED
            and health.robot_state[0] == RobotState.ACTIVE
            and health.robot_epoch[0] == state.arm_epoch[0]
        )

    def rest(self) -> None:
        """Let the deadman go, stay armed, and wait until all is told to stand.

        The shape settles for some seconds longer than the tip. Until then a setpoint
        that is lost shows: straight from one shape to the next but one, the tip leaves
        its place for a moment.
        """
        self.hand.release()
        pose, since_ns = self.state.coordinates_commanded.copy(), CLOCK.now_ns()

        def still() -> bool:
            nonlocal pose, since_ns
            now = self.state.coordinates_commanded
            off = np.abs(self.tips(now) - self.tips(pose)).max()
            if off > _STILL_M or np.abs(now - pose).max() > _SETTLED:
                pose, since_ns = now.copy(), CLOCK.now_ns()
            return CLOCK.now_ns() - since_ns > 500 * NS_PER_MS

        assert wait_until(still, 20.0), "the command does not come to rest"

    def station_said(self, words: str) -> bool:
        rows, _ = self.blocks.events.read()
        self.told += [unpack_event(row) for row in rows]
        return any(words in event.text for event in self.told)

    def arm(self, timeout_s: float = 60.0) -> bool:
        """Arm anew as a person would: press, look, press again; whether it follows."""
        self.hand.release()
        pressed_ns, leaving = 0, False

        def followed() -> bool:
            nonlocal pressed_ns, leaving
            now_ns = CLOCK.now_ns()
            armed = self.state.mode[0] == StationMode.ARMED
            leaving = leaving and armed  # until the station has taken up the disarming
            if self.follows and not leaving:
                return True
            if now_ns - pressed_ns > 1500 * NS_PER_MS:
                pressed_ns = now_ns
                if armed:
                    self.hand.disarms += 1
                    leaving = True
                else:
                    self.hand.arms += 1
            return False

        return wait_until(followed, timeout_s)

    def stop_and_reset(self) -> None:
        """Press emergency stop and reset it, which clears what was latched."""
        self.hand.release()
        for press, robot in (("stops", RobotState.ESTOP), ("resets", None)):
            setattr(self.hand, press, getattr(self.hand, press) + 1)
            wait_until(
                lambda robot=robot: (
                    (self.health.robot_state[0] == RobotState.ESTOP) == bool(robot)
                ),
                5.0,
            )
        pause(1.0)  # devices that were cleared give way for a round

    def arm_and_move(self, timeout_s: float = 60.0) -> bool:
        """Arm, then see the applied pose move."""
        if not self.arm(timeout_s):
            return False
        start_ns = CLOCK.now_ns()
        self.hand.drive(moving=True)

        def moved() -> bool:
            seen = self.seen(start_ns).stiff
            return len(seen.pose) > 1 and self.tip_change(seen) > 5e-3

        return wait_until(moved, 15.0)

    @property
    def standing(self) -> str:
        """What station and robot think of the arming."""
        state, health = self.state, self.health
        return (
            f"station {StationMode(int(state.mode[0])).name} {state.arm_epoch[0]}, "
            f"robot {health.robot_state[0]} {health.robot_epoch[0]}"
        )

    def last_words(self) -> str:
        """What station and robot said last."""
        self.station_said("")
        status = self.children.status().values()
        told = [words for words in status if words.startswith("ended")]
        told += [event.text for event in self.told[-3:]]
        return " / ".join(told + [one.text for one in self.said(0)[-2:]])

    # -- the robot's view --

    def seen(self, first_ns: int, last_ns: int | None = None) -> Seen:
        """What the robot applied from a time on."""
        rows, _ = self.ring.read()
        count = min(len(rows), _KEPT_ROWS)
        if self._kept + count > _KEPT_ROWS:
            half = self._table[self._kept - _KEPT_ROWS // 2 : self._kept].copy()
            self._kept = max(0, min(len(half), _KEPT_ROWS - count))
            self._table[: self._kept] = half[len(half) - self._kept :]
        self._table[self._kept : self._kept + count] = rows[len(rows) - count :]
        self._kept += count
        last_ns = last_ns or CLOCK.now_ns()
        first = int(np.searchsorted(self._table[: self._kept, 0], first_ns))
        last = int(np.searchsorted(self._table[: self._kept, 0], last_ns, "right"))
        table = self._table[first:last]
        pose = table[:, 2:].view(np.float64)
        return Seen(
            table[:, 0],
            table[:, 1],
            pose.reshape(len(table), *self.model.rest_coordinates.shape),
        )

    def forget(self) -> None:
        """Begin a new case: what was seen so far is not looked at again."""
        self.ring.read()
        self._kept = 0

    def said(self, since_ns: int) -> list[Said]:
        """What the robot said from a time on."""
        text = (self.session.folder / _SAID_FILE).read_text()
        found = [Said(*json.loads(line)) for line in text.splitlines()]
        return [one for one in found if one.time_ns >= since_ns]

    def when(self, since_ns: int, *words: str) -> int | None:
        """When the robot first said one of these words [ns]."""
        for one in self.said(since_ns):
            if any(word in one.text for word in words):
                return one.time_ns
        return None

    def tips(self, pose: FloatArray) -> FloatArray:
        """Tips (L, 3) [m] of a pose."""
        return limb_tips(self.model, pose)

    def tip_change(self, seen: Seen) -> float:
        """Greatest distance of any tip from where it was first [m]."""
        if not len(seen.pose):
            return 0.0
        changed = np.flatnonzero(np.diff(seen.pose, axis=0).any(axis=(1, 2))) + 1
        first = self.tips(seen.pose[0])
        return max(
            (
                float(np.linalg.norm(self.tips(seen.pose[k]) - first, axis=1).max())
                for k in changed[:: max(1, len(changed) // 200)]
            ),
            default=0.0,
        )


@contextmanager
def trial(
    log: Path,
    robot: str = "ursula",
    link: str = "optical-lab",
    *,
    rig: str | None = None,
    stepped: bool = False,
) -> Iterator[Trial]:
    """Start link, robot and station, armed by nobody; end them all afterwards."""
    robot = robot if rig is None else rig_robot(rig)
    session = create_session(robot, link, operator="none", log=log, rig=rig)
    children = _Children(session, {"robot", "station"} if stepped else {"robot"})
    hand: Hand | None = None
    np.zeros(1, dtype=np.int64).tofile(session.folder / _STEP_FILE)
    (session.folder / _SAID_FILE).touch()
    parameters = load_robot(robot)
    model = build_robot_model(parameters)
    ring = _ring(session.folder, model.segment_length.size)
    try:
        children.start()
        children.wait_ready((session.folder / "ready").exists, 90.0)
        blocks = SessionBlocks(session.folder, model, create=False)
        along = parameters.limbs[0].base_direction
        hand = Hand(
            blocks.inputs[Source.CONSOLE], lateral=abs(along[0]) > abs(along[2])
        )
        yield Trial(session, children, parameters, load_link(link), hand, blocks, ring)
    finally:
        if hand is not None:
            hand.close()
        children.stop()
        session.close()


def step_clock(session: Session, seconds: float) -> None:
    """Set the clock of a stepped station by so much in all [s]."""
    _step_words(session.folder)[0] = round(seconds * NS_PER_S)
