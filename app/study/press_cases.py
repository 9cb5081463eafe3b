"""The presses in which a model is right, and those in which it is wrong."""

import math
from dataclasses import replace

from app.study.press import PressCase

__all__ = ["press_cases"]

_LAWS = (("stiff", 2000.0, 5.0), ("soft", 150.0, 2.0))
_SLIDE = 0.03


def press_cases(delay: float) -> list[tuple[str, PressCase]]:
    """Return each case with its name.

    Args:
        delay: each way [s].
    """
    cases: list[tuple[str, PressCase]] = []
    for surface, stiffness, damping in _LAWS:
        case = PressCase(delay, stiffness, damping)
        cases += [
            (f"{surface}, as known", case),
            (f"{surface}, moved 10 mm nearer", replace(case, shift=-0.01)),
            (f"{surface}, moved 2 mm nearer", replace(case, shift=-0.002)),
            (f"{surface}, moved 10 mm away", replace(case, shift=0.01)),
            (f"{surface}, gone", replace(case, shift=math.inf)),
            (f"{surface}, actuators late by 0.2 s", replace(case, lag=0.2)),
            (f"{surface}, slides", replace(case, slide=_SLIDE)),
            (
                f"{surface}, slides, friction 0.3",
                replace(case, slide=_SLIDE, friction=0.3),
            ),
            (
                f"{surface}, slides, friction 0.6",
                replace(case, slide=_SLIDE, friction=0.6),
            ),
            (f"{surface}, tilted by 23 degrees", replace(case, tilt=0.4)),
            (f"{surface}, 5 packets a second", replace(case, rate_hz=5.0)),
        ]
    case = PressCase(delay, 1500.0, 5.0, 1.3)
    cases.append(("exponent 1.3", case))
    cases.append(("exponent 1.3, late by 0.2 s", replace(case, lag=0.2)))
    return cases
