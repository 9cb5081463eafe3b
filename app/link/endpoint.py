"""Sockets between the processes: the only module that knows ZeroMQ.

An endpoint is one end of a two-way stream of whole packets. It never blocks on
sending, keeps only a few packets, and forgets what a vanished peer did not take: old
commands are worth nothing. ipc:// and loopback tcp:// need no keys; any other address
needs CURVE keys, and a peer whose key is not listed is refused before a byte passes.
"""

import errno
import ipaddress
import os
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from app.errors import LinkError

__all__ = ["Endpoint", "LinkKeys", "Waiter", "load_keys", "make_keys"]

_HIGH_WATER_PACKETS = 64
_DRAIN_PACKETS = 256  # taken in one call, so that a flood cannot hold a loop
_PUBLIC, _SECRET = ".key", ".key_secret"


@dataclass(frozen=True)
class LinkKeys:
    """CURVE keys of one end, Z85 text.

    Attributes:
        public: this end's public key.
        secret: this end's secret key.
        server: public key of the end that binds; its own for that end.
        allowed: public keys of the ends that may connect, where this one binds.
    """

    public: bytes
    secret: bytes
    server: bytes
    allowed: frozenset[bytes] = frozenset()


def make_keys(folder: Path, name: str) -> Path:
    """Make a key pair `name` in a folder, readable by the user alone.

    Returns:
        The file with the public key, which is to be copied to the peer's folder.

    Raises:
        LinkError: the pair exists, or cannot be written.
    """
    public = folder / f"{name}{_PUBLIC}"
    secret = folder / f"{name}{_SECRET}"
    if public.exists() or secret.exists():
        raise LinkError(
            f"Keys called {name!r} are in {folder} already. Remove both files first, "
            "or choose another name."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        before = os.umask(0o077)
        try:
            zmq.auth.create_certificates(str(folder), name)
        finally:
            os.umask(before)
    except OSError as error:
        raise LinkError(f"Keys cannot be written to {folder}: {error}.") from error
    return public


def _load_certificate(path: Path) -> tuple[bytes, bytes | None]:
    try:
        return zmq.auth.load_certificate(str(path))
    except (OSError, ValueError) as error:
        raise LinkError(
            f"Key file {path} cannot be used: {error}. Make keys with `limblink "
            "keys`, and copy the peer's .key file into the same folder."
        ) from error


def load_keys(folder: Path, name: str, server: str) -> LinkKeys:
    """Load this end's pair and the public keys of its peers from a folder.

    Args:
        folder: holds `name.key_secret`, `server.key` and the .key files of all who
            may connect.
        name: this end's pair.
        server: name of the end that binds.

    Raises:
        LinkError: a file is missing or no key file.
    """
    public, secret = _load_certificate(folder / f"{name}{_SECRET}")
    if secret is None:
        raise LinkError(f"{folder / name}{_SECRET} holds no secret key. Make it anew.")
    allowed = {
        _load_certificate(path)[0]
        for path in sorted(folder.glob(f"*{_PUBLIC}"))
        if path.stem != server
    }
    return LinkKeys(
        public=public,
        secret=secret,
        server=_load_certificate(folder / f"{server}{_PUBLIC}")[0],
        allowed=frozenset(allowed),
    )


class _AllowedKeys:
    """Tells the authenticator whether a client's key is listed."""

    def __init__(self, allowed: frozenset[bytes]) -> None:
        self._allowed = allowed

    def callback(self, _domain: str, key: bytes) -> bool:
        """Answer for a key in Z85, the form in which the authenticator asks."""
        return key in self._allowed


def _needs_keys(address: str) -> bool:
    """Check the address; True where it leaves this host.

    Raises:
        LinkError: it is no address that can be used.
    """
    if address.startswith("ipc://"):
        path = address.removeprefix("ipc://")
        if not path or len(path.encode()) > 107:
            raise LinkError(
                f"Address {address!r}: an ipc path has 1 to 107 bytes; shorten it."
            )
        return False
    match = re.fullmatch(r"tcp://(\[[0-9a-fA-F:]+\]|[^:/\s]+):(\d{1,5}|\*)", address)
    port = match.group(2) if match else ""
    if match is None or (port != "*" and not 0 < int(port) <= 65535):
        raise LinkError(
            f"Address {address!r} is not valid. Write tcp://HOST:PORT with PORT "
            "1..65535, as tcp://127.0.0.1:5601, or ipc:///path/of/a/socket."
        )
    host = match.group(1).strip("[]")
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def _refuse_live_ipc(address: str) -> None:
    """Refuse to bind where someone listens: ZeroMQ would take the path over."""
    path = address.removeprefix("ipc://")
    if path.startswith("@") or not Path(path).exists():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.2)
        try:
            probe.connect(path)
        except OSError:
            return
    raise LinkError(_busy(address))


def _busy(address: str) -> str:
    return (
        f"Address {address} is in use by another process. End that process (another "
        "limblink session?) or choose another address."
    )


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
            role: which end opens the address.
            keys: needed where the address leaves this host; used wherever given.

        Raises:
            LinkError: the address is bad or in use, or keys are missing.
        """
        if _needs_keys(address) and keys is None:
            raise LinkError(
                f"Address {address} can be reached from other hosts, so keys are "
                "needed. Make them with `limblink keys` and name their folder "
                "with --keys, or use tcp://127.0.0.1:PORT or ipc://PATH."
            )
        self._authenticator: ThreadAuthenticator | None = None
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._closed = False
        try:
            self._open(address, role, keys)
        except zmq.ZMQError as error:
            self.close()
            if error.errno in {errno.EADDRINUSE, zmq.EADDRINUSE}:
                raise LinkError(_busy(address)) from error
            raise LinkError(
                f"Address {address} cannot be opened ({role}): {error}. Check that the "
                "host, the port or the folder of the path exists and is yours."
            ) from error
        except LinkError:
            self.close()
            raise

    def _open(self, address: str, role: str, keys: LinkKeys | None) -> None:
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.SNDHWM, _HIGH_WATER_PACKETS)
        self._socket.setsockopt(zmq.RCVHWM, _HIGH_WATER_PACKETS)
        self._socket.setsockopt(zmq.IMMEDIATE, 1)
        self._socket.setsockopt(zmq.RECONNECT_IVL, 50)
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
        self._socket.setsockopt(zmq.IPV6, int("[" in address))
        if not address.startswith("ipc://"):
            # A host that loses power sends no goodbye: notice it within 1.5 s.
            self._socket.setsockopt(zmq.HEARTBEAT_IVL, 500)
            self._socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 1500)
        if keys is not None:
            self._secure(role, keys)
        if role == "bind":
            if address.startswith("ipc://"):
                _refuse_live_ipc(address)
            self._socket.bind(address)
        else:
            self._socket.connect(address)

    def _secure(self, role: str, keys: LinkKeys) -> None:
        self._socket.setsockopt(zmq.CURVE_PUBLICKEY, keys.public)
        self._socket.setsockopt(zmq.CURVE_SECRETKEY, keys.secret)
        if role == "connect":
            self._socket.setsockopt(zmq.CURVE_SERVERKEY, keys.server)
            return
        self._socket.setsockopt(zmq.CURVE_SERVER, 1)
        self._authenticator = ThreadAuthenticator(self._context)
        self._authenticator.start()
        self._authenticator.configure_curve_callback(
            credentials_provider=_AllowedKeys(keys.allowed)
        )

    @property
    def address(self) -> str:
        """The address in use, with the port that was given for `*`."""
        raw = self._socket.getsockopt(zmq.LAST_ENDPOINT)
        return raw.rstrip(b"\0").decode() if isinstance(raw, bytes) else ""

    def send(self, packet: bytes) -> bool:
        """Hand a packet over; False where no peer is there to take it."""
        try:
            self._socket.send(packet, zmq.DONTWAIT)
        except zmq.Again:
            return False
        return True

    def receive(self, timeout_ms: float = 0.0) -> list[tuple[int, bytes]]:
        """Wait for a packet, then take all that are there.

        Args:
            timeout_ms: longest wait [ms]; 0 = do not wait.

        Returns:
            (time of reception [ns], packet), oldest first; at most 256.
        """
        if timeout_ms > 0.0 and not self._poller.poll(max(1, round(timeout_ms))):
            return []
        packets: list[tuple[int, bytes]] = []
        while len(packets) < _DRAIN_PACKETS:
            try:
                packet = self._socket.recv(zmq.DONTWAIT)
            except zmq.Again:
                break
            packets.append((time.monotonic_ns(), packet))
        return packets

    def close(self) -> None:
        """Close the socket and its threads; any further call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._socket.close(linger=0)
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
