"""Golden bytes: what is on the wire, for a robot that no file can change.

A change of any byte here is another format: raise FRAME_VERSION and say so in
app/README.md. The robot has two limbs, of two segments and of one, and five tendons.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.link.frame import (
    WHOLE_ROBOT,
    Codec,
    Grade,
    HelloFrame,
    SetpointFrame,
    TelemetryFrame,
)
from app.link.schema import FRAME_VERSION
from app.messages import RobotState, StationMode

MODEL = SimpleNamespace(
    limb_segment_start=np.array([0, 2, 3]),
    limb_tendon_start=np.array([0, 3, 5]),
    segment_length=np.array([0.3, 0.2, 0.4]),
    bend_limit=np.array([1.5, 1.0, 2.0]),
    extension_range=np.array([[-0.01, 0.0], [-0.02, 0.01], [0.0, 0.0]]),
    tendon_tension_least=np.zeros(5),
    tendon_tension_limit=np.full(5, 40.0),
)
TIME_NS = 1_000_000 * NS_PER_S + 123_456_789
POSE = np.array([[0.5, -0.25, -0.005], [0.125, 0.75, 0.005], [-1.0, 0.5, 0.0]])


def setpoint(**changes):
    values = {
        "sequence": 777,
        "generated_ns": TIME_NS,
        "robot": 1,
        "limb": WHOLE_ROBOT,
        "epoch": 200,
        "mode": StationMode.ARMED,
        "period_ms": 20.0,
        "coordinates": POSE,
        "uplink_bps": 1e6,
        "active": True,
    }
    return SetpointFrame(**(values | changes))


def telemetry(**changes):
    values = {
        "sequence": 1234,
        "generated_ns": TIME_NS + 5 * NS_PER_MS,
        "robot": 1,
        "limb": WHOLE_ROBOT,
        "epoch": 200,
        "state": RobotState.HOLD,
        "coordinates": POSE,
        "tension": np.array([0.0, 10.0, 20.0, 30.0, 50.0]),
        "echo_sequence": 777,
        "echo_hold_ms": 12.5,
        "received": 700,
        "echo_generated_ns": TIME_NS,
        "faults": 0x0005,
        "contact": b"\xaa\xbb",
    }
    return TelemetryFrame(**(values | changes))


FRAMES = {
    "all limbs": (99, setpoint()),
    "one limb": (99, setpoint(limb=1, coordinates=POSE[2:], active=False)),
    "announcement": (99, setpoint(coordinates=POSE[:0])),
    "stop": (99, setpoint(mode=StationMode.ESTOP)),
    "telemetry": (99, telemetry()),
    "hello": (99, HelloFrame(1, 0xCAFE0123, TIME_NS)),
    "compact announcement": (8, setpoint(coordinates=POSE[:0], period_ms=900.0)),
    "compact stop": (8, setpoint(mode=StationMode.ESTOP)),
    "compact limb": (8, setpoint(limb=0, coordinates=POSE[:2])),
    "compact telemetry": (8, telemetry(limb=1, coordinates=POSE[2:])),
    "compact hello": (8, HelloFrame(1, 0xCAFE0123, TIME_NS)),
}
GOLDEN = {
    "all limbs": "3253df09c85136c4f8fe557626460001020a9f792aca",
    "one limb": "2953df09c844ef9001020a9f631d07",
    "announcement": "00b9aca7be1390e57f0091953ea797fc",
    "stop": "00b9aca7be1391657f0091953ecbd601",
    "telemetry": "355403cd2c85c254f70032af18d78b0579cb005d25b8"
    "030200050207000cd66666ffc00402aabbe38dc5",
    "hello": "1801038ec0a7eecafe0123b9aca7b85d39d7",
    "compact announcement": "08d650b900246f00",
    "compact stop": "08d650d900246342",
    "compact limb": "4050d4c8b18c182f",
    "compact telemetry": "9154a180e5151d84",
    "compact hello": "19cafe0123b9ac98",
    "delta": "3253df0bc860489510f05b0001020a9fe26275",
    "digest": "8ec0a7ee635ab6e0",
}


def codec(mtu_bytes):
    return Codec(MODEL, 1, mtu_bytes, session=0xCAFE0123)


@pytest.mark.parametrize("name", FRAMES)
def test_bytes(name):
    mtu_bytes, frame = FRAMES[name]
    assert codec(mtu_bytes).encode(frame).hex() == GOLDEN[name]


def test_bytes_of_a_delta():
    told = codec(99)
    told.encode(setpoint())
    told.acknowledge(777)
    frame = setpoint(sequence=779, coordinates=POSE * 0.99)
    assert told.encode(frame).hex() == GOLDEN["delta"]


def test_levels_and_digest():
    assert FRAME_VERSION == 3
    schema = codec(99).schema
    assert schema.digest.hex() == GOLDEN["digest"]
    levels = [
        [axis.levels for axis in limb.axes]
        for limb in schema.setpoint[Grade.STANDARD].limbs
    ]
    assert levels == [[2293, 2293, 31, 447, 447, 91], [567, 567, 1]]
