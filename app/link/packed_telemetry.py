"""Packed telemetry: any number of limbs.

| field       | bits | unit, meaning                                                   |
|-------------|------|-----------------------------------------------------------------|
| time        | 18   | 31.25 µs                                                        |
| sequence    | 10   |                                                                 |
| epoch       | 8    | the arming that is followed                                     |
| state       | 3    | RobotState                                                      |
| heard       | 1    | 0: no setpoint yet, the next four mean nothing                  |
| echo        | 10   | sequence of the newest setpoint accepted                        |
| echo time   | 14   | its time, 0.5 ms                                                |
| hold        | 16   | how long ago it came, 0.25 ms; 65535: longer, or not known      |
| received    | 10   | count of setpoints accepted                                     |
| grade       | 2    | resolution of the coordinates                                   |
| mask        | L    | a bit a limb; only where the key says "several"                 |
| coordinates |      | one number in mixed radix, ranges 25 % wider than the limits    |

After filling to a whole byte come sections (faults, what grippers hold, status of a
goal, what a strategy tells, tension, an object, contact model) and 24 bits of CRC.
"""

import math

import numpy as np

from app.clock import NS_PER_MS, NS_PER_US
from app.errors import FrameError
from app.link.object_section import ObjectTold, read_object, write_object
from app.link.packed_limbs import GRADE_BITS, PackedLimbs
from app.link.packing import filled
from app.link.records import STATUS_BITS, WHOLE_ROBOT, TelemetryFrame
from app.link.schema import Grade
from app.link.seal import LONG_BYTES
from app.link.sections import (
    CONTACT,
    FAULTS,
    HELD,
    OBJECT,
    SIGNAL,
    STATUS,
    TENSION,
    read_sections,
    write_section,
)
from app.link.signal_section import read_signal, write_signal
from app.link.stamps import SETPOINT_STAMP, TELEMETRY_STAMP, coarse_time
from app.link.streams import Kind
from app.link.tension_codes import TensionCodes
from app.link.terms import Terms
from app.messages import RobotState
from models.numerics import FloatArray

__all__ = ["PackedTelemetry"]

_SEQUENCE_BITS = 10
_HOLD_TICK_NS = 250 * NS_PER_US
_HOLD_UNKNOWN = 65535
_TIME_BITS, _ECHO_TIME_BITS = TELEMETRY_STAMP.bits, SETPOINT_STAMP.bits
_SEQUENCE_MASK, _HOLD_MASK = (1 << _SEQUENCE_BITS) - 1, (1 << 16) - 1
_STAMP_MASK, _GRADE_MASK = (1 << _ECHO_TIME_BITS) - 1, (1 << GRADE_BITS) - 1
_ECHO_BITS = 1 + _SEQUENCE_BITS + _ECHO_TIME_BITS + 16 + _SEQUENCE_BITS
# how many bits of the head are behind a field
_RECEIVED_AT = GRADE_BITS
_HOLD_AT = _RECEIVED_AT + _SEQUENCE_BITS
_ECHO_TIME_AT = _HOLD_AT + 16
_ECHO_AT = _ECHO_TIME_AT + _ECHO_TIME_BITS
_HEARD_AT = _ECHO_AT + _SEQUENCE_BITS
_STATE_AT = _HEARD_AT + 1
_EPOCH_AT = _STATE_AT + 3
_SEQUENCE_AT = _EPOCH_AT + 8
_TIME_AT = _SEQUENCE_AT + _SEQUENCE_BITS
_HEAD_BITS = _TIME_AT + _TIME_BITS
_HEAD_BYTES = (_HEAD_BITS + 7) // 8  # without the key
_HEAD_END = 1 + _HEAD_BYTES
_AFTER_HEAD_BITS = 8 * _HEAD_BYTES - _HEAD_BITS  # of its last byte
_SKIPPED_BITS = 8 - _AFTER_HEAD_BITS  # of its last byte, before the coordinates
_MOST_WITHOUT_ANY = _HEAD_BYTES + LONG_BYTES
_GRADES = len(Grade)
_LONGEST_CONTACT = 64
_BY_IMPORTANCE = (FAULTS, HELD, STATUS, SIGNAL, CONTACT, TENSION, OBJECT)
_STATES = tuple(RobotState)
_STATES_END = len(_STATES)
_Rare = tuple[int, int, ObjectTold | None, int]
"""Faults, status, the object that was seen, and what is held."""
_NOTHING_RARE: _Rare = (0, -1, None, -1)
_ONE = Kind.TELEMETRY_LIMB.value
_SOME, _ALL = Kind.TELEMETRY_SOME.value, Kind.TELEMETRY_ALL.value


def _echo(frame: TelemetryFrame) -> int:
    """The fields from `heard` to `received`, as one."""
    echo, hold = 0, _HOLD_UNKNOWN
    if frame.echo_sequence >= 0:
        echo = 1 << _SEQUENCE_BITS | frame.echo_sequence & _SEQUENCE_MASK
        if math.isfinite(frame.echo_hold_ms):
            hold = round(frame.echo_hold_ms * NS_PER_MS / _HOLD_TICK_NS)
            if not 0 <= hold <= _HOLD_UNKNOWN:
                hold = 0 if hold < 0 else _HOLD_UNKNOWN
    _, time_code = SETPOINT_STAMP.told(frame.echo_generated_ns)
    echo = (echo << _ECHO_TIME_BITS | time_code) << 16 | hold
    return echo << _SEQUENCE_BITS | frame.received & _SEQUENCE_MASK


class PackedTelemetry:
    """Writes and reads the packed telemetry of one robot."""

    def __init__(self, terms: Terms) -> None:
        """Prepare for what both sides share."""
        self._robot_id = terms.robot_id
        self._schema = terms.schema
        self._tendons = self._schema.tendon_start[-1]
        self._untold = np.full(self._tendons, np.nan)
        self._seal = terms.seal
        self._counters = terms.counters
        self._limbs = PackedLimbs(terms.schema, terms.schema.telemetry)
        self.grade = Grade.STANDARD
        self._tensions: dict[tuple[int, ...], TensionCodes] = {}
        self._bytes: dict[tuple[tuple[int, ...], int, bool], int] = {}

    def frame_bytes(
        self, limbs: tuple[int, ...], grade: Grade, *, tension: bool
    ) -> int:
        """Length of a frame of these limbs, with tensions or without [bytes]."""
        known = self._bytes.get((limbs, grade, tension))
        if known is not None:
            return known
        bits = _HEAD_BITS + self._limbs.form(limbs, grade).bits
        tensions = self._codes_of(limbs).size
        section = 2 + tensions if tension and tensions else 0
        size = 1 + (bits + 7) // 8 + section + LONG_BYTES
        self._bytes[limbs, grade, tension] = size
        return size

    def write(self, frame: TelemetryFrame, mtu_bytes: int) -> bytes:
        """Write a frame; its sections in their order, each only where it fits.

        Raises:
            FrameError: a value is not finite, or of the wrong shape.
        """
        grade = self.grade
        limbs, value = self._limbs.told(frame.limb, frame.coordinates, grade)
        form = self._limbs.form(limbs, grade)
        time_ns, time_code = TELEMETRY_STAMP.told(frame.generated_ns)
        head = self._key(limbs) << _TIME_BITS | time_code
        head = head << _SEQUENCE_BITS | frame.sequence & _SEQUENCE_MASK
        head = (head << 8 | frame.epoch & 0xFF) << 3 | frame.state & 0x07
        head = (head << _ECHO_BITS | _echo(frame)) << GRADE_BITS | grade
        bits = form.bits
        body = filled(head << bits | form.mask | value, 8 + _HEAD_BITS + bits)
        sections, room = self._sections(frame, limbs), mtu_bytes - LONG_BYTES
        whole = body + b"".join(sections)
        if len(whole) > room:
            whole = body + self._fitting(sections, room - len(body))
        return whole + self._seal.long(whole, coarse_time(time_ns))

    def _key(self, limbs: tuple[int, ...]) -> int:
        if len(limbs) == 1:
            return _ONE | limbs[0]
        return _ALL if len(limbs) == self._schema.limbs else _SOME

    @staticmethod
    def _fitting(sections: list[bytes], room: int) -> bytes:
        """Those that fit into so many bytes, the more important ones first asked."""
        kept: list[bytes] = []
        for kind in _BY_IMPORTANCE:
            for section in sections:
                if section[0] == kind and len(section) <= room:
                    room -= len(section)
                    kept.append(section)
        return b"".join(section for section in sections if section in kept)

    def _sections(self, frame: TelemetryFrame, limbs: tuple[int, ...]) -> list[bytes]:
        """All that there is to tell, in the order of a frame."""
        sections: list[bytes] = []
        if frame.faults:
            sections.append(
                write_section(FAULTS, (frame.faults & 0xFFFF).to_bytes(2, "big"))
            )
        if frame.held >= 0:
            sections.append(write_section(HELD, bytes([frame.held & 0xFF])))
        if frame.status >= 0:
            if frame.status >> STATUS_BITS:
                raise FrameError(
                    f"Status {frame.status:#x} takes more than {STATUS_BITS} bits."
                )
            sections.append(write_section(STATUS, frame.status.to_bytes(4, "big")))
        if frame.signal is not None:
            sections.append(write_section(SIGNAL, write_signal(frame.signal)))
        if frame.tension is not None:
            sections.append(self._tension_section(frame.limb, frame.tension, limbs))
        if frame.seen is not None:
            sections.append(write_section(OBJECT, write_object(frame.seen)))
        if frame.contact:
            if len(frame.contact) > _LONGEST_CONTACT:
                raise FrameError(
                    f"Contact model has {len(frame.contact)} bytes: at most "
                    f"{_LONGEST_CONTACT}."
                )
            sections.append(write_section(CONTACT, frame.contact))
        return sections

    def _tension_section(
        self, limb: int, tension: FloatArray, limbs: tuple[int, ...]
    ) -> bytes:
        if limb == WHOLE_ROBOT:
            offset, expected = 0, self._tendons
        else:
            own = self._schema.tendons(limb)
            offset, expected = own.start, own.stop - own.start
        if len(tension) != expected:
            raise FrameError(f"There are {expected} tendons, not {len(tension)}.")
        content = self._codes_of(limbs).write(tension, offset)
        if content is None:
            raise FrameError(f"Tensions {tension} cannot be sent: they are not finite.")
        return write_section(TENSION, content)

    def _codes_of(self, limbs: tuple[int, ...]) -> TensionCodes:
        """Return the codes of the tendons of these limbs, in order."""
        known = self._tensions.get(limbs)
        if known is None:
            which: list[int] = []
            for limb in limbs:
                own = self._schema.tendons(limb)
                which += range(own.start, own.stop)
            low, high = np.array(self._schema.tension).reshape(-1, 2)[which].T
            known = self._tensions[limbs] = TensionCodes(which, low, high)
        return known

    def read(self, buffer: bytes, reference_ns: int) -> TelemetryFrame:
        """Read a frame; nothing is remembered of one that is refused.

        Raises:
            FrameError: wrong length, CRC, limb or range.
        """
        head = int.from_bytes(buffer[1:_HEAD_END], "big") >> _AFTER_HEAD_BITS
        time_ns = TELEMETRY_STAMP.time_ns(head >> _TIME_AT, reference_ns)
        self._seal.check(buffer, coarse_time(time_ns))
        if len(buffer) <= _MOST_WITHOUT_ANY:
            raise FrameError(f"Frame is cut: {len(buffer)} bytes, telemetry has more.")
        grade = head & _GRADE_MASK
        if grade >= _GRADES:
            raise FrameError(f"Resolution {grade} is not known.")
        state = head >> _STATE_AT & 0x07
        if state >= _STATES_END:
            raise FrameError(f"Robot state {state} is not known.")
        fields = buffer[_HEAD_BYTES:-LONG_BYTES]
        key, limbs = buffer[0], self._schema.all_limbs
        if key != _ALL:
            limbs = self._told(key, fields)
        _, rows, rest = self._limbs.read(fields, _SKIPPED_BITS, limbs, grade)
        sections = read_sections(rest)
        tension = signal = None
        if TENSION in sections:
            tension = self._take_tension(sections.pop(TENSION), limbs)
        if SIGNAL in sections:
            signal = read_signal(sections.pop(SIGNAL))
        contact = sections.pop(CONTACT, b"")[:_LONGEST_CONTACT]
        # the others are rare
        rare = self._take_rare(sections) if sections else _NOTHING_RARE
        faults, status, seen, held = rare
        echo, hold_ms, echo_ns = -1, math.nan, -1
        if head >> _HEARD_AT & 1:
            echo = head >> _ECHO_AT & _SEQUENCE_MASK
            echo = self._counters.echo(echo, _SEQUENCE_BITS)
            hold = head >> _HOLD_AT & _HOLD_MASK
            if hold != _HOLD_UNKNOWN:
                hold_ms = hold * _HOLD_TICK_NS / NS_PER_MS
            code = head >> _ECHO_TIME_AT & _STAMP_MASK
            echo_ns = SETPOINT_STAMP.time_ns(code, time_ns)
        sequence, received = self._counters.reported(
            head >> _SEQUENCE_AT & _SEQUENCE_MASK,
            head >> _RECEIVED_AT & _SEQUENCE_MASK,
            _SEQUENCE_BITS,
            time_ns,
        )
        return TelemetryFrame(
            sequence=sequence,
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=limbs[0] if len(limbs) == 1 else WHOLE_ROBOT,
            epoch=head >> _EPOCH_AT & 0xFF,
            state=_STATES[state],
            coordinates=rows,
            tension=tension,
            echo_sequence=echo,
            echo_hold_ms=hold_ms,
            received=received,
            echo_generated_ns=echo_ns,
            faults=faults,
            contact=contact,
            signal=signal,
            status=status,
            seen=seen,
            held=held,
        )

    def _told(self, key: int, fields: bytes) -> tuple[int, ...]:
        """Return the limbs of a frame of one or several."""
        if key == _SOME:
            return self._limbs.read_mask(fields, _SKIPPED_BITS)
        limb = key & 0x07
        if limb >= self._schema.limbs:
            raise FrameError(f"No limb {limb}: 0..{self._schema.limbs - 1}.")
        return (limb,)

    def _take_rare(self, sections: dict[int, bytes]) -> _Rare:
        faults = int.from_bytes(sections.get(FAULTS, b"")[:2], "big")
        status, seen = sections.get(STATUS), sections.get(OBJECT)
        held = sections.get(HELD)
        if status is not None and (len(status) != 4 or status[0] >> STATUS_BITS - 24):
            raise FrameError(f"Status {status.hex()!r}: {STATUS_BITS} bits of 4 bytes.")
        return (
            faults,
            -1 if status is None else int.from_bytes(status, "big"),
            None if seen is None else read_object(seen, self._schema.limbs),
            held[0] if held else -1,
        )

    def _take_tension(self, section: bytes, limbs: tuple[int, ...]) -> FloatArray:
        """Return the tensions of a single limb, or those of the robot."""
        codes = self._codes_of(limbs)
        tension = self._untold.copy()
        if len(section) != codes.size or not codes.read(section, tension):
            raise FrameError(
                f"Tensions {section.hex()!r}: {codes.size} bytes, zeros at their end."
            )
        if len(limbs) == 1:
            return tension[self._schema.tendons(limbs[0])]
        return tension
