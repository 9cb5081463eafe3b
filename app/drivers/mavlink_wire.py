"""MAVLink 2 messages to bytes and back; the one module that touches pymavlink.

Sans-I/O. Only the messages that a vehicle base needs are known; any bytes are taken,
and what is no valid message is passed over. With a key, messages are signed and those
that are not signed with it are refused (MAVLink 2 message signing); the signature's
time starts at the wall clock once, and counts on from there.
"""

import hashlib
import math
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pymavlink.dialects.v20 import (  # type: ignore[import-untyped, unused-ignore]
    ardupilotmega as dialect,
)

from app.drivers.mavlink_messages import (
    Attitude,
    Command,
    CommandAck,
    Heartbeat,
    Hud,
    ManualControl,
    Message,
    ParamRequest,
    ParamSet,
    ParamValue,
    Received,
    SetMode,
    StatusText,
    Version,
)

__all__ = [
    "ARM_DISARM",
    "DO_SET_MODE",
    "MESSAGE_ATTITUDE",
    "MESSAGE_AUTOPILOT_VERSION",
    "MESSAGE_VFR_HUD",
    "REQUEST_MESSAGE",
    "SET_MESSAGE_INTERVAL",
    "MavlinkCodec",
]

ARM_DISARM = int(dialect.MAV_CMD_COMPONENT_ARM_DISARM)
DO_SET_MODE = int(dialect.MAV_CMD_DO_SET_MODE)
SET_MESSAGE_INTERVAL = int(dialect.MAV_CMD_SET_MESSAGE_INTERVAL)
REQUEST_MESSAGE = int(dialect.MAV_CMD_REQUEST_MESSAGE)
MESSAGE_ATTITUDE = int(dialect.MAVLINK_MSG_ID_ATTITUDE)
MESSAGE_VFR_HUD = int(dialect.MAVLINK_MSG_ID_VFR_HUD)
MESSAGE_AUTOPILOT_VERSION = int(dialect.MAVLINK_MSG_ID_AUTOPILOT_VERSION)

_ARMED = int(dialect.MAV_MODE_FLAG_SAFETY_ARMED)
_CUSTOM_MODE = int(dialect.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED)
_ARDUPILOT = int(dialect.MAV_AUTOPILOT_ARDUPILOTMEGA)
_SUBMARINE = int(dialect.MAV_TYPE_SUBMARINE)
_REAL32 = int(dialect.MAV_PARAM_TYPE_REAL32)
_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)  # of signatures, in units of 10 µs
_UNREADABLE = (
    dialect.MAVError,
    struct.error,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
)


def _finite(value: Any) -> float:
    number = float(value)
    return number if math.isfinite(number) else math.nan


def _version(message: Any) -> Version:
    raw = int(message.flight_sw_version)
    return Version(f"{raw >> 24 & 0xFF}.{raw >> 16 & 0xFF}.{raw >> 8 & 0xFF}")


_READERS: dict[str, Callable[[Any], Message]] = {
    "HEARTBEAT": lambda m: Heartbeat(
        m.autopilot == _ARDUPILOT,
        m.type == _SUBMARINE,
        bool(m.base_mode & _ARMED),
        int(m.custom_mode),
        m.system_status >= dialect.MAV_STATE_CRITICAL,
    ),
    "MANUAL_CONTROL": lambda m: ManualControl(
        m.target,
        m.x,
        m.y,
        m.z,
        m.r,
        m.s if m.enabled_extensions & 1 else 0,
        m.t if m.enabled_extensions & 2 else 0,
        m.buttons,
    ),
    "COMMAND_LONG": lambda m: Command(
        m.target_system, m.command, _finite(m.param1), _finite(m.param2)
    ),
    "COMMAND_ACK": lambda m: CommandAck(m.command, m.result),
    "STATUSTEXT": lambda m: StatusText(m.severity, _plain(m.text), m.id, m.chunk_seq),
    "PARAM_REQUEST_READ": lambda m: ParamRequest(m.target_system, _plain(m.param_id)),
    "PARAM_REQUEST_LIST": lambda m: ParamRequest(m.target_system, ""),
    "PARAM_SET": lambda m: ParamSet(
        m.target_system, _plain(m.param_id), _finite(m.param_value)
    ),
    "PARAM_VALUE": lambda m: ParamValue(_plain(m.param_id), _finite(m.param_value)),
    "SET_MODE": lambda m: SetMode(m.target_system, int(m.custom_mode)),
    "ATTITUDE": lambda m: Attitude(
        m.time_boot_ms, _finite(m.roll), _finite(m.pitch), _finite(m.yaw)
    ),
    "VFR_HUD": lambda m: Hud(_finite(m.alt), _finite(m.climb)),
    "AUTOPILOT_VERSION": _version,
}


def _plain(text: Any) -> str:
    """Keep what can be shown."""
    return "".join(c for c in str(text) if c.isprintable() and c != "\ufffd")


class MavlinkCodec:
    """One end of a MAVLink connection."""

    def __init__(self, system: int, component: int, key: str = "") -> None:
        """Start a connection; sequence numbers begin at 0.

        Args:
            system: own system number.
            component: own component number.
            key: pass phrase of message signing; empty: none.
        """
        self._link: Any = dialect.MAVLink(None, system, component)
        self._link.robust_parsing = True
        if key:
            signing = self._link.signing
            signing.secret_key = hashlib.sha256(key.encode()).digest()
            signing.sign_outgoing = True
            since = datetime.now(UTC) - _EPOCH
            signing.timestamp = int(since.total_seconds() * 1e5)

    def decode(self, received: bytes) -> list[Received]:
        """Take bytes as they come, in any pieces; return the messages in them."""
        try:
            found = self._link.parse_buffer(received) or []
        except _UNREADABLE:
            self._link.buf = bytearray()
            self._link.buf_index = 0
            return []
        messages = []
        for message in found:
            reader = _READERS.get(message.get_type())
            if reader is None:
                continue
            try:
                read = reader(message)
            except _UNREADABLE:
                continue
            messages.append(
                Received(message.get_srcSystem(), message.get_srcComponent(), read)
            )
        return messages

    def station_heartbeat(self) -> bytes:
        """Say that a ground station lives."""
        return self._packed(
            self._link.heartbeat_encode(
                dialect.MAV_TYPE_GCS,
                dialect.MAV_AUTOPILOT_INVALID,
                0,
                0,
                dialect.MAV_STATE_ACTIVE,
            )
        )

    def vehicle_heartbeat(self, *, armed: bool, mode: int, failsafe: bool) -> bytes:
        """Say that a submarine lives."""
        state = dialect.MAV_STATE_ACTIVE if armed else dialect.MAV_STATE_STANDBY
        return self._packed(
            self._link.heartbeat_encode(
                _SUBMARINE,
                _ARDUPILOT,
                _CUSTOM_MODE | (_ARMED if armed else 0),
                mode,
                dialect.MAV_STATE_CRITICAL if failsafe else state,
            )
        )

    def manual_control(self, sticks: ManualControl) -> bytes:
        """Send the sticks; pitch and roll are sent where one is not 0."""
        extensions = 3 if sticks.pitch or sticks.roll else 0
        return self._packed(
            self._link.manual_control_encode(
                sticks.target,
                sticks.x,
                sticks.y,
                sticks.z,
                sticks.r,
                sticks.buttons,
                0,
                extensions,
                sticks.pitch,
                sticks.roll,
            )
        )

    def command(self, command: Command) -> bytes:
        """Send a command to the target's autopilot."""
        return self._packed(
            self._link.command_long_encode(
                command.target,
                dialect.MAV_COMP_ID_AUTOPILOT1,
                command.command,
                0,
                command.first,
                command.second,
                0,
                0,
                0,
                0,
                0,
            )
        )

    def command_ack(self, ack: CommandAck) -> bytes:
        """Say what became of a command."""
        return self._packed(self._link.command_ack_encode(ack.command, ack.result))

    def status_text(self, severity: int, text: str) -> bytes:
        """Send a line of at most 50 characters."""
        return self._packed(
            self._link.statustext_encode(severity, text.encode("ascii", "replace")[:50])
        )

    def param_request(self, target: int, name: str) -> bytes:
        """Ask for a parameter by name."""
        return self._packed(
            self._link.param_request_read_encode(
                target, dialect.MAV_COMP_ID_AUTOPILOT1, name.encode(), -1
            )
        )

    def param_set(self, target: int, name: str, value: float) -> bytes:
        """Set a parameter."""
        return self._packed(
            self._link.param_set_encode(
                target, dialect.MAV_COMP_ID_AUTOPILOT1, name.encode(), value, _REAL32
            )
        )

    def param_value(self, name: str, value: float, index: int, count: int) -> bytes:
        """Tell a parameter."""
        return self._packed(
            self._link.param_value_encode(name.encode(), value, _REAL32, count, index)
        )

    def attitude(self, attitude: Attitude) -> bytes:
        """Tell the attitude."""
        return self._packed(
            self._link.attitude_encode(
                attitude.boot_ms & 0xFFFFFFFF,
                attitude.roll,
                attitude.pitch,
                attitude.yaw,
                0.0,
                0.0,
                0.0,
            )
        )

    def hud(self, hud: Hud, heading_deg: int) -> bytes:
        """Tell altitude and climb."""
        return self._packed(
            self._link.vfr_hud_encode(0.0, 0.0, heading_deg, 0, hud.altitude, hud.climb)
        )

    def version(self, major: int, minor: int, patch: int) -> bytes:
        """Tell the firmware's version."""
        number = major << 24 | minor << 16 | patch << 8 | 255
        none = [0] * 8
        return self._packed(
            self._link.autopilot_version_encode(
                0, number, 0, 0, 0, none, none, none, 0, 0, 0
            )
        )

    def _packed(self, message: Any) -> bytes:
        packed = bytes(message.pack(self._link))
        self._link.seq = (self._link.seq + 1) % 256
        return packed
