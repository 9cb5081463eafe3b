"""The one module that touches SDL: game controllers as plain readings.

SDL is not re-entrant: everything here must be called from one thread, which
`app.operator.gamepad` sees to. No window and no video driver are needed. The state of
devices is read anew at every pump instead of following SDL's event queue, which other
users of SDL in the process may drain.
"""

import ctypes
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import DeviceError
from app.operator.mapping import BUTTONS, PadReading

with warnings.catch_warnings():
    # it announces on import which bundled library it loads
    warnings.filterwarnings("ignore", message="Using SDL2 binaries")
    try:
        import sdl2
        from sdl2.joystick import CFUNC_Rumble, CFUNC_Update
    except ImportError as error:
        raise DeviceError(
            f"SDL, which reads game controllers, cannot be loaded: {error}. Install "
            "the package pysdl2-dll, or drive with --operator keyboard."
        ) from error

__all__ = [
    "Found",
    "SdlPad",
    "VirtualDevice",
    "add_mappings",
    "present_count",
    "pump",
    "scan",
    "start",
    "stop",
]

_FULL = 32767
_PRESSED = 0.5  # a trigger past half way is a pressed button
_BUTTON_COUNT = BUTTONS.index("lefttrigger")  # SDL's own buttons, in SDL's order
_POWER = {
    sdl2.SDL_JOYSTICK_POWER_EMPTY: "empty",
    sdl2.SDL_JOYSTICK_POWER_LOW: "low",
    sdl2.SDL_JOYSTICK_POWER_MEDIUM: "medium",
    sdl2.SDL_JOYSTICK_POWER_FULL: "full",
    sdl2.SDL_JOYSTICK_POWER_WIRED: "wired",
}


@dataclass(frozen=True)
class Found:
    """A device that SDL sees.

    Attributes:
        identity: SDL's instance number; never used twice in a process.
        index: its present place in SDL's list, for opening.
        name: as the device calls itself.
        mapped: SDL knows where its sticks and buttons are.
    """

    identity: int
    index: int
    name: str
    mapped: bool


def start() -> None:
    """Open SDL's controller subsystem; every call needs one `stop`.

    Raises:
        DeviceError: SDL refuses; gives its own words.
    """
    # a terminal has the focus, not an SDL window; and signals are not SDL's
    sdl2.SDL_SetHint(sdl2.SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS, b"1")
    sdl2.SDL_SetHint(sdl2.SDL_HINT_NO_SIGNAL_HANDLERS, b"1")
    if sdl2.SDL_InitSubSystem(sdl2.SDL_INIT_GAMECONTROLLER) != 0:
        raise DeviceError(
            f"SDL cannot open its game controllers: {_sdl_words()}. Check the "
            "permissions of /dev/input (group input), or drive with the keyboard."
        )


def stop() -> None:
    """Close what `start` opened."""
    sdl2.SDL_QuitSubSystem(sdl2.SDL_INIT_GAMECONTROLLER)


def pump() -> None:
    """Read all devices now and notice plugging; drops SDL's queue of events."""
    sdl2.SDL_JoystickUpdate()
    sdl2.SDL_FlushEvents(sdl2.SDL_FIRSTEVENT, sdl2.SDL_LASTEVENT)


def scan() -> list[Found]:
    """List the devices that were present at the last `pump`."""
    found = []
    for index in range(sdl2.SDL_NumJoysticks()):
        name = sdl2.SDL_JoystickNameForIndex(index)
        found.append(
            Found(
                identity=int(sdl2.SDL_JoystickGetDeviceInstanceID(index)),
                index=index,
                name=name.decode(errors="replace") if name else "nameless",
                mapped=bool(sdl2.SDL_IsGameController(index)),
            )
        )
    return found


def present_count() -> int:
    """Count devices; cheap, to see whether `scan` is worth its while."""
    return int(sdl2.SDL_NumJoysticks())


def add_mappings(path: Path) -> int:
    """Add a gamecontrollerdb.txt to SDL's own database.

    Returns:
        How many mappings were added.

    Raises:
        DeviceError: the file cannot be read.
    """
    added = -1
    stream = sdl2.SDL_RWFromFile(str(path).encode(), b"rb")
    if stream:
        added = sdl2.SDL_GameControllerAddMappingsFromRW(stream, 1)
    if added < 0:
        raise DeviceError(
            f"{path}: SDL cannot read these controller mappings: {_sdl_words()}. "
            "Mend or remove the file; one mapping a line, as SDL_GameControllerDB has."
        )
    return int(added)


class SdlPad:
    """One open game controller."""

    def __init__(self, found: Found) -> None:
        """Open it.

        Raises:
            DeviceError: it is gone or may not be opened.
        """
        self.identity = found.identity
        self.name = found.name
        self._handle = sdl2.SDL_GameControllerOpen(found.index)
        if not self._handle:
            raise DeviceError(
                f"Gamepad {found.name!r} cannot be opened: {_sdl_words()}. Check the "
                "permissions of /dev/input (group input), then plug it in again."
            )

    @property
    def attached(self) -> bool:
        """Whether it was still plugged in at the last `pump`."""
        return bool(sdl2.SDL_GameControllerGetAttached(self._handle))

    @property
    def battery(self) -> str:
        """Charge as a word: empty, low, medium, full, wired or unknown."""
        joystick = sdl2.SDL_GameControllerGetJoystick(self._handle)
        return _POWER.get(sdl2.SDL_JoystickCurrentPowerLevel(joystick), "unknown")

    def read(self) -> PadReading:
        """Return sticks, triggers and buttons as of the last `pump`."""
        handle = self._handle
        axis = [
            max(-1.0, sdl2.SDL_GameControllerGetAxis(handle, k) / _FULL)
            for k in range(6)
        ]
        down = [
            BUTTONS[k]
            for k in range(_BUTTON_COUNT)
            if sdl2.SDL_GameControllerGetButton(handle, k)
        ]
        if axis[4] > _PRESSED:
            down.append("lefttrigger")
        if axis[5] > _PRESSED:
            down.append("righttrigger")
        return PadReading(
            left=(axis[0], 0.0 - axis[1]),  # SDL's sticks run down positive
            right=(axis[2], 0.0 - axis[3]),
            triggers=(axis[4], axis[5]),
            buttons=frozenset(down),
        )

    def rumble(self, low: float, high: float, duration_ms: int) -> bool:
        """Shake it, in place of whatever shakes it now.

        Args:
            low: strength of the slow, strong motor, 0..1; 0 for both ends it at once.
            high: strength of the fast, weak motor, 0..1.
            duration_ms: after which it ends by itself [ms].

        Returns:
            Whether it has motors.
        """
        strengths = [round(0xFFFF * max(0.0, min(1.0, part))) for part in (low, high)]
        return bool(
            sdl2.SDL_GameControllerRumble(self._handle, *strengths, duration_ms) == 0
        )

    def close(self) -> None:
        """Close it; again is harmless."""
        handle, self._handle = self._handle, None
        if handle:
            sdl2.SDL_GameControllerClose(handle)


class VirtualDevice:
    """A game controller that SDL itself imitates, below its whole input path."""

    def __init__(
        self, name: str, read: Callable[[], PadReading], vendor: int, product: int
    ) -> None:
        """Plug it in.

        Args:
            name: as it calls itself.
            read: called by SDL at every pump, in the pumping thread; must not raise.
            vendor: USB vendor number.
            product: USB product number.

        Raises:
            DeviceError: SDL refuses.
        """
        self._read = read
        self._handle: Any = None
        self.shaken = (0.0, 0.0)
        """Strengths that its slow and its fast motor have now, 0..1."""
        self._update = CFUNC_Update(self._push)  # these must outlive the device
        self._rumble = CFUNC_Rumble(self._shake)
        self._name = name.encode()
        description = sdl2.SDL_VirtualJoystickDesc(
            version=sdl2.SDL_VIRTUAL_JOYSTICK_DESC_VERSION,
            type=sdl2.SDL_JOYSTICK_TYPE_GAMECONTROLLER,
            naxes=6,
            nbuttons=_BUTTON_COUNT,
            nhats=0,
            vendor_id=vendor,
            product_id=product,
            button_mask=(1 << _BUTTON_COUNT) - 1,
            axis_mask=0b111111,
            name=self._name,
            Update=self._update,
            Rumble=self._rumble,
        )
        index = sdl2.SDL_JoystickAttachVirtualEx(ctypes.byref(description))
        if index < 0:
            raise DeviceError(
                f"SDL cannot attach a virtual gamepad: {_sdl_words()}. Drive with "
                "--operator line or circle instead."
            )
        self._handle = sdl2.SDL_JoystickOpen(index)
        self._identity = int(sdl2.SDL_JoystickGetDeviceInstanceID(index))

    def unplug(self) -> None:
        """Unplug it; again is harmless."""
        handle, self._handle = self._handle, None
        if not handle:
            return
        for found in scan():
            if found.identity == self._identity:
                sdl2.SDL_JoystickDetachVirtual(found.index)
        sdl2.SDL_JoystickClose(handle)

    def _shake(self, _userdata: Any, low: int, high: int) -> int:
        self.shaken = (low / 0xFFFF, high / 0xFFFF)
        return 0

    def _push(self, _userdata: Any) -> None:
        reading = self._read()
        if not self._handle:
            return
        axes = (
            reading.left[0],
            -reading.left[1],
            reading.right[0],
            -reading.right[1],
            2.0 * reading.triggers[0] - 1.0,  # SDL spreads -1..1 over a trigger's 0..1
            2.0 * reading.triggers[1] - 1.0,
        )
        for k in range(6):
            value = round(_FULL * max(-1.0, min(1.0, axes[k])))
            sdl2.SDL_JoystickSetVirtualAxis(self._handle, k, value)
        for k in range(_BUTTON_COUNT):
            down = int(BUTTONS[k] in reading.buttons)
            sdl2.SDL_JoystickSetVirtualButton(self._handle, k, down)


def _sdl_words() -> str:
    words = sdl2.SDL_GetError()
    return words.decode(errors="replace") if words else "no reason given"
