"""What the station believes that a limb's tip touches, and the force that it makes.

The surface is a plane or a sphere with the law of Kelvin-Voigt or of Hunt and Crossley
(1975). With the penetration p (positive inside) and its rate:

    F = max(0, e(p) + B p^m dp/dt),   e(p) = K p^n,   m = n, but 0 where n = 1

A sampled wall is passive while b > K h / 2 + B, b the damping of the device and h the
period (Colgate and Schenkel 1997). So B p^m is kept to b / 2, and the slope of e to 0.8
of 2 (b - B) / h (`models.environment_law`).

Forces are those on the hand: along the outward normal. Frames are the caller's, one for
all; the station uses the hull's.
"""

from typing import NamedTuple

import numpy as np

from models.environment_law import elastic_force
from models.environment_report import PLANE, SurfaceReport, allocate_report
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "LocalSurface",
    "allocate_surface",
    "steepest_slope",
    "surface_distance",
    "surface_force",
]

_MARGIN = 0.8
_SHORTEST = 1e-9


class LocalSurface(NamedTuple):
    """The surface that is rendered, and the report towards which it moves."""

    heard: SurfaceReport
    """The newest report."""
    taken: IntArray
    """(1,) number of the last report that has been looked at."""
    known: IntArray
    """(1,) 1 while a surface is rendered."""
    naive: IntArray
    """(1,) 1: adopt each report at once, to show why not; 0: passive rules."""
    kind: IntArray
    """(1,) PLANE or SPHERE, as rendered."""
    point: FloatArray
    """(3,) [m]."""
    normal: FloatArray
    """(3,) unit, outward."""
    radius: FloatArray
    """(1,) [m]."""
    stiffness: FloatArray
    """(1,) [N/m^n]."""
    damping: FloatArray
    """(1,) [N s/m^(m+1)]."""
    exponent: FloatArray
    """(1,) n."""
    gap: FloatArray
    """(1,) how far outside of the rendered surface the reported one is taken to be for
    the robot's sake (`models.environment_proxy`) [m]."""
    aim: FloatArray
    """(1,) stiffness towards which it moves in contact, for its present exponent."""
    device_damping: FloatArray
    """(1,) b of the device that the hand holds [N s/m]."""
    period: FloatArray
    """(1,) h of the loop that renders it [s]."""


def allocate_surface(
    device_damping: float = 2.0, period: float = 1e-3, *, naive: bool = False
) -> LocalSurface:
    """Make a surface that is not known yet.

    Args:
        device_damping: b of the device that the hand holds [N s/m].
        period: of the loop that renders it [s].
        naive: adopt each report at once (only to show why not).

    Raises:
        ValueError: a damping or period that is not positive.
    """
    for name, value in (("device_damping", device_damping), ("period", period)):
        if not 0.0 < value < np.inf:
            message = f"{name} is {value}; it must be above 0"
            raise ValueError(message)
    return LocalSurface(
        heard=allocate_report(),
        taken=np.zeros(1, dtype=np.int64),
        known=np.zeros(1, dtype=np.int64),
        naive=np.array([int(naive)]),
        kind=np.zeros(1, dtype=np.int64),
        point=np.zeros(3),
        normal=np.array([0.0, 0.0, 1.0]),
        radius=np.zeros(1),
        stiffness=np.zeros(1),
        damping=np.zeros(1),
        exponent=np.ones(1),
        gap=np.zeros(1),
        aim=np.zeros(1),
        device_damping=np.array([device_damping]),
        period=np.array([period]),
    )


@kernel
def surface_distance(
    surface: LocalSurface, position: FloatArray, normal_out: FloatArray
) -> float:
    """Signed distance of a point to the rendered surface.

    Args:
        surface: known or not.
        position: (3,) [m].
        normal_out: (3,) outward unit normal of the surface nearest to the point.

    Returns:
        Distance [m], negative inside.
    """
    if surface.kind[0] == PLANE:
        distance = 0.0
        for i in range(3):
            normal_out[i] = surface.normal[i]
            distance += surface.normal[i] * (position[i] - surface.point[i])
        return distance
    size = 0.0
    for i in range(3):
        size += (position[i] - surface.point[i]) ** 2
    size = np.sqrt(size)
    for i in range(3):
        if size > _SHORTEST:
            normal_out[i] = (position[i] - surface.point[i]) / size
        else:
            normal_out[i] = surface.normal[i]
    return float(size - surface.radius[0])


@kernel
def surface_force(
    surface: LocalSurface,
    position: FloatArray,
    velocity: FloatArray,
    force_out: FloatArray,
) -> float:
    """Force of the rendered surface on what is at a place.

    Args:
        surface: known or not; one that is not makes no force.
        position: (3,) of the hand's proxy [m].
        velocity: (3,) [m/s].
        force_out: (3,) along the outward normal, never pulling [N].

    Returns:
        Penetration [m], 0 outside.
    """
    if surface.known[0] == 0:
        for i in range(3):
            force_out[i] = 0.0
        return 0.0
    depth = -surface_distance(surface, position, force_out)
    if not depth > 0.0:
        for i in range(3):
            force_out[i] = 0.0
        return 0.0
    rate = 0.0
    for i in range(3):
        rate -= force_out[i] * velocity[i]
    damping = _damping(surface, depth)
    force = elastic_force(
        surface.stiffness[0], surface.exponent[0], steepest_slope(surface), depth
    )
    force = max(0.0, force + damping * rate)
    for i in range(3):
        force_out[i] *= force
    return depth


@kernel
def _damping(surface: LocalSurface, depth: float) -> float:
    """Damping at a depth, within half of the device's [N s/m]."""
    damping = surface.damping[0]
    if surface.exponent[0] != 1.0:
        damping *= depth ** surface.exponent[0]
    return float(min(max(damping, 0.0), 0.5 * surface.device_damping[0]))


@kernel
def steepest_slope(surface: LocalSurface) -> float:
    """Steepest elastic slope that a sampled wall may have here [N/m].

    Args:
        surface: its damping counts fully, or, where it grows with depth, as its bound.
    """
    half = 0.5 * surface.device_damping[0]
    damping = half
    if surface.exponent[0] == 1.0:
        damping = min(max(surface.damping[0], 0.0), half)
    free = surface.device_damping[0] - damping
    return float(_MARGIN * 2.0 * free / surface.period[0])
