"""What a cache that has grown large loses, and what it keeps."""

import json
import os
import time

import pytest

from runtime.jit.tidying import CHECKOUTS, DAY, OLD, record, recorded, tidy, touch


@pytest.fixture
def folder(tmp_path):
    """A cache of three folders of 1000 bytes: one old, one older, one new."""
    now = time.time()
    for name, age in {"older": 3 * OLD, "old": 2 * OLD, "new": 0.0}.items():
        entry = tmp_path / "cache" / name
        entry.mkdir(parents=True)
        (entry / "f-1").write_bytes(bytes(1000))
        os.utime(entry, (now - age, now - age))
    return tmp_path / "cache"


@pytest.fixture
def checkout(tmp_path):
    """Another checkout."""
    (tmp_path / "checkout" / "generated").mkdir(parents=True)
    return tmp_path / "checkout"


def test_a_small_cache_keeps_all(folder):
    assert tidy(folder, large=3000) == []


def test_the_oldest_go_first_until_the_cache_is_small(folder):
    assert tidy(folder, large=2500) == ["older"]
    assert not (folder / "older").exists() and (folder / "old").exists()


def test_what_was_used_lately_stays_in_a_large_cache(folder):
    assert tidy(folder, large=0) == ["older", "old"]
    assert (folder / "new" / "f-1").exists()


def test_use_makes_it_new(folder):
    touch(folder / "older")
    assert tidy(folder, large=0) == ["old"]


def test_a_look_once_a_day(folder):
    assert tidy(folder, large=3000) == []
    assert tidy(folder, large=0) == []
    os.utime(folder / "tidied", (time.time() - 2 * DAY,) * 2)
    assert tidy(folder, large=0) == ["older", "old"]


def test_what_another_checkout_uses_stays_until_it_is_gone(folder, checkout):
    record(folder, "one", ["older"], checkout)
    assert recorded(folder, "one", checkout) and not recorded(folder, "two", checkout)
    assert tidy(folder, large=0) == ["old"]
    (checkout / "generated").rmdir()
    (folder / "tidied").unlink()
    assert tidy(folder, large=0) == ["older"]
    assert not list((folder / CHECKOUTS).glob("*.json"))


def test_what_another_machine_uses_stays_until_its_record_is_old(folder, checkout, monkeypatch):
    with monkeypatch.context() as other:
        other.setattr("platform.node", lambda: "another")
        record(folder, "one", ["older"], checkout)
    (checkout / "generated").rmdir()  # it has other folders
    assert tidy(folder, large=0) == ["old"]
    os.utime(next((folder / CHECKOUTS).glob("*.json")), (time.time() - 2 * OLD,) * 2)
    (folder / "tidied").unlink()
    assert tidy(folder, large=0) == ["older"]


def test_what_killed_processes_left_goes(folder):
    for name in ("f-1.lock", "f-1.4711"):
        (folder / "new" / name).write_bytes(b"")
        os.utime(folder / "new" / name, (time.time() - 2 * DAY,) * 2)
    (folder / "new" / "g-1.lock").write_bytes(b"")
    os.utime(folder / "new", None)
    assert tidy(folder) == []
    assert {file.name for file in (folder / "new").iterdir()} == {"f-1", "g-1.lock"}


def test_other_sources_of_a_checkout_free_what_it_used(folder, checkout):
    record(folder, "one", ["older"], checkout)
    record(folder, "two", ["new"], checkout)
    assert tidy(folder, large=0) == ["older", "old"]


def test_damaged_records_are_no_records(folder, checkout):
    record(folder, "one", ["older"], checkout)
    file = next((folder / CHECKOUTS).glob("*.json"))
    for text in ("", "[]", json.dumps({"packages": 3})):
        file.write_text(text, encoding="utf-8")
        assert not recorded(folder, "one", checkout)
    assert tidy(folder, large=0) == ["older", "old"]
