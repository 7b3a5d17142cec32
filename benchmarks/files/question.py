"""Every model file of the installed packages: read or refused, and its accelerations against the program that owns the format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import models
from benchmarks.files.motion import table_of
from benchmarks.files.owners import largest_error, owner_of
from benchmarks.files.states import accelerations_of, random_sample, state_of, talus_accelerations
from benchmarks.joint_coordinates import joint_evaluation
from benchmarks.measure import Answer, BenchmarkError, Say
from models.files import Reading
from runtime import ModelError
from runtime.report import Report, Table
from runtime.system.trees import trees_of

STATES = 100
BOUND = 1e-9  # of the relative errors
FOLDERS = {
    "dm_control": ("suite", "mujoco/testing/assets", "locomotion/walkers/assets", "third_party"),
    "gymnasium": ("envs/mujoco/assets",),
    "cmeel": ("../cmeel.prefix/share/example-robot-data/robots",),
}
HUMANOIDS = ("suite",)  # folders of those whose motion is compared too
PROGRAMS = ("talus-multibody", "mujoco", "pin", "opensim", "dm-control", "gymnasium", "example-robot-data")
COLUMNS = [
    "file", "bodies", "degrees of freedom", "read", "refused without ignore", "listed", "largest error", "evaluation [us]",
    "owner [us]",
]  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One file."""

    file: str
    bodies: int
    freedom: int
    refused: str  # why it is not read, or the sorts that must be ignored
    listed: str  # sorts that are left out, since they do not change the motion
    read: bool
    error: float
    own: float  # [s]
    owner: float  # [s]


def ask(*, quick: bool, say: Say, files: Sequence[str] = ()) -> Answer:
    """Measure the given files, or those of installed packages."""
    paths = [Path(file) for file in files] or list(installed())
    if not paths:
        raise BenchmarkError(
            "no model file is installed; give files, or pip install dm-control gymnasium example-robot-data pin"
        )
    measured = []
    for path in paths[:: 8 if quick else 1]:
        say(path.name)
        measured.append(_measure(path, 10 if quick else STATES))
    rows = [
        [
            m.file,
            m.bodies,
            m.freedom,
            "yes" if m.read else "no",
            m.refused,
            m.listed,
            m.error,
            1e6 * m.own,
            1e6 * m.owner,
        ]
        for m in measured
    ]
    done = [m for m in measured if m.read]
    good = sum(m.error < BOUND for m in done)
    note = (
        f"{len(done)} of {len(measured)} files are read with what they need in ignore=; of these {good} agree with their owner "
        f"within {BOUND:g}: largest difference of the accelerations of all bodies in {STATES} random states within the ranges, "
        "relative to the largest acceleration. Contacts, stops, constraints, actuators and what is ignored are off in the owner "
        "too. Times are those of one evaluation; ours in joint coordinates, where the system has them."
    )
    versions = Table("versions", ["program", "version"], [[name, version_of(name)] for name in PROGRAMS])
    humanoids = [table_of(path) for path in paths if path.name == "humanoid.xml" and path.parent.name in HUMANOIDS]
    return Answer(Report("Models from files", [Table("files", COLUMNS, rows, note), versions, *humanoids]), {})


def version_of(name: str) -> str:
    """Of an installed package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def installed() -> Iterable[Path]:
    """Model files of installed packages."""
    for package, folders in FOLDERS.items():
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            for folder in folders:
                for suffix in (".xml", ".urdf"):
                    yield from sorted(p for p in (Path(place) / folder).resolve().rglob(f"*{suffix}") if _is_model(p))


def label_of(path: Path) -> str:
    """Folder and name, since several packages have a humanoid."""
    return f"{path.parent.name}/{path.name}"


def _is_model(path: Path) -> bool:
    text = path.read_text("utf-8", errors="replace")
    return "<robot" in text if path.suffix == ".urdf" else "<mujoco" in text and "joint" in text


def _measure(path: Path, states: int) -> Measured:
    try:
        reading = readable(path)
        refused = ""
        if reading.ignored:
            refused = ", ".join(sorted({one.sort for one in reading.ignored}))
        if reading.description.closures:  # soft in MuJoCo
            reading = replace(reading, description=reading.description.changed(closures=()))
            refused += ", closures left out here"
        return _compared(path, reading, refused, states)
    except BenchmarkError:
        raise
    except Exception as error:  # other than a sentence is a failure
        text = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
        return Measured(label_of(path), 0, 0, text, "", False, np.nan, np.nan, np.nan)


def readable(path: Path, *, floating: bool = False) -> Reading:
    """The reading of a file without what it is refused for and what its owner cannot have, and nothing more."""
    ignore: set[str] = set()
    while True:
        try:
            reading = models.read(path, ignore=sorted(ignore), floating=floating)
            # Pinocchio's aba has no mimic joints, and MuJoCo holds equalities by springs.
            beside = {one.sort for one in reading.description.followers} - {"couplers"}
            if not beside <= ignore:
                ignore |= beside
                continue
            reading.builder()
            return reading
        except ModelError as error:
            named = re.search(r"ignore='([a-z, ]+)'", str(error))
            # A force of OpenSim with contacts that are not read is off as a whole: so are those that are read.
            sorts = {sort.removeprefix("other ") for sort in named[1].split(",")} if named else set()
            if sorts <= ignore or "inertias" in sorts:  # the owner takes impossible inertias as they are
                raise
            ignore |= sorts


def _compared(path: Path, reading: Reading, refused: str, states: int) -> Measured:
    system = reading.build()
    try:
        owner = owner_of(reading)
    except ImportError as error:
        raise BenchmarkError(f"{path.name}: its owner cannot be asked: {error}") from None
    except ValueError as error:
        raise ModelError(f"{path.name}: its owner refuses it: {error}") from None
    random, errors = np.random.default_rng(0), [0.0]
    for _ in range(states):
        sample = random_sample(reading, random)
        wanted = accelerations_of(reading, system, sample, owner.accelerations(sample))
        errors.append(largest_error(wanted, talus_accelerations(system, state_of(reading, system, sample))))
    listed = ", ".join(dict.fromkeys(one.sort for one in reading.left_out))
    close = getattr(owner, "close", lambda: None)
    own = joint_evaluation(system, 5)[0] if trees_of(system).tree is not None else np.nan
    worst = float(np.max(errors)) if not np.isnan(errors).any() else np.inf
    seconds = owner.seconds()
    close()
    return Measured(
        label_of(path), len(system.bodies), system.degrees_of_freedom, refused, listed, True, worst, own, seconds
    )
