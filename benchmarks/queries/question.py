"""Every query of ``runtime.mechanics`` on model files, against the programs that own the formats, in random states."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import runtime
from benchmarks.files.question import installed, label_of, readable, version_of
from benchmarks.files.states import random_sample
from benchmarks.measure import Answer, BenchmarkError, Say
from benchmarks.queries.by_mujoco import MuJoCoQueries
from benchmarks.queries.by_opensim import OpenSimQueries
from benchmarks.queries.by_pinocchio import PinocchioQueries
from benchmarks.queries.differences import Floats
from benchmarks.queries.tied import Asked, Rates, Tied, step_beside_knots
from models.files import Reading
from runtime import ModelError
from runtime.report import Report, Table

STATES = 3
BOUND = 1e-10  # of the largest entry
BOUND_FORWARD = 1e-12  # times the condition of the mass matrix
QUERIES = (
    "mass matrix", "bias", "gravity forces", "inverse dynamics", "forward dynamics", "derivatives over q", "derivatives over u",
    "pose", "velocity", "acceleration", "jacobian", "jacobian rate", "centre of mass", "jacobian of the centre", "momentum",
    "kinetic energy", "potential energy", "integrate", "difference",
)  # fmt: skip
# Of what may vanish: not less than a part of another quantity counts as its largest entry.
FLOORS = {name: "inverse dynamics" for name in ("bias", "gravity forces", "derivatives over q", "derivatives over u")}
FLOORS |= {"jacobian rate": "acceleration"}
LEAST, SMALL = 1e-3, 1e-6
PROGRAMS = ("talus-multibody", "mujoco", "pin", "opensim", "dm-control", "gymnasium", "robosuite", "example-robot-data")


class Owner(Rates, Protocol):
    """A program that answers in its own rates."""

    def answers(self, asked: Asked) -> dict[str, Floats]:
        """Of all queries of one state."""

    def derivatives(self, asked: Asked) -> dict[str, Floats]:
        """Of the inverse dynamics."""

    def moves(self, asked: Asked) -> dict[str, Floats]:
        """Integrate and difference."""

    def close(self) -> None:
        """End its process."""


OWNERS: dict[str, Any] = {"MJCF": MuJoCoQueries, "URDF": PinocchioQueries, "OpenSim": OpenSimQueries}


@dataclass
class Measured:
    """One file: largest differences by query, as fractions of the largest entry; of accelerations, times the condition."""

    file: str
    format: str
    rates: int = 0
    states: int = 0
    ignored: str = ""
    failure: str = ""
    worst: dict[str, float] = field(default_factory=dict)
    judged: dict[str, tuple[float, float]] = field(default_factory=dict)  # of Talus and the owner against ``changes``


def ask(*, quick: bool, say: Say, files: Sequence[str] = ()) -> Answer:
    """Compare the given files, or those of installed packages."""
    paths = [Path(file) for file in files] or list(installed())
    if not paths:
        raise BenchmarkError("no model file is installed; give files, or pip install dm-control example-robot-data pin")
    measured = []
    for path in paths[:: 8 if quick else 1]:
        say(path.name)
        measured.append(compared(path, 2 if quick else STATES))
        for name, value in measured[-1].worst.items():
            if not value < bound_of(name):
                say(f"  {name}: {value:.1e}")
        if measured[-1].failure:
            say(f"  {measured[-1].failure}")
    rows = [
        [m.file, m.format, m.rates, m.states, m.ignored, m.failure, *(m.worst.get(name, np.nan) for name in QUERIES)]
        for m in measured
    ]
    note = (
        "Largest difference of each query in random states, as a fraction of the largest entry; of forward dynamics, divided by "
        "the condition of the mass matrix. Frames are those of all bodies of the file."
    )
    table = Table("queries", ["file", "format", "rates", "states", "ignored", "not compared", *QUERIES], rows, note)
    judged = [[m.file, name, *pair] for m in measured for name, pair in m.judged.items()]
    note = (
        "Of queries beyond the bound: differences from changes of OpenSim's own velocities along the motion, and from Lagrange's "
        "equations with its own mass matrix; of derivatives, those from differences of the inverse dynamics of Talus."
    )
    judgement = Table("judged", ["file", "query", "Talus", "owner"], judged, note)
    versions = Table("versions", ["program", "version"], [[name, version_of(name)] for name in PROGRAMS])
    return Answer(Report("Mechanics of models from files", [table, judgement, versions]), {})


def bound_of(query: str) -> float:
    """Of its differences."""
    return BOUND_FORWARD if query == "forward dynamics" else BOUND


def compared(path: Path, states: int) -> Measured:
    """One file; what cannot be compared is a row with its sentence."""
    found = Measured(label_of(path), path.suffix)
    try:
        reading = readable(path, floating=floats(path))
        found.format = reading.description.format
        found.ignored = ", ".join(sorted({one.sort for one in reading.ignored}))
        if reading.description.closures:  # soft in MuJoCo
            reading = replace(reading, description=reading.description.changed(closures=()))
            found.ignored += ", closures left out here"
        owner: Owner = OWNERS[found.format](reading)
        try:
            compare(found, reading, owner, states)
        finally:
            owner.close()
    except ImportError as error:
        raise BenchmarkError(f"{path.name}: its owner cannot be asked: {error}") from None
    except Exception as error:  # other than a sentence is a failure
        found.failure = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
    return found


def floats(path: Path) -> bool:
    """Whether the root of a robot of URDF moves freely here: every second one, by its name."""
    return path.suffix == ".urdf" and zlib.crc32(path.stem.encode()) % 2 == 0


def compare(found: Measured, reading: Reading, owner: Owner, states: int) -> None:
    """Put the largest differences into ``found.worst``."""
    mechanics = runtime.mechanics(reading.build())
    random = np.random.default_rng(zlib.crc32(found.file.encode()))
    found.rates, found.states = owner.count, states
    for k in range(states):
        sample, other = (random_sample(reading, random) for _ in range(2))
        w, a, way = random.standard_normal((3, owner.count))
        tied = Tied(reading, mechanics, owner, sample, w)
        size = np.diagonal(tied.T.T @ mechanics.mass_matrix(tied.q) @ tied.T)
        for start in owner.free:  # between turns programs move other points along straight lines
            way[start + 3 : start + 6] = 0.0
        asked = Asked(
            sample, w, a, size * random.standard_normal(owner.count), way, other, step_beside_knots(reading, sample)
        )
        wanted, own = owner.answers(asked), tied.answers(asked)
        condition = float(np.linalg.cond(wanted["mass matrix"]))
        wanted |= owner.moves(asked)
        own |= tied.moves(asked)
        if k == 0:
            wanted |= owner.derivatives(asked)
            own |= tied.derivatives(asked)
        for of in (wanted, own):
            if "difference" in of:
                of["difference"] = np.delete(of["difference"], [start + x for start in owner.free for x in range(3)])
        if "difference" in wanted:  # angles of a state are known up to revolutions
            off = own["difference"] - wanted["difference"]
            own["difference"] = wanted["difference"] + off - 2.0 * np.pi * np.round(off / (2.0 * np.pi))
        least = {name: LEAST * float(np.abs(wanted[of]).max()) for name, of in FLOORS.items() if name in wanted}
        for name, value in wanted.items():
            difference = relative(own[name], value, least.get(name, SMALL))
            difference /= condition if name == "forward dynamics" else 1.0
            found.worst[name] = max(found.worst.get(name, 0.0), difference)
        beyond = [name for name in wanted if not found.worst[name] < bound_of(name)]
        if k == 0 and beyond and isinstance(owner, OpenSimQueries):
            reference = owner.changes(asked) | tied.derivatives_by_differences(asked)
            for name in [name for name in beyond if name in reference]:
                one, two = (relative(each[name], reference[name], least.get(name, SMALL)) for each in (own, wanted))
                found.judged[name] = one, two


def relative(found: Floats, wanted: Floats, least: float) -> float:
    """The largest difference, as a fraction of the largest entry, or of ``least``."""
    if found.size != wanted.size:
        raise ValueError(f"shapes {found.shape} and {wanted.shape} differ")
    if not wanted.size:
        return 0.0
    difference = float(np.abs(found - wanted.reshape(found.shape)).max()) / max(float(np.abs(wanted).max()), least)
    return difference if np.isfinite(difference) else np.inf
