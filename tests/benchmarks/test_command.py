"""The command ``python -m benchmarks``: its list, its refusals, its folders."""

import json
import subprocess
import sys

import pytest

import runtime
from benchmarks import measure, rhs
from benchmarks.__main__ import BAD_INPUT, DONE, FAILED, QUESTIONS, main, module_of


def test_lists_its_questions(capsys):
    assert main([]) == DONE
    shown = capsys.readouterr().out
    assert all(name in shown for name in QUESTIONS)
    assert main(["--json"]) == DONE
    assert json.loads(capsys.readouterr().out) == QUESTIONS
    assert all(callable(module_of(name).ask) for name in QUESTIONS)


def test_refuses_unknown_question_in_a_process(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "speed", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=measure.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == BAD_INPUT and done.stdout == ""
    assert (
        done.stderr.strip()
        == "unknown question 'speed'; the questions are cost, rhs, limits, gait, contact, electromyograms, axes, ensembles, "
        "start, control, targets, mechanisms, random, files, landing, muscles, design, queries, peers"
    )
    assert not (tmp_path / "out").exists()


def test_files_may_follow_options(tmp_path, capsys):
    file = tmp_path / "no.json"
    assert main(["mechanisms", "--quick", "--out", str(tmp_path / "out"), str(file)]) == FAILED
    assert f"{file}: No such file or directory" in capsys.readouterr().err


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
    monkeypatch.setattr(rhs, "ask", lambda **options: measure.Answer(runtime.report.Report("nothing")))
    assert main(["rhs"]) == main(["rhs"]) == DONE
    folders = list((tmp_path / "results").iterdir())
    assert len(folders) == 2 and all(folder.name.startswith("benchmark-rhs") for folder in folders)
    assert "files in results" in capsys.readouterr().out
