"""Contact between limbs: the points of one element against the segments of another.

Of a pair of elements the first is balls at its points, the second a chain of tapered
capsules, one between each two neighbouring points (a ball where there is one point
only). Each ball touches the capsule that is nearest.

The force on the segment is shared by the sections at its two ends as the lever says, at
the same distance from the axis. So both limbs get forces and moments that are opposite
about any point, and momentum is kept to rounding.

Leaves out the stretch between an element's start and its first point, and balls that
slip through between two balls: choose points closer than the other limb's diameter.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from models.contact import MARGIN_SPEED, into_world, tree_rows
from models.contact_law import DEFAULT_LAW, ContactLaw, pack_law
from models.contact_solve import ContactData, open_contact
from models.numerics import FloatArray, IntArray, inner_kernel, kernel
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_solve import point_velocity

__all__ = ["LimbContactModel", "build_limb_contacts", "find_limb_contacts"]


class LimbContactModel(NamedTuple):
    """Q pairs of elements of one tree that can touch."""

    pair: IntArray
    """(Q, 2) element whose points are balls, element whose segments are capsules."""
    law: FloatArray
    """(Q, 5) see `contact_law.pack_law`."""


def build_limb_contacts(
    pairs: Sequence[tuple[int, int]] = (),
    law: ContactLaw = DEFAULT_LAW,
    *,
    elements: int | None = None,
) -> LimbContactModel:
    """Check the pairs of elements that can touch.

    Args:
        pairs: (balls, capsules) indices of elements each; the element with the closer
            points first.
        law: of all of them.
        elements: number of elements of the tree, to check the indices against.

    Returns:
        The model.

    Raises:
        ValueError: an element against itself, or one that the tree does not have.
    """
    table = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    for first, second in table.tolist():
        if first == second:
            message = f"element {first} cannot touch itself; give two elements"
            raise ValueError(message)
        most = max(first, second)
        if min(first, second) < 0 or (elements is not None and most >= elements):
            message = f"pair ({first}, {second}): the tree has {elements} elements"
            raise ValueError(message)
    return LimbContactModel(table, np.tile(pack_law(law), (len(pairs), 1)))


@kernel
def _nearest(
    model: TreeModel, work: TreeWork, point: int, element: int
) -> tuple[float, int, float]:
    """Gap from a ball to an element's capsules, far point and the fraction to it."""
    x, y, z = work.point_position[point]
    first = model.element_step_start[element]
    last = model.element_step_start[element + 1] - 1
    best = np.inf
    best_point = last
    best_fraction = 1.0
    for j in range(first if first == last else first + 1, last + 1):
        end = work.point_position[j]
        start = work.point_position[max(j - 1, first)]
        dx = end[0] - start[0]
        dy = end[1] - start[1]
        dz = end[2] - start[2]
        square = dx * dx + dy * dy + dz * dz
        near_radius = model.point_radius[max(j - 1, first)]
        taper = model.point_radius[j] - near_radius
        fraction = 1.0
        if square > taper * taper:
            u = x - start[0]
            v = y - start[1]
            w = z - start[2]
            fraction = (u * dx + v * dy + w * dz) / square
            off = u * u + v * v + w * w - fraction * fraction * square
            fraction += (
                taper
                * math.sqrt(max(off, 0.0) / (square - taper * taper))
                / (math.sqrt(square))
            )
            fraction = min(max(fraction, 0.0), 1.0)
        rest = 1.0 - fraction
        far = math.sqrt(
            (x - end[0] + rest * dx) ** 2
            + (y - end[1] + rest * dy) ** 2
            + (z - end[2] + rest * dz) ** 2
        )
        gap = far - (near_radius + fraction * taper)
        if gap < best:
            best = gap
            best_point = j
            best_fraction = fraction
    return best - model.point_radius[point], best_point, best_fraction


@kernel
def _may_touch(
    model: TreeModel, work: TreeWork, first: int, second: int, margin: float
) -> bool:
    """Whether the boxes about the points of two elements come within a margin."""
    for i in range(3):
        low_1 = np.inf
        high_1 = -np.inf
        for p in range(
            model.element_step_start[first], model.element_step_start[first + 1]
        ):
            low_1 = min(low_1, work.point_position[p, i] - model.point_radius[p])
            high_1 = max(high_1, work.point_position[p, i] + model.point_radius[p])
        low_2 = np.inf
        high_2 = -np.inf
        for p in range(
            model.element_step_start[second], model.element_step_start[second + 1]
        ):
            low_2 = min(low_2, work.point_position[p, i] - model.point_radius[p])
            high_2 = max(high_2, work.point_position[p, i] + model.point_radius[p])
        if not (low_1 < high_2 + margin and low_2 < high_1 + margin):
            return False
    return True


@kernel
def _enter(
    model: TreeModel,
    pairs: LimbContactModel,
    pair: int,
    slot: int,
    point: int,
    far_point: int,
    fraction: float,
    gap: float,
    data: TreeData,
    work: TreeWork,
    found: ContactData,
) -> None:
    """Enter one contact and its rows."""
    second = pairs.pair[pair, 1]
    near_point = max(far_point - 1, model.element_step_start[second])
    pose = data.root_pose
    ball = work.point_position[point]
    near = work.point_position[near_point]
    end = work.point_position[far_point]
    rest = 1.0 - fraction
    ax = rest * near[0] + fraction * end[0]
    ay = rest * near[1] + fraction * end[1]
    az = rest * near[2] + fraction * end[2]
    nx = ball[0] - ax
    ny = ball[1] - ay
    nz = ball[2] - az
    far = math.sqrt(nx * nx + ny * ny + nz * nz)
    if not far > 0.0:
        return
    reach = far - model.point_radius[point] - 0.5 * gap  # from axis to contact
    px, py, pz = into_world(
        pose,
        ax + reach / far * nx,
        ay + reach / far * ny,
        az + reach / far * nz,
    )
    nx, ny, nz = into_world(pose, nx / far, ny / far, nz / far)
    px += pose[0, 3]
    py += pose[1, 3]
    pz += pose[2, 3]
    c = open_contact(pairs.law[pair], slot, -gap, px, py, pz, nx, ny, nz, found)
    if c < 0:
        return
    first = pairs.pair[pair, 0]
    found.partner[c, 0] = first
    found.partner[c, 1] = second
    normal = found.normal[c]
    row = found.row[c]
    tree_rows(model, first, point, found.place[c], normal, 1.0, data, work, row)
    for j in range(2):
        at = end if j == 1 else near
        section = far_point if j == 1 else near_point
        share = fraction if j == 1 else rest
        sx, sy, sz = into_world(pose, at[0], at[1], at[2])
        found.spot[0] = sx + pose[0, 3] + reach * nx
        found.spot[1] = sy + pose[1, 3] + reach * ny
        found.spot[2] = sz + pose[2, 3] + reach * nz
        tree_rows(model, second, section, found.spot, normal, -share, data, work, row)


@inner_kernel
def find_limb_contacts(
    model: TreeModel,
    pairs: LimbContactModel,
    period: float,
    first_slot: int,
    data: TreeData,
    work: TreeWork,
    found: ContactData,
) -> None:
    """Enter all contacts between limbs that may touch within a step.

    Slot of point p in pair i: first_slot + p Q + i.

    Args:
        model: the tree.
        pairs: elements that can touch.
        period: time step [s].
        first_slot: slots before are of others.
        data: state.
        work: after `tree_motion`.
        found: gets the contacts and their rows.
    """
    count = pairs.pair.shape[0]
    for i in range(count):
        first = pairs.pair[i, 0]
        second = pairs.pair[i, 1]
        speed = MARGIN_SPEED
        for j in range(2):
            fastest = 0.0
            element = pairs.pair[i, j]
            for p in range(
                model.element_step_start[element], model.element_step_start[element + 1]
            ):
                at = work.point_position[p]
                u, v, w = point_velocity(work, p, at[0], at[1], at[2])
                fastest = max(fastest, u * u + v * v + w * w)
            speed += 2.0 * math.sqrt(fastest)
        margin = period * speed
        if not _may_touch(model, work, first, second, margin):
            continue
        for p in range(
            model.element_step_start[first], model.element_step_start[first + 1]
        ):
            if not model.point_radius[p] > 0.0:
                continue
            gap, far_point, fraction = _nearest(model, work, p, second)
            if gap < margin:
                slot = first_slot + p * count + i
                _enter(
                    model,
                    pairs,
                    i,
                    slot,
                    p,
                    far_point,
                    fraction,
                    gap,
                    data,
                    work,
                    found,
                )
