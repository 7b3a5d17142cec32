"""The question whether Talus reaches its targets of speed, memory and accuracy.

The table lists every target with its limit, the measured value and how it was measured, or the reason why it was not measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measure import Answer, Say
from benchmarks.targets import allocations, calls, foot, joints, mechanisms, processes, rivals
from benchmarks.targets.against import compare
from benchmarks.targets.target import Target
from runtime.figures import lines, panels
from runtime.report import Report, Table

PARTS = (
    foot.accuracy, foot.speed, foot.time_to_error, joints.in_joint_coordinates, joints.loops, joints.long_run,
    processes.compilation, mechanisms.ensemble, mechanisms.with_limits, mechanisms.walk, mechanisms.contact,
    calls.one_run, calls.many_cases, calls.loops_in_a_row, calls.gradients,
    rivals.at_equal_error, mechanisms.chains, allocations.heap, processes.start, processes.regeneration,
)  # fmt: skip


def ask(*, quick: bool, say: Say, against: str | None = None) -> Answer:
    """Measure every target; ``against``: a commit whose figures are measured in turns with them."""
    if against is not None:
        return compare(against, list(PARTS), quick=quick, say=say)
    targets: list[Target] = []
    for part in PARTS:
        for target in part(quick, say):
            targets.append(target)
            measured = "-" if target.measured is None else f"{target.measured:.3g}"
            unit = "" if target.unit == "1" else f" {target.unit}"
            say(f"{target.what}: {measured} of {target.limit:g}{unit}, reached: {target.reached}")
    missed = [t.what for t in targets if t.reached == "no"]
    skipped = [t.what for t in targets if t.measured is None]
    reached = sum(t.reached == "yes" for t in targets)
    note = f"{reached} of {len(targets)} reached. Where there is a median, 'measured' is the least of several."
    note += f" Missed: {'; '.join(missed)}." if missed else ""
    note += f" Not measured: {'; '.join(skipped)}." if skipped else ""
    tables = [
        Table(
            "targets", ["what", "limit", "measured", "median", "unit", "reached"],
            [[t.what, t.limit, t.measured, t.median, t.unit, t.reached] for t in targets], note,
        ),
        Table("how", ["what", "how it was measured"], [[t.what, t.how] for t in targets]),
    ]  # fmt: skip
    return Answer(Report("Targets", tables), {"targets": _figure(targets)})


def _figure(targets: list[Target]) -> Any:
    """Share of each limit that is used, on a logarithmic scale; only the table has the figures whose limit is zero."""
    drawn = [t for t in targets if t.measured is not None and t.limit > 0.0][::-1]
    used = np.array([max(float(t.measured or 0.0), 0.0) / t.limit for t in drawn])
    low = 10.0 ** np.floor(np.log10(min(used[used > 0.0].min(), 0.1)))
    fig, axes = panels.figure(1, 1, width=8.0, height=0.32 * len(drawn) + 1.0)
    ax = axes[0, 0]
    colours = [lines.COLOURS[0] if t.reached == "yes" else lines.COLOURS[1] for t in drawn]
    ax.barh(range(len(drawn)), np.maximum(used, low) - low / 10, left=low / 10, color=colours, height=0.7)
    for place, target in enumerate(drawn):  # beside the axes, so that they cover neither the bars nor the limit
        ax.annotate(
            f"{target.measured:.3g} of {target.limit:.3g} {target.unit if target.unit != '1' else ''}", (1.02, place),
            xycoords=("axes fraction", "data"), va="center", fontsize=8, annotation_clip=False,
            weight="bold" if target.reached == "no" else "normal",
        )  # fmt: skip
    ax.axvline(1.0, color="black", linewidth=1.0)
    ax.set_xscale("log")
    ax.set_xlim(low / 2, max(2.0, 1.5 * used.max()))
    ax.set_yticks(range(len(drawn)), [t.what for t in drawn], fontsize=8)
    ax.set_axisbelow(True)
    ax.grid(False, axis="y")
    ax.margins(y=0.02)
    ax.set(xlabel="measured value as a share of its limit (line: the limit)", title="Targets")
    return fig
