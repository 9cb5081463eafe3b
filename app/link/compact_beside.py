"""What the smallest packets carry beside coordinates: goals, grips, status of goals.

| frame  | fields after the key, bits                                                 |
|--------|----------------------------------------------------------------------------|
| goal   | time 6, sequence 3, number 2, last 1, check 4, 4 bytes of the goal         |
| grip   | time 6, sequence 3, closure 5, 0 34                                        |
| status | time 6, sequence 4, epoch 3, echo 3, received 3, state 3, status 26        |

CRC-8 ends every frame, over the same as a compact setpoint's or telemetry's. A goal of
8, 12 or 16 bytes takes 2, 3 or 4 frames, whose part is in the key, so that none
replaces another that waits. All parts of a goal have the same number; the first two
also carry a CRC-8 over the whole, the session and the arming, so that no goal is put
together from parts of two. What is put together is at most 8 s old.
"""

import math

import numpy as np

from app.clock import NS_PER_S
from app.errors import FrameError
from app.link.grip import CLOSURE_BITS, closure_code
from app.link.packing import BitReader, BitWriter
from app.link.records import (
    STATUS_BITS,
    WHOLE_ROBOT,
    GripTold,
    SetpointFrame,
    TelemetryFrame,
)
from app.link.senders import GoalParts, Sender
from app.link.stamps import COMPACT_STAMP, coarse_time
from app.link.streams import COMPACT_GOAL_KEY, COMPACT_GRIP_KEY, COMPACT_STATUS_KEY
from app.link.terms import Terms
from app.messages import RobotState, StationMode

__all__ = ["CompactBeside"]

_SEQUENCE_BITS, _TELEMETRY_SEQUENCE_BITS = 3, 4
_PART_BYTES = 4
_FEWEST, _MOST = 2, 4  # parts
_CHECK_BITS = 4
_NUMBERS = 4
_REST_BITS = 34
_TOGETHER_NS = 8 * NS_PER_S


class CompactBeside:
    """Writes and reads them for one robot."""

    def __init__(self, terms: Terms) -> None:
        """Prepare for what both sides share."""
        self._robot_id = terms.robot_id
        self._schema = terms.schema
        self._seal = terms.seal
        self._counters = terms.counters
        self._goal = b""
        self._number = 0
        self._turn = 0

    # -- out -----------------------------------------------------------------------

    def write_goal(self, frame: SetpointFrame) -> bytes:
        """Write a goal's next part in turn.

        Raises:
            FrameError: it has another length than 8, 12 or 16 bytes.
        """
        count, rest = divmod(len(frame.goal), _PART_BYTES)
        if rest or not _FEWEST <= count <= _MOST:
            raise FrameError(
                f"Goal has {len(frame.goal)} bytes: 8, 12 or 16 in compact frames."
            )
        if frame.goal != self._goal:
            self._goal, self._turn = frame.goal, 0
            self._number = (self._number + 1) % _NUMBERS
        part, self._turn = self._turn, (self._turn + 1) % count
        time_ns, writer = self._begin(frame)
        writer.put(self._number, 2)
        writer.put(int(part == count - 1), 1)
        writer.put(self._checks(frame.goal, frame.epoch)[part], _CHECK_BITS)
        own = frame.goal[_PART_BYTES * part : _PART_BYTES * (part + 1)]
        writer.put(int.from_bytes(own, "big"), 8 * _PART_BYTES)
        return self._end(COMPACT_GOAL_KEY | part, writer, time_ns, frame.epoch)

    def write_grip(self, frame: SetpointFrame, grip: GripTold) -> bytes:
        """Write how far a limb's gripper shall be closed.

        Raises:
            FrameError: the closure is not finite.
        """
        time_ns, writer = self._begin(frame)
        writer.put(closure_code(grip.closure), CLOSURE_BITS)
        writer.put(0, _REST_BITS)
        return self._end(COMPACT_GRIP_KEY | grip.limb, writer, time_ns, frame.epoch)

    def write_status(self, frame: TelemetryFrame) -> bytes:
        """Write how the robot gets on with a goal, in the place of coordinates.

        Raises:
            FrameError: the status is too long.
        """
        if frame.status >> STATUS_BITS:
            raise FrameError(
                f"Status {frame.status:#x} takes more than {STATUS_BITS} bits."
            )
        time_ns = COMPACT_STAMP.rounded_ns(frame.generated_ns)
        writer = BitWriter()
        writer.put(COMPACT_STAMP.code(time_ns), COMPACT_STAMP.bits)
        writer.put(frame.sequence, _TELEMETRY_SEQUENCE_BITS)
        writer.put(self._counters.epoch_code(frame.epoch), 3)
        writer.put(max(0, frame.echo_sequence), _SEQUENCE_BITS)
        writer.put(frame.received, 3)
        writer.put(int(frame.state), 3)
        writer.put(frame.status, STATUS_BITS)
        body = bytes([COMPACT_STATUS_KEY | max(0, frame.limb)]) + writer.to_bytes()
        return body + self._seal.short(body, coarse_time(time_ns))

    def _begin(self, frame: SetpointFrame) -> tuple[int, BitWriter]:
        time_ns = COMPACT_STAMP.rounded_ns(frame.generated_ns)
        writer = BitWriter()
        writer.put(COMPACT_STAMP.code(time_ns), COMPACT_STAMP.bits)
        writer.put(frame.sequence, _SEQUENCE_BITS)
        return time_ns, writer

    def _end(self, key: int, writer: BitWriter, time_ns: int, epoch: int) -> bytes:
        body = bytes([key]) + writer.to_bytes()
        return body + self._seal.short(body, coarse_time(time_ns) + bytes([epoch]))

    def _checks(self, goal: bytes, epoch: int) -> list[int]:
        """Return the check bits of each part."""
        (crc,) = self._seal.short(goal, bytes([epoch]))
        return [crc >> 4, crc & 0x0F, 0, 0]

    # -- in ------------------------------------------------------------------------

    def read(
        self, buffer: bytes, reference_ns: int, sender: Sender
    ) -> SetpointFrame | TelemetryFrame:
        """Read a frame of eight bytes; nothing is remembered of one that is refused.

        Raises:
            FrameError: wrong CRC, limb or content.
        """
        key = buffer[0]
        reader = BitReader(buffer[1:-1])
        time_ns = COMPACT_STAMP.time_ns(reader.take(COMPACT_STAMP.bits), reference_ns)
        if key >= COMPACT_STATUS_KEY:
            return self._read_status(buffer, reader, time_ns)
        if sender.compact_epoch == 0:
            raise FrameError("A compact goal came before any arming was announced.")
        epoch = sender.compact_epoch
        self._seal.check_short(buffer, coarse_time(time_ns) + bytes([epoch]))
        code = reader.take(_SEQUENCE_BITS)
        goal, grip = b"", None
        if key < COMPACT_GRIP_KEY:
            goal = self._take_part(key - COMPACT_GOAL_KEY, reader, time_ns, sender)
        else:
            grip = self._take_grip(key - COMPACT_GRIP_KEY, reader)
        return SetpointFrame(
            sequence=sender.counters.sequence(
                code, _SEQUENCE_BITS, time_ns, telemetry=False
            ),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=WHOLE_ROBOT,
            epoch=epoch,
            mode=StationMode.ARMED,
            period_ms=sender.period_ms,
            coordinates=np.empty((0, 3)),
            uplink_bps=sender.uplink_bps,
            goal=goal,
            grip=grip,
        )

    def _take_grip(self, limb: int, reader: BitReader) -> GripTold:
        closure = reader.take(CLOSURE_BITS)
        if limb >= self._schema.limbs or reader.take(_REST_BITS):
            raise FrameError(f"Grip of limb {limb}: no such limb, or a later form.")
        return GripTold(limb, closure / ((1 << CLOSURE_BITS) - 1))

    def _take_part(
        self, part: int, reader: BitReader, time_ns: int, sender: Sender
    ) -> bytes:
        """Take a part up; return the goal where it is complete, else nothing."""
        number, last = reader.take(2), reader.take(1)
        check, content = reader.take(_CHECK_BITS), reader.take(8 * _PART_BYTES)
        if part >= _MOST or (last and part + 1 < _FEWEST):
            raise FrameError(f"Part {part} of a goal: 0..{_MOST - 1}, the last from 1.")
        parts, epoch = sender.goal, sender.compact_epoch
        if (number, epoch) != (parts.number, parts.epoch):
            parts = sender.goal = GoalParts(number, epoch)
        before = parts.told.get(part)
        if before is None or before[0] <= time_ns:
            parts.told[part] = (time_ns, check, content.to_bytes(_PART_BYTES, "big"))
        if last:
            parts.count = part + 1
        told = [parts.told.get(k) for k in range(parts.count)]
        known = [one for one in told if one and abs(time_ns - one[0]) <= _TOGETHER_NS]
        if not known or len(known) < parts.count:
            return b""
        goal = b"".join(content for _, _, content in known)
        wanted = self._checks(goal, epoch)[: parts.count]
        return goal if [check for _, check, _ in known] == wanted else b""

    def _read_status(
        self, buffer: bytes, reader: BitReader, time_ns: int
    ) -> TelemetryFrame:
        self._seal.check_short(buffer, coarse_time(time_ns))
        limb = buffer[0] - COMPACT_STATUS_KEY
        code, epoch = reader.take(_TELEMETRY_SEQUENCE_BITS), reader.take(3)
        echo, received_code = reader.take(_SEQUENCE_BITS), reader.take(3)
        state, status = reader.take(3), reader.take(STATUS_BITS)
        if limb >= self._schema.limbs or state >= len(RobotState):
            raise FrameError(f"Status of limb {limb}, robot state {state}: not known.")
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
            coordinates=np.full((self._schema.segments(limb), 3), np.nan),
            tension=None,
            echo_sequence=(
                self._counters.echo(echo, _SEQUENCE_BITS) if received > 0 else -1
            ),
            echo_hold_ms=math.nan,
            received=received,
            status=status,
        )
