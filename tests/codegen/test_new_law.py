"""A law of contact touches one file: its definition, which the runtime then builds with."""

import shutil

import pytest

from tests.support.definition_copies import edit, run
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

VISCOUS = '''

def viscous(delta: Expr, delta_dot: Expr, stiffness: Expr, viscosity: Expr) -> Parts:
    """A linear spring and a cubic damper, f_n = K delta + v delta delta'^3.

    stiffness : K [N/m], 0 < K <= 1e18
    viscosity : [N s^3/m^4]
    """
    return {"potential": stiffness * delta**2 / 2, "dissipation": viscosity * delta * delta_dot**4 / 4}
'''
BUILD = """
from runtime import Builder, ModelError

b = Builder("ball")
b.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(0, 0, 1), free=True)
sphere = dict(centre=(0, 0, 0), radius=0.1, law="viscous")
for wrong in (dict(stiffness=1e19, viscosity=1.0), dict(stiffness=1e5, viscosity=-1.0), dict(stiffness=1e5)):
    try:
        b.contact("touch", "ball", **sphere, **wrong)
    except ModelError as error:
        print(error)
b.contact("touch", "ball", **sphere, stiffness=1e5, viscosity=2.0)
print(dict(b.build().contact("touch").parameters))
"""


@pytest.fixture
def with_a_law(copy):
    """A copy of the packages with a law of its own, beside the runtime."""
    contacts = copy / "codegen" / "contacts.py"
    contacts.write_text(contacts.read_text(encoding="utf-8") + VISCOUS, encoding="utf-8", newline="\n")
    shutil.copytree(ROOT / "runtime", copy / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_a_new_law_is_generated_and_built(with_a_law):
    done = run(with_a_law, "-m", "codegen")
    assert done.returncode == 0, done.stderr
    done = run(with_a_law, "-c", BUILD, PYTHONPATH=str(with_a_law), TALUS_CACHE_DIR=str(with_a_law / "cache"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "contact 'touch': stiffness = 1e+19 N/m, must not be above 1e+18 N/m; a steel ball has 1e10, see hertz_stiffness; "
        "a rigid connection is a joint",
        "contact 'touch': viscosity = -1 N s^3/m^4, must not be below 0 N s^3/m^4; give its magnitude",
        "contact 'touch': missing viscosity; law viscous needs stiffness, viscosity",
        "{'stiffness': 100000.0, 'viscosity': 2.0, 'transition_velocity': 0.001}",
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("viscosity : a number", "its docstring has no unit of viscosity; add the line 'viscosity : meaning [unit]'"),
        (
            "viscosity : [N s^3/m^4], viscosity > 0",
            "bounds of 'viscosity', viscosity > 0: cannot be read; write them as 0 < ",
        ),
        ("viscosity : [N s^3/m^4], 0 < v < 1", "bounds of 'viscosity', 0 < v < 1: cannot be read; write them as 0 < "),
    ],
)
def test_unclear_bounds_are_refused_by_name(with_a_law, line, says):
    edit(with_a_law / "codegen" / "contacts.py", "viscosity : [N s^3/m^4]\n", f"{line}\n")
    done = run(with_a_law, "-m", "codegen")
    assert done.returncode == 2 and f"definition 'viscous': {says}" in done.stderr
