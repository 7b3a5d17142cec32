"""Kernels are straight-line code with no more operations than recorded here; the linter that proves it sees every fault."""

import inspect
import re

import pytest

from generated import digests
from tests.support.definitions import DEFINITIONS, GENERATED, module_of
from tests.support.kernel_checks import KERNELS
from tests.support.kernel_text import STATE_INPUTS, functions_of, lint, lint_tangent
from tests.support.kernels import shapes
from tests.support.limit_kernels import LIMITS, MEASURES, MODULES, NORMAL_LAWS
from tests.support.modules import JOINT_MODULES

# Operations of each ``evaluate``.  Raise a count only on purpose.
OPERATIONS = {
    "spherical": 69,
    "revolute": 218,
    "cylindrical": 343,
    "translational": 410,
    "universal": 155,
    "modified_universal": 336,
    "fixed": 405,
    "plane_translation": 541,
    "translation": 255,
    "oblique_translation": 258,
    "parallel_axes": 149,
    "constant_angle": 86,
    "constant_distance": 111,
    "point_on_line": 230,
    "point_on_plane": 145,
    "guided_point": 36,
    "guided_orientation": 268,
    "guided_cardan": 625,
    "guided_angle": 881,
    "guided_link": 971,
    "guided_distance": 133,
    "guided_slide": 147,
    "euler_parameter": 117,
    "cosine_of_angle": 95,
    "cosine_of_link": 1507,
}


OPERATIONS_OF_FORCES = {
    "cone": {"direction": 15, "measure": 47, "wrench": 88, "reference": 0},
    "hinge": {"direction": 20, "measure": 84, "wrench": 108, "reference": 0},
    "link_hinge": {"direction": 29, "measure": 124, "wrench": 172, "reference": 0},
    "cross_hinge": {"direction": 27, "measure": 157, "wrench": 181, "reference": 20},
    "elliptical": {"curve": 104, "limit": 23, "bearing": 39, "parameter": 5},
    "spline": {"curve": 141, "limit": 48, "bearing": 64, "parameter": 4},
    "latitude_spline": {"curve": 61, "limit": 11, "bearing": 10, "parameter": 0},
    "cubic": {"law": 11},
    "separation": {"separation": 51},
    "position": {"position": 20},
    "top_view": {"top_view": 112},
    "kelvin_voigt": {"law": 11, "law_parameters": 4},
    "hertz": {"law": 13, "law_parameters": 2},
    "hunt_crossley": {"law": 19, "law_parameters": 13},
    "lankarani_nikravesh": {"law": 26, "law_parameters": 28},
    "flores": {"law": 27, "law_parameters": 32},
    "coulomb": {"below": 68, "above": 50},
    "smooth": {"below": 52, "above": 52},
    "sticking": {"below": 68, "above": 117},
    "stribeck": {"below": 76, "above": 127},
    "sphere_plane": {"measure": 160, "point": 26, "reference": 0, "wrench": 247},
}


SLOPES = ("data_slopes", "reference_slopes")  # of definitions without signals


all_definitions = pytest.mark.parametrize("name", list(DEFINITIONS))
all_generated = pytest.mark.parametrize("name", GENERATED)


@all_definitions
def test_kernels_are_straight_line_code(name):
    module = module_of(name)
    functions = functions_of(inspect.getsource(module))
    for entry in ("entry", "tangent_entry"):
        assert functions.pop(entry).body[1:], "for a call through its address"
    tangent = functions.pop("tangent")
    assert lint_tangent(tangent, 12 + 3 * len(module.ROWS), (*STATE_INPUTS, "about")) == []
    slopes = {kernel: functions.pop(kernel) for kernel in SLOPES if kernel in functions}
    assert tuple(slopes) == (() if module.SIGNALS else SLOPES)
    vectors, carried = [v[0] for v in module.VECTORS], sum(v[1].startswith("carried") for v in module.VECTORS)
    data, derived = sum(3 if part in vectors else 1 for part in module.KEYWORDS), 3 * carried + module.HELD
    for function, shape in zip(slopes.values(), ((len(module.ROWS), data + derived), (derived, data)), strict=False):
        assert lint(function, [shape]) == []
    assert tuple(functions) == KERNELS
    for kernel, function in functions.items():
        expected = shapes(module)[kernel]
        assert lint(function, expected if kernel == "evaluate" else [expected]) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("if x[0]:\n  out[0] = 1.0", "no plain assignment"),
        ("for k in x:\n  out[0] = 1.0", "no plain assignment"),
        ("try:\n  out[0] = 1.0\n except ValueError:\n  pass", "no plain assignment"),
        ("out[0] = 1.0\n out[0] = 2.0", "writes 2 entries, 1 different"),
        ("a = x[0]", "writes 0 entries"),
        ("out[0] = 1.0\n a = x[0]", "follows an output"),
        ("out[0] = max(x[0], 0.0)", "calls max"),
        ("out[0] = a", "before it is written"),
        ("a = x[0]\n a = x[1]\n out[0] = a", "writes a twice"),
        ("out[0] = x[0] if x[1] else x[2]", "IfExp"),
        ("out[0] = [x[0]]", "List"),
        ("out[0] = (x[0], x[1])", "Tuple"),
        ("out[0] = x[0:1]", "Slice"),
        ("out[1] = x[0]", "of 1"),
        ("out[0] += x[0]", "no plain assignment"),
        ("x[0] = 1.0\n out[0] = 1.0", "writes x[0]"),
    ],
)
def test_the_linter_finds_faults_in_a_kernel(body, says):
    function = functions_of(f'def phi(body_i, body_j, x, out):\n "Text."\n {body}\n')["phi"]
    assert any(says in line for line in lint(function, [(1,)]))


LOOP = "for n in range(seeds.shape[1]):\n  "


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("out[0, 0] = x[0]", "does not end with"),
        (f"{LOOP}out[0, n] = 1.0\n a = x[0]", "does not end with"),
        (f"{LOOP}out[0, n] = 1.0\n else:\n  a = x[0]", "does not end with"),
        ("for n in range(3):\n  out[0, n] = 1.0", "does not end with"),
        (f"{LOOP}a = x[0]\n {LOOP}out[0, n] = 1.0", "no plain assignment"),
        (f"{LOOP}if x[0]:\n   out[0, n] = 1.0", "no plain assignment"),
        (f"{LOOP}for m in x:\n   out[0, n] = 1.0", "no plain assignment"),
        (f"{LOOP}out[0, n] += 1.0", "no plain assignment"),
        (f"{LOOP}out[0, n] = seeds[0, 0]", "reads seeds[0, 0]"),
        (f"a = seeds[0, 0]\n {LOOP}out[0, n] = a", "reads seeds[0, 0]"),
        (f"{LOOP}out[0, 0] = 1.0", "writes out[0, 0]"),
        (f"{LOOP}out[0, n] = n", "reads n before"),
        (f"{LOOP}out[0, n] = a", "before it is written"),
        (f"{LOOP}out[1, n] = 1.0", "of 1"),
        (f"{LOOP}out[0, n] = 1.0\n  out[0, n] = 2.0", "writes 2 entries, 1 different"),
        (f"{LOOP}seeds[0, n] = 1.0\n  out[0, n] = 1.0", "writes seeds_n[0]"),
    ],
)
def test_the_linter_finds_faults_in_a_tangent(body, says):
    inputs = ("body_i", "body_j", "x")
    function = functions_of(f'def tangent(body_i, body_j, x, seeds, out):\n "Text."\n {body}\n')["tangent"]
    assert any(says in line for line in lint_tangent(function, 1, inputs))
    good = functions_of(f'def t(body_i, body_j, x, seeds, out):\n "T."\n a = x[0]\n {LOOP}out[0, n] = a*seeds[0, n]\n')
    assert lint_tangent(good["t"], 1, inputs) == []


@all_generated
def test_operation_count_has_not_risen(name):
    count = int(re.search(r"(\d+) operations", module_of(name).evaluate.py_func.__doc__)[1])
    assert name in OPERATIONS, f"new: add '{name}': {count} to OPERATIONS"
    assert count <= OPERATIONS[name], f"{name}.evaluate rose from {OPERATIONS[name]} to {count} operations"


def test_every_definition_of_a_joint_or_driver_has_a_module_and_a_count():
    assert set(OPERATIONS) == set(GENERATED)
    assert [module.NAME for module in JOINT_MODULES] == GENERATED


# Limits, cones, measures, laws, contacts


def sizes(name, kernel):
    """How many numbers a kernel writes."""
    module = MODULES[name]
    known = {"direction": 3, "measure": 3, "wrench": 12, "reference": getattr(module, "HELD", 0), "curve": 9,
             "limit": 2, "bearing": 2, "parameter": 1, "separation": 4, "position": 8, "top_view": 8, "law": 3, "below": 15,
             "above": 15, "point": 3}  # fmt: skip
    if name in NORMAL_LAWS:
        known |= {"law": 6, "law_parameters": len(module.PARAMETERS)}
    return (known | {"measure": 5} if name == "sphere_plane" else known)[kernel]


@pytest.mark.parametrize("name", list(MODULES))
def test_kernels_of_forces_are_straight_line_code(name):
    functions = functions_of(inspect.getsource(MODULES[name]))
    differentiated = {"direction", "wrench"} if name in LIMITS else {name} & set(MEASURES)
    for kernel in differentiated:
        inputs = [a.arg for a in functions[kernel].args.args[:-1]]
        assert lint_tangent(functions.pop(f"{kernel}_tangent"), sizes(name, kernel), inputs) == []
    if name == "sphere_plane":  # covered by test_tangents.py
        for tangent in ("measure_tangent", "measure_parameter_tangent", "wrench_tangent"):
            functions.pop(tangent)
    functions = {kernel: f for kernel, f in functions.items() if not kernel.endswith("_entry")}
    assert list(functions) == list(OPERATIONS_OF_FORCES[name])
    for kernel, function in functions.items():
        inputs = [a.arg for a in function.args.args[:-1]]
        assert lint(function, [(sizes(name, kernel),)], tuple(inputs)) == []


@pytest.mark.parametrize("name", list(MODULES))
def test_operation_count_of_forces_has_not_risen(name):
    for kernel, most in OPERATIONS_OF_FORCES[name].items():
        count = int(re.search(r"(\d+) operations", getattr(MODULES[name], kernel).py_func.__doc__)[1])
        assert count <= most, f"{name}.{kernel} rose from {most} to {count} operations"


def test_every_module_of_a_force_has_a_count():
    assert set(OPERATIONS_OF_FORCES) == set(MODULES)
    prefixes = ("limit_", "cone_", "normal_", "friction_", "contact_", "law_")
    generated = {name for name in digests.MODULES if name.startswith(prefixes) or name in MEASURES}
    assert generated == {module.__name__.removeprefix("generated.") for module in MODULES.values()}
