"""What the two halves of a strategy see of each other, for one limb's tip.

The master half runs at the station, the slave half at the robot, each once a
millisecond. Neither knows the other but through the newest `Signal` it has heard. All
vectors are in the hull frame (x bow, y port, z up); in a harness of one degree of
freedom only the x components differ from zero.

Every force is what is pushed with: by the hand against its handle, by the controller
against the tip, by the tip against what it touches. So all of them point the same way
while the hand presses the tip into a wall, and a device shows the hand minus its force.

| strategy          | down: master tells            | up: slave tells           |
|-------------------|-------------------------------|---------------------------|
| position-position | position, velocity            | position, velocity, force |
| position-force    | position, velocity            | position, force           |
| wave variables    | wave u, its integral          | wave w, its integral      |
| two-port TDPA     | position, velocity, energy    | position, force, energy   |
| model-mediated    | position of the proxy, force  | position, contact model   |
| predictive        | position                      | position                  |

With each go the strategy and the number of its engagement: what was told under another
is not obeyed, though the tip's position is believed.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray

__all__ = ["Signal", "allocate_signal"]


class Signal(NamedTuple):
    """The newest that one half has told; what a strategy does not use stays 0."""

    time_ns: IntArray
    """(1,) when it was told, in the hearer's clock; 0 = nothing yet [ns]."""
    fresh: IntArray
    """(1,) 1 in the tick in which it came, or was told anew, else 0."""
    strategy: IntArray
    """(1,) the teller's `Strategy`."""
    engagement: IntArray
    """(1,) how many strategies the station has engaged; the slave repeats it."""
    position: FloatArray
    """(3,) of the hand or the tip [m]."""
    velocity: FloatArray
    """(3,) [m/s]."""
    force: FloatArray
    """(3,) of the slave's controller, of contact, or of the proxy [N]."""
    wave: FloatArray
    """(3,) wave variable u or w [sqrt(W)]."""
    wave_integral: FloatArray
    """(3,) its integral over time since the strategy began [sqrt(W) s]."""
    energy: FloatArray
    """(1,) energy that went in at the teller's port since the strategy began [J]."""


def allocate_signal() -> Signal:
    """Make a signal that tells nothing."""
    return Signal(
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros(1),
    )
