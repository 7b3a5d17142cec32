"""Work of numba's that is left out: same machine code, generators, nothing left behind."""

import re
from contextlib import nullcontext

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.postproc import PostProcessor

from runtime.jit.shortcuts import shortcuts


def largest(values, bound):
    found, at = -np.inf, -1
    for i in range(len(values)):
        value = values[i] ** 2 if values[i] < bound else bound
        if value > found:
            found, at = value, i
    return found, at


def halves(n):
    while n > 0:
        yield n
        n //= 2


def machine_code(context):
    function = numba.njit(largest)
    with context:
        function.compile("(float64[::1], float64)")
    (code,) = function.inspect_llvm().values()
    return re.sub(r"B\d*v\d+", "", code)  # numbers of functions


def test_machine_code_is_the_same():
    assert machine_code(shortcuts()) == machine_code(nullcontext())


def test_generators_are_compiled():
    with shortcuts():
        assert list(numba.njit(halves)(9)) == [9, 4, 2, 1]


def test_numba_is_as_before_even_after_errors():
    before = PostProcessor.run, event.install_timer
    with pytest.raises(ZeroDivisionError), shortcuts():
        assert PostProcessor.run is not before[0]
        raise ZeroDivisionError
    assert before == (PostProcessor.run, event.install_timer)
