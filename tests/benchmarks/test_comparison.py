"""Search for a setting within an error, programs that fail or are missing, and the targets made from them; nothing is timed."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.peers import comparison
from benchmarks.peers.interface import LAGRANGIAN, MissingError, PeerError, version_of
from benchmarks.peers.process import Process
from benchmarks.peers.records import GENERAL, IN_JOINTS, OWN, QUICK, AtError, Peer, Ready
from benchmarks.peers.search import Search
from benchmarks.targets import rivals
from tests.support.peers import all_peers
from tests.support.refusals import refused_with


def search(known, **options):
    ladder = sorted(known, reverse=True)
    one = Peer("exact", "1", "order 2", "bodies", "step", ladder, ladder[::7], prepare=None, evaluation=None)
    return Search(one, measure.foot("modified"), known=known, **options)


def test_search_finds_the_coarsest_setting():
    known = {0.1 / n: (0.1 / n) ** 2 for n in range(1, 51)}
    assert search(known).coarsest(1.1e-4) == pytest.approx(0.01)
    assert search(known).coarsest(1.0) == 0.1
    refused_with(
        measure.BenchmarkError,
        "exact: bodies does not reach an error of 1.0e-09 m; the smallest is",
        search(known).coarsest,
        1e-9,
    )
    refused_with(measure.BenchmarkError, "does not reach", search(known, slow={0.1 / 8}).coarsest, 1e-5)


def test_a_setting_at_which_a_program_fails_is_left_out():
    def fails(setting):
        raise PeerError(f"{setting} is too much")

    one = search({0.1: 1e-3, 0.01: np.inf})
    assert one.smallest == 1e-3
    broken = search({0.1: np.inf, 0.01: np.inf})
    assert broken.smallest is None
    refused_with(measure.BenchmarkError, "1.0e-09 m; no setting succeeds", broken.coarsest, 1e-9)
    found = replace(one.peer, prepare=lambda setting: Ready(None, lambda: fails(setting), None))
    failing = Search(found, one.system)
    assert failing.error(0.1) == np.inf and failing.failures == ["step 0.1: 0.1 is too much"]
    assert comparison.setting_rows(failing, QUICK, lambda line: None) == []


def test_a_distribution_that_is_not_installed_is_named():
    refused_with(MissingError, "no-such-thing is not installed", version_of, "no-such-thing")


def test_a_program_that_is_not_installed_is_named():
    cases = replace(QUICK, programs=("nothing",), errors=(), duration=0.1)
    with ExitStack() as stack:
        searches, missing, _ = comparison.open_searches(measure.foot("modified"), cases, lambda line: None, stack)
    assert [search.peer.name for search in searches] == [OWN, GENERAL, IN_JOINTS]
    assert "benchmarks.peers.programs.nothing" in missing["nothing"]


@pytest.mark.slow
def test_targets_name_programs_that_are_not_installed(monkeypatch):
    def absent(process):
        raise MissingError("mujoco is not installed")

    monkeypatch.setattr(Process, "open", absent)
    for target in rivals.at_equal_error(True, lambda line: None):
        assert target.reached == "not measured"
        assert target.how == "mujoco is not installed; install with: pip install 'talus-multibody[peers]'"


def test_a_target_is_the_ratio_to_the_fastest_program_of_each_kind(monkeypatch):
    times = {"Talus": 1.0, IN_JOINTS: 0.2, "Exudyn": 4.0, "MuJoCo": 20.0, "heyoka": 0.25}

    def measured(cases, say):
        assert cases.errors == (1e-9,) and cases.duration == 5.0
        found = []
        for one in all_peers():
            took = times.get(one.name) if one.input != LAGRANGIAN else None
            ratio = took and times["Talus"] / took
            found.append(AtError(1e-9, 5.0, one, 1e-10, 1e-9, 100, took and 1e-3 * took, ratio))
        return [e for e in found if e.peer.name in times], {"symforce": "symforce is not installed"}

    monkeypatch.setattr(comparison, "at_errors", measured)
    trees, hand, joint, lagrangian = rivals.at_equal_error(True, lambda line: None)
    assert (trees.measured, trees.limit, trees.reached) == (0.25, 1.0, "yes")
    assert "Talus 1 ms" in trees.how and "Exudyn" in trees.how and "MuJoCo" in trees.how and "heyoka" not in trees.how
    assert (hand.measured, hand.limit, hand.reached) == (4.0, 1.5, "no")
    assert "heyoka 10.10.10" in hand.how and "0.25 ms" in hand.how and "symforce is not installed" in hand.how
    assert (joint.measured, joint.limit, joint.reached) == (pytest.approx(0.8), 1.0, "yes")
    assert "Talus, joint coordinates 0.2 ms" in joint.how and "heyoka" in joint.how
    assert lagrangian.reached == "not measured" and "does not reach this error" in lagrangian.how
