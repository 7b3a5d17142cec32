"""The kernels of forces against differences of their potentials and of themselves; checks of kernels broken on purpose."""

import inspect
import re

import numpy as np
import pytest
import sympy as sp

from tests.support.force_kernels import FORCES, Case, looked_up
from tests.support.kernel_text import distances, functions_of, lint, lint_tangent
from tests.support.marks import over
from tests.support.motions import distance, rotation_matrix

SEEDS = range(3)
POTENTIAL, POTENTIAL_RATE, REPORTS = 24, 25, 26
BUSHINGS = {"bushing": ("_xi", "_eta", "_zeta"), "frame_bushing": ("x", "y", "z")}  # ends of the names of parameters
OPERATIONS = {
    "bushing": 689,
    "cable": 134,
    "frame_bushing": 869,
    "hinge_exponential": 302,
    "hinge_friction": 115,
    "hinge_limit": 582,
    "hinge_spring": 289,
    "hinge_stop": 324,
    "ligament": 162,
    "link_ligament": 268,
    "rotational_damper": 30,
    "slider_friction": 141,
    "slider_limit": 473,
    "slider_spring": 139,
    "smooth_contact": 407,
    "spring_damper": 132,
    "stop": 140,
    "tabulated_hinge_spring": 288,
    "tabulated_spring": 121,
    "tabulated_tendon": 347,
    "tendon": 347,
    "torsional_spring": 249,
    "two_way_spring": 298,
    "windlass": 228,
}
LIGAMENTS = ("ligament", "link_ligament", "windlass")
HINGES = (
    "hinge_spring", "two_way_spring", "tabulated_hinge_spring", "hinge_stop", "hinge_limit", "hinge_exponential",
)  # fmt: skip
all_forces = pytest.mark.parametrize("name", list(FORCES))
seeds = over("seed", SEEDS)


def expected_wrench(c):
    """Minus the slope of the potential, and the forces of dampers along their coordinates, by differences alone."""
    slopes = c.slopes(slice(POTENTIAL, None))
    along = np.concatenate([slopes[:, 12 * b : 12 * b + 6] for b in range(c.count)], axis=1)
    outputs = dict(zip(["potential", "its rate", *(name for name, _ in c.module.OUTPUTS)], along, strict=True))
    Q = -outputs["potential"]
    v = c.values
    if c.module.NAME == "hinge_stop":
        moment = c.run()[-1]
        still = c.run(np.column_stack([c.states[:, :7], np.zeros((4, 6))]))[-1]
        beyond = -still / v["stiffness"]
        assert abs(beyond) == pytest.approx(abs(c.run()[REPORTS] - v["middle"]) - v["half_range"], rel=1e-9)
        assert moment == pytest.approx(
            still * (1.0 + np.sign(beyond) * v["loss"] * (outputs["angle"] @ c.twist)), rel=1e-9
        )
        return Q + (moment - still) * outputs["angle"]
    if "transition" in v:
        name = "angle" if "angle" in outputs else "distance"
        beyond = abs(c.run()[REPORTS] - v["middle"]) - v["half_range"]
        part = min(beyond / v["transition"], 1.0)
        held = part**3 * (10.0 - 15.0 * part + 6.0 * part**2)
        assert beyond > 0.0
        side = "upper" if c.run()[REPORTS] > v["middle"] else "lower"
        size = v[f"{side}_stiffness"] * held * beyond  # OpenSim's own formula of the moment
        assert np.abs(Q) == pytest.approx(size * np.abs(outputs[name]), rel=1e-6, abs=1e-7)
        return Q - v["damping"] * held * (outputs[name] @ c.twist) * outputs[name]
    if c.module.NAME == "rotational_damper":
        relative = c.twist[9:12] - c.twist[3:6]
        return np.concatenate([np.zeros(3), v["damping"] * relative, np.zeros(3), -v["damping"] * relative])
    if c.module.NAME == "smooth_contact":
        return smooth_contact(c)[0]
    if c.module.NAME in LIGAMENTS:
        length, strain, tension, *span = c.run()[REPORTS:]
        assert tension == pytest.approx(ligament_tension(strain, v["stiffness"], v["toe_strain"]))
        assert not span or np.linalg.norm(span) == pytest.approx(length)
        return Q
    if "loss" in v:
        x = outputs["distance" if c.module.NAME == "stop" else "length"]
        start = c.run()
        sign = -1.0 if c.module.NAME == "stop" else 1.0
        pull = start[-1]
        still = Case.run(c, np.column_stack([c.states[:, :7], np.zeros((4, 6))]))[-1]
        assert pull == pytest.approx(still * (1.0 + sign * v["loss"] * (x @ c.twist)), rel=1e-9)
        return Q - sign * (pull - still) * x
    if c.module.NAME in BUSHINGS:
        names = [
            (own, f"{what}_{b}")
            for kind, what in (("c", "displacement"), ("ct", "angles"))
            for own, b in zip(six(c, kind), "xyz", strict=True)
        ]
        return Q - sum(v[damping] * (outputs[x] @ c.twist) * outputs[x] for damping, x in names)
    if "transition_velocity" in v:
        by_velocity = np.concatenate([slopes[-1, 12 * b + 6 : 12 * b + 12] for b in range(c.count)])
        slip = c.run()[-1]
        within = np.clip(slip / v["transition_velocity"], -1.0, 1.0)
        return -(v["friction"] * (1.5 * within - 0.5 * within**3) + v["damping"] * slip) * by_velocity
    x = next(outputs[name] for name in ("angle", "length", "distance") if name in outputs)
    return Q - v["damping"] * (x @ c.twist) * x


def ligament_tension(strain, stiffness, toe_strain):
    """Blankevoort and Huiskes (1991)."""
    if strain <= 0.0:
        return 0.0
    if strain <= 2.0 * toe_strain:
        return stiffness * strain**2 / (4.0 * toe_strain)
    return stiffness * (strain - toe_strain)


def smooth_contact(c):
    """Forces and moments on both bodies, and the push, by the formula of SmoothSphereHalfSpaceForce in Simbody."""
    v, (s_i, s_j, n) = c.values, c.x(c.states)[:9].reshape(3, 3)
    (r_i, v_i, omega_i), (r_j, v_j, omega_j) = ((s[:3], s[7:10], s[10:]) for s in c.states[:2])
    depth = v["radius"] - (r_i + s_i - r_j - s_j) @ n
    point = r_i + s_i - (v["radius"] - depth / 2.0) * n
    relative = v_i + np.cross(omega_i, point - r_i) - v_j - np.cross(omega_j, point - r_j)
    inward = -relative @ n
    slip = relative + inward * n
    hertz = v["stiffness"] * (depth**2 + v["rounding"]) ** 0.75 * (1.0 + np.tanh(v["hertz_smoothing"] * depth)) / 2.0
    ends = np.tanh(v["loss_smoothing"] * (inward + 2.0 / (3.0 * v["loss"])))
    push = hertz * (1.0 + 1.5 * v["loss"] * inward) * (1.0 + ends) / 2.0
    speed = np.sqrt(slip @ slip + v["rounding"])
    x, mu_d = speed / v["transition_velocity"], v["dynamic_friction"]
    friction = min(x, 1.0) * (mu_d + 2.0 * (v["static_friction"] - mu_d) / (1.0 + x**2)) + v["viscous_friction"] * speed
    force = push * n - push * friction * slip / speed
    return np.r_[force, np.cross(point - r_i, force), -force, -np.cross(point - r_j, force)], push


def wrench_error(c, module=None):
    return distance(c.run(module=module)[: 6 * c.count], expected_wrench(c))


def tangent_error(c, module=None):
    return distance(c.tangent(module), c.slopes(slice(0, 6 * c.count)))


def six(c, kind):
    """Names of three parameters of a bushing."""
    return [kind + end for end in BUSHINGS[c.module.NAME]]


@all_forces
@seeds
def test_the_force_is_that_of_the_potential_and_the_damper(name, seed):
    assert wrench_error(Case(name, seed)) < 1e-9


@all_forces
@seeds
def test_the_tangent_is_the_derivative(name, seed):
    assert tangent_error(Case(name, seed)) < 1e-8


@all_forces
@seeds
def test_action_and_reaction(name, seed):
    c = Case(name, seed)
    Q = c.run()[: 6 * c.count].reshape(-1, 2, 3)
    moments = Q[:, 1] + np.cross(c.states[: c.count, :3], Q[:, 0])
    assert np.abs(Q[:, 0].sum(axis=0)).max() < 1e-12 * np.abs(Q).max()
    assert np.abs(moments.sum(axis=0)).max() < 1e-12 * np.abs(Q).max()
    assert np.abs(Q).max() > 1e-3


@pytest.mark.parametrize(
    "name",
    [
        "spring_damper",
        *LIGAMENTS,
        "torsional_spring",
        "tabulated_spring",
        "slider_spring",
        "slider_limit",
        *HINGES,
    ],
)
def test_the_force_along_the_coordinate_is_reported(name):
    """The moment or tension reported is what the gradient of the coordinate carries."""
    c = Case(name, 0)
    out = c.run()
    slopes = c.slopes(slice(REPORTS, REPORTS + 1))[0]
    along = np.concatenate([slopes[12 * b : 12 * b + 6] for b in range(2)])
    sign = -1.0 if name in ("spring_damper", "tabulated_spring", *LIGAMENTS) else 1.0
    reported = next(n for n, (output, _) in enumerate(c.module.OUTPUTS) if output in ("tension", "moment", "force"))
    assert distance(out[:12], sign * out[REPORTS + reported] * along) < 1e-9


@pytest.mark.parametrize("name", ["cable", *LIGAMENTS, "tendon", "stop"])
def test_a_slack_element_has_neither_force_nor_slope(name):
    c = Case(name, 0, **({"clearance": -50.0} if name == "stop" else {"slack_length": 50.0}))
    assert not c.run()[:REPORTS].any() and not c.tangent().any()


@pytest.mark.parametrize("strain", [0.01, 0.0599, 0.0601, 0.2])
def test_the_tension_of_a_ligament_has_a_toe_and_a_linear_region(strain):
    c = Case("ligament", 0, stiffness=2e3, toe_strain=0.03)
    c.values["slack_length"] = c.run()[REPORTS] / (1.0 + strain)
    assert c.run()[-1] == pytest.approx(ligament_tension(strain, 2e3, 0.03), rel=1e-11)


def expected_outputs(c):
    """Forces, potential and reports, without the module's own values: by differences, and by the definition with numbers."""
    parts = c.defined()
    expected = np.zeros(REPORTS + len(c.module.OUTPUTS))
    expected[: 6 * c.count] = Q = expected_wrench(c)
    expected[POTENTIAL] = float(sp.sympify(parts.get("potential", 0.0)).xreplace({sp.pi: sp.Float(np.pi)}))
    stored = c.slopes(slice(POTENTIAL, POTENTIAL_RATE))[0]
    along = [stored[12 * b : 12 * b + 6] @ c.twist[6 * b : 6 * b + 6] for b in range(c.count)]
    expected[POTENTIAL_RATE] = sum(along)
    names = [name for name, _ in c.module.OUTPUTS]
    for n, name in enumerate(names):
        vector, axis = (name[:-2], "xyz".index(name[-1])) if name[-2:] in ("_x", "_y", "_z") else (name, None)
        value = parts[vector] if axis is None else list(parts[vector])[axis]
        expected[REPORTS + n] = float(
            sp.sympify(value).xreplace({sp.pi: sp.Float(np.pi)})
        )  # atan2 gives it as a symbol
    if c.module.NAME == "smooth_contact":
        expected[-1] = smooth_contact(c)[1]
    if c.module.NAME in ("spring_damper", "cable", "tabulated_spring", "ligament"):
        i, j = (state[:3] + c.x(c.states)[3 * n : 3 * n + 3] for n, state in enumerate(c.states[:2]))
        expected[-1] = -Q[6:9] @ (j - i) / np.linalg.norm(j - i)
    elif c.module.NAME in LIGAMENTS:
        strain, tension = (REPORTS + names.index(name) for name in ("strain", "tension"))
        expected[tension] = ligament_tension(expected[strain], c.values["stiffness"], c.values["toe_strain"])
    elif c.module.NAME in ("stop", "slider_spring", "slider_limit"):
        expected[-1] = Q[6:9] @ (rotation_matrix(c.states[0, 3:7]) @ c.local["a_i"])
    elif c.module.NAME == "torsional_spring":
        expected[-1] = Q[9:12] @ (rotation_matrix(c.states[0, 3:7]) @ c.local["a_i"])
    elif c.module.NAME in HINGES:
        slopes = c.slopes(slice(REPORTS, REPORTS + 1))[0]
        x = np.concatenate([slopes[12 * b : 12 * b + 6] for b in range(2)])
        expected[-1] = Q[:12] @ x / (x @ x)
    elif c.module.NAME == "rotational_damper":
        expected[-1] = np.linalg.norm(c.twist[9:12] - c.twist[3:6])
    elif c.module.NAME in ("tendon", "tabulated_tendon", *BUSHINGS):
        slopes = c.slopes(slice(REPORTS, None))
        rates = sum(slopes[:, 12 * b : 12 * b + 6] @ c.twist[6 * b : 6 * b + 6] for b in range(c.count))
        if c.module.NAME in BUSHINGS:
            k, damping, kt, ct = (np.array([c.values[a] for a in six(c, kind)]) for kind in ("k", "c", "kt", "ct"))
            expected[REPORTS + 6 : REPORTS + 9] = -k * expected[REPORTS : REPORTS + 3] - damping * rates[:3]
            expected[REPORTS + 9 : REPORTS + 12] = -kt * expected[REPORTS + 3 : REPORTS + 6] - ct * rates[3:6]
        elif c.module.NAME == "tendon":
            stretch = expected[REPORTS] - c.values["slack_length"]
            expected[-1] = c.values["stiffness"] * stretch * (1.0 + c.values["loss"] * rates[0])
        else:
            expected[-1] = looked_up(expected[REPORTS])[1] + c.values["damping"] * rates[0]
    elif c.module.NAME == "slider_friction":
        slopes = c.slopes(slice(REPORTS, REPORTS + 1))[0]
        expected[-1] = np.concatenate([slopes[12 * b + 6 : 12 * b + 12] for b in range(2)]) @ c.twist
    return expected


def assert_changes_are_found(module, kernel, run, expected, part, least):
    """Whatever statement is changed, the outputs of ``run(module)`` change, but for some; then they are not the expected ones."""
    right = run(module)
    assert distance(right, expected) < 0.1 * least

    def check(other):
        out = run(other)
        return None if distance(out, right) < 1e-12 else distance(out, expected)

    found = distances(module, kernel, check)
    changed = {text: value for text, value in found.items() if value is not None}
    assert len(changed) > part * len(found)
    assert [text for text, value in changed.items() if not value > least] == []


@pytest.mark.slow
@all_forces
def test_a_broken_kernel_is_found(name):
    """Only a change of a statement without influence, such as a term that is zero here, is not found."""
    c = Case(name, 0)
    c.before = 0.0  # in the definition angles are within half a turn
    with np.errstate(invalid="ignore"):  # a broken kernel may take a power of a negative number
        assert_changes_are_found(
            c.module, "evaluate", lambda other: c.run(module=other), expected_outputs(c), 0.6, 1e-8
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spring_damper", "torsional_spring", "tabulated_spring", "slider_friction"])
def test_a_broken_tangent_is_found(name):
    c = Case(name, 0)
    assert_changes_are_found(c.module, "tangent", c.tangent, c.slopes(slice(0, 12)), 0.9, 1e-7)


@all_forces
def test_kernels_are_straight_line_code_of_no_more_operations(name):
    module = FORCES[name]
    functions = functions_of(inspect.getsource(module))
    inputs = [a.arg for a in functions["evaluate"].args.args[:-1]]
    assert lint(functions["evaluate"], [(REPORTS + len(module.OUTPUTS),)], inputs) == []
    assert lint_tangent(functions["tangent"], 6 * Case(name, 0).count, inputs) == []
    assert int(re.search(r"(\d+) operations", module.evaluate.py_func.__doc__)[1]) <= OPERATIONS[name]
    assert set(OPERATIONS) == set(FORCES)
