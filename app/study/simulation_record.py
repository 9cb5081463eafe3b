"""Keeping a simulation: samples in memory for pictures, and an MCAP recording."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.session import Recorder
from app.study.simulation_linear import coordinate_names
from app.study.simulation_run import Sample, Simulator
from models.numerics import FloatArray
from models.tree_rate import quaternion_of

__all__ = ["SimulationRecord", "Trace", "make_trace"]

_ROOT_NAMES = ("w_x", "w_y", "w_z", "v_x", "v_y", "v_z")


class Trace(NamedTuple):
    """All samples of a simulation, T of them; fields as in `Sample`."""

    time_s: FloatArray
    root_pose: FloatArray
    root_twist: FloatArray
    position: FloatArray
    velocity: FloatArray
    tips: FloatArray
    energy: FloatArray
    loads: FloatArray
    base_wrench: FloatArray
    objects: FloatArray
    mantle: FloatArray
    channels: tuple[tuple[str, str], ...]
    """Name and unit of each load."""


def make_trace(samples: list[Sample], simulator: Simulator) -> Trace:
    """Stack samples field by field."""
    stacked = {
        name: np.array([getattr(sample, name) for sample in samples])
        for name in Sample._fields
    }
    return Trace(**stacked, channels=tuple(simulator.channels))


class SimulationRecord:
    """A recording of a simulation, sample by sample, whole whenever it ends."""

    def __init__(
        self,
        path: Path,
        simulator: Simulator,
        metadata: dict[str, str],
        attachments: dict[str, bytes],
    ) -> None:
        """Open the file.

        Raises:
            LogError: the file exists or cannot be made.
        """
        self._recorder = Recorder(path, metadata, attachments)
        plan = simulator.plan
        self._names = {
            "coordinates": ", ".join(coordinate_names(plan)),
            "tips": ", ".join(f"{limb.limb.name} x y z" for limb in plan.limbs),
            "loads": ", ".join(f"{name} [{unit}]" for name, unit in simulator.channels),
        }

    def __enter__(self) -> "SimulationRecord":
        """Return the record itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, with all that was kept."""
        self._recorder.close()

    def add(self, sample: Sample) -> None:
        """Keep a sample.

        Raises:
            LogError: the disk refused it.
        """
        self._recorder.write_simulation(
            round(sample.time_s * NS_PER_S),
            {
                "root_position": sample.root_pose[:3, 3],
                "root_orientation": _quaternion(sample.root_pose[:3, :3]),
                "root_twist": sample.root_twist,
                "coordinates": sample.position[6:],
                "coordinate_rates": sample.velocity[6:],
                "tips": sample.tips,
                "energy": sample.energy,
                "loads": sample.loads,
                "base_wrench": sample.base_wrench,
                "objects": _seven(sample.objects),
            },
            self._names,
        )


def _seven(poses: FloatArray) -> FloatArray:
    """(B, 7) position and quaternion of poses."""
    rows = [np.concatenate([pose[:3, 3], _quaternion(pose[:3, :3])]) for pose in poses]
    return np.array(rows).reshape(-1, 7)


def _quaternion(rotation: FloatArray) -> FloatArray:
    """(4,) w x y z of a rotation matrix, w not negative."""
    unit = quaternion_of(rotation)
    return unit if unit[0] >= 0.0 else -unit
