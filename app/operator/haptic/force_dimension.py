"""Force Dimension devices (omega, delta, sigma, Falcon) through the vendor's libdhd.

UNTESTED ON HARDWARE. The library is the vendor's; install its SDK, and give the path
of libdhd where it is not found by itself. Only its plain C calls are used, by ctypes,
from the thread that opens the device. Reach, greatest force and axes (x toward the
user, y to the right, z up) are of an omega.3 as recalled, unverified: see the device's
own manual.
"""

import ctypes
import ctypes.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.clock import Clock, MonotonicClock
from app.errors import DeviceError
from app.operator.haptic.base import HapticDevice, HapticFacts, HapticReading

__all__ = ["FORCE_DIMENSION_FACTS", "ForceDimension", "find_libdhd"]

FORCE_DIMENSION_FACTS = HapticFacts(
    name="Force Dimension device",
    renders_force=True,
    rate_mode=False,
    centre=(0.0, 0.0, 0.0),
    reach=0.055,
    greatest_force=12.0,
    rate_hz=1000.0,
    buttons=("a", "b", "c", "d"),
    axes=("-x", "-y", "+z"),
)

_NAMES = ("libdhd.so", "libdhd.so.3", "libdhd.dylib", "dhd64.dll")
_double = ctypes.c_double
_three = [ctypes.POINTER(_double)] * 3
_SIGNATURES: dict[str, tuple[list[Any], Any]] = {
    "dhdOpen": ([], ctypes.c_int),
    "dhdClose": ([ctypes.c_byte], ctypes.c_int),
    "dhdEnableForce": ([ctypes.c_ubyte, ctypes.c_byte], ctypes.c_int),
    "dhdGetPosition": ([*_three, ctypes.c_byte], ctypes.c_int),
    "dhdGetLinearVelocity": ([*_three, ctypes.c_byte], ctypes.c_int),
    "dhdSetForce": ([_double, _double, _double, ctypes.c_byte], ctypes.c_int),
    "dhdGetButton": ([ctypes.c_int, ctypes.c_byte], ctypes.c_int),
    "dhdGetSystemName": ([ctypes.c_byte], ctypes.c_char_p),
    "dhdErrorGetLastStr": ([], ctypes.c_char_p),
}
_FEW = 50  # readings without a velocity: the estimator needs two positions first


def find_libdhd(path: str = "") -> str:
    """Find the vendor's library.

    Args:
        path: of the library or of the SDK's folder; empty looks at FORCEDIM_SDK and
            where the system keeps libraries.

    Returns:
        What to load; empty where nothing is found.
    """
    for given in (path, os.environ.get("FORCEDIM_SDK", "")):
        if not given:
            continue
        place = Path(given).expanduser()
        if place.is_file():
            return str(place)
        for name in _NAMES:
            for found in sorted(place.rglob(name)):
                return str(found)
        if given == path:
            return ""
    return ctypes.util.find_library("dhd") or ""


class ForceDimension(HapticDevice):
    """The first device that libdhd opens."""

    def __init__(self, library: str = "", clock: Clock | None = None) -> None:
        """Describe it; nothing is loaded or opened.

        Args:
            library: path of libdhd or of the SDK; see `find_libdhd`.
            clock: for stamps, None for the host's.
        """
        super().__init__(FORCE_DIMENSION_FACTS)
        self._library = library
        self._clock = clock or MonotonicClock()
        self._calls: dict[str, Callable[..., Any]] = {}
        self._id = -1
        self._blind = 0
        self._values = [_double() for _ in range(6)]

    def _load(self) -> dict[str, Callable[..., Any]]:
        found = find_libdhd(self._library)
        if not found:
            raise DeviceError(
                "Force Dimension's libdhd is not found"
                + (f" at {self._library}" if self._library else "")
                + ". Install the vendor's SDK and give its path: `library` in "
                "haptic.toml, --library, or the variable FORCEDIM_SDK."
            )
        try:
            library = ctypes.CDLL(found)
            calls: dict[str, Callable[..., Any]] = {}
            for name, (arguments, result) in _SIGNATURES.items():
                call = getattr(library, name)
                call.argtypes, call.restype = arguments, result
                calls[name] = call
        except (OSError, AttributeError) as error:
            raise DeviceError(
                f"{found} cannot be used as libdhd: {error}. Take the SDK of this "
                "system and processor."
            ) from error
        return calls

    def _open_device(self) -> None:
        self._calls = self._calls or self._load()
        self._id = int(self._calls["dhdOpen"]())
        if self._id < 0:
            raise DeviceError(
                f"libdhd opens no device: {self._words()}. Is it on, plugged in, not "
                "used by another program, and may this user open it (the SDK's udev "
                "rules)?"
            )
        self._blind = 0
        self._write(0.0, 0.0, 0.0)
        self._must("dhdEnableForce", 1, self._id)
        told = self._calls["dhdGetSystemName"](self._id)
        name = told.decode(errors="replace") if told else ""
        self.facts = FORCE_DIMENSION_FACTS._replace(
            name=name or FORCE_DIMENSION_FACTS.name
        )

    def _close_device(self) -> None:
        number, self._id = self._id, -1
        if number >= 0:
            self._calls["dhdEnableForce"](0, number)
            self._calls["dhdClose"](number)

    def _write(self, x: float, y: float, z: float) -> None:
        self._must("dhdSetForce", x, y, z, self._id)

    def _read(self) -> HapticReading:
        px, py, pz, vx, vy, vz = self._values
        by = ctypes.byref
        self._must("dhdGetPosition", by(px), by(py), by(pz), self._id)
        told = self._calls["dhdGetLinearVelocity"](by(vx), by(vy), by(vz), self._id)
        if told < 0:
            self._blind += 1
            if self._blind > _FEW:
                raise self._gone("dhdGetLinearVelocity")
            vx.value = vy.value = vz.value = 0.0
        else:
            self._blind = 0
        buttons = 0
        for k in range(len(self.facts.buttons)):
            if self._calls["dhdGetButton"](k, self._id) > 0:
                buttons |= 1 << k
        return HapticReading(
            self._clock.now_ns(),
            (px.value, py.value, pz.value),
            (vx.value, vy.value, vz.value),
            None,
            (0.0, 0.0, 0.0),
            buttons,
        )

    def _must(self, name: str, *arguments: object) -> None:
        """Call what returns a negative number when it fails; 0, 1, 2 are successes."""
        if int(self._calls[name](*arguments)) < 0:
            raise self._gone(name)

    def _gone(self, name: str) -> DeviceError:
        return DeviceError(
            f"The Force Dimension device is gone: {name} failed, {self._words()}. Look "
            "at its cable and power; it comes back by itself."
        )

    def _words(self) -> str:
        told = self._calls["dhdErrorGetLastStr"]()
        return told.decode(errors="replace") if told else "no reason given"
