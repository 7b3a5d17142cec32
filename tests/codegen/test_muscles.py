"""Laws of muscles: forces of OpenSim 4.6, energy, exact derivatives, limits of the fibre, and laws of a user.

The reference digits were made by ``tests/support/opensim_muscles.py``, which states the command.
"""

import inspect
import json
import re

import numpy as np
import pytest
from numba import njit
from scipy.integrate import quad
from scipy.optimize import brentq

from codegen import DefinitionError, compile_muscle
from codegen.compiler.corners import corner, share
from generated import muscles
from runtime.jit import addresses
from tests.support.kernel_text import functions_of, lint, lint_tangent
from tests.support.muscle_laws import MODULES, PENNATE, arrays, evaluated, outputs, outputs_of, python, states_of
from tests.support.paths import ROOT

OPENSIM = json.loads((ROOT / "tests" / "support" / "opensim_muscles.json").read_text(encoding="utf-8"))
KERNELS = {"elastic": "law", "rigid": "rigid"}
# Operation counts that may not rise.
OPERATIONS = {
    "thelen_as_published": {"law": 131, "rigid": 99},
    "thelen_as_opensim": {"law": 231, "rigid": 201},
    "millard_as_published": {"law": 1048, "rigid": 741},
    "millard_as_opensim": {"law": 1080, "rigid": 765},
    "de_groote_as_published": {"law": 124, "rigid": 117},
    "de_groote_as_opensim": {"law": 141, "rigid": 132},
}
both = pytest.mark.parametrize("kernel", KERNELS.values())
every_law = pytest.mark.parametrize("name", MODULES)


def scales(constants):
    """What errors are measured by: the force, the velocity and the length of the fibre."""
    force, optimal = constants["max_isometric_force"], constants["optimal_fiber_length"]
    fastest = optimal * constants["max_contraction_velocity"]
    return {
        "tension": force, "active_fiber_force": force, "passive_fiber_force": force, "active_tension": force,
        "fiber_length": optimal, "fiber_velocity": fastest, "rate of fiber_length": fastest, "pennation_angle": 1.0,
        "fiber_power": force * fastest, "energy": force * optimal, "rate of activation": 100.0,
        "rate of normalized_tendon_force": 100.0,
    }  # fmt: skip


@pytest.mark.parametrize("group", OPENSIM)
def test_forces_are_those_of_opensim(group):
    name, tendon = group.split()
    module = MODULES[f"{'millard' if name == 'undamped' else name}_as_opensim"]
    for constants, inputs, results in OPENSIM[group]:
        found = outputs(module, KERNELS[tendon], **constants, **inputs)
        found["active_tension"] = found["active_fiber_force"] * np.cos(found["pennation_angle"])
        for what, scale in scales(constants).items():
            if what in results and what != "energy":
                assert abs(found[what] - results[what]) < 1e-8 * scale, (what, constants, inputs)


@pytest.mark.parametrize("group", [group for group in OPENSIM if "thelen" not in group])
def test_energies_are_those_of_opensim_up_to_its_splines(group):
    name, tendon = group.split()
    module = MODULES[f"{'millard' if name == 'undamped' else name}_as_opensim"]
    for constants, inputs, results in OPENSIM[group]:
        energy = outputs(module, KERNELS[tendon], **constants, **inputs)["energy"]
        assert energy == pytest.approx(results["energy"], abs=1e-4 * scales(constants)["energy"])


def test_opensim_leaves_out_the_energy_of_the_passive_fibre_of_thelen():
    """It takes the length in metres for the normalised one, and so finds no fibre stretched."""
    module = MODULES["thelen_as_opensim"]
    stretched = 0
    for constants, inputs, results in OPENSIM["thelen elastic"]:
        optimal, length = constants["optimal_fiber_length"], inputs["fiber_length"]
        soft = outputs(module, "law", **constants, **inputs, fmax_muscle_strain=1e6)
        assert soft["energy"] == pytest.approx(results["energy"], abs=1e-6 * constants["max_isometric_force"] * optimal)
        whole = outputs(module, "law", **constants, **inputs)["energy"]
        stretched += length > 1.05 * optimal and whole > 1.01 * results["energy"]
    assert stretched > 3


def random_states(module, count, seed=0):
    """x and c of random muscles in states with a stretched tendon, away from kinks."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        size = {name: value * draw.uniform(0.7, 1.3) for name, value in PENNATE.items()}
        optimal, slack, angle = (size[k] for k in list(PENNATE)[1:])
        fiber, pull = optimal * draw.uniform(0.6, 1.4), draw.uniform(0.1, 0.9)
        length = slack * draw.uniform(1.01, 1.04) + np.sqrt(fiber**2 - (optimal * np.sin(angle)) ** 2)
        yield arrays(
            module, **size, length=length, length_dot=draw.uniform(-0.3, 0.3), excitation=draw.uniform(0.05, 1),
            activation=draw.uniform(0.1, 0.9), fiber_length=fiber, normalized_tendon_force=pull,
        )  # fmt: skip


def slopes(module, kernel, x, c, which):
    """Derivatives (outputs, inputs) by central differences, of x or of c."""
    found = []
    for k in range(len((x, c)[which])):
        step = 1e-6 * max(abs((x, c)[which][k]), 1e-2)
        ends = []
        for sign in (1, -1):
            moved = [x.copy(), c.copy()]
            moved[which][k] += sign * step
            ends.append(evaluated(module, kernel, *moved))
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found).T


@both
@every_law
def test_energy_changes_by_the_power_of_path_and_fibre(name, kernel):
    module = MODULES[name]
    for x, c in random_states(module, 20):
        out = evaluated(module, kernel, x, c)
        named = dict(zip(outputs_of(module), out, strict=True))
        rates = [named[f"rate of {state}"] for state in states_of(module)]
        change = slopes(module, kernel, x, c, 0)[1] @ [x[1], 0.0, 0.0, *rates]
        power = named["tension"] * x[1] + named["fiber_power"]
        assert change == pytest.approx(power, abs=1e-6 * max(c[0] * c[1] * c[4], abs(power)))


@both
@every_law
@pytest.mark.parametrize(("derivative", "which"), [("tangent", 0), ("parameters", 1)])
def test_derivatives_are_exact(name, kernel, derivative, which):
    module = MODULES[name]
    states = len(module.STATES)
    acting = [0, *[1] * (derivative == "tangent"), *range(2, 2 + states)]  # the energy, too, along the motion
    for x, c in random_states(module, 3, seed=1):
        if name.startswith("millard"):
            c[module.PARAMETERS.index("concentric_slope_at_vmax")] = 0.1
            c[module.PARAMETERS.index("eccentric_slope_at_vmax")] = 0.05
        size = len((x, c)[which])
        out = np.full((len(acting), size), np.nan)
        python(module, f"{kernel}_{derivative}")(x, c, np.eye(size), out)
        expected = slopes(module, kernel, x, c, which)[acting]
        assert np.abs(out - expected).max() < 2e-5 * max(1.0, np.abs(expected).max())
        scale = np.abs(expected).max(axis=1, keepdims=True) + 1e-9
        assert (np.abs(out - expected) / scale).max() < 2e-5


def test_a_smooth_corner_is_solved_to_rounding():
    for curviness in (0.1, 0.3, 0.5, 0.74, 0.9):
        for bend in (1e-6, 1e-3, 0.05, 0.3, 0.5, 0.8, 0.99, 1 - 1e-6):
            for way in (0.0, 1e-9, 1e-4, 0.02, 0.3, 0.5, 0.7, 0.9, 0.999, 1.0):
                assert abs(share(float(corner(way, bend, curviness)), bend, curviness) - way) < 3e-15


@pytest.mark.parametrize("name", ["millard_as_published", "millard_as_opensim"])
def test_curves_of_millard_pass_through_their_points(name):
    module = MODULES[name]
    size = dict(
        max_isometric_force=1.0, optimal_fiber_length=1.0, tendon_slack_length=1.0, pennation_angle_at_optimal=0.0
    )
    at_rest = dict(activation=1.0, fiber_damping=0.0, minimum_activation=0.0)

    def rigid(length, velocity=0.0):
        return outputs(module, "rigid", **size, **at_rest, length=1 + length, length_dot=10 * velocity)

    assert rigid(1.0)["active_fiber_force"] == pytest.approx(1.0, abs=1e-15)
    assert rigid(1.8123)["active_fiber_force"] == pytest.approx(0.0, abs=1e-15)
    assert rigid(1.7)["passive_fiber_force"] == pytest.approx(1.0, abs=1e-15)
    assert rigid(1.0, -1.0)["active_fiber_force"] == pytest.approx(0.0, abs=1e-15)
    assert rigid(1.0, 1.0)["active_fiber_force"] == pytest.approx(1.4, abs=1e-15)
    stretched = outputs(module, "law", **size, activation=1.0, length=2.049, fiber_length=1.0)
    assert stretched["tension"] == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    "name", ["millard_as_published", "millard_as_opensim", "thelen_as_opensim", "thelen_as_published"]
)
def test_energy_of_a_stretched_fibre_is_the_work_of_its_force(name):
    module = MODULES[name]
    size = dict(
        max_isometric_force=1.0, optimal_fiber_length=1.0, tendon_slack_length=1.0, pennation_angle_at_optimal=0.0
    )

    def rigid(length):
        return outputs(module, "rigid", **size, activation=1.0, length=1 + length)

    work, _ = quad(lambda length: rigid(length)["passive_fiber_force"], 1.0, 1.9, points=(1.035, 1.7), epsabs=1e-12)
    assert rigid(1.9)["energy"] - rigid(1.0)["energy"] == pytest.approx(work, abs=1e-10)


@every_law
def test_a_lengthening_fibre_on_a_rigid_tendon_is_in_equilibrium_with_an_elastic_one(name):
    """The force of a rigid tendon at a velocity is the one at which the elastic tendon has this velocity."""
    module = MODULES[name]
    length, angle = PENNATE["optimal_fiber_length"], PENNATE["pennation_angle_at_optimal"]
    path = PENNATE["tendon_slack_length"] + length * np.cos(angle)
    for speed in (-0.1, -0.01, 0.02, 0.2):
        now = dict(**PENNATE, activation=0.6, length_dot=speed, fiber_length=length)
        rigid = outputs(module, "rigid", length=path, **now)
        now |= {"normalized_tendon_force": rigid["normalized_tendon_force"]}
        if "normalized_tendon_force" in states_of(module):
            tendon = outputs(module, "law", length=path + 0.01, **now)["tendon_length"]
            stretch = tendon - PENNATE["tendon_slack_length"]
        else:
            stretch = brentq(
                lambda s, now=now, rigid=rigid: (
                    outputs(module, "law", length=path + s, **now)["tension"] - rigid["tension"]
                ),
                -1e-3, 0.05, xtol=1e-15,
            )  # fmt: skip
        found = outputs(module, "law", length=path + stretch, **now)
        assert found["fiber_velocity"] == pytest.approx(rigid["fiber_velocity"], abs=1e-9)
        assert found["tension"] == pytest.approx(rigid["tension"], rel=1e-9)


@pytest.mark.parametrize("name", ["thelen_as_opensim", "millard_as_opensim"])
def test_a_fibre_stops_shortening_at_its_shortest_length(name):
    module = MODULES[name]
    shortest = PENNATE["optimal_fiber_length"] * np.sin(PENNATE["pennation_angle_at_optimal"]) / np.sin(np.arccos(0.1))
    if name.startswith("millard"):
        shortest = max(shortest, 0.4441 * PENNATE["optimal_fiber_length"])
    slack = dict(**PENNATE, length=0.95 * PENNATE["tendon_slack_length"], activation=0.5)
    stopped = outputs(module, "law", **slack, fiber_length=0.99 * shortest)
    assert stopped["rate of fiber_length"] == stopped["active_fiber_force"] == stopped["tension"] == 0.0
    assert stopped["fiber_length"] == pytest.approx(shortest, rel=1e-12)
    assert outputs(module, "law", **slack, fiber_length=1.2 * shortest)["rate of fiber_length"] < 0
    taut = {**slack, "length": 1.2 * PENNATE["tendon_slack_length"]}
    assert outputs(module, "law", **taut, fiber_length=0.99 * shortest)["rate of fiber_length"] > 0
    rigid = outputs(module, "rigid", **slack)
    assert rigid["tension"] == rigid["fiber_velocity"] == 0.0


@every_law
@pytest.mark.parametrize("pennation", [0.0, 0.2, 1.2])
def test_a_rigid_tendon_longer_than_the_path_is_slack(name, pennation):
    """Without any force of the fibre, also where it is shorter by more than an optimal length; and where both are equal."""
    module, slack = MODULES[name], PENNATE["tendon_slack_length"]
    size = {**PENNATE, "pennation_angle_at_optimal": pennation}
    for short in (0.0, 1e-9, 0.01, 0.05, 0.2):
        for speed in (-0.3, 0.0, 0.3):
            found = outputs(module, "rigid", **size, length=slack - short, length_dot=speed, activation=0.7)
            assert np.isfinite(list(found.values())).all()
            forces = ["tension", "active_fiber_force", "passive_fiber_force", "fiber_velocity", "fiber_power"]
            assert [found[force] for force in forces] == [0.0] * 5
            assert found["fiber_length"] * np.cos(found["pennation_angle"]) + found["tendon_length"] == pytest.approx(
                slack - short, abs=1e-9
            )
    x, c = arrays(module, **size, length=slack - 0.01, activation=0.7)
    slope = np.full((2 + len(module.STATES), len(x)), np.nan)
    python(module, "rigid_tangent")(x, c, np.eye(len(x)), slope)
    assert (slope[:2] == 0.0).all()


@pytest.mark.parametrize(("length", "fiber", "tension"), [
    (0.3, 0.0, 0.0), (0.3999, 0.0, 0.0), (0.4001, 0.0, 0.5410), (0.405, 0.0, 63.3937), (0.42, 0.013433, 113.4785),
    (0.45, 0.040816, 275.49),
])  # fmt: skip
def test_a_fibre_of_thelen_without_pennation_stops_at_the_length_0(length, fiber, tension):
    """At rest, with the activation 0.6: OpenSim 4.6, Thelen2003Muscle, digits as it was printed."""
    size = dict(
        max_isometric_force=1000.0, optimal_fiber_length=0.1, tendon_slack_length=0.4, pennation_angle_at_optimal=0.0
    )
    at = dict(length=length, activation=0.6, fiber_length=fiber)
    found = outputs(MODULES["thelen_as_opensim"], "law", **size, **at)
    assert np.isfinite(list(found.values())).all()
    assert found["tension"] == pytest.approx(tension, abs=1e-4 + 6e4 * 1e-6 * (fiber > 0.0))
    assert found["fiber_length"] == pytest.approx(fiber, abs=1e-12)
    assert found["rate of fiber_length"] == pytest.approx(0.0, abs=1e-9 + 1e-3 * (fiber > 0.0))


@every_law
def test_kernels_are_straight_line_code_and_write_every_entry_once(name):
    module, functions = MODULES[name], functions_of(inspect.getsource(MODULES[name]))
    acting = {"tangent": 2 + len(module.STATES), "parameters": 1 + len(module.STATES)}
    for kernel, most in OPERATIONS[name].items():
        assert lint(functions[kernel], [(len(outputs_of(module)),)], ("x", "c")) == []
        for derivative, rows in acting.items():
            assert lint_tangent(functions[f"{kernel}_{derivative}"], rows, ("x", "c")) == []
        if module.KINKS[kernel]:
            assert lint(functions[f"{kernel}_kinks"], [(module.KINKS[kernel],)], ("x", "c")) == []
        assert int(re.search(r"(\d+) operations", getattr(module, kernel).py_func.__doc__)[1]) <= most


@pytest.mark.slow
@every_law
def test_compiled_kernels_agree_with_their_text(name):
    module, acting = MODULES[name], 2 + len(MODULES[name].STATES)
    for x, c in random_states(module, 5):
        for kernel in KERNELS.values():
            out, seeds, slope = (
                np.full(len(outputs_of(module)), np.nan),
                np.eye(len(x)),
                np.full((2, acting, len(x)), np.nan),
            )
            getattr(module, kernel)(x, c, out)
            assert out == pytest.approx(evaluated(module, kernel, x, c), rel=1e-11, abs=1e-12)
            getattr(module, f"{kernel}_tangent")(x, c, seeds, slope[0])
            python(module, f"{kernel}_tangent")(x, c, seeds, slope[1])
            assert slope[0] == pytest.approx(slope[1], rel=1e-9, abs=1e-9 * np.abs(slope[1]).max())


def test_every_law_is_tested():
    assert list(MODULES) == list(muscles.MODULES) and set(OPERATIONS) == set(MODULES)


def spring_muscle(length, length_dot, excitation, activation, stiffness=1e4, slack_length=0.2, lag=0.03):
    """A spring that an activation tightens, with a damper.

    stiffness : [N/m], 0 < stiffness
    slack_length : [m], 0 < slack_length
    lag : [s], 0 < lag
    activation : [1]
    tension : [N]
    energy : [J]
    fiber_power : [W]
    """
    stretch = length - slack_length
    elastic, damping = stiffness * stretch, stiffness * activation * length_dot / 10
    return {
        "tension": elastic + damping,
        "energy": elastic * stretch / 2,
        "rates": {"activation": (excitation - activation) / lag},
        "fiber_power": -damping * length_dot,
    }


def test_a_law_of_a_user_is_called_by_its_address():
    module = compile_muscle(spring_muscle)
    assert module.STATES == (("activation", "1"),) and not module.RIGID
    assert module.PARAMETERS == ("stiffness", "slack_length", "lag")
    assert module.DEFAULTS == {"stiffness": 1e4, "slack_length": 0.2, "lag": 0.03}
    x, c, out = np.array([0.25, 0.1, 0.8, 0.5]), np.array([2e4, 0.2, 0.05]), np.full(4, np.nan)

    @njit
    def call(address, x, c, out):
        addresses.call(address, x.ctypes.data, c.ctypes.data, out.ctypes.data)

    call(addresses.addresses_of([module], "law_entry")[0], x, c, out)
    assert out == pytest.approx([1100.0, 25.0, 6.0, -10.0], rel=1e-14)


def _edited(old, new, law=spring_muscle):
    names = {}
    exec(inspect.getsource(law).replace(old, new), names)
    return names[law.__name__]


REFUSED = {
    "other inputs": (
        "length, length_dot, excitation",
        "length, speed, excitation",
        "its first arguments are length, speed",
    ),
    "no energy": ('"energy": elastic * stretch / 2,', "", "must return tension, energy, rates by name"),
    "a rate of no state": ('{"activation": (', '{"fatigue": (', "'rates' names fatigue, which is no state"),
    "an unused constant": ("/ lag", "/ 2", "argument 'lag' is not used"),
    "no unit": ("    lag : [s], 0 < lag\n", "", "its docstring has no unit of lag"),
    "a default of an input": (
        "excitation, activation",
        "excitation=1, activation=0.5",
        "only a constant has a default",
    ),
    "a text as a default": ("lag=0.03", "lag='0.03'", "only a constant has a default"),
    "a name of the kernels": ("lag", "seeds", "argument 'seeds' has a name that the kernels use themselves"),
    "a vector": ("elastic + damping", "(elastic, damping)", "'tension' has the wrong shape"),
    "a branch": ("elastic + damping", "abs(elastic) + damping", "uses the function 'Abs', which is not smooth"),
    "functions by their paths": (
        "elastic + damping",
        "abs(elastic)",
        "codegen.compiler.force_calculus.step, codegen.compiler",
    ),
    "a tension in seconds": (
        "tension : [N]",
        "tension : [s]",
        "'tension' has the unit [s]; state the line 'tension : [N]'",
    ),
    "an energy in metres": ("energy : [J]", "energy : [m]", "'energy' has the unit [m]"),
    "another energy": ("stretch / 2", "stretch * 3", "its energy does not change by the work: energy' = "),
    "no energy at all": ("elastic * stretch / 2", "0", "its energy does not change by the work: energy' = 0 W where"),
    "another power": ("-damping * length_dot", "damping", "correct the energy, or leave out fiber_power"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_unclear_laws_are_refused_by_name(what):
    old, new, says = REFUSED[what]
    with pytest.raises(DefinitionError, match="spring_muscle") as refused:
        compile_muscle(_edited(old, new))
    assert says in str(refused.value)
    with pytest.raises(DefinitionError, match="give the function that returns the muscle's tension, energy and rates"):
        compile_muscle("thelen")
