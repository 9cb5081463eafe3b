"""Checks over a frame and over what both sides must know without its being sent.

The CRC runs over a prefix that is not sent, then the frame. The prefix holds the digest
of the robot's schema (which holds the version), the robot's number and its session, and
with each frame what belongs to it: high bits of its time, the arming of a compact
setpoint, the state that a delta starts from. A frame of another robot, robot file,
version, session, time or base is therefore refused as a damaged one is.

Packed frames end with CRC-16/IBM-3740 and CRC-8/SAE-J1850, whose polynomials have no
factor in common: together 24 bits, so 1 in 16.8 million of random strings passes, and
any three wrong bits are found. Compact frames end with CRC-8/SAE-J1850 alone: 1 in 256
passes, so the modem must check its packets itself, as acoustic modems do.
"""

import fastcrc

from app.errors import FrameError

__all__ = ["LONG_BYTES", "Seal", "plain_long"]

LONG_BYTES = 3
_crc16, _crc8 = fastcrc.crc16.ibm_3740, fastcrc.crc8.sae_j1850
_WHY = (
    "the frame is damaged, or of another robot number, robot file, version, session, "
    "time or base."
)


def plain_long(body: bytes) -> bytes:
    """Return the 24 bits over a frame that any session and schema may read."""
    return (_crc16(body) << 8 | _crc8(body)).to_bytes(LONG_BYTES, "big")


class Seal:
    """Seals frames of one robot in one session, and checks seals."""

    def __init__(self, digest: bytes, robot_id: int) -> None:
        """Begin with session 0.

        Args:
            digest: of the schema, see `app.link.schema`.
            robot_id: 0..255.
        """
        self._head = digest + bytes([robot_id])
        self._stranger = self._head + bytes(4)
        self._prefix = self._stranger
        self.session = 0

    def bind(self, session: int) -> None:
        """Take up a session, 0..2^32 - 1."""
        self.session = session
        self._prefix = self._head + session.to_bytes(4, "big")

    def long(self, body: bytes, known: bytes, *, stranger: bool = False) -> bytes:
        """Return the three bytes that end a packed frame.

        Args:
            body: the frame before them.
            known: what the receiver knows without being told.
            stranger: the sender does not know the session.
        """
        sealed = (self._stranger if stranger else self._prefix) + known + body
        return (_crc16(sealed) << 8 | _crc8(sealed)).to_bytes(LONG_BYTES, "big")

    def short(self, body: bytes, known: bytes, *, stranger: bool = False) -> bytes:
        """Return the byte that ends a compact frame; see `long`."""
        sealed = (self._stranger if stranger else self._prefix) + known + body
        return bytes([_crc8(sealed)])

    def check(self, frame: bytes, known: bytes, *, stranger: bool = False) -> None:
        """Check a packed frame.

        Raises:
            FrameError: its seal is wrong.
        """
        prefix = self._stranger if stranger else self._prefix
        sealed = prefix + known + frame[:-LONG_BYTES]
        told = int.from_bytes(frame[-LONG_BYTES:], "big")
        if told != _crc16(sealed) << 8 | _crc8(sealed):
            raise FrameError(f"CRC is wrong: {_WHY}")

    def fits(self, frame: bytes, known: bytes, *, stranger: bool = False) -> bool:
        """Tell whether a compact frame's seal is right."""
        return self.short(frame[:-1], known, stranger=stranger) == frame[-1:]

    def check_short(self, frame: bytes, known: bytes) -> None:
        """Check a compact frame.

        Raises:
            FrameError: its seal is wrong.
        """
        if not self.fits(frame, known):
            raise FrameError(f"CRC-8 is wrong: {_WHY}")
