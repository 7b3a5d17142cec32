"""Break one rule at a time in a copy of the checkout, and see its tests fail: ``python -m tests.breaks [WORDS...]``.

WORDS choose the lists, rules and files that contain one of them.  ``--list`` counts the rules, ``--sound`` runs all their tests
on the unbroken copy.  The copy has the compiled code of the tests; what a break changes is compiled there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
RULES = Path(__file__).parent / "rules"
MATRIX = "tests/integrate/test_conformance.py::test_"
SHORT = {"one": f"{MATRIX}a_single_run", "many": f"{MATRIX}seventeen_cases", "scipy": f"{MATRIX}a_single_run_by_scipy"}
WHOLE = "generated", "models"  # folders that ``python -m codegen`` may write
LONGEST = 600  # [s] for the tests of a break
SECOND = "TALUS_SECOND_PROCESS"
CAUGHT, MISSED, GONE = "caught", "NOT caught", "text not found"
OWN_COMPARISON = "differ from those of all bodies"  # by which codegen and the making of kernels refuse wrong equations


class Break(NamedTuple):
    """``old`` stands once in the file, and becomes ``new``; ``after``: a command for the copy, such as ``-m codegen``."""

    rule: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    room: str  # the list that holds it
    after: str = ""


def breaks():
    """All breaks in the order of the files."""
    found = []
    for file in sorted(RULES.glob("*.toml")):
        for rule, places in tomllib.loads(file.read_text(encoding="utf-8")).items():
            for place in places:
                tests = tuple(full(test) for test in place.pop("tests"))
                found.append(Break(rule, tests=tests, room=file.stem, **place))
    return found


def full(test):
    """The name of a test, of which ``SHORT`` may be the beginning."""
    name, bracket, case = test.partition("[")
    return SHORT.get(name, name) + bracket + case


class Copy:
    """A copy of the files that git knows, with a cache of its own."""

    def __init__(self, folder):
        self.folder, self.stamp = folder, time.time() - 1e6
        files = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
        ).stdout.decode().split("\0")  # fmt: skip
        for name in filter(None, files):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        if (ROOT / ".tests-cache").is_dir():
            shutil.copytree(ROOT / ".tests-cache", folder / ".tests-cache", symlinks=True)
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)

    def write(self, name, text):
        """Write a file; each time with another time of change, by which Python knows its compiled modules."""
        self.stamp += 10
        (self.folder / name).write_text(text, encoding="utf-8")
        os.utime(self.folder / name, (self.stamp, self.stamp))

    def restore(self, name):
        """Undo a break, and what was made from it."""
        self.write(name, (ROOT / name).read_text(encoding="utf-8"))
        for folder in WHOLE:
            for file in (self.folder / folder).rglob("*.py"):
                own = file.relative_to(self.folder)
                if not (ROOT / own).is_file():
                    file.unlink()
                elif file.read_bytes() != (ROOT / own).read_bytes():
                    self.write(own, (ROOT / own).read_text(encoding="utf-8"))

    def run(self, *arguments):
        """Python in the copy."""
        environment = os.environ | {"PYTHONPATH": str(self.folder), "OPENBLAS_NUM_THREADS": "1"}
        environment["TALUS_CACHE_DIR"] = str(self.folder / ".tests-cache")
        environment[SECOND] = "0"  # what it compiles in advance, no break needs
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )

    def test(self, tests):
        """Name of each test -> how it ended: "passed", "assertion", or the error that is none; and the output."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        of_pytest = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-m", "", f"--junitxml={report}")
        try:
            done = self.run(*of_pytest, *tests)
        except subprocess.TimeoutExpired:
            return dict.fromkeys(tests, f"not ended after {LONGEST} s"), ""
        if not report.is_file():
            return dict.fromkeys(tests, "no report"), done.stdout + done.stderr
        ended = {}
        for case in ElementTree.parse(report).iter("testcase"):
            ended[f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"] = ending(case)
        return {test: of_all(test, ended) for test in tests}, done.stdout + done.stderr


def ending(case):
    """How a test case of the report ended."""
    for kind in ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            message = found.get("message", "")
            by_assertion = (
                message.startswith(("assert ", "AssertionError", "Failed: DID NOT")) or OWN_COMPARISON in message
            )
            return "assertion" if kind == "failure" and by_assertion else f"{kind}: {message[:200]}"
    return "skipped" if case.find("skipped") is not None else "passed"


def of_all(test, ended):
    """The worst ending of the cases of a test, which may be a module, a function or one case."""
    own = [how for name, how in ended.items() if name == test or name.startswith((f"{test}[", f"{test}::"))]
    rest = [how for how in own if how not in ("passed", "skipped")]
    return next(iter(sorted(rest)), "passed" if "passed" in own else "not run")


def tried(one, copy):
    """What comes of a break, and of which tests."""
    text = (ROOT / one.file).read_text(encoding="utf-8")
    if text.count(one.old) != 1:
        return GONE, f"{text.count(one.old)} times in {one.file}"
    try:
        copy.write(one.file, text.replace(one.old, one.new))
        if one.after:
            done = copy.run(*one.after.split())
            if done.returncode:
                return CAUGHT if OWN_COMPARISON in done.stderr else MISSED, f"{one.after} failed: {done.stderr[-300:]}"
        ended, output = copy.test(one.tests)
    finally:
        copy.restore(one.file)
    wrong = {test: how for test, how in ended.items() if how != "assertion"}
    if wrong and "no report" in wrong.values():
        return MISSED, output[-500:]
    return (MISSED, "; ".join(f"{test}: {how}" for test, how in wrong.items())) if wrong else (CAUGHT, "")


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.breaks", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--list", action="store_true", help="print the rules and run nothing")
    parser.add_argument("--sound", action="store_true", help="run the tests of all rules without a break")
    given = parser.parse_args()
    chosen = [
        one
        for one in breaks()
        if not given.words or any(word in f"{one.room} {one.rule} {one.file}" for word in given.words)
    ]
    if not chosen:
        parser.error("no rule and no file contains one of these words")
    if given.list:
        for one in chosen:
            print(f"{one.rule:<75} {one.file}")
        print(f"{len({one.rule for one in chosen})} rules in {len(chosen)} places")
        return 0
    counts = dict.fromkeys((CAUGHT, MISSED, GONE), 0)
    with tempfile.TemporaryDirectory(prefix="talus-breaks-") as folder:
        copy = Copy(Path(folder).resolve())
        if given.sound:
            ended, output = copy.test(sorted({test for one in chosen for test in one.tests}))
            wrong = {test: how for test, how in ended.items() if how != "passed"}
            print(*(f"{test}: {how}" for test, how in wrong.items()), output[-300:], sep="\n")
            return int(bool(wrong))
        for one in chosen:
            begin = time.perf_counter()
            outcome, why = tried(one, copy)
            counts[outcome] += 1
            print(f"{outcome:<15}{time.perf_counter() - begin:6.1f} s  {one.rule}  ({one.file})", flush=True)
            if why:
                print(f"{'':<24}{why}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return int(counts[CAUGHT] < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
