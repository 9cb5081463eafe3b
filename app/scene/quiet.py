"""Keeping a library written in C from printing."""

import contextlib
import ctypes
import os
from collections.abc import Iterator

__all__ = ["silence"]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Send what C code prints nowhere; PyBullet prints its build time on import."""
    libc = ctypes.CDLL(None)
    libc.fflush(None)
    sink = os.open(os.devnull, os.O_WRONLY)
    kept = {}
    for stream in (1, 2):
        with contextlib.suppress(OSError):  # a closed stream needs no silence
            kept[stream] = os.dup(stream)
            os.dup2(sink, stream)
    try:
        yield
    finally:
        libc.fflush(None)
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)
        os.close(sink)
