"""A virtual bus of Feetech STS servos.

Imitated, after Feetech's memory table of the STS series: ping, broadcast ping, read,
write, reg write, action, sync read, sync write; ranges; the EEPROM that forgets at a
restart what was written while `lock` is 1; the torque limit; overheating that turns the
torque off while it lasts; alarm bits in every status. Any other instruction, the
factory reset too, is refused.

Not imitated: see app.drivers.virtual.servo_line; modes other than position (0) do not
move; overload protection; `torque_enable` 128, which makes the present position the
middle; goal time, speed and acceleration. The STS has no watchdog.
"""

from app.drivers.servo_table import Item, ServoModel
from app.drivers.virtual.base import Drive, VirtualActuators
from app.drivers.virtual.servo_line import PING, READ, Servo, VirtualServoLine

__all__ = ["VirtualFeetechBus"]

_RANGE, _INSTRUCTION, _CHECKSUM = 0x08, 0x40, 0x10
_OVERHEATED = 0x04


class VirtualFeetechBus(VirtualServoLine):
    """Servos on one line; angles in rad, loads in % of the stall torque."""

    protocol = 1
    # the STS tells alarms only: a refused write is answered like any other
    error_instruction = 0
    error_checksum = 0
    error_length = 0
    error_access = 0

    def __init__(
        self,
        models: dict[int, ServoModel],
        actuators: VirtualActuators,
        *,
        relaxed_percent: float = 10.0,
        boot_s: float = 0.2,
    ) -> None:
        """Put servos on the line, as delivered.

        Args:
            models: of each servo by its id, in the order of the actuators.
            actuators: what they move.
            relaxed_percent: up to this torque limit an actuator counts as relaxed [%].
            boot_s: how long a servo is silent after a restart [s].
        """
        self._relaxed_percent = relaxed_percent
        self._saved: dict[int, dict[str, int]] = {}
        super().__init__(models, actuators, boot_s=boot_s)

    def restart(self, now_ns: int, servo_id: int) -> None:
        """Let a servo lose its power: what was written under the lock is forgotten."""
        memory = self.servos[servo_id].memory
        for name, value in self._saved.pop(servo_id, {}).items():
            memory.set(name, value)
        super().restart(now_ns, servo_id)
        memory.set("torque_limit", memory.get("max_torque"))
        self._drive(self.servos[servo_id])

    def alarm(self, servo_id: int, bits: int) -> None:
        """Imitate alarms: 1 voltage, 2 sensor, 4 heat, 8 current, 32 overload."""
        servo = self.servos[servo_id]
        servo.memory.set("status", bits)
        if bits:
            servo.memory.set("torque_enable", 0)
        self._drive(servo)

    def _refusal(self, servo: Servo, name: str, item: Item, value: int) -> int:
        if not item.writable:
            return _INSTRUCTION
        return 0 if item.least <= value <= item.greatest else _RANGE

    def _answer(
        self, servo: Servo, error: int, parameters: bytes = b"", instruction: int = 0
    ) -> bytes:
        return super()._answer(servo, 0, parameters, instruction)

    def _store(self, servo: Servo, name: str, value: int) -> None:
        memory = servo.memory
        item = memory.model.items[name]
        if item.address < memory.model.eeprom_end and memory.get("lock"):
            saved = self._saved.setdefault(memory.get("id"), {})
            saved.setdefault(name, memory.get(name))
        memory.set(name, value)
        if name == "id":
            self.servos = {one.memory.get("id"): one for one in self.servos.values()}
        if name == "goal_position":
            memory.set("torque_enable", 1)  # a goal turns the torque on by itself

    def _drive(self, servo: Servo) -> None:
        memory = servo.memory
        drive = Drive.OFF
        if memory.get("torque_enable") == 1 and memory.get("mode") == 0:
            limit = self._torque_limit(servo)
            drive = Drive.RELAXED if limit <= self._relaxed_percent else Drive.DRIVEN
        goal = memory.get("goal_position")
        least, greatest = memory.get("min_angle_limit"), memory.get("max_angle_limit")
        if greatest > least:
            goal = min(greatest, max(least, goal))
        self.actuators.command(servo.index, self._angle(servo, goal), drive)

    def _refresh(self, servo: Servo) -> None:
        memory, i = servo.memory, servo.index
        memory.set("present_position", min(32767, max(-32767, self._counts(servo))))
        load = float(self.actuators.load[i]) / memory.model.load_per_count
        memory.set("present_load", round(min(1000.0, max(-1000.0, load))))
        warmth = round(float(self.actuators.temperature[i]))
        memory.set("present_temperature", min(255, max(0, warmth)))
        memory.set("async_write", int(servo.pending is not None))

    def _watch(self, now_ns: int, servo: Servo) -> None:
        memory = servo.memory
        warmth = float(self.actuators.temperature[servo.index])
        hot = warmth > memory.get("max_temperature")
        before = memory.get("status")
        after = before | _OVERHEATED if hot else before & ~_OVERHEATED
        if after != before:
            self.alarm(memory.get("id"), after)

    def _torque_limit(self, servo: Servo) -> float:
        memory = servo.memory
        if memory.get("torque_enable") != 1:
            return 0.0
        return memory.get("torque_limit") * memory.model.load_per_count

    def _returns(self, servo: Servo, instruction: int) -> bool:
        always = instruction in {PING, READ}
        return always or servo.memory.get("response_level") == 1

    def _alarm(self, servo: Servo) -> int:
        return servo.memory.get("status")

    def _identity(self, servo: Servo) -> bytes:
        return b""
