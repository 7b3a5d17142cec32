"""From a definition to committed text: nothing drifts, nothing depends on chance, and wrong definitions are refused by name."""

import hashlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import generated
from codegen import DefinitionError, Vector, compile_joint, cones, contacts, drivers, joints, laws, limits
from codegen.__main__ import definitions
from codegen.contact_forces import derive_contact
from codegen.forces import derive_limit
from generated import digests, dispatch

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python -m codegen"
STALE = 3
HASH_OF_GENERATED = (
    "import hashlib; from codegen.__main__ import generate; "
    "print(hashlib.sha256(''.join(n + t for n, t in generate().items()).encode()).hexdigest())"
)


def run(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8",
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"} | environment,
    )  # fmt: skip


def check(folder):
    return run(folder, "-m", "codegen", "--check")


@pytest.fixture
def copy(tmp_path):
    """The repository's program in a folder of its own, to be spoilt."""
    for room in ("codegen", "generated"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def edit(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file.name}"
    file.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


DISTANCE = 'return {"distance": d.dot(d) - l**2}'


# Committed text is what the definitions give


def test_committed_kernels_are_fresh():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("generated/: ")


@pytest.mark.parametrize("seed", ["0", "1", "12345"])
def test_output_does_not_depend_on_the_hash_seed(seed):
    texts = {f.name: f.read_text(encoding="utf-8") for f in sorted((ROOT / "generated").glob("*.py"))}
    committed = hashlib.sha256("".join(n + t for n, t in texts.items()).encode()).hexdigest()
    done = run(ROOT, "-c", HASH_OF_GENERATED, PYTHONHASHSEED=seed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == committed


def test_an_edited_definition_is_seen_and_regenerated(copy):
    edit(copy / "codegen" / "joints.py", DISTANCE, 'return {"distance": (d.dot(d) - l**2) * 2}')
    done = check(copy)
    assert done.returncode == STALE
    assert "--- generated/constant_distance.py (as it is)" in done.stdout
    assert "+++ generated/constant_distance.py (as the definitions give it)" in done.stdout
    assert re.search(r"^-    Phi\[0\] = d_x\*\*2", done.stdout, re.M)
    assert re.search(r"^\+    Phi\[0\] = 2\*d_x", done.stdout, re.M)
    assert done.stdout.rstrip().endswith(f"run: {COMMAND}")
    assert "revolute.py" not in done.stdout
    before = (copy / "generated" / "revolute.py").stat().st_mtime_ns

    done = run(copy, "-m", "codegen")
    assert done.returncode == 0
    assert "2 written (constant_distance.py, digests.py)" in done.stdout
    assert (copy / "generated" / "revolute.py").stat().st_mtime_ns == before
    assert check(copy).returncode == 0


def test_a_new_and_a_removed_definition(copy):
    joints = copy / "codegen" / "joints.py"
    text = joints.read_text(encoding="utf-8")
    start = text.index("def constant_angle(")
    definition = text[start : text.index("\n\n\n", start)]
    joints.write_text(
        text.replace(definition, definition.replace("def constant_angle(", "def new_angle(")), encoding="utf-8"
    )
    done = check(copy)
    assert done.returncode == STALE
    assert "generated/new_angle.py (as the definitions give it)" in done.stdout
    assert run(copy, "-m", "codegen").returncode == 0
    assert not (copy / "generated" / "constant_angle.py").exists()
    assert "import new_angle" in (copy / "generated" / "dispatch.py").read_text(encoding="utf-8")


def files_of(folder):
    return {file.name: file.read_bytes() for file in (folder / "generated").glob("*.py")}


def test_a_spoilt_folder_is_seen_and_mended(copy):
    """A file edited by hand, a file too many and a file too few."""
    edit(copy / "generated" / "point_on_plane.py", "ROWS = ('height',)", "ROWS = ('depth',)")
    (copy / "generated" / "ball.py").write_text("NAME = 'ball'\n", encoding="utf-8")
    (copy / "generated" / "fixed.py").unlink()
    before = files_of(copy)
    done = check(copy)
    assert done.returncode == STALE
    assert "-ROWS = ('depth',)\n+ROWS = ('height',)\n" in done.stdout
    assert "--- generated/ball.py (as it is)" in done.stdout
    assert "+++ generated/fixed.py (as the definitions give it)" in done.stdout
    assert done.stdout.rstrip().endswith(f"3 of {len(files_of(ROOT))} files differ; run: {COMMAND}")
    assert files_of(copy) == before, "--check changes nothing"
    assert run(copy, "-m", "codegen").returncode == 0
    assert files_of(copy) == files_of(ROOT)


def test_a_whole_model_kernel_edited_by_hand_is_seen(copy):
    pendulum = copy / "generated" / "whole" / "pendulum.py"
    edit(pendulum, "CONSTANTS = ", "CONSTANTS = 1 + ")
    text = pendulum.read_text(encoding="utf-8")
    done = check(copy)
    assert done.returncode == STALE
    assert done.stdout.splitlines()[1:] == [
        f"generated/whole/pendulum.py: edited by hand, its digest is that of another text; run: {COMMAND} --models"
    ]
    assert done.stdout.startswith("generated/: ") and pendulum.read_text(encoding="utf-8") == text
    (copy / "generated" / "whole" / "free_body.py").write_text("BODIES = 1\n", encoding="utf-8")  # without a header
    edit(copy / "generated" / "point_on_plane.py", "ROWS = ('height',)", "ROWS = ('depth',)")
    done = check(copy)
    assert done.returncode == STALE and "-ROWS = ('depth',)\n+ROWS = ('height',)\n" in done.stdout
    assert [line.split(":")[0] for line in done.stdout.splitlines()[-2:]] == [
        "generated/whole/free_body.py", "generated/whole/pendulum.py",
    ]  # fmt: skip


def test_a_broken_definition_exits_2_and_writes_nothing(copy):
    edit(copy / "codegen" / "joints.py", DISTANCE, 'return {"distance": d.dot(d) - l}')
    edit(copy / "codegen" / "joints.py", "def constant_angle(a_i: Vector, a_j", "def constant_angle(a_i: Vector, a_k")
    done = run(copy, "-m", "codegen")
    assert done.returncode == 2
    assert "definition 'constant_angle': argument 'a_k' has the unknown suffix '_k'" in done.stderr
    assert "Traceback" not in done.stderr
    assert files_of(copy) == files_of(ROOT)


# The shape of a generated module


def sources():
    """Every generated module, and what is edited to change it: the file of its family, and the definition in it."""
    families = {joints: "", drivers: "", limits: "limit_", cones: "cone_", laws: "law_", contacts: "normal_"}
    others = {cones.position: "", cones.separation: "", cones.top_view: "", contacts.sphere_plane: "contact_"}
    others |= {contacts.coulomb: "friction_", contacts.smooth: "friction_"}
    found = dict.fromkeys(("__init__", "dispatch", "digests"), "codegen/") | {"bodies": "codegen/bodies.py"}
    for module, prefix in families.items():
        file = f"codegen/{module.__name__.split('.')[1]}.py"
        found |= {others.get(f, prefix) + f.__name__: f"{file}: {f.__name__}" for f in definitions(module)}
    return found


@pytest.mark.parametrize("file", sorted(p.name for p in Path(generated.__file__).parent.glob("*.py")))
def test_header(file):
    text = (ROOT / "generated" / file).read_text(encoding="utf-8")
    command, sympy, digest, *body = text.split("\n")
    name = file.removesuffix(".py")
    assert command == f"# Generated by: {COMMAND}    Do not edit; edit {sources()[name]} and run it again."
    assert sympy == f"# SymPy: {sp.__version__}"
    assert digest == "# Digest: " + hashlib.sha256("\n".join(body).encode()).hexdigest()
    if name != "digests":
        assert digest.endswith(digests.MODULES[name])
    assert text.endswith("\n")
    assert "\r" not in text
    assert not re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d", text), "a date or a time"


def test_every_definition_has_a_module():
    assert set(sources()) - {"digests"} == set(digests.MODULES)
    prefixes = {"LIMITS": "limit_", "CONES": "cone_", "MODULES": "", "NORMAL_LAWS": "normal_", "FRICTIONS": "friction_"}
    for family, prefix in prefixes.items():
        modules = getattr(dispatch, family)
        assert [prefix + module.NAME for module in modules] == [m.__name__.removeprefix("generated.") for m in modules]
    assert {name for name in vars(dispatch) if name.isupper()} == set(prefixes)
    switched = {m.__name__.removeprefix("generated.") for family in prefixes for m in getattr(dispatch, family)}
    alone = {
        "__init__",
        "dispatch",
        "bodies",
        "contact_sphere_plane",
        "position",
        "separation",
        "top_view",
        "law_cubic",
    }
    assert switched | alone == set(digests.MODULES)


def test_a_module_carries_the_docstring_and_its_text():
    def swing(a_i, a_j, c):
        """The cosine of the angle is c.

        Singular when c is 1.  The reaction is a moment.
        """
        return {"angle": a_i.dot(a_j) - c}

    module = compile_joint(swing)
    assert module.__doc__.startswith("The cosine of the angle is c.\n\nSingular when c is 1.")
    assert module.SINGULAR == "when c is 1"
    assert (module.NAME, module.KEYWORDS, module.ROWS, module.UNITS) == ("swing", ("a_i", "a_j", "c"), ("angle",), (0,))
    assert "Phi[0] = a_i_x*a_j_x + a_i_y*a_j_y + a_i_z*a_j_z - c" in inspect.getsource(module)


def test_units_of_rows_and_parameters():
    def link(r_i, s_i, a_i, r_j, s_j, l, c):
        """Rows of different units, each consistent."""
        d = r_j + s_j - r_i - s_i
        return {"square": d.dot(d) - l**2, "cosine": a_i.dot(d) - c * l}

    def area(r_i, s_i, a_i, r_j, s_j, S, l):
        """An area and a length."""
        d = r_j + s_j - r_i - s_i
        return {"area": d.dot(d) - S, "line": a_i.dot(d) - l}

    assert (compile_joint(link).UNITS, compile_joint(link).PARAMETERS) == ((2, 1), (("l", 1), ("c", 0)))
    assert (compile_joint(area).UNITS, compile_joint(area).PARAMETERS) == ((2, 1), (("S", 2), ("l", 1)))


def repeated(a_i, a_j):
    """The same row twice."""
    return {"once": a_i.dot(a_j), "again": 2 * a_i.dot(a_j)}


def held_constant(a_i, a_j, l, held):
    """Nothing is held."""
    return {"row": a_i.dot(a_j) + held(l)}


def seven(a_i, a_j, c):
    """More than two bodies can take."""
    return {f"row_{k}": a_i.dot(a_j) - k * c for k in range(7)}


def impossible(a_i, a_j):
    """A cosine of two."""
    return {"row": a_i.dot(a_j) - 2}


def branch(r_i, r_j, l):
    """A condition."""
    d = r_j - r_i
    return {"row": d.dot(d) - l**2 if d.x > 0 else d.x}


def product(r_i, r_j, l):
    """An ambiguous product."""
    return {"row": (r_j - r_i) * (r_j - r_i) - l**2}


def misspelt(r_i, r_j, l):
    """No such operation."""
    return {"row": (r_j - r_i).dott(r_j) - l**2}


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        (repeated, "its rows once, again depend on each other"),
        (held_constant, "held(l) keeps a constant"),
        (seven, "has 7 rows, limit 6"),
        (impossible, "seem to have no common solution"),
        (branch, "equations are smooth, without branches"),
        (product, "vector * vector has two meanings; write a.dot(b) or a.cross(b)"),
        (misspelt, "vectors know +, -, dot, cross, norm"),
    ],
)
def test_a_definition_without_sense_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        compile_joint(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")
    with pytest.raises(DefinitionError, match="give the function"):
        compile_joint("spherical")


# What is printed is what is meant


@pytest.mark.parametrize(
    "f",
    [
        lambda u, c: u**2 + c,
        lambda u, c: u**3 + c**4,
        lambda u, c: c**5 * u,
        lambda u, c: c - u**2,
        lambda u, c: (u + c) ** 2,
        lambda u, c: c * (u + c) ** 3,
        lambda u, c: u / c,
        lambda u, c: u / sp.sqrt(c),
        lambda u, c: sp.sqrt(c + u**2) ** 3,
        lambda u, c: u * c ** sp.Rational(1, 3),
        lambda u, c: u / 3 - 2 * c / 7,
        lambda u, c: u * sp.Rational(-3, 4) * c,
        lambda u, c: sp.pi * u - c,
        lambda u, c: sp.sin(u) * sp.cos(c) ** 2,
        lambda u, c: sp.exp(-(u**2)) + 2**c,
        lambda u, c: sp.atan2(u, c),
        lambda u, c: sp.log(2 + u) * sp.tan(c),
        lambda u, c: u / c**2,
        lambda u, c: u - 1 / c**2,
        lambda u, c: u / (u + c) ** 3,
        lambda u, c: u**2 / c**4,
        lambda u, c: sp.sin(u) / sp.cos(c) ** 2,
    ],
)
def test_printed_expressions(f):
    def row(a_i, a_j, c, k):
        """An expression."""
        return {"row": f(a_i.dot(a_j), c) - k}

    module = compile_joint(row)
    a_i, a_j, c = np.array([0.1, 0.5, 0.7]), np.array([-0.2, 0.3, 0.4]), 0.83
    Phi = np.empty(1)
    body = np.zeros(13)
    module.phi.py_func(body, body, np.r_[a_i, a_j, c, 0.25], Phi)
    u, symbol = sp.symbols("u c", real=True)
    assert Phi[0] == pytest.approx(float(f(u, symbol).subs({u: a_i @ a_j, symbol: c})) - 0.25, rel=1e-14, abs=1e-15)


# Wrong definitions


def unknown_suffix(r_i, s_k, r_j):
    """A body k."""
    return {"row": (r_j - r_i).dot(s_k)}


def unused_argument(a_i, a_j, l):
    """No l."""
    return {"row": a_i.dot(a_j)}


def unused_vector(a_i, a_j, b_j):
    """No b_j."""
    return {"row": a_i.dot(a_j)}


def unused_held(a_i, a_j, held):
    """No held."""
    return {"row": a_i.dot(a_j)}


def unused_across(a_i, a_j, across):
    """No across."""
    return {"row": a_i.dot(a_j)}


def unused_carried(a_i, a_j, carried):
    """No carried."""
    return {"row": a_i.dot(a_j)}


def global_component(a_i, a_j):
    """A component of the global frame between two bodies."""
    return {"fine": a_i.dot(a_j), "row": a_i.x - a_j.x}


def double_distance(r_i, s_i, r_j, l):
    """One centre counts twice."""
    d = r_i + s_i - 2 * r_j
    return {"row": d.dot(d) - l**2}


def undocumented(a_i, a_j):
    return {"row": a_i.dot(a_j)}


def constant_row(a_i, a_j, c):
    """A row of constants."""
    return {"fine": a_i.dot(a_j), "row": c - 1}


def constants_only(c, held):
    """No body."""
    return {"row": held(c)}


def reserved_name(a_i, a_j, gamma):
    """A name of the kernels."""
    return {"row": a_i.dot(a_j) - gamma}


def velocity(v_i, a_j):
    """A velocity, which is no vector of a body."""
    return {"row": v_i.dot(a_j)}


def mixed_units(r_i, s_i, a_i, r_j, s_j, a_j):
    """An area and a cosine."""
    d = r_j + s_j - r_i - s_i
    return {"fine": d.dot(d), "row": d.dot(d) - a_i.dot(a_j)}


def length_and_area(r_i, s_i, r_j, s_j, l):
    """A constant cannot be a length and an area."""
    d = r_j + s_j - r_i - s_i
    return {"fine": d.dot(d) - l**2, "row": d.dot(d) - l}


def empty(a_i, a_j):
    """No rows."""
    return {}


def nothing(a_i, a_j):
    """A forgotten return."""
    a_i.dot(a_j)


def rows_without_names(a_i, a_j):
    """A list."""
    return [a_i.dot(a_j)]


def across_a_point(r_i, s_i, r_j, s_j, across):
    """Tangents of a point."""
    b, _ = across(s_i)
    return {"row": b.dot(r_j + s_j - r_i)}


def across_a_sum(a_i, b_i, a_j, across):
    """Tangents of a sum."""
    b, _ = across(a_i + b_i)
    return {"row": b.dot(a_j)}


def carried_by_both(a_i, a_j, carried):
    """A vector that belongs to both bodies."""
    return {"row": a_i.dot(carried(a_i + a_j))}


def never_satisfied(a_i, a_j):
    """A sum of a square and one."""
    return {"row": a_i.dot(a_j) ** 2 + 1}


def parameter_like_a_held_constant(a_i, a_j, held_0, held):
    """A parameter with the name that the first held constant gets."""
    return {"row": held(a_i.dot(a_j)) + 2 * held_0}


def two_rows_of_one_name(a_i, a_j):
    """The rows a_x, a_y, a_z and again a_x."""
    return {"a": a_i.cross(a_j), "a_x": a_i.dot(a_j)}


def any_number_of_arguments(a_i, a_j, *l):
    """No fixed inputs."""
    return {"row": a_i.dot(a_j)}


def absolute_value(a_i, a_j, c):
    """A row with a kink, whose derivatives no kernel can print."""
    return {"row": abs(a_i.dot(a_j)) - c}


def euler_component(p_i, p_i_0):
    """A parameter with the name of an Euler parameter."""
    return {"row": p_i[0] - p_i_0}


def default_argument(a_i, a_j, c=0):
    """An argument with a default."""
    return {"row": a_i.dot(a_j) - c}


def row_with_a_space(a_i, a_j):
    """A row whose name is no name."""
    return {"a b": a_i.dot(a_j)}


def square_of_a_distance(r_i, s_i, r_j, s_j):
    """Three rows in one, without a gradient where it holds."""
    d = r_j + s_j - r_i - s_i
    return {"row": d.dot(d)}


def the_larger(a_i, a_j, c):
    """A row that branches."""
    return {"row": sp.Max(a_i.x * a_j.x, c)}


REFUSED = [
    (unknown_suffix, "argument 's_k' has the unknown suffix '_k'"),
    (unused_argument, "argument 'l' is not used"),
    (unused_vector, "argument 'b_j' is not used"),
    (unused_held, "argument 'held' is not used"),
    (unused_across, "argument 'across' is not used"),
    (unused_carried, "argument 'carried' is not used"),
    (global_component, "row 'row' changes when both bodies move together"),
    (double_distance, "row 'row' changes when both bodies move together"),
    (undocumented, "needs a docstring"),
    (constant_row, "row 'row' holds no vector of a body"),
    (constants_only, "row 'row' holds no vector of a body"),
    (reserved_name, "argument 'gamma' has a name that the kernels use themselves"),
    (velocity, "argument 'v_i' has a name that the kernels use themselves"),
    (mixed_units, "row 'row' adds quantities of different units"),
    (length_and_area, "adds quantities of different units"),
    (empty, "must return its rows by name"),
    (nothing, "must return its rows by name"),
    (rows_without_names, "must return its rows by name"),
    (across_a_point, "across(a) needs one direction of the signature"),
    (across_a_sum, "across(a) needs one direction of the signature"),
    (carried_by_both, "carried(x) needs a vector made of one body's vectors"),
    (never_satisfied, "seem to have no common solution"),
    (parameter_like_a_held_constant, "argument 'held_0' has a name that the kernels use themselves"),
    (euler_component, "argument 'p_i_0' has a name that the kernels use themselves"),
    (two_rows_of_one_name, "row name 'a_x' is not a name, or is given twice"),
    (row_with_a_space, "row name 'a b' is not a name, or is given twice"),
    (any_number_of_arguments, "argument '*l': name every argument, without defaults"),
    (default_argument, "argument 'c=0': name every argument, without defaults"),
    (absolute_value, "uses the function 'Abs'; smooth ones only"),
    (the_larger, "uses the function 'Max'; smooth ones only"),
    (square_of_a_distance, "row 'row' has no gradient where it holds"),
]


@pytest.mark.parametrize(("definition", "says"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_a_wrong_definition_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        compile_joint(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")


def test_a_docstring_with_a_backslash():
    def tilted(a_i, a_j, c):
        r"""Axes \nu and \theta keep the cosine c."""
        return {"angle": a_i.dot(a_j) - c}

    assert compile_joint(tilted).__doc__.startswith(r"Axes \nu and \theta keep the cosine c.")


def test_an_arc_cosine():
    def angle(a_i, a_j, c):
        """The angle itself."""
        return {"angle": sp.acos(a_i.dot(a_j)) - c}

    assert compile_joint(angle).UNITS == (0,)


def test_what_is_refused_would_be_accepted_without_the_fault():
    """Each rule is about one thing: the nearest right definitions compile."""

    def from_the_ground(a_i, c):
        """A global component of one body's direction is a joint with the ground."""
        return {"row": a_i.x - c}

    def right_distance(r_i, s_i, r_j, s_j, S):
        """An area."""
        d = r_j + s_j - r_i - s_i
        return {"row": d.dot(d) - S}

    def whole_vector(r_i, s_i, X, Y, Z):
        """Three rows from one vector."""
        return {"point": r_i + s_i - Vector(X, Y, Z)}

    assert compile_joint(from_the_ground).ROWS == ("row",)
    assert compile_joint(right_distance).PARAMETERS == (("S", 2),)
    assert compile_joint(whole_vector).ROWS == ("point_x", "point_y", "point_z")


# Wrong limits of motion


def parts(direction, angle, rate, damping):
    return {"direction": direction, "angle": angle, "rate": rate, "dissipation": damping / 2 * rate**2}


def frame_angle(u_xi_i, u_zeta_i, u_r_j):
    return sp.atan2(u_r_j.dot(u_xi_i), u_r_j.dot(u_zeta_i))


def in_plane(angle):
    return Vector(sp.sin(angle), 0, sp.cos(angle))


def right_limit(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """One angle."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def without_dissipation(u_xi_i, u_zeta_i, u_r_j, rate):
    """Keys left out."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return {"direction": in_plane, "angle": angle, "rate": rate(angle)}


def with_a_torque(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A key too many."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping) | {"torque": angle}


def in_another_order(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """Keys out of order."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return dict(reversed(parts(in_plane, angle, rate(angle), damping).items()))


def limit_as_a_list(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """No names."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return list(parts(in_plane, angle, rate(angle), damping).values())


def limit_with_an_idle_vector(u_xi_i, u_eta_i, u_zeta_i, u_r_j, damping, rate):
    """No u_eta_i."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def limit_with_an_idle_constant(u_xi_i, u_zeta_i, u_r_j, damping, stiffness, rate):
    """No stiffness."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def limit_with_an_idle_rate(u_xi_i, u_zeta_i, u_r_j, omega_i, omega_j, damping, rate):
    """No rate."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, (omega_j - omega_i).dot(u_xi_i), damping)


def arc_cosine_of_an_absolute_value(u_zeta_i, u_r_j, damping, rate):
    """A kink."""
    angle = sp.acos(abs(u_r_j.dot(u_zeta_i)))
    return parts(in_plane, angle, rate(angle), damping)


def damper_with_a_kink(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """Dry friction."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping) | {"dissipation": damping * abs(rate(angle))}


def number_for_a_direction(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """An angle where a direction belongs."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(angle, angle, rate(angle), damping)


def function_that_gives_a_number(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A function of the angle, which is no direction."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(sp.sin, angle, rate(angle), damping)


def limit_of_a_third_body(u_xi_i, u_zeta_i, u_r_k, damping, rate):
    """A body k."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_k)
    return parts(in_plane, angle, rate(angle), damping)


def limit_with_a_velocity(u_xi_i, u_zeta_i, u_r_j, v_i, damping, rate):
    """A velocity that is not between the bodies."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping) | {"rate": v_i.x}


def limit_that_branches(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A condition."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle if angle > 0 else -angle, rate(angle), damping)


def undocumented_limit(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def limit_of_a_global_component(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """An angle that changes when both bodies turn together."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j) + u_xi_i.x
    return parts(in_plane, angle, rate(angle), damping)


def rate_with_a_kink(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """The rate of an absolute value."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(abs(angle)), damping)


def direction_of_length_two(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A direction that is no unit vector."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(lambda a: in_plane(a) * 2, angle, rate(angle), damping)


def driven_limit(u_xi_i, u_zeta_i, u_r_j, k_t, rate):
    """A signal."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), k_t)


KEYS = "must return direction, angle, rate, dissipation by name"
REFUSED_LIMITS = [
    (without_dissipation, KEYS),
    (with_a_torque, KEYS),
    (in_another_order, KEYS),
    (limit_as_a_list, KEYS),
    (limit_with_an_idle_vector, "argument 'u_eta_i' is not used"),
    (limit_with_an_idle_constant, "argument 'stiffness' is not used"),
    (limit_with_an_idle_rate, "argument 'rate' is not used"),
    (arc_cosine_of_an_absolute_value, "uses the function 'Abs'; smooth ones only"),
    (damper_with_a_kink, "uses the function 'Abs'; smooth ones only"),
    (number_for_a_direction, "the direction must be a Vector, or a function of the angle that returns one"),
    (function_that_gives_a_number, "the direction must be a Vector, or a function of the angle that returns one"),
    (limit_of_a_third_body, "argument 'u_r_k' has the unknown suffix '_k'"),
    (limit_with_a_velocity, "argument 'v_i' has a name that the kernels use themselves"),
    (limit_that_branches, "smooth, without branches"),
    (undocumented_limit, "needs a docstring"),
    (limit_of_a_global_component, "changes when both bodies move together as one rigid body"),
    (rate_with_a_kink, "uses the function 'Abs'; smooth ones only"),
    (direction_of_length_two, "its direction has the length 2 where its vectors are unit vectors; it must have 1"),
    (driven_limit, "uses the signal k_t; only constraints can be driven"),
]


@pytest.mark.parametrize(("definition", "says"), REFUSED_LIMITS, ids=[f.__name__ for f, _ in REFUSED_LIMITS])
def test_a_wrong_limit_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        derive_limit(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")


def test_the_nearest_right_limit_is_derived():
    assert len(derive_limit(right_limit).wrench) == 12


# Wrong contacts: of the centre of a body with a plane, without friction


def along(n_j, v):
    return v - v.dot(n_j) * n_j


def depth(r_i, r_j, n_j):
    return (r_j - r_i).dot(n_j)


def right_contact(r_i, r_j, n_j, omega_j, rate):
    """The centre of body i against a plane through that of body j."""
    slip = along(n_j, rate(r_i - r_j) - omega_j.cross(r_i - r_j))
    return {"penetration": depth(r_i, r_j, n_j), "slip": slip, "point": r_i + 0 * n_j}


def contact_without_point(r_i, r_j, n_j, rate):
    """A key left out."""
    return {"penetration": depth(r_i, r_j, n_j), "slip": along(n_j, rate(r_i - r_j))}


def contact_with_a_torque(r_i, r_j, n_j, omega_j, rate):
    """A key too many."""
    return right_contact(r_i, r_j, n_j, omega_j, rate) | {"torque": 0}


def slip_that_is_a_number(r_i, r_j, n_j, omega_j, rate):
    """A speed where a velocity belongs."""
    parts = right_contact(r_i, r_j, n_j, omega_j, rate)
    return parts | {"slip": parts["slip"].dot(r_i)}


def contact_with_an_idle_constant(r_i, r_j, n_j, omega_j, radius, rate):
    """No radius."""
    return right_contact(r_i, r_j, n_j, omega_j, rate)


def contact_with_a_memory(r_i, r_j, n_j, omega_j, rate, held):
    """A held value, which no contact has."""
    parts = right_contact(r_i, r_j, n_j, omega_j, rate)
    return parts | {"penetration": held(parts["penetration"])}


def contact_with_a_kink(r_i, r_j, n_j, omega_j, rate):
    """From both sides of the plane."""
    parts = right_contact(r_i, r_j, n_j, omega_j, rate)
    return parts | {"penetration": abs(parts["penetration"])}


def slip_in_a_plane_that_does_not_turn(r_i, r_j, n_j, rate):
    """Of points that do not meet."""
    return {"penetration": depth(r_i, r_j, n_j), "slip": along(n_j, rate(r_i - r_j)), "point": r_i + 0 * n_j}


OF_CONTACT = "must return penetration, slip, point by name"
REFUSED_CONTACTS = [
    (contact_without_point, OF_CONTACT),
    (contact_with_a_torque, OF_CONTACT),
    (slip_that_is_a_number, "slip and point must be Vectors"),
    (contact_with_an_idle_constant, "argument 'radius' is not used"),
    (contact_with_a_memory, "uses held(x) or sided(x), which are for joints"),
    (contact_with_a_kink, "uses the function 'Abs'; smooth ones only"),
    (slip_in_a_plane_that_does_not_turn, "changes when both bodies move together as one rigid body"),
]


@pytest.mark.parametrize(("definition", "says"), REFUSED_CONTACTS, ids=[f.__name__ for f, _ in REFUSED_CONTACTS])
def test_a_wrong_contact_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        derive_contact(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")


def test_the_nearest_right_contact_is_derived():
    assert len(derive_contact(right_contact).wrench) == 12


def rate_in_a_joint(a_i, a_j, rate):
    """A joint is no force element."""
    return {"row": rate(a_i.dot(a_j))}


def angular_velocity_in_a_joint(a_i, a_j, omega_i):
    """A joint is no force element."""
    return {"row": a_i.dot(a_j) - omega_i.dot(a_j)}


@pytest.mark.parametrize("definition", [rate_in_a_joint, angular_velocity_in_a_joint])
def test_a_joint_may_not_use_velocities(definition):
    with pytest.raises(DefinitionError, match=f"definition '{definition.__name__}': "):
        compile_joint(definition)
