"""Goals through the real bytes and an emulated link, to the simulated plant."""

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.robot import load_robot
from app.control.mailbox import Layout
from app.link.channel import Direction
from app.link.emulator import Emulator
from app.link.frame import Beside, GripTold
from app.link.station_side import StationSide
from app.messages import RobotState, StationMode, StationState, state_shapes
from app.robot.core import RobotCore
from app.robot.plant import PlantMismatch
from app.teleop.goals import Goal, GoalKind, GoalReason, GoalState
from app.teleop.supervised import GoalKeeper
from models.tip import tip_position

ROBOT = load_robot("ursula")
LIMB = 1
START_NS = 100_000 * NS_PER_S


class Session:
    """Station, link and robot in one virtual time; the station's command is still."""

    def __init__(self, link: str) -> None:
        self.link = load_link(link)
        self.emulator = Emulator(self.link, 3, START_NS)
        self.core = RobotCore(ROBOT, self.link, PlantMismatch(), 1, session=77)
        self.model = self.core.model
        self.station = StationSide(self.model, 1, self.link)
        self.keeper = GoalKeeper()
        layout = Layout(StationState, state_shapes(self.model))
        self.state = layout.view(np.zeros(layout.words, dtype=np.int64))
        self.state.coordinates_commanded[:] = self.model.rest_coordinates
        self.state.selected_limb[0] = LIMB
        self.grip: GripTold | None = None
        self.now_ns = START_NS
        self.goal_packets = 0
        self.tips: list[np.ndarray] = []

    @property
    def tip(self) -> np.ndarray:
        return self.tip_of(self.core.body.coordinates)

    def tip_of(self, coordinates: np.ndarray) -> np.ndarray:
        tip, poses = np.zeros(3), np.zeros((3, 4, 4))
        tip_position(self.model, LIMB, coordinates[2:4], poses, tip)
        return tip

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * 1000)):
            self.now_ns += NS_PER_MS
            now_ns = self.now_ns
            self.state.time_ns[0] = now_ns
            beside = Beside(
                grip=self.grip,
                goal=self.keeper.to_send(coarse=False),
                coarse_goal=self.keeper.to_send(coarse=True),
            )
            for packet in self.station.send(now_ns, self.state, beside):
                self.goal_packets += packet[0] == 0x33 or 0xC0 <= packet[0] < 0xC4
                self.emulator.submit(now_ns, Direction.DOWN, packet)
            for packet in self.core.step(now_ns):
                self.emulator.submit(now_ns, Direction.UP, packet)
            for delivery in self.emulator.channel.advance(now_ns):
                if delivery.direction is Direction.DOWN:
                    self.core.receive(now_ns, delivery.payload)
                    continue
                frame = self.station.receive(now_ns, delivery.payload)
                if frame is not None and frame.status >= 0:
                    self.keeper.hear(now_ns, frame.status)
            if now_ns % (100 * NS_PER_MS) == 0:
                self.station.status(now_ns, self.emulator.status(now_ns))
                self.tips.append(self.tip_of(self.core.applied.coordinates))

    def arm(self) -> None:
        self.run(8 if self.link.down_bps < 100 else 2)
        self.state.mode[0], self.state.arm_epoch[0] = StationMode.ARMED, 3
        self.run(8 if self.link.down_bps < 100 else 2)
        assert self.core.state == RobotState.ACTIVE

    def until_ended(self, limit_s: float) -> None:
        for _ in range(round(2 * limit_s)):
            self.run(0.5)
            if not self.keeper.busy:
                return
        raise AssertionError(f"not ended: {self.keeper.newest}")


@pytest.mark.parametrize(("link", "packets"), [("acoustic-m64", 12), ("tether", 2)])
def test_reach_arrives_within_its_tolerance(link: str, packets: int) -> None:
    session = Session(link)
    session.arm()
    place = session.tip + np.array([-0.03, 0.04, 0.04])
    goal = Goal(0, GoalKind.REACH, LIMB, tuple(place), tolerance=5e-3)
    session.tips.clear()
    session.keeper.ask(session.now_ns, goal)
    session.until_ended(40.0)
    newest = session.keeper.newest
    assert newest is not None
    assert newest.status.state is GoalState.DONE
    assert 2 <= session.goal_packets + (link == "tether") <= packets
    assert np.linalg.norm(session.tip - place) < 6e-3
    steps = np.linalg.norm(np.diff(session.tips, axis=0), axis=1)
    assert np.max(steps) < 0.055 * 0.1  # m in 0.1 s
    # what the limb has reached it keeps, though setpoints for elsewhere go on
    session.run(3.0)
    assert np.linalg.norm(session.tip - place) < 6e-3


def test_after_a_stop_setpoints_drive_again_from_where_the_limb_is() -> None:
    session = Session("tether")
    session.arm()
    start = session.tip
    place = start + np.array([0.0, 0.0, 0.05])
    session.keeper.ask(session.now_ns, Goal(0, GoalKind.REACH, LIMB, tuple(place)))
    session.until_ended(40.0)
    session.run(1.0)
    session.keeper.ask(session.now_ns, Goal(0, GoalKind.STOP, LIMB))
    session.tips.clear()
    session.run(1.0)
    assert session.keeper.busy, "setpoints for the start are for where it has been"
    held = session.tips[0]
    assert np.linalg.norm(np.array(session.tips) - held, axis=1).max() < 1e-3
    session.state.coordinates_commanded[:] = session.core.body.coordinates
    session.tips.clear()
    session.until_ended(2.0)
    assert session.keeper.newest is not None
    assert session.keeper.newest.status.state is GoalState.DONE
    assert not session.keeper.hold(LIMB)
    assert np.linalg.norm(np.array(session.tips) - held, axis=1).max() < 6e-3
    session.state.coordinates_commanded[:] = session.model.rest_coordinates
    session.run(4.0)
    assert np.linalg.norm(session.tip - start) < 0.01


def test_grasp_closes_and_place_opens_the_gripper() -> None:
    session = Session("tether")
    session.grip = GripTold(LIMB, 0.25)
    session.arm()
    closure = session.core.bridge.followed.closure
    assert closure[LIMB] == pytest.approx(0.25, abs=0.02)
    place = tuple(session.tip + np.array([0.0, 0.0, 0.02]))
    for kind, wanted in ((GoalKind.GRASP, 1.0), (GoalKind.PLACE, 0.0)):
        session.keeper.ask(session.now_ns, Goal(0, kind, LIMB, place, time=0.3))
        session.until_ended(20.0)
        newest = session.keeper.newest
        assert newest is not None
        assert newest.status.state is GoalState.DONE
        assert closure[LIMB] == wanted
        assert np.isnan(np.delete(closure, LIMB)).all()


def test_a_grip_crosses_the_slowest_link() -> None:
    session = Session("acoustic-m64")
    session.arm()
    session.grip = GripTold(LIMB, 1.0)
    session.run(6.0)
    assert session.core.bridge.followed.closure[LIMB] == 1.0


def test_a_goal_goes_on_through_silence_until_the_arming_ends() -> None:
    session = Session("tether")
    session.arm()
    place = session.tip + np.array([-0.1, 0.15, -0.15])
    goal = Goal(0, GoalKind.REACH, LIMB, tuple(place))
    session.keeper.ask(session.now_ns, goal)
    session.run(1.0)
    session.emulator.channel.cut(session.now_ns, cut=True)
    before = session.tip
    session.run(3.0)
    assert session.core.state == RobotState.ACTIVE
    assert np.linalg.norm(session.tip - before) > 0.03
    session.run(2.5)  # compliant_after_ms is 5 s
    assert session.core.state == RobotState.COMPLIANT
    goals = session.core.bridge.followed.goals
    assert not goals.running
    assert goals.status.reason is GoalReason.LINK_LOST


def test_disarming_ends_a_goal_at_once() -> None:
    session = Session("tether")
    session.arm()
    place = session.tip + np.array([-0.03, 0.04, 0.1])
    session.keeper.ask(session.now_ns, Goal(0, GoalKind.REACH, LIMB, tuple(place)))
    session.run(1.0)
    session.state.mode[0] = StationMode.DISARMED
    session.run(0.3)
    assert session.core.state == RobotState.HOLD
    assert session.keeper.newest is not None
    assert session.keeper.newest.status.reason is GoalReason.DISARMED
    before = session.core.bridge.step(session.now_ns, session.model.rest_coordinates)
    held = before.coordinates.copy()
    session.run(0.5)
    now = session.core.bridge.step(session.now_ns, session.model.rest_coordinates)
    assert np.array_equal(now.coordinates, held)
