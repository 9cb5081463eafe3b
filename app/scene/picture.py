"""What the renderer is given: meshes that never change, and what one frame shows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.scene.cameras import View
from app.scene.meshes import Mesh
from app.scene.skin import LimbMesh
from app.scene.target import Target
from models.numerics import FloatArray

__all__ = ["LINE_FLOATS", "Bodies", "LimbLook", "Picture", "Shot", "ThingLook"]

LINE_FLOATS = 15
"""Numbers a line: start, stop (3 each), their colours (4 each), thickness [px]."""


@dataclass(frozen=True)
class Bodies:
    """Meshes that never change.

    Attributes:
        hull: the vehicle.
        site: obstacles.
        near_sand: sand that the lamp and shadows can fall on.
        far_sand: the rest of it.
        skins: one a limb, rows of skin frames.
        shells: the same with less detail, for ghosts and outlines.
        bare: sections, one a limb, rows of link frames.
        things: obstacles, objects and marks of a scene, each in its own frame.
    """

    hull: Mesh
    site: Mesh
    near_sand: Mesh
    far_sand: Mesh
    skins: Sequence[LimbMesh]
    shells: Sequence[LimbMesh]
    bare: Sequence[LimbMesh]
    things: Sequence[Mesh] = ()


@dataclass(frozen=True)
class LimbLook:
    """How to draw one limb of one copy.

    Attributes:
        limb: its index.
        copy: index of the copy's frames in `Picture.frames`.
        ghost: translucent in `tone`, in place of its own skin.
        tone: linear colour of a ghost or an outline, and the outline's opacity.
        saturation: 1 own colours .. 0 grey.
        brightness: factor on its colours.
        opacity: 1 solid .. 0 not there; of a ghost, where it faces the eye.
        edge: opacity of a ghost at its rim.
        highlight: 0..1, extra light on it.
        outline: width of an outline in `tone` [px]; 0 none.
        beside: copy beside which a ghost and its outline fade where both coincide;
            None to draw all of it.
        tube: of a ghost, a translucent tube about it that grows from nothing at the
            base: rows of base and tip, radius beyond the limb's own at the tip [m].
    """

    limb: int
    copy: int
    ghost: bool = False
    tone: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    saturation: float = 1.0
    brightness: float = 1.0
    opacity: float = 1.0
    edge: float = 0.8
    highlight: float = 0.0
    outline: float = 0.0
    beside: int | None = None
    tube: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class ThingLook:
    """How to draw one thing of the scene.

    Attributes:
        thing: index of its mesh in `Bodies.things`.
        pose: (4, 4) in the hull frame [m]; may scale.
        opacity: 1 solid .. 0 not there.
        tone: factor on its linear colours.
    """

    thing: int
    pose: FloatArray
    opacity: float = 1.0
    tone: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Picture:
    """Everything that one frame shows.

    Attributes:
        frames: (C, R, 4, 4) frames of every copy, hull frame, rows as the limb meshes
            count them.
        bare: draw the bare sections in place of the skin.
        limbs: looks, drawn in this order; solids before ghosts.
        lines: (n, 15) float32, see `LINE_FLOATS`.
        lamp: (4, 4) pose of the light limb's tip, hull frame, or None.
        shadow_copy: copy whose shadow falls on the sand.
        things: what is about the robot; solids cover limbs, others are blended over.
    """

    frames: FloatArray
    bare: bool
    limbs: Sequence[LimbLook]
    lines: NDArray[np.float32] = field(
        default_factory=lambda: np.zeros((0, LINE_FLOATS), np.float32)
    )
    lamp: FloatArray | None = None
    shadow_copy: int = 0
    things: Sequence[ThingLook] = ()


@dataclass(frozen=True)
class Shot:
    """Where a picture is taken from, and into.

    Attributes:
        view: the viewpoint.
        target: where to.
        natural: as a limb's own camera sees it: dim water, no ghosts, no lines.
    """

    view: View
    target: Target
    natural: bool = False
