"""What is another at the second of two presses: the wall itself, or what it is made of.

The strategy has learned a wall at the first press; then the wall moves, goes, or
becomes rough, while the tip is away from it. A wall by Hunt and Crossley is one from
the first press on: no spring explains it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.robot.surroundings import Surroundings
from models.numerics import FloatArray

__all__ = ["AS_KNOWN", "CASES", "PalpationCase"]

_WALL = "wall"


@dataclass(frozen=True)
class PalpationCase:
    """How the second press differs from the first.

    Attributes:
        name: as asked for.
        shift_m: of the wall, out of it towards the tip [m].
        gone: whether there is none any more.
        law: fields of the wall's `ContactLaw` that change.
        exponent: n of the wall, at both presses.
    """

    name: str
    shift_m: float = 0.0
    gone: bool = False
    law: Mapping[str, float] = field(default_factory=dict)
    exponent: float = 1.0

    def change(self, around: Surroundings, normal: FloatArray) -> None:
        """Change what the robot can touch.

        Args:
            around: its surroundings.
            normal: (3,) out of the wall, hull frame.
        """
        if self.gone:
            around.remove(_WALL)
        if self.shift_m:
            around.move_obstacle(_WALL, (self.shift_m * normal).tolist())
        if self.law:
            around.change_law(_WALL, **self.law)


AS_KNOWN = PalpationCase("as-known")
CASES: Mapping[str, PalpationCase] = {
    case.name: case
    for case in (
        AS_KNOWN,
        PalpationCase("moved-near", shift_m=0.01),
        PalpationCase("moved-away", shift_m=-0.01),
        PalpationCase("gone", gone=True),
        PalpationCase("friction", law={"friction": 0.8}),
        PalpationCase("exponent", exponent=1.3),
    )
}
"""All cases by name; the shipped wall's friction is 0.3."""
