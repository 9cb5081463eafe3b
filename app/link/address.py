"""Addresses of the link: which are valid, and which leave this host."""

import ipaddress
import re
import socket
from pathlib import Path

from app.errors import LinkError

__all__ = ["SocketFile", "busy_message", "leaves_host", "refuse_live_ipc"]


def leaves_host(address: str) -> bool:
    """Check the address; True where other hosts can reach it.

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


def refuse_live_ipc(address: str) -> None:
    """Refuse to bind where someone listens: ZeroMQ would take the path over.

    Raises:
        LinkError: a process listens at this ipc address.
    """
    path = address.removeprefix("ipc://")
    if path.startswith("@") or not Path(path).exists():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.2)
        try:
            probe.connect(path)
        except OSError:
            return
    raise LinkError(busy_message(address))


def busy_message(address: str) -> str:
    """Say that an address is taken, and what to do."""
    return (
        f"Address {address} is in use by another process. End that process (another "
        "limblink session?) or choose another address."
    )


class SocketFile:
    """The file of an ipc:// address that was bound; ZeroMQ leaves it behind."""

    def __init__(self, address: str) -> None:
        """Remember the file; of any other address there is none."""
        path = address.removeprefix("ipc://")
        own = address.startswith("ipc://") and not path.startswith("@")
        self._path = Path(path) if own else None
        self._identity = self._stat()

    def _stat(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def remove(self) -> None:
        """Remove it, unless another process has taken the path over since."""
        same = self._identity is not None and self._identity == self._stat()
        if self._path is not None and same:
            self._path.unlink(missing_ok=True)
