"""Protobuf schemas of a recording, built at run time from the records they carry.

A recording explains itself: each MCAP schema is a protobuf `FileDescriptorSet` that
Foxglove, PlotJuggler, rerun and `mcap_protobuf` read as it is. Field names are those
of the records in `app.messages`, with their units by `units.unit_of`. Times are
nanoseconds of CLOCK_MONOTONIC, or of the virtual clock.

Integers are `sfixed64` and the arrays of the 1 kHz state are `float`: so a state row
has the same length and offsets in every message and whole batches are encoded by array
copies (`StateEncoder`). Single precision keeps 0.1 µm of a metre.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from app.errors import LogError
from app.messages import (
    GOAL_WISH_SHAPES,
    LINK_WISH_SHAPES,
    TELEOP_WISH_SHAPES,
    InputMode,
    RobotState,
    Severity,
    Shapes,
    Source,
    StationMode,
    health_shapes,
    state_shapes,
)
from app.session.units import unit_of
from models.numerics import IntArray
from models.robot import RobotModel

__all__ = [
    "ENUMS",
    "SCHEMAS",
    "FieldKind",
    "Schema",
    "SchemaField",
    "StateEncoder",
    "fill_message",
    "make_message",
]

_Type = descriptor_pb2.FieldDescriptorProto
PACKAGE = "limblink"

ENUMS: dict[str, dict[str, type[IntEnum]]] = {
    "State": {"mode": StationMode, "active_source": Source},
    "OperatorInput": {"source": Source, "mode": InputMode},
    "Health": {"robot_state": RobotState},
    "Event": {"severity": Severity},
    "Setpoint": {"mode": StationMode},
    "Telemetry": {"state": RobotState},
    "Robot": {"state": RobotState},
}
"""Meaning of integer fields, by schema and field."""


class FieldKind(NamedTuple):
    """A protobuf type and whether it is repeated."""

    type: int
    repeated: bool = False


_INT = FieldKind(_Type.TYPE_SFIXED64)
_INTS = FieldKind(_Type.TYPE_SFIXED64, repeated=True)
_REAL = FieldKind(_Type.TYPE_DOUBLE)
_REALS = FieldKind(_Type.TYPE_DOUBLE, repeated=True)
_SINGLE = FieldKind(_Type.TYPE_FLOAT)
_SINGLES = FieldKind(_Type.TYPE_FLOAT, repeated=True)
_BOOL = FieldKind(_Type.TYPE_BOOL)
_TEXT = FieldKind(_Type.TYPE_STRING)
_BYTES = FieldKind(_Type.TYPE_BYTES)


class SchemaField(NamedTuple):
    """One field of a schema."""

    name: str
    number: int
    kind: FieldKind

    @property
    def is_real(self) -> bool:
        """Whether it is floating point."""
        return self.kind.type in {_Type.TYPE_FLOAT, _Type.TYPE_DOUBLE}

    @property
    def unit(self) -> str:
        """Unit of the field, "" where it has none."""
        return unit_of(self.name)


class Schema(NamedTuple):
    """One message type of a recording."""

    name: str
    fields: tuple[SchemaField, ...]
    descriptor_set: bytes
    message: type[Message]

    def metadata(self) -> dict[str, str]:
        """Units and meanings of the fields, for the metadata of an MCAP channel."""
        entries = {
            f"unit.{field.name}": field.unit for field in self.fields if field.unit
        }
        for name, kind in ENUMS.get(self.name.rpartition(".")[2], {}).items():
            entries[f"values.{name}"] = ", ".join(
                f"{member.value} {member.name}" for member in kind
            )
        return entries


def _build(name: str, kinds: Mapping[str, FieldKind]) -> Schema:
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{PACKAGE}/{name}.proto", package=PACKAGE, syntax="proto3"
    )
    message = file.message_type.add(name=name)
    fields = tuple(
        SchemaField(key, number, kind)
        for number, (key, kind) in enumerate(kinds.items(), start=1)
    )
    for field in fields:
        message.field.add(
            name=field.name,
            number=field.number,
            type=_Type.Type.Name(field.kind.type),
            label="LABEL_REPEATED" if field.kind.repeated else "LABEL_OPTIONAL",
        )
    full_name = f"{PACKAGE}.{name}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(full_name))
    whole = descriptor_pb2.FileDescriptorSet(file=[file])
    return Schema(full_name, fields, whole.SerializeToString(deterministic=True), kind)


def _kinds_of_shapes(
    shapes: Shapes, real: FieldKind, reals: FieldKind
) -> dict[str, FieldKind]:
    """Map array shapes to kinds: (1,) is a single value, all else is repeated."""
    kinds = {}
    for name, (dtype, shape) in shapes.items():
        if dtype is np.int64:
            kinds[name] = _INT if shape == (1,) else _INTS
        else:
            kinds[name] = real if shape == (1,) else reals
    return kinds


# A robot whose every count is 2, so that only true single values have the shape (1,).
_PROBE = RobotModel._make(np.zeros(2) for _ in RobotModel._fields)

_STATE_KINDS = _kinds_of_shapes(state_shapes(_PROBE), _SINGLE, _SINGLES)


def _of_state(*beginnings: str) -> dict[str, FieldKind]:
    """Fields of the state that begin so, after its time."""
    return {
        name: kind
        for name, kind in _STATE_KINDS.items()
        if name == "time_ns" or name.startswith(beginnings)
    }


SCHEMAS: dict[str, Schema] = {
    name: _build(name, kinds)
    for name, kinds in {
        "State": _STATE_KINDS,
        "OperatorInput": {
            "stamp_ns": _INT,
            "source": _INT,
            "present": _BOOL,
            "deadman": _BOOL,
            "clutch": _BOOL,
            "mode": _INT,
            "limb": _INT,
            "rate": _REALS,
            "target": _REALS,
            "arm_count": _INT,
            "disarm_count": _INT,
            "estop_count": _INT,
            "estop_reset_count": _INT,
            "velocity": _REALS,
            "grip": _REAL,
        },
        "Frame": {
            "sent_ns": _INT,
            "received_ns": _INT,
            "direction": _TEXT,
            "payload": _BYTES,
        },
        "Packet": {
            "submitted_ns": _INT,
            "started_ns": _INT,
            "scheduled_due_ns": _INT,
            "delivered_ns": _INT,
            "direction": _TEXT,
            "key": _INT,
            "size_bytes": _INT,
            "fate": _TEXT,
        },
        "Health": _kinds_of_shapes(health_shapes(_PROBE), _REAL, _REALS),
        "Event": {
            "time_ns": _INT,
            "severity": _INT,
            "source": _TEXT,
            "text": _TEXT,
            "field_names": FieldKind(_Type.TYPE_STRING, repeated=True),
            "field_values": _REALS,
        },
        "LoopStatistics": {
            "ticks": _INT,
            "overruns": _INT,
            "late_1ms": _INT,
            "worst_lateness_ns": _INT,
            "last_lateness_ns": _INT,
            "last_cost_ns": _INT,
            "scheduler": _INT,
            "lateness": _INTS,
            "period": _INTS,
            "cost": _INTS,
        },
        "TeleopWish": _kinds_of_shapes(TELEOP_WISH_SHAPES, _REAL, _REALS),
        "GoalWish": _kinds_of_shapes(GOAL_WISH_SHAPES, _REAL, _REALS),
        "LinkWish": _kinds_of_shapes(LINK_WISH_SHAPES, _REAL, _REALS),
        "LinkTurns": {
            "time_ns": _INT,
            "kinds": _INTS,
            "times_ns": _INTS,
            "states_ns": _INTS,
            "made": _INTS,
            "went": _INTS,
        },
        "Contact": _of_state("selected_limb", "force_hand", "surface_"),
        "Energy": _of_state("selected_limb", "port_", "injected_", "sent_energy"),
        "Setpoint": {
            "time_ns": _INT,
            "mode": _INT,
            "arm_epoch": _INT,
            "keys": _INTS,
            "size_bytes": _INTS,
            "coordinates_commanded": _REALS,
            "grip": _REALS,
        },
        "Telemetry": {
            "generated_ns": _INT,
            "received_ns": _INT,
            "sequence": _INT,
            "limb": _INT,
            "arm_epoch": _INT,
            "state": _INT,
            "faults": _INT,
            "echo_sequence": _INT,
            "coordinates_measured": _REALS,
            "tension_measured": _REALS,
        },
        "Robot": {
            "time_ns": _INT,
            "state": _INT,
            "coordinates_applied": _REALS,
            "coordinates_true": _REALS,
        },
        "Link": {
            "time_ns": _INT,
            "preset": _TEXT,
            "delay_ms": _REAL,
            "jitter_ms": _REAL,
            "loss": _REAL,
            "down_bps": _REAL,
            "up_bps": _REAL,
            "duplex": _TEXT,
            "mtu_bytes": _INT,
            "overhead_bytes": _INT,
            "queue_ms": _REAL,
            "cut": _BOOL,
        },
        "Clock": {
            "time_ns": _INT,
            "offset_ns": _INT,
            "uncertainty_ns": _INT,
            "drift_ppm": _REAL,
        },
        "Mark": {
            "time_ns": _INT,
            "number": _INT,
            "note": _TEXT,
            "source": _TEXT,
        },
        "Simulation": {
            "time_ns": _INT,
            "root_position": _REALS,
            "root_orientation": _REALS,
            "root_twist": _REALS,
            "coordinates": _REALS,
            "coordinate_rates": _REALS,
            "tips": _REALS,
            "energy": _REALS,
            "loads": _REALS,
            "base_wrench": _REALS,
            "objects": _REALS,
        },
    }.items()
}
"""Every message type, by the name after the package."""


def make_message(descriptor_set: bytes, full_name: str) -> type[Message]:
    """Make the class that decodes messages of a schema found in a file.

    Args:
        descriptor_set: the schema's data, a serialised `FileDescriptorSet`.
        full_name: the schema's name, package and message.

    Raises:
        LogError: the data is not a descriptor set, or lacks the name.
    """
    try:
        whole = descriptor_pb2.FileDescriptorSet.FromString(descriptor_set)
        pool = descriptor_pool.DescriptorPool()
        for file in whole.file:
            pool.Add(file)
        found = pool.FindMessageTypeByName(full_name)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise LogError(
            f"The schema {full_name!r} cannot be used ({error}): the recording was "
            "written by another program or is damaged."
        ) from error
    made: type[Message] = message_factory.GetMessageClass(found)
    return made


def fill_message(schema: Schema, arrays: object) -> Message:
    """Copy a NamedTuple of arrays into a message of its schema, field by field.

    Args:
        schema: the message's schema; its field names are those of `arrays`.
        arrays: int64 or float64 arrays of any shape; repeated fields take them
            flattened in row order.

    Returns:
        The message.
    """
    message = schema.message()
    for field in schema.fields:
        values = np.asarray(getattr(arrays, field.name)).reshape(-1)
        if field.kind.repeated:
            getattr(message, field.name).extend(values.tolist())
        else:
            setattr(message, field.name, values[0].item())
    return message


def _varint(value: int) -> bytes:
    octets = bytearray()
    while value >= 0x80:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)


class StateEncoder:
    """Encodes batches of state rows as protobuf messages of one constant length."""

    def __init__(
        self,
        description: Sequence[tuple[str, int, tuple[int, ...]]],
        name: str = "State",
    ) -> None:
        """Lay out the message of one robot.

        Args:
            description: (field, first word, shape) of every field of `StationState`,
                as a mailbox layout describes itself.
            name: of the message: the whole State, or one made of some of its fields.

        Raises:
            LogError: a field is missing, unknown, or has another number of values.
        """
        self.schema = schema = SCHEMAS[name]
        places = {name: (start, shape) for name, start, shape in description}
        wanted = {field.name for field in schema.fields}
        if name != "State":
            places = {key: place for key, place in places.items() if key in wanted}
        if set(places) != wanted:
            raise LogError(
                "State rows do not fit the recording's schema: fields that differ: "
                f"{', '.join(sorted(wanted ^ set(places)))}."
            )
        template = bytearray()
        self._words: list[tuple[int, int, int]] = []  # target byte, first word, count
        self._reals: list[tuple[int, int, int]] = []
        for field in schema.fields:
            start, shape = places[field.name]
            count = int(np.prod(shape))
            real = field.kind.type == _Type.TYPE_FLOAT
            width = 4 if real else 8
            if field.kind.repeated:
                template += _varint(field.number << 3 | 2) + _varint(width * count)
            elif count == 1:
                template += _varint(field.number << 3 | (5 if real else 1))
            else:
                raise LogError(f"State field {field.name} has {count} values, not 1.")
            spans = self._reals if real else self._words
            spans.append((len(template), start, count))
            template += bytes(width * count)
        self.time_word = places["time_ns"][0]
        self.shapes = {name: shape for name, (_, shape) in places.items()}
        self._template = np.frombuffer(bytes(template), dtype=np.uint8)

    def encode(self, rows: IntArray) -> list[bytes]:
        """Encode rows of (n, words) int64 into n messages."""
        count, size = rows.shape[0], self._template.size
        rows = np.ascontiguousarray(rows)
        octets = rows.view(np.uint8)
        table = np.empty((count, size), dtype=np.uint8)
        table[:] = self._template
        for place, start, length in self._words:
            table[:, place : place + 8 * length] = octets[
                :, 8 * start : 8 * (start + length)
            ]
        reals = rows.view(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            singles = reals.astype("<f4").view(np.uint8)
        for place, start, length in self._reals:
            table[:, place : place + 4 * length] = singles[
                :, 4 * start : 4 * (start + length)
            ]
        whole = table.tobytes()
        return [whole[i : i + size] for i in range(0, count * size, size)]

    def metadata(self) -> dict[str, str]:
        """Shapes of the repeated fields, for the metadata of the channel."""
        return {
            f"shape.{name}": " x ".join(map(str, shape))
            for name, shape in self.shapes.items()
            if shape != (1,)
        }
