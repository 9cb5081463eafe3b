"""A virtual bus of Dynamixel X servos that speak Protocol 2.0.

Imitated, after the ROBOTIS e-manual (Protocol 2.0; XM430-W350; XL330-M288):

    instructions  ping, broadcast ping, read, write, reg write, action, sync read, sync
                  write, bulk read, bulk write, reboot; factory reset is refused
    EEPROM        locked while the torque is on (access error)
    limits        range of each item, current limit, position limits of mode 3
    modes         0, 1, 3, 4, 5, 16; a change sets the goals back
    watchdog      stops the servo where it is, reads -1, locks the goals (range error)
                  until 0 is written
    shutdown      hardware error bits turn the torque off and raise the alert bit of
                  every status until a reboot; the servo overheats by itself
    restart       the RAM is lost, and all turns but the last

Not imitated: see app.drivers.virtual.servo_line; velocity, PWM and current modes hold
no position and do not move; the return delay; drive mode (sign, profiles). Assumed, for
the e-manual is silent: while a shutdown is latched, torque on is refused with "result
fail".
"""

from app.clock import NS_PER_MS
from app.drivers.servo_table import Item, ServoModel
from app.drivers.virtual.base import Drive, VirtualActuators
from app.drivers.virtual.servo_line import PING, READ, Servo, VirtualServoLine
from app.drivers.virtual.servo_packets import Packet

__all__ = ["VirtualDynamixelBus"]

_RESULT_FAIL, _RANGE, _LIMIT = 0x01, 0x04, 0x06
_ALERT = 0x80
_OVERHEATED = 0x04
_BULK_READ, _BULK_WRITE = 0x92, 0x93
_GOALS = ("goal_pwm", "goal_current", "goal_velocity", "goal_position")
_POSITION_MODES = (3, 4, 5)
_MODES = (0, 1, 3, 4, 5, 16)
_WATCHDOG_UNIT_NS = 20 * NS_PER_MS


class VirtualDynamixelBus(VirtualServoLine):
    """Servos on one line; angles in rad, loads in mA."""

    protocol = 2
    error_instruction = 0x02
    error_checksum = 0x03
    error_length = 0x05
    error_access = 0x07

    def __init__(
        self,
        models: dict[int, ServoModel],
        actuators: VirtualActuators,
        *,
        relaxed_ma: float = 50.0,
        boot_s: float = 0.2,
    ) -> None:
        """Put servos on the line, as delivered.

        Args:
            models: of each servo by its id, in the order of the actuators.
            actuators: what they move.
            relaxed_ma: up to this goal current an actuator counts as relaxed [mA].
            boot_s: how long a servo is silent after a restart [s].
        """
        self._relaxed_ma = relaxed_ma
        super().__init__(models, actuators, boot_s=boot_s)

    def break_down(self, servo_id: int, bits: int) -> None:
        """Imitate a hardware error.

        Args:
            servo_id: which servo.
            bits: 1 voltage, 4 overheated, 8 encoder, 16 electrical shock, 32 overload.
        """
        servo = self.servos[servo_id]
        latched = servo.memory.get("hardware_error_status") | bits
        servo.memory.set("hardware_error_status", latched)
        if latched & servo.memory.get("shutdown"):
            servo.memory.set("torque_enable", 0)
        self._drive(servo)

    def _serve(self, now_ns: int, packet: Packet) -> bytes:
        if not packet.intact or packet.instruction not in {_BULK_READ, _BULK_WRITE}:
            return super()._serve(now_ns, packet)
        for one in self.servos.values():
            one.heard_ns = now_ns
        rest, said = packet.parameters, []
        while len(rest) >= 5:
            size = int.from_bytes(rest[3:5], "little")
            servo = self.servos.get(rest[0])
            if servo is not None and now_ns < servo.boots_ns:
                servo = None
            if packet.instruction == _BULK_READ:
                if servo is not None:
                    said.append(self._read(servo, rest[1:5]))
                rest = rest[5:]
                continue
            if servo is not None:
                address = int.from_bytes(rest[1:3], "little")
                self._write(servo, address, rest[5 : 5 + size])
            rest = rest[5 + size :]
        return b"".join(said)

    def _refusal(self, servo: Servo, name: str, item: Item, value: int) -> int:
        memory = servo.memory
        if not item.writable:
            return self.error_access
        if item.address < memory.model.eeprom_end and memory.get("torque_enable"):
            return self.error_access
        if not item.least <= value <= item.greatest:
            return _RANGE
        if name == "operating_mode" and value not in _MODES:
            return _RANGE
        if name == "bus_watchdog" and value < 0:
            return _RANGE
        if name in _GOALS and memory.get("bus_watchdog") < 0:
            return _RANGE
        if name == "goal_current" and abs(value) > memory.get("current_limit"):
            return _LIMIT
        if name == "goal_position" and memory.get("operating_mode") == 3:
            least = memory.get("min_position_limit")
            if not least <= value <= memory.get("max_position_limit"):
                return _LIMIT
        shut_down = memory.get("hardware_error_status") & memory.get("shutdown")
        if name == "torque_enable" and value and shut_down:
            return _RESULT_FAIL
        return 0

    def _store(self, servo: Servo, name: str, value: int) -> None:
        memory = servo.memory
        memory.set(name, value)
        if name == "operating_mode":
            memory.set("goal_pwm", memory.get("pwm_limit"))
            memory.set("goal_current", memory.get("current_limit"))
            memory.set("goal_velocity", 0)
            memory.set("goal_position", self._counts(servo))
        if name == "id":
            self.servos = {one.memory.get("id"): one for one in self.servos.values()}

    def _drive(self, servo: Servo) -> None:
        memory = servo.memory
        drive = Drive.OFF
        if memory.get("torque_enable") and (
            memory.get("operating_mode") in _POSITION_MODES
        ):
            limit = self._torque_limit(servo)
            drive = Drive.RELAXED if limit <= self._relaxed_ma else Drive.DRIVEN
        goal = self._angle(servo, memory.get("goal_position"))
        self.actuators.command(servo.index, goal, drive)

    def _refresh(self, servo: Servo) -> None:
        memory, i = servo.memory, servo.index
        memory.set("present_position", self._counts(servo))
        load = float(self.actuators.load[i]) / memory.model.load_per_count
        memory.set("present_current", round(min(32767.0, max(-32768.0, load))))
        warmth = round(float(self.actuators.temperature[i]))
        memory.set("present_temperature", min(255, max(0, warmth)))
        memory.set("registered_instruction", int(servo.pending is not None))

    def _watch(self, now_ns: int, servo: Servo) -> None:
        memory = servo.memory
        warmth = float(self.actuators.temperature[servo.index])
        hot = warmth > memory.get("temperature_limit")
        if hot and not memory.get("hardware_error_status") & _OVERHEATED:
            self.break_down(memory.get("id"), _OVERHEATED)
        watchdog = memory.get("bus_watchdog")
        if watchdog <= 0 or not memory.get("torque_enable"):
            return
        if now_ns - servo.heard_ns > watchdog * _WATCHDOG_UNIT_NS:
            memory.set("bus_watchdog", -1)
            memory.set("goal_position", self._counts(servo))
            memory.set("profile_acceleration", 0)
            memory.set("profile_velocity", 0)
            self._drive(servo)

    def _torque_limit(self, servo: Servo) -> float:
        memory = servo.memory
        if not memory.get("torque_enable"):
            return 0.0
        counts = memory.get("current_limit")
        if memory.get("operating_mode") == 5:
            counts = abs(memory.get("goal_current"))
        return counts * memory.model.load_per_count

    def _returns(self, servo: Servo, instruction: int) -> bool:
        level = servo.memory.get("status_return_level")
        return level == 2 or instruction == PING or (level == 1 and instruction == READ)

    def _alarm(self, servo: Servo) -> int:
        return _ALERT if servo.memory.get("hardware_error_status") else 0

    def _identity(self, servo: Servo) -> bytes:
        number = servo.memory.get("model_number").to_bytes(2, "little")
        return number + bytes((servo.memory.get("firmware"),))
