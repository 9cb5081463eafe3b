"""Faults, one function each: cause it, measure what the robot does, mend it, go on.

A row tells the times from the fault to holding and to safe (compliant, slack, or let go
by the devices), the limits that robot file and rig state for them, how far anything
moved that should not have, and what was lost. Limits count from the last command that
arrived; the fault may come up to the link's delay before that.
"""

import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers.servo_driver import _MISSES
from app.errors import FrameError
from app.link.emulator_protocol import EmulatorSettings, encode_settings
from app.link.endpoint import Endpoint
from app.link.frame import WHOLE_ROBOT, Codec, HelloFrame, SetpointFrame
from app.messages import RobotState, StationMode
from app.robot.lines import Lines
from app.robot.rig import _BEHIND_NS
from app.robot.rig_file import load_rig
from app.robot.safety import Actuation
from app.robot.sanity import GRACE_NS
from app.session import open_log
from app.station.link_worker import ROBOT_ID
from tests.system.fault_devices import ServedRig
from tests.system.faults import (
    CLOCK,
    Trial,
    pause,
    step_clock,
    wait_until,
)

_HOUR_S = 3600.0
_OVER = 10.0  # times the station's own rate
_AFTER_S = 1.5  # watched after the mending, before the new arming
_SETTLED_NS = 400 * NS_PER_MS  # a round, and a servo's own watchdog
_LET_GO = (RobotState.COMPLIANT, RobotState.IDLE, RobotState.SLACK)
_LETS_GO = ("compliant. ", "slack. ", "vented. ")
_WILD_RAD = 0.5
_RECORDED = 100
_PATIENCE_S = 30.0
_GRID_NS = 20 * NS_PER_MS  # events carry the robot's grid time, which may lag as much
_RESOLUTION_MM = 0.1  # of a setpoint at the tip: a command at rest may flicker by it


@dataclass(frozen=True)
class Row:
    """What one fault did. Times [s] from the fault; None = did not and must not."""

    fault: str
    hold_s: float | None
    hold_limit_s: float | None
    safe_s: float | None
    safe_limit_s: float | None
    moved: float
    """Of the tips after holding began, or while all went on [mm]; of the goals of
    devices after they were let go [their unit]."""
    moved_limit: float = 0.0
    lost: tuple[str, ...] = ()
    note: str = ""

    def failures(self, spare_s: float = 0.0) -> list[str]:
        """What of it is not as it must be."""
        found = [f"lost: {what}" for what in self.lost]
        for what, time_s, limit_s in (
            ("hold", self.hold_s, self.hold_limit_s),
            ("safe", self.safe_s, self.safe_limit_s),
        ):
            if (time_s is None) != (limit_s is None):
                found.append(f"{what}: {time_s} where {limit_s} is stated")
            elif time_s and limit_s and time_s > limit_s + spare_s:
                found.append(f"{what} after {time_s:.3f} s, not {limit_s:.3f}")
        if not self.moved <= self.moved_limit:
            found.append(f"moved by {self.moved:g}, not {self.moved_limit:g}")
        return found


def _since(start_ns: int, time_ns: int | None) -> float | None:
    return None if time_ns is None else (time_ns - start_ns) / NS_PER_S


def _limits(trial: Trial) -> tuple[float, float]:
    """Times to hold and to compliant that the robot's file and the link state [s]."""
    safety, link = trial.robot.safety, trial.link
    delay_ms = link.delay_ms + 3.0 * link.jitter.deviation_ms
    period_ms = 1e3 / max(float(trial.health.send_hz[0]), 1e-3)
    hold_ms = max(safety.hold_after_ms, min(3.0 * period_ms, safety.compliant_after_ms))
    return 1e-3 * (hold_ms + delay_ms), 1e-3 * (safety.compliant_after_ms + delay_ms)


def _lost(trial: Trial, *, killed: str = "", resets: bool = False) -> list[str]:
    """What is gone that should be there, after all was mended.

    Args:
        trial: running.
        killed: a process that was meant to end.
        resets: where the robot does not trust itself, stop and reset it once.
    """
    lost = [
        f"the {name} process"
        for name in trial.children.names
        if name != killed and not trial.children.running(name)
    ]
    moves = trial.arm_and_move(10.0 if resets else 60.0)
    if not moves and resets:
        trial.stop_and_reset()
        moves = trial.arm_and_move()
    if not moves:
        lost.append(f"a new arming moves nothing: {trial.last_words()}")
    return lost


# -- silence ---------------------------------------------------------------------------


def _silence(
    trial: Trial,
    fault: str,
    begin: Callable[[], None],
    end: Callable[[], None],
    *,
    killed: str = "",
    slack: bool = False,
) -> Row:
    """In motion, let the station fall silent until the robot lets go, then mend it."""
    assert trial.arm_and_move(), trial.last_words()
    trial.forget()
    pause(0.5)
    limits = _limits(trial)
    start_ns = CLOCK.now_ns()
    begin()
    note = ""

    def lets_go(least: int) -> bool:
        return bool((trial.seen(start_ns).actuation >= least).any())

    wait_until(lambda: lets_go(Actuation.COMPLIANT), limits[1] + 5.0)
    if slack:
        limit_s = 1e-3 * trial.robot.safety.slack_after_ms
        wait_until(lambda: lets_go(Actuation.SLACK), limit_s + 5.0)
        at = _first(trial, start_ns, Actuation.SLACK)
        note = f"slack after {at or np.nan:.3f} s, limit {limit_s:.3f}"
    pause(0.3)
    hold_s = _since(start_ns, trial.when(start_ns, "holding this pose"))
    safe_s = _first(trial, start_ns, Actuation.COMPLIANT)
    moved = np.nan
    if hold_s is not None:
        held = trial.seen(start_ns + round(hold_s * NS_PER_S) + 2 * NS_PER_MS)
        moved = 1e3 * trial.tip_change(held.stiff)
    mended_ns = CLOCK.now_ns()
    end()
    pause(_AFTER_S)
    lost = []
    if len(trial.seen(mended_ns).stiff.pose):
        lost.append("it moved again without a new arming")
    lost += _lost(trial, killed=killed)
    return Row(
        fault, hold_s, limits[0], safe_s, limits[1], moved, 0.0, tuple(lost), note
    )


def _first(trial: Trial, start_ns: int, least: int) -> float | None:
    seen = trial.seen(start_ns)
    found = np.flatnonzero(seen.actuation >= least)
    return None if not len(found) else _since(start_ns, int(seen.time_ns[found[0]]))


def killed_station(trial: Trial, *, slack: bool = False) -> Row:
    """SIGKILL: the log must be readable up to then."""
    log = trial.session.log
    last_ns = 0

    def kill() -> None:
        nonlocal last_ns
        last_ns = int(trial.state.time_ns[0])
        os.kill(trial.children.pid("station"), signal.SIGKILL)

    row = _silence(
        trial,
        "station: SIGKILL",
        kill,
        lambda: trial.children.restart("station"),
        slack=slack,
    )
    times = [message.time_ns for message in open_log(log).messages(["/state"])]
    missing_ms = (last_ns - times[-1]) / NS_PER_MS
    lost = row.lost
    if missing_ms > 200.0:
        lost = (*lost, f"{missing_ms:.0f} ms of the log")
    note = f"log lacks its last {max(0.0, missing_ms):.0f} ms"
    return replace(row, lost=lost, note="; ".join(filter(None, (note, row.note))))


def stopped_station(trial: Trial) -> Row:
    """SIGSTOP: its sockets stay up, and it thaws with what it was about to send."""
    pid = trial.children.pid("station")
    return _silence(
        trial,
        "station: SIGSTOP, sockets up",
        lambda: os.kill(pid, signal.SIGSTOP),
        lambda: os.kill(pid, signal.SIGCONT),
    )


def cut_cable(trial: Trial) -> Row:
    """Nothing passes, either way."""
    with Endpoint(trial.session.control_address, "connect") as control:
        wait_until(lambda: bool(control.receive(20)), 5.0)

        def cut(number: int, *, off: bool) -> None:
            packet = encode_settings(EmulatorSettings(revision=number, cut=off))
            assert wait_until(lambda: control.send(packet), 2.0)

        return _silence(
            trial,
            "link: cable cut",
            lambda: cut(1_000_001, off=True),
            lambda: cut(1_000_002, off=False),
        )


def stepped_clock(trial: Trial, hours: float) -> Row:
    """The station's clock steps away from the robot's, and stays there.

    It must hold; then the two learn one another's clock anew. Where that takes less
    than `compliant_after_ms`, the same arming may go on, as after any short silence.

    Args:
        trial: with a stepped station.
        hours: by which it is then ahead in all.
    """
    assert trial.arm_and_move(), trial.last_words()
    trial.forget()
    pause(0.5)
    hold_limit_s, safe_limit_s = _limits(trial)
    start_ns = CLOCK.now_ns()
    step_clock(trial.session, hours * _HOUR_S)
    wait_until(
        lambda: (
            _let_go(trial, start_ns)
            or trial.when(start_ns, "Commands are back") is not None
        ),
        safe_limit_s + 5.0,
    )
    hold_s = _since(start_ns, trial.when(start_ns, "holding this pose"))
    back_s = _since(start_ns, trial.when(start_ns, "Commands are back"))
    safe_s = _first(trial, start_ns, Actuation.COMPLIANT)
    moved = np.nan
    if hold_s is not None:
        held_ns = start_ns + round(hold_s * NS_PER_S) + 2 * NS_PER_MS
        end_ns = None if back_s is None else start_ns + round(back_s * NS_PER_S)
        moved = 1e3 * trial.tip_change(trial.seen(held_ns, end_ns).stiff)
    note = f"{trial.standing}: {trial.last_words()}"
    if back_s is not None:
        note = f"goes on by itself after {back_s:.2f} s"
        safe_s = safe_limit_s = None
    lost = tuple(_lost(trial))
    word = "ahead" if hours > 0.0 else "back"
    fault = f"station: its clock steps an hour {word}"
    return Row(
        fault, hold_s, hold_limit_s, safe_s, safe_limit_s, moved, 0.0, lost, note
    )


def _let_go(trial: Trial, start_ns: int) -> bool:
    return _first(trial, start_ns, Actuation.COMPLIANT) is not None


# -- floods ----------------------------------------------------------------------------


class Intruder:
    """A peer beside the station that knows the session and all that it sent."""

    def __init__(self, trial: Trial, endpoint: Endpoint) -> None:
        self._trial = trial
        self._endpoint = endpoint
        self._random = np.random.default_rng(7)
        self._sequence = 500
        mtu = trial.link.medium.mtu_bytes
        self.codec = Codec(trial.model, ROBOT_ID, mtu)
        self.stranger = Codec(trial.model, ROBOT_ID, mtu, 0xBAD5E551)
        self.recorded: list[bytes] = []

    def listen(self) -> None:
        """Knock as a stranger may, and take up the session that the robot tells."""
        knock = self._setpoint(0.0)._replace(epoch=0, mode=StationMode.DISARMED)
        packet = Codec(self._trial.model, ROBOT_ID, self.codec.mtu_bytes).encode(knock)

        def told() -> bool:
            self._endpoint.send(packet)
            for received_ns, answer in self._endpoint.receive(50):
                try:
                    frame = self.codec.decode(answer, received_ns)
                except FrameError:
                    continue
                if isinstance(frame, HelloFrame):
                    self.codec.bind(frame.session)
                    return True
            return False

        assert wait_until(told, 10.0), "the robot does not tell its session"

    def record(self) -> None:
        """Take what the station has sent, as it was on the wire, until it is enough."""
        log = self._trial.session.log
        assert log is not None

        def enough() -> bool:
            told = open_log(log).messages(["/frame/down"])
            self.recorded = [message.content.payload for message in told]
            return len(self.recorded) > _RECORDED

        assert wait_until(enough, 10.0), f"{len(self.recorded)} frames are in the log"

    def _setpoint(self, ahead_s: float) -> SetpointFrame:
        self._sequence += 1
        pose = self._trial.model.rest_coordinates.copy()
        pose[:, :2] += self._random.uniform(-_WILD_RAD, _WILD_RAD, (len(pose), 2))
        return SetpointFrame(
            sequence=self._sequence,
            generated_ns=CLOCK.now_ns() + round(ahead_s * NS_PER_S),
            robot=ROBOT_ID,
            limb=WHOLE_ROBOT,
            epoch=int(self._trial.state.arm_epoch[0]),
            mode=StationMode.ARMED,
            period_ms=20.0,
            coordinates=pose,
        )

    def _frame(self, codec: Codec, ahead_s: float) -> bytes:
        return codec.encode(self._setpoint(ahead_s))

    def noise(self) -> bytes:
        size = int(self._random.integers(1, 200))
        return self._random.bytes(size)

    def replay(self) -> bytes:
        """Mostly of the newest second, which an age limit lets pass."""
        newest = self._random.random() < 0.5
        first = max(0, len(self.recorded) - 50) if newest else 0
        return self.recorded[int(self._random.integers(first, len(self.recorded)))]

    def wrong_session(self) -> bytes:
        return self._frame(self.stranger, 0.0)

    def wrong_hour(self) -> bytes:
        """Setpoints and disarmings of the live session, an hour off.

        No stops: one of those is obeyed whatever its time.
        """
        ahead_s = float(self._random.choice((-_HOUR_S, _HOUR_S)))
        mode = StationMode(int(self._random.integers(2)))
        frame = self._setpoint(ahead_s)._replace(mode=mode)
        return self.codec.encode(frame)


FLOODS = {
    "noise": "flood: random bytes",
    "replay": "flood: frames of this session again",
    "wrong_session": "flood: frames of a wrong session",
    "wrong_hour": "flood: stamped an hour ahead and behind",
}


def flood(trial: Trial, kind: str, seconds: float, over: float = _OVER) -> Row:
    """Ten times the station's rate from another peer; the limb is held still."""
    assert trial.arm_and_move(), trial.last_words()
    with Endpoint(trial.session.station_address, "connect") as endpoint:
        intruder = Intruder(trial, endpoint)
        intruder.listen()
        if kind == "replay":
            intruder.record()
        trial.rest()
        trial.forget()
        pause(0.2)
        epoch = int(trial.state.arm_epoch[0])
        told = trial.tips(trial.state.coordinates_commanded)
        rate_hz = over * float(trial.health.send_hz[0])
        make = getattr(intruder, kind)
        start_ns, sent = CLOCK.now_ns(), 0
        while CLOCK.now_ns() - start_ns < seconds * NS_PER_S:
            sent += endpoint.send(make())
            CLOCK.wait_until(start_ns + round((sent + 1) / rate_hz * NS_PER_S))
            if sent % 50 == 0:
                endpoint.receive()
        end_ns = CLOCK.now_ns()
        seen = trial.seen(start_ns, end_ns)
        lost = []
        if sent < 0.9 * rate_hz * seconds:
            lost.append(f"only {sent} frames were sent")
        if len(seen.stiff.pose) < len(seen.pose) or trial.when(start_ns, "holding"):
            lost.append("driving was interrupted")
        if (
            not wait_until(lambda: trial.follows, 1.0)
            or int(trial.state.arm_epoch[0]) != epoch
        ):
            lost.append(f"the arming: {trial.standing}")
        if len(seen.pose) < 0.9e3 * seconds:
            lost.append(f"{1e3 * seconds - len(seen.pose):.0f} steps of the robot")
        moved = 1e3 * trial.tip_change(seen)
        # what the station itself still told of the limb's coming to rest
        crept = trial.tips(trial.state.coordinates_commanded) - told
        limit = _RESOLUTION_MM + 1e3 * float(np.linalg.norm(crept, axis=1).max())
        # it is the same arming that goes on
        trial.hand.drive(moving=True)
        if not wait_until(lambda: trial.tip_change(trial.seen(end_ns)) > 5e-3, 10.0):
            lost.append("the same arming moves nothing")
        note = f"{sent} frames, {sent / seconds:.0f}/s; goes on; moved <= {limit:.3f}"
        return Row(
            f"{FLOODS[kind]}, {seconds:g} s",
            None,
            None,
            None,
            None,
            moved,
            limit,
            tuple(lost),
            note,
        )


# -- disk ------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, *, mount: bool = True) -> Iterator[Callable[[Trial], str]]:
    """A folder on a filesystem of its own, where permitted; yields how to fill it up.

    Elsewhere the station's files are kept from growing (RLIMIT_FSIZE).
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)]
    mounted = (
        mount
        and os.geteuid() == 0
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )

    def fill(trial: Trial) -> str:
        if not mounted:
            pid, log = trial.children.pid("station"), trial.session.log
            assert log is not None
            limits = (log.stat().st_size, resource.RLIM_INFINITY)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
            return "file size limit"
        with (folder / "filler").open("wb", buffering=0) as filler:
            piece = bytes(4096)
            try:
                while filler.write(piece):
                    pass
            except OSError:
                return "full tmpfs"

    try:
        yield fill
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disk(trial: Trial, fill: Callable[[Trial], str], seconds: float = 5.0) -> Row:
    """The recording's disk is full: all goes on, and the station says so."""
    assert trial.arm_and_move(), trial.last_words()
    trial.forget()
    pause(1.0)
    start_ns = CLOCK.now_ns()
    how = fill(trial)
    said = wait_until(lambda: trial.station_said("Recording"), seconds)
    told_s = (CLOCK.now_ns() - start_ns) / NS_PER_S
    pause(max(0.0, seconds - told_s))
    seen = trial.seen(start_ns)
    lost = [] if said else ["the station says nothing"]
    if len(seen.stiff.pose) < len(seen.pose) or trial.when(start_ns, "holding"):
        lost.append("driving was interrupted")
    if trial.tip_change(seen) < 5e-3:
        lost.append("the limb stands still")
    times = [m.time_ns for m in open_log(trial.session.log).messages(["/state"])]
    short_ms = (start_ns - max(times, default=0)) / NS_PER_MS
    if short_ms > 200.0:
        lost.append(f"{short_ms:.0f} ms of the log before the fault")
    trial.hand.disarms += 1
    wait_until(lambda: trial.state.mode[0] == StationMode.DISARMED, 5.0)
    lost += _lost(trial)
    note = f"{how}; told after {told_s:.2f} s; goes on throughout"
    return Row(
        "disk of the log: full", None, None, None, None, 0.0, 0.0, tuple(lost), note
    )


# -- devices ---------------------------------------------------------------------------


def _device_fault(
    trial: Trial,
    rig: ServedRig,
    fault: str,
    begin: Callable[[], None],
    end: Callable[[], None],
    limit_s: float,
    since: Callable[[int, int], int | None] | None = None,
) -> Row:
    """In motion, break a device; the robot must let go by itself; then mend it."""
    assert trial.arm_and_move(), trial.last_words()
    trial.forget()
    rig.watch()
    pause(0.5)
    fault_ns = start_ns = CLOCK.now_ns()
    begin()
    wait_until(lambda: _let_go(trial, fault_ns), _PATIENCE_S)
    pause(1.0)
    let_go_s = _first(trial, fault_ns, Actuation.COMPLIANT)
    let_go_ns = fault_ns + round((let_go_s or 0.0) * NS_PER_S)
    lost, note = [], ""
    if let_go_s is None:
        lost.append("the robot does not let go")
    elif since is not None:
        start_ns = since(fault_ns, let_go_ns) or fault_ns
        let_go_s = (let_go_ns - start_ns) / NS_PER_S
        late_s = (start_ns - fault_ns) / NS_PER_S
        note = f"from when one is behind, {late_s:.2f} s after it stuck"
    if trial.when(fault_ns - _GRID_NS, *_LETS_GO) is None:
        lost.append("the robot says nothing")
    if int(trial.health.robot_state[0]) not in _LET_GO:
        lost.append("the station is not told")
    mended_ns = CLOCK.now_ns()
    end()
    pause(2.0)  # a bus is opened again once a second
    if len(trial.seen(mended_ns).stiff.pose):
        lost.append("it moved again without a new arming")
    moved = rig.driven_change(let_go_ns + _SETTLED_NS, CLOCK.now_ns())
    reasons = [
        one.text for one in trial.said(fault_ns - _GRID_NS) if "because" in one.text
    ]
    note = "; ".join(filter(None, (note, *reasons[:1])))
    lost += _lost(trial, resets=True)
    return Row(fault, None, None, let_go_s, limit_s, moved, 0.0, tuple(lost), note)


def _round_s(rig: ServedRig, bus: str) -> float:
    """Longest time until a fault of a device is read: a round and its timeouts [s]."""
    table = rig.bus(bus)
    timeout_s = getattr(table.line, "timeout_ms", 0.0) * 1e-3
    return 1.0 / table.rate_hz + _MISSES * timeout_s


def unplugged(trial: Trial, rig: ServedRig, bus: str = "arms") -> Row:
    """A serial line is pulled and comes back as a new terminal of the same name."""
    return _device_fault(
        trial,
        rig,
        "serial: unplugged, plugged again",
        lambda: rig.unplug(bus),
        lambda: rig.plug(bus),
        GRACE_NS / NS_PER_S + _round_s(rig, bus),
    )


def silent_servo(trial: Trial, rig: ServedRig, bus: str = "arms") -> Row:
    """One servo answers no more."""
    return _device_fault(
        trial,
        rig,
        "servo: answers no more",
        lambda: rig.spoil(bus, "silent", [0], to=True),
        lambda: rig.spoil(bus, "silent", [0], to=False),
        GRACE_NS / NS_PER_S + _round_s(rig, bus),
    )


def stuck_valves(trial: Trial, rig: ServedRig, bus: str) -> Row:
    """The arm's valves stick; the robot must see that they do not follow."""
    parameters, robot = load_rig(str(rig.path))
    goal, measured = (
        Lines(parameters, robot, trial.model, rig.path.parent) for _ in range(2)
    )
    rows = goal.rows(bus)
    channels = goal.channel[rows]

    def behind(fault_ns: int, let_go_ns: int) -> int | None:
        """Since when one was behind without a break until the robot let go [ns]."""
        first_ns = None
        for time_ns, told, _, felt in rig.rows()[bus]:
            if not fault_ns <= time_ns < let_go_ns:
                continue
            gap = goal.to_lengths(rows, told[channels])
            gap -= measured.to_lengths(rows, felt[channels])
            if not (np.abs(gap) > goal.behind_limit[rows]).any():
                first_ns = None
            elif first_ns is None:
                first_ns = time_ns
        return first_ns

    every = list(range(len(parameters.buses[0].line.actuators)))
    return _device_fault(
        trial,
        rig,
        "valves: stick",
        lambda: rig.spoil(bus, "stuck", every, to=True),
        lambda: rig.spoil(bus, "stuck", every, to=False),
        # a reading that is doubted meanwhile stands for its grace, and then ends it
        (_BEHIND_NS + GRACE_NS) / NS_PER_S + 2.0 * _round_s(rig, bus),
        behind,
    )
