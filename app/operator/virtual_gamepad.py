"""A game controller with no hardware, driven by a program through the real SDL path.

For tests, demonstrations and `--operator virtual-gamepad`. It enters below SDL's
joystick layer, so mapping, hot-plug, curves and arbitration are the real ones. It does
not imitate the kernel: no evdev or hidraw node, no permissions, no radio, no battery.
"""

import threading
from dataclasses import replace
from typing import Self

from app.errors import DeviceError
from app.operator import sdl
from app.operator.mapping import BUTTONS, PadReading

__all__ = ["VirtualGamepad"]

_STICKS = {"leftx": ("left", 0), "lefty": ("left", 1)}
_STICKS |= {"rightx": ("right", 0), "righty": ("right", 1)}
_TRIGGERS = {"lefttrigger": 0, "righttrigger": 1}
_LEAST_BIT = 1.0 / 32767.0
_BLOCK_LIMIT_S = 30.0  # a forgotten block must not hang a process for ever


class VirtualGamepad:
    """A virtual pad; any thread may move it, the polling thread plugs it in and out.

    `service` is for `app.operator.gamepad.Gamepad`, which owns SDL's thread: a wish to
    attach or detach comes true at its next poll.
    """

    def __init__(
        self,
        name: str = "limblink virtual gamepad",
        vendor: int = 0,
        product: int = 0,
    ) -> None:
        """Make a pad that wants to be plugged in.

        Args:
            name: as it calls itself.
            vendor: USB vendor number, 0 for none.
            product: USB product number, 0 for none.
        """
        self.name = name
        self._vendor = vendor
        self._product = product
        self._lock = threading.Lock()
        self._reading = PadReading()
        self._shown = PadReading()
        self._flicker = False
        self._frozen = False
        self._wanted = True
        self._device: sdl.VirtualDevice | None = None
        self._open = threading.Event()
        self._open.set()
        self.blocked = threading.Event()
        """Set while SDL's update hangs in this pad's driver."""

    def set_axis(self, axis: str, value: float) -> None:
        """Move one axis.

        Args:
            axis: leftx, lefty, rightx, righty (right and up positive, -1..1),
                lefttrigger or righttrigger (0..1).
            value: where to; clipped to its range.
        """
        with self._lock:
            if axis in _TRIGGERS:
                pair = list(self._reading.triggers)
                pair[_TRIGGERS[axis]] = max(0.0, min(1.0, value))
                self._reading = replace(self._reading, triggers=(pair[0], pair[1]))
                return
            if axis not in _STICKS:
                raise DeviceError(
                    f"No axis {axis!r}; there are {', '.join([*_STICKS, *_TRIGGERS])}."
                )
            stick, place = _STICKS[axis]
            pair = list(getattr(self._reading, stick))
            pair[place] = max(-1.0, min(1.0, value))
            moved = (pair[0], pair[1])
            if stick == "left":
                self._reading = replace(self._reading, left=moved)
            else:
                self._reading = replace(self._reading, right=moved)

    def press(self, *buttons: str) -> Self:
        """Press buttons, named as in `BUTTONS`, and hold them."""
        self._check(buttons)
        with self._lock:
            down = self._reading.buttons | set(buttons)
            self._reading = replace(self._reading, buttons=down)
        return self

    def release(self, *buttons: str) -> Self:
        """Release buttons; with no name, all of them."""
        self._check(buttons)
        with self._lock:
            down = self._reading.buttons - set(buttons) if buttons else frozenset()
            self._reading = replace(self._reading, buttons=down)
        return self

    def center(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._reading = PadReading()

    def attach(self) -> None:
        """Plug it in, at the next poll; it is so from the start."""
        self._wanted = True

    def detach(self) -> None:
        """Unplug it, at the next poll; a blocked driver is let go."""
        self._wanted = False
        self.unblock()

    def freeze(self, *, frozen: bool = True) -> None:
        """Repeat the last reading to the bit, as a radio pad out of range does."""
        self._frozen = frozen

    def block(self) -> None:
        """Hang SDL's next update in this pad's driver until `unblock`."""
        self._open.clear()

    def unblock(self) -> None:
        """Let a blocked update go on."""
        self._open.set()

    @property
    def wanted(self) -> PadReading:
        """Where the sticks and buttons have been put."""
        with self._lock:
            return self._reading

    @property
    def attached(self) -> bool:
        """Whether it is plugged in now."""
        return self._device is not None

    def service(self) -> None:
        """Plug in or out as wished (polling thread only)."""
        if self._wanted and self._device is None:
            self._device = sdl.VirtualDevice(
                self.name, self._report, self._vendor, self._product
            )
        elif not self._wanted:
            self.unplug()

    def unplug(self) -> None:
        """Unplug it now (polling thread only); again is harmless."""
        device, self._device = self._device, None
        if device is not None:
            device.unplug()

    def _report(self) -> PadReading:
        if not self._open.is_set():
            self.blocked.set()
            self._open.wait(_BLOCK_LIMIT_S)
            self.blocked.clear()
        with self._lock:
            if self._frozen:
                return self._shown
            self._flicker = not self._flicker
            self._shown = _with_noise(self._reading, flicker=self._flicker)
            return self._shown

    def _check(self, buttons: tuple[str, ...]) -> None:
        for button in buttons:
            if button not in BUTTONS:
                raise DeviceError(
                    f"No button {button!r}; there are {', '.join(BUTTONS)}."
                )


def _with_noise(reading: PadReading, *, flicker: bool) -> PadReading:
    """Toggle the last bit of a deflected stick, as any converter does."""
    step = 2.0 * _LEAST_BIT if flicker else 0.0

    def shake(stick: tuple[float, float]) -> tuple[float, float]:
        x, y = stick
        return (
            x - step if x > 0 else x + step if x < 0 else x,
            y - step if y > 0 else y + step if y < 0 else y,
        )

    return replace(reading, left=shake(reading.left), right=shake(reading.right))
