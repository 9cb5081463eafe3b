"""The control protocol: what is written is read, and nothing else is acted on."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.link import load_link
from app.errors import FrameError
from app.link.channel import Direction, Fate, LinkOverrides, PacketRecord
from app.link.emulator import Emulator
from app.link.emulator_protocol import (
    EmulatorSettings,
    EmulatorStatus,
    decode_settings,
    decode_status,
    encode_settings,
    encode_status,
)

_TIMES = st.integers(0, 2**63 - 1)
_FLOATS = st.floats(0.0, 1e9, allow_nan=False)


def a_status():
    return EmulatorStatus(
        revision=3, preset="acoustic-hs", delay_ms=633.0, jitter_ms=50.0, loss=0.03,
        down_bps=31200.0, up_bps=31200.0, duplex="half", mtu_bytes=1024,
        overhead_bytes=0, cut=False, totals={"down.delivered": 4}, turnaround_ms=1.0,
        start_ns=123,
        records=(
            PacketRecord(Direction.UP, 0x41, 8, Fate.LOST_BURST, 5, 6),
            PacketRecord(Direction.DOWN, 0x20, 25, Fate.DELIVERED, 1, 2, 3, 4),
        ),
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.integers(-1, 2**63 - 1),
    st.sampled_from(["", "tether", "./own.toml", "sünd"]),
    st.tuples(*[st.floats(-1.0, 1.0)] * 5),
    st.booleans(),
    st.floats(0.0, 1e6),
)
def test_settings_survive_the_wire(revision, preset, overrides, cut, outage_s):
    wish = EmulatorSettings(revision, preset, LinkOverrides(*overrides), cut, outage_s)
    assert decode_settings(encode_settings(wish)) == wish


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.builds(
            PacketRecord,
            st.sampled_from(Direction),
            st.integers(0, 255),
            st.integers(0, 65535),
            st.sampled_from(Fate),
            _TIMES, _TIMES, _TIMES, _TIMES,
        )
    ),
    st.tuples(_FLOATS, _FLOATS),
)  # fmt: skip
def test_a_status_survives_the_wire(records, lateness_us):
    from dataclasses import replace

    status = replace(a_status(), records=tuple(records), lateness_us=lateness_us)
    assert decode_status(encode_status(status)) == status


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"overrides": {"delay_ms": float("nan")}}, "delay_ms = nan"),
        ({"overrides": {"delay_ms": float("inf")}}, "delay_ms = inf"),
        ({"overrides": {"bandwidth_bps": 10**400}}, "bandwidth_bps = 1000"),
        ({"overrides": {"distance_m": 1e6}}, "distance_m"),
        ({"overrides": {"loss": True}}, "loss is no number"),
        ({"overrides": []}, "overrides is no table"),
        ({"overrides": {"colour": 1}}, "colour"),
        ({"revision": 1.5}, "revision"),
        ({"revision": 2**70}, "revision"),
        ({"preset": "a\0b"}, "neither a name nor a path"),
        ({"preset": "\ud800"}, "neither a name nor a path"),
        ({"preset": "~nobody/x.toml"}, "neither a name nor a path"),
        ({"preset": "x" * 300}, "255 bytes"),
        ({"preset": 3}, "preset is no text"),
        ({"cut": 1}, "cut"),
        ({"outage_s": -1.0}, "outage_s"),
        ({"outage_s": 1e300}, "outage_s"),
    ],
)
def test_what_no_link_can_be_is_refused(changes, told):
    table = json.loads(encode_settings(EmulatorSettings(1))) | changes
    packet = json.dumps(table).encode()
    with pytest.raises(FrameError, match=told):
        decode_settings(packet)
    emulator = Emulator(load_link("tether"), 1, 0)
    emulator.settle(0, packet)
    status = emulator.status(1)
    assert (status.preset, status.delay_ms, status.revision) == ("tether", 3.0, -1)
    assert told.split(" = ", maxsplit=1)[0] in status.error


def test_a_file_that_may_not_be_looked_at_is_reported(monkeypatch):
    from app.link import emulator as module

    def refuse(_):
        raise PermissionError("not yours")

    monkeypatch.setattr(module, "load_link", refuse)
    emulator = Emulator(load_link("tether"), 1, 0)
    emulator.settle(0, encode_settings(EmulatorSettings(1, "/root/x.toml")))
    assert "not yours" in emulator.status(1).error


def test_deep_nesting_and_long_packets_are_refused():
    for packet in (b"[" * 100_000, b'{"a":' * 100_000, b" " * (1 << 21)):
        with pytest.raises(FrameError):
            decode_settings(packet)
        with pytest.raises(FrameError):
            decode_status(packet)


_ODD = (
    None, True, -1, 0, 2**64, 10**400, 1e308, float("nan"), float("inf"), "", "tether",
    "/", "..", "~x", "\ud800", "a/\0", [], {}, [[[]]], {"delay_ms": []}, "delivered",
)  # fmt: skip


def _mutated(rng: random.Random, packet: bytes) -> bytes:
    """Change bytes, or a value somewhere in the table."""
    if rng.random() < 0.5:
        body = bytearray(packet)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(body) + 1)
            action = rng.randrange(4)
            if action == 0:
                body[place:place] = rng.randbytes(rng.randint(1, 3))
            elif action == 1:
                del body[place : place + rng.randint(1, 8)]
            elif action == 2:
                body[place : place + 1] = bytes([rng.choice(b'0123456789-.eE"{}[],:')])
            else:
                body[place : place + 1] = rng.randbytes(1)
            if not body:
                break
        return bytes(body)
    table = json.loads(packet)
    inside = table
    while rng.random() < 0.5:
        below = [v for v in _values(inside) if isinstance(v, dict | list) and v]
        if not below:
            break
        inside = rng.choice(below)
    key = rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
    if rng.random() < 0.2:
        del inside[key]
    else:
        inside[key] = rng.choice(_ODD)
    return json.dumps(table).encode()


def _values(table):
    return list(table.values()) if isinstance(table, dict) else list(table)


def fuzz_emulator_protocol(count: int, seed: int) -> None:
    """Throw mutated and random packets at the parsers and at an emulator.

    Args:
        count: of packets of either sort.
        seed: of what they are.

    Raises:
        AssertionError: an emulator is in a state that no link can be in.
        Exception: whatever else escapes is a defect.
    """
    rng = random.Random(seed)
    wish = EmulatorSettings(1, "tether", LinkOverrides(delay_ms=9.0), outage_s=0.1)
    valid = [encode_settings(wish), encode_status(a_status())]
    emulator = Emulator(load_link("tether"), seed, 0)
    for k in range(count):
        for packet in (
            _mutated(rng, rng.choice(valid)),
            rng.randbytes(rng.randrange(64)),
        ):
            for decode in (decode_settings, decode_status):
                try:
                    decode(packet)
                except FrameError:
                    continue
            if k % 16 == 0:
                _live(emulator, k, packet)


def _live(emulator: Emulator, now_ms: int, packet: bytes) -> None:
    now_ns = now_ms * 1_000_000
    emulator.settle(now_ns, packet)
    emulator.submit(now_ns, Direction(now_ms // 16 % 2), packet[:8])
    emulator.channel.advance(now_ns)
    status = emulator.status(now_ns)
    assert decode_status(encode_status(status)) == status
    assert 0.0 <= status.delay_ms <= 600_000.0
    assert min(status.down_bps, status.up_bps) >= 1.0


def test_nothing_escapes_the_parsers():
    fuzz_emulator_protocol(1500, 1)
