"""The compact profile: one segment a frame of 8 bytes, for the slowest modems.

| frame     | fields after the key, bits                                              |
|-----------|-------------------------------------------------------------------------|
| mode      | time 8, sequence 4, epoch 8, period 3, uplink 2, mode 2                 |
| setpoint  | time 8, sequence 4, epoch 8, period 3, uplink 2, Δx 9, Δy 9, δℓ 5       |
| telemetry | time 8, sequence 4, epoch 3, state 3, echo 4, received 3, 9 + 9 + 5     |

CRC-8/AUTOSAR over the robot's number (which is not sent) and all bytes before it ends
every frame. It lets 1 in 256 of random bytes pass: the modem must check its packets
itself, as acoustic modems do. Time counts 64 ms, is sent modulo 16.4 s and unwrapped
near the receiver's own. A bend is told to 0.35 degrees, 2 mm at the tip of a 600 mm
segment.
"""

import math

import fastcrc
import numpy as np

from app.clock import NS_PER_MS
from app.errors import FrameError
from app.link.counters import Counters
from app.link.packing import BitReader, BitWriter, Quantiser, unwrap
from app.link.records import SetpointFrame, TelemetryFrame
from app.link.streams import (
    COMPACT_BYTES,
    COMPACT_SETPOINT_KEY,
    COMPACT_TELEMETRY_KEY,
    Kind,
)
from app.messages import RobotState, StationMode
from models.numerics import FloatArray

__all__ = ["CompactProfile"]

_SEGMENT_BITS = (9, 5)
_TICK_NS = 64 * NS_PER_MS
_FUTURE_TICKS = 32  # the sender's clock may be 2 s ahead
_PERIODS_MS = (125, 250, 500, 1000, 2000, 4000, 8000, 16000)
_UPLINKS_BPS = (0.0, 64.0, 230.0, 900.0)
_LEAST_BYTES = 6


class CompactProfile:
    """Writes and reads the frames of one robot; puts a limb's segments together."""

    def __init__(self, robot_id: int, quantiser: Quantiser, counters: Counters) -> None:
        """Prepare.

        Args:
            robot_id: 0..255.
            quantiser: of the robot's coordinates.
            counters: shared with the other profile.
        """
        self._robot_id = robot_id
        self._prefix = bytes([robot_id])
        self._quantiser = quantiser
        self._counters = counters
        self._limbs = len(quantiser.segment_start) - 1
        self._limb_of = [
            limb for limb in range(self._limbs) for _ in quantiser.segments(limb)
        ]
        self._turn = [0] * self._limbs  # segment to be written next
        self._asked = [quantiser.unknown(limb) for limb in range(self._limbs)]
        self._asked_epoch = [-1] * self._limbs
        self._measured = [quantiser.unknown(limb) for limb in range(self._limbs)]

    def parts(self, limb: int) -> int:
        """Frames that it takes to tell a whole limb."""
        return len(self._quantiser.segments(limb))

    def _seal(self, key: int, writer: BitWriter) -> bytes:
        body = bytes([key]) + writer.to_bytes()
        return body + fastcrc.crc8.autosar(self._prefix + body).to_bytes(1, "big")

    def _next_segment(self, limb: int) -> tuple[int, int]:
        segments = self._quantiser.segments(limb)
        row = self._turn[limb]
        self._turn[limb] = (row + 1) % len(segments)
        return row, segments[row]

    def write_setpoint(self, frame: SetpointFrame) -> bytes:
        """Write a mode frame, or the limb's next segment in turn.

        The period and the uplink's rate are rounded to one of a few: the period up
        (0.125 to 16 s), the rate down (64, 230 or 900 bit/s).

        Raises:
            FrameError: a coordinate is not finite.
        """
        writer = BitWriter()
        writer.put(frame.generated_ns // _TICK_NS, 8)
        writer.put(frame.sequence, 4)
        writer.put(frame.epoch, 8)
        writer.put(sum(limit < frame.period_ms for limit in _PERIODS_MS[:-1]), 3)
        writer.put(sum(bps <= frame.uplink_bps for bps in _UPLINKS_BPS[1:]), 2)
        if frame.mode is not StationMode.ARMED:
            writer.put(int(frame.mode), 2)
            return self._seal(Kind.COMPACT_MODE.value | frame.limb, writer)
        row, segment = self._next_segment(frame.limb)
        self._quantiser.put(
            writer, segment, frame.coordinates[row], _SEGMENT_BITS, measured=False
        )
        return self._seal(COMPACT_SETPOINT_KEY | segment, writer)

    def write_telemetry(self, frame: TelemetryFrame) -> bytes:
        """Write the limb's next segment in turn; there is no room for tensions.

        Raises:
            FrameError: a coordinate is not finite.
        """
        row, segment = self._next_segment(frame.limb)
        writer = BitWriter()
        writer.put(frame.generated_ns // _TICK_NS, 8)
        writer.put(frame.sequence, 4)
        writer.put(self._counters.epoch_code(frame.epoch), 3)
        writer.put(int(frame.state), 3)
        writer.put(max(0, frame.echo_sequence), 4)
        writer.put(frame.received, 3)
        self._quantiser.put(
            writer, segment, frame.coordinates[row], _SEGMENT_BITS, measured=True
        )
        return self._seal(COMPACT_TELEMETRY_KEY | segment, writer)

    def read(self, buffer: bytes, reference_ns: int) -> SetpointFrame | TelemetryFrame:
        """Read a frame.

        Raises:
            FrameError: wrong length, CRC, kind, robot, limb or range.
        """
        if not _LEAST_BYTES <= len(buffer) <= COMPACT_BYTES:
            raise FrameError(
                f"Frame has {len(buffer)} bytes: {_LEAST_BYTES}..{COMPACT_BYTES}."
            )
        if fastcrc.crc8.autosar(self._prefix + buffer[:-1]) != buffer[-1]:
            raise FrameError("CRC-8 is wrong, or the frame is another robot's.")
        key = buffer[0]
        reader = BitReader(buffer[1:-1])
        tick = unwrap(reader.take(8), 8, reference_ns // _TICK_NS, 255 - _FUTURE_TICKS)
        if key < COMPACT_SETPOINT_KEY:
            return self._read_mode(reader, key & 0x07, tick * _TICK_NS)
        segment = key & 0x3F
        if key >= COMPACT_TELEMETRY_KEY + 0x40 or segment >= len(self._limb_of):
            raise FrameError(f"Frame key {key:#04x}: no such kind or segment.")
        if key < COMPACT_TELEMETRY_KEY:
            return self._read_setpoint(reader, segment, tick * _TICK_NS)
        return self._read_telemetry(reader, segment, tick * _TICK_NS)

    def _read_mode(self, reader: BitReader, limb: int, time_ns: int) -> SetpointFrame:
        if limb >= self._limbs:
            raise FrameError(f"No limb {limb}: 0..{self._limbs - 1}.")
        code, epoch = reader.take(4), reader.take(8)
        period, uplink, mode = reader.take(3), reader.take(2), reader.take(2)
        if mode > max(StationMode) or mode == StationMode.ARMED:
            raise FrameError(f"Mode {mode} does not go with a mode frame.")
        reader.finish()
        return self._setpoint(
            time_ns, code, limb, epoch, StationMode(mode), period, uplink,
            self._quantiser.unknown(limb),
        )  # fmt: skip

    def _read_setpoint(
        self, reader: BitReader, segment: int, time_ns: int
    ) -> SetpointFrame:
        limb = self._limb_of[segment]
        code, epoch = reader.take(4), reader.take(8)
        period, uplink = reader.take(3), reader.take(2)
        row = np.empty(3)
        self._quantiser.take(reader, segment, row, _SEGMENT_BITS, measured=False)
        reader.finish()
        if epoch != self._asked_epoch[limb]:
            self._asked_epoch[limb] = epoch
            self._asked[limb][...] = np.nan
        rows = self._remember(self._asked[limb], limb, segment, row)
        return self._setpoint(
            time_ns, code, limb, epoch, StationMode.ARMED, period, uplink, rows
        )

    def _setpoint(
        self,
        time_ns: int,
        code: int,
        limb: int,
        epoch: int,
        mode: StationMode,
        period: int,
        uplink: int,
        rows: FloatArray,
    ) -> SetpointFrame:
        return SetpointFrame(
            sequence=self._counters.sequence(code, 4, time_ns, telemetry=False),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limb,
            epoch=epoch,
            mode=mode,
            period_ms=float(_PERIODS_MS[period]),
            coordinates=rows,
            uplink_bps=_UPLINKS_BPS[uplink],
        )

    def _read_telemetry(
        self, reader: BitReader, segment: int, time_ns: int
    ) -> TelemetryFrame:
        limb = self._limb_of[segment]
        code, epoch, state = reader.take(4), reader.take(3), reader.take(3)
        if state > max(RobotState):
            raise FrameError(f"Robot state {state} is not known.")
        echo, received_code = reader.take(4), reader.take(3)
        row = np.empty(3)
        self._quantiser.take(reader, segment, row, _SEGMENT_BITS, measured=True)
        reader.finish()
        received = self._counters.received(received_code, 3, time_ns)
        return TelemetryFrame(
            sequence=self._counters.sequence(code, 4, time_ns, telemetry=True),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limb,
            epoch=self._counters.epoch(epoch),
            state=RobotState(state),
            coordinates=self._remember(self._measured[limb], limb, segment, row),
            tension=None,
            echo_sequence=self._counters.echo(echo, 4) if received > 0 else -1,
            echo_hold_ms=math.nan,
            received=received,
        )

    def _remember(
        self, rows: FloatArray, limb: int, segment: int, row: FloatArray
    ) -> FloatArray:
        rows[segment - self._quantiser.segment_start[limb]] = row
        return rows.copy()
