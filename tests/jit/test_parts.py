"""Parts of compiled code that are compiled when they are first called: once, and with errors that reach the caller."""

import ctypes

import pytest
from numba import types

from runtime.jit import compilation
from runtime.jit.compilation import compiled, inlined, place_of_address
from runtime.jit.pointers import call_at


def doubled(x):
    return 2 * x


@compiled
def call_twice(place, x):
    return call_at(place, call_at(place, x))


@pytest.fixture
def place():
    """The place of a function that was not called yet."""
    place_of_address.cache_clear()
    compilation.address_of_compiled.cache_clear()
    return place_of_address(doubled, types.int64(types.int64), 2)


def address_in(place):
    return ctypes.c_int64.from_address(place).value


def test_a_part_is_compiled_when_it_is_first_called(place):
    before = address_in(place)
    assert call_twice(place, 3) == 12
    after = address_in(place)
    assert after != before
    assert call_twice(place, 4) == 16 and address_in(place) == after


@pytest.mark.parametrize("error", [RuntimeError("no compiler"), KeyboardInterrupt()])
def test_an_error_of_the_compilation_reaches_the_caller(place, monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(compilation, "address_of_compiled", fails)
    with pytest.raises(type(error)):
        call_twice(place, 3)
    monkeypatch.undo()
    assert call_twice(place, 3) == 12  # the next call tries again


def plus(number):
    def same_name(x):
        return x + 1

    def of_one(x):
        return x + 2

    of_one.__qualname__ = of_one.__name__ = same_name.__name__
    return compiled((same_name, of_one)[number - 1])


def test_functions_of_one_name_have_machine_code_of_their_own():
    assert [plus(number)(1) for number in (1, 2, 1, 2)] == [2, 3, 2, 3]


@compiled
def applied(function, x):
    return function(x)


def test_machine_code_that_holds_for_one_process_is_refused():
    function = inlined(doubled)

    @compiled
    def of_a_function(x):
        return function(x)

    for call in (lambda: applied(function, 3), lambda: of_a_function(3)):
        with pytest.raises(TypeError, match="': its machine code belongs to this process and cannot be kept"):
            call()
