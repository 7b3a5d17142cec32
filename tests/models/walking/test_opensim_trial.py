"""Inverse dynamics along motions in files: against OpenSim's own table, and against arrays that say the same."""

import numpy as np
import pytest

import models
from models.files import Load, inverse_dynamics, read_external_loads, read_storage
from models.files.virtual_power import ways_at
from models.walking import inverse_dynamics_of_trial
from tests.support import opensim_models
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused

TIMES = np.linspace(0.0, 1.0, 101)
LOADS = """<OpenSimDocument Version="40000"><ExternalLoads><objects><ExternalForce name="push">
 <appliesForce>true</appliesForce><applied_to_body>/bodyset/foot</applied_to_body>
 <force_expressed_in_body>{axes}</force_expressed_in_body><point_expressed_in_body>{axes}</point_expressed_in_body>
 <force_identifier>push_v</force_identifier><point_identifier>push_p</point_identifier>
 <torque_identifier>turn_</torque_identifier></ExternalForce></objects><datafile>{file}</datafile>
 </ExternalLoads></OpenSimDocument>"""


@pytest.fixture
def reading(tmp_path):
    file = tmp_path / "leg.osim"
    file.write_text(opensim_models.leg())
    return models.read(file)


def table(file, columns, header="inDegrees=no", t=TIMES):
    rows = np.column_stack([t, *columns.values()])
    text = "\n".join(" ".join(f"{x:.17g}" for x in row) for row in rows)
    file.write_text(f"motion\nversion=1\n{header}\nendheader\n" + "\t".join(["time", *columns]) + "\n" + text + "\n")
    return file


def smooth(names, kinds=None):
    """Polynomials of degree 5 or less, which quintic splines meet, with derivatives."""
    random = np.random.default_rng(4)
    found = [{}, {}, {}]
    for name in names:
        p = np.polynomial.Polynomial(random.uniform(-0.4, 0.4, 5))
        for k, of in enumerate(found):
            of[name] = p.deriv(k)(TIMES) if k else p(TIMES)
    return found


def coordinates_of(reading):
    return list(dict.fromkeys(law.coordinate for law in reading.source.laws))


def worst(found, wanted):
    return max(np.abs(found[name] - wanted[name]).max() / np.abs(wanted[name]).max() for name in wanted)


def test_the_walk_of_the_program():
    """Within 1 % of each force's largest value at all samples; OpenSim evaluates the first at 0.4999993 s."""
    reading = models.read(shared_file("opensim", "subject01.osim"))
    known = read_storage(shared_file("opensim", "subject01_inverse_dynamics.sto"))
    files = [shared_file("opensim", f"subject01_walk1_{name}") for name in ("ik.mot", "grf.xml")]
    trial = inverse_dynamics_of_trial(reading, *files, t_eval=np.maximum(known.t, 0.5))
    for name, force in trial.forces.items():
        (wanted,) = (known.columns[c] for c in (f"{name}_moment", f"{name}_force") if c in known.columns)
        off = np.abs(force - wanted) / np.abs(wanted).max()
        assert off[1:].max() < 0.01, name
        assert off[2:].max() < 1e-3, name
    assert not trial.unused and not trial.taken


@pytest.mark.parametrize("axes", ["ground", "/bodyset/shank"])
def test_files_say_the_same_as_arrays(reading, tmp_path, axes):
    names = coordinates_of(reading)
    q, u, u_dot = smooth([name for name in names if name != "toe_out"])
    zero = np.zeros(len(TIMES))
    given = {**q, "toe_out": zero}
    turns = {step.name for _, step in reading.source.steps if step.kind == "turn"}
    in_degrees = {name: np.rad2deg(x) if name in turns or name == "toe_out" else x for name, x in q.items()}
    motion = table(tmp_path / "motion.mot", {**in_degrees, "other": zero}, "Angles are in degrees.")
    random = np.random.default_rng(5)
    values = {
        f"{part}{x}": random.uniform(-1, 1) + 0.3 * TIMES for part in ("push_v", "push_p", "turn_") for x in "xyz"
    }
    table(tmp_path / "loads.mot", values)
    (tmp_path / "loads.xml").write_text(LOADS.format(axes=axes, file="loads.mot"))
    trial = inverse_dynamics_of_trial(reading, motion, tmp_path / "loads.xml", cutoff=None)
    assert trial.unused == ("other",) and set(trial.taken) == {"toe_out"}
    force, point, moment = (
        np.stack([values[f"{part}{x}"] for x in "xyz"], axis=1) for part in ("push_v", "push_p", "turn_")
    )
    full = [{**given}, {**u, "toe_out": zero}, {**u_dot, "toe_out": zero}]
    if axes != "ground":
        ways, _ = ways_at(reading.source, names, np.stack([[of[name] for name in names] for of in full]))
        way = ways["shank"][-1]
        force, moment = (np.einsum("nab,nb->na", way.A, x) for x in (force, moment))
        point = way.r + np.einsum("nab,nb->na", way.A, point)
    wanted = inverse_dynamics(reading.source, *full, [Load("foot", force, point, moment)])
    assert worst(trial.forces, wanted) < 1e-7
    file = trial.to_sto(tmp_path / "forces.sto")
    written = read_storage(file)
    assert written.columns["pelvis_x_force"] == pytest.approx(trial.forces["pelvis_x"], rel=1e-12)
    assert "knee_angle_moment" in written.columns


def test_couplers_give_what_a_motion_lacks(tmp_path):
    coupler = """<CoordinateCouplerConstraint name="gear"><coupled_coordinates_function>
     <LinearFunction><coefficients>-0.5 0.2</coefficients></LinearFunction></coupled_coordinates_function>
     <independent_coordinate_names>knee_angle</independent_coordinate_names>
     <dependent_coordinate_name>ankle</dependent_coordinate_name></CoordinateCouplerConstraint>"""
    file = tmp_path / "leg.osim"
    file.write_text(opensim_models.leg(constraints=coupler))
    reading = models.read(file)
    q, _, _ = smooth([name for name in coordinates_of(reading) if name not in ("ankle", "toe_out")])
    trial = inverse_dynamics_of_trial(reading, table(tmp_path / "a.mot", q), cutoff=None)
    assert trial.q["ankle"] == pytest.approx(0.2 - 0.5 * q["knee_angle"], abs=1e-12)
    assert trial.taken["ankle"] == "coupler of knee_angle"
    own = {**q, "ankle": trial.q["ankle"] + 0.009}  # files round
    assert "ankle" not in inverse_dynamics_of_trial(reading, table(tmp_path / "b.mot", own), cutoff=None).taken
    own["ankle"] = np.where(np.arange(len(TIMES)) == 50, 3.0, own["ankle"])
    with pytest.warns(
        UserWarning, match=r"c.mot: column 'ankle' is 3 at 0.5 s, where the coupler of knee_angle gives 0\.\d+"
    ):
        inverse_dynamics_of_trial(reading, table(tmp_path / "c.mot", own), cutoff=None)


def test_slow_motion_passes_the_filter(reading, tmp_path):
    names = [name for name in coordinates_of(reading) if name != "toe_out"]
    q = {name: 0.1 * np.sin(2.0 * np.pi * 0.5 * TIMES + k) for k, name in enumerate(names)}
    file = table(tmp_path / "a.mot", q)
    own, filtered = (inverse_dynamics_of_trial(reading, file, cutoff=c) for c in (None, 20.0))
    middle = slice(20, 81)
    for name in own.forces:
        assert np.abs(own.forces[name] - filtered.forces[name])[middle].max() < 1e-3 * np.abs(own.forces[name]).max()


HEADER = "a\nendheader\n"
TABLES = {
    "no line 'endheader'": "time a\n0 1\n", "no names of columns": HEADER, "no rows": HEADER + "time a\n",
    "it must be time": HEADER + "t a\n0 1\n", "exists twice": HEADER + "time a a\n0 1 2\n",
    "3 values for 2 columns": HEADER + "time a\n0 1 2\n", "column 'a' is 'nan'": HEADER + "time a\n0 nan\n",
    "column 'a' is 'x'": HEADER + "time a\n0 x\n", "times must increase": HEADER + "time a\n0 1\n0 2\n",
    "line 4: column 'a' is 'inf'": HEADER + "time a\n0 1e999\n",
    "line 4: column 'a' is '0,5'; it has a decimal comma": HEADER + "time a\n0 0,5\n",
    "line 4: column 'a' is '1,2,3'; 3 numbers in one cell": HEADER + "time a\n0 1,2,3\n",
    "line 5: column 'b' is 'nan'": HEADER + "time\ta\tb\n0\t1\t2\n1\t1\t\n",
    "binary data": "a\0b\n" + HEADER + "time a\n0 1\n",
    "column 'a b' is 'x'": HEADER + "time\ta b\n0 x\n",
    "the column after 'a b' has no name": HEADER + "time\ta b\t\tc\n0 1 2 3\n",
}  # fmt: skip


@pytest.mark.parametrize("sentence", TABLES)
def test_tables_that_are_refused(tmp_path, sentence):
    file = tmp_path / "a.mot"
    file.write_text(TABLES[sentence])
    assert_refused((sentence, "a.mot"), read_storage, file)


def test_a_row_that_repeats_the_one_before_is_left_out(tmp_path):
    """OpenSim's tools write the last state twice; the time alone is refused above."""
    file = tmp_path / "a.mot"
    file.write_text(f"{HEADER}time a b\n0 1 2\n0.5 3 4\n0.5 3 4\n")
    found = read_storage(file)
    assert found.t.tolist() == [0.0, 0.5] and found.columns["b"].tolist() == [2.0, 4.0]


@pytest.mark.parametrize("header", ["time\tleft knee\tx", "\ttime\t left knee\tx\t"])
def test_tabs_separate_names_with_blanks(tmp_path, header):
    file = tmp_path / "a.mot"
    file.write_text(f"{HEADER}{header}\n0 1 2\n1\t3\t4\n")
    assert {name: values.tolist() for name, values in read_storage(file).columns.items()} == {
        "left knee": [1, 3],
        "x": [2, 4],
    }
    file.write_text(f"{HEADER}time left\tknee\t\n0 1 2\n")  # blanks and tabs: as many names as values
    assert list(read_storage(file).columns) == ["left", "knee"]


def test_parts_of_tables(tmp_path):
    """The rows within a span, and those that enclose it; other rows are not looked at, their times are."""
    file = table(tmp_path / "a.mot", {"a": TIMES**2, "b": TIMES})
    whole = read_storage(file)
    for span, rows in (
        ((0.2, 0.3), slice(20, 31)),
        ((0.205, 0.295), slice(20, 31)),
        ((-1.0, 0.02), slice(0, 3)),
        ((0.985, 9), slice(98, 101)),
    ):
        part = read_storage(file, span=span)
        assert np.array_equal(part.t, whole.t[rows]) and np.array_equal(part.columns["a"], whole.columns["a"][rows]), (
            span
        )
    text = file.read_text().splitlines()
    text[90] = text[90].split()[0] + " x y"
    file.write_text("\n".join(text))
    assert len(read_storage(file, span=(0.2, 0.3)).t) == 11
    for span in (None, (0.8, 0.9)):
        assert_refused("line 91: column 'a' is 'x'", read_storage, file, span=span)
    text[90] = text[90].replace(text[90].split()[0], "0_8", 1)
    file.write_text("\n".join(text))
    assert_refused("line 91: column 'time' is '0_8'", read_storage, file, span=(0.2, 0.3))


LOAD_FILES = {
    "no <datafile>": LOADS.replace("<datafile>{file}</datafile>", ""),
    "outside of the folder": LOADS.replace("{file}", "../a.mot"),
    "has no columns": LOADS.replace("push_v", "pull_v"), "no <applied_to_body>": LOADS.replace("/bodyset/foot", ""),
    "external loads are": "<OpenSimDocument/>", "No such file": LOADS.replace("{file}", "none.mot"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", LOAD_FILES)
def test_loads_that_are_refused(tmp_path, sentence):
    table(tmp_path / "loads.mot", {f"{part}{x}": TIMES for part in ("push_v", "push_p", "turn_") for x in "xyz"})
    (tmp_path / "loads.xml").write_text(LOAD_FILES[sentence].format(axes="ground", file="loads.mot"))
    assert_refused(sentence, read_external_loads, tmp_path / "loads.xml")


def test_trials_that_are_refused(reading, tmp_path):
    names = [name for name in coordinates_of(reading) if name != "toe_out"]
    whole = dict.fromkeys(names, np.zeros(len(TIMES)))
    table(
        tmp_path / "loads.mot",
        {f"{p}{x}": TIMES[:5] for p in ("push_v", "push_p", "turn_") for x in "xyz"},
        t=TIMES[:5],
    )
    (tmp_path / "loads.xml").write_text(LOADS.format(axes="ground", file="loads.mot").replace("foot", "hand"))
    uneven = TIMES**1.5
    lacking = {name: x for name, x in whole.items() if name != "knee_angle"}
    cases = [
        ("no column 'knee_angle'", table(tmp_path / "a.mot", lacking), {}),
        ("times are not evenly spaced", table(tmp_path / "b.mot", whole, t=uneven), {}),
        ("give times within", table(tmp_path / "c.mot", whole), {"t_eval": [2.0]}),
        ("half the sampling rate", tmp_path / "c.mot", {"cutoff": 80.0}),
        ("no body 'hand'", tmp_path / "c.mot", {"loads": tmp_path / "loads.xml"}),
    ]
    for sentence, motion, options in cases:
        assert_refused(sentence, inverse_dynamics_of_trial, reading, motion, **options)


@pytest.mark.parametrize("cutoff", [None, 6.0])
def test_rounded_times_count_as_evenly_spaced(reading, tmp_path, cutoff):
    t = np.arange(145) / 120.0
    whole = {name: 0.1 * np.sin(3.0 * t + k) for k, name in enumerate(coordinates_of(reading))}
    exact = inverse_dynamics_of_trial(reading, table(tmp_path / "exact.mot", whole, t=t), cutoff=cutoff)
    with pytest.warns(UserWarning, match=r"rounded.mot: its times are rounded, by up to 0.33 ms"):
        found = inverse_dynamics_of_trial(
            reading, table(tmp_path / "rounded.mot", whole, t=np.round(t, 3)), cutoff=cutoff
        )
    for name, force in exact.forces.items():
        np.testing.assert_allclose(found.forces[name], force, atol=1e-6 * np.abs(force).max() + 1e-9)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("nRows=100", "nRows = 100, the table has 3, which are read; is the file cut short"),
        ("datarows\t2", "datarows = 2, the table has 3"),
        ("nColumns = 4", "nColumns = 4, the table has 2"), ("datacolumns 1", "datacolumns = 1, the table has 2"),
    ],
)  # fmt: skip
def test_rows_and_columns_are_counted_and_not_those_of_the_header(tmp_path, header, sentence):
    """As in OpenSim, whose own files state other numbers."""
    file = tmp_path / "a.mot"
    file.write_text(f"{header}\nendheader\ntime a\n0 1\n1 2\n2 3\n")
    for span in (None, (0.0, 1.0)):
        with pytest.warns(UserWarning, match=f"a.mot: the header says {sentence}"):
            assert read_storage(file, span=span).columns["a"].tolist() == [1, 2, 3][: 3 if span is None else 2]
    file.write_text("nRows=3,,\nnColumns=2\t\nendheader\ntime a\n0 1\n1 2\n2 3\n")
    assert len(read_storage(file).t) == 3


def test_states_of_moco_are_values_of_coordinates(tmp_path):
    file = tmp_path / "states.sto"
    names = ["hip/angle/value", "/jointset/knee/bend/value", "/jointset/knee/bend/speed", "/a/x/value", "/b/x/value"]
    file.write_text("inDegrees=no\nendheader\n" + "\t".join(["time", *names]) + "\n0\t1\t2\t3\t4\t5\n")
    assert list(read_storage(file).columns) == ["angle", "bend", *names[2:]]


@pytest.mark.parametrize(
    "encoded",
    [lambda text: text.replace("\n", "\r\n").encode(), lambda text: b"\xef\xbb\xbf" + text.encode(),
     lambda text: text.encode("utf-16"), lambda text: text.replace("a\n", "\xb0C\n", 1).encode("latin-1"),
     lambda text: text.replace("\n", "\r").encode(), lambda text: text.replace("\t", " \t  ").encode(),
     lambda text: text.replace("\t", "\t\t").encode(), lambda text: text.replace("endheader\n", " endheader \n\n").encode()],
)  # fmt: skip
def test_ends_of_lines_encodings_and_blanks_of_tables(tmp_path, encoded):
    file = tmp_path / "a.sto"
    file.write_bytes(encoded(f"{HEADER}time\tleft\tknee\n0\t1\t2\n1\t3\t4\n"))
    found = read_storage(file)
    assert [found.t.tolist(), *(values.tolist() for values in found.columns.values())] == [[0, 1], [1, 3], [2, 4]]


@pytest.mark.parametrize(
    ("header", "degrees", "stated"),
    [
        ("inDegrees=yes", True, True), ("inDegrees = YES\t\t\t", True, True), ("Angles are in degrees.\t", True, True),
        ("inDegrees=no\t", False, True), ("Angles are in radians.", False, True), (f"nRows={len(TIMES)}", False, False),
    ],
)  # fmt: skip
def test_units_of_angles_in_headers(tmp_path, header, degrees, stated):
    """Also of tables that a spreadsheet saved with empty columns."""
    found = read_storage(table(tmp_path / "motion.mot", {"knee_angle": TIMES}, header))
    assert (found.in_degrees, found.states_unit) == (degrees, stated)


@pytest.mark.parametrize(("header", "degrees"), [("a", True), ("version=1", False)])
def test_angles_of_no_stated_unit_are_read_as_in_opensim(reading, tmp_path, header, degrees):
    """Degrees in .mot files of SIMM, which state no version, and radians in others; a guess warns."""
    columns = {name: 0.0 * TIMES for name in coordinates_of(reading)}
    columns["knee_angle"] = 60.0 * TIMES / TIMES[-1]
    file = table(tmp_path / "motion.mot", columns, "nothing")
    file.write_text(file.read_text().replace("version=1", header))
    words = "read in degrees, as OpenSim" if degrees else "read in radians, of which 'knee_angle' reaches 60, 9.5 rev"
    with pytest.warns(UserWarning, match=words):
        found = inverse_dynamics_of_trial(reading, file, cutoff=None)
    assert found.q["knee_angle"][-1] == pytest.approx(np.deg2rad(60.0) if degrees else 60.0)
