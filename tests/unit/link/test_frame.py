"""Frames: exact bytes, round trips within half a step, and nothing false accepted."""

import math

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
    Codec,
    Profile,
    SetpointFrame,
    TelemetryFrame,
    profile_of,
    stream_key,
)
from app.messages import RobotState, StationMode

MODEL = build_robot_model(load_robot("ursula"))
NOW = 123 * 86_400 * NS_PER_S + 456_789_000
FULL_STEP = math.pi / ((1 << 14) - 2)
COMPACT_STEP = math.pi / ((1 << 9) - 2)


def setpoint(**changes):
    values = {
        "sequence": 5,
        "generated_ns": NOW,
        "robot": 1,
        "limb": 1,
        "epoch": 17,
        "mode": StationMode.ARMED,
        "period_ms": 40.0,
        "coordinates": np.array([[0.5, -0.3, -0.004], [0.1, 1.2, -0.009]]),
        "uplink_bps": 15600.0,
    }
    return SetpointFrame(**(values | changes))


def telemetry(**changes):
    values = {
        "sequence": 9,
        "generated_ns": NOW,
        "robot": 1,
        "limb": 1,
        "epoch": 17,
        "state": RobotState.ACTIVE,
        "coordinates": np.array([[0.5, -0.3, -0.004], [0.1, 1.2, -0.009]]),
        "tension": np.arange(8.0),
        "echo_sequence": 5,
        "echo_hold_ms": 33.25,
        "received": 4,
    }
    return TelemetryFrame(**(values | changes))


def codec(mtu=1500, robot=1):
    return Codec(MODEL, robot, mtu)


def test_golden_bytes():
    """The bits on the wire, written out by hand from the tables of the profiles."""
    zero = np.zeros((1, 3))
    full = codec().encode(
        setpoint(
            limb=2, generated_ns=0x12345678 * 10_000, coordinates=zero, uplink_bps=0.0
        )
    )
    bits = (
        f"{1:08b}{0x12345678:040b}{5:016b}{17:08b}{1:02b}{40:014b}{0:08b}"
        f"{8191:014b}{8191:014b}{1022:010b}"
    )
    body = bytes([0x12]) + int(bits + "0" * (-len(bits) % 8), 2).to_bytes(17, "big")
    assert full == body + fastcrc.crc16.ibm_3740(body).to_bytes(2, "big")
    compact = codec(8).encode(
        setpoint(limb=2, generated_ns=0x34 * 64 * NS_PER_MS, coordinates=zero)
    )
    bits = f"{0x34:08b}{5:04b}{17:08b}{0:03b}{3:02b}{255:09b}{255:09b}{30:05b}"
    body = bytes([0x44]) + int(bits, 2).to_bytes(6, "big")
    assert compact == body + bytes([fastcrc.crc8.autosar(b"\x01" + body)])


def test_full_round_trip():
    frame = codec().decode(codec().encode(setpoint()), NOW + NS_PER_S)
    assert isinstance(frame, SetpointFrame)
    assert (frame.sequence, frame.limb, frame.epoch, frame.mode) == (5, 1, 17, 1)
    assert abs(frame.generated_ns - NOW) < 10_000
    assert frame.period_ms == 40.0
    assert 15600 / 2 ** (1 / 8) < frame.uplink_bps <= 15600
    assert np.abs(frame.coordinates - setpoint().coordinates).max() < FULL_STEP / 2
    station = codec()
    station.encode(setpoint())
    back = station.decode(codec().encode(telemetry()), NOW)
    assert isinstance(back, TelemetryFrame)
    assert (back.state, back.echo_sequence, back.received) == (1, 5, 4)
    assert back.echo_hold_ms == 33.25
    assert np.abs(back.tension - np.arange(8.0)).max() < 50 / 1022 / 2 + 1e-12


def test_compact_tells_a_segment_a_frame():
    station, robot = codec(8), codec(8)
    first = station.encode(setpoint())
    second = station.encode(setpoint(sequence=6, generated_ns=NOW + NS_PER_S))
    assert len(first) == len(second) == 8
    assert stream_key(first) != stream_key(second)
    half = robot.decode(first, NOW)
    assert not half.complete
    assert np.isnan(half.coordinates[1]).all()
    whole = robot.decode(second, NOW + NS_PER_S)
    assert whole.complete
    wanted = setpoint().coordinates
    assert np.abs(whole.coordinates - wanted)[:, :2].max() <= COMPACT_STEP / 2
    assert np.abs(whole.coordinates - wanted)[:, 2].max() <= 0.01 / 30 / 2
    assert whole.uplink_bps == 900.0
    assert whole.sequence == half.sequence + 1
    # Another arming starts from nothing known.
    third = station.encode(setpoint(epoch=18, generated_ns=NOW + 2 * NS_PER_S))
    assert not robot.decode(third, NOW + 2 * NS_PER_S).complete


def test_compact_telemetry_recovers_counters():
    station, robot = codec(8), codec(8)
    for sequence in range(40, 203):
        station.encode(setpoint(sequence=sequence, epoch=200))
    when = NOW
    for received in range(1, 60, 3):
        when += NS_PER_S
        packet = robot.encode(
            telemetry(
                echo_sequence=195, epoch=199, received=received, generated_ns=when
            )
        )
        frame = station.decode(packet, when + NS_PER_S)
        assert (frame.echo_sequence, frame.epoch, frame.received) == (
            195,
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


def test_profile_follows_mtu_and_both_are_read():
    for mtu, profile in (
        (8, Profile.COMPACT),
        (27, Profile.COMPACT),
        (28, Profile.FULL),
    ):
        assert codec(mtu).profile is profile, mtu
        packet = codec(mtu).encode(setpoint())
        assert len(packet) <= mtu
        assert profile_of(packet) is profile
        assert codec(1500).decode(packet, NOW).limb == 1
    tight = codec(28).encode(telemetry())
    assert len(tight) <= 28
    assert codec().decode(tight, NOW).tension is None


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_one_flipped_bit_or_wrong_length_is_refused(data):
    mtu = data.draw(st.sampled_from([8, 1500]))
    frame = data.draw(st.sampled_from([setpoint(), telemetry()]))
    packet = bytearray(codec(mtu).encode(frame))
    bit = data.draw(st.integers(0, 8 * len(packet) - 1))
    cut = data.draw(st.integers(0, len(packet) - 1))
    broken = bytearray(packet)
    broken[bit // 8] ^= 1 << bit % 8
    with pytest.raises(FrameError):
        codec(mtu).decode(bytes(broken), NOW)
    with pytest.raises(FrameError):
        codec(mtu).decode(bytes(packet[:cut]), NOW)


@pytest.mark.parametrize("mtu", [1500, 8])
def test_length_beyond_the_fields_is_refused_with_a_right_crc(mtu):
    body = codec(mtu).encode(setpoint(mode=StationMode.ESTOP))
    if mtu == 8:
        longer = body[:-1] + b"\0"
        sealed = longer + bytes([fastcrc.crc8.autosar(b"\x01" + longer)])
    else:
        longer = body[:-2] + b"\0"
        sealed = longer + fastcrc.crc16.ibm_3740(longer).to_bytes(2, "big")
    with pytest.raises(FrameError, match="beyond its fields"):
        codec(mtu).decode(sealed, NOW)


@pytest.mark.parametrize("mtu", [1500, 8])
def test_another_robot_never_obeys(mtu):
    packet = codec(mtu, robot=1).encode(setpoint())
    for robot in (0, *range(2, 256)):
        with pytest.raises(FrameError):
            codec(mtu, robot=robot).decode(packet, NOW)


def test_setpoint_outside_the_bend_disc_is_refused():
    codes = (16382, 16382, 0)  # both angles at their limit: 127 degrees
    bits = (
        f"{1:08b}{0:040b}{5:016b}{17:08b}{1:02b}{40:014b}{0:08b}"
        f"{codes[0]:014b}{codes[1]:014b}{codes[2]:010b}"
    )
    body = bytes([0x12]) + int(bits + "0" * (-len(bits) % 8), 2).to_bytes(17, "big")
    with pytest.raises(FrameError, match="Bend"):
        codec().decode(body + fastcrc.crc16.ibm_3740(body).to_bytes(2, "big"), 0)


def test_encoder_clips_to_the_disc_and_refuses_nonsense():
    wild = np.array([[3.0, 4.0, 1.0], [0.0, 0.0, -1.0]])
    rows = codec().decode(codec().encode(setpoint(coordinates=wild)), NOW).coordinates
    limit = MODEL.bend_limit[0]
    assert np.allclose(rows[0, :2], [0.6 * limit, 0.8 * limit], atol=FULL_STEP)
    assert np.allclose(rows[:, 2], MODEL.extension_range[0, ::-1], atol=1e-5)
    for wrong in (
        setpoint(coordinates=np.full((2, 3), np.nan)),
        setpoint(coordinates=np.zeros((1, 3))),
        setpoint(limb=4),
        setpoint(robot=2),
        telemetry(tension=np.zeros(3)),
        telemetry(tension=np.full(8, np.inf)),
    ):
        with pytest.raises(FrameError):
            codec().encode(wrong)
    with pytest.raises(FrameError, match="at least 8"):
        codec(7)


def test_restarted_sender_counts_on():
    """A station that counts from 0 again is newer, and a late frame is older."""
    robot = codec()
    before = robot.decode(codec().encode(setpoint(sequence=5000)), NOW)
    late = setpoint(sequence=4990, generated_ns=NOW - NS_PER_S)
    assert robot.decode(codec().encode(late), NOW).sequence == 4990
    anew = setpoint(sequence=0, generated_ns=NOW + NS_PER_S)
    assert robot.decode(codec().encode(anew), NOW).sequence > before.sequence


@given(st.integers(0, 3), st.integers(-1_500, 14_000), st.integers(0, 10**15))
@settings(deadline=None)
def test_compact_time_is_right_for_14_s_back_and_1_5_s_ahead(limb, age_ms, start_ms):
    made_ns = (start_ms + 20_000) * NS_PER_MS
    rows = np.zeros((2 if limb < 2 else 1, 3))
    packet = codec(8).encode(
        setpoint(limb=limb, generated_ns=made_ns, coordinates=rows)
    )
    told_ns = codec(8).decode(packet, made_ns + age_ms * NS_PER_MS).generated_ns
    assert 0 <= made_ns - told_ns < 64 * NS_PER_MS
