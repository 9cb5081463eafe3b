"""Goals come in by shared blocks or a plan, and are refused where they must be."""

from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_S
from app.config.goals import GoalPlanParameters, load_goal_plan
from app.config.loader import parse_toml
from app.config.robot import build_robot_model, load_robot
from app.control.blocks import SessionBlocks
from app.errors import ConfigError, FrameError, ProcessError
from app.messages import GoalSource, StationMode, pack_event
from app.station.goal_caller import GoalCaller, one_caller
from app.station.goal_desk import GoalDesk
from app.teleop.goal_bytes import pack_status
from app.teleop.goal_plan import make_plan
from app.teleop.goal_wish import check_goal, put_goal
from app.teleop.goals import Goal, GoalKind, GoalReason, GoalState, GoalStatus
from app.teleop.supervised import GoalKeeper

ROBOT = load_robot("ursula")
MODEL = build_robot_model(ROBOT)
REACH = Goal(0, GoalKind.REACH, 1, (0.5, 0.1, 0.1))
NOW = 5 * NS_PER_S


class Desk:
    """A desk over real shared blocks."""

    def __init__(self, folder: Path, plan=()) -> None:
        self.blocks = SessionBlocks(folder, MODEL, create=True)
        self.keeper = GoalKeeper()
        self.desk = GoalDesk(self.keeper, len(ROBOT.limbs), plan)
        self.health = self.blocks.health.local
        self.state = self.blocks.state.local
        self.now_ns = NOW
        self.round()

    def round(self, *, armed: bool = True) -> None:
        self.now_ns += 1_000_000
        mode = StationMode.ARMED if armed else StationMode.DISARMED
        self.state.mode[0] = mode
        self.desk.look(self.now_ns, self.blocks)
        self.desk.step(self.now_ns, self.state)
        self.desk.fill(self.health)

    def want(self, goal: Goal, source: GoalSource = GoalSource.CONSOLE) -> None:
        mailbox = self.blocks.goals[source]
        put_goal(goal, mailbox.local)
        mailbox.local.revision[0] += 1
        mailbox.publish()

    def tell(self, state: GoalState, reason: GoalReason = GoalReason.NONE) -> None:
        number = self.keeper.newest.goal.number
        self.keeper.hear(self.now_ns, pack_status(GoalStatus(number, state, reason)))

    def words(self) -> str:
        return " ".join(event.text for event in self.desk.events())


def test_a_wish_is_asked_for_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.want(REACH)
    for _ in range(3):
        desk.round()
    assert len(desk.keeper.goals) == 1
    assert desk.health.goal_taken[GoalSource.CONSOLE] == 1
    assert desk.health.goal_hold.tolist() == [0, 1, 0, 0]
    assert desk.health.goal_position == pytest.approx(REACH.position)
    desk.want(REACH, GoalSource.COMMAND_LINE)
    desk.round()
    assert [item.goal.number for item in desk.keeper.goals] == [1, 2]
    desk.tell(GoalState.RUNNING)
    desk.round()
    assert desk.health.goal_state[0] == GoalState.RUNNING
    assert desk.health.goal_hold[1] == 2


def test_what_stood_there_before_the_station_started_is_not_asked(
    tmp_path: Path,
) -> None:
    first = Desk(tmp_path)
    first.want(REACH)
    again = Desk(tmp_path)
    again.round()
    assert again.keeper.newest is None
    first.want(REACH)
    again.round()
    assert again.keeper.newest is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda wish: wish.position.fill(np.nan), "finite"),
        (lambda wish: wish.position.fill(3.0), "within 3.2 m"),
        (lambda wish: wish.kind.fill(9), "not known"),
        (lambda wish: wish.limb.fill(6), "0 to 3"),
        (lambda wish: wish.speed.fill(0.5), "speed of 0.5"),
        (lambda wish: wish.force.fill(np.inf), "force of inf"),
        (lambda wish: wish.points.fill(8), "not known"),
        (lambda wish: wish.kind.fill(int(GoalKind.PRESS)), "length 0"),
    ],
)
def test_a_wild_wish_is_refused_with_its_reason(
    tmp_path: Path, change, words: str
) -> None:
    desk = Desk(tmp_path)
    mailbox = desk.blocks.goals[GoalSource.CONSOLE]
    put_goal(REACH, mailbox.local)
    change(mailbox.local)
    mailbox.local.revision[0] += 1
    mailbox.publish()
    desk.round()
    assert desk.keeper.newest is None
    assert words in desk.words()
    assert desk.health.goal_wish[0] == 1
    assert desk.health.goal_taken[0] == 0


def test_nothing_is_asked_of_a_robot_that_is_not_armed(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [REACH])
    desk.keeper.arm(NOW)
    bare = Desk(tmp_path)
    bare.round(armed=False)
    bare.want(REACH)
    bare.round(armed=False)
    assert bare.keeper.newest is None
    assert "arm the robot" in bare.words()


def test_a_plan_goes_on_with_what_is_done_and_ends_with_what_fails(
    tmp_path: Path,
) -> None:
    stop = Goal(0, GoalKind.STOP, 1)
    desk = Desk(tmp_path, [REACH, stop, REACH, REACH])
    assert desk.keeper.newest.goal.kind is GoalKind.REACH
    desk.round()
    assert desk.desk.planned == 3, "one at a time"
    desk.tell(GoalState.DONE)
    desk.round()
    assert desk.keeper.newest.goal.kind is GoalKind.STOP
    desk.tell(GoalState.DONE)
    desk.round()
    desk.tell(GoalState.FAILED, GoalReason.OVER_FORCE)
    desk.round()
    assert len(desk.keeper.goals) == 3
    assert "1 planned goals are dropped" in desk.words()


def test_a_person_s_goal_ends_the_plan(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [REACH, REACH])
    desk.want(Goal(0, GoalKind.STOP, 1))
    desk.round()
    assert desk.keeper.newest.goal.kind is GoalKind.STOP
    assert desk.desk.planned == 0


def test_the_shipped_plan_is_for_its_robot() -> None:
    plan = load_goal_plan("visit")
    goals = make_plan(plan, ROBOT)
    assert goals[0].position == pytest.approx((0.52, 0.11, 0.1))
    for goal in goals:
        check_goal(goal, len(ROBOT.limbs))
    with pytest.raises(ConfigError, match="--robot ursula"):
        make_plan(plan, load_robot("silver2"))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('kind = "reach"\nlimb = "grasper"', "needs at_mm"),
        ('kind = "stop"\nlimb = "grasper"\nat_mm = [1, 2, 3]', "has no use for at_mm"),
        ('kind = "press"\nlimb = "grasper"\nalong = [0, 0, 0]', "direction"),
        ('kind = "dance"\nlimb = "grasper"', "press"),
        ('kind = "stop"\nlimb = "grasper"\nforce_n = 9.0', "force_n"),
    ],
)
def test_a_plan_that_is_wrong_says_where(lines: str, words: str) -> None:
    text = f'robot = "ursula"\n[[goals]]\n{lines}\n'
    with pytest.raises(ConfigError, match=words):
        parse_toml(text, GoalPlanParameters, "plan.toml")


def test_a_limb_that_there_is_not_is_refused() -> None:
    text = 'robot = "ursula"\n[[goals]]\nkind = "stop"\nlimb = "tail"\n'
    with pytest.raises(ConfigError, match="has no limb 'tail'"):
        make_plan(parse_toml(text, GoalPlanParameters, "plan.toml"), ROBOT)
    with pytest.raises(FrameError, match="at least one"):
        check_goal(Goal(1, GoalKind.FOLLOW, 1, (0.5, 0.1, 0.1)), 4)


def test_a_caller_follows_its_goal_to_its_end(tmp_path: Path, monkeypatch) -> None:
    desk = Desk(tmp_path)
    caller = GoalCaller(SessionBlocks(tmp_path, MODEL, create=False))
    steps = iter(
        [
            lambda: None,
            lambda: desk.tell(GoalState.RUNNING),
            lambda: desk.tell(GoalState.FAILED, GoalReason.NO_CONTACT),
        ]
    )

    def wait(_clock, _until_ns: int) -> None:
        desk.round()
        next(steps, lambda: None)()
        desk.round()
        desk.blocks.health.publish()

    monkeypatch.setattr("app.clock.MonotonicClock.wait_until", wait)
    number = caller.ask(REACH)
    shown: list[str] = []
    ended = caller.follow(number, 5.0, lambda progress: shown.append(progress.words))
    assert shown[0] == "goal 1: on its way to the robot"
    assert ended.words == "goal 1: failed: there was nothing to press against"


def test_a_caller_is_told_why_it_was_refused(tmp_path: Path, monkeypatch) -> None:
    desk = Desk(tmp_path)
    desk.round(armed=False)
    caller = GoalCaller(SessionBlocks(tmp_path, MODEL, create=False))

    def wait(_clock, _until_ns: int) -> None:
        desk.round(armed=False)
        for event in desk.desk.events():
            desk.blocks.events.push(pack_event(event))
        desk.blocks.health.publish()

    monkeypatch.setattr("app.clock.MonotonicClock.wait_until", wait)
    with pytest.raises(ProcessError, match="arm the robot first"):
        caller.ask(REACH)


def test_one_caller_at_a_time(tmp_path: Path) -> None:
    with (
        one_caller(tmp_path),
        pytest.raises(ProcessError, match="waits for its goal"),
        one_caller(tmp_path),
    ):
        pass
    with one_caller(tmp_path):
        pass
