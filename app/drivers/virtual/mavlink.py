"""A mock of an ArduSub vehicle. It is not ArduPilot's own simulator (SITL).

It speaks the real messages: HEARTBEAT, MANUAL_CONTROL, commands with COMMAND_ACK (arm,
mode, message interval, version), parameters by name, STATUSTEXT, ATTITUDE, VFR_HUD. It
arms, changes modes and has the two failsafes of ArduSub/failsafe.cpp: no MANUAL_CONTROL
for FS_PILOT_TIMEOUT neutralises and disarms, no heartbeat of its ground station for
FS_GCS_TIMEOUT disarms, holds depth or surfaces.

Each axis follows its stick with a first-order lag; depth, yaw, pitch and roll are its
integrals. Not imitated: thrusters, gains (JS_GAIN), buttons, coupling of axes, inertia,
position, batteries, logs, missions, pre-arm checks but the one that is set to fail, and
all other parameters.
"""

import math

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers.mavlink import AXES
from app.drivers.mavlink_messages import (
    Attitude,
    Command,
    CommandAck,
    Heartbeat,
    Hud,
    ManualControl,
    ParamRequest,
    ParamSet,
    Received,
    SetMode,
)
from app.drivers.mavlink_parameters import MavlinkParameters
from app.drivers.mavlink_vehicle import MODES
from app.drivers.mavlink_wire import (
    ARM_DISARM,
    DO_SET_MODE,
    MESSAGE_ATTITUDE,
    MESSAGE_AUTOPILOT_VERSION,
    MESSAGE_VFR_HUD,
    REQUEST_MESSAGE,
    SET_MESSAGE_INTERVAL,
    MavlinkCodec,
)
from app.drivers.virtual.base import Drive, VirtualActuators, VirtualDevice
from app.drivers.virtual.carrier import PtyCarrier, UdpCarrier

__all__ = ["VirtualSub", "virtual_mavlink"]

_ACCEPTED, _UNSUPPORTED, _FAILED = 0, 3, 4
_CRITICAL, _WARNING, _INFO = 2, 4, 6
_NEEDS_POSITION = {MODES[name] for name in ("auto", "guided", "circle", "poshold")}
_HOLDS_DEPTH = {MODES["alt_hold"], MODES["surface"]} | _NEEDS_POSITION
_SPEED = np.array([1.0, 0.8, 0.5, 0.8, 0.5, 0.5])
"""At full stick: m/s for the first three, rad/s for the rest."""
_BUOYANCY_M_S = 0.02
_LAG_S = 0.4
_DEFAULTS = {
    "FS_PILOT_INPUT": 2.0,
    "FS_PILOT_TIMEOUT": 3.0,
    "FS_GCS_ENABLE": 2.0,
    "FS_GCS_TIMEOUT": 5.0,
    "SYSID_MYGCS": 255.0,
}
_HEARTBEAT_NS = NS_PER_S
_STREAM_NS = 250 * NS_PER_MS
_SAY_AGAIN_NS = 30 * NS_PER_S


class VirtualSub(VirtualDevice):
    """One vehicle, afloat at the surface, disarmed."""

    def __init__(self, axes: int = 6, *, system: int = 1, key: str = "") -> None:
        """Switch the vehicle on.

        Args:
            axes: 4 to 6 of `AXES`.
            system: its system number.
            key: pass phrase of message signing; empty: none.
        """
        self.actuators = VirtualActuators(
            np.zeros(axes), time_constant_s=_LAG_S, off_value=np.zeros(axes)
        )
        self.silent = False
        """Set to imitate a vehicle that is cut off: it neither hears nor speaks."""
        self.refuse_arming = ""
        """Set to imitate a pre-arm check that fails, with this text."""
        self._system = system
        self._key = key
        self.restart()

    def restart(self) -> None:
        """Imitate a loss of power."""
        self.armed = False
        self.mode = MODES["manual"]
        self.parameters = dict(_DEFAULTS)
        self.depth = 0.0
        self.attitude = np.zeros(3)
        """Roll, pitch, yaw [rad]."""
        self._codec = MavlinkCodec(self._system, 1, self._key)
        self._intervals_ns = {
            MESSAGE_ATTITUDE: _STREAM_NS,
            MESSAGE_VFR_HUD: _STREAM_NS,
        }
        self._said_ns: dict[int, int] = {}
        self._started_ns: int | None = None
        self._now_ns = 0
        self._pilot_ns: int | None = None
        self._station_ns: int | None = None
        self._pilot_lost = False
        self._station_lost = False
        self._warned_ns = -_SAY_AGAIN_NS
        self.actuators.release()

    def disarm(self, text: str = "Disarming motors") -> bytes:
        """Disarm, as a failsafe or another station does; returns what is said."""
        was, self.armed = self.armed, False
        self._neutral()
        if not was:
            return b""
        return self._codec.status_text(_INFO, text) + self._heartbeat()

    def feed(self, now_ns: int, received: bytes) -> bytes:
        """Take bytes as they come, in any pieces; return what is answered now."""
        if self.silent:
            return b""
        self._pass(now_ns)
        said = b""
        for message in self._codec.decode(received):
            said += self._hear(now_ns, message)
        return said

    def advance(self, now_ns: int) -> bytes:
        """Let time pass: motion, failsafes and what is told unasked."""
        self._pass(now_ns)
        said = self._failsafes(now_ns)
        for number, interval_ns, speak in (
            (0, _HEARTBEAT_NS, self._heartbeat),
            (MESSAGE_ATTITUDE, self._intervals_ns[MESSAGE_ATTITUDE], self._attitude),
            (MESSAGE_VFR_HUD, self._intervals_ns[MESSAGE_VFR_HUD], self._hud),
        ):
            if now_ns - self._said_ns.get(number, -NS_PER_S) >= interval_ns:
                self._said_ns[number] = now_ns
                said += speak()
        return b"" if self.silent else said

    def _pass(self, now_ns: int) -> None:
        if self._started_ns is None:
            self._started_ns = self._now_ns = now_ns
        passed_s = max(0, now_ns - self._now_ns) / NS_PER_S
        self._now_ns = max(now_ns, self._now_ns)
        self.actuators.advance(now_ns)
        share = np.zeros(6)
        share[: self.actuators.measured.size] = self.actuators.measured
        speed = share * _SPEED
        up = speed[2]
        if self.mode == MODES["surface"] and self.armed:
            up = _SPEED[2]
        elif not (self.armed and self.mode in _HOLDS_DEPTH):
            up += _BUOYANCY_M_S
        self.depth = max(0.0, self.depth - float(up) * passed_s)
        turned = self.attitude + speed[[5, 4, 3]] * passed_s
        self.attitude = (turned + math.pi) % (2.0 * math.pi) - math.pi

    def _hear(self, now_ns: int, received: Received) -> bytes:
        message = received.message
        ours = received.system == self.parameters["SYSID_MYGCS"]
        if isinstance(message, Heartbeat):
            if ours:
                self._station_heard(now_ns)
            return b""
        target = getattr(message, "target", self._system)
        if target not in {0, self._system}:
            return b""
        if isinstance(message, ManualControl):
            if ours:
                self._pilot_ns, self._pilot_lost = now_ns, False
                self._station_heard(now_ns)
                self._stick(message)
            return b""
        if isinstance(message, Command):
            result, said = self._command(message)
            return said + self._codec.command_ack(CommandAck(message.command, result))
        if isinstance(message, SetMode):
            return self._set_mode(message.mode)[1]
        if isinstance(message, ParamRequest):
            return self._tell(message.name)
        if isinstance(message, ParamSet):
            if message.name in self.parameters and math.isfinite(message.value):
                self.parameters[message.name] = message.value
            return self._tell(message.name)
        return b""

    def _station_heard(self, now_ns: int) -> None:
        self._station_ns, self._station_lost = now_ns, False

    def _stick(self, sticks: ManualControl) -> None:
        values = np.array(
            [
                sticks.x / 1000.0,
                sticks.y / 1000.0,
                (sticks.z - 500) / 500.0,
                sticks.r / 1000.0,
                sticks.pitch / 1000.0,
                sticks.roll / 1000.0,
            ]
        )
        drive = Drive.DRIVEN if self.armed else Drive.OFF
        for index in range(self.actuators.goal.size):
            value = float(np.clip(values[index], -1.0, 1.0))
            self.actuators.command(index, value if self.armed else 0.0, drive)

    def _neutral(self) -> None:
        drive = Drive.DRIVEN if self.armed else Drive.OFF
        for index in range(self.actuators.goal.size):
            self.actuators.command(index, 0.0, drive)

    def _command(self, command: Command) -> tuple[int, bytes]:
        if command.command == ARM_DISARM:
            return self._arm(command.first == 1.0)
        if command.command == DO_SET_MODE and math.isfinite(command.second):
            return self._set_mode(int(command.second))
        if command.command == SET_MESSAGE_INTERVAL:
            known = command.first in self._intervals_ns
            if not (known and math.isfinite(command.second)):
                return _FAILED, b""
            interval_ns = round(max(command.second, 1000.0) * 1000.0)
            self._intervals_ns[int(command.first)] = interval_ns
            return _ACCEPTED, b""
        if command.command == REQUEST_MESSAGE:
            if command.first != MESSAGE_AUTOPILOT_VERSION:
                return _FAILED, b""
            return _ACCEPTED, self._codec.version(4, 5, 1)
        return _UNSUPPORTED, b""

    def _arm(self, wanted: bool) -> tuple[int, bytes]:
        if not wanted:
            return _ACCEPTED, self.disarm()
        if self.armed:
            return _ACCEPTED, b""
        if self.refuse_arming:
            text = f"PreArm: {self.refuse_arming}"
            return _FAILED, self._codec.status_text(_CRITICAL, text)
        self.armed = True
        self._neutral()
        return _ACCEPTED, self._codec.status_text(_INFO, "Arming motors")

    def _set_mode(self, mode: int) -> tuple[int, bytes]:
        if mode not in MODES.values() or mode in _NEEDS_POSITION:
            text = f"Mode change to {mode} failed: requires position"
            return _FAILED, self._codec.status_text(_WARNING, text)
        self.mode = mode
        return _ACCEPTED, b""

    def _failsafes(self, now_ns: int) -> bytes:
        said = b""
        told = self.parameters
        watched = told["FS_PILOT_INPUT"] > 0.0 and not self._pilot_lost
        if watched and self._overdue(now_ns, self._pilot_ns, told["FS_PILOT_TIMEOUT"]):
            self._pilot_lost = True
            said += self._codec.status_text(_CRITICAL, "Lost manual control")
            self._neutral()
            if told["FS_PILOT_INPUT"] == 2.0:
                said += self.disarm()
        action = told["FS_GCS_ENABLE"]
        if action > 0.0 and self._overdue(
            now_ns, self._station_ns, told["FS_GCS_TIMEOUT"]
        ):
            if now_ns - self._warned_ns >= _SAY_AGAIN_NS:
                self._warned_ns = now_ns
                text = f"MYGCS: {told['SYSID_MYGCS']:.0f}, heartbeat lost"
                said += self._codec.status_text(_WARNING, text)
            if self.armed and not self._station_lost:
                self._station_lost = True
                if action == 2.0:
                    said += self.disarm()
                elif action == 3.0:
                    self.mode = MODES["alt_hold"]
                elif action == 4.0:
                    self.mode = MODES["surface"]
        return said

    @staticmethod
    def _overdue(now_ns: int, heard_ns: int | None, timeout_s: float) -> bool:
        return heard_ns is not None and now_ns - heard_ns > timeout_s * NS_PER_S

    def _tell(self, name: str) -> bytes:
        names = list(self.parameters)
        wanted = [name] if name else names
        return b"".join(
            self._codec.param_value(n, self.parameters[n], names.index(n), len(names))
            for n in wanted
            if n in self.parameters
        )

    def _heartbeat(self) -> bytes:
        return self._codec.vehicle_heartbeat(
            armed=self.armed,
            mode=self.mode,
            failsafe=self._pilot_lost or self._station_lost,
        )

    def _attitude(self) -> bytes:
        boot_ms = (self._now_ns - (self._started_ns or 0)) // NS_PER_MS
        roll, pitch, yaw = (float(angle) for angle in self.attitude)
        return self._codec.attitude(Attitude(boot_ms, roll, pitch, yaw))

    def _hud(self) -> bytes:
        climb = float(self.actuators.measured[2] * _SPEED[2])
        heading_deg = round(math.degrees(float(self.attitude[2]))) % 360
        return self._codec.hud(Hud(-self.depth, climb), heading_deg)


def virtual_mavlink(
    parameters: MavlinkParameters,
) -> tuple[UdpCarrier | PtyCarrier, MavlinkParameters]:
    """Serve a mock vehicle.

    Args:
        parameters: of the base; where it would wait for the vehicle to speak first, it
            speaks to the mock first instead.

    Returns:
        The running carrier, whose `device` is the `VirtualSub`, and the parameters that
        point at it.

    Raises:
        DeviceError: no port can be had.
    """
    axes = min(len(parameters.greatest_stick), len(AXES))
    sub = VirtualSub(axes, system=parameters.vehicle_system, key=parameters.signing_key)
    sub.parameters["SYSID_MYGCS"] = float(parameters.station_system)
    if parameters.serial is not None:
        line = PtyCarrier(sub)
        return line, parameters.model_copy(update={"serial": line.path})
    served = UdpCarrier(sub)
    return served, parameters.model_copy(
        update={"host": served.host, "udp_port": served.port, "listen_port": None}
    )
