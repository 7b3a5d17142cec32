"""External loads of OpenSim: with them OpenSim finds the accelerations of a run with contacts and loads."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

import models
import runtime
from models import foot_ground
from models.files import write_external_loads
from runtime import Builder, Signal
from tests.support.refusals import assert_refused
from tests.support.systems import slider
from tests.support.written_models import arm, by_opensim

needs_opensim = pytest.mark.skipif(importlib.util.find_spec("opensim") is None, reason="OpenSim is not installed")


def pushed():
    """A body that floats with three loads: at a global point, at a point of the body, at its centre of mass."""
    b = Builder("pushed")
    b.body("brick", mass=1.2, inertia=(0.02, 0.03, 0.04), omega=(0.3, 1.0, -0.4), free=True)
    t = np.linspace(0.0, 1.0, 11)
    b.load("wind", "brick", force=(Signal.spline(t, np.cos(t)), 0.2, 0.3), point=(0.1, 0.2, Signal.spline(t, t)))
    b.load("jet", "brick", force=(0.0, 1.0, 0.5), moment=(0.1, 0.2, 0.3), point=(0.3, 0, 0.1), axes="body")
    b.load("turn", "brick", moment=(0.0, 0.4, 0.0))
    return b.build()


CASES = {
    "contacts": lambda: slider("flores", "coulomb", stiffness=1e6, exponent=1.5, restitution=0.6),
    "contacts with a body": lambda: slider("hertz", "coulomb", plane="platform", stiffness=1e6),
    "loads": pushed,
}


@needs_opensim
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_opensim_finds_the_accelerations_of_the_run(name, tmp_path):
    system = CASES[name]()
    run = runtime.simulate(system, 0.03, t_eval=np.linspace(0.0, 0.03, 7))
    description, _ = write_external_loads(run, tmp_path / "loads.xml")
    for k in (1, 4):
        now = replace(system, state=runtime.State(system.body_names, run.states[k].ravel()), time=float(run.t[k]))
        file = models.write(now, tmp_path / f"model_{k}.osim", ignore="contacts,loads").file
        answer = by_opensim(file, loads=description, time=float(run.t[k]))["state"]
        for body in system.body_names:
            *_, alpha, a = map(np.asarray, answer[body])
            own = np.concatenate([run.v_dot[body][k], run.omega_dot[body][k]])
            assert np.abs(np.concatenate([a, alpha]) - own).max() < 1e-9 * max(np.abs(own).max(), 1.0)


def test_the_moment_about_the_origin_is_that_of_all_contacts(tmp_path):
    run = runtime.simulate(foot_ground.build(), 0.3, t_eval=np.linspace(0.0, 0.3, 61))
    _, values = write_external_loads(run, tmp_path / "loads.xml")
    rows = values.read_text().splitlines()
    start = rows.index("endheader") + 1
    names, table = rows[start].split("\t"), np.array([row.split() for row in rows[start + 1 :]], float)
    found = np.zeros((len(run.t), 6))
    for body in {contact.body for contact in run.system.contacts}:
        force, point, moment = (
            table[:, [names.index(f"{body}_{part}{axis}") for axis in "xyz"]]
            for part in ("force_v", "force_p", "torque_")
        )
        found += np.hstack([force, moment + np.cross(point, force)])
    wanted = sum(np.hstack([c.force, np.cross(c.point, c.force)]) for c in run.contacts.values())
    largest = np.abs(wanted).max()
    assert largest > 100.0 and np.abs(found - wanted).max() < 1e-9 * largest and np.isfinite(table).all()


def test_refused(tmp_path):
    assert_refused(
        "system 'arm, both ways' has no contacts and no loads",
        write_external_loads,
        runtime.simulate(arm(), 0.01),
        tmp_path / "loads.xml",
    )
    run = runtime.simulate(pushed(), 0.01)
    assert_refused(
        "loads.mot: OpenSim's external loads are an .xml file", write_external_loads, run, tmp_path / "loads.mot"
    )
    write_external_loads(run, tmp_path / "loads.xml")
    assert_refused("exists; choose another name", write_external_loads, run, tmp_path / "loads.xml")
