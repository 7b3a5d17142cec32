"""``python -m benchmarks QUESTION``: measure, show the result, and write data, tables and figures to a folder.

Exit codes: 0 done, 1 a run failed or the output could not be written, 2 bad usage, 130 Ctrl-C, 143 SIGTERM.
"""

from __future__ import annotations

import os
import signal

if (
    __name__ == "__main__"
):  # until ``ended_by_signals`` is imported, which takes long; nothing is open that could be lost
    for _number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(_number) != signal.SIG_IGN:
            signal.signal(_number, lambda number, frame: os._exit(128 + number))

# Threads of linear algebra gain nothing on small matrices, and double the processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

from benchmarks.measure import Answer, BenchmarkError, machine
from runtime import ModelError
from runtime.figures import panels
from runtime.report import write_report
from runtime.report.tables import print_json
from runtime.report.terminal import print_error, print_line, show_report
from runtime.support.interruption import ended_by_signals
from runtime.support.results_folder import remove_unused, results_folder
from runtime.support.streams import safe_streams

QUESTIONS = {
    "cost": "What does the modified universal joint cost against the classical one, by method and tolerance?",
    "rhs": "How does the cost of one evaluation grow with the number of bodies?",
    "limits": "What do joint limits cost, does the damped foot come to rest, and how much energy does the printed law lose?",
    "gait": "How exactly does inverse dynamics recover a walk whose moments are known, and how long does it take?",
    "contact": "How well does the motion predict the force of the ground on adults whom no model has seen?",
    "electromyograms": "Do activations of static optimisation follow electromyograms of adults who walk?",
    "axes": "Do credible intervals of the axes of the ankle hold the truth, and what does a walk add to the prior?",
    "joints": "How often is the joint by which synthetic bones move chosen, and does the interval of its link hold?",
    "ensembles": "How many cases of an ensemble run per second, and how much memory does a sweep of a million need?",
    "start": "How long does it take from an edit, an installation or a new process to a first result?",
    "control": "How exact is a PD law, continuous or sampled at 1 kHz, and how long does an arm with one take beside MuJoCo?",
    "targets": "Does Talus reach its targets of speed, memory and accuracy?",
    "mechanisms": "How exactly and how fast are mechanisms from the literature simulated, by Talus and by other programs?",
    "random": "Are random mechanisms right against a second method, or ended with a status?",
    "files": "Are models from files of other programs right against the programs that own the formats?",
    "landing": "Do landings of OpenSim models on their contacts agree with OpenSim, and how long does one take?",
    "muscles": "Does static optimisation of a walk agree with OpenSim's tool, and how long does it take beside it?",
    "design": "How many runs does the design of an orthosis take, and does a grid of 100 000 landings find the same one?",
    "queries": "Do mass matrices, efforts, frames, ... of models from files agree with MuJoCo, Pinocchio and OpenSim?",
    "peers": "How long do other programs take for the same motion at equal error, and for a chain of bodies?",
}
TAKE_FILES = ("axes", "contact", "electromyograms", "mechanisms", "files", "landing", "muscles", "queries")
FOLDERS = (
    "targets",
    "mechanisms",
    "random",
    "peers",
    "files",
    "landing",
    "muscles",
    "queries",
)  # questions with a folder of their own
DONE, FAILED, BAD_INPUT = 0, 1, 2


def module_of(question: str) -> ModuleType:
    """The module that answers a question."""
    return importlib.import_module(f"benchmarks.{question}" + (".question" if question in FOLDERS else ""))


def main(arguments: list[str] | None = None) -> int:
    """Answer one question, or list them; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Answer a question about the cost or the accuracy of Talus by measurement.",
        epilog="\n".join(["questions:", *(f"  {name:16s}{sentence}" for name, sentence in QUESTIONS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("question", nargs="?", metavar="QUESTION", help="one of the questions below")
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="of mechanisms: problem files in place of the shipped ones; of those of data: a folder; else models",
    )
    out = "folder for the results, which must not exist yet; default: results/benchmark-QUESTION"
    parser.add_argument("--out", type=Path, help=out)
    parser.add_argument("--json", action="store_true", dest="as_json", help="print the result as JSON, for machines")
    parser.add_argument("--against", metavar="COMMIT", help="of targets: measure in turns with an earlier commit")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases, in seconds instead of minutes")
    options = parser.parse_intermixed_args(arguments)
    if options.question is None:
        if options.as_json:
            print_json(QUESTIONS)
        else:
            parser.print_help()
        return DONE
    if options.question not in QUESTIONS:
        return _refuse(f"unknown question '{options.question}'; the questions are {', '.join(QUESTIONS)}", BAD_INPUT)
    if options.files and options.question not in TAKE_FILES:
        return _refuse(f"question '{options.question}' takes no files; {', '.join(TAKE_FILES)} do", BAD_INPUT)
    if options.against is not None and options.question != "targets":
        return _refuse(f"question '{options.question}' takes no --against; targets does", BAD_INPUT)
    try:
        folder = results_folder(options.out, f"results/benchmark-{options.question}")
    except ModelError as error:
        return _refuse(str(error), BAD_INPUT)
    try:
        answer = _answer(options.question, options.quick, options.files, options.against)
        _write(answer, folder)
    except (BenchmarkError, ModelError) as error:
        return _refuse(str(error), FAILED, folder)
    except KeyboardInterrupt:
        return _refuse("interrupted; nothing was written", FAILED, folder)
    except BaseException:
        remove_unused(folder)
        raise
    _show(answer, folder, options.as_json)
    return FAILED if answer.report.failures else DONE


def _answer(question: str, quick: bool, files: list[str], against: str | None) -> Answer:
    module = module_of(question)
    # The load average is that before the benchmark.
    said = [*files, *(["--quick"] if quick else []), *(["--against", against] if against else [])]
    conditions = machine(" ".join([f"python -m benchmarks {question}", *said]))
    answer: Answer = module.ask(
        quick=quick, say=lambda line: print_error(line, dim=True),
        **({"files": files} if files else {}), **({"against": against} if against else {}),
    )  # fmt: skip
    answer.report.tables.append(conditions)
    return answer


def _write(answer: Answer, folder: Path) -> None:
    for name, figure in answer.figures.items():
        answer.report.files += panels.save(figure, folder, name)
    write_report(answer.report, folder, pdf=False)


def _show(answer: Answer, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json(answer.report.data())
    else:
        show_report(answer.report, full=True)
        print_line(f"{len(answer.report.files)} files in {folder}")
    for failure in answer.report.failures:
        print_error(failure)


def _refuse(sentence: str, code: int, folder: Path | None = None) -> int:
    """Print the reason in one sentence, remove the folder that was made for the results, and return the exit code."""
    if folder is not None:
        remove_unused(folder)
    print_error(sentence)
    return code


if __name__ == "__main__":
    with safe_streams(), ended_by_signals():
        code = main()
    sys.exit(code)
