"""The key folder: what is made, let in, shut out, and refused in words."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zmq.auth import load_certificate
from zmq.utils import z85

from app.cli import run
from app.errors import LinkError
from app.link.endpoint import make_keys
from app.link.key_files import check_key
from app.link.keys import AllowList, list_keys, load_keys, revoke, trust

STRANGER = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"  # of the CurveZMQ documentation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A robot's folder that trusts one station."""
    place = tmp_path / "robot"
    make_keys(place, "robot")
    trust(place, str(make_keys(tmp_path / "station", "station")), "pilot")
    return place


def public(folder: Path, name: str) -> bytes:
    key, _ = load_certificate(str(folder / f"{name}.key"))
    return key


class TestForm:
    def test_files_are_certificates_that_zeromq_reads(self, folder: Path) -> None:
        key, secret = load_certificate(str(folder / "robot.key_secret"))
        assert secret is not None
        loaded = load_keys(folder, "robot", "robot")
        assert (loaded.public, loaded.secret) == (key, secret)
        assert public(folder, "robot") == key
        assert stat.S_IMODE((folder / "robot.key_secret").stat().st_mode) == 0o600
        assert repr(secret) not in repr(loaded)
        assert [path.name for path in folder.iterdir() if path.name[0] == "."] == []

    @given(st.binary(min_size=32, max_size=32))
    def test_every_key_passes(self, key: bytes) -> None:
        assert check_key(z85.encode(key).decode()) == z85.encode(key)

    @given(st.text(max_size=50))
    def test_other_text_is_refused_in_words(self, text: str) -> None:
        with pytest.raises(LinkError, match="is no key"):
            check_key(text)

    @pytest.mark.parametrize(
        "text", [STRANGER[:-1], STRANGER + "x", STRANGER[:-1] + "~", "#" * 40]
    )
    def test_a_damaged_key_is_refused(self, text: str) -> None:
        with pytest.raises(LinkError, match="is no key"):
            check_key(text)

    @pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x" * 33, ".x"])
    def test_a_bad_name_is_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(LinkError, match="is not valid"):
            make_keys(tmp_path, name)


class TestTrust:
    def test_by_file_and_by_text(self, folder: Path) -> None:
        trust(folder, STRANGER, "second")
        assert trust(folder, STRANGER, "second").name == "second.key"  # again: no harm
        allowed = load_keys(folder, "robot", "robot").allowed
        assert allowed == {public(folder, "pilot"), STRANGER.encode()}

    def test_text_needs_a_name(self, folder: Path) -> None:
        with pytest.raises(LinkError, match="add --name"):
            trust(folder, STRANGER)

    def test_another_key_of_the_same_name_is_refused(self, folder: Path) -> None:
        with pytest.raises(LinkError, match="Another key is called 'pilot'"):
            trust(folder, STRANGER, "pilot")

    def test_a_secret_key_is_refused(self, folder: Path, tmp_path: Path) -> None:
        secret = tmp_path / "station" / "station.key_secret"
        with pytest.raises(LinkError, match="must never leave"):
            trust(folder, str(secret))
        renamed = tmp_path / "x.key"
        renamed.write_bytes(secret.read_bytes())
        with pytest.raises(LinkError, match="must never leave"):
            trust(folder, str(renamed))

    def test_what_is_no_key_file_is_refused(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "x.key").write_text("nothing")
        with pytest.raises(LinkError, match="holds no public key"):
            trust(folder, str(tmp_path / "x.key"))
        with pytest.raises(LinkError, match="is no key"):
            trust(folder, "missing.key")


class TestRevoke:
    def test_a_revoked_key_is_out_under_every_name(self, folder: Path) -> None:
        key = public(folder, "pilot")
        trust(folder, key.decode(), "twin")
        revoke(folder, "pilot")
        assert load_keys(folder, "robot", "robot").allowed == frozenset()
        with pytest.raises(LinkError, match="was revoked as 'pilot'"):
            trust(folder, key.decode(), "third")

    def test_twice_under_one_name(self, folder: Path) -> None:
        revoke(folder, "pilot")
        trust(folder, STRANGER, "pilot")
        revoke(folder, "pilot")
        statuses = [(entry.name, entry.status) for entry in list_keys(folder)]
        assert statuses == [
            ("robot", "own"), ("pilot", "revoked"), ("pilot-2", "revoked")
        ]  # fmt: skip

    def test_an_unknown_name_lists_the_known(self, folder: Path) -> None:
        with pytest.raises(LinkError, match="Known: pilot, robot"):
            revoke(folder, "joe")

    def test_a_station_does_not_call_a_revoked_robot(self, folder: Path) -> None:
        (folder / "robot.key_revoked").write_bytes((folder / "robot.key").read_bytes())
        with pytest.raises(LinkError, match="was revoked"):
            load_keys(folder, "robot", "robot")


class TestAllowList:
    def test_follows_the_folder(self, folder: Path) -> None:
        allowed = AllowList(load_keys(folder, "robot", "robot"))
        pilot, own = public(folder, "pilot"), public(folder, "robot")
        allowed.refresh()
        assert allowed.allows(pilot)
        assert allowed.name(pilot) == "pilot"
        assert not allowed.allows(own)
        assert not allowed.allows(STRANGER.encode())
        trust(folder, STRANGER, "second")
        revoke(folder, "pilot")
        allowed.refresh()
        assert allowed.allows(STRANGER.encode())
        assert not allowed.allows(pilot)
        assert allowed.revoked(pilot) == "pilot"

    def test_a_folder_that_cannot_be_read_lets_nobody_in(self, folder: Path) -> None:
        allowed = AllowList(load_keys(folder, "robot", "robot"))
        pilot = public(folder, "pilot")
        (folder / "x.key_revoked").write_text("damaged")  # whom does it shut out?
        allowed.refresh()
        assert not allowed.allows(pilot)
        (folder / "x.key_revoked").unlink()
        allowed.refresh()
        assert allowed.allows(pilot)
        folder.rename(folder.with_name("gone"))
        allowed.refresh()
        assert not allowed.allows(pilot)

    def test_a_damaged_key_shuts_out_nobody_else(self, folder: Path) -> None:
        (folder / "x.key").write_bytes(b"\xff\xfe")
        allowed = AllowList(load_keys(folder, "robot", "robot"))
        allowed.refresh()
        assert allowed.allows(public(folder, "pilot"))


@pytest.mark.skipif(os.name != "posix", reason="file modes")
class TestModes:
    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
    def test_a_secret_that_others_can_read_is_refused(
        self, folder: Path, mode: int
    ) -> None:
        (folder / "robot.key_secret").chmod(mode)
        with pytest.raises(LinkError, match=r"chmod 600 .*robot\.key_secret"):
            load_keys(folder, "robot", "robot")

    def test_a_folder_that_others_can_write_is_refused(self, folder: Path) -> None:
        folder.chmod(0o777)
        with pytest.raises(LinkError, match="chmod 700"):
            load_keys(folder, "robot", "robot")


def test_the_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As two people with two computers would."""
    monkeypatch.setenv("COLUMNS", "300")

    def limblink(*words: str) -> tuple[int, str]:
        status = run(["keys", *words])
        said = capsys.readouterr()
        return status, said.out + said.err

    robot, station = str(tmp_path / "r"), str(tmp_path / "s")
    status, said = limblink("new", "robot", "--dir", robot)
    assert status == 0
    assert "limblink keys trust robot.key" in said
    make_keys(Path(station), "station")
    assert limblink("trust", f"{station}/station.key", "--dir", robot)[0] == 0
    status, said = limblink("show", "--dir", robot)
    assert public(Path(station), "station").decode() in said
    assert "trusted" in said
    assert limblink("revoke", "station", "--dir", robot)[0] == 0
    status, said = limblink("revoke", "station", "--dir", robot)
    assert status == 2
    assert "Known: robot" in said
    assert "No keys in" in limblink("show", "--dir", str(tmp_path / "none"))[1]
