"""What a cache that has grown large loses, and what it keeps."""

import os
import time

import pytest

from runtime.jit.place import MARK, TEXT
from runtime.jit.tidying import CHECKOUTS, DAY, OLD, record, recorded, tidy, touch

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


@pytest.fixture
def checkout(tmp_path):
    """Another checkout."""
    (tmp_path / "checkout" / "generated").mkdir(parents=True)
    return tmp_path / "checkout"


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


def test_what_another_checkout_uses_stays_until_it_is_gone(folder, checkout):
    record(folder, "one", [OLDER_CODE], checkout)
    assert recorded(folder, "one", checkout) and not recorded(folder, "two", checkout)
    assert tidy(folder, large=0) == [OLD_CODE]
    (checkout / "generated").rmdir()
    (folder / "tidied").unlink()
    assert tidy(folder, large=0) == [OLDER_CODE]
    assert not list((folder / CHECKOUTS).glob("*.json"))


def test_what_another_machine_uses_stays_until_its_record_is_old(folder, checkout, monkeypatch):
    with monkeypatch.context() as other:
        other.setattr("platform.node", lambda: "another")
        record(folder, "one", [OLDER_CODE], checkout)
    (checkout / "generated").rmdir()  # it has other folders
    assert tidy(folder, large=0) == [OLD_CODE]
    os.utime(next((folder / CHECKOUTS).glob("*.json")), (time.time() - 2 * OLD,) * 2)
    (folder / "tidied").unlink()
    assert tidy(folder, large=0) == [OLDER_CODE]


def test_what_killed_processes_left_goes(folder):
    others = "poetry.lock", "trial.01", "paper.2024"
    for name in (f"{CODE}.lock", f"{CODE}.4711", *others):
        (folder / NEW_CODE / name).write_bytes(b"")
        os.utime(folder / NEW_CODE / name, (time.time() - 2 * DAY,) * 2)
    (folder / NEW_CODE / f"g-{'2' * 20}.lock").write_bytes(b"")
    os.utime(folder / NEW_CODE, None)
    assert tidy(folder) == []
    assert {file.name for file in (folder / NEW_CODE).iterdir()} == {CODE, f"g-{'2' * 20}.lock", *others}


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


def test_other_sources_of_a_checkout_free_what_it_used(folder, checkout):
    record(folder, "one", [OLDER_CODE], checkout)
    record(folder, "two", [NEW_CODE], checkout)
    assert tidy(folder, large=0) == [OLDER_CODE, OLD_CODE]
