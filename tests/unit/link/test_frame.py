"""Frames: exact bytes, round trips within the resolution, nothing false accepted."""

import math
import random

import fastcrc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.errors import FrameError
from app.link.frame import (
    URGENT_KEY_END,
    WHOLE_ROBOT,
    Codec,
    Grade,
    HelloFrame,
    Profile,
    SetpointFrame,
    TelemetryFrame,
    lane,
    profile_of,
    stream_key,
)
from app.link.seal import plain_long
from app.link.sections import read_sections, write_section
from app.messages import RobotState, StationMode

MODEL = build_robot_model(load_robot("ursula"))
NOW = 123 * 86_400 * NS_PER_S + 456_789_000
SESSION = 0xA1B2C3D4
POSE = np.array(
    [
        [0.5, -0.3, -0.004],
        [0.1, 1.2, -0.009],
        [0.0, 0.0, 0.0],
        [-0.7, 0.2, -0.01],
        [0.3, 0.3, -0.02],
        [-1.0, 0.4, -0.001],
    ]
)
LIMB = POSE[2:4]


def setpoint(**changes):
    values = {
        "sequence": 5,
        "generated_ns": NOW,
        "robot": 1,
        "limb": 1,
        "epoch": 17,
        "mode": StationMode.ARMED,
        "period_ms": 20.0,
        "coordinates": LIMB,
        "uplink_bps": 15600.0,
        "active": True,
    }
    return SetpointFrame(**(values | changes))


def whole(**changes):
    return setpoint(**({"limb": WHOLE_ROBOT, "coordinates": POSE} | changes))


def announcement(**changes):
    return setpoint(**({"coordinates": np.empty((0, 3))} | changes))


def telemetry(**changes):
    values = {
        "sequence": 9,
        "generated_ns": NOW,
        "robot": 1,
        "limb": 1,
        "epoch": 17,
        "state": RobotState.ACTIVE,
        "coordinates": LIMB,
        "tension": np.arange(8.0),
        "echo_sequence": 5,
        "echo_hold_ms": 33.25,
        "received": 4,
        "echo_generated_ns": NOW,
    }
    return TelemetryFrame(**(values | changes))


def codec(mtu=1500, robot=1, session=SESSION):
    return Codec(MODEL, robot, mtu, session)


def seal(told, known, body):
    """The CRC written out: prefix, what both sides know, the frame."""
    prefix = told.schema.digest + bytes([told.robot_id])
    prefixed = prefix + told.session.to_bytes(4, "big") + known + body
    return (
        fastcrc.crc16.ibm_3740(prefixed).to_bytes(2, "big"),
        bytes([fastcrc.crc8.sae_j1850(prefixed)]),
    )


def as_bytes(bits):
    return int(bits + "0" * (-len(bits) % 8), 2).to_bytes((len(bits) + 7) // 8, "big")


def mixed_radix(layouts, coordinates):
    """The digits, as the table of `app.link.layout` says, without its code."""
    value = 0
    for layout, rows in zip(layouts, coordinates, strict=True):
        for axis, number in zip(layout.axes, rows.ravel(), strict=True):
            value = value * axis.levels + round((number - axis.low) / axis.step)
    return value


def coarse(time_ns):
    return (time_ns // (128 * NS_PER_MS) % (1 << 21)).to_bytes(3, "big")


def test_golden_bits_packed_setpoint():
    told = codec()
    tick = round(NOW / 500_000)
    layout = told.schema.setpoint[Grade.STANDARD]
    value = mixed_radix([layout.limbs[1]], [LIMB])
    bits = (
        f"{tick % (1 << 14):014b}{5:010b}{17:08b}{1:02b}0{value:0{layout.bits((1,))}b}"
    )
    # plan: 20 ms is code 10 of the periods, 15.6 kbit/s floor(8 log2) = 111
    body = bytes([0x21]) + as_bytes(bits) + bytes([1, 2, 10, 111])
    crc16, crc8 = seal(told, coarse(tick * 500_000), body)
    assert told.encode(setpoint()) == body + crc16 + crc8


def test_golden_bits_mode_and_hello():
    told = codec()
    tick = round(NOW / 500_000) % (1 << 29)
    bits = f"{tick:029b}{5:010b}{17:08b}{2:02b}{SESSION:032b}{10:06b}{111:08b}"
    body = bytes([0x00]) + as_bytes(bits)
    crc16, crc8 = seal(told, b"", body)
    assert told.encode(setpoint(mode=StationMode.ESTOP)) == body + crc16 + crc8
    schema = int.from_bytes(told.schema.digest[:4], "big")
    bits = f"{1:08b}{3:08b}{schema:032b}{SESSION:032b}{tick:029b}"
    body = bytes([0x18]) + as_bytes(bits)
    assert told.encode(HelloFrame(1, SESSION, NOW)) == body + plain_long(body)


def test_golden_bits_compact():
    told = codec(8)
    tick = NOW // (128 * NS_PER_MS)
    bits = f"{tick % (1 << 14):014b}{5:03b}{1:02b}{17:08b}{SESSION & 0xFFFF:016b}"
    body = bytes([0x08]) + as_bytes(bits + f"{3:03b}{3:02b}")
    crc = seal(told, coarse(NOW), body)[1]
    assert told.encode(announcement(period_ms=1000.0)) == body + crc
    (part,) = told.schema.compact_setpoint[1]
    bits = f"{tick % 64:06b}{5:03b}{mixed_radix([part.layout], [LIMB]):039b}"
    body = bytes([0x40 | 1]) + as_bytes(bits)
    crc = seal(told, coarse(NOW) + bytes([17]), body)[1]
    assert told.encode(setpoint(period_ms=900.0)) == body + crc


def test_ursula_in_160_and_64_bits(record_property):
    """18 coordinates: payload, then all else, of a full frame of all four limbs."""
    told = codec()
    told.encode(whole(sequence=1))
    for sequence in range(2, 9):
        packet = told.encode(whole(sequence=sequence))
    payload = told.schema.setpoint[Grade.STANDARD].bits((0, 1, 2, 3)) + 3
    record_property("payload_bits", payload)
    assert payload <= 160
    assert 8 * len(packet) <= 160 + 64
    assert len(packet) == math.ceil((64 + payload) / 8)
    assert told.frame_bytes() == len(packet)


def test_round_trip_of_one_limb_and_of_all():
    for grade in Grade:
        station, robot = codec(), codec()
        station.grade = grade
        for frame in (setpoint(), whole(sequence=6)):
            back = robot.decode(station.encode(frame), NOW + NS_PER_S)
            assert isinstance(back, SetpointFrame)
            assert (back.limb, back.epoch, back.mode) == (frame.limb, 17, 1)
            assert back.sequence == frame.sequence
            assert abs(back.generated_ns - NOW) <= 250_000
            assert back.period_ms == 20.0
            assert 15600 / 2 ** (1 / 8) < back.uplink_bps <= 15600
            assert back.active
            assert back.complete
            error = np.abs(back.coordinates - frame.coordinates)
            assert error.max() < 2.0 * grade.error / 0.15


def test_several_limbs_by_their_mask():
    some = POSE.copy()
    some[2:5] = np.nan  # limbs 0 and 3 are left
    packet = codec().encode(whole(coordinates=some, active=False))
    assert stream_key(packet) == 0x31
    back = codec().decode(packet, NOW)
    assert back.limb == WHOLE_ROBOT
    assert np.array_equal(np.isnan(back.coordinates), np.isnan(some))
    assert not back.active
    one = np.full_like(POSE, np.nan)
    one[4] = POSE[4]
    assert codec().decode(codec().encode(whole(coordinates=one)), NOW).limb == 2


def test_telemetry_round_trip():
    station = codec()
    station.encode(setpoint())
    back = station.decode(codec().encode(telemetry()), NOW)
    assert isinstance(back, TelemetryFrame)
    assert (back.state, back.echo_sequence, back.received) == (1, 5, 4)
    assert back.echo_hold_ms == 33.25
    assert abs(back.echo_generated_ns - NOW) <= 250_000
    assert abs(back.generated_ns - NOW) <= 16_000
    assert np.abs(back.tension - np.arange(8.0)).max() < 50 / 1023 / 2 + 1e-12
    all_limbs = telemetry(
        limb=WHOLE_ROBOT,
        coordinates=POSE * 1.2,
        tension=np.arange(24.0),
        faults=0x0102,
        contact=bytes(range(20)),
    )
    packet = codec().encode(all_limbs)
    back = station.decode(packet, NOW)
    assert np.abs(back.coordinates - POSE * 1.2).max() < 0.01
    assert np.abs(back.tension - np.arange(24.0)).max() < 0.03
    assert (back.faults, back.contact) == (0x0102, bytes(range(20)))
    some = POSE.copy()
    some[:2] = np.nan
    back = station.decode(
        codec().encode(telemetry(limb=WHOLE_ROBOT, coordinates=some, tension=None)), NOW
    )
    assert np.isnan(back.coordinates[:2]).all()
    assert back.tension is None
    silent = telemetry(echo_sequence=-1, echo_hold_ms=math.nan, received=0)
    back = codec().decode(codec().encode(silent), NOW)
    assert (back.echo_sequence, back.echo_generated_ns) == (-1, -1)
    assert math.isnan(back.echo_hold_ms)


def test_sections_that_are_not_known_are_skipped():
    told = codec()
    body = told.encode(setpoint())[:-3] + write_section(200, b"of a later version")
    crc16, crc8 = seal(told, coarse(round(NOW / 500_000) * 500_000), body)
    back = codec().decode(body + crc16 + crc8, NOW)
    assert back.limb == 1
    assert read_sections(b"") == {}
    for cut in (b"\x01", b"\x01\x02\x00"):
        with pytest.raises(FrameError, match="cut"):
            read_sections(cut)


class TestDelta:
    """Deltas start from what the peer has, and from nothing else."""

    def pair(self):
        station, robot = codec(), codec()
        robot.decode(station.encode(whole(sequence=1)), NOW)
        station.acknowledge(1)
        return station, robot

    def moved(self, sequence, share=0.01):
        when = NOW + sequence * 20 * NS_PER_MS
        return whole(
            sequence=sequence, coordinates=POSE * (1 - share), generated_ns=when
        )

    def test_a_delta_is_shorter_and_exact(self):
        station, robot = self.pair()
        frame = self.moved(2)
        packet = station.encode(frame)
        full = codec().encode(frame)
        assert len(packet) < 0.75 * len(full)
        there = codec().decode(full, frame.generated_ns).coordinates
        told = robot.decode(packet, frame.generated_ns).coordinates
        assert np.array_equal(told, there)

    def test_nothing_acknowledged_no_delta(self):
        station = codec()
        sizes = {len(station.encode(self.moved(k))) for k in range(9, 16)}
        assert sizes == {station.frame_bytes()} or min(sizes) >= station.frame_bytes()

    def test_an_unknown_base_is_refused(self):
        station, _ = self.pair()
        packet = station.encode(self.moved(2))
        with pytest.raises(FrameError, match="not known"):
            codec().decode(packet, NOW)

    def test_a_base_of_other_content_is_refused(self):
        station, _ = self.pair()
        robot = codec()
        robot.decode(codec().encode(self.moved(1, 0.5)), NOW)
        with pytest.raises(FrameError, match="base"):
            robot.decode(station.encode(self.moved(2)), NOW)

    def test_a_peer_that_lost_the_base_is_served_again_soon(self):
        station, _ = self.pair()
        robot, refused = codec(), 0
        for sequence in range(2, 15):
            frame = self.moved(sequence)
            try:
                robot.decode(station.encode(frame), frame.generated_ns)
                break
            except FrameError:
                refused += 1
        assert refused < 10

    def test_another_connection_has_other_bases(self):
        station, robot = self.pair()
        packet = station.encode(self.moved(2))
        with pytest.raises(FrameError, match="not known"):
            robot.decode(packet, NOW, peer=1)
        assert robot.decode(packet, NOW, peer=0).complete

    @given(st.lists(st.floats(-3.0, 3.0), min_size=18, max_size=18), st.booleans())
    @settings(deadline=None, max_examples=60)
    def test_any_pose_from_any_base(self, values, lost):
        station, robot = self.pair()
        pose = np.array(values).reshape(6, 3) * [1.0, 1.0, 0.01]
        frame = whole(sequence=2, coordinates=pose)
        packet = station.encode(frame)
        fresh = codec().decode(codec().encode(frame), NOW).coordinates
        assert np.array_equal(robot.decode(packet, NOW).coordinates, fresh)
        if lost:
            again = station.encode(whole(sequence=3, coordinates=pose * 0.9))
            assert robot.decode(again, NOW).complete


def test_compact_tells_a_whole_limb_after_an_announcement():
    station, robot = codec(8), codec(8)
    packet = station.encode(setpoint())
    assert len(packet) == 8
    with pytest.raises(FrameError, match="announced"):
        robot.decode(packet, NOW)
    opening = robot.decode(station.encode(announcement(period_ms=900.0)), NOW)
    assert opening.announces
    assert (opening.epoch, opening.period_ms, opening.uplink_bps) == (17, 1000, 900)
    back = robot.decode(packet, NOW)
    assert back.complete
    assert (back.limb, back.epoch, back.active) == (1, 17, True)
    assert np.abs(back.coordinates - LIMB)[:, :2].max() < 0.02
    assert np.abs(back.coordinates - LIMB)[:, 2].max() < 2e-3
    slow = setpoint(period_ms=3500.0, sequence=6, active=False)
    back = robot.decode(station.encode(slow), NOW)
    assert (back.period_ms, back.active) == (4000.0, False)
    # Another arming is another seal.
    with pytest.raises(FrameError, match="CRC"):
        robot.decode(station.encode(setpoint(epoch=18, sequence=7)), NOW)
    robot.decode(station.encode(setpoint(mode=StationMode.DISARMED)), NOW)
    with pytest.raises(FrameError, match="announced"):
        robot.decode(packet, NOW)


def test_compact_telemetry_recovers_counters():
    station, robot = codec(8), codec(8)
    for sequence in range(40, 203):
        station.encode(setpoint(sequence=sequence, epoch=200))
    when = NOW
    for received in range(1, 60, 3):
        when += NS_PER_S
        packet = robot.encode(
            telemetry(
                echo_sequence=197, epoch=199, received=received, generated_ns=when
            )
        )
        frame = station.decode(packet, when + NS_PER_S)
        assert (frame.echo_sequence, frame.epoch, frame.received) == (
            197,
            199,
            received,
        )
    none = codec(8).decode(robot.encode(telemetry(epoch=0, received=0)), NOW)
    assert (none.epoch, none.echo_sequence) == (0, -1)


@pytest.mark.parametrize("mtu", [1500, 8])
@pytest.mark.parametrize("mode", [StationMode.DISARMED, StationMode.ESTOP])
def test_mode_frames_are_urgent_and_small(mtu, mode):
    packet = codec(mtu).encode(setpoint(mode=mode, coordinates=np.full((2, 3), np.nan)))
    assert (
        stream_key(packet) < URGENT_KEY_END <= stream_key(codec(mtu).encode(setpoint()))
    )
    assert len(packet) <= (8 if mtu == 8 else 16)
    frame = codec(mtu).decode(packet, NOW)
    assert (frame.mode, frame.epoch) == (mode, 17)
    assert not frame.complete


def test_lanes_stop_then_base_then_active_limb_then_the_rest():
    for mtu in (1500, 8):
        told = codec(mtu)
        stop = told.encode(setpoint(mode=StationMode.ESTOP))
        active = told.encode(setpoint())
        rest = told.encode(setpoint(active=False))
        lanes = [lane(stream_key(packet)) for packet in (stop, active, rest)]
        assert lanes == [0, 2, 3]
        assert lane(stream_key(told.encode(HelloFrame(1, 5, NOW)))) == 1
        assert lane(stream_key(told.encode(telemetry()))) == 2
    assert lane(0x10) == 1
    assert lane(stream_key(codec().encode(whole()))) == 2
    assert {lane(key) for key in range(256)} == {0, 1, 2, 3}


def test_profile_follows_mtu_and_both_are_read():
    least = max(codec().packed_bytes(limb) for limb in range(4))
    for mtu, profile in (
        (8, Profile.COMPACT),
        (least - 1, Profile.COMPACT),
        (least, Profile.PACKED),
    ):
        told = codec(mtu)
        assert told.profile is profile, mtu
        for frame in (announcement(), setpoint(), telemetry()):
            packet = told.encode(frame)
            assert len(packet) <= mtu
            assert profile_of(packet) is profile
    tight = codec(least).encode(telemetry())
    assert codec().decode(tight, NOW).tension is None


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_one_flipped_bit_or_wrong_length_is_refused(data):
    mtu = data.draw(st.sampled_from([8, 1500]))
    frame = data.draw(st.sampled_from([setpoint(), telemetry(), whole()][: mtu // 3]))
    packet = bytearray(codec(mtu).encode(frame))
    bit = data.draw(st.integers(0, 8 * len(packet) - 1))
    cut = data.draw(st.integers(0, len(packet) - 1))
    broken = bytearray(packet)
    broken[bit // 8] ^= 1 << bit % 8
    robot = codec(mtu)
    robot.decode(codec(8).encode(announcement()), NOW)
    with pytest.raises(FrameError):
        robot.decode(bytes(broken), NOW)
    with pytest.raises(FrameError):
        robot.decode(bytes(packet[:cut]), NOW)


@pytest.mark.parametrize("mtu", [1500, 8])
def test_another_robot_never_obeys(mtu):
    packets = [codec(mtu).encode(frame) for frame in (announcement(), setpoint())]
    passed = 0
    for robot in (0, *range(2, 256)):
        other = codec(mtu, robot=robot)
        for packet in packets:
            try:
                other.decode(packet, NOW)
                passed += 1
            except FrameError:
                pass
    assert passed == 0


class TestSession:
    """A frame belongs to one life of one robot."""

    @pytest.mark.parametrize("mtu", [1500, 8])
    def test_no_frame_of_another_session_is_read(self, mtu):
        before = codec(mtu, session=SESSION + 0x10001)
        frames = (
            announcement(),
            setpoint(),
            telemetry(),
            setpoint(mode=StationMode.ESTOP),
        )
        for frame in frames:
            with pytest.raises(FrameError):
                codec(mtu).decode(before.encode(frame), NOW)

    def test_packed_says_so(self):
        stop = setpoint(mode=StationMode.ESTOP)
        with pytest.raises(FrameError, match="session"):
            codec().decode(codec(session=7).encode(stop), NOW)

    @pytest.mark.parametrize("mtu", [1500, 8])
    def test_a_stranger_is_known_as_one(self, mtu):
        stop = setpoint(mode=StationMode.ESTOP)
        assert codec(mtu).decode(codec(mtu, session=0).encode(stop), NOW).stranger
        assert not codec(mtu).decode(codec(mtu).encode(stop), NOW).stranger
        with pytest.raises(FrameError):
            codec(mtu).decode(codec(mtu, session=0).encode(setpoint()), NOW)

    @pytest.mark.parametrize("mtu", [1500, 8])
    def test_hello_tells_session_and_clock(self, mtu):
        packet = codec(mtu).encode(HelloFrame(1, SESSION, NOW))
        assert len(packet) <= min(mtu, 18)
        hello = codec(mtu, session=0).decode(packet, NOW - 86_400 * NS_PER_S)
        assert (hello.robot, hello.session) == (1, SESSION)
        slack = 250_000 if mtu > 8 else 2_049 * NS_PER_MS
        assert abs(hello.generated_ns - NOW) <= slack

    def test_a_span_later_is_another_time(self):
        packet = codec().encode(setpoint())
        codec().decode(packet, NOW)
        for spans in range(1, 50):
            with pytest.raises(FrameError):
                codec().decode(packet, NOW + spans * 8192 * NS_PER_MS)

    def test_hello_says_what_does_not_match(self):
        other = MODEL._replace(bend_limit=MODEL.bend_limit * 0.99)
        told = Codec(other, 1, 1500, 5)
        with pytest.raises(FrameError, match="same robot file"):
            codec().decode(told.encode(HelloFrame(1, 5, NOW)), NOW)
        packet = bytearray(codec().encode(HelloFrame(1, 5, NOW)))
        packet[2] = 99
        packet[-3:] = plain_long(bytes(packet[:-3]))
        with pytest.raises(FrameError, match="version 99"):
            codec().decode(bytes(packet), NOW)


def test_encoder_clips_to_the_disc_and_refuses_nonsense():
    wild = np.array([[3.0, 4.0, 1.0], [0.0, 0.0, -1.0]])
    rows = codec().decode(codec().encode(setpoint(coordinates=wild)), NOW).coordinates
    limit = MODEL.bend_limit[0]
    assert np.allclose(rows[0, :2], [0.6 * limit, 0.8 * limit], atol=2e-3)
    assert np.allclose(rows[:, 2], MODEL.extension_range[0, ::-1], atol=1e-5)
    for wrong in (
        setpoint(coordinates=np.full((2, 3), np.nan)),
        setpoint(coordinates=np.zeros((1, 3))),
        whole(coordinates=np.full((6, 3), np.nan)),
        whole(coordinates=np.full((6, 3), np.inf)),
        setpoint(limb=4),
        setpoint(robot=2),
        telemetry(tension=np.zeros(3)),
        telemetry(tension=np.full(8, np.inf)),
        telemetry(contact=bytes(65)),
    ):
        with pytest.raises(FrameError):
            codec().encode(wrong)
    with pytest.raises(FrameError, match="at least 8"):
        codec(7)
    with pytest.raises(FrameError, match="Session"):
        codec(session=1 << 32)


def test_restarted_sender_counts_on():
    """A station that counts from 0 again is newer, and a late frame is older."""
    robot = codec()
    before = robot.decode(codec().encode(setpoint(sequence=500)), NOW)
    late = setpoint(sequence=490, generated_ns=NOW - NS_PER_S)
    assert robot.decode(codec().encode(late), NOW).sequence == 490
    anew = setpoint(sequence=0, generated_ns=NOW + NS_PER_S)
    assert robot.decode(codec().encode(anew), NOW).sequence > before.sequence


@given(st.integers(-1_900, 5_900), st.integers(0, 10**15), st.sampled_from([8, 1500]))
@settings(deadline=None, max_examples=100)
def test_time_is_right_for_6_s_back_and_2_s_ahead(age_ms, start_ms, mtu):
    made_ns = (start_ms + 20_000) * NS_PER_MS
    robot = codec()
    opening = announcement(generated_ns=made_ns)
    robot.decode(codec(8).encode(opening), made_ns)
    packet = codec(mtu).encode(setpoint(generated_ns=made_ns))
    told_ns = robot.decode(packet, made_ns + age_ms * NS_PER_MS).generated_ns
    tick_ns = 128 * NS_PER_MS if mtu == 8 else 500_000
    assert abs(made_ns - told_ns) < tick_ns


def fuzz_frames(count: int, seed: int) -> None:
    """Decode mutated and random bytes; raises on a defect.

    Nothing but FrameError may escape, and of mutated packed frames none may pass (1 in
    16.8 million does by chance).

    Args:
        count: so many mutated and so many random strings.
        seed: of both.
    """
    draw = random.Random(seed)
    told, small = codec(), codec(8)
    frames = (setpoint(), whole(), whole(sequence=6, coordinates=POSE * 0.99),
              announcement(), setpoint(mode=StationMode.ESTOP),
              telemetry(), telemetry(limb=WHOLE_ROBOT, coordinates=POSE,
              tension=np.arange(24.0), faults=3, contact=b"x"))  # fmt: skip
    packets = [told.encode(frame) for frame in frames]
    packets.append(told.encode(HelloFrame(1, SESSION, NOW)))
    packets += [small.encode(frame) for frame in (announcement(), setpoint())]
    packets.append(small.encode(telemetry()))
    robot = codec()
    for packet in packets:
        robot.decode(packet, NOW)
    for _ in range(count):
        original = draw.choice(packets)
        broken = bytearray(original)
        for _ in range(draw.randint(1, 6)):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        if draw.random() < 0.2:
            del broken[draw.randrange(len(broken)) :]
        for buffer in (bytes(broken), draw.randbytes(draw.randint(0, 64))):
            try:
                robot.decode(buffer, NOW)
            except FrameError:
                continue
            if buffer not in packets and profile_of(buffer) is Profile.PACKED:
                raise AssertionError(f"{buffer.hex()} was read as a frame")


def test_fuzz():
    fuzz_frames(3_000, 1)


@pytest.mark.parametrize("mtu", [1024, 8])
def test_a_mode_frame_of_the_future_poisons_no_counter(mtu):
    """Nor does a stranger's: what comes after is neither late nor another number."""
    near, far = Codec(MODEL, 1, mtu, SESSION), Codec(MODEL, 1, mtu, SESSION)
    stranger = Codec(MODEL, 1, mtu, 0)
    mode = {"mode": StationMode.DISARMED, "epoch": 0, "limb": WHOLE_ROBOT}
    mode["coordinates"] = np.full((6, 3), np.nan)
    first = near.encode(setpoint(sequence=5, **mode))
    assert far.decode(first, NOW).sequence % 8 == 5
    for codec, sequence in ((near, 7), (stranger, 2)):
        ahead = setpoint(sequence=sequence, generated_ns=NOW + 900 * NS_PER_S, **mode)
        far.decode(codec.encode(ahead), NOW)
    later = near.encode(setpoint(sequence=9, generated_ns=NOW + NS_PER_S, **mode))
    assert far.decode(later, NOW + NS_PER_S).sequence == 9
