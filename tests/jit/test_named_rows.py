"""Named numbers of lanes in compiled code: their places, and the number of lanes as a constant of the type."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest

from runtime.jit.compilation import compiled, inlined
from runtime.jit.named_rows import Block, Fields, Row, with_lanes
from runtime.support.arrays import Floats


class State(Fields):
    """Numbers of a lane."""

    time: Row
    length: Row


class Part(NamedTuple):
    """Memory within another, which has the lanes of that."""

    table: Annotated[Floats, Block(State, table=True)]


@with_lanes(4)
class Four(NamedTuple):
    """Memory of four lanes."""

    s: Annotated[Floats, Block(State)]
    part: Part


@with_lanes(1)
class One(Four):
    """Memory of one lane."""


@inlined
def _step(s):  # type: ignore[no-untyped-def]
    for lane in range(s.W):
        s.time[lane] += s.length[lane]
    return len(s.time)


@compiled
def _steps(m):  # type: ignore[no-untyped-def]
    for k in range(2):
        for lane in range(m.part.W):
            m.part.table.length[k, lane] = 10.0 * k + lane
    return _step(m.s) + m.W


@pytest.mark.parametrize("kind", [One, Four])
def test_fields_have_their_places_for_any_number_of_lanes(kind):
    m = kind(State.block(kind.W), Part(State.block(kind.W, 2)))
    m.s[:] = np.arange(2 * kind.W).reshape(2, kind.W)
    assert _steps(m) == 2 * kind.W
    assert m.s[0].tolist() == [kind.W + 2.0 * lane for lane in range(kind.W)]
    assert m.part.table[:, 1].tolist() == [[10.0 * k + lane for lane in range(kind.W)] for k in range(2)]
    assert not m.part.table[:, 0].any()


def test_another_name_is_refused():
    @compiled
    def asks(m):  # type: ignore[no-untyped-def]
        return m.s.tiem[0]

    with pytest.raises(Exception, match="tiem"):
        asks(One(State.block(1), Part(State.block(1, 2))))
