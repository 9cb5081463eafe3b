"""A whole limb: its segments end to end, in the frame of its base.

Sources: Emet 2023 eqs 1-6 per segment; product of torsion-free arc poses.

`limb_poses` and `limb_tip_jacobian` serve a limb of a `RobotModel` in the 1 kHz loop
and leave out any rigid gap between segments (URSULA has none). `LimbModel` is one limb
alone, of any number of segments, with a straight rigid gap before each segment and
behind the last one: `limb_frames`, `limb_jacobian` and, for drawing and collision,
`limb_shape`. Gaps are along the local z axis; a bent connector is left out.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.arc import arc_jacobian, arc_pose
from models.material import segment_material
from models.numerics import FloatArray, kernel
from models.robot import RobotModel

__all__ = [
    "LimbModel",
    "build_limb_model",
    "limb_frames",
    "limb_jacobian",
    "limb_model_of_robot",
    "limb_poses",
    "limb_shape",
    "limb_tip_jacobian",
]


class LimbModel(NamedTuple):
    """Constant parameters of one limb of n segments, SI units."""

    segment_length: FloatArray
    """(n,) rest arc length [m]."""
    segment_radius: FloatArray
    """(n, 2) radius of the section at a segment's start and end [m]; linear."""
    gap: FloatArray
    """(n+1,) rigid length before each segment, and behind the last one [m]."""
    bend_limit: FloatArray
    """(n,) greatest bending angle θ [rad]."""
    extension_range: FloatArray
    """(n, 2) least and greatest δℓ [m]."""
    rest_coordinates: FloatArray
    """(n, 3) posture that spare freedom goes to (Δx, Δy, δℓ) [rad, rad, m]."""
    stiffness: FloatArray
    """(n, 2) of bend [1] and of extension [1/m2], over that of the softest bend."""
    bend_rate_limit: FloatArray
    """(n,) greatest commanded |d(Δx, Δy)/dt| [rad/s]."""
    extension_rate_limit: FloatArray
    """(n,) greatest commanded |dδℓ/dt| [m/s]."""
    tip_speed_limit: FloatArray
    """(1,) greatest commanded speed of the tip [m/s]."""


def build_limb_model(
    segment_length: ArrayLike,
    radius: ArrayLike,
    bend_limit: ArrayLike,
    extension_range: ArrayLike,
    gap: ArrayLike = 0.0,
    rest_coordinates: ArrayLike = 0.0,
    bend_rate_limit: ArrayLike = 2.0,
    extension_rate_limit: ArrayLike = 0.2,
    tip_speed_limit: float = 0.5,
) -> LimbModel:
    """Build the model of a limb whose segments are of one material.

    Scalars stand for all segments. An extension is as stiff as a bend that strains the
    skin as much: 1/r², r the mean radius.

    Args:
        segment_length: (n,) rest arc lengths [m].
        radius: scalar, (n,) or (n, 2) at the segments' starts and ends [m].
        bend_limit: scalar or (n,) [rad].
        extension_range: (2,) or (n, 2) least and greatest δℓ [m].
        gap: scalar or (n+1,) rigid lengths [m].
        rest_coordinates: scalar, (3,) or (n, 3) [rad, rad, m].
        bend_rate_limit: scalar or (n,) [rad/s].
        extension_rate_limit: scalar or (n,) [m/s].
        tip_speed_limit: [m/s].

    Raises:
        ValueError: a shape that fits none of these, a length, radius or limit that is
            not positive, a negative gap, or an empty range of extension.
    """
    length = np.atleast_1d(np.array(segment_length, dtype=np.float64))
    count = length.size

    def every(value: ArrayLike, *shape: int) -> FloatArray:
        # one layout: another one is another compilation of every kernel
        whole = np.empty(shape)
        whole[...] = value
        return whole

    given = np.asarray(radius, dtype=np.float64)
    ends = every(given[:, None] if given.ndim == 1 else given, count, 2)
    model = LimbModel(
        segment_length=length,
        segment_radius=ends,
        gap=every(gap, count + 1),
        bend_limit=every(bend_limit, count),
        extension_range=every(extension_range, count, 2),
        rest_coordinates=every(rest_coordinates, count, 3),
        stiffness=np.ones((count, 2)),
        bend_rate_limit=every(bend_rate_limit, count),
        extension_rate_limit=every(extension_rate_limit, count),
        tip_speed_limit=every(tip_speed_limit, 1),
    )
    low, high = model.extension_range.T
    wrong = [
        name
        for name, good in {
            "segment_length is to be positive": np.all(length > 0.0),
            "radius is to be positive": np.all(ends > 0.0),
            "gap is to be 0 or more": np.all(model.gap >= 0.0),
            "bend_limit is to be in 0..2π": np.all(
                (model.bend_limit > 0.0) & (model.bend_limit < 2.0 * np.pi)
            ),
            "extension_range is to rise": np.all(low <= high),
            "the least length is to be positive": np.all(length + low > 0.0),
        }.items()
        if not good
    ]
    if wrong:
        message = f"limb: {'; '.join(wrong)}"
        raise ValueError(message)
    model.stiffness[:, 1] = ends.mean(axis=1) ** -2.0
    return model


def limb_model_of_robot(
    model: RobotModel, limb: int, gap: ArrayLike = 0.0
) -> LimbModel:
    """Take one limb out of a robot, its stiffness from the tapered sections.

    Args:
        model: the robot.
        limb: index of the limb.
        gap: scalar or (n+1,) rigid lengths [m], which a RobotModel does not hold.
    """
    rows = slice(model.limb_segment_start[limb], model.limb_segment_start[limb + 1])
    built = build_limb_model(
        model.segment_length[rows],
        model.segment_radius[rows],
        model.bend_limit[rows],
        model.extension_range[rows],
        gap,
        model.rest_coordinates[rows],
        model.bend_rate_limit[rows],
        model.extension_rate_limit[rows],
        float(model.tip_speed_limit[limb]),
    )
    stiffness = np.array(
        [segment_material(model, s)[:2] for s in range(rows.start, rows.stop)]
    )
    return built._replace(stiffness=stiffness / stiffness[:, 0].min())


@kernel
def limb_poses(
    model: RobotModel, limb: int, coordinates: FloatArray, pose_out: FloatArray
) -> None:
    """Poses of the base and of every segment's end in the limb's base frame.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) segment coordinates of this limb [rad, rad, m].
        pose_out: (n+1, 4, 4) homogeneous poses [m]; pose_out[n] is the tip's.
    """
    start = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - start
    for i in range(4):
        for j in range(4):
            pose_out[0, i, j] = 1.0 if i == j else 0.0
    for k in range(count):
        arc_pose(
            coordinates[k, 0],
            coordinates[k, 1],
            model.segment_length[start + k] + coordinates[k, 2],
            pose_out[k + 1],
        )
        for j in range(4):
            x = pose_out[k + 1, 0, j]
            y = pose_out[k + 1, 1, j]
            z = pose_out[k + 1, 2, j]
            w = pose_out[k + 1, 3, j]
            for i in range(3):
                pose_out[k + 1, i, j] = (
                    pose_out[k, i, 0] * x
                    + pose_out[k, i, 1] * y
                    + pose_out[k, i, 2] * z
                    + pose_out[k, i, 3] * w
                )


@kernel
def limb_tip_jacobian(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    pose_out: FloatArray,
    jacobian_out: FloatArray,
) -> None:
    """Tip twist for unit rates of the segment coordinates, and the poses on the way.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) segment coordinates of this limb [rad, rad, m].
        pose_out: (n+1, 4, 4) as `limb_poses` gives.
        jacobian_out: (6, 3 n) angular velocity [rad/s] then velocity of the tip [m/s]
            in the limb's base frame; columns are the coordinates in row order.
    """
    start = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - start
    limb_poses(model, limb, coordinates, pose_out)
    for k in range(count):
        arc_jacobian(
            coordinates[k, 0],
            coordinates[k, 1],
            model.segment_length[start + k] + coordinates[k, 2],
            jacobian_out[:, 3 * k : 3 * k + 3],
        )
        # lever from the end of this segment to the tip
        lever_x = pose_out[count, 0, 3] - pose_out[k + 1, 0, 3]
        lever_y = pose_out[count, 1, 3] - pose_out[k + 1, 1, 3]
        lever_z = pose_out[count, 2, 3] - pose_out[k + 1, 2, 3]
        for j in range(3):
            column = 3 * k + j
            for half in range(0, 6, 3):
                x = jacobian_out[half, column]
                y = jacobian_out[half + 1, column]
                z = jacobian_out[half + 2, column]
                for i in range(3):
                    jacobian_out[half + i, column] = (
                        pose_out[k, i, 0] * x
                        + pose_out[k, i, 1] * y
                        + pose_out[k, i, 2] * z
                    )
            wx = jacobian_out[0, column]
            wy = jacobian_out[1, column]
            wz = jacobian_out[2, column]
            jacobian_out[3, column] += wy * lever_z - wz * lever_y
            jacobian_out[4, column] += wz * lever_x - wx * lever_z
            jacobian_out[5, column] += wx * lever_y - wy * lever_x


@kernel
def limb_frames(
    model: LimbModel, coordinates: FloatArray, frame_out: FloatArray
) -> None:
    """Frames where each segment starts, and the tip's, in the limb's base frame.

    Args:
        model: the limb.
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        frame_out: (n+1, 4, 4) homogeneous poses [m]: frame_out[k] at the start of
            segment k, behind its gap; frame_out[n] the tip, behind the last gap.
    """
    count = model.segment_length.size
    for i in range(4):
        for j in range(4):
            frame_out[0, i, j] = 1.0 if i == j else 0.0
    frame_out[0, 2, 3] = model.gap[0]
    for k in range(count):
        arc_pose(
            coordinates[k, 0],
            coordinates[k, 1],
            model.segment_length[k] + coordinates[k, 2],
            frame_out[k + 1],
        )
        for i in range(3):
            frame_out[k + 1, i, 3] += model.gap[k + 1] * frame_out[k + 1, i, 2]
        for j in range(4):
            x = frame_out[k + 1, 0, j]
            y = frame_out[k + 1, 1, j]
            z = frame_out[k + 1, 2, j]
            w = frame_out[k + 1, 3, j]
            for i in range(3):
                frame_out[k + 1, i, j] = (
                    frame_out[k, i, 0] * x
                    + frame_out[k, i, 1] * y
                    + frame_out[k, i, 2] * z
                    + frame_out[k, i, 3] * w
                )


@kernel
def limb_jacobian(
    model: LimbModel,
    coordinates: FloatArray,
    frame_out: FloatArray,
    jacobian_out: FloatArray,
) -> None:
    """Tip twist for unit rates of the segment coordinates, and the frames on the way.

    Args:
        model: the limb.
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        frame_out: (n+1, 4, 4) as `limb_frames` gives.
        jacobian_out: (6, 3 n) angular velocity [rad/s] then velocity of the tip [m/s]
            in the limb's base frame; columns are the coordinates in row order.
    """
    count = model.segment_length.size
    limb_frames(model, coordinates, frame_out)
    for k in range(count):
        arc_jacobian(
            coordinates[k, 0],
            coordinates[k, 1],
            model.segment_length[k] + coordinates[k, 2],
            jacobian_out[:, 3 * k : 3 * k + 3],
        )
        # from the end of this segment, before the next gap, to the tip
        gap = model.gap[k + 1]
        lever_x = frame_out[count, 0, 3] - frame_out[k + 1, 0, 3]
        lever_x += gap * frame_out[k + 1, 0, 2]
        lever_y = frame_out[count, 1, 3] - frame_out[k + 1, 1, 3]
        lever_y += gap * frame_out[k + 1, 1, 2]
        lever_z = frame_out[count, 2, 3] - frame_out[k + 1, 2, 3]
        lever_z += gap * frame_out[k + 1, 2, 2]
        for column in range(3 * k, 3 * k + 3):
            for half in range(0, 6, 3):
                x = jacobian_out[half, column]
                y = jacobian_out[half + 1, column]
                z = jacobian_out[half + 2, column]
                for i in range(3):
                    jacobian_out[half + i, column] = (
                        frame_out[k, i, 0] * x
                        + frame_out[k, i, 1] * y
                        + frame_out[k, i, 2] * z
                    )
            wx = jacobian_out[0, column]
            wy = jacobian_out[1, column]
            wz = jacobian_out[2, column]
            jacobian_out[3, column] += wy * lever_z - wz * lever_y
            jacobian_out[4, column] += wz * lever_x - wx * lever_z
            jacobian_out[5, column] += wx * lever_y - wy * lever_x


@kernel
def limb_shape(
    model: LimbModel,
    coordinates: FloatArray,
    fraction: FloatArray,
    frame_out: FloatArray,
    pose_out: FloatArray,
    radius_out: FloatArray,
) -> None:
    """Frames and radii at any number of points along the limb.

    Args:
        model: the limb.
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        fraction: (m,) of the limb's present length, gaps counted in, from 0 at the base
            to 1 at the tip, in any order; what lies outside is taken as the nearer end.
        frame_out: (n+1, 4, 4) as `limb_frames` gives.
        pose_out: (m, 4, 4) torsion-free poses in the limb's base frame [m].
        radius_out: (m,) radius of the section [m]; a gap is as thick as the end of
            the segment before it.
    """
    count = model.segment_length.size
    limb_frames(model, coordinates, frame_out)
    total = model.gap[count]
    for k in range(count):
        total += model.gap[k] + model.segment_length[k] + coordinates[k, 2]
    for m in range(fraction.size):
        way = min(max(fraction[m], 0.0), 1.0) * total
        at = count
        part = 0.0  # of the segment
        behind = 0.0  # the frame of the piece, in a gap
        for k in range(count):
            length = model.segment_length[k] + coordinates[k, 2]
            if way < model.gap[k] or way <= model.gap[k] + length:
                at = k
                part = max(way - model.gap[k], 0.0) / length
                behind = min(way - model.gap[k], 0.0)
                break
            way -= model.gap[k] + length
        if at == count:
            behind = min(way - model.gap[count], 0.0)
            arc_pose(0.0, 0.0, behind, pose_out[m])
            radius_out[m] = model.segment_radius[count - 1, 1]
        else:
            length = model.segment_length[at] + coordinates[at, 2]
            arc_pose(
                part * coordinates[at, 0],
                part * coordinates[at, 1],
                part * length + behind,
                pose_out[m],
            )
            start = model.segment_radius[at, 0]
            radius_out[m] = start + part * (model.segment_radius[at, 1] - start)
            if behind < 0.0 and at > 0:
                radius_out[m] = model.segment_radius[at - 1, 1]
        for j in range(4):
            x = pose_out[m, 0, j]
            y = pose_out[m, 1, j]
            z = pose_out[m, 2, j]
            w = pose_out[m, 3, j]
            for i in range(3):
                pose_out[m, i, j] = (
                    frame_out[at, i, 0] * x
                    + frame_out[at, i, 1] * y
                    + frame_out[at, i, 2] * z
                    + frame_out[at, i, 3] * w
                )
