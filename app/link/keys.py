"""Keys of the link: a folder of CURVE key files, and who in it is trusted.

    NAME.key          public key: own, or of a peer that is trusted
    NAME.key_secret   secret key of this computer's own pair; never leaves it
    NAME.key_revoked  public key that is refused, whatever other file holds it

Files are ZeroMQ certificates, so other tools read them. Keys are Z85 text of 40
characters. A running robot reads the folder again when it changes, so that a key that
is revoked there is refused from then on.
"""

import os
import stat
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from app.errors import LinkError
from app.link.key_files import (
    certificate,
    check_key,
    check_name,
    read_key,
    write_new,
)

__all__ = [
    "AllowList",
    "KeyEntry",
    "LinkKeys",
    "default_folder",
    "list_keys",
    "load_keys",
    "revoke",
    "trust",
    "write_pair",
]

_PUBLIC, _SECRET, _REVOKED = ".key", ".key_secret", ".key_revoked"


@dataclass(frozen=True)
class LinkKeys:
    """CURVE keys of one end, Z85 text.

    Attributes:
        public: this end's public key.
        secret: this end's secret key.
        server: public key of the end that binds; its own for that end.
        allowed: public keys of the ends that may connect, where this one binds.
        folder: where the allowed keys are read again when it changes; None = never.
        server_name: name of the end that binds.
    """

    public: bytes
    secret: bytes
    server: bytes
    allowed: frozenset[bytes] = frozenset()
    folder: Path | None = None
    server_name: str = ""

    def __repr__(self) -> str:
        """Say whose keys they are without the secret."""
        return f"LinkKeys(public={self.public!r}, server={self.server!r})"


@dataclass(frozen=True)
class KeyEntry:
    """A public key in the folder.

    Attributes:
        name: its file's name.
        public: the key, Z85.
        status: "own" has its secret half here, "trusted" may connect, "revoked" is
            refused.
    """

    name: str
    public: bytes
    status: Literal["own", "trusted", "revoked"]


def default_folder() -> Path:
    """Return the user's own key folder."""
    return Path(platformdirs.user_config_dir("limblink")) / "keys"


def write_pair(folder: Path, name: str, public: bytes, secret: bytes) -> Path:
    """Keep an own key pair, its secret half readable by the user alone.

    Args:
        folder: the key folder; made where it is missing.
        name: of the pair.
        public: Z85.
        secret: Z85.

    Returns:
        The file with the public key, which is to be copied to the peer.

    Raises:
        LinkError: the name is not valid, the pair exists, or cannot be written.
    """
    check_name(name)
    path = folder / f"{name}{_PUBLIC}"
    own = folder / f"{name}{_SECRET}"
    if path.exists() or own.exists():
        raise LinkError(
            f"Keys called {name!r} are in {folder} already. Remove both files first, "
            "or choose another name."
        )
    write_new(own, certificate(public, secret), 0o600)
    write_new(path, certificate(public), 0o644)
    return path


def _refuse_open(path: Path, forbidden: int, mode: str, why: str) -> None:
    found = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and found & forbidden:
        raise LinkError(
            f"{path} has mode {found:04o}: {why}. Run `chmod {mode} {path}`, and make "
            "new keys if somebody may have used it."
        )


def load_keys(folder: Path, name: str, server: str) -> LinkKeys:
    """Load this end's pair and the public keys of its peers from a folder.

    Args:
        folder: holds `name.key_secret`, `server.key` and the .key files of all who
            may connect.
        name: this end's pair.
        server: name of the end that binds.

    Raises:
        LinkError: a file is missing, no key file, or open to other users.
    """
    own = folder / f"{name}{_SECRET}"
    secret = read_key(own, "secret")
    _refuse_open(own, 0o077, "600", "other users can read the secret key")
    _refuse_open(folder, 0o022, "700", "other users can add keys of their own")
    found = _read_folder(folder)
    server_key = read_key(folder / f"{server}{_PUBLIC}", "public")
    if server_key in found.revoked:
        raise LinkError(
            f"The key of {server!r} was revoked in {folder}. Trust its new key with "
            f"`limblink keys trust FILE --name {server}`."
        )
    return LinkKeys(
        public=read_key(own, "public"),
        secret=secret,
        server=server_key,
        allowed=frozenset(found.names) - {server_key},
        folder=folder,
        server_name=server,
    )


@dataclass(frozen=True)
class _Found:
    names: dict[bytes, str]  # of keys that are not revoked
    revoked: dict[bytes, str]


def _read_folder(folder: Path) -> _Found:
    """Read all public keys; a file that cannot be read lets nobody in.

    Raises:
        LinkError: a file that revokes a key cannot be read.
    """
    revoked = {
        read_key(p, "public"): p.stem for p in sorted(folder.glob(f"*{_REVOKED}"))
    }
    names: dict[bytes, str] = {}
    for path in sorted(folder.glob(f"*{_PUBLIC}")):
        try:
            key = read_key(path, "public")
        except LinkError:
            continue
        if key not in revoked:
            names.setdefault(key, path.stem)
    return _Found(names, revoked)


def list_keys(folder: Path) -> list[KeyEntry]:
    """Return the keys in a folder, own ones first.

    Raises:
        LinkError: a file is no key file.
    """
    entries = []
    for suffix in (_PUBLIC, _REVOKED):
        for path in sorted(folder.glob(f"*{suffix}")):
            own = path.with_suffix(_SECRET).exists()
            status: Literal["own", "trusted", "revoked"] = "own" if own else "trusted"
            if suffix == _REVOKED:
                status = "revoked"
            entries.append(KeyEntry(path.stem, read_key(path, "public"), status))
    order = ("own", "trusted", "revoked")
    return sorted(entries, key=lambda entry: (order.index(entry.status), entry.name))


def trust(folder: Path, source: str, name: str | None = None) -> Path:
    """Let a peer's key in.

    Args:
        folder: the key folder; made where it is missing.
        source: a public key file, or the key's 40 characters.
        name: what to call the peer; None = as its file is called.

    Returns:
        The file that was written, or was there with the same key already.

    Raises:
        LinkError: it is no public key, has no name, was revoked, or the name is taken.
    """
    path = Path(source).expanduser()
    if len(source.strip()) == 40 and not path.is_file():
        key = check_key(source)
    elif path.is_file():
        if path.suffix == _SECRET or "secret-key" in path.read_text(errors="replace"):
            raise LinkError(
                f"{path} is a secret key: it must never leave its own computer. Copy "
                f"{path.stem}{_PUBLIC} instead, and make new keys if it has been sent."
            )
        key, name = read_key(path, "public"), name or path.stem
    else:
        key = check_key(source)
    if name is None:
        raise LinkError("A key given as text needs a name: add --name NAME.")
    check_name(name)
    found = _read_folder(folder)
    if key in found.revoked:
        raise LinkError(
            f"This key was revoked as {found.revoked[key]!r}. Make a new pair on the "
            f"peer; or, if the revocation was a mistake, first remove "
            f"{folder / found.revoked[key]}{_REVOKED}."
        )
    target = folder / f"{name}{_PUBLIC}"
    if target.exists():
        if read_key(target, "public") == key:
            return target
        raise LinkError(
            f"Another key is called {name!r} in {folder}. Give --name, or revoke the "
            f"old one first with `limblink keys revoke {name}`."
        )
    write_new(target, certificate(key), 0o644)
    return target


def revoke(folder: Path, name: str) -> Path:
    """Refuse a key from now on, under every name it may have.

    Returns:
        The file that now says so.

    Raises:
        LinkError: there is no such key, or the folder cannot be written.
    """
    source = folder / f"{check_name(name)}{_PUBLIC}"
    if not source.exists():
        known = ", ".join(sorted(p.stem for p in folder.glob(f"*{_PUBLIC}"))) or "none"
        raise LinkError(f"No key is called {name!r} in {folder}. Known: {known}.")
    text = certificate(read_key(source, "public"))
    target = folder / f"{name}{_REVOKED}"
    number = 1
    while target.exists():
        number += 1
        target = folder / f"{name}-{number}{_REVOKED}"
    write_new(target, text, 0o644)  # first: there is no moment when nothing refuses it
    try:
        source.unlink()
    except OSError as error:
        raise LinkError(f"{source} cannot be removed: {error}. Remove it.") from error
    return target


class AllowList:
    """Who may connect now; asked by several threads.

    Where a folder is known it is read again when a file in it came, went or changed.
    A folder that cannot be read lets nobody in.
    """

    def __init__(self, keys: LinkKeys) -> None:
        """Begin with the keys as they were loaded."""
        self._keys = keys
        self._lock = threading.Lock()
        self._seen: tuple[tuple[str, int, int], ...] | None = None
        self._found = _Found(dict.fromkeys(keys.allowed, ""), {})

    def refresh(self) -> None:
        """Read the folder again if it changed."""
        folder = self._keys.folder
        if folder is None:
            return
        with self._lock:
            try:
                seen = _signature(folder)
                if seen != self._seen:
                    self._found = _read_folder(folder)
                    self._seen = seen
            except (OSError, LinkError):
                self._seen, self._found = None, _Found({}, {})

    def allows(self, key: bytes) -> bool:
        """Whether a public key in Z85 may connect, as last read."""
        return key in self._found.names and key != self._keys.server

    def revoked(self, key: bytes) -> str:
        """Return the name under which a key was revoked, "" for none."""
        return self._found.revoked.get(key, "")

    def name(self, key: bytes) -> str:
        """Return the name of a key, "" where it has none."""
        return self._found.names.get(key, "") or self.revoked(key)


def _signature(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of each public file."""
    with os.scandir(folder) as entries:
        return tuple(
            sorted(
                (entry.name, status.st_mtime_ns, status.st_size)
                for entry in entries
                if entry.name.endswith((_PUBLIC, _REVOKED))
                for status in (entry.stat(),)
            )
        )
