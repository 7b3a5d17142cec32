"""What a cache that has grown large loses, and what it keeps."""

import os
import time

import pytest

from runtime.jit.place import MARK, TEXT
from runtime.jit.tidying import DAY, OLD, tidy, touch

OLDER_CODE, OLD_CODE, NEW_CODE = (letter * 16 for letter in "abc")
CODE = f"f-{'1' * 20}"


@pytest.fixture
def folder(tmp_path):
    """A cache of three folders of 1000 bytes: one old, one older, one new."""
    now = time.time()
    for name, age in {OLDER_CODE: 3 * OLD, OLD_CODE: 2 * OLD, NEW_CODE: 0.0}.items():
        entry = tmp_path / "cache" / name
        entry.mkdir(parents=True)
        (entry / CODE).write_bytes(bytes(1000))
        os.utime(entry, (now - age, now - age))
    (tmp_path / "cache" / MARK).write_text(TEXT, encoding="utf-8")
    return tmp_path / "cache"


def test_a_small_cache_keeps_all(folder):
    assert tidy(folder, large=3000) == []


def test_the_oldest_go_first_until_the_cache_is_small(folder):
    assert tidy(folder, large=2500) == [OLDER_CODE]
    assert not (folder / OLDER_CODE).exists() and (folder / OLD_CODE).exists()


def test_what_was_used_lately_stays_in_a_large_cache(folder):
    assert tidy(folder, large=0) == [OLDER_CODE, OLD_CODE]
    assert (folder / NEW_CODE / CODE).exists()


def test_use_makes_it_new(folder):
    touch(folder / OLDER_CODE)
    assert tidy(folder, large=0) == [OLD_CODE]


def test_a_look_once_a_day(folder):
    assert tidy(folder, large=3000) == []
    assert tidy(folder, large=0) == []
    os.utime(folder / "tidied", (time.time() - 2 * DAY,) * 2)
    assert tidy(folder, large=0) == [OLDER_CODE, OLD_CODE]


def test_what_is_not_of_talus_stays(folder):
    for name in ("thesis", OLDER_CODE):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "data.bin").write_bytes(bytes(1000))
        os.utime(folder / name, (time.time() - 3 * OLD,) * 2)
    assert tidy(folder, large=0) == [OLDER_CODE, OLD_CODE]
    assert [file.name for file in (folder / OLDER_CODE).iterdir()] == ["data.bin"] and (
        folder / "thesis" / "data.bin"
    ).exists()


def test_a_folder_without_the_mark_keeps_all(folder):
    (folder / MARK).unlink()
    before = sorted(folder.rglob("*"))
    assert tidy(folder, large=0) == [] and sorted(folder.rglob("*")) == before
