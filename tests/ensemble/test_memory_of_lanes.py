"""Memory of cases side by side: where its vectors lie, and which parts of the integration it has."""

import numpy as np
import pytest

import models
from runtime.dynamics.layout import LANES
from runtime.ensemble.joint_batch import acting_on, has_parameters, in_joints, memory_of_batch, trees_of_system
from runtime.integrate.batches.memory_kinds import Kind, fields_of
from runtime.lanes.lift import lanes_of_tree
from runtime.support.arrays import VECTOR, lanes_of
from tests.support.pulses import hinged
from tests.support.touches import thrown

SYSTEMS = {
    "free": models.foot.build(),
    "limits": models.foot.build(limits="dissipative"),
    "contact": models.foot_ground.build(),
    "pulse": hinged(1.0, 0.1, 1.0),
    "corner": thrown(1e-3, 0.0, 100.0, 0.0),
}


def memory_of(system, cases=3):
    systems = [(system, np.arange(cases))]
    z = in_joints(systems, np.tile(system.state.y, (cases, 1)))
    z = np.pad(z, ((0, 0), (0, int(has_parameters(system)))))
    return memory_of_batch(system, z, 100, acting_on(systems), 1e-6)


def vectors_of(memory):
    """Arrays of floats of the lanes, by name."""
    for name, kind, value in fields_of(memory):
        if isinstance(value, tuple):
            yield from vectors_of(value) if kind is None else ()
        elif kind in (Kind.OF_LANES, Kind.REPEATED) and value.dtype == float and value.size:
            yield f"{type(memory).__name__}.{name}", value


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_vector_lies_across_two_lines_of_the_cache(system):
    vectors = dict(vectors_of(memory_of(SYSTEMS[system])))
    assert len(vectors) > 15
    assert [name for name, value in vectors.items() if value.ctypes.data % VECTOR] == []


def test_memories_begin_with_a_vector():
    of_tree = lanes_of_tree(trees_of_system(SYSTEMS["free"]), 6)
    arrays = [*(lanes_of(count, 3) for count in range(1, 9)), *of_tree.lifting, *of_tree.bodies, of_tree.z, of_tree.y]
    assert all(array.ctypes.data % VECTOR == 0 and array.flags.c_contiguous for array in arrays)
    assert lanes_of(0, LANES).shape == (0, LANES) and not lanes_of(2, LANES).any()


@pytest.mark.parametrize("system", SYSTEMS)
def test_parts_of_the_integration_are_there_where_they_are_needed(system):
    memory = memory_of(SYSTEMS[system])
    assert (memory.surfaces.part[0] != 0) == (system in ("limits", "contact"))
    assert (memory.forces.unseen_by[0] != 0) == (system in ("pulse", "corner"))
