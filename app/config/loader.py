"""One TOML file to one frozen pydantic model, with errors that a person can act on."""

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors import ConfigError

__all__ = [
    "Parameters",
    "asset_names",
    "find_asset",
    "load_toml",
    "parse_toml",
    "validated",
]


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
    try:
        own = Path(name).expanduser()
        if own.suffix == ".toml" or "/" in name:
            if own.is_file():
                return own
            raise ConfigError(f"No file {own}. Check the path.")
    except PermissionError as error:
        raise ConfigError(
            f"File {name} cannot be read: {error.strerror}. Make it, and the folders "
            "above it, readable for you."
        ) from error
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{name!r} is no path of a file: {error}.") from error
    shipped = Path(str(resources.files("assets").joinpath(folder, f"{name}.toml")))
    if shipped.is_file():
        return shipped
    kind = f"{folder[:-3]}y" if folder.endswith("ies") else folder[:-1]
    raise ConfigError(
        f"No {kind} called {name!r}. Shipped: {', '.join(asset_names(folder))}; "
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
    return validated(kind, table, where, text)


def validated(
    kind: type[_Parameters], table: dict[str, object], where: str, text: str = ""
) -> _Parameters:
    """Validate values.

    Args:
        kind: what they shall be.
        table: they.
        where: names them in messages.
        text: TOML that they come from, for the numbers of lines.

    Raises:
        ConfigError: not valid; names the key, and the line where known.
    """
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        items = [dict(item) for item in error.errors()]
        places = [item["loc"] for item in items]
        lines = [
            _explain(text, item, kind)
            for item in items
            if not (item["type"] == "too_short" and _holds_another(item["loc"], places))
        ]
        joined = "\n  ".join(lines)
        raise ConfigError(f"{where}: {len(lines)} wrong:\n  {joined}") from error


def _holds_another(place: object, places: list[object]) -> bool:
    """Whether another wrong value lies inside; pydantic calls such a list short."""
    return isinstance(place, tuple) and any(
        isinstance(other, tuple) and other[: len(place)] == place and other != place
        for other in places
    )


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
    words = str(item["msg"]).removeprefix("Value error, ").rstrip(".")
    if isinstance(value, dict):
        return f"{at}{key}: {words}."
    return f"{at}{key} = {value!r}: {words}.{_unit_hint(parts, item, value)}"


def _unit_hint(parts: list[str], item: dict[str, object], value: object) -> str:
    names = [part for part in parts if not part.isdigit()]
    if not names or not isinstance(value, int | float):
        return ""
    too_low = str(item["type"]).startswith("greater")
    if names[-1].endswith("_mm") and too_low and 0 < abs(value) < 5:
        return f" The unit is millimetres: if you meant metres, write {value * 1000:g}."
    if names[-1].endswith("_kpa") and not too_low and abs(value) >= 1000:
        return f" The unit is kilopascals: if you meant Pa, write {value / 1000:g}."
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
    """Find the line of a key, else of the table it belongs in; None for neither."""
    tables = _table_lines(text)
    for stop in range(len(parts), -1, -1):
        table = tuple(parts[:stop])
        if table not in tables:
            continue
        first, last = tables[table]
        for number, row in enumerate(text.splitlines()[first:last], start=first + 1):
            if stop < len(parts) and re.match(rf"\s*{re.escape(parts[stop])}\s*=", row):
                return number
        return first or None  # 0: the top of the file, which no header opens
    return None


def _table_lines(text: str) -> dict[tuple[str, ...], tuple[int, int]]:
    """Lines from each table's header to before the next one.

    A table of an array goes by its path with numbers, as pydantic counts them:
    ("limbs", "1", "chambers", "0").
    """
    rows = text.splitlines()
    places: dict[tuple[str, ...], tuple[int, int]] = {}
    counts: dict[tuple[str, ...], int] = {}
    path: tuple[str, ...] = ()
    begun = 0
    for number, row in enumerate(rows, start=1):
        match = re.match(r"\s*(\[\[?)\s*([\w.\-]+)\s*\]", row)
        if not match:
            continue
        places[path] = (begun, number - 1)
        names = match.group(2).split(".")
        path, begun = (), number
        for depth, name in enumerate(names):
            path = (*path, name)
            if match.group(1) == "[[" and depth == len(names) - 1:
                counts[path] = counts.get(path, -1) + 1
            if path in counts:
                path = (*path, str(counts[path]))
    places[path] = (begun, len(rows))
    return places
