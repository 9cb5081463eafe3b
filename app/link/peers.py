"""Who is at the other ends of a socket that serves several; pure.

A peer is a routing id that an end keeps for its whole life, together with the key that
the handshake proved: so it has the same number after its connection broke and came
back, and nobody takes over a number by naming another's routing id.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["PeerTable", "Received", "newest_of_each"]

_PEERS_MAX = 32
_PEERS_PER_KEY = 8  # one key must not push the others out


class Received(NamedTuple):
    """A packet and where it came from."""

    time_ns: int
    """Time of reception [ns]."""
    packet: bytes
    peer: int
    """Number of the peer, 1, 2, ...; 0 at the end that connects."""


@dataclass
class _Peer:
    number: int
    connected: bool


class PeerTable:
    """Numbers of the peers, at most 32, the longest unheard forgotten first."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._peers: OrderedDict[tuple[bytes, bytes], _Peer] = OrderedDict()
        self._last_number = 0

    def heard(self, routing_id: bytes, key: bytes) -> int:
        """Note a message of a peer.

        Args:
            routing_id: names its connection.
            key: public key that the handshake proved, b"" for none.

        Returns:
            Its number, 1, 2, ...; a number is never given twice.
        """
        who = (routing_id, key)
        peer = self._peers.get(who)
        if peer is None:
            self._make_room(key)
            self._last_number += 1
            peer = self._peers[who] = _Peer(self._last_number, connected=False)
        if not peer.connected:
            self.lost(routing_id)  # one connection has it at a time
            peer.connected = True
        self._peers.move_to_end(who)
        return peer.number

    def _make_room(self, key: bytes) -> None:
        alike = [who for who in self._peers if key and who[1] == key]
        if len(alike) >= _PEERS_PER_KEY:
            del self._peers[alike[0]]
        elif len(self._peers) >= _PEERS_MAX:
            self._peers.popitem(last=False)

    def lost(self, routing_id: bytes) -> None:
        """Note that a connection is gone; its number is kept for its return."""
        for (other, _), peer in self._peers.items():
            if other == routing_id:
                peer.connected = False

    def connected(self) -> list[tuple[bytes, bytes, int]]:
        """Return (routing id, key, number) of all that are there."""
        return [
            (*who, peer.number) for who, peer in self._peers.items() if peer.connected
        ]

    def key(self, number: int) -> bytes:
        """Return the key of a peer, b"" where it has none or is forgotten."""
        for (_, key), peer in self._peers.items():
            if peer.number == number:
                return key
        return b""


def newest_of_each(
    packets: list[Received], limit: int
) -> tuple[list[Received], list[int]]:
    """Keep the newest packets of each peer.

    Args:
        packets: oldest first.
        limit: of packets that are kept of a peer.

    Returns:
        (what is kept, in order; the peers that sent more)
    """
    excess = Counter(received.peer for received in packets)
    flooding = [peer for peer, count in excess.items() if count > limit]
    if not flooding:
        return packets, []
    kept = []
    for received in packets:
        if excess[received.peer] <= limit:
            kept.append(received)
        else:
            excess[received.peer] -= 1
    return kept, flooding
