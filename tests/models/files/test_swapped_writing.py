"""Files of OpenSim written again with swapped ankles: read again, and what is refused."""

import re

import numpy as np
import pytest

import models
from models.files import write_swapped
from models.files.virtual_power import inverse_dynamics
from tests.support.file_states import coordinate_table
from tests.support.limb_models import Limb
from tests.support.marked_limbs import marked, read
from tests.support.refusals import assert_refused

CASES = {
    "as the file": {}, "short": {"talus_length": 0.03}, "universal": {"with_": "universal"},
    "mass on the shank": {"talus": "shank"},
    "other axes": {"axes": ([0.1, -0.2, 0.9], [0.8, 0.5, -0.2])}, "unlocked": {"unlock": True}, "kept": {"talus": "keep"},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_written_file_is_the_swapped_model(tmp_path, case):
    text = marked(Limb(locked=case == "unlocked")).replace(
        '"ankle_angle_r"><default_value>0<', '"ankle_angle_r"><default_value>0.2<'
    )
    kept = "<WrapObject name='kept'/><HuntCrossleyForce::ContactParametersSet name='colons'/>"
    text = text.replace("</Model>", f"<ForceSet><objects/></ForceSet>{kept}</Model>")
    swapped = read(tmp_path, text)
    for side in "rl":
        swapped = models.swap(swapped, f"ankle_{side}", f"subtalar_{side}", **CASES[case])
    file = write_swapped(swapped, tmp_path / "swapped.osim")
    again = models.read(file)
    given = coordinate_table(swapped, 8, 0.5, seed=3)
    wanted, found = (inverse_dynamics(one.source, *given) for one in (swapped, again))
    largest = max(np.abs(x).max() for x in wanted.values())
    assert max(np.abs(found[name] - wanted[name]).max() for name in wanted) < 1e-12 * largest
    for one, two in zip(swapped.source.frames, again.source.frames, strict=True):
        assert (one.name, one.link) == (two.name, two.link) and two.position == pytest.approx(one.position, abs=1e-15)
    written = file.read_text()
    assert '<WrapObject name="kept"' in written and "<HuntCrossleyForce::ContactParametersSet" in written
    if case == "unlocked":
        assert not again.source.coordinates["subtalar_angle_l"].locked


def test_what_is_refused(tmp_path):
    reading = read(tmp_path, marked())
    swapped = models.swap(reading, "ankle_r", "subtalar_r", talus_length=0.03)
    text = reading.file.read_text()
    cases = {
        "written as .osim alone": (swapped, "a.xml", text), "exists": (swapped, "marked.osim", text),
        "limit 40000": (swapped, "b.osim", text.replace('Version="40000"', 'Version="30000"')),
        "was changed since": (swapped, "c.osim", re.sub(r'name="shank_r"', 'name="shin_r"', text).replace("/shank_r", "/shin_r")),
        "elements of this name": (
            swapped, "d.osim", text.replace("</Model>", '<Twin><PinJoint name="subtalar_r"/></Twin></Model>'),
        ),
    }  # fmt: skip
    for sentence, (model, name, content) in cases.items():
        reading.file.write_text(content)
        assert_refused(sentence, write_swapped, model, tmp_path / name)
