"""Cases of a simulation: the schema, the shipped files, and the tree they make.

Masses, moments and lengths to 1e-12 where they are only summed, 1 % where a source
prints two digits.
"""

import math
from importlib import resources

import numpy as np
import pytest
from pydantic import BaseModel

from app.config.case import (
    BaseCase,
    CaseParameters,
    LimbCase,
    StrainCase,
    case_names,
    default_case,
    load_case,
)
from app.config.loader import parse_toml
from app.config.robot import load_robot, robot_names
from app.config.tree import TreePlan, build_tree, named_limbs
from app.errors import ConfigError
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import frame


def read(text: str) -> CaseParameters:
    return parse_toml('title = "t"\n' + text, CaseParameters, "case.toml")


def planned(robot: str, **fields: object) -> TreePlan:
    case = CaseParameters.model_validate({"title": "t", **fields})
    return build_tree(load_robot(robot), case)


_STROKED = """[base]
motion = "surge"
[stroke]
direction = [1.0, 0.0, 0.0]
stroke_mm = 9.0
frequency_hz = 1.0
"""


def keys(kind: type[BaseModel]) -> set[str]:
    """Every key of a schema and of the tables in it."""
    found: set[str] = set()
    for name, field in kind.model_fields.items():
        found.add(name)
        waiting: list[object] = [field.annotation]
        while waiting:
            part = waiting.pop()
            waiting += getattr(part, "__args__", ())
            if isinstance(part, type) and issubclass(part, BaseModel):
                found |= keys(part)
    return found


@pytest.mark.parametrize("key", sorted(keys(CaseParameters)))
def test_every_key_is_explained(key: str) -> None:
    text = resources.files("assets").joinpath("README.md").read_text()
    part = text[text.index("## A case of your own") :]
    assert f"`{key}`" in part or f"[{key}]" in part or f".{key}]" in part


@pytest.mark.parametrize("name", case_names())
def test_a_shipped_case_fits_its_robot(name: str) -> None:
    case = load_case(name)
    assert case.robot in robot_names()
    plan = build_tree(load_robot(str(case.robot)), case)
    assert np.isfinite(plan.model.point_mass).all()
    assert "ASSUMED" not in case.title


def test_the_papers_cases_are_shipped() -> None:
    wanted = {"renda-arm-release", "renda-arm-tendon", "ursula-release", "monopus"}
    wanted |= {f"renda-arm-wave-m{m}" for m in (1, 5)}
    wanted |= {f"quadropus-m{m}" for m in (0, 5, 7)}
    wanted |= {f"poseidrone-{p}" for p in ("1.26", "1.51", "1.89")}
    wanted |= {f"snake-{way}" for way in ("straight", "yaw", "pitch", "spiral")}
    assert wanted | {"gong-stroke", "silver2-stand"} <= set(case_names())


@pytest.mark.parametrize("name", sorted(robot_names()))
def test_every_robot_has_a_default_case(name: str) -> None:
    robot = load_robot(name)
    plan = build_tree(robot, default_case(robot))
    assert len(plan.limbs) == len(robot.limbs)
    floats = name in {"snake", "poseidrone", "quadropus", "monopus"}
    assert plan.model.root_free.tolist() == [int(floats)] * 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour = 1", "unknown key 'colour'"),
        ('[base]\nmotion = "flying"', "base.motion = 'flying'"),
        ("[base]\nvelocity_mm_s = [1.0, 0.0, 0.0]", "has no velocity_mm_s"),
        ('[strain]\nbasis = "legendre"', "go together"),
        ("[strain]\norder = { k_y = 2 }", "go together"),
        (
            "[[propellers]]\npropeller = 1\ntime_s = [0.0, 1.0]\nthrust_n = [1.0]",
            "thrust_n needs 2 values",
        ),
        (
            "[[propellers]]\npropeller = 1\ntime_s = [1.0, 0.0]\nthrust_n = [1.0, 1.0]",
            "time_s must grow",
        ),
        (
            "[[tendons]]\noffset_ratio = 0.6\ntime_s = [0.0]",
            "tension_n or pull_mm",
        ),
        (
            (
                '[[objects]]\nshape = "cylinder"\nsize_mm = [20.0]\nmass_kg = 1.0\n'
                "position_mm = [0.0, 0.0, 0.0]"
            ),
            "[radius, length] of a cylinder",
        ),
        (
            _STROKED,
            "moves the base",
        ),
    ],
)
def test_a_wrong_case_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=r"case\.toml: 1 wrong") as caught:
        read(text)
    assert said in str(caught.value)


def test_an_error_names_the_line() -> None:
    with pytest.raises(ConfigError, match=r"line 4: moments\.0\.recruit_s = -1\.0"):
        read("[[moments]]\nmoment_mn_m = 1.0\nrecruit_s = -1.0\n")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"base": {"limb": "arm"}}, "base.limb = 'arm' of the case is no limb"),
        ({"limbs": [{"name": "nose"}]}, "limbs.0.name = 'nose'"),
        (
            {"limbs": [{"name": "grasper", "bend_deg": [1.0]}]},
            "bend_deg has 1 values; the limb has 2",
        ),
    ],
)
def test_a_case_that_does_not_fit_the_robot_is_refused(
    fields: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        planned("ursula", **fields)
    assert said in str(caught.value)


def test_a_load_names_limbs_that_are_simulated() -> None:
    plan = planned("ursula", base={"limb": "camera"})
    assert [limb.limb.name for limb in named_limbs(plan, (), "moments")] == ["camera"]
    with pytest.raises(ConfigError, match="moments names the limb 'light'"):
        named_limbs(plan, ("light",), "moments")


def test_the_cone_has_the_inertia_of_the_paper_and_of_the_code() -> None:
    """About the root's origin across: 1.55e-3 and 2.98e-3 kg m2."""
    for version, moment in (("paper", 1.55e-3), ("published-code", 2.98e-3)):
        plan = planned("monopus", physics={"version": version})
        hull = plan.names.index("hull")
        point = plan.model.element_step_start[hull]
        lever = plan.model.element_pose[hull, 0, 3]
        about = plan.model.point_inertia[point, 1] + 0.204 * lever**2
        assert about == pytest.approx(moment, rel=0.01)
        assert plan.model.drag_form[0] == (version == "published-code")


def test_hulls_are_neutral_and_as_heavy_as_their_files_say() -> None:
    for name in ("monopus", "quadropus", "poseidrone"):
        plan = planned(name)
        hull = [k for k, words in enumerate(plan.names) if words.startswith("hull")]
        points = [int(plan.model.element_step_start[k]) for k in hull]
        mass = plan.model.point_mass[points].sum()
        assert mass == pytest.approx(0.204, rel=1e-12)
        assert plan.model.point_displaced[points].sum() == pytest.approx(mass)


def test_a_limb_of_one_rod_has_the_mass_of_its_segments() -> None:
    both = []
    for rods in ("segment", "limb"):
        strain = StrainCase(basis="legendre", order={"k_y": 1}, rods=rods, points=8)
        plan = planned("quadropus", base=BaseCase(limb="port"), strain=strain)
        both.append(plan.model.point_mass.sum())
    radius = np.linspace(0.010, 0.002, 20001)
    exact = 1080.0 * math.pi * np.trapezoid(radius**2, dx=0.245 / 20000)
    np.testing.assert_allclose(both, exact, rtol=1e-6)


def test_the_snake_is_modules_and_joints_in_turn() -> None:
    plan = planned("snake", base={"motion": "floating"})
    assert [plan.names[k] for k in plan.modules] == ["module 0", "module 1", "module 2"]
    body = plan.limbs[0]
    data, work = allocate_tree_data(plan.model), allocate_tree_work(plan.model)
    from models.tree_motion import tree_motion

    tree_motion(plan.model, 0.0, data, work)
    tip = work.point_position[plan.model.element_step_start[body.tip + 1] - 1]
    np.testing.assert_allclose(tip, [1.0, 0.0, 0.0], atol=1e-12)
    with pytest.raises(ConfigError, match=r"strain\.order frees q_x"):
        planned("snake", strain={"basis": "legendre", "order": {"k_y": 1, "q_x": 0}})


def test_material_of_a_case_goes_before_the_robot_s() -> None:
    soft = planned("ursula", material={"young_modulus_kpa": 34.5})
    hard = planned("ursula")
    np.testing.assert_allclose(
        soft.model.element_stiffness * 2.0, hard.model.element_stiffness, rtol=1e-12
    )


def test_a_posture_is_taken_from_the_case_or_the_file() -> None:
    own = LimbCase(name="grasper", bend_deg=(90.0, 0.0), direction_deg=(90.0, 0.0))
    plan = planned("ursula", limbs=[own.model_dump()])
    np.testing.assert_allclose(
        plan.limbs[0].posture, [[0.0, math.pi / 2.0, 0.0], [0.0, 0.0, 0.0]], atol=1e-15
    )
    assert plan.limbs[1].posture[0, 0] == pytest.approx(math.radians(25.0))
    straight = planned("ursula", posture="straight")
    assert not any(limb.posture.any() for limb in straight.limbs)


def test_the_base_of_a_limb_is_its_place_on_the_hull() -> None:
    plan = planned("rov-arm")
    np.testing.assert_allclose(
        plan.limbs[0].base,
        frame((0.0, 0.0, -0.138), np.diag([1.0, -1.0, -1.0])),
        atol=1e-12,
    )
