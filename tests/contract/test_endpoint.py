"""What every endpoint promises, over every kind of address."""

import socket
import stat
import threading
import time

import pytest

from app.errors import LinkError
from app.link.endpoint import Endpoint, Waiter, load_keys, make_keys

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
