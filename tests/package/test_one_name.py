"""``import talus_multibody as talus`` gives the public names of ``runtime`` and the packages."""

import os
import subprocess
import sys

from tests.support.paths import ROOT

PROGRAM = """
import sys, talus_multibody as talus
import runtime
system = talus.models.pendulum.build()
run = talus.simulate(system, 0.1)
assert "sympy" not in sys.modules
assert {name for name in runtime.__all__ if getattr(talus, name) is not getattr(runtime, name)} == set()
assert set(runtime.__all__) <= set(dir(talus))
assert run.success and isinstance(system, talus.System) and talus.analysis is runtime.analysis
assert talus.codegen.compile_joint.__name__ == "compile_joint"
try:
    talus.simulte
except AttributeError as error:
    print(error)
"""


def test_one_name_for_all():
    path = os.pathsep.join([str(ROOT / "runtime" / "console"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        cwd=ROOT.parent,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "module 'talus_multibody' has no attribute 'simulte'; did you mean 'simulate'?\n"
