"""The gates of a robot's estimator of surfaces, and its state at one limb's tip.

Each millisecond the position, the velocity and the contact force of the tip go in
(`models.surface_estimator_contact`), and news of the surface comes out
(`models.surface_estimator_report`).
"""

import math
from typing import NamedTuple

import numpy as np

from models.environment_report import SurfaceReport, allocate_report
from models.numerics import FloatArray, IntArray
from models.surface_estimator_fit import (
    FIRST_LOGARITHM,
    LinearFit,
    allocate_linear,
)
from models.surface_estimator_normal import NormalData, allocate_normal

__all__ = [
    "SurfaceEstimateData",
    "SurfaceEstimatorModel",
    "allocate_surface_estimate",
    "build_surface_estimator",
]


class SurfaceEstimatorModel(NamedTuple):
    """Gates and limits of the estimator; `build_surface_estimator` checks them."""

    forgetting: float = 0.998
    """Weight of the past at each sample."""
    least_force: float = 0.3
    """Contact begins here, and samples count from here [N]."""
    least_speed: float = 1e-3
    """Samples count from this speed along the normal [m/s]; 0 = no gate."""
    least_force_rate: float = 0.0
    """Above 0: samples count from this change of the force instead [N/s], for a tip
    whose force is known better than its place."""
    normal_hz: float = 2.0
    """Cut-off of the force's direction [Hz]."""
    samples: float = 100.0
    """Samples of a contact before it is told; 0 = no gate."""
    publish_period: float = 0.1
    """At least between two reports [s]."""
    stiffness_share: float = 0.15
    """A change of stiffness that is worth a report, near what a person feels."""
    shift: float = 1e-3
    """A change of place that is worth a report [m]."""
    moved: float = 3e-3
    """A surface that has shifted more since an earlier contact has moved [m]."""
    changed: float = 0.4
    """One whose stiffness differs by more than this share since then has changed."""
    gone_force: float = 0.8
    """Where the report says more than this and nothing is felt, it is gone [N]."""
    gone_depth: float = 5e-3
    """But only this far inside of where it was [m]."""
    gone_time: float = 0.05
    """And for so long [s]."""
    unexplained: float = 0.3
    """Share of the force that may be left before a model is not believed."""


class SurfaceEstimateData(NamedTuple):
    """State of the estimate at one tip."""

    touching: IntArray
    """(1,) 1 in contact."""
    samples: IntArray
    """(1,) of this contact, that passed the gates."""
    above: IntArray
    """(1,) samples in a row above the gate."""
    quiet: FloatArray
    """(1,) time since the force fell below the gate [s]."""
    missing: FloatArray
    """(1,) time inside the reported surface without a force [s]."""
    waited: FloatArray
    """(1,) time since the last report [s]."""
    reference: FloatArray
    """(3,) where depth is 0: where the tip was free before the contact [m]."""
    free: FloatArray
    """(3,) where the tip last felt next to nothing [m]."""
    facing: NormalData
    """The normal by the force's direction, and the friction."""
    normal: FloatArray
    """(3,) the surface's outward unit normal: that of `facing`, until the linear law
    tells it better."""
    size: FloatArray
    """(1,) of the force in the last sample in contact [N]; below 0 before the first."""
    linear: LinearFit
    """Places count from `reference`."""
    logarithm: FloatArray
    """(3,) ln K, B/K [s/m], n."""
    logarithm_covariance: FloatArray
    """(3, 3)."""
    left: FloatArray
    """(3,) mean squares [N^2]: of the force, what the linear law leaves, what the
    logarithmic one leaves."""
    place: FloatArray
    """(3,) of the tip from the reference [m]; scratch."""
    depth: FloatArray
    """(1,) of the tip from the reference [m]."""
    doubted: IntArray
    """(1,) 1 where this contact was not explained and has been begun anew."""
    law: IntArray
    """(1,) 0 linear, 1 logarithmic: which is believed."""
    before: SurfaceReport
    """The report as it was when this contact began, or the one it bounced off from."""


def build_surface_estimator(
    model: SurfaceEstimatorModel | None = None,
) -> SurfaceEstimatorModel:
    """Check the gates of an estimator.

    Raises:
        ValueError: a gate outside its range.
    """
    chosen = SurfaceEstimatorModel() if model is None else model
    for name, value in chosen._asdict().items():
        if not 0.0 <= value < math.inf:
            message = f"{name} is {value}; it must be 0 or above"
            raise ValueError(message)
    if not 0.9 <= chosen.forgetting <= 1.0:
        message = f"forgetting is {chosen.forgetting}; allowed are 0.9 to 1"
        raise ValueError(message)
    if not chosen.least_force > 0.0:
        message = f"least_force is {chosen.least_force} N; it must be above 0"
        raise ValueError(message)
    return SurfaceEstimatorModel(*(float(value) for value in chosen))


def allocate_surface_estimate() -> SurfaceEstimateData:
    """Make the state of a tip that has touched nothing."""
    return SurfaceEstimateData(
        touching=np.zeros(1, dtype=np.int64),
        samples=np.zeros(1, dtype=np.int64),
        above=np.zeros(1, dtype=np.int64),
        quiet=np.zeros(1),
        missing=np.zeros(1),
        waited=np.full(1, 1e9),
        reference=np.zeros(3),
        free=np.zeros(3),
        facing=allocate_normal(),
        normal=np.array([0.0, 0.0, 1.0]),
        size=np.full(1, -1.0),
        linear=allocate_linear(),
        logarithm=np.array([math.log(300.0), 0.0, 1.0]),
        logarithm_covariance=np.diag(FIRST_LOGARITHM),
        left=np.zeros(3),
        place=np.zeros(3),
        depth=np.zeros(1),
        doubted=np.zeros(1, dtype=np.int64),
        law=np.zeros(1, dtype=np.int64),
        before=allocate_report(),
    )
