"""Presets and live wishes, resolved."""

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.link.channel import Direction
from app.link.settings import ChannelSettings, LinkOverrides


def test_a_preset_is_taken_as_it_is():
    settings = ChannelSettings.of(load_link("acoustic-psk"))
    assert settings.rate_bps == (490.0, 490.0)
    assert (settings.delay_ms, settings.least_delay_ms) == (967.0, 667.0)
    assert settings.turnaround_ns == 10 * NS_PER_MS
    assert (settings.outages, settings.replay) == ((), None)
    assert settings.loss_at(0) == 0.1
    assert settings.rate_at(Direction.UP, 0) == 490.0


def test_wishes_win_and_negative_ones_are_none():
    link = load_link("acoustic-m64")
    assert ChannelSettings.of(link, LinkOverrides()) == ChannelSettings.of(link)
    wish = LinkOverrides(
        delay_ms=5.0, jitter_ms=2.0, loss=0.5, bandwidth_bps=0.0, distance_m=300.0
    )
    settings = ChannelSettings.of(link, wish)
    assert (settings.delay_ms, settings.least_delay_ms) == (5.0, 5.0)
    assert (settings.weather.jitter_kind, settings.weather.jitter_ms) == ("normal", 2.0)
    assert settings.weather.residual == 0.5
    assert settings.rate_bps == (1.0, 1.0)


def test_outages_become_nanoseconds():
    link = load_link("tether").with_outages([(1.5, 0.25), (2.0, 1.0, 10.0)])
    first, second = ChannelSettings.of(link).outages
    assert (first.start_ns, first.length_ns, first.period_ns) == (
        1_500_000_000, 250_000_000, 0,
    )  # fmt: skip
    assert second.period_ns == 10 * NS_PER_S


def test_what_a_trace_tells_the_weather_leaves_alone(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("time_s,delay_ms,loss\n0,40,0.5\n")
    link = load_link("wifi-buoy").with_trace(path)
    weather = ChannelSettings.of(link).weather
    assert (weather.bad_s, weather.residual) == (0.0, 0.0)
    assert (weather.jitter_ms, weather.spike_per_s) == (0.0, 0.0)
    wished = ChannelSettings.of(link, LinkOverrides(jitter_ms=3.0, loss=0.1))
    assert (wished.weather.jitter_ms, wished.loss_at(0)) == (3.0, 0.1)
    assert wished.delay_at(0) == 40.0
    assert wished.rate_at(Direction.DOWN, 0) == 20e6  # the link's own
