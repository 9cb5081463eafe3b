"""The posture of a robot's limb in a scene, where that is not the one of its own file.

The spare freedom of a limb drifts to its rest posture (models/inverse), so that it
decides how the limb folds: out sideways over a slot, or flat under a plate. A scene may
ask for another one; nothing else of the robot is changed.
"""

from app.config.limbs import LimbParameters
from app.config.robot_parameters import RobotParameters
from app.config.scene import SceneParameters, placement_for
from app.errors import ConfigError

__all__ = ["robot_in_scene"]


def robot_in_scene(robot: RobotParameters, scene: SceneParameters) -> RobotParameters:
    """Return a robot with the rest posture that a scene wants of its acting limb.

    Args:
        robot: as its file gives it.
        scene: what stands around it.

    Returns:
        The robot itself where the scene asks for nothing.

    Raises:
        ConfigError: the scene has no place for the robot, names a limb that it has
            not, or a posture that the limb cannot have.
    """
    placement = placement_for(scene, robot.name)
    if placement is None or placement.rest_bend_deg is None:
        return robot
    names = [limb.name for limb in robot.limbs]
    if placement.limb not in names:
        raise ConfigError(
            f"The scene {scene.name!r} is for the limb {placement.limb!r} of "
            f"{robot.name!r}, which has {', '.join(names)}."
        )
    number = names.index(placement.limb)
    limb = robot.limbs[number]
    count = len(limb.segment_length_mm)
    rest = {
        "rest_bend_deg": placement.rest_bend_deg,
        "rest_direction_deg": placement.rest_direction_deg,
    }
    for key, values in rest.items():
        if values is None or len(values) != count:
            raise ConfigError(
                f"The scene {scene.name!r}: {key} of robot {robot.name!r} has "
                f"{len(values or ())} values; its limb {limb.name!r} has {count} "
                "segments. Give one a segment."
            )
    limbs = list(robot.limbs)
    limbs[number] = LimbParameters.model_validate(limb.model_dump() | rest)
    return robot.model_copy(update={"limbs": tuple(limbs)})
