"""A recorded operator driven again: the same, and where it is not, said where."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from app.cli import run
from app.config.robot import load_robot
from app.config.teleop import TeleopParameters
from app.errors import LogError
from app.link.settings import LinkOverrides
from app.messages import GOAL_WISH_SHAPES, GoalWish
from app.robot.plant import PlantMismatch
from app.session import Recorder, open_log
from app.session.order import in_time
from app.study.recorded_hands import RecordedHands
from app.study.recorded_session import RecordedSession
from app.study.rerun import Changes, rerun
from app.study.rerun_report import write_report
from app.study.setup_record import read_setup, record_setup
from app.study.trial import Trial
from app.study.trial_setup import TrialSetup
from app.teleop.goal_wish import put_goal
from app.teleop.goals import Goal, GoalKind
from app.teleop.strategy import Strategy
from tests.recordings import rewritten

SETUP = TrialSetup(
    robot="silver2",
    link="optical-turbid",
    operator="line",
    teleop=TeleopParameters(strategy="two-port"),
    mismatch=PlantMismatch(stiffness=1.1),
    seed=5,
)


def record(setup, path, seconds=0.4, at=()):
    """Drive a while; `at` is what is done to the trial at which tick.

    As many ticks at once as it can, where a rerun does them one by one.
    """
    with Recorder(path, *record_setup(setup)) as recorder:
        trial = Trial(setup, recorder)
        for when, act in sorted(at, key=lambda entry: entry[0]):
            trial.run(when - trial.ticks)
            act(trial)
        trial.run(round(1e3 * seconds) - trial.ticks)
        trial.finish()
    return path


def again(path, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    return rerun(RecordedSession(path, folder), Changes())


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """A session with an outage, a slower link and another strategy in mid-session."""
    path = tmp_path_factory.mktemp("rerun") / "faulty.mcap"

    def outage(trial):
        trial.want(trial.wishes.link(LinkOverrides(delay_ms=30.0), outage_s=0.05))

    def mediate(trial):
        trial.want(trial.wishes.strategy(Strategy.MODEL_MEDIATED))

    return record(SETUP, path, at=[(150, outage), (300, mediate)])


def test_unchanged_settings_give_the_same_bytes(faulty, tmp_path):
    found = again(faulty, tmp_path).comparison
    assert found.same
    assert found.full_states is True
    assert found.intact is True
    assert found.counts["/state"] == 400
    assert found.counts["/wish/link"] == found.counts["/wish/teleop"] == 1
    assert {"/frame/down", "/frame/up", "/packet", "/event"} <= set(found.counts)
    states = open_log(faulty).series("/state", "strategy")[1]
    assert set(states[:300]) == {3.0}
    assert set(states[301:]) == {4.0}
    fates = {m.content.fate for m in open_log(faulty).messages({"/packet"})}
    assert "cut" in fates


def test_a_bit_changed_in_an_output_is_found_and_named(faulty, tmp_path):
    def flip(topic, number, data):
        if (topic, number) != ("/frame/up", 7):
            return data
        return data[:-1] + bytes([data[-1] ^ 1])  # the payload comes last

    wrong = rewritten(faulty, tmp_path / "wrong.mcap", flip)
    found = again(wrong, tmp_path).comparison
    assert not found.same
    assert found.altered == ("/frame/up",)
    assert found.different == {"/frame/up": 1}
    assert (found.first.topic, found.first.number) == ("/frame/up", 7)
    assert found.first.place.startswith("payload byte ")
    assert int(found.first.first, 16) ^ int(found.first.second, 16) == 1


def test_a_bit_changed_in_the_state_names_field_and_index(faulty, tmp_path):
    sample = next(iter(open_log(faulty).messages({"/state"}))).content
    names = [field.name for field in sample.DESCRIPTOR.fields]

    def flip(topic, number, data):
        if (topic, number) != ("/state", 123):
            return data
        state = type(sample).FromString(data)
        bits = np.array(state.tip_model[1], dtype=np.float32).view(np.int32) ^ 1
        state.tip_model[1] = float(bits.view(np.float32))
        return state.SerializeToString(deterministic=True)

    assert "tip_model" in names
    wrong = rewritten(faulty, tmp_path / "wrong.mcap", flip)
    first = again(wrong, tmp_path).comparison.first
    assert (first.topic, first.number, first.place) == (
        "/state",
        123,
        "tip_model[0][1]",
    )
    assert first.time_s == pytest.approx(0.123, abs=0.003)
    assert float(first.first) == pytest.approx(float(first.second), rel=1e-6)
    assert first.first != first.second


def test_a_bit_changed_in_an_input_changes_the_outputs(faulty, tmp_path):
    sample = next(iter(open_log(faulty).messages({"/input/script"}))).content

    def flip(topic, number, data):
        if topic != "/input/script" or number < 60:
            return data
        told = type(sample).FromString(data)
        bits = np.array(told.target[0]).view(np.int64) ^ (1 << 40)
        told.target[0] = float(bits.view(np.float64))
        return told.SerializeToString(deterministic=True)

    wrong = rewritten(faulty, tmp_path / "wrong.mcap", flip)
    found = again(wrong, tmp_path).comparison
    assert "/state" in found.different
    assert found.first.topic == "/state"
    assert found.first.place == "target_position[0][0]"


def test_changed_settings_are_compared(faulty, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "app.station.warmup.warm_up", lambda _, contact: None
    )  # they are warm
    report = tmp_path / "slow.html"
    options = ["--link", "tether", "--strategy", "predictive", "--json"]
    assert run(["rerun", str(faulty), *options, "--report", str(report)]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["same"]
    assert not told["operator_reacts"]
    assert told["recorded"]["lost"] > 0.0
    assert told["changed"]["lost"] == 0.0
    page = report.read_text()
    assert "The operator does not react" in page
    assert "data:image/png;base64," in page


def test_a_rerun_can_be_recorded_compared_and_run_again(faulty, tmp_path):
    made, table = tmp_path / "seed.mcap", tmp_path / "seed.csv"
    (tmp_path / "one").mkdir()
    session = RecordedSession(faulty, tmp_path / "one")
    write_report(rerun(session, Changes(seed=6), made), table)
    rows = table.read_text().splitlines()
    assert rows[0] == "figure,unit,recorded,changed,change,meaning"
    assert any(row.startswith("hand_peak,N,") for row in rows)
    found = again(made, tmp_path)
    assert found.comparison.same
    assert found.session.setup.seed == 6
    assert open_log(made).metadata["rerun_of"] == "faulty.mcap"


def test_the_set_up_comes_back(faulty, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    setup = RecordedSession(faulty, folder).setup
    assert setup.teleop == SETUP.teleop
    assert asdict(setup.mismatch) == asdict(SETUP.mismatch)
    assert setup.link.name == "optical-turbid"
    assert setup.robot == load_robot("silver2")
    kept = replace(setup, robot="", link="", scene=None)
    assert kept == replace(SETUP, robot="", link="", scene=None)


def test_planned_goals_come_back(tmp_path):
    goals = (
        Goal(1, GoalKind.FOLLOW, 2, (0.5, 0.1, 0.2), points=((0.4, 0.0, 0.1),)),
        Goal(2, GoalKind.PRESS, 0, normal=(0.0, 0.0, -1.0), force=2.0, time=3.0),
    )
    _, files = record_setup(replace(SETUP, goals=goals))
    assert read_setup(files, tmp_path).goals == goals


def test_goals_of_two_that_count_alike_are_two_goals():
    """A live session's console and command line count their goals each for itself."""
    trial = Trial(replace(SETUP, robot="ursula", operator="supervisor"))
    for _ in range(300):
        trial.step()
    for place in ((0.50, -0.12, 0.10), (0.50, -0.10, 0.10)):
        wish = GoalWish(
            **{
                n: np.zeros(shape, kind)
                for n, (kind, shape) in GOAL_WISH_SHAPES.items()
            }
        )
        put_goal(Goal(1, GoalKind.REACH, 0, place), wish)
        wish.revision[0] = 1
        trial.want(wish)
        for _ in range(20):
            trial.step()
        assert trial.health.goal_position[1] == place[1]
    trial.finish()


def test_hands_wait_to_be_armed(faulty):
    messages = list(in_time(open_log(faulty).messages({"/input/script", "/event"})))
    hands = RecordedHands(messages, whole=True, patient=True)
    start = messages[0].time_ns
    presses = []
    for tick in range(3000):
        now = start + tick * 1_000_000
        for _, sample in hands.step(now, armed=tick > 2500):
            assert sample.stamp_ns <= now
            assert tick > 2500 or not sample.deadman
            presses.append(sample.arm_count)
    assert hands.waited_ns > 2_000_000_000
    assert presses == sorted(presses)
    assert presses[-1] >= 3


def test_what_is_no_session_is_refused(tmp_path):
    path = tmp_path / "other.mcap"
    Recorder(path, {}).close()
    with pytest.raises(LogError, match="no session"):
        RecordedSession(path, tmp_path)
    assert run(["rerun", str(tmp_path / "none.mcap")]) == 2


def test_a_report_needs_a_change(faulty, capsys):
    assert run(["rerun", str(faulty), "--report", "x.html"]) == 2
    assert "--strategy" in capsys.readouterr().err
