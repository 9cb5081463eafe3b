"""What strategies send beside coordinates: signals, grips, goals and their status."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.errors import FrameError
from app.link.frame import (
    WHOLE_ROBOT,
    Beside,
    Codec,
    GripTold,
    Profile,
    SetpointFrame,
    SignalField,
    SignalTold,
    TelemetryFrame,
    lane,
    profile_of,
    stream_key,
)
from app.link.records import STATUS_BITS
from app.link.signal_fields import DOWN_FIELDS, UP_FIELDS
from app.link.signal_section import engagement_near, near, read_signal, write_signal
from app.link.turns import Turns
from app.messages import RobotState, StationMode
from app.teleop.strategy import Strategy

MODEL = build_robot_model(load_robot("ursula"))
NOW = 123 * 86_400 * NS_PER_S + 456_789_000
SESSION = 0xA1B2C3D4
POSE = MODEL.rest_coordinates * 0.5
EVERY = SignalField(63)
SIGNAL = SignalTold(
    limb=1,
    strategy=3,
    engagement=1234,
    fields=EVERY,
    position=(0.1234, -0.5, 3.0),
    velocity=(0.01, -0.0203, 0.0),
    force=(1.5, -2.25, 0.001),
    wave=(1.0, -2.0, 0.5),
    integral=(3.0, -7.5, 1e-6),
    energy=0.75,
)
GOAL = bytes(range(1, 9))
LONG_GOAL = bytes(range(1, 17))


def setpoint(**changes):
    values = {
        "sequence": 5,
        "generated_ns": NOW,
        "robot": 1,
        "limb": 1,
        "epoch": 17,
        "mode": StationMode.ARMED,
        "period_ms": 20.0,
        "coordinates": POSE[2:4],
        "active": True,
    }
    return SetpointFrame(**(values | changes))


def bare(**changes):
    return setpoint(
        **({"limb": WHOLE_ROBOT, "coordinates": np.empty((0, 3))} | changes)
    )


def telemetry(**changes):
    values = {
        "sequence": 9,
        "generated_ns": NOW,
        "robot": 1,
        "limb": 1,
        "epoch": 17,
        "state": RobotState.ACTIVE,
        "coordinates": POSE[2:4],
        "tension": np.arange(8.0),
        "echo_sequence": 5,
        "echo_hold_ms": 33.25,
        "received": 4,
        "echo_generated_ns": NOW,
    }
    return TelemetryFrame(**(values | changes))


def codec(mtu=1500, session=SESSION):
    return Codec(MODEL, 1, mtu, session)


def announced():
    """A compact station and a robot that has heard its arming."""
    station, robot = codec(8), codec()
    robot.decode(station.encode(bare(period_ms=1000.0)), NOW)
    return station, robot


class TestSignal:
    """The section of a strategy's signal."""

    def test_golden_bytes(self):
        content = write_signal(SIGNAL)
        # strategy 3, limb 1, all fields, engagement 1234
        assert content[:3] == (3 << 20 | 1 << 17 | 63 << 11 | 1234).to_bytes(3, "big")
        assert content.hex() == (
            "33fcd2" "04d2ec787530" "0064ff350000" "05dcf7360001" "1388d8f009c4"
            "2dc6c08d8f20000001" "3f400000"
        )  # fmt: skip
        assert len(write_signal(SIGNAL._replace(fields=SignalField.FORCE))) == 9

    def test_only_what_is_told_comes_back(self):
        for fields in range(64):
            told = SIGNAL._replace(fields=SignalField(fields))
            back = read_signal(write_signal(told))
            assert back.fields == fields
            for field, name in (
                (SignalField.POSITION, "position"),
                (SignalField.WAVE, "wave"),
                (SignalField.INTEGRAL, "integral"),
            ):
                wanted = getattr(told, name) if fields & field else (0.0, 0.0, 0.0)
                assert getattr(back, name) == pytest.approx(wanted, abs=1e-4)
            assert back.energy == (0.75 if fields & SignalField.ENERGY else 0.0)

    @given(
        st.tuples(*[st.floats(-3.2, 3.2)] * 3),
        st.tuples(*[st.floats(-32.0, 32.0)] * 3),
        st.tuples(*[st.floats(-6.5, 6.5)] * 3),
        st.tuples(*[st.floats(-1e4, 1e4)] * 3),
        st.floats(0.0, 1e6),
        st.integers(0, 10**6),
    )
    @settings(deadline=None)
    def test_round_trip(self, position, force, wave, integral, energy, engagement):
        told = SIGNAL._replace(
            position=position,
            velocity=position,
            force=force,
            wave=wave,
            integral=integral,
            energy=energy,
            engagement=engagement,
        )
        back = read_signal(write_signal(told))
        assert back.position == pytest.approx(position, abs=0.51e-4)
        assert back.velocity == pytest.approx(position, abs=0.51e-4)
        assert back.force == pytest.approx(force, abs=0.51e-3)
        assert back.wave == pytest.approx(wave, abs=1.01e-4)
        assert energy * (1 - 1.2e-7) - 1e-44 <= back.energy <= energy
        before = [value + 8.0 for value in integral]
        whole = near(back.integral, before)
        assert whole == pytest.approx(integral, abs=0.6e-6 + 1e-11)
        assert engagement_near(back.engagement, engagement) == engagement
        assert engagement_near(back.engagement, engagement + 3) == engagement

    @given(st.binary(max_size=64))
    @settings(deadline=None)
    def test_any_bytes_are_a_finite_signal_or_refused(self, content):
        try:
            told = read_signal(content)
        except FrameError:
            return
        values = (*told.position, *told.force, *told.wave, *told.integral, told.energy)
        assert all(map(math.isfinite, values))
        assert max(map(abs, told.position)) < 3.3
        assert max(map(abs, told.force)) < 33.0
        assert read_signal(write_signal(told)) == told

    def test_what_is_wild_is_not_sent(self):
        for changes in (
            {"position": (math.nan, 0.0, 0.0)},
            {"integral": (math.inf, 0.0, 0.0)},
            {"energy": -1e-9},
            {"energy": math.nan},
            {"limb": 8},
            {"strategy": 16},
        ):
            with pytest.raises(FrameError):
                write_signal(SIGNAL._replace(**changes))
        far = read_signal(write_signal(SIGNAL._replace(position=(9.0, -9.0, 0.0))))
        assert far.position[:2] == pytest.approx((3.2767, -3.2768))

    def test_every_strategy_has_its_fields(self):
        assert len(DOWN_FIELDS) == len(UP_FIELDS) == len(Strategy)
        for strategy in Strategy:
            assert bool(UP_FIELDS[strategy]) is strategy.bilateral

    def test_in_frames_of_one_limb_all_limbs_and_deltas(self):
        station, robot = codec(), codec()
        one = station.encode(setpoint(signal=SIGNAL))
        assert robot.decode(one, NOW).signal == read_signal(write_signal(SIGNAL))
        whole = setpoint(sequence=6, limb=WHOLE_ROBOT, coordinates=POSE, signal=SIGNAL)
        packet = station.encode(whole)
        assert robot.decode(packet, NOW).signal.limb == 1
        station.acknowledge(6)
        moved = whole._replace(sequence=7, coordinates=POSE * 1.001)
        delta = station.encode(moved)
        assert len(delta) < len(packet)
        assert robot.decode(delta, NOW).signal.engagement == 1234

    def test_not_where_its_limb_is_not_told_or_it_does_not_fit(self):
        other = setpoint(limb=0, coordinates=POSE[:2], signal=SIGNAL)
        assert codec().decode(codec().encode(other), NOW).signal is None
        least = max(codec().packed_bytes(limb) for limb in range(4))
        packet = codec(least).encode(setpoint(signal=SIGNAL))
        assert len(packet) <= least
        assert codec().decode(packet, NOW).signal is None

    def test_telemetry_tells_what_grippers_hold_in_three_bytes_or_none(self):
        plain = codec().encode(telemetry())
        told = codec().encode(telemetry(held=0b1010))
        assert len(told) == len(plain) + 3
        assert codec().decode(told, NOW).held == 0b1010
        assert codec().decode(codec().encode(telemetry(held=0)), NOW).held == 0
        assert codec().decode(plain, NOW).held == -1

    def test_telemetry_tells_signal_and_status(self):
        told = telemetry(signal=SIGNAL, status=0x2ABCDEF, contact=b"rock")
        back = codec().decode(codec().encode(told), NOW)
        assert back.signal == read_signal(write_signal(SIGNAL))
        assert (back.status, back.contact) == (0x2ABCDEF, b"rock")
        assert codec().decode(codec().encode(telemetry()), NOW).status == -1
        with pytest.raises(FrameError, match="26 bits"):
            codec().encode(telemetry(status=1 << STATUS_BITS))

    def test_telemetry_leaves_out_first_what_counts_least(self):
        signal = SIGNAL._replace(fields=SignalField.FORCE)
        told = telemetry(signal=signal, contact=bytes(19))
        room = len(codec().encode(told))
        # the tensions of a limb take 12 bytes, contact 21 here, the signal 11
        for mtu, parts in (
            (room, (True, True, True)),
            (room - 1, (True, True, False)),
            (room - 13, (True, False, True)),
            (room - 22, (True, False, False)),
        ):
            packet = codec(mtu).encode(told)
            back = codec().decode(packet, NOW)
            there = back.signal is not None, bool(back.contact)
            assert (*there, back.tension is not None) == parts, mtu
            assert len(packet) <= mtu


class TestGrip:
    """How far a gripper shall be closed."""

    @pytest.mark.parametrize("mtu", [1500, 8])
    def test_round_trip(self, mtu):
        station, robot = announced()
        station = codec(mtu) if mtu > 8 else station
        for k in range(32):
            frame = setpoint if mtu > 8 else bare
            told = frame(sequence=6 + k, grip=GripTold(3, k / 31))
            back = robot.decode(station.encode(told), NOW)
            assert back.grip == GripTold(3, k / 31)
            assert back.epoch == 17

    def test_goes_when_it_changes_and_now_and_then(self):
        station, robot = codec(), codec()
        told = []
        for k in range(40):
            grip = GripTold(1, 0.0 if k < 20 else 1.0)
            when = NOW + k * 20 * NS_PER_MS
            packet = station.encode(
                setpoint(sequence=k + 1, generated_ns=when, grip=grip)
            )
            told.append(robot.decode(packet, when).grip is not None)
        assert told[:3] == told[20:23] == [True] * 3
        assert 2 <= sum(told[3:20]) <= 3

    def test_wild_is_refused_or_the_nearer_end(self):
        packet = codec().encode(setpoint(grip=GripTold(1, 7.0)))
        assert codec().decode(packet, NOW).grip.closure == 1.0
        with pytest.raises(FrameError):
            codec().encode(setpoint(grip=GripTold(1, math.nan)))
        with pytest.raises(FrameError):
            codec().encode(setpoint(grip=GripTold(9, 0.5)))


class TestGoal:
    """Goals in one packed frame, or in parts."""

    def test_packed(self):
        frame = bare(goal=GOAL)
        packet = codec().encode(frame)
        assert (stream_key(packet), lane(stream_key(packet))) == (0x33, 2)
        assert len(packet) == 1 + 4 + 2 + 8 + 3
        back = codec().decode(packet, NOW)
        assert (back.goal, back.epoch, back.sequence) == (GOAL, 17, 5)
        assert not len(back.coordinates)
        for goal, mtu in ((bytes(65), 1500), (bytes(60), 64)):
            with pytest.raises(FrameError):
                codec(mtu).encode(bare(goal=goal))

    @pytest.mark.parametrize("goal", [GOAL, GOAL + b"abcd", LONG_GOAL])
    def test_compact_in_two_to_four_packets(self, goal):
        station, robot = announced()
        count = len(goal) // 4
        packets = [station.encode(bare(sequence=6 + k, goal=goal)) for k in range(8)]
        assert {len(packet) for packet in packets} == {8}
        assert [stream_key(p) & 0x3F for p in packets[:count]] == list(range(count))
        assert all(profile_of(p) is Profile.COMPACT for p in packets)
        told = [robot.decode(packet, NOW).goal for packet in packets]
        assert told[: count - 1] == [b""] * (count - 1)
        assert told[count - 1 :] == [goal] * (9 - count)

    def test_parts_may_come_in_any_order_and_again(self):
        station, robot = announced()
        packets = [station.encode(bare(sequence=6 + k, goal=GOAL)) for k in range(2)]
        assert robot.decode(packets[1], NOW).goal == b""
        assert robot.decode(packets[1], NOW).goal == b""
        assert robot.decode(packets[0], NOW).goal == GOAL

    def test_parts_of_two_goals_make_none(self):
        """Also where the number comes round: the check over the whole tells."""
        station, robot = announced()
        first = [station.encode(bare(sequence=6 + k, goal=GOAL)) for k in range(2)]
        robot.decode(first[0], NOW)
        passed = 0
        for k in range(250):
            other = bytes([k + 2, *GOAL[1:]])
            parts = [
                station.encode(bare(sequence=8 + 2 * k + part, goal=other))
                for part in range(2)
            ]
            passed += bool(robot.decode(parts[1], NOW).goal)
            robot.decode(first[0], NOW)
        assert passed <= 3

    def test_parts_of_long_ago_or_another_arming_make_none(self):
        station, robot = announced()
        first = station.encode(bare(sequence=6, goal=GOAL))
        robot.decode(first, NOW)
        late = NOW + 9 * NS_PER_S
        second = station.encode(bare(sequence=7, goal=GOAL, generated_ns=late))
        assert robot.decode(second, late).goal == b""
        robot.decode(first_again := station.encode(
            bare(sequence=8, goal=GOAL, generated_ns=late)), late)  # fmt: skip
        assert first_again[0] == 0xC0
        robot.decode(
            station.encode(bare(sequence=9, epoch=18, generated_ns=late)), late
        )
        with pytest.raises(FrameError, match="CRC"):
            robot.decode(second, late)
        other = bare(sequence=10, epoch=18, goal=GOAL, generated_ns=late)
        assert robot.decode(station.encode(other), late).goal == b""

    def test_none_before_an_announcement_or_of_another_session(self):
        station, robot = announced()
        part = station.encode(bare(sequence=6, goal=GOAL))
        with pytest.raises(FrameError, match="announced"):
            codec().decode(part, NOW)
        before = codec(8, session=SESSION + 0x10001)
        with pytest.raises(FrameError):
            robot.decode(before.encode(bare(sequence=6, goal=GOAL)), NOW)
        packed = codec(session=SESSION + 1).encode(bare(goal=GOAL))
        with pytest.raises(FrameError, match="session"):
            codec().decode(packed, NOW)

    def test_odd_lengths_do_not_go_in_parts(self):
        for goal in (bytes(4), bytes(9), bytes(20)):
            with pytest.raises(FrameError, match="8, 12 or 16"):
                codec(8).encode(bare(goal=goal))

    def test_compact_status(self):
        station, robot = codec(8), codec(8)
        station.encode(setpoint())
        packet = robot.encode(telemetry(status=0x2ABCDEF))
        assert (len(packet), packet[0], lane(packet[0])) == (8, 0xD1, 2)
        back = station.decode(packet, NOW)
        assert (back.status, back.limb, back.state) == (0x2ABCDEF, 1, 1)
        assert (back.epoch, back.echo_sequence, back.received) == (17, 5, 4)
        assert np.isnan(back.coordinates).all()


class TestTurns:
    """Frames of their own take turns with setpoints."""

    def run(self, beside, turns=24, compact=True, gap_ms=20):
        taken = Turns()
        return [
            taken.next(NOW + k * gap_ms * NS_PER_MS, beside, compact=compact)
            for k in range(turns)
        ]

    def test_a_goal_leaves_every_third_turn(self):
        went = self.run(Beside(coarse_goal=GOAL))
        assert [one is not None for one in went[:6]] == [True, True, False] * 2
        assert went[0] == Beside(goal=GOAL)

    def test_a_packed_goal_goes_five_times_a_second(self):
        went = self.run(Beside(goal=GOAL), turns=100, compact=False)
        assert went[0] is not None
        assert sum(one is not None for one in went) == 10

    def test_a_compact_grip_goes_thrice_then_seldom(self):
        went = self.run(Beside(grip=GripTold(0, 1.0)), turns=70)
        assert [one is not None for one in went[:6]] == [True, False] * 3
        assert 3 <= sum(one is not None for one in went[6:]) <= 5

    def test_nothing_to_send(self):
        assert self.run(Beside()) == [None] * 24
        assert self.run(Beside(grip=GripTold(0, 1.0)), compact=False) == [None] * 24


def fuzz_beside(count: int, seed: int) -> None:
    """Decode mutated frames of signals, grips and goals; raises on a defect.

    Nothing but FrameError may escape; of mutated packed frames none may pass.

    Args:
        count: so many mutated strings.
        seed: of them.
    """
    draw = random.Random(seed)
    station, robot = announced()
    wide = codec()
    packets = [
        wide.encode(setpoint(signal=SIGNAL, grip=GripTold(1, 0.5))),
        wide.encode(bare(sequence=6, goal=LONG_GOAL)),
        wide.encode(telemetry(signal=SIGNAL, status=77)),
        codec(8).encode(telemetry(status=77)),
        station.encode(bare(sequence=7, grip=GripTold(2, 1.0))),
        *(station.encode(bare(sequence=8 + k, goal=LONG_GOAL)) for k in range(4)),
    ]
    for packet in packets:
        robot.decode(packet, NOW)
    for _ in range(count):
        broken = bytearray(draw.choice(packets))
        for _ in range(draw.randint(1, 6)):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        if draw.random() < 0.2:
            del broken[draw.randrange(len(broken)) :]
        try:
            frame = robot.decode(bytes(broken), NOW)
        except FrameError:
            continue
        if profile_of(bytes(broken)) is Profile.PACKED:
            if bytes(broken) not in packets:
                raise AssertionError(f"{broken.hex()} was read as a frame")
        elif isinstance(frame, SetpointFrame) and frame.goal not in {b"", LONG_GOAL}:
            raise AssertionError(f"{broken.hex()} made another goal")


def test_fuzz():
    fuzz_beside(3_000, 1)
