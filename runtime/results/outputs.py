"""Outputs of a run by name: a quantity over time, a component of it, a function of it, or its reduction over time.

Examples: "angle.ankle.theta_i", "r.main_foot.y", "norm(reaction_force.ankle)", "max(abs(rate.ankle.theta_i))".
Names of quantities, their units and meanings are those of the tables in ``export``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from runtime.results.coordinate_quantities import (
    COORDINATE_QUANTITIES,
    EFFORTS,
    MOMENT_ARMS,
    MOTION,
    RATES,
    coordinate_quantities,
    dimensions_of,
)
from runtime.results.result_quantities import (
    BODY_QUANTITIES,
    CONTACT_QUANTITIES,
    LIMIT_QUANTITIES,
    MOTOR_QUANTITIES,
    SCALARS,
    SYSTEM_QUANTITIES,
    VECTORS_OF_CONTACTS,
    WRENCH_QUANTITIES,
)
from runtime.results.state_quantities import value_in_rows
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.system.quantity import ACCELERATION, COORDINATES, Quantity, Role
from runtime.system.system import System

ROWS = ("lam", "Phi", "Phi_dot")  # quantities of constraint rows; the last one in datasets alone
REACTIONS = tuple(name for name in WRENCH_QUANTITIES if name != "point")
OF_JOINTS = {f"{sort}_{part}": (sort, part) for sort in ("reaction", "joint_load") for part in REACTIONS}
FORCE_QUANTITIES = {"energy": "J", "power": "W"}  # beside those that the definition of a force reports
FUNCTIONS = {"abs": "absolute value", "norm": "length of the vector"}
CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)  # of a function


def _mean(x: Floats, t: Floats) -> Floats:
    """Mean over time by the trapezoidal rule; of one time the value there."""
    if len(t) == 1:
        return x[:, 0]
    return np.trapezoid(x, t, axis=1) / (t[-1] - t[0])


def _time_of(x: Floats, at: Any, t: Floats) -> Floats:
    return np.where(np.isnan(x).any(axis=1), np.nan, t[at])


# name -> function of values (cases, times, ...) and times, and its meaning.
REDUCTIONS: dict[str, tuple[Callable[[Floats, Floats], Floats], str]] = {
    "first": (lambda x, t: x[:, 0], "at the first time"),
    "last": (lambda x, t: x[:, -1], "at the last time"),
    "max": (lambda x, t: x.max(axis=1), "largest value"),
    "min": (lambda x, t: x.min(axis=1), "smallest value"),
    "range": (lambda x, t: np.ptp(x, axis=1), "largest less smallest value"),
    "mean": (_mean, "mean over time"),
    "rms": (lambda x, t: np.sqrt(_mean(x * x, t)), "root of the mean square over time"),
    "time_of_max": (lambda x, t: _time_of(x, x.argmax(axis=1), t), "time of the largest value"),
    "time_of_min": (lambda x, t: _time_of(x, x.argmin(axis=1), t), "time of the smallest value"),
}
# Names that tables and datasets of ensembles give to something else.
RESERVED = (
    "case", "time", "status", "message", "reached", "evaluations", "steps", "rejections", "vectorised", "body", "axis", "euler",
    "component", EFFORTS, RATES, MOTION,
)  # fmt: skip
AT_ONE_TIME = ("first", "last")  # reductions that make sense where a run has a single time


@dataclass(frozen=True)
class Output:
    """A named result of each run of an ensemble.

    ``name``: as the user gave it; ``expression``: such as "range(r.main_foot.y)"; ``quantity``: what it is made of;
    ``component``: of a vector, None for all; ``function``: "", "abs" or "norm"; ``reduction`` over time: "" or a key of
    ``REDUCTIONS``; ``components``: names of the components of its values, empty for a number; ``unit``; ``times``: of the runs.
    """

    name: str
    expression: str
    quantity: Quantity
    component: int | None
    function: str
    reduction: str
    components: tuple[str, ...]
    unit: str
    times: int

    @property
    def along(self) -> Mapping[str, tuple[str, ...]]:
        """Dimensions of its values at a time, with the names along them."""
        return {} if self.component is not None or self.function == "norm" else dimensions_of(self.quantity)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of its values in one case: (times, components), without times where they are reduced."""
        return (() if self.reduction else (self.times,)) + tuple(map(len, self.along.values()))

    @property
    def size(self) -> int:
        """Number of its values in one case."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def columns(self) -> dict[str, str]:
        """Names of its values at a time, or of its reduction, with their units."""
        units = (self.unit,) if self.reduction.startswith("time_of") else self.quantity.units or (self.unit,)
        names = [f"{self.name}.{component}" for component in self.components] if self.along else [self.name]
        units = units if len(units) == len(names) else (self.unit,) * len(names)
        return dict(zip(names, units, strict=True))

    @property
    def meaning(self) -> str:
        """In words."""
        words = [REDUCTIONS[self.reduction][1]] if self.reduction else []
        words += [FUNCTIONS[self.function]] if self.function else []
        return ", ".join([*words, meaning_of(self.quantity)])

    def of(self, values: Floats, t: Floats) -> Floats:
        """The output (cases, ...) from values of its quantity (cases, times, ...) at times t."""
        if self.component is not None:
            values = values.reshape(*values.shape[:2], -1)[..., self.component]
        if self.function == "abs":
            values = np.abs(values)
        elif self.function == "norm":
            values = np.linalg.norm(values, axis=-1)
        return REDUCTIONS[self.reduction][0](values, t) if self.reduction else values


def components_of(quantity: Quantity) -> tuple[str, ...]:
    """Names of the components of a vector or a matrix, this row by row."""
    dimensions = dimensions_of(quantity).values()
    return tuple(map(".".join, product(*dimensions))) if dimensions else ()


def meaning_of(quantity: Quantity) -> str:
    """A quantity in words."""
    part, sort = quantity.part, quantity.owner_sort
    if part in COORDINATE_QUANTITIES:
        of = "muscle" if part == MOMENT_ARMS else "frame"
        return COORDINATE_QUANTITIES[part][1] + (f" of {of} '{quantity.owner}'" if quantity.owner else "")
    if sort == "body":
        return f"{BODY_QUANTITIES[part][2]} of '{quantity.owner}'"
    if sort == "frame":
        return f"{BODY_QUANTITIES[part][2].replace('centre of mass', 'origin')} of frame '{quantity.owner}'"
    if not sort:
        return (SCALARS.get(part) or SYSTEM_QUANTITIES[part])[-1]
    tables: dict[str, Mapping[str, Any]] = {
        "limit": LIMIT_QUANTITIES, "contact": CONTACT_QUANTITIES, "motor": MOTOR_QUANTITIES,
    }  # fmt: skip
    table = tables.get(sort, {})
    if known := table.get(part.removeprefix(f"{sort}_")):
        return f"{known[1]}, '{quantity.owner}'"
    words = {"angle": "coordinate", "rate": "rate of the coordinate", ACCELERATION: "acceleration of the coordinate"}
    words |= {"lam": "multiplier", "Phi": "constraint row"}
    words |= {"coupling_force": "force along the follower of coupling"}
    words |= {
        name: f"{each} of the {sort.replace('_', ' ')} on body j of joint" for name, (sort, each) in OF_JOINTS.items()
    }
    return f"{words.get(part, part.removeprefix('force_').replace('_', ' ') + ' of force')} '{quantity.owner}'"


def is_on_request(quantity: Quantity) -> bool:
    """Whether tables and datasets of a run have a quantity only where it is among its outputs."""
    on_request = {ACCELERATION, *SYSTEM_QUANTITIES, *COORDINATE_QUANTITIES}
    return quantity.owner_sort == "frame" or quantity.part in on_request


def quantities_of_runs(system: System) -> dict[str, Quantity]:
    """The quantities over time of runs of a system, by name, without ``coordinate_quantities``; vectors whole."""
    return {quantity.name: quantity for quantity in _quantities(system)}


def all_quantities(system: System) -> Mapping[str, Quantity]:
    """``quantities_of_runs`` and ``coordinate_quantities``."""
    return {**quantities_of_runs(system), **coordinate_quantities(system)}


def _quantities(system: System) -> Iterator[Quantity]:
    def quantity(sort: str, part: str, owner: str, unit: str, components: int = 0) -> Quantity:
        name = f"{part}.{owner}" if owner else part
        return Quantity(name, part, owner, Role.OUTPUT, (components,) if components else (), unit, sort)

    for body in system.body_names:
        for part, (components, unit, _) in BODY_QUANTITIES.items():
            yield quantity("body", part, body, unit, len(components))
    for joint in system.joints:
        for row, unit, of_multiplier in zip(joint.rows, joint.units, joint.multiplier_units, strict=True):
            yield quantity("joint", "lam", f"{joint.name}.{row}", of_multiplier)
            yield quantity("joint", "Phi", f"{joint.name}.{row}", unit)
        if not joint.signals:
            for name, (_, part) in OF_JOINTS.items():
                yield quantity("joint", name, joint.name, WRENCH_QUANTITIES[part][0], 3)
    for name, motion in system.joint_motions.items():
        for column, unit in motion.units.items():
            for part, own in zip((*COORDINATES, ACCELERATION), (unit, f"{unit}/s", f"{unit}/s^2"), strict=True):
                yield quantity("joint", part, f"{name}.{column}", own)
    for limit in system.limit_names:
        for part, (unit, _) in LIMIT_QUANTITIES.items():
            yield quantity("limit", f"limit_{part}", limit, unit)
    for contact in system.contact_names:
        for part, (unit, _) in CONTACT_QUANTITIES.items():
            vector = part in VECTORS_OF_CONTACTS
            yield quantity("contact", f"contact_{part}", contact, unit, 3 if vector else 0)
    for force in system.forces:
        for part, unit in {**force.outputs, **FORCE_QUANTITIES}.items():
            yield quantity("force", f"force_{part}", force.name, unit)
    for motor in system.motors:
        for part, (unit, _) in MOTOR_QUANTITIES.items():
            yield quantity("motor", f"motor_{part}", motor.name, unit or motor.effort_unit)
    for part, (unit, _) in SCALARS.items():
        yield quantity("", part, "", unit)
    for frame in system.frames:
        for part, (components, unit, _) in BODY_QUANTITIES.items():
            yield quantity("frame", part, frame.name, unit, len(components))
    for part, (components, unit, _) in SYSTEM_QUANTITIES.items():
        yield quantity("", part, "", unit, len(components))
    for coupling in system.couplings:
        name, _, column = coupling.follower.rpartition(".")
        turns = system.joint_motions[name].units[column] == "rad"
        yield quantity("coupling", "coupling_force", coupling.name, "N m" if turns else "N")


def values_of(run: Any, quantity: Quantity) -> Floats:
    """A quantity of a run, (times, ...).

    Raises
    ------
    ModelError
        Where the system of the run does not have it, or it is undetermined.
    """
    try:
        return _values_of(run, quantity)
    except (KeyError, ValueError, IndexError, AttributeError):
        if quantity.name in all_quantities(run.system):
            raise
        raise ModelError(f"system '{run.system.name}' of this case has no quantity '{quantity.name}'") from None


def _values_of(run: Any, quantity: Quantity) -> Floats:
    part, owner, sort = quantity.part, quantity.owner, quantity.owner_sort
    found: Floats
    if (value := value_in_rows(run.system, quantity, run._rows)) is not None:
        found = value
    elif sort == "body":
        found = getattr(run, part)[owner]
    elif part in COORDINATES:
        joint, _, column = owner.rpartition(".")
        found = (run.angles[joint].values if part == "angle" else run.angles[joint].rates)[column]
    elif part in ROWS:
        name, _, row = owner.rpartition(".")
        found = getattr(run, part)[name][:, run.system.joint(name).rows.index(row)]
    elif part in OF_JOINTS:
        found = getattr(_on_body_j(run, quantity), OF_JOINTS[part][1])
    elif sort == "coupling":
        found = run.coupling_forces[owner]
    elif sort:
        found = getattr(getattr(run, f"{sort}s")[owner], part.removeprefix(f"{sort}_"))
    else:
        found = getattr(run, part)
    return found


def _on_body_j(run: Any, quantity: Quantity) -> Any:
    """The reaction or the load of a joint of a run, on its body j."""
    what = getattr(run, OF_JOINTS[quantity.part][0])
    return what(quantity.owner, on=run.system.joint(quantity.owner).body_j)


def undetermined_outputs(run: Any, outputs: Mapping[str, Output]) -> str:
    """Outputs of a run that contain components of reactions which rigid bodies do not determine, with the reasons; else empty."""
    found = []
    for name, output in outputs.items() if run.system.redundant else ():
        if output.quantity.part in OF_JOINTS:
            part, reaction = OF_JOINTS[output.quantity.part][1], _on_body_j(run, output.quantity)
            flags = getattr(reaction, f"{part}_determined")
            if not flags[slice(None) if output.component is None else output.component].all():
                found.append(f"{name}: {reaction.reason}")
    return "; ".join(found)


def full_name(name: str, known: Collection[str]) -> str:
    """``angle.ankle.theta_i`` for the ``ankle.theta_i`` of axes and legends, where this is a known name; else the name."""
    full = f"{COORDINATES[0]}.{name}"
    return full if full in known else name


def value_of(output: Output, run: Any) -> Floats:
    """An output of a run, (times, ...); NaN for a reduction of a run that has no time."""
    if output.reduction and not len(run.t):
        return np.full(output.shape, np.nan)
    return output.of(values_of(run, output.quantity)[None], run.t)[0]


def parsed_outputs(
    outputs: Mapping[str, str] | Sequence[str],
    system: System,
    times: int,
    taken: Collection[str] = (),
    *,
    named_by: str = "outputs",
) -> dict[str, Output]:
    """Outputs by name, for runs of a system with so many times.

    taken : names of parameters
    named_by : what the messages begin with

    Raises
    ------
    ModelError
        For none, one that is given twice, a name that is taken, a quantity that the system does not have, and a function that
        does not fit.
    """
    given = dict(outputs) if isinstance(outputs, Mapping) else {text: text for text in outputs}
    if not given or len(given) < len(outputs):
        remedy = "give each once" if given else "give at least one name, such as 'energy', or leave it out"
        raise ModelError(f"{named_by} = {shown(outputs)}: {remedy}")
    asked = " ".join(map(str, given.values()))
    quantities = all_quantities if any(part in asked for part in COORDINATE_QUANTITIES) else quantities_of_runs
    known = _with_components(quantities(system))
    found = {name: _parsed(name, text, known, system, times, named_by) for name, text in given.items()}
    named = {"t", *known, *(of for quantity, _ in known.values() for of in (quantity.part, quantity.owner))}
    for name, output in found.items():
        if name in named and name.strip() != output.expression.strip():
            raise ModelError(
                f"{named_by}: the name '{name}' of '{output.expression}' is that of a quantity or a part of system "
                f"'{system.name}'; give the output another name, such as 'result'"
            )
        own = [name, *(f"{name}.{component}" for component in output.components)]
        columns = {*RESERVED, *(taken if output.reduction else ())}  # tables have no column of what varies over time
        if not name.strip() or {*own} & columns or name.startswith("case_"):
            use = "is empty" if not name.strip() else "is that of a parameter or of a column of the results"
            raise ModelError(
                f"{named_by}: the name '{name}' of '{output.expression}' {use}; give another, such as 'result'"
            )
    return found


def _with_components(known: Mapping[str, Quantity]) -> dict[str, tuple[Quantity, int | None]]:
    """Quantities by name with None, and their components with their places."""
    found: dict[str, tuple[Quantity, int | None]] = {name: (quantity, None) for name, quantity in known.items()}
    for name, quantity in known.items():
        found |= {f"{name}.{component}": (quantity, k) for k, component in enumerate(components_of(quantity))}
    return found


def _parsed(
    name: str, text: str, known: Mapping[str, tuple[Quantity, int | None]], system: System, times: int, named_by: str
) -> Output:
    """An output from its text."""
    what = f"{named_by}: '{text}'" if name == text else f"{named_by}: '{name}' = '{text}'"
    opened, own = [], text
    while own not in known and (call := CALL.fullmatch(own)):
        word, own = call.groups()
        if word not in REDUCTIONS and word not in FUNCTIONS:
            raise unknown_name(word, [*REDUCTIONS, *FUNCTIONS], "function", whose=f"{what}: ")
        opened.append(word)
    own = own.strip()
    reduction = opened.pop(0) if opened and opened[0] in REDUCTIONS else ""
    function = opened.pop(0) if opened and opened[0] in FUNCTIONS else ""
    if opened:
        raise ModelError(f"{what}: give one reduction, then 'abs' or 'norm', such as 'max(norm(v.BODY))'")
    if own not in known:
        raise unknown_name(
            own, [*known, *COORDINATE_QUANTITIES], "quantity", "quantities", f"{what}: system '{system.name}': "
        )
    quantity, component = known[own]
    components = () if component is not None else components_of(quantity)
    if function == "norm" and (not components or quantity.rates):
        kind = "has components along coordinates" if components else "is a number"
        raise ModelError(f"{what}: '{own}' {kind}, of which 'norm' has no meaning; use 'abs'")
    if reduction and reduction not in AT_ONE_TIME and times < 2:
        raise ModelError(
            f"{what}: '{reduction}' compares values at the times of the results, here {times}; give t_eval with more"
        )
    return Output(
        name, text, quantity, component, function, reduction, () if function == "norm" else components,
        "s" if reduction.startswith("time_of") else quantity.units[component] if quantity.units and component is not None
        else quantity.unit, times,
    )  # fmt: skip


def record_of(output: Output) -> dict[str, Any]:
    """An output as plain data, for a file."""
    quantity = output.quantity._asdict() | {"role": output.quantity.role.name}
    along = {name: quantity.pop(name) for name in ("rates", "units")}  # which records of earlier versions do not have
    return asdict(output) | {"quantity": quantity | (along if output.quantity.rates else {})}


def output_from(record: Mapping[str, Any]) -> Output:
    """The output of plain data."""
    own = record["quantity"]
    own = own | {name: tuple(own.get(name, ())) for name in ("shape", "rates", "units")}
    quantity = Quantity(**{**own, "role": Role[own["role"]]})
    return Output(**{**record, "quantity": quantity, "components": tuple(record["components"])})
