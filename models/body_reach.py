"""The arm of a standing robot reaches farther as the legs move its body.

Given a point for the arm's tip, the smallest motion of the body is sought, with all
feet where they are, that brings the point into the arm's workspace (Liu 2020 does so by
hand: workspace and confined-space protocols):

    minimise  |shift|² + (2 r sin(angle/2))²   over poses of the body with
    the point in the arm's workspace, every foot in its leg's workspace,
    the centre a margin inside the support polygon.

Each workspace is known by one function: the nearest point of the set. With p a fixed
point seen from the body, P its nearest point and d their distance, d²/2 has the
gradient p - P, inside the set too. So the search needs no other model of an arm. It
minimises the move, with a weight that falls to 1e-8, plus d² of arm, feet and centre,
by damped Gauss-Newton steps from the present pose; less than a micrometre of violation
is left. Feet and arm weigh the same at first: with firmer feet the search creeps along
their limits, and of 40 poses 3 were not found. Where the point is out of reach it would
pull the feet along, so the search then goes on with firmer feet; and the legs keep
clear of their stops, which leaves the feet of the answer in reach without tolerance.

A local method: of a set of allowed poses in several parts it finds the one at hand.
Leaves out slipping feet, soft ground, and the shift of the centre by the arm.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.gait import support_margin
from models.leg import LegModel, narrow_joint_range
from models.leg_inverse import leg_inverse
from models.lie import rotation_exp
from models.numerics import FloatArray, IntArray
from models.stance import stance_joints

__all__ = [
    "ARM_OUT_OF_REACH",
    "FEET_OUT_OF_REACH",
    "UNSTABLE",
    "BodyReach",
    "Nearest",
    "ball_workspace",
    "box_workspace",
    "reach_with_body",
]

ARM_OUT_OF_REACH = 1
"""No allowed pose nearby brings the point into the arm's workspace: walk nearer."""
FEET_OUT_OF_REACH = 2
"""A foot cannot stay where it is, at the start already."""
UNSTABLE = 4
"""The centre cannot be brought inside the support polygon by the wanted margin."""

Nearest = Callable[[FloatArray], FloatArray]
"""From a point (3,) in the arm's base frame to the nearest one that the arm reaches."""

_IN_REACH = 1e-6  # [m] of the search's answer
_FIRMNESS = (10.0, 100.0, 1000.0)  # weight of feet and centre over the arm
_MOVE_WEIGHTS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
_MOST_STEPS = 40  # of each weight
_LEAST_GAIN = 1e-12  # relative, of a step
_OUTSIDE = 1e-5  # [m] from a workspace at which slopes are taken
_DIFFERENCE = 1e-7  # [m]


class BodyReach(NamedTuple):
    """How the body is to stand so that the arm reaches a point."""

    status: int
    """0, or the bits ARM_OUT_OF_REACH, FEET_OUT_OF_REACH, UNSTABLE."""
    pose_body_to_ground: FloatArray
    """(4, 4) wanted pose [m]."""
    joint: FloatArray
    """(L, 3) angles of the legs [rad]."""
    leg_status: IntArray
    """(L,) as `leg_inverse` returns it."""
    point_in_arm: FloatArray
    """(3,) the point seen from the arm's base [m]: what to command the arm."""
    gap: float
    """Distance of that point from the arm's workspace [m]."""
    margin: float
    """Distance of the centre inside the support polygon [m]."""
    arm_coordinates: FloatArray | None
    """What the arm's inverse gave, or None where none was handed in."""


def box_workspace(least: ArrayLike, greatest: ArrayLike) -> Nearest:
    """Nearest point of a box along the axes of the arm's base frame.

    Args:
        least: (3,) corner [m].
        greatest: (3,) opposite corner [m].

    Returns:
        The function that `reach_with_body` takes.
    """
    low = np.asarray(least, dtype=np.float64)
    high = np.asarray(greatest, dtype=np.float64)

    def nearest(point: FloatArray) -> FloatArray:
        return np.clip(point, low, high)

    return nearest


def ball_workspace(centre: ArrayLike, radius: float) -> Nearest:
    """Nearest point of a ball.

    Args:
        centre: (3,) in the arm's base frame [m].
        radius: [m].

    Returns:
        The function that `reach_with_body` takes.
    """
    middle = np.asarray(centre, dtype=np.float64)

    def nearest(point: FloatArray) -> FloatArray:
        way = point - middle
        distance = float(np.linalg.norm(way))
        return point if distance <= radius else middle + way * (radius / distance)

    return nearest


def _cross_matrix(vector: FloatArray) -> FloatArray:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _moved(pose: FloatArray, step: FloatArray) -> FloatArray:
    """The pose after a motion (turn, shift) in its own frame."""
    turn = np.empty((3, 3))
    rotation_exp(step[:3], turn)
    following = pose.copy()
    following[:3, :3] = pose[:3, :3] @ turn
    following[:3, 3] += pose[:3, :3] @ step[3:]
    return following


def _support_edges(foot: FloatArray) -> FloatArray:
    """(E, 3) edges of the feet's hull: inside, n_x x + n_y y - c is the distance."""
    edges = []
    for first in foot[:, :2]:
        for second in foot[:, :2]:
            way = second - first
            length = float(np.linalg.norm(way))
            if length > 0.0:
                normal = np.array([-way[1], way[0]]) / length
                distance = (foot[:, :2] - first) @ normal
                if np.all(distance > -1e-12):
                    edges.append([*normal, normal @ first])
    return np.array(edges)


def _gap_slope(point: FloatArray, gap: FloatArray, nearest: Nearest) -> FloatArray:
    """(3, 3) change of the gap with the point, by differences outside the set.

    Near the set they are taken a little out along the gap, where the nearest point is
    the same, and with outward steps: one inward would enter the set and find no slope.
    """
    outside = max(float(np.linalg.norm(gap)), _OUTSIDE) / float(np.linalg.norm(gap))
    at = point + (outside - 1.0) * gap
    here = at - nearest(at)
    slope = np.empty((3, 3))
    for i in range(3):
        moved = at.copy()
        moved[i] += np.copysign(_DIFFERENCE, gap[i])
        slope[:, i] = (moved - nearest(moved) - here) / (moved[i] - at[i])
    return slope


class _Search:
    """Distances to all workspaces, and their slopes, at a pose of the body."""

    def __init__(
        self,
        legs: LegModel,
        foot_in_ground: FloatArray,
        pose_at_start: FloatArray,
        pose_arm_to_body: FloatArray,
        point_in_ground: FloatArray,
        arm: Nearest,
        centre_in_body: FloatArray,
        margin: float,
        turn_radius: float,
    ) -> None:
        self.legs = legs
        self.foot = foot_in_ground
        self.start = pose_at_start
        self.mount = pose_arm_to_body
        self.point = point_in_ground
        self.arm = arm
        self.centre = centre_in_body
        self.edges = _support_edges(foot_in_ground)
        self.margin = margin
        self.radius = turn_radius
        self.joint = np.zeros((len(foot_in_ground), 3))
        self.reached = np.empty((len(foot_in_ground), 3))
        self.status = np.zeros(len(foot_in_ground), dtype=np.int64)

    def in_arm(self, pose: FloatArray) -> FloatArray:
        """The point seen from the arm's base [m]."""
        in_body = pose[:3, :3].T @ (self.point - pose[:3, 3])
        point: FloatArray = self.mount[:3, :3].T @ (in_body - self.mount[:3, 3])
        return point

    def margin_at(self, pose: FloatArray) -> float:
        """Distance of the centre inside the support polygon [m]."""
        centre = pose[:3, :3] @ self.centre + pose[:3, 3]
        all_feet = (1 << len(self.foot)) - 1
        return support_margin(self.foot, all_feet, centre[0], centre[1])

    def _nearest_of_leg(self, leg: int) -> Nearest:
        def nearest(point: FloatArray) -> FloatArray:
            reached = np.empty(3)
            leg_inverse(self.legs, leg, point, np.empty(3), reached)
            return reached

        return nearest

    @staticmethod
    def _add_gap(
        pose: FloatArray,
        mount: FloatArray,
        point_in_ground: FloatArray,
        nearest: Nearest,
        weight: float,
        residuals: list[float],
        rows: list[FloatArray],
    ) -> None:
        """Add the way of a fixed point from a workspace mounted on the body."""
        in_body = pose[:3, :3].T @ (point_in_ground - pose[:3, 3])
        point = mount[:3, :3].T @ (in_body - mount[:3, 3])
        gap = point - nearest(point)
        if not gap.any():
            return
        # seen from the body, a fixed point moves by at x turn - shift
        motion = np.hstack([_cross_matrix(in_body), -np.eye(3)])
        residuals.extend(weight * gap)
        rows.extend(weight * _gap_slope(point, gap, nearest) @ mount[:3, :3].T @ motion)

    def evaluate(
        self, pose: FloatArray, move_weight: float, firmness: float
    ) -> tuple[FloatArray, FloatArray]:
        """Residuals (n,) [m] and their slopes (n, 6) by a motion in the body frame."""
        rotation = pose[:3, :3]
        scale = np.sqrt(move_weight)
        residuals = [*(scale * (pose[:3, 3] - self.start[:3, 3]))]
        rows = [*np.hstack([np.zeros((3, 3)), scale * rotation])]
        scale *= self.radius / np.sqrt(2.0)
        for axis in range(3):
            turned = rotation[:, axis] - self.start[:3, axis]
            slope = -rotation @ _cross_matrix(np.eye(3)[axis])
            residuals += [*(scale * turned)]
            rows += [*np.hstack([scale * slope, np.zeros((3, 3))])]

        self._add_gap(pose, self.mount, self.point, self.arm, 1.0, residuals, rows)
        stance_joints(self.legs, self.foot, pose, self.joint, self.reached, self.status)
        for leg in np.flatnonzero(self.status):
            self._add_gap(
                pose,
                self.legs.pose_leg_to_body[leg],
                self.foot[leg],
                self._nearest_of_leg(int(leg)),
                firmness,
                residuals,
                rows,
            )
        centre = rotation @ self.centre + pose[:3, 3]
        lacking = self.margin + self.edges[:, 2] - self.edges[:, :2] @ centre[:2]
        slope = np.hstack([-rotation @ _cross_matrix(self.centre), rotation])[:2]
        for edge in np.flatnonzero(lacking > 0.0):
            residuals.append(firmness * lacking[edge])
            rows.append(-firmness * self.edges[edge, :2] @ slope)
        return np.array(residuals), np.array(rows)

    def settle(
        self, pose: FloatArray, move_weight: float, firmness: float
    ) -> FloatArray:
        """Least sum of squares near a pose, by damped Gauss-Newton steps."""
        damping = 1e-6
        residual, slope = self.evaluate(pose, move_weight, firmness)
        cost = residual @ residual
        for _ in range(_MOST_STEPS):
            matrix = slope.T @ slope
            matrix += damping * np.diag(np.diag(matrix))
            step = np.asarray(
                np.linalg.solve(matrix, -slope.T @ residual), dtype=np.float64
            )
            following = _moved(pose, step)
            next_residual, next_slope = self.evaluate(following, move_weight, firmness)
            next_cost = next_residual @ next_residual
            if next_cost < cost:
                gain = cost - next_cost
                pose, residual, slope, cost = (
                    following,
                    next_residual,
                    next_slope,
                    next_cost,
                )
                damping = max(0.2 * damping, 1e-9)
                if gain <= _LEAST_GAIN * cost:
                    break
            else:
                damping *= 8.0
                if damping > 1e6:
                    break
        return pose


def reach_with_body(
    legs: LegModel,
    foot_in_ground: FloatArray,
    pose_at_start: FloatArray,
    pose_arm_to_body: FloatArray,
    point_in_ground: ArrayLike,
    arm: Nearest,
    arm_inverse: Callable[[FloatArray], tuple[FloatArray, bool]] | None = None,
    centre_in_body: ArrayLike = (0.0, 0.0, 0.0),
    least_margin: float = 0.0,
    joint_margin: float = 0.01,
    turn_radius: float = 0.3,
) -> BodyReach:
    """Move the standing body as little as needed for the arm to reach a point.

    For a person's command, not for the loop: 13 ms, at most 0.4 s over 200 points.

    Args:
        legs: the legs.
        foot_in_ground: (L, 3) feet, fixed; the ground's z is up [m].
        pose_at_start: (4, 4) present pose of the body in the ground frame [m].
        pose_arm_to_body: (4, 4) pose of the arm's base in the body frame [m].
        point_in_ground: (3,) wanted point of the arm's tip [m].
        arm: the arm's workspace, as its nearest point; should be convex.
        arm_inverse: from a point in the arm's base frame to the arm's coordinates and
            whether it is reached; asked once, for the answer.
        centre_in_body: (3,) resultant of weight and buoyancy [m].
        least_margin: wanted distance of the centre inside the support polygon [m].
        joint_margin: that the legs keep from their stops [rad], above 0.
        turn_radius: r, the way that counts as much as a turn of 1 rad [m].

    Returns:
        The pose and what is left. Out of reach, it is the pose with the least gap, and
        `point_in_arm` minus the nearest point of `arm` is what is left to walk.

    Raises:
        ValueError: an input that is not finite, or a joint margin of 0 or below.
    """
    given = (foot_in_ground, pose_at_start, pose_arm_to_body, point_in_ground)
    if not all(np.all(np.isfinite(item)) for item in given):
        message = "feet, poses and the wanted point must be finite numbers"
        raise ValueError(message)
    if not joint_margin > 0.0:
        message = f"joint_margin is {joint_margin} rad; allowed is above 0"
        raise ValueError(message)
    search = _Search(
        narrow_joint_range(legs, joint_margin),
        np.asarray(foot_in_ground, dtype=np.float64),
        np.asarray(pose_at_start, dtype=np.float64),
        np.asarray(pose_arm_to_body, dtype=np.float64),
        np.asarray(point_in_ground, dtype=np.float64),
        arm,
        np.asarray(centre_in_body, dtype=np.float64),
        least_margin,
        turn_radius,
    )
    count = len(search.foot)
    joint = np.zeros((count, 3))
    foot = np.empty((count, 3))
    leg_status = np.zeros(count, dtype=np.int64)
    pose = search.start
    for weight in _MOVE_WEIGHTS:
        pose = search.settle(pose, weight, 1.0)
    held = stance_joints(legs, search.foot, pose, joint, foot, leg_status)
    for firmness in _FIRMNESS:
        if held == count and search.margin_at(pose) >= least_margin - _IN_REACH:
            break
        pose = search.settle(pose, _MOVE_WEIGHTS[-1], firmness)
        held = stance_joints(legs, search.foot, pose, joint, foot, leg_status)
    point = search.in_arm(pose)
    gap = float(np.linalg.norm(point - arm(point)))
    margin = search.margin_at(pose)
    status = 0 if held == count else FEET_OUT_OF_REACH
    if margin < least_margin - _IN_REACH:
        status |= UNSTABLE
    coordinates = None
    reached = gap <= _IN_REACH
    if arm_inverse is not None:
        coordinates, reached = arm_inverse(point)
    if not reached:
        status |= ARM_OUT_OF_REACH
    return BodyReach(status, pose, joint, leg_status, point, gap, margin, coordinates)
