"""A robot among strangers: real sockets, real keys, and clients that mean it ill."""

from contextlib import ExitStack
from pathlib import Path

import pytest
import zmq

from app.link.endpoint import load_keys
from app.link.keys import revoke
from app.messages import Event, RobotState, StationMode
from tests.system.keyed_rig import (
    ARMED,
    DISARMED,
    ESTOP,
    Station,
    World,
    make_world,
    wait_for,
)

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def raw_client(
    context: "zmq.Context[zmq.Socket[bytes]]",
    address: str,
    kind: int,
    keys: tuple[bytes, bytes, bytes] | None,
) -> "zmq.Socket[bytes]":
    """A third party's socket, with (its public, its secret, the robot's public) key."""
    client = context.socket(kind)
    client.setsockopt(zmq.LINGER, 0)
    if keys is not None:
        client.setsockopt(zmq.CURVE_PUBLICKEY, keys[0])
        client.setsockopt(zmq.CURVE_SECRETKEY, keys[1])
        client.setsockopt(zmq.CURVE_SERVERKEY, keys[2])
    client.connect(address)
    return client


def attack(world: World, keys: tuple[bytes, bytes, bytes] | None, *said: str) -> None:
    """Strangers send perfect frames for this very session; the pilot looks on."""
    with ExitStack() as stack:
        stack.enter_context(world.robot())
        pilot = stack.enter_context(world.station("pilot"))
        pilot.join()
        context = stack.enter_context(zmq.Context())
        clients = [
            raw_client(context, world.address, kind, keys)
            for kind in (zmq.DEALER, zmq.PUSH, zmq.ROUTER, zmq.REQ)
        ]
        for client in clients:
            stack.callback(client.close, 0)
        forger = Station(pilot.endpoint, pilot.codec, sequence=10_000)

        def strike() -> None:
            for client in clients:
                for packet in (forger.frame(ARMED, 9), b"", b"\0" * 64):
                    try:
                        client.send(packet, zmq.DONTWAIT)
                    except zmq.ZMQError:
                        continue

        states = pilot.watch(strike, 100)
        wait_for(
            "the refusal is told", lambda: any(map(world.said, said)), pilot.listen
        )
        states |= pilot.watch(strike)
        assert states == {RobotState.IDLE}
        assert all(client.poll(0) == 0 for client in clients[:1])  # hears nothing
        pilot.drive(1)  # and nobody is the worse for it


def told(world: World, said: str, listener: Station) -> None:
    """Wait until the robot's log says it; it sums up what it dropped each second."""
    wait_for("the log tells it", lambda: world.said(said), listener.listen)


class TestStrangers:
    def test_no_key(self, world: World) -> None:
        # ZeroMQ tells one or the other, as the handshake goes
        attack(
            world,
            None,
            "without keys was refused. Give it --keys",
            "with keys on both sides or on neither",
        )

    def test_wrong_key(self, world: World) -> None:
        keys = load_keys(world.keys("stranger"), "station", "robot")
        attack(
            world,
            (keys.public, keys.secret, keys.server),
            f"the key {keys.public.decode()} is not trusted",
        )

    def test_wrong_server_key(self, world: World) -> None:
        keys = load_keys(world.keys("pilot"), "station", "robot")
        other, _ = zmq.curve_keypair()
        attack(world, (keys.public, keys.secret, other), "could not be proved")

    def test_stolen_public_keys(self, world: World) -> None:
        """It has the robot's and a station's public key, but no station's secret."""
        keys = load_keys(world.keys("pilot"), "station", "robot")
        _, secret = zmq.curve_keypair()
        attack(world, (keys.public, secret, keys.server), "could not be proved")

    def test_a_refused_station_is_told_why(self, world: World) -> None:
        with world.robot(), world.station("stranger") as stranger:
            events: list[Event] = []

            def look() -> None:
                stranger.listen()
                events.extend(stranger.endpoint.events())

            wait_for("the reason", lambda: bool(events), look)
            assert "refuses this end's key" in events[0].text
            assert stranger.heard == []


class TestReplay:
    def test_frames_of_the_robots_earlier_life_move_nothing(self, world: World) -> None:
        with world.robot(), world.station("pilot") as pilot:
            pilot.join()
            pilot.drive(1)
            pilot.watch(lambda: pilot.send(ARMED, 1))
            recorded = pilot.sent
        world.events.clear()
        with (
            world.robot(),
            world.station("pilot") as thief,
            world.station("watcher") as watcher,
        ):
            watcher.join()
            left = list(recorded)

            def replay() -> None:
                watcher.send(DISARMED, 0)
                for packet in left[:10]:
                    if thief.endpoint.send(packet):
                        left.remove(packet)

            states: set[RobotState] = set()
            while left:
                states |= watcher.watch(replay, 5)
            states |= watcher.watch(lambda: watcher.send(DISARMED, 0))
            assert states == {RobotState.IDLE}
            # not even read: they are bound to a session that has ended
            assert world.said("malformed, damaged, or not for this robot")

    def test_frames_of_an_arming_that_ended_move_nothing(self, world: World) -> None:
        with world.robot(), world.station("pilot") as pilot:
            pilot.join()
            pilot.drive(1)
            pilot.until(
                lambda frame: frame.state == RobotState.IDLE,
                lambda: pilot.send(DISARMED, 1),
            )
            recorded = list(pilot.sent)

            def replay() -> None:
                for packet in recorded:
                    pilot.endpoint.send(packet)

            assert pilot.watch(replay) == {RobotState.IDLE}
            told(world, "a repeat, or older", pilot)
            pilot.drive(2)

    def test_a_lower_sequence_number_moves_nothing(self, world: World) -> None:
        with world.robot(), world.station("pilot") as pilot:
            pilot.join()
            pilot.drive(1)
            old = [pilot.frame(ARMED, 1) for _ in range(20)]
            pilot.watch(lambda: pilot.send(ARMED, 1), 5)

            def repeat() -> None:
                for packet in old:
                    pilot.endpoint.send(packet)

            pilot.until(lambda frame: frame.state == RobotState.HOLD, repeat)
            told(world, "a repeat, or older", pilot)


class TestConnections:
    def test_a_connection_arms_nothing_and_a_thawed_station_neither(
        self, world: World
    ) -> None:
        """As after SIGSTOP and SIGCONT: what it was about to send comes late."""
        with world.robot(), world.station("watcher") as watcher:
            watcher.join()
            with world.station("pilot") as pilot:
                pilot.join()
                pilot.drive(1)
                frozen = [pilot.frame(ARMED, 1) for _ in range(50)]
                watcher.until(lambda frame: frame.state == RobotState.COMPLIANT)
            with world.station("pilot") as again:  # its connection broke meanwhile
                again.listen()
                assert watcher.watch(again.listen) == {RobotState.COMPLIANT}

                def thaw() -> None:
                    for packet in frozen:
                        again.endpoint.send(packet)

                assert watcher.watch(thaw) == {RobotState.COMPLIANT}
                # fresh frames, with newer times and numbers, of the arming that ended
                again.codec, again.sequence = pilot.codec, pilot.sequence
                states = watcher.watch(lambda: again.send(ARMED, 1))
                assert states == {RobotState.COMPLIANT}
                told(world, "of an arming that is not followed", again)
                again.drive(2)  # a new deliberate arming

    def test_a_key_that_is_revoked_is_cut_off_at_once(self, world: World) -> None:
        with world.robot(), world.station("watcher") as watcher:
            watcher.join()
            with world.station("pilot") as pilot:
                pilot.join()
                pilot.drive(1)
                revoke(world.keys("robot"), "pilot")
                watcher.until(
                    lambda frame: frame.state == RobotState.COMPLIANT,
                    lambda: pilot.send(ARMED, 1),
                )
                while pilot.endpoint.receive():
                    pass
                states = watcher.watch(lambda: pilot.send(ARMED, 2))
                assert states == {RobotState.COMPLIANT}
                assert pilot.endpoint.receive() == []  # nothing is told it either
                assert world.said("the key 'pilot' was revoked")
            with world.station("pilot") as again:
                states = watcher.watch(lambda: again.endpoint.send(b"x"))
                assert again.heard == []
            watcher.drive(3)


class TestSecondController:
    def test_one_drives_others_watch_and_a_hand_over_is_explicit(
        self, world: World
    ) -> None:
        with (
            world.robot(),
            world.station("pilot") as pilot,
            world.station("watcher") as watcher,
        ):
            pilot.join()
            watcher.join()
            pilot.drive(1)
            for mode, epoch in ((ARMED, 2), (DISARMED, 0), (DISARMED, 1), (ARMED, 1)):

                def both(mode: StationMode = mode, epoch: int = epoch) -> None:
                    pilot.send(ARMED, 1)
                    watcher.send(mode, epoch)

                before = len(pilot.heard)
                assert watcher.watch(both) == {RobotState.ACTIVE}
                pilot.listen()
                assert {frame.epoch for frame in pilot.heard[before:]} == {1}
            assert world.said("'pilot' is in control")
            assert world.said("'watcher' wants to drive")
            pilot.until(
                lambda frame: frame.state == RobotState.HOLD,
                lambda: pilot.send(DISARMED, 1),
            )
            watcher.drive(3)

    def test_anyone_may_stop(self, world: World) -> None:
        with (
            world.robot(),
            world.station("pilot") as pilot,
            world.station("watcher") as watcher,
        ):
            pilot.join()
            watcher.join()
            pilot.drive(1)
            watcher.until(
                lambda frame: frame.state == RobotState.ESTOP,
                lambda: watcher.send(ESTOP, 0),
            )
