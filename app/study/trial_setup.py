"""What a trial is made of: robot, link, operator, surroundings, task, and seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.config.link import LinkParameters, load_link
from app.config.robot import RobotParameters, load_robot
from app.config.scene import SceneParameters, load_scene
from app.config.scene_posture import robot_in_scene
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.config.teleop import TeleopParameters
from app.robot.plant import PlantMismatch
from app.study.trial_seeds import TrialSeeds
from app.teleop.goals import Goal

__all__ = ["TrialSetup"]


@dataclass(frozen=True)
class TrialSetup:
    """What is driven, by whom, over what, and how.

    Attributes:
        robot: shipped name or path, or a robot's parameters.
        link: shipped name or path, or a link's parameters.
        operator: a scripted operator (`app.operator.scripted`).
        scene: what stands around the robot: shipped name or path, or its parameters;
            None: the task's, else open water.
        task: what the operator does; None: something about where the tip is.
        teleop: the strategy and its parameters.
        mismatch: plant against model.
        goals: for the robot to reach by itself, one after the other.
        seed: of channel, sensors and operator.
        variant: of the task; None: its first.
        seeds: of each part; None: the seed for all, as in a live session.
        deadband: Weber fraction below which a change is not sent; 0 = all is sent.
    """

    robot: str | RobotParameters = "ursula"
    link: str | LinkParameters = "ideal"
    operator: str = "circle"
    scene: str | SceneParameters | None = None
    task: str | None = None
    teleop: TeleopParameters = field(default_factory=TeleopParameters)
    mismatch: PlantMismatch = field(default_factory=PlantMismatch)
    goals: Sequence[Goal] = ()
    seed: int = 0
    variant: str | None = None
    seeds: TrialSeeds | None = None
    deadband: float = 0.0

    @property
    def task_scene(self) -> str:
        """Name of the scene that the task is laid in; open water where it names none.

        Raises:
            ConfigError: there is no such task.
        """
        named = None if self.task is None else load_task(self.task).scene
        return named or "open-water"

    def load_link(self) -> LinkParameters:
        """Return the link's parameters.

        Raises:
            ConfigError: there is no such link, or its file is wrong.
        """
        return load_link(self.link) if isinstance(self.link, str) else self.link

    def load_scene(self) -> SceneParameters:
        """Return the parameters of what stands around the robot.

        Raises:
            ConfigError: there is no such scene or task, or its file is wrong.
        """
        scene = self.scene or self.task_scene
        return load_scene(scene) if isinstance(scene, str) else scene

    def load_robot(self, scene: SceneParameters) -> RobotParameters:
        """Return the robot's parameters, in the posture that a scene asks for.

        Raises:
            ConfigError: the robot is wrong, or does not fit the scene.
        """
        robot = self.robot
        robot = load_robot(robot) if isinstance(robot, str) else robot
        return robot_in_scene(robot, scene)

    def place_task(self, robot: RobotParameters) -> PlacedTask | None:
        """Return the task, laid out for a robot; None where there is none.

        Raises:
            ConfigError: there is no such task or variant, or it is out of reach.
        """
        if self.task is None:
            return None
        return place_task(load_task(self.task), robot, self.variant)
