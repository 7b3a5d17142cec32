"""Functions of vectors against those of ``math``."""

import math
from pathlib import Path

import numpy as np
import pytest
from llvmlite import ir

from runtime.jit.addresses import address_of_written
from runtime.jit.llvm_code import DOUBLE
from runtime.jit.recorder import Recorded, lesser
from runtime.lanes.vector_code import WIDTH, VectorCode
from runtime.lanes.vector_functions import Functions
from tests.support.lane_forces import call

WRITER = "runtime.lanes.vector_functions"
INF, NAN = math.inf, math.nan
SMALL, WIDE = np.linspace(-1.0, 1.0, 400), np.linspace(-1e4, 1e4, 400)
SIZES = np.concatenate([10.0 ** np.linspace(-300, 300, 121), [5e-324, 1e-310, 0.5, 1.0, 2.0]])
PLANE = np.array([(y, x) for y in (-2.0, -1e-9, -0.0, 0.0, 1.0, 1.5) for x in (-3.0, -1e-5, -0.0, 0.0, 1.0, 0.41)]).T
ROUND = np.linspace(-3.14, 3.14, 500)
POWERS = np.array(
    [(x, y) for x in (0.0, 1e-310, 1e-7, 0.3, 1.0, 7.0, 1e200, INF) for y in (-2.5, -1.0, 0.0, 0.5, 1.0, 1.4, 3.0)]
    + [(-2.0, 3.0), (-2.0, 0.5), (NAN, 1.0)]
).T  # fmt: skip
CASES = {
    "sin": (WIDE,), "cos": (WIDE,), "atan2": (np.hstack([PLANE[0], np.sin(ROUND)]), np.hstack([PLANE[1], np.cos(ROUND)])),
    "asin": (SMALL,), "atan": (np.array([*SMALL, *WIDE, -0.0, 1e300, NAN]),),
    "exp": (np.array([*np.linspace(-700, 700, 100), -745.0, -800.0, 708.5, 800.0, 0.0, NAN]),),
    "log": (np.array([*SIZES, 0.0, -1.0, INF, NAN]),), "pow": tuple(POWERS), "tanh": (SMALL,), "sqrt": (SIZES,),
    "copysign": (SMALL, SMALL[::-1].copy()), "fabs": (SMALL,),
}  # fmt: skip


def in_vectors(name, function, *arguments):
    """A function at each component of arrays."""

    def write(owner, symbol):
        kind = ir.FunctionType(ir.VoidType(), [DOUBLE.as_pointer()] * (len(arguments) + 1))
        made = ir.Function(owner, kind, symbol)
        builder = ir.IRBuilder(made.append_basic_block("entry"))
        code = VectorCode(builder)
        code.store(function(*(code.load(data, 0) for data in made.args[:-1])), made.args[-1], 0)
        builder.ret_void()
        return owner

    address = address_of_written(f"test_of_{name}", write, WRITER, "a function of vectors", Path(__file__).read_text())
    size = -(-len(arguments[0]) // WIDTH) * WIDTH
    given = [np.resize(argument, size) for argument in arguments]
    found = np.empty(size)
    for o in range(0, size, WIDTH):
        own = [np.ascontiguousarray(values[o : o + WIDTH]) for values in given]
        out = np.empty(WIDTH)
        call(address, [*own, out])
        found[o : o + WIDTH] = out
    return found[: len(arguments[0])]


@pytest.mark.parametrize("name", CASES)
def test_functions_of_vectors_are_those_of_the_library(name):
    arguments = CASES[name]
    found = in_vectors(name, getattr(Functions(), name), *arguments)
    with np.errstate(all="ignore"):
        of_numpy = {"atan2": np.arctan2, "asin": np.arcsin, "atan": np.arctan, "pow": np.power}
        wanted = of_numpy.get(name, getattr(np, name, None))(*arguments)
    assert found == pytest.approx(wanted, rel=4e-14 if name == "pow" else 2e-15, abs=2e-16, nan_ok=True)
    assert (np.signbit(found) == np.signbit(wanted))[~np.isnan(wanted)].all()


def test_powers_and_lesser_numbers():
    assert in_vectors("cube", lambda x: x**3, SMALL) == pytest.approx(SMALL**3, rel=1e-15)
    assert in_vectors("inverse", lambda x: x**-2, SMALL) == pytest.approx(SMALL**-2.0, rel=1e-15)
    assert in_vectors("half", lambda x: x**2.5, SIZES[:60]) == pytest.approx(SIZES[:60] ** 2.5, rel=1e-15)
    assert in_vectors("inverse_half", lambda x: x**-0.5, SIZES) == pytest.approx(SIZES**-0.5, rel=1e-15)
    assert in_vectors("of_two", lambda x: 2**x, SMALL) == pytest.approx(2.0**SMALL, rel=1e-15)
    assert (in_vectors("lesser", lesser, SMALL, -SMALL) == -np.abs(SMALL)).all()


def test_known_numbers_write_nothing():
    builder = ir.IRBuilder(ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), []), "f").append_basic_block())
    x = Recorded(VectorCode(builder), ir.Constant(ir.VectorType(DOUBLE, WIDTH), [2.0] * WIDTH))
    assert 0.0 * x == 0.0
    assert 1.0 * x + 0.0 is x
    assert not builder.block.instructions
    with pytest.raises(TypeError, match="decide nothing"):
        bool(x)
