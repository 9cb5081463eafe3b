"""The compliant joint by which a gripper holds an object, inside the limb's step.

Springs and dampers at the object's centre, towards the pose in the gripper at which it
was taken:

    f = k (e + h ė₁) + d ė₁,      m = k_r (ε + h ω₁) + d_r ω₁

e and ε are the displacement and the turn (a rotation vector) from the object to there
at the end of a step h, so the joint takes energy out for any k, d and h. The object's
twist is six more coordinates behind those of the limb.
"""

from models.free_body import FreeBodyData, FreeBodyModel
from models.grasp import DROPPED, GraspData, GraspModel, let_go, tip_point
from models.numerics import FloatArray, inner_kernel
from models.robot import RobotModel
from models.tree import TreeModel, TreeWork

__all__ = ["add_hold", "weigh_hold"]


@inner_kernel
def _hold_rows(
    robot: RobotModel,
    tree: TreeModel,
    limb: int,
    work: TreeWork,
    bodies: FreeBodyData,
    data: GraspData,
) -> None:
    """Fill `row` and `gap` for what a limb holds."""
    body = data.held[limb]
    p = tip_point(robot, limb)
    turn = work.point_rotation[p]
    tip = work.point_position[p]
    kept = data.pose[limb]
    pose = bodies.pose[body]
    gap = data.gap
    row = data.row
    # where the gripper has the object, and how it is turned from there
    for i in range(3):
        gap[3 + i] = (
            tip[i]
            + turn[i, 0] * kept[0, 3]
            + turn[i, 1] * kept[1, 3]
            + turn[i, 2] * kept[2, 3]
        )
    twist_x = twist_y = twist_z = 0.0
    for j in range(3):  # half the sum of b_j x t_j, columns of both rotations
        tx = turn[0, 0] * kept[0, j] + turn[0, 1] * kept[1, j] + turn[0, 2] * kept[2, j]
        ty = turn[1, 0] * kept[0, j] + turn[1, 1] * kept[1, j] + turn[1, 2] * kept[2, j]
        tz = turn[2, 0] * kept[0, j] + turn[2, 1] * kept[1, j] + turn[2, 2] * kept[2, j]
        twist_x += 0.5 * (pose[1, j] * tz - pose[2, j] * ty)
        twist_y += 0.5 * (pose[2, j] * tx - pose[0, j] * tz)
        twist_z += 0.5 * (pose[0, j] * ty - pose[1, j] * tx)
    gap[0], gap[1], gap[2] = twist_x, twist_y, twist_z
    x, y, z = gap[3], gap[4], gap[5]
    first = 3 * robot.limb_segment_start[limb]
    count = 3 * robot.limb_segment_start[limb + 1] - first
    last = tree.element_dof_start[robot.limb_segment_start[limb + 1] - 1]
    for d in range(count):
        j = first + d
        column = work.point_column[p, j - last] if j >= last else work.column[j]
        row[0, d], row[1, d], row[2, d] = column[0], column[1], column[2]
        row[3, d] = column[3] + column[1] * z - column[2] * y
        row[4, d] = column[4] + column[2] * x - column[0] * z
        row[5, d] = column[5] + column[0] * y - column[1] * x
    for i in range(3):
        gap[3 + i] -= pose[i, 3]
        for j in range(3):
            row[i, count + j] = -pose[i, j]
            row[3 + i, count + 3 + j] = -pose[i, j]
            row[i, count + 3 + j] = 0.0
            row[3 + i, count + j] = 0.0


@inner_kernel
def add_hold(
    robot: RobotModel,
    model: GraspModel,
    masses: FreeBodyModel,
    limb: int,
    period: float,
    pushed: FloatArray,
    rates: FloatArray,
    work: TreeWork,
    bodies: FreeBodyData,
    data: GraspData,
    matrix_out: FloatArray,
    load_out: FloatArray,
) -> None:
    """Put a held object and its joint behind a limb's coordinates in its system.

    Args:
        robot: the robot.
        model: its grippers.
        masses: the objects.
        limb: index of the limb, which holds one.
        period: time step h [s].
        pushed: (6,) the object's twist at the step's end without joint and contact.
        rates: (n, 3) of the limb's coordinates.
        work: after `tree_motion`.
        bodies: state of the objects.
        data: gets the joint's rows and gaps.
        matrix_out: lower triangle of the limb's system; six rows are put behind it.
        load_out: likewise.
    """
    tree = robot.tree
    _hold_rows(robot, tree, limb, work, bodies, data)
    body = data.held[limb]
    count = 3 * rates.shape[0]
    row = data.row
    for i in range(6):
        inertia = masses.inertia[body, i]
        for j in range(count + i):
            matrix_out[count + i, j] = 0.0
        matrix_out[count + i, count + i] = inertia
        load_out[count + i] = inertia * (pushed[i] - bodies.twist[body, i]) / period
    for r in range(6):
        stiffness = model.joint[2] if r < 3 else model.joint[0]
        damping = model.joint[3] if r < 3 else model.joint[1]
        speed = 0.0
        for d in range(count):
            speed += row[r, d] * rates[d // 3, d % 3]
        for d in range(6):
            speed += row[r, count + d] * bodies.twist[body, d]
        force = stiffness * (data.gap[r] + period * speed) + damping * speed
        slope = period * (damping + period * stiffness)
        for d in range(count + 6):
            load_out[d] -= row[r, d] * force
            for j in range(d + 1):
                matrix_out[d, j] += slope * row[r, d] * row[r, j]


@inner_kernel
def weigh_hold(
    robot: RobotModel,
    model: GraspModel,
    limb: int,
    period: float,
    rates: FloatArray,
    velocity: FloatArray,
    work: TreeWork,
    bodies: FreeBodyData,
    data: GraspData,
) -> None:
    """Find the joint's wrench at the step's end; tear the object out where too great.

    Args:
        robot: the robot.
        model: its grippers.
        limb: index of the limb, which holds an object.
        period: time step [s].
        rates: (n, 3) of the limb's coordinates at the step's end.
        velocity: (6,) twist of the object then.
        work: after `tree_motion`, as the step began.
        bodies: state of the objects, as it began.
        data: gets the wrench, and where that is too great the event.
    """
    _hold_rows(robot, robot.tree, limb, work, bodies, data)
    count = 3 * rates.shape[0]
    row = data.row
    for r in range(6):
        stiffness = model.joint[2] if r < 3 else model.joint[0]
        damping = model.joint[3] if r < 3 else model.joint[1]
        speed = 0.0
        for d in range(count):
            speed += row[r, d] * rates[d // 3, d % 3]
        for d in range(6):
            speed += row[r, count + d] * velocity[d]
        data.wrench[limb, r] = (
            stiffness * (data.gap[r] + period * speed) + damping * speed
        )
    force = data.wrench[limb]
    size = force[3] * force[3] + force[4] * force[4] + force[5] * force[5]
    if not size <= model.joint[4] * model.joint[4]:
        let_go(limb, DROPPED, data)
