"""Progress of long work: a bar in the output of a notebook, which empties itself."""

import multiprocessing
import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import models
from runtime import Builder, Signal, fit_parameters, inverse_dynamics, sensitivities, simulate
from runtime.support import notebook, progress


@pytest.fixture
def cell(monkeypatch):
    """What a cell of a notebook was asked to display, as kernels do it."""
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(("update", data))

    def display(data, raw, display_id):
        shown.append(("display", data))
        return Handle()

    module = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(kernel=object())
    module.display = SimpleNamespace(display=display)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.05)
    monkeypatch.setattr(progress, "REFRESH", 0.02)
    return shown


def shares_of(cell):
    """The shares that the bar showed, before it was emptied."""
    return [float(data["text/plain"].split()[-2]) for _, data in cell[:-1]]


def work(bar, seconds):
    steps = 10
    for k in range(steps + 1):
        bar.update(k / steps)
        time.sleep(seconds / steps)


def test_a_notebook_shows_one_line_that_is_updated_and_emptied(cell, capsys):
    with progress.reporter(None, 0.0, 1.0, "time <s>") as bar:
        work(bar, 0.5)
    assert [kind for kind, _ in cell].count("display") == 1
    assert len(cell) > 3
    assert cell[1][1]["text/plain"].startswith("time <s>: ") and "time &lt;s&gt; <progress" in cell[1][1]["text/html"]
    assert shares_of(cell) == sorted(shares_of(cell))
    assert cell[-1] == ("update", {"text/plain": "", "text/html": ""})
    assert capsys.readouterr() == ("", "")


def test_short_work_shows_nothing_in_a_notebook(cell):
    with progress.reporter(None, 0.0, 1.0) as bar:
        work(bar, 0.0)
    assert cell == []


def test_outside_of_notebooks_and_terminals_there_is_no_bar(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    assert not notebook.in_notebook()
    with progress.reporter(None, 0.0, 1.0) as bar:
        work(bar, 0.05)
    assert capsys.readouterr() == ("", "")


def shown_by_default(queue):
    queue.put(progress.reporter(None, 0.0, 1.0).show)


def test_a_worker_of_a_notebook_shows_no_bar(cell):
    """Its line would appear in the output of whichever cell runs, beside those of other workers."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("workers are not forked here, and know no notebook")
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    worker = context.Process(target=shown_by_default, args=(queue,))
    worker.start()
    worker.join()
    assert not queue.get() and progress.reporter(None, 0.0, 1.0).show


@pytest.mark.slow
def test_a_real_kernel_shows_the_progress_of_a_run():
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    source = (
        "import models, runtime\nfrom runtime.support import progress\nprogress.SILENT_SECONDS = 0.0\n"
        "runtime.simulate(models.chain.build(links=9), 2.0, rtol=1e-12, atol=1e-12);"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    (output,) = book.cells[0].outputs
    assert output["output_type"] == "display_data" and output["data"]["text/plain"] == ""


SWING = Signal.spline(np.linspace(0.0, 1.0, 20), np.sin(np.linspace(0.0, 1.0, 20)))


def inverted():
    b = Builder("arm")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -0.2))
    b.joint("pin", "revolute", "ground", "arm", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.2), a_j=(0, 1, 0))
    b.driver("swing", "guided_angle", "ground", "arm", h_i=(0, 1, 0), a_i=(0, 0, -1), b_j=(0, 0, -1), theta_t=SWING)
    inverse_dynamics(b.build(), np.linspace(0.0, 1.0, 20))


def derived():
    system = models.four_bar.build()
    sensitivities(system, {f"mass.{system.body_names[0]}": system.bodies[0].mass}, 0.3)


def fitted():
    system, times = models.four_bar.build(), np.linspace(0.0, 0.3, 4)
    body = system.body_names[0]
    path = simulate(system, 0.3, t_eval=times, progress=False).r[body]
    fit_parameters(system, {f"mass.{body}": 1.1 * system.body(body).mass}, times, {f"r.{body}": path})


@pytest.mark.parametrize("analysis, words", [(inverted, ""), (derived, ""), (fitted, "runs of the fit")])
def test_analyses_show_their_progress(cell, monkeypatch, analysis, words):
    """A fit shows its runs, each with its time."""
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.0)
    analysis()
    shares = shares_of(cell)
    assert shares == sorted(shares) and (len(set(shares)) > 2 if words else shares[-1] == 100.0)
    assert all(words in data["text/plain"] for _, data in cell[:-1])
