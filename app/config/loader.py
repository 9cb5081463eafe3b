"""One TOML file to one frozen pydantic model, with errors that a person can act on."""

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors import ConfigError

__all__ = ["Parameters", "asset_names", "find_asset", "load_toml", "parse_toml"]


class Parameters(BaseModel):
    """Base of every parameter set: frozen, finite, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


_Parameters = TypeVar("_Parameters", bound=Parameters)


def asset_names(folder: str) -> list[str]:
    """Return the names, without ending, of the TOML files in assets/`folder`."""
    entries = resources.files("assets").joinpath(folder).iterdir()
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in entries
        if entry.name.endswith(".toml")
    )


def find_asset(folder: str, name: str) -> Path:
    """Find a TOML file by a shipped name or by a path of the user's own.

    Args:
        folder: folder of assets/ that holds the shipped ones.
        name: a shipped name ("ursula") or a path ("./mine.toml").

    Raises:
        ConfigError: there is no such file; the message lists the shipped names.
    """
    own = Path(name).expanduser()
    if own.suffix == ".toml" or "/" in name:
        if own.is_file():
            return own
        raise ConfigError(f"No file {own}. Check the path.")
    shipped = Path(str(resources.files("assets").joinpath(folder, f"{name}.toml")))
    if shipped.is_file():
        return shipped
    raise ConfigError(
        f"No {folder[:-1]} called {name!r}. Shipped: {', '.join(asset_names(folder))}; "
        "or give the path of a TOML file of your own."
    )


def load_toml(path: Path, kind: type[_Parameters]) -> _Parameters:
    """Read and validate a file.

    Raises:
        ConfigError: unreadable, not TOML, or not valid; names file, line and key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}.") from error
    return parse_toml(text, kind, str(path))


def parse_toml(text: str, kind: type[_Parameters], where: str) -> _Parameters:
    """Validate TOML text; `where` names it in messages.

    Raises:
        ConfigError: not TOML or not valid; names file, line where known, and key.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: not valid TOML: {error}.") from error
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        lines = [_explain(text, dict(item), kind) for item in error.errors()]
        joined = "\n  ".join(lines)
        raise ConfigError(f"{where}: {len(lines)} wrong:\n  {joined}") from error


def _explain(text: str, item: dict[str, object], kind: type[Parameters]) -> str:
    location = item["loc"]
    parts = [str(part) for part in location] if isinstance(location, tuple) else []
    key = ".".join(parts) or "(whole file)"
    line = _line_of(text, parts)
    at = f"line {line}: " if line else ""
    if item["type"] == "extra_forbidden":
        known = _keys_at(kind, parts[:-1])
        return f"{at}unknown key {key!r}; known here: {', '.join(known)}."
    if item["type"] == "missing":
        return f"{at}key {key!r} is missing; add it."
    value = item.get("input")
    shown = repr(value) if not isinstance(value, dict) else "the table"
    return f"{at}{key} = {shown}: {item['msg']}.{_unit_hint(parts, item, value)}"


def _unit_hint(parts: list[str], item: dict[str, object], value: object) -> str:
    names = [part for part in parts if not part.isdigit()]
    if (
        names
        and names[-1].endswith("_mm")
        and isinstance(value, int | float)
        and str(item["type"]).startswith("greater")
        and 0 < abs(value) < 5
    ):
        return f" The unit is millimetres: if you meant metres, write {value * 1000:g}."
    return ""


def _keys_at(kind: type[BaseModel], parts: list[str]) -> list[str]:
    current: type[BaseModel] = kind
    for part in parts:
        if part.isdigit():
            continue
        field = current.model_fields.get(part)
        if field is None:
            break
        candidates = [field.annotation, *getattr(field.annotation, "__args__", ())]
        for candidate in candidates:
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                current = candidate
                break
    return sorted(current.model_fields)


def _line_of(text: str, parts: list[str]) -> int | None:
    """Find the line of a key by walking its table headers; None where not found."""
    tables = [part for part in parts[:-1] if not part.isdigit()]
    indices = [int(part) for part in parts if part.isdigit()]
    names = [part for part in parts if not part.isdigit()]
    if not names:
        return None
    header = names[0] if len(names) > 1 or tables else ""
    occurrence = indices[0] if indices and header else 0
    inside = header == ""
    seen = -1
    for number, row in enumerate(text.splitlines(), start=1):
        match = re.match(r"\s*\[\[?\s*([\w.\-]+)\s*\]?\]", row)
        if match:
            inside = False
            if header and match.group(1) == header:
                seen += 1
                inside = seen == occurrence or not row.lstrip().startswith("[[")
                if names == [header]:
                    return number
        elif inside and re.match(rf"\s*{re.escape(names[-1])}\s*=", row):
            return number
    return None
