"""Up to which delay a linear loop over the link is stable: exactly, and by a bound.

With the delay T each way the loop closes where 1 = L(jw) exp(-2jwT). Of all w with
|L(jw)| = 1, the smallest T = arg L(jw) / 2w is the limit; where |L| < 1 everywhere
there is none. In terms of position, with C = K_p + K_d s,

    position-position   L = C^2 / [(Z_m + C)(Z_s + C + Z_e)]
    position-force      L = -k_f Z_e C / [Z_m (Z_s + C + Z_e)]

Z_m is the handle with the operator's arm, Z_s the tip, Z_e the contact. Linear: a tip
that bounces on a stiff wall can be unstable where L says that it is not.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NO_CONTACT",
    "Contact",
    "Loop",
    "delay_limit",
    "lyapunov_bound",
    "position_force_loop",
    "position_position_loop",
    "safe_force_share",
    "wave_stiffness",
]

_Complex = NDArray[np.complex128]
_SAFE = 0.8
_FREQUENCIES = np.geomspace(1e-2, 1e4, 60_001)  # [rad/s]
_HALVINGS = 50


@dataclass(frozen=True)
class Loop:
    """Both ends of a bilateral loop (SI): masses, dampings, stiffnesses, coupling.

    Attributes:
        hand_mass: handle and arm [kg].
        hand_damping: handle and arm [N s/m].
        hand_stiffness: arm [N/m].
        tip_mass: [kg].
        tip_damping: [N s/m].
        stiffness: K_p [N/m].
        damping: K_d [N s/m].
    """

    hand_mass: float
    hand_damping: float
    hand_stiffness: float
    tip_mass: float
    tip_damping: float
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Contact:
    """What the tip touches: stiffness [N/m] and damping [N s/m]."""

    stiffness: float
    damping: float


NO_CONTACT = Contact(0.0, 0.0)


def _impedances(
    loop: Loop, contact: Contact, frequency: NDArray[np.float64]
) -> tuple[_Complex, _Complex, _Complex, _Complex]:
    """C, Z_m, Z_s and Z_e at frequencies [rad/s], as force over position."""
    s: _Complex = 1j * frequency.astype(np.complex128)
    return (
        loop.stiffness + loop.damping * s,
        loop.hand_mass * s**2 + loop.hand_damping * s + loop.hand_stiffness,
        loop.tip_mass * s**2 + loop.tip_damping * s,
        contact.stiffness + contact.damping * s,
    )


def position_position_loop(
    loop: Loop, contact: Contact, frequency: NDArray[np.float64]
) -> _Complex:
    """L(jw) of position-position at frequencies [rad/s]."""
    coupling, hand, tip, touched = _impedances(loop, contact, frequency)
    return coupling**2 / ((hand + coupling) * (tip + coupling + touched))


def position_force_loop(
    loop: Loop, contact: Contact, frequency: NDArray[np.float64], share: float = 1.0
) -> _Complex:
    """L(jw) of position-force with k_f = share at frequencies [rad/s]."""
    coupling, hand, tip, touched = _impedances(loop, contact, frequency)
    return -share * touched * coupling / (hand * (tip + coupling + touched))


def _loop_at(
    loop: Loop, contact: Contact, share: float | None, frequency: NDArray[np.float64]
) -> _Complex:
    if share is None:
        return position_position_loop(loop, contact, frequency)
    return position_force_loop(loop, contact, frequency, share)


def delay_limit(loop: Loop, contact: Contact, share: float | None = None) -> float:
    """Smallest delay each way at which the loop is not stable any more.

    The loop must be stable without delay, which position-position is by itself.

    Args:
        loop: both ends.
        contact: what the tip touches.
        share: k_f of position-force; None for position-position.

    Returns:
        Delay [s]; infinite where the loop is stable whatever the delay.
    """
    gain = np.abs(_loop_at(loop, contact, share, _FREQUENCIES))
    crossings = np.flatnonzero((gain[:-1] - 1.0) * (gain[1:] - 1.0) <= 0.0)
    limit = math.inf
    for index in crossings:
        low, high = _FREQUENCIES[index], _FREQUENCIES[index + 1]
        rising = gain[index + 1] > gain[index]
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            above = abs(_loop_at(loop, contact, share, np.array([middle]))[0]) > 1.0
            if above == rising:
                high = middle
            else:
                low = middle
        value = _loop_at(loop, contact, share, np.array([low]))[0]
        angle = math.atan2(value.imag, value.real) % (2.0 * math.pi)
        limit = min(limit, angle / (2.0 * low))
    return limit


def lyapunov_bound(stiffness: float, hand_damping: float, tip_damping: float) -> float:
    """Delay each way below which position-position with K_d = 0 is stable for certain.

    From 4 B_m B_s > (T_f + T_b)^2 K_p^2 (after Nuno, Basanez and Ortega 2011).

    Args:
        stiffness: K_p [N/m].
        hand_damping: B_m, of handle and arm [N s/m].
        tip_damping: B_s [N s/m].

    Returns:
        Delay [s].
    """
    return math.sqrt(hand_damping * tip_damping) / stiffness


def safe_force_share(loop: Loop, contact: Contact) -> float:
    """k_f that leaves a fifth to the one that is stable whatever the delay.

    Args:
        loop: both ends; an arm without stiffness makes it 0.
        contact: the stiffest that is to be touched.
    """
    most = np.abs(position_force_loop(loop, contact, _FREQUENCIES)).max()
    return float(_SAFE / most) if most > 0.0 else math.inf


def wave_stiffness(
    stiffness: float, contact: Contact, impedance: float, delay: float
) -> float:
    """Stiffness that wave variables show of a wall at rest.

    1 / (1/K_p + 1/K_e + T/b); ours, the line at rest being a spring of b/T.

    Args:
        stiffness: K_p [N/m].
        contact: the wall.
        impedance: b [N s/m].
        delay: each way [s].

    Returns:
        Stiffness [N/m].
    """
    return 1.0 / (1.0 / stiffness + 1.0 / contact.stiffness + delay / impedance)
