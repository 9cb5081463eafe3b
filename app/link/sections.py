"""Sections: what may follow the fields of a packed frame.

Each is a byte of kind, a byte of length and so many bytes. A reader skips kinds that it
does not know, so a later version can say more to an older one.

| kind | in        | content                                             |
|------|-----------|-----------------------------------------------------|
| 1    | setpoint  | plan: 2 filling bits, period 6, uplink rate 8       |
| 2    | telemetry | tension: 10 bits for each tendon of the frame       |
| 3    | telemetry | faults: 16 bits                                     |
| 4    | telemetry | contact model: up to 64 bytes                       |
| 5    | both      | what a strategy tells (`app.link.signal_section`)   |
| 6    | setpoint  | grip: limb 3 bits, closure 5                        |
| 7    | setpoint  | goal: up to 64 bytes                                |
| 8    | telemetry | status of a goal: 6 filling bits, 26 bits           |
| 9    | telemetry | an object that was seen (`app.link.object_section`) |
| 10   | telemetry | held: a bit for each of 8 limbs' grippers           |
"""

from app.errors import FrameError

__all__ = [
    "CONTACT",
    "FAULTS",
    "GOAL",
    "GRIP",
    "HELD",
    "OBJECT",
    "PLAN",
    "PLAN_BYTES",
    "SIGNAL",
    "STATUS",
    "TENSION",
    "read_sections",
    "write_section",
]

PLAN, TENSION, FAULTS, CONTACT = 1, 2, 3, 4
SIGNAL, GRIP, GOAL, STATUS = 5, 6, 7, 8
OBJECT, HELD = 9, 10
PLAN_BYTES = 4
"""Length of a whole plan section."""

_LONGEST = 255


def write_section(kind: int, content: bytes) -> bytes:
    """Return one section.

    Raises:
        FrameError: the content is longer than 255 bytes.
    """
    size = len(content)
    if size > _LONGEST:
        raise FrameError(f"Section {kind} has {size} bytes: at most {_LONGEST}.")
    return bytes((kind, size)) + content


def read_sections(buffer: bytes) -> dict[int, bytes]:
    """Return the sections by kind; of several of one kind the last.

    Raises:
        FrameError: the last one is cut.
    """
    sections: dict[int, bytes] = {}
    at, size = 0, len(buffer)
    while at + 1 < size:
        start = at + 2
        end = start + buffer[at + 1]
        if end > size:
            break
        sections[buffer[at]] = buffer[start:end]
        at = end
    if at < size:
        raise FrameError(f"Section at byte {at} of {size} is cut.")
    return sections
