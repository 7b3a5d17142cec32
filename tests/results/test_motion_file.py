"""Motions from files: what is drawn of them is what is drawn of the runs that were written."""

import re

import numpy as np
import pytest

import models
import runtime
from runtime import ModelError
from runtime.results import read_netcdf
from tests.support.refusals import assert_refused


def pendulum_with_a_load():
    b = runtime.Builder("loaded")
    b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.5, 0, 0))
    b.joint("pivot", "spherical", "ground", "bob", s_i=(0, 0, 0), s_j=(-0.5, 0, 0))
    b.shape("bob", "sphere", radius=0.05, colour="tab:red", label="lead")
    b.shape("ground", "box", edges=(0.1, 0.1, 0.02))
    b.load("push", "bob", force=(0, 1.0, 0), moment=(0, 0, 0.1), point=(0.5, 0, 0))
    b.force("spring", "spring_damper", "ground", "bob", **SPRING)
    return b.build()


SPRING = dict(s_i=(0, 0, 1.0), s_j=(0, 0, 0), stiffness=1.0, free_length=0.5, damping=0.0)

MODELS = {
    "foot": lambda: models.foot.build(limits="elastic"),
    "foot_ground": models.foot_ground.build,
    "four_bar": models.four_bar.build,
    "gait": models.walking.synthetic.build,
    "loaded": pendulum_with_a_load,
}


def run_of(system):
    t = system.time + np.linspace(0.0, 0.1, 6)
    if system.drivers:
        return runtime.inverse_dynamics(system, t)
    return runtime.simulate(system, float(t[-1]), t_eval=t)


def assert_equal_parts(one, other):
    """Two values of scenes: numbers to rounding, the rest exactly."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        np.testing.assert_allclose(one, other, atol=1e-12)
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_equal_parts(a, b)
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            assert_equal_parts(getattr(one, name), getattr(other, name))
    else:
        assert one == other


@pytest.mark.parametrize("name", MODELS)
def test_a_file_shows_what_the_run_shows(name, tmp_path):
    run = run_of(MODELS[name]())
    read = read_netcdf(run.to_netcdf(tmp_path / "run.nc"))
    assert_equal_parts(read.scene(), run.scene())
    assert run.system.name in repr(read) and run.system.name in read._repr_html_()


def test_a_mesh_goes_with_the_file(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    b = runtime.Builder("mesh")
    b.body("a", mass=1.0, inertia=(1, 1, 1), free=True)
    b.shape("a", "mesh", file=tmp_path / "a.obj")
    run = runtime.simulate(b.build(), 0.1, t_eval=[0.0, 0.1])
    assert_equal_parts(read_netcdf(run.to_netcdf(tmp_path / "run.nc")).scene(), run.scene())


def test_files_of_earlier_versions_need_their_system(tmp_path):
    from runtime.results import write_dataset

    run = run_of(MODELS["foot_ground"]())
    data = run.to_xarray()
    del data.attrs["outline"]
    new = ["reaction_force", "reaction_moment", "reaction_point", "centre_of_pressure"]
    file = write_dataset(data.drop_vars(new), tmp_path / "old.nc")
    assert_refused(
        ("contains no shapes and joints", "give the model that it was made with, system="), read_netcdf, file
    )
    assert len(read_netcdf(file, system=run.system).scene().solids) == len(run.scene().solids)
    with pytest.raises(ModelError, match=re.escape("has for body toes, main_foot, leg, but system")):
        read_netcdf(file, system=models.pendulum.build())


def test_other_files_are_refused(tmp_path):
    import xarray

    from runtime.results import write_dataset

    (tmp_path / "text.nc").write_text("no data")
    write_dataset(xarray.Dataset({"a": 1.0}), tmp_path / "other.nc")
    run = run_of(MODELS["loaded"]())
    for outline in ("{", "30", '{"name": "a"}'):
        write_dataset(run.to_xarray().assign_attrs(outline=outline), tmp_path / f"{len(outline)}.nc")
        assert_refused("its outline of shapes and joints cannot be read", read_netcdf, tmp_path / f"{len(outline)}.nc")
    for name, text in (
        ("none.nc", "cannot read"),
        ("text.nc", "is no NetCDF file of a run"),
        ("other.nc", "holds no motion of bodies: it has no time, body, r, p"),
    ):
        assert_refused(text, read_netcdf, tmp_path / name)
