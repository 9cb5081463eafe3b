"""Traces and outages of a link's file: what is read, and what is refused where."""

import pytest

from app.config.link import load_link
from app.config.trace import parse_trace, read_trace
from app.errors import ConfigError

HEAD = "time_s,delay_ms,loss,rate_bps"


def test_rows_are_read_and_count_from_the_first():
    text = f"# a sea trial\n{HEAD}\n\n10,20,0,1e6\n10.5,25.5,0.25,2e6\n12,30,1,1e6\n"
    table = parse_trace(text, "x")
    assert table.times_ns == (0, 500_000_000, 2_000_000_000)
    assert table.length_ns == 3_500_000_000
    assert table.delay_ms == (20.0, 25.5, 30.0)
    assert table.loss == (0.0, 0.25, 1.0)
    assert table.rate_bps == (1_000_000, 2_000_000, 1_000_000)


def test_columns_may_be_missing_and_in_any_order():
    table = parse_trace("loss,time_s\r\n0.5,0\r\n", "x")
    assert (table.loss, table.delay_ms, table.rate_bps) == ((0.5,), None, None)
    assert table.length_ns == 1_000_000_000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"x: no header.*time_s"),
        (f"{HEAD}\n", "no row below the header"),
        ("time_s,delay\n0,1\n", r"line 1, column 2: 'delay' unknown.*delay_ms"),
        ("time_s,loss,loss\n0,1,1\n", "line 1, column 3: loss twice"),
        ("time_s\n0\n", "line 1: time_s will not do"),
        ("delay_ms,loss\n0,1\n", "will not do"),
        (f"{HEAD}\n0,20,0\n", "line 2: 3 columns instead of 4"),
        (f"{HEAD}\n0,20,0,1e6\n1,x,0,1e6\n", "line 3, column delay_ms: 'x' is no"),
        (f"{HEAD}\n0,20,1.5,1e6\n", "line 2, column loss: '1.5' is no number from 0"),
        (f"{HEAD}\n0,nan,0,1e6\n", "column delay_ms: 'nan'"),
        (f"{HEAD}\n0,inf,0,1e6\n", "column delay_ms: 'inf'"),
        (f"{HEAD}\n-1,2,0,1e6\n", "column time_s: '-1'"),
        (f"{HEAD}\n0,2,0,0\n", "column rate_bps: '0'.*loss = 1"),
        (f"{HEAD}\n0,2,0,9\n0,2,0,9\n", "line 3, column time_s: 0 does not come after"),
        (f"{HEAD}\n0,2,0,9\n1e-10,2,0,9\n", "less than 1 ns apart"),
        (f'{HEAD}\n0,"2,0,9\n', "line 2: 2 columns"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_column(text, told):
    with pytest.raises(ConfigError, match=told):
        parse_trace(text, "x")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.csv cannot be read"):
        read_trace(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"bytes\.csv cannot be read"):
        read_trace(tmp_path / "bytes.csv")


@pytest.fixture
def own(tmp_path):
    """Write a link's file beside a trace."""

    def write(name="tether", loss="", more=""):
        from importlib import resources

        text = resources.files("assets").joinpath("links", f"{name}.toml").read_text()
        text = text.replace("[medium]", f"{loss}\n[medium]") + more
        (tmp_path / "own.toml").write_text(text)
        (tmp_path / "sea.csv").write_text(f"{HEAD}\n0,20,0,1e6\n")
        return str(tmp_path / "own.toml")

    return write


def test_a_link_names_its_trace_beside_its_file(own):
    link = load_link(own(more='\n[trace]\nfile = "sea.csv"\nat_end = "hold"\n'))
    assert link.trace_table is not None
    assert link.trace_table.delay_ms == (20.0,)
    assert link.trace is not None
    assert link.trace.at_end == "hold"
    with pytest.raises(ConfigError, match=r"lake\.csv cannot be read"):
        load_link(own(more='\n[trace]\nfile = "lake.csv"\n'))
    with pytest.raises(ConfigError, match=r"trace\.at_end = 'stop'"):
        load_link(own(more='\n[trace]\nfile = "sea.csv"\nat_end = "stop"\n'))
    assert load_link("tether").trace_table is None


def test_outages_are_read_and_a_wrong_one_is_named(own):
    link = load_link(own(loss="outages = [[10, 5], [60.0, 2.0, 30.0]]"))
    assert link.loss.outages == ((10.0, 5.0), (60.0, 2.0, 30.0))
    for entry, told in (
        ("[1]", "entry 1.*start_s, length_s"),
        ("[1, 0]", "length_s must be"),
        ("[-1, 1]", "start_s must be"),
        ("[1, 5, 5]", "period_s must be longer"),
    ):
        with pytest.raises(ConfigError, match=told):
            load_link(own(loss=f"outages = [{entry}]"))


def test_turn_round_belongs_to_half_duplex():
    for name, turns in (("acoustic-psk", True), ("tether", False)):
        assert (load_link(name).medium.turnaround_s > 0.0) is turns


def test_turn_round_elsewhere_is_refused(own, tmp_path):
    path = tmp_path / "own.toml"
    own()
    path.write_text(path.read_text() + "turnaround_s = 0.1\n")
    with pytest.raises(ConfigError, match="belongs to duplex 'half'"):
        load_link(str(path))


def test_distance_is_refused_where_it_does_not_matter():
    with pytest.raises(ConfigError, match="does not depend on distance"):
        load_link("tether").with_distance(10.0)
    near = load_link("acoustic-m64").with_distance(30.0)
    assert near.delay_ms == pytest.approx(20.0 + 433.0)
