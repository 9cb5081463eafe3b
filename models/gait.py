"""A static walking gait: where each foot is at each moment of the cycle.

Liu 2020 names the parameters: elevation z_f of the foot's arc and distance d_f on the
ground; elevation of the body, width of the stance, period, phase differences among the
legs, duty factor and direction. Feet are on the ground in straight lines (stance) and
fly in arcs in between. Turning, in place or on the way, is added here: the body moves
with one planar twist (v, ω), and straight lines become circles.

Let t run from the middle of a leg's stance, T be the period and S = duty · T. A point
that rests on the ground is seen from the body at exp(-ξ t) p. So with p the neutral
foot, and B = exp(ξ T) p the place of the next step in the body frame of t = 0,

    stance:  exp(-ξ t) p                                    -S/2 <= t <= S/2
    swing:   exp(-ξ t) ((1 - σ) p + σ B) + z_f h            S/2 <= t <= T - S/2

with u from 0 to 1 in the swing, σ = 10 u³ - 15 u⁴ + 6 u⁵ and h = 64 u³ (1 - u)³. The
foot leaves and meets the ground at rest relative to it: position, speed and
acceleration are continuous, and no foot slips. Liu 2020 does not print the shape of its
arc; a half circle would meet the ground at full speed. In the body frame the foot
overshoots the ends of its stance, by 9.7 % of d_f each at a duty of one half.

Valid on level ground, body level. Leaves out the change of parameters while walking
(a jump of the twist would drag the feet that stand), slopes, and the water's forces:
static stability asks only whether the centre is above the polygon of standing feet.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.leg import LegModel
from models.legs import legs_inverse
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "GAITS",
    "GaitModel",
    "GaitReport",
    "build_gait_model",
    "check_gait",
    "gait_feet",
    "neutral_feet",
    "support_margin",
]

GAITS: dict[str, tuple[tuple[float, ...], float]] = {
    "tripod": ((0.0, 1 / 2, 0.0, 1 / 2, 0.0, 1 / 2), 1 / 2),
    "ripple": ((0.0, 1 / 3, 2 / 3, 1 / 2, 5 / 6, 1 / 6), 2 / 3),
    "wave": ((0.0, 1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6), 5 / 6),
}
"""Phase of each leg [cycles] and duty factor, for legs 0, 1, 2 along one side of the
body and 3, 4, 5 along the other in the same sense. At least 3, 4, 5 feet stand."""


class GaitModel(NamedTuple):
    """Constant parameters of a walk of L legs."""

    neutral_foot: FloatArray
    """(L, 3) foot at the middle of its stance, body frame [m]."""
    phase: FloatArray
    """(L,) part of the cycle by which each leg is ahead [cycles]."""
    twist: FloatArray
    """(3,) of the body: forward x, sideways y [m/s], and turn about z [rad/s]."""
    period: float
    """Time of one cycle of a leg [s]."""
    duty: float
    """Part of the cycle that a foot stands."""
    elevation: float
    """Height of the arc z_f [m]."""


class GaitReport(NamedTuple):
    """What a whole cycle of a gait asks of the legs."""

    reached: bool
    """Every foot is in reach throughout."""
    status: IntArray
    """(L,) bits of `leg_inverse` met anywhere in the cycle."""
    least_margin: float
    """Least distance of the centre inside the support polygon [m]; below 0 outside."""
    joint_range: FloatArray
    """(L, 3, 2) least and greatest angle of each joint [rad]."""
    joint_speed: FloatArray
    """(L, 3) greatest speed of each joint [rad/s]."""


def neutral_feet(
    legs: LegModel, body_height: float, stance_width: float, splay: ArrayLike = 0.0
) -> FloatArray:
    """Place the feet of a body that stands level.

    Args:
        legs: the legs, their axes upright in the body.
        body_height: of the body frame's origin above the ground [m].
        stance_width: across the body, between feet of legs that point straight out [m].
        splay: (L,) or one number: turn of each leg from straight out [rad]; the foot
            keeps its distance from the coxa axis.

    Returns:
        (L, 3) feet in the body frame [m].

    Raises:
        ValueError: the width leaves no way out from a coxa axis.
    """
    pose = legs.pose_leg_to_body
    outward = pose[:, :2, 0] / np.linalg.norm(pose[:, :2, 0], axis=1, keepdims=True)
    reach = 0.5 * stance_width - np.sum(pose[:, :2, 3] * outward, axis=1)
    if not np.all(reach > 0.0):
        least = stance_width - 2.0 * float(reach.min())
        message = f"stance_width is {stance_width} m; give more than {least} m"
        raise ValueError(message)
    turn = np.broadcast_to(np.asarray(splay, np.float64), reach.shape)
    cosine, sine = np.cos(turn), np.sin(turn)
    feet = np.empty((reach.size, 3))
    feet[:, 0] = cosine * outward[:, 0] - sine * outward[:, 1]
    feet[:, 1] = sine * outward[:, 0] + cosine * outward[:, 1]
    feet[:, :2] = feet[:, :2] * reach[:, None] + pose[:, :2, 3]
    feet[:, 2] = -body_height
    return feet


def build_gait_model(
    neutral_foot: FloatArray,
    phase: ArrayLike,
    duty: float,
    period: float,
    elevation: float,
    stride: float,
    direction: float = 0.0,
    turn: float = 0.0,
) -> GaitModel:
    """Make a gait from the parameters that Liu 2020 names.

    Args:
        neutral_foot: (L, 3) feet of the standing body, as `neutral_feet` places them:
            they hold body height and stance width [m].
        phase: (L,) phase of each leg [cycles].
        duty: part of the cycle that a foot stands, above 0 and below 1.
        period: time of a cycle [s].
        elevation: z_f of the arc [m].
        stride: d_f, the way of the body while a foot stands [m].
        direction: of the way, from the body's x axis to its y axis [rad].
        turn: of the body while a foot stands, about z [rad]; with a stride of 0 the
            body turns in place. Not in the paper.

    Returns:
        The model. The body moves by stride / duty a period.

    Raises:
        ValueError: a parameter outside its range, or shapes that do not agree.
    """
    feet = np.array(neutral_foot, dtype=np.float64)
    phases = np.array(phase, dtype=np.float64)
    if feet.ndim != 2 or feet.shape[1] != 3 or phases.shape != (feet.shape[0],):
        message = (
            f"neutral_foot has shape {feet.shape} and phase {phases.shape}; "
            "give (legs, 3) and (legs,)"
        )
        raise ValueError(message)
    if not 0.0 < duty < 1.0:
        message = f"duty is {duty}; allowed is above 0 and below 1"
        raise ValueError(message)
    if not 0.0 < period < np.inf:
        message = f"period is {period} s; allowed is above 0"
        raise ValueError(message)
    if not 0.0 <= elevation < np.inf:
        message = f"elevation is {elevation} m; allowed is 0 or above"
        raise ValueError(message)
    if not np.all(np.isfinite([stride, direction, turn])):
        message = (
            f"stride {stride} m, direction {direction} rad and turn {turn} rad "
            "must be finite numbers"
        )
        raise ValueError(message)
    stance = duty * period
    twist = np.array([stride * np.cos(direction), stride * np.sin(direction), turn])
    return GaitModel(feet, phases, twist / stance, period, duty, elevation)


@kernel
def _carry(twist: FloatArray, time: float, x: float, y: float) -> tuple[float, float]:
    """Point exp(ξ t) p: the chord of the body's arc is at half its turn."""
    turn = twist[2] * time
    half = 0.5 * turn
    chord = time
    if half != 0.0:
        chord *= np.sin(half) / half
    cosine = np.cos(half)
    sine = np.sin(half)
    way_x = chord * (twist[0] * cosine - twist[1] * sine)
    way_y = chord * (twist[0] * sine + twist[1] * cosine)
    cosine = np.cos(turn)
    sine = np.sin(turn)
    return cosine * x - sine * y + way_x, sine * x + cosine * y + way_y


@kernel
def gait_feet(
    model: GaitModel, cycle: float, foot_out: FloatArray, velocity_out: FloatArray
) -> int:
    """Feet and their velocities at one moment of the walk.

    Args:
        model: the gait.
        cycle: time since the start over the period [cycles]; any finite number.
        foot_out: (L, 3) in the body frame [m].
        velocity_out: (L, 3) relative to the body, in its frame [m/s].

    Returns:
        The standing legs, as bits: 1 for leg 0, 2 for leg 1, 4 for leg 2, ...
    """
    standing = 0
    swing = (1.0 - model.duty) * model.period
    for leg in range(model.phase.shape[0]):
        part = cycle + model.phase[leg]
        part -= np.floor(part)
        if part >= 1.0:  # of a number a rounding below a whole one
            part = 0.0
        time = (part - 0.5 * model.duty) * model.period
        x, y = _carry(
            model.twist, -time, model.neutral_foot[leg, 0], model.neutral_foot[leg, 1]
        )
        height = 0.0
        rate_x = 0.0
        rate_y = 0.0
        rate_z = 0.0
        if part < model.duty:
            standing |= 1 << leg
        else:
            u = (part - model.duty) / (1.0 - model.duty)
            v = 1.0 - u
            done = u * u * u * (10.0 - u * (15.0 - 6.0 * u))
            rate = 30.0 * u * u * v * v / swing
            next_x, next_y = _carry(
                model.twist,
                model.period - time,
                model.neutral_foot[leg, 0],
                model.neutral_foot[leg, 1],
            )
            rate_x = rate * (next_x - x)
            rate_y = rate * (next_y - y)
            x += done * (next_x - x)
            y += done * (next_y - y)
            height = 64.0 * model.elevation * (u * v) ** 3
            rate_z = 192.0 * model.elevation * (u * v) ** 2 * (v - u) / swing
        foot_out[leg, 0] = x
        foot_out[leg, 1] = y
        foot_out[leg, 2] = model.neutral_foot[leg, 2] + height
        velocity_out[leg, 0] = rate_x - model.twist[0] + model.twist[2] * y
        velocity_out[leg, 1] = rate_y - model.twist[1] - model.twist[2] * x
        velocity_out[leg, 2] = rate_z
    return standing


@kernel
def support_margin(foot: FloatArray, standing: int, x: float, y: float) -> float:
    """How far inside the polygon of standing feet a point is, seen from above.

    Args:
        foot: (L, 3) feet; z is not read [m].
        standing: the standing legs, as bits.
        x: of the point, in the frame of the feet [m].
        y: of the point [m].

    Returns:
        Distance to the nearest edge [m], below 0 outside (there, to the line of the
        edge); minus infinity where fewer than two feet stand.
    """
    margin = np.inf
    edges = 0
    for i in range(foot.shape[0]):
        for j in range(foot.shape[0]):
            if i == j or not (standing >> i & 1 and standing >> j & 1):
                continue
            along_x = foot[j, 0] - foot[i, 0]
            along_y = foot[j, 1] - foot[i, 1]
            length = np.sqrt(along_x * along_x + along_y * along_y)
            if length == 0.0:
                continue
            outer = True
            for k in range(foot.shape[0]):
                if k != i and k != j and standing >> k & 1:
                    across = along_x * (foot[k, 1] - foot[i, 1]) - along_y * (
                        foot[k, 0] - foot[i, 0]
                    )
                    if across < 0.0:
                        outer = False
            if outer:
                edges += 1
                across = along_x * (y - foot[i, 1]) - along_y * (x - foot[i, 0])
                margin = min(margin, across / length)
    return float(margin) if edges > 0 else -np.inf


def check_gait(
    legs: LegModel, gait: GaitModel, centre: ArrayLike = (0.0, 0.0), samples: int = 720
) -> GaitReport:
    """Follow a gait through one cycle: reach, stability, and what the joints do.

    Args:
        legs: the legs.
        gait: the gait.
        centre: (2,) x and y, in the body frame, of the resultant of weight and
            buoyancy [m].
        samples: of the cycle; the moments at which a foot leaves or lands are added.

    Returns:
        The report. Joint speeds are differences over a sample.
    """
    at = np.asarray(centre, dtype=np.float64)
    count = gait.phase.size
    foot = np.empty((count, 3))
    velocity = np.empty((count, 3))
    joint = np.zeros((count, 3))
    reached = np.empty((count, 3))
    status = np.empty(count, dtype=np.int64)
    met = np.zeros(count, dtype=np.int64)
    path = np.empty((samples + 1, count, 3))
    margin = np.inf
    for i in range(samples + 1):
        standing = gait_feet(gait, i / samples, foot, velocity)
        margin = min(margin, support_margin(foot, standing, at[0], at[1]))
        legs_inverse(legs, foot, joint, reached, status)
        met |= status
        path[i] = joint
    lift = (gait.duty - gait.phase) % 1.0
    for moment in np.concatenate([-gait.phase, lift]):
        for side in (-1e-9, 1e-9):
            standing = gait_feet(gait, float(moment + side), foot, velocity)
            margin = min(margin, support_margin(foot, standing, at[0], at[1]))
    speed = np.abs(np.diff(path, axis=0)).max(axis=0) * samples / gait.period
    ends = np.stack([path.min(axis=0), path.max(axis=0)], axis=-1)
    return GaitReport(not met.any(), met, float(margin), ends, speed)
