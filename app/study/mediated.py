"""Two presses through the model-mediated strategy, on one degree of freedom.

The first press finds the surface; in the second the hand meets it at once. Both reach
80 mm in a second, 30 mm past the surface, and are held until the link has told all.
What is compared is the force that the hand feels with the one that the robot makes one
delay later, over the second hold.
"""

from dataclasses import dataclass, replace

import numpy as np

from app.config.teleop import MediatedParameters, TeleopParameters
from app.study.one_dof import Run, run_one_dof
from app.study.one_dof_setup import STIFF, Line, Move, Setup, Wall
from app.teleop.strategy import Strategy
from models.environment_report import SurfaceStatus
from models.surface_estimator import SurfaceEstimatorModel

__all__ = ["UNGATED", "Press", "press_twice"]

UNGATED = SurfaceEstimatorModel(
    least_speed=0.0, samples=0.0, publish_period=0.0, stiffness_share=0.0, shift=0.0
)
"""An estimator that takes every sample and tells every estimate, to show why not."""

_REACH = 0.08
_AWAY = 2.0
_SETTLED = 1.0


@dataclass(frozen=True)
class Press:
    """What came of two presses.

    Attributes:
        run: all of it.
        again: when the second reach begins [s].
        error: of the hand's force against the robot's, root mean square over the
            second hold, as a share.
        hand: mean force at the hand in the second hold [N].
        robot: mean contact force of the robot, one delay later [N].
        injected: energy that the hand's port has given beyond what it took [J].
        jump: greatest change of the hand's force in a millisecond [N].
        peak: greatest contact force [N].
        shown: place of the surface at the end, as rendered [m].
    """

    run: Run
    again: float
    error: float
    hand: float
    robot: float
    injected: float
    jump: float
    peak: float
    shown: float

    def reports(self) -> list[tuple[float, float, float, float, SurfaceStatus]]:
        """When [s], place [m], stiffness, exponent and status of the models told."""
        traces = self.run.traces
        count = int(traces.told_reports[self.run.ticks - 1])
        if count > len(traces.reports):
            message = f"{count} models were told; {len(traces.reports)} were kept"
            raise ValueError(message)
        return [
            (row[0], row[1], row[2], row[3], SurfaceStatus(int(row[4])))
            for row in traces.reports[:count].tolist()
        ]


def press_twice(
    delay: float,
    wall: Wall = STIFF,
    *,
    naive: bool = False,
    feed_forward: bool = True,
    packet_ticks: int = 1,
    force_noise: float = 0.0,
    hold: float = 4.0,
    moved: float | None = None,
    loss: float = 0.0,
    seed: int = 0,
    estimator: SurfaceEstimatorModel | None = None,
) -> Press:
    """Press twice and compare.

    Args:
        delay: each way [s].
        wall: that the tip meets.
        naive: adopt published models at once.
        feed_forward: send the model's force to the robot.
        packet_ticks: a packet every so many milliseconds.
        force_noise: standard deviation of the measured contact force [N].
        hold: of the second press, besides the round trip [s].
        moved: where the wall is at the second press [m]; infinite = it is gone.
        loss: share of packets that are lost.
        seed: of noise and loss.
        estimator: gates of the robot's estimator.
    """
    back = 3.0 + 2.0 * delay
    again = back + _AWAY
    end = again + 1.0 + hold + 2.0 * delay
    if moved is not None:
        wall = replace(wall, moves=((again - 0.5, moved),))
    mediated = MediatedParameters(naive=naive, feed_forward=feed_forward)
    setup = Setup(
        strategy=Strategy.MODEL_MEDIATED,
        parameters=TeleopParameters(mediated=mediated),
        wall=wall,
        line=Line(down=delay, packet_ticks=packet_ticks, loss=loss),
        moves=(
            Move(0.0, _REACH, 1.0),
            Move(back, 0.0, 1.0),
            Move(again, _REACH, 1.0),
        ),
        duration=end,
        force_noise=force_noise,
        seed=seed,
    )
    return _compare(run_one_dof(setup, estimator), again)


def _compare(run: Run, again: float) -> Press:
    setup = run.setup
    late = round(setup.line.down / setup.period)
    held = np.flatnonzero(
        (run.time >= again + 1.0 + _SETTLED)
        & (run.time < setup.duration - setup.line.down - setup.period)
    )
    hand = run.traces.hand_force[held]
    robot = run.traces.contact_force[held + late]
    size = float(np.sqrt(np.mean(robot**2)))
    return Press(
        run=run,
        again=again,
        error=float(np.sqrt(np.mean((hand - robot) ** 2))) / size if size else np.inf,
        hand=float(hand.mean()),
        robot=float(robot.mean()),
        injected=run.injected,
        jump=run.greatest_jump,
        peak=run.peak_contact,
        shown=float(run.traces.surface[run.ticks - 1]),
    )
