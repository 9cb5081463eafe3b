"""The full profile: a whole limb a frame, CRC-16, time to 10 µs.

| frame     | fields after the key, bits                                            |
|-----------|-----------------------------------------------------------------------|
| mode      | robot 8, time 40, sequence 16, epoch 8, mode 2, period 14, uplink 8   |
| setpoint  | as mode; for each segment 14 + 14 + 10                                |
| telemetry | robot 8, time 40, sequence 16, epoch 8, state 3, echo 16, hold 16,    |
|           | received 16, tension flag 1; segments; for each tendon 10             |

CRC-16/IBM-3740 over all bytes before it ends every frame. Time counts 10 µs, is sent
modulo 127 days and unwrapped near the receiver's own.
"""

import math

import fastcrc
import numpy as np

from app.clock import NS_PER_MS, NS_PER_US
from app.errors import FrameError
from app.link.counters import Counters
from app.link.packing import (
    BitReader,
    BitWriter,
    Quantiser,
    dequantise,
    quantise,
    unwrap,
)
from app.link.records import SetpointFrame, TelemetryFrame
from app.link.streams import Kind
from app.messages import RobotState, StationMode
from models.numerics import FloatArray

__all__ = ["FullProfile"]

_SEGMENT_BITS = (14, 10)
_TENSION_BITS = 10
_TICK_NS = 10 * NS_PER_US
_HOLD_TICK_NS = 250 * NS_PER_US
_HOLD_UNKNOWN = 65535
_PERIOD_MAX_MS = 16383
_LEAST_BYTES, _MOST_BYTES = 8, 256


def _uplink_code(bps: float) -> int:
    return 0 if bps < 1.1 else min(255, math.floor(8.0 * math.log2(bps) + 1e-9))


class FullProfile:
    """Writes and reads the frames of one robot."""

    def __init__(
        self,
        robot_id: int,
        quantiser: Quantiser,
        counters: Counters,
        tension_limit: list[list[float]],
    ) -> None:
        """Prepare.

        Args:
            robot_id: 0..255.
            quantiser: of the robot's coordinates.
            counters: shared with the other profile.
            tension_limit: greatest tension of each tendon of each limb [N].
        """
        self._robot_id = robot_id
        self._quantiser = quantiser
        self._counters = counters
        self._tension_limit = tension_limit

    def _rows_bits(self, limb: int) -> int:
        bits = 2 * _SEGMENT_BITS[0] + _SEGMENT_BITS[1]
        return len(self._quantiser.segments(limb)) * bits

    def setpoint_bytes(self, limb: int) -> int:
        """Length of a limb's setpoint frame [bytes]."""
        return 3 + (96 + self._rows_bits(limb) + 7) // 8

    def telemetry_bytes(self, limb: int, *, tension: bool) -> int:
        """Length of a limb's telemetry frame, with tensions or without [bytes]."""
        tendons = _TENSION_BITS * len(self._tension_limit[limb]) if tension else 0
        return 3 + (124 + self._rows_bits(limb) + tendons + 7) // 8

    def _seal(self, kind: Kind, limb: int, writer: BitWriter) -> bytes:
        body = bytes([kind.value | limb]) + writer.to_bytes()
        return body + fastcrc.crc16.ibm_3740(body).to_bytes(2, "big")

    def _put_head(
        self, writer: BitWriter, frame: SetpointFrame | TelemetryFrame
    ) -> None:
        writer.put(self._robot_id, 8)
        writer.put(frame.generated_ns // _TICK_NS, 40)
        writer.put(frame.sequence, 16)
        writer.put(frame.epoch, 8)

    def _put_rows(
        self, writer: BitWriter, limb: int, rows: FloatArray, *, measured: bool
    ) -> None:
        for row, segment in enumerate(self._quantiser.segments(limb)):
            self._quantiser.put(
                writer, segment, rows[row], _SEGMENT_BITS, measured=measured
            )

    def write_setpoint(self, frame: SetpointFrame) -> bytes:
        """Write a setpoint or mode frame.

        Raises:
            FrameError: a coordinate is not finite.
        """
        writer = BitWriter()
        self._put_head(writer, frame)
        writer.put(int(frame.mode), 2)
        writer.put(min(_PERIOD_MAX_MS, max(0, math.ceil(frame.period_ms))), 14)
        writer.put(_uplink_code(frame.uplink_bps), 8)
        if frame.mode is not StationMode.ARMED:
            return self._seal(Kind.MODE, frame.limb, writer)
        self._put_rows(writer, frame.limb, frame.coordinates, measured=False)
        return self._seal(Kind.SETPOINT, frame.limb, writer)

    def write_telemetry(self, frame: TelemetryFrame, *, with_tension: bool) -> bytes:
        """Write a telemetry frame; tensions only where there are and they may go.

        Raises:
            FrameError: a value is not finite, or the tensions are not the limb's.
        """
        hold = _HOLD_UNKNOWN
        if frame.echo_sequence >= 0 and math.isfinite(frame.echo_hold_ms):
            ticks = round(frame.echo_hold_ms * NS_PER_MS / _HOLD_TICK_NS)
            hold = min(_HOLD_UNKNOWN, max(0, ticks))
        tension = frame.tension if with_tension else None
        writer = BitWriter()
        self._put_head(writer, frame)
        writer.put(int(frame.state), 3)
        writer.put(max(0, frame.echo_sequence), 16)
        writer.put(hold, 16)
        writer.put(frame.received, 16)
        writer.put(int(tension is not None), 1)
        self._put_rows(writer, frame.limb, frame.coordinates, measured=True)
        if tension is not None:
            limits = self._tension_limit[frame.limb]
            if len(tension) != len(limits):
                raise FrameError(
                    f"Limb {frame.limb} has {len(limits)} tendons, not {len(tension)}."
                )
            for value, limit in zip(tension, limits, strict=True):
                code = quantise(float(value), 0.0, limit, _TENSION_BITS)
                writer.put(code, _TENSION_BITS)
        return self._seal(Kind.TELEMETRY, frame.limb, writer)

    def read(self, buffer: bytes, reference_ns: int) -> SetpointFrame | TelemetryFrame:
        """Read a frame.

        Raises:
            FrameError: wrong length, CRC, kind, robot, limb or range.
        """
        if not _LEAST_BYTES <= len(buffer) <= _MOST_BYTES:
            raise FrameError(
                f"Frame has {len(buffer)} bytes: {_LEAST_BYTES}..{_MOST_BYTES}."
            )
        if fastcrc.crc16.ibm_3740(buffer[:-2]) != int.from_bytes(buffer[-2:], "big"):
            raise FrameError("CRC-16 is wrong.")
        limb = buffer[0] & 0x07
        if buffer[0] > Kind.TELEMETRY.value | 0x07 or limb >= len(self._tension_limit):
            raise FrameError(f"Frame key {buffer[0]:#04x}: no such kind or limb.")
        kind = Kind(buffer[0] & 0xF8)
        reader = BitReader(buffer[1:-2])
        robot = reader.take(8)
        if robot != self._robot_id:
            raise FrameError(f"Frame is for robot {robot}, not {self._robot_id}.")
        tick = unwrap(reader.take(40), 40, reference_ns // _TICK_NS, 1 << 39)
        if kind is Kind.TELEMETRY:
            return self._read_telemetry(reader, limb, tick * _TICK_NS)
        return self._read_setpoint(reader, kind, limb, tick * _TICK_NS)

    def _take_rows(self, reader: BitReader, limb: int, *, measured: bool) -> FloatArray:
        segments = self._quantiser.segments(limb)
        rows = np.empty((len(segments), 3))
        for row, segment in enumerate(segments):
            self._quantiser.take(
                reader, segment, rows[row], _SEGMENT_BITS, measured=measured
            )
        return rows

    def _read_setpoint(
        self, reader: BitReader, kind: Kind, limb: int, time_ns: int
    ) -> SetpointFrame:
        code, epoch = reader.take(16), reader.take(8)
        mode = reader.take(2)
        with_rows = kind is Kind.SETPOINT
        if mode > max(StationMode) or with_rows != (mode == StationMode.ARMED):
            raise FrameError(f"Mode {mode} does not go with a {kind.name} frame.")
        period, uplink = reader.take(14), reader.take(8)
        rows = (
            self._take_rows(reader, limb, measured=False)
            if with_rows
            else self._quantiser.unknown(limb)
        )
        reader.finish()
        return SetpointFrame(
            sequence=self._counters.sequence(code, 16, time_ns, telemetry=False),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limb,
            epoch=epoch,
            mode=StationMode(mode),
            period_ms=float(period),
            coordinates=rows,
            uplink_bps=2.0 ** (uplink / 8.0) if uplink else 0.0,
        )

    def _read_telemetry(
        self, reader: BitReader, limb: int, time_ns: int
    ) -> TelemetryFrame:
        code, epoch, state = reader.take(16), reader.take(8), reader.take(3)
        if state > max(RobotState):
            raise FrameError(f"Robot state {state} is not known.")
        echo, hold, received = reader.take(16), reader.take(16), reader.take(16)
        with_tension = reader.take(1)
        rows = self._take_rows(reader, limb, measured=True)
        tension = None
        if with_tension:
            tension = np.array(
                [
                    dequantise(reader.take(_TENSION_BITS), 0.0, limit, _TENSION_BITS)
                    for limit in self._tension_limit[limb]
                ]
            )
        reader.finish()
        heard = received > 0 or hold != _HOLD_UNKNOWN
        return TelemetryFrame(
            sequence=self._counters.sequence(code, 16, time_ns, telemetry=True),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limb,
            epoch=epoch,
            state=RobotState(state),
            coordinates=rows,
            tension=tension,
            echo_sequence=self._counters.echo(echo, 16) if heard else -1,
            echo_hold_ms=(
                hold * _HOLD_TICK_NS / NS_PER_MS if hold != _HOLD_UNKNOWN else math.nan
            ),
            received=self._counters.received(received, 16, time_ns),
        )
