"""Old machine code never runs: systems of each kind of definition, after edits and a regeneration, in new processes."""

import pytest

from tests.support.compiled_code import copied_code

pytestmark = pytest.mark.nightly  # a process compiles the equations of motion; in small: test_stale_kernels.py

PROGRAM = """
import numpy as np

import codegen
from runtime import Builder, Cone
from runtime.dynamics.equations import derivative_once
from runtime.dynamics.places import WHOLE
from runtime.system.whole_model import place_of
from runtime.system.workspaces import workspace

INERTIA = (0.01, 0.02, 0.03)
WEIGHTLESS = (0.0, 0.0, 0.0)


def say(kind, *values):
    print(kind, *(float(value) for value in values))


def rates(system):
    y_dot = np.zeros(13)
    work = workspace(system)
    derivative_once(0.0, system.state.y, system.data, work, y_dot)
    return y_dot[7:13], work.address[WHOLE] != 0


def falling():
    b = Builder("falling")
    b.body("bob", mass=1.0, inertia=INERTIA, r=(0, 0, 0), free=True)
    return b.build()


def link(kind):
    b = Builder("link", gravity=WEIGHTLESS)
    b.body("bob", mass=1.0, inertia=INERTIA, r=(1.0, 0.0, 0.0), v=(0.0, 1.0, 0.0), guess=True)
    b.joint("link", kind, "ground", "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), l=1.0)
    return b.build()


def guided():
    b = Builder("guided", gravity=WEIGHTLESS)
    b.body("bob", mass=1.0, inertia=INERTIA, r=(1.0, 0.0, 0.0))
    b.driver("path", "guided_point", "bob", s_i=(0, 0, 0), x_t=1.0, y_t=0.0, z_t=0.0)
    return b.build()


def limited(shape, **values):
    # a body turned by 60 degrees about y on a hinge in its centre of mass; the cone is 40 degrees wide
    b = Builder("limited", gravity=WEIGHTLESS)
    turn = np.deg2rad(30.0)
    b.body(
        "bob", mass=1.0, inertia=INERTIA, r=(0, 0, 0), p=(np.cos(turn), 0, np.sin(turn), 0), omega=(0.0, 0.5, 0.0)
    )
    b.joint("hinge", "revolute", "ground", "bob", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0), a_j=(0, 1, 0))
    settings = dict(max_moment=2.0, compliance=np.deg2rad(10.0)) | values
    cone = Cone.from_degrees([0, 90, 180, 270, 360], [40] * 5, shape)
    b.limit("stop", "hinge", reference="ground", xi=(1, 0, 0), eta=(0, 1, 0), direction=(0, 0, 1), cone=cone, **settings)
    return b.build()


def sliding():
    b = Builder("sliding", gravity=WEIGHTLESS)
    b.body("bob", mass=1.0, inertia=INERTIA, r=(0, 0, 0.099), v=(0.5, 0.0, 0.0), free=True)
    b.contact(
        "sole", "bob", centre=(0, 0, 0), radius=0.1, law="hertz", stiffness=1e5, friction="coulomb", mu_c=0.3, mu_d=0.0
    )
    return b.build()


def own(r_i, s_i, r_j, s_j, l):
    '''Points at a distance.

    s_i, s_j : the points, from the centres of mass [m]
    l : their distance [m]
    Singular when the points coincide.  The reaction is a force along their line.
    '''
    d = r_j + s_j - r_i - s_i
    return {"distance": d.dot(d) - l**2}


say("function", rates(falling())[0][2])
system = link("constant_distance")
say("joint", system.state.r["bob"][0], rates(system)[0][0])
say("driver", guided().state.r["bob"][0])
say("limit", rates(limited("latitude_spline", max_moment=1e-12, damping=0.1))[0][4])
say("law", rates(limited("latitude_spline"))[0][4])
say("cone", rates(limited("elliptical"))[0][4])
say("normal", rates(sliding())[0][2])
say("friction", rates(sliding())[0][0])
system = link(codegen.compile_joint(own))
say("own", system.state.r["bob"][0], rates(system)[0][0])
system = link("constant_distance")
say("kernel", place_of(system) is not None)
codegen.compile_model(system)
acceleration, used = rates(system)
say("whole", used, acceleration[0])
"""

NORMAL = 1e5 * 0.001**1.5  # [N] of the sphere, K delta^(3/2)
BEFORE = {
    "function": [-9.81], "joint": [1.0, -1.0], "driver": [1.0], "limit": [-0.1 * 0.5 / 0.02], "law": [-2.0 / 0.02],
    "cone": [-2.0 / 0.02], "normal": [NORMAL], "friction": [-0.3 * NORMAL], "own": [1.0, -1.0], "kernel": [0.0],
    "whole": [1.0, -1.0],
}  # fmt: skip
EDITS = [
    ("runtime/dynamics/kinematics.py", "(g[0], g[1], g[2]) + times(", "(g[0], g[1], 2.0 * g[2]) + times("),
    ("codegen/joints.py", '{"distance": d.dot(d) - l**2}', '{"distance": d.dot(d) - 4 * l**2}'),
    ("codegen/drivers.py", '{"x": point.x - x_t, "y": point.y', '{"x": point.x - 2 * x_t, "y": point.y'),
    ("codegen/limits.py", '"dissipation": damping / 2 * rate(angle) ** 2', '"dissipation": damping * rate(angle) ** 2'),
    ("codegen/laws.py", "return x**3 - x**4 / 2", "return 2 * x**3 - x**4"),
    ("codegen/cones.py", "x, y = a * cos(s), b * sin(s)", "x, y = 2 * a * cos(s), 2 * b * sin(s)"),
    ("codegen/contacts.py", "2 * stiffness * delta**2 * sqrt(delta) / 5", "4 * stiffness * delta**2 * sqrt(delta) / 5"),
    (
        "codegen/contacts.py",
        "mu_c * normal_force * sqrt(square) + drag",
        "2 * mu_c * normal_force * sqrt(square) + drag",
    ),
    ("program.py", '{"distance": d.dot(d) - l**2}', '{"distance": d.dot(d) - 9 * l**2}'),
]
AFTER = {
    "function": [-19.62],  # twice the gravity
    "joint": [2.0, -0.5],  # twice as far from the ground: the centripetal acceleration v^2 / r
    "driver": [2.0],
    "limit": [2 * BEFORE["limit"][0]],
    "law": [2 * BEFORE["law"][0]],
    "cone": [0.0],  # 80 degrees wide, so that the direction is inside
    "normal": [2 * NORMAL],
    "friction": [-2 * 0.3 * 2 * NORMAL],
    "own": [3.0, -1.0 / 3.0],
    "kernel": [0.0],  # the whole-model kernel of the earlier joint is not used
    "whole": [1.0, -0.5],
}


def test_after_edits_of_each_kind_and_a_regeneration_the_assembled_answers_change(copy):
    (copy.folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    copied_code(copy.cache)

    def answers():
        done = copy.python("program.py")
        assert done.returncode == 0, done.stderr
        lines = [line.split() for line in done.stdout.splitlines()]
        return {kind: pytest.approx([float(value) for value in values], abs=1e-9) for kind, *values in lines}

    assert answers() == BEFORE
    assert (
        answers() == BEFORE
    )  # from the cache; the program's whole-model kernel counts from the call that compiles it on
    for edit in EDITS:
        copy.edit(*edit)
    regenerated = copy.python("-m", "codegen")
    assert regenerated.returncode == 0, regenerated.stderr
    for name in ("constant_distance", "guided_point", "limit_hinge", "law_cubic", "cone_elliptical", "normal_hertz"):
        assert f"{name}.py" in regenerated.stdout
    assert answers() == AFTER
