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
from app.link.object_section import read_object, write_object
from app.link.packed_limbs import GRADE_BITS, PackedLimbs
from app.link.packing import BitReader, filled
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
_SEQUENCE_MASK, _HOLD_MASK = (1 << _SEQUENCE_BITS) - 1, (1 << 16) - 1
_STAMP_MASK, _GRADE_MASK = (1 << SETPOINT_STAMP.bits) - 1, (1 << GRADE_BITS) - 1
_ECHO_BITS = 1 + _SEQUENCE_BITS + SETPOINT_STAMP.bits + 16 + _SEQUENCE_BITS
_SAID_BITS = _SEQUENCE_BITS + 8 + 3 + _ECHO_BITS + GRADE_BITS
_HEAD_BITS = TELEMETRY_STAMP.bits + _SAID_BITS
_HEAD_BYTES = (_HEAD_BITS + 7) // 8  # without the key
_AFTER_HEAD_BITS = 8 * _HEAD_BYTES - _HEAD_BITS  # of its last byte
_LONGEST_CONTACT = 64
_STATES = tuple(RobotState)
_ONE = Kind.TELEMETRY_LIMB.value
_SOME, _ALL = Kind.TELEMETRY_SOME.value, Kind.TELEMETRY_ALL.value


def _echo(frame: TelemetryFrame) -> int:
    """The fields from `heard` to `received`, as one."""
    heard = frame.echo_sequence >= 0
    hold = _HOLD_UNKNOWN
    if heard and math.isfinite(frame.echo_hold_ms):
        ticks = round(frame.echo_hold_ms * NS_PER_MS / _HOLD_TICK_NS)
        hold = min(_HOLD_UNKNOWN, max(0, ticks))
    _, time_code = SETPOINT_STAMP.told(frame.echo_generated_ns)
    number = frame.echo_sequence & _SEQUENCE_MASK if heard else 0
    echo = (heard << _SEQUENCE_BITS | number) << SETPOINT_STAMP.bits | time_code
    return (echo << 16 | hold) << _SEQUENCE_BITS | frame.received & _SEQUENCE_MASK


class PackedTelemetry:
    """Writes and reads the packed telemetry of one robot."""

    def __init__(self, terms: Terms) -> None:
        """Prepare for what both sides share."""
        self._robot_id = terms.robot_id
        self._schema = terms.schema
        self._untold = np.full(self._schema.tendon_start[-1], np.nan)
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
        bits = _HEAD_BITS + self._limbs.bits(limbs, grade)
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
        told = self._limbs.told(frame.limb, frame.coordinates, self.grade)
        limbs = told.limbs
        time_ns, time_code = TELEMETRY_STAMP.told(frame.generated_ns)
        head = self._key(limbs) << TELEMETRY_STAMP.bits | time_code
        head = head << _SEQUENCE_BITS | frame.sequence & _SEQUENCE_MASK
        head = head << 8 | frame.epoch & 0xFF
        head = head << 3 | frame.state & 0x07
        head = (head << _ECHO_BITS | _echo(frame)) << GRADE_BITS | self.grade
        number, bits = self._limbs.joined(told, self.grade)
        body = filled(head << bits | number, 8 + _HEAD_BITS + bits)
        room = mtu_bytes - len(body) - LONG_BYTES
        contact = b""
        for section in self._sections(frame, limbs):
            if len(section) <= room:
                room -= len(section)
                # contact counts more than tension, and stands behind it
                if section[0] == CONTACT:
                    contact = section
                else:
                    body += section
        body += contact
        return body + self._seal.long(body, coarse_time(time_ns))

    def _key(self, limbs: tuple[int, ...]) -> int:
        if len(limbs) == 1:
            return _ONE | limbs[0]
        return _ALL if len(limbs) == self._schema.limbs else _SOME

    def _sections(self, frame: TelemetryFrame, limbs: tuple[int, ...]) -> list[bytes]:
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
        if frame.contact:
            if len(frame.contact) > _LONGEST_CONTACT:
                raise FrameError(
                    f"Contact model has {len(frame.contact)} bytes: at most "
                    f"{_LONGEST_CONTACT}."
                )
            sections.append(write_section(CONTACT, frame.contact))
        if frame.tension is not None:
            sections.append(self._tension_section(frame, limbs))
        if frame.seen is not None:
            sections.append(write_section(OBJECT, write_object(frame.seen)))
        return sections

    def _tension_section(self, frame: TelemetryFrame, limbs: tuple[int, ...]) -> bytes:
        tension = frame.tension if frame.tension is not None else np.empty(0)
        if frame.limb == WHOLE_ROBOT:
            offset, expected = 0, self._schema.tendon_start[-1]
        else:
            own = self._schema.tendons(frame.limb)
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
        head = int.from_bytes(buffer[1 : 1 + _HEAD_BYTES], "big") >> _AFTER_HEAD_BITS
        time_ns = TELEMETRY_STAMP.time_ns(head >> _SAID_BITS, reference_ns)
        self._seal.check(buffer, coarse_time(time_ns))
        if len(buffer) <= _HEAD_BYTES + LONG_BYTES:
            raise FrameError(f"Frame is cut: {len(buffer)} bytes, telemetry has more.")
        grade, said = head & _GRADE_MASK, head >> GRADE_BITS
        self._limbs.check_grade(grade)
        received, said = said & _SEQUENCE_MASK, said >> _SEQUENCE_BITS
        hold, said = said & _HOLD_MASK, said >> 16
        echo_time, said = said & _STAMP_MASK, said >> SETPOINT_STAMP.bits
        echo, said = said & _SEQUENCE_MASK, said >> _SEQUENCE_BITS
        heard, state, epoch = said & 1, said >> 1 & 0x07, said >> 4 & 0xFF
        code = said >> 12 & _SEQUENCE_MASK
        if state >= len(_STATES):
            raise FrameError(f"Robot state {state} is not known.")
        reader = BitReader(buffer[_HEAD_BYTES:-LONG_BYTES], 8 - _AFTER_HEAD_BITS)
        limbs = self._told(buffer[0], reader)
        _, rows = self._limbs.take(reader, limbs, grade)
        sections = read_sections(reader.rest())
        tension = self._take_tension(sections.get(TENSION), limbs)
        one = limbs[0] if len(limbs) == 1 else WHOLE_ROBOT
        if one != WHOLE_ROBOT:
            tension = None if tension is None else tension[self._schema.tendons(one)]
        signal, status = sections.get(SIGNAL), sections.get(STATUS)
        seen, faults = sections.get(OBJECT), sections.get(FAULTS)
        if status is not None and (len(status) != 4 or status[0] >> STATUS_BITS - 24):
            raise FrameError(f"Status {status.hex()!r}: {STATUS_BITS} bits of 4 bytes.")
        told_signal = None if signal is None else read_signal(signal)
        held = sections.get(HELD)
        hold_known = heard and hold != _HOLD_UNKNOWN
        return TelemetryFrame(
            sequence=self._counters.sequence(
                code, _SEQUENCE_BITS, time_ns, telemetry=True
            ),
            generated_ns=time_ns,
            robot=self._robot_id,
            limb=one,
            epoch=epoch,
            state=_STATES[state],
            coordinates=rows,
            tension=tension,
            echo_sequence=(self._counters.echo(echo, _SEQUENCE_BITS) if heard else -1),
            echo_hold_ms=hold * _HOLD_TICK_NS / NS_PER_MS if hold_known else math.nan,
            received=self._counters.received(received, _SEQUENCE_BITS, time_ns),
            echo_generated_ns=(
                SETPOINT_STAMP.time_ns(echo_time, time_ns) if heard else -1
            ),
            faults=0 if faults is None else int.from_bytes(faults[:2], "big"),
            contact=sections.get(CONTACT, b"")[:_LONGEST_CONTACT],
            signal=told_signal,
            status=-1 if status is None else int.from_bytes(status, "big"),
            seen=None if seen is None else read_object(seen, self._schema.limbs),
            held=held[0] if held else -1,
        )

    def _told(self, key: int, reader: BitReader) -> tuple[int, ...]:
        if key == _ALL:
            return self._schema.all_limbs
        if key == _SOME:
            return self._limbs.take_mask(reader)
        limb = key & 0x07
        if limb >= self._schema.limbs:
            raise FrameError(f"No limb {limb}: 0..{self._schema.limbs - 1}.")
        return (limb,)

    def _take_tension(
        self, section: bytes | None, limbs: tuple[int, ...]
    ) -> FloatArray | None:
        if section is None:
            return None
        codes = self._codes_of(limbs)
        tension = self._untold.copy()
        if len(section) != codes.size or not codes.read(section, tension):
            raise FrameError(
                f"Tensions {section.hex()!r}: {codes.size} bytes, zeros at their end."
            )
        return tension
