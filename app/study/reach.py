"""A goal for one limb or leg, turned into what its controllers need.

Tendon lengths, chamber lengths or joint angles, with the reason where the goal cannot
be met and the nearest point that can. Solvers: the closed forms of models/opposing for
arms whose first two segments bend oppositely, models/leg_inverse for legs, else
models/posture. Chambers of other arms count by the largest box of bend and extension
inside them.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.config.kinematics import (
    chamber_models,
    leg_model,
    limb_gaps,
    opposing_model,
)
from app.config.limbs import LimbParameters
from app.config.robot import RobotParameters, build_robot_model
from app.drivers.calibration import (
    ChamberCalibration,
    build_hysteresis_model,
    starting_plays,
)
from app.errors import ConfigError
from models.chamber import (
    box_extension_range,
    chamber_lengths,
    inscribed_bend,
    proximal_pressure,
)
from models.conventions import emet_of_coordinates
from models.hysteresis import hysteresis_pressure
from models.leg import leg_forward
from models.leg_inverse import leg_inverse, leg_reasons
from models.limb import LimbModel, build_limb_model, limb_frames
from models.numerics import FloatArray
from models.obstacle import ObstacleModel, build_obstacle_model
from models.opposing import (
    PairBendModel,
    opposing_reasons,
    pair_bend_inverse,
    pair_elongation_inverse,
)
from models.posture import reach_posture
from models.reach import build_reach_model
from models.robot import RobotModel
from models.tendon import tendon_lengths

__all__ = [
    "Reached",
    "actuator_lengths",
    "describe_in_emets_convention",
    "describe_pressures",
    "describe_reach",
    "limb_model",
    "reach_goal",
    "read_obstacle",
    "tip_in_hull",
]

_MARGIN = 0.02  # [m] that a limb is to keep from obstacles


class Reached(NamedTuple):
    """Where a goal has led."""

    coordinates: FloatArray | None
    """(n, 3) segment coordinates [rad, rad, m]; None for a leg."""
    joints: FloatArray | None
    """(3,) joint angles of a leg [rad]; None for a limb."""
    actuators: tuple[tuple[str, FloatArray], ...]
    """What drives it: a name and lengths [m]; empty for a leg or a passive limb."""
    tip: FloatArray
    """(3,) tip or foot that is reached, hull frame [m]."""
    error: float
    """From there to the goal [m]."""
    reasons: tuple[str, ...]
    """Why it is not the goal, in words; empty where it is."""
    clearance: float = math.inf
    """Least distance of the limb's skin to the obstacles; below 0 inside [m]."""


def read_obstacle(text: str) -> tuple[str, FloatArray, FloatArray]:
    """Read an obstacle as the command line gives it, in the hull frame.

    Args:
        text: `sphere:x,y,z,radius`, `cylinder:x,y,z,radius,height` (upright),
            `box:x,y,z,length,width,height` or `plane:z` (all below it) [mm].

    Returns:
        Kind, (3,) position [m] and sizes as models/obstacle has them [m].

    Raises:
        ConfigError: not of that form.
    """
    kind, _, numbers = text.partition(":")
    counts = {"plane": 0, "sphere": 1, "cylinder": 2, "box": 3}
    try:
        values = np.array([float(x) for x in numbers.split(",")]) * 1e-3
    except ValueError:
        values = np.full(1, math.nan)
    place = 1 if kind == "plane" else 3
    if kind not in counts or values.size != place + counts[kind]:
        values = np.full(1, math.nan)
    if not np.isfinite(values).all() or np.any(values[place:] <= 0.0):
        raise ConfigError(
            f"--avoid {text}: write sphere:x,y,z,radius, cylinder:x,y,z,radius,height, "
            "box:x,y,z,length,width,height or plane:z, in mm, sizes above zero."
        )
    position = np.array([0.0, 0.0, values[0]]) if place == 1 else values[:3]
    sizes = values[place:]
    halved = {"cylinder": (1.0, 0.5), "box": (0.5, 0.5, 0.5)}
    return kind, position, sizes * halved.get(kind, 1.0)


def reach_goal(
    robot: RobotParameters,
    limb: str,
    goal: FloatArray,
    direction: FloatArray | None = None,
    obstacles: Sequence[tuple[str, FloatArray, FloatArray]] = (),
    model: RobotModel | None = None,
) -> Reached:
    """Find how a limb's tip, or a leg's foot, gets to a point.

    Args:
        robot: its parameters.
        limb: name of one of its limbs or legs.
        goal: (3,) position, hull frame [m].
        direction: (3,) where the tip is to point, hull frame; None: anywhere.
        obstacles: that all of the limb is to keep clear of, as `read_obstacle` gives.
        model: of the robot, for who asks for many goals; None: it is built here.

    Raises:
        ConfigError: there is no such limb or leg; or a direction or obstacles that it
            has no freedom for.
    """
    for number, leg in enumerate(robot.legs):
        if leg.name == limb:
            if direction is not None or obstacles:
                raise ConfigError(
                    "A leg has as many joints as its foot has coordinates: leave the "
                    "direction and the obstacles out."
                )
            return _reach_with_leg(robot, number, goal)
    names = [part.name for part in robot.limbs]
    if limb not in names:
        known = ", ".join(names + [leg.name for leg in robot.legs])
        raise ConfigError(
            f"The robot {robot.name!r} has no limb or leg called {limb!r}. It has: "
            f"{known}."
        )
    number = names.index(limb)
    if model is None:
        model = build_robot_model(robot)
    base = model.pose_base_to_hull[number]
    local = base[:3, :3].T @ (goal - base[:3, 3])
    if direction is not None and not 0.0 < float(np.linalg.norm(direction)) < math.inf:
        raise ConfigError("A direction needs a length above zero: give another.")
    soft = robot.limbs[number]
    pair = opposing_model(soft)
    chain = limb_model(soft, model, number)
    clearance = math.inf
    if pair is None:
        toward = None if direction is None else base[:3, :3].T @ direction
        found = reach_posture(
            build_reach_model(chain),
            local,
            toward,
            obstacles=_in_base(obstacles, base),
            margin=_MARGIN,
        )
        coordinates, reasons = found.coordinates, list(found.reasons)
        clearance = found.clearance
    elif direction is not None or obstacles:
        raise ConfigError(
            f"The limb {limb!r} bends two segments oppositely: all else follows from "
            "the point. Leave the direction and the obstacles out."
        )
    elif isinstance(pair, PairBendModel):
        coordinates = np.zeros((3, 3))
        lengths = np.zeros(pair.pair.offset.shape[0] + pair.end.offset.shape[0])
        target = np.concatenate([local, np.zeros(2)])
        reasons = opposing_reasons(
            pair_bend_inverse(pair, target, coordinates, lengths)
        )
    else:
        coordinates, lengths = np.zeros((3, 3)), np.zeros(pair.pair.offset.shape[0] + 1)
        status, _ = pair_elongation_inverse(pair, local, coordinates, lengths)
        reasons = opposing_reasons(status)
    tip = tip_in_hull(chain, model, number, coordinates)
    return Reached(
        coordinates,
        None,
        actuator_lengths(soft, model, number, coordinates),
        tip,
        float(np.linalg.norm(tip - goal)),
        tuple(reasons),
        clearance,
    )


def describe_reach(robot: RobotParameters, limb: str, reached: Reached) -> list[str]:
    """Say it in lines of text, millimetres and degrees."""
    tip = ", ".join(f"{1e3 * value:.3f}" for value in reached.tip)
    lines = [f"{robot.name} {limb}: tip at ({tip}) mm in the hull frame"]
    if reached.reasons:
        lines.append(
            f"NOT REACHED, {1e3 * reached.error:.2f} mm off; the nearest point found: "
            + "; ".join(reached.reasons)
        )
    if reached.joints is not None:
        angles = ", ".join(f"{np.degrees(angle):.3f}" for angle in reached.joints)
        lines.append(f"joints q1, q2, q3: {angles} degrees")
    if reached.coordinates is not None:
        soft = next(part for part in robot.limbs if part.name == limb)
        for k, (x, y, extension) in enumerate(reached.coordinates):
            lines.append(
                f"segment {k + 1}: bend {np.degrees(math.hypot(x, y)):.3f} degrees "
                f"towards {np.degrees(math.atan2(y, x)):.3f}, length "
                f"{soft.segment_length_mm[k] + 1e3 * extension:.3f} mm"
            )
    if math.isfinite(reached.clearance):
        touches = " (TOUCHES)" if reached.clearance < 0.0 else ""
        lines.append(f"{1e3 * reached.clearance:.1f} mm clear of obstacles{touches}")
    for name, lengths in reached.actuators:
        listed = ", ".join(f"{1e3 * length:.3f}" for length in lengths)
        lines.append(f"{name}: {listed} mm")
    return lines


def describe_pressures(
    soft: LimbParameters, reached: Reached, calibration: ChamberCalibration
) -> list[str]:
    """Say which pressures give the chamber lengths, filled from empty.

    The first segment of an opposing pair gets a p + b of what the same length takes in
    the second one (Liu 2020 eq. 1g).

    Args:
        soft: a limb with chambers.
        reached: a posture of it.
        calibration: of a chamber; all are taken to be like it.

    Raises:
        ConfigError: the limb has no chambers.
    """
    if not soft.chambers:
        raise ConfigError(
            f"The limb {soft.name!r} has no chambers: leave the calibration out."
        )
    model = build_hysteresis_model(calibration)
    plays = starting_plays(calibration, 0.0)
    low, high = calibration.pressure_range_kpa
    lines = []
    for k, (name, lengths) in enumerate(reached.actuators):
        pressures = [
            hysteresis_pressure(model, float(length), plays) for length in lengths
        ]
        if soft.opposing and k == 0:
            gain = soft.opposing_pressure_gain
            offset = soft.opposing_pressure_offset_kpa * 1e3
            pressures = [proximal_pressure(gain, offset, p2) for p2 in pressures]
        listed = ", ".join(f"{1e-3 * pressure:.2f}" for pressure in pressures)
        outside = any(not low <= 1e-3 * pressure <= high for pressure in pressures)
        note = f" (outside the {low:g} to {high:g} kPa measured)" if outside else ""
        lines.append(f"{name.replace('length', 'pressure')}: {listed} kPa{note}")
    return lines


def describe_in_emets_convention(soft: LimbParameters, reached: Reached) -> list[str]:
    """Say the bends as Emet 2023 counts them, each φ from the segment before."""
    if reached.coordinates is None:
        return []
    rest = np.asarray(soft.segment_length_mm) * 1e-3
    bend, direction, length = emet_of_coordinates(reached.coordinates, rest)
    return [
        f"segment {k + 1} as Emet counts: bend {np.degrees(bend[k]):.3f} degrees, "
        f"direction {np.degrees(direction[k]):.3f}, length {1e3 * length[k]:.3f} mm"
        for k in range(rest.size)
    ]


def _reach_with_leg(robot: RobotParameters, number: int, goal: FloatArray) -> Reached:
    legs = leg_model(robot)
    if legs is None:
        raise ConfigError(f"The robot {robot.name!r} has no legs.")
    base = legs.pose_leg_to_body[number]
    joints, foot = np.zeros(3), np.zeros(3)
    local = base[:3, :3].T @ (goal - base[:3, 3])
    status = leg_inverse(legs, number, local, joints, foot)
    leg_forward(legs, number, joints, foot)
    tip = base[:3, :3] @ foot + base[:3, 3]
    error = float(np.linalg.norm(tip - goal))
    return Reached(None, joints, (), tip, error, tuple(leg_reasons(status)))


def _in_base(
    obstacles: Sequence[tuple[str, FloatArray, FloatArray]], base: FloatArray
) -> ObstacleModel | None:
    """Obstacles of the hull frame in a limb's base frame; None where there are none."""
    if not obstacles:
        return None
    turned = []
    for kind, position, sizes in obstacles:
        pose = np.eye(4)
        pose[:3, :3] = base[:3, :3].T
        pose[:3, 3] = base[:3, :3].T @ (position - base[:3, 3])
        turned.append((kind, pose, sizes))
    return build_obstacle_model(turned)


def limb_model(soft: LimbParameters, model: RobotModel, number: int) -> LimbModel:
    """Make a limb with its limits; those of chambers as the largest box inside them.

    Args:
        soft: its parameters.
        model: the robot's.
        number: index of the limb.
    """
    rows = slice(*model.limb_segment_start[number : number + 2])
    bend, extension = model.bend_limit[rows].copy(), model.extension_range[rows].copy()
    for k, chambers in enumerate(chamber_models(soft)):
        if chambers is not None and not soft.opposing:
            bend[k] = min(bend[k], 0.5 * inscribed_bend(chambers))
            low, high = box_extension_range(chambers, bend[k])
            extension[k] = max(low, extension[k, 0]), min(high, extension[k, 1])
    return build_limb_model(
        model.segment_length[rows],
        model.segment_radius[rows],
        bend,
        extension,
        limb_gaps(soft),
        model.rest_coordinates[rows],
    )


def tip_in_hull(
    chain: LimbModel, model: RobotModel, number: int, coordinates: FloatArray
) -> FloatArray:
    """(3,) tip of limb `number` in the hull frame [m]."""
    frames = np.zeros((coordinates.shape[0] + 1, 4, 4))
    limb_frames(chain, coordinates, frames)
    base = model.pose_base_to_hull[number]
    return np.asarray(base[:3, :3] @ frames[-1, :3, 3] + base[:3, 3])


def actuator_lengths(
    soft: LimbParameters, model: RobotModel, number: int, coordinates: FloatArray
) -> tuple[tuple[str, FloatArray], ...]:
    """Lengths of tendons or chambers for a posture, with a name for each group [m].

    Args:
        soft: the limb's parameters.
        model: the robot's.
        number: index of the limb.
        coordinates: (n, 3) segment coordinates [rad, rad, m].
    """
    found: list[tuple[str, FloatArray]] = []
    if soft.actuation == "tendons":
        first, last = model.limb_tendon_start[number : number + 2]
        lengths = np.zeros(last - first)
        jacobian = np.zeros((last - first, coordinates.size))
        tendon_lengths(model, number, coordinates, lengths, jacobian)
        found.append(("tendon lengths", lengths))
    for k, chambers in enumerate(chamber_models(soft)):
        if chambers is not None:
            lengths = np.zeros(chambers.offset.shape[0])
            chamber_lengths(chambers, coordinates[k], lengths)
            found.append((f"segment {k + 1}, chamber lengths", lengths))
        elif soft.chambers:
            whole = soft.segment_length_mm[k] * 1e-3 + coordinates[k, 2]
            found.append((f"segment {k + 1}, chamber length", np.array([whole])))
    return tuple(found)
