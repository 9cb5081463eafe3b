"""What strategies say to the robot and hear of it, through real frames."""

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.robot import build_robot_model, load_robot
from app.link.frame import SignalField, SignalTold, TelemetryFrame
from app.link.station_side import StationSide
from app.messages import (
    LinkHealth,
    RobotState,
    StationMode,
    StationState,
    health_shapes,
    state_shapes,
)
from app.robot.core import RobotCore
from app.robot.plant import PlantMismatch
from app.station.exchange import Exchange
from app.teleop.contact_codec import write_contact
from app.teleop.goals import Goal, GoalKind
from app.teleop.strategy import Strategy
from models.environment_report import SurfaceStatus, allocate_report

ROBOT = load_robot("ursula")
MODEL = build_robot_model(ROBOT)
LINK = load_link("tether")
LIMBS = MODEL.tip_speed_limit.size
START_NS = 20 * NS_PER_S
FORCE = (0.5, 0.0, -1.0)


def block(kind, shapes):
    return kind(
        **{name: np.zeros(size, dtype) for name, (dtype, size) in shapes.items()}
    )


def fresh_core(session: int) -> RobotCore:
    return RobotCore(ROBOT, LINK, PlantMismatch(noise=0.0), 0, session=session)


RATES = {"loss_down", "loss_up", "down_bps", "up_bps", "send_hz"}
"""Told ten times a second, and at once in a fresh block."""


class Rig:
    """A station's exchange with a robot, without a channel in between."""

    def __init__(self) -> None:
        self.exchange = Exchange(StationSide(MODEL, 1, LINK), LIMBS)
        self.core = fresh_core(session=9)
        self.state = block(StationState, state_shapes(MODEL))
        self.health = block(LinkHealth, health_shapes(MODEL))
        self.now_ns = START_NS
        self.state.coordinates_commanded[:] = MODEL.rest_coordinates
        self.sent: list[bytes] = []

    def run(self, milliseconds: int) -> None:
        for _ in range(milliseconds):
            self.now_ns += NS_PER_MS
            self.state.time_ns[0] = self.now_ns
            for packet in self.exchange.send(self.now_ns, self.state):
                self.sent.append(packet)
                self.core.receive(self.now_ns, packet)
            for packet in self.core.step(self.now_ns):
                self.exchange.receive(self.now_ns, packet)
        self.exchange.fill(self.now_ns, self.health)

    def arm(self) -> None:
        self.run(500)
        self.state.mode[0] = StationMode.ARMED
        self.state.arm_epoch[0] = 1
        self.run(500)
        assert self.core.state == RobotState.ACTIVE

    def frame(self) -> TelemetryFrame:
        """The newest telemetry, as the station reads it."""
        frames = []
        receive = self.exchange.side.receive
        self.exchange.side.receive = lambda now, packet: frames.append(
            receive(now, packet)
        )
        self.run(200)
        self.exchange.side.receive = receive
        return next(frame for frame in reversed(frames) if frame is not None)

    def hear(self, **changes) -> None:
        """Let the station hear telemetry with something beside it."""
        told = self.frame()._replace(**changes)
        self.exchange.side.receive = lambda _now, _packet: told
        self.exchange.receive(self.now_ns, b"")
        del self.exchange.side.receive
        self.exchange.fill(self.now_ns, self.health)


@pytest.fixture
def rig() -> Rig:
    rig = Rig()
    rig.arm()
    return rig


def told(strategy: Strategy, **changes) -> SignalTold:
    fields = SignalField.POSITION | SignalField.FORCE
    return SignalTold(
        limb=1, strategy=int(strategy), engagement=3, fields=fields, force=FORCE,
        **changes,
    )  # fmt: skip


def test_free_water_sends_no_signal_and_contact_does(rig: Rig) -> None:
    rig.state.strategy[0] = Strategy.MODEL_MEDIATED
    rig.state.selected_limb[0] = 1
    rig.state.sent_time_ns[0] = 1
    rig.run(400)
    rig.sent.clear()
    rig.run(400)
    free = sorted(map(len, rig.sent))
    rig.state.sent_force[:] = FORCE
    rig.sent.clear()
    rig.run(400)
    pressing = sorted(map(len, rig.sent))
    assert pressing[-1] == free[-1] + 11


def test_a_bilateral_strategy_talks_tick_by_tick(rig: Rig) -> None:
    rig.state.strategy[0] = Strategy.POSITION_POSITION
    rig.state.selected_limb[0] = 1
    rig.state.sent_time_ns[0] = 1
    rig.state.sent_engagement[0] = 4
    rig.state.sent_position[:] = 0.5, 0.1, 0.0
    rig.sent.clear()
    rig.run(200)
    assert len(rig.sent) >= 90
    assert rig.health.heard_limb[0] == 1
    assert rig.health.heard_strategy[0] == Strategy.POSITION_POSITION
    assert rig.health.heard_engagement[0] == 4
    assert rig.now_ns - rig.health.heard_time_ns[0] < 20 * NS_PER_MS


def test_the_command_that_telemetry_answers_is_known(rig: Rig) -> None:
    assert (rig.health.confirmed_command_ns > 0).all()
    late = rig.now_ns - rig.health.confirmed_command_ns
    assert (late < 100 * NS_PER_MS).all()
    assert (rig.health.confirmed_command_ns <= rig.health.confirmed_generated_ns).all()


def test_felt_forces_are_told_and_the_others_cleared(rig: Rig) -> None:
    rig.hear(signal=told(Strategy.MODEL_MEDIATED))
    np.testing.assert_allclose(rig.health.contact_force[1], FORCE)
    other = told(Strategy.MODEL_MEDIATED)._replace(limb=0)
    rig.hear(signal=other)
    np.testing.assert_allclose(rig.health.contact_force[0], FORCE)
    assert not rig.health.contact_force[1].any()
    assert rig.health.heard_limb[0] == -1


def test_a_surface_is_heard_once_and_in_station_time(rig: Rig) -> None:
    report = allocate_report()
    report.status[0] = SurfaceStatus.AS_KNOWN
    report.estimated_ns[0] = rig.now_ns - 30 * NS_PER_MS
    report.stiffness[0] = 150.0
    report.point[:] = 0.6, 0.1, 0.0
    for _ in range(2):
        rig.hear(contact=write_contact(1, report))
    assert rig.health.report_number.tolist() == [0, 1, 0, 0]
    assert rig.health.report_stiffness[1] == pytest.approx(150.0, rel=0.02)
    age_ns = rig.now_ns - int(rig.health.report_estimated_ns[1])
    assert 0 < age_ns < NS_PER_S


@pytest.mark.parametrize("contact", [b"\x00", b"\xff" * 19, b"\x02" * 64])
def test_a_broken_surface_is_refused_and_nothing_ends(rig: Rig, contact: bytes) -> None:
    before = rig.exchange.side.malformed
    rig.hear(contact=contact)
    assert rig.exchange.side.malformed == before + 1
    assert not rig.health.report_number.any()


def test_a_signal_of_an_unknown_strategy_or_limb_is_left_alone(rig: Rig) -> None:
    rig.hear(signal=told(Strategy.WAVES)._replace(strategy=15))
    rig.hear(signal=told(Strategy.WAVES)._replace(limb=7))
    assert rig.health.heard_limb[0] == -1


def test_a_grip_goes_once_it_was_closed(rig: Rig) -> None:
    rig.state.selected_limb[0] = 0
    rig.run(100)
    assert not np.isfinite(rig.core.bridge.followed.closure[0])
    rig.state.grip[0] = 1.0
    rig.run(100)
    assert rig.core.bridge.followed.closure[0] == pytest.approx(1.0)
    rig.state.grip[0] = 0.0
    rig.run(100)
    assert rig.core.bridge.followed.closure[0] == pytest.approx(0.0)


def test_what_grippers_hold_is_known_once_it_is_told(rig: Rig) -> None:
    rig.hear()
    assert rig.health.holding.tolist() == [0, 0, 0, 0]
    rig.hear(held=0b0100)
    assert rig.health.holding.tolist() == [-1, -1, 1, -1]
    rig.hear(held=-1)  # not told in this frame: still known
    assert rig.health.holding.tolist() == [-1, -1, 1, -1]
    rig.hear(held=0, generated_ns=rig.now_ns - 800 * NS_PER_MS)  # overtaken
    assert rig.health.holding[2] == 1
    rig.hear(held=0)
    assert rig.health.holding[2] == -1


def drive(rig: Rig) -> None:
    """Much of what a station may have to tell, in 3 s."""
    rig.arm()
    rig.core = fresh_core(session=10)  # the robot begins anew
    rig.run(300)
    rig.state.sent_time_ns[0], rig.state.sent_force[0] = 1, 0.5
    for strategy in (Strategy.MODEL_MEDIATED, Strategy.WAVES, Strategy.SUPERVISED):
        rig.state.strategy[0] = strategy
        rig.state.sent_engagement[0] += 1
        rig.state.coordinates_commanded[2, 0] += 0.01
        rig.run(300)
    rig.exchange.goals.ask(rig.now_ns, Goal(0, GoalKind.REACH, 1, (0.5, 0.1, 0.1)))
    rig.run(400)
    rig.state.arm_epoch[0] = 2
    rig.run(300)
    rig.state.mode[0] = StationMode.ESTOP
    rig.run(300)


def test_the_station_sends_the_same_where_it_asks_anew_each_time() -> None:
    rig, asking = Rig(), Rig()
    send = asking.exchange.send

    def send_anew(now_ns: int, state: StationState) -> list[bytes]:
        asking.exchange.side.idle_until_ns = 0
        return send(now_ns, state)

    asking.exchange.send = send_anew
    drive(rig)
    drive(asking)
    assert len(rig.sent) > 200
    assert rig.sent == asking.sent


def test_what_comes_from_the_link_may_end_a_silence(rig: Rig) -> None:
    side = rig.exchange.side
    for _ in range(50):
        rig.run(1)
        if rig.now_ns < side.idle_until_ns:
            break
    assert rig.now_ns < side.idle_until_ns < rig.now_ns + 20 * NS_PER_MS
    rig.exchange.receive(rig.now_ns, b"")
    assert side.idle_until_ns == 0


def test_a_block_filled_all_along_is_as_one_filled_at_once(rig: Rig) -> None:
    def same() -> None:
        fresh = block(LinkHealth, health_shapes(MODEL))
        rig.exchange.fill(rig.now_ns, rig.health)
        rig.exchange.fill(rig.now_ns, fresh)
        for name, kept, new in zip(fresh._fields, rig.health, fresh, strict=True):
            if name in RATES:
                continue
            np.testing.assert_array_equal(kept, new, name)

    goals = rig.exchange.goals
    goals.ask(rig.now_ns, Goal(0, GoalKind.REACH, 1, (0.5, 0.1, 0.1)))
    for _ in range(20):
        rig.run(7)
        same()
    rig.hear(signal=told(Strategy.MODEL_MEDIATED), held=0b10)
    same()
    rig.state.arm_epoch[0] = 2
    rig.exchange.send(rig.now_ns, rig.state)
    assert not goals.hold(1)
    same()
