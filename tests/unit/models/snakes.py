"""The snake as `limblink simulate` builds it, for the tests."""

import numpy as np

from app.config.case import load_case
from app.config.robot import load_robot
from app.config.tree import build_tree
from app.study.simulation_drives import make_drives
from app.study.simulation_run import Simulator
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor
from models.tree_step import add_elastic, finish_step, tree_energy, tree_momentum

SNAKE = load_robot("snake")
PART, WHOLE = 0.2, 1.0  # of a module or a joint, and of all five [m]


class Snake:
    """Tree and drives of a case, for the equations of motion at any state."""

    def __init__(self, case, robot=SNAKE):
        self.plan = build_tree(robot, case)
        self.model = self.plan.model
        self.loads = make_drives(robot, self.plan, case)
        self.data = allocate_tree_data(self.model)
        self.work = allocate_tree_work(self.model)

    def set_up(self, time_s=0.0, period=0.0):
        """Matrix and load at the present state."""
        self.data.applied[:] = 0.0
        for load in self.loads:
            load.set_inputs(time_s, self.data)
        tree_motion(self.model, period, self.data, self.work)
        add_elastic(self.model, period, self.data, self.work)
        for load in self.loads:
            load.add(period, self.data, self.work)

    def accelerations(self, time_s):
        self.set_up(time_s)
        assert tree_factor(self.model, self.work) < 0
        rates = self.work.load.copy()
        solve_tree(self.model, self.work, rates)
        return rates

    def step(self, time_s, period):
        self.set_up(time_s, period)
        assert finish_step(self.model, period, self.data, self.work) == 0

    def after(self, velocity, acceleration, time_s):
        """The same snake on its way, forwards or backwards by a short time."""
        other = object.__new__(Snake)
        other.__dict__ = {**self.__dict__, "data": allocate_tree_data(self.model)}
        middle = velocity + 0.5 * time_s * acceleration
        other.data.root_pose[:] = self.data.root_pose @ _exp(time_s * middle[:6])
        other.data.position[6:] = self.data.position[6:] + time_s * middle[6:]
        other.data.velocity[:] = velocity + time_s * acceleration
        return other

    def energy(self):
        out = np.zeros(3)
        tree_energy(self.model, self.data, self.work, out)
        return out

    def momentum(self):
        out = np.zeros(6)
        tree_motion(self.model, 0.0, self.data, self.work)
        tree_momentum(self.model, self.data, self.work, out)
        return out


def _exp(twist):
    from scipy.linalg import expm

    x, y, z, p, q, r = twist
    return expm(
        np.array([[0.0, -z, y, p], [z, 0.0, -x, q], [-y, x, 0.0, r], [0.0] * 4])
    )


def place(snake, sample):
    """Put a snake into the state of a simulation's sample."""
    snake.data.root_pose[:] = sample.root_pose
    snake.data.position[:] = sample.position
    snake.data.velocity[:] = sample.velocity
    for load in snake.loads:
        load.set_inputs(sample.time_s, snake.data)
    return snake


def simulate(name, seconds, robot=SNAKE, every=0.5, period=1e-3, **changes):
    case = load_case(name).model_copy(update=changes)
    simulator = Simulator(robot, build_tree(robot, case), case, period)
    samples = list(simulator.run(seconds, every))
    assert simulator.fault is None
    return samples
