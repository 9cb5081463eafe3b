"""Nothing stale, repeated, forged, malformed or wild moves the robot.

Every test speaks the real bytes: frames are written by the station's codec.
"""

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.errors import FrameError
from app.link.frame import (
    WHOLE_ROBOT,
    Codec,
    Grade,
    GripTold,
    HelloFrame,
    Profile,
    SetpointFrame,
    SignalField,
    SignalTold,
    TelemetryFrame,
)
from app.link.pacing import PaceBudget
from app.messages import RobotState, Severity, StationMode
from app.robot.body import Applied
from app.robot.bridge import Bridge
from app.robot.custody import Custody
from app.robot.freshness import FUTURE_TOLERANCE_NS, Rejection
from app.robot.safety import Actuation
from app.teleop.goal_bytes import coarse_goal, fine_goal, read_status
from app.teleop.goals import Goal, GoalKind, GoalReason, GoalState
from models.numerics import FloatArray
from models.tip import tip_position

ROBOT = load_robot("ursula")
MODEL = build_robot_model(ROBOT)
SEGMENTS = MODEL.segment_length.size
ROBOT_ID = 3
RESOLUTION = 2e-4  # rad: half a step of the fine grade is 1.6e-4 at most
POSE = MODEL.rest_coordinates * 0.5


@dataclass
class Rig:
    """A bridge at a measured pose, the station's codec, and one clock for both."""

    mtu_bytes: int = 256
    now_ns: int = 100 * NS_PER_S
    sequence: int = 0
    session: int = 0
    custody: Custody | None = None
    measured: FloatArray = field(default_factory=POSE.copy)
    station: Codec = field(init=False)
    bridge: Bridge = field(init=False)

    def __post_init__(self) -> None:
        self.station = Codec(MODEL, ROBOT_ID, self.mtu_bytes, self.session)
        self.station.grade = Grade.FINE
        self.bridge = Bridge(
            MODEL,
            ROBOT,
            Codec(MODEL, ROBOT_ID, 256),
            PaceBudget(bandwidth_bps=1e6),
            session=self.session,
            custody=self.custody,
        )
        self.step()
        assert not self.send(mode=StationMode.DISARMED, epoch=0)

    def frame(self, limb: int = 0, **changes: object) -> SetpointFrame:
        self.sequence += 1
        own = slice(None) if limb == WHOLE_ROBOT else rows(limb)
        frame = SetpointFrame(
            sequence=self.sequence,
            generated_ns=self.now_ns,
            robot=ROBOT_ID,
            limb=limb,
            epoch=7,
            mode=StationMode.ARMED,
            period_ms=20.0,
            coordinates=MODEL.rest_coordinates[own],
        )
        return frame._replace(**changes)  # type: ignore[arg-type]

    def send(self, limb: int = 0, **changes: object) -> bool:
        self.now_ns += NS_PER_MS
        return self.deliver(self.station.encode(self.frame(limb, **changes)))

    def deliver(self, packet: bytes, peer: int = 0) -> bool:
        return self.bridge.receive(self.now_ns, packet, peer)

    def step(self, milliseconds: int = 1) -> Applied:
        for _ in range(milliseconds):
            self.now_ns += NS_PER_MS
            applied = self.bridge.step(self.now_ns, self.measured)
        return applied

    def pose(self) -> FloatArray:
        """The pose applied now, without letting time pass."""
        return self.bridge.step(self.now_ns, self.measured).coordinates.copy()

    def still(self, milliseconds: int = 50) -> bool:
        before = self.pose()
        return bool(np.array_equal(before, self.step(milliseconds).coordinates))


def rows(limb: int) -> slice:
    return slice(*(int(i) for i in MODEL.limb_segment_start[limb : limb + 2]))


def test_idle_and_compliant_follows_the_measured_pose() -> None:
    rig = Rig()
    applied = rig.step()
    assert applied.actuation == Actuation.COMPLIANT
    assert np.array_equal(applied.coordinates, POSE)


def test_a_setpoint_is_reached_within_its_period() -> None:
    rig = Rig()
    goal = POSE[rows(0)] + [0.01, -0.005, -0.0001]
    assert rig.send(0, coordinates=goal)
    halfway = rig.step(10).coordinates.copy()
    assert np.allclose(
        halfway[rows(0)], POSE[rows(0)] + [0.005, -0.0025, -0.00005], atol=RESOLUTION
    )
    assert np.allclose(rig.step(10).coordinates[rows(0)], goal, atol=RESOLUTION)
    assert np.array_equal(rig.pose()[rows(1)], POSE[rows(1)]), "other limbs stay"


def test_engages_where_the_limb_is_and_moves_no_faster_than_the_rates() -> None:
    rig = Rig()
    rig.send(0, coordinates=-MODEL.rest_coordinates[rows(0)] * 3.0, period_ms=1.0)
    before = rig.pose()
    assert np.allclose(before, POSE, atol=np.max(MODEL.bend_rate_limit) * 1e-3)
    for _ in range(300):
        applied = rig.step()
        assert applied.actuation == Actuation.STIFF
        step = applied.coordinates - before
        assert np.all(
            np.hypot(step[:, 0], step[:, 1]) <= MODEL.bend_rate_limit * 1e-3 + 1e-12
        )
        assert np.all(np.abs(step[:, 2]) <= MODEL.extension_rate_limit * 1e-3 + 1e-12)
        before = applied.coordinates.copy()
        rig.send(0, coordinates=-MODEL.rest_coordinates[rows(0)] * 3.0, period_ms=1.0)
        rig.now_ns -= NS_PER_MS


def test_a_stalled_process_does_not_jump() -> None:
    rig = Rig()
    rig.send(0, coordinates=-MODEL.rest_coordinates[rows(0)] * 3.0, period_ms=1.0)
    before = rig.step().coordinates.copy()
    rig.now_ns += 400 * NS_PER_MS
    step = rig.bridge.step(rig.now_ns, rig.measured).coordinates - before
    assert np.max(np.abs(step)) <= np.max(MODEL.bend_rate_limit) * 5e-3 + 1e-12


def test_setpoints_beyond_the_envelope_are_clamped() -> None:
    rig = Rig()
    for _ in range(100):
        rig.send(2, coordinates=np.array([[9.0, -9.0, 5.0]]))
        rig.step(20)
    row = rig.pose()[rows(2)][0]
    assert np.hypot(row[0], row[1]) == pytest.approx(MODEL.bend_limit[4], abs=1e-9)
    assert row[2] == MODEL.extension_range[4, 1]


def test_a_measured_pose_outside_the_envelope_engages_inside_it() -> None:
    rig = Rig(measured=np.tile([2.0, 0.0, 0.5], (SEGMENTS, 1)))
    rig.step()
    rig.send(0)
    assert np.all(rig.pose()[:, 0] <= MODEL.bend_limit + 1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_move_nothing(
    value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig()
    rig.send(0)
    rig.step(300)
    packet = rig.station.encode(rig.frame(0))
    wild = rig.frame(0)._replace(coordinates=np.full((2, 3), value))
    monkeypatch.setattr(Codec, "decode", lambda *_: wild)
    assert not rig.deliver(packet)
    monkeypatch.undo()
    assert rig.bridge.rejected[Rejection.NOT_FINITE] == 1
    assert rig.still()


def test_a_stale_setpoint_moves_nothing() -> None:
    rig = Rig()
    assert not rig.send(0, generated_ns=rig.now_ns - 4_100 * NS_PER_MS)
    assert rig.bridge.rejected[Rejection.STALE] == 1
    assert rig.bridge.state == RobotState.IDLE
    rig.step(5_000)
    assert rig.send(0, generated_ns=rig.now_ns - 3_900 * NS_PER_MS), "young enough"


def test_a_stamp_from_the_future_moves_nothing_and_poisons_nothing() -> None:
    rig = Rig()
    ahead_ns = 3600 * NS_PER_S
    for mode in (StationMode.ARMED, StationMode.DISARMED):
        assert not rig.send(0, mode=mode, generated_ns=rig.now_ns + ahead_ns)
    # A setpoint tells its time modulo 8 s: an hour ahead is another time's CRC.
    assert rig.bridge.rejected[Rejection.FUTURE] == 1
    assert rig.bridge.rejected[Rejection.MALFORMED] == 1
    assert not rig.send(0, generated_ns=rig.now_ns + NS_PER_S)
    assert rig.bridge.rejected[Rejection.FUTURE] == 2
    assert rig.bridge.state == RobotState.IDLE
    assert rig.send(0)
    assert rig.send(0, generated_ns=rig.now_ns + FUTURE_TOLERANCE_NS // 2)


def test_a_replayed_setpoint_moves_nothing() -> None:
    rig = Rig()
    first = rig.station.encode(rig.frame(0))
    assert rig.deliver(first)
    for _ in range(5):
        rig.step(20)
        rig.send(0, coordinates=POSE[rows(0)] * 0.5)
    rig.step(100)
    count = rig.bridge.received
    for _ in range(3):
        assert not rig.deliver(first)
    assert rig.bridge.rejected[Rejection.REPLAYED] == 3
    assert rig.bridge.received == count, "a repeat is not counted as received"
    assert rig.still()


def test_a_setpoint_overtaken_by_a_newer_one_moves_nothing() -> None:
    rig = Rig()
    rig.now_ns += NS_PER_MS
    old = rig.station.encode(rig.frame(0))
    assert rig.send(0, coordinates=POSE[rows(0)])
    assert not rig.deliver(old)
    assert rig.send(1), "limbs do not wait for one another"


def test_another_limb_may_be_older() -> None:
    rig = Rig()
    rig.send(0)
    rig.now_ns += NS_PER_MS
    late = rig.station.encode(rig.frame(1))
    rig.send(0)
    assert rig.deliver(late)


def test_a_damaged_setpoint_moves_nothing() -> None:
    rig = Rig()
    rig.send(0)
    rig.step(300)
    good = rig.station.encode(rig.frame(0, coordinates=POSE[rows(0)] * 0.0))
    for bit in range(8 * len(good)):
        damaged = bytearray(good)
        damaged[bit // 8] ^= 1 << (bit % 8)
        assert not rig.deliver(bytes(damaged))
    assert rig.bridge.rejected[Rejection.MALFORMED] == 8 * len(good)
    assert rig.still()
    assert rig.deliver(good)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.binary(max_size=300), max_size=30))
def test_random_bytes_neither_move_nor_break_anything(packets: list[bytes]) -> None:
    rig = Rig()
    for packet in packets:
        assert not rig.deliver(packet)
    assert rig.bridge.step(rig.now_ns, rig.measured).actuation == Actuation.COMPLIANT
    assert rig.send(0)


def test_frames_of_another_robot_and_our_own_telemetry_move_nothing() -> None:
    rig = Rig()
    other = Codec(MODEL, ROBOT_ID + 1, 256)
    assert not rig.deliver(other.encode(rig.frame(0)._replace(robot=ROBOT_ID + 1)))
    (echo,) = rig.bridge.telemetry(rig.now_ns, POSE, np.zeros(MODEL.tendon_angle.size))
    assert not rig.deliver(echo)
    assert rig.bridge.rejected[Rejection.MALFORMED] == 2


def test_silence_holds_the_applied_pose_then_lets_go() -> None:
    rig = Rig()
    for _ in range(3):
        rig.send(0)
        rig.step(20)
    rig.measured = POSE * 0.9  # the limb sags: the held pose does not follow it
    rig.step(500)
    assert rig.bridge.state == RobotState.HOLD
    assert rig.still(4000)
    rig.step(600)
    assert rig.bridge.state == RobotState.COMPLIANT
    assert np.array_equal(rig.pose(), rig.measured)
    assert not rig.send(0)
    assert rig.bridge.rejected[Rejection.REFUSED] == 1


def test_after_a_hold_only_limbs_with_a_new_setpoint_move() -> None:
    rig = Rig()
    rig.send(1, coordinates=-MODEL.rest_coordinates[rows(1)], period_ms=300.0)
    rig.step(100)  # limb 1 is on its way
    rig.now_ns += 1000 * NS_PER_MS
    held = rig.step().coordinates.copy()
    assert rig.bridge.state == RobotState.HOLD
    assert rig.send(0)
    after = rig.step(100).coordinates
    assert not np.allclose(after[rows(0)], held[rows(0)])
    assert np.array_equal(after[rows(1)], held[rows(1)])


def test_arming_anew_from_a_hold_does_not_jump() -> None:
    rig = Rig()
    rig.send(0)
    rig.step(40)
    rig.send(0, mode=StationMode.DISARMED)
    rig.measured = POSE * 0.8
    held = rig.step(20).coordinates.copy()
    assert rig.send(1, epoch=8, coordinates=held[rows(1)])
    assert np.array_equal(rig.pose(), held)


def test_disarm_stops_motion_at_once() -> None:
    rig = Rig()
    rig.send(0, coordinates=-MODEL.rest_coordinates[rows(0)], period_ms=400.0)
    rig.step(50)
    rig.send(0, mode=StationMode.DISARMED)
    assert rig.bridge.state == RobotState.HOLD
    assert rig.still()


def test_estop_stops_motion_at_once_even_when_late() -> None:
    rig = Rig()
    rig.send(0)
    begun_ns = rig.now_ns
    for _ in range(120):
        rig.step(50)
        rig.send(0, coordinates=-MODEL.rest_coordinates[rows(0)], period_ms=400.0)
    rig.send(0, mode=StationMode.ESTOP, generated_ns=begun_ns + NS_PER_MS)
    assert rig.bridge.state == RobotState.ESTOP
    assert rig.still()
    assert not rig.send(0, epoch=8)
    assert rig.still()
    assert any(event.severity == Severity.ALARM for event in rig.bridge.events())


def test_no_arming_without_a_measured_pose() -> None:
    rig = Rig()
    rig.measured[2, 1] = np.nan
    rig.step()
    assert not rig.send(0)
    assert rig.bridge.state == RobotState.IDLE
    assert np.all(np.isfinite(rig.pose()))
    assert any("not finite" in event.text for event in rig.bridge.events())
    rig.measured[2, 1] = 0.0
    rig.step()
    assert rig.send(0)
    rig.measured[2, 1] = np.nan
    assert np.all(np.isfinite(rig.step(100).coordinates)), "goes on, open loop"


def test_a_setpoint_may_carry_the_wildest_period() -> None:
    rig = Rig()
    for period_ms in (0.0, 1e12, 16383.0):
        assert rig.send(0, coordinates=POSE[rows(0)], period_ms=period_ms)
        rig.step(20)
        assert np.all(np.isfinite(rig.pose()))
    rig.send(0, coordinates=POSE[rows(0)], period_ms=1.0)
    assert np.allclose(rig.step(5).coordinates[rows(0)], POSE[rows(0)], atol=1e-3)


def test_drops_are_reported_once_a_second_not_once_a_frame() -> None:
    rig = Rig()
    rig.bridge.events()
    for _ in range(3000):
        rig.deliver(b"\x10 not a frame")
        rig.step()
    events = [event for event in rig.bridge.events() if "dropped" in event.text]
    assert 3 <= len(events) <= 4


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*[StationMode.ARMED] * 5, *StationMode]),
            st.integers(0, 3),
            st.integers(0, 3),
            st.floats(-10.0, 10.0),
            st.sampled_from([0, 1, 30, 700, 3000, 5000, -100, -9000]),
            st.sampled_from([1, 5, 40, 600, 5100]),
        ),
        max_size=25,
    )
)
def test_whatever_comes_the_applied_pose_is_inside_and_slow(
    script: list[tuple[StationMode, int, int, float, int, int]],
) -> None:
    rig = Rig()
    before, actuation = rig.pose(), Actuation.COMPLIANT
    for mode, limb, epoch, value, late_ms, wait_ms in script:
        count = rows(limb).stop - rows(limb).start
        rig.send(
            limb,
            mode=mode,
            epoch=epoch,
            coordinates=np.full((count, 3), value),
            generated_ns=rig.now_ns - late_ms * NS_PER_MS,
        )
        for _ in range(min(wait_ms, 50)):
            applied = rig.step()
            pose = applied.coordinates.copy()
            assert np.all(np.hypot(pose[:, 0], pose[:, 1]) <= MODEL.bend_limit + 1e-9)
            assert np.all(pose[:, 2] >= MODEL.extension_range[:, 0] - 1e-12)
            assert np.all(pose[:, 2] <= MODEL.extension_range[:, 1] + 1e-12)
            if applied.actuation == Actuation.STIFF == actuation:
                bend = np.hypot(*(pose - before)[:, :2].T)
                assert np.all(bend <= MODEL.bend_rate_limit * 2.1e-3)
                if rig.bridge.state != RobotState.ACTIVE:
                    assert np.array_equal(pose, before)
            before, actuation = pose, applied.actuation
        rig.now_ns += max(0, wait_ms - 50) * NS_PER_MS
        before = rig.step().coordinates.copy()
        actuation = rig.bridge.safety.actuation


class TestCompact:
    """Links of 8 bytes a packet: a limb a frame, its arming announced before."""

    def rig(self) -> Rig:
        rig = Rig(mtu_bytes=8, session=77)
        assert rig.station.profile is Profile.COMPACT
        return rig

    def announce(self, rig: Rig, epoch: int = 7) -> None:
        assert not rig.send(0, coordinates=np.empty((0, 3)), epoch=epoch)

    def test_nothing_moves_before_an_announcement_and_a_whole_limb_after(self) -> None:
        rig = self.rig()
        assert not rig.send(0)
        assert rig.bridge.rejected[Rejection.MALFORMED] == 1
        self.announce(rig)
        assert rig.bridge.state == RobotState.ACTIVE
        assert rig.still()
        assert rig.send(0)
        pose = rig.step(1200).coordinates
        rest = MODEL.rest_coordinates
        assert np.allclose(pose[rows(0)], rest[rows(0)], atol=0.02)
        assert np.array_equal(pose[2:], POSE[2:])

    def test_a_setpoint_of_an_earlier_arming_does_not_come_in_with_a_new_one(
        self,
    ) -> None:
        rig = self.rig()
        self.announce(rig)
        rig.send(0)
        late = rig.station.encode(rig.frame(0, coordinates=-POSE[rows(0)]))
        rig.send(0, mode=StationMode.DISARMED)
        self.announce(rig, epoch=8)
        assert not rig.deliver(late)
        assert rig.still()

    def test_a_frame_sent_again_a_span_later_is_another_times(self) -> None:
        rig = self.rig()
        self.announce(rig)
        rig.send(0)
        passed = 0
        for _ in range(20):
            packet = rig.station.encode(rig.frame(0))
            rig.now_ns += 8192 * NS_PER_MS
            passed += rig.deliver(packet)
        assert passed <= 1  # 1 in 256 of them

    def test_parts_of_a_long_limb_have_orders_of_their_own(self) -> None:
        model = build_robot_model(load_robot("silver2"))
        station, robot = Codec(model, 1, 8), Codec(model, 1, 8)
        bridge = Bridge(model, load_robot("silver2"), robot)
        now_ns = 100 * NS_PER_S
        bridge.step(now_ns, model.rest_coordinates)

        def frame(**changes: object) -> bytes:
            values = {
                "sequence": 1,
                "generated_ns": now_ns,
                "robot": 1,
                "limb": 0,
                "epoch": 3,
                "mode": StationMode.ARMED,
                "period_ms": 1000.0,
                "coordinates": model.rest_coordinates,
            }
            return station.encode(SetpointFrame(**(values | changes)))

        bridge.receive(now_ns, frame(mode=StationMode.DISARMED, epoch=0))
        bridge.receive(now_ns, frame(coordinates=np.empty((0, 3)), sequence=2))
        assert station.parts(0) == 3
        packets = [frame(sequence=3 + k) for k in range(3)]
        assert all(bridge.receive(now_ns, packet) for packet in reversed(packets))
        assert not any(bridge.receive(now_ns, packet) for packet in packets)

    def test_telemetry_answers_in_the_profile_of_the_station(self) -> None:
        rig = self.rig()
        tension = np.zeros(MODEL.tendon_angle.size)
        packets = [
            packet
            for _ in range(2000)
            for packet in rig.bridge.telemetry(rig.step() and rig.now_ns, POSE, tension)
        ]
        assert packets
        assert all(len(packet) <= 8 for packet in packets)


class TestTelemetry:
    """What the robot tells."""

    tension = np.linspace(0.0, 5.0, MODEL.tendon_angle.size)

    def collect(self, rig: Rig, milliseconds: int) -> list[TelemetryFrame]:
        frames = []
        for _ in range(milliseconds):
            rig.step()
            for packet in rig.bridge.telemetry(rig.now_ns, rig.measured, self.tension):
                frame = rig.station.decode(packet, rig.now_ns)
                assert isinstance(frame, TelemetryFrame)
                frames.append(frame)
        return frames

    def test_tells_every_limb_its_pose_and_tension(self) -> None:
        rig = Rig()
        frames = self.collect(rig, 200)
        assert {frame.limb for frame in frames} == {WHOLE_ROBOT}
        for frame in frames:
            assert frame.state == RobotState.IDLE
            assert frame.coordinates == pytest.approx(POSE, abs=1e-3)
            assert frame.tension == pytest.approx(self.tension, abs=0.03)

    def test_tells_faults_and_contact(self) -> None:
        rig = Rig()
        rig.step(100)
        (packet,) = rig.bridge.telemetry(
            rig.now_ns, POSE, self.tension, faults=0x8001, contact=b"rock"
        )
        frame = rig.station.decode(packet, rig.now_ns)
        assert isinstance(frame, TelemetryFrame)
        assert (frame.faults, frame.contact) == (0x8001, b"rock")

    def test_echoes_the_newest_setpoint(self) -> None:
        rig = Rig()
        self.collect(rig, 100)
        rig.send(0)
        sent = rig.sequence
        frames = self.collect(rig, 50)
        assert frames[-1].echo_sequence == sent
        assert 0.0 < frames[-1].echo_hold_ms <= 50.0
        assert frames[-1].received == 2
        assert frames[-1].epoch == 7

    def test_a_change_of_state_goes_at_once(self) -> None:
        rig = Rig()
        slow = PaceBudget(20.0)  # a frame in minutes
        rig.bridge._reporter._pacer.configure(slow)
        self.collect(rig, 1000)
        assert self.collect(rig, 1000) == []
        rig.send(0, mode=StationMode.ESTOP)
        (frame,) = self.collect(rig, 1)
        assert frame.state == RobotState.ESTOP

    def test_keeps_within_the_rate_that_the_station_allows(self) -> None:
        rig = Rig()
        rig.send(0, mode=StationMode.DISARMED, uplink_bps=1024.0)
        self.collect(rig, 1000)
        count = 0
        for _ in range(10_000):
            rig.step()
            count += sum(
                8 * len(packet)
                for packet in rig.bridge.telemetry(
                    rig.now_ns, rig.measured, self.tension
                )
            )
        assert 500 * 10 < count <= 1024 * 10

    def test_a_failed_sensor_is_told_as_last_measured(self) -> None:
        rig = Rig()
        self.collect(rig, 100)
        rig.measured = np.full((SEGMENTS, 3), np.nan)
        frames = self.collect(rig, 100)
        assert frames
        for frame in frames:
            assert frame.coordinates == pytest.approx(POSE, abs=1e-3)


class TestWholeRobot:
    """Frames of several limbs."""

    def test_all_limbs_move_on_one_frame(self) -> None:
        rig = Rig()
        goal = MODEL.rest_coordinates * 0.6
        assert rig.deliver(
            rig.station.encode(rig.frame(limb=WHOLE_ROBOT, coordinates=goal))
        )
        assert np.allclose(rig.step(600).coordinates, goal, atol=2e-3)

    def test_limbs_left_out_stay(self) -> None:
        rig = Rig()
        goal = np.full_like(POSE, np.nan)
        goal[rows(0)] = 0.0
        goal[rows(3)] = 0.0
        rig.deliver(rig.station.encode(rig.frame(limb=WHOLE_ROBOT, coordinates=goal)))
        pose = rig.step(1500).coordinates
        assert np.allclose(pose[rows(0)], 0.0, atol=2e-3)
        assert np.array_equal(pose[rows(1)], POSE[rows(1)])
        assert np.array_equal(pose[rows(2)], POSE[rows(2)])

    def test_what_is_older_than_one_limb_still_moves_the_others(self) -> None:
        rig = Rig()
        rig.now_ns += NS_PER_MS
        early = rig.frame(limb=WHOLE_ROBOT, coordinates=POSE * 0.5)
        rig.send(0, coordinates=POSE[rows(0)] * 1.1)
        assert rig.deliver(rig.station.encode(early))
        pose = rig.step(1000).coordinates
        assert np.allclose(pose[rows(0)], POSE[rows(0)] * 1.1, atol=2e-3)
        assert np.allclose(pose[rows(1)], POSE[rows(1)] * 0.5, atol=2e-3)


class TestSession:
    """A robot that began anew obeys nothing that was said before."""

    def hellos(self, rig: Rig, milliseconds: int) -> list[HelloFrame]:
        hellos = []
        for _ in range(milliseconds):
            rig.step()
            for packet in rig.bridge.telemetry(
                rig.now_ns, rig.measured, np.zeros(MODEL.tendon_angle.size)
            ):
                if packet[0] in {0x18, 0x19}:
                    frame = rig.station.decode(packet, rig.now_ns)
                    assert isinstance(frame, HelloFrame)
                    hellos.append(frame)
        return hellos

    @pytest.mark.parametrize("mtu_bytes", [256, 8])
    def test_frames_of_an_earlier_session_change_nothing(self, mtu_bytes: int) -> None:
        before = Rig(session=0x11112222, mtu_bytes=mtu_bytes)
        recorded = [
            before.station.encode(before.frame(**changes))
            for changes in (
                {"mode": StationMode.DISARMED, "epoch": 0},
                {"coordinates": np.empty((0, 3))},
                {},
                {"mode": StationMode.ESTOP},
            )
        ]
        rig = Rig(session=0x33334444, now_ns=before.now_ns, mtu_bytes=mtu_bytes)
        received = rig.bridge.received
        for packet in recorded:
            assert not rig.deliver(packet)
        assert rig.bridge.rejected[Rejection.MALFORMED] == len(recorded)
        assert rig.bridge.state == RobotState.IDLE
        assert rig.bridge.received == received
        assert rig.still()

    def test_hello_goes_until_the_station_shows_that_it_knows(self) -> None:
        rig = Rig(session=9)
        assert not self.hellos(rig, 500)
        rig.deliver(b"of a session that has ended")
        told = self.hellos(rig, 1000)
        assert 3 <= len(told) <= 5
        assert {hello.session for hello in told} == {9}
        rig.send(0, mode=StationMode.DISARMED)
        assert not self.hellos(rig, 500)

    @pytest.mark.parametrize("mtu_bytes", [256, 8])
    def test_a_stranger_is_told_and_may_only_stop(self, mtu_bytes: int) -> None:
        rig = Rig(session=9)
        stranger = Codec(MODEL, ROBOT_ID, mtu_bytes)
        received = rig.bridge.received
        for changes in ({"mode": StationMode.DISARMED}, {}, {"epoch": 9}):
            rig.deliver(stranger.encode(rig.frame(generated_ns=5, **changes)))
        assert rig.bridge.received == received
        assert rig.bridge.state == RobotState.IDLE
        assert self.hellos(rig, 500)
        stop = rig.frame(mode=StationMode.ESTOP, generated_ns=5)
        rig.deliver(stranger.encode(stop))
        assert rig.bridge.state == RobotState.ESTOP
        assert not rig.send(0)

    def test_another_schema_is_refused_and_told_why(self) -> None:
        limits = MODEL.bend_limit * 1.01
        other = Codec(MODEL._replace(bend_limit=limits), ROBOT_ID, 256, 9)
        rig = Rig(session=9)
        assert not rig.deliver(other.encode(rig.frame(0)))
        assert rig.bridge.rejected[Rejection.MALFORMED] == 1
        hello = HelloFrame(ROBOT_ID, 9, rig.now_ns)
        with pytest.raises(FrameError, match="same robot file"):
            rig.station.decode(other.encode(hello), rig.now_ns)


class TestCustody:
    """One station in control; others watch, and may stop."""

    def test_a_second_station_moves_nothing_and_may_stop(self) -> None:
        rig = Rig(custody=Custody())
        second = Codec(MODEL, ROBOT_ID, 256)
        assert rig.send(0)
        rig.step(50)
        rig.now_ns += NS_PER_MS
        for changes in ({}, {"epoch": 9}, {"mode": StationMode.DISARMED}):
            frame = rig.frame(0, coordinates=POSE[rows(0)] * 0.1, **changes)
            assert not rig.deliver(second.encode(frame), peer=1)
        assert rig.bridge.rejected[Rejection.REFUSED] == 3
        assert rig.bridge.state == RobotState.ACTIVE
        assert rig.bridge.newest is not None
        assert rig.bridge.newest.peer == 0
        assert rig.send(0), "the first goes on"
        rig.now_ns += NS_PER_MS
        rig.deliver(second.encode(rig.frame(0, mode=StationMode.ESTOP)), peer=1)
        assert rig.bridge.state == RobotState.ESTOP

    def test_hand_over_is_explicit(self) -> None:
        rig = Rig(custody=Custody())
        second = Codec(MODEL, ROBOT_ID, 256)
        rig.send(0)
        rig.send(0, mode=StationMode.DISARMED)
        rig.now_ns += NS_PER_MS
        assert rig.deliver(second.encode(rig.frame(0, epoch=8)), peer=1)
        assert not rig.send(0, epoch=9)


def tip(pose: FloatArray, limb: int = 0) -> FloatArray:
    found, poses = np.zeros(3), np.zeros((3, 4, 4))
    tip_position(MODEL, limb, np.ascontiguousarray(pose[rows(limb)]), poses, found)
    return found


EMPTY = np.empty((0, 3))


class TestBeside:
    """Signals, grips and goals are held to what setpoints are."""

    def signal(self, place: FloatArray, **changes: object) -> SignalTold:
        x, y, z = place.tolist()
        values = {
            "limb": 0,
            "strategy": 0,
            "engagement": 1,
            "fields": SignalField.POSITION | SignalField.VELOCITY,
            "position": (x, y, z),
        }
        return SignalTold(**(values | changes))  # type: ignore[arg-type]

    def goal(self, rig: Rig, number: int = 1, **changes: object) -> bytes:
        x, y, z = (tip(rig.pose()) + np.array([-0.02, 0.02, 0.02])).tolist()
        values = {"number": number, "kind": GoalKind.REACH, "limb": 0}
        goal = Goal(**(values | {"position": (x, y, z)} | changes))  # type: ignore[arg-type]
        return fine_goal(goal) if rig.mtu_bytes > 8 else coarse_goal(goal)

    def armed(self, mtu_bytes: int = 256) -> Rig:
        rig = Rig(mtu_bytes=mtu_bytes, session=77)
        if mtu_bytes == 8:
            rig.send(0, coordinates=EMPTY, period_ms=1000.0)
        else:
            rig.send(0, coordinates=POSE[rows(0)])
        return rig

    def keep(self, rig: Rig, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            rig.send(0, coordinates=EMPTY)
            rig.step(100)

    def test_a_hand_is_followed_in_the_place_of_setpoints_and_let_go_of(self) -> None:
        rig = self.armed()
        wanted = tip(POSE) + np.array([-0.01, 0.02, 0.02])
        for _ in range(60):
            rig.send(0, coordinates=POSE[rows(0)], signal=self.signal(wanted))
            rig.step(20)
        assert np.linalg.norm(tip(rig.pose()) - wanted) < 5e-3
        (packet, *_) = [
            packet
            for _ in range(30)
            for packet in rig.bridge.telemetry(
                rig.step() and rig.now_ns, POSE, np.zeros(MODEL.tendon_angle.size)
            )
        ]
        frame = rig.station.decode(packet, rig.now_ns)
        assert isinstance(frame, TelemetryFrame)
        assert frame.signal is not None
        assert (frame.signal.limb, frame.signal.engagement) == (0, 1)
        rig.send(0, coordinates=POSE[rows(0)])
        rig.step(500)
        assert np.allclose(rig.pose(), POSE, atol=2e-3)

    def test_stale_replayed_and_foreign_signals_move_nothing(self) -> None:
        rig = self.armed()
        far = self.signal(tip(POSE) + np.array([-0.1, 0.1, 0.1]))
        early = rig.station.encode(rig.frame(0, coordinates=POSE[rows(0)], signal=far))
        rig.send(0, coordinates=POSE[rows(0)])
        rig.step(100)
        assert not rig.deliver(early), "overtaken"
        assert not rig.send(
            0,
            coordinates=POSE[rows(0)],
            signal=far,
            generated_ns=rig.now_ns - 4_100 * NS_PER_MS,
        )
        assert not rig.send(0, epoch=0, coordinates=POSE[rows(0)], signal=far)
        assert rig.still()
        unknown = far._replace(strategy=15)
        assert rig.send(0, coordinates=POSE[rows(0)], signal=unknown)
        rig.step(100)
        assert np.allclose(rig.pose(), POSE, atol=2e-3)

    def test_a_hand_that_falls_silent_is_not_followed_on(self) -> None:
        rig = self.armed()
        far = self.signal(tip(POSE) + np.array([-0.1, 0.1, 0.1]))
        rig.send(0, coordinates=POSE[rows(0)], signal=far)
        rig.step(100)
        # the arming goes on, but nothing of the hand comes
        self.keep(rig, 0.7)
        assert rig.bridge.state == RobotState.ACTIVE
        assert rig.still()

    def test_a_hand_does_not_survive_a_hold_or_an_arming(self) -> None:
        rig = self.armed()
        far = self.signal(tip(POSE) + np.array([-0.1, 0.1, 0.1]))
        rig.send(0, coordinates=POSE[rows(0)], signal=far)
        rig.step(50)
        rig.send(0, mode=StationMode.DISARMED)
        assert rig.still()
        held = rig.pose()[rows(0)]
        rig.send(1, epoch=8, coordinates=rig.pose()[rows(1)])
        assert np.array_equal(rig.step(100).coordinates[rows(0)], held)

    def test_a_wild_force_of_which_nothing_is_felt_moves_nothing(self) -> None:
        rig = self.armed()
        force = self.signal(
            tip(POSE), strategy=4, fields=SignalField.FORCE, force=(32.0, -32.0, 32.0)
        )
        before = rig.pose()
        for _ in range(100):
            rig.send(0, coordinates=POSE[rows(0)], signal=force)
            rig.step(20)
            bend = np.hypot(*rig.pose()[:, :2].T)
            assert np.all(bend <= MODEL.bend_limit + 1e-9)
        # nothing was felt: a wild force alone moves nothing
        np.testing.assert_allclose(rig.pose()[rows(0)], before[rows(0)], atol=1e-3)
        for _ in range(50):
            rig.send(0, coordinates=POSE[rows(0)])
            rig.step(20)
        assert np.allclose(rig.pose(), POSE, atol=2e-3), "absent is none"

    @pytest.mark.parametrize("mtu_bytes", [256, 8])
    def test_a_goal_is_done_and_told(self, mtu_bytes: int) -> None:
        rig = self.armed(mtu_bytes)
        goal = self.goal(rig)
        wanted = tip(rig.pose()) + np.array([-0.02, 0.02, 0.02])
        for _ in range(30):
            rig.send(WHOLE_ROBOT, coordinates=EMPTY, goal=goal)
            for _ in range(100):
                rig.measured = rig.step().coordinates.copy()
        status = read_status(rig.bridge.followed.status)
        assert (status.number, status.state) == (1, GoalState.DONE)
        assert np.linalg.norm(tip(rig.pose()) - wanted) < 6e-3
        heard = []
        for _ in range(20_000):
            for packet in rig.bridge.telemetry(
                rig.now_ns, rig.measured, np.zeros(MODEL.tendon_angle.size)
            ):
                frame = rig.station.decode(packet, rig.now_ns)
                if isinstance(frame, TelemetryFrame) and frame.status >= 0:
                    heard.append(read_status(frame.status))
            rig.now_ns += NS_PER_MS
        assert heard
        assert {one.state for one in heard} == {GoalState.DONE}

    @pytest.mark.parametrize("mtu_bytes", [256, 8])
    def test_stale_replayed_reordered_and_wild_goals_move_nothing(
        self, mtu_bytes: int
    ) -> None:
        rig = self.armed(mtu_bytes)
        count = 1 if mtu_bytes > 8 else 2

        def encode(goal: bytes, **changes: object) -> list[bytes]:
            changes = {"coordinates": EMPTY, "goal": goal, **changes}
            return [
                rig.station.encode(rig.frame(WHOLE_ROBOT, **changes))
                for _ in range(count)
            ]

        late = encode(self.goal(rig), generated_ns=rig.now_ns - 4_200 * NS_PER_MS)
        wild = encode(b"\x01\x71" + bytes(16 if mtu_bytes > 8 else 6))
        old = encode(self.goal(rig, 3))
        stop = Goal(4, GoalKind.STOP, 0)
        rig.now_ns += 200 * NS_PER_MS
        new = encode(fine_goal(stop) if mtu_bytes > 8 else coarse_goal(stop))
        unarmed = encode(self.goal(rig, 5), epoch=9)
        for packet in (*late, *wild, *new, *old, *new):
            rig.deliver(packet)
        rig.step(400)
        assert rig.bridge.followed.goals.status.number == 4
        rig.send(0, mode=StationMode.DISARMED)
        for packet in (*old, *new, *unarmed[:1]):
            rig.deliver(packet)
        assert rig.bridge.followed.goals.status.number in {4, 5}
        rig.step(1)
        assert not rig.bridge.followed.goals.running or mtu_bytes > 8
        if mtu_bytes == 8:
            assert rig.still()

    def test_a_goal_ends_with_disarming_stop_and_another_arming(self) -> None:
        for mode, reason in (
            (StationMode.DISARMED, GoalReason.DISARMED),
            (StationMode.ESTOP, GoalReason.STOPPED),
        ):
            rig = self.armed()
            rig.send(WHOLE_ROBOT, coordinates=EMPTY, goal=self.goal(rig))
            rig.step(300)
            assert rig.bridge.followed.goals.running
            rig.send(0, mode=mode)
            assert rig.still()
            assert rig.bridge.followed.goals.status.reason is reason
        rig = self.armed()
        rig.send(WHOLE_ROBOT, coordinates=EMPTY, goal=self.goal(rig))
        rig.step(300)
        held = rig.pose()[rows(0)]
        rig.send(1, epoch=8, coordinates=rig.pose()[rows(1)])
        assert np.array_equal(rig.step(100).coordinates[rows(0)], held)
        assert rig.bridge.followed.status == -1

    def test_silence_under_a_goal(self) -> None:
        rig = self.armed()
        rig.send(WHOLE_ROBOT, coordinates=EMPTY, goal=self.goal(rig))
        rig.step(1500)
        assert rig.bridge.state == RobotState.ACTIVE, "without a goal: HOLD after 0.5 s"
        rig.step(3400)
        assert rig.bridge.state == RobotState.ACTIVE
        rig.step(200)
        assert rig.bridge.state == RobotState.COMPLIANT

    def test_grips_have_an_order_of_their_own(self) -> None:
        rig = self.armed()
        closure = rig.bridge.followed.closure
        early = rig.station.encode(
            rig.frame(0, coordinates=POSE[rows(0)], grip=GripTold(1, 0.0))
        )
        rig.now_ns += NS_PER_MS
        rig.send(1, coordinates=POSE[rows(1)], grip=GripTold(1, 1.0))
        assert closure[1] == 1.0
        rig.deliver(early)
        assert closure[1] == 1.0
        rig.send(0, epoch=0, coordinates=POSE[rows(0)], grip=GripTold(1, 0.5))
        assert closure[1] == 1.0
        assert np.isnan(closure[[0, 2, 3]]).all()
        rig.step(6000)
        assert closure[1] == 1.0, "silence leaves a gripper as it is"


def fuzz_frames(count: int, seed: int) -> None:
    """Throw mutated and random bytes at a bridge; raises on a defect.

    Nothing may escape, and the applied pose may not move: neither where the robot is
    idle nor where it holds an arming.

    Args:
        count: so many mutated and so many random strings in each state.
        seed: of both.
    """
    draw = random.Random(seed)
    for armed in (False, True):
        rig = Rig(session=0x12345678)
        if armed:
            rig.send(0)
            rig.step(700)
            assert rig.bridge.state == RobotState.HOLD
        everywhere = MODEL.rest_coordinates * -1.0
        packets = [
            rig.station.encode(rig.frame(limb, coordinates=everywhere[own]))
            for limb, own in ((0, rows(0)), (3, rows(3)), (WHOLE_ROBOT, slice(None)))
        ]
        stops = [rig.station.encode(rig.frame(mode=mode)) for mode in StationMode]
        before = rig.pose()
        received = rig.bridge.received
        for _ in range(count):
            original = draw.choice([*packets, *stops])
            broken = bytearray(original)
            for _ in range(draw.randint(1, 6)):
                broken[draw.randrange(len(broken))] = draw.randrange(256)
            for buffer in (bytes(broken), draw.randbytes(draw.randint(0, 64))):
                if buffer != original and rig.deliver(buffer):
                    raise AssertionError(f"{buffer.hex()} moved a limb")
        if rig.bridge.received != received:
            raise AssertionError("a broken frame was counted as received")
        if not np.array_equal(rig.pose(), before) and armed:
            raise AssertionError("the applied pose moved")


def test_fuzz() -> None:
    fuzz_frames(1_500, 1)
