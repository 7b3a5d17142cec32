"""What all tests share: a cache of their own, filled before workers start; systems that several rooms use."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

# Threads of linear algebra gain nothing on small matrices, and double the processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Without bytecode each worker and process would compile all modules that it imports, and pytest rewrite those of the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The content of the user's cache decides no test.  Workers and processes of the tests inherit the place; git ignores it.
os.environ["TALUS_CACHE_DIR"] = str(Path(__file__).resolve().parents[1] / ".tests-cache")
# Each core has a worker: a process that compiles ahead would take one of them its time.
os.environ["TALUS_SECOND_PROCESS"] = "0"

import pytest

from tests.support.browser import browser, open_page  # noqa: F401  # fixtures
from tests.support.command import command, without_figures  # noqa: F401  # fixtures
from tests.support.paths import ROOT
from tests.support.processes import environment

sys.dont_write_bytecode = False  # as above, in this process
Path(os.environ["TALUS_CACHE_DIR"]).mkdir(mode=0o700, exist_ok=True)


def pytest_sessionstart(session):
    """Compile once what most tests need: workers of an empty cache would each compile the same."""
    # A background job of a shell ignores interrupts, and so would the processes of the tests.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config = session.config
    if hasattr(config, "workerinput") or not getattr(config.option, "tx", None) or config.option.collectonly:
        return
    program = str(ROOT / "tests" / "support" / "warm_up.py")
    parts = [
        subprocess.Popen([sys.executable, program, part], env=environment(TALUS_SECOND_PROCESS=""))
        for part in ("runs", "implicit")
    ]
    for part in parts:
        part.wait()  # where it fails, the tests tell why


@pytest.hookimpl(trylast=True)  # of the tests that are chosen
def pytest_collection_modifyitems(items):
    """Modules with long tests come first and those with few tests last, so that parallel workers end together."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in long, -tests[item.path]))


KEPT = []  # compiled code of systems may still call these kernels


@pytest.fixture(scope="module", autouse=True)
def _own_kernels():
    """Kernels that a module's tests compile decide no equations of other modules' tests."""
    from runtime.system.whole_model import OWN

    before = set(sys.modules)
    yield
    KEPT.extend(sys.modules.pop(name) for name in set(sys.modules) - before if name.startswith(OWN))


@pytest.fixture(scope="session")
def foot():
    """The modified foot."""
    import models

    return models.foot.build()
