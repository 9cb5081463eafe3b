"""What the station and the emulator tell each other: JSON packets, pure.

The station sends settings whenever they change; the emulator answers ten times a
second with the settings in force, its totals, and the records of the packets that
ended since.

Live settings are whole: what a packet leaves out is as the preset says. Whoever knows
where the robot is puts the distance into `overrides.distance_m` of every packet it
sends; a few a second are enough, as a metre is 0.7 ms.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from app.errors import FrameError
from app.link.channel import Direction, Fate, LinkOverrides, PacketRecord

__all__ = [
    "EmulatorSettings",
    "EmulatorStatus",
    "decode_settings",
    "decode_status",
    "encode_settings",
    "encode_status",
]


@dataclass(frozen=True)
class EmulatorSettings:
    """What the station wants of the emulator.

    Attributes:
        revision: grows with every change; comes back in the status.
        preset: name of a shipped link, or the path of a TOML file; "" = as it is.
        overrides: live changes to it.
        cut: nothing passes.
        outage_s: nothing passes for so long [s], from the first packet of this
            revision on, 0 = no outage; it ends early by a later revision with 0.
    """

    revision: int
    preset: str = ""
    overrides: LinkOverrides = field(default_factory=LinkOverrides)
    cut: bool = False
    outage_s: float = 0.0


@dataclass(frozen=True)
class EmulatorStatus:
    """What the emulator says of itself.

    Attributes:
        revision: of the settings in force; -1 = those it started with.
        preset: name of the link.
        delay_ms: mean one-way delay in force [ms]; a trace's, where it has one.
        jitter_ms: standard deviation [ms].
        loss: residual loss, 0..1.
        down_bps: rate to the robot [bit/s]; of the medium where it is shared.
        up_bps: rate to the station [bit/s].
        duplex: "full", "half" or "tdd".
        mtu_bytes: largest packet.
        overhead_bytes: added to every packet.
        cut: nothing passes: the link is cut, or in an outage.
        down_load_bps: sent to the robot in the last interval, overhead included.
        up_load_bps: likewise to the station.
        queue_ms: longest wait before serialisation in the last interval [ms].
        lateness_us: p50 and p99 of delivery after its scheduled time, since start.
        totals: packets since start by direction and fate, as "down.delivered".
        undelivered: packets that arrived where no peer was connected.
        error: why the last settings were refused; "" = they were not.
        records: packets that ended since the last status.
        records_lost: records left out because there were too many.
        turnaround_ms: between packets of opposite ways on a half-duplex link [ms].
        start_ns: when the channel began [ns]: with the seed and the times of
            submission, the same channel in virtual time gives the same records.
    """

    revision: int
    preset: str
    delay_ms: float
    jitter_ms: float
    loss: float
    down_bps: float
    up_bps: float
    duplex: str
    mtu_bytes: int
    overhead_bytes: int
    cut: bool
    down_load_bps: float = 0.0
    up_load_bps: float = 0.0
    queue_ms: float = 0.0
    lateness_us: tuple[float, float] = (0.0, 0.0)
    totals: dict[str, int] = field(default_factory=dict)
    undelivered: int = 0
    error: str = ""
    records: tuple[PacketRecord, ...] = ()
    records_lost: int = 0
    turnaround_ms: float = 0.0
    start_ns: int = 0


_PACKET_MAX = 1 << 20
_PRESET_MAX_BYTES = 255
_OVERRIDE_MAX: Final = {
    "delay_ms": 600_000.0,
    "jitter_ms": 600_000.0,
    "loss": 1.0,
    "bandwidth_bps": 1e11,
    "distance_m": 100_000.0,
}
_OUTAGE_MAX_S = 1e6
_INTEGER_MAX = (1 << 63) - 1
_TEXT = {"preset", "duplex", "error"}
_WHOLE = {
    "revision",
    "mtu_bytes",
    "overhead_bytes",
    "undelivered",
    "records_lost",
    "start_ns",
}


def encode_settings(settings: EmulatorSettings) -> bytes:
    """Write settings."""
    return json.dumps(asdict(settings)).encode()


def decode_settings(packet: bytes) -> EmulatorSettings:
    """Read settings.

    Raises:
        FrameError: the packet is not what `encode_settings` writes, or asks for what
            no link can be.
    """
    try:
        table = _load(packet)
        overrides = table["overrides"]
        if not isinstance(overrides, dict):
            raise TypeError("overrides is no table")
        wish = {
            str(key): _number(value, str(key), -1e12, _OVERRIDE_MAX[key])
            for key, value in overrides.items()
        }
        return EmulatorSettings(
            revision=_whole(table["revision"], "revision"),
            preset=_preset(table["preset"]),
            overrides=LinkOverrides(**wish),
            cut=_flag(table["cut"], "cut"),
            outage_s=_number(
                table.get("outage_s", 0.0), "outage_s", 0.0, _OUTAGE_MAX_S
            ),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FrameError(f"Emulator settings cannot be read: {error}.") from error


def _load(packet: bytes) -> dict[str, Any]:
    if len(packet) > _PACKET_MAX:
        raise ValueError(f"{len(packet)} bytes are more than {_PACKET_MAX}")
    table = json.loads(packet)
    if not isinstance(table, dict):
        raise TypeError("no table")
    return table


def _number(value: object, name: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is no number")
    if not low <= value <= high:  # not a number never is
        raise ValueError(f"{name} = {str(value)[:20]} is not from {low:g} to {high:g}")
    return float(value)


def _whole(value: object, name: str) -> int:
    if type(value) is not int or not -1 <= value <= _INTEGER_MAX:
        raise TypeError(f"{name} is no whole number from -1 to 2**63 - 1")
    return value


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is neither true nor false")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    return value


def _preset(value: object) -> str:
    """Take what can be a name or a path; a path of somebody's home is none."""
    preset = _text(value, "preset")
    if not preset.isprintable() or preset.startswith("~"):
        raise ValueError(f"preset {preset!r} is neither a name nor a path")
    if len(preset.encode()) > _PRESET_MAX_BYTES:
        raise ValueError(f"preset has more than {_PRESET_MAX_BYTES} bytes")
    return preset


def encode_status(status: EmulatorStatus) -> bytes:
    """Write a status."""
    table = {
        name: getattr(status, name)
        for name in EmulatorStatus.__dataclass_fields__
        if name != "records"
    }
    table["records"] = [
        (
            int(record.direction),
            record.key,
            record.size_bytes,
            record.fate.value,
            record.submitted_ns,
            record.started_ns,
            record.scheduled_due_ns,
            record.delivered_ns,
        )
        for record in status.records
    ]
    return json.dumps(table).encode()


def decode_status(packet: bytes) -> EmulatorStatus:
    """Read a status.

    Raises:
        FrameError: the packet is not what `encode_status` writes.
    """
    try:
        table = _load(packet)
        rows, totals = table.pop("records"), table.pop("totals")
        low, high = table.pop("lateness_us")
        if not isinstance(totals, dict) or not isinstance(rows, list):
            raise TypeError("records or totals are missing")
        return EmulatorStatus(
            **{str(name): _field(str(name), value) for name, value in table.items()},
            lateness_us=(_field("", low), _field("", high)),
            totals={str(name): _whole(count, name) for name, count in totals.items()},
            records=tuple(_record(*row) for row in rows),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FrameError(f"Emulator status cannot be read: {error}.") from error


def _field(name: str, value: object) -> Any:
    if name in _TEXT:
        return _text(value, name)
    if name in _WHOLE:
        return _whole(value, name)
    if name == "cut":
        return _flag(value, name)
    return _number(value, name, -1e18, 1e18)


def _record(
    way: object, key: object, size: object, fate: object, *times: object
) -> PacketRecord:
    submitted, started, due, delivered = (_whole(time, "time") for time in times)
    return PacketRecord(
        Direction(_whole(way, "direction")),
        _whole(key, "key"),
        _whole(size, "size"),
        Fate(fate),
        submitted,
        started,
        due,
        delivered,
    )
