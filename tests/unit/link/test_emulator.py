"""The emulator: settings and statistics, and the process's loop over real sockets."""

import threading
import time

import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.errors import FrameError, LinkError
from app.link import emulator as module
from app.link.channel import Channel, ChannelSettings, Direction, Fate, LinkOverrides
from app.link.emulator import Emulator, run_emulator
from app.link.emulator_protocol import (
    EmulatorSettings,
    decode_settings,
    decode_status,
    encode_settings,
    encode_status,
)
from app.link.endpoint import Endpoint

DEADLINE_S = 20.0


def test_settings_and_status_survive_the_wire():
    settings = EmulatorSettings(3, "tether", LinkOverrides(delay_ms=7.5), cut=True)
    assert decode_settings(encode_settings(settings)) == settings
    emulator = Emulator(load_link("optical-turbid"), 1, 0)
    for k in range(300):
        emulator.submit(k * NS_PER_MS, Direction(k % 2), bytes([0x20 + k % 3]) * 90)
        for delivery in emulator.channel.advance(k * NS_PER_MS):
            emulator.note_delivered(k * NS_PER_MS - delivery.due_ns)
    status = emulator.status(NS_PER_S)
    assert decode_status(encode_status(status)) == status
    assert len(status.records) > 200
    assert status.preset == "optical-turbid"
    assert 0 < status.down_load_bps + status.up_load_bps <= 600e3
    assert sum(status.totals.values()) == len(status.records)
    assert 0 < status.lateness_us[0] <= status.lateness_us[1] <= 1010
    assert emulator.status(2 * NS_PER_S).records == ()


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"revision":1,"preset":"","overrides":{"x":1},"cut":0}',
    ],
)
def test_nonsense_is_refused(packet):
    with pytest.raises(FrameError):
        decode_settings(packet)
    with pytest.raises(FrameError):
        decode_status(packet)
    emulator = Emulator(load_link("tether"), 1, 0)
    emulator.settle(0, packet)
    status = emulator.status(1)
    assert status.error
    assert (status.preset, status.revision) == ("tether", -1)


def test_settings_take_hold_and_a_wrong_preset_does_not():
    emulator = Emulator(load_link("tether"), 1, 0)
    wish = EmulatorSettings(1, "acoustic-hs", LinkOverrides(delay_ms=20.0), cut=True)
    emulator.settle(0, encode_settings(wish))
    status = emulator.status(1)
    assert (status.preset, status.delay_ms, status.cut) == ("acoustic-hs", 20.0, True)
    assert (status.revision, status.down_bps, status.duplex) == (1, 31200.0, "half")
    emulator.settle(2, encode_settings(EmulatorSettings(2, "carrier-pigeon")))
    status = emulator.status(3)
    assert "carrier-pigeon" in status.error
    assert "acoustic-hs" in status.error  # what can be had
    assert (status.preset, status.cut, status.revision) == ("acoustic-hs", True, 1)
    emulator.settle(4, encode_settings(EmulatorSettings(3)))
    status = emulator.status(5)
    assert (status.delay_ms, status.cut, status.error) == (633.0, False, "")


def test_an_outage_on_demand_runs_once_a_revision():
    emulator = Emulator(load_link("tether"), 1, 0)
    packet = encode_settings(EmulatorSettings(1, outage_s=2.0))
    emulator.settle(0, packet)
    assert emulator.status(1).cut
    emulator.settle(NS_PER_S, packet)  # asked again, as the answer was lost
    emulator.channel.advance(2 * NS_PER_S)
    assert not emulator.status(2 * NS_PER_S).cut
    emulator.settle(3 * NS_PER_S, encode_settings(EmulatorSettings(2, outage_s=9.0)))
    assert emulator.status(3 * NS_PER_S).cut
    emulator.settle(4 * NS_PER_S, encode_settings(EmulatorSettings(3)))
    assert not emulator.status(4 * NS_PER_S).cut


def test_the_same_preset_again_keeps_what_was_added_to_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("time_s,delay_ms\n0,10\n5,90\n")
    link = load_link("tether").with_trace(path, "hold")
    emulator = Emulator(link, 1, 0)
    wish = EmulatorSettings(1, "tether", LinkOverrides(loss=0.5))
    emulator.settle(4 * NS_PER_S, encode_settings(wish))
    emulator.channel.advance(6 * NS_PER_S)
    assert emulator.status(6 * NS_PER_S).delay_ms == 90.0
    for preset, delay_ms in (("ideal", 0.0), ("tether", 3.0)):
        emulator.settle(7 * NS_PER_S, encode_settings(EmulatorSettings(2, preset)))
        assert emulator.status(7 * NS_PER_S).delay_ms == delay_ms


def test_the_scene_may_tell_the_distance():
    emulator = Emulator(load_link("acoustic-hs"), 1, 0)
    wish = EmulatorSettings(1, overrides=LinkOverrides(distance_m=75.0))
    emulator.settle(0, encode_settings(wish))
    assert emulator.status(1).delay_ms == pytest.approx(350.0)


@pytest.fixture
def running(tmp_path, monkeypatch):
    """The process's main function in a thread, at ordinary priority."""
    monkeypatch.setattr(module, "prefer_real_time", lambda _: False)
    monkeypatch.setattr(module.gc, "freeze", lambda: None)
    addresses = [f"ipc://{tmp_path}/{name}" for name in ("station", "robot", "control")]
    stop = threading.Event()
    thread = threading.Thread(
        target=run_emulator, args=(*addresses, load_link("ideal"), 5, stop.is_set)
    )
    thread.start()
    try:
        with (
            Endpoint(addresses[0], "connect") as station,
            Endpoint(addresses[1], "connect") as robot,
            Endpoint(addresses[2], "connect") as control,
        ):
            yield station, robot, control, addresses
    finally:
        stop.set()
        thread.join(DEADLINE_S)
        assert not thread.is_alive()
    assert list(tmp_path.iterdir()) == []  # no socket file is left


def carry(sender, receiver, packet):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        sender.send(packet)
        received = [body for _, body in receiver.receive(50)]
        if received:
            assert set(received) == {packet}
            return
    raise AssertionError("nothing came")


def statuses(control, until):
    """All statuses up to the first that satisfies `until`."""
    found = []
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        for _, packet in control.receive(200):
            found.append(decode_status(packet))
            if until(found[-1]):
                return found
    raise AssertionError(f"not seen; last: {found[-1:]}")


def test_process_carries_both_ways_and_obeys(running):
    station, robot, control, addresses = running
    carry(station, robot, b"\x20 down")
    carry(robot, station, b"\x20 up")
    fates = [
        record.fate
        for status in statuses(control, lambda s: s.totals.get("up.delivered", 0) > 0)
        for record in status.records
    ]
    assert Fate.DELIVERED in fates
    assert control.send(encode_settings(EmulatorSettings(7, "acoustic-m64", cut=True)))
    last = statuses(control, lambda s: s.revision == 7)[-1]
    assert (last.preset, last.cut, last.mtu_bytes) == ("acoustic-m64", True, 8)
    assert station.send(b"\x20 lost")
    statuses(control, lambda s: s.totals.get("down.cut", 0) > 0)
    # what was sent twice, because it was slow to come, may come twice
    assert b"\x20 lost" not in {payload for _, payload in robot.receive()}
    with pytest.raises(LinkError, match="in use"):
        run_emulator(*addresses, load_link("ideal"), 1, lambda: True)


def test_live_and_virtual_time_give_the_same_records(running):
    """What a live emulator did, a channel fed with its times does again."""
    station, robot, control, _ = running
    carry(station, robot, b"\x20 down")
    carry(robot, station, b"\x20 up")
    statuses(control, lambda s: True)  # it is there to hear what follows
    wish = LinkOverrides(loss=0.2, jitter_ms=3.0, bandwidth_bps=2e6, delay_ms=4.0)
    assert control.send(encode_settings(EmulatorSettings(1, overrides=wish, cut=True)))
    statuses(control, lambda s: s.revision == 1)  # the rest is from a quiet link
    assert control.send(encode_settings(EmulatorSettings(2, overrides=wish)))
    statuses(control, lambda s: s.revision == 2)
    for k in range(150):
        station.send(bytes([0x20 + k % 3]) * 40)
        robot.send(bytes([0x20 + k % 5]) * 90)
        station.receive(1)
        robot.receive()
    told = statuses(
        control,
        lambda s: sum(s.totals.values()) >= 302 and not s.records,
    )
    assert not any(status.records_lost for status in told)
    live = [record for status in told for record in status.records]
    live.sort(key=lambda record: record.submitted_ns)
    settings = ChannelSettings.of(load_link("ideal"), wish)
    virtual = Channel(settings, 5, told[-1].start_ns)
    for record in live:
        virtual.submit(
            record.submitted_ns, record.direction, record.key, bytes(record.size_bytes)
        )
    virtual.advance(live[-1].submitted_ns + 60 * NS_PER_S)
    again = sorted(virtual.take_records(), key=lambda record: record.submitted_ns)
    assert len(live) >= 300
    assert {record.fate for record in live} >= {Fate.DELIVERED, Fate.LOST_RESIDUAL}
    assert [record._replace(delivered_ns=0) for record in live] == [
        record._replace(delivered_ns=0) for record in again
    ]
