"""A soft arm presses a surface twice, in the whole product, with each strategy.

URSULA's palpation arm, driven by a simulated person over a link that does nothing but
delay: mapping, tick, inverse kinematics, quantised frames, bridge, winches with their
lag, reduced dynamics, contact, contact sense, telemetry. The person knows nothing of
the wall at the first press; at the second the strategy has what it learned. Judged are
the last seconds of the second press.
"""

from dataclasses import dataclass

import numpy as np

from app.clock import NS_PER_S
from app.config.link import LinkParameters, load_link
from app.config.scene import SceneParameters, load_scene
from app.config.teleop import StrategyName, TeleopParameters
from app.errors import ConfigError
from app.operator.look import Eye
from app.operator.patience import Patience
from app.operator.performer import Performer
from app.operator.presser import Pad, PressingHand
from app.operator.submover import Submover
from app.study.trial import Trial, TrialSetup
from app.teleop.strategy import Strategy
from models.numerics import FloatArray

__all__ = [
    "Press",
    "Switched",
    "delay_link",
    "press_twice",
    "soft_wall",
    "switch_in_contact",
]

_FORCE_N, _HOLD_S, _ABOVE_M = 2.0, 3.0, 0.03
_HAND_SPEED = 0.05  # m/s
_LAST_NS = 2 * NS_PER_S  # of a press, in which it is judged
_LONGEST_S = 100.0
_CONTACT_N = 0.05


@dataclass(frozen=True)
class Press:
    """What came of two presses.

    Attributes:
        strategy: which.
        delay_s: one way [s].
        stiffness: of the wall [N/m].
        hand_n: force that the hand pushed with at the end of the second press [N].
        robot_n: force that the tip pushed with, then [N].
        peak_n: greatest force of the tip in the whole run [N].
        injected_mj: most that the hand ever got beyond what it had put in [mJ].
        displayed: force over depth of the hand in the wall, then [N/m]; the tip's
            round end, not its centre, touches.
        learned: stiffness that is rendered at the end [N/m]; NaN where none is.
        step_n: greatest change of the hand's force in a millisecond [N].
        lost: share of the second press in which the tip did not touch.
        time_s: when the person had finished [s]; NaN where not in time.
        words: what the person said.
    """

    strategy: StrategyName
    delay_s: float
    stiffness: float
    hand_n: float
    robot_n: float
    peak_n: float
    injected_mj: float
    displayed: float
    learned: float
    step_n: float
    lost: float
    time_s: float
    words: tuple[str, ...]

    @property
    def error(self) -> float:
        """By how much the robot's force differs from the hand's, share of the hand's.

        NaN where the hand is shown no force.
        """
        if not self.hand_n > _CONTACT_N:
            return float("nan")
        return abs(self.robot_n - self.hand_n) / self.hand_n


def delay_link(delay_s: float) -> LinkParameters:
    """A wide link that does nothing but delay.

    Args:
        delay_s: one way [s].
    """
    ideal = load_link("ideal")
    return ideal.model_copy(
        update={"processing_ms": 1e3 * delay_s, "propagation_ms": 0.0}
    )


def soft_wall(stiffness: float, exponent: float = 1.0) -> SceneParameters:
    """The shipped wall with another stiffness.

    Args:
        stiffness: [N/m^n].
        exponent: n; where it is not 1 the wall is one of Hunt and Crossley.
    """
    scene = load_scene("wall")
    (wall,) = scene.obstacles
    changes: dict[str, object] = {"stiffness_n_per_m": stiffness, "exponent": exponent}
    if exponent != 1.0:
        changes |= {"damping_n_s_per_m": None, "dissipation_s_per_m": 0.5}
    return scene.model_copy(update={"obstacles": (wall.model_copy(update=changes),)})


class _Judge:
    """Follows the forces of one run."""

    def __init__(self, normal: FloatArray, place: FloatArray, limb: int) -> None:
        self._normal, self._place, self._limb = normal, place, limb
        self.rows: list[tuple[int, int, float, float, float]] = []
        self.step_n = 0.0
        self._last = np.zeros(3)

    def note(self, trial: Trial, hand: PressingHand) -> None:
        around = trial.core.surroundings
        if around is None:
            return
        felt = trial.state.force_hand
        self.step_n = max(self.step_n, float(np.linalg.norm(felt - self._last)))
        self._last = felt.copy()
        depth = (self._place - trial.state.target_position[self._limb]) @ self._normal
        press = -1 if hand.pressing is None else hand.pressing
        self.rows.append(
            (
                trial.now_ns,
                press,
                float(-felt @ self._normal),
                float(around.tip_force[self._limb] @ self._normal),
                float(depth),
            )
        )


@dataclass(frozen=True)
class Switched:
    """What changing the strategy in contact did to the hand.

    Attributes:
        delay_s: one way [s].
        step_n: greatest change of the hand's force in a millisecond [N].
        injected_mj: most that the hand ever got beyond what it had put in [mJ].
        peak_n: greatest force of the tip [N].
        names: the strategies, in their order.
    """

    delay_s: float
    step_n: float
    injected_mj: float
    peak_n: float
    names: tuple[StrategyName, ...]


def _make(
    strategy: StrategyName,
    delay_s: float,
    scene: SceneParameters,
    teleop: TeleopParameters | None,
    presses: int,
    seed: int,
) -> tuple[Trial, PressingHand, "_Judge", int]:
    """A trial with a person who presses the wall, and who watches it."""
    parameters = (teleop or TeleopParameters()).model_copy(
        update={"strategy": strategy}
    )
    trial = Trial(
        TrialSetup(
            link=delay_link(delay_s),
            operator="presser",
            scene=scene,
            task="press",
            teleop=parameters,
            seed=seed,
        )
    )
    task = trial.task
    if task is None or not task.pads:
        raise ConfigError("The task has no pads for this robot.")
    pad = Pad(task.pads[0].place, task.pads[0].normal)
    reacher = Submover(seed, _HAND_SPEED, Patience(practised=True))
    hand = PressingHand(
        reacher, lambda _: (pad,) * presses, _FORCE_N, _HOLD_S, _ABOVE_M, seed
    )
    trial.operator = Performer(task.limb, Eye(trial.model, task.limb, "strategy"), hand)
    tip = trial.model.limb_segment_start[task.limb + 1] - 1
    radius = float(trial.model.segment_radius[tip, 1])
    judge = _Judge(pad.normal, pad.place + radius * pad.normal, task.limb)
    return trial, hand, judge, task.limb


def press_twice(
    strategy: StrategyName,
    delay_s: float,
    stiffness: float,
    *,
    teleop: TeleopParameters | None = None,
    exponent: float = 1.0,
    seed: int = 0,
) -> Press:
    """Press a wall twice.

    Args:
        strategy: how hand and tip are joined.
        delay_s: one way [s].
        stiffness: of the wall [N/m^n].
        teleop: the strategies' parameters; None: the defaults.
        exponent: n of the wall's law.
        seed: of sensors and person.

    Raises:
        ConfigError: the scene has no task for the robot.
    """
    scene = soft_wall(stiffness, exponent)
    trial, hand, judge, limb = _make(strategy, delay_s, scene, teleop, 2, seed)
    while not hand.done and trial.ticks < 1000 * _LONGEST_S:
        trial.step()
        judge.note(trial, hand)
    ended_s = trial.ticks / 1000.0 if hand.done else float("nan")
    trial.finish()
    return _sum_up(trial, judge, strategy, delay_s, stiffness, ended_s, limb)


def switch_in_contact(
    delay_s: float, *, stiffness: float = 150.0, hold_s: float = 2.0, seed: int = 0
) -> Switched:
    """Press a wall with model mediation, then change the strategy again and again.

    Args:
        delay_s: one way [s].
        stiffness: of the wall [N/m].
        hold_s: for how long each strategy is used [s].
        seed: of sensors and person.

    Raises:
        ConfigError: the scene has no task for the robot.
    """
    trial, hand, judge, limb = _make(
        "model-mediated", delay_s, soft_wall(stiffness), None, 1, seed
    )
    while hand.pressing is None and trial.ticks < 1000 * _LONGEST_S:
        trial.step()
    others = [item for item in Strategy if item is not Strategy.MODEL_MEDIATED]
    order = [item for one in others for item in (one, Strategy.MODEL_MEDIATED)]
    for strategy in (Strategy.MODEL_MEDIATED, *order):
        trial.choose(strategy)
        for _ in range(round(1000 * hold_s)):
            trial.step()
            judge.note(trial, hand)
    trial.finish()
    return Switched(
        delay_s=delay_s,
        step_n=judge.step_n,
        injected_mj=1e3 * float(trial.state.injected_energy[limb]),
        peak_n=max(row[3] for row in judge.rows),
        names=tuple(item.short for item in order),
    )


def _sum_up(
    trial: Trial,
    judge: _Judge,
    strategy: StrategyName,
    delay_s: float,
    stiffness: float,
    ended_s: float,
    limb: int,
) -> Press:
    rows = np.array(judge.rows)
    second = rows[rows[:, 1] == 1]
    last = second
    if len(second):
        last = second[second[:, 0] >= second[-1, 0] - _LAST_NS]
    hand_n, robot_n, depth = (
        (float(last[:, k].mean()) for k in (2, 3, 4))
        if len(last)
        else (float("nan"),) * 3
    )
    known = bool(trial.state.surface_known[limb])
    events = trial.summary.as_dict(trial.statistics, "")["events"]
    return Press(
        strategy=strategy,
        delay_s=delay_s,
        stiffness=stiffness,
        hand_n=hand_n,
        robot_n=robot_n,
        peak_n=float(rows[:, 3].max()),
        injected_mj=1e3 * float(trial.state.injected_energy[limb]),
        displayed=hand_n / depth if depth > 0.0 else float("nan"),
        learned=float(trial.state.surface_stiffness[limb]) if known else float("nan"),
        step_n=judge.step_n,
        lost=float((second[:, 3] < _CONTACT_N).mean()) if len(second) else float("nan"),
        time_s=ended_s,
        words=tuple(e["text"] for e in events if e["source"] == "operator"),
    )
