"""A moment that a person has marked."""

from dataclasses import dataclass

__all__ = ["Mark"]


@dataclass(frozen=True)
class Mark:
    """A moment that a person has marked, to be found again in the recording.

    Attributes:
        time_ns: the moment [ns].
        number: 1, 2, ... of the session.
        note: what the person wrote, "" for nothing.
        source: where it was set: "console", "command line".
    """

    time_ns: int
    number: int
    note: str = ""
    source: str = ""
