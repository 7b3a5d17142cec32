"""Talus against other programs at equal error: the ratio to the fastest of each kind."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Say
from benchmarks.peers import comparison
from benchmarks.peers.interface import HAND, LAGRANGIAN, TREE
from benchmarks.peers.records import IN_JOINTS, INSTALL, OWN, AtError, Cases
from benchmarks.targets.target import DURATION, OUTPUTS, REPEATS, Target

ERROR = 1e-9  # [m] at which programs are compared
# Limit of the time ratio of Talus to a program, the programs' input, and the programs.  PyDy, Exudyn with constraints and the
# papers' method are compared by ``peers`` only, because their runs take many seconds.
RIVALS = {
    "modified foot, time to tools fed with trees": (1.0, TREE, ("pinocchio", "exudyn", "mujoco", "drake", "opensim")),
    "modified foot, time to tools fed with equations by hand": (1.5, HAND, ("heyoka", "symforce", "casadi")),
    "modified foot, time to tools fed with the Lagrangian": (1.5, LAGRANGIAN, ("heyoka_lagrangian", "casadi_lagrangian")),
}  # fmt: skip


def at_equal_error(quick: bool, say: Say) -> Iterator[Target]:
    """Ratio of the time of Talus to that of the fastest program of each kind."""
    programs = tuple(program for _, _, kind in RIVALS.values() for program in kind)
    cases = Cases(programs, DURATION, OUTPUTS, (ERROR,), tolerance=None, repeats=3 if quick else REPEATS)
    (own, *others), missing = comparison.at_errors(cases, say)
    joint = next((one for one in others if one.peer.name == IN_JOINTS), None)
    for what, (limit, given, kind) in RIVALS.items():
        found = [one for one in others if one.peer.input == given]
        absent = "; ".join(dict.fromkeys(missing[program] for program in kind if program in missing))
        lines = [f"{one.peer.name} {one.peer.version}, {one.peer.method}: {_took(one)}" for one in found]
        if found:
            lines.insert(
                0, f"{DURATION:g} s to {ERROR:g} m, all warm, alternating, without outputs; {OWN} {_took(own)}"
            )
        if absent:
            lines.append(f"{absent}; install with: {INSTALL}")
        ratios = [one.ratio for one in found if one.ratio is not None]
        yield Target(what, max(ratios, default=None), limit, "1", "; ".join(lines))
        if given == HAND and joint is not None:
            times = [one.time for one in found if one.time is not None]
            ratio = None if joint.time is None or not times else joint.time / min(times)
            what = "modified foot in joint coordinates, time to tools fed with equations by hand"
            yield Target(
                what, ratio, 1.0, "1", "; ".join([f"{IN_JOINTS} {_took(joint)}", *lines[1:]] if found else lines)
            )


def _took(one: AtError) -> str:
    return "does not reach this error" if one.time is None else f"{1e3 * one.time:.3g} ms"
