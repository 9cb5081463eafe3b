"""Sockets between the processes: the only module that knows ZeroMQ.

An endpoint is one end of a two-way stream of whole packets. The end that binds serves
several peers: it takes from each in turn and sends to all; the end that connects has
the one that binds. It never blocks on sending, keeps only a few packets, and forgets
what a vanished peer did not take: old commands are worth nothing. ipc:// and loopback
tcp:// need no keys; any other address needs CURVE keys, and a peer whose key is not
listed is refused before a byte passes. What is refused is told by `Endpoint.events`.
"""

import errno
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal

import zmq
from zmq.auth.thread import ThreadAuthenticator
from zmq.utils.monitor import parse_monitor_message

from app.clock import NS_PER_MS
from app.errors import LinkError
from app.link.address import (
    SocketFile,
    busy_message,
    leaves_host,
    refuse_live_ipc,
)
from app.link.gate import Failure, Gate
from app.link.keys import LinkKeys, load_keys, write_pair
from app.link.peers import PeerTable, Received, newest_of_each
from app.link.refusals import flood
from app.messages import Event

__all__ = ["Endpoint", "LinkKeys", "Received", "Waiter", "load_keys", "make_keys"]

_HIGH_WATER_PACKETS = 64
_DRAIN_PACKETS = 256  # taken in one call, so that a flood cannot hold a loop
_PEER_PACKETS = 64  # handed on of one peer in one call, the newest
_PACKET_BYTES_MAX = 1 << 16  # at the end that binds; the emulator's status is longer
_HANDSHAKE_MS = 5000
_LOOK_NS = 200 * NS_PER_MS  # between looks at the key folder and the monitor
_MONITOR_EVENTS_MAX = 64  # taken in one look
_DOMAIN = "limblink"
_CRYPTOGRAPHIC = 0x11000001  # ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC
_FAILED = (
    zmq.Event.HANDSHAKE_FAILED_NO_DETAIL
    | zmq.Event.HANDSHAKE_FAILED_PROTOCOL
    | zmq.Event.HANDSHAKE_FAILED_AUTH
)


def make_keys(folder: Path, name: str) -> Path:
    """Make a key pair `name` in a folder, readable by the user alone.

    Returns:
        The file with the public key, which is to be copied to the peer's folder.

    Raises:
        LinkError: the name is not valid, the pair exists, or cannot be written.
    """
    return write_pair(folder, name, *zmq.curve_keypair())


class Endpoint:
    """One end of a stream of packets; used from one thread only."""

    def __init__(
        self,
        address: str,
        role: Literal["bind", "connect"],
        keys: LinkKeys | None = None,
    ) -> None:
        """Open the socket.

        Args:
            address: "ipc://PATH" or "tcp://HOST:PORT"; PORT may be * where it binds.
            role: which end opens the address; the one that binds serves several.
            keys: needed where the address leaves this host; used wherever given.

        Raises:
            LinkError: the address is bad or in use, or keys are missing or wrong.
        """
        if leaves_host(address) and keys is None:
            raise LinkError(
                f"Address {address} can be reached from other hosts, so keys are "
                "needed. Make them with `limblink keys new` and name their folder "
                "with --keys, or use tcp://127.0.0.1:PORT or ipc://PATH."
            )
        self._binds = role == "bind"
        self._keys = keys
        self._gate = Gate(address, keys, binds=self._binds)
        self._authenticator: ThreadAuthenticator | None = None
        self._peers = PeerTable()
        self._looked_ns = time.monotonic_ns()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER if self._binds else zmq.DEALER)
        self._monitor: zmq.Socket[bytes] | None = None
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._file: SocketFile | None = None
        self._closed = False
        try:
            self._open(address)
        except zmq.ZMQError as error:
            self.close()
            if error.errno in {errno.EADDRINUSE, zmq.EADDRINUSE}:
                raise LinkError(busy_message(address)) from error
            raise LinkError(
                f"Address {address} cannot be opened ({role}): {error}. Check that the "
                "host, the port or the folder of the path exists and is yours."
            ) from error
        except LinkError:
            self.close()
            raise

    def _open(self, address: str) -> None:
        set_option = self._socket.setsockopt
        set_option(zmq.LINGER, 0)
        set_option(zmq.SNDHWM, _HIGH_WATER_PACKETS)
        # more than is handed on, so that a flood shows
        set_option(zmq.RCVHWM, 2 * _HIGH_WATER_PACKETS)
        set_option(zmq.IMMEDIATE, 1)
        set_option(zmq.RECONNECT_IVL, 50)
        set_option(zmq.RECONNECT_IVL_MAX, 500)
        set_option(zmq.HANDSHAKE_IVL, _HANDSHAKE_MS)
        set_option(zmq.IPV6, int("[" in address))
        if not address.startswith("ipc://"):
            # A host that loses power sends no goodbye: notice it within 1.5 s.
            set_option(zmq.HEARTBEAT_IVL, 500)
            set_option(zmq.HEARTBEAT_TIMEOUT, 1500)
        self._monitor = self._socket.get_monitor_socket(_FAILED)
        if self._binds:
            set_option(zmq.MAXMSGSIZE, _PACKET_BYTES_MAX)
            set_option(zmq.ROUTER_MANDATORY, 1)  # a peer that is gone is an error
            set_option(zmq.ROUTER_HANDOVER, 1)  # the new connection of a peer counts
            self._serve_keys()
            if address.startswith("ipc://"):
                refuse_live_ipc(address)
            self._socket.bind(address)
            self._file = SocketFile(address)
            return
        # Nobody can guess it, so nobody can take over this end's connection.
        set_option(zmq.ROUTING_ID, b"L" + secrets.token_bytes(15))
        set_option(zmq.PROBE_ROUTER, 1)  # an empty packet introduces this end
        self._present_keys()
        self._socket.connect(address)

    def _present_keys(self) -> None:
        keys = self._keys
        if keys is None:
            return
        if zmq.curve_public(keys.secret) != keys.public:
            raise LinkError(
                f"The two halves of key {keys.public.decode()} do not belong together. "
                "Remove both files and make them anew with `limblink keys new NAME`."
            )
        self._socket.setsockopt(zmq.CURVE_PUBLICKEY, keys.public)
        self._socket.setsockopt(zmq.CURVE_SECRETKEY, keys.secret)
        if not self._binds:
            self._socket.setsockopt(zmq.CURVE_SERVERKEY, keys.server)

    def _serve_keys(self) -> None:
        if not self._gate.checks:
            return
        self._present_keys()
        self._socket.setsockopt(zmq.CURVE_SERVER, 1)
        # Without an authenticator nobody is let in, rather than everybody.
        self._socket.setsockopt(zmq.ZAP_DOMAIN, _DOMAIN.encode())
        self._socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)
        self._authenticator = ThreadAuthenticator(self._context)
        self._authenticator.start()
        self._authenticator.configure_curve_callback(
            domain=_DOMAIN, credentials_provider=self._gate
        )

    @property
    def address(self) -> str:
        """The address in use, with the port that was given for `*`."""
        raw = self._socket.getsockopt(zmq.LAST_ENDPOINT)
        return raw.rstrip(b"\0").decode() if isinstance(raw, bytes) else ""

    @property
    def peers(self) -> tuple[int, ...]:
        """Numbers of the peers that are connected and have been heard."""
        return tuple(number for _, _, number in self._peers.connected())

    def key_name(self, peer: int) -> str:
        """Return the name of a peer's key, "" where there is none."""
        return self._gate.name(self._peers.key(peer))

    def send(self, packet: bytes) -> bool:
        """Hand a packet to every peer; False where nobody is there to take it."""
        if not self._binds:
            try:
                self._socket.send(packet, zmq.DONTWAIT)
            except zmq.Again:
                return False
            return True
        taken = False
        for routing_id, key, _ in self._peers.connected():
            if self._gate.allows(key):
                taken = self._send_to(routing_id, packet) or taken
        return taken

    def _send_to(self, routing_id: bytes, packet: bytes, *, again: bool = True) -> bool:
        try:
            self._socket.send_multipart([routing_id, packet], zmq.DONTWAIT)
        except zmq.Again:
            if not again:
                return False  # it does not read; the others do
            # What it has read is noticed by asking, not by sending.
            self._socket.getsockopt(zmq.EVENTS)
            return self._send_to(routing_id, packet, again=False)
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            self._peers.lost(routing_id)
            return False
        return True

    def receive(self, timeout_ms: float = 0.0) -> list[tuple[int, bytes]]:
        """Wait for a packet, then take all that are there.

        Args:
            timeout_ms: longest wait [ms]; 0 = do not wait.

        Returns:
            (time of reception [ns], packet), oldest first; at most 256, and at the end
            that binds at most 64 of a peer, its newest. Empty packets only introduce
            a peer and are not handed on.
        """
        return [
            (received.time_ns, received.packet)
            for received in self.receive_from(timeout_ms)
        ]

    def receive_from(self, timeout_ms: float = 0.0) -> list[Received]:
        """Do what `receive` does, and tell which peer each packet came from."""
        deadline_ns = time.monotonic_ns() + round(timeout_ms * NS_PER_MS)
        packets: list[Received] = []
        while True:
            left_ms = (deadline_ns - time.monotonic_ns()) / NS_PER_MS
            if left_ms > 0.0 and not self._poller.poll(max(1, round(left_ms))):
                break
            packets = self._drain()
            if packets or left_ms <= 0.0:
                break
        if time.monotonic_ns() - self._looked_ns > _LOOK_NS:
            self._look()
        return packets

    def _drain(self) -> list[Received]:
        packets: list[Received] = []
        for _ in range(_DRAIN_PACKETS):
            try:
                parts = self._socket.recv_multipart(zmq.DONTWAIT, copy=False)
            except zmq.Again:
                break
            received = self._admit(parts, time.monotonic_ns())
            if received is not None:
                packets.append(received)
        if not self._binds:
            return packets
        kept, flooding = newest_of_each(packets, _PEER_PACKETS)
        for peer in flooding:
            self._gate.note(f"{self._who(peer)} {flood()}")
        return kept

    def _admit(self, parts: "list[zmq.Frame]", now_ns: int) -> Received | None:
        """Return the packet of a message, None where it is none for us."""
        if not self._binds:
            whole = len(parts) == 1 and len(parts[0]) > 0
            return Received(now_ns, parts[0].bytes, 0) if whole else None
        key = b""
        if self._gate.checks:
            key = str(parts[-1].get("User-Id")).encode()
        if not self._gate.allows(key):
            self._gate.refuse(key)
            return None
        if len(parts) != 2:
            self._gate.note(
                f"A message of {len(parts) - 1} parts was dropped: packets have one. "
                "Connect limblink, or another DEALER socket that sends single frames."
            )
            return None
        peer = self._peers.heard(parts[0].bytes, key)
        return Received(now_ns, parts[1].bytes, peer) if len(parts[1]) else None

    def _who(self, peer: int) -> str:
        name = self.key_name(peer)
        return f"Peer {peer}" + (f" ({name})" if name else "")

    def events(self) -> list[Event]:
        """Return what was refused since the last call; each kind once in 5 s."""
        self._look()
        return self._gate.events(time.monotonic_ns())

    def _look(self) -> None:
        """Look at the key folder and at what the socket refused."""
        self._looked_ns = time.monotonic_ns()
        self._gate.refresh()
        for _ in range(_MONITOR_EVENTS_MAX):
            if self._monitor is None or not self._monitor.poll(0):
                break
            told = parse_monitor_message(self._monitor.recv_multipart())
            self._gate.failed(_failure(told["event"], int(told["value"])))

    def close(self) -> None:
        """Close the socket and its threads; any further call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._monitor is not None:
            self._socket.disable_monitor()
            self._monitor.close(linger=0)
        self._socket.close(linger=0)
        if self._file is not None:
            self._file.remove()
        if self._authenticator is not None:
            self._authenticator.stop()
        self._context.term()

    def __enter__(self) -> "Endpoint":
        """Return the endpoint itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def pollable(self) -> "zmq.Socket[bytes]":
        """Return the socket, for `Waiter` alone."""
        return self._socket


def _failure(event: int, value: int) -> Failure:
    if event == zmq.Event.HANDSHAKE_FAILED_AUTH:
        return Failure.KEY
    if event != zmq.Event.HANDSHAKE_FAILED_PROTOCOL:
        return Failure.OTHER
    return Failure.PROOF if value == _CRYPTOGRAPHIC else Failure.PROTOCOL


class Waiter:
    """Waits for several endpoints at once."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        """Prepare to wait for these; they must outlive it."""
        self._poller = zmq.Poller()
        for endpoint in endpoints:
            self._poller.register(endpoint.pollable(), zmq.POLLIN)

    def wait(self, timeout_ms: int) -> None:
        """Return when one has a packet, or after `timeout_ms` [ms]."""
        self._poller.poll(max(0, timeout_ms))
