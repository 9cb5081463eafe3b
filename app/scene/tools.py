"""What sits in a limb's tip: housings, probes, grippers, or nothing but a round end.

A tool lies along z, outwards, with the tip's point at the origin.
"""

import math

import numpy as np

from app.config.kinematics import limb_gaps
from app.config.limbs import GripperParameters, LimbParameters
from app.scene.meshes import Color, Mesh, ball, lathe, linear, merge, move, sweep
from app.scene.parts import place
from models.numerics import FloatArray

__all__ = ["dorsal_shade", "tip_tool"]

_SIDES = 16
_METAL = linear("#aab4b8", 0.8)
_DARK = linear("#2c3338", 0.5)
_GLASS = linear("#08121a", 1.0)


def tip_tool(limb: LimbParameters, radius: float, color: Color) -> Mesh:
    """Make what a limb carries at its tip, behind its last rigid gap.

    Args:
        limb: names its role and gripper.
        radius: of the limb's end [m].
        color: of the limb.
    """
    if limb.role == "body":
        return lathe([(0.0, 0.5 * radius), (0.001, 0.0)], _DARK, _SIDES)
    if limb.gripper is None:
        tool = _tool(limb.role, radius, color)
    else:
        tool = _soft_gripper(limb.gripper, radius, color)
    return move(tool, place(0.0, 0.0, float(limb_gaps(limb)[-1])))


def dorsal_shade(angle: FloatArray) -> FloatArray:
    """(n, 1) factor on the skin's colour at (n,) azimuths: the x side is darker."""
    dorsal = np.cos(angle)[:, None]
    return np.where(dorsal > 0.0, 1.0 - 0.38 * dorsal**3, 1.0 - 0.22 * dorsal)


def _tool(role: str, radius: float, color: Color) -> Mesh:
    """What sits in the tip, z outwards, the tip's point at the origin."""
    if role == "camera":
        return _housing(radius, _GLASS, hood=0.006)
    if role == "light":
        return _housing(radius, linear("#fff2cf", -1.0, 1.6), hood=0.003)
    if role == "palpation":
        return _probe(radius)
    if role == "grasper":
        return _gripper(radius)
    tip = lathe(
        [
            (radius * math.sin(a), radius * math.cos(a))
            for a in np.linspace(0.0, 0.5 * math.pi, 6)
        ],
        color,
        _SIDES,
    )
    shade = tip.color.copy()
    shade[:, :3] *= dorsal_shade(np.arctan2(tip.position[:, 1], tip.position[:, 0]))
    return tip._replace(color=shade)


def _housing(radius: float, window: Color, hood: float) -> Mesh:
    """A round housing about the tip with a window in front."""
    outer = radius + 0.006
    case = lathe(
        [
            (-0.034, radius),
            (-0.030, outer - 0.001),
            (-0.026, outer),
            (0.006, outer),
            (0.006, outer),
            (0.006 + hood, outer - 0.001),
            (0.006 + hood, outer - 0.001),
            (0.006 + hood, outer - 0.0035),
            (0.006, outer - 0.004),
        ],
        _DARK,
        20,
    )
    ring = lathe(
        [
            (-0.020, outer),
            (-0.019, outer + 0.0012),
            (-0.013, outer + 0.0012),
            (-0.012, outer),
        ],
        _METAL,
        20,
    )
    glass = lathe(
        [
            (0.004 + 0.005 * math.sin(a), (outer - 0.004) * math.cos(a))
            for a in np.linspace(0.0, 0.5 * math.pi, 5)
        ],
        window,
        20,
    )
    return merge([case, ring, glass])


def _probe(radius: float) -> Mesh:
    """A force sensor's ring and a smooth ball to feel with."""
    ring = lathe(
        [
            (-0.022, radius),
            (-0.020, radius + 0.003),
            (-0.008, radius + 0.003),
            (-0.006, radius),
            (-0.002, 0.55 * radius),
        ],
        _DARK,
        20,
    )
    tip = move(ball(0.9 * radius, _METAL, 18, 10), place(0.0, 0.0, 0.001))
    return merge([ring, tip])


def _gripper(radius: float) -> Mesh:
    """A palm with three curved fingers about the tip's point."""
    palm = lathe(
        [
            (-0.030, radius),
            (-0.027, radius + 0.004),
            (-0.014, radius + 0.004),
            (-0.011, radius + 0.002),
            (-0.010, 0.0),
        ],
        _DARK,
        20,
    )
    parts = [palm]
    bend = np.linspace(0.0, 1.0, 9)
    for k in range(3):
        angle = 2.0 * math.pi * k / 3 + math.pi / 3
        out = radius * (0.75 + 1.15 * np.sin(math.pi * bend**0.8) - 0.50 * bend)
        path = np.stack(
            [out * math.cos(angle), out * math.sin(angle), -0.014 + 0.044 * bend],
            axis=1,
        )
        parts.append(sweep(path, 0.0042, _METAL, 8))
        end = np.eye(4)
        end[:3, 3] = path[-1]
        parts.append(move(ball(0.0052, _DARK, 8, 6), end))
    return merge(parts)


def _soft_gripper(gripper: GripperParameters, radius: float, color: Color) -> Mesh:
    """A printed connector and soft fingers that stand a little open, z outwards."""
    length = gripper.length_mm * 1e-3
    palm = 0.30 * length
    parts = [
        lathe(
            [
                (-0.006, radius),
                (-0.003, radius + 0.003),
                (0.35 * palm, radius + 0.003),
                (0.80 * palm, 1.12 * radius),
                (palm, 1.10 * radius),
                (palm, 1.10 * radius),
                (palm, 0.0),
            ],
            _DARK,
            24,
        )
    ]
    t = np.linspace(0.0, 1.0, 22)
    along = palm * 0.8 + (length - 0.8 * palm) * t
    for k in range(gripper.fingers):
        angle = 2.0 * math.pi * (k + 0.5) / gripper.fingers
        out = radius * (0.80 + 0.95 * np.sin(0.85 * math.pi * t) ** 1.1 - 0.10 * t)
        path = np.stack([out * math.cos(angle), out * math.sin(angle), along], axis=1)
        thick = 0.30 * radius * (1.0 - 0.30 * t)
        parts.append(_finger(path, thick, color))
    return merge(parts)


def _finger(path: FloatArray, thick: FloatArray, color: Color) -> Mesh:
    """A finger of round section, ribbed as pneumatic ones are, with a rounded end."""
    ribs = 1.0 + 0.10 * np.cos(2.0 * math.pi * 5.0 * np.linspace(0.0, 1.0, len(path)))
    finger = sweep(path, 1.0, color, 10)
    rings = finger.position.reshape(len(path), 10, 3)
    middle = path[:, None]
    position = middle + (rings - middle) * (thick * ribs)[:, None, None]
    shade = finger.color.copy().reshape(len(path), 10, 4)
    shade[..., :3] *= (0.70 + 3.0 * (ribs - 0.9))[:, None, None].clip(0.7, 1.0)
    end = np.eye(4)
    end[:3, 3] = path[-1]
    tip = move(ball(float(thick[-1] * ribs[-1]), color, 10, 8), end)
    skin = finger._replace(position=position.reshape(-1, 3), color=shade.reshape(-1, 4))
    return merge([skin, tip])
