"""A posture for a goal in one call: cold solution, spare freedom, reasons.

For callers outside the loop: it allocates. See models/reach and models/reach_step.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from models.clearance import allocate_clearance_data, limb_clearance
from models.limb import limb_frames
from models.limited_step import allocate_reach_data
from models.numerics import FloatArray
from models.obstacle import ObstacleModel, build_obstacle_model
from models.reach import (
    REACH_SOLVED,
    ReachModel,
    reach_outcome,
    reach_reasons,
    reach_solve,
)
from models.reach_step import reach_settle

__all__ = ["ReachResult", "reach_posture"]

_CLEAR = 0.5  # of the margin: enough, where the drift to rest pushes against it


@dataclass(frozen=True)
class ReachResult:
    """A posture for a goal.

    Attributes:
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        outcome: "solved", "limited" or "unreachable".
        reasons: why the goal was not met, in words.
        position: (3,) where the tip is, the nearest reachable point found [m].
        direction: (3,) where it points.
        position_error: way left to the goal [m].
        direction_error: angle left [rad]; 0 where no direction was asked for.
        clearance: least distance to the obstacles [m]; infinite without any.
        status: the bits behind outcome and reasons.
    """

    coordinates: FloatArray
    outcome: str
    reasons: tuple[str, ...]
    position: FloatArray
    direction: FloatArray
    position_error: float
    direction_error: float
    clearance: float
    status: int


def reach_posture(
    model: ReachModel,
    position: ArrayLike,
    direction: ArrayLike | None = None,
    guess: FloatArray | None = None,
    obstacles: ObstacleModel | None = None,
    margin: float = 0.0,
    tolerance: float = 1e-8,
    starts: int = 24,
    settle_steps: int = 40,
) -> ReachResult:
    """Find a posture for a goal, its spare freedom used.

    Where the posture comes too near to an obstacle, it starts from the next seeds, and
    hands back the clearest posture: within half the margin, or the best of all.

    Args:
        model: the limb and its seeds.
        position: (3,) of the tip in the limb's base frame [m].
        direction: (3,) of the tip's z axis, of any length; free where not given.
        guess: (n, 3) to start from first [rad, rad, m].
        obstacles: in the limb's base frame.
        margin: least distance wanted to them [m].
        tolerance: way that may be left, position and direction together [m].
        starts: most seeds to start from.
        settle_steps: steps to the rest posture and away from obstacles; 0 for none.

    Raises:
        ValueError: the direction has no length.
    """
    goal = np.zeros(6)
    goal[:3] = position
    if direction is not None:
        goal[3:] = direction
        size = float(np.linalg.norm(goal[3:]))
        if size == 0.0:
            message = "direction: (0, 0, 0) points nowhere; give a vector"
            raise ValueError(message)
        goal[3:] /= size
    limb = model.limb
    data = allocate_reach_data(limb, starts)
    clearance = allocate_clearance_data(limb)
    pointing = int(direction is not None)
    around = build_obstacle_model([]) if obstacles is None else obstacles
    gradient = np.empty_like(limb.rest_coordinates)
    best, best_status, best_clear = limb.rest_coordinates, -1, -np.inf
    for first in range(0 if guess is None else -1, max(starts, 1)):
        found = np.array(limb.rest_coordinates if guess is None else guess, float)
        status = reach_solve(
            model, goal, pointing, tolerance, starts, first, data, found
        )
        if status == REACH_SOLVED and settle_steps > 0:
            reach_settle(
                model,
                around,
                goal,
                pointing,
                margin,
                tolerance,
                settle_steps,
                clearance,
                data,
                found,
            )
        distance = limb_clearance(limb, around, found, clearance, gradient)
        if best_status < 0 or (status == REACH_SOLVED and distance > best_clear):
            best, best_status, best_clear = found, status, distance
        if status != REACH_SOLVED or distance >= _CLEAR * margin:
            break
    frame = np.empty((len(best) + 1, 4, 4))
    limb_frames(limb, best, frame)
    tip = frame[-1]
    angle = 0.0
    if direction is not None:
        across = float(np.linalg.norm(np.cross(tip[:3, 2], goal[3:])))
        angle = float(np.arctan2(across, tip[:3, 2] @ goal[3:]))
    return ReachResult(
        coordinates=best,
        outcome=reach_outcome(best_status),
        reasons=tuple(reach_reasons(best_status)),
        position=tip[:3, 3].copy(),
        direction=tip[:3, 2].copy(),
        position_error=float(np.linalg.norm(tip[:3, 3] - goal[:3])),
        direction_error=angle,
        clearance=best_clear,
        status=best_status,
    )
