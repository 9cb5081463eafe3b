import numpy as np
import pytest

from app.drivers.servo_bus import Answer, ServoBus
from app.drivers.virtual.base import VirtualActuators, VirtualDevice
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.servo_packets import PacketReader, status
from app.errors import DeviceError


class Scripted(VirtualDevice):
    """Answers the next instruction with what was written down for it."""

    def __init__(self, *said):
        self.actuators = VirtualActuators(np.zeros(1))
        self.heard = []
        self._said = list(said)
        self._reader = PacketReader(2)

    def feed(self, now_ns, received):
        packets = self._reader.feed(now_ns, received)
        self.heard += packets
        return self._said.pop(0) if packets and self._said else b""


def open_bus(carrier):
    return ServoBus(carrier.path, baud_rate=1_000_000, timeout_s=0.05, protocol=2)


@pytest.mark.parametrize(
    "said",
    [
        status(2, 1, 0, b"\x01\x02"),  # too short
        status(2, 1, 0, b"\x01\x02\x03\x04\x05"),  # too long
        status(2, 2, 0, b"\x01\x02\x03\x04"),  # somebody else
        status(2, 1, 0, b"\x01\x02\x03\x04")[:-1] + b"\x00",  # checksum
        b"\xff\xff\xfd\x00\x01\xff\xff",  # a length that never comes
        b"",
    ],
)
def test_what_is_no_valid_answer_is_none(said):
    with PtyCarrier(Scripted(said)) as carrier:
        bus = open_bus(carrier)
        assert bus.read(1, 132, 4) is None
        bus.close()


def test_an_answer_carries_its_error():
    with PtyCarrier(Scripted(status(2, 1, 0x84, b"\x01\x02\x03\x04"))) as carrier:
        bus = open_bus(carrier)
        assert bus.read(1, 132, 4) == Answer(b"\x01\x02\x03\x04", 0x84)
        bus.close()


def test_a_short_answer_among_many_spoils_the_sync_read():
    said = status(2, 1, 0, b"\x01\x02") + status(2, 2, 0, b"\x01")
    with PtyCarrier(Scripted(said)) as carrier:
        bus = open_bus(carrier)
        assert bus.sync_read([1, 2], 126, 2) is None
        bus.close()


def test_a_port_that_is_missing_says_what_to_do():
    with pytest.raises(DeviceError, match="cannot be opened at 57600 baud"):
        ServoBus("/dev/none", baud_rate=57600, timeout_s=0.05, protocol=2)


def test_a_second_owner_is_refused():
    with PtyCarrier(Scripted()) as carrier:
        bus = open_bus(carrier)
        with pytest.raises(DeviceError, match="nothing else has it open"):
            open_bus(carrier)
        bus.close()
        open_bus(carrier).close()
