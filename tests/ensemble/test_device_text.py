"""The memory of a thread of a graphics processor, from the definitions of the memory of a batch."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest

from runtime.dynamics.layout import LANES
from runtime.integrate.batches.batch import batch_workspace, tree_workspace
from runtime.integrate.batches.contact_memory import batch_contacts
from runtime.integrate.batches.device_text import text_of_kernel
from runtime.integrate.batches.memory_kinds import Common, OfCases, OfLanes
from runtime.jit.named_rows import Block, Fields, Row, with_lanes
from runtime.support.arrays import Floats


class Named(Fields):
    """Two numbers of a lane."""

    low: Row
    high: Row


@with_lanes(LANES)
class Memory(NamedTuple):
    """Memory with an array of each place."""

    common: Common[Floats]
    of_case: OfCases[Floats]
    own: OfLanes[Floats]
    named: Annotated[OfLanes[Floats], Block(Named, table=True)]


class Unknown(NamedTuple):
    """Memory with a field without a kind."""

    common: Common[Floats]
    forgotten: Floats


def test_fields_find_their_places_by_their_kinds():
    memory = Memory(np.zeros(3), np.zeros((5, 2)), np.zeros((4, 7 * LANES)), Named.block(LANES, 3))
    text, of = text_of_kernel(memory)
    assert [one.name for one in of.arguments] == ["m_common", "m_of_case"]
    named = "Named(m_named_low, m_named_high, 1)"
    assert f"m = Memory(m_common, m_of_case[min(case, m_of_case.shape[0] - 1) :], m_own, {named}, 1)" in text
    assert (
        of.types["Named"]._fields == ("low", "high", "W") and "m_named_low = cuda.local.array((3, 1), float64)" in text
    )
    assert "m_own = cuda.local.array((4, 7), float64)" in text
    memory.own[2, LANES] = 5.0  # memory of a thread begins as that of a batch
    text, of = text_of_kernel(memory)
    assert of.arguments[-1].name == "m_own_begin" and of.arguments[-1].array[2, 1] == 5.0


def test_a_field_without_a_kind_is_named():
    with pytest.raises(TypeError, match=r"^Unknown\.forgotten does not say to what it belongs"):
        text_of_kernel(Unknown(np.zeros(3), np.zeros(3)))


def test_all_memories_of_a_batch_have_kinds():
    contacts = batch_contacts(0, np.zeros((2, 5), np.int64), np.zeros(2), 0.0, 3)
    for memory in (batch_workspace([False], 5), tree_workspace((0, 0), 5, np.ones((4, 6)), contacts=contacts)):
        text, of = text_of_kernel(memory)
        names = [one.name for one in of.arguments]
        assert {"m_which", "m_limits_q", "m_forces_signals_knot", "m_contacts_events"} <= {*names}
        assert f"cuda.local.array({len(memory.y) // LANES}, float64)" in text
        assert len(of.arguments[names.index("m_cap")].array) == len(memory.y) // LANES
