"""What the robot has told of itself, newest first limb by limb; pure."""

import math

import numpy as np

from app.link.frame import WHOLE_ROBOT, TelemetryFrame
from app.link.schema import Schema

__all__ = ["Confirmed"]


class Confirmed:
    """Pose and tensions as the robot measured them."""

    def __init__(self, schema: Schema) -> None:
        """Begin with nothing told."""
        self._schema = schema
        self.coordinates = np.zeros((schema.segment_start[-1], 3))
        """(S, 3) [rad, rad, m]."""
        self.tension = np.zeros(schema.tendon_start[-1])
        """(T,) [N]."""
        self.generated_ns = np.zeros(schema.limbs, dtype=np.int64)
        """(L,) when measured, in station time [ns]; 0 = never."""
        self.earlier = np.zeros(schema.segment_start[-1], dtype=np.int64)
        """(S,) 1 where the newest measurement of the limb did not tell the segment."""
        self.command_ns = np.zeros(schema.limbs, dtype=np.int64)
        """(L,) when the command that it followed then was given, in station time [ns];
        0 = not known."""

    def reset(self) -> None:
        """The robot began anew: its times start again."""
        self.generated_ns[:] = 0
        self.command_ns[:] = 0

    def take(
        self, frame: TelemetryFrame, generated_ns: int, command_ns: int = 0
    ) -> list[int]:
        """Take a frame up where it is newer.

        Args:
            frame: telemetry.
            generated_ns: when it was measured, in station time [ns].
            command_ns: when the command was given that the robot followed then, in
                station time [ns]; 0 = not known.

        Returns:
            The limbs of which it tells something new.
        """
        schema = self._schema
        full = math.isfinite(sum(frame.coordinates.ravel().tolist()))
        one = frame.limb != WHOLE_ROBOT
        if full and not one and generated_ns >= max(self.generated_ns.tolist()):
            self.generated_ns[:], self.command_ns[:] = generated_ns, command_ns
            self.coordinates[...] = frame.coordinates
            self.earlier[:] = 0
            if frame.tension is not None:
                self.tension[...] = frame.tension
            return list(schema.all_limbs)
        finite = np.isfinite(frame.coordinates)
        first = schema.rows(frame.limb).start if one else 0
        tendon = schema.tendons(frame.limb).start if one else 0
        news: list[int] = []
        for limb in (frame.limb,) if one else schema.all_limbs:
            rows, tendons = schema.rows(limb), schema.tendons(limb)
            own = slice(rows.start - first, rows.stop - first)
            told = full or finite[own].any()
            if not told or generated_ns < self.generated_ns[limb]:
                continue  # not told, or overtaken on the way
            self.generated_ns[limb] = generated_ns
            self.command_ns[limb] = command_ns
            np.copyto(self.coordinates[rows], frame.coordinates[own], where=finite[own])
            self.earlier[rows] = ~finite[own].all(axis=1)
            if frame.tension is not None:
                self.tension[tendons] = frame.tension[
                    tendons.start - tendon : tendons.stop - tendon
                ]
            news.append(limb)
        return news
