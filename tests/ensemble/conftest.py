"""What decides how cases of an ensemble run."""

import pytest

from runtime.ensemble import chunk


@pytest.fixture
def in_lanes(monkeypatch):
    """All cases of trees run in lanes, until ``undo``."""

    def never(cases, *_):
        assert not len(cases), "cases ran one by one"

    monkeypatch.setattr(chunk, "_run_each", never)
    return monkeypatch


@pytest.fixture
def closed_in_lanes(monkeypatch):
    """All cases with closed loops or drivers run in lanes, until ``undo``."""

    chunks = 0

    def all_of_them(*arguments, run=chunk.run_side_by_side):
        nonlocal chunks
        left, chunks = run(*arguments), chunks + 1
        assert left == []
        return left

    monkeypatch.setattr(chunk, "run_side_by_side", all_of_them)
    yield monkeypatch
    assert chunks, "no case ran"
