"""A film as Motion JPEG in an AVI file, which every player and editor opens.

Frames are JPEGs of their own, so a film that was cut plays up to there once its head
is mended by any player; it needs no encoder beside Pillow. Files stay below 2 GB.
"""

import io
import struct
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.errors import ConfigError

__all__ = ["AviWriter"]

_MOST_BYTES = 2_000_000_000
_HAS_INDEX = 0x10
_KEY_FRAME = 0x10
_HEAD_BYTES = 224  # up to the first frame


class AviWriter:
    """Writes one film."""

    def __init__(
        self, path: Path, width: int, height: int, rate_hz: float, quality: int = 88
    ) -> None:
        """Make the file.

        Args:
            path: of the film; its folder is made where it is missing.
            width: of every frame [px].
            height: of every frame [px].
            rate_hz: frames a second.
            quality: of the JPEGs, 1..95.

        Raises:
            ConfigError: the file cannot be made.
        """
        self.path = path
        self.frames = 0
        self._size = (width, height)
        self._rate_hz = rate_hz
        self._quality = quality
        self._index = bytearray()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")
            self._file.write(self._head(0))
        except OSError as error:
            raise self._refused(error) from error

    def __enter__(self) -> "AviWriter":
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the film."""
        self.close()

    def add(self, pixels: NDArray[np.uint8]) -> None:
        """Add a frame.

        Args:
            pixels: (height, width, 4) blue, green, red, any from the top line down.

        Raises:
            ConfigError: another size than the film's, too long a film, or no room.
        """
        height, width = pixels.shape[:2]
        if (width, height) != self._size:
            raise ConfigError(
                f"{self.path}: a frame of {width}x{height} does not fit a film of "
                f"{self._size[0]}x{self._size[1]}."
            )
        buffer = io.BytesIO()
        rgb = np.ascontiguousarray(pixels[..., 2::-1])
        Image.fromarray(rgb).save(buffer, format="JPEG", quality=self._quality)
        data = buffer.getvalue()
        try:
            place = self._file.tell() - (_HEAD_BYTES - 4)
            if place + len(data) > _MOST_BYTES:
                raise ConfigError(
                    f"{self.path}: the film has 2 GB, the most that an AVI holds. Film "
                    "a shorter span, or with fewer frames a second."
                )
            self._file.write(struct.pack("<4sI", b"00dc", len(data)))
            self._file.write(data + b"\0" * (len(data) % 2))
        except OSError as error:
            raise self._refused(error) from error
        self._index += struct.pack("<4sIII", b"00dc", _KEY_FRAME, place, len(data))
        self.frames += 1

    def close(self) -> None:
        """Write index and head, and close; a second call does nothing.

        Raises:
            ConfigError: there is no room.
        """
        if self._file.closed:
            return
        try:
            movie_bytes = self._file.tell() - _HEAD_BYTES
            self._file.write(struct.pack("<4sI", b"idx1", len(self._index)))
            self._file.write(self._index)
            self._file.seek(0)
            self._file.write(self._head(movie_bytes))
            self._file.close()
        except OSError as error:
            raise self._refused(error) from error

    def _head(self, movie_bytes: int) -> bytes:
        width, height = self._size
        rate, scale = round(1000 * self._rate_hz), 1000
        frame_us = round(1e6 / self._rate_hz)
        main = struct.pack(
            "<14I", frame_us, 0, 0, _HAS_INDEX, self.frames, 0, 1, 0, width, height,
            0, 0, 0, 0,
        )  # fmt: skip
        stream = struct.pack(
            "<4s4sIHHIIIIIIIIHHHH", b"vids", b"MJPG", 0, 0, 0, 0, scale, rate, 0,
            self.frames, 0, 0xFFFF_FFFF, 0, 0, 0, width, height,
        )  # fmt: skip
        form = struct.pack(
            "<IiiHH4sIiiII", 40, width, height, 1, 24, b"MJPG", 3 * width * height,
            0, 0, 0, 0,
        )  # fmt: skip
        streams = b"strl" + _chunk(b"strh", stream) + _chunk(b"strf", form)
        heads = b"hdrl" + _chunk(b"avih", main) + _chunk(b"LIST", streams)
        body = b"AVI " + _chunk(b"LIST", heads)
        movie = struct.pack("<4sI4s", b"LIST", movie_bytes + 4, b"movi")
        index_bytes = 8 + len(self._index)
        whole = len(body) + len(movie) + movie_bytes + index_bytes
        return struct.pack("<4sI", b"RIFF", whole) + body + movie

    def _refused(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"{self.path}: the film cannot be written: {error.strerror}. Choose "
            "another place."
        )


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack("<4sI", name, len(content)) + content
