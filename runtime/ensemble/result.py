"""Results of an ensemble."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.dynamics.status import Status
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.chunk import run_of_case
from runtime.ensemble.store import Folder
from runtime.ensemble.task import Chunk, Task
from runtime.results.export import AXES, BODY_QUANTITIES, CONVENTION, EULER
from runtime.results.run import Run
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.support.html import html_table
from runtime.support.names import named
from runtime.system.quantity import Quantity, Role, parse
from runtime.system.state import PARTS
from runtime.system.system import System

if TYPE_CHECKING:
    import xarray


NAMED = {"cases": "case", "quantities": "case", "settings": "setting"}  # mappings, and what their names belong to


@checked_class
@dataclass(frozen=True, repr=False)
class Ensemble:
    """Results of many cases.

    ``t`` (m,) [s]; ``cases``: name -> values of all cases (n, ...), ``quantities``: name -> what the name belongs to, and
    ``units``: name -> unit, "" for arguments of a function;
    ``status`` (n,): numbers of ``runtime.Status``, such as ``Status.REFUSED`` or ``Status.NOT_RUN``;
    ``messages``: the reasons by the number of the case, and warnings, such as of a pose close to a singular configuration;
    ``reached`` (n,) [s]; ``evaluations``, ``steps``, ``rejections`` (n,); ``in_batch`` (n,): computed in a batch, by a
    whole-model kernel.  ``settings``: those of all runs, such as rtol and alpha.  ``many[i]`` is the ``Run`` of case i.
    """

    name: str
    bodies: tuple[str, ...]
    t: Floats = field(repr=False)
    cases: Cases = field(repr=False)
    quantities: Mapping[str, Quantity] = field(repr=False)
    status: Ints = field(repr=False)
    reached: Floats = field(repr=False)
    counts: Ints = field(repr=False)
    in_batch: np.ndarray[Any, np.dtype[np.bool_]] = field(repr=False)
    messages: Mapping[int, str] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)
    folder: Path | None
    _states: Any = field(repr=False)  # chunks in memory in the order of their first cases, or a Folder
    _task: Task | None = field(default=None, repr=False)  # what was run; None: it was read from a folder

    def __len__(self) -> int:
        return len(self.status)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without a function that builds systems, which may be local to a study."""
        known = self._task is not None and isinstance(self._task.system, System)
        plain = {name: dict(getattr(self, name)) for name in (*NAMED, "messages")}
        return self.__dict__ | plain | {"_task": self._task if known else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        mappings = {name: named(what, state[name]) for name, what in NAMED.items()}
        self.__dict__.update(state | mappings | {"messages": MappingProxyType(state["messages"])})

    def __getitem__(self, case: int) -> Run:
        """The run of a case with reactions, energies and all else, integrated again by ``simulate``.

        Raises
        ------
        IndexError
            Beyond the last case.
        ModelError
            For a case that is refused, and for an ensemble without its system.
        """
        count = len(self)
        if not -count <= case < count:
            raise IndexError(f"there is no case {case}; the cases are 0 to {count - 1}")
        if self._task is None:
            raise ModelError(
                f"case {case}: this ensemble was read from files, which hold no system; call simulate_many again with its "
                "arguments and folder, which runs no case twice"
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
        """Every case reached its end."""
        return bool((self.status == Status.REACHED_END).all())

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

    def states(self, cases: slice | Sequence[int] | None = None) -> Floats:
        """States of some cases (default: all), (cases, times, bodies, 13): r, p, v, omega.  NaN where a case did not arrive."""
        states = self._collect(cases, slice(0, len(self.bodies) * STATE))
        return states.reshape(*states.shape[:2], len(self.bodies), STATE)

    def _collect(self, cases: slice | Sequence[int] | None, columns: slice) -> Floats:
        """Some columns of the states of some cases, chunk by chunk, (cases, times, columns)."""
        wanted = self._numbers(cases)
        out = np.full((len(wanted), len(self.t), columns.stop - columns.start), np.nan)
        for first, count, load in self._parts():
            here = np.flatnonzero((wanted >= first) & (wanted < first + count))
            if len(here):
                out[here] = load()[wanted[here] - first][:, :, columns]
        return out

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

    def _part(self, name: str, body: str) -> Floats:
        if body not in self.bodies:
            raise unknown_name(body, self.bodies, "body", "bodies")
        o = STATE * self.bodies.index(body)
        return self._collect(None, slice(o + PARTS[name].start, o + PARTS[name].stop))

    def r(self, body: str) -> Floats:
        """Centres of mass, (cases, times, 3) [m]."""
        return self._part("r", body)

    def p(self, body: str) -> Floats:
        """Euler parameters, (cases, times, 4)."""
        return self._part("p", body)

    def v(self, body: str) -> Floats:
        """Velocities of the centres of mass, (cases, times, 3) [m/s]."""
        return self._part("v", body)

    def omega(self, body: str) -> Floats:
        """Angular velocities, (cases, times, 3) [rad/s]."""
        return self._part("omega", body)

    def to_xarray(self, cases: slice | Sequence[int] | None = None) -> xarray.Dataset:
        """Return a dataset: dimensions case, time, body, axis, euler; the values of the cases are coordinates of ``case``."""
        return ensemble_to_xarray(self, cases)


def gathered(
    name: str,
    bodies: tuple[str, ...],
    settings: Mapping[str, Any],
    columns: Cases,
    quantities: Mapping[str, Quantity],
    chunks: Iterable[Chunk],
    folder: Path | None,
    states: Any,
) -> Ensemble:
    """Return the results of the finished chunks, in memory or in a folder; ``states``: the chunks, or the folder."""
    count = len(next(iter(columns.values())))
    status, reached, counts = (
        np.full(count, int(Status.NOT_RUN)),
        np.full(count, np.nan),
        np.zeros((count, 3), np.int64),
    )
    in_batch = np.zeros(count, bool)
    messages: dict[int, str] = {}
    for chunk in chunks:
        part = slice(chunk.first, chunk.first + len(chunk.status))
        status[part], reached[part], counts[part] = chunk.status, chunk.reached, chunk.counts
        in_batch[part] = chunk.in_batch
        messages |= chunk.messages
    return Ensemble(
        name, bodies, np.array(settings["t"]), named("case", columns), named("case", quantities), status,
        reached, counts, in_batch, MappingProxyType(dict(sorted(messages.items()))), named("setting", settings), folder,
        states,
    )  # fmt: skip


def of_folder(folder: Folder) -> Ensemble:
    """Return the results so far in a folder; states are read on request."""
    columns = folder.cases()
    quantities = {name: folder.quantities.get(name) or parse(name) for name in columns}
    return gathered(
        folder.name, folder.bodies, folder.how, columns, quantities, folder.chunks(), folder.path, folder
    )  # fmt: skip


def ensemble_to_xarray(ensemble: Ensemble, cases: Any) -> xarray.Dataset:
    """Return a dataset: dimensions case, time, body, axis, euler; the values of the cases are coordinates of ``case``."""
    import xarray

    wanted = ensemble._numbers(cases)
    states = ensemble.states(cases)
    data: dict[str, Any] = {}
    start = 0
    for name in ("r", "p", "v", "omega"):
        components, unit, meaning = BODY_QUANTITIES[name]
        part = states[..., start : start + len(components)]
        start += len(components)
        dims = ("case", "time", "body", "axis" if components is AXES else "euler")
        data[name] = (dims, part, {"units": unit, "long_name": meaning})
    for name, meaning in {
        "status": "0 where the case reached its end", "evaluations": "of the equations of motion", "steps": "accepted",
        "rejections": "steps that were rejected and repeated",
    }.items():  # fmt: skip
        data[name] = ("case", getattr(ensemble, name)[wanted], {"units": "1", "long_name": meaning})
    data["reached"] = ("case", ensemble.reached[wanted], {"units": "s", "long_name": "time reached"})
    coordinates: dict[str, Any] = {
        "case": wanted, "time": ("time", ensemble.t, {"units": "s"}), "body": list(ensemble.bodies), "axis": list(AXES),
        "euler": list(EULER),
    }  # fmt: skip
    for name, values in ensemble.cases.items():
        further = (f"{name}_{k}" for k in range(values.ndim - 1))
        quantity, unit = ensemble.quantities[name], ensemble.quantities[name].unit
        if quantity.role is Role.STATE:
            _, unit, meaning = BODY_QUANTITIES[quantity.part]
        elif quantity.role is Role.COORDINATE:
            meaning = quantity.role.value
        else:
            meaning = "parameter of the system, or argument of the function that builds it"
        coordinates[f"case_{name}"] = (("case", *further), values[wanted], {"units": unit, "long_name": meaning})
    messages = np.array([ensemble.messages.get(int(case), "") for case in wanted], dtype=object)
    data["message"] = ("case", messages, {"long_name": "why the case did not reach its end"})
    data["in_batch"] = ("case", ensemble.in_batch[wanted], {"long_name": "computed in a batch"})
    known = {name: value for name, value in ensemble.settings.items() if name != "t" and value is not None}
    attributes = {name: int(value) if isinstance(value, bool) else value for name, value in known.items()}
    return xarray.Dataset(data, coordinates, {"system": ensemble.name, "conventions": CONVENTION, **attributes})
