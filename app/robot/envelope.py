"""The last gate before the winches: envelope and rate of every segment.

The envelope of a segment is a disc of bending, |(Δx, Δy)| <= bend_limit, and a range
of δℓ; both are convex, so a straight path between two points inside stays inside. Where
chambers drive it, what they allow at its bend holds too (models/chamber_limits). The
rate is limited from the value that was last applied, so a wild setpoint can only move
a segment as fast as the fastest good one.
"""

import numpy as np

from models.chamber_limits import hold_chambers
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotModel

__all__ = ["advance_applied", "clamp_to_envelope", "motion_since"]


@kernel
def clamp_to_envelope(
    model: RobotModel, start: int, wanted: FloatArray, coordinates_out: FloatArray
) -> int:
    """Bring segment coordinates into the envelope.

    Args:
        model: the robot.
        start: index of the first segment in the robot.
        wanted: (n, 3) [rad, rad, m].
        coordinates_out: (n, 3) the nearest pose inside; untouched where `wanted` has
            a value that is not finite.

    Returns:
        0 inside, 1 where something was clamped, 2 where a value is not finite.
    """
    for k in range(wanted.shape[0]):
        for j in range(3):
            if not np.isfinite(wanted[k, j]):
                return 2
    clamped = 0
    for k in range(wanted.shape[0]):
        limit = model.bend_limit[start + k]
        bend = np.hypot(wanted[k, 0], wanted[k, 1])
        scale = 1.0
        if bend > limit:
            # hypot itself overflows only where both are above 1e308
            scale = limit / bend if bend < np.inf else 0.0
            clamped = 1
        low = model.extension_range[start + k, 0]
        high = model.extension_range[start + k, 1]
        extension = min(max(wanted[k, 2], low), high)
        if extension != wanted[k, 2]:
            clamped = 1
        coordinates_out[k, 0] = scale * wanted[k, 0]
        coordinates_out[k, 1] = scale * wanted[k, 1]
        coordinates_out[k, 2] = extension
    return clamped


@kernel
def advance_applied(
    model: RobotModel,
    now_ns: int,
    period: float,
    origin: FloatArray,
    goal: FloatArray,
    begin_ns: IntArray,
    end_ns: IntArray,
    applied_out: FloatArray,
) -> int:
    """Move the applied pose along its path by at most the rate limits.

    Args:
        model: the robot.
        now_ns: robot time [ns].
        period: time since the last call [s]; the caller bounds it.
        origin: (S, 3) where the path of each segment begins [rad, rad, m].
        goal: (S, 3) where it ends, inside the envelope.
        begin_ns: (S,) when the path of each segment begins [ns].
        end_ns: (S,) when it ends [ns].
        applied_out: (S, 3) the pose last applied, moved on. Never leaves the envelope
            when it, `origin` and `goal` lie inside.

    Returns:
        1 where a rate limit was met, else 0.
    """
    limited = 0
    for k in range(begin_ns.size):
        fraction = 1.0
        if now_ns < end_ns[k]:
            fraction = max(0.0, (now_ns - begin_ns[k]) / (end_ns[k] - begin_ns[k]))
        step_x = (
            origin[k, 0] + fraction * (goal[k, 0] - origin[k, 0]) - applied_out[k, 0]
        )
        step_y = (
            origin[k, 1] + fraction * (goal[k, 1] - origin[k, 1]) - applied_out[k, 1]
        )
        step_z = (
            origin[k, 2] + fraction * (goal[k, 2] - origin[k, 2]) - applied_out[k, 2]
        )
        most = model.bend_rate_limit[k] * period
        bend = np.hypot(step_x, step_y)
        scale = 1.0
        if bend > most:
            scale = most / bend
            limited = 1
        most = model.extension_rate_limit[k] * period
        if abs(step_z) > most:
            step_z = most if step_z > 0.0 else -most
            limited = 1
        applied_out[k, 0] += scale * step_x
        applied_out[k, 1] += scale * step_y
        applied_out[k, 2] += step_z
    for limb in range(model.tip_speed_limit.size):
        start, stop = model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        hold_chambers(model, limb, applied_out[start:stop])
    return limited


@kernel
def motion_since(
    model: RobotModel,
    coordinates: FloatArray,
    earlier: FloatArray,
    change_out: FloatArray,
) -> None:
    """How far each limb has moved, as the largest change of a bend.

    Args:
        model: the robot.
        coordinates: (S, 3) now [rad, rad, m].
        earlier: (S, 3) then.
        change_out: (L,) [rad]; extension counts by the bend it equals at the surface.
    """
    for limb in range(change_out.size):
        most = 0.0
        for k in range(
            model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        ):
            bend = np.hypot(
                coordinates[k, 0] - earlier[k, 0], coordinates[k, 1] - earlier[k, 1]
            )
            extension = abs(coordinates[k, 2] - earlier[k, 2])
            most = max(most, bend, extension / model.segment_radius[k, 0])
        change_out[limb] = most
