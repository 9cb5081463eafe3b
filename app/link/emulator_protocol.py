"""What the station and the emulator tell each other: JSON packets, pure.

The station sends settings whenever they change; the emulator answers ten times a
second with the settings in force, its totals, and the records of the packets that
ended since.
"""

import json
from dataclasses import asdict, dataclass, field

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
    """

    revision: int
    preset: str = ""
    overrides: LinkOverrides = field(default_factory=LinkOverrides)
    cut: bool = False


@dataclass(frozen=True)
class EmulatorStatus:
    """What the emulator says of itself.

    Attributes:
        revision: of the settings in force; -1 = those it started with.
        preset: name of the link.
        delay_ms: settings in force [ms].
        jitter_ms: standard deviation [ms].
        loss: residual loss, 0..1.
        down_bps: rate to the robot [bit/s]; of the medium where it is shared.
        up_bps: rate to the station [bit/s].
        duplex: "full", "half" or "tdd".
        mtu_bytes: largest packet.
        overhead_bytes: added to every packet.
        cut: nothing passes.
        down_load_bps: sent to the robot in the last interval, overhead included.
        up_load_bps: likewise to the station.
        queue_ms: longest wait before serialisation in the last interval [ms].
        lateness_us: p50 and p99 of delivery after its scheduled time, since start.
        totals: packets since start by direction and fate, as "down.delivered".
        undelivered: packets that arrived where no peer was connected.
        error: why the last settings were refused; "" = they were not.
        records: packets that ended since the last status.
        records_lost: records left out because there were too many.
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


def encode_settings(settings: EmulatorSettings) -> bytes:
    """Write settings."""
    return json.dumps(asdict(settings)).encode()


def decode_settings(packet: bytes) -> EmulatorSettings:
    """Read settings.

    Raises:
        FrameError: the packet is not what `encode_settings` writes.
    """
    try:
        table = json.loads(packet)
        wish = {key: float(value) for key, value in table["overrides"].items()}
        return EmulatorSettings(
            revision=int(table["revision"]),
            preset=str(table["preset"]),
            overrides=LinkOverrides(**wish),
            cut=bool(table["cut"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FrameError(f"Emulator settings cannot be read: {error}.") from error


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
        table = json.loads(packet)
        rows = table.pop("records")
        low, high = table.pop("lateness_us")
        return EmulatorStatus(
            **table,
            lateness_us=(float(low), float(high)),
            records=tuple(
                PacketRecord(Direction(way), key, size, Fate(fate), *times)
                for way, key, size, fate, *times in rows
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FrameError(f"Emulator status cannot be read: {error}.") from error
