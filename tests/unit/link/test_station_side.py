"""The station's side and a robot that answers, over the channel, in virtual time."""

import math

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import link_names, load_link
from app.config.robot import build_robot_model, load_robot
from app.control.mailbox import Layout
from app.errors import FrameError
from app.link.channel import Channel, ChannelSettings, Direction, Fate, LinkOverrides
from app.link.emulator import Emulator
from app.link.emulator_protocol import EmulatorSettings, encode_settings
from app.link.frame import WHOLE_ROBOT, Codec, Profile, profile_of, stream_key
from app.link.pacing import budget_for
from app.link.station_side import StationSide
from app.messages import (
    LinkHealth,
    RobotState,
    Severity,
    StationMode,
    StationState,
    health_shapes,
    state_shapes,
)
from app.robot.reporter import Heard, Reporter

MODEL = build_robot_model(load_robot("ursula"))
STEP_NS = 2 * NS_PER_MS
START_NS = 100_000 * NS_PER_S
HELLOS = {0x18, 0x19}


def block(kind, shapes):
    layout = Layout(kind, shapes)
    return layout.view(np.zeros(layout.words, dtype=np.int64))


class Robot:
    """Answers as a robot does: obeys at once, paces by what it is told."""

    def __init__(self, link, offset_ns=0, session=0x5EED0001):
        self.codec = Codec(MODEL, 1, link.medium.mtu_bytes, session)
        self.reporter = Reporter(MODEL, self.codec, budget_for(link, up=True))
        self.offset_ns = offset_ns
        self.pose = np.zeros((6, 3))
        self.received = self.epoch = 0
        self.newest = None
        self.state = RobotState.IDLE
        self.ages_ms = []
        self.frames = []
        self.deaf = False

    def receive(self, now_ns, packet):
        if self.deaf:
            return
        clock_ns = now_ns + self.offset_ns
        try:
            frame = self.codec.decode(packet, clock_ns)
        except FrameError:
            self.reporter.greet()
            return
        if frame.stranger:
            self.reporter.follow(profile_of(packet), frame.uplink_bps)
            self.reporter.greet()
            return
        age_ms = (clock_ns - frame.generated_ns) / NS_PER_MS
        if not -100 < age_ms < 4000:
            return  # as the bridge's age gate does
        self.reporter.known()
        self.ages_ms.append(age_ms)
        self.frames.append((now_ns, packet, frame))
        self.received += 1
        self.newest = Heard(frame.sequence, clock_ns, frame.generated_ns)
        self.epoch = frame.epoch
        self.state = {
            StationMode.ARMED: RobotState.ACTIVE,
            StationMode.DISARMED: RobotState.IDLE,
            StationMode.ESTOP: RobotState.ESTOP,
        }[frame.mode]
        self.reporter.follow(profile_of(packet), frame.uplink_bps)
        if frame.mode is StationMode.ARMED and not frame.announces:
            whole = frame.limb == WHOLE_ROBOT
            rows = slice(None) if whole else self.codec.schema.rows(frame.limb)
            known = np.isfinite(frame.coordinates)
            self.pose[rows] = np.where(known, frame.coordinates, self.pose[rows])

    def send(self, now_ns):
        tension = np.repeat(1.0 + np.arange(4), [8, 8, 4, 4])
        return self.reporter.report(
            now_ns + self.offset_ns,
            self.state,
            self.epoch,
            self.newest,
            self.received,
            self.pose,
            tension,
        )


class Rig:
    """Station, emulator and robot in one virtual time."""

    def __init__(
        self, name, seed=4, station_link=None, offset_ns=0, told=True, deadband=0.0
    ):
        self.link = load_link(name)
        self.emulator = Emulator(self.link, seed, START_NS)
        self.station = StationSide(
            MODEL, 1, station_link or self.link, deadband=deadband
        )
        self.robot = Robot(self.link, offset_ns)
        self.state = block(StationState, state_shapes(MODEL))
        self.health = block(LinkHealth, health_shapes(MODEL))
        self.told = told
        self.moving = slice(None)
        self.now_ns = START_NS
        self.records = []
        self.events = []
        self.sent = []
        self.ages_ms = []

    def run(self, seconds):
        channel = self.emulator.channel
        for _ in range(int(seconds * NS_PER_S / STEP_NS)):
            self.now_ns += STEP_NS
            now_ns = self.now_ns
            self.state.time_ns[0] = now_ns
            wave = 0.5 * np.sin(now_ns / NS_PER_S)
            self.state.coordinates_commanded[self.moving, 0] = wave
            for packet in self.station.send(now_ns, self.state):
                self.sent.append((now_ns, packet))
                self.emulator.submit(now_ns, Direction.DOWN, packet)
            for packet in self.robot.send(now_ns):
                self.emulator.submit(now_ns, Direction.UP, packet)
            for delivery in channel.advance(now_ns):
                if delivery.direction is Direction.DOWN:
                    self.robot.receive(now_ns, delivery.payload)
                else:
                    self.station.receive(now_ns, delivery.payload)
            self.ages_ms.append(self.station.knowledge.age.age_ms(now_ns))
            if now_ns % (100 * NS_PER_MS) == 0:
                status = self.emulator.status(now_ns)
                self.records += status.records
                if self.told:
                    self.station.status(now_ns, status)
                self.station.fill(now_ns, self.health)
                self.events += self.station.events()

    def wish(self, **changes):
        self.emulator.settle(
            self.now_ns, encode_settings(EmulatorSettings(1, **changes))
        )

    def arm(self, epoch=3):
        self.state.mode[0], self.state.arm_epoch[0] = StationMode.ARMED, epoch


@pytest.mark.parametrize("name", link_names())
def test_queue_never_grows_and_health_is_true(name):
    rig = Rig(name)
    rig.run(5)
    rig.arm()
    steady = rig.link.loss.bad_s < 5e-3 * rig.link.loss.good_s
    rig.run(20 if steady else 60)  # some hundred packets at least
    fates = [record.fate for record in rig.records]
    assert len(fates) > 40
    assert Fate.OVERSIZE not in fates
    assert fates.count(Fate.SUPERSEDED) <= 0.02 * len(fates)
    waits = [
        (record.started_ns - record.submitted_ns) / NS_PER_MS
        for record in rig.records
        if record.started_ns
    ]
    cycle = rig.link.medium.cycle_s * 1e3
    frame_ms = 8e3 * (38 + rig.link.medium.overhead_bytes) / rig.link.down_bps
    assert np.percentile(waits, 99) <= 2 * frame_ms + cycle + 2
    health, link = rig.health, rig.link
    assert health.robot_state[0] == RobotState.ACTIVE
    assert health.robot_epoch[0] == 3
    assert health.preset[0] == link_names().index(name)
    up = [
        record
        for record in rig.records
        if record.direction is Direction.UP
        and record.started_ns
        and record.key not in HELLOS  # they have no number
    ]
    missing = rig.station.knowledge.loss_up.missing_total
    lost = sum(r.fate is not Fate.DELIVERED for r in up)
    assert abs(missing - lost) <= 0.02 * len(up) + 5
    if link.down_bps > 1e4:
        assert health.rtt_ms[0] >= 2 * link.propagation_ms
        assert health.rtt_ms[0] < 2 * link.delay_ms + 400
        assert np.abs(health.confirmed_tension - 1.0).max() > 1.0
    mean_ms = np.nanmean(rig.ages_ms)
    # Four limbs take turns; the longest silence of a blockage weighs most.
    period_ms = max(
        20.0, 4 * 8e3 * 8 / (0.4 * link.up_bps) if link.up_bps < 1e3 else 80.0
    )
    blocked_ms = 3e3 * link.loss.bad_s**2 / link.loss.good_s
    assert link.delay_ms < mean_ms < 2 * link.delay_ms + 2 * period_ms + blocked_ms
    assert health.down_bps[0] <= link.down_bps
    assert health.up_bps[0] <= link.up_bps


def test_loss_is_told_for_each_way():
    rig = Rig("tether")
    rig.wish(overrides=LinkOverrides(loss=0.3))
    rig.arm()
    rig.run(12)
    assert rig.health.loss_down[0] == pytest.approx(0.3, abs=0.05)
    assert rig.health.loss_up[0] == pytest.approx(0.3, abs=0.05)


def test_pose_arrives_and_is_put_in_station_time():
    rig = Rig("tether")
    rig.arm()
    rig.run(2)
    lag_ns = rig.now_ns - rig.health.confirmed_generated_ns
    assert (lag_ns > 2 * NS_PER_MS).all()
    assert (lag_ns < 40 * NS_PER_MS).all()
    assert np.abs(rig.health.confirmed_coordinates - rig.robot.pose).max() < 0.02
    assert rig.health.send_hz[0] == pytest.approx(50, rel=0.1)
    assert 2 < rig.health.command_age_ms[0] < 40


@pytest.mark.parametrize("offset_s", [-0.8, 40.0, 90_000.0, -70_000.0])
@pytest.mark.parametrize("name", ["tether", "acoustic-hs"])
def test_robot_on_another_clock(name, offset_s):
    """Commands are young in the robot's clock, poses right in the station's."""
    rig = Rig(name, offset_ns=round(offset_s * NS_PER_S))
    rig.run(12)
    rig.arm()
    rig.run(12)
    assert rig.health.robot_state[0] == RobotState.ACTIVE
    delay = rig.link.delay_ms
    recent = rig.robot.ages_ms[-20:]
    assert delay - 0.6 * delay - 15 < min(recent)
    assert max(recent) < 1.6 * delay + 100
    lag_ms = (rig.now_ns - rig.health.confirmed_generated_ns) / NS_PER_MS
    assert lag_ms.max() < 2 * delay + 1500


def test_mode_change_goes_at_once_and_repeats():
    rig = Rig("acoustic-psk")
    rig.arm()
    rig.run(5)
    before = len(rig.sent)
    rig.state.mode[0] = StationMode.ESTOP
    change_ns = rig.now_ns + STEP_NS
    rig.run(20)
    after = rig.sent[before:]
    assert after[0][0] == change_ns
    assert all(stream_key(packet) < 0x10 for _, packet in after)
    assert len(after) > 10
    assert rig.robot.state == RobotState.ESTOP
    assert any(
        e.severity is Severity.ALARM and "emergency" in e.text for e in rig.events
    )


def test_no_state_no_frames():
    rig = Rig("tether")
    rig.arm()
    rig.run(0.1)
    frozen_ns = int(rig.state.time_ns[0])
    assert rig.station.send(frozen_ns + 50 * NS_PER_MS, rig.state)
    assert not rig.station.send(frozen_ns + 101 * NS_PER_MS, rig.state)


def test_live_presets_profiles_and_cut():
    rig = Rig("tether")
    rig.arm()
    rig.run(2)
    for name in ("acoustic-m64", "acoustic-hs", "acoustic-psk", "optical-rov"):
        rig.wish(preset=name)
        rig.run(8)  # until the robot has heard of it over the new link
        rig.records.clear()
        rig.run(25)
        link = load_link(name)
        compact = link.down_bps < 1000
        assert rig.station.codec.profile is (
            Profile.COMPACT if compact else Profile.PACKED
        )
        assert rig.robot.codec.profile is rig.station.codec.profile
        fates = [record.fate for record in rig.records]
        assert fates.count(Fate.OVERSIZE) == 0
        assert fates.count(Fate.SUPERSEDED) <= 0.05 * len(fates) + 1, name
        assert rig.health.preset[0] == link_names().index(name)
        assert rig.health.bandwidth_bps[0] == link.down_bps
    rig.wish(overrides=LinkOverrides(bandwidth_bps=3000.0, delay_ms=50.0))
    rig.run(5)
    rig.records.clear()
    rig.run(20)
    assert rig.health.delay_ms[0] == 50.0
    fates = [record.fate for record in rig.records]
    assert fates.count(Fate.SUPERSEDED) <= 0.05 * len(fates) + 1
    rig.events.clear()
    rig.wish(preset="tether", cut=True)
    rig.run(3)
    assert rig.health.cut[0] == 1
    rig.wish(preset="tether")
    rig.run(1)
    assert rig.health.age_ms[0] < 100
    texts = [event.text for event in rig.events]
    assert "Link is cut." in texts
    assert any(text.startswith("No telemetry for") for text in texts)
    assert "Telemetry is back." in texts


def test_wrong_expectation_of_the_rate_is_corrected_by_delay():
    """The file says 1 Gbit/s, the link is a queue of 31 kbit/s and nobody tells."""
    rig = Rig("acoustic-hs", station_link=load_link("ideal"), told=False)
    rig.arm()
    rig.run(60)
    assert rig.health.emulator_present[0] == 0
    down = [r for r in rig.records if r.direction is Direction.DOWN]
    late = down[len(down) // 2 :]
    waits = [r.started_ns - r.submitted_ns for r in late if r.started_ns]
    assert max(waits) < 150 * NS_PER_MS


def test_wrong_packets_are_counted_told_once_and_change_nothing():
    station = StationSide(MODEL, 1, load_link("tether"))
    health = block(LinkHealth, health_shapes(MODEL))
    for k in range(100):
        now_ns = 4 * NS_PER_S * (k > 0) + k * NS_PER_MS
        assert station.receive(now_ns, bytes(range(30))) is None
        assert station.receive(now_ns, b"") is None
    station.fill(NS_PER_S, health)
    assert health.robot_heard_ns[0] == 0
    assert health.robot_state[0] == -1
    assert math.isnan(health.age_ms[0])
    assert station.malformed == 200
    assert len(station.events()) == 1
    with pytest.raises(FrameError):
        Codec(MODEL, 300, 1500)


def test_emulator_that_falls_silent_is_told():
    rig = Rig("tether")
    rig.run(1)
    rig.told = False
    rig.run(2)
    assert rig.health.emulator_present[0] == 0
    assert any("silent" in event.text for event in rig.events)


def test_same_seed_gives_the_same_frames():
    runs = []
    for _ in range(2):
        rig = Rig("acoustic-hs", seed=9)
        rig.arm()
        rig.run(5)
        runs.append((rig.sent, rig.records))
    assert runs[0] == runs[1]


def test_channel_alone_needs_no_codec():
    channel = Channel(ChannelSettings.of(load_link("ideal")), 0)
    channel.submit(0, Direction.UP, 1, b"\x01")
    assert [d.payload for d in channel.advance(NS_PER_MS)] == [b"\x01"]


def sent_by_limb(rig, since_ns):
    """Frames that the robot took, of each limb alone."""
    return [
        (now_ns, frame.limb)
        for now_ns, _, frame in rig.robot.frames
        if now_ns >= since_ns and not frame.announces
    ]


def test_a_moving_limb_over_m64_is_updated_every_slot():
    rig = Rig("acoustic-m64")
    rig.wish(overrides=LinkOverrides(loss=0.0))
    rig.run(12)
    rig.arm()
    rig.moving = slice(0, 2)
    rig.run(60)
    since_ns = rig.now_ns - 30 * NS_PER_S
    started = [
        record.started_ns
        for record in rig.records
        if record.direction is Direction.DOWN and record.started_ns > since_ns
    ]
    assert 29 <= len(started) <= 31, "a packet in every slot of 1 s"
    taken = sent_by_limb(rig, since_ns)
    assert {limb for _, limb in taken} == {0}
    lost = sum(
        record.fate is Fate.LOST_BURST
        for record in rig.records
        if record.direction is Direction.DOWN
    )
    assert len(taken) >= 28 - lost


def test_every_limb_arrives_in_the_end_whatever_is_lost():
    """What stands still is told until the robot has it, and then no more."""
    for name in ("acoustic-m64", "acoustic-psk", "optical-turbid"):
        rig = Rig(name)
        rig.run(12)
        rig.arm()
        rig.moving = slice(0)
        rig.state.coordinates_commanded[:, 1] = [0.3, -0.2, 0.1, 0.4, 0.5, -0.6]
        rig.run(50)
        told = rig.state.coordinates_commanded
        assert np.abs(rig.robot.pose - told).max() < 0.02, name


@pytest.mark.parametrize("name", ["tether", "acoustic-m64"])
def test_a_robot_that_begins_anew_is_met_again_and_the_old_session_is_void(name):
    rig = Rig(name)
    rig.run(12)
    rig.arm()
    rig.run(20)
    first = rig.station.codec.session
    old = [packet for _, packet in rig.sent]
    rig.robot = Robot(rig.link, offset_ns=-50_000 * NS_PER_S, session=0x0BADCAFE)
    rig.run(20)
    assert rig.station.codec.session == 0x0BADCAFE != first
    assert rig.robot.received > 3
    assert any("began anew" in event.text for event in rig.events)
    received = rig.robot.received
    for packet in old:
        rig.robot.receive(rig.now_ns, packet)
    passed = rig.robot.received - received
    assert passed <= (0 if name == "tether" else len(old) // 64)


def test_a_station_that_begins_anew_finds_the_session():
    rig = Rig("tether")
    rig.arm()
    rig.run(2)
    rig.station = StationSide(MODEL, 1, rig.link)
    rig.run(1)
    assert rig.station.codec.session == rig.robot.codec.session
    assert rig.health.robot_state[0] == RobotState.ACTIVE
    lag_ns = rig.now_ns - rig.health.confirmed_generated_ns
    assert (lag_ns < 40 * NS_PER_MS).all()


@pytest.mark.parametrize("name", ["tether", "acoustic-hs"])
def test_clocks_that_step_apart_are_learned_anew(name):
    """No seal fits any more: a hello of the same session is what mends it."""
    rig = Rig(name)
    rig.run(12)
    rig.arm()
    rig.run(12)
    session, received = rig.station.codec.session, rig.robot.received
    rig.robot.offset_ns += 3600 * NS_PER_S
    rig.run(8)
    assert rig.station.codec.session == session
    assert rig.health.robot_state[0] == RobotState.ACTIVE
    assert rig.robot.received > received + 100
    lag_ns = rig.now_ns - rig.health.confirmed_generated_ns
    assert (lag_ns < 3 * NS_PER_S).all()


def test_deadband_saves_bytes_and_keeps_the_robot_fed():
    counts, gaps = {}, {}
    for share in (0.0, 0.1):
        rig = Rig("tether", deadband=share)
        rig.arm()
        rig.run(10)
        frames = rig.robot.frames
        counts[share] = sum(len(packet) for _, packet, _ in frames)
        times = np.array([now_ns for now_ns, _, _ in frames])
        gaps[share] = np.diff(times).max() / NS_PER_MS
        assert (rig.station.deadband.suppressed > 0) is (share > 0.0)
        error = rig.robot.pose[:, 0] - rig.state.coordinates_commanded[:, 0]
        assert np.abs(error).max() < 0.02 + share * 0.5 * 1.5
    assert counts[0.1] < 0.6 * counts[0.0]
    assert gaps[0.1] < 200


def test_deltas_are_used_and_shorter():
    rig = Rig("tether")
    rig.arm()
    rig.run(5)
    sizes = [len(packet) for _, packet in rig.sent if packet[0] == 0x32]
    assert len(sizes) > 200
    assert np.mean(sizes) < 0.75 * max(sizes)
