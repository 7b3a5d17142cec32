"""Outputs by name in runs, cases, tables and files: against ``runtime.mechanics`` at the states of the run."""

import csv

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import runtime
from runtime.ensemble import output_names
from tests.support.refusals import assert_refused

T = np.linspace(0.0, 0.6, 7)
EXACT = dict(rtol=1e-11, atol=1e-11)
STIFFNESS, DAMPING, EFFORT = 2.0, 0.1, 0.3


def arm(*, lower=1.5, reach=0.15, free=False, **motor):
    """Two links on a universal joint and a hinge with a motor, frames on the last link and the ground, and a loose body."""
    b = runtime.Builder("arm", axes="global")
    b.body("upper", mass=2.0, inertia=(0.02, 0.03, 0.012), r=(0, 0, -0.15))
    b.body("lower", mass=lower, inertia=(0.01, 0.02, 0.011), r=(0, 0, -0.45))
    b.joint("shoulder", "universal", "ground", "upper", point=(0, 0, 0), a_i=(0, 1, 0), a_j=(1, 0, 0))
    b.joint("elbow", "revolute", "upper", "lower", point=(0, 0, -0.3), axis=(0, 1, 0))
    b.body("plate", mass=0.7, inertia=(0.1, 0.1, 0.1), r=(0, 1, 0))
    b.joint("weld", "fixed", "ground", "plate")
    b.frame("hand", "lower", s=(0.05, 0.02, -0.45 - reach), p=Rotation.from_rotvec([0.3, -0.5, 1.2]))
    b.frame("table", "ground", s=(1.0, 2.0, 3.0))
    b.motor("drive", coordinate="elbow.angle", effort=EFFORT, stiffness=STIFFNESS, damping=DAMPING)
    b.initial_coordinates("shoulder", theta_i=0.4, theta_j=0.3, rates={"theta_i": 1.0, "theta_j": -0.7})
    b.initial_coordinates("elbow", angle=-0.9, rates={"angle": 2.0})
    return b.build()


# Quantity -> its values by mechanics m at coordinates q, rates u and accelerations a.
BY_MECHANICS = {
    "r.hand": lambda m, q, u, a: m.pose("hand", q).r,
    "v.hand": lambda m, q, u, a: m.velocity("hand", q, u)[:, :3],
    "omega.hand": lambda m, q, u, a: m.velocity("hand", q, u)[:, 3:],
    "v_dot.hand": lambda m, q, u, a: m.acceleration("hand", q, u, a)[:, :3],
    "omega_dot.hand": lambda m, q, u, a: m.acceleration("hand", q, u, a)[:, 3:],
    "r.table": lambda m, q, u, a: m.pose("table", q).r,
    "v_dot.table": lambda m, q, u, a: m.acceleration("table", q, u, a)[:, :3],
    "centre_of_mass": lambda m, q, u, a: m.centre_of_mass(q),
    "momentum": lambda m, q, u, a: m.momentum(q, u)[:, :3],
    "angular_momentum": lambda m, q, u, a: m.momentum(q, u)[:, 3:],
    "acceleration.shoulder.theta_i": lambda m, q, u, a: a[:, 0],
    "acceleration.shoulder.theta_j": lambda m, q, u, a: a[:, 1],
    "acceleration.elbow.angle": lambda m, q, u, a: a[:, 2],
    "motor_effort.drive": lambda m, q, u, a: m.applied_forces(q, u)[:, 2],
    "motor_power.drive": lambda m, q, u, a: m.applied_forces(q, u)[:, 2] * u[:, 2],
    "kinetic_energy": lambda m, q, u, a: m.kinetic_energy(q, u),
}


def by_mechanics(run):
    """These values along a run, and the axes of the hand."""
    m = runtime.mechanics(run.system)
    q, u = m.of(run)
    a = m.forward_dynamics(q, u, m.applied_forces(q, u))
    return {name: of(m, q, u, a) for name, of in BY_MECHANICS.items()}, m.pose("hand", q).A


@pytest.fixture(scope="module")
def run():
    outputs = {
        "path": "r.hand",
        "turn": "p.hand",
        "highest": "max(r.hand.z)",
        "energy": "energy",
        "r": "acceleration.elbow.angle",
    }
    return runtime.simulate(arm(), T[-1], t_eval=T, outputs=outputs, **EXACT)


def test_quantities_are_those_of_mechanics(run):
    expected, axes = by_mechanics(run)
    assert expected.keys() <= output_names(run.system).keys()
    for name, values in expected.items():
        assert run[name] == pytest.approx(values, abs=1e-9 * max(1.0, np.abs(values).max())), name
    assert Rotation.from_quat(run["p.hand"], scalar_first=True).as_matrix() == pytest.approx(axes, abs=1e-10)
    assert run.motors["drive"].effort == pytest.approx(expected["motor_effort.drive"], abs=1e-12)


def test_outputs_of_a_run_have_names_units_and_reductions(run):
    assert list(run.outputs) == ["path", "turn", "highest", "energy", "r"] and run.outputs["path"].unit == "m"
    assert np.array_equal(run["path"], run["r.hand"]) and np.array_equal(run["energy"], run.energy)
    assert run["highest"] == run["r.hand.z"].max() == run["max(r.hand.z)"]
    assert not runtime.simulate(arm(), 0.1).outputs


def test_outputs_in_tables_and_files(run, tmp_path):
    with open(run.to_csv(tmp_path / "run.csv"), encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    table = dict(zip(header, np.array(rows, float).T, strict=True))
    assert header[-9:] == [
        *(f"path.{c} [m]" for c in "xyz"), *(f"turn.e{k} [1]" for k in range(4)), "energy (output) [J]", "r [rad/s^2]",
    ]  # fmt: skip
    assert np.array_equal(table["path.y [m]"], run["r.hand"][:, 1]) and "highest [m]" not in table
    assert np.array_equal(table["drive.effort [N m]"], run["motor_effort.drive"])
    assert not [name for name in header if name.startswith("hand")]  # frames are written where they are asked for
    with xarray.open_dataset(run.to_netcdf(tmp_path / "run.nc")) as read:
        assert np.array_equal(read["path"].values, run["path"]) and read["path"].dims == ("time", "axis")
        assert read["turn"].dims == ("time", "euler") and read["highest"].values == run["highest"]
        about = {"units": "m", "long_name": "largest value, origin of frame 'hand'", "expression": "max(r.hand.z)"}
        assert read["highest"].attrs == about
        assert read["r"].dims == ("time", "body", "axis")  # of the bodies, as in every run
        assert np.array_equal(read["r (output)"].values, run["acceleration.elbow.angle"])
        assert np.array_equal(read["motor_effort"].sel(motor="drive").values, run["motor_effort.drive"])
        assert read["motor_unit"].values == ["N m"]


# Cases that run in different ways: by name and vectorised, with joints of their own, built, and as single runs.
WAYS = {
    "masses": (arm(), {"mass.lower": [1.0, 2.0], "rate.elbow.angle": [1.0, -1.0]}, {}),
    "inertias": (arm(), {"inertia.lower": np.array([1.0, 2.0])[:, None, None] * np.diag([0.01, 0.02, 0.011])}, {}),
    "motors": (arm(), {"stiffness.drive": [1.0, 3.0]}, {}),
    "joints": (arm(), {"s_j.elbow": [[0, 0, 0.16], [0, 0, 0.2]]}, dict(assemble=True)),
    "built": (arm, {"lower": [1.0, 2.0], "reach": [0.1, 0.3]}, {}),
    "compiled": (arm(), {"mass.lower": [1.0, 2.0]}, dict(method="radau")),
    "efforts": (arm(), {"effort.drive": [0.0, 1.5]}, {}),
    "efforts, compiled": (arm(), {"effort.drive": [0.0, 1.5], "mass.lower": [1.0, 2.0]}, dict(method="radau")),
    "absolute": (arm(), {"stiffness.drive": [1.0, 3.0]}, dict(coordinates="absolute")),
    "by a method of SciPy": (arm(), {"mass.lower": [1.0, 2.0]}, dict(method="DOP853")),
}
SINGLE = "compiled", "efforts, compiled", "absolute", "by a method of SciPy"


@pytest.mark.parametrize("way", WAYS)
def test_outputs_of_cases_are_those_of_mechanics(way):
    system, cases, more = WAYS[way]
    names = [*BY_MECHANICS, "norm(v.hand)", "p.hand", "max(centre_of_mass.z)"]
    many = runtime.simulate_many(system, cases, T[-1], t_eval=T, outputs=names, **EXACT | more)
    assert many.success and many.vectorised.all() == (way not in SINGLE)
    for case in range(2):
        run = many[case]
        expected, _ = by_mechanics(run)
        expected |= {"norm(v.hand)": np.linalg.norm(run["v.hand"], axis=1), "p.hand": run["p.hand"]}
        expected |= {"max(centre_of_mass.z)": run["centre_of_mass.z"].max()}
        for name, values in expected.items():
            assert many[name][case] == pytest.approx(values, abs=3e-8 * max(1.0, np.abs(values).max())), name


def test_frames_and_momentum_of_vectorised_cases_need_no_runs(monkeypatch):
    def never(*_):
        raise AssertionError("a run of a case was made")

    monkeypatch.setattr("runtime.ensemble.kept_outputs._run_of_states", never)
    names = ["r.hand", "p.hand", "v.hand", "omega.hand", "centre_of_mass", "momentum", "angular_momentum"]
    system, cases, _ = WAYS["masses"]
    assert runtime.simulate_many(system, cases, T[-1], t_eval=T, outputs=names).success


def test_folders_keep_outputs_of_frames(tmp_path):
    system, cases, _ = WAYS["masses"]
    how = dict(t_eval=T, outputs={"hand": "r.hand", "low": "min(r.hand.z)", "push": "motor_effort.drive"})
    many = runtime.simulate_many(system, cases, T[-1], out=tmp_path / "many", **how)
    read = runtime.read_ensemble(tmp_path / "many")
    assert dict(read.outputs) == dict(many.outputs) and read.outputs["hand"].components == ("x", "y", "z")
    assert np.array_equal(read["hand"], many["hand"]) and read.outputs["push"].unit == "N m"
    with xarray.open_dataset(read.to_netcdf(tmp_path / "many.nc")) as data:
        assert data["hand"].dims == ("case", "time", "axis") and data["hand"].attrs["units"] == "m"


def test_unknown_names_are_refused_with_the_nearest():
    system = arm()
    near = "unknown quantity 'r.hnad'; did you mean 'r.hand'"
    assert_refused(near, runtime.simulate, system, 0.1, outputs=["r.hnad"])
    assert_refused(near, runtime.simulate_many, system, {"mass.lower": [1.0]}, 0.1, outputs=["r.hnad"])
    run = runtime.simulate(system, 0.1)
    assert_refused(("run: 'motor_efort.drive'", "did you mean 'motor_effort.drive'"), lambda: run["motor_efort.drive"])
    assert_refused("run[3]: give the name of an output", lambda: run[3])
    assert_refused("outputs = []: give at least one name", runtime.simulate, system, 0.1, outputs=[])
