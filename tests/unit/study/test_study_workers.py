"""A study's folder and its workers: whatever dies, finished trials stay whole."""

from pathlib import Path

import pytest

from app.errors import ConfigError, LimblinkError, LogError
from app.study.factorial.carry_out import run_jobs
from app.study.factorial.pool import ATTEMPTS, run_locally
from app.study.factorial.progress import Note, time_left_s
from app.study.factorial.store import RESULT, Store, write_whole
from tests.unit.study.errands import Errand


def run(store: Store, *jobs: Errand, workers: int = 1) -> tuple[int, list[Note]]:
    notes: list[Note] = []
    failed = run_jobs(
        jobs,
        store,
        lambda rest, where, tell: run_locally(rest, where, tell=tell, workers=workers),
        notes.append,
    )
    return failed, notes


def test_a_killed_worker_s_trial_is_done_again_and_told(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        jobs = (Errand("a"), Errand("b", deaths=1), Errand("wrong-c"), Errand("d"))
        failed, notes = run(store, *jobs)
        assert failed == 1
        assert store.finished == {"a", "b", "d"}
        lost = [note for note in notes if note.kind == "lost"]
        assert [note.name for note in lost] == ["b"]
        assert "exit status -9" in lost[0].words
        (refused,) = [note for note in notes if note.kind == "failed"]
        assert refused.words == "No such thing."
    # a second call does what is left, and nothing else
    with Store(tmp_path) as store:
        failed, notes = run(store, Errand("a"), Errand("b"))
        assert (failed, notes) == (0, [])


def test_a_trial_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        failed, notes = run(store, Errand("a", deaths=ATTEMPTS), Errand("b"))
        assert failed == 1
        assert [note.kind for note in notes if note.name == "a"] == (
            ["begun", "lost"] * (ATTEMPTS - 1) + ["begun", "failed"]
        )
        assert store.finished == {"b"}


def test_a_full_disk_ends_the_study_and_keeps_what_was_done(tmp_path: Path) -> None:
    with Store(tmp_path) as store, pytest.raises(LogError, match="No space"):
        run(store, Errand("a"), Errand("full"), Errand("b"))
    with Store(tmp_path) as store:
        assert store.finished == {"a"}
        assert not list(store.work.iterdir())


def test_what_is_half_written_is_never_finished(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        folder = store.begin("a", 1)
        (folder / RESULT).write_text("{")
        assert not store.has("a")
    with Store(tmp_path) as store:
        assert not store.has("a")
        store.accept_files("a", {RESULT: b'{"x": 1}'}, 1)
        assert store.result("a") == {"x": 1}
        (store.trials / "a" / RESULT).write_text("{")
        with pytest.raises(LogError, match="is damaged"):
            store.result("a")


def test_a_folder_is_one_study_s_at_a_time(tmp_path: Path) -> None:
    with Store(tmp_path), pytest.raises(ConfigError, match="Another study works"):
        Store(tmp_path)


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(LimblinkError, match="choose another --out"):
        Store(file / "study")
    with pytest.raises(LogError, match="choose another --out"):
        write_whole(file / "x.json", b"")


def test_the_time_left_is_the_pace_so_far() -> None:
    assert time_left_s(10.0, 0, 5) is None
    assert time_left_s(10.0, 4, 6) == pytest.approx(15.0)
