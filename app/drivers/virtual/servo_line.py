"""What the virtual servo buses share: servos on one line that answer instructions.

    bytes -> PacketReader -> instruction -> each servo it is for -> status packets

Not imitated by either: the time that bytes need on a line, collisions, noise other than
a wrong checksum, secondary ids, indirect addresses, bulk and fast sync instructions of
other products, gains and trajectories (the motion is a lag), the supply voltage.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers.servo_table import Item, ServoModel
from app.drivers.virtual.base import VirtualActuators, VirtualDevice
from app.drivers.virtual.servo_memory import ServoMemory
from app.drivers.virtual.servo_packets import (
    BROADCAST,
    Packet,
    PacketReader,
    status,
)

__all__ = ["PING", "READ", "Servo", "VirtualServoLine"]

PING, READ, _WRITE, _REG_WRITE, _ACTION, _RESET = 1, 2, 3, 4, 5, 6
_REBOOT, _SYNC_READ, _SYNC_WRITE = 8, 0x82, 0x83

_STIFFNESS = 0.5
"""Share of the torque limit by which a servo pulls at 0.1 rad from its goal."""


@dataclass
class Servo:
    """One servo on the line.

    Attributes:
        memory: its control table.
        index: of its actuator.
        turns: whole turns by which its counts lie below the true angle.
        boots_ns: when it answers again after a restart [ns].
        heard_ns: last instruction on the line [ns].
        pending: address and bytes of a Reg Write.
    """

    memory: ServoMemory
    index: int
    turns: int = 0
    boots_ns: int = 0
    heard_ns: int = 0
    pending: tuple[int, bytes] | None = field(default=None)


class VirtualServoLine(VirtualDevice):
    """Servos on one line; a subclass says what writing and time do to one."""

    protocol: int
    error_instruction: int
    error_access: int
    error_length: int
    error_checksum: int

    def __init__(
        self,
        models: dict[int, ServoModel],
        actuators: VirtualActuators,
        *,
        boot_s: float = 0.2,
    ) -> None:
        """Put servos on the line, torque off.

        Args:
            models: of each servo by its id, in the order of the actuators.
            actuators: what they move; angles [rad], loads in the model's unit.
            boot_s: how long a servo is silent after a restart [s].
        """
        self.actuators = actuators
        self.servos = {
            servo: Servo(ServoMemory(model, servo), index)
            for index, (servo, model) in enumerate(models.items())
        }
        self.corrupted: NDArray[np.bool_] = np.zeros(len(models), dtype=np.bool_)
        """(n,) set to imitate answers with a wrong checksum."""
        self._reader = PacketReader(self.protocol)
        self._advanced_ns = -NS_PER_S
        self._boot_ns = int(boot_s * NS_PER_S)

    def feed(self, now_ns: int, received: bytes) -> bytes:
        """Take bytes; return the status packets that follow them."""
        packets = self._reader.feed(now_ns, received)
        if packets:
            self.advance(now_ns)
        return b"".join(self._serve(now_ns, packet) for packet in packets)

    def advance(self, now_ns: int) -> bytes:
        """Let time pass, in steps of 1 ms at least: motion, watchdogs, overheating."""
        if now_ns - self._advanced_ns < NS_PER_MS:
            return b""
        self._advanced_ns = now_ns
        self.actuators.advance(now_ns)
        for servo in self.servos.values():
            self._pull(servo)
            self._watch(now_ns, servo)
        return b""

    def restart(self, now_ns: int, servo_id: int) -> None:
        """Let a servo lose its power for a moment."""
        servo = self.servos[servo_id]
        per_turn = servo.memory.model.counts_per_turn
        servo.memory.restart()
        servo.pending = None
        if self._loses_turns:
            servo.turns = self._true_counts(servo) // per_turn
        servo.boots_ns = now_ns + self._boot_ns
        self._drive(servo)

    def _serve(self, now_ns: int, packet: Packet) -> bytes:
        for servo in self.servos.values():
            servo.heard_ns = now_ns
        awake = {
            servo_id: servo
            for servo_id, servo in self.servos.items()
            if now_ns >= servo.boots_ns
        }
        if not packet.intact:
            one = awake.get(packet.servo)
            return self._answer(one, self.error_checksum) if one else b""
        if packet.instruction == _SYNC_READ:
            return self._sync_read(awake, packet.parameters)
        if packet.instruction == _SYNC_WRITE:
            self._sync_write(awake, packet.parameters)
            return b""
        if packet.servo == BROADCAST:
            said = [self._execute(now_ns, servo, packet) for servo in awake.values()]
            return b"".join(said) if packet.instruction == PING else b""
        addressed = awake.get(packet.servo)
        return self._execute(now_ns, addressed, packet) if addressed else b""

    def _execute(self, now_ns: int, servo: Servo, packet: Packet) -> bytes:
        code, parameters = packet.instruction, packet.parameters
        if code == PING:
            return self._answer(servo, 0, self._identity(servo), PING)
        if code == READ:
            return self._read(servo, parameters)
        width = self.protocol
        address = int.from_bytes(parameters[:width], "little")
        error = 0
        if code in {_WRITE, _REG_WRITE} and len(parameters) <= width:
            error = self.error_length
        elif code == _WRITE:
            error = self._write(servo, address, parameters[width:])
        elif code == _REG_WRITE:
            servo.pending = (address, parameters[width:])
        elif code == _ACTION and servo.pending is not None:
            error = self._write(servo, *servo.pending)
            servo.pending = None
        elif code == _REBOOT:
            said = self._answer(servo, 0)
            self.restart(now_ns, servo.memory.get("id"))
            return said
        else:
            error = self.error_instruction
        return self._answer(servo, error)

    def _read(self, servo: Servo, parameters: bytes) -> bytes:
        width = self.protocol
        if len(parameters) != 2 * width:
            return self._answer(servo, self.error_length, b"", READ)
        address = int.from_bytes(parameters[:width], "little")
        size = int.from_bytes(parameters[width:], "little")
        self._refresh(servo)
        data = servo.memory.read(address, size)
        error = self.error_access if data is None else 0
        return self._answer(servo, error, data or b"", READ)

    def _sync_read(self, awake: dict[int, Servo], parameters: bytes) -> bytes:
        width = 2 * self.protocol
        said = [
            self._read(awake[servo_id], parameters[:width])
            for servo_id in parameters[width:]
            if servo_id in awake
        ]
        return b"".join(said)

    def _sync_write(self, awake: dict[int, Servo], parameters: bytes) -> None:
        width = self.protocol
        address = int.from_bytes(parameters[:width], "little")
        size = int.from_bytes(parameters[width : 2 * width], "little")
        rows = parameters[2 * width :]
        if size == 0 or len(rows) % (size + 1):
            return
        for start in range(0, len(rows), size + 1):
            servo = awake.get(rows[start])
            if servo is not None:
                self._write(servo, address, rows[start + 1 : start + 1 + size])

    def _write(self, servo: Servo, address: int, data: bytes) -> int:
        items = servo.memory.split(address, data)
        if items is None:
            whole = address in {i.address for i in servo.memory.model.items.values()}
            return self.error_length if whole else self.error_access
        for name, item, value in items:
            error = self._refusal(servo, name, item, value)
            if error:
                return error
        for name, _, value in items:
            self._store(servo, name, value)
        self._drive(servo)
        return 0

    def _answer(
        self, servo: Servo, error: int, parameters: bytes = b"", instruction: int = 0
    ) -> bytes:
        """Return a status packet, or nothing where the servo keeps silent."""
        keeps_silent = not self._returns(servo, instruction)
        if self.actuators.silent[servo.index] or keeps_silent:
            return b""
        said = status(
            self.protocol,
            servo.memory.get("id"),
            error | self._alarm(servo),
            parameters,
        )
        if self.corrupted[servo.index]:
            said = said[:-1] + bytes((said[-1] ^ 0x5A,))
        return said

    def _true_counts(self, servo: Servo) -> int:
        per_turn = servo.memory.model.counts_per_turn
        angle = float(self.actuators.measured[servo.index])
        return round(angle / (2.0 * math.pi) * per_turn)

    def _counts(self, servo: Servo) -> int:
        """Position as the servo counts it."""
        per_turn = servo.memory.model.counts_per_turn
        return self._true_counts(servo) - servo.turns * per_turn

    def _angle(self, servo: Servo, counts: int) -> float:
        """Return the true angle of a position as the servo counts it [rad]."""
        per_turn = servo.memory.model.counts_per_turn
        return (counts + servo.turns * per_turn) / per_turn * 2.0 * math.pi

    def _pull(self, servo: Servo) -> None:
        """Let the load follow from the distance to the goal, where no robot does."""
        actuators, i = self.actuators, servo.index
        if actuators.attached:
            return
        pull = self._torque_limit(servo)
        error = float(actuators.goal[i] - actuators.measured[i])
        share = min(1.0, max(-1.0, error * 10.0 * _STIFFNESS))
        actuators.load[i] = share * pull

    @property
    def _loses_turns(self) -> bool:
        """A restart forgets whole turns."""
        return self.protocol == 2

    @abstractmethod
    def _refusal(self, servo: Servo, name: str, item: Item, value: int) -> int:
        """Return the error of writing a value; 0: it may be written."""

    @abstractmethod
    def _store(self, servo: Servo, name: str, value: int) -> None:
        """Write a value that may be written, and what follows from it."""

    @abstractmethod
    def _drive(self, servo: Servo) -> None:
        """Tell the actuator what the control table now says."""

    @abstractmethod
    def _refresh(self, servo: Servo) -> None:
        """Bring the present values of the control table up to date."""

    @abstractmethod
    def _watch(self, now_ns: int, servo: Servo) -> None:
        """Look after watchdog and shutdown."""

    @abstractmethod
    def _torque_limit(self, servo: Servo) -> float:
        """Return the greatest load [load unit]; 0 with the torque off."""

    @abstractmethod
    def _returns(self, servo: Servo, instruction: int) -> bool:
        """Whether the status return level lets it answer."""

    @abstractmethod
    def _alarm(self, servo: Servo) -> int:
        """Return the bits of every status that tell of a fault."""

    @abstractmethod
    def _identity(self, servo: Servo) -> bytes:
        """Return the parameters of the answer to a ping."""
