"""Outputs of ensembles against runs of single cases, and what is refused."""

import gc
import pickle
import weakref

import numpy as np
import pytest
import xarray

import models
import runtime
from runtime import ModelError, Status, read_ensemble, simulate_many
from runtime.ensemble import kept_outputs, output_names
from runtime.ensemble.kept_outputs import columns_of_batch
from runtime.results.outputs import all_quantities, values_of
from tests.support.ensembles import thrown
from tests.support.refusals import assert_refused

T = np.linspace(0.0, 0.6, 31)
SETTINGS = dict(rtol=1e-9, atol=1e-9)
FOOT, LIMITED = models.foot.build(), models.foot.build(limits="dissipative")
RATES = {"rate.ankle.theta_i": np.linspace(-2.0, 2.0, 5), "rate.ankle.theta_j": np.linspace(3.0, -3.0, 5)}
# Each way on which a case may run: arrays over all cases, systems of their own, one by one.
WAYS = {
    "at once": (LIMITED, RATES | {"mass.toes": np.linspace(0.1, 0.4, 5), "damping.talocrural": np.linspace(0.1, 2, 5)}, {}),
    "in a batch": (LIMITED, RATES | {"l.ankle": np.linspace(0.03, 0.05, 5)}, dict(assemble=True)),
    "velocities": (FOOT, thrown(5), {}),
    "absolute": (FOOT, thrown(5), dict(coordinates="absolute")),
    "built": (models.foot.build, {"link_length": np.linspace(0.03, 0.05, 3)}, {}),
    "one after another": (LIMITED, RATES, dict(method="radau")),
}  # fmt: skip


BOUNDS = {"first(p.leg)": 1e-9, "last(abs(r.toes))": 1e-8, "r.toes.z": 1e-8}


def every_output(system):
    """All quantities of a system, and each reduction and function of some."""
    names = list(output_names(system))
    some = ["norm(v.toes)", "max(norm(reaction_force.ankle))", "last(abs(r.toes))", "first(p.leg)", "r.toes.z"]
    reductions = ["min", "max", "range", "mean", "rms", "time_of_max", "time_of_min"]
    return names + some + [f"{name}(angle.ankle.theta_i)" for name in reductions]


@pytest.mark.parametrize("way", WAYS)
def test_outputs_are_those_of_each_run(way):
    build, cases, more = WAYS[way]
    system = build if isinstance(build, runtime.System) else build()
    many = simulate_many(build, cases, T[-1], t_eval=T, outputs=every_output(system), **SETTINGS | more)
    assert many.success and many.vectorised.all() == (way != "one after another")
    for case in (0, len(many) - 1):
        run = many[case]
        x, force = run.angles["ankle"].theta_i, run.reaction("ankle", on="leg").force
        expected = {name: values_of(run, quantity) for name, quantity in all_quantities(run.system).items()}
        middles = [((y[1:] + y[:-1]) / 2).sum() / (len(T) - 1) for y in (x, x**2)]
        of_angle = {
            "range": np.ptp(x), "min": x.min(), "max": x.max(), "mean": middles[0], "rms": np.sqrt(middles[1]),
            "time_of_max": T[x.argmax()], "time_of_min": T[x.argmin()],
        }  # fmt: skip
        expected |= {f"{name}(angle.ankle.theta_i)": value for name, value in of_angle.items()} | {
            "norm(v.toes)": np.linalg.norm(run.v["toes"], axis=1), "last(abs(r.toes))": np.abs(run.r["toes"][-1]),
            "max(norm(reaction_force.ankle))": np.linalg.norm(force, axis=1).max(), "first(p.leg)": run.p["leg"][0],
            "r.toes.z": run.r["toes"][:, 2],
        }  # fmt: skip
        assert expected.keys() == many.outputs.keys()
        for name, values in expected.items():
            # Lanes and single runs differ by the tolerance; multipliers and accelerations follow from the states.
            of_states = name in output_names(system) or "reaction" in name
            bound = 2e-6 * max(1.0, np.abs(values).max()) if of_states else BOUNDS.get(name, 1e-7)
            assert np.abs(many[name][case] - values).max() < bound, name


def test_outputs_of_the_batch_need_no_run(monkeypatch):
    """Quantities that the arrays of a batch hold are not computed case by case."""

    def never(*_):
        raise AssertionError("a run of a case was made")

    monkeypatch.setattr("runtime.ensemble.kept_outputs.run_of_states", never)
    build, cases, _ = WAYS["at once"]
    fast = ["angle.ankle.theta_i", "rate.ankle.theta_j", "r.toes", "omega.main_foot", "energy", "elastic_energy"]
    fast += [f"limit_{part}.talocrural" for part in ("angle", "rate", "excess", "restricting_moment", "elastic_energy")]
    assert simulate_many(build, cases, T[-1], t_eval=T, outputs=fast, **SETTINGS).success
    assert_refused(
        "a run of a case was made", simulate_many, build, cases, T[-1], t_eval=T, outputs=["v_dot.toes"], **SETTINGS
    )


def test_cases_that_fail_have_no_outputs():
    cases = {"mass.toes": [0.2, -1.0, 0.3]}
    names = ["max(energy)", "energy"]
    many = simulate_many(LIMITED, cases, T[-1], t_eval=T, outputs=names)
    assert many.status.tolist() == [Status.REACHED_END, Status.REFUSED, Status.REACHED_END]
    assert np.isnan(many["max(energy)"]).tolist() == [False, True, False]
    stopped = simulate_many(LIMITED, {"mass.toes": [0.2]}, T[-1], t_eval=T, outputs=names, method="radau", max_steps=5)
    assert stopped.status[0] == Status.STEPS_USED_UP and np.isnan(stopped["max(energy)"][0])
    reached = T <= stopped.reached[0]
    assert 0 < reached.sum() < len(T) and np.array_equal(np.isfinite(stopped["energy"][0]), reached)


def test_a_folder_of_outputs(tmp_path):
    build, cases, _ = WAYS["at once"]
    names = {"excursion": "range(r.main_foot.y)", "path": "r.toes", "angle.ankle.theta_i": "angle.ankle.theta_i"}
    settings = SETTINGS | dict(t_eval=T, outputs=names, out=tmp_path / "o", chunk=2)

    def stop(done, count):
        raise KeyboardInterrupt

    first = simulate_many(build, cases, T[-1], progress=stop, workers=1, **settings)
    assert (first.status == Status.NOT_RUN).any() and np.isnan(first["excursion"][first.status == Status.NOT_RUN]).all()
    many = simulate_many(build, cases, T[-1], **settings)
    memory = simulate_many(build, cases, T[-1], t_eval=T, outputs=names, **SETTINGS)
    read, pickled = read_ensemble(tmp_path / "o"), pickle.loads(pickle.dumps(memory))
    for one in (many, read, pickled):
        assert dict(one.outputs) == dict(memory.outputs) and one.success
        assert all(np.array_equal(one[name], memory[name]) for name in names)
    assert np.array_equal(np.ptp(memory["path"], axis=1), simulate_many(
        build, cases, T[-1], t_eval=T, outputs=["range(r.toes)"], **SETTINGS
    )["range(r.toes)"])  # fmt: skip
    for changed, said in (
        (
            dict(outputs=["energy"]),
            "it keeps excursion = range(r.main_foot.y), path = r.toes, angle.ankle.theta_i, not energy",
        ),
        (
            dict(outputs=None),
            "it keeps excursion = range(r.main_foot.y), path = r.toes, angle.ankle.theta_i, not states",
        ),
    ):
        assert_refused(said, simulate_many, build, cases, T[-1], **settings | changed)
    assert_refused("this ensemble holds no r.toes: it kept the outputs excursion, path", lambda: many.r["toes"])
    with pytest.raises(ModelError, match="unknown output 'energy'"):
        many["energy"]


def test_labelled_results(tmp_path):
    build, cases, _ = WAYS["at once"]
    names = {
        "reach": "range(r.main_foot.y)",
        "end": "last(r.toes)",
        "max(norm(v.toes))": "max(norm(v.toes))",
        "e": "energy",
    }
    many = simulate_many(build, cases, T[-1], t_eval=T, outputs=names)
    data = many.to_xarray(slice(1, 4))
    assert (
        data["end"].dims == ("case", "axis") and data["e"].dims == ("case", "time") and data["reach"].dims == ("case",)
    )
    assert data["reach"].attrs["units"] == "m" and data["reach"].attrs["expression"] == "range(r.main_foot.y)"
    assert data["case_mass.toes"].values.tolist() == cases["mass.toes"][1:4].tolist() and "body" not in data.coords
    with xarray.open_dataset(many.to_netcdf(tmp_path / "many.nc"), engine="scipy") as read:
        assert np.array_equal(read["max(norm(v.toes))"], many["max(norm(v.toes))"])
        assert read["time"].attrs["units"] == "s" and np.array_equal(read["e"], many["e"])
    table = many.to_pandas()
    assert list(table.columns) == [*cases, "reach", "end.x", "end.y", "end.z", "max(norm(v.toes))", "status"]
    assert np.array_equal(table["end.z"], many["end"][:, 2]) and set(table["status"]) == {"REACHED_END"}
    lines = many.to_csv(tmp_path / "many.csv").read_text().splitlines()
    assert "mass.toes [kg]" in lines[0] and "end.x [m]" in lines[0] and len(lines) == 6
    assert float(lines[3].split(",")[lines[0].split(",").index("reach [m]")]) == many["reach"][2]
    assert_refused("exists", many.to_csv, tmp_path / "many.csv")


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (["energi"], "outputs: 'energi': system 'foot, modified ankle': unknown quantity 'energi'; did you mean 'energy'?"),
        (["ankle.theta_i"], "unknown quantity 'ankle.theta_i'; did you mean 'angle.ankle.theta_i'?"),
        (["maximum(energy)"], "unknown function 'maximum'; did you mean 'max'? the functions are first, last, max"),
        (["max(norm(energy))"], "'energy' is a number, of which 'norm' has no meaning; use 'abs'"),
        (["max(min(energy))"], "give one reduction, then 'abs' or 'norm'"),
        ({"a": "max(r.toez.x)"}, "outputs: 'a' = 'max(r.toez.x)'"),
        (["max(energy"], "unknown quantity 'max(energy'"),
        ([], "give at least one name"),
        (["energy", "energy"], "give each once"),
        ("energy", "outputs = 'energy'"),
        ([3], "outputs"),
    ],
)  # fmt: skip
def test_wrong_outputs_are_refused(outputs, said):
    assert_refused(said, simulate_many, LIMITED, {"mass.toes": [0.2]}, 0.1, t_eval=[0.0, 0.1], outputs=outputs)


def test_comparisons_over_time_need_times():
    assert_refused(
        "'range' compares values at the times of the results, here 1; give t_eval",
        simulate_many,
        LIMITED,
        {"mass.toes": [0.2]},
        0.1,
        outputs=["range(energy)"],
    )
    assert simulate_many(LIMITED, {"mass.toes": [0.2]}, 0.1, outputs=["last(energy)"]).success


@pytest.mark.parametrize("times", [T[10:], T[10::6]], ids=["close", "more than half a turn apart"])
def test_angles_of_many_turns_are_those_of_a_run(times):
    """The first time of the results is after more than a turn."""
    system = models.pendulum.build()
    (name,) = (name for name in output_names(system) if name.startswith("angle."))
    cases = {name.replace("angle", "rate", 1): [-30.0, 0.5, 30.0]}
    many = simulate_many(system, cases, T[-1], t_eval=times, outputs=[name, f"last({name})"], **SETTINGS)
    joint, column = name.split(".")[1:]
    assert many.vectorised.all()
    for case in range(3):
        angle = many[case].angles[joint][column]
        assert many[name][case] == pytest.approx(angle, abs=1e-6)
        assert case == 1 or len(times) < 10 or np.ptp(angle) > 2 * np.pi


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_angles_of_changed_joints_count_from_poses_that_these_allow(coordinates):
    """A length, and an axis of bodies that are locked to each other, whose angle no coordinate of the tree is."""
    axis = np.array([0.03, 1.0, 0.02]) / np.linalg.norm([0.03, 1.0, 0.02])
    cases = {"l.ankle": [0.03], "a_i.metatarsophalangeal": [axis]}
    names = [name for name in output_names(FOOT) if name.startswith("angle.")]
    options = dict(t_eval=T[:6], **SETTINGS)
    many = simulate_many(FOOT, cases, T[5], outputs=names, assemble=True, coordinates=coordinates, **options)
    changed = runtime.with_parameters(FOOT, {name: values[0] for name, values in cases.items()})
    alone = runtime.simulate(changed, T[5], coordinates="absolute", **options).angles
    for name in names:
        _, joint, column = name.split(".")
        assert many[name][0] == pytest.approx(alone[joint][column], abs=1e-6)
        assert many[0].angles[joint][column] == pytest.approx(alone[joint][column], abs=1e-6)


@pytest.mark.parametrize("key", [None, slice(0, 1), True, 0.5])
def test_a_key_that_is_neither_a_case_nor_an_output_is_refused(key):
    many = simulate_many(LIMITED, {"mass.toes": [0.2]}, 0.1, outputs=["last(energy)"])
    assert_refused("give the number of a case, or the name of an output", lambda: many[key])


@pytest.mark.slow
@pytest.mark.parametrize("way", ["at once", "in a batch"])
def test_arrays_of_a_chunk_are_freed_with_it(way, monkeypatch):
    """No cycle of references holds them until Python collects cycles: memory would grow with the number of cases."""
    made = []

    def seen(outputs, how, quantities, *more):
        made.append(weakref.ref(quantities))
        return columns_of_batch(outputs, how, quantities, *more)

    for module in ("side_by_side", "chunk"):
        monkeypatch.setattr(f"runtime.ensemble.{module}.columns_of_batch", seen)
    build, cases, more = WAYS[way]
    gc.collect()
    gc.disable()
    try:
        many = simulate_many(build, cases, T[-1], t_eval=T, outputs=["max(energy)", "last(r.toes)"], **SETTINGS | more)
        assert many.success and made and all(ref() is None for ref in made)
    finally:
        gc.enable()


def test_outputs_do_not_depend_on_the_blocks_in_which_they_are_made(monkeypatch):
    cases = {"mass.toes": np.linspace(0.1, 0.4, 40), "rate.ankle.theta_i": np.linspace(-2.0, 2.0, 40)}
    outputs = ["range(r.main_foot.y)", "energy", "max(limit_excess.talocrural)", "last(norm(reaction_force.ankle))"]

    def found():
        return simulate_many(LIMITED, cases, T[-1], t_eval=T, outputs=outputs, chunk=40, **SETTINGS).values()

    whole = found()
    monkeypatch.setattr(kept_outputs, "BLOCK", 1.0)  # a block for each vector
    many = found()
    assert all(np.array_equal(many[name], whole[name]) and np.isfinite(whole[name]).all() for name in outputs)


def test_outputs_of_a_batch_in_which_no_case_reaches_its_end():
    foot = models.foot.build(limits="dissipative")
    cases = {"mass.toes": np.full(4, 0.2), "rate.ankle.theta_j": [0.0, 2e4, 1.0, -3.0]}
    settings = dict(t_eval=np.linspace(0, 1, 21), max_steps=60, check_units=False)
    many = runtime.simulate_many(foot, cases, 1.0, outputs=["energy", "max(energy)"], **settings)
    assert (
        (many.status == Status.STEPS_USED_UP).all() and np.isnan(many["max(energy)"]).all() and len(many.messages) == 4
    )


def test_a_case_without_the_quantity_does_not_stop_the_others():
    ankles = ["modified"] * 3 + ["classical"] + ["modified"] * 4
    many = runtime.simulate_many(models.foot.build, {"ankle": ankles}, 0.1, outputs=["lam.ankle.link_length"], chunk=8)
    values = many["lam.ankle.link_length"]
    assert np.isfinite(np.delete(values, 3, axis=0)).all() and np.isnan(values[3]).all()
    assert "has no quantity 'lam.ankle.link_length'" in many.messages[3]


@pytest.mark.parametrize("name", ["status", "mass.toes", "case", "time", " ", "message", "case_1"])
def test_names_of_outputs_that_are_taken_are_refused(name):
    assert_refused(
        "give another",
        runtime.simulate_many,
        models.foot.build(),
        {"mass.toes": [0.2, 0.3]},
        0.1,
        outputs={name: "last(energy)"},
    )


def test_whole_numbers_are_values_of_cases():
    many = runtime.simulate_many(models.foot.build(), {"rate.ankle.theta_i": [0, 1], "mass.leg": np.arange(3, 5)}, 0.1)
    assert (many.status == Status.REACHED_END).all()


def test_names_of_a_run_that_an_ensemble_has_as_outputs():
    many = simulate_many(FOOT, {"mass.toes": [0.2]}, 0.1)
    with pytest.raises(
        AttributeError, match=r"no attribute 'limits'; see outputs= of simulate_many, or many\[i\].limits"
    ):
        many.limits  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        many.nothing  # noqa: B018
