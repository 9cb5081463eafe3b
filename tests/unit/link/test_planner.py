"""What is picked for each link, and that the choice fits it."""

import pytest

from app.config.link import link_names, load_link
from app.config.robot import build_robot_model, load_robot
from app.link.frame import Codec, Grade, Profile
from app.link.pacing import budget_for
from app.link.planner import plan_link, setpoint_grade, telemetry_grade

ROBOTS = ("ursula", "rov-arm", "silver2")
MODELS = {name: build_robot_model(load_robot(name)) for name in ROBOTS}


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", link_names())
def test_a_plan_fits_its_link(robot, name):
    link = load_link(name)
    plan = plan_link(Codec(MODELS[robot], 1, 1500), link)
    overhead = link.medium.overhead_bytes
    assert plan.frame_bytes <= link.medium.mtu_bytes
    assert plan.telemetry_bytes <= link.medium.mtu_bytes
    share = 0.5 if link.medium.duplex == "half" else 1.0
    down = 8.0 * plan.packets_per_s * (plan.frame_bytes + overhead)
    up = 8.0 * plan.telemetry_per_s * (plan.telemetry_bytes + overhead)
    assert down <= share * link.down_bps * 1.000001
    assert up <= share * link.up_bps * 1.000001
    assert plan.limb_hz >= plan.robot_hz > 0.0
    assert plan.payload_bits <= 8 * plan.frame_bytes
    assert plan.words


def test_what_is_picked_for_ursula():
    codec = Codec(MODELS["ursula"], 1, 1500)
    picked = {name: plan_link(codec, load_link(name)) for name in link_names()}
    assert picked["tether"].grade is Grade.FINE
    assert picked["acoustic-hs"].grade is Grade.STANDARD
    assert picked["acoustic-hs"].packets_per_s == 50.0
    m64 = picked["acoustic-m64"]
    assert (m64.profile, m64.frame_bytes) == (Profile.COMPACT, 8)
    assert (m64.coordinates, m64.packets_per_s, m64.limb_hz) == (6, 1.0, 1.0)
    assert m64.error < 5.5e-3
    assert picked["acoustic-psk"].profile is Profile.COMPACT
    for plan in picked.values():
        if plan.profile is Profile.PACKED:
            assert plan.error <= 1e-3


def test_sizes_foreseen_are_those_written():
    codec = Codec(MODELS["ursula"], 1, 1500)
    for name in ("tether", "acoustic-hs"):
        plan = plan_link(codec, load_link(name))
        codec.grade = plan.grade
        assert plan.frame_bytes == codec.frame_bytes()
        codec.grade = plan.telemetry_grade
        assert plan.telemetry_bytes == codec.frame_bytes(telemetry=True)


def test_a_rate_that_is_not_known_gets_the_standard_resolution():
    codec = Codec(MODELS["ursula"], 1, 1500)
    from_file = budget_for(load_link("tether"), up=True)
    unknown = type(from_file)()
    assert setpoint_grade(codec, unknown) is Grade.STANDARD
    assert telemetry_grade(codec, unknown) is Grade.STANDARD
    assert telemetry_grade(codec, from_file) is Grade.FINE
