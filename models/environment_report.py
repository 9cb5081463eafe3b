"""What the robot tells of a surface that a limb's tip touches, or misses."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "PLANE",
    "SPHERE",
    "SurfaceReport",
    "SurfaceStatus",
    "allocate_report",
    "copy_report",
    "report_depth",
]

PLANE = 0
SPHERE = 1


class SurfaceStatus(IntEnum):
    """What the robot found of a surface, as the operator is told it."""

    UNKNOWN = 0
    """Never touched."""
    AS_KNOWN = 1
    """The model explains what the robot feels."""
    MOVED = 2
    """Touched at another place than the model of an earlier touch said."""
    CHANGED = 3
    """Softer or stiffer than at an earlier touch."""
    GONE = 4
    """The tip is where the surface should be and feels nothing."""
    NOT_EXPLAINED = 5
    """Touching, but no plane or sphere with one stiffness makes these forces."""


class SurfaceReport(NamedTuple):
    """A surface as the robot estimates it, published to the station."""

    number: IntArray
    """(1,) grows with each that is published; 0 = none yet."""
    status: IntArray
    """(1,) SurfaceStatus."""
    kind: IntArray
    """(1,) PLANE or SPHERE."""
    estimated_ns: IntArray
    """(1,) when it was estimated [ns]."""
    point: FloatArray
    """(3,) a point of the plane near the tip, or the sphere's centre [m]."""
    normal: FloatArray
    """(3,) outward unit normal of the plane, or at the tip."""
    radius: FloatArray
    """(1,) of the sphere [m]."""
    stiffness: FloatArray
    """(1,) K [N/m^n]."""
    damping: FloatArray
    """(1,) B [N s/m^(m+1)]."""
    exponent: FloatArray
    """(1,) n, 1 to 3."""
    confidence: FloatArray
    """(1,) 0 to 1: 1 less the share of the force that the model leaves unexplained."""


def allocate_report() -> SurfaceReport:
    """Make a report that tells of nothing."""
    return SurfaceReport(
        number=np.zeros(1, dtype=np.int64),
        status=np.zeros(1, dtype=np.int64),
        kind=np.zeros(1, dtype=np.int64),
        estimated_ns=np.zeros(1, dtype=np.int64),
        point=np.zeros(3),
        normal=np.array([0.0, 0.0, 1.0]),
        radius=np.zeros(1),
        stiffness=np.zeros(1),
        damping=np.zeros(1),
        exponent=np.ones(1),
        confidence=np.zeros(1),
    )


@kernel
def copy_report(report: SurfaceReport, report_out: SurfaceReport) -> None:
    """Copy a report.

    Args:
        report: from here.
        report_out: to here.
    """
    report_out.number[0] = report.number[0]
    report_out.status[0] = report.status[0]
    report_out.kind[0] = report.kind[0]
    report_out.estimated_ns[0] = report.estimated_ns[0]
    for i in range(3):
        report_out.point[i] = report.point[i]
        report_out.normal[i] = report.normal[i]
    report_out.radius[0] = report.radius[0]
    report_out.stiffness[0] = report.stiffness[0]
    report_out.damping[0] = report.damping[0]
    report_out.exponent[0] = report.exponent[0]
    report_out.confidence[0] = report.confidence[0]


@kernel
def report_depth(report: SurfaceReport, position: FloatArray) -> float:
    """How deep a point lies inside a reported surface.

    Args:
        report: a plane or a sphere.
        position: (3,) [m].

    Returns:
        Depth [m], negative outside.
    """
    total = 0.0
    if report.kind[0] == PLANE:
        for i in range(3):
            total -= report.normal[i] * (position[i] - report.point[i])
        return total
    for i in range(3):
        total += (position[i] - report.point[i]) ** 2
    return float(report.radius[0] - np.sqrt(total))
