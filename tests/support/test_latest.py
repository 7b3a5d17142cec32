"""Values made of objects, found by identity."""

from __future__ import annotations

from runtime.support.latest import Latest


def test_a_value_is_made_once_for_the_same_objects():
    made = []
    latest = Latest(lambda *objects: made.append(objects) or len(made), 2)
    a, b = [1], [1]  # equal, and two objects
    assert latest(a) == 1 and latest(a) == 1
    assert latest(b) == 2 and latest(a, b) == 3
    assert latest(a, b) == 3 and len(made) == 3


def test_the_value_that_was_not_used_for_longest_goes_first():
    latest, objects = Latest(lambda o: object(), 2), [[0], [1], [2]]
    first, second = latest(objects[0]), latest(objects[1])
    assert latest(objects[0]) is first
    latest(objects[2])
    assert latest(objects[0]) is first and latest(objects[1]) is not second


def test_an_object_at_the_address_of_one_that_ended_is_another():
    """An object whose value is kept stays alive, so that no other can have its identity."""
    latest = Latest(lambda o: list(o), 4)
    assert [latest([n])[0] for n in range(100)] == list(range(100))
