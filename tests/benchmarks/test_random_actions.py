"""Errors in limits, contacts and forces of random mechanisms are found."""

import copy

import pytest

from benchmarks.random import acting, compare


def _changed(kind):
    """The mechanism of a seed with such an action, with that action a hundredth stronger for Talus."""

    def change(m):
        m = copy.deepcopy(m)
        for one in m.limits if kind == "limit" else []:
            one.max_moment *= 1.01
            one.damping *= 1.01
        for one in m.contacts if kind == "contact" else []:
            one.parameters["stiffness"] *= 1.01
        for one in m.forces if kind == "force" else []:
            for name in ("stiffness", "friction", "damping"):
                if name in one.values:
                    one.values[name] *= 1.01
        return m

    return change


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["limit", "contact", "force"])
def test_an_error_of_a_hundredth_is_found(kind, monkeypatch):
    original, change = compare.system_of, _changed(kind)
    monkeypatch.setattr(compare, "system_of", lambda m, name: original(change(m), name))
    found = {compare.examine("acting_tree", seed, acting.acting_tree, brief=True).kind for seed in range(14)}
    assert "wrong" in found
