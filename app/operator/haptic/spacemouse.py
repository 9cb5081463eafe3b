"""3Dconnexion SpaceMouse through Linux's hidraw: a cap that is pushed, no force.

No library and no driver of the vendor's: the kernel hands the HID reports on as they
come. Each is read without waiting. The cap says nothing while it rests; one that falls
silent while deflected (a radio out of range) counts as let go.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from app.clock import NS_PER_MS, Clock, MonotonicClock
from app.errors import DeviceError
from app.operator.haptic.base import HapticDevice, HapticFacts, HapticReading
from app.operator.haptic.spacemouse_reports import decode_report

__all__ = ["SPACEMOUSE_FACTS", "UDEV_RULE", "FoundCap", "SpaceMouse", "find_caps"]

SPACEMOUSE_FACTS = HapticFacts(
    name="SpaceMouse",
    renders_force=False,
    rate_mode=True,
    centre=(0.0, 0.0, 0.0),
    reach=1.0,
    greatest_force=0.0,
    rate_hz=125.0,
    buttons=("left", "right"),
    axes=("+y", "-x", "+z"),
)

UDEV_RULE = (
    'KERNEL=="hidraw*", ATTRS{idVendor}=="256f", MODE="0660", TAG+="uaccess"\n'
    'KERNEL=="hidraw*", ATTRS{idVendor}=="046d", ATTRS{idProduct}=="c6*", '
    'MODE="0660", TAG+="uaccess"\n'
)
"""For /etc/udev/rules.d/70-spacemouse.rules; then `udevadm control --reload` and plug
the device in again."""

_VENDOR = 0x256F
_OLD_VENDOR = 0x046D
_OLD_PRODUCTS = frozenset((0xC603, 0xC605, 0xC606, *range(0xC621, 0xC62C)))
_SILENT_NS = 150 * NS_PER_MS
_LONGEST = 64
_MANY = 256


class FoundCap(NamedTuple):
    """A device that the kernel lists.

    Attributes:
        path: its node.
        name: as it calls itself.
        permitted: it may be read.
    """

    path: Path
    name: str
    permitted: bool


def find_caps(
    system: Path = Path("/sys/class/hidraw"), nodes: Path = Path("/dev")
) -> list[FoundCap]:
    """List the SpaceMouse-like devices of this computer.

    Args:
        system: where the kernel lists hidraw devices.
        nodes: where their nodes are.
    """
    found = []
    for entry in sorted(system.glob("hidraw*")):
        try:
            text = (entry / "device" / "uevent").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        facts = dict(row.split("=", 1) for row in text.splitlines() if "=" in row)
        try:
            _, vendor, product = (
                int(part, 16) for part in facts.get("HID_ID", "").split(":")
            )
        except ValueError:
            continue
        if vendor == _VENDOR or (vendor == _OLD_VENDOR and product in _OLD_PRODUCTS):
            path = nodes / entry.name
            found.append(
                FoundCap(path, facts.get("HID_NAME", "?"), os.access(path, os.R_OK))
            )
    return found


class SpaceMouse(HapticDevice):
    """One cap with its buttons."""

    def __init__(
        self,
        path: Path | None = None,
        opener: Callable[[], int] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Describe it; nothing is opened.

        Args:
            path: its hidraw node, None for the first that is found.
            opener: gives a descriptor of which each read is one report; None opens the
                node.
            clock: for stamps, None for the host's.
        """
        super().__init__(SPACEMOUSE_FACTS)
        self._path = path
        self._opener = opener or self._open_node
        self._clock = clock or MonotonicClock()
        self._descriptor = -1
        self._rate = (0.0, 0.0, 0.0)
        self._buttons = 0
        self._heard_ns = 0

    def _open_node(self) -> int:
        path = self._path
        if path is None:
            caps = find_caps()
            if not caps:
                raise DeviceError(
                    "No SpaceMouse is here. Plug it in; `limblink haptic find` shows "
                    "what the kernel lists."
                )
            path = caps[0].path
        try:
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except PermissionError as error:
            raise DeviceError(
                f"{path} may not be read. Write these lines to "
                f"/etc/udev/rules.d/70-spacemouse.rules and plug it in again:\n"
                f"{UDEV_RULE}"
            ) from error
        except OSError as error:
            raise DeviceError(f"{path} cannot be opened: {error.strerror}.") from error

    def _open_device(self) -> None:
        self._descriptor = self._opener()
        os.set_blocking(self._descriptor, False)
        self._rate = (0.0, 0.0, 0.0)
        self._buttons = 0

    def _close_device(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _write(self, x: float, y: float, z: float) -> None:
        return  # it cannot push

    def _read(self) -> HapticReading:
        now_ns = self._clock.now_ns()
        for _ in range(_MANY):
            try:
                report = os.read(self._descriptor, _LONGEST)
            except BlockingIOError:
                break
            except OSError as error:
                raise self._gone(str(error)) from error
            if not report:
                raise self._gone("it was unplugged")
            self._heard_ns = now_ns
            told = decode_report(report)
            if told.translation is not None:
                self._rate = told.translation
            if told.buttons is not None:
                self._buttons = told.buttons
        silent = now_ns - self._heard_ns > _SILENT_NS
        if silent and self._rate != (0.0, 0.0, 0.0):
            self._rate = (0.0, 0.0, 0.0)
            self._buttons = 0
            self.notice = (
                "The SpaceMouse fell silent while it was pushed: let it go and push "
                "again. Is its receiver near enough?"
            )
        elif not silent:
            self.notice = ""
        nothing = (0.0, 0.0, 0.0)
        return HapticReading(now_ns, nothing, nothing, None, self._rate, self._buttons)

    def _gone(self, why: str) -> DeviceError:
        return DeviceError(
            f"The SpaceMouse is gone: {why}. Plug it in again; it comes back by itself."
        )
