"""All contacts of one step together: impulses at the step's end, solved in sweeps.

A system of D velocities v, whatever it is made of, has at its step's end, without
contact, the velocity v. Contact c has three rows J_c (separation speed along the
normal, slip along two tangents), A is the matrix of the step. Wanted are

    v₁ = v + A⁻¹ Σ J_cᵀ λ_c,     λ_c = h F_c(δ_c - h J_n v₁, J_c v₁)

with the law of models/contact_law. With A = LᵀL and the half response Z_c = L⁻ᵀ J_cᵀ,
J v₁ = J v + Zᵀ s, s = Σ Z_c λ_c: Z alone is needed, which in a tree is nonzero on the
path of the contact only. Block Gauss-Seidel goes through the contacts, each solved
against its own compliance Z_cᵀ Z_c, until no impulse changes a velocity any more. Where
that takes more than three sweeps (many contacts that share few velocities),
models/contact_newton improves all of them together.

One λ acts on both partners of a contact, so momentum is kept to rounding whatever the
sweeps have reached; no impulse pulls, and friction is inside its cone always. Energy is
not added once the sweeps have settled (models/contact_law), as far as the obstacles are
convex: along a hollow the step's end lies deeper than predicted.

Impulses start from those of the step before (same slot), which saves most sweeps.
"""

import math

import numpy as np

from models.contact_law import friction_impulse, normal_impulse
from models.contact_list import (
    ContactData,
    allocate_contact_data,
    forget_contacts,
    open_contact,
)
from models.contact_newton import improve_together
from models.numerics import FloatArray, called_kernel

__all__ = [
    "ContactData",
    "allocate_contact_data",
    "forget_contacts",
    "open_contact",
    "solve_contacts",
]

_MOST_SWEEPS = 100
_FIRST_SWEEPS = 2
_MOST_NEWTON = 30
_WHOLE_STEPS = 8
_SETTLED = 1e-7  # of a speed, and [m/s]


@called_kernel
def _start(velocity: FloatArray, data: ContactData) -> None:
    """Pack; compliances and free speeds; impulses of the step before, if any."""
    size = velocity.size
    for d in range(size):
        data.sum[d] = 0.0
    for c in range(data.count[0]):
        row = data.row[c]
        half = data.half[c]
        count = 0
        free_0 = free_1 = free_2 = 0.0
        w00 = w11 = w12 = w22 = 0.0
        for d in range(size):
            free_0 += row[0, d] * velocity[d]
            free_1 += row[1, d] * velocity[d]
            free_2 += row[2, d] * velocity[d]
            a, b, e = half[0, d], half[1, d], half[2, d]
            if a == 0.0 and b == 0.0 and e == 0.0:
                continue
            half[0, count], half[1, count], half[2, count] = a, b, e
            data.columns[c, count] = d
            count += 1
            w00 += a * a
            w11 += b * b
            w12 += b * e
            w22 += e * e
        data.packed[c] = count
        data.free[c, 0], data.free[c, 1], data.free[c, 2] = free_0, free_1, free_2
        spread = 0.5 * (w11 - w22)
        data.block[c, 0] = w00
        reach = math.sqrt(spread * spread + w12 * w12)
        data.block[c, 1] = 0.5 * (w11 + w22) + reach
        data.block[c, 2] = max(0.0, 0.5 * (w11 + w22) - reach)
        angle = 0.5 * math.atan2(w12, spread)
        data.block[c, 3] = math.cos(angle)
        data.block[c, 4] = math.sin(angle)
        slot = data.slot[c]
        known = data.stamp[slot] == data.count[3] - 1
        for i in range(3):
            value = data.memory[slot, i] if known else 0.0
            data.impulse[c, i] = value
            if value != 0.0:
                for k in range(count):
                    data.sum[data.columns[c, k]] += half[i, k] * value


@called_kernel
def _improve(contact: int, period: float, data: ContactData) -> tuple[float, float]:
    """Solve one contact against the others; the change of its speed, and its speed."""
    half = data.half[contact]
    index = data.columns[contact]
    count = data.packed[contact]
    total = data.sum
    impulse = data.impulse[contact]
    law = data.law[contact]
    w_normal = data.block[contact, 0]
    w_tangent = data.block[contact, 1]
    if not (w_normal > 0.0 and w_tangent > 0.0):
        return 0.0, 0.0
    speed = data.free[contact, 0]
    for k in range(count):
        speed += half[0, k] * total[index[k]]
    before = impulse[0]
    impulse[0] = normal_impulse(
        law, period, data.depth[contact], speed - w_normal * before, w_normal
    )
    change = impulse[0] - before
    if change != 0.0:
        for k in range(count):
            total[index[k]] += half[0, k] * change
    moved = abs(w_normal * change)
    if impulse[0] == 0.0 and impulse[1] == 0.0 and impulse[2] == 0.0:
        return moved, abs(speed)
    slip_1 = data.free[contact, 1]
    slip_2 = data.free[contact, 2]
    for k in range(count):
        slip_1 += half[1, k] * total[index[k]]
        slip_2 += half[2, k] * total[index[k]]
    cosine = data.block[contact, 3]
    sine = data.block[contact, 4]
    w_second = data.block[contact, 2]
    new_x, new_y = friction_impulse(
        law,
        impulse[0],
        cosine * slip_1
        + sine * slip_2
        - w_tangent * (cosine * impulse[1] + sine * impulse[2]),
        cosine * slip_2
        - sine * slip_1
        - w_second * (cosine * impulse[2] - sine * impulse[1]),
        w_tangent,
        w_second,
    )
    change_1 = cosine * new_x - sine * new_y - impulse[1]
    change_2 = sine * new_x + cosine * new_y - impulse[2]
    impulse[1] += change_1
    impulse[2] += change_2
    for k in range(count):
        total[index[k]] += half[1, k] * change_1 + half[2, k] * change_2
    return (
        max(moved, w_tangent * max(abs(change_1), abs(change_2))),
        max(abs(speed), abs(slip_1), abs(slip_2)),
    )


@called_kernel
def _solve_together(period: float, data: ContactData) -> bool:
    """Newton steps from the sweeps' impulses; puts these back where they fail."""
    for c in range(data.count[0]):
        for i in range(3):
            data.kept[c, i] = data.impulse[c, i]
    for step in range(_MOST_NEWTON):
        data.count[1] += 1
        share = 1.0 if step < _WHOLE_STEPS else 0.5
        if improve_together(period, share, data) <= _SETTLED:
            for d in range(data.sum.size):
                data.sum[d] -= data.direction[d]
            return True
    for d in range(data.sum.size):
        data.sum[d] = 0.0
    for c in range(data.count[0]):
        for i in range(3):
            value = data.kept[c, i]
            data.impulse[c, i] = value
            for k in range(data.packed[c]):
                data.sum[data.columns[c, k]] += data.half[c, i, k] * value
    return False


@called_kernel
def solve_contacts(period: float, velocity: FloatArray, data: ContactData) -> int:
    """Find the impulses of all contacts.

    Args:
        period: h [s].
        velocity: (D,) at the step's end without contact.
        data: rows, half responses, depths and laws of the contacts; gets the impulses
            and `sum`: the velocities at the end are velocity + L⁻¹ sum.

    Returns:
        0; 1 where the sweeps have not settled; 2 where an impulse is not finite.
    """
    if data.count[0] == 0:
        for d in range(velocity.size):
            data.sum[d] = 0.0
        return 0
    _start(velocity, data)
    status = 1
    for sweep in range(_MOST_SWEEPS):
        if sweep == _FIRST_SWEEPS and _solve_together(period, data):
            status = 0
            break
        most = 0.0
        fastest = 0.0
        for c in range(data.count[0]):
            moved, speed = _improve(c, period, data)
            most = max(most, moved)
            fastest = max(fastest, speed)
        data.count[1] += 1
        if most <= _SETTLED * (1.0 + fastest):
            status = 0
            break
    for c in range(data.count[0]):
        slot = data.slot[c]
        data.stamp[slot] = data.count[3]
        for i in range(3):
            data.memory[slot, i] = data.impulse[c, i]
            if not abs(data.impulse[c, i]) < np.inf:
                status = 2
                data.stamp[slot] = -1
    if status != 0:
        data.count[4] += 1
    return status
