"""What the haptic thread and the control loop leave for each other.

| block        | writer        | reader       | rate  |
|--------------|---------------|--------------|-------|
| HapticSample | haptic thread | control loop | 1 kHz |
| HapticForce  | control loop  | haptic thread| 1 kHz |

Both are latest-value mailboxes (`app.control.mailbox`); the haptic thread knows them
only as an `Outbox` and an `Inbox`. Vectors of `HapticSample` and `HapticForce` are in
the device's own frame, so that nothing between thread and device turns them.
"""

from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from models.numerics import FloatArray, IntArray

__all__ = [
    "FORCE_SHAPES",
    "SAMPLE_SHAPES",
    "HapticForce",
    "HapticSample",
    "Inbox",
    "LocalBox",
    "Outbox",
    "allocate_force",
    "allocate_sample",
]

Shapes = dict[str, tuple[type, tuple[int, ...]]]


class HapticSample(NamedTuple):
    """One reading of the device; kept absent while it is not there."""

    stamp_ns: IntArray
    """(1,) when it was read [ns]."""
    present: IntArray
    """(1,) 1 while the device answers."""
    opened: IntArray
    """(1,) counts openings: after a change nothing of before may be compared."""
    rate_mode: IntArray
    """(1,) 1: `rate` is what counts (a spring-centred cap); 0: `position`."""
    buttons: IntArray
    """(1,) bit k is button k of `HapticFacts.buttons`."""
    position: FloatArray
    """(3,) of the handle [m]."""
    orientation: FloatArray
    """(4,) of the handle, quaternion wxyz; (1, 0, 0, 0) where it is not measured."""
    velocity: FloatArray
    """(3,) of the handle [m/s]."""
    rate: FloatArray
    """(3,) deflection of a cap over its travel, each -1..1."""
    force: FloatArray
    """(3,) that was written to the device just before this reading [N]."""


class HapticForce(NamedTuple):
    """What the hand shall feel."""

    time_ns: IntArray
    """(1,) when it was worked out [ns]; 0: never."""
    tick: IntArray
    """(1,) the control loop's tick."""
    force: FloatArray
    """(3,) on the hand [N]."""


_ONE_INT = (np.int64, (1,))
_THREE = (np.float64, (3,))

SAMPLE_SHAPES: Shapes = {
    "stamp_ns": _ONE_INT,
    "present": _ONE_INT,
    "opened": _ONE_INT,
    "rate_mode": _ONE_INT,
    "buttons": _ONE_INT,
    "position": _THREE,
    "orientation": (np.float64, (4,)),
    "velocity": _THREE,
    "rate": _THREE,
    "force": _THREE,
}
FORCE_SHAPES: Shapes = {"time_ns": _ONE_INT, "tick": _ONE_INT, "force": _THREE}


def allocate_sample() -> HapticSample:
    """Make a sample of no device."""
    sample = HapticSample(
        **{name: np.zeros(shape, kind) for name, (kind, shape) in SAMPLE_SHAPES.items()}
    )
    sample.orientation[0] = 1.0
    return sample


def allocate_force() -> HapticForce:
    """Make a force that was never worked out."""
    return HapticForce(
        **{name: np.zeros(shape, kind) for name, (kind, shape) in FORCE_SHAPES.items()}
    )


_Value = TypeVar("_Value")
_Value_co = TypeVar("_Value_co", covariant=True)


class Outbox(Protocol[_Value_co]):
    """The writer's end of a latest-value mailbox."""

    @property
    def local(self) -> _Value_co:
        """What the next `publish` makes the newest value; filled in place."""

    def publish(self) -> None:
        """Make `local` the newest value."""


class Inbox(Protocol[_Value_co]):
    """The reader's end of a latest-value mailbox."""

    @property
    def local(self) -> _Value_co:
        """The newest value as of the last `refresh`."""

    def refresh(self) -> bool:
        """Copy the newest value into `local`; False where none could be read."""


class LocalBox(Generic[_Value]):
    """Both ends at once, for a writer and a reader in one thread."""

    def __init__(self, value: _Value) -> None:
        """Hold a block that both ends share."""
        self.local = value

    def publish(self) -> None:
        """Do nothing: the reader sees the same block."""

    def refresh(self) -> bool:
        """Do nothing: the reader sees the same block."""
        return True
