"""Observers of the energy at a port, and the damper that keeps a port passive.

At a port the power is force times velocity, positive where it flows in. The observer
sums what flows in and what flows out apart, since both sums only rise: a late or lost
telling of one is then always on the safe side (Ryu, Artigas and Preusche 2010). The
damper of an impedance port adds force along the velocity until the lack is dissipated
(Hannaford and Ryu 2002). In three dimensions energies are those of the scalar product.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, kernel

__all__ = [
    "PortData",
    "allocate_port",
    "damping_for",
    "observe",
    "power",
    "reset_port",
]

_STILL = 1e-9


class PortData(NamedTuple):
    """What has passed a port since it was reset; (1,) [J] unless said otherwise."""

    energy_in: FloatArray
    """Went in."""
    energy_out: FloatArray
    """Came out."""
    least: FloatArray
    """Least that in minus out has been: below 0 the port has given what it had not."""


def allocate_port() -> PortData:
    """Make the observer of a port."""
    return PortData(np.zeros(1), np.zeros(1), np.zeros(1))


@kernel
def power(force: FloatArray, velocity: FloatArray) -> float:
    """Return force (3,) [N] times velocity (3,) [m/s]: power into a port [W]."""
    return float(
        force[0] * velocity[0] + force[1] * velocity[1] + force[2] * velocity[2]
    )


@kernel
def observe(energy: float, port_out: PortData) -> None:
    """Count the energy of one tick at a port.

    Args:
        energy: that went in, negative where it came out [J].
        port_out: the sums, advanced in place.
    """
    if energy > 0.0:
        port_out.energy_in[0] += energy
    else:
        port_out.energy_out[0] -= energy
    net = port_out.energy_in[0] - port_out.energy_out[0]
    port_out.least[0] = min(port_out.least[0], net)


@kernel
def reset_port(port_out: PortData) -> None:
    """Begin the sums of a port anew."""
    port_out.energy_in[0] = 0.0
    port_out.energy_out[0] = 0.0
    port_out.least[0] = 0.0


@kernel
def damping_for(
    lack: float, velocity: FloatArray, limit: float, period: float
) -> float:
    """Damping that dissipates a lack of energy within one tick.

    Args:
        lack: energy by which the port has given too much [J]; 0 or less asks nothing.
        velocity: (3,) [m/s].
        limit: greatest damping [N s/m].
        period: tick [s].

    Returns:
        Damping to be added at the port [N s/m].
    """
    if not lack > 0.0:
        return 0.0
    square = power(velocity, velocity)
    if square * period * limit <= lack or square < _STILL * _STILL:
        return limit
    return float(lack / (square * period))
