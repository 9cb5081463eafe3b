"""A recording as a table, read back by what people read tables with."""

import csv
import sys

import numpy as np
import pyarrow.parquet
import pytest

from app.cli import run
from app.clock import NS_PER_MS
from app.messages import Event, OperatorInput, Severity, Source
from app.session import Recorder, open_log
from app.session.export import export
from app.session.table import Table, TableChoice
from tests.unit.session import samples


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """State every tick; input every 4 ms from 10 ms on, health late, and an event."""
    path = tmp_path_factory.mktemp("export") / "log.mcap"
    with Recorder(path, samples.METADATA) as recorder:
        rows = samples.state_rows(60)
        recorder.write_states(rows, samples.STATES.describe())
        first = samples.START_NS
        for number in range(10):
            stamp = first + (10 + 4 * number) * NS_PER_MS
            sample = OperatorInput(stamp, present=True, rate=(0.1 * number, 0.0, -1.0))
            recorder.write_input(Source.SCRIPT, sample)
        event = Event(first + 5 * NS_PER_MS, Severity.INFO, "link", 'it said, "so"', {})
        recorder.write_event(event)
    return path


def exported(log, tmp_path, kind, *options):
    out = tmp_path / f"table.{kind}"
    arguments = ["export", str(log), "--to", kind, "--out", str(out), *options]
    assert run(arguments) == 0
    return out


def test_parquet_is_read_back(log, tmp_path):
    out = exported(log, tmp_path, "parquet")
    table = pyarrow.parquet.read_table(out)
    tip = [
        f"state.tip_model[{i}][{j}] [m, hull frame]" for i in range(4) for j in range(3)
    ]
    assert set(tip) <= set(table.column_names)
    times, values = open_log(log).series("/state", "tip_model")
    assert table["time [ns]"].to_pylist() == times.tolist()
    read = np.stack([table[name].to_numpy() for name in tip], axis=1)
    assert (read == values).all()
    assert table.schema.field(tip[0]).metadata == {b"unit": b"m, hull frame"}
    rate = table["input.script.rate[0] [1 (of the tip speed limit), hull frame]"]
    assert rate.to_pylist()[9] is None
    assert rate.to_pylist()[10:15] == [0.0] * 4 + [0.1]
    arms = table["input.script.arm_count"]
    assert str(arms.type) == "int64"


def test_csv_is_read_back_evenly_spaced(log, tmp_path):
    out = exported(
        log, tmp_path, "csv", "--rate", "500", "--channels", "/state:tip_model,tick",
        "--channels", "event",
    )  # fmt: skip
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert np.diff([int(row["time [ns]"]) for row in rows]).tolist() == [2_000_000] * (
        len(rows) - 1
    )
    assert [float(row["time [s]"]) for row in rows[:3]] == [0.0, 0.002, 0.004]
    assert [row["event.text"] for row in rows[2:4]] == ["", 'it said, "so"']
    _, values = open_log(log).series("/state", "tip_model")
    names = [name for name in rows[0] if name.startswith("state.tip_model")]
    read = [[float(row[name]) for name in names] for row in rows]
    assert (np.array(read) == values[::2]).all()
    assert not any("reach_error" in name for name in rows[0])


def test_an_archive_is_read_back_with_shapes_and_units(log, tmp_path, capsys):
    out = exported(log, tmp_path, "npz", "--base", "input/script", "--channels", "/*")
    assert "/event:text" in capsys.readouterr().out
    with np.load(out) as read:
        assert read["time_ns"].shape == (10,)
        assert read["state.tip_model"].shape == (10, 4, 3)
        units = dict(read["units"].tolist())
        assert units["state.tip_model"] == "m, hull frame"
        assert units["input.script.stamp_ns"] == "ns"
        assert read["input.script.stamp_ns"].dtype == np.int64
        assert (read["input.script.stamp_ns"] == read["time_ns"]).all()
        assert read["input.script.rate"][:, 0] == pytest.approx(0.1 * np.arange(10))
        assert read["time_s"] == pytest.approx(np.arange(0.010, 0.050, 0.004))
        times, values = open_log(log).series("/state", "tip_model")
        places = np.searchsorted(times, read["time_ns"])
        assert (read["state.tip_model"] == values[places].reshape(-1, 4, 3)).all()


def test_not_all_rows_are_held_at_once(log, tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr("app.session.export._BATCH", 7)

    class Counting:
        def __init__(self, path, *_):
            path.touch()

        def write(self, rows):
            sizes.append(len(rows))

        def close(self):
            pass

    monkeypatch.setattr("app.session.export.CsvSink", Counting)
    done = export(open_log(log), tmp_path / "x.csv", "csv", TableChoice(("/state",)))
    assert (done.rows, max(sizes), sum(sizes)) == (60, 7, 60)


def test_a_cut_recording_is_exported_as_far_as_it_goes(log, tmp_path):
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(log.read_bytes()[:-200])
    rows = list(Table(open_log(cut), TableChoice(("/state",))).rows())
    assert len(rows) == 60


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--to", "xlsx"], "parquet, csv, npz"),
        (["--channels", "/stat"], "/state"),
        (["--channels", "/state:tip"], "tip_model"),
        (["--base", "/robot"], "--base"),
        (["--base", "/state", "--rate", "10"], "not both"),
        (["--channels", "/frame/*"], "no channel"),
    ],
)
def test_wrong_wishes_are_refused(log, tmp_path, options, word, capsys):
    out = tmp_path / "table.csv"
    arguments = ["export", str(log), "--to", "csv", "--out", str(out), *options]
    assert run(arguments) == 2
    assert word in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_not_overwritten_unasked(log, tmp_path, capsys):
    out = exported(log, tmp_path, "csv")
    assert run(["export", str(log), "--to", "csv", "--out", str(out)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    exported(log, tmp_path, "csv", "--overwrite")


def test_without_pyarrow_it_is_said_how_to_get_it(log, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    out = tmp_path / "table.parquet"
    assert run(["export", str(log), "--out", str(out)]) == 2
    assert "limblink[export]" in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []
