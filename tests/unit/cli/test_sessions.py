"""`limblink sessions`, `mark` and `replay`: what they say, and how they refuse."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import run
from app.cli.options import application
from app.session import Recorder
from app.station import session as sessions_of
from tests.unit.session import samples


def said(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(application, list(arguments), catch_exceptions=False)
    assert result.exit_code == status, result.stdout
    return " ".join(result.stdout.split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("whole", "cut"):
        with Recorder(tmp_path / f"{name}.mcap", samples.METADATA) as recorder:
            for k in range(4):
                rows = samples.state_rows(30, 30 * k)
                recorder.write_states(rows, samples.STATES.describe())
                recorder.flush()
            recorder.write_mark(samples.MARK)
            recorder.write_event(samples.EVENT)
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(cut.read_bytes()[:-2000])
    (tmp_path / "other.mcap").write_text("no recording")
    return tmp_path


def test_recordings_are_listed_whole_cut_or_foreign(folder: Path) -> None:
    table = said("sessions", "list", str(folder))
    for words in ("whole.mcap", "cut.mcap", "recover", "readable", "ursula"):
        assert words in table


def test_one_is_described(folder: Path) -> None:
    text = said("sessions", "describe", str(folder / "whole.mcap"), "--units")
    for words in ("seed", "/state", "limblink.State", "m, hull frame", "mark 1"):
        assert words in text
    assert "alarm link: The link is cut." in text


def test_verify_tells_by_its_status(folder: Path) -> None:
    assert "all is well" in said("sessions", "verify", str(folder / "whole.mcap"))
    text = said("sessions", "verify", str(folder / "cut.mcap"), status=1)
    assert "not closed by its writer" in text


def test_recover_and_trim_make_whole_ones(folder: Path) -> None:
    said("sessions", "recover", str(folder / "cut.mcap"))
    said("sessions", "verify", str(folder / "cut.recovered.mcap"))
    said("sessions", "trim", str(folder / "whole.mcap"), "--to", "0.05")
    assert "51" in said("sessions", "describe", str(folder / "whole.trimmed.mcap"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sessions", "list", "/no/folder"), "No folder /no/folder"),
        (("sessions", "verify", "/no/file.mcap"), "cannot be opened"),
        (("mark", "--session", "no-such-one"), "No session called no-such-one"),
        (("mark", "note"), "Running sessions: none"),
        (("replay", "x.mcap", "--video", "x.mp4"), "written as .avi"),
        (("replay", "x.mcap", "--frames", "d", "--size", "9x9"), "WIDTHxHEIGHT"),
        (("replay", "x.mcap", "--align", "noon"), "start, armed, mark"),
    ],
)
def test_what_cannot_be_is_said(
    arguments: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sessions_of, "sessions_folder", lambda: tmp_path)
    assert run(list(arguments)) == 2
    assert words in " ".join(capsys.readouterr().err.split())
