"""The result of a study: its cases, their outputs, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from runtime.dynamics.status import Status
from runtime.ensemble.result import Ensemble
from runtime.figures.figure_format import PNG, FigureFormat
from runtime.report.figure_files import Drawing, FigureFiles
from runtime.report.report import Report
from runtime.report.report_files import write_report
from runtime.report.terminal import show_report
from runtime.results.export import write_dataset
from runtime.studies import figures, tables
from runtime.studies.designs import Design, Samples
from runtime.studies.distributions import Distribution
from runtime.studies.indices import Indices, indices_and_bounds
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.html import html_table
from runtime.support.names import named
from runtime.support.results_folder import own_folder

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

Failed = Literal["refuse", "leave_out"]
PERCENTILES = (2.5, 25.0, 50.0, 75.0, 97.5)


@checked_class
@dataclass(frozen=True, repr=False)
class Study:
    """A study: ``parameters``, name -> ``Distribution``; ``many``: the ``Ensemble`` of its cases; ``seed``.

    ``kind``; ``samples``: name -> values of all cases; ``many[case]``: the ``Run`` of a case; ``study["excursion"]``: values of
    an output.  ``failed``: cases that did not reach their end, or have an output that is not finite; they are left out of
    summaries, percentiles, correlations and the search for worst cases, whose tables state their number.
    """

    design: Design = field(repr=False)
    parameters: Mapping[str, Distribution]
    many: Ensemble = field(repr=False)
    seed: int
    _known: dict[Any, Indices] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.failed) == len(self.many):
            reason = next(iter(self.many.messages.values()), "no case was run")
            raise ModelError(f"study: none of the {len(self.many)} cases reached its end; the first reason: {reason}")

    def __getitem__(self, output: str) -> Floats:
        """Values of an output in all cases, NaN where a case failed."""
        return self.many[output]

    def __repr__(self) -> str:
        varied = ", ".join(self.parameters)
        failed = f", {len(self.failed)} failed" if len(self.failed) else ""
        return f"Study('{self.many.name}', {self.kind}, {len(self.many)} cases of {varied}{failed})"

    def _repr_html_(self) -> str:
        """The parameters with their distributions, for notebooks."""
        return html_table(repr(self), ("parameter", "distribution"), [(k, v.text) for k, v in self.parameters.items()])

    @property
    def kind(self) -> str:
        """Its kind: "sample", "sobol", "grid" or "one_at_a_time"."""
        return self.design.kind

    @property
    def samples(self) -> Samples:
        """Values of the parameters in all cases, (cases,) each."""
        return named("parameter", self.design.samples)

    @cached_property
    def failed(self) -> Ints:
        """Numbers of the cases that did not reach their end, or have an output that is not finite."""
        good = self.many.status == Status.REACHED_END
        for values in self.many.values().values():
            good &= np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        return np.flatnonzero(~good)

    def failures(self) -> list[str]:
        """Sentences on the failed cases: how many ended with each status, and the first one's message."""
        if not len(self.failed):
            return []
        kinds, counts = np.unique(self.many.status[self.failed], return_counts=True)
        words = {int(Status.REACHED_END): "an output that is not finite"}
        listed = ", ".join(f"{n} {words.get(int(k), Status(int(k)).name)}" for k, n in zip(kinds, counts, strict=True))
        first = int(self.failed[0])
        reason = self.many.messages.get(first, "no message")
        return [f"{len(self.failed)} of {len(self.many)} cases failed ({listed}); the first is case {first}: {reason}"]

    @property
    def numbers(self) -> dict[str, Floats]:
        """The outputs that are one number in each case, and components of those that are a vector, (cases,) each."""
        found: dict[str, Floats] = {}
        for name, values in self.many.values([n for n, o in self.many.outputs.items() if o.reduction]).items():
            columns = self.many.outputs[name].columns
            found |= dict(zip(columns, values.reshape(len(values), len(columns)).T, strict=True))
        return found

    def unit(self, name: str) -> str:
        """Unit of an output, or of a component of it."""
        outputs = self.many.outputs
        return (
            outputs[name].unit
            if name in outputs
            else {c: u for o in outputs.values() for c, u in o.columns.items()}[name]
        )

    def indices(self, *, failed: Failed = "refuse", level: float = 0.95, resamples: int = 999) -> Indices:
        """Sobol indices of all outputs that are one number, with bounds by bootstrap.

        Parameters
        ----------
        failed : "refuse" or "leave_out"
            With failed cases: raise an error, or leave out each row of the design that has one.  Indices then hold for the part
            of the ranges in which no case fails, and are biased where failures go with large values.
        level : float
            Confidence level of the bounds.
        resamples : int
            Of the bootstrap, whose seed is that of the study.

        Raises
        ------
        ModelError
            For a study of another kind, for failed cases, and without an output that is one number.
        """
        self._needs(("sobol",), "Sobol indices")
        if (asked := (failed, level, resamples)) not in self._known:  # tables and figures ask for the same
            self._known[asked] = self._indices(failed, level, resamples)
        return self._known[asked]

    def _indices(self, failed: Failed, level: float, resamples: int) -> Indices:
        if not 0.0 < level < 1.0 or resamples < 2:
            raise ModelError(
                f"indices: level = {level:g}, resamples = {resamples}; give a level in (0, 1), 2 resamples or more"
            )
        numbers, n = self.numbers, self.design.n
        if not numbers:
            raise ModelError(
                "indices: no output is one number in each case; reduce one over time, such as 'range(energy)'"
            )
        if len(self.failed) and failed == "refuse":
            raise ModelError(
                f"indices: {self.failures()[0]}; narrow the ranges, or leave out their rows by indices(failed='leave_out')"
            )
        values = np.stack(list(numbers.values()), axis=1).reshape(-1, n, len(numbers))  # (2 + parameters, n, outputs)
        good = ~np.isin(np.arange(len(self.many)), self.failed).reshape(-1, n)
        rows = good.all(axis=0)
        if rows.sum() < 2:
            raise ModelError(f"indices: {self.failures()[0]}; no row of the design is without one: narrow the ranges")
        A, B, AB = values[0, rows], values[1, rows], values[2:, rows]
        found, bounds, variance = indices_and_bounds(A, B, AB, level, resamples, self.seed)
        first, total = found.swapaxes(1, 2)
        of_first, of_total = bounds.swapaxes(2, 3)
        return Indices(
            tuple(numbers), tuple(self.parameters), first, total, of_first, of_total, variance, level, int(rows.sum()),
            int((~rows).sum()),
        )  # fmt: skip

    def correlations(self) -> pandas.DataFrame:
        """Spearman's rank correlation of each output that is one number (rows) with each parameter (columns).

        Raises
        ------
        ModelError
            For a grid and for parameters that vary one at a time, which are no samples.
        """
        self._needs(("sample", "sobol"), "rank correlations")
        import pandas
        from scipy.stats import spearmanr

        rows = self._good(self.design.independent)
        columns = {name: self.design.samples[name][rows] for name, one in self.parameters.items() if one.numeric}
        found = {
            output: [spearmanr(values[rows], x).statistic if np.ptp(values[rows]) else np.nan for x in columns.values()]
            for output, values in self.numbers.items()
        }
        return pandas.DataFrame.from_dict(found, orient="index", columns=list(columns))

    def bands(self, output: str, percentiles: Sequence[float] = PERCENTILES) -> xarray.DataArray:
        """Percentiles of an output over time, or of one that is a number, in the independent samples.

        Raises
        ------
        ModelError
            For a study without independent samples, and an unknown output.
        """
        self._needs(("sample", "sobol"), "percentiles")
        import xarray

        bad = [p for p in percentiles if not 0.0 <= p <= 100.0]
        if bad or not len(percentiles):
            raise ModelError(f"bands: percentiles = {list(percentiles)}; give numbers from 0 to 100")
        own = self.many.outputs[output]
        values = self.many.values([output], self._good(self.design.independent))[output]
        dims = ("percentile",) + (() if own.reduction else ("time",)) + (("component",) if own.components else ())
        names: dict[str, Any] = {"percentile": list(percentiles)}
        names |= {} if own.reduction else {"time": ("time", self.many.t, {"units": "s"})}
        names |= {"component": list(own.components)} if own.components else {}
        found = np.percentile(values, percentiles, axis=0)
        found = found.reshape(*found.shape[: len(dims) - 1], -1) if own.components else found
        return xarray.DataArray(found, names, dims, output, {"units": own.unit, "long_name": own.meaning})

    def worst(self, output: str, count: int = 5, *, smallest: bool = False) -> pandas.DataFrame:
        """The cases with the largest values of an output, or the smallest, with their parameters; ``many[case]`` is the run.

        Raises
        ------
        ModelError
            For an output that is not one number in each case.
        """
        numbers = named("output that is one number", self.numbers, "outputs that are one number")
        if count < 1:
            raise ModelError(f"worst: count = {count}; give 1 case or more")
        values = np.where(np.isin(np.arange(len(self.many)), self.failed), np.nan, numbers[output])
        order = np.argsort(values if smallest else -values, kind="stable")[: min(count, len(values) - len(self.failed))]
        return self.to_pandas().loc[order, [*self.parameters, output]]

    def to_xarray(self) -> xarray.Dataset:
        """The outputs of all cases with the parameters as coordinates; of a grid with a dimension for each parameter."""
        data = self.many.to_xarray()
        for name, values in self.design.samples.items():
            data = data.assign_coords({name: ("case", values)})
        if self.kind != "grid":
            return data.assign_attrs(study=self.kind, seed=self.seed)
        import pandas

        drop = [name for name in data.coords if str(name).startswith("case_")]
        index = pandas.MultiIndex.from_arrays(list(self.design.samples.values()), names=list(self.parameters))
        plain = data.drop_vars([*drop, *self.parameters, "case"])
        import xarray

        coordinates = xarray.Coordinates.from_pandas_multiindex(index, "case")
        return plain.assign_coords(coordinates).unstack("case").assign_attrs(study="grid")

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each case: parameters, outputs that are numbers, status."""
        import pandas

        columns: dict[str, Any] = {**self.design.samples, **self.numbers}
        columns["status"] = [Status(int(value)).name for value in self.many.status]
        return pandas.DataFrame(columns, index=pandas.RangeIndex(len(self.many), name="case"))

    def tables(self, *, failed: Failed = "refuse") -> list[Any]:
        """Tables for readers: ``runtime.report.Table`` each."""
        return tables.tables_of(self, failed)

    def show(self, *, failed: Failed = "refuse") -> None:
        """Print all tables in the terminal."""
        show_report(self._report(failed), full=True, elsewhere="study.tables() has all columns")

    def figure(self, output: str, *, failed: Failed = "refuse") -> Figure:
        """The figure of an output that belongs to this kind of study.

        Sobol indices with their bounds; values over each parameter; of a grid lines or a map; percentiles of an output over time.
        """
        return figures.figure_of(self, output, failed)

    def write(
        self, folder: str | Path, *, failed: Failed = "refuse", figure_format: FigureFormat = PNG, pdf: bool = False
    ) -> Report:
        """Write tables, figures, ``cases.csv``, ``study.nc`` and ``report.html`` to a folder; returns the report.

        The folder is new, empty, or one that Talus made, whose files are replaced.

        Raises
        ------
        ModelError
            Where the folder holds other files, and where a file cannot be written.
        """
        place = own_folder(Path(folder))
        report = self._report(failed)
        drawn = FigureFiles(place, figure_format)
        names = figures.names_of(self, failed)
        drawn.add({name: Drawing(partial(self.figure, output, failed=failed), shows) for name, output, shows in names})
        report.files.append(self.many.to_csv(place / "cases.csv", overwrite=True))
        report.files.append(write_dataset(self.to_xarray(), place / "study.nc", overwrite=True))
        write_report(report, place, figures=drawn, pdf=pdf)
        return report

    def _report(self, failed: Failed) -> Report:
        found = self.tables(failed=failed)
        failures = self.failures()
        return Report(f"Study of {self.many.name}", found, failures=failures, answer=tables.answer_of(self, failed))

    def _good(self, count: int) -> list[int]:
        """The first cases without those that failed."""
        return [int(case) for case in np.setdiff1d(np.arange(count), self.failed)]

    def _needs(self, kinds: Sequence[str], what: str) -> None:
        if self.kind not in kinds:
            raise ModelError(
                f"this study is of the kind '{self.kind}'; {what} need kind={' or '.join(map(repr, kinds))}"
            )
