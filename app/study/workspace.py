"""Where the tip of a limb, or the foot of a leg, can get: sampled within its limits.

A limb's segments are arcs of constant curvature with straight rigid gaps. Where
chambers drive it, chamber lengths are what is sampled, so that their limits hold for
each; a segment with `one_idle` keeps its shortest chamber at its initial length (Gong
2018 eq. 12, Liu 2020 eq. 1d), and of an opposing pair the second segment follows the
first. Else bend and extension are sampled. Half of the samples have values at an end of
their range, where the border of the reachable set is.

Leaves out gravity, loads, and what the limb would collide with. The size of the set
grows with the number of samples towards its own, from below.
"""

import math
from typing import NamedTuple

import numpy as np

from app.config.bodies import LegParameters
from app.config.kinematics import chamber_models, limb_gaps
from app.config.limbs import LimbParameters
from app.config.robot import RobotParameters
from app.errors import ConfigError
from models.leg import LegModel
from models.legs import leg_points
from models.numerics import FloatArray

__all__ = [
    "SAMPLES",
    "Workspace",
    "describe_workspace",
    "sample_workspace",
]

SAMPLES = 200_000
"""Enough for a box within some millimetres of the whole one."""

_AT_AN_END = 0.5  # share of samples with values at an end of their range


class Workspace(NamedTuple):
    """A sampled reachable set."""

    robot: str
    """Name of the robot."""
    limb: str
    """Name of the limb or leg."""
    points: FloatArray
    """(n, 3) of the tip, or foot, in the frame of its base [m]; z along a straight limb
    and, for a leg, upwards."""
    limits: tuple[str, ...]
    """What was kept within, in words, for each segment or joint."""
    printed_mm: tuple[float, float, float] | None
    """Size that the source prints, along x, y and z [mm]."""

    @property
    def low(self) -> FloatArray:
        """(3,) least coordinates [m]."""
        return np.asarray(self.points.min(axis=0))

    @property
    def high(self) -> FloatArray:
        """(3,) greatest coordinates [m]."""
        return np.asarray(self.points.max(axis=0))

    @property
    def size(self) -> FloatArray:
        """(3,) edges of the bounding box [m]."""
        return np.asarray(self.high - self.low)


def sample_workspace(
    robot: RobotParameters, limb: str, count: int = SAMPLES, seed: int = 0
) -> Workspace:
    """Sample where a limb's tip can get.

    Args:
        robot: its parameters.
        limb: name of one of its limbs or legs.
        count: number of samples.
        seed: of the random numbers; the same seed gives the same points.

    Raises:
        ConfigError: the robot has no such limb or leg.
    """
    generator = np.random.default_rng(seed)
    for soft in robot.limbs:
        if soft.name == limb:
            segments = _limb_samples(robot, soft, generator, count)
            return Workspace(
                robot.name,
                limb,
                _tips(soft, segments),
                _limb_limits(robot, soft),
                soft.printed_workspace_mm,
            )
    for leg in robot.legs:
        if leg.name == limb:
            low, high = np.radians(leg.joint_range_deg).T
            joints = _within(generator, low, high, count)
            return Workspace(
                robot.name, limb, _feet(leg, joints), _leg_limits(leg), None
            )
    names = [soft.name for soft in robot.limbs] + [leg.name for leg in robot.legs]
    raise ConfigError(
        f"The robot {robot.name!r} has no limb called {limb!r}. It has: "
        f"{', '.join(names)}."
    )


def _within(
    generator: np.random.Generator, low: FloatArray, high: FloatArray, count: int
) -> FloatArray:
    """(count, k) samples between (k,) bounds, half of them on corners or edges."""
    share = generator.random((count, low.size))
    ends = generator.random((count, low.size)) < 0.75
    ends &= (generator.random(count) < _AT_AN_END)[:, None]
    share[ends] = np.round(share[ends])
    return np.asarray(low + share * (high - low))


def _limb_samples(
    robot: RobotParameters,
    limb: LimbParameters,
    generator: np.random.Generator,
    count: int,
) -> list[FloatArray]:
    """(m, 3) segment coordinates [rad, rad, m] of every segment, m at most `count`."""
    cap = math.radians(robot.limits.bend_deg)
    models = chamber_models(limb)
    segments: list[FloatArray] = []
    kept = np.ones(count, dtype=bool)
    for k, rest in enumerate(limb.segment_length_mm):
        model = models[k]
        if limb.opposing and k == 1:
            segments.append(segments[0] * np.array([-1.0, -1.0, 1.0]))
            continue
        if model is not None:
            low, high = model.least_length, model.greatest_length
            if limb.chambers[k].one_idle:
                low = model.initial_length
            lengths = _within(generator, low, high, count)
            if limb.chambers[k].one_idle:
                rows, idle = np.arange(count), (lengths - low).argmin(axis=1)
                lengths[rows, idle] = low[idle]
            found = lengths @ model.inverse.T
            found[:, 2] -= model.rest_length
            if low.size > 3:  # more chambers than coordinates: the arc's own lengths
                arc = rest * 1e-3 + found[:, 2:] - found[:, :2] @ model.offset.T
                fits = (arc >= low - 1e-9) & (arc <= high + 1e-9)
                kept &= fits.all(axis=1)
        elif limb.chambers:
            interval = np.array(limb.chambers[k].length_range_mm) - rest
            low, high = interval[:1] * 1e-3, interval[1:] * 1e-3
            found = np.zeros((count, 3))
            found[:, 2:] = _within(generator, low, high, count)
        else:
            found = _free_samples(limb, cap, generator, count)
        kept &= np.hypot(found[:, 0], found[:, 1]) <= cap + 1e-12
        segments.append(found)
    return [found[kept] for found in segments]


def _free_samples(
    limb: LimbParameters, cap: float, generator: np.random.Generator, count: int
) -> FloatArray:
    """(count, 3) coordinates of a segment that knows bend and extension limits only."""
    least, greatest = limb.extension_range_mm or (0.0, 0.0)
    low, high = np.array([0.0, least * 1e-3]), np.array([1.0, greatest * 1e-3])
    area, extension = _within(generator, low, high, count).T
    theta = cap * np.sqrt(area)
    phi = generator.uniform(-math.pi, math.pi, count)
    return np.stack([theta * np.cos(phi), theta * np.sin(phi), extension], axis=1)


def _tips(limb: LimbParameters, segments: list[FloatArray]) -> FloatArray:
    """(m, 3) tip of the limb in its base frame [m], gaps counted in."""
    gaps = limb_gaps(limb)
    rotation = np.tile(np.eye(3), (segments[0].shape[0], 1, 1))
    position = gaps[0] * rotation[:, :, 2]
    for k, (found, rest) in enumerate(
        zip(segments, limb.segment_length_mm, strict=True)
    ):
        point, turn = _arcs(found, rest * 1e-3)
        position = position + np.einsum("nij,nj->ni", rotation, point)
        rotation = rotation @ turn
        position = position + gaps[k + 1] * rotation[:, :, 2]
    return np.asarray(position)


def _arcs(coordinates: FloatArray, rest: float) -> tuple[FloatArray, FloatArray]:
    """(m, 3) ends [m] and (m, 3, 3) rotations of arcs (models/arc)."""
    delta, length = coordinates[:, :2], rest + coordinates[:, 2]
    theta = np.hypot(*delta.T)
    half = np.sinc(theta / (2.0 * math.pi))  # sin(θ/2) / (θ/2)
    a, b = 0.5 * half * half, np.sinc(theta / math.pi)
    across = delta * a[:, None]
    point = np.column_stack([length[:, None] * across, length * b])
    turn = np.empty((theta.size, 3, 3))
    turn[:, :2, :2] = np.eye(2) - delta[:, :, None] * across[:, None, :]
    turn[:, :2, 2] = delta * b[:, None]
    turn[:, 2, :2] = -turn[:, :2, 2]
    turn[:, 2, 2] = np.cos(theta)
    return point, turn


def _feet(leg: LegParameters, joints: FloatArray) -> FloatArray:
    """(m, 3) foot in the leg's frame [m], each row as a leg of its own."""
    count = joints.shape[0]
    legs = LegModel(
        np.broadcast_to(np.asarray(leg.link_mm) * 1e-3, (count, 4)),
        np.broadcast_to(np.radians(leg.joint_range_deg), (count, 3, 2)),
        np.broadcast_to(np.eye(4), (count, 4, 4)),
    )
    return leg_points(legs, joints)[:, 3]


def _limb_limits(robot: RobotParameters, limb: LimbParameters) -> tuple[str, ...]:
    lines = []
    for k, rest in enumerate(limb.segment_length_mm):
        name = f"segment {k + 1}"
        if limb.opposing and k == 1:
            lines.append(f"{name}: bends as segment 1, the opposite way")
            continue
        if not limb.chambers:
            low, high = limb.extension_range_mm or (0.0, 0.0)
            lines.append(
                f"{name}: bend to {robot.limits.bend_deg:g} degrees, length "
                f"{rest + low:g} to {rest + high:g} mm"
            )
            continue
        chambers = limb.chambers[k]
        low, high = chambers.length_range_mm
        told = "ASSUMED" if "length_range_mm" in chambers.assumed else "given"
        lengths = f"{low:.4g} to {high:.4g} mm ({told})"
        if chambers.kind == "elongation":
            lines.append(f"{name}: length {lengths}")
            continue
        place = "ASSUMED" if "distance_mm" in chambers.assumed else "given"
        idle = "; the shortest one idle" if chambers.one_idle else ""
        lines.append(
            f"{name}: {len(chambers.azimuth_deg)} chambers {chambers.distance_mm:g} mm "
            f"off the axis ({place}), each {lengths}{idle}; bend to "
            f"{robot.limits.bend_deg:g} degrees"
        )
    return tuple(lines)


def _leg_limits(leg: LegParameters) -> tuple[str, ...]:
    names = ("coxa", "femur", "tibia")
    return tuple(
        f"{name}: {low:g} to {high:g} degrees"
        for name, (low, high) in zip(names, leg.joint_range_deg, strict=True)
    )


def describe_workspace(workspace: Workspace) -> list[str]:
    """Put a workspace's size into words, beside the one its source prints."""
    size = workspace.size * 1e3
    low, high = workspace.low * 1e3, workspace.high * 1e3
    count = workspace.points.shape[0]
    lines = [
        f"{workspace.robot} {workspace.limb}: {_edges(size)} mm, from {count} postures",
        f"from {_corner(low)} to {_corner(high)} mm in the frame of its base",
    ]
    if workspace.printed_mm is not None:
        printed = np.asarray(workspace.printed_mm)
        share = ", ".join(f"{value:.0f}" for value in 100.0 * size / printed)
        lines.append(
            f"printed in its source: {_edges(printed)} mm; this is {share} % of it"
        )
    return [*lines, *workspace.limits]


def _edges(size: FloatArray) -> str:
    return " x ".join(f"{value:.0f}" for value in size)


def _corner(point: FloatArray) -> str:
    return f"({', '.join(f'{value:.0f}' for value in point)})"
