"""Plans: what they make, what they refuse, and that their trials are paired."""

from pathlib import Path

import numpy as np
import pytest

from app.cli import run
from app.config.link import load_link
from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import place_task
from app.errors import ConfigError
from app.link.channel import Channel, ChannelSettings, Direction, Fate
from app.study.factorial.cells import plan_trials
from app.study.factorial.plan import StudyPlan, load_plan, plan_names
from app.study.factorial.run import run_spec
from app.study.factorial.study import plan_jobs
from app.study.factorial.surroundings import harder, scene_of
from app.study.trial_seeds import TrialSeeds

PLAN = """
name = "tiny"
title = "Tiny"
question = "Is it?"
robot = "rov-arm"
seeds = [3]
longest_s = 0.4
recordings = false

[[strategies]]
name = "predictive"

[[links]]
preset = "optical-turbid"

[[tasks]]
name = "reach"
"""


def plan(tmp_path: Path, text: str) -> StudyPlan:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return load_plan(str(path))


def test_every_combination_is_a_trial_and_a_whole_seed_comes_first(
    tmp_path: Path,
) -> None:
    more = PLAN.replace("[3]", "[3, 5]") + 'variants = ["a100-w20", "a200-w10"]\n'
    more += 'operators = ["submover", "vite"]\n[[mismatches]]\n[[mismatches]]\n'
    more += 'label = "soft"\nfactors = { stiffness = 0.8 }\n'
    trials = plan_trials(plan(tmp_path, more))
    assert len(trials) == 2 * 2 * 2 * 2
    assert [spec.seed for spec in trials] == [3] * 8 + [5] * 8
    assert len({spec.name for spec in trials}) == 16
    assert trials[4].mismatch.stiffness in {0.8, 1.0}


def test_a_name_depends_on_what_decides_the_outcome_and_on_nothing_else(
    tmp_path: Path,
) -> None:
    (one,) = plan_trials(plan(tmp_path, PLAN))
    added = PLAN + '[[strategies]]\nname = "move-and-wait"\n'
    assert one.name in {spec.name for spec in plan_trials(plan(tmp_path, added))}
    for old, new in (
        ("[3]", "[4]"),
        ("0.4", "0.7"),
        ('name = "predictive"', 'name = "predictive"\ndeadband = 0.1'),
        ('"optical-turbid"', '"optical-turbid"\nloss = 0.2'),
        ('name = "reach"', 'name = "reach"\nvariants = ["a200-w10"]'),
    ):
        (other,) = plan_trials(plan(tmp_path, PLAN.replace(old, new)))
        assert other.name != one.name


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('title = "Tiny"', 'titel = "Tiny"', "unknown key 'titel'"),
        ('"predictive"', '"predicitve"', "strategies.0.name"),
        ('"optical-turbid"', '"optikal"', "No link called 'optikal'"),
        ('"reach"', '"raech"', "No task called 'raech'"),
        ('name = "reach"', 'name = "reach"\nvariants = ["w"]', "has no variant 'w'"),
        ('name = "reach"', 'name = "reach"\noperators = ["me"]', "operator 'me'"),
        ('name = "reach"', 'name = "reach"\noperators = ["presser"]', "needs pads"),
        ('title = "Tiny"', 'title = "T"\nreproduce = ["line"]', 'name = "line"'),
        ("[3]", "0", "1 to 1000"),
        ('"rov-arm"', '"monopus"', "monopus"),
        ("[3]", "[3, 3]", "none twice"),
        ("[[tasks]]\n", "[[mismatches]]\nfactors = {x = 2.0}\n[[tasks]]\n", "'x'"),
        ('title = "Tiny"', 'title = "T"\nbaseline = "b"', "none of the strategies"),
    ],
)
def test_a_wrong_plan_is_refused_with_what_is_allowed(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        plan_jobs(plan(tmp_path, PLAN.replace(old, new)))


def test_a_shown_plan_is_the_one_that_is_loaded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["study", "quick", "--show"]) == 0
    own = tmp_path / "mine.toml"
    own.write_text(capsys.readouterr().out)
    assert load_plan(str(own)) == load_plan("quick")
    assert run(["study", "nothing", "--show"]) == 2
    assert "No study called 'nothing'. Shipped: full" in capsys.readouterr().err


def test_shipped_plans_can_be_run() -> None:
    assert "quick" in plan_names()
    for name in plan_names():
        found = load_plan(name).model_copy(update={"seeds": 1})
        assert plan_trials(found) or found.reproduce


def test_a_trial_gives_the_same_bytes_whatever_else_is_in_the_plan(
    tmp_path: Path,
) -> None:
    (alone,) = plan_trials(plan(tmp_path, PLAN))
    other = '[[strategies]]\nname = "move-and-wait"\n\n'
    both = plan_trials(
        plan(tmp_path, PLAN.replace("[[strategies]]", other + "[[strategies]]"))
    )
    assert [spec.cell.strategy for spec in both] == ["move-and-wait", "predictive"]
    results = []
    for number, spec in enumerate([alone, both[1]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        results.append(run_spec(spec, folder))
    assert results[0] == results[1]
    for name in ("result.json", "trace.npz"):
        ours = (tmp_path / "0" / name).read_bytes()
        assert ours == (tmp_path / "1" / name).read_bytes()


def test_strategies_with_other_packet_rates_meet_the_same_water() -> None:
    seeds = TrialSeeds.of(7)
    assert len(set(seeds)) == 5
    settings = ChannelSettings.of(load_link("optical-turbid"))

    def fates(every_ms: int) -> dict[int, Fate]:
        channel = Channel(settings, (seeds.link_down, seeds.link_up))
        found: dict[int, Fate] = {}
        for ms in range(0, 8000, 10):
            for step in range(0, 10, every_ms):
                now = (ms + step) * 1_000_000
                channel.advance(now)
                if step == 0 or every_ms < 10:
                    channel.submit(now, Direction.DOWN, 1, b"x" * 20)
        channel.advance(9_000_000_000)
        for record in sorted(channel.take_records(), key=lambda one: one.started_ns):
            slot = record.started_ns // 10_000_000
            if record.started_ns and slot not in found:
                found[slot] = record.fate
        return found

    seldom, often = fates(10), fates(5)
    shared = set(seldom) & set(often)
    assert len(shared) > 700
    assert all(seldom[slot] == often[slot] for slot in shared)
    lost = sum(fate is not Fate.DELIVERED for fate in seldom.values())
    assert 0 < lost < len(seldom)


def test_the_environment_varies_by_its_own_seed_alone() -> None:
    task = place_task(load_task("press"), load_robot("rov-arm"), "k300")
    scene = scene_of(task)
    assert scene is not None
    assert scene.obstacles[0].stiffness_n_per_m == 300.0
    factors = [harder(task, scene, 0.2, seed)[1] for seed in range(200)]
    assert np.std(np.log(factors)) == pytest.approx(0.2, rel=0.15)
    changed, factor = harder(task, scene, 0.2, 4)
    assert changed is not None
    assert changed.obstacles[0].stiffness_n_per_m == pytest.approx(300.0 * factor)
    assert harder(task, scene, 0.0, 4) == (scene, 1.0)
