"""A robot that asks for keys, and stations that do as they are told: for tests."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from app.clock import NS_PER_S
from app.config.link import load_link
from app.config.robot import build_robot_model, load_robot
from app.link.endpoint import Endpoint, load_keys, make_keys
from app.link.frame import Codec, HelloFrame, SetpointFrame, TelemetryFrame
from app.link.keys import trust
from app.link.streams import Kind
from app.messages import Event, RobotState, StationMode
from app.robot.core import DEFAULT_ROBOT_ID, warm_up_robot
from app.robot.plant import PlantMismatch
from app.robot.service import run_robot

_SHIPPED = load_robot("ursula")
_QUICK = {"hold_after_ms": 200.0, "compliant_after_ms": 600.0, "slack_after_ms": 5000.0}
ROBOT = _SHIPPED.model_copy(
    update={"safety": _SHIPPED.safety.model_copy(update=_QUICK)}
)
LINK = load_link("ideal")
MODEL = build_robot_model(ROBOT)
LIMB = 2
SEGMENTS = slice(*(int(k) for k in MODEL.limb_segment_start[LIMB : LIMB + 2]))
PATIENCE_NS = 30 * NS_PER_S
HELLO_KEYS = {Kind.HELLO.value, Kind.COMPACT_HELLO.value}
ARMED, DISARMED, ESTOP = StationMode.ARMED, StationMode.DISARMED, StationMode.ESTOP


@dataclass
class World:
    """Key folders and the robot's address."""

    folder: Path
    events: list[Event] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"ipc://{self.folder / 'robot.sock'}"

    def keys(self, who: str) -> Path:
        return self.folder / who

    def said(self, text: str) -> bool:
        return any(text in event.text for event in self.events)

    @contextmanager
    def robot(self) -> Iterator[None]:
        """One life of the robot."""
        ended = threading.Event()
        thread = threading.Thread(
            target=run_robot,
            kwargs={
                "robot": ROBOT,
                "link": LINK,
                "address": self.address,
                "role": "bind",
                "mismatch": PlantMismatch(),
                "seed": 0,
                "stop": ended.is_set,
                "keys": self.keys("robot"),
                "say": self.events.append,
            },
        )
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(20.0)
        assert not thread.is_alive()

    @contextmanager
    def station(self, who: str) -> Iterator["Station"]:
        keys = load_keys(self.keys(who), "station", "robot")
        with Endpoint(self.address, "connect", keys) as endpoint:
            yield Station(endpoint)


def make_world(folder: Path) -> World:
    """A robot that trusts two stations, and a stranger who knows its public key."""
    warm_up_robot(ROBOT, LINK)
    world = World(folder)
    public = make_keys(world.keys("robot"), "robot")
    for who in ("pilot", "watcher", "stranger"):
        own = make_keys(world.keys(who), "station")
        trust(world.keys(who), str(public))
        if who != "stranger":
            trust(world.keys("robot"), str(own), who)
    return world


@dataclass
class Station:
    """A station that says what it is told to; keeps what it sent and heard."""

    endpoint: Endpoint
    codec: Codec = field(
        default_factory=lambda: Codec(MODEL, DEFAULT_ROBOT_ID, LINK.medium.mtu_bytes)
    )
    sequence: int = 0
    sent: list[bytes] = field(default_factory=list)
    heard: list[TelemetryFrame] = field(default_factory=list)

    def frame(self, mode: StationMode, epoch: int) -> bytes:
        self.sequence += 1
        bend = np.array([0.2, 0.0, 0.0])
        return self.codec.encode(
            SetpointFrame(
                sequence=self.sequence,
                generated_ns=time.monotonic_ns(),
                robot=DEFAULT_ROBOT_ID,
                limb=LIMB,
                epoch=epoch,
                mode=mode,
                period_ms=20.0,
                coordinates=MODEL.rest_coordinates[SEGMENTS] + bend,
            )
        )

    def send(self, mode: StationMode, epoch: int) -> None:
        packet = self.frame(mode, epoch)
        if self.endpoint.send(packet):
            self.sent.append(packet)

    def listen(self, wait_ms: float = 20.0) -> list[TelemetryFrame]:
        heard = []
        for received_ns, packet in self.endpoint.receive(wait_ms):
            if packet[0] in HELLO_KEYS:
                hello = self.codec.decode(packet, received_ns)
                assert isinstance(hello, HelloFrame)
                self.codec.bind(hello.session)
                continue
            if self.codec.session:
                frame = self.codec.decode(packet, received_ns)
                assert isinstance(frame, TelemetryFrame)
                heard.append(frame)
        self.heard += heard
        return heard

    def until(
        self,
        wanted: Callable[[TelemetryFrame], bool],
        act: Callable[[], object] = lambda: None,
    ) -> TelemetryFrame:
        """Act and listen until a frame is as wanted."""
        end_ns = time.monotonic_ns() + PATIENCE_NS
        while time.monotonic_ns() < end_ns:
            act()
            for frame in self.listen():
                if wanted(frame):
                    return frame
        raise AssertionError("the robot did not answer as wanted")

    def join(self) -> None:
        """Meet the robot and learn its session."""
        self.until(lambda frame: frame.received > 0, lambda: self.send(DISARMED, 0))

    def drive(self, epoch: int) -> None:
        self.until(
            lambda frame: frame.state == RobotState.ACTIVE and frame.epoch == epoch,
            lambda: self.send(ARMED, epoch),
        )

    def watch(self, act: Callable[[], object], count: int = 40) -> set[RobotState]:
        """Act as often as telemetry comes; return the robot's states meanwhile."""
        self.listen(0.0)
        before = len(self.heard)
        self.until(lambda _: len(self.heard) >= before + count, act)
        return {RobotState(frame.state) for frame in self.heard[before:]}


def wait_for(what: str, done: Callable[[], bool], act: Callable[[], object]) -> None:
    end_ns = time.monotonic_ns() + PATIENCE_NS
    while not done():
        assert time.monotonic_ns() < end_ns, f"not in time: {what}"
        act()
