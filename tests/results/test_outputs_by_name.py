"""Outputs by name in runs, cases, tables and files: against ``runtime.mechanics`` at the states of the run."""

import csv

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import models
import runtime
from runtime import Signal
from runtime.ensemble import output_names
from tests.support.driven_legs import ACROSS
from tests.support.muscles import MUSCLE, leg
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
    "mass_matrix": lambda m, q, u, a: m.mass_matrix(q),
    "mass_matrix.elbow.angle.shoulder.theta_i": lambda m, q, u, a: m.mass_matrix(q)[:, 2, 0],
    "bias": lambda m, q, u, a: m.bias(q, u),
    "gravity_forces": lambda m, q, u, a: m.gravity_forces(q),
    "inverse_dynamics": lambda m, q, u, a: m.applied_forces(q, u),
    "jacobian.hand": lambda m, q, u, a: m.jacobian("hand", q),
    "jacobian.lower.angular_y.elbow.angle": lambda m, q, u, a: m.jacobian("lower", q)[:, 4, 2],
    "bias_acceleration.hand": lambda m, q, u, a: m.bias_acceleration("hand", q, u),
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
        "swing": "acceleration.elbow.angle",
        "inertia": "mass_matrix",
        "highest_load": "max(abs(inverse_dynamics))",
    }
    return runtime.simulate(arm(), T[-1], t_eval=T, outputs=outputs, **EXACT)


def test_quantities_are_those_of_mechanics(run):
    expected, axes = by_mechanics(run)
    entries = {"mass_matrix.elbow.angle.shoulder.theta_i", "jacobian.lower.angular_y.elbow.angle"}
    assert expected.keys() - entries <= output_names(run.system).keys()
    for name, values in expected.items():
        assert run[name] == pytest.approx(values, abs=1e-9 * max(1.0, np.abs(values).max())), name
    assert Rotation.from_quat(run["p.hand"], scalar_first=True).as_matrix() == pytest.approx(axes, abs=1e-10)
    assert run.motors["drive"].effort == pytest.approx(expected["motor_effort.drive"], abs=1e-12)


def test_outputs_of_a_run_have_names_units_and_reductions(run):
    assert (
        list(run.outputs) == ["path", "turn", "highest", "energy", "swing", "inertia", "highest_load"]
        and run.outputs["path"].unit == "m"
    )
    assert np.array_equal(run["path"], run["r.hand"]) and np.array_equal(run["energy"], run.energy)
    assert run["highest"] == run["r.hand.z"].max() == run["max(r.hand.z)"]
    assert not runtime.simulate(arm(), 0.1).outputs


def test_outputs_in_tables_and_files(run, tmp_path):
    with open(run.to_csv(tmp_path / "run.csv"), encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    table = dict(zip(header, np.array(rows, float).T, strict=True))
    names = ["shoulder.theta_i", "shoulder.theta_j", "elbow.angle"]
    assert header[-18:] == [
        *(f"path.{c} [m]" for c in "xyz"), *(f"turn.e{k} [1]" for k in range(4)), "energy (output) [J]", "swing [rad/s^2]",
        *(f"inertia.{of}.{over} [kg m^2]" for of in names for over in names),
    ]  # fmt: skip
    assert np.array_equal(table["inertia.elbow.angle.shoulder.theta_i [kg m^2]"], run["mass_matrix"][:, 2, 0])
    assert np.array_equal(table["path.y [m]"], run["r.hand"][:, 1]) and "highest [m]" not in table
    assert np.array_equal(table["drive.effort [N m]"], run["motor_effort.drive"])
    assert not [name for name in header if name.startswith("hand")]  # frames are written where they are asked for
    with xarray.open_dataset(run.to_netcdf(tmp_path / "run.nc")) as read:
        assert np.array_equal(read["path"].values, run["path"]) and read["path"].dims == ("time", "axis")
        assert read["turn"].dims == ("time", "euler") and read["highest"].values == run["highest"]
        about = {"units": "m", "long_name": "largest value, origin of frame 'hand'", "expression": "max(r.hand.z)"}
        assert read["highest"].attrs == about
        assert np.array_equal(read["swing"].values, run["acceleration.elbow.angle"])
        entry = read["inertia"].sel(effort_of="elbow.angle", rate_of="shoulder.theta_j")
        assert np.array_equal(entry.values, run["mass_matrix"][:, 2, 1]) and read["inertia"].attrs["units"] == "kg m^2"
        assert read["highest_load"].sel(effort_of="elbow.angle") == np.abs(run["inverse_dynamics"][:, 2]).max()
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

    monkeypatch.setattr("runtime.ensemble.kept_outputs.run_of_states", never)
    names = ["r.hand", "p.hand", "v.hand", "omega.hand", "centre_of_mass", "momentum", "angular_momentum"]
    system, cases, _ = WAYS["masses"]
    assert runtime.simulate_many(system, cases, T[-1], t_eval=T, outputs=names).success


def test_folders_keep_outputs_of_frames(tmp_path):
    system, cases, _ = WAYS["masses"]
    how = dict(
        t_eval=T,
        outputs={"path": "r.hand", "low": "min(r.hand.z)", "push": "motor_effort.drive", "J": "last(jacobian.hand)"},
    )
    many = runtime.simulate_many(system, cases, T[-1], out=tmp_path / "many", **how)
    read = runtime.read_ensemble(tmp_path / "many")
    assert dict(read.outputs) == dict(many.outputs) and read.outputs["path"].components == ("x", "y", "z")
    assert np.array_equal(read["path"], many["path"]) and np.array_equal(read["J"], many["J"])
    assert read["J"].shape == (2, 6, 3) and read.outputs["push"].unit == "N m"
    with xarray.open_dataset(read.to_netcdf(tmp_path / "many.nc")) as data:
        assert data["path"].dims == ("case", "time", "axis") and data["path"].attrs["units"] == "m"


def test_unknown_names_are_refused_with_the_nearest():
    system = arm()
    near = "unknown quantity 'r.hnad'; did you mean 'r.hand'"
    assert_refused(near, runtime.simulate, system, 0.1, outputs=["r.hnad"])
    assert_refused(near, runtime.simulate_many, system, {"mass.lower": [1.0]}, 0.1, outputs=["r.hnad"])
    run = runtime.simulate(system, 0.1)
    assert_refused(("run: 'motor_efort.drive'", "did you mean 'motor_effort.drive'"), lambda: run["motor_efort.drive"])
    assert_refused("run[3]: give the name of an output", lambda: run[3])
    assert_refused("outputs = []: give at least one name", runtime.simulate, system, 0.1, outputs=[])


@pytest.mark.parametrize("name", ["t", "r", "energy", "elbow", "elbow.angle", "hand", "r.hand", "inverse_dynamics"])
def test_names_of_quantities_and_parts_are_refused(name):
    """A name that means something already would hide it; a quantity may keep its own name."""
    system, outputs = arm(), {name: "max(inverse_dynamics.elbow.angle)"}
    refusal = f"outputs: the name '{name}' of 'max(inverse_dynamics.elbow.angle)' is that of a quantity or a part of system 'arm'"
    assert_refused(
        (refusal, "give the output another name"), runtime.simulate, system, T[-1], t_eval=T, outputs=outputs
    )
    assert_refused(refusal, runtime.simulate_many, system, {"mass.lower": [1.0]}, T[-1], t_eval=T, outputs=outputs)
    assert list(runtime.simulate(system, 0.1, outputs=["energy"]).outputs) == ["energy"]


def floating():
    """A floating body with a ball and a slide, walked from body j, whose rates are not the derivatives of coordinates."""
    b = runtime.Builder("floating", axes="global")
    b.body(
        "hull",
        mass=2.0,
        inertia=(0.02, 0.03, 0.012),
        r=(0.1, 0.2, 0.3),
        v=(0.3, 0, 1),
        omega=(0.4, -1, 0.7),
        free=True,
        guess=True,
    )
    b.body("boom", mass=0.8, inertia=(0.01, 0.02, 0.011), r=(0.3, 0.2, 0.5))
    b.body("crab", mass=0.3, inertia=(0.001, 0.002, 0.0012), r=(0.3, 0.2, 0.7))
    b.joint("socket", "spherical", "hull", "boom", point=(0.2, 0.2, 0.4))
    b.joint("rail", "translational", "crab", "boom", point=(0.3, 0.2, 0.6), axis=(1, 0, 1))
    b.initial_coordinates("rail", distance=0.05, rates={"distance": 0.4})
    return b.build(project_velocities=True)


def tied():
    """Two hinges of which one turns 2.5 times as fast as the other, over more than a turn."""
    b = runtime.Builder("tied", gravity=(0, 0, 0), axes="global")
    for name, x in (("sun", 0.0), ("planet", 0.3)):
        b.body(name, mass=1.0, inertia=(0.01, 0.02, 0.03), r=(x, 0, 0.05))
        b.joint(f"of_{name}", "revolute", "ground", name, point=(x, 0, 0), axis=(0, 0, 1))
    b.coupling("gear", "of_planet.angle", "of_sun.angle", 2.5)
    b.initial_coordinates("of_sun", angle=0.1, rates={"angle": 9.0})
    b.initial_coordinates("of_planet", angle=0.25, rates={"angle": 22.5})
    return b.build()


# System, a frame, and cases of which each has its own values.
CLOSED_AND_FREE = {
    "four-bar": (models.four_bar.build(), "coupler", {"mass.coupler": [1.0, 2.0]}),
    "floating": (floating(), "crab", {"mass.hull": [1.0, 2.0]}),
    "coupled": (tied(), "planet", {"mass.sun": [1.0, 2.0]}),
}


@pytest.mark.parametrize("name", CLOSED_AND_FREE)
def test_mechanics_of_loops_floating_bodies_and_couplings(name):
    """At each time those of ``Mechanics.of`` the state; efforts of a motion under gravity alone are those of the loads: none."""
    system, frame, cases = CLOSED_AND_FREE[name]
    names = [
        "mass_matrix",
        "bias",
        "gravity_forces",
        f"jacobian.{frame}",
        f"bias_acceleration.{frame}",
        "inverse_dynamics",
    ]
    how = dict(t_eval=T, rtol=1e-10, atol=1e-10)
    run = runtime.simulate(system, T[-1], outputs=names, **how)
    ways = [(run, {name: run[name] for name in names})]
    for own in (cases, {"gravity": [system.gravity, system.gravity]}):
        many = runtime.simulate_many(system, own, T[-1], outputs=names, **how)
        assert many.success, many.messages
        ways += [(many[k], {name: many[name][k] for name in names}) for k in range(2)]
    for one, found in ways:
        m = runtime.mechanics(one.system, independent=run_rates(run) if name != "floating" else None)
        q, u = m.of(one)
        velocities = [m.jacobian(frame, q), m.bias_acceleration(frame, q, u)]
        expected = [m.mass_matrix(q), m.bias(q, u), m.gravity_forces(q), *velocities, np.zeros_like(u)]
        for what, values in zip(names, expected, strict=True):
            assert found[what] == pytest.approx(values, abs=1e-6 * max(1.0, np.abs(values).max())), what
    dataset = run.to_xarray()
    assert dataset["mass_matrix"].dims == ("time", "effort_of", "rate_of")
    assert tuple(dataset["rate_of"].values) == tuple(
        of.removesuffix("_rate") for of in runtime.mechanics(system).rate_names
    )


def four_bar(crank_angle):
    """A four-bar linkage at an angle of its crank."""
    return models.four_bar.build(crank=0.35, crank_angle=crank_angle)


def test_cases_have_the_coordinates_of_the_first_system():
    """Also where the start of a case determines other coordinates best."""
    starts, names = [1.0, 6.0], ["mass_matrix", "jacobian.coupler", "bias_acceleration.coupler"]
    first, other = (runtime.mechanics(four_bar(angle)) for angle in starts)
    assert first.independent != other.independent
    many = runtime.simulate_many(four_bar, {"crank_angle": starts}, 0.1, t_eval=[0.0, 0.1], outputs=names)
    assert many.success and many.outputs["mass_matrix"].components == (".".join(2 * first.independent),)
    for case, angle in enumerate(starts):
        m = runtime.mechanics(four_bar(angle), independent=first.independent)
        q, u = m.of(many[case])
        expected = m.mass_matrix(q), m.jacobian("coupler", q), m.bias_acceleration("coupler", q, u)
        for name, values in zip(names, expected, strict=True):
            assert many[name][case] == pytest.approx(values, abs=1e-6 * max(1.0, np.abs(values).max())), name


def run_rates(run):
    """The coordinates along which a run gives its mass matrix."""
    return [str(name) for name in run.to_xarray()["rate_of"].values]


def test_efforts_of_a_motion_are_those_of_its_driver():
    """A guided pendulum: M a + c + g is the moment of the driver, from the masses in closed form."""
    b = runtime.Builder("guided", axes="global")
    b.body("bob", mass=1.5, inertia=(0.01, 0.02, 0.03), r=(0, 0, -0.4))
    b.joint("pivot", "revolute", "ground", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    wave = Signal.function(lambda t: 0.5 * np.sin(2.0 * t), 0.0, 1.0)
    b.driver("drive", "guided_angle", "ground", "bob", **ACROSS, theta_t=wave)
    run = runtime.simulate(b.build(), T[-1], t_eval=T, outputs=["inverse_dynamics"], **EXACT)
    angle, acceleration = run["angle.pivot.angle"], run["acceleration.pivot.angle"]
    moment = (0.02 + 1.5 * 0.4**2) * acceleration + 1.5 * 9.81 * 0.4 * np.sin(angle)
    assert run["inverse_dynamics"][:, 0] == pytest.approx(moment, abs=1e-8)


def still():
    """A plate that is welded to the ground, with a frame."""
    b = runtime.Builder("still", axes="global")
    b.body("plate", mass=0.7, inertia=(0.1, 0.1, 0.1), r=(0, 1, 0))
    b.joint("weld", "fixed", "ground", "plate")
    b.frame("mark", "plate", s=(0.1, 0, 0))
    return b.build()


def test_mechanics_of_a_system_in_which_nothing_moves(tmp_path):
    shapes = {"mass_matrix": (0, 0), "bias": (0,), "inverse_dynamics": (0,), "jacobian.mark": (6, 0)}
    run = runtime.simulate(still(), T[-1], t_eval=T, outputs=[*shapes, "bias_acceleration.mark"])
    assert {name: run[name].shape for name in shapes} == {name: (len(T), *shape) for name, shape in shapes.items()}
    assert not run["bias_acceleration.mark"].any() and run.to_xarray()["mass_matrix"].shape == (len(T), 0, 0)
    run.to_csv(tmp_path / "still.csv")
    many = runtime.simulate_many(
        still(), {"mass.plate": [1.0, 2.0]}, T[-1], t_eval=T, outputs=["mass_matrix", "r.mark"]
    )
    assert many.success and many["mass_matrix"].shape == (2, len(T), 0, 0)


def test_what_mechanics_cannot_give_is_refused():
    unknown = ("unknown quantity 'mass_matrx'", "did you mean 'mass_matrix'")
    assert_refused(unknown, runtime.simulate, arm(), 0.1, outputs=["mass_matrx"])
    vector = "'bias' has components along coordinates, of which 'norm' has no meaning"
    assert_refused(vector, runtime.simulate, arm(), 0.1, outputs=["norm(bias)"])


@pytest.mark.parametrize("way", ["a point of the path", "the excitation", "the mass"])
def test_moment_arms_of_muscles_in_runs_and_cases(way):
    """The lengthening speed is minus the arm times the rate of the coordinate, also where each case has its own path."""
    system, names = leg(rate=2.0), ["moment_arms.flexor", "force_lengthening_speed.flexor", "rate.knee.angle"]
    points = np.array([[0.04, 0.0, 0.1], [0.05, 0.0, 0.12]])
    cases = {
        "a point of the path": {"s_3_j.flexor": points},
        "the excitation": {"excitation.flexor": [0.1, 0.9]},
        "the mass": {"mass.shank": [3.0, 2.0]},
    }[way]
    outputs = [*names, "last(moment_arms.flexor.knee.angle)", "max(abs(moment_arms.flexor.knee.angle))"]
    many = runtime.simulate_many(system, cases, T[-1], t_eval=T, outputs=outputs, **EXACT)
    assert many.success and many.vectorised.all()
    arms, speed, rate = (many[name] for name in names)
    assert arms.shape == (2, len(T), 1) and np.abs(speed).min() > 1e-3
    assert arms[..., 0] == pytest.approx(-speed / rate, rel=1e-10)
    assert np.array_equal(many[outputs[3]], arms[:, -1, 0])
    assert np.array_equal(many[outputs[4]], np.abs(arms[..., 0]).max(axis=1))
    run = runtime.simulate(many[1].system, T[-1], t_eval=T, outputs=outputs, **EXACT)
    assert run[names[0]] == pytest.approx(arms[1], abs=1e-8)
    assert np.array_equal(run["moment_arms.flexor.knee.angle"], run.forces["flexor"].moment_arms["knee.angle"])
    assert run.outputs["moment_arms.flexor"].columns == {"moment_arms.flexor.knee.angle": "m"}
    assert run.outputs["moment_arms.flexor"].meaning == "moment arms of muscle 'flexor'"


def test_moment_arms_along_slides_and_of_unknown_muscles():
    b = runtime.Builder("slider", gravity=(0, 0, 0))
    b.body("block", mass=1.0, inertia=(0.1,) * 3, r=(0, 0, -0.4), v=(0, 0, -0.1))
    b.joint("guide", "translational", "ground", "block", s_i=(0, 0, 0), s_j=(0, 0, 0.4), a_i=(0, 0, 1), a_j=(0, 0, 1))
    b.muscle("pull", "thelen_as_opensim", [("ground", (0, 0.3, 0)), ("block", (0, 0, 0))], excitation=0.1, **MUSCLE)
    system = b.build()
    (name,) = [name for name in output_names(system) if name.startswith("moment_arms")]
    run = runtime.simulate(system, 0.05, t_eval=[0.0, 0.05], outputs=[name])
    assert run.outputs[name].columns == {"moment_arms.pull.guide.distance": "1"}
    arm = -run.forces["pull"].lengthening_speed / run.angles["guide"].rates["distance"]
    assert run[name][:, 0] == pytest.approx(arm, rel=1e-10) and abs(arm[0]) == pytest.approx(0.8, rel=1e-10)
    assert_refused("unknown quantity 'moment_arms.push'", runtime.simulate, system, 0.1, outputs=["moment_arms.push"])
