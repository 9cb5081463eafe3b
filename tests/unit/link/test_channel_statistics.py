"""Every preset's law, by statistics of few packets; 1e5 are scripts/channel_report's.

Bounds are three standard errors, of packets counted in the independent spells that
they make up; seeds are fixed.
"""

from types import SimpleNamespace

import pytest

from app.config.link import link_names, load_link
from app.link.settings import ChannelSettings
from app.study import channel_goals
from app.study.channel_goals import preset_goals, run_packets

_BURSTS = {"tether": 5}  # one in ten minutes
_WORDS = ("lost", "delay, mean", "blocked, mean", "open, mean", "throughput, down")


@pytest.mark.parametrize("name", link_names())
def test_a_preset_keeps_its_law(name):
    link = load_link(name)
    goals = preset_goals(link, 2000, _BURSTS.get(name, 40), seed=1)
    assert [goal for goal in goals if not goal.holds] == []
    wanted = _WORDS if link.loss.bad_s else ("lost", "delay, mean", "throughput, down")
    for words in wanted:
        assert any(goal.what.startswith(words) for goal in goals), words


@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        ("loss", {"residual": 0.08}, "lost"),
        ("loss", {"bad_s": 0.4}, "blocked, mean"),
        ("loss", {"good_s": 30.0}, "open, mean"),
        ("jitter", {"deviation_ms": 0.13}, "delay, standard deviation"),
        ("jitter", {"kind": "lognormal"}, "delay, share below"),
        ("medium", {"overhead_bytes": 90}, "throughput"),
    ],
)
def test_another_law_is_noticed(part, change, words, monkeypatch):
    """The rows can fail: a channel of another preset does not pass for this one."""
    link = load_link("optical-lab")
    other = link.model_copy(
        update={part: getattr(link, part).model_copy(update=change)}
    )
    settings = ChannelSettings.of(other)
    instead = SimpleNamespace(of=lambda _: settings)
    monkeypatch.setattr(channel_goals, "ChannelSettings", instead)
    goals = preset_goals(link, 2000, 40, seed=1)
    assert any(goal.what.startswith(words) for goal in goals if not goal.holds)


def test_packets_come_one_by_one():
    records = run_packets(load_link("acoustic-m64"), 50, 3)
    assert len(records) == 50
    assert all(record.started_ns for record in records)
