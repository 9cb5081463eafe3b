"""The OpenGL context and what is drawn into: a frame buffer, a kept backdrop, an array.

A standalone EGL context is used: measured with software rendering at 1280 x 720, a
QOpenGLWidget costs 24 ms a frame before it draws anything; this path costs under 2 ms
with the copy into the array, and the QPainter that shows it about 2 ms.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import DeviceError

# Mesa's software renderer starts a thread a core; none is smoothest: beside the control
# loop a core is seldom free when it is handed something.
# It reads this when the first context is made.
os.environ.setdefault("LP_NUM_THREADS", "0")

import moderngl

__all__ = ["Target", "is_software", "open_context"]


def open_context() -> Any:
    """Open an OpenGL 3.3 context without a window.

    Returns:
        The moderngl context, current in this thread.

    Raises:
        DeviceError: there is no such OpenGL here.
    """
    try:
        settings: Any = {
            "backend": "egl",
            "require": 330,
            "libgl": "libGL.so.1",  # by name: finding them would start a process
            "libegl": "libEGL.so.1",
        }
        return moderngl.create_context(standalone=True, **settings)
    except Exception as problem:  # glcontext raises nothing more special
        raise DeviceError(
            f"OpenGL 3.3 could not be opened through EGL ({problem}); the scene needs "
            "it. Install the graphics driver, or Mesa's software one: "
            "apt-get install libegl1 libgl1 libgl1-mesa-dri"
        ) from problem


def is_software(context: Any) -> bool:
    """Tell whether the processor does the drawing."""
    name = str(context.info["GL_RENDERER"]).lower()
    return any(word in name for word in ("llvmpipe", "softpipe", "swrast", "software"))


class Target:
    """A frame buffer, the backdrop kept for it, and the array its pixels come out in.

    The backdrop holds colour and depth of all that stands still. Copying it costs
    0.6 ms at 1280 x 720 where drawing it costs 10 ms.
    """

    def __init__(self, context: Any, width: int, height: int, samples: int) -> None:
        """Make buffers of width x height [px] with so many samples a pixel."""
        self._context = context
        self._samples = samples
        self._made: list[Any] = []
        self.width = self.height = 0
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Change the size [px]; nothing happens where it is the same."""
        width, height = max(int(width), 1), max(int(height), 1)
        if (width, height) == (self.width, self.height):
            return
        self.width, self.height = width, height
        with self._context:
            self.release()
            self._drawn = self._buffer(self._samples)
            self._kept = self._buffer(self._samples)
            self._resolved = self._buffer(1) if self._samples > 1 else self._drawn
        self.pixels = np.zeros((height, width, 4), dtype=np.uint8)
        self.kept_view: bytes | None = None
        """What the kept backdrop was seen from; None when there is none."""
        self.kept_light: bytes | None = None
        """What lit it."""
        self.kept_for = 0
        """Frames since it was drawn."""
        self.solids_due = False
        """Hull and site still stand in the light before."""

    def _buffer(self, samples: int) -> Any:
        size = (self.width, self.height)
        many = samples if samples > 1 else 0
        color = self._context.renderbuffer(size, 4, samples=many)
        depth = self._context.depth_renderbuffer(size, samples=many)
        frame = self._context.framebuffer([color], depth)
        self._made += [color, depth, frame]
        return frame

    def use(self) -> None:
        """Draw into it from now on."""
        self._drawn.use()
        self._context.viewport = (0, 0, self.width, self.height)

    def keep(self) -> None:
        """Keep what is drawn so far as the backdrop."""
        self._context.copy_framebuffer(self._kept, self._drawn)
        self.kept_for = 0

    def restore(self) -> None:
        """Begin with the kept backdrop."""
        self._context.copy_framebuffer(self._drawn, self._kept)
        self.kept_for += 1

    def read(self) -> NDArray[np.uint8]:
        """Copy what was drawn into `pixels` and return that array."""
        if self._samples > 1:
            self._context.copy_framebuffer(self._resolved, self._drawn)
        self._resolved.read_into(self.pixels, components=4)
        return self.pixels

    def release(self) -> None:
        """Give the buffers back; safe to call again."""
        for thing in reversed(self._made):
            thing.release()
        self._made = []
