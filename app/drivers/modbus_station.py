"""One device of a Modbus line: what it is, its registers, and whether it lives."""

from dataclasses import dataclass

from app.clock import NS_PER_S
from app.drivers.modbus_image import DeviceImage
from app.drivers.modbus_profile import ModbusProfile
from app.errors import DeviceError

__all__ = ["ModbusDevice", "ModbusStation"]

_FIRST_PAUSE_NS = NS_PER_S // 5
_LONGEST_PAUSE_NS = 2 * NS_PER_S


@dataclass(frozen=True)
class ModbusDevice:
    """One device of the line.

    Attributes:
        number: its device (unit) number.
        profile: its register map.
        full_scale: value at the full-scale count; None: the profile's.
        watchdog_s: timeout to set in the device [s]; None: leave it.
    """

    number: int
    profile: ModbusProfile
    full_scale: float | None = None
    watchdog_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse a watchdog that the device does not have.

        Raises:
            DeviceError: says which values are allowed.
        """
        register = self.profile.watchdog
        if self.watchdog_s is None:
            return
        if register is None:
            raise DeviceError(
                f"Modbus device {self.number} ({self.profile.title}) has no "
                "watchdog register: leave watchdog_s out. " + self.profile.note
            )
        greatest = (0xFFFFFFFF if register.words == 2 else 0xFFFF) / (
            register.counts_per_s
        )
        least = 1.0 / register.counts_per_s
        if not least <= self.watchdog_s <= greatest:
            raise DeviceError(
                f"Modbus device {self.number}: watchdog_s {self.watchdog_s:g} lies "
                f"outside {least:g} to {greatest:g}."
            )


class ModbusStation:
    """One device: its registers, and whether it lives."""

    def __init__(
        self,
        device: ModbusDevice,
        outlets: dict[int, int],
        ranges: dict[int, tuple[float, float]],
    ) -> None:
        """Take up a device.

        Args:
            device: what it is.
            outlets: index of the channel by outlet in use.
            ranges: least and greatest value by outlet.
        """
        self.device = device
        self.places = outlets
        """Index of the channel by outlet."""
        self.image = DeviceImage(
            device.profile,
            tuple(sorted(outlets)),
            full_scale=device.full_scale,
            ranges=ranges,
        )
        self.known = False
        self.set_up = False
        self.pause_ns = 0
        self.retry_ns = 0
        self.recheck_ns = 0
        self.text = ""

    def forget(self) -> None:
        """Start from nothing."""
        self.image.restart()
        self.set_up = False
        self.pause_ns = self.retry_ns = self.recheck_ns = 0
        self.text = ""

    def silent(self, now_ns: int, text: str) -> None:
        """Wait longer and longer before it is asked again."""
        self.image.restart()
        self.set_up = False
        doubled_ns = max(2 * self.pause_ns, _FIRST_PAUSE_NS)
        self.pause_ns = min(doubled_ns, _LONGEST_PAUSE_NS)
        self.retry_ns = now_ns + self.pause_ns
        self.text = text

    @property
    def watchdog_words(self) -> list[int]:
        """What the watchdog's registers shall hold; empty where there is none."""
        register, seconds = self.device.profile.watchdog, self.device.watchdog_s
        if register is None or seconds is None:
            return []
        count = round(seconds * register.counts_per_s)
        return [count] if register.words == 1 else [count >> 16, count & 0xFFFF]
