"""The compact profile: one limb a frame of 8 bytes, for the slowest modems.

| frame     | fields after the key, bits                                              |
|-----------|-------------------------------------------------------------------------|
| mode      | time 14, sequence 3, mode 2, epoch 8, session 16, period 3, uplink 2    |
| setpoint  | time 6, sequence 3, coordinates 39                                      |
| telemetry | time 6, sequence 4, epoch 3, echo 3, received 3, coordinates 29         |

CRC-8 ends every frame (`app.link.seal`). The key of a setpoint holds the limb and a
multiple (1, 2, 4, 8) of the period that was announced; that of telemetry the limb and
the robot's state.

The coordinates of a whole limb are one number in mixed radix, as fine as fits; of a
limb that would come out worse than 8 mm at the tip each frame tells a part, whose
number is the last digit. What a setpoint belongs to is not sent but covered by its CRC:
the arming, which a mode frame with mode ARMED announced and telemetry confirms, and the
session. So no compact setpoint is read before an announcement.
"""

import math

import numpy as np

from app.errors import FrameError
from app.link.counters import AHEAD_NS
from app.link.layout import unpack_codes
from app.link.packing import BitReader, BitWriter
from app.link.records import WHOLE_ROBOT, SetpointFrame, TelemetryFrame
from app.link.schema import (
    COMPACT_SETPOINT_BITS,
    COMPACT_TELEMETRY_BITS,
    PartLayout,
)
from app.link.senders import Sender
from app.link.stamps import COMPACT_STAMP, SHORT_MODE_STAMP, coarse_time
from app.link.streams import (
    COMPACT_BYTES,
    COMPACT_REST,
    COMPACT_SETPOINT_KEY,
    COMPACT_TELEMETRY_KEY,
    Kind,
)
from app.link.terms import Terms
from app.messages import RobotState, StationMode
from models.numerics import FloatArray

__all__ = ["CompactProfile"]

_SEQUENCE_BITS = 3
_TELEMETRY_SEQUENCE_BITS = 4
_PERIODS_MS = (125, 250, 500, 1000, 2000, 4000, 8000, 16000)
_UPLINKS_BPS = (0.0, 64.0, 230.0, 900.0)
_MOST_DOUBLINGS = 3
_DEFAULT_PERIOD_MS = 1000.0


class CompactProfile:
    """Writes and reads the compact frames of one robot."""

    def __init__(self, terms: Terms) -> None:
        """Prepare for what both sides share."""
        self._robot_id = terms.robot_id
        self._schema = terms.schema
        self._seal = terms.seal
        self._counters = terms.counters
        self._turn = [0] * terms.schema.limbs  # part to be written next
        self._announced_ms = _DEFAULT_PERIOD_MS

    def parts(self, limb: int) -> int:
        """Setpoint frames that it takes to tell a whole limb."""
        return len(self._schema.compact_setpoint[limb])

    # -- out -----------------------------------------------------------------------

    def write_mode(self, frame: SetpointFrame) -> bytes:
        """Write a mode frame, or the announcement of an arming.

        The period is rounded up (0.125 to 16 s), the rate down (64, 230 or 900 bit/s).
        """
        time_ns = SHORT_MODE_STAMP.rounded_ns(frame.generated_ns)
        period = sum(limit < frame.period_ms for limit in _PERIODS_MS[:-1])
        if frame.announces:
            self._announced_ms = float(_PERIODS_MS[period])
        writer = BitWriter()
        writer.put(SHORT_MODE_STAMP.code(time_ns), SHORT_MODE_STAMP.bits)
        writer.put(frame.sequence, _SEQUENCE_BITS)
        writer.put(int(frame.mode), 2)
        writer.put(frame.epoch, 8)
        writer.put(self._seal.session, 16)
        writer.put(period, 3)
        writer.put(sum(bps <= frame.uplink_bps for bps in _UPLINKS_BPS[1:]), 2)
        body = bytes([Kind.COMPACT_MODE.value]) + writer.to_bytes()
        return body + self._seal.short(body, self._mode_known(time_ns))

    def _mode_known(self, time_ns: int) -> bytes:
        """Who does not know the session does not know the robot's clock either."""
        return coarse_time(time_ns) if self._seal.session else b""

    def write_setpoint(self, frame: SetpointFrame) -> bytes:
        """Write the limb's next part in turn.

        Raises:
            FrameError: a coordinate is not finite.
        """
        doublings = 0
        while (
            doublings < _MOST_DOUBLINGS
            and self._announced_ms * (1 << doublings) < frame.period_ms
        ):
            doublings += 1
        key = COMPACT_SETPOINT_KEY | doublings << 3 | frame.limb
        if not frame.active:
            key |= COMPACT_REST
        time_ns = COMPACT_STAMP.rounded_ns(frame.generated_ns)
        writer = BitWriter()
        writer.put(COMPACT_STAMP.code(time_ns), COMPACT_STAMP.bits)
        writer.put(frame.sequence, _SEQUENCE_BITS)
        parts = self._schema.compact_setpoint[frame.limb]
        writer.put(self._part_value(frame, parts), COMPACT_SETPOINT_BITS)
        body = bytes([key]) + writer.to_bytes()
        return body + self._seal.short(body, _known(time_ns, frame.epoch))

    def write_telemetry(self, frame: TelemetryFrame) -> bytes:
        """Write the limb's next part in turn; there is no room for tensions.

        Raises:
            FrameError: a coordinate is not finite.
        """
        time_ns = COMPACT_STAMP.rounded_ns(frame.generated_ns)
        writer = BitWriter()
        writer.put(COMPACT_STAMP.code(time_ns), COMPACT_STAMP.bits)
        writer.put(frame.sequence, _TELEMETRY_SEQUENCE_BITS)
        writer.put(self._counters.epoch_code(frame.epoch), 3)
        writer.put(max(0, frame.echo_sequence), _SEQUENCE_BITS)
        writer.put(frame.received, 3)
        parts = self._schema.compact_telemetry[frame.limb]
        writer.put(self._part_value(frame, parts), COMPACT_TELEMETRY_BITS)
        key = COMPACT_TELEMETRY_KEY | int(frame.state) << 3 | frame.limb
        body = bytes([key]) + writer.to_bytes()
        return body + self._seal.short(body, coarse_time(time_ns))

    def _part_value(
        self, frame: SetpointFrame | TelemetryFrame, parts: tuple[PartLayout, ...]
    ) -> int:
        turn = self._turn[frame.limb] % len(parts)
        self._turn[frame.limb] = turn + 1
        part = parts[turn]
        count = len(part.layout.bends)
        codes = part.layout.codes(frame.coordinates[part.first : part.first + count])
        return part.layout.pack(codes) * len(parts) + turn

    # -- in ------------------------------------------------------------------------

    def read(
        self, buffer: bytes, reference_ns: int, sender: Sender
    ) -> SetpointFrame | TelemetryFrame:
        """Read a frame; nothing is remembered of one that is refused.

        Raises:
            FrameError: wrong length, CRC, kind, limb or range.
        """
        if len(buffer) != COMPACT_BYTES:
            raise FrameError(
                f"Compact frame has {len(buffer)} bytes, not {COMPACT_BYTES}."
            )
        key = buffer[0]
        reader = BitReader(buffer[1:-1])
        if key < COMPACT_SETPOINT_KEY:
            return self._read_mode(buffer, reader, reference_ns, sender)
        time_ns = COMPACT_STAMP.time_ns(reader.take(COMPACT_STAMP.bits), reference_ns)
        limb = key & 0x07
        if key >= COMPACT_TELEMETRY_KEY + 0x40 or limb >= self._schema.limbs:
            raise FrameError(f"Frame key {key:#04x}: no such kind or limb.")
        if key < COMPACT_TELEMETRY_KEY:
            return self._read_setpoint(buffer, reader, limb, time_ns, sender)
        return self._read_telemetry(buffer, reader, limb, time_ns)

    def _read_mode(
        self, buffer: bytes, reader: BitReader, reference_ns: int, sender: Sender
    ) -> SetpointFrame:
        stamp = SHORT_MODE_STAMP
        time_ns = stamp.time_ns(reader.take(stamp.bits), reference_ns)
        code, mode, epoch = reader.take(_SEQUENCE_BITS), reader.take(2), reader.take(8)
        session, period, uplink = reader.take(16), reader.take(3), reader.take(2)
        own = session == self._seal.session & 0xFFFF
        own = own and self._seal.fits(buffer, self._mode_known(time_ns))
        stranger = not own and session == 0 != self._seal.session
        if stranger:
            stranger = self._seal.fits(buffer, b"", stranger=True)
        if not own and not stranger:
            raise FrameError(
                "CRC-8 is wrong: the frame is damaged, or of another robot number, "
                "robot file, version, session or time."
            )
        if buffer[0] != Kind.COMPACT_MODE.value or mode >= len(StationMode):
            raise FrameError(f"Frame key {buffer[0]:#04x}, mode {mode}: not known.")
        announced = mode == StationMode.ARMED
        sequence = sender.counters.mode_sequence(
            code, _SEQUENCE_BITS, time_ns, reference_ns, stranger=stranger
        )
        if own:
            sender.period_ms = float(_PERIODS_MS[period])
            sender.uplink_bps = _UPLINKS_BPS[uplink]
            if sender.compact_told_ns <= time_ns <= reference_ns + AHEAD_NS:
                sender.compact_told_ns = time_ns
                sender.compact_epoch = epoch if announced else 0
        count = 0 if announced else self._schema.segment_start[-1]
        return SetpointFrame(
            sequence=sequence,
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=WHOLE_ROBOT,
            epoch=epoch,
            mode=StationMode(mode),
            period_ms=float(_PERIODS_MS[period]),
            coordinates=np.full((count, 3), np.nan),
            uplink_bps=_UPLINKS_BPS[uplink],
            stranger=stranger,
        )

    def _read_setpoint(
        self, buffer: bytes, reader: BitReader, limb: int, time_ns: int, sender: Sender
    ) -> SetpointFrame:
        if sender.compact_epoch == 0:
            raise FrameError("A compact setpoint came before any arming was announced.")
        self._seal.check_short(buffer, _known(time_ns, sender.compact_epoch))
        code = reader.take(_SEQUENCE_BITS)
        rows = self._take_rows(
            reader.take(COMPACT_SETPOINT_BITS),
            limb,
            self._schema.compact_setpoint[limb],
        )
        return SetpointFrame(
            sequence=sender.counters.sequence(
                code, _SEQUENCE_BITS, time_ns, telemetry=False
            ),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limb,
            epoch=sender.compact_epoch,
            mode=StationMode.ARMED,
            period_ms=sender.period_ms * (1 << (buffer[0] >> 3 & 3)),
            coordinates=rows,
            uplink_bps=sender.uplink_bps,
            active=not buffer[0] & COMPACT_REST,
        )

    def _read_telemetry(
        self, buffer: bytes, reader: BitReader, limb: int, time_ns: int
    ) -> TelemetryFrame:
        self._seal.check_short(buffer, coarse_time(time_ns))
        code, epoch = reader.take(_TELEMETRY_SEQUENCE_BITS), reader.take(3)
        echo, received_code = reader.take(_SEQUENCE_BITS), reader.take(3)
        state = buffer[0] >> 3 & 0x07
        if state >= len(RobotState):
            raise FrameError(f"Robot state {state} is not known.")
        rows = self._take_rows(
            reader.take(COMPACT_TELEMETRY_BITS),
            limb,
            self._schema.compact_telemetry[limb],
        )
        received = self._counters.received(received_code, 3, time_ns)
        return TelemetryFrame(
            sequence=self._counters.sequence(
                code, _TELEMETRY_SEQUENCE_BITS, time_ns, telemetry=True
            ),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limb,
            epoch=self._counters.epoch(epoch),
            state=RobotState(state),
            coordinates=rows,
            tension=None,
            echo_sequence=(
                self._counters.echo(echo, _SEQUENCE_BITS) if received > 0 else -1
            ),
            echo_hold_ms=math.nan,
            received=received,
        )

    def _take_rows(
        self, value: int, limb: int, parts: tuple[PartLayout, ...]
    ) -> FloatArray:
        value, turn = divmod(value, len(parts))
        part = parts[turn]
        (codes,) = unpack_codes([part.layout], value)
        rows = np.full((self._schema.segments(limb), 3), np.nan)
        rows[part.first : part.first + len(part.layout.bends)] = part.layout.rows(codes)
        return rows


def _known(time_ns: int, epoch: int) -> bytes:
    return coarse_time(time_ns) + bytes([epoch])
