"""A virtual Force Dimension device: a stand-in for libdhd, held by a simulated hand.

The stand-in is compiled from libdhd_standin.c, so that loading, signatures and calls
of the driver are the real ones. Each call first moves the hand up to the clock's now,
so it runs on any clock and needs no thread. Not imitated: the vendor's code, USB,
grippers, calibration, brakes, more than one device.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

from app.clock import Clock, MonotonicClock
from app.errors import DeviceError
from app.operator.haptic.force_dimension import FORCE_DIMENSION_FACTS
from app.operator.haptic.virtual_hand import VirtualHand

__all__ = ["VirtualForceDimension", "build_standin"]

_PLUGGED, _OPENED, _BUTTONS, _POSITION, _VELOCITY, _FORCE, _SET = 0, 1, 3, 4, 7, 10, 13
_SIZE = 16
_COMPILE_S = 60.0


def build_standin(folder: Path) -> Path:
    """Compile the stand-in into `folder` and return the library's path.

    Raises:
        DeviceError: there is no C compiler, or it fails.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise DeviceError(
            "The virtual Force Dimension device needs a C compiler (cc). Install one, "
            "or try the virtual Inverse3."
        )
    source = Path(__file__).with_name("libdhd_standin.c")
    library = folder / "libdhd.so"
    try:
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)],
            check=True,
            capture_output=True,
            text=True,
            timeout=_COMPILE_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        words = getattr(error, "stderr", "") or str(error)
        raise DeviceError(f"The libdhd stand-in does not compile: {words}") from error
    return library


class VirtualForceDimension:
    """Stands behind the stand-in library."""

    def __init__(
        self, library: Path, hand: VirtualHand | None = None, clock: Clock | None = None
    ) -> None:
        """Plug it in.

        Args:
            library: as `build_standin` made it; one virtual device for each.
            hand: that holds it, None for a relaxed one on button a.
            clock: by which the hand moves, None for the host's.
        """
        self.hand = hand or VirtualHand(FORCE_DIMENSION_FACTS, buttons=1)
        self._clock = clock or MonotonicClock()
        self._library = ctypes.CDLL(str(library))
        self._library.standin_block.restype = ctypes.POINTER(ctypes.c_double * _SIZE)
        self._block = self._library.standin_block().contents
        self._set = 0.0
        self._block[_PLUGGED] = 1.0
        self._callback = ctypes.CFUNCTYPE(None)(self._advance)
        self._library.standin_on_call(self._callback)

    @property
    def plugged(self) -> bool:
        """Whether its cable is in."""
        return bool(self._block[_PLUGGED])

    @plugged.setter
    def plugged(self, value: bool) -> None:
        self._block[_PLUGGED] = float(value)
        if not value:
            self._block[_OPENED] = 0.0
            self.hand.let_go()

    def close(self) -> None:
        """Unplug it and leave the library alone."""
        self.plugged = False
        self._library.standin_on_call(ctypes.CFUNCTYPE(None)())

    def _advance(self) -> None:
        block = self._block
        self.hand.advance(self._clock.now_ns())
        if block[_SET] != self._set:
            self._set = block[_SET]
            self.hand.push((block[_FORCE], block[_FORCE + 1], block[_FORCE + 2]))
        for i in range(3):
            block[_POSITION + i] = self.hand.position[i]
            block[_VELOCITY + i] = self.hand.velocity[i]
        block[_BUTTONS] = self.hand.buttons
