"""Packed setpoint and mode frames: any number of limbs, full or as a delta.

| frame | fields after the key, bits                                                   |
|-------|------------------------------------------------------------------------------|
| mode  | time 29, sequence 10, epoch 8, mode 2, session 32, period 6, uplink 8        |
| full  | time 14, sequence 10, epoch 8; grade 2, delta 1 = 0; mask L; coordinates     |
| delta | time 14, sequence 10, epoch 8; grade 2, delta 1 = 1; base 8; each limb:      |
|       | width w 4, then w for each coordinate                                        |
| goal  | time 14, sequence 10, epoch 8; a section of a goal                           |

The mask (a bit a limb, limb 0 last) is there only where the key says "several". The
coordinates of a full frame are one number in mixed radix (`app.link.layout`). A delta
tells all limbs: by what each code differs from that of the frame `base` numbers before.
After filling to a whole byte come sections (`app.link.sections`) and 24 bits of CRC.
Of a mode frame that is sealed with session 0, the sender does not know the session.
"""

import numpy as np

from app.errors import FrameError
from app.link.bases import Bases, State
from app.link.grip import read_grip, write_grip
from app.link.packed_limbs import GRADE_BITS, PackedLimbs
from app.link.packing import (
    BitReader,
    BitWriter,
    filled,
    period_code,
    period_ms,
    uplink_bps,
    uplink_code,
)
from app.link.records import WHOLE_ROBOT, GripTold, SetpointFrame
from app.link.schema import Grade
from app.link.seal import LONG_BYTES
from app.link.sections import GOAL, GRIP, PLAN, SIGNAL, read_sections, write_section
from app.link.senders import Sender
from app.link.signal_section import SignalTold, read_signal, write_signal
from app.link.stamps import MODE_STAMP, SETPOINT_STAMP, coarse_time
from app.link.streams import Kind
from app.link.terms import Terms
from app.messages import StationMode

__all__ = ["PackedSetpoints"]

_SEQUENCE_BITS, _EPOCH_BITS = 10, 8
_SEQUENCE_MASK, _EPOCH_MASK = (1 << _SEQUENCE_BITS) - 1, (1 << _EPOCH_BITS) - 1
_HEAD_BITS = SETPOINT_STAMP.bits + _SEQUENCE_BITS + _EPOCH_BITS
_HEAD_BYTES = 1 + _HEAD_BITS // 8  # with the key; nothing is filled
_FORM_BITS = GRADE_BITS + 1
_BASE_BITS = 8
_DELTA_HEAD_END = 7  # of its bytes, of whose last 5 bits are the first limb's
_DELTA_AT = 8 + _HEAD_BITS + _FORM_BITS + _BASE_BITS  # bit where a delta starts
_FULL_EVERY = 10  # frames, for a peer that has lost what it acknowledged
_PLAN_EVERY = 8  # frames, for a peer that missed it
_PLAN_REPEATS = 3  # after a change
_GRIP_EVERY, _GRIP_REPEATS = 8, 3  # frames, likewise
_LONGEST_GOAL = 64
_MODE, _GOAL = Kind.MODE.value, Kind.GOAL.value
_ACTIVE_LIMB, _LIMB = Kind.ACTIVE_LIMB.value, Kind.LIMB.value
_SOME_WITH_ACTIVE, _SOME = Kind.SOME_WITH_ACTIVE.value, Kind.SOME.value
_ALL = Kind.ALL.value
_WITH_ACTIVE = frozenset(
    {_SOME_WITH_ACTIVE, _ALL, *range(_ACTIVE_LIMB, _ACTIVE_LIMB + 8)}
)
_GRADES = len(Grade)


def _head(key: int, time_code: int, frame: SetpointFrame) -> bytes:
    """What every frame but a mode frame begins with."""
    head = (key << SETPOINT_STAMP.bits | time_code) << _SEQUENCE_BITS
    head = (head | frame.sequence & _SEQUENCE_MASK) << _EPOCH_BITS
    return (head | frame.epoch & _EPOCH_MASK).to_bytes(_HEAD_BYTES, "big")


class PackedSetpoints:
    """Writes and reads the station's packed frames to one robot."""

    def __init__(self, terms: Terms) -> None:
        """Prepare for what both sides share."""
        self._robot_id = terms.robot_id
        self._schema = terms.schema
        self._seal = terms.seal
        self._limbs = PackedLimbs(terms.schema, terms.schema.setpoint)
        self._grades = tuple(Grade)
        self.grade = Grade.STANDARD
        self.sent = Bases()
        """States told by this side."""
        self._deltas = 0  # frames since one was full for certain
        self._planned: tuple[float, float] | None = None
        self._plan = b""
        self._since_plan = 0
        self._grip = b""
        self._since_grip = 0

    def frame_bytes(self, limbs: tuple[int, ...], grade: Grade) -> int:
        """Length of a full frame of these limbs, without sections [bytes]."""
        bits = _HEAD_BITS + _FORM_BITS + self._limbs.form(limbs, grade).bits
        return 1 + (bits + 7) // 8 + LONG_BYTES

    # -- out -----------------------------------------------------------------------

    def write_mode(self, frame: SetpointFrame) -> bytes:
        """Write a mode frame, or the announcement of an arming."""
        time_ns = MODE_STAMP.rounded_ns(frame.generated_ns)
        writer = BitWriter()
        writer.put(MODE_STAMP.code(time_ns), MODE_STAMP.bits)
        writer.put(frame.sequence, _SEQUENCE_BITS)
        writer.put(frame.epoch, 8)
        writer.put(int(frame.mode), 2)
        writer.put(self._seal.session, 32)
        writer.put(period_code(frame.period_ms), 6)
        writer.put(uplink_code(frame.uplink_bps), 8)
        body = bytes([_MODE]) + writer.to_bytes()
        return body + self._seal.long(body, b"")

    def write_goal(self, frame: SetpointFrame, mtu_bytes: int) -> bytes:
        """Write a goal, which tells no coordinates.

        Raises:
            FrameError: it is too long for a frame or the link.
        """
        if len(frame.goal) > _LONGEST_GOAL:
            raise FrameError(
                f"Goal has {len(frame.goal)} bytes: at most {_LONGEST_GOAL}."
            )
        time_ns, time_code = SETPOINT_STAMP.told(frame.generated_ns)
        body = _head(_GOAL, time_code, frame) + write_section(GOAL, frame.goal)
        if len(body) + LONG_BYTES > mtu_bytes:
            raise FrameError(
                f"A goal of {len(frame.goal)} bytes does not fit the link's packets "
                f"of {mtu_bytes} bytes; send it in compact frames."
            )
        return body + self._seal.long(body, coarse_time(time_ns))

    def write_setpoint(self, frame: SetpointFrame, mtu_bytes: int) -> bytes:
        """Write a setpoint, as a delta where that is shorter.

        What a strategy tells and the grip are left out where they do not fit the MTU.

        Raises:
            FrameError: a value is not finite, or no limb is told.
        """
        grade = self.grade
        limbs, value = self._limbs.told(frame.limb, frame.coordinates, grade)
        form = self._limbs.form(limbs, grade)
        time_ns, time_code = SETPOINT_STAMP.told(frame.generated_ns)
        known = coarse_time(time_ns)
        body = None
        if len(limbs) == self._schema.limbs:
            base = self.sent.usable(frame.sequence, grade)
            self._deltas += 1
            if self._deltas >= _FULL_EVERY:
                self._deltas = 0
            elif base is not None:
                distance, state = base
                body = self._delta(distance, state, form.bits)
                if body is not None:
                    known += state.known()
            state = State(grade, self._limbs.codes(grade), value)
            self.sent.keep(frame.sequence, state)
        if body is None:
            bits = form.bits
            body = filled(grade << 1 + bits | form.mask | value, _FORM_BITS + bits)
        key = self._key(frame, limbs)
        body = _head(key, time_code, frame) + body + self._told_plan(frame)
        room, signal = mtu_bytes - LONG_BYTES, frame.signal
        if signal is not None and signal.limb in limbs:
            section = write_section(SIGNAL, write_signal(signal))
            if len(body) + len(section) <= room:
                body += section
        section = self._told_grip(frame.grip)
        if section and len(body) + len(section) <= room:
            body += section
        return body + self._seal.long(body, known)

    def _delta(self, distance: int, base: State, full_bits: int) -> bytes | None:
        """What was told last, from a base so many frames before, where it is shorter.

        Args:
            distance: of the base.
            base: where it starts.
            full_bits: of the coordinates in a full frame.
        """
        head = (self.grade << 1 | 1) << _BASE_BITS | distance
        bits = _FORM_BITS + _BASE_BITS
        delta = self._limbs.write_delta(head, bits, base.codes, self.grade)
        shorter = delta is not None and 8 * len(delta) < _FORM_BITS + full_bits
        return delta if shorter else None

    def _told_grip(self, grip: GripTold | None) -> bytes:
        """The grip as a section, when it has changed and now and then."""
        content = b"" if grip is None else write_grip(grip)
        if content != self._grip:
            self._grip, self._since_grip = content, -_GRIP_REPEATS
        self._since_grip += 1
        if not content or 0 < self._since_grip < _GRIP_EVERY:
            return b""
        self._since_grip = min(self._since_grip, 0)
        return write_section(GRIP, content)

    def _key(self, frame: SetpointFrame, limbs: tuple[int, ...]) -> int:
        if len(limbs) == self._schema.limbs > 1:
            return _ALL
        if len(limbs) > 1:
            return _SOME_WITH_ACTIVE if frame.active else _SOME
        return (_ACTIVE_LIMB if frame.active else _LIMB) | limbs[0]

    def _told_plan(self, frame: SetpointFrame) -> bytes:
        if (frame.period_ms, frame.uplink_bps) != self._planned:
            self._planned = frame.period_ms, frame.uplink_bps
            plan = bytes([period_code(frame.period_ms), uplink_code(frame.uplink_bps)])
            if plan != self._plan:
                self._plan, self._since_plan = plan, -_PLAN_REPEATS
        self._since_plan += 1
        if 0 < self._since_plan < _PLAN_EVERY:
            return b""
        self._since_plan = min(self._since_plan, 0)
        return write_section(PLAN, self._plan)

    # -- in ------------------------------------------------------------------------

    def read(self, buffer: bytes, reference_ns: int, sender: Sender) -> SetpointFrame:
        """Read a mode or setpoint frame; nothing is remembered of one that is refused.

        Raises:
            FrameError: wrong length, CRC, kind, limb, base or range.
        """
        key = buffer[0]
        if key == _MODE:
            return self._read_mode(buffer, reference_ns, sender)
        # time 14, sequence 10, epoch 8, grade 2, delta 1, base 8, and 5 bits more; the
        # shortest frame has as many, its seal included
        head = int.from_bytes(buffer[1:_DELTA_HEAD_END], "big")
        time_ns = SETPOINT_STAMP.time_ns(head >> 34, reference_ns)
        code = head >> 24 & _SEQUENCE_MASK
        epoch = head >> 16 & _EPOCH_MASK
        if key == _GOAL:
            return self._read_goal(buffer, time_ns, code, epoch, sender)
        grade = head >> 14 & 3
        if grade >= _GRADES:
            raise FrameError(f"Resolution {grade} is not known.")
        known = coarse_time(time_ns)
        counters = sender.counters
        sequence, ahead = counters.ahead(code, _SEQUENCE_BITS, time_ns)
        if head >> 13 & 1:  # a delta
            distance = head >> 5 & 0xFF
            if key != _ALL and not self._tells_all(key):
                raise FrameError("A delta frame must tell all limbs.")
            base = sender.bases.get(sequence - distance)
            if base is None or base.grade != grade:
                raise FrameError(
                    f"Delta starts from frame {distance} before, which is not known."
                )
            self._seal.check(buffer, known + base.known())
            end = 8 * (len(buffer) - LONG_BYTES)
            limbs = self._schema.all_limbs
            value, rows, after = self._limbs.read_delta(
                buffer, _DELTA_AT, end, base.codes, grade
            )
            rest = buffer[after:-LONG_BYTES]
        else:
            self._seal.check(buffer, known)
            fields = buffer[_HEAD_BYTES:-LONG_BYTES]
            limbs = self._schema.all_limbs
            if key != _ALL:
                limbs = self._told(key, fields)
            value, rows, rest = self._limbs.read(fields, _FORM_BITS, limbs, grade)
        sections = read_sections(rest)
        plan = signal = grip = None
        if PLAN in sections:
            plan = self._take_plan(sections[PLAN])
        if SIGNAL in sections:
            signal = self._take_signal(sections[SIGNAL], limbs)
        if GRIP in sections:
            grip = read_grip(sections[GRIP], self._schema.limbs)
        counters.accept(ahead)
        if plan is not None:
            sender.period_ms, sender.uplink_bps = plan
        if len(limbs) == self._schema.limbs:
            codes = self._limbs.codes(grade)
            sender.bases.keep(sequence, State(self._grades[grade], codes, value))
        return SetpointFrame(
            sequence=sequence,
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limbs[0] if len(limbs) == 1 else WHOLE_ROBOT,
            epoch=epoch,
            mode=StationMode.ARMED,
            period_ms=sender.period_ms,
            coordinates=rows,
            uplink_bps=sender.uplink_bps,
            active=key in _WITH_ACTIVE,
            signal=signal,
            grip=grip,
        )

    def _read_goal(
        self,
        buffer: bytes,
        time_ns: int,
        code: int,
        epoch: int,
        sender: Sender,
    ) -> SetpointFrame:
        self._seal.check(buffer, coarse_time(time_ns))
        goal = read_sections(buffer[_HEAD_BYTES:-LONG_BYTES]).get(GOAL, b"")
        if not 0 < len(goal) <= _LONGEST_GOAL:
            raise FrameError(f"Goal has {len(goal)} bytes: 1..{_LONGEST_GOAL}.")
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
        )

    @staticmethod
    def _take_signal(content: bytes, limbs: tuple[int, ...]) -> SignalTold:
        signal = read_signal(content)
        if signal.limb not in limbs:
            raise FrameError(f"Signal of limb {signal.limb}, which is not told.")
        return signal

    def _tells_all(self, key: int) -> bool:
        return key == _ALL or (self._schema.limbs == 1 and key in (_ACTIVE_LIMB, _LIMB))

    def _told(self, key: int, fields: bytes) -> tuple[int, ...]:
        """Return the limbs of a frame of one or several."""
        if key in (_SOME, _SOME_WITH_ACTIVE):
            return self._limbs.read_mask(fields, _FORM_BITS)
        limb = key & 0x07
        if key & 0xF8 not in (_ACTIVE_LIMB, _LIMB) or limb >= self._schema.limbs:
            raise FrameError(f"Frame key {key:#04x}: no such kind or limb.")
        return (limb,)

    @staticmethod
    def _take_plan(plan: bytes) -> tuple[float, float]:
        if len(plan) < 2:
            raise FrameError(f"Plan has {len(plan)} bytes: at least 2.")
        return period_ms(plan[0] & 0x3F), uplink_bps(plan[1])

    def _read_mode(
        self, buffer: bytes, reference_ns: int, sender: Sender
    ) -> SetpointFrame:
        reader = BitReader(buffer[1:-LONG_BYTES])
        time_ns = MODE_STAMP.time_ns(reader.take(MODE_STAMP.bits), reference_ns)
        code, epoch = reader.take(_SEQUENCE_BITS), reader.take(8)
        mode, session = reader.take(2), reader.take(32)
        period, uplink = reader.take(6), reader.take(8)
        stranger = session == 0 != self._seal.session
        self._seal.check(buffer, b"", stranger=stranger)
        if session != self._seal.session and not stranger:
            raise FrameError(f"Frame is of session {session:#010x}, not of this one.")
        if mode >= len(StationMode):
            raise FrameError(f"Mode {mode} is not known.")
        reader.finish()
        announced = mode == StationMode.ARMED
        count = 0 if announced else self._schema.segment_start[-1]
        sequence = sender.counters.mode_sequence(
            code, _SEQUENCE_BITS, time_ns, reference_ns, stranger=stranger
        )
        if not stranger:
            sender.period_ms, sender.uplink_bps = period_ms(period), uplink_bps(uplink)
        return SetpointFrame(
            sequence=sequence,
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=WHOLE_ROBOT,
            epoch=epoch,
            mode=StationMode(mode),
            period_ms=period_ms(period),
            coordinates=np.full((count, 3), np.nan),
            uplink_bps=uplink_bps(uplink),
            stranger=stranger,
        )
