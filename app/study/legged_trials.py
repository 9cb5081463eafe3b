"""What SILVER2 was tried at (Liu 2020): standing, walking, raising itself, pulling.

Each trial puts the robot on the seabed, lets it settle, and measures. Pulls grow until
something gives: the motors stall, the feet slip, or the body has moved 20 mm.
"""

from typing import NamedTuple

import numpy as np

from app.config.robot_parameters import RobotParameters
from app.study.legged_run import Legged, LeggedTrace, legged_gait
from models.legged import make_course
from models.numerics import FloatArray
from models.surface import HeightFieldModel, build_height_field

__all__ = [
    "ArmPull",
    "ArmReach",
    "HullPull",
    "Rise",
    "Stand",
    "Walk",
    "arm_posture",
    "forward_speed",
    "pull_arm",
    "pull_hull",
    "raise_body",
    "reach_arm",
    "rough_seabed",
    "stand",
    "walk",
    "weaker_motors",
]

_GIVEN_WAY = 0.02  # of the body, by which a pull has moved it [m]
_PULL_RATE = 4.0  # [N/s]
_STALLED = 0.999


class Stand(NamedTuple):
    """A robot that has settled."""

    ground_force: float
    """Along the normals of the ground, all feet [N]."""
    weight: float
    """In water [N]."""
    creep: float
    """Speed of the foot that slips fastest [m/s]."""
    torque_share: float
    """Greatest torque of a drive over its limit."""
    height: float
    """Of the hull over the ground [m]."""


class Walk(NamedTuple):
    """A walk at its steady speed."""

    speed: float
    """Over whole cycles [m/s]."""
    tilt: float
    """Greatest [rad]."""
    slip: float
    """Way that the worst foot slipped over the way of the body."""
    torque_share: float
    unreached: list[str]
    """What kept a leg from a commanded foot, in words."""


class Rise(NamedTuple):
    """The body moved over its feet."""

    moved: FloatArray
    """(3,) [m]."""
    foot_moved: float
    """Greatest of any foot along an axis [m]."""
    torque_share: float


class HullPull(NamedTuple):
    """A pull on the hull that grows."""

    stall: float
    """Force at which a motor stalls first; infinite if none did [N]."""
    moves: float
    """Force at which the body has given way by 20 mm; infinite if it did not [N]."""


class ArmPull(NamedTuple):
    """A pull down on the arm's tip, the robot standing."""

    trace: LeggedTrace
    robot: Legged
    stretch: float
    """Of the arm against that under its own weight [m]."""
    torque_share: float


class ArmReach(NamedTuple):
    """The arm goes from one posture to another, the robot standing."""

    way: FloatArray
    """(3,) of its tip in the world [m]."""
    hull_moved: float
    """[m]"""
    sag: float
    """Distance of the tip from where the posture alone has it, at the end [m]."""


def arm_posture(
    bend_deg: float, last_deg: float = 25.0, way_deg: float = 20.0
) -> FloatArray:
    """(3, 3) coordinates of the arm in an S, as Liu 2020 eq. 1c has it."""
    bend, last, way = np.radians([bend_deg, last_deg, way_deg])
    x, y = bend * np.cos(way), bend * np.sin(way)
    return np.array([[x, y, 0.0], [-x, -y, 0.0], [last, 0.0, 0.0]])


def rough_seabed() -> HeightFieldModel:
    """A rough seabed of 6 by 6 m, 43 mm from its lowest to its highest place."""
    height = 0.02 * np.random.default_rng(3).standard_normal((60, 60))
    for _ in range(2):
        around = [np.roll(height, way, axis) for axis in (0, 1) for way in (1, -1)]
        height = (height + sum(around)) / 5.0
    return build_height_field(height, 0.1, (-2.0, -3.0))


def weaker_motors(robot: RobotParameters, share: float) -> RobotParameters:
    """The same robot with a share of its legs' torque."""
    legs = []
    for leg in robot.legs:
        if leg.dynamics is not None:
            coxa, femur, tibia = leg.dynamics.torque_limit_n_m
            limits = (share * coxa, share * femur, share * tibia)
            dynamics = leg.dynamics.model_copy(update={"torque_limit_n_m": limits})
            leg = leg.model_copy(update={"dynamics": dynamics})
        legs.append(leg)
    return robot.model_copy(update={"legs": tuple(legs)})


def forward_speed(trace: LeggedTrace, period: float, axis: int = 0) -> float:
    """Mean speed along an axis over the whole cycles of the last 6 s [m/s].

    Args:
        trace: of a walk.
        period: of the gait [s].
        axis: 0 for x, 1 for y.
    """
    cycles = int(6.0 / period) * period
    first = int(np.argmin(np.abs(trace.time_s - trace.time_s[-1] + cycles)))
    way = trace.pose[-1, axis, 3] - trace.pose[first, axis, 3]
    return float(way / (trace.time_s[-1] - trace.time_s[first]))


def stand(parameters: RobotParameters) -> Stand:
    """Set a robot down and let it settle for 8 s."""
    robot = Legged(parameters, gap=0.01, limbs=arm_posture(90.0))
    trace = robot.run(8.0)
    model = robot.tree.model
    slipped = trace.slip[-1] - trace.slip[-2]
    return Stand(
        ground_force=float(trace.force[-1, :, 0].sum()),
        weight=parameters.water.gravity_m_s2
        * float(np.sum(model.point_mass - model.point_displaced)),
        creep=float(slipped.max() / (trace.time_s[-1] - trace.time_s[-2])),
        torque_share=float(robot.work.saturation[0]),
        height=float(trace.pose[-1, 2, 3]),
    )


def walk(
    parameters: RobotParameters,
    speed: float,
    stride: float,
    *,
    direction_deg: float = 0.0,
    seabed: HeightFieldModel | None = None,
    seconds: float = 11.0,
    period: float = 1e-3,
) -> Walk:
    """Walk in a ripple gait for some seconds.

    Args:
        parameters: the robot.
        speed: that is commanded [m/s].
        stride: way of the body while a foot stands [m].
        direction_deg: 0 to the bow, 90 to port.
        seabed: None for a level one.
        seconds: in all, the walk beginning at 1 s; at least 8.
        period: time step [s].
    """
    gait = legged_gait(
        parameters, "ripple", speed=speed, stride=stride, elevation=0.08,
        direction=np.radians(direction_deg),
    )  # fmt: skip
    robot = Legged(
        parameters, gait, make_course(walk_start=1.0), seabed=seabed,
        limbs=arm_posture(90.0), period=period,
    )  # fmt: skip
    trace = robot.run(seconds)
    way = np.linalg.norm(trace.pose[-1, :2, 3] - trace.pose[0, :2, 3])
    return Walk(
        speed=forward_speed(trace, gait.period, 1 if direction_deg else 0),
        tilt=float(np.arccos(trace.pose[:, 2, 2]).max()),
        slip=float(trace.slip[-1].max() / way),
        torque_share=float(robot.work.saturation[1]),
        unreached=robot.unreached(),
    )


def raise_body(parameters: RobotParameters, way: float) -> Rise:
    """Raise the body by a way, from half of it below the stance to half above [m]."""
    start, end = np.zeros(6), np.zeros(6)
    start[2], end[2] = -0.5 * way, 0.5 * way
    course = make_course(rise=(2.0, 6.0), motion_from=start, motion_to=end)
    robot = Legged(parameters, None, course, limbs=arm_posture(110.0))
    before = robot.run(2.0)
    after = robot.run(6.0)
    return Rise(
        moved=after.pose[-1, :3, 3] - before.pose[-1, :3, 3],
        foot_moved=float(np.abs(after.foot[-1] - before.foot[-1]).max()),
        torque_share=float(robot.work.saturation[1]),
    )


def pull_hull(parameters: RobotParameters, force: FloatArray, most: float) -> HullPull:
    """Pull the hull ever harder.

    Args:
        parameters: the robot.
        force: (3,) direction in the world, of length 1.
        most: force at which to end [N].
    """
    robot = Legged(parameters, limbs=arm_posture(110.0))
    robot.run(2.0)
    start = robot.data.root_pose[:3, 3].copy()
    stall, size = np.inf, 0.0
    while size < most:
        size = _PULL_RATE * (robot.time_s - 2.0)
        robot.push(0, size * force)
        robot.advance(20)
        if robot.work.saturation[0] > _STALLED:
            stall = min(stall, size)
        if np.abs(robot.data.root_pose[:3, 3] - start).max() > _GIVEN_WAY:
            return HullPull(stall, size)
    return HullPull(stall, np.inf)


def pull_arm(
    parameters: RobotParameters, force: float, limbs: FloatArray | None = None
) -> ArmPull:
    """Pull down on the arm's tip, the body 0.2 m above its stance.

    Args:
        parameters: the robot.
        force: brought up over 3 s [N].
        limbs: (3, 3) coordinates that the arm's chambers hold; None for straight.
    """
    high = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    arm = np.zeros((3, 3)) if limbs is None else limbs
    robot = Legged(parameters, None, make_course(motion_from=high), limbs=arm)
    robot.run(3.0)
    limb = robot.tree.limbs[0]
    first = robot.tree.model.element_dof_start[[p.element for p in limb.pieces]]
    before = robot.data.position[first + 2].sum()

    def pull(time: float) -> None:
        size = force * min((time - 3.0) / 3.0, 1.0)
        robot.push(limb.tip, np.array([0.0, 0.0, -size]))

    trace = robot.run(17.0, before=pull)  # the arm swings for long
    return ArmPull(
        trace,
        robot,
        stretch=float(robot.data.position[first + 2].sum() - before),
        torque_share=float(robot.work.saturation[0]),
    )


def reach_arm(parameters: RobotParameters) -> ArmReach:
    """Let the arm down from an S of 110 degrees to one of 70, standing high."""
    high = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    course = make_course(motion_from=high)
    folded, wanted = arm_posture(110.0), arm_posture(70.0)
    robot = Legged(parameters, None, course, limbs=folded)
    robot.run(6.0)
    hull, tip = robot.data.root_pose[:3, 3].copy(), _tip(robot)

    def move(time: float) -> None:
        share = min((time - 6.0) / 3.0, 1.0)
        robot.hold_limbs(robot.posture(folded + share * (wanted - folded)))

    robot.run(18.0, before=move)  # it swings for long
    end, pose = _tip(robot), robot.data.root_pose.copy()
    still = Legged(parameters, None, course, limbs=wanted)
    still.advance(1)
    place = np.linalg.inv(still.data.root_pose) @ np.append(_tip(still), 1.0)
    return ArmReach(
        way=end - tip,
        hull_moved=float(np.linalg.norm(pose[:3, 3] - hull)),
        sag=float(np.linalg.norm(end - (pose @ place)[:3])),
    )


def _tip(robot: Legged) -> FloatArray:
    """(3,) tip of the arm in the world [m]."""
    model, pose = robot.tree.model, robot.data.root_pose
    last = model.element_step_start[robot.tree.limbs[0].tip + 1] - 1
    place: FloatArray = pose[:3, :3] @ robot.tree_work.point_position[last]
    return place + pose[:3, 3]
