"""Other programs in their processes: their motion is that of Talus, their failures are named."""

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.peers import question
from benchmarks.peers.interface import PeerError
from benchmarks.peers.records import GENERAL, IN_JOINTS, OWN, PROGRAMS, QUICK
from benchmarks.peers.talus import chain_of, talus
from tests.support.refusals import refused_with

# Without bounds in time, so that the runs do not depend on the load of the machine; slow settings and chains are left out
# instead.
CASES = replace(QUICK, tolerance=1e-7, repeats=1, every=3, links=(1, 4), timeout=math.inf, building=math.inf)


@pytest.mark.nightly
def test_peers(answer, monkeypatch):
    monkeypatch.setattr(question, "QUICK", CASES)
    tables, _ = answer("peers")
    reached = {OWN, GENERAL, IN_JOINTS}
    for row in tables["equal error"]:
        if row["time [ms]"] is None:
            assert row["error [m]"] > row["error allowed [m]"] and row["setting"] is None
        else:
            assert row["error [m]"] <= row["error allowed [m]"] and row["time ratio"] > 0.0
            reached.add(row["program"])
    assert {row["error allowed [m]"] for row in tables["equal error"]} >= set(CASES.errors)
    for row in tables["programs"]:
        assert row["one evaluation [us]"] > 0.0 and row["version"] and row["input"]
        assert row["smallest error [m]"] < 1e-8
    absent = {row["program"] for row in tables.get("not installed", [])}
    assert len(reached) == 3 + len(CASES.programs) - len(absent)
    for row in tables["chain"]:
        assert row["difference"] < 1e-6 and all(row[f"{links} links [us]"] > 0.0 for links in CASES.links)
    assert {row["program"] for row in tables["chain"]} >= {OWN, GENERAL, IN_JOINTS, "the papers' method"}
    # MuJoCo uses other equations: its motion converges to that of Talus with the order of its method.
    rows = [row for row in tables["work and precision"] if row["program"] == "MuJoCo"]
    for coarse, fine in pairwise(rows):
        if fine["error [m]"] > 1e-12:
            order = np.log(coarse["error [m]"] / fine["error [m]"]) / np.log(coarse["setting"] / fine["setting"])
            assert 3.7 < order < 4.6
    assert not rows or rows[-1]["error [m]"] < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_motion_and_chain_of_a_program_are_those_of_talus(name, program):
    process, facts = program(name)
    setting = next(s for s in facts["shown"] if s < (1e-3 if "step" in facts["knob"] else 1e-6))
    times, found = process.request("motion", setting=setting)
    exact = measure.exact(measure.foot("modified"), times).r[measure.BODY]
    assert np.abs(np.array(found) - exact).max() < 1e-6
    assert process.request("run", setting=setting) > 0.0 and process.request("evaluation", repeats=1) > 0.0
    if facts["max_links"]:
        of = chain_of(5)
        own = talus(measure.foot("modified"), QUICK, whole=False).chain(of, 1).angular_accelerations
        other = process.request("chain", chain=vars(of), repeats=1)
        np.testing.assert_allclose(other["angular_accelerations"], own, rtol=0, atol=1e-6 * np.abs(own).max())
    else:
        assert facts["reason"]


@pytest.mark.slow
def test_a_failure_of_a_program_becomes_an_error_and_a_killed_process_too(program):
    process, _ = program("papers")
    refused_with(PeerError, "papers, motion: ", process.request, "motion", setting="coarse")
    assert process.request("evaluations", setting=1e-3) > 0  # the process still answers
    os.kill(process.pid, signal.SIGKILL)
    refused_with(
        PeerError, "the process ended with exit code -9 during the request 'run'", process.request, "run", setting=1e-3
    )


@pytest.mark.slow
def test_the_process_of_a_program_loads_nothing_of_talus():
    modules = ["process", "native", "reduced_foot", *(f"programs.{name}" for name in PROGRAMS)]
    imports = "; ".join(f"import benchmarks.peers.{name}" for name in modules)
    command = (
        f"{imports}; import sys; print(sorted(sys.modules.keys() & {{'runtime', 'models', 'generated', 'numba'}}))"
    )
    done = subprocess.run([sys.executable, "-c", command], cwd=measure.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
