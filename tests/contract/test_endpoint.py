"""What every endpoint promises, over every kind of address."""

import contextlib
import socket
import stat
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace

import pytest
import zmq

from app.errors import LinkError
from app.link.endpoint import Endpoint, Waiter, load_keys, make_keys
from app.link.peers import PeerTable

DEADLINE_S = 20.0


@pytest.fixture
def keys(tmp_path):
    """Folders of a server, of its listed client, and of a stranger."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    make_keys(ours, "server")
    make_keys(ours, "client")
    make_keys(theirs, "stranger")
    (theirs / "server.key").write_bytes((ours / "server.key").read_bytes())
    return {
        "server": load_keys(ours, "server", "server"),
        "client": load_keys(ours, "client", "server"),
        "stranger": load_keys(theirs, "stranger", "server"),
    }


@pytest.fixture(params=["ipc", "tcp", "curve"])
def pair(request, tmp_path):
    """A connected pair: the end that binds, and the end that connects."""
    server = client = None
    address = f"ipc://{tmp_path}/s" if request.param == "ipc" else "tcp://127.0.0.1:*"
    if request.param == "curve":
        found = request.getfixturevalue("keys")
        server, client = found["server"], found["client"]
    with (
        Endpoint(address, "bind", server) as bound,
        Endpoint(bound.address, "connect", client) as connected,
    ):
        carry(connected, bound, b"hello")
        yield bound, connected


def carry(sender, receiver, packet):
    """Send until it arrives; a peer that is not there yet takes nothing."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        if sender.send(packet):
            received = receiver.receive(1000 * DEADLINE_S)
            assert [body for _, body in received] == [packet]
            return received[0][0]
        receiver.receive(5)
    raise AssertionError("no peer")


class TestEndpoint:
    def test_both_ways_in_order_and_whole(self, pair):
        bound, connected = pair
        for sender, receiver in ((bound, connected), (connected, bound)):
            packets = [bytes([k]) * (k + 1) for k in range(50)]
            assert all(sender.send(packet) for packet in packets)
            received = []
            while len(received) < len(packets):
                batch = receiver.receive(1000 * DEADLINE_S)
                assert batch, "lost"
                received += [packet for _, packet in batch]
            assert received == packets

    def test_reception_is_stamped_on_the_monotonic_clock(self, pair):
        bound, connected = pair
        before = time.monotonic_ns()
        stamp = carry(connected, bound, b"x")
        assert before <= stamp <= time.monotonic_ns()

    def test_receive_does_not_wait_when_told_not_to(self, pair):
        bound, _ = pair
        assert bound.receive() == []
        assert bound.receive(1) == []

    def test_send_never_blocks_and_the_queue_is_short(self, pair):
        bound, connected = pair
        taken = 0
        while connected.send(bytes(20_000)) and taken < 20_000:
            taken += 1
        assert taken < 20_000  # nobody reads: it refuses, and did not block
        assert len(bound.receive(1000)) <= 256

    def test_waiter_sees_a_packet(self, pair):
        bound, connected = pair
        assert connected.send(b"x")
        Waiter([bound]).wait(1000 * int(DEADLINE_S))
        assert [packet for _, packet in bound.receive()] == [b"x"]

    def test_close_is_idempotent_and_leaves_no_thread(self, pair):
        for endpoint in pair:
            endpoint.close()
            endpoint.close()
        assert [
            t.name for t in threading.enumerate() if t is not threading.main_thread()
        ] == []


class TestSeveralPeers:
    """The end that binds: one station drives, others watch."""

    def test_each_is_heard_by_its_number_and_all_hear(self, tmp_path):
        with ExitStack() as stack:
            bound = stack.enter_context(Endpoint(f"ipc://{tmp_path}/s", "bind"))
            ends = [
                stack.enter_context(Endpoint(bound.address, "connect"))
                for _ in range(3)
            ]
            numbers = [introduce(end, bound) for end in ends]
            assert sorted(numbers) == [1, 2, 3]
            assert set(bound.peers) == {1, 2, 3}
            assert bound.send(b"to all")
            for end in ends:
                assert [body for _, body in end.receive(1000 * DEADLINE_S)] == [
                    b"to all"
                ]
            assert [introduce(end, bound) for end in ends] == numbers

    def test_one_that_only_listens_is_served(self, tmp_path):
        with (
            Endpoint(f"ipc://{tmp_path}/s", "bind") as bound,
            Endpoint(bound.address, "connect") as watcher,
        ):
            until(lambda: bound.peers, bound, watcher)
            assert bound.send(b"telemetry")
            received = watcher.receive(1000 * DEADLINE_S)
            assert [body for _, body in received] == [b"telemetry"]

    def test_one_that_left_is_forgotten_and_another_is_served_on(self, tmp_path):
        with (
            Endpoint(f"ipc://{tmp_path}/s", "bind") as bound,
            Endpoint(bound.address, "connect") as stays,
        ):
            number = introduce(stays, bound)
            with Endpoint(bound.address, "connect") as leaves:
                introduce(leaves, bound)
            until(lambda: bound.send(b"x") and bound.peers == (number,), bound, stays)

    def test_one_that_does_not_read_holds_up_nobody(self, tmp_path):
        with (
            Endpoint(f"ipc://{tmp_path}/s", "bind") as bound,
            Endpoint(bound.address, "connect") as reads,
            Endpoint(bound.address, "connect") as frozen,
        ):
            introduce(frozen, bound)
            introduce(reads, bound)
            for k in range(500):
                assert bound.send(k.to_bytes(2, "big") + bytes(10_000))
                received = reads.receive(1000 * DEADLINE_S)
                assert [int.from_bytes(body[:2], "big") for _, body in received] == [k]

    def test_a_flood_starves_nobody_and_is_told(self, tmp_path):
        with (
            Endpoint(f"ipc://{tmp_path}/s", "bind") as bound,
            Endpoint(bound.address, "connect") as floods,
            Endpoint(bound.address, "connect") as speaks,
        ):
            quiet = introduce(speaks, bound)
            loud = introduce(floods, bound)
            heard, most = 0, 0
            end = time.monotonic() + DEADLINE_S
            while (heard < 20 or most < 64) and time.monotonic() < end:
                sent = 0
                while sent < 200 and time.monotonic() < end:
                    sent += floods.send(bytes(100))
                speaks.send(b"command")
                for _ in range(20):  # two rounds through the sockets' own threads
                    batch = bound.receive_from(5)
                    count = Counter(received.peer for received in batch)
                    heard += count[quiet]
                    most = max(most, count[loud])
                    assert count[loud] <= 64
                    if count[quiet]:
                        break
                else:
                    raise AssertionError("starved")
            assert heard >= 20
            told = [event.text for event in bound.events()]
            assert any("sends more than can be taken" in text for text in told)

    def test_the_newest_of_a_flood_is_kept(self, tmp_path):
        with (
            Endpoint(f"ipc://{tmp_path}/s", "bind") as bound,
            Endpoint(bound.address, "connect") as floods,
        ):
            introduce(floods, bound)
            sent = 0
            while sent < 100:  # more than it hands on, less than the queues hold
                sent += floods.send(sent.to_bytes(2, "big"))
            received = []
            while not received or received[-1] != sent - 1:
                batch = bound.receive(1000 * DEADLINE_S)
                assert batch, "the newest is lost"
                received += [int.from_bytes(body, "big") for _, body in batch]
            assert received == sorted(set(received))

    def test_a_connection_that_broke_keeps_its_number(self, tmp_path):
        address = f"ipc://{tmp_path}/s"
        table = PeerTable()
        first = table.heard(b"a", b"key")
        table.lost(b"a")
        assert table.connected() == []
        assert table.heard(b"a", b"key") == first
        assert table.heard(b"a", b"other key") == first + 1  # nobody takes it over
        assert table.connected() == [(b"a", b"other key", first + 1)]
        with Endpoint(address, "connect") as station:
            for _ in range(2):
                with Endpoint(address, "bind") as robot:
                    until(lambda: robot.peers, robot, station)
                    assert introduce(station, robot) == 1

    def test_what_is_remembered_of_peers_is_bounded(self):
        table = PeerTable()
        holder = table.heard(b"holder", b"")
        for k in range(1000):
            table.heard(k.to_bytes(2, "big"), b"")
            assert table.heard(b"holder", b"") == holder
        assert len(table.connected()) == 32
        pilot = table.heard(b"pilot", b"good key")
        for k in range(1000):
            table.heard(k.to_bytes(3, "big"), b"one bad key")
        assert (b"pilot", b"good key", pilot) in table.connected()

    def test_raw_sockets_of_every_kind_do_no_harm(self, tmp_path):
        with (
            Endpoint(f"ipc://{tmp_path}/s", "bind") as bound,
            Endpoint(bound.address, "connect") as client,
            zmq.Context() as context,
        ):
            introduce(client, bound)
            for kind in (zmq.DEALER, zmq.REQ, zmq.ROUTER, zmq.PUSH, zmq.SUB):
                with context.socket(kind) as raw:
                    raw.setsockopt(zmq.LINGER, 0)
                    raw.connect(bound.address)
                    for parts in ([b"a", b"b"], [b""] * 5, [bytes(70_000)]):
                        with contextlib.suppress(zmq.ZMQError):
                            raw.send_multipart(parts, zmq.DONTWAIT)
                    carry(client, bound, b"still served")
            with context.socket(zmq.DEALER) as raw:
                raw.setsockopt(zmq.LINGER, 0)
                raw.connect(bound.address)
                raw.send_multipart([b"a", b"b"])
                until(lambda: "2 parts" in texts(bound), bound, client)


def texts(endpoint):
    return " ".join(event.text for event in endpoint.events())


def until(done, *endpoints):
    end = time.monotonic() + DEADLINE_S
    while not done():
        assert time.monotonic() < end
        for endpoint in endpoints:
            endpoint.receive(2)


def introduce(sender, receiver):
    """Send until it arrives; return the number that it has there."""
    end = time.monotonic() + DEADLINE_S
    while not sender.send(b"here"):
        assert time.monotonic() < end
        sender.receive(2)
    received = receiver.receive_from(1000 * DEADLINE_S)
    assert [packet for _, packet, _ in received] == [b"here"]
    return received[0].peer


def test_no_peer_takes_nothing(tmp_path):
    with Endpoint(f"ipc://{tmp_path}/none", "connect") as alone:
        assert not alone.send(b"x")


def test_peer_that_returns_hears_only_what_is_new(tmp_path):
    address = f"ipc://{tmp_path}/s"
    with Endpoint(address, "connect") as station:
        with Endpoint(address, "bind") as robot:
            carry(station, robot, b"first")
        end = time.monotonic() + DEADLINE_S
        while station.send(b"stale") and time.monotonic() < end:
            station.receive(5)
        assert not station.send(b"stale")
        with Endpoint(address, "bind") as robot:
            carry(station, robot, b"new")
            carry(robot, station, b"answer")


@pytest.mark.parametrize("kind", ["ipc", "tcp"])
def test_busy_address_names_the_cure(kind, tmp_path):
    address = f"ipc://{tmp_path}/s" if kind == "ipc" else "tcp://127.0.0.1:*"
    with (
        Endpoint(address, "bind") as first,
        pytest.raises(LinkError, match=r"in use.*End that process"),
    ):
        Endpoint(first.address, "bind")


def test_socket_file_left_by_a_crash_is_taken_over(tmp_path):
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with (
        Endpoint(f"ipc://{path}", "bind") as bound,
        Endpoint(f"ipc://{path}", "connect") as connected,
    ):
        carry(connected, bound, b"x")


@pytest.mark.parametrize(
    "address",
    ["", "udp://1.2.3.4:5", "tcp://host", "tcp://host:99999", "tcp://:5", "ipc://"],
)
def test_bad_address_says_what_to_write(address):
    with pytest.raises(LinkError, match=r"Write tcp://HOST:PORT|1 to 107 bytes"):
        Endpoint(address, "connect")


def test_missing_folder_is_told(tmp_path):
    with pytest.raises(LinkError, match="cannot be opened"):
        Endpoint(f"ipc://{tmp_path}/missing/s", "bind")


@pytest.mark.parametrize("address", ["tcp://0.0.0.0:5601", "tcp://robot.local:5601"])
@pytest.mark.parametrize("role", ["bind", "connect"])
def test_an_address_beyond_this_host_needs_keys(address, role):
    with pytest.raises(LinkError, match="keys are needed"):
        Endpoint(address, role)


def test_unknown_key_is_refused_while_a_known_one_passes(keys):
    with (
        Endpoint("tcp://127.0.0.1:*", "bind", keys["server"]) as bound,
        Endpoint(bound.address, "connect", keys["stranger"]) as stranger,
        Endpoint(bound.address, "connect") as bare,
        Endpoint(bound.address, "connect", keys["client"]) as client,
    ):
        for _ in range(5):
            carry(client, bound, b"known")
            assert not stranger.send(b"unknown")
            assert not bare.send(b"no key at all")
        stranger_key = keys["stranger"].public.decode()
        told = []

        def told_of_both():
            told.append(texts(bound))
            said = " ".join(told)
            # ZeroMQ tells the one or the other, by how far the handshake came
            bare_told = "without keys was refused" in said or "language" in said
            return bare_told and f"the key {stranger_key} is not trusted" in said

        until(told_of_both, bound, stranger, bare)
        until(lambda: "refuses this end's key" in texts(stranger), stranger)
        until(lambda: "one end has keys" in texts(bare), bare)
        assert bound.key_name(bound.peers[0]) == "client"


def test_keys_whose_halves_do_not_fit_are_refused(keys):
    mixed = replace(keys["client"], secret=keys["stranger"].secret)
    with pytest.raises(LinkError, match="do not belong together"):
        Endpoint("tcp://127.0.0.1:5", "connect", mixed)


def test_keys_are_private_and_never_overwritten(tmp_path):
    public = make_keys(tmp_path / "k", "server")
    secret = public.with_suffix(".key_secret")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    with pytest.raises(LinkError, match="already"):
        make_keys(tmp_path / "k", "server")
    with pytest.raises(LinkError, match="cannot be used"):
        load_keys(tmp_path / "k", "client", "server")
    secret.write_text("nonsense")
    with pytest.raises(LinkError):
        load_keys(tmp_path / "k", "server", "server")
