"""Encode and decode of every kind of frame, beside plain ways to write its fields.

The peers are Python's json, and struct with 32-bit floats and a CRC-32, as a binary
format written by hand has; both make the same frame of the bytes again. Neither packs
bits, binds a frame to a session, or knows deltas: so they are longer. What counts is
the length on the water; the ratio shows what that costs.
"""

import json
import struct
import time
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.link.frame import (
    WHOLE_ROBOT,
    Codec,
    HelloFrame,
    SetpointFrame,
    TelemetryFrame,
)
from app.messages import RobotState, StationMode
from models.robot import RobotModel

__all__ = ["FrameTimes", "frame_times"]

Frame = SetpointFrame | TelemetryFrame | HelloFrame
_Way = tuple[Callable[[Frame], bytes], Callable[[bytes, int], Any]]
_ROBOT_ID, _SESSION, _EPOCH = 1, 7, 3
_COMPACT_BYTES = 8
_START_NS = 100 * NS_PER_S
_FRAMES, _SKIPPED = 1500, 100
_PERIOD_NS = 20 * NS_PER_MS


class FrameTimes(NamedTuple):
    """One way to write one kind of frame.

    Attributes:
        encode: median [µs].
        decode: median [µs].
        size: median [bytes].
    """

    encode: float
    decode: float
    size: int

    @property
    def whole(self) -> float:
        """Encode and decode [µs]."""
        return self.encode + self.decode


def _by_json(frame: Frame) -> bytes:
    fields = {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in vars(frame).items()
        if not isinstance(value, bytes)
    }
    return json.dumps(fields).encode()


def _from_json(kind: type, buffer: bytes, _reference_ns: int) -> Any:
    fields = json.loads(buffer)
    for key in ("coordinates", "tension"):
        if fields.get(key) is not None:
            fields[key] = np.array(fields[key])
    return kind(**fields)


_HEAD = {
    SetpointFrame: struct.Struct("<IqBbBBffBB"),
    TelemetryFrame: struct.Struct("<IqBbBBifIqH"),
    HelloFrame: struct.Struct("<BIq"),
}


def _by_struct(frame: Frame) -> bytes:
    arrays = [v for v in vars(frame).values() if isinstance(v, np.ndarray)]
    scalars = [
        int(v) if isinstance(v, bool) else v
        for v in vars(frame).values()
        if isinstance(v, int | float)
    ]
    body = _HEAD[type(frame)].pack(*scalars)
    body += bytes([len(arrays), *(array.size for array in arrays)])
    for array in arrays:
        body += struct.pack(f"<{array.size}f", *array.ravel().tolist())
    return body + zlib.crc32(body).to_bytes(4, "little")


def _from_struct(kind: type, buffer: bytes, _reference_ns: int) -> Any:
    if zlib.crc32(buffer[:-4]).to_bytes(4, "little") != buffer[-4:]:
        raise ValueError("CRC is wrong.")
    head = _HEAD[kind]
    fields = list(head.unpack_from(buffer))
    start = head.size + 1 + buffer[head.size]
    arrays = []
    for size in buffer[head.size + 1 : start]:
        arrays.append(np.array(struct.unpack_from(f"<{size}f", buffer, start)))
        start += 4 * size
    if kind is SetpointFrame:
        fields[5] = StationMode(fields[5])
        fields.insert(7, arrays[0].reshape(-1, 3))
    elif kind is TelemetryFrame:
        fields[5] = RobotState(fields[5])
        fields[6:6] = [arrays[0].reshape(-1, 3), arrays[1] if len(arrays) > 1 else None]
    return kind(*fields)


def _times(
    frames: list[Frame],
    ways: tuple[_Way, ...],
    acknowledge: Callable[[int], None] | None = None,
) -> tuple[FrameTimes, ...]:
    """Encode and decode each frame once each way, the ways in turn."""
    taken = np.zeros((len(frames), len(ways), 3))
    for frame, row in zip(frames, taken, strict=True):
        reference_ns = frame.generated_ns
        for (encode, decode), own in zip(ways, row, strict=True):
            begun_ns = time.perf_counter_ns()
            packet = encode(frame)
            written_ns = time.perf_counter_ns()
            decode(packet, reference_ns)
            read_ns = time.perf_counter_ns()
            own[:] = written_ns - begun_ns, read_ns - written_ns, len(packet)
        if acknowledge is not None:
            acknowledge(vars(frame)["sequence"])
    middle = np.median(taken[_SKIPPED:], axis=0)
    return tuple(
        FrameTimes(float(out) / 1e3, float(back) / 1e3, int(size))
        for out, back, size in middle
    )


def _kinds(model: RobotModel) -> dict[str, tuple[int, bool, Frame]]:
    """Name: MTU, whether the peer acknowledges, and a frame."""
    pose = 0.5 * model.rest_coordinates
    limb = pose[: int(model.limb_segment_start[1])]
    setpoint = SetpointFrame(
        sequence=0,
        generated_ns=0,
        robot=_ROBOT_ID,
        limb=WHOLE_ROBOT,
        epoch=_EPOCH,
        mode=StationMode.ARMED,
        period_ms=20.0,
        coordinates=pose,
        uplink_bps=1e6,
        active=True,
    )
    told = TelemetryFrame(
        sequence=0,
        generated_ns=0,
        robot=_ROBOT_ID,
        limb=WHOLE_ROBOT,
        epoch=_EPOCH,
        state=RobotState.ACTIVE,
        coordinates=pose,
        tension=np.full(model.tendon_angle.size, 12.0),
        echo_sequence=5,
        echo_hold_ms=3.0,
        received=9,
        echo_generated_ns=_START_NS,
    )
    one = setpoint._replace(limb=0, coordinates=limb)
    bare = told._replace(limb=0, coordinates=limb, tension=None)
    stop = setpoint._replace(mode=StationMode.ESTOP, coordinates=pose[:0])
    return {
        "setpoint, 4 limbs": (256, False, setpoint),
        "setpoint, 4 limbs, delta": (256, True, setpoint),
        "setpoint, 1 limb": (256, False, one),
        "stop": (256, False, stop),
        "telemetry, 4 limbs, tensions": (256, False, told),
        "telemetry, 1 limb": (256, False, bare),
        "hello": (256, False, HelloFrame(_ROBOT_ID, _SESSION, 0)),
        "compact setpoint, 1 limb": (_COMPACT_BYTES, False, one),
        "compact telemetry, 1 limb": (_COMPACT_BYTES, False, bare),
    }


def _in_time(base: Frame) -> list[Frame]:
    """The frame again and again, 20 ms apart, its coordinates on the move."""
    frames: list[Frame] = []
    for k in range(_FRAMES):
        now_ns = _START_NS + k * _PERIOD_NS
        frame = base._replace(generated_ns=now_ns)
        if not isinstance(frame, HelloFrame):
            moved = frame.coordinates * (1.0 + 0.1 * np.sin(0.05 * k))
            frame = frame._replace(sequence=k + 1, coordinates=moved)
        if isinstance(frame, TelemetryFrame):
            frame = frame._replace(echo_sequence=k + 1, echo_generated_ns=now_ns)
        frames.append(frame)
    return frames


def frame_times(model: RobotModel) -> dict[str, tuple[FrameTimes, ...]]:
    """Time every kind of frame: ours, by json, by struct."""
    kinds = _kinds(model)
    first = cast("SetpointFrame", kinds["setpoint, 4 limbs"][2])
    times = {}
    for name, (mtu, acknowledged, base) in kinds.items():
        frames, kind = _in_time(base), type(base)
        ours, theirs = (Codec(model, _ROBOT_ID, mtu, _SESSION) for _ in range(2))
        if kind is TelemetryFrame:  # of the station that hears it
            theirs.encode(first._replace(limb=0, coordinates=first.coordinates[:2]))
        elif mtu == _COMPACT_BYTES:
            _announce(ours, theirs, frames[0])
        after = ours.acknowledge if acknowledged else None
        ways = (
            (ours.encode, theirs.decode),
            (_by_json, partial(_from_json, kind)),
            (_by_struct, partial(_from_struct, kind)),
        )
        times[name] = _times(frames, ways, after)
    return times


def _announce(ours: Codec, theirs: Codec, first: Frame) -> None:
    """A compact setpoint can be read only after the arming was announced."""
    if isinstance(first, SetpointFrame):
        told = first._replace(sequence=0, coordinates=first.coordinates[:0])
        theirs.decode(ours.encode(told), first.generated_ns)
