"""Kernels of users' joints that are kept: by all that a definition uses, and only where all that can be listed."""

import functools
import inspect
import subprocess
import sys

import pytest

from codegen import compile_joint
from codegen.compiler import kept
from tests.support.processes import environment

STUDY = '''
import hashlib
import inspect
import sys
from codegen import compile_joint

FACTOR = 2.0


def scaled(d, l):
    return FACTOR * (d.dot(d) - l**2)


def rod(r_i, s_i, r_j, s_j, l):
    """Points at the distance l.  l [m]."""
    return {"distance": scaled(r_j + s_j - r_i - s_i, l)}


module = compile_joint(rod)
print("sympy" in sys.modules, hashlib.sha256(inspect.getsource(module).encode()).hexdigest())
'''


@pytest.fixture
def study(tmp_path):
    """Run the study after a change of its text: whether SymPy was imported, and the digest of the kernels."""

    def run(before="", after=""):
        (tmp_path / "study.py").write_text(STUDY.replace(before, after), encoding="utf-8")
        variables = environment(TALUS_CACHE_DIR=str(tmp_path / "cache"))
        done = subprocess.run([sys.executable, "study.py"], cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        derived, digest = done.stdout.split()
        return derived == "True", digest

    return run


@pytest.mark.slow
def test_a_second_process_derives_nothing(study):
    derived, digest = study()
    assert derived
    assert study() == (False, digest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"), [("FACTOR = 2.0", "FACTOR = 3.0"), ("- l**2)", "- 2 * l**2)"), ("d.dot(d)", "2 * d.dot(d)")]
)
def test_what_a_definition_uses_is_part_of_it(study, before, after):
    _, first = study()
    derived, other = study(before, after)
    assert derived and other != first


@pytest.mark.slow
def test_a_damaged_file_is_derived_again(study, tmp_path):
    _, digest = study()
    (file,) = (tmp_path / "cache" / "talus" / "joints").iterdir()
    file.write_text(file.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    assert study() == (True, digest)


OPTIONS = {"factor": 2.0}


def of_an_import(l):
    import random

    return random.random() * l


@pytest.mark.parametrize(
    "definition",
    [
        of_an_import,
        lambda l: OPTIONS["factor"] * l,
        lambda l: l * len(open("lengths.txt").read()),
        lambda l: l * not_there,  # noqa: F821
        lambda l: (lambda: OPTIONS["factor"] * l)(),
    ],
    ids=["import", "mapping", "file", "unknown name", "function inside"],
)
def test_a_definition_whose_text_does_not_tell_what_it_uses_is_not_kept(definition):
    assert kept.digest_of(definition) is None


def test_values_of_an_enclosing_function_are_part_of_a_definition():
    def factory(factor):
        def definition(l):
            return [factor * a for a in (l, l)]

        return definition

    one, two, again = (kept.digest_of(factory(value)) for value in (1.0, 2.0, 1.0))
    assert one == again != two and one is not None


def test_defaults_and_decorators_are_part_of_a_definition():
    def factory(factor, text):
        def scaled(function):
            @functools.wraps(function)
            def wrapper(l):
                return [factor * a for a in function(l)]

            return wrapper

        def helper(l, *, by=factor):
            return (by * l,)

        helper.__doc__ = text
        return scaled(helper), helper

    for one, two, again, other in zip(
        *(factory(*a) for a in ((2.0, "A"), (3.0, "A"), (2.0, "A"), (2.0, "B"))), strict=True
    ):
        assert kept.digest_of(one) == kept.digest_of(again) is not None
        assert len({kept.digest_of(f) for f in (one, two, other)}) == 3


def test_the_function_counts_and_not_the_file_that_it_came_from(tmp_path):
    file = tmp_path / "study.py"

    def defined(text):
        file.write_text(text, encoding="utf-8")
        namespace = {}
        exec(compile(text, str(file), "exec"), namespace)
        return namespace["f"]

    first = defined("def f(l):\n    return 2.0 * l\n")
    digest = kept.digest_of(first)
    second = defined("def f(l):\n    return 3.0 * l\n")
    assert kept.digest_of(first) == digest != kept.digest_of(second)


def test_what_has_no_value_yet_is_not_kept():
    def definition(l):
        return later * l

    assert kept.digest_of(definition) is None
    later = 2.0
    assert kept.digest_of(definition) is not None


def test_two_joints_of_one_name_have_their_own_kernels():
    def made(factor):
        def rod(r_i, s_i, r_j, s_j, l):
            """Points at the distance l.  l [m]."""
            d = r_j + s_j - r_i - s_i
            return {"distance": factor * (d.dot(d) - l**2)}

        return compile_joint(rod)

    two, three = made(2), made(3)
    assert "Phi[0] = 2*" in inspect.getsource(two).replace(".0", "") and inspect.getsource(two) != inspect.getsource(
        three
    )


WITHOUT_RUNTIME = """
import sys
from codegen.compiler import kept
print(kept.place().cache_folder(), "runtime" in sys.modules)
from runtime.jit import place
print(place.cache_folder(), place is kept.place())
"""


def test_the_folder_is_that_of_the_runtime_which_is_not_imported(tmp_path):
    variables = environment(TALUS_CACHE_DIR=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", WITHOUT_RUNTIME], env=variables, capture_output=True, text=True)
    assert done.stdout.split() == [str(tmp_path / "talus"), "False", str(tmp_path / "talus"), "True"], done.stderr
