"""Energy at the hand's port: what the hand was given that it had not put in.

    E_port(t) = Σ F_m v_m h (v averaged over the step),   E_inj = max(0, -min E_port)

A passive port never gives more than it took: E_inj = 0. E_net of a two-port is what
went in at both ports less what came out; of a whole trial, E_port less S_f times the
work of the tip's force on what it touches. ΔE_upd is what one update of a rendered
surface changed in the energy stored in it, at the hand's depth at that time.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray

__all__ = [
    "PortEnergy",
    "injected_energy",
    "net_energy",
    "port_energy",
    "update_energies",
]


class PortEnergy(NamedTuple):
    """Of one trial."""

    injected: float
    """E_inj [J]."""
    least: float
    """Least E_port [J]."""
    last: float
    """E_port at the end [J]."""


def port_energy(force: FloatArray, place: FloatArray) -> FloatArray:
    """Return E_port (n,) [J] from force on the hand and the hand's place.

    Args:
        force: (n, k) that the hand pushes with over the step before each sample [N].
        place: (n, k) of the hand [m].
    """
    steps = np.diff(place, axis=0, prepend=place[:1])
    energy: FloatArray = np.cumsum(np.sum(force * steps, axis=1))
    return energy


def net_energy(
    port: FloatArray, force: FloatArray, tip: FloatArray, scale: float = 1.0
) -> FloatArray:
    """Return E_net (n,) [J] of a trial.

    Args:
        port: (n,) E_port [J].
        force: (n, k) that the tip pushes with [N].
        tip: (n, k) its place [m].
        scale: S_f.
    """
    net: FloatArray = port - scale * port_energy(force, tip)
    return net


def injected_energy(port: FloatArray) -> PortEnergy:
    """Sum E_port (n,) [J] up."""
    if not port.size:
        return PortEnergy(0.0, 0.0, 0.0)
    least = float(port.min())
    return PortEnergy(max(0.0, -least), least, float(port[-1]))


def update_energies(
    stiffness: FloatArray, wall: FloatArray, hand: FloatArray
) -> FloatArray:
    """Return ΔE_upd (m,) [J] of every step in which a Kelvin-Voigt surface changed.

    Args:
        stiffness: (n,) as rendered, NaN while none is known [N/m].
        wall: (n,) its place along the way into it [m].
        hand: (n,) the hand's [m].
    """
    now, before = slice(1, None), slice(None, -1)
    known = np.isfinite(stiffness[now]) & np.isfinite(stiffness[before])
    changed = known & (
        (stiffness[now] != stiffness[before]) | (wall[now] != wall[before])
    )
    depth_old = np.maximum(0.0, hand[now] - wall[before])
    depth_new = np.maximum(0.0, hand[now] - wall[now])
    stored = 0.5 * (stiffness[now] * depth_new**2 - stiffness[before] * depth_old**2)
    found: FloatArray = stored[changed]
    return found
