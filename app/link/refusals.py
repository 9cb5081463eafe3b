"""What a socket refused, in words, and as events that do not flood; pure."""

from collections import OrderedDict
from dataclasses import dataclass

from app.clock import NS_PER_S
from app.messages import Event, Severity

__all__ = [
    "Refusals",
    "flood",
    "forged",
    "no_keys",
    "other_language",
    "refused_there",
    "revoked_key",
    "unknown_key",
]

_AGAIN_NS = 5 * NS_PER_S
_KINDS_MAX = 32


@dataclass
class _Kind:
    count: int = 0
    told_ns: int | None = None


class Refusals:
    """Counts refusals and tells of each kind at most every five seconds."""

    def __init__(self) -> None:
        """Begin with nothing refused."""
        self._kinds: OrderedDict[str, _Kind] = OrderedDict()

    def note(self, text: str) -> None:
        """Count a refusal.

        Args:
            text: sentence for people with the cause and the cure; names the kind.
        """
        kind = self._kinds.get(text)
        if kind is None:
            if len(self._kinds) >= _KINDS_MAX:
                self._kinds.popitem(last=False)
            kind = self._kinds[text] = _Kind()
        kind.count += 1

    def events(self, now_ns: int) -> list[Event]:
        """Return what is to be told now [ns]."""
        events = []
        for text, kind in self._kinds.items():
            waits = kind.told_ns is not None and now_ns - kind.told_ns < _AGAIN_NS
            if kind.count == 0 or waits:
                continue
            more = f" ({kind.count} times)" if kind.count > 1 else ""
            events.append(Event(now_ns, Severity.WARNING, "link", text + more))
            kind.count, kind.told_ns = 0, now_ns
        return events


def unknown_key(key: bytes) -> str:
    """Say that a key is not listed."""
    return (
        f"the key {key.decode(errors='replace')} is not trusted and is refused. If "
        "`limblink keys show` on the peer shows the same key, `limblink keys trust` it "
        "here."
    )


def revoked_key(name: str) -> str:
    """Say that a key was revoked."""
    return (
        f"the key {name!r} was revoked and is refused. Make a new pair there and trust "
        "that, if it is to connect."
    )


def no_keys() -> str:
    """Say that a peer came without keys."""
    return "a peer without keys was refused. Give it --keys DIR."


def flood() -> str:
    """Say that a peer sends too much."""
    return (
        "sends more than can be taken: older packets of it are dropped. Lower its rate."
    )


def forged() -> str:
    """Say that a handshake failed its cryptographic check."""
    return (
        "a peer whose keys could not be proved was refused: it expects another key of "
        "this end, or its secret key is not that of its public one. Copy this end's "
        ".key file there and `limblink keys trust` it."
    )


def other_language() -> str:
    """Say that something else than a peer called."""
    return (
        "a connection that does not speak this link's language was dropped. Connect "
        "limblink of the same version, with keys on both sides or on neither."
    )


def refused_there(own_key: bytes) -> str:
    """Say that the other end ended the handshake; `own_key` where that was why."""
    if own_key:
        return (
            f"the other end refuses this end's key {own_key.decode()}. Run `limblink "
            "keys trust` with it there."
        )
    return (
        "the other end ended the handshake: its key is not what this end expects, or "
        "one end has keys and the other none. Compare `limblink keys show` on both, "
        "and give --keys DIR on both or on neither."
    )
