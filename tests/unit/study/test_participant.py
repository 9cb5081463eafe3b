"""Orders of human studies, and what a plan for people may ask."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from app.errors import ConfigError
from app.study.participant.order import hidden_letters, turns_of, williams_row
from app.study.participant.plan import load_participant_plan, read_consent
from app.study.participant.specs import specs_of
from app.study.participant.workload import SCALES, raw_load


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8])
def test_every_treatment_stands_in_every_place_and_before_every_other(
    count: int,
) -> None:
    people = count if count % 2 == 0 else 2 * count
    rows = [williams_row(count, person) for person in range(people)]
    for row in rows:
        assert sorted(row) == list(range(count))
    for place in range(count):
        seen = Counter(row[place] for row in rows)
        assert set(seen.values()) == {people // count}
    follows = Counter(pair for row in rows for pair in pairwise(row))
    assert len(follows) == count * (count - 1)
    assert len(set(follows.values())) <= 1


def test_a_participant_practises_each_system_and_knows_it_by_a_letter() -> None:
    plan = load_participant_plan("reach-by-hand")
    turns = turns_of(plan, 0)
    counted = [turn for turn in turns if not turn.practice]
    assert len(counted) == 2 * 2 * 2 * plan.repeats
    assert len(turns) - len(counted) == 2 * plan.practice
    halves = [turns[: len(turns) // 2], turns[len(turns) // 2 :]]
    for half in halves:
        assert len({turn.strategy for turn in half}) == 1
        assert all(turn.practice for turn in half[: plan.practice])
        assert [turn.last for turn in half] == [False] * (len(half) - 1) + [True]
    assert {turn.letter for turn in turns} == {"A", "B"}
    drawn = {tuple(hidden_letters(plan, person)) for person in range(20)}
    assert drawn == {("A", "B"), ("B", "A")}
    names = [spec.name for spec in specs_of(plan, range(1, 4))]
    assert len(names) == len(set(names)) == 3 * len(counted)


def test_a_plan_for_people_refuses_what_cannot_be(tmp_path: Path) -> None:
    text = (Path("assets/participants/reach-by-hand.toml")).read_text()
    path = tmp_path / "plan.toml"

    def load(old: str, new: str) -> None:
        path.write_text(text.replace(old, new))
        read_consent(load_participant_plan(str(path)))

    with pytest.raises(ConfigError, match=r"consent.txt.*cannot be read"):
        load("xx", "yy")
    (tmp_path / "consent.txt").write_text("  \n")
    with pytest.raises(ConfigError, match="is empty"):
        load("xx", "yy")
    with pytest.raises(ConfigError, match="cannot be judged"):
        load('name = "reach-short"\nvariants = ["a100-w20", "a100-w40"]',
             'name = "retrieve"')  # fmt: skip
    with pytest.raises(ConfigError, match="without deadband"):
        load('name = "predictive"', 'name = "predictive"\ndeadband = 0.1')
    with pytest.raises(ConfigError, match="unknown key"):
        load("practice = 3", "practise = 3")


def test_the_raw_load_is_the_mean_of_six() -> None:
    answers = {scale.key: 10 * k for k, scale in enumerate(SCALES)}
    assert raw_load(answers) == pytest.approx(25.0)
