"""What is written to and read from one Modbus device in a round; bytes-free and pure.

    setpoints -> counts -> registers -> runs of registers (one request each)
    runs read -> registers -> measured values, and which slots are ready

A slot with a control word is told to work in every round and followed until its status
says so; where it does not within its time, its error is acknowledged and it starts
again. Setpoints pass only while the slot is ready: else its outlets are held at safe.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.clock import NS_PER_S
from app.drivers.modbus_profile import ModbusProfile

__all__ = ["DeviceImage", "SlotFault", "join_runs"]

_LONGEST_READ = 125
_LONGEST_WRITE = 123
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SlotFault:
    """A slot that does not work.

    Attributes:
        outlets: of it that are in use, from 1.
        text: what, and what to look at.
    """

    outlets: tuple[int, ...]
    text: str


def join_runs(addresses: Iterable[int], longest: int) -> list[range]:
    """Join registers that lie side by side into runs of at most `longest`."""
    runs: list[range] = []
    for address in sorted(set(addresses)):
        if runs and address == runs[-1].stop and len(runs[-1]) < longest:
            runs[-1] = range(runs[-1].start, address + 1)
        else:
            runs.append(range(address, address + 1))
    return runs


class _Slot:
    """How far one slot is on its way to work."""

    def __init__(self) -> None:
        self.ready = False
        self.status: int | None = None
        self.since_ns: int | None = None
        self.acknowledge_until_ns: int | None = None


class DeviceImage:
    """The registers of one device, and the states of its slots."""

    def __init__(
        self,
        profile: ModbusProfile,
        outlets: tuple[int, ...],
        *,
        full_scale: float | None = None,
        ranges: Mapping[int, tuple[float, float]] | None = None,
    ) -> None:
        """Lay out the registers.

        Args:
            profile: of the device.
            outlets: in use, from 1.
            full_scale: value at the full-scale count; None: the profile's.
            ranges: least and greatest value by outlet, which rounding to counts must
                not leave; None: zero to full scale.
        """
        self.profile = profile
        self.outlets = outlets
        self.full_scale = profile.full_scale if full_scale is None else full_scale
        self._safe_share = profile.safe / profile.full_scale
        self._slots = {profile.slot(outlet): _Slot() for outlet in outlets}
        self._count_range = {
            outlet: self._counts_within(least, greatest)
            for outlet, (least, greatest) in (ranges or {}).items()
        }
        self._written = self._outlets_written()
        longest = 1 if profile.setpoint.function == 6 else _LONGEST_WRITE
        self.write_runs = join_runs(self._write_addresses(), longest)
        self.read_runs = self._read_runs()

    @property
    def slots(self) -> tuple[int, ...]:
        """Those in use, from 0."""
        return tuple(self._slots)

    @property
    def safe_value(self) -> float:
        """What vents, in the channel's unit."""
        return self._safe_share * self.full_scale

    def ready(self, outlet: int) -> bool:
        """The outlet's slot works."""
        return self.profile.state is None or self._slots[self._slot_of(outlet)].ready

    def to_count(self, value: float) -> int:
        """Turn a value into the nearest count within zero and full scale."""
        zero, full = self.profile.setpoint.counts
        if not math.isfinite(value):
            value = self.safe_value
        share = min(max(value / self.full_scale, 0.0), 1.0)
        return round(zero + share * (full - zero))

    def _counts_within(self, least: float, greatest: float) -> tuple[int, int]:
        zero, full = self.profile.setpoint.counts
        step = self.full_scale / (full - zero)
        lowest = zero + math.ceil(least / step - _ROUNDING)
        highest = zero + math.floor(greatest / step + _ROUNDING)
        return min(lowest, highest), highest

    def to_value(self, count: int) -> float:
        """Turn a setpoint's count back into the value it stands for."""
        zero, full = self.profile.setpoint.counts
        return (count - zero) / (full - zero) * self.full_scale

    def restart(self) -> None:
        """Forget the slots' states: the device was away."""
        for slot in self._slots:
            self._slots[slot] = _Slot()

    def acknowledge(self, now_ns: int) -> None:
        """Acknowledge the errors of all slots that are not ready."""
        state = self.profile.state
        if state is None or state.acknowledge is None:
            return
        for slot in self._slots.values():
            if not slot.ready:
                slot.acknowledge_until_ns = now_ns + round(
                    state.acknowledge_s * NS_PER_S
                )

    def write_image(
        self, now_ns: int, values: Mapping[int, float]
    ) -> tuple[dict[int, int], dict[int, float]]:
        """Lay out what is to be written now.

        Args:
            now_ns: the present time [ns].
            values: wanted, by outlet; one that is missing or not finite is at safe.

        Returns:
            Register values by address, and the values that they stand for by outlet in
            use.
        """
        profile = self.profile
        image: dict[int, int] = {}
        applied: dict[int, float] = {}
        for outlet in self._written:
            value = values.get(outlet, math.nan)
            if outlet not in self.outlets or not self.ready(outlet):
                value = math.nan
            count = self.to_count(value)
            if value > self.safe_value and outlet in self._count_range:
                lowest, highest = self._count_range[outlet]
                count = min(max(count, lowest), highest)
            first = profile.address(profile.setpoint, outlet)
            for place, word in enumerate(profile.setpoint.encode(count)):
                image[first + place] = word
            if outlet in self.outlets:
                applied[outlet] = self.to_value(count)
        state = profile.state
        if state is not None and state.control_first is not None:
            for number, slot in self._slots.items():
                address = profile.slot_address(state.control_first, number)
                image[address] = self._control_word(now_ns, slot)
        return image, applied

    def take(
        self, now_ns: int, registers: Mapping[int, int]
    ) -> tuple[dict[int, float], list[SlotFault]]:
        """Take up what was read.

        Args:
            now_ns: the present time [ns].
            registers: values by address of all `read_runs`.

        Returns:
            Measured values by outlet in use (empty where the device has no sensors, and
            without those of slots whose data is not valid), and what is wrong.
        """
        profile = self.profile
        faults = []
        state = profile.state
        if state is not None:
            for number, slot in self._slots.items():
                word = registers[profile.slot_address(state.status_first, number)]
                self._follow(now_ns, slot, word)
                if not slot.ready:
                    faults.append(self._not_ready(number, word))
        measured = {}
        if profile.measured is not None:
            zero, full = profile.measured.counts
            for outlet in self.outlets:
                if not self.ready(outlet):
                    continue
                first = profile.address(profile.measured, outlet)
                words = [registers[first + i] for i in range(profile.measured.words)]
                count = profile.measured.decode(words)
                measured[outlet] = (count - zero) / (full - zero) * self.full_scale
        return measured, faults

    def _slot_of(self, outlet: int) -> int:
        return self.profile.slot(outlet)

    def _outlets_written(self) -> tuple[int, ...]:
        """Those in use, and those between them in one slot, which one request needs."""
        profile = self.profile
        if profile.setpoint.function == 6:
            return self.outlets
        written: list[int] = []
        for slot in self._slots:
            used = [o for o in self.outlets if profile.slot(o) == slot]
            first = min(used)
            if profile.state is not None and profile.state.control_first is not None:
                first = slot * profile.per_slot + 1
            written += range(first, max(used) + 1)
        return tuple(written)

    def _write_addresses(self) -> list[int]:
        profile = self.profile
        addresses = [
            profile.address(profile.setpoint, outlet) + word
            for outlet in self._written
            for word in range(profile.setpoint.words)
        ]
        if profile.state is not None and profile.state.control_first is not None:
            addresses += [
                profile.slot_address(profile.state.control_first, slot)
                for slot in self._slots
            ]
        return addresses

    def _read_runs(self) -> list[tuple[int, range]]:
        """Pairs of function and run."""
        profile = self.profile
        addresses: dict[int, list[int]] = {}
        if profile.state is not None:
            addresses.setdefault(profile.state.function, []).extend(
                profile.slot_address(profile.state.status_first, slot)
                for slot in self._slots
            )
        if profile.measured is not None:
            addresses.setdefault(profile.measured.function, []).extend(
                profile.address(profile.measured, outlet) + word
                for outlet in self.outlets
                for word in range(profile.measured.words)
            )
        return [
            (function, run)
            for function, wanted in addresses.items()
            for run in join_runs(wanted, _LONGEST_READ)
        ]

    def _control_word(self, now_ns: int, slot: _Slot) -> int:
        state = self.profile.state
        if state is None:
            return 0
        until_ns = slot.acknowledge_until_ns
        if until_ns is not None and state.acknowledge is not None:
            if now_ns < until_ns:
                return state.acknowledge
            slot.acknowledge_until_ns = None
            slot.since_ns = now_ns
        return state.activate

    def _follow(self, now_ns: int, slot: _Slot, word: int) -> None:
        state = self.profile.state
        if state is None:
            return
        slot.status = word
        slot.ready = word & state.ready_mask == state.ready_value
        if slot.ready:
            slot.since_ns = None
            return
        if slot.since_ns is None:
            slot.since_ns = now_ns
        late = now_ns - slot.since_ns > state.ready_timeout_s * NS_PER_S
        if late and slot.acknowledge_until_ns is None:
            slot.since_ns = now_ns
            if state.acknowledge is not None:
                slot.acknowledge_until_ns = now_ns + round(
                    state.acknowledge_s * NS_PER_S
                )

    def _not_ready(self, number: int, word: int) -> SlotFault:
        used = tuple(o for o in self.outlets if self.profile.slot(o) == number)
        meaning = self.profile.state.meaning if self.profile.state is not None else ""
        hint = f" ({meaning})" if meaning else ""
        return SlotFault(
            used, f"slot {number + 1} is not ready: status 0x{word:04X}{hint}"
        )
