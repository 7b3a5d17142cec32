"""Records of the comparison: cases, one program, one of its runs, one program at an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.peers.interface import Chain, Floats

PROGRAMS = (
    "heyoka", "symforce", "casadi", "casadi_lagrangian", "heyoka_lagrangian", "pinocchio", "exudyn", "mujoco", "drake", "pydy",
    "opensim", "exudyn_joints", "papers",
)  # fmt: skip
WITH_LIMITS = ("symforce", "casadi")  # that run the foot with joint limits
OWN, GENERAL, IN_JOINTS = "Talus", "Talus, general", "Talus, joint coordinates"
INSTALL = "pip install 'talus-multibody[peers]'"


@dataclass(frozen=True)
class Cases:
    """Programs, runs and limits of time of the comparison.

    ``timeout`` and ``building`` limit the time of slow programs; with infinite values the set of runs does not depend on the
    speed of the machine.
    """

    programs: tuple[str, ...] = PROGRAMS
    duration: float = 5.0  # [s]
    outputs: int = 501
    errors: tuple[float, ...] = (1e-6, 1e-9)  # [m] at which the programs are compared
    tolerance: float | None = 1e-10  # of Talus, whose error is compared at as well; None: no such error
    repeats: int = 15
    every: int = 1  # of the settings shown
    timeout: float = 20.0  # [s] once a run takes longer, no finer setting is tried
    links: tuple[int, ...] = (1, 3, 10, 30, 100, 300, 1000)
    building: float = 180.0  # [s] a chain that is expected to take longer to build is not tried


FULL = Cases()
QUICK = Cases(
    programs=("heyoka", "casadi", "exudyn", "mujoco", "papers"), duration=1.0, outputs=101, errors=(1e-7,), repeats=3,
    every=2, timeout=0.5, links=(1, 10, 100), building=5.0,
)  # fmt: skip


@dataclass(frozen=True)
class Ready:
    """A run with one setting, ready to be timed."""

    seconds: Callable[[], float]  # of the whole motion, warm and without outputs
    # Times (n,) [s] and positions of the main foot's centre of mass (n, 3) [m].
    motion: Callable[[], tuple[Floats, Floats]]
    evaluations: Callable[[], int | None]  # of the last run


@dataclass(frozen=True)
class ChainCost:
    """One evaluation, or step, of a chain: duration [s], angular accelerations about y at t = 0, (N,) [rad/s^2]."""

    seconds: float
    angular_accelerations: Floats
    building: float  # [s]
    what: str = "evaluation"


@dataclass(frozen=True)
class Peer:
    """A program and its settings, coarse to fine."""

    name: str
    version: str
    method: str
    input: str  # what the user gives to the program
    knob: str  # the setting that is varied, with its unit
    ladder: Sequence[float]  # all settings that the search for an error may use
    shown: Sequence[float]  # those that the table lists
    prepare: Callable[[float], Ready]
    evaluation: Callable[[int], float]  # duration of one evaluation [s], the least of so many
    chain: Callable[[Chain, int], ChainCost] | None = None
    max_links: float = math.inf
    reason: str | None = None  # why there is no chain, or no longer one

    @property
    def label(self) -> str:
        """Name and input, which distinguishes two uses of one program."""
        return f"{self.name}: {self.input}"


@dataclass(frozen=True)
class AtError:
    """One program at the coarsest setting within an error; without a setting if it does not reach the error."""

    allowed: float  # [m]
    duration: float  # [s] of the motion
    peer: Peer
    setting: float | None
    error: float | None  # [m]
    evaluations: int | None
    time: float | None  # [s] the least of several
    ratio: float | None  # time of Talus to the program's time
