"""Setpoint and telemetry frames, and the codec between them and bytes.

The first byte is the stream key: one stream's newer frame replaces its older one. Its
two high bits are the kind; kind 0 holds frames of a whole limb (`full` profile) and
mode frames, kinds 1 and 2 hold one segment in 8 bytes (`compact` profile). Keys below
`URGENT_KEY_END` are mode frames, which go before all others.

| frame               | fields after the key, bits                                     |
|---------------------|----------------------------------------------------------------|
| mode, full          | robot 8, time 40, sequence 16, epoch 8, mode 2, period 14,      |
|                     | uplink 6; CRC-16                                                |
| setpoint, full      | as mode; for each segment 14+14+10; CRC-16                      |
| telemetry, full     | robot 8, time 40, sequence 16, epoch 8, state 3, echo 16, hold  |
|                     | 16, received 16, tension flag 1; segments; tendons 10; CRC-16   |
| mode, compact       | time 8, sequence 4, epoch 8, period 3, uplink 2, mode 2; CRC-8  |
| setpoint, compact   | time 8, sequence 4, epoch 8, period 3, uplink 2, 9+9+5; CRC-8   |
| telemetry, compact  | time 8, sequence 4, epoch 3, state 3, echo 4, received 3,       |
|                     | 9+9+5; CRC-8                                                    |

Time is in units of 10 µs (64 ms in compact) and is unwrapped near the receiver's own.
Counters are unwrapped by the codec, so that every frame holds plain integers. CRC-8
covers the robot's number too, though that is not sent. A compact link is expected to
check its packets itself, as acoustic modems do: CRC-8 alone lets 1 in 256 of random
bytes pass.
"""

import math
from dataclasses import dataclass
from enum import Enum, IntEnum

import fastcrc
import numpy as np

from app.clock import NS_PER_MS, NS_PER_US
from app.errors import FrameError
from app.link.packing import (
    BitReader,
    BitWriter,
    Quantiser,
    dequantise,
    quantise,
    unwrap,
)
from app.messages import RobotState, StationMode
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = [
    "URGENT_KEY_END",
    "Codec",
    "Profile",
    "SetpointFrame",
    "TelemetryFrame",
    "profile_of",
    "stream_key",
]

URGENT_KEY_END = 0x10
_MODE, _COMPACT_MODE, _SETPOINT, _TELEMETRY = 0x00, 0x08, 0x10, 0x18
_COMPACT_SETPOINT, _COMPACT_TELEMETRY = 0x40, 0x80

_FULL_BITS, _COMPACT_BITS = (14, 10), (9, 5)
_TENSION_BITS = 10
_FULL_TICK_NS, _COMPACT_TICK_NS = 10 * NS_PER_US, 64 * NS_PER_MS
_HOLD_TICK_NS = 250 * NS_PER_US
_FUTURE_TICKS = 32  # compact: a sender's clock may be 2 s ahead
_COMPACT_PERIODS_MS = (125, 250, 500, 1000, 2000, 4000, 8000, 16000)
_COMPACT_UPLINKS_BPS = (0.0, 64.0, 230.0, 900.0)
_COMPACT_BYTES = 8


class Profile(Enum):
    """How much a frame says."""

    FULL = "full"  # a whole limb, finely; 16-38 bytes for two segments
    COMPACT = "compact"  # a segment a frame, 8 bytes


@dataclass(frozen=True)
class SetpointFrame:
    """What the station asks of one limb, or of the whole robot (mode frames).

    Attributes:
        sequence: counts the station's frames to this robot.
        generated_ns: when the command was made [ns].
        robot: number of the robot.
        limb: index of the limb; 0 in a mode frame.
        epoch: the arming it belongs to, 1..255; 0 before the first.
        mode: ARMED carries coordinates; any other is a mode frame, without.
        period_ms: time to the next frame of this limb that the station plans.
        coordinates: (n, 3) [rad, rad, m] of the limb's segments. Rows that are not
            known are NaN: all of a mode frame, and in the compact profile segments
            not heard of in this epoch.
        uplink_bps: the robot's own share of the bit rate, rounded down [bit/s]; 0 =
            not known.
    """

    sequence: int
    generated_ns: int
    robot: int
    limb: int
    epoch: int
    mode: StationMode
    period_ms: float
    coordinates: FloatArray
    uplink_bps: float = 0.0

    @property
    def complete(self) -> bool:
        """Every segment's setpoint is known."""
        return bool(np.isfinite(self.coordinates).all())


@dataclass(frozen=True)
class TelemetryFrame:
    """What the robot measured of one limb, and what it heard.

    Attributes:
        sequence: counts the robot's frames.
        generated_ns: when measured [ns], in the robot's clock.
        robot: number of the robot.
        limb: index of the limb.
        epoch: the arming that the robot follows; 0 = none.
        state: what the robot is doing.
        coordinates: (n, 3) as measured; rows not heard of yet are NaN (compact).
        tension: (t,) [N], or None where there is no room.
        echo_sequence: newest setpoint frame that the robot accepted; -1 = none.
        echo_hold_ms: how long ago it came; NaN where not told (compact, or > 16 s).
        received: count of setpoint frames the robot accepted.
    """

    sequence: int
    generated_ns: int
    robot: int
    limb: int
    epoch: int
    state: RobotState
    coordinates: FloatArray
    tension: FloatArray | None
    echo_sequence: int
    echo_hold_ms: float
    received: int


def stream_key(buffer: bytes) -> int:
    """Return the first byte, by which the channel tells streams apart.

    Raises:
        FrameError: the buffer is empty.
    """
    if not buffer:
        raise FrameError("Frame is empty.")
    return buffer[0]


def profile_of(buffer: bytes) -> Profile:
    """Return the profile a frame is written in."""
    key = stream_key(buffer)
    compact = key >= _COMPACT_SETPOINT or key & 0xF8 == _COMPACT_MODE
    return Profile.COMPACT if compact else Profile.FULL


def _uplink_code(bps: float) -> int:
    return 0 if bps < 1.1 else min(255, math.floor(8.0 * math.log2(bps) + 1e-9))


class Codec:
    """Frames of one robot to bytes and back, for one side of the link.

    Both profiles are always decoded; `profile` says which one is written. The codec
    remembers what it needs to unwrap counters and to put segments together, so each
    side keeps one for as long as it runs. A frame decoded twice is a duplicate: it
    has the same sequence as before.
    """

    def __init__(self, model: RobotModel, robot_id: int, mtu_bytes: int) -> None:
        """Choose the profile that fits.

        Args:
            model: the robot; both sides must have the same.
            robot_id: 0..255, so that no other robot obeys.
            mtu_bytes: largest packet of the link; at least 8.

        Raises:
            FrameError: the MTU or the robot's number is out of range.
        """
        limbs = model.tip_speed_limit.size
        if not 0 <= robot_id <= 255:
            raise FrameError(f"Robot number {robot_id}: must be 0..255.")
        if limbs > 8 or model.segment_length.size > 64:
            raise FrameError(
                f"Robot has {limbs} limbs, {model.segment_length.size} segments: "
                "frames take at most 8 and 64."
            )
        self.robot_id = robot_id
        self._quantiser = Quantiser(model)
        self._limbs = limbs
        self._limb_of = [
            limb for limb in range(limbs) for _ in self._quantiser.segments(limb)
        ]
        starts = [int(index) for index in model.limb_tendon_start]
        self._tension_limit = [
            [float(value) * 1.25 for value in model.tendon_tension_limit[low:high]]
            for low, high in zip(starts[:-1], starts[1:], strict=True)
        ]
        self._turn = [0] * limbs  # compact: segment to be written next
        self._rows = {
            kind: [self._quantiser.unknown(limb) for limb in range(limbs)]
            for kind in (_COMPACT_SETPOINT, _COMPACT_TELEMETRY)
        }
        self._rows_epoch = [-1] * limbs
        self._last_heard: dict[bool, tuple[int, int]] = {}  # telemetry?: time, number
        self._last_sent = -1  # newest setpoint sequence written
        self._last_epoch = 0
        self._last_received = 0
        self._prefix = bytes([robot_id])
        self.mtu_bytes = 0
        self.profile = Profile.FULL
        self.set_mtu(mtu_bytes)

    def set_mtu(self, mtu_bytes: int) -> None:
        """Take up another MTU, and the fullest profile that fits it.

        Raises:
            FrameError: below 8 bytes.
        """
        if mtu_bytes < _COMPACT_BYTES:
            raise FrameError(
                f"MTU {mtu_bytes} bytes: frames need at least {_COMPACT_BYTES}."
            )
        self.mtu_bytes = mtu_bytes
        largest = max(
            max(self._setpoint_bytes(limb), self._telemetry_bytes(limb, tension=False))
            for limb in range(self._limbs)
        )
        self.profile = Profile.FULL if largest <= mtu_bytes else Profile.COMPACT

    def parts(self, limb: int) -> int:
        """Frames that it takes to tell a whole limb."""
        full = self.profile is Profile.FULL
        return 1 if full else len(self._quantiser.segments(limb))

    def frame_bytes(
        self, limb: int, *, telemetry: bool = False, tension: bool = False
    ) -> int:
        """Return the length of a limb's setpoint or telemetry frame [bytes]."""
        if self.profile is Profile.COMPACT:
            return _COMPACT_BYTES
        if telemetry:
            return self._telemetry_bytes(limb, tension=tension)
        return self._setpoint_bytes(limb)

    def _segment_bits(self, limb: int) -> int:
        return len(self._quantiser.segments(limb)) * (2 * _FULL_BITS[0] + _FULL_BITS[1])

    def _setpoint_bytes(self, limb: int) -> int:
        return 3 + (96 + self._segment_bits(limb) + 7) // 8

    def _telemetry_bytes(self, limb: int, *, tension: bool) -> int:
        tendons = _TENSION_BITS * len(self._tension_limit[limb]) if tension else 0
        return 3 + (124 + self._segment_bits(limb) + tendons + 7) // 8

    # -- writing -------------------------------------------------------------------

    def encode(self, frame: SetpointFrame | TelemetryFrame) -> bytes:
        """Write a frame in the present profile.

        In the compact profile each call for a limb writes its next segment in turn.
        Tensions are left out where they do not fit the MTU.

        Raises:
            FrameError: wrong robot, limb or shape, or a value that is not finite.
        """
        if frame.robot != self.robot_id:
            raise FrameError(f"Frame is for robot {frame.robot}, not {self.robot_id}.")
        if not 0 <= frame.limb < self._limbs:
            raise FrameError(f"No limb {frame.limb}: 0..{self._limbs - 1}.")
        with_rows = isinstance(frame, TelemetryFrame) or frame.mode is StationMode.ARMED
        expected = (len(self._quantiser.segments(frame.limb)), 3)
        if with_rows and frame.coordinates.shape != expected:
            raise FrameError(
                f"Limb {frame.limb} has coordinates {expected}, "
                f"not {frame.coordinates.shape}."
            )
        if isinstance(frame, TelemetryFrame):
            if self.profile is Profile.FULL:
                return self._full_telemetry(frame)
            return self._compact_telemetry(frame)
        self._last_sent = max(self._last_sent, frame.sequence)
        self._last_epoch = frame.epoch
        if self.profile is Profile.FULL:
            return self._full_setpoint(frame)
        return self._compact_setpoint(frame)

    def _seal(self, key: int, writer: BitWriter) -> bytes:
        body = bytes([key]) + writer.to_bytes()
        if profile_of(body) is Profile.FULL:
            return body + fastcrc.crc16.ibm_3740(body).to_bytes(2, "big")
        return body + fastcrc.crc8.autosar(self._prefix + body).to_bytes(1, "big")

    def _full_setpoint(self, frame: SetpointFrame) -> bytes:
        writer = BitWriter()
        writer.put(self.robot_id, 8)
        writer.put(frame.generated_ns // _FULL_TICK_NS, 40)
        writer.put(frame.sequence, 16)
        writer.put(frame.epoch, 8)
        writer.put(int(frame.mode), 2)
        writer.put(min(16383, max(0, math.ceil(frame.period_ms))), 14)
        writer.put(_uplink_code(frame.uplink_bps), 8)
        if frame.mode is not StationMode.ARMED:
            return self._seal(_MODE | frame.limb, writer)
        for row, segment in enumerate(self._quantiser.segments(frame.limb)):
            self._quantiser.put(
                writer, segment, frame.coordinates[row], _FULL_BITS, measured=False
            )
        return self._seal(_SETPOINT | frame.limb, writer)

    def _full_telemetry(self, frame: TelemetryFrame) -> bytes:
        tension = frame.tension
        fits = self._telemetry_bytes(frame.limb, tension=True) <= self.mtu_bytes
        hold_ticks = 65535
        if math.isfinite(frame.echo_hold_ms):
            hold_ticks = round(frame.echo_hold_ms * NS_PER_MS / _HOLD_TICK_NS)
        echo_known = frame.echo_sequence >= 0
        writer = BitWriter()
        writer.put(self.robot_id, 8)
        writer.put(frame.generated_ns // _FULL_TICK_NS, 40)
        writer.put(frame.sequence, 16)
        writer.put(frame.epoch, 8)
        writer.put(int(frame.state), 3)
        writer.put(frame.echo_sequence if echo_known else 0, 16)
        writer.put(min(65535, max(0, hold_ticks)) if echo_known else 65535, 16)
        writer.put(frame.received, 16)
        writer.put(int(tension is not None and fits), 1)
        for row, segment in enumerate(self._quantiser.segments(frame.limb)):
            self._quantiser.put(
                writer, segment, frame.coordinates[row], _FULL_BITS, measured=True
            )
        if tension is not None and fits:
            for value, limit in zip(
                tension, self._tension_limit[frame.limb], strict=True
            ):
                writer.put(quantise(float(value), 0.0, limit, _TENSION_BITS), 10)
        return self._seal(_TELEMETRY | frame.limb, writer)

    def _next_segment(self, limb: int) -> tuple[int, int]:
        segments = self._quantiser.segments(limb)
        row = self._turn[limb] % len(segments)
        self._turn[limb] = row + 1
        return row, segments[row]

    def _compact_setpoint(self, frame: SetpointFrame) -> bytes:
        period = sum(limit < frame.period_ms for limit in _COMPACT_PERIODS_MS[:-1])
        uplink = sum(bps <= frame.uplink_bps for bps in _COMPACT_UPLINKS_BPS[1:])
        writer = BitWriter()
        writer.put(frame.generated_ns // _COMPACT_TICK_NS, 8)
        writer.put(frame.sequence, 4)
        writer.put(frame.epoch, 8)
        writer.put(period, 3)
        writer.put(uplink, 2)
        if frame.mode is not StationMode.ARMED:
            writer.put(int(frame.mode), 2)
            return self._seal(_COMPACT_MODE | frame.limb, writer)
        row, segment = self._next_segment(frame.limb)
        self._quantiser.put(
            writer, segment, frame.coordinates[row], _COMPACT_BITS, measured=False
        )
        return self._seal(_COMPACT_SETPOINT | segment, writer)

    def _compact_telemetry(self, frame: TelemetryFrame) -> bytes:
        row, segment = self._next_segment(frame.limb)
        writer = BitWriter()
        writer.put(frame.generated_ns // _COMPACT_TICK_NS, 8)
        writer.put(frame.sequence, 4)
        writer.put(0 if frame.epoch == 0 else 1 + (frame.epoch - 1) % 7, 3)
        writer.put(int(frame.state), 3)
        writer.put(max(0, frame.echo_sequence), 4)
        writer.put(frame.received, 3)
        self._quantiser.put(
            writer, segment, frame.coordinates[row], _COMPACT_BITS, measured=True
        )
        return self._seal(_COMPACT_TELEMETRY | segment, writer)

    # -- reading -------------------------------------------------------------------

    def decode(
        self, buffer: bytes, reference_ns: int
    ) -> SetpointFrame | TelemetryFrame:
        """Read a frame of either profile.

        Args:
            buffer: one whole packet.
            reference_ns: the present time in the sender's clock [ns], to unwrap by.

        Raises:
            FrameError: wrong length, CRC, robot, limb or range; nothing is changed.
        """
        key = stream_key(buffer)
        reader = self._open(buffer)
        if key >= 0xC0:
            raise FrameError(f"Frame kind {key:#04x} is not known.")
        if key >= _COMPACT_TELEMETRY:
            return self._read_compact_telemetry(reader, key & 0x3F, reference_ns)
        if key >= _COMPACT_SETPOINT:
            return self._read_compact_setpoint(
                reader, key & 0x3F, reference_ns, with_rows=True
            )
        limb = key & 0x07
        if key >= 0x20 or limb >= self._limbs:
            raise FrameError(f"Frame key {key:#04x}: no such kind or limb.")
        if key & 0xF8 == _COMPACT_MODE:
            return self._read_compact_setpoint(
                reader, limb, reference_ns, with_rows=False
            )
        robot = reader.take(8)
        if robot != self.robot_id:
            raise FrameError(f"Frame is for robot {robot}, not {self.robot_id}.")
        if key & 0xF8 == _TELEMETRY:
            return self._read_full_telemetry(reader, limb, reference_ns)
        return self._read_full_setpoint(
            reader, limb, reference_ns, with_rows=key & 0xF8 == _SETPOINT
        )

    def _open(self, buffer: bytes) -> BitReader:
        """Check length limits and CRC; return the fields after the key."""
        if profile_of(buffer) is Profile.COMPACT:
            if not 4 <= len(buffer) <= _COMPACT_BYTES:
                raise FrameError(f"Compact frame has {len(buffer)} bytes: 4..8.")
            if fastcrc.crc8.autosar(self._prefix + buffer[:-1]) != buffer[-1]:
                raise FrameError("CRC-8 is wrong, or the frame is another robot's.")
            return BitReader(buffer[1:-1])
        if not 8 <= len(buffer) <= 256:
            raise FrameError(f"Full frame has {len(buffer)} bytes: 8..256.")
        if fastcrc.crc16.ibm_3740(buffer[:-2]) != int.from_bytes(buffer[-2:], "big"):
            raise FrameError("CRC-16 is wrong.")
        return BitReader(buffer[1:-2])

    def _sequence(self, code: int, bits: int, time_ns: int, *, telemetry: bool) -> int:
        """Unwrap a sequence number; a newer time always means a greater number.

        So a sender that restarted and counts from zero is not taken for late.
        """
        last_ns, last = self._last_heard.get(telemetry, (time_ns - 1, code - 1))
        span = 1 << bits
        if time_ns > last_ns:
            sequence = last + 1 + ((code - last - 1) % span)
        elif time_ns < last_ns:
            sequence = last - ((last - code) % span)
        else:
            sequence = unwrap(code, bits, last, span // 4)
        if time_ns > last_ns or sequence > last:
            self._last_heard[telemetry] = (time_ns, sequence)
        return sequence

    def _mode(self, code: int, *, with_rows: bool) -> StationMode:
        if code > max(StationMode) or with_rows != (code == StationMode.ARMED):
            raise FrameError(f"Mode {code} does not go with this kind of frame.")
        return StationMode(code)

    def _read_full_setpoint(
        self, reader: BitReader, limb: int, reference_ns: int, *, with_rows: bool
    ) -> SetpointFrame:
        time_ns = self._full_time(reader.take(40), reference_ns)
        code, epoch = reader.take(16), reader.take(8)
        mode = self._mode(reader.take(2), with_rows=with_rows)
        period, uplink = reader.take(14), reader.take(8)
        coordinates = self._quantiser.unknown(limb)
        if with_rows:
            self._take_rows(reader, limb, coordinates, measured=False)
        reader.finish()
        return SetpointFrame(
            sequence=self._sequence(code, 16, time_ns, telemetry=False),
            generated_ns=time_ns,
            robot=self.robot_id,
            limb=limb,
            epoch=epoch,
            mode=mode,
            period_ms=float(period),
            coordinates=coordinates,
            uplink_bps=2.0 ** (uplink / 8.0) if uplink else 0.0,
        )

    def _read_full_telemetry(
        self, reader: BitReader, limb: int, reference_ns: int
    ) -> TelemetryFrame:
        time_ns = self._full_time(reader.take(40), reference_ns)
        code, epoch = reader.take(16), reader.take(8)
        state = self._state(reader.take(3))
        echo, hold, received = reader.take(16), reader.take(16), reader.take(16)
        with_tension = reader.take(1)
        coordinates = self._quantiser.unknown(limb)
        self._take_rows(reader, limb, coordinates, measured=True)
        tension = None
        if with_tension:
            limits = self._tension_limit[limb]
            codes = [reader.take(_TENSION_BITS) for _ in limits]
            tension = np.array(
                [
                    dequantise(value, 0.0, limit, _TENSION_BITS)
                    for value, limit in zip(codes, limits, strict=True)
                ]
            )
        reader.finish()
        self._last_received = unwrap(received, 16, self._last_received, 1 << 10)
        known = hold != 65535
        return TelemetryFrame(
            sequence=self._sequence(code, 16, time_ns, telemetry=True),
            generated_ns=time_ns,
            robot=self.robot_id,
            limb=limb,
            epoch=epoch,
            state=state,
            coordinates=coordinates,
            tension=tension,
            echo_sequence=self._echo(echo, 16) if known or received else -1,
            echo_hold_ms=hold * _HOLD_TICK_NS / NS_PER_MS if known else math.nan,
            received=self._last_received,
        )

    def _read_compact_setpoint(
        self, reader: BitReader, index: int, reference_ns: int, *, with_rows: bool
    ) -> SetpointFrame:
        limb = self._limb_at(index) if with_rows else index
        time_ns = self._compact_time(reader.take(8), reference_ns)
        code, epoch = reader.take(4), reader.take(8)
        period, uplink = reader.take(3), reader.take(2)
        mode = StationMode.ARMED
        row = np.empty(3)
        if with_rows:
            self._quantiser.take(reader, index, row, _COMPACT_BITS, measured=False)
        else:
            mode = self._mode(reader.take(2), with_rows=False)
        reader.finish()
        rows = self._quantiser.unknown(limb)
        if with_rows:
            if epoch != self._rows_epoch[limb]:
                self._rows_epoch[limb] = epoch
                self._rows[_COMPACT_SETPOINT][limb] = self._quantiser.unknown(limb)
            rows = self._remember(_COMPACT_SETPOINT, limb, index, row)
        return SetpointFrame(
            sequence=self._sequence(code, 4, time_ns, telemetry=False),
            generated_ns=time_ns,
            robot=self.robot_id,
            limb=limb,
            epoch=epoch,
            mode=mode,
            period_ms=float(_COMPACT_PERIODS_MS[period]),
            coordinates=rows,
            uplink_bps=_COMPACT_UPLINKS_BPS[uplink],
        )

    def _read_compact_telemetry(
        self, reader: BitReader, segment: int, reference_ns: int
    ) -> TelemetryFrame:
        limb = self._limb_at(segment)
        time_ns = self._compact_time(reader.take(8), reference_ns)
        code, epoch_code = reader.take(4), reader.take(3)
        state = self._state(reader.take(3))
        echo, received = reader.take(4), reader.take(3)
        row = np.empty(3)
        self._quantiser.take(reader, segment, row, _COMPACT_BITS, measured=True)
        reader.finish()
        self._last_received = unwrap(received, 3, self._last_received, 0)
        heard = self._last_received > 0
        return TelemetryFrame(
            sequence=self._sequence(code, 4, time_ns, telemetry=True),
            generated_ns=time_ns,
            robot=self.robot_id,
            limb=limb,
            epoch=self._epoch(epoch_code),
            state=state,
            coordinates=self._remember(_COMPACT_TELEMETRY, limb, segment, row),
            tension=None,
            echo_sequence=self._echo(echo, 4) if heard else -1,
            echo_hold_ms=math.nan,
            received=self._last_received,
        )

    def _take_rows(
        self, reader: BitReader, limb: int, rows_out: FloatArray, *, measured: bool
    ) -> None:
        for row, segment in enumerate(self._quantiser.segments(limb)):
            self._quantiser.take(
                reader, segment, rows_out[row], _FULL_BITS, measured=measured
            )

    def _remember(
        self, kind: int, limb: int, segment: int, row: FloatArray
    ) -> FloatArray:
        rows = self._rows[kind][limb]
        rows[segment - self._quantiser.segment_start[limb]] = row
        return rows.copy()

    def _limb_at(self, segment: int) -> int:
        if segment >= len(self._limb_of):
            raise FrameError(f"No segment {segment}: 0..{len(self._limb_of) - 1}.")
        return self._limb_of[segment]

    def _state(self, code: int) -> RobotState:
        if code > max(RobotState):
            raise FrameError(f"Robot state {code} is not known.")
        return RobotState(code)

    def _echo(self, code: int, bits: int) -> int:
        """Newest sequence number, up to the last one written, with these low bits."""
        return unwrap(code, bits, self._last_sent, (1 << bits) - 1)

    def _epoch(self, code: int) -> int:
        """Epoch with this code, nearest before or at the last one written."""
        if code == 0:
            return 0
        newest = self._last_epoch or code
        for back in range(14):  # two turns: the cycle is broken at 255
            candidate = (newest - 1 - back) % 255 + 1
            if 1 + (candidate - 1) % 7 == code:
                return candidate
        return code

    @staticmethod
    def _full_time(code: int, reference_ns: int) -> int:
        tick = unwrap(code, 40, reference_ns // _FULL_TICK_NS, 1 << 39)
        return tick * _FULL_TICK_NS

    @staticmethod
    def _compact_time(code: int, reference_ns: int) -> int:
        tick = unwrap(code, 8, reference_ns // _COMPACT_TICK_NS, 255 - _FUTURE_TICKS)
        return tick * _COMPACT_TICK_NS
