"""The mock vehicle: golden bytes, failsafes in virtual time, pymavlink's client.

Frames: MAVLink guide, Packet Serialization; message definitions in common.xml. The
failsafes are those of ArduSub/failsafe.cpp.
"""

import warnings

import numpy as np
import pytest
from fastcrc import crc16
from hypothesis import given, settings
from hypothesis import strategies as st

from app.drivers.mavlink_messages import (
    Command,
    CommandAck,
    Heartbeat,
    ManualControl,
    Message,
    ParamSet,
    ParamValue,
    StatusText,
)
from app.drivers.mavlink_vehicle import MODES
from app.drivers.mavlink_wire import (
    ARM_DISARM,
    DO_SET_MODE,
    MavlinkCodec,
)
from app.drivers.virtual.base import Drive
from app.drivers.virtual.carrier import UdpCarrier
from app.drivers.virtual.mavlink import VirtualSub

_S = 1_000_000_000
_NEUTRAL = ManualControl(1, 0, 0, 500, 0, 0, 0, 0)


def _frame(message: int, crc_extra: int, payload: str, sequence: int = 0) -> bytes:
    """Build a MAVLink 2 frame of system 255, component 190 from its definition."""
    data = bytes.fromhex(payload)
    body = bytes([len(data), 0, 0, sequence, 255, 190, message, 0, 0]) + data
    check = crc16.mcrf4xx(body + bytes([crc_extra]))
    return b"\xfd" + body + check.to_bytes(2, "little")


def test_golden_bytes_of_a_heartbeat() -> None:
    # custom_mode 0, type 6 (GCS), autopilot 8 (none), base_mode 0, active, version 3
    golden = bytes.fromhex("fd09000000ffbe0000000000000006080004033d48")
    assert golden == _frame(0, 50, "00000000 06 08 00 04 03")
    assert MavlinkCodec(255, 190).station_heartbeat() == golden


def test_golden_bytes_of_manual_control() -> None:
    # x 0, y 0, z 500, r 0, buttons 0, target 1
    golden = bytes.fromhex("fd0b000000ffbe45000000000000f4010000000001a5b3")
    assert golden == _frame(69, 243, "0000 0000 f401 0000 0000 01")
    assert MavlinkCodec(255, 190).manual_control(_NEUTRAL) == golden


def test_sticks_of_pitch_and_roll_have_their_bits() -> None:
    sent = MavlinkCodec(255, 190).manual_control(
        ManualControl(1, 1000, -1000, 0, 250, -500, 100, 0)
    )
    payload = "e803 18fc 0000 fa00 0000 01 0000 03 0cfe 64"  # trailing zero cut off
    assert sent == _frame(69, 243, payload)


class _Station:
    """A ground station that speaks to a vehicle in virtual time."""

    def __init__(self, sub: VirtualSub, system: int = 255, key: str = "") -> None:
        self.sub = sub
        self.codec = MavlinkCodec(system, 190, key)
        self._reader = MavlinkCodec(0, 0, key)
        self.now_ns = 0

    def say(self, data: bytes) -> list[Message]:
        said = self.sub.feed(self.now_ns, data)
        return [received.message for received in self._reader.decode(said)]

    def command(self, command: int, first: float, second: float = 0.0) -> int:
        said = self.say(self.codec.command(Command(1, command, first, second)))
        acks = [m for m in said if isinstance(m, CommandAck)]
        assert [ack.command for ack in acks] == [command]
        return acks[0].result

    def drive(self, seconds: float, *, sticks: ManualControl | None) -> list[Message]:
        """Let time pass at 50 Hz; sticks every round, heartbeats each second."""
        heard: list[Message] = []
        for step in range(round(seconds * 50)):
            self.now_ns += _S // 50
            if sticks is not None:
                self.say(self.codec.manual_control(sticks))
                if step % 50 == 0:
                    self.say(self.codec.station_heartbeat())
            said = self.sub.advance(self.now_ns)
            heard += [received.message for received in self._reader.decode(said)]
        return heard


def _armed(mode: str = "alt_hold") -> _Station:
    station = _Station(VirtualSub())
    station.drive(0.1, sticks=_NEUTRAL)
    assert station.command(DO_SET_MODE, 1, MODES[mode]) == 0
    assert station.command(ARM_DISARM, 1) == 0
    return station


def test_it_moves_only_when_armed() -> None:
    station = _Station(VirtualSub())
    ahead = _NEUTRAL._replace(x=1000)
    station.drive(1.0, sticks=ahead)
    assert not station.sub.actuators.measured.any()
    station.command(ARM_DISARM, 1)
    station.drive(2.0, sticks=ahead)
    assert station.sub.actuators.measured[0] == pytest.approx(1.0, abs=0.02)
    assert not station.sub.actuators.measured[1:].any()


def test_z_0_is_full_down_and_500_neutral() -> None:
    station = _armed()
    station.drive(4.0, sticks=_NEUTRAL._replace(z=0))
    deep = station.sub.depth
    assert deep == pytest.approx(0.5 * (4.0 - 0.4), rel=0.02)
    station.drive(4.0, sticks=_NEUTRAL)
    settled = station.sub.depth
    station.drive(4.0, sticks=_NEUTRAL)
    assert station.sub.depth == pytest.approx(settled, abs=1e-3)
    station.drive(2.0, sticks=_NEUTRAL._replace(z=1000))
    assert station.sub.depth < settled - 0.5


def test_without_pilot_input_it_stops_and_disarms() -> None:
    station = _armed()
    station.drive(1.0, sticks=_NEUTRAL._replace(y=1000))
    heard = station.drive(2.9, sticks=None)
    assert station.sub.armed
    heard = station.drive(0.2, sticks=None)
    texts = [m.text for m in heard if isinstance(m, StatusText)]
    assert "Lost manual control" in texts
    assert not station.sub.armed
    assert set(station.sub.actuators.drive) == {Drive.OFF}


def test_warned_only_it_stops_but_stays_armed() -> None:
    station = _armed()
    station.say(station.codec.param_set(1, "FS_PILOT_INPUT", 1.0))
    station.drive(1.0, sticks=_NEUTRAL._replace(y=1000))
    station.drive(3.2, sticks=None)
    assert station.sub.armed
    assert not station.sub.actuators.goal.any()


@pytest.mark.parametrize(
    ("action", "armed", "mode"),
    [
        (1.0, True, "manual"),
        (2.0, False, "manual"),
        (3.0, True, "alt_hold"),
        (4.0, True, "surface"),
    ],
)
def test_without_its_station_it_does_what_it_was_set_to(
    action: float, armed: bool, mode: str
) -> None:
    station = _armed("manual")
    for name, value in (("FS_PILOT_INPUT", 0.0), ("FS_GCS_ENABLE", action)):
        station.say(station.codec.param_set(1, name, value))
    station.drive(4.9, sticks=None)
    assert station.sub.armed
    assert station.sub.mode == MODES["manual"]
    heard = station.drive(0.3, sticks=None)
    assert any(isinstance(m, StatusText) and "heartbeat lost" in m.text for m in heard)
    assert (station.sub.armed, station.sub.mode) == (armed, MODES[mode])


def test_another_station_has_no_say_over_its_sticks() -> None:
    station = _armed()
    other = _Station(station.sub, system=254)
    other.now_ns = station.now_ns
    other.drive(3.2, sticks=_NEUTRAL._replace(x=1000))
    assert not station.sub.actuators.goal.any()
    assert not station.sub.armed


def test_parameters_are_told_and_set() -> None:
    station = _Station(VirtualSub())
    told = station.say(station.codec.param_request(1, "FS_PILOT_TIMEOUT"))
    assert told == [ParamValue("FS_PILOT_TIMEOUT", 3.0)]
    assert station.say(station.codec.param_request(1, "NO_SUCH")) == []
    assert station.say(station.codec.param_request(2, "FS_PILOT_TIMEOUT")) == []
    told = station.say(station.codec.param_set(1, "FS_PILOT_TIMEOUT", float("nan")))
    assert told == [ParamValue("FS_PILOT_TIMEOUT", 3.0)]


def test_a_failed_check_refuses_arming_and_says_why() -> None:
    station = _Station(VirtualSub())
    station.sub.refuse_arming = "Depth sensor not healthy"
    said = station.say(station.codec.command(Command(1, ARM_DISARM, 1, 0)))
    assert StatusText(2, "PreArm: Depth sensor not healthy", 0, 0) in said
    assert CommandAck(ARM_DISARM, 4) in said
    assert not station.sub.armed
    assert station.command(DO_SET_MODE, 1, MODES["poshold"]) == 4


def test_signed_messages_only_where_there_is_a_key() -> None:
    sub = VirtualSub(key="right")
    for key in ("", "wrong"):
        station = _Station(sub, key=key)
        station.say(station.codec.command(Command(1, ARM_DISARM, 1, 0)))
        assert not sub.armed
    station = _Station(sub, key="right")
    frame = station.codec.command(Command(1, ARM_DISARM, 1, 0))
    station.say(frame)
    assert sub.armed
    sub.disarm()
    station.say(frame)
    assert not sub.armed, "a replayed frame"


def test_pymavlinks_own_client_arms_drives_and_reads_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pymavlink import mavutil
    sub = VirtualSub()
    with UdpCarrier(sub) as served:
        link = mavutil.mavlink_connection(
            f"udpout:{served.host}:{served.port}",
            source_system=255,
            dialect="ardupilotmega",
        )
        try:
            beat = None
            while beat is None:
                link.mav.heartbeat_send(6, 8, 0, 0, 4)
                beat = link.recv_match(type="HEARTBEAT", blocking=True, timeout=0.2)
            assert beat.type == mavutil.mavlink.MAV_TYPE_SUBMARINE
            assert link.mode_mapping()["ALT_HOLD"] == MODES["alt_hold"]
            assert {n.upper(): m for n, m in MODES.items()}.items() <= (
                link.mode_mapping().items()
            )
            link.set_mode("ALT_HOLD")
            link.arducopter_arm()
            link.mav.manual_control_send(1, 500, 0, 500, 0, 0)
            link.motors_armed_wait()
            assert link.flightmode == "ALT_HOLD"
            link.mav.manual_control_send(1, 500, 0, 500, 0, 0)
            link.param_fetch_one("FS_GCS_ENABLE")
            value = link.recv_match(type="PARAM_VALUE", blocking=True, timeout=5.0)
            assert (value.param_id, value.param_value) == ("FS_GCS_ENABLE", 2.0)
            assert sub.actuators.told()[0][0] == 0.5
            link.arducopter_disarm()
            link.motors_disarmed_wait()
        finally:
            link.close()
    assert not sub.armed


@given(
    sticks=st.tuples(*[st.integers(-1000, 1000)] * 6),
    z=st.integers(0, 1000),
    value=st.floats(width=32, allow_nan=False, allow_infinity=False),
    cut=st.integers(0, 60),
)
@settings(deadline=None, max_examples=60)
def test_messages_round_trip_in_any_pieces(
    sticks: tuple[int, ...], z: int, value: float, cut: int
) -> None:
    sender, reader = MavlinkCodec(255, 190), MavlinkCodec(1, 1)
    x, y, r, s, t, _ = sticks
    wanted: list[Message] = [
        ManualControl(1, x, y, z, r, s, t, 0),
        ParamSet(1, "FS_PILOT_TIMEOUT", value),
    ]
    data = sender.manual_control(ManualControl(1, x, y, z, r, s, t, 0))
    data += sender.param_set(1, "FS_PILOT_TIMEOUT", value)
    got = reader.decode(data[:cut]) + reader.decode(data[cut:])
    assert [received.message for received in got] == wanted
    assert {(received.system, received.component) for received in got} == {(255, 190)}


def fuzz_mavlink(count: int, seed: int) -> None:
    """Feed vehicle and station random bytes and spoilt frames; raise where it arms."""
    draw = np.random.default_rng(seed)
    sub = VirtualSub()
    codec = MavlinkCodec(255, 190)
    station = MavlinkCodec(255, 190)
    for i in range(count):
        good = bytearray(codec.command(Command(1, ARM_DISARM, 1, 0)))
        good[int(draw.integers(1, len(good)))] ^= 1 << int(draw.integers(8))
        noise = draw.bytes(int(draw.integers(0, 40)))
        kind = int(draw.integers(3))
        sent = (noise, bytes(good), b"\xfd" + noise)[kind]
        sub.feed(i * 10_000_000, sent)
        station.decode(sent)
        if sub.armed:
            raise AssertionError(f"armed by {sent.hex()}")
    if sub.actuators.told()[0].any():
        raise AssertionError("a stick was moved by bytes that are no message")
    if not station.decode(
        bytes(300)
        + MavlinkCodec(1, 1).vehicle_heartbeat(armed=False, mode=0, failsafe=False)
    ):
        raise AssertionError("the next good message is not read")


def test_random_bytes_arm_nothing() -> None:
    fuzz_mavlink(500, 3)


def test_a_vehicles_heartbeat_is_not_a_stations() -> None:
    reader = MavlinkCodec(0, 0)
    own = reader.decode(MavlinkCodec(255, 190).station_heartbeat())[0].message
    assert isinstance(own, Heartbeat)
    assert not own.autopilot
