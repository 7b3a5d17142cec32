"""Bushings, functions, ellipsoids and reversed joints of OpenSim: against digits of the program, the program, and the links."""

import numpy as np
import pytest

from benchmarks.files.owners import largest_error
from benchmarks.files.states import accelerations_of, state_of, talus_accelerations
from models.files.osim_functions import read_function, smooth_step
from models.files.virtual_power import inverse_dynamics
from runtime import simulate
from runtime.support.xml_reading import parse_xml
from tests.support import osim_parts
from tests.support.file_states import worst
from tests.support.osim_files import AXES, osim
from tests.support.reduced_links import by_links, reduced_accelerations
from tests.support.refusals import assert_refused

EXACT = 1e-9
FREE = {"axes of two coordinates": osim(4, axes=osim_parts.TWO)}  # without a bushing


@pytest.mark.slow
@pytest.mark.parametrize("name", osim_parts.FILES)
def test_accelerations_of_the_program(read, name):
    """Digits of OpenSim 4.6 in one state; the recursion of the links in another one."""
    reading = read(osim_parts.FILES[name])
    system = reading.build()
    sample = osim_parts.sample_of(reading, 0.0 if name in osim_parts.RESTING else 1.0)
    wanted = accelerations_of(reading, system, sample, osim_parts.BY_OPENSIM[name])
    assert largest_error(wanted, talus_accelerations(system, state_of(reading, system, sample))) < EXACT
    assert worst(reading, by_links(reading), 2) < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("name", osim_parts.FILES)
def test_accelerations_against_the_program(read, in_program, name):
    reading = read(osim_parts.FILES[name])
    assert worst(reading, in_program(reading), 20, speed=0.0 if name in osim_parts.RESTING else 1.0) < EXACT


def test_a_bushing_conserves_energy_without_damping(read):
    undamped = osim_parts.with_bushing(4).replace("_damping>1 2 3<", "_damping>0 0 0<").replace(
        "_damping>4 5 6<", "_damping>0 0 0<"
    )  # fmt: skip
    run = simulate(read(undamped, ignore="couplers").build(), 0.3, rtol=1e-10, atol=1e-10)
    assert run.success and np.ptp(run.energy) < 1e-5 and np.abs(run.forces["pad"].displacement).max() > 0.01


@pytest.mark.parametrize("name", ["axes of two coordinates", "ellipsoid", "reversed humerus"])
def test_free_motion_needs_no_forces(read, name):
    """Inverse dynamics of accelerations that come from gravity alone, with steps that follow several coordinates."""
    reading = read(FREE.get(name) or osim_parts.FILES[name])
    sample = osim_parts.sample_of(reading, 1.0)
    u_dot = reduced_accelerations(reading.description, sample)
    names = {law.coordinate: law.step for law in reading.source.laws if law.own}
    at = [{c: np.array([of[step]]) for c, step in names.items()} for of in (sample.q, sample.u, u_dot)]
    for coordinate in names:
        at[0][coordinate] = at[0][coordinate] + reading.source.coordinates[coordinate].default
    forces = inverse_dynamics(reading.source, *at)
    assert max(abs(float(force[0])) for force in forces.values()) < 1e-9


REFUSED = {
    "its slope jumps": osim_parts.coupled("<PiecewiseLinearFunction/>", "knee_angle"),
    "<GCVSpline> is not read": osim(4, axes={**AXES, "translation1": ("knee", "1 0 0", "<GCVSpline{}/>")}),
    "dimension 2, order 2; give 1 and": osim_parts.coupled(osim_parts.SEVERAL["two powers"], "knee_angle"),
    "coefficients; give 6, one for each product": osim_parts.coupled(
        osim_parts.SEVERAL["two powers"].replace("0.01 ", ""), "up knee_angle"
    ),
    "give 3 finite numbers": osim_parts.coupled(osim_parts.FUNCTIONS["sine"].replace("Sine", "LinearFunction"), "up flexion"),
    "couplers (ankle of up knee_angle": osim_parts.coupled(osim_parts.FUNCTIONS["sine"], "up knee_angle"),
    "name coordinates of its joint, each once": osim(4, axes={"rotation1": ("knee knee", "0 0 1", osim_parts.POLYNOMIAL)}),
    "let it end later": osim_parts.coupled(osim_parts.FUNCTIONS["step"].replace(">0.9<", ">-0.8<"), "knee_angle"),
    "limit 101": osim_parts.coupled(osim_parts.FUNCTIONS["degree 7"].replace("0.1 -0.2", "1 " * 200), "knee_angle"),
    "translational_stiffness has a value below 0": osim_parts.with_bushing(4).replace(">100 ", ">-100 "),
    "frame 'f1' does not exist": osim_parts.with_bushing(4).replace('name="f1"', 'name="f"'),
    "which only slides along a turn's axis": osim_parts.turned_round("tibia"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused(read, sentence):
    assert_refused((sentence, "limb.osim"), lambda: read(REFUSED[sentence]).build())


def test_a_step_and_its_derivatives(tmp_path):
    """Against differences, and at its ends."""
    function, x, h = smooth_step(-0.8, 0.9, -0.1, 0.3), np.linspace(-0.79, 0.89, 20), 1e-5
    for order in (0, 1):
        slope = (function.value(x + h, order) - function.value(x - h, order)) / (2.0 * h)
        np.testing.assert_allclose(function.value(x, order + 1), slope, atol=1e-8)
    assert function.value(np.array([-2.0, 2.0]), 0).tolist() == pytest.approx([-0.1, 0.3], abs=1e-15)
    text = osim_parts.POLYNOMIAL.format("").replace("0.01 0.02 -0.03 0.005 0.03 0.015", "1 2 3 4 5 6")
    value = read_function(parse_xml(text.encode(), tmp_path), 2).derivatives(0.7, 1.3)[0]
    assert value == pytest.approx(1 + 2 * 1.3 + 3 * 1.3**2 + 4 * 0.7 + 5 * 0.7 * 1.3 + 6 * 0.7**2, rel=1e-14)
