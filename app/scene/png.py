"""Writing a picture of the scene as a PNG file."""

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.errors import ConfigError

__all__ = ["write_png"]


def write_png(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write a (h, w, 4) blue, green, red, alpha array as a PNG without alpha.

    Args:
        path: file to write; its folder is made where it is missing.
        pixels: as `Scene.image` returns it.

    Raises:
        ConfigError: the file cannot be written.
    """
    height, width, _ = pixels.shape
    rgb = pixels[..., 2::-1]
    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    lines[:, 0] = 2  # each byte less the one above it
    lines[:, 1:] = np.diff(rgb, axis=0, prepend=np.zeros_like(rgb[:1])).reshape(
        height, -1
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise ConfigError(
            f"{path}: the picture cannot be written: {error}. Choose another place."
        ) from error


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + data))
    return struct.pack(">I", len(data)) + name + data + checksum
