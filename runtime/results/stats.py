"""The cost of a run."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from runtime.support.html import html_table


@dataclass(frozen=True)
class Part:
    """A part of a run that one method integrated: its name, its start [s], and its cost as in ``Stats``."""

    method: str
    t: float
    evaluations: int
    steps: int
    rejections: int | None


@dataclass(frozen=True, repr=False)
class Stats:
    """Cost of a run.

    ``evaluations`` of the equations of motion include one for each Jacobian, and those of the dense output (DOP853: 3 for each
    step that holds a time of ``t_eval`` or an event; SciPy's, with contacts: for every step).  ``rejections`` is None for methods
    that do not report it.  ``kernel``: "whole model" or "joint by joint", the kernels that evaluated them, or "joint
    coordinates", perhaps "by recursion", for ``coordinates="joint"``.  ``parts``: the methods that "auto" turned to, in order;
    one part for others.
    """

    method: str
    evaluations: int
    steps: int
    rejections: int | None
    wall_time: float  # [s] without compilation
    rtol: float
    atol: float
    kernel: str
    parts: tuple[Part, ...] = ()
    compile_time: float = 0.0  # [s] of compilation, and of loading compiled code, during the run

    def __repr__(self) -> str:
        return (
            f"Stats({self.method}: {self.evaluations} evaluations, {self.steps} steps, "
            f"{'unknown' if self.rejections is None else self.rejections} rejections, {1e3 * self.wall_time:.3g} ms, "
            f"rtol {self.rtol:g}, atol {self.atol:g}, {self.kernel})"
        )

    def _repr_html_(self) -> str:
        """The methods in turn with their cost, for notebooks."""
        whole = (self.method, "", self.evaluations, self.steps, self.rejections)
        parts = [astuple(part) for part in self.parts] if len(self.parts) > 1 else []
        columns = ("method", "from [s]", "evaluations", "steps", "rejections")
        note = (
            f"{1e3 * self.wall_time:.3g} ms, and {1e3 * self.compile_time:.3g} ms of compilation; kernel: {self.kernel}"
        )
        return html_table(repr(self), columns, [*parts, whole], note)
