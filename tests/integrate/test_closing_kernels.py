"""Kernels of trees whose coordinates rows of joints restrain, against the equations of all bodies."""

import re
import sys

import numpy as np
import pytest

import codegen
import models
import runtime
from benchmarks.mechanisms import model, problem
from codegen.compiler import closed_tree, tree_kinematics, whole
from codegen.compiler.errors import DefinitionError, NoKernelError
from codegen.compiler.study import module_from, refuse_wrong_tree
from codegen.compiler.trace import Record
from codegen.compiler.tree_equations import TreeEquations
from models.shipped import SYSTEMS
from runtime.system.trees import trees_of
from tests.support.free_steps import chain, gait, posed
from tests.support.loops import bricard, rounded
from tests.support.refusals import refused_with

SETTINGS = dict(rtol=1e-10, atol=1e-10)
KERNEL, RECURSION = "joint coordinates", "joint coordinates, by recursion"


def slider_crank(*, plane=None, spring=False, driver=False):
    """Crank, rod and piston in the x-z plane, or in another one: ``plane`` is a rotation matrix."""
    A = np.eye(3) if plane is None else plane
    b = runtime.Builder("slider-crank", axes="global", gravity=A @ (0, 0, -9.81))

    def at(*r):
        return A @ r

    def inertia(*moments):
        J = A @ np.diag(moments) @ A.T
        return (J + J.T) / 2

    b.body("crank", mass=0.5, inertia=inertia(1e-4, 5e-4, 5e-4), r=at(0.05, 0, 0))
    b.body("rod", mass=0.8, inertia=inertia(1e-4, 6e-3, 6e-3), r=at(0.25, 0, 0))
    b.body("piston", mass=1.0, inertia=inertia(1e-3, 1e-3, 1e-3), r=at(0.4, 0, 0))
    b.joint("bearing", "revolute", "ground", "crank", point=at(0, 0, 0), axis=at(0, 1, 0))
    b.joint("crank_pin", "revolute", "crank", "rod", point=at(0.1, 0, 0), axis=at(0, 1, 0))
    b.joint("piston_pin", "spherical", "rod", "piston", point=at(0.4, 0, 0))
    b.joint("guide", "translational", "ground", "piston", point=at(0.4, 0, 0), axis=at(1, 0, 0))
    if spring:
        b.force(
            "spring",
            "spring_damper",
            "ground",
            "piston",
            s_i=at(0, 0, 0),
            s_j=at(0.4, 0, 0),
            stiffness=200.0,
            damping=3.0,
            free_length=0.3,
        )
    if driver:
        turn = runtime.Signal.function(lambda t: 6.0 * np.sin(t) ** 3, 0.0, 2.0)
        vectors = dict(h_i=at(0, -1, 0), a_i=at(1, 0, 0), b_j=at(1, 0, 0))
        b.driver("motor", "guided_angle", "ground", "crank", **vectors, theta_t=turn)
    return b.build()


def brick():
    """Bricard's linkage along the edges of a cube."""
    return model.build(problem.shipped("bricard_brick"))


LOOPS = {
    "independent rows": models.four_bar.build,
    "four hinges": lambda: models.four_bar.build("revolute", crank_speed=3.0),
    "slider-crank": slider_crank,
    "slider-crank with a spring": lambda: slider_crank(spring=True),
    "slider-crank with a driver": lambda: slider_crank(driver=True),
    "Bricard": brick,
    "hooke shaft": models.hooke_shaft.build,
    "spatial slider-crank": lambda: model.build(problem.shipped("slider_crank_iftomm")),
}


@pytest.fixture
def own_kernels(tmp_path, monkeypatch):
    """A folder of their own for the kernels of a study."""
    import runtime.system.model_description as description

    monkeypatch.setattr(description, "cache_folder", lambda: tmp_path)

    def forget():
        for name in [name for name in sys.modules if name.startswith("whole.model_")]:
            del sys.modules[name]

    forget()
    yield
    forget()


def operations(text):
    return int(re.findall(r"(\d+) operations\.", text)[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"),
    [("four hinges", 2), ("slider-crank", 2)],
)
def test_operations_are_a_fifth_of_those_in_absolute_coordinates(name, rows):
    """Rows across the plane of a planar mechanism are left out: of a hinge three of five."""
    system = LOOPS[name]()
    text = closed_tree.emit_closed_tree(trees_of(system).closed)
    assert len(module_from(text, "<loop>", "loop").ROWS) == rows
    assert 5 * operations(text) < operations(whole.emit_model(system.model))


def test_rounding_of_axes_and_points_is_no_other_kernel():
    small = np.cos(np.pi / 2)
    quarter = np.array([[small, -1.0, 0.0], [1.0, small, 0.0], [0.0, 0.0, 1.0]])
    turned, plain = slider_crank(plane=quarter), slider_crank(plane=np.round(quarter))
    assert small != 0.0 and trees_of(turned).closed.key == trees_of(plain).closed.key
    oblique = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    assert trees_of(slider_crank(plane=oblique)).closed.key != trees_of(plain).closed.key


def test_small_bodies_are_not_rounding():
    """What is 0 is decided by the sizes of the mechanism, not by 1 m and 1 kg."""
    small = models.four_bar.build(
        "revolute", crank=2e-3, coupler=5e-3, rocker=4e-3, base=5e-3, density=1e-6, check_units=False
    )
    given, made = (sum(v is None for v in trees_of(s).closed.constants) for s in (LOOPS["four hinges"](), small))
    assert given == made
    joint = runtime.simulate(small, 0.1, coordinates="joint", **SETTINGS)
    absolute = runtime.simulate(small, 0.1, coordinates="absolute", **SETTINGS)
    assert joint.stats.kernel == KERNEL and joint.r["rocker"][-1] == pytest.approx(absolute.r["rocker"][-1], abs=1e-7)


def test_nearly_dependent_rows_of_rounded_linkages(own_kernels):
    """The axes are along no axes of the ground, so all rows stay, and the runtime leaves out those that depend on others."""
    system = rounded(bricard, 12).build()
    codegen.compile_model(system)
    run = runtime.simulate(system, 1.0, coordinates="joint")
    absolute = runtime.simulate(system, 1.0, coordinates="absolute")
    assert run.success and run.stats.kernel == KERNEL
    assert run.states[-1] == pytest.approx(absolute.states[-1], abs=1e-5)


@pytest.mark.parametrize("what", ["_moved", "_along", "_rows"])
def test_wrong_equations_are_refused(monkeypatch, what):
    whose = tree_kinematics.TreeMotion if what == "_moved" else closed_tree.ClosingRows
    system, right = slider_crank(), getattr(whose, what)

    def wrong(self, *given):
        found = right(self, *given)
        if what == "_moved":
            return found._replace(a=[2.0 * x for x in found.a])
        if what == "_along":
            return [-found[0], *found[1:]]
        found[0].Phi_dot = found[0].Phi_dot * 1.001
        return found

    monkeypatch.setattr(whose, what, wrong)
    refused_with(
        DefinitionError,
        ("differ from those of all bodies by ", " limit 1e-09"),
        refuse_wrong_tree,
        system,
        closed_tree.emit_closed_tree(trees_of(system).closed),
    )


@pytest.mark.parametrize("least", [0.0, 0.01])
def test_a_redundant_system_has_a_kernel_in_joint_coordinates(own_kernels, least):
    """One of thin rods, without moments of inertia below the least one, too; runs before its making do not matter."""
    system = LOOPS["Bricard"]()
    moments = {f"inertia.{body.name}": np.diag(body.inertia) for body in system.bodies}
    system = runtime.with_parameters(system, {name: np.where(J < least, 0.0, J) for name, J in moments.items()})
    assert system.redundant and "joint coordinates" not in runtime.simulate(system, 0.1).stats.kernel
    before = runtime.simulate(system, 0.5, coordinates="joint", **SETTINGS)
    assert before.stats.kernel == RECURSION
    file = codegen.compile_model(system)
    run = runtime.simulate(system, 0.5, **SETTINGS)
    assert file.is_file() and run.stats.kernel == KERNEL
    assert run.states[-1] == pytest.approx(before.states[-1], abs=1e-8)


def test_shipped_loops_have_kernels():
    for name in ("four_bar", "four_bar_revolute", "hooke_shaft"):
        assert runtime.simulate(SYSTEMS[name](), 0.01).stats.kernel == KERNEL


def test_long_trees_are_refused_at_once():
    refused_with(
        NoKernelError,
        "a tree of 12 steps has equations of more than 1000 terms",
        TreeEquations,
        Record(),
        ("turn",) * 12,
        range(-1, 11),
    )


def test_joints_that_read_euler_parameters_are_refused(monkeypatch):
    """A tree gives rotation matrices and angular velocities of its bodies."""
    system = slider_crank()

    def kernel(body_i, body_j, x, Phi, Phi_dot, D, gamma):
        Phi[0] = body_j[3]

    joint = trees_of(system).closed.joints[0]
    object.__setattr__(joint, "kernel", kernel)
    refused_with(NoKernelError, "reads Euler parameters", closed_tree.emit_closed_tree, trees_of(system).closed)


def door(height):
    """A door on two hinges, of which one repeats the other."""
    b = runtime.Builder("door", axes="global")
    b.body("door", mass=10.0, inertia=(0.8, 0.9, 0.1), r=(0.4, 0.1, 0.0))
    axis = np.array([0.1, 0.2, 1.0])
    for name, z in (("upper", height), ("lower", -height)):
        b.joint(name, "revolute", "ground", "door", point=z * axis, axis=axis)
    return b.build()


def rods():
    """A rod on a hinge, and a point mass that a rod to a point beside it holds: rotations without inertia, which rows act on."""
    b = runtime.Builder("rods", axes="global")
    b.body("rod", mass=1.0, inertia=(0.0, 0.03, 0.03), r=(0.2, 0.0, 0.0))
    b.body("ball", mass=0.5, inertia=(0.0, 0.0, 0.0), r=(0.5, 0.0, 0.2))
    b.joint("hinge", "revolute", "ground", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "revolute", "rod", "ball", point=(0.4, 0, 0), axis=(0, 1, 0.3))
    b.joint(
        "link", "constant_distance", "ground", "ball", s_i=(0.9, 0.1, 0.0), s_j=(0.6, 0.1, 0.3), l=np.hypot(0.3, 0.3)
    )
    return b.build()


@pytest.mark.parametrize("build", [*LOOPS.values(), lambda: door(1.0), rods, gait, chain, posed])
def test_against_the_equations_of_all_bodies(build):
    """In poses off the rows, where a turn that moves both bodies of a closing joint changes Phi."""
    system = build()
    text = closed_tree.emit_closed_tree(trees_of(system).closed)
    assert trees_of(system).error(module_from(text, f"<{system.name}>", "loop")) < 1e-10


@pytest.mark.parametrize("build", [lambda: door(1.0), rods], ids=["rows that all repeat others", "thin bodies"])
def test_loops_that_leave_a_tree_and_thin_bodies_have_kernels(build, own_kernels):
    system = build()
    codegen.compile_model(system)
    run, absolute = (runtime.simulate(system, 0.5, coordinates=c, **SETTINGS) for c in ("joint", "absolute"))
    assert run.success and run.stats.kernel == KERNEL and run.violation.max() < 1e-13
    assert run.states[-1] == pytest.approx(absolute.states[-1], abs=1e-8)


def test_forces_on_loops_are_left_to_their_kernel(own_kernels):
    """A spring does not change which kernel a loop has; contacts are left to absolute coordinates."""
    system = slider_crank(spring=True)
    assert "joint coordinates" not in runtime.simulate(system, 0.1).stats.kernel
    codegen.compile_model(slider_crank())
    run, absolute = (runtime.simulate(system, 1.0, coordinates=c, **SETTINGS) for c in ("auto", "absolute"))
    assert run.stats.kernel == KERNEL and run.r["piston"][-1] == pytest.approx(absolute.r["piston"][-1], abs=1e-8)
    assert np.abs(run.energy_balance.error).max() < 1e-8
