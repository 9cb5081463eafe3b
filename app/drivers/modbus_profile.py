"""What is known of one kind of Modbus device: its register map, from a TOML file.

Outlets (valves, analog outputs) are counted from 1 as printed on the device; each
belongs to a slot of `per_slot` outlets, and every register of a slot lies `slot_stride`
registers after that of the slot before. Register addresses are those on the wire, from
0, without the leading 3 or 4 of old manuals.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.config.loader import Parameters, find_asset, load_toml

__all__ = [
    "DEVICE_FOLDER",
    "CheckRegisters",
    "LineParameters",
    "MeasuredRegisters",
    "ModbusProfile",
    "SetpointRegisters",
    "StateRegisters",
    "WatchdogRegister",
    "load_profile",
]

DEVICE_FOLDER = "devices"

_Address = Annotated[int, Field(ge=0, le=0xFFFF)]
_Word = Annotated[int, Field(ge=0, le=0xFFFF)]


class _ScaledRegisters(Parameters):
    """Registers whose value is a number of the channel's unit."""

    first: _Address
    """Register of outlet 1."""
    words: Literal[1, 2] = 1
    word_order: Literal["high first", "low first"] = "high first"
    """Of a value of two words."""
    byte_swap: bool = False
    """The two bytes of every word are exchanged."""
    signed: bool = False
    counts: tuple[int, int] = (0, 10_000)
    """Register value at zero and at full scale."""

    def encode(self, count: int) -> list[int]:
        """Turn a count into words, as they lie in the registers."""
        raw = count & (0xFFFFFFFF if self.words == 2 else 0xFFFF)
        words = [raw] if self.words == 1 else [raw >> 16, raw & 0xFFFF]
        if self.word_order == "low first":
            words.reverse()
        return [_swapped(word) for word in words] if self.byte_swap else words

    def decode(self, words: list[int]) -> int:
        """Turn words as they lie in the registers into a count."""
        parts = [_swapped(word) for word in words] if self.byte_swap else list(words)
        if self.word_order == "low first":
            parts.reverse()
        raw = 0
        for word in parts:
            raw = raw << 16 | word
        top = 1 << (16 * self.words)
        return raw - top if self.signed and raw >= top // 2 else raw

    @model_validator(mode="after")
    def _counts_fit(self) -> Self:
        zero, full = self.counts
        top = 1 << (16 * self.words)
        least, greatest = (-top // 2, top // 2 - 1) if self.signed else (0, top - 1)
        if not zero < full:
            raise ValueError("counts must be [at zero, at full scale], rising")
        if not (least <= zero <= greatest and least <= full <= greatest):
            raise ValueError(f"counts must lie in {least} to {greatest}")
        return self


def _swapped(word: int) -> int:
    return (word & 0xFF) << 8 | word >> 8


class SetpointRegisters(_ScaledRegisters):
    """Where setpoints are written."""

    function: Literal[6, 16] = 16
    """6: one register a request; 16: all that lie side by side in one."""

    @model_validator(mode="after")
    def _whole_values(self) -> Self:
        if self.function == 6 and self.words == 2:
            raise ValueError("function 6 would tear values of two words: use 16")
        return self


class MeasuredRegisters(_ScaledRegisters):
    """Where a sensor's value is read; not the echo of a setpoint."""

    function: Literal[3, 4] = 3


class StateRegisters(Parameters):
    """A status word of every slot, and a control word where the slot needs one."""

    status_first: _Address
    function: Literal[3, 4] = 3
    ready_mask: _Word
    ready_value: _Word
    """The slot works where (status & ready_mask) == ready_value."""
    control_first: _Address | None = None
    activate: _Word = 0
    """Control word that makes the slot work."""
    acknowledge: _Word | None = None
    """Control word that acknowledges an error."""
    acknowledge_s: Annotated[float, Field(gt=0.0, le=10.0)] = 0.5
    """How long it stands."""
    ready_timeout_s: Annotated[float, Field(gt=0.0, le=120.0)] = 20.0
    """How long a slot may take to get ready before its error is acknowledged."""
    meaning: str = ""
    """What a person should look at where a slot is not ready."""


class WatchdogRegister(Parameters):
    """Where the device's own timeout of the connection is set."""

    first: _Address
    words: Literal[1, 2] = 1
    counts_per_s: Annotated[float, Field(gt=0.0)]


class CheckRegisters(Parameters):
    """A setting that a person must have made; looked at when the bus is opened.

    `count` registers are read from `first`; that at `index` must hold `value` under
    `mask`, else `text` is reported. `stride` above 0: once for every slot in use.
    """

    first: _Address
    count: Annotated[int, Field(ge=1, le=125)] = 1
    index: Annotated[int, Field(ge=0, le=124)] = 0
    stride: Annotated[int, Field(ge=0)] = 0
    mask: _Word = 0xFFFF
    value: _Word
    text: str


class LineParameters(Parameters):
    """How a serial line is set when the device is new."""

    baud: Annotated[int, Field(ge=300, le=4_000_000)] = 9600
    parity: Literal["N", "E", "O"] = "N"
    stop_bits: Literal[1, 2] = 1


class ModbusProfile(Parameters):
    """Register map of one kind of device."""

    title: str
    source: str
    transport: Literal["rtu", "tcp"]
    outlets: Annotated[int, Field(ge=1, le=128)]
    per_slot: Annotated[int, Field(ge=1, le=128)]
    slot_stride: Annotated[int, Field(ge=0)] = 0
    unit: Literal["mV", "kPa"]
    full_scale: Annotated[float, Field(gt=0.0)]
    """Value at the full-scale count [unit]."""
    full_scale_set: bool = False
    """The valve behind it decides what full scale is: `full_scale_kpa` may say so."""
    safe: float = 0.0
    """What vents the outlet [unit]."""
    setpoint: SetpointRegisters
    measured: MeasuredRegisters | None = None
    state: StateRegisters | None = None
    watchdog: WatchdogRegister | None = None
    line: LineParameters = LineParameters()
    checks: tuple[CheckRegisters, ...] = ()
    identity: _Address | None = None
    """A register that says the firmware's version, in hundredths."""
    note: str = ""
    """What a person should know, such as what happens when the link is lost."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        slots = -(-self.outlets // self.per_slot)
        if slots > 1 and self.slot_stride < self.per_slot * self.setpoint.words:
            raise ValueError(
                f"slot_stride {self.slot_stride} is less than the registers of a slot"
            )
        if not 0.0 <= self.safe <= self.full_scale:
            raise ValueError(f"safe {self.safe:g} lies outside 0 to full_scale")
        return self

    def slot(self, outlet: int) -> int:
        """Return the slot, from 0, of an outlet, from 1."""
        return (outlet - 1) // self.per_slot

    def address(self, registers: _ScaledRegisters, outlet: int) -> int:
        """Return the first register of an outlet, from 1."""
        place = (outlet - 1) % self.per_slot
        return (
            registers.first
            + self.slot(outlet) * self.slot_stride
            + place * registers.words
        )

    def slot_address(self, first: int, slot: int) -> int:
        """Return the register of a slot, from 0."""
        return first + slot * self.slot_stride


def load_profile(name: str) -> ModbusProfile:
    """Load a shipped profile by name, or a file of the user's own by path.

    Raises:
        ConfigError: there is none, or its file is wrong.
    """
    return load_toml(find_asset(DEVICE_FOLDER, name), ModbusProfile)
