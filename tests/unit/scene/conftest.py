"""One robot, and one scene for all the tests that look at pictures."""

from collections.abc import Iterator

import pytest

from app.config.robot import RobotParameters, build_robot_model, load_robot
from app.scene import Scene
from models.robot import RobotModel


@pytest.fixture(scope="session")
def robot() -> RobotParameters:
    return load_robot("ursula")


@pytest.fixture(scope="session")
def model(robot: RobotParameters) -> RobotModel:
    return build_robot_model(robot)


@pytest.fixture(scope="session")
def scene(robot: RobotParameters, model: RobotModel) -> Iterator[Scene]:
    with Scene(robot, model, 640, 360) as opened:
        yield opened
