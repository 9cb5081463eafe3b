"""The tree's equations once more, in plain NumPy, straight from the definitions."""

import numpy as np

from models.lie import pose_exp
from models.tree import TreeData, TreeModel, TreeWork


def copied(data: TreeData) -> TreeData:
    return TreeData(*(field.copy() for field in data))


def cross(vector: np.ndarray) -> np.ndarray:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def full(lower: np.ndarray) -> np.ndarray:
    lower = np.tril(lower)
    return lower + np.tril(lower, -1).T


def ancestors(model: TreeModel, dof: int) -> list[int]:
    path = []
    while dof >= 0:
        path.append(dof)
        dof = int(model.dof_parent[dof])
    return path


def element_of(model: TreeModel, point: int) -> int:
    return int(np.searchsorted(model.element_step_start, point, side="right")) - 1


def point_jacobian(model: TreeModel, work: TreeWork, point: int) -> np.ndarray:
    """(6, N): spatial twist of a point in the root frame by all velocities."""
    element = element_of(model, point)
    first = model.element_dof_start[element]
    jacobian = np.zeros((6, model.dof_parent.size))
    for d in range(first, model.element_dof_start[element + 1]):
        jacobian[:, d] = work.point_column[point, d - first]
    for d in ancestors(model, int(model.element_above_dof[element])):
        jacobian[:, d] = work.column[d]
    return jacobian


def body_jacobian(model: TreeModel, work: TreeWork, point: int) -> np.ndarray:
    """(6, N): the same at the point and along its own axes."""
    rotation, place = work.point_rotation[point], work.point_position[point]
    jacobian = point_jacobian(model, work, point)
    turn = jacobian[:3]
    return np.vstack(
        [rotation.T @ turn, rotation.T @ (jacobian[3:] - cross(place) @ turn)]
    )


def point_inertia(model: TreeModel, point: int) -> np.ndarray:
    mass = model.point_mass[point] + model.point_added[point]
    return np.diag(np.concatenate([model.point_inertia[point], mass]))


def mass_matrix(model: TreeModel, work: TreeWork) -> np.ndarray:
    size = model.dof_parent.size
    matrix = np.zeros((size, size))
    for s in range(model.step_length.size):
        jacobian = body_jacobian(model, work, s)
        matrix += jacobian.T @ point_inertia(model, s) @ jacobian
    return matrix


def moved(
    model: TreeModel, data: TreeData, change: np.ndarray, scale: float
) -> TreeData:
    """The state with coordinates, and the root in its own frame, moved."""
    result = copied(data)
    root = int(model.root_size[0])
    result.position[root:] += scale * change[root:]
    if root:
        step = np.eye(4)
        pose_exp(scale * change[:6], step)
        result.root_pose[:] = data.root_pose @ step
    return result


def rest_load(model: TreeModel, data: TreeData, work: TreeWork) -> np.ndarray:
    """Weight, buoyancy, drag and wrenches: what acts beside inertia."""
    turn = data.root_pose[:3, :3]
    total = data.applied.copy()
    for s in range(model.step_length.size):
        rotation = work.point_rotation[s]
        jacobian = body_jacobian(model, work, s)
        place = data.root_pose[:3, 3] + turn @ work.point_position[s]
        water = model.current + place[2] * model.current_shear
        twist = jacobian @ data.velocity
        into = (turn @ rotation).T
        flow = twist[3:] - into @ water
        net = model.point_mass[s] - model.point_displaced[s]
        norm = np.linalg.norm(flow) if model.drag_form[0] == 0 else np.abs(flow)
        force = net * into @ model.gravity - model.point_drag[s] * norm * flow
        moment = np.zeros(3)
        if model.point_kind[s] == 2:
            force -= model.point_drag_linear[s] * flow
            moment -= model.point_drag_turn_linear[s] * twist[:3]
            moment -= model.point_drag_turn[s] * np.abs(twist[:3]) * twist[:3]
        if model.munk_moment[0]:
            moment -= np.cross(flow, model.point_added[s] * flow)
        total += jacobian.T @ np.concatenate([moment, force])
    for e in range(model.element_parent.size):
        last = model.element_step_start[e + 1] - 1
        jacobian = point_jacobian(model, work, last)
        moment = data.wrench[e, :3] + np.cross(
            work.point_position[last], data.wrench[e, 3:]
        )
        total += jacobian.T @ np.concatenate([moment, data.wrench[e, 3:]])
    return total
