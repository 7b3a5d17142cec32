"""Equations and integrator for programs that have none: the reduced foot against Talus, the C++ DOP853 against SciPy."""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from benchmarks import measure
from benchmarks.peers import interface, native, reduced_foot
from benchmarks.peers.talus import foot_of


@pytest.mark.slow
def test_reduced_equations_have_the_motion_of_the_foot():
    system = measure.foot("modified")
    data = foot_of(system)
    found = reduced_foot.equations(data)
    accelerations = sympy.lambdify((*found.angles, *found.speeds), found.plain(), cse=True)
    run = solve_ivp(
        lambda t, x: [x[2], x[3], *accelerations(*x)], (0, 1), np.zeros(4), method="DOP853", rtol=1e-12, atol=1e-12
    )
    exact = measure.exact(system, run.t).r[measure.BODY]
    assert np.abs(reduced_foot.positions(data, run.y[0], run.y[1]) - exact).max() < 1e-11


def test_compiled_integrator(monkeypatch, tmp_path):
    try:
        native.compiler()
    except interface.MissingError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("TALUS_PEERS_BUILD", str(tmp_path))
    text = "static void derivative(const double *x, double *dx) { dx[0] = x[1]; dx[1] = -x[0]; }"
    circle = native.Native(text, np.array([0.0, 1.0]))
    errors = {}
    for tolerance in (1e-6, 1e-9, 1e-12):
        ready = circle.prepare(10.0, tolerance, lambda states: states)
        times, states = ready.motion()
        assert times[0] == 0.0 and times[-1] == 10.0
        errors[tolerance] = np.abs(states - np.stack([np.sin(times), np.cos(times)], axis=1)).max()
        options = dict(method="DOP853", rtol=tolerance, atol=tolerance)
        same = solve_ivp(lambda t, x: [x[1], -x[0]], (0, 10), [0.0, 1.0], **options)
        assert ready.evaluations() == pytest.approx(same.nfev, rel=0.25)
    assert errors[1e-6] < 1e-5 and errors[1e-9] < 1e-8 and errors[1e-12] < 1e-11
    assert len(list(tmp_path.glob("*.so"))) == 1
    with pytest.raises(interface.PeerError, match="the compiler refused"):
        native.Native("static void nothing", np.zeros(1))
