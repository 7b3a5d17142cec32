"""The example of twelve numbers of a landing: cases against whole falls, indices against SciPy's, failures, and a kill."""

import os
import runpy
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.stats

import models
import runtime
from runtime.studies import uniform
from tests.support.paths import ROOT
from tests.support.processes import environment

EXAMPLE = ROOT / "docs" / "examples" / "landing_numbers.py"
OF = runpy.run_path(str(EXAMPLE))
T, OUTPUTS, PARAMETERS = OF["IMPACT"], OF["OUTPUTS"], OF["PARAMETERS"]
SETTINGS = dict(rtol=1e-7, atol=1e-7)
N = 8


def study(**changed):
    how = dict(t_end=T[-1], t_eval=T, outputs=OUTPUTS, kind="sobol", n=N, **SETTINGS)
    return runtime.study(OF["landing"], PARAMETERS | changed, **how)


@pytest.fixture(scope="module")
def found():
    return study()


def row(study, case):
    return {name: float(values[case]) for name, values in study.samples.items()}


def whole_fall(fall, pitch, roll, orthosis, incline_deg, **others):
    """The run of a foot that is dropped from rest, until 80 ms after its touch-down."""
    system = models.foot.build(
        ground=True, leg="free", clearance=fall * np.cos(np.deg2rad(incline_deg)), posture_deg=(pitch, roll, 0.0),
        incline_deg=incline_deg, limits="dissipative", transition_velocity=0.02,
        orthosis={"stiffness": orthosis * np.rad2deg([3.66, 0.71, 0.30])}, check_units=False, **others,
    )  # fmt: skip
    touch = np.sqrt(2.0 * fall / 9.81)
    run = runtime.simulate(system, touch + 0.081, t_eval=np.append(0.0, touch + T), **SETTINGS)
    assert run.contact_events[0, 0] == pytest.approx(touch, abs=1e-6)
    return run


@pytest.mark.slow
@pytest.mark.parametrize("case", [0, 5, 29, 70])
def test_a_case_is_the_impact_of_a_whole_fall(found, case):
    assert not len(found.failed) and found.many.vectorised.all()
    run = whole_fall(**row(found, case))
    assert found["inversion"][case] == pytest.approx(run.angles["ankle"].theta_i.min(), abs=2e-6)
    assert found["speed"][case] == pytest.approx(run.angles["ankle"].rates["theta_i"].min(), rel=1e-4)


@pytest.mark.slow
def test_indices_are_those_of_scipy_on_the_same_samples(found):
    indices = found.indices()
    assert indices.parameters == tuple(PARAMETERS) and indices.outputs == tuple(OUTPUTS)
    for o, output in enumerate(OUTPUTS):
        f = found[output].reshape(2 + len(PARAMETERS), N)
        reference = scipy.stats.sobol_indices(func={"f_A": f[None, 0], "f_B": f[None, 1], "f_AB": f[2:, None]}, n=N)
        assert indices.first[o] == pytest.approx(reference.first_order, abs=1e-12)
        assert indices.total[o] == pytest.approx(reference.total_order, abs=1e-12)


@pytest.mark.slow
def test_cases_that_the_foot_refuses_are_named_and_left_out_by_row(found):
    spoilt = study(mu_c=uniform(-0.1, 1.0))
    refused = np.flatnonzero(spoilt.samples["mu_c"] < 0.0)
    assert 0 < len(refused) < N and spoilt.failed.tolist() == refused.tolist()
    assert all("mu_c" in spoilt.many.messages[case] for case in refused)
    with pytest.raises(runtime.ModelError, match=f"{len(refused)} of {len(spoilt.many)} cases failed"):
        spoilt.indices()
    values = spoilt["inversion"].reshape(2 + len(PARAMETERS), N)
    rows = np.isfinite(values).all(axis=0)
    indices = spoilt.indices(failed="leave_out")
    assert (indices.used, indices.left_out) == (rows.sum(), N - rows.sum()) and indices.left_out
    A, B, *AB = values[:, rows]
    variance = np.var([A, B])
    assert indices.total[0] == pytest.approx([0.5 * ((A - one) ** 2).mean() / variance for one in AB], rel=1e-9)


@pytest.mark.slow
@pytest.mark.long
def test_a_killed_study_resumes_to_the_same_indices(tmp_path):
    folder, many = str(tmp_path / "many"), dict(cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    command, wanted = [sys.executable, str(EXAMPLE)], environment() | {"BASE_SAMPLES": str(2 * N)}
    first = subprocess.Popen(command, env=wanted | {"FOLDER": folder}, **many)
    while not [*(tmp_path / "many" / "chunks").glob("*.npz")] and first.poll() is None:
        time.sleep(0.01)
    first.kill()
    first.communicate()
    finished = {file: os.stat(file).st_mtime_ns for file in (tmp_path / "many" / "chunks").glob("*.npz")}
    assert finished and runtime.read_ensemble(folder).status.tolist().count(runtime.Status.NOT_RUN)
    again = subprocess.run(command, env=wanted | {"FOLDER": folder}, check=True, **many)
    assert all(os.stat(file).st_mtime_ns == time for file, time in finished.items())
    assert again.stdout == subprocess.run(command, env=wanted, check=True, **many).stdout
