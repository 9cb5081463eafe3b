"""The body of a benthic robot on legs: SILVER2 after Liu 2020, Experimental Platform.

Two vertical plates joined by beams, two main canisters, a third one with a transparent
dome and two cameras in front, floats above and weights below, a camera at the top
right. The paper gives no sizes; these follow the hull's length, width and height.
"""

from app.config.bodies import HullParameters, LegParameters
from app.scene.legs import leg_mount
from app.scene.meshes import Mesh, ball, linear, merge, move, pose_along
from app.scene.parts import DARK, GLASS, beam, block, canister, dome, place

__all__ = ["arm_bracket", "crawler_meshes"]

_PLATE = linear("#b9c1c6", 0.5)
_TUBE = linear("#3b474f", 0.6)
_FOAM = linear("#e8743a", 0.25)
_WEIGHT = linear("#30363a", 0.5)
_ALUMINIUM = linear("#c4ccd0", 0.7)
_CLEAR = linear("#1d3a4a", 1.0)


def crawler_meshes(hull: HullParameters, legs: tuple[LegParameters, ...]) -> list[Mesh]:
    """Build the body; its frame stands from 0.4 of its height below the origin [m]."""
    length = hull.length_mm * 1e-3
    width = (hull.width_mm or 0.0) * 1e-3
    height = (hull.height_mm or 0.0) * 1e-3
    low, high = -0.4 * height, 0.6 * height
    ahead, side = 0.5 * length, 0.36 * width
    middle = 0.5 * (low + high)
    parts: list[Mesh] = []
    for y in (-side, side):
        parts += _plate(ahead, y, low, high)
        foam = block((0.72 * length, 0.24 * width, 0.060), 0.02, 0.010, _FOAM)
        parts.append(move(foam, place(-0.02, 0.80 * y, high + 0.006)))
        weight = block((0.40 * length, 0.030, 0.026), 0.008, 0.004, _WEIGHT)
        parts.append(move(weight, place(-0.02, 0.86 * y, low - 0.006)))
    for x in (-0.9 * ahead, 0.9 * ahead):
        for z in (low + 0.015, middle, high - 0.025):
            parts.append(beam((x, -side, z), (x, side, z), 0.020, 0.020, _ALUMINIUM))
    for z in (middle + 0.052, middle - 0.058):
        tube = pose_along((-0.74 * ahead, 0.0, z), (1.0, 0.0, 0.0))
        parts.append(move(canister(0.048, 0.66 * length, _TUBE), tube))
    eyes = pose_along((ahead - 0.045, 0.0, middle - 0.004), (1.0, 0.0, 0.0))
    parts.append(move(canister(0.046, 0.075, _ALUMINIUM), eyes))
    window = pose_along((ahead + 0.042, 0.0, middle - 0.004), (1.0, 0.0, 0.0))
    parts.append(move(dome(0.045, _CLEAR), window))
    for y in (-0.018, 0.018):
        lens = place(ahead + 0.076, y, middle + 0.006)
        parts.append(move(ball(0.011, GLASS, 12, 8), lens))
    parts.append(_side_camera(0.96 * ahead, -0.8 * side, high))
    for leg in legs:
        coxa = leg_mount(leg)[:3, 3]
        root = (float(coxa[0]), side if coxa[1] > 0.0 else -side, float(coxa[2]))
        for z in (-0.018, 0.062):
            parts.append(
                beam(
                    (root[0], root[1], root[2] + z),
                    (root[0], float(coxa[1]), root[2] + z),
                    0.050,
                    0.008,
                    _ALUMINIUM,
                )
            )
    return parts


def _plate(ahead: float, y: float, low: float, high: float) -> list[Mesh]:
    """One vertical plate, its openings between rails and posts."""
    wide = 0.008
    parts = [
        beam((-ahead, y, low), (ahead, y, low), wide, 0.040, _PLATE),
        beam((-ahead, y, high), (ahead, y, high), wide, 0.040, _PLATE),
        beam(
            (-ahead, y, 0.5 * (low + high)),
            (ahead, y, 0.5 * (low + high)),
            wide,
            0.022,
            _PLATE,
        ),
    ]
    for share in (-0.95, -0.32, 0.32, 0.95):
        x = share * ahead
        parts.append(beam((x, y, low), (x, y, high), wide, 0.040, _PLATE))
    return parts


def _side_camera(x: float, y: float, z: float) -> Mesh:
    """The camera that was added for the arm's operator, looking down and ahead."""
    pose = pose_along((x, y, z + 0.075), (0.75, 0.25, -0.61))
    eye = merge([canister(0.024, 0.060, _TUBE), move(dome(0.022), place(0, 0, 0.070))])
    post = beam((x - 0.01, y, z), (x - 0.01, y, z + 0.075), 0.018, 0.018, _ALUMINIUM)
    return merge([move(eye, pose), post, move(ball(0.012, DARK, 10, 6), pose)])


def arm_bracket(x: float, y: float, z: float, hull: HullParameters) -> list[Mesh]:
    """The interface that holds an arm in front of the frame's top [m]."""
    high = 0.6 * (hull.height_mm or 0.0) * 1e-3
    side = 0.36 * (hull.width_mm or 0.0) * 1e-3
    ahead = 0.5 * hull.length_mm * 1e-3
    inner = side if y > 0.0 else -side
    deck = z + 0.006
    return [
        beam((0.4 * ahead, inner, deck), (x + 0.03, y, deck), 0.060, 0.012, _ALUMINIUM),
        beam(
            (0.5 * ahead, inner, high), (0.5 * ahead, inner, deck), 0.02, 0.03, _PLATE
        ),
        beam((0.98 * ahead, inner, high - 0.05), (x, y, deck), 0.020, 0.012, _PLATE),
    ]
