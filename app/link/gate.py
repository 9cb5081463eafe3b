"""Who may come in at one end of the link, and what was refused there and why.

Keys are asked for by the authenticator's thread too; all else is for one thread.
"""

from collections import deque
from enum import Enum

from app.link.keys import AllowList, LinkKeys
from app.link.refusals import (
    Refusals,
    forged,
    no_keys,
    other_language,
    refused_there,
    revoked_key,
    unknown_key,
)
from app.messages import Event

__all__ = ["Failure", "Gate"]

_REFUSED_MAX = 64  # kept between two looks


class Failure(Enum):
    """How a handshake failed."""

    KEY = "a key is not allowed"
    PROOF = "a key was not proved"
    PROTOCOL = "one end has keys, the other none"
    OTHER = "nothing is known of it"


class Gate:
    """Lets peers in by their keys; everybody where there are none."""

    def __init__(self, address: str, keys: LinkKeys | None, *, binds: bool) -> None:
        """Begin with nobody refused.

        Args:
            address: of this end, for people.
            keys: of this end, None for none.
            binds: this end decides; else only the other one does.
        """
        self._address = address
        self._keys = keys
        self._binds = binds
        self._allowed = AllowList(keys) if keys is not None and binds else None
        self._asked: deque[bytes] = deque(maxlen=_REFUSED_MAX)  # and refused
        self._refusals = Refusals()

    @property
    def checks(self) -> bool:
        """A peer needs a key to come in."""
        return self._allowed is not None

    def callback(self, _domain: str, key: bytes) -> bool:
        """Answer the authenticator for a key in Z85, the form in which it asks."""
        self.refresh()
        allowed = self.allows(key)
        if not allowed:
            self._asked.append(key)
        return allowed

    def refresh(self) -> None:
        """Read the key folder again if it changed."""
        if self._allowed is not None:
            self._allowed.refresh()

    def allows(self, key: bytes) -> bool:
        """Whether a peer with this key may come in; b"" for none."""
        return self._allowed is None or self._allowed.allows(key)

    def name(self, key: bytes) -> str:
        """Return the name of a key, "" where there is none."""
        return self._allowed.name(key) if key and self._allowed is not None else ""

    def refuse(self, key: bytes) -> None:
        """Tell that a key was refused."""
        name = self._allowed.revoked(key) if self._allowed is not None else ""
        self._tell(revoked_key(name) if name else unknown_key(key))

    def failed(self, failure: Failure) -> None:
        """Tell what a failed handshake means and what to do."""
        keys = self._keys
        if not self._binds:
            own = keys.public if failure is Failure.KEY and keys is not None else b""
            self._tell(refused_there(own))
        elif failure is Failure.KEY:
            return  # told with its key, which the authenticator asked for
        elif keys is None or failure is Failure.OTHER:
            self._tell(other_language())
        else:
            self._tell(forged() if failure is Failure.PROOF else no_keys())

    def _tell(self, text: str) -> None:
        self.note(f"{self._address}: {text}")

    def note(self, text: str) -> None:
        """Tell of something else that was refused: a sentence, with the cure."""
        self._refusals.note(text)

    def events(self, now_ns: int) -> list[Event]:
        """Return what is to be told now [ns]; each kind once in 5 s."""
        while self._asked:
            self.refuse(self._asked.popleft())
        return self._refusals.events(now_ns)
