"""Results of an ensemble."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.dynamics.status import ENDED, Status
from runtime.ensemble.angles import angles_of_cases
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.chunk import run_of_case
from runtime.ensemble.ensemble_plot import plot_ensemble
from runtime.ensemble.events import CaseEvents, events_of_cases
from runtime.ensemble.kept_outputs import places_of
from runtime.ensemble.labelled import csv_of, ensemble_to_pandas, ensemble_to_xarray, parquet_of
from runtime.ensemble.of_bodies import ByBody
from runtime.ensemble.outcomes import Outcomes
from runtime.ensemble.store import Folder
from runtime.ensemble.task import Task
from runtime.results.export import write_dataset
from runtime.results.joint_angles import JointAngles
from runtime.results.outputs import Output
from runtime.results.run import Run
from runtime.support.arguments import checked_class
from runtime.support.arrays import Bools, Floats, Ints, ReadOnlyArrays
from runtime.support.errors import ModelError, shown
from runtime.support.files import free_file, write_text
from runtime.support.html import html_table
from runtime.support.late_names import no_attribute
from runtime.support.names import named
from runtime.system.quantity import Quantity, parse
from runtime.system.state import PARTS
from runtime.system.system import System

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure


NAMED = {
    "cases": "case",
    "quantities": "case",
    "settings": "setting",
    "outputs": "output",
}  # mappings, and what their names belong to


@checked_class
@dataclass(frozen=True, repr=False)
class Ensemble(ReadOnlyArrays, ByBody):
    """Results of many cases.

    ``t`` (m,) [s]; ``cases``: name -> values of all cases (n, ...), ``quantities``: name -> what the name belongs to, and
    ``units``: name -> unit, "" for arguments of a function;
    ``status`` (n,): numbers of ``runtime.Status``, such as ``Status.REFUSED`` or ``Status.NOT_RUN``;
    ``messages``: the reasons by the number of the case, and warnings, such as of a pose close to a singular configuration;
    ``reached`` (n,) [s]; ``evaluations``, ``steps``, ``rejections`` (n,); ``vectorised`` (n,): computed beside others by
    vector instructions, False for single runs.  ``settings``: those of all runs, such as rtol and alpha.
    ``many[i]`` is the ``Run`` of case i.

    ``outputs``: name -> what ``simulate_many(..., outputs=)`` kept in place of the states, else empty;
    ``many["range(r.main_foot.y)"]``: values of an output in all cases, (n,), (n, m) over time, vectors with a last axis more.
    They are NaN where a case did not reach its end.
    ``many.r["toes"]``, ``p``, ``v``, ``omega``: states by body, as of a run, with a first axis of cases.
    ``many.events["landing"]``: the ``CaseEvents`` of an event of ``simulate_many(..., events=)``: ``first`` (n,) [s], ``count``
    (n,), ``times`` (n, most) [s], ``states``.
    """

    name: str
    bodies: tuple[str, ...]
    t: Floats = field(repr=False)
    cases: Cases = field(repr=False)
    quantities: Mapping[str, Quantity] = field(repr=False)
    status: Ints = field(repr=False)
    reached: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    vectorised: Bools = field(repr=False)
    messages: Mapping[int, str] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)
    folder: Path | None
    _states: Any = field(repr=False)  # chunks in memory in the order of their first cases, or a Folder
    outputs: Mapping[str, Output] = field(repr=False, default_factory=lambda: named("output", {}))
    _task: Task | None = field(default=None, repr=False)  # what was run; None: it was read from a folder
    _events: tuple[str, ...] = field(default=(), repr=False)  # names

    def __len__(self) -> int:
        return len(self.status)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without functions, which build systems or are events or controllers, and without definitions of a study."""
        task = self._task
        if task and not (isinstance(task.system, System) and task.compiled):  # functions cannot be pickled
            task = None
        try:
            pickle.dumps(task and (task.system, task.events))
        except ModelError:
            task = None
        plain = {name: dict(getattr(self, name)) for name in (*NAMED, "messages")}
        return self.__dict__ | plain | {"_task": task}

    def __setstate__(self, state: dict[str, Any]) -> None:
        mappings = {name: named(what, state[name]) for name, what in NAMED.items()}
        self.__dict__.update(state | mappings | {"messages": MappingProxyType(state["messages"])})

    def __getattr__(self, name: str) -> Any:
        """Say where names of a run are that an ensemble does not have."""
        if not hasattr(Run, name):
            raise no_attribute("an Ensemble", name, dir(self))
        raise AttributeError(f"an Ensemble has no attribute '{name}'; see outputs= of simulate_many, or many[i].{name}")

    @overload
    def __getitem__(self, case: int) -> Run: ...
    @overload
    def __getitem__(self, case: str) -> Floats: ...
    def __getitem__(self, case: int | str) -> Run | Floats:
        """The run of a case with reactions, energies and all else, integrated again by ``simulate``; or the values of an output.

        Raises
        ------
        IndexError
            Beyond the last case.
        ModelError
            For a case that is refused, for an ensemble without its system, and for an output that was not kept.
        """
        if isinstance(case, str):
            return self.values([case])[case]
        if isinstance(case, bool) or not isinstance(case, int | np.integer):
            raise ModelError(f"ensemble[{shown(case)}]: give the number of a case, or the name of an output")
        count = len(self)
        if not -count <= case < count:
            raise IndexError(f"there is no case {case}; the cases are 0 to {count - 1}")
        if self._task is None:
            raise ModelError(
                f"case {case}: this ensemble holds no system, since it was read from a folder, or pickled with a function "
                "or with definitions of a study; call simulate_many again with its arguments (a folder, out=, runs no case twice)"
            )
        return run_of_case(self._task, row(self.cases, case % count))

    def __repr__(self) -> str:
        varied = ", ".join(self.cases)
        return f"Ensemble('{self.name}', {len(self)} cases of {varied}, {len(self.t)} times, {self._endings()})"

    def _endings(self) -> str:
        """How many cases ended with each status."""
        found, counts = np.unique(self.status, return_counts=True)
        return ", ".join(f"{n} {Status(value).name}" for value, n in zip(found, counts, strict=True))

    def _repr_html_(self) -> str:
        """The varied quantities with their ranges, for notebooks."""
        rows = []
        for name, values in self.cases.items():
            array = np.asarray(values)
            span = (f"{array.min():.5g}", f"{array.max():.5g}") if array.dtype.kind in "if" and array.size else ("", "")
            rows.append((name, self.units[name], *span))
        return html_table(repr(self), ("quantity", "unit", "least", "greatest"), rows)

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the cases by name."""
        return named("case", {name: quantity.unit for name, quantity in self.quantities.items()})

    @property
    def success(self) -> bool:
        """Every case reached its end, or a terminal event."""
        return bool(np.isin(self.status, ENDED).all())

    @property
    def events(self) -> Mapping[str, CaseEvents]:
        """Occurrences of each event, by name; read from the folder, if there is one, at each access."""
        return events_of_cases(self, self._events)

    @property
    def evaluations(self) -> Ints:
        """Evaluations of the equations of motion, (n,)."""
        return self.counts[:, 0]

    @property
    def steps(self) -> Ints:
        """Accepted steps, (n,)."""
        return self.counts[:, 1]

    @property
    def rejections(self) -> Ints:
        """Rejected steps, (n,)."""
        return self.counts[:, 2]

    def values(
        self, names: Sequence[str] | None = None, cases: slice | Sequence[int] | None = None
    ) -> dict[str, Floats]:
        """Values of outputs (default: all) of some cases (default: all), by name: (cases, ...) each.

        Raises
        ------
        ModelError
            For an output that was not kept.
        """
        wanted = {name: self.outputs[name] for name in (self.outputs if names is None else names)}
        places = places_of(self.outputs) if self.outputs else {}
        columns = {name: slice(places[name].start, places[name].stop) for name in wanted}
        found = self._collect(cases, columns)
        return {name: values.reshape(len(values), *wanted[name].shape) for name, values in found.items()}

    def states(self, cases: slice | Sequence[int] | None = None) -> Floats:
        """States of some cases (default: all), (cases, times, bodies, 13): r, p, v, omega.  NaN where a case did not arrive."""
        self._refuse_outputs("states")
        states = self._states_of(cases, slice(0, len(self.bodies) * STATE))
        return states.reshape(*states.shape[:2], len(self.bodies), STATE)

    def _collect(
        self, cases: slice | Sequence[int] | None, columns: Mapping[str, slice], times: tuple[int, ...] = ()
    ) -> dict[str, Floats]:
        """Some columns of states or outputs of some cases by name, (cases, times, columns); each chunk is read once."""
        wanted = self._numbers(cases)
        out = {
            name: np.full((len(wanted), *times, place.stop - place.start), np.nan) for name, place in columns.items()
        }
        for first, count, load in self._parts() if columns else ():
            here = np.flatnonzero((wanted >= first) & (wanted < first + count))
            if len(here):
                rows = load()[wanted[here] - first]
                for name, place in columns.items():
                    out[name][here] = rows[..., place]
        return out

    def _states_of(self, cases: slice | Sequence[int] | None, columns: slice) -> Floats:
        """Some columns of the states of some cases, (cases, times, columns)."""
        return self._collect(cases, {"states": columns}, (len(self.t),))["states"]

    def _refuse_outputs(self, wanted: str) -> None:
        if self.outputs:
            raise ModelError(
                f"this ensemble holds no {wanted}: it kept the outputs {', '.join(self.outputs)} in place of states; call "
                f"simulate_many without outputs, or with '{wanted if '.' in wanted else 'r.BODY'}' among them"
            )

    def _numbers(self, cases: slice | Sequence[int] | None) -> Ints:
        """The numbers of some cases (default: all)."""
        count = len(self)
        if isinstance(cases, slice | None):
            try:
                return np.arange(count)[cases or slice(None)]
            except (TypeError, ValueError):
                raise ModelError(f"cases = {shown(cases)}; give a slice of whole numbers") from None
        wanted = np.array([int(case) for case in cases], dtype=np.int64)
        if bad := [case for case in wanted.tolist() if not -count <= case < count]:
            raise ModelError(f"cases: there is no case {bad[0]}; the cases are 0 to {count - 1}")
        return wanted % count

    def _parts(self) -> Iterator[tuple[int, int, Callable[[], Floats]]]:
        if isinstance(self._states, Folder):
            for first, count in self._states.done():
                yield first, count, lambda first=first: self._states.load(first)["states"]  # type: ignore[misc]
        else:
            for chunk in self._states:
                yield chunk.first, len(chunk.status), lambda chunk=chunk: chunk.states  # type: ignore[misc]

    def _of_body(self, part: str, body: str) -> Floats:
        self._refuse_outputs(f"{part}.{body}")
        o = STATE * self.bodies.index(body)
        return self._states_of(None, slice(o + PARTS[part].start, o + PARTS[part].stop))

    @property
    def angles(self) -> Mapping[str, JointAngles]:
        """Coordinates of the joints and their rates by joint, as ``Run.angles``, (cases, times) each.

        NaN where a case did not arrive; with outputs those among them.  Where the
        joints differ between cases they have to be outputs, or ``many[i].angles``.
        """
        return angles_of_cases(self)

    def plot(self, *names: str) -> Figure:
        """Draw median and percentiles over the cases, a panel each, in a figure of matplotlib; ``savefig`` writes it.

        Bands hold 50 % and 95 % of the cases; cases with values that are not finite are left out, and their number is stated.

        Parameters
        ----------
        names : str
            Outputs of ``simulate_many(..., outputs=)``; those that are one value in each case are drawn as a histogram.  Without
            outputs: joints, coordinates such as "ankle.theta_i", or parts of states such as "r.toes".  Default: all outputs,
            or the six coordinates that change most.

        Raises
        ------
        ModelError
            For an unknown name, an output that was not kept, and one that is finite in no case.
        """
        return plot_ensemble(self, names)

    def to_xarray(self, cases: slice | Sequence[int] | None = None) -> xarray.Dataset:
        """Return a dataset: dimensions case, time, body, axis, euler; the values of the cases are coordinates of ``case``.

        With outputs these are its variables, in place of those of bodies.
        """
        return ensemble_to_xarray(self, cases)

    def to_pandas(self, cases: slice | Sequence[int] | None = None) -> pandas.DataFrame:
        """Return a table with a row for each case: its values, its status, and the outputs that are one vector or number each.

        Outputs over time are left out: they are in ``to_xarray``.
        """
        return ensemble_to_pandas(self, cases)

    def to_netcdf(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the dataset of ``to_xarray`` as NetCDF; returns the file.

        Raises
        ------
        ModelError
            Where the file exists, unless ``overwrite``, or cannot be written.
        """
        return write_dataset(self.to_xarray(), file, overwrite=overwrite)

    def to_csv(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the table of ``to_pandas`` as comma-separated values, with units in the header; returns the file.

        Raises
        ------
        ModelError
            Where the file exists, unless ``overwrite``, or cannot be written.
        """
        return write_text(free_file(Path(file), overwrite), csv_of(self))

    def to_parquet(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the table of ``to_pandas`` as Parquet, by pyarrow (extra ``parquet``); returns the file.

        Each column has its unit in its name, and as ``unit`` in the metadata of its field.

        Raises
        ------
        ModelError
            Where pyarrow is not installed, or the file exists, unless ``overwrite``, or cannot be written.
        """
        return parquet_of(self, free_file(Path(file), overwrite))


def gathered(
    name: str,
    bodies: tuple[str, ...],
    settings: Mapping[str, Any],
    columns: Cases,
    quantities: Mapping[str, Quantity],
    outcomes: Outcomes,
    folder: Path | None,
    states: Any,
    outputs: Mapping[str, Output] | None,
    events: tuple[str, ...],
) -> Ensemble:
    """Return the results of the finished chunks, in memory or in a folder; ``states``: the chunks, or the folder."""
    return Ensemble(
        name, bodies, np.array(settings["t"]), named("case", columns), named("case", quantities), outcomes.status,
        outcomes.reached, outcomes.counts, outcomes.vectorised, MappingProxyType(dict(sorted(outcomes.messages.items()))),
        named("setting", settings), folder, states, named("output", outputs or {}),
        _events=events,
    )  # fmt: skip


def of_folder(folder: Folder, columns: Cases, outcomes: Outcomes) -> Ensemble:
    """Return the results in a folder, which holds these cases and outcomes; states are read on request."""
    quantities = {name: folder.quantities.get(name) or parse(name) for name in columns}
    return gathered(
        folder.name, folder.bodies, folder.how, columns, quantities, outcomes, folder.path, folder, folder.outputs,
        folder.events,
    )  # fmt: skip


def read_folder(folder: Folder) -> Ensemble:
    """Return the results so far in a folder."""
    columns, outcomes = folder.cases(), Outcomes(folder.count)
    for first, _ in folder.done():
        outcomes.add(folder.outcome(first))
    return of_folder(folder, columns, outcomes)
