"""assets/README.md names every key of a robot's file."""

from importlib import resources

import pytest
from pydantic import BaseModel

from app.config.robot import RobotParameters


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


@pytest.mark.parametrize("key", sorted(keys(RobotParameters)))
def test_every_key_is_explained(key: str) -> None:
    text = resources.files("assets").joinpath("README.md").read_text()
    assert f"`{key}`" in text or f"[{key}]" in text or f".{key}]" in text


def test_the_walk_finds_nested_keys() -> None:
    assert {"azimuth_deg", "fingers", "servo_speed_mm_s"} <= keys(RobotParameters)
