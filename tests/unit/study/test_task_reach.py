"""Which shipped retrievals the control loop's own inverse kinematics can do."""

import pytest

from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import place_task
from app.study.task_reach import check_task


@pytest.mark.parametrize(
    ("task", "robot"),
    [("retrieve", "rov-arm"), ("overhang", "silver2"), ("opening", "silver2")],
)
def test_a_limp_arm_gets_to_every_place_clear_of_all_solids(
    task: str, robot: str
) -> None:
    parameters = load_robot(robot)
    found = check_task(place_task(load_task(task), parameters), parameters)
    assert found.reached, (found.misses, found.clearance)
