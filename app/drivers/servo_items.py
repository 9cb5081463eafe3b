"""Items of the control tables of servos, read and written by name over the bus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.drivers.servo_bus import ServoBus
from app.drivers.servo_table import ServoModel

__all__ = ["Indices", "Refused", "ServoItems", "ServoSettings", "Unanswered"]

Indices = NDArray[np.int64]


class Unanswered(Exception):  # noqa: N818
    """A servo gave no valid answer; never leaves the driver."""


class Refused(Exception):  # noqa: N818
    """A servo cannot be used as it is, says why; never leaves the driver."""


@dataclass(frozen=True)
class ServoSettings:
    """One servo of a bus.

    Attributes:
        servo: its id.
        model: its kind.
        limit: torque limit while it follows and holds, in the model's load unit.
        relaxed: torque limit while it gives way.
    """

    servo: int
    model: ServoModel
    limit: float
    relaxed: float


class ServoItems:
    """Items of all servos of an open bus."""

    def __init__(
        self,
        bus: ServoBus,
        servos: Sequence[ServoSettings],
        reason: Callable[[int], str],
    ) -> None:
        """Speak over a bus.

        Args:
            bus: open.
            servos: in the order of the indices used below.
            reason: why a status error refuses a write; empty: it does not.
        """
        self.bus = bus
        self._servos = servos
        self._reason = reason

    def get(self, i: int, name: str) -> int:
        """Read one item of a servo.

        Raises:
            Unanswered: no valid answer.
        """
        servo = self._servos[i]
        item = servo.model.items[name]
        answer = self.bus.read(servo.servo, item.address, item.size)
        if answer is None:
            raise Unanswered
        return item.decode(answer.data)

    def put(self, i: int, name: str, value: int) -> None:
        """Write one item of a servo.

        Raises:
            Unanswered: no valid answer.
            Refused: the servo does not take the value.
        """
        servo = self._servos[i]
        item = servo.model.items[name]
        error = self.bus.write(servo.servo, item.address, item.encode(value))
        if error is None:
            raise Unanswered
        reason = self._reason(error)
        if reason:
            raise Refused(
                f"Servo {servo.servo} refused {name} = {value}: {reason}. Check its "
                "settings with the maker's tool."
            )

    def put_where_it_differs(self, i: int, name: str, value: int) -> None:
        """Write one item unless it holds the value: an EEPROM wears.

        Raises:
            Unanswered: no valid answer.
            Refused: the servo does not take the value.
        """
        if self.get(i, name) != value:
            self.put(i, name, value)

    def put_to(self, indices: Indices, name: str, values: Sequence[int]) -> None:
        """Write one item of several servos at once; none answers."""
        servos = [self._servos[i] for i in indices]
        items = [servo.model.items[name] for servo in servos]
        data = [item.encode(v) for item, v in zip(items, values, strict=True)]
        ids = [servo.servo for servo in servos]
        self.bus.sync_write(ids, items[0].address, data)
