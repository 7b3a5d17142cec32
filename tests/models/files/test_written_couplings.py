"""Couplings and armature in files of other programs, and the models that are read from these."""

import numpy as np
import pytest

import models
import runtime
from models.files.osim_functions import spline
from runtime import Builder, ModelError, Signal
from tests.support import model_files
from tests.support.file_states import worst
from tests.support.reduced_links import by_links
from tests.support.refusals import assert_refused

X = np.array([-1.0, -0.3, 0.2, 0.9, 1.4])
KNEE = spline(X, np.array([0.1, 0.02, -0.03, 0.05, 0.2]))
LAWS = {
    ".xml": (-0.5, (0.05, 0.3, 0.2, -0.1, 0.02)), ".urdf": (-0.5, (0.1, 0.7)),
    ".osim": ((0.05, 0.3, 0.2, -0.1, 0.02, 0.01), Signal(KNEE.knots, KNEE.coefficients)),
}  # fmt: skip


def chain(laws):
    """Three hinges across each other and a slide; the last two coordinates follow the first two."""
    b = Builder("chain", gravity=(0.0, 0.0, -9.81), axes="global")
    before, axes = "ground", ((0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    for k, kind in enumerate(("revolute", "revolute", "revolute", "translational")):
        b.body(f"link_{k}", mass=1.0 + k, inertia=(0.04, 0.05, 0.06), r=(0.5 * k + 0.3, 0.0, 0.0))
        b.joint(f"j{k}", kind, before, f"link_{k}", point=(0.5 * k, 0.0, 0.0), axis=axes[k])
        before = f"link_{k}"
    b.coupling("second", "j2.angle", "j0.angle", laws[0])
    b.coupling("slide", "j3.distance", "j1.angle", laws[1], straight=False)
    return b


@pytest.mark.parametrize("suffix", LAWS)
def test_couplings_are_written_and_read(suffix, tmp_path):
    system = chain(LAWS[suffix]).build()
    written = models.write(system, tmp_path / f"chain{suffix}")
    assert not written.ignored
    again = models.read(written.file).build()
    assert len(again.couplings) == 2
    one, other = (runtime.simulate(s, 0.3, t_eval=[0.0, 0.15, 0.3], rtol=1e-11, atol=1e-11) for s in (system, again))
    assert one.success and other.success and np.ptp(one.r["link_3"], axis=0).max() > 0.1
    for name in system.body_names:
        assert np.abs(one.r[name] - other.r[name]).max() < 1e-9


def test_opensim_has_the_written_couplers(tmp_path, in_program):
    reading = models.read(models.write(chain(LAWS[".osim"]), tmp_path / "chain.osim").file)
    assert worst(reading, in_program(reading)) < 1e-9


@pytest.mark.parametrize(
    "suffix, law", [(".xml", (0, 0, 0, 0, 0, 1.0)), (".urdf", (0, 0, 1.0)), (".xml", LAWS[".osim"][1])]
)
def test_laws_that_a_format_does_not_have_are_refused_by_name(suffix, law, tmp_path):
    assert_refused(
        ("couplings (slide: ", "ignore='couplings'"), models.write, chain((-0.5, law)), tmp_path / f"chain{suffix}"
    )
    written = models.write(chain((-0.5, law)), tmp_path / f"chain{suffix}", ignore="couplings")
    assert [one.names for one in written.ignored] == [("slide",)]


@pytest.mark.parametrize("joints", ["rotors", "three slides and a ball"])
def test_bodies_between_joints_of_one_link_are_merged_again(joints, tmp_path):
    """MuJoCo refuses bodies without inertia; armature is an attribute of its joints."""
    (tmp_path / "one.xml").write_text(model_files.mjcf(model_files.JOINTS[joints]))
    first = models.read(tmp_path / "one.xml")
    again = models.read(models.write(first, tmp_path / "two.xml").file)
    for one, other in zip(first.description.links, again.description.links, strict=True):
        assert one.name == other.name and len(one.steps) == len(other.steps)
        assert abs(one.mass - other.mass) < 1e-14 and [s.armature for s in one.steps] == [
            s.armature for s in other.steps
        ]
    assert worst(again, by_links(again), 5) < 1e-9
    with pytest.raises(ModelError, match="ignore='armature'|no ball joint"):
        models.write(first, tmp_path / "two.urdf", ignore=["springs", "forces", "gravity"])
