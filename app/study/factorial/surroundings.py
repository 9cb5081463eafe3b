"""What stands around the robot in a trial: the task's scene in the variant's hardness.

A pressing task in a scene gives its pads' surfaces to the scene's obstacles, in their
order. One without a scene gets a block under each pad. From seed to seed all vary in
hardness, if that is asked for: the draws are the environment's, not the strategy's.
"""

import math

import numpy as np

from app.config.scene import ObstacleParameters, SceneParameters, load_scene
from app.config.task_place import PlacedPad, PlacedTask
from models.numerics import FloatArray

__all__ = ["harder", "scene_of"]

_PAD_MM = (60.0, 60.0, 20.0)


def scene_of(task: PlacedTask) -> SceneParameters | None:
    """Return the scene of a task in its variant; None where it stands in open water."""
    name = task.parameters.scene
    if name is None:
        return _blocks(task)
    scene = load_scene(name)
    changed = [
        item.model_copy(update=_surface(task.pads[number]))
        if number < len(task.pads)
        else item
        for number, item in enumerate(scene.obstacles)
    ]
    return scene.model_copy(update={"obstacles": tuple(changed)})


def harder(
    task: PlacedTask, scene: SceneParameters | None, spread: float, seed: int
) -> tuple[SceneParameters | None, float]:
    """Vary the hardness of all obstacles by one lognormal factor.

    Args:
        task: whose scene it is.
        scene: the surroundings.
        spread: standard deviation of the factor's logarithm.
        seed: of the environment.

    Returns:
        The scene, and the factor.
    """
    if scene is None or spread == 0.0 or not task.pads:
        return scene, 1.0
    factor = math.exp(spread * float(np.random.default_rng(seed).standard_normal()))
    changed = tuple(
        item.model_copy(update={"stiffness_n_per_m": item.stiffness_n_per_m * factor})
        for item in scene.obstacles
    )
    return scene.model_copy(update={"obstacles": changed}), factor


def _surface(pad: PlacedPad) -> dict[str, object]:
    if pad.exponent == 1.0:
        return {
            "stiffness_n_per_m": pad.stiffness,
            "exponent": 1.0,
            "damping_n_s_per_m": pad.damping,
            "dissipation_s_per_m": None,
        }
    return {
        "stiffness_n_per_m": pad.stiffness,
        "exponent": pad.exponent,
        "damping_n_s_per_m": None,
        "dissipation_s_per_m": pad.damping / pad.stiffness,
    }


def _blocks(task: PlacedTask) -> SceneParameters | None:
    if not task.pads:
        return None
    angles = _angles(task.pose_to_hull[:3, :3])
    blocks = []
    for number, pad in enumerate(task.pads, start=1):
        middle = 1e3 * (pad.place - 0.5e-3 * _PAD_MM[2] * pad.normal)
        x, y, z = middle.tolist()
        blocks.append(
            ObstacleParameters.model_validate(
                {
                    "name": f"pad-{number}",
                    "kind": "box",
                    "position_mm": (x, y, z),
                    "roll_pitch_yaw_deg": angles,
                    "size_mm": _PAD_MM,
                }
                | {k: v for k, v in _surface(pad).items() if v is not None}
            )
        )
    return SceneParameters(
        name=task.parameters.name,
        title=task.parameters.title,
        obstacles=tuple(blocks),
    )


def _angles(turn: FloatArray) -> tuple[float, float, float]:
    """Roll, pitch and yaw [deg] of a rotation, turned about x, then y, then z."""
    roll = math.atan2(turn[2, 1], turn[2, 2])
    pitch = math.asin(float(np.clip(-turn[2, 0], -1.0, 1.0)))
    yaw = math.atan2(turn[1, 0], turn[0, 0])
    return math.degrees(roll), math.degrees(pitch), math.degrees(yaw)
