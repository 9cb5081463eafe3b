"""What a task of each kind asks, and how it stands: what its rule reads and writes."""

from typing import NamedTuple

from models.numerics import FloatArray, IntArray

__all__ = [
    "NEVER",
    "PathData",
    "PegData",
    "PressData",
    "ReachData",
    "RetrieveData",
    "RunData",
]

NEVER = -(2**62)
"""A time at which nothing has been [ns]."""


class RunData(NamedTuple):
    """A task of any kind."""

    abort: float
    """Greatest force on the limb [N]."""
    start_ns: int
    """When the operator was told to begin [ns]."""
    timeout_s: float
    """Its time [s]."""
    first_tip: FloatArray
    """(3,) where the tip was first [m]."""
    ended_ns: IntArray
    """(1,) time of the last that was judged [ns]; `NEVER`: none was."""
    peak_force: FloatArray
    """(1,) greatest so far [N]."""
    verdict: IntArray
    """(1,) number of the verdict in `CODES`."""


class ReachData(NamedTuple):
    """Targets, in turn."""

    targets: FloatArray
    """(n, 3) [m]."""
    radius: float
    """That counts as near [m]."""
    speed: float
    """Below which a tip dwells [m/s]."""
    dwell_ns: int
    """For how long it must [ns]."""
    since_ns: IntArray
    """(1,) since when it does [ns]; `NEVER`: it does not."""
    hits: IntArray
    """(1,) targets met so far."""
    hits_ns: IntArray
    """(n,) when each was met [ns]."""


class PathData(NamedTuple):
    """A curve."""

    points: FloatArray
    """(n, 3) as `models.curve.Curve` [m]."""
    arc: FloatArray
    """(n,) as there [m]."""
    end: float
    """How near the tip must end to its end [m]."""
    rms: float
    """Root mean square distance that is too much [m]."""
    counted: IntArray
    """(1,) milliseconds since the reference set out."""
    squares: FloatArray
    """(1,) sum of squared distances in them [m^2]."""
    furthest: FloatArray
    """(1,) arc length that the tip has come to [m]."""


class PressData(NamedTuple):
    """One pad that is to be pressed, or two of which one is the stiffer."""

    normals: FloatArray
    """(n, 3) out of the pads."""
    stiffer: int
    """Index of the pad."""
    peak: float
    """Greatest force along a normal [N]."""
    force: float
    """Wanted [N]."""
    slack: float
    """How far from it is good enough [N]."""
    hold_ns: int
    """For how long [ns]."""
    since_ns: IntArray
    """(1,) since when it is [ns]; `NEVER`: it is not."""


class RetrieveData(NamedTuple):
    """An object and where it is to go."""

    contact: float
    """Greatest force on the limb [N]."""
    goal: FloatArray
    """(3,) [m]."""
    up: FloatArray
    """(3,) out of the goal."""
    radius: float
    """Distance that counts as there [m]."""
    release: bool
    """Whether it must be let go there."""
    rest_ns: int
    """For how long it must rest then [ns]."""
    since_ns: IntArray
    """(1,) since when it rests [ns]; `NEVER`: it does not."""
    held: IntArray
    """(1,) 1 = it was held in the last millisecond."""
    grasps: IntArray
    """(1,) times that it was grasped."""
    last: FloatArray
    """(3,) where it was then [m]."""
    last_ns: IntArray
    """(1,) when that was [ns]; `NEVER` at first."""


class PegData(NamedTuple):
    """A hole for a peg at the tip."""

    mouth: FloatArray
    """(3,) middle of it [m]."""
    up: FloatArray
    """(3,) out of it."""
    depth: float
    """Wanted [m]."""
    aside: float
    """From the hole's axis to a tip that is in it, at most [m]."""
    lateral: float
    """Greatest force across [N]."""
