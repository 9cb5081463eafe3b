"""The shipped links are those of the sources, and a wrong file says what is wrong."""

import pytest

from app.config.link import LinkParameters, link_names, load_link
from app.errors import ConfigError

# name: bit/s down, one-way ms, MTU, duplex, ordered, mean good s, bad s, residual
TABLE = {
    "tether": (80e6, 3, 1500, "full", True, 600, 0.05, 1e-5),
    "wifi-buoy": (20e6, 8, 1500, "half", False, 30, 0.3, 0.002),
    "optical-lab": (16.9e6, 0.5, 1500, "full", True, 60, 0.2, 0.001),
    "optical-rov": (5e6, 5, 1500, "half", True, 20, 1.0, 0.005),
    "optical-turbid": (600e3, 10, 256, "half", True, 5, 1.0, 0.02),
    "acoustic-hs": (31.2e3, 633, 1024, "half", True, 30, 3, 0.03),
    "acoustic-psk": (490, 967, 192, "half", True, 60, 10, 0.10),
    "acoustic-nano": (463, 233, 64, "half", False, 60, 5, 0.05),
    "acoustic-m64": (64, 500, 8, "tdd", True, 60, 5, 0.03),
}


def test_presets_are_the_table():
    assert link_names() == sorted([*TABLE, "ideal"])
    for name, row in TABLE.items():
        link = load_link(name)
        medium, loss = link.medium, link.loss
        assert link.name == name
        assert (link.down_bps, link.up_bps) == (row[0], row[0])
        assert link.delay_ms == pytest.approx(row[1])
        assert (medium.mtu_bytes, medium.duplex, medium.ordered) == row[2:5]
        assert (loss.good_s, loss.bad_s, loss.residual) == row[5:]
    ideal = load_link("ideal")
    assert (ideal.delay_ms, ideal.expected_loss()) == (0.0, 0.0)


@pytest.fixture
def edited(tmp_path):
    """Write a copy of a shipped link with one change."""

    def write(name, old, new):
        from importlib import resources

        text = resources.files("assets").joinpath("links", f"{name}.toml").read_text()
        assert old in text
        path = tmp_path / "own.toml"
        path.write_text(text.replace(old, new))
        return str(path)

    return write


def test_own_file_is_loaded(edited):
    link = load_link(edited("tether", 'name = "tether"', 'name = "my-tether"'))
    assert isinstance(link, LinkParameters)
    assert link.name == "my-tether"


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("tether", "propagation_ms", "propagation_s", "unknown key 'propagation_s'"),
        ("tether", "residual = 1e-05", "residual = 1.5", "residual = 1.5"),
        ("tether", "mtu_bytes = 1500", "mtu_bytes = 4", "mtu_bytes = 4"),
        ("tether", 'kind = "lognormal"', 'kind = "none"', "must be 0 where kind"),
        ("tether", "down_bps = 80_000_000.0", "", "'down_bps' is missing"),
        ("acoustic-m64", "cycle_s = 1.0", "cycle_s = 0.0", "above 0 for duplex 'tdd'"),
        ("wifi-buoy", "spike_per_s = 0.1", "spike_per_s = 0.0", "given together"),
    ],
)
def test_wrong_file_names_key_and_cure(edited, name, old, new, told):
    with pytest.raises(ConfigError, match=told):
        load_link(edited(name, old, new))


def test_unknown_name_lists_the_shipped_ones():
    with pytest.raises(ConfigError, match=r"acoustic-hs.*tether"):
        load_link("pigeon")
