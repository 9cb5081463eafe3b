"""Hello: the robot tells its session and its clock, so that it can be spoken to.

| frame   | fields after the key, bits                                         |
|---------|--------------------------------------------------------------------|
| packed  | robot 8, version 8, digest 32, session 32, time 29; CRC of 24      |
| compact | session 32, time 16 (4.096 s); CRC-8 over digest and robot too     |

A packed hello can be read by any version with any robot file, so that a station can say
what does not match.
"""

from app.errors import FrameError
from app.link.packing import BitReader, BitWriter
from app.link.records import HelloFrame
from app.link.schema import FRAME_VERSION
from app.link.seal import LONG_BYTES, plain_long
from app.link.stamps import HELLO_STAMP, MODE_STAMP
from app.link.streams import COMPACT_BYTES, Kind
from app.link.terms import Terms

__all__ = ["HELLO_BYTES", "Hello"]

HELLO_BYTES = 18
"""Length of a packed hello."""


class Hello:
    """Writes and reads hellos of one robot."""

    def __init__(self, terms: Terms) -> None:
        self._robot_id = terms.robot_id
        self._digest = terms.schema.digest
        self._seal = terms.seal

    def write(self, frame: HelloFrame, *, compact: bool) -> bytes:
        """Write a hello."""
        writer = BitWriter()
        if compact:
            time_ns = HELLO_STAMP.rounded_ns(frame.generated_ns)
            writer.put(frame.session, 32)
            writer.put(HELLO_STAMP.code(time_ns), HELLO_STAMP.bits)
            body = bytes([Kind.COMPACT_HELLO.value]) + writer.to_bytes()
            return body + self._seal.short(body, b"", stranger=True)
        time_ns = MODE_STAMP.rounded_ns(frame.generated_ns)
        writer.put(frame.robot, 8)
        writer.put(FRAME_VERSION, 8)
        writer.put(int.from_bytes(self._digest[:4], "big"), 32)
        writer.put(frame.session, 32)
        writer.put(MODE_STAMP.code(time_ns), MODE_STAMP.bits)
        body = bytes([Kind.HELLO.value]) + writer.to_bytes()
        return body + plain_long(body)

    def read(self, buffer: bytes, reference_ns: int) -> HelloFrame:
        """Read a hello.

        Raises:
            FrameError: wrong length or CRC; another robot, version or robot file.
        """
        if buffer[0] == Kind.COMPACT_HELLO.value:
            return self._read_compact(buffer, reference_ns)
        if len(buffer) != HELLO_BYTES:
            raise FrameError(f"Hello has {len(buffer)} bytes, not {HELLO_BYTES}.")
        if plain_long(buffer[:-LONG_BYTES]) != buffer[-LONG_BYTES:]:
            raise FrameError("CRC of a hello is wrong: it is damaged.")
        reader = BitReader(buffer[1:-LONG_BYTES])
        robot, version = reader.take(8), reader.take(8)
        digest = reader.take(32).to_bytes(4, "big")
        session = reader.take(32)
        time_ns = MODE_STAMP.time_ns(reader.take(MODE_STAMP.bits), reference_ns)
        reader.finish()
        if robot != self._robot_id:
            raise FrameError(
                f"Hello is of robot {robot}, not {self._robot_id}: another robot "
                "answers at this address."
            )
        if version != FRAME_VERSION:
            raise FrameError(
                f"The robot speaks frame version {version}, this side {FRAME_VERSION}: "
                "install the same limblink on both."
            )
        if digest != self._digest[:4]:
            raise FrameError(
                f"The robot's file gives schema {digest.hex()}, this side's "
                f"{self._digest[:4].hex()}: use the same robot file on both."
            )
        return _checked(HelloFrame(robot, session, time_ns))

    def _read_compact(self, buffer: bytes, reference_ns: int) -> HelloFrame:
        if len(buffer) != COMPACT_BYTES:
            raise FrameError(f"Hello has {len(buffer)} bytes, not {COMPACT_BYTES}.")
        if not self._seal.fits(buffer, b"", stranger=True):
            raise FrameError(
                "CRC-8 of a hello is wrong: it is damaged, or of another robot number, "
                "robot file or version."
            )
        reader = BitReader(buffer[1:-1])
        session = reader.take(32)
        time_ns = HELLO_STAMP.time_ns(reader.take(HELLO_STAMP.bits), reference_ns)
        middle_ns = time_ns + HELLO_STAMP.tick_ns // 2
        return _checked(HelloFrame(self._robot_id, session, middle_ns))


def _checked(frame: HelloFrame) -> HelloFrame:
    if frame.session == 0:
        raise FrameError("Hello tells session 0: it must be 1..2^32 - 1.")
    return frame
