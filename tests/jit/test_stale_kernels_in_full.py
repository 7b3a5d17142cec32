"""Old machine code never runs: an assembled system after edits, with a regeneration of all kernels."""

import pytest

pytestmark = pytest.mark.slow  # each process compiles the equations of motion anew

PROGRAM = """
import numpy as np
import runtime
from runtime.dynamics.equations import derivative_once, workspace_for
b = runtime.Builder("link")
b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(1.0, 0.0, 0.0), v=(0.0, 1.0, 0.0))
b.joint("link", "constant_distance", "ground", "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), l=1.0)
system = b.build()
y_dot = np.zeros(13)
derivative_once(0.0, system.state.y, system.data, workspace_for(system.data), y_dot)
print(*system.state.r["bob"], *y_dot[7:10])
"""


def test_after_edits_and_a_regeneration_the_assembled_answer_changes(copy):
    first = copy.numbers("-c", PROGRAM)
    assert first == pytest.approx([1, 0, 0, -1, 0, -9.81], abs=1e-12)
    assert first == copy.numbers("-c", PROGRAM)  # from the cache

    copy.edit("codegen/joints.py", '{"distance": d.dot(d) - l**2}', '{"distance": d.dot(d) - 4 * l**2}')
    regenerated = copy.python("-m", "codegen")
    assert regenerated.returncode == 0 and "constant_distance.py" in regenerated.stdout
    copy.edit("runtime/dynamics/kinematics.py", "free[k] = t.gravity[k]", "free[k] = 2.0 * t.gravity[k]")
    assert copy.numbers("-c", PROGRAM) == pytest.approx([2, 0, 0, -0.5, 0, -19.62], abs=1e-12)
