"""Which arming the robot follows, and what silence makes it do."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import SafetyParameters
from app.messages import RobotState, Severity, StationMode
from app.robot.safety import Actuation, SafetyMachine, Verdict

SAFETY = SafetyParameters(
    command_age_limit_ms=4000.0,
    hold_after_ms=500.0,
    compliant_after_ms=5000.0,
    slack_after_ms=30000.0,
    estop_action="hold",
)
ARMED, DISARMED, ESTOP = StationMode.ARMED, StationMode.DISARMED, StationMode.ESTOP


@dataclass
class Rig:
    """A machine that has heard a DISARMED frame, and a clock for both sides."""

    estop_action: str = "hold"
    listened: bool = True
    now_ns: int = 10 * NS_PER_S
    sequence: int = 0
    machine: SafetyMachine = field(init=False)

    def __post_init__(self) -> None:
        self.machine = SafetyMachine(
            SAFETY.model_copy(update={"estop_action": self.estop_action})
        )
        if self.listened:
            self.send(DISARMED, 0)

    def send(
        self, mode: StationMode, epoch: int, *, late_ms: float = 0.0, **more: object
    ) -> Verdict:
        self.now_ns += NS_PER_MS
        self.sequence += 1
        wish: dict[str, object] = {"period_ms": 20.0, "sequence": self.sequence, **more}
        return self.machine.command(
            self.now_ns,
            generated_ns=self.now_ns - round(late_ms * NS_PER_MS),
            mode=mode,
            epoch=epoch,
            **wish,  # type: ignore[arg-type]
        )

    def wait(self, milliseconds: float) -> RobotState:
        """Let time pass in steps of 1 ms, as the robot does."""
        stop_ns = self.now_ns + round(milliseconds * NS_PER_MS)
        while self.now_ns < stop_ns:
            self.now_ns += NS_PER_MS
            self.machine.step(self.now_ns)
        return self.machine.state


def armed(epoch: int = 7, **options: object) -> Rig:
    rig = Rig(**options)  # type: ignore[arg-type]
    assert rig.send(ARMED, epoch) == Verdict.OBEYED
    return rig


def test_idle_at_start_and_compliant() -> None:
    rig = Rig(listened=False)
    assert rig.wait(100_000) == RobotState.IDLE
    assert rig.machine.actuation == Actuation.COMPLIANT


def test_follows_a_new_arming() -> None:
    rig = armed(7)
    assert rig.machine.state == RobotState.ACTIVE
    assert rig.machine.actuation == Actuation.STIFF
    assert rig.machine.epoch == 7


@pytest.mark.parametrize("epoch", [0, -1, 256, 10_000])
def test_epoch_must_be_1_to_255(epoch: int) -> None:
    rig = Rig()
    assert rig.send(ARMED, epoch) == Verdict.NO_EPOCH
    assert rig.machine.state == RobotState.IDLE


def test_an_arming_older_than_the_robot_is_not_obeyed() -> None:
    rig = Rig(listened=False)
    for _ in range(100):
        assert rig.send(ARMED, 7) == Verdict.BURNED
    assert rig.machine.state == RobotState.IDLE
    assert rig.send(ARMED, 8) == Verdict.OBEYED, "a deliberate re-arm is enough"


def test_a_stale_disarm_does_not_vouch_for_an_old_arming() -> None:
    rig = Rig(listened=False)
    rig.send(DISARMED, 7, fresh=False)
    assert rig.send(ARMED, 8) == Verdict.BURNED


def test_silence_goes_hold_compliant_slack_in_the_stated_times() -> None:
    rig = armed()
    assert rig.wait(499) == RobotState.ACTIVE
    assert rig.wait(1) == RobotState.HOLD
    assert rig.machine.actuation == Actuation.STIFF
    assert rig.wait(4499) == RobotState.HOLD
    assert rig.wait(1) == RobotState.COMPLIANT
    assert rig.machine.actuation == Actuation.COMPLIANT
    assert rig.wait(24_999) == RobotState.COMPLIANT
    assert rig.wait(1) == RobotState.SLACK
    assert rig.machine.actuation == Actuation.SLACK
    assert [event.severity for event in rig.machine.events()][-3:] == [
        Severity.WARNING,
        Severity.ALARM,
        Severity.ALARM,
    ]
    assert rig.machine.events() == []


def test_a_stalled_process_finds_the_right_state_at_once() -> None:
    rig = armed()
    rig.now_ns += 60 * NS_PER_S
    assert rig.machine.step(rig.now_ns) == RobotState.SLACK
    assert rig.send(ARMED, 7) == Verdict.BURNED


def test_three_send_periods_where_that_is_longer() -> None:
    rig = Rig()
    rig.send(ARMED, 7, period_ms=400.0)
    assert rig.wait(1199) == RobotState.ACTIVE
    assert rig.wait(1) == RobotState.HOLD


@pytest.mark.parametrize("period_ms", [1e9, float("inf"), 60_000.0])
def test_no_period_puts_hold_off_beyond_the_compliant_time(period_ms: float) -> None:
    rig = Rig()
    rig.send(ARMED, 7, period_ms=period_ms)
    assert rig.wait(5000) == RobotState.COMPLIANT


@pytest.mark.parametrize("period_ms", [float("nan"), -5.0, 0.0, float("-inf")])
def test_a_senseless_period_gives_the_plain_limit(period_ms: float) -> None:
    rig = Rig()
    rig.send(ARMED, 7, period_ms=period_ms)
    assert rig.wait(500) == RobotState.HOLD


def test_goes_on_from_hold_in_the_same_arming() -> None:
    rig = armed()
    rig.wait(3000)
    assert rig.send(ARMED, 7) == Verdict.OBEYED
    assert rig.wait(100) == RobotState.ACTIVE


@pytest.mark.parametrize("silence_ms", [5000, 30_000])
def test_compliant_and_slack_need_a_new_arming(silence_ms: float) -> None:
    rig = armed()
    state = rig.wait(silence_ms)
    assert rig.send(ARMED, 7) == Verdict.BURNED
    assert rig.machine.state == state
    assert rig.send(ARMED, 8) == Verdict.OBEYED


def test_refused_frames_do_not_count_as_commands() -> None:
    rig = armed()
    rig.wait(5000)
    for _ in range(26_000):
        rig.send(ARMED, 7)
        rig.machine.step(rig.now_ns)
    assert rig.machine.state == RobotState.SLACK


def test_disarm_holds_at_once_and_goes_idle_by_the_same_clock() -> None:
    rig = armed()
    assert rig.send(DISARMED, 7) == Verdict.NOTED
    assert rig.machine.state == RobotState.HOLD
    assert rig.machine.epoch == 0
    for _ in range(49):  # the station keeps on saying so: the clock is not set back
        rig.wait(99)
        assert rig.machine.state == RobotState.HOLD
        rig.send(DISARMED, 7)
    assert rig.wait(100) == RobotState.IDLE
    assert rig.machine.actuation == Actuation.COMPLIANT


def test_disarm_burns_the_arming_it_names_even_when_never_followed() -> None:
    rig = armed(7)
    rig.send(DISARMED, 8)  # every frame of arming 8 was lost
    assert rig.send(ARMED, 7) == Verdict.BURNED
    assert rig.send(ARMED, 8) == Verdict.BURNED
    assert rig.send(ARMED, 9) == Verdict.OBEYED


def test_frames_under_way_at_a_disarm_do_not_arm_again() -> None:
    rig = armed(7)
    rig.send(DISARMED, 7)
    assert rig.send(ARMED, 7, late_ms=50.0) == Verdict.BURNED
    assert rig.send(ARMED, 6, late_ms=50.0) == Verdict.OUTDATED


def test_a_late_disarm_of_the_previous_arming_is_outdated() -> None:
    rig = armed(7)
    rig.wait(100)
    rig.send(ARMED, 8)
    assert rig.send(DISARMED, 7, late_ms=50.0) == Verdict.OUTDATED
    assert rig.machine.state == RobotState.ACTIVE


def test_commands_of_one_coarse_instant_go_by_their_numbers() -> None:
    rig = armed(7)
    rig.send(DISARMED, 7, sequence=100)
    rig.now_ns -= NS_PER_MS  # what follows has the same generation time
    assert rig.send(ARMED, 8, sequence=99) == Verdict.OUTDATED
    rig.now_ns -= NS_PER_MS
    assert rig.send(ARMED, 8, sequence=101) == Verdict.OBEYED


def test_a_stop_of_the_same_coarse_instant_wins() -> None:
    rig = armed(7)
    rig.now_ns -= NS_PER_MS
    assert rig.send(ESTOP, 7, sequence=0) == Verdict.NOTED
    assert rig.machine.state == RobotState.ESTOP


def test_tells_which_epoch_a_new_station_must_not_use() -> None:
    rig = Rig()
    assert rig.machine.last_epoch == 0
    rig.send(ARMED, 7)
    assert rig.machine.last_epoch == 7
    rig.wait(6000)
    rig.send(DISARMED, 0)  # a station that has just started
    assert (rig.machine.epoch, rig.machine.last_epoch) == (0, 7)
    assert rig.send(ARMED, 7) == Verdict.BURNED
    assert rig.send(ARMED, 8) == Verdict.OBEYED


def test_a_stop_within_this_arming_is_obeyed_however_late() -> None:
    rig = armed(7)
    for _ in range(60):
        rig.wait(99)
        rig.send(ARMED, 7)
    assert rig.send(ESTOP, 7, late_ms=5500.0, fresh=False) == Verdict.NOTED
    assert rig.machine.state == RobotState.ESTOP


def test_a_late_disarm_within_this_arming_is_obeyed() -> None:
    rig = armed(7)
    rig.wait(400)
    rig.send(ARMED, 7)
    assert rig.send(DISARMED, 7, late_ms=100.0, fresh=False) == Verdict.NOTED
    assert rig.machine.state == RobotState.HOLD


def test_a_stale_setpoint_is_outdated() -> None:
    assert Rig().send(ARMED, 7, fresh=False) == Verdict.OUTDATED


def test_estop_latches_through_silence_and_commands() -> None:
    rig = armed()
    assert rig.send(ESTOP, 7) == Verdict.NOTED
    assert rig.machine.actuation == Actuation.STIFF
    assert rig.wait(60_000) == RobotState.ESTOP
    assert rig.send(ARMED, 7) == Verdict.LATCHED
    assert rig.send(ARMED, 8) == Verdict.LATCHED
    assert rig.machine.state == RobotState.ESTOP


def test_estop_needs_two_acts_to_clear() -> None:
    rig = armed()
    rig.send(ESTOP, 7)
    rig.wait(1000)
    assert rig.send(DISARMED, 7) == Verdict.NOTED
    assert rig.machine.state == RobotState.HOLD
    assert rig.send(ARMED, 7) == Verdict.BURNED
    assert rig.send(ARMED, 8) == Verdict.OBEYED


def test_a_disarm_older_than_the_stop_does_not_clear_it() -> None:
    rig = armed()
    rig.wait(100)
    rig.send(ESTOP, 7)
    assert rig.send(DISARMED, 7, late_ms=2.0) == Verdict.OUTDATED
    assert rig.machine.state == RobotState.ESTOP


def test_a_stale_disarm_does_not_clear_a_stop() -> None:
    rig = armed()
    rig.send(ESTOP, 7)
    assert rig.send(DISARMED, 7, fresh=False) == Verdict.LATCHED
    assert rig.machine.state == RobotState.ESTOP


def test_after_a_reset_the_pose_is_held_then_let_go() -> None:
    rig = armed()
    rig.send(ESTOP, 7)
    rig.wait(20_000)
    rig.send(DISARMED, 7)
    assert rig.wait(4999) == RobotState.HOLD
    assert rig.wait(1) == RobotState.IDLE


def test_estop_may_go_slack() -> None:
    rig = armed(estop_action="slack")
    rig.send(ESTOP, 7)
    assert rig.machine.actuation == Actuation.SLACK
    rig.send(DISARMED, 7)
    assert rig.machine.state == RobotState.SLACK
    assert rig.send(ARMED, 8) == Verdict.OBEYED


def test_estop_stiffens_nothing_that_was_compliant() -> None:
    rig = Rig()
    rig.send(ESTOP, 0)
    assert rig.machine.state == RobotState.ESTOP
    assert rig.machine.actuation == Actuation.COMPLIANT
    rig.send(DISARMED, 0)
    assert rig.machine.state == RobotState.IDLE


def test_no_arming_where_the_pose_is_not_known() -> None:
    rig = Rig()
    assert rig.send(ARMED, 7, pose_known=False) == Verdict.NO_MEASUREMENT
    assert rig.machine.state == RobotState.IDLE
    assert rig.send(ARMED, 7) == Verdict.OBEYED
    assert rig.send(ARMED, 7, pose_known=False) == Verdict.OBEYED, "already following"


def test_events_that_nobody_takes_do_not_pile_up() -> None:
    rig = Rig()
    for _ in range(200):
        rig.send(ESTOP, 0)
        rig.send(DISARMED, 0)
    assert len(rig.machine.events()) == 64


COMMANDS = st.lists(
    st.tuples(
        st.sampled_from(list(StationMode)),
        st.integers(0, 4),
        st.sampled_from([0.0, 1.0, 30.0, 2000.0, 9000.0]),
        st.sampled_from([0, 1, 300, 600, 5100, 31_000]),
        st.booleans(),
    ),
    max_size=40,
)


@settings(deadline=None, max_examples=300)
@given(COMMANDS, st.sampled_from(["hold", "slack"]))
def test_no_order_of_commands_and_silences_revives_an_ended_arming(
    commands: list[tuple[StationMode, int, float, int, bool]], action: str
) -> None:
    rig = Rig(estop_action=action, listened=False)
    ended = 0  # the arming followed last, once it is over
    last_obeyed_ns = 0
    for mode, epoch, late_ms, wait_ms, pose_known in commands:
        before = rig.machine.state
        followed = rig.machine.epoch
        verdict = rig.send(
            mode, epoch, late_ms=late_ms, fresh=late_ms < 4000, pose_known=pose_known
        )
        after = rig.machine.state
        if verdict == Verdict.OBEYED:
            assert mode == ARMED
            assert late_ms < 4000
            assert before != RobotState.ESTOP
            assert rig.machine.epoch == epoch != 0
            if followed == epoch:
                assert before in {RobotState.ACTIVE, RobotState.HOLD}
            else:
                assert epoch != ended
                ended = followed or ended
            last_obeyed_ns = rig.now_ns
        else:
            assert not (after == RobotState.ACTIVE and before != RobotState.ACTIVE)
            if followed and rig.machine.epoch != followed:
                ended = followed
        if before == RobotState.ESTOP and after != RobotState.ESTOP:
            assert mode == DISARMED
            assert late_ms < 4000
        if before == RobotState.SLACK and after == RobotState.IDLE:
            raise AssertionError("slack is left by a new arming only")
        rig.now_ns += wait_ms * NS_PER_MS
        followed = rig.machine.epoch
        state = rig.machine.step(rig.now_ns)
        if state == RobotState.ACTIVE:
            assert rig.now_ns - last_obeyed_ns < rig.machine.hold_after_ns
        if rig.machine.epoch != followed:
            assert rig.machine.epoch == 0
        if state not in {RobotState.ACTIVE, RobotState.HOLD}:
            assert rig.machine.epoch == 0
            ended = followed or ended
            assert state == RobotState.ESTOP or rig.machine.actuation != Actuation.STIFF
