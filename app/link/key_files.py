"""Key files: the form of a key, reading and writing; ZeroMQ's certificate format."""

import os
import re
from pathlib import Path
from typing import Literal

from app.errors import LinkError

__all__ = ["certificate", "check_key", "check_name", "read_key", "write_new"]

_ALPHABET = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ".-:+=^!/*?&<>()[]{}@%$#"
)
_DIGITS = {character: value for value, character in enumerate(_ALPHABET)}
_FILE_BYTES_MAX = 4096
_LINE = r'^[ \t]*{}-key[ \t]*=[ \t]*"([^"\n]*)"[ \t]*$'


def check_key(text: str) -> bytes:
    """Return a key in Z85 after checking its form.

    Raises:
        LinkError: it is not 40 characters of Z85 that encode 32 bytes.
    """
    text = text.strip()
    if len(text) != 40 or any(character not in _DIGITS for character in text):
        raise LinkError(
            f"{text[:60]!r} is no key: a public key has 40 characters out of "
            f"{_ALPHABET} (copy it from `limblink keys show`, in single quotes), or "
            "give the file NAME.key."
        )
    for start in range(0, 40, 5):
        value = 0
        for character in text[start : start + 5]:
            value = 85 * value + _DIGITS[character]
        if value >= 2**32:
            raise LinkError(
                f"{text!r} is no key: {text[start : start + 5]!r} encodes no bytes. "
                "Copy it again from `limblink keys show` on the peer."
            )
    return text.encode()


def check_name(name: str) -> str:
    """Return a key's name after checking it.

    Raises:
        LinkError: it is not fit for a file's name.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", name):
        raise LinkError(
            f"Key name {name!r} is not valid: use 1 to 32 letters, digits, '-' or "
            "'_', beginning with a letter or digit."
        )
    return name


def read_key(path: Path, half: Literal["public", "secret"]) -> bytes:
    """Read one half of a key file.

    Raises:
        LinkError: the file is missing or holds no such key.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_FILE_BYTES_MAX)
    except (OSError, ValueError) as error:
        raise LinkError(
            f"Key file {path} cannot be used: {error}. Make keys with `limblink keys "
            "new NAME`, and trust the peer's .key file with `limblink keys trust`."
        ) from error
    match = re.search(_LINE.format(half), text, re.MULTILINE)
    if match is None:
        raise LinkError(
            f"Key file {path} cannot be used: it holds no {half} key. Copy it again, "
            "or make it anew with `limblink keys new NAME`."
        )
    return check_key(match.group(1))


def certificate(public: bytes, secret: bytes | None = None) -> str:
    """Return the text of a key file, Z85 keys given."""
    kind = "Public" if secret is None else "**Secret**"
    lines = [
        f"#   ZeroMQ CURVE {kind} Certificate",
        "metadata",
        "curve",
        f'    public-key = "{public.decode()}"',
    ]
    if secret is not None:
        lines.append(f'    secret-key = "{secret.decode()}"')
    return "\n".join(lines) + "\n"


def write_new(path: Path, text: str, mode: int) -> None:
    """Write a new file; it appears whole, so that a running robot never reads half.

    Raises:
        LinkError: it exists, or cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with os.fdopen(os.open(draft, flags, mode), "w", encoding="utf-8") as file:
                file.write(text)
            os.link(draft, path)  # unlike a rename it replaces nothing
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise LinkError(
            f"Key file {path} cannot be written: {error}. Remove or rename a file "
            "that is there already, or choose a folder of your own with --dir."
        ) from error
