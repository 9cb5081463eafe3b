"""The robot's process main, in a thread, over a real socket."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.robot import build_robot_model, load_robot
from app.errors import LinkError
from app.link.endpoint import Endpoint
from app.link.frame import Codec, HelloFrame, SetpointFrame, TelemetryFrame
from app.link.streams import Kind
from app.messages import RobotState, StationMode
from app.robot.core import DEFAULT_ROBOT_ID, STEP_NS, warm_up_robot
from app.robot.plant import PlantMismatch
from app.robot.service import Grid, run_robot

ROBOT = load_robot("ursula")
LINK = load_link("ideal")
MODEL = build_robot_model(ROBOT)
PATIENCE_NS = 60 * NS_PER_S
_HELLOS = {Kind.HELLO.value, Kind.COMPACT_HELLO.value}


def start_robot(address: str, stop: Callable[[], bool]) -> None:
    run_robot(
        robot=ROBOT,
        link=LINK,
        address=address,
        role="connect",
        mismatch=PlantMismatch(),
        seed=0,
        stop=stop,
    )


@dataclass
class Station:
    """The other end of the socket."""

    endpoint: Endpoint
    codec: Codec = field(
        default_factory=lambda: Codec(MODEL, DEFAULT_ROBOT_ID, LINK.medium.mtu_bytes)
    )
    sequence: int = 0

    def send(self, mode: StationMode, epoch: int) -> None:
        self.sequence += 1
        frame = SetpointFrame(
            sequence=self.sequence,
            generated_ns=time.monotonic_ns(),
            robot=DEFAULT_ROBOT_ID,
            limb=2,
            epoch=epoch,
            mode=mode,
            period_ms=20.0,
            coordinates=MODEL.rest_coordinates[4:5],
        )
        self.endpoint.send(self.codec.encode(frame))

    def until(
        self, wanted: Callable[[TelemetryFrame], bool], mode: StationMode, epoch: int
    ) -> TelemetryFrame:
        """Send and listen until a frame is as wanted."""
        end_ns = time.monotonic_ns() + PATIENCE_NS
        while time.monotonic_ns() < end_ns:
            self.send(mode, epoch)
            for received_ns, packet in self.endpoint.receive(20.0):
                if packet[0] not in _HELLOS and not self.codec.session:
                    continue  # it cannot be read yet
                frame = self.codec.decode(packet, received_ns)
                if isinstance(frame, HelloFrame):
                    self.codec.bind(frame.session)
                if isinstance(frame, TelemetryFrame) and wanted(frame):
                    return frame
        raise AssertionError("the robot did not answer as wanted")


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"ipc://{tmp_path / 'robot'}"


@pytest.fixture
def running(address: str) -> Iterator[None]:
    warm_up_robot(ROBOT, LINK)
    ended = threading.Event()
    thread = threading.Thread(target=start_robot, args=(address, ended.is_set))
    thread.start()
    yield
    ended.set()
    thread.join(20.0)
    assert not thread.is_alive()


@pytest.mark.usefixtures("running")
def test_follows_a_station_survives_its_loss_and_takes_up_with_the_next(
    address: str,
) -> None:
    with Endpoint(address, "bind") as endpoint:
        station = Station(endpoint)
        disarmed, armed = StationMode.DISARMED, StationMode.ARMED
        station.until(lambda frame: frame.received > 0, disarmed, 0)
        frame = station.until(lambda f: f.state == RobotState.ACTIVE, armed, 1)
        assert frame.epoch == 1
        now_ns = time.monotonic_ns()
        assert 0 <= now_ns - frame.generated_ns < 5 * NS_PER_S
    with Endpoint(address, "bind") as endpoint:  # the station's process began anew
        station = Station(endpoint)
        frame = station.until(lambda f: f.state != RobotState.ACTIVE, disarmed, 0)
        assert frame.state in {RobotState.HOLD, RobotState.COMPLIANT, RobotState.IDLE}
        station.until(lambda f: f.state == RobotState.ACTIVE, armed, frame.epoch + 1)
        station.until(lambda f: f.state == RobotState.ESTOP, StationMode.ESTOP, 2)


def test_a_busy_address_is_an_error_at_start(tmp_path: Path) -> None:
    with Endpoint("tcp://127.0.0.1:*", "bind") as taken:
        with pytest.raises(LinkError, match="in use"):
            run_robot(
                robot=ROBOT,
                link=LINK,
                address=taken.address,
                role="bind",
                mismatch=PlantMismatch(),
                seed=0,
                stop=lambda: True,
            )
        with pytest.raises(LinkError, match="key"):
            run_robot(
                robot=ROBOT,
                link=LINK,
                address=taken.address,
                role="connect",
                mismatch=PlantMismatch(),
                seed=0,
                stop=lambda: True,
                keys=tmp_path,
            )


def test_an_address_that_leaves_this_host_needs_keys() -> None:
    with pytest.raises(LinkError, match="keys are needed"):
        run_robot(
            robot=ROBOT,
            link=LINK,
            address="tcp://0.0.0.0:5601",
            role="bind",
            mismatch=PlantMismatch(),
            seed=0,
            stop=lambda: True,
        )


class TestGrid:
    """Every millisecond once, in order; a stall is made up for in part."""

    def test_nothing_is_due_before_its_time(self) -> None:
        grid = Grid(1000)
        assert list(grid.due(999)) == []
        assert list(grid.due(1000)) == [1000]
        assert list(grid.due(1000)) == []

    def test_a_wake_after_two_milliseconds_steps_twice(self) -> None:
        grid = Grid(0)
        grid.due(0)
        assert list(grid.due(2 * NS_PER_MS)) == [NS_PER_MS, 2 * NS_PER_MS]

    def test_a_stall_is_made_up_for_by_the_newest_20_steps(self) -> None:
        grid = Grid(0)
        grid.due(0)
        times = list(grid.due(NS_PER_S))
        assert len(times) == 20
        assert times[-1] == NS_PER_S
        assert times[1] - times[0] == STEP_NS
        assert grid.skipped == 980
        assert list(grid.due(NS_PER_S + STEP_NS)) == [NS_PER_S + STEP_NS]
