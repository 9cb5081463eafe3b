"""The contacts of one step: what touches what, where, how deep, and by what law.

Whoever looks for contacts enters each with `open_contact` and fills in its rows; then
models/contact_solve finds the impulses.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, kernel

__all__ = ["ContactData", "allocate_contact_data", "forget_contacts", "open_contact"]


class ContactData(NamedTuple):
    """The contacts of one step: at most C of them, among S slots, on D velocities."""

    count: IntArray  # type: ignore[assignment]  # hides tuple.count
    """(5,) contacts; sweeps taken; contacts left out for want of room; then since the
    start: steps, and steps whose impulses did not settle."""
    slot: IntArray
    """(C,) what touches what: an index below S."""
    partner: IntArray
    """(C, 2) element of the tree that touches, and the one touched; -1 = none."""
    place: FloatArray
    """(C, 3) of the contact, in the world [m]."""
    normal: FloatArray
    """(C, 3) away from what is touched."""
    depth: FloatArray
    """(C,) penetration at the start of the step; negative for a gap [m]."""
    law: FloatArray
    """(C, 5) see `contact_law.pack_law`."""
    impulse: FloatArray
    """(C, 3) along the normal and the two tangents [N s]."""
    row: FloatArray
    """(C, 3, D) J."""
    half: FloatArray
    """(C, 3, D) L⁻ᵀ Jᵀ, its nonzero columns only once they are packed."""
    columns: IntArray
    """(C, D) the velocity of each packed column."""
    packed: IntArray
    """(C,) their number."""
    free: FloatArray
    """(C, 3) speeds J v without contact [m/s]."""
    sum: FloatArray
    """(D,) s = Σ Z λ."""
    block: FloatArray
    """(C, 5) compliance along the normal and the principal tangents [1/kg], cosine and
    sine of the first one's angle to the first tangent."""
    memory: FloatArray
    """(S, 3) impulses of the last step in which the slot touched [N s]."""
    stamp: IntArray
    """(S,) that step."""
    velocity: FloatArray
    """(D,) at the end of the step."""
    kept: FloatArray
    """(C, 3) impulses to go back to where models/contact_newton fails [N s]."""
    speed: FloatArray
    """(C, 3) scratch of models/contact_newton: speeds [m/s]."""
    along: FloatArray
    """(C, 3) likewise: their change along the direction of search [m/s]."""
    direction: FloatArray
    """(D,) likewise."""
    hessian: FloatArray
    """(D, D) likewise."""
    spot: FloatArray
    """(3,) scratch: a place in the world [m]."""


def allocate_contact_data(capacity: int, slots: int, size: int) -> ContactData:
    """Make room for contacts.

    Args:
        capacity: C, contacts of one step.
        slots: S.
        size: D, velocities.

    Returns:
        Arrays of the shapes in `ContactData`.
    """
    return ContactData(
        count=np.zeros(5, dtype=np.int64),
        slot=np.zeros(capacity, dtype=np.int64),
        partner=np.full((capacity, 2), -1, dtype=np.int64),
        place=np.zeros((capacity, 3)),
        normal=np.zeros((capacity, 3)),
        depth=np.zeros(capacity),
        law=np.zeros((capacity, 5)),
        impulse=np.zeros((capacity, 3)),
        row=np.zeros((capacity, 3, size)),
        half=np.zeros((capacity, 3, size)),
        columns=np.zeros((capacity, size), dtype=np.int64),
        packed=np.zeros(capacity, dtype=np.int64),
        free=np.zeros((capacity, 3)),
        sum=np.zeros(size),
        block=np.zeros((capacity, 5)),
        memory=np.zeros((slots, 3)),
        stamp=np.full(slots, -1, dtype=np.int64),
        velocity=np.zeros(size),
        kept=np.zeros((capacity, 3)),
        speed=np.zeros((capacity, 3)),
        along=np.zeros((capacity, 3)),
        direction=np.zeros(size),
        hessian=np.zeros((size, size)),
        spot=np.zeros(3),
    )


@kernel
def forget_contacts(data: ContactData) -> None:
    """Begin a step: no contacts yet."""
    data.count[0] = 0
    data.count[1] = 0
    data.count[2] = 0
    data.count[3] += 1


@kernel
def open_contact(
    law: FloatArray,
    slot: int,
    depth: float,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    data: ContactData,
) -> int:
    """Enter a contact, without partners, rows still zero.

    Args:
        law: (5,).
        slot: what touches what.
        depth: [m].
        x: of the contact's place in the world [m].
        y: [m].
        z: [m].
        nx: of the unit normal in the world.
        ny: as nx.
        nz: as nx.
        data: the contacts.

    Returns:
        Its index, or -1 where there is no room.
    """
    c = data.count[0]
    if c == data.depth.size:
        data.count[2] += 1
        return -1
    data.count[0] = c + 1
    data.slot[c] = slot
    data.partner[c, 0] = -1
    data.partner[c, 1] = -1
    data.depth[c] = depth
    data.place[c, 0] = x
    data.place[c, 1] = y
    data.place[c, 2] = z
    data.normal[c, 0] = nx
    data.normal[c, 1] = ny
    data.normal[c, 2] = nz
    for i in range(5):
        data.law[c, i] = law[i]
    for i in range(3):
        for d in range(data.row.shape[2]):
            data.row[c, i, d] = 0.0
    return int(c)
