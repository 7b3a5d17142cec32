"""Machine code from files: numba does not get ready to compile for it, and other code can still be linked with it."""

import subprocess
import sys

import pytest

from tests.support.processes import environment

PREPARED = "numba.typed.dictimpl"  # one of the modules that numba imports before it compiles
RUN = f"""
import sys
import models, runtime
run = runtime.simulate(models.foot.build(), 0.1)
assert run.success and run.energy.size
print({PREPARED!r} in sys.modules)
"""
LINKED = """
import numba
from runtime.jit.compilation import compiled
from runtime.jit.stored_library import StoredLibrary


@compiled
def twice(x):
    return 2.0 * x


@numba.njit(error_model="numpy")
def four_times(x):
    return twice(twice(x))


assert twice(1.0) == 2.0
(result,) = twice.overloads.values()
print(four_times(1.5), isinstance(result.library, StoredLibrary))
"""


def python(*arguments, **more):
    done = subprocess.run(
        [sys.executable, *arguments], env=environment(**more), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_a_run_of_a_warm_process_does_not_prepare_numba_for_compiling():
    python("-c", RUN)
    assert python("-c", RUN) == ["False"]


@pytest.mark.slow
def test_code_from_a_file_can_be_linked(tmp_path):
    (tmp_path / "linked.py").write_text(LINKED, encoding="utf-8")
    found = [python(str(tmp_path / "linked.py"), TALUS_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2)]
    assert found == [["6.0", "False"], ["6.0", "True"]]
