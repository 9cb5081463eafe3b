"""A hash of everything on each topic of a recording, kept in the recording itself.

Two drives gave the same outputs where these are equal; a recording that was changed
after it was closed does not fit its own. A topic's hash is SHA-256 over its messages in
the order written, each as time and length (8 and 4 bytes, little endian) and the
message's bytes. State rows are hashed a second time in full, as the recording keeps
them in single precision.
"""

import hashlib
import struct
from collections.abc import Mapping
from typing import Any

from models.numerics import IntArray

__all__ = ["DIGEST_NAME", "FULL_STATES", "TopicDigest"]

DIGEST_NAME = "limblink.digest"
"""Of the MCAP metadata record."""
FULL_STATES = "/state in full"
"""Stands for the state rows as the control loop wrote them, all 64 bits."""

_HEAD = struct.Struct("<qI")


class TopicDigest:
    """Hashes of the topics so far."""

    def __init__(self) -> None:
        """Begin with no topic."""
        self._hashes: dict[str, Any] = {}
        self._counts: dict[str, int] = {}

    def _of(self, topic: str) -> Any:
        found = self._hashes.get(topic)
        if found is None:
            found = self._hashes[topic] = hashlib.sha256()
            self._counts[topic] = 0
        return found

    def add(self, topic: str, time_ns: int, data: bytes) -> None:
        """Take one message in."""
        found = self._of(topic)
        found.update(_HEAD.pack(time_ns, len(data)))
        found.update(data)
        self._counts[topic] += 1

    def add_rows(self, rows: IntArray) -> None:
        """Take (n, words) rows of `StationState` in, in full."""
        self._of(FULL_STATES).update(rows.tobytes())
        self._counts[FULL_STATES] += len(rows)

    def told(self) -> dict[str, str]:
        """Return "COUNT HASH" of every topic, for a metadata record."""
        return {
            topic: f"{self._counts[topic]} {found.hexdigest()}"
            for topic, found in sorted(self._hashes.items())
        }

    @staticmethod
    def differ(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
        """Return the topics whose hashes are not equal, or that only one has."""
        return sorted(
            topic for topic in {*one, *other} if one.get(topic) != other.get(topic)
        )
