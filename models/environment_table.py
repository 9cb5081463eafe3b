"""The surfaces of all limbs of a robot in one table, and each limb's as a view of it.

A table is a `LocalSurface` whose every field has a first axis of L limbs more.
"""

from typing import Any

import numpy as np

from models.environment import LocalSurface, allocate_surface
from models.environment_report import SurfaceReport
from models.numerics import kernel_part

__all__ = ["allocate_surfaces", "surface_of"]


def allocate_surfaces(
    limbs: int, device_damping: float, *, naive: bool = False
) -> LocalSurface:
    """Make the table of a robot's surfaces, none of them known yet.

    Args:
        limbs: number of limbs L.
        device_damping: b of the device that the hand holds [N s/m].
        naive: adopt each report at once (only to show why not).

    Raises:
        ValueError: a damping that is not positive.
    """
    one = allocate_surface(device_damping, naive=naive)

    def every(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return (
                np.concatenate([part] * limbs)
                if part.size == 1
                else np.tile(part, (limbs, 1))
            )
        return type(part)(*(every(field) for field in part))

    table: LocalSurface = every(one)
    return table


@kernel_part
def surface_of(surfaces: LocalSurface, limb: int) -> LocalSurface:
    """View one limb's surface in a table.

    Args:
        surfaces: the table.
        limb: index of the limb.

    Returns:
        Its surface; what is written to it is written to the table.
    """
    heard = surfaces.heard
    only = slice(limb, limb + 1)
    return LocalSurface(
        heard=SurfaceReport(
            number=heard.number[only],
            status=heard.status[only],
            kind=heard.kind[only],
            estimated_ns=heard.estimated_ns[only],
            point=heard.point[limb],
            normal=heard.normal[limb],
            radius=heard.radius[only],
            stiffness=heard.stiffness[only],
            damping=heard.damping[only],
            exponent=heard.exponent[only],
            confidence=heard.confidence[only],
        ),
        taken=surfaces.taken[only],
        known=surfaces.known[only],
        naive=surfaces.naive[only],
        kind=surfaces.kind[only],
        point=surfaces.point[limb],
        normal=surfaces.normal[limb],
        radius=surfaces.radius[only],
        stiffness=surfaces.stiffness[only],
        damping=surfaces.damping[only],
        exponent=surfaces.exponent[only],
        aim=surfaces.aim[only],
        gap=surfaces.gap[only],
        device_damping=surfaces.device_damping[only],
        period=surfaces.period[only],
    )
