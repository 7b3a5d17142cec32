"""Whose the folder of the cache must be, where it is, and what is removed from it."""

import os
import stat
from pathlib import Path

import pytest

from runtime.jit import place

NOBODY = 65534
as_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def folder(tmp_path):
    """A cache as Talus makes it, with one file of code."""
    file = tmp_path / place.NAME / ("0" * 16) / f"f-{'1' * 20}"
    place.write(file, b"code")
    return tmp_path / place.NAME


def given_away(path):
    os.chown(path, NOBODY, -1)


FLAWS = {
    "the folder is another user's": given_away,
    "a folder above is another user's": lambda f: given_away(f.parent),
    "all can write the folder": lambda f: f.chmod(0o777),
    "a sticky folder itself": lambda f: f.chmod(0o1777),
    "a folder above can be written by all": lambda f: f.parent.chmod(0o777),
    "a group of others": lambda f: (os.chown(f, -1, NOBODY), f.chmod(0o770)),
    "a link of another user": lambda f: (f.rename(f.with_name("real")), f.symlink_to("real"), os.lchown(f, NOBODY, -1)),
    "a link to a folder that all can write": lambda f: (
        f.rename(f.with_name("real")), f.with_name("real").chmod(0o777), f.symlink_to("real"),
    ),
}  # fmt: skip


@as_root
@pytest.mark.parametrize("flaw", FLAWS)
def test_a_folder_that_others_can_write_is_not_used(folder, monkeypatch, capfd, flaw):
    """One sentence, and the next folder: that of the user, or else none."""
    FLAWS[flaw](folder)
    monkeypatch.setenv(place.SETTING, str(folder.parent))
    monkeypatch.setenv(place.XDG, str(folder.parent / "xdg"))
    found = place.cache_folder()
    assert found != folder and not place.flaw_of(found) and place.cache_folder() == found
    (line,) = capfd.readouterr().err.splitlines()
    kept = "not kept" if found.parent == Path(os.devnull) else f"kept in {found} instead"
    assert line.startswith(f"the cache {folder} is not used, since ") and f"compiled code is {kept}; set" in line


TRUSTED = {
    "a sticky folder above": lambda f: f.parent.chmod(0o1777),
    "the group of the user alone": lambda f: f.chmod(0o770),
    "others may read": lambda f: f.chmod(0o755),
    "a link of the user": lambda f: (f.rename(f.with_name("real")), f.symlink_to("real")),
}


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
@pytest.mark.parametrize("kind", TRUSTED)
def test_a_folder_of_the_user_alone_is_used(folder, monkeypatch, kind):
    monkeypatch.setattr(place, "_is_own_group", lambda number: True)
    TRUSTED[kind](folder)
    assert place.flaw_of(folder) == ""


def test_a_folder_that_is_not_there_is_made_for_the_user_alone(tmp_path):
    place.write(tmp_path / "a" / "b" / place.NAME / "whole" / "model_1.py", b"")
    for made in ("a", "a/b", f"a/b/{place.NAME}", f"a/b/{place.NAME}/whole"):
        assert os.name != "posix" or stat.S_IMODE((tmp_path / made).stat().st_mode) == 0o700
    assert (
        (tmp_path / "a" / "b" / place.NAME / place.MARK)
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )


FILES = {
    "another user's": given_away,
    "all can write it": lambda file: file.chmod(0o666),
    "a link": lambda file: (file.rename(file.with_name("real")), file.symlink_to("real")),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
}


@as_root
@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_not_the_users_alone_is_not_read(folder, kind):
    file = folder / ("0" * 16) / f"f-{'1' * 20}"
    assert place.read(file) == b"code"
    FILES[kind](file)
    with pytest.raises(OSError):
        place.read(file)


@pytest.mark.parametrize(
    "variables, expected",
    [
        (dict(TALUS_CACHE_DIR="{at}/own", XDG_CACHE_HOME="{at}/xdg"), "own/talus"),
        (dict(XDG_CACHE_HOME="{at}/xdg"), "xdg/talus"),
        (dict(XDG_CACHE_HOME="relative"), ".cache/talus"),
        (dict(TALUS_CACHE_DIR="relative"), ".cache/talus"),
        (dict(TALUS_CACHE_DIR="~/own"), "own/talus"),
        (dict(TALUS_CACHE_DIR="", XDG_CACHE_HOME=""), ".cache/talus"),
    ],
)
def test_where_the_folder_is(tmp_path, monkeypatch, capfd, variables, expected):
    for name in (place.SETTING, place.XDG):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(at=tmp_path))
    assert place.cache_folder() == tmp_path / expected
    said = capfd.readouterr().err
    assert ("is ignored, since it is relative" in said) == (variables.get("TALUS_CACHE_DIR") == "relative")


def contents(folder):
    return {entry.relative_to(folder).as_posix() for entry in folder.rglob("*")}


def test_what_is_not_of_talus_stays(folder, tmp_path):
    """Files and folders of other names, and what links lead to."""
    room, others = folder / ("0" * 16), tmp_path / "others"
    others.mkdir()
    (others / f"f-{'2' * 20}").write_text("mine")
    (room / "notes.txt").write_text("mine")
    (room / f"folder-{'3' * 20}").mkdir()
    (folder / "joints").symlink_to(others)
    (folder / "project").mkdir()
    (folder / "project" / "poetry.lock").write_text("mine")
    (room / f"g-{'4' * 20}").symlink_to(others / f"f-{'2' * 20}")
    place.clear(folder)
    room_name = room.name
    assert contents(tmp_path) == {
        "others", f"others/f-{'2' * 20}", "talus", f"talus/{place.MARK}", f"talus/{room_name}", f"talus/{room_name}/notes.txt",
        f"talus/{room_name}/folder-{'3' * 20}", "talus/joints", "talus/project", "talus/project/poetry.lock",
    }  # fmt: skip


def test_a_cache_goes_as_a_whole(folder):
    place.write(folder / "whole" / f"model_{'1' * 16}.py", b"")
    place.write(folder / "joints" / f"{'1' * 32}.py", b"")
    place.write(folder / "checkouts" / f"{'1' * 16}.json", b"")
    (folder / place.TIDIED).touch()
    place.clear(folder)
    assert not folder.exists() and folder.parent.exists()


@pytest.mark.parametrize("text", ["", "Signature: 8a477f597d28d172789f06886806bc55\n# of another program\n"])
def test_the_mark_of_another_program_is_no_mark(folder, text):
    (folder / place.MARK).write_text(text)
    place.clear(folder)
    assert (folder / ("0" * 16) / f"f-{'1' * 20}").exists()
