"""The benchmarks answer their questions: every one in its quick form.  No time is judged here."""

import importlib
import io
import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise

import numba
import numpy as np
import pytest
import sympy
from rich.console import Console
from scipy.integrate import solve_ivp

import benchmarks.__main__
import runtime
from benchmarks import cost, ensembles, measure, native, peer, peers, peers_report, reduced_foot, rhs, targets
from benchmarks.__main__ import BAD_INPUT, DONE, FAILED, QUESTIONS, main
from benchmarks.allocations import outside_calls
from runtime import terminal
from runtime.report import text

FIGURES = {
    "cost": {"cost", "evaluations"},
    "rhs": {"rhs"},
    "limits": {"energy_by_law"},
    "targets": {"targets"},
    "peers": {"peers", "chain"},
}


@pytest.fixture
def printed(monkeypatch):
    """A table as a terminal of so many columns prints it."""

    def show(table, width=80):
        stream = io.StringIO()
        monkeypatch.setattr(terminal, "out_console", Console(file=stream, width=width))
        terminal.show(table)
        return stream.getvalue()

    return show


def assert_legible(table, shown):
    """No number and no word of a heading is broken, of the columns that a narrow terminal shows."""
    assert max(len(line) for line in shown.splitlines()) <= 80
    narrow = "The terminal is too narrow" in shown
    columns = table.brief if narrow else table.columns
    assert not narrow or table.brief
    words = shown.split()
    for record in table.records():
        assert all(text(record[c]) in words for c in columns if isinstance(record[c], int | float))
    assert all(word in words for column in columns for word in column.split())


@pytest.fixture
def answer(tmp_path, capsys, monkeypatch, printed):
    """Ask a question in its quick form; the tables by title and their notes."""

    def ask(question):
        folder, told, write = tmp_path / "made" / question, [], benchmarks.__main__._write
        monkeypatch.setattr(
            benchmarks.__main__, "_write", lambda *arguments: (told.append(arguments[0]), write(*arguments))
        )
        assert main([question, "--quick", "--json", "--out", str(folder)]) == DONE
        for table in told[0].report.tables:
            assert_legible(table, printed(table))
        data = json.loads(capsys.readouterr().out)
        assert data == json.loads((folder / "summary.json").read_text())
        files = {file.name for file in folder.iterdir()}
        assert {"summary.md", "summary.json", "machine.csv"} <= files
        for name in FIGURES[question]:
            assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
            assert "<svg" in (folder / f"{name}.svg").read_text()
        assert len([name for name in files if name.endswith(".csv")]) == len(data["tables"])
        facts = {row["fact"] for row in data["tables"]["machine"]}
        assert {"command", "cpu", "cores", "python", "numpy", "scipy", "numba"} <= facts
        markdown = (folder / "summary.md").read_text()
        assert all(f"## {title}" in markdown for title in data["tables"])
        assert not data["failures"]
        return data["tables"], data["notes"]

    return ask


def test_cost(answer):
    tables, notes = answer("cost")
    for duration in cost.QUICK.durations:
        rows = tables[f"runs over {duration:g} s"]
        cases = {(row["method"], row["tol"], row["ankle"]) for row in rows}
        assert cases == {(m, t, a) for m in cost.METHODS for t in cost.QUICK.tolerances for a in measure.ANKLES}
        for row in rows:
            assert row["evaluations"] > row["steps"] > 0
            assert 0.0 < row["error [m]"] < 10 * row["tol"]
            assert (row["rejected"] is None) == (row["method"] in ("BDF", "Radau", "LSODA"))
        by_case = {(row["method"], row["ankle"], row["tol"]): row for row in rows}
        loose, tight = cost.QUICK.tolerances
        for method in cost.METHODS:
            for ankle in measure.ANKLES:
                a, b = by_case[method, ankle, loose], by_case[method, ankle, tight]
                assert a["evaluations"] < b["evaluations"] and a["error [m]"] > b["error [m]"]
    ratios = tables["modified to classical"]
    assert len(ratios) == len(cost.QUICK.durations) * len(cost.METHODS) * len(cost.QUICK.tolerances)
    first = tables["runs over 0.2 s"]
    expected = first[1]["evaluations"] / first[0]["evaluations"]
    assert ratios[0]["evaluations"] == pytest.approx(expected)
    assert "function evaluations" in notes["modified to classical"]
    operations = {row["kernel"]: row for row in tables["operations"]}
    assert operations["evaluate"]["modified"] > operations["evaluate"]["classical"] > 0


def test_evaluations_include_finite_difference_jacobians():
    system = measure.foot("modified")
    run = runtime.simulate(system, 0.1, method="BDF", rtol=1e-6, atol=1e-6)
    # The first Jacobian alone takes an evaluation for each of the states.
    assert run.stats.evaluations >= run.stats.steps + len(system.state.y)


def test_cost_names_a_method_that_fails(monkeypatch, tmp_path, capsys):
    def fails(*arguments):
        raise measure.BenchmarkError("foot, tolerance 1e-05: broken on purpose")

    whole = cost.measure
    monkeypatch.setattr(cost, "METHODS", {"dop853": "DOP853, compiled", "RK45": "RK45, SciPy"})
    monkeypatch.setattr(cost, "measure", lambda *a: fails() if a[2] == "RK45" else whole(*a))
    assert main(["cost", "--quick", "--out", str(tmp_path / "out")]) == FAILED
    assert "broken on purpose" in capsys.readouterr().err
    data = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert data["failures"] and {row["method"] for row in data["tables"]["runs over 0.5 s"]} == {"dop853"}


def test_rhs(answer):
    tables, _ = answer("rhs")
    chains = tables["chains"]
    assert {(row["joint"], row["links"]) for row in chains} == {(j, n) for j in rhs.JOINTS for n in rhs.QUICK.links}
    for row in chains:
        assert row["rows"] == row["links"] * (3 if row["joint"] == "spherical" else 5)
        assert row["evaluation [us]"] > 0.0 and row["dense solve [us]"] > 0.0
        assert row["difference"] < 1e-10
    assert {row["joint"] for row in tables["growth"]} == set(rhs.JOINTS)
    assert {row["ankle"] for row in tables["feet"]} == set(measure.ANKLES)


def test_targets(answer):
    tables, notes = answer("targets")
    rows = {row["what"]: row for row in tables["targets"]}
    for row in rows.values():
        known = row["measured"] is not None
        assert row["reached"] == (("yes" if row["measured"] <= row["limit"] else "no") if known else "not measured")
    for ankle in measure.ANKLES:
        for what in ("position", "energy", "|Phi|"):
            assert rows[f"{ankle} foot, {what}"]["reached"] == "yes"
    assert rows["heap allocations, evaluation"]["measured"] == 0
    assert rows["first start"]["measured"] is None and "first start" in notes["targets"]
    assert [row["what"] for row in tables["how"]] == list(rows)


def test_limits(answer):
    tables, _ = answer("limits")
    for row in tables["cost"]:
        assert row["evaluations"] > 0 and row["time [ms]"] > 0.0
        assert (row["drift [J]"] is None) == ("dissipative" in row["case"])
        assert row["drift [J]"] is None or row["drift [J]"] < 1e-7
    assert {row["ankle"] for row in tables["rest"]} == set(measure.ANKLES)
    assert all(row["ratio"] == pytest.approx(row["later"] / row["first"]) for row in tables["rest"])
    shares = {(row["cone"], row["law"]): row["largest share"] for row in tables["closed loops"]}
    for (cone, law), share in shares.items():
        assert share < 1e-9 if law == "conservative" or cone == "regular" else share > 1e-4
    for row in tables["energy"]:
        lost = row["range between contacts [J]"]
        assert lost < 1e-7 if row["law"] == "conservative" else lost > 1e-5


def test_peers(answer):
    tables, _ = answer("peers")
    cases = peers.QUICK
    reached = {peers.OWN, peers.GENERAL}
    for row in tables["equal error"]:
        if row["time [ms]"] is None:
            assert row["error [m]"] > row["error allowed [m]"] and row["setting"] is None
        else:
            assert row["error [m]"] <= row["error allowed [m]"] and row["ours to theirs"] > 0.0
            reached.add(row["program"])
    assert {row["error allowed [m]"] for row in tables["equal error"]} >= set(cases.errors)
    for row in tables["programs"]:
        assert (
            row["one evaluation [us]"] > 0.0 and row["version"] and row["the user writes"] and row["closest [m]"] < 1e-8
        )
    absent = {row["program"] for row in tables.get("not here", [])}
    assert len(reached) == 2 + len(cases.programs) - len(absent)
    for row in tables["chain"]:
        assert row["difference"] < 1e-6 and row["1 links [us]"] > 0.0
    assert {row["program"] for row in tables["chain"]} >= {peers.OWN, peers.GENERAL, "the papers' method"}
    # Another program with other equations: its motion tends to ours with the order of its method.
    theirs = [row for row in tables["work and precision"] if row["program"] == "MuJoCo"]
    for coarse, fine in pairwise(theirs):
        if fine["error [m]"] > 1e-12:
            order = np.log(coarse["error [m]"] / fine["error [m]"]) / np.log(coarse["setting"] / fine["setting"])
            assert 3.7 < order < 4.6
    assert not theirs or theirs[-1]["error [m]"] < 1e-12


@pytest.fixture
def program(tmp_path):
    """A program in its process, for a motion of 1 s."""
    opened = []

    def start(name):
        told = peers.foot_of(measure.foot("modified"))
        opened.append(peer.Process(name, told, 1.0, 101, tmp_path))
        try:
            return opened[-1], opened[-1].open()
        except peer.MissingError as error:
            pytest.skip(f"{error}; all programs come with talus[peers]")

    yield start
    for process in opened:
        process.close()


@pytest.mark.parametrize("name", peers.PROGRAMS)
def test_a_program_does_what_we_do(name, program):
    process, facts = program(name)
    setting = next(s for s in facts["shown"] if s < (1e-3 if "step" in facts["knob"] else 1e-6))
    times, found = process.ask("motion", setting=setting)
    exact = measure.exact(measure.foot("modified"), times).r[measure.BODY]
    assert np.abs(np.array(found) - exact).max() < 1e-6
    assert process.ask("run", setting=setting) > 0.0 and process.ask("evaluation", repeats=1) > 0.0
    if facts["most_links"]:
        of = peers.chain_of(5)
        ours = peers.ours(measure.foot("modified"), peers.QUICK, whole=False).chain(of, 1)
        theirs = process.ask("chain", chain=vars(of), repeats=1)
        np.testing.assert_allclose(theirs["turning"], ours.turning, rtol=0, atol=1e-6 * np.abs(ours.turning).max())
    else:
        assert facts["why"]


def test_a_program_tells_what_went_wrong(program):
    process, _ = program("papers")
    with pytest.raises(peer.PeerError, match="papers, motion: "):
        process.ask("motion", setting="coarse")
    assert process.ask("evaluations", setting=1e-3) > 0  # and it lives on
    process._process.kill()
    with pytest.raises(peer.PeerError, match="its process ended with -9 when asked for 'run'"):
        process.ask("run", setting=1e-3)


def test_a_program_that_is_not_installed_is_named(monkeypatch):
    cases = replace(peers.QUICK, programs=("nothing",), errors=())
    with ExitStack() as stack:
        searches, missing, _ = peers._searches(cases, lambda line: None, stack)
    assert [search.peer.name for search in searches] == [peers.OWN, peers.GENERAL]
    assert "benchmarks.peer_nothing" in missing["nothing"]

    def absent(process):
        raise peer.MissingError("mujoco is not installed")

    monkeypatch.setattr(peer.Process, "open", absent)
    for target in targets._peers(True, lambda line: None):
        assert target.reached == "not measured"
        assert target.how == 'mujoco is not installed; install with: pip install "talus[peers]"'


def everyone():
    """Ourselves and all programs, installed or not, by name and by what the user writes."""
    modules = [importlib.import_module(f"benchmarks.peer_{name}") for name in peers.PROGRAMS]
    names = [(peers.OWN, peer.JOINTS), (peers.GENERAL, peer.JOINTS), *((m.NAME, m.WRITTEN) for m in modules)]
    some = dict(ladder=[], shown=[], prepare=None, evaluation=None)
    return [
        peers.Peer(name, "10.10.10", "trapezoidal, index 2", written, "tolerance", **some) for name, written in names
    ]


def test_targets_tell_the_ratio_to_the_quickest_of_each_kind(monkeypatch):
    times = {"Talus": 1.0, "Exudyn": 4.0, "MuJoCo": 20.0, "heyoka": 0.25}

    def told(cases, say):
        assert cases.errors == (1e-9,) and cases.duration == 5.0
        found = []
        for one in everyone():
            took = times.get(one.name) if one.written != peer.LAGRANGIAN else None
            ratio = took and times["Talus"] / took
            found.append(peers.Equal(1e-9, 5.0, one, 1e-10, 1e-9, 100, took and 1e-3 * took, ratio))
        return [e for e in found if e.peer.name in times], {"symforce": "symforce is not installed"}

    monkeypatch.setattr(peers, "at_errors", told)
    trees, hand, lagrangian = targets._peers(True, lambda line: None)
    assert (trees.measured, trees.limit, trees.reached) == (0.25, 1.0, "yes")
    assert "ours 1 ms" in trees.how and "Exudyn" in trees.how and "MuJoCo" in trees.how and "heyoka" not in trees.how
    assert (hand.measured, hand.limit, hand.reached) == (4.0, 1.5, "no")
    assert "heyoka 10.10.10" in hand.how and "0.25 ms" in hand.how and "symforce is not installed" in hand.how
    assert lagrangian.reached == "not measured" and "does not reach it" in lagrangian.how


def test_each_program_has_a_look_of_its_own_in_all_figures():
    looks = [peers_report.look(one.name, one.written) for one in everyone()]
    assert len({(look["color"], look["marker"], look["markerfacecolor"]) for look in looks}) == len(looks)
    assert len({(look["color"], look["marker"]) for look in looks}) == len(peers_report.LOOKS)
    rows = [[p.name, p.written, "step", s, 1, k + s, 10.0**-s] for k, p in enumerate(everyone()) for s in (1, 2)]
    fig = peers_report.work_figure(rows, [peers.Equal(1e-9, 5.0, None, 1, 1, 1, 1, 1)], peers.FULL)
    few = everyone()[::3]
    chains = {p.label: {n: (peers.Links(1e-6, None, 0.0), 0.0) for n in (1, 10)} for p in few}
    work, chain = (figure.axes[0] for figure in (fig, peers_report.chain_figure(chains, everyone())))
    drawn = [{line.get_label(): (line.get_color(), line.get_marker()) for line in ax.lines} for ax in (work, chain)]
    assert drawn[1] and drawn[1].items() <= drawn[0].items()
    assert drawn[0]["Talus: bodies and joints"][0] != drawn[0]["the papers' method: bodies and joints"][0]
    assert not work.texts, "names stand in the legend, where they cover no curve"


def test_tables_of_all_programs_are_legible_at_80_columns(printed):
    all_, cases = everyone(), peers.FULL
    equals = [
        peers.Equal(1.886e-11, 5.0, one, 1.122e-10, 1.726e-11, 123456, 12.3456, 0.0008094) for one in all_
    ] + [peers.Equal(1e-9, 5.0, all_[0], None, 1.2e-8, None, None, None)]  # fmt: skip
    searches = [peers.Search(one, None, known={1e-3: 1.143e-14}) for one in all_]
    rows = [[one.name, one.written, "step [s]", 0.0003125, 22400, 1234.5, 1.2345e-14] for one in all_]
    links = {n: (peers.Links(0.12345e-6 * n, None, 0.0), 2.285e-16) for n in cases.links}
    tables = [
        peers_report.equal_table(equals, cases, 5e-15),
        peers_report.program_table(searches, dict.fromkeys((one.label for one in all_), 0.005299e-6)),
        peers_report.setting_table(rows),
        peers_report.chain_table({one.label: links for one in all_}, {}, all_, cases),
    ]
    for table in tables:
        assert_legible(table, printed(table))
        wide = printed(table, 200)
        assert "too narrow" not in wide and all(word in wide for column in table.columns for word in column.split())


def test_a_version_that_is_not_there():
    with pytest.raises(peer.MissingError, match="no-such-thing is not installed"):
        peer.version_of("no-such-thing")


def test_reduced_equations_are_the_foot():
    system = measure.foot("modified")
    told = peers.foot_of(system)
    found = reduced_foot.equations(told)
    accelerations = sympy.lambdify((*found.angles, *found.speeds), found.plain(), cse=True)
    run = solve_ivp(
        lambda t, x: [x[2], x[3], *accelerations(*x)], (0, 1), np.zeros(4), method="DOP853", rtol=1e-12, atol=1e-12
    )
    exact = measure.exact(system, run.t).r[measure.BODY]
    assert np.abs(reduced_foot.positions(told, run.y[0], run.y[1]) - exact).max() < 1e-11


def test_compiled_integrator(monkeypatch, tmp_path):
    try:
        native.compiler()
    except peer.MissingError as error:
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
    with pytest.raises(peer.PeerError, match="the compiler refused"):
        native.Native("static void nothing", np.zeros(1))


def search(known, **options):
    ladder = sorted(known, reverse=True)
    one = peers.Peer("exact", "1", "order 2", "bodies", "step", ladder, ladder[::7], prepare=None, evaluation=None)
    return peers.Search(one, measure.foot("modified"), known=known, **options)


def test_search_finds_the_coarsest_setting():
    known = {0.1 / n: (0.1 / n) ** 2 for n in range(1, 51)}
    assert search(known).coarsest(1.1e-4) == pytest.approx(0.01)
    assert search(known).coarsest(1.0) == 0.1
    with pytest.raises(measure.BenchmarkError, match="exact: bodies does not reach an error of 1.0e-09 m; at best"):
        search(known).coarsest(1e-9)
    with pytest.raises(measure.BenchmarkError, match="does not reach"):
        search(known, slow={0.1 / 8}).coarsest(1e-5)


def test_a_program_that_fails_is_left_out():
    def fails(setting):
        raise peer.PeerError(f"{setting} is too much")

    one = search({0.1: 1e-3, 0.01: np.inf})
    assert one.closest == 1e-3
    broken = search({0.1: np.inf, 0.01: np.inf})
    assert broken.closest is None
    with pytest.raises(measure.BenchmarkError, match="1.0e-09 m; none at all"):
        broken.coarsest(1e-9)
    found = replace(one.peer, prepare=lambda setting: peers.Ready(None, lambda: fails(setting), None))
    failing = peers.Search(found, one.system)
    assert failing.error(0.1) == np.inf and failing.failures == ["step 0.1: 0.1 is too much"]
    assert peers._settings(failing, peers.QUICK, lambda line: None) == []


def test_allocations_are_found():
    @numba.njit
    def allocates(n):
        return np.zeros(n).sum()

    @numba.njit(error_model="numpy", _nrt=False)
    def computes(a):
        a[0] = a[1] ** 1.5
        return a[0]

    allocates.compile((numba.int64,))
    computes.compile((numba.float64[::1],))
    assert any("NRT" in name for name in outside_calls(allocates, allocates.signatures[0]))
    assert outside_calls(computes, computes.signatures[0]) == set()


def test_compiled_run_is_the_run_of_simulate():
    system = measure.foot("classical")
    run, evaluations = measure.compiled_run(system, 0.5, 1e-8)
    run()
    plain = runtime.simulate(system, 0.5, rtol=1e-8, atol=1e-8)
    assert evaluations() == plain.stats.evaluations


def test_exponent():
    assert measure.exponent([1, 2, 4], [3, 24, 192]) == pytest.approx(3.0)


def test_lists_its_questions(capsys):
    assert main([]) == DONE
    shown = capsys.readouterr().out
    assert all(name in shown for name in QUESTIONS)
    assert main(["--json"]) == DONE
    assert json.loads(capsys.readouterr().out) == QUESTIONS


def test_refuses_unknown_question_in_a_process(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "speed", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=measure.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == BAD_INPUT and done.stdout == ""
    assert (
        done.stderr.strip()
        == "unknown question 'speed'; the questions are cost, rhs, limits, gait, ensembles, targets, peers"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("question", QUESTIONS)
def test_refuses_an_existing_folder(question, tmp_path, capsys):
    (tmp_path / "kept.txt").write_text("mine")
    assert main([question, "--quick", "--out", str(tmp_path)]) == BAD_INPUT
    said = capsys.readouterr().err.strip()
    assert "exists" in said and "\n" not in said
    assert [file.name for file in tmp_path.iterdir()] == ["kept.txt"]


@pytest.mark.parametrize("failure", [measure.BenchmarkError("it broke"), runtime.ModelError("it broke")])
def test_a_failed_run_leaves_no_folder(failure, tmp_path, monkeypatch, capsys):
    def fails(**options):
        raise failure

    monkeypatch.setattr(rhs, "ask", fails)
    assert main(["rhs", "--out", str(tmp_path / "out")]) == FAILED
    assert capsys.readouterr().err.strip() == "it broke"
    assert not (tmp_path / "out").exists()


def test_folders_are_named_by_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rhs, "ask", lambda **options: measure.Answer(runtime.Report("nothing")))
    assert main(["rhs"]) == main(["rhs"]) == DONE
    folders = list((tmp_path / "results").iterdir())
    assert len(folders) == 2 and all(folder.name.startswith("benchmark-rhs") for folder in folders)
    assert "files in results" in capsys.readouterr().out


def test_ensembles_are_measured():
    cases = ensembles.thrown(120)
    assert {len(values) for values in cases.values()} == {120}
    assert len(np.unique(cases["omega.main_foot"], axis=0)) == 120
    assert ensembles.error() < ensembles.ERROR
    memory, finished, size = ensembles.sweep(120)
    assert finished == 120 and 50.0 < memory < 1024.0 and size > 0.0
