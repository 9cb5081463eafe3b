"""A soft arm presses a surface twice, in the whole product, with each strategy.

URSULA's palpation arm, driven by a simulated person over a link that does nothing but
delay: mapping, tick, inverse kinematics, quantised frames, bridge, winches with a lag
of 0.2 s, reduced dynamics, contact, contact sense, telemetry. The person knows nothing
of the wall at the first press; at the second the strategy has what it learned, and the
wall may be another (`app.study.palpation_cases`). Judged are the last seconds of the
second press.
"""

from dataclasses import dataclass

import numpy as np

from app.clock import NS_PER_S
from app.config.link import LinkParameters, load_link
from app.config.robot import RobotParameters, load_robot
from app.config.scene import SceneParameters, load_scene
from app.config.teleop import StrategyName, TeleopParameters
from app.errors import ConfigError
from app.operator.look import Eye
from app.operator.patience import Patience
from app.operator.performer import Performer
from app.operator.presser import Pad, PressingHand
from app.operator.submover import Submover
from app.study.palpation_cases import AS_KNOWN, PalpationCase
from app.study.trial import Trial
from app.study.trial_setup import TrialSetup
from app.teleop.strategy import Strategy
from models.environment_report import SurfaceStatus
from models.numerics import FloatArray

__all__ = [
    "Press",
    "Switched",
    "delay_link",
    "late_robot",
    "press_twice",
    "soft_wall",
    "switch_in_contact",
]

_FORCE_N, _HOLD_S, _ABOVE_M = 2.0, 3.0, 0.03
_HAND_SPEED = 0.05  # m/s
_LAST_NS = 2 * NS_PER_S  # of a press, in which its forces are judged
_SHOWN_NS = NS_PER_S  # and the stiffness that the hand is shown
_LAG_S = 0.2  # of the winches
_LONGEST_S = 100.0
_CONTACT_N = 0.05


@dataclass(frozen=True)
class Press:
    """What came of two presses.

    Attributes:
        strategy: which.
        delay_s: one way [s].
        stiffness: of the wall, force over depth at 2 N [N/m].
        case: what was another at the second press.
        hand_n: force that the hand pushed with at the end of the second press [N].
        robot_n: force that the tip pushed with, then [N].
        peak_n: greatest force of the tip in the whole run [N].
        second_peak_n: in the second press and until the end [N].
        injected_mj: most that the hand ever got beyond what it had put in [mJ].
        displayed: force over depth of the hand in the wall, then [N/m]; the tip's
            round end, not its centre, touches.
        learned: force over depth of the law that is rendered then, at 2 N [N/m]; NaN
            where none is.
        exponent: of that law.
        step_n: greatest change of the hand's force in a millisecond [N].
        lost: share of the second press in which the tip did not touch.
        time_s: when the person had finished [s]; NaN where not in time.
        told: what the operator was told of the surface from the second press on.
        told_after_s: how long after the hand first pressed, or was where the surface
            is or was, that it is not as known [s]; NaN: never.
        unexplained: whether the local model was said not to explain the robot, then.
        words: what the person said.
    """

    strategy: StrategyName
    delay_s: float
    stiffness: float
    case: str
    hand_n: float
    robot_n: float
    peak_n: float
    second_peak_n: float
    injected_mj: float
    displayed: float
    learned: float
    exponent: float
    step_n: float
    lost: float
    time_s: float
    told: tuple[str, ...]
    told_after_s: float
    unexplained: bool
    words: tuple[str, ...]

    @property
    def error(self) -> float:
        """By how much the robot's force differs from the hand's, share of the hand's.

        NaN where the hand is shown no force.
        """
        if not self.hand_n > _CONTACT_N:
            return float("nan")
        return abs(self.robot_n - self.hand_n) / self.hand_n

    @property
    def contact(self) -> str:
        """Whether the tip still pressed at the end: held, lost, or never made."""
        if not self.robot_n > _CONTACT_N:
            return "never" if not self.lost < 1.0 else "lost"
        return "held"


def delay_link(delay_s: float) -> LinkParameters:
    """A wide link that does nothing but delay.

    Args:
        delay_s: one way [s].
    """
    ideal = load_link("ideal")
    return ideal.model_copy(
        update={"processing_ms": 1e3 * delay_s, "propagation_ms": 0.0}
    )


def late_robot(lag_s: float = _LAG_S) -> RobotParameters:
    """URSULA with winches that are late.

    Args:
        lag_s: their time constant [s].
    """
    robot = load_robot("ursula")
    if robot.tendons is None:
        raise ConfigError(f"{robot.name} has no tendons.")
    tendons = robot.tendons.model_copy(update={"servo_time_constant_ms": 1e3 * lag_s})
    return robot.model_copy(update={"tendons": tendons})


def soft_wall(stiffness: float, exponent: float = 1.0) -> SceneParameters:
    """The shipped wall with another law.

    Args:
        stiffness: force over depth at 2 N [N/m].
        exponent: n; where it is not 1 the wall is one of Hunt and Crossley.
    """
    scene = load_scene("wall")
    (wall,) = scene.obstacles
    steepness = _FORCE_N * (stiffness / _FORCE_N) ** exponent
    changes: dict[str, object] = {"stiffness_n_per_m": steepness, "exponent": exponent}
    if exponent != 1.0:
        changes |= {"damping_n_s_per_m": None, "dissipation_s_per_m": 0.5}
    return scene.model_copy(update={"obstacles": (wall.model_copy(update=changes),)})


def _at_force(stiffness: float, exponent: float) -> float:
    """Force over depth [N/m] at 2 N of a law of K [N/m^n] and n."""
    return float(_FORCE_N / (_FORCE_N / stiffness) ** (1.0 / exponent))


class _Judge:
    """Follows the forces of one run, and what the operator is told."""

    def __init__(self, normal: FloatArray, place: FloatArray, limb: int) -> None:
        self.normal, self.place, self._limb = normal, place, limb
        self.known = place.copy()
        self.rows: list[tuple[int, int, float, float, float]] = []
        self.step_n = 0.0
        self.told: list[SurfaceStatus] = []
        self.told_after_s = float("nan")
        self.unexplained = False
        self.law: tuple[float, float] | None = None  # rendered in the last press
        self._met_ns: int | None = None
        self._last = np.zeros(3)

    def note(self, trial: Trial, hand: PressingHand) -> None:
        around = trial.core.surroundings
        if around is None:
            return
        state, limb = trial.state, self._limb
        felt = state.force_hand
        self.step_n = max(self.step_n, float(np.linalg.norm(felt - self._last)))
        self._last = felt.copy()
        place = state.target_position[limb]
        press = -1 if hand.pressing is None else hand.pressing
        if press >= 0:
            self.law = None
            if state.surface_known[limb]:
                exponent = float(trial.health.report_exponent[limb])
                self.law = float(state.surface_stiffness[limb]), exponent
        self.rows.append(
            (
                trial.now_ns,
                press,
                float(-felt @ self.normal),
                float(around.tip_force[limb] @ self.normal),
                float((self.place - place) @ self.normal),
            )
        )

    def listen(self, trial: Trial) -> None:
        """Follow what the operator is told of the surface, from the second press on."""
        state, limb = trial.state, self._limb
        self.unexplained |= bool(state.unexplained[limb])
        outside = (state.target_position[limb] - self.known) @ self.normal
        nearest = max(0.0, float((self.place - self.known) @ self.normal))
        if self._met_ns is None and outside < nearest:
            self._met_ns = trial.now_ns
        status = SurfaceStatus(int(state.surface_status[limb]))
        if self.told and self.told[-1] is status:
            return
        self.told.append(status)
        if status > SurfaceStatus.AS_KNOWN and np.isnan(self.told_after_s):
            since_ns = trial.now_ns if self._met_ns is None else self._met_ns
            self.told_after_s = (trial.now_ns - since_ns) / NS_PER_S


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
            robot=late_robot(),
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
    case: PalpationCase = AS_KNOWN,
    teleop: TeleopParameters | None = None,
    seed: int = 0,
) -> Press:
    """Press a wall twice.

    Args:
        strategy: how hand and tip are joined.
        delay_s: one way [s].
        stiffness: of the wall, force over depth at 2 N [N/m].
        case: what is another at the second press.
        teleop: the strategies' parameters; None: the defaults.
        seed: of sensors and person.

    Raises:
        ConfigError: the scene has no task for the robot.
    """
    scene = soft_wall(stiffness, case.exponent)
    trial, hand, judge, limb = _make(strategy, delay_s, scene, teleop, 2, seed)
    changed = False
    while not hand.done and trial.ticks < 1000 * _LONGEST_S:
        if not changed and hand.number == 1 and _is_free(trial, limb):
            around = trial.core.surroundings
            if around is not None:
                case.change(around, judge.normal)
            judge.place = judge.place + case.shift_m * judge.normal
            changed = True
        trial.step()
        judge.note(trial, hand)
        if changed:
            judge.listen(trial)
    ended_s = trial.ticks / 1000.0 if hand.done else float("nan")
    trial.finish()
    return _sum_up(trial, judge, strategy, delay_s, stiffness, case, ended_s, limb)


def _is_free(trial: Trial, limb: int) -> bool:
    around = trial.core.surroundings
    return around is not None and not around.tip_force[limb].any()


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
        trial.want(trial.wishes.strategy(strategy))
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
    case: PalpationCase,
    ended_s: float,
    limb: int,
) -> Press:
    rows = np.array(judge.rows)
    second = rows[rows[:, 1] == 1]
    unknown = float("nan")
    hand_n = robot_n = displayed = lost = second_peak_n = unknown
    if len(second):
        end_ns = second[-1, 0]
        last = second[second[:, 0] >= end_ns - _LAST_NS]
        shown = second[second[:, 0] >= end_ns - _SHOWN_NS]
        hand_n, robot_n = float(last[:, 2].mean()), float(last[:, 3].mean())
        depth = float(shown[:, 4].mean())
        if depth > 0.0:
            displayed = float(shown[:, 2].mean()) / depth
        lost = float((second[:, 3] < _CONTACT_N).mean())
        second_peak_n = float(rows[rows[:, 0] >= second[0, 0], 3].max())
    learned = exponent = unknown
    if judge.law is not None and len(second):
        exponent = judge.law[1]
        learned = _at_force(*judge.law)
    events = trial.summary.as_dict(trial.statistics, "")["events"]
    return Press(
        strategy=strategy,
        delay_s=delay_s,
        stiffness=stiffness,
        case=case.name,
        hand_n=hand_n,
        robot_n=robot_n,
        peak_n=float(rows[:, 3].max()),
        second_peak_n=second_peak_n,
        injected_mj=1e3 * float(trial.state.injected_energy[limb]),
        displayed=displayed,
        learned=learned,
        exponent=exponent,
        step_n=judge.step_n,
        lost=lost,
        time_s=ended_s,
        told=tuple(item.name.lower().replace("_", " ") for item in judge.told),
        told_after_s=judge.told_after_s,
        unexplained=judge.unexplained,
        words=tuple(e["text"] for e in events if e["source"] == "operator"),
    )
