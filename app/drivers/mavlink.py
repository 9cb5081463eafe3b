"""An ArduSub vehicle as the base of a robot, over MAVLink.

Channels are sticks, -1 to 1: surge (forward), sway (to starboard), heave (up), yaw (to
starboard), and pitch (bow up) and roll (starboard down) where they are wanted. On the
wire z counts 0 (full down) to 1000, 500 is neutral: nobody but `_sticks` writes it.

| action | what is sent |
|---|---|
| FOLLOW | the mode and arming first, when it begins; then the sticks |
| HOLD | neutral sticks: the last ones would go on driving; the mode may hold depth |
| RELAX | neutral sticks, armed as it is |
| SAFE | neutral sticks, then disarm until the vehicle says that it is |

Every round sends sticks, neutral or not, and a heartbeat each second: rounds must come
at 10 Hz at least. When this computer falls silent the vehicle's failsafes stop it
(FS_PILOT_INPUT, FS_GCS_ENABLE: looked at when opened). Buttons are never pressed.

A vehicle that disarms or changes its mode by itself (failsafe, leak, another ground
station) is not overruled: the channels stay neutral, latched, until `clear_faults`.
One that was silent is driven again after a neutral round if it is still armed.
Nothing is measured of the channels themselves; `vehicle` tells attitude and depth. A
channel counts as answered while a valid message came within `quiet_s`.
"""

import time
from collections.abc import Callable

import numpy as np

from app.clock import NS_PER_S
from app.drivers.base import Action, Channel, Driver, Fault, Identity, Reading
from app.drivers.mavlink_messages import (
    Command,
    ManualControl,
)
from app.drivers.mavlink_port import MavlinkPort
from app.drivers.mavlink_vehicle import (
    FAILSAFES,
    MODES,
    STATION_NAMES,
    VehicleState,
    VehicleWatch,
    failsafe_names,
    failsafe_warnings,
    mode_name,
    own_watchdog_s,
)
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
from app.errors import DeviceError
from models.numerics import FloatArray

__all__ = ["AXES", "LEAST_RATE_HZ", "MavlinkDriver"]

AXES = ("surge", "sway", "heave", "yaw", "pitch", "roll")
LEAST_RATE_HZ = 10.0
"""Rounds a second that the vehicle needs to stay controlled."""

_STATION_COMPONENT = 190  # MAV_COMP_ID_MISSIONPLANNER: a ground station
_AUTOPILOT = 1
_HEARTBEAT_NS = NS_PER_S
_ASK_AGAIN_NS = NS_PER_S // 2
_MOST_ASKED = 6
_INTERVALS_US = {MESSAGE_ATTITUDE: 50_000, MESSAGE_VFR_HUD: 200_000}
_TRIES = 2
_MOST_DATAGRAMS = 200


class MavlinkDriver(Driver):
    """One vehicle."""

    def __init__(
        self,
        *,
        port: MavlinkPort,
        channels: tuple[Channel, ...],
        mode: str = "alt_hold",
        vehicle_system: int = 1,
        station_system: int = 255,
        key: str = "",
        quiet_s: float = 1.5,
        find_s: float = 3.0,
        timeout_s: float = 0.2,
        set_failsafes: bool = False,
    ) -> None:
        """Describe the vehicle; nothing is opened.

        Args:
            port: to it.
            channels: four to six, in the order of `AXES`.
            mode: that it is driven in, of `MODES`.
            vehicle_system: its system number.
            station_system: own system number; the vehicle obeys one only.
            key: pass phrase of message signing; empty: none.
            quiet_s: silence after which it counts as not answering [s].
            find_s: longest wait for its first heartbeat [s].
            timeout_s: longest wait for one answer [s].
            set_failsafes: set the failsafe parameters where they are not right.

        Raises:
            DeviceError: a wrong number of channels, or an unknown mode.
        """
        super().__init__(channels, timeout_s=timeout_s)
        if not 4 <= len(channels) <= len(AXES):
            raise DeviceError(f"{len(channels)} channels: a vehicle has 4 to 6.")
        if mode not in MODES:
            raise DeviceError(f"Mode {mode!r}: known are {', '.join(MODES)}.")
        self._port = port
        self._mode = MODES[mode]
        self._system = vehicle_system
        self._station = station_system
        self._key = key
        self._quiet_ns = round(quiet_s * NS_PER_S)
        self._find_s = find_s
        self._set_failsafes = set_failsafes
        self._start_over()

    @property
    def longest_exchange_s(self) -> float:
        """No round takes longer [s]."""
        return 2.0 * self.timeout_s

    @property
    def vehicle(self) -> VehicleState:
        """Newest state of the vehicle."""
        return self._watch.state

    def _start_over(self) -> None:
        self._codec = MavlinkCodec(self._station, _STATION_COMPONENT, self._key)
        self._watch = VehicleWatch()
        self._last_action = Action.SAFE
        self._heartbeat_ns = 0
        self._asked_ns = 0
        self._asked = 0
        self._asked_for = 0
        self._driving = False
        self._was_ready = False
        self._was_quiet = True
        self._latched = ""

    def _open_bus(self) -> None:
        self._port.open()
        self._start_over()
        until_ns = time.monotonic_ns() + round(self._find_s * NS_PER_S)
        while self.vehicle.mode < 0:
            if time.monotonic_ns() >= until_ns:
                raise DeviceError(
                    f"MAVLink, {self._port.where}: no heartbeat of vehicle "
                    f"{self._system} within {self._find_s:g} s. Is it on, its number "
                    "and our address right, and no other ground station at this port?"
                )
            self._keep_alive()
            self._receive(min(until_ns, time.monotonic_ns() + _HEARTBEAT_NS // 10))
        for message, interval_us in _INTERVALS_US.items():
            self._command(SET_MESSAGE_INTERVAL, message, interval_us)
        for name in failsafe_names():
            if not (name in STATION_NAMES and self._knows_station()):
                self._ask_parameter(name)
        if self._set_failsafes:
            for name, value in FAILSAFES.items():
                if self._watch.parameters.get(name, 0.0) < value:
                    self._port.send(self._codec.param_set(self._system, name, value))
                    self._ask_parameter(name, again=True)
        self.watchdog_s = own_watchdog_s(self._watch.parameters)
        for _ in range(_MOST_ASKED):
            self._make_safe()
            if not self.vehicle.armed:
                return
        raise DeviceError(
            f"MAVLink, {self._port.where}: the vehicle is armed and does not disarm. "
            "Who else controls it?"
        )

    def _close_bus(self) -> None:
        self._port.close()

    def _identify(self) -> list[Identity]:
        self._receive(0)
        self._command(REQUEST_MESSAGE, MESSAGE_AUTOPILOT_VERSION, 0)
        self._wait(lambda: bool(self._watch.firmware))
        if self._silent(time.monotonic_ns()):
            return []
        return [Identity(str(self._system), "ArduSub", self._watch.firmware)]

    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        self._receive(0)
        now_ns = time.monotonic_ns()
        quiet = self._silent(now_ns)
        began = action is not self._last_action
        self._last_action = action
        self._look_for_own_will()
        if action is Action.SAFE:
            self._driving = False
        if began:
            self._asked_ns = 0
        if began and action is Action.FOLLOW and not (self._latched or self._driving):
            self._driving, self._was_ready, self._asked = True, False, 0
        ready = (
            action is Action.FOLLOW
            and self._driving
            and not (quiet or self._was_quiet)
            and self._is_ready()
        )
        sent = np.zeros(len(self.channels))
        if ready:
            self._was_ready = True
            np.copyto(sent, applied, where=np.isfinite(applied))
        self._keep_alive()
        sent = self._send_sticks(sent)
        if action is Action.FOLLOW and self._driving and not quiet:
            self._get_ready(now_ns)
        elif action is Action.SAFE and (self.vehicle.armed or quiet):
            self._disarm(now_ns, wait=began and not quiet)
        self._was_quiet = quiet
        return self._read(now_ns, sent, quiet)

    def _clear_faults(self) -> None:
        self._latched = ""
        self._driving = False
        self._last_action = Action.RELAX
        for name in failsafe_names():
            self._port.send(self._codec.param_request(self._system, name))

    def _read(self, now_ns: int, sent: FloatArray, quiet: bool) -> Reading:
        faults = [Fault(-1, text) for text in self._watch.texts()]
        faults += [
            Fault(-1, text)
            for text in failsafe_warnings(self._watch.parameters, self._station)
        ]
        if quiet:
            faults.append(
                Fault(-1, f"MAVLink, {self._port.where}: the vehicle is silent.")
            )
        if self._latched:
            faults.append(Fault(-1, self._latched, latched=True))
        elif self._driving and not quiet and not self._is_ready():
            faults.append(Fault(-1, self._why_not_ready()))
        reading = self.nothing_read(sent, *faults)
        reading.answered[:] = not quiet
        return reading._replace(time_ns=self.vehicle.heard_ns or now_ns)

    def _silent(self, now_ns: int) -> bool:
        return now_ns - self.vehicle.heard_ns > self._quiet_ns

    def _is_ready(self) -> bool:
        return self.vehicle.armed and self.vehicle.mode == self._mode

    def _why_not_ready(self) -> str:
        command = DO_SET_MODE if self.vehicle.mode != self._mode else ARM_DISARM
        ack = self._watch.acks.get(command)
        answer = f"; it answered: {ack.text}" if ack is not None else ""
        if command == DO_SET_MODE:
            return f"The vehicle is not yet in {mode_name(self._mode)}{answer}."
        return f"The vehicle is not armed yet{answer}."

    def _look_for_own_will(self) -> None:
        """Latch where the vehicle, once ready, is no longer so by itself."""
        if self._watch.restarted:
            self._watch.restarted = False
            if self._was_ready:
                self._latch("The vehicle started anew")
        if not (self._driving and self._was_ready):
            return
        if not self.vehicle.armed:
            self._latch("The vehicle disarmed by itself")
        elif self.vehicle.mode != self._mode:
            self._latch(f"The vehicle went to {mode_name(self.vehicle.mode)} by itself")

    def _latch(self, what: str) -> None:
        self._latched = f"{what}: see why, clear the faults, and drive again."
        self._driving = self._was_ready = False

    def _get_ready(self, now_ns: int) -> None:
        """Ask for the mode, then for arming, now and then and not for ever."""
        wanted = DO_SET_MODE if self.vehicle.mode != self._mode else ARM_DISARM
        early = now_ns - self._asked_ns < _ASK_AGAIN_NS
        if self._is_ready() or (early and wanted == self._asked_for):
            return
        if self._asked >= _MOST_ASKED:
            self._latch(self._why_not_ready().removesuffix("."))
            return
        self._asked += 1
        self._asked_ns, self._asked_for = now_ns, wanted
        if wanted == DO_SET_MODE:
            self._command(DO_SET_MODE, 1, self._mode)
        else:
            self._command(ARM_DISARM, 1, 0)

    def _make_safe(self) -> None:
        """Neutral sticks, and disarm where it is armed."""
        self._keep_alive()
        self._send_sticks(np.zeros(len(self.channels)))
        if self.vehicle.armed:
            self._asked_ns = 0
            self._disarm(time.monotonic_ns(), wait=True)

    def _disarm(self, now_ns: int, *, wait: bool) -> None:
        if now_ns - self._asked_ns < self.timeout_s * NS_PER_S:
            return
        self._asked_ns = now_ns
        self._command(ARM_DISARM, 0, 0)
        if wait:
            self._wait(lambda: not self.vehicle.armed)

    def _send_sticks(self, wanted: FloatArray) -> FloatArray:
        """Send sticks (n,) of -1 to 1; return what they were rounded to."""
        counts = [round(1000.0 * float(value)) for value in np.clip(wanted, -1.0, 1.0)]
        heave = round(500.0 * float(np.clip(wanted[2], -1.0, 1.0)))
        pitch, roll = (*counts[4:], 0, 0)[:2]
        self._port.send(
            self._codec.manual_control(
                ManualControl(
                    self._system,
                    counts[0],
                    counts[1],
                    500 + heave,
                    counts[3],
                    pitch,
                    roll,
                    0,
                )
            )
        )
        sent = np.array(counts) / 1000.0
        sent[2] = heave / 500.0
        return sent

    def _keep_alive(self) -> None:
        now_ns = time.monotonic_ns()
        if now_ns - self._heartbeat_ns >= _HEARTBEAT_NS:
            self._heartbeat_ns = now_ns
            self._port.send(self._codec.station_heartbeat())

    def _command(self, command: int, first: float, second: float) -> None:
        self._watch.acks.pop(command, None)
        self._watch.asked[command] = first if command == ARM_DISARM else second
        self._port.send(
            self._codec.command(Command(self._system, command, first, second))
        )

    def _knows_station(self) -> bool:
        """The vehicle has told which ground station it obeys."""
        return any(name in self._watch.parameters for name in STATION_NAMES)

    def _ask_parameter(self, name: str, *, again: bool = False) -> None:
        if again:
            self._watch.parameters.pop(name, None)
        for _ in range(_TRIES):
            self._keep_alive()
            self._port.send(self._codec.param_request(self._system, name))
            if self._wait(lambda: name in self._watch.parameters):
                return

    def _wait(self, done: Callable[[], bool]) -> bool:
        """Receive until done, `timeout_s` at most; return whether it is."""
        until_ns = time.monotonic_ns() + round(self.timeout_s * NS_PER_S)
        while not done():
            if time.monotonic_ns() >= until_ns:
                return False
            self._receive(until_ns)
        return True

    def _receive(self, deadline_ns: int) -> None:
        """Take up what has come, waiting for the first of it until a time."""
        for _ in range(_MOST_DATAGRAMS):
            data = self._port.receive(deadline_ns)
            if not data:
                return
            deadline_ns = 0
            now_ns = time.monotonic_ns()
            for received in self._codec.decode(data):
                ours = (received.system, received.component)
                if ours == (self._system, _AUTOPILOT):
                    self._watch.take(now_ns, received.message)
