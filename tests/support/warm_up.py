"""Fill the cache of compiled code with what most tests need.

``python tests/support/warm_up.py PART`` builds and simulates systems that touch one part of the compiled code.  The controller
of parallel tests runs the parts side by side before its workers start: with an empty cache each worker would compile the same.
"""

import sys

import numpy as np

import models
import runtime


def runs():
    """The default method with and without limits and events, and what reads results."""
    run = runtime.simulate(models.foot.build(), 0.01)
    assert run.success and run.energy.any() and run.lam["ankle"].any()
    limited = models.pendulum.build("spherical", limits="elastic", omega=(0.0, 3.0, 1.0))
    runtime.simulate(limited, 0.01, t_eval=[0.0, 0.01], events=[runtime.Event("never", lambda t, s: 1.0)])


def implicit():
    """The implicit method on contacts, the Jacobian, ensembles and sensitivities."""
    runtime.simulate(models.foot_ground.build(), 1e-4, method="radau")
    foot = models.foot.build()
    runtime.linearisation(foot)
    runtime.simulate_many(foot, {"omega.main_foot": np.zeros((2, 3))}, 0.01, assemble=True)
    runtime.sensitivities(models.foot.build, {"link_length": 0.04}, 0.01)


PARTS = {"runs": runs, "implicit": implicit}

if __name__ == "__main__":
    PARTS[sys.argv[1]]()
