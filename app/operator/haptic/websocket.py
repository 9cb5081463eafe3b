"""The one module that touches `websockets`: both ends, without threads of its own.

Only the library's protocol is used, without its I/O: one thread sends, waits and reads,
so that an exchange needs no hand-over between threads. A message is text, in whatever
pieces it comes; compression is not offered.
"""

import contextlib
import select
import socket
from types import TracebackType
from typing import Self

from websockets.client import ClientProtocol
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from app.errors import LinkError

__all__ = ["ClientSocket", "ServerSocket", "address_of"]

_PIECE = 65536
_LARGEST = 1 << 20


def address_of(url: str) -> tuple[str, int]:
    """Return host and port of a ws:// address.

    Raises:
        LinkError: it is none.
    """
    try:
        parts = parse_uri(url)
    except WebSocketException as error:
        raise LinkError(
            f"{url!r} is no address of a WebSocket. Write it as ws://localhost:10001."
        ) from error
    if parts.secure:
        raise LinkError(f"{url!r}: only plain ws:// is spoken, to this computer.")
    return parts.host, parts.port


class _Text:
    """Puts the pieces of a message together."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def add(self, frame: Frame) -> str | None:
        """Add a frame; the message where it is complete."""
        if frame.opcode not in {Opcode.TEXT, Opcode.BINARY, Opcode.CONT}:
            return None
        self._pieces.append(bytes(frame.data))
        if not frame.fin:
            return None
        whole = b"".join(self._pieces)
        self._pieces.clear()
        return whole.decode("utf-8", errors="replace")


class ClientSocket:
    """A connection to a WebSocket server, used from one thread."""

    def __init__(self, url: str, timeout_s: float) -> None:
        """Connect and shake hands.

        Args:
            url: such as ws://localhost:10001.
            timeout_s: longest wait [s].

        Raises:
            LinkError: nobody answers there, or not as a WebSocket.
        """
        self._protocol = ClientProtocol(parse_uri(url), max_size=_LARGEST)
        self._text = _Text()
        self._messages: list[str] = []
        try:
            self._socket = socket.create_connection(address_of(url), timeout_s)
        except OSError as error:
            raise LinkError(f"Nobody answers at {url}: {error}.") from error
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._protocol.send_request(self._protocol.connect())
            self._flush()
            while self._protocol.state is State.CONNECTING:
                self._take(self._socket.recv(_PIECE))
                if self._protocol.handshake_exc is not None:
                    raise self._protocol.handshake_exc
        except (OSError, WebSocketException, EOFError) as error:
            self._socket.close()
            raise LinkError(f"{url} does not speak WebSocket: {error}.") from error

    def send(self, text: str) -> None:
        """Send a message.

        Raises:
            LinkError: the connection is gone.
        """
        if self._protocol.state is not State.OPEN:
            raise LinkError("The WebSocket was closed by the other end.")
        self._protocol.send_text(text.encode())
        self._flush()

    def receive(self, timeout_s: float) -> str | None:
        """Return the oldest message that waits, None where none comes in time.

        Raises:
            LinkError: the connection is gone.
        """
        if self._messages:
            return self._messages.pop(0)
        ready = select.select([self._socket], [], [], timeout_s)[0]
        if ready:
            try:
                self._take(self._socket.recv(_PIECE))
            except OSError as error:
                raise LinkError(f"The WebSocket is gone: {error}.") from error
        if self._messages:
            return self._messages.pop(0)
        if self._protocol.state is not State.OPEN:
            raise LinkError("The WebSocket was closed by the other end.")
        return None

    def close(self) -> None:
        """Say farewell where that is possible, and close; again is harmless."""
        with contextlib.suppress(OSError, LinkError, WebSocketException):
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                self._flush()
        self._socket.close()

    def _take(self, received: bytes) -> None:
        if received:
            self._protocol.receive_data(received)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                message = self._text.add(event)
                if message is not None:
                    self._messages.append(message)
        self._flush()

    def _flush(self) -> None:
        for piece in self._protocol.data_to_send():
            try:
                if piece:
                    self._socket.sendall(piece)
            except OSError as error:
                raise LinkError(f"The WebSocket is gone: {error}.") from error


class ServerSocket:
    """One client of a WebSocket server; `socket` may be waited for."""

    def __init__(self, connected: socket.socket) -> None:
        """Take an accepted connection over."""
        self.socket = connected
        connected.setblocking(False)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._protocol = ServerProtocol(max_size=_LARGEST)
        self._text = _Text()
        self.open = False
        """The handshake is done."""

    def take(self) -> list[str] | None:
        """Read what has come; the whole messages, or None where the client is gone."""
        try:
            received = self.socket.recv(_PIECE)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if received:
            self._protocol.receive_data(received)
        else:
            self._protocol.receive_eof()
        messages = []
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                answer: Response = self._protocol.accept(event)
                self._protocol.send_response(answer)
                self.open = self._protocol.state is State.OPEN
            elif isinstance(event, Frame):
                message = self._text.add(event)
                if message is not None:
                    messages.append(message)
        gone = not self._flush() or not received
        gone |= self._protocol.state in {State.CLOSING, State.CLOSED}
        return None if gone else messages

    def send(self, text: str) -> bool:
        """Send a message; False where the client is gone or does not read."""
        if self._protocol.state is not State.OPEN:
            return False
        self._protocol.send_text(text.encode())
        return self._flush()

    def close(self) -> None:
        """Close at once, as a cable that is pulled."""
        self.socket.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _flush(self) -> bool:
        try:
            for piece in self._protocol.data_to_send():
                if piece:
                    self.socket.sendall(piece)
        except OSError:
            return False
        return True
