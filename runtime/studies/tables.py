"""Tables of a study, and its answer in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.status import Status
from runtime.report.tables import Table
from runtime.support.errors import ModelError
from runtime.support.units import with_unit

MOST_FAILED, MOST_WORST = 20, 5  # rows
WIDE, NARROW = 0.2, 0.1  # width of bounds of an index from which it is remarked, and which is offered
FEW_SAMPLES = 200  # under which less than five cases lie beyond the percentiles 2.5 and 97.5
SUMMARY = ("mean", "SD", "smallest", "2.5 %", "median", "97.5 %", "largest")


def tables_of(study: Any, failed: str) -> list[Table]:
    """All tables that belong to the kind of the study, the main one first."""
    found: list[Table] = []
    if study.kind == "sobol" and study.numbers and (table := _indices(study, failed)):
        found.append(table)
    if study.kind == "one_at_a_time":
        found.append(_effects(study))
    if study.numbers:
        found.append(_summary(study))
    if study.kind in ("sample", "sobol") and study.numbers:
        found.append(_correlations(study))
    if study.numbers:
        found.append(_worst(study))
    found.append(_parameters(study))
    if len(study.failed):
        found.append(_failed(study))
    return found


def answer_of(study: Any, failed: str) -> str:
    """The main result in one sentence, and a sentence on failed cases."""
    words = [*_main(study, failed), *(f"{sentence}." for sentence in study.failures())]
    return " ".join(words)


def _main(study: Any, failed: str) -> list[str]:
    numbers = study.numbers
    if not numbers:
        return [f"{len(study.many)} cases were run; their outputs over time are in the files."]
    name = next(iter(numbers))
    unit = with_unit("", study.unit(name))
    if study.kind == "sobol" and (indices := _indices_or_none(study, failed)) is not None:
        total, (low, high) = indices.total[0], indices.total_bounds[:, 0]
        if not np.isfinite(total).all():
            return [f"The output {name} does not vary."]
        k = int(total.argmax())
        share = f"{100 * total[k]:.0f} % [{100 * low[k]:.0f}, {100 * high[k]:.0f}]"
        return [f"{indices.parameters[k]} takes part in {share} of the variance of {name}.", *_wide(study, indices)]
    if study.kind == "one_at_a_time":
        rows = [row for row in _effects(study).rows if row[0] == name]
        return [f"Of all parameters {rows[0][2]} changes {name} most, by {rows[0][6]:.3g}{unit}."] if rows else []
    values = _independent(study)[name]
    if study.kind == "grid":
        return [f"{name} is from {values.min():.3g} to {values.max():.3g}{unit} over the grid."]
    low, middle, high = np.percentile(values, [2.5, 50.0, 97.5])
    return [f"{name} is {middle:.3g}{unit} in the median, and from {low:.3g} to {high:.3g}{unit} in 95 % of the cases."]


def _wide(study: Any, found: Any) -> list[str]:
    """A sentence where few samples leave wide bounds; their width falls with the square root of n."""
    if found.widest <= WIDE:
        return []
    enough = 1 << int(np.ceil(np.log2(study.design.n * (found.widest / NARROW) ** 2)))
    cases = enough * (len(found.parameters) + 2)
    return [
        f"Few samples: bounds are up to {found.widest:.2g} wide; n = {enough} ({cases} cases) would give about {NARROW:g}."
    ]


def _indices_or_none(study: Any, failed: str) -> Any:
    """The indices; None where failed cases refuse them, which a sentence on the failures states."""
    try:
        return study.indices(failed=failed)
    except ModelError:
        return None


def _indices(study: Any, failed: str) -> Table | None:
    found = _indices_or_none(study, failed)
    if found is None:
        return None
    rows = []
    for o, output in enumerate(found.outputs):
        for k in np.argsort(-np.nan_to_num(found.total[o]), kind="stable"):
            first, total = found.first_bounds[:, o, k], found.total_bounds[:, o, k]
            ends = found.first[o, k], *first, found.total[o, k], *total
            rows.append([output, found.parameters[k], *map(_or_none, ends)])
    note = (
        f"Part of the variance that a parameter causes alone (first order) and with its interactions (total order), with bounds "
        f"of {100 * found.level:g} % confidence by bootstrap; {found.used} rows of the design of n (parameters + 2) cases."
    )
    if found.left_out:
        note += f" {found.left_out} rows with a failed case are left out: indices hold for the rest, and may be biased."
    note = " ".join([note, *_wide(study, found)])
    columns = ["output", "parameter", "first", "first, low", "first, high", "total", "total, low", "total, high"]
    return Table("Sobol indices", columns, rows, note, brief=["output", "parameter", "first", "total"])


def _effects(study: Any) -> Table:
    """What each parameter changes alone."""
    rows = []
    design, failed = study.design, set(study.failed.tolist())
    for output, values in study.numbers.items():
        own = []
        for (name, first), count in zip(design.first.items(), design.shape, strict=True):
            cases = [case for case in range(first, first + count) if case not in failed]
            if not cases:
                own.append([output, study.unit(output), name, None, None, None, None])
                continue
            line, x = values[cases], design.samples[name][cases]
            at = [f"{one:.4g}" if study.parameters[name].numeric else str(one) for one in (x[0], x[-1])]
            own.append(
                [output, study.unit(output), name, " to ".join(at), *map(float, (line[0], line[-1], np.ptp(line)))]
            )
        rows += sorted(own, key=lambda row: -(row[6] or 0.0))
    note = "One parameter at a time, the others at their medians; range: largest less smallest value of the output."
    columns = ["output", "unit", "parameter", "from ... to", "at the first", "at the last", "range"]
    return Table("effects", columns, rows, note, brief=["output", "parameter", "range"])


def _independent(study: Any) -> dict[str, Any]:
    """Outputs in the independent samples that did not fail; of other kinds in all such cases."""
    cases = np.setdiff1d(np.arange(study.design.independent or len(study.many)), study.failed)
    return {name: values[cases] for name, values in study.numbers.items()}


def _summary(study: Any) -> Table:
    rows = []
    used = 0
    for name, values in _independent(study).items():
        used = len(values)
        ends = np.percentile(values, [0.0, 2.5, 50.0, 97.5, 100.0])
        spread = values.std(ddof=1) if used > 1 else 0.0
        rows.append([name, study.unit(name), *map(float, (values.mean(), spread, *ends))])
    cases = (
        f"{used} independent samples"
        if study.design.independent
        else f"{used} cases of the design, which are no samples"
    )
    note = f"Over {cases}{f'; {len(study.failed)} failed cases are left out' if len(study.failed) else ''}."
    if study.design.independent and used < FEW_SAMPLES:
        note += (
            f" Few samples: fewer than five lie below 2.5 % and above 97.5 %; give n = {FEW_SAMPLES} or more for these."
        )
    brief = ["output", "unit", "median", "2.5 %", "97.5 %", "mean", "SD"]
    return Table("outputs", ["output", "unit", *SUMMARY], rows, note, brief)


def _correlations(study: Any) -> Table:
    found = study.correlations()
    rows = [[output, *map(_or_none, row)] for output, row in zip(found.index, found.to_numpy(), strict=True)]
    note = "Spearman's rank correlation of output and parameter in the independent samples that did not fail."
    return Table("rank correlations", ["output", *map(str, found.columns)], rows, note)


def _worst(study: Any) -> Table:
    rows: list[list[Any]] = []
    for output in study.numbers:
        for case, row in study.worst(output, MOST_WORST).iterrows():
            rows.append([output, int(case), float(row[output]), *(_plain(row[name]) for name in study.parameters)])
    note = "Largest values; study.many[case] is the run of a case."
    return Table(
        "largest values", ["output", "case", "value", *study.parameters], rows, note, brief=["output", "case", "value"]
    )


def _or_none(value: Any) -> float | None:
    """A number for a table; None where an output does not vary."""
    return float(value) if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _parameters(study: Any) -> Table:
    units = study.many.units
    rows = [[name, units[name] if name in units else "", one.text] for name, one in study.parameters.items()]
    counts = f"Kind {study.kind}, n = {study.design.n}, {len(study.many)} cases, seed {study.seed}."
    return Table("parameters", ["parameter", "unit", "distribution"], rows, counts)


def _failed(study: Any) -> Table:
    rows = [
        [int(case), Status(int(study.many.status[case])).name, study.many.messages.get(int(case), "")]
        for case in study.failed[:MOST_FAILED]
    ]
    more = len(study.failed) - len(rows)
    return Table("failed cases", ["case", "status", "message"], rows, f"And {more} more." if more else "")
