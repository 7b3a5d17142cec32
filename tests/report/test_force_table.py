"""The table of forces that ``talus info`` shows."""

from runtime import Builder
from runtime.report.force_table import force_table


def test_forces_are_listed_with_their_constants():
    b = Builder("sprung")
    b.body("a", mass=1.0, inertia=(1, 1, 1), r=(0, 0, -1), free=True)
    values = dict(s_i=(0, 0, 0), s_j=(0, 0, 0), stiffness=50.0, damping=0.5, free_length=1.0)
    b.force("f", "spring_damper", "ground", "a", **values)
    (row,) = force_table(b.build()).rows
    constants = "stiffness 50 N/m, damping 0.5 N s/m, free_length 1 m"
    assert row == ["f", "spring_damper", "ground, a", constants, "length, tension"]
