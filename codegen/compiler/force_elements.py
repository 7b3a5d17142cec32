"""Forces: from a potential, a dissipation function and forces along coordinates to kernels with exact derivatives.

    Q = -dV/d(r, turn) - dR/d(v, omega) + sum D^T F        F a force, along a coordinate, D = d(coordinate)/d(r, turn), or
                                                           along a speed, D = d(speed)/d(v, omega)

V, R and F may depend on states of the force, whose rates the definition returns; what is derived of them are the derivatives of
Q and of the rates over the states, and of the rates over the motion.
Action equals reaction, because V, R and the coordinates depend on quantities between the bodies; see ``force_soundness``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp

from codegen.compiler.angles import DOC, revolutions, unwrapped
from codegen.compiler.bounds import bounds_of_law, singular_of
from codegen.compiler.calculus import AXES, BODIES, Definition, Expr, Moving, Named, Vector, as_expression, name_sums
from codegen.compiler.curves import curve, knots_in
from codegen.compiler.derive import jacobian_row, name_arguments, rate
from codegen.compiler.errors import shown
from codegen.compiler.force_calculus import (
    ENTRIES,
    OPERATORS,
    REACTION,
    SEARCHED,
    ForceScope,
    SpanScope,
    ramp,
    step,
    still,
    table,
)
from codegen.compiler.force_soundness import refuse_unsound_force
from codegen.compiler.forces import over_velocities, velocities_of
from codegen.compiler.joint_loads import COMPONENTS, load_kernels, reaction_symbols, refuse_loads
from codegen.compiler.layout import Layout, kernel
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.reading import (
    argument_names,
    called,
    documentation,
    is_scalar,
    refuse_collisions,
    refuse_functions,
    refuse_unused,
)
from codegen.compiler.rounding import beyond_rounding, rounding_of
from codegen.compiler.straight import Lines, function, in_order, indexed
from codegen.compiler.tangents import seeds_of, tangent

POTENTIAL, DISSIPATION, FORCES = PARTS = ("potential", "dissipation", "forces")
RATES = "rates"  # of the states
TAKEN = (
    "name",
    "kind",
    "energy",
    "power",
    "force_i",
    "moment_i",
    "force_j",
    "moment_j",
)  # of the results of every force
WRENCH, DIRECTIONS = 6, 12  # entries of the force on a body; displacements and changes of velocity of a body


@dataclass(frozen=True)
class ForceDerivation:
    """Everything that the emitter needs of a force.  wrench: 24 entries in the order v_i omega_i v_j .. omega_l."""

    name: str
    doc: str
    scope: ForceScope
    layout: Layout
    wrench: tuple[Expr, ...]
    potential: Expr
    potential_rate: Expr
    reports: dict[str, Expr]
    lookups: tuple[tuple[str, Expr], ...]  # table and argument of each call
    rates: tuple[Expr, ...]  # of the states

    @property
    def moving(self) -> list[Moving]:
        """The moving quantities in the order of the signature."""
        return list(self.scope.moving.values())

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies that the force acts on."""
        bodies = self.scope.bodies
        acted = [any(e != 0 for e in self.wrench[6 * k : 6 * k + 6]) for k in range(len(bodies))]
        return tuple(body for body, acts in zip(bodies, acted, strict=True) if acts)

    @property
    def signature(self) -> tuple[str, ...]:
        """The bodies of the kernels: two, or all four."""
        named = {*self.bodies, *(m.body for m in self.scope.moving.values())}
        return BODIES if named <= set(BODIES) else self.scope.bodies


@dataclass
class _Parts:
    """What a definition returned."""

    potential: Expr
    dissipation: Expr
    pushes: list[tuple[Expr, Expr]]  # coordinates and the forces along them
    reports: dict[str, Expr]
    rates: list[Expr]  # of the states, in their order

    @property
    def expressions(self) -> list[Expr]:
        """All of them."""
        pushes = [e for push in self.pushes for e in push]
        return [self.potential, self.dissipation, *pushes, *self.reports.values(), *self.rates]

    def replaced(self, values: Iterable[Expr]) -> _Parts:
        """The same parts with other expressions, in the order of ``expressions``."""
        given = iter(values)
        first, second = next(given), next(given)
        pushes = [(next(given), next(given)) for _ in self.pushes]
        return _Parts(first, second, pushes, {name: next(given) for name in self.reports}, list(given))


def derive_force(definition: Definition) -> ForceDerivation:
    """Derive a force.  Raises DefinitionError, which names the definition and the rule it breaks."""
    scope = ForceScope(definition.__name__)
    arguments = {name: scope.argument(name) for name in argument_names(scope, definition)}
    refuse_collisions(scope)
    parts = _parts(scope, arguments, called(scope, definition, arguments))
    _refuse_forms(scope, arguments, parts)
    d = _derived(scope, definition, _unwrapped(scope, parts))
    scalars = [d.potential, *d.reports.values(), *d.rates, *scope.states.values(), *scope.loads.values()]
    names = list(d.reports)
    vectors = [n + 1 for n, name in enumerate(names) if names[n : n + 3] == [f"{name[:-1]}{axis}" for axis in "xyz"]]
    refuse_unsound_force(scope, d.layout, [*d.wrench, *scalars], d.bodies, vectors)
    return d


def derive_event(definition: Definition) -> ForceDerivation:
    """Derive an event, a scalar whose zeros are located, as a force without effect that reports the ``value``."""
    scope = ForceScope(definition.__name__)
    arguments, value = _scalar(scope, definition, "an event returns one scalar, whose zeros are located")
    if scope.tables or scope.signals or {"normal_load", "state", *REACTION} & set(arguments):
        raise scope.error(
            "uses a table, a signal, a state or a reaction, which are for forces; an event is a function of the bodies"
        )
    parts = _Parts(sp.S.Zero, sp.S.Zero, [], {"value": value}, [])
    _refuse_forms(scope, arguments, parts)
    return _derived(scope, definition, _unwrapped(scope, parts))


def derive_span(definition: Definition) -> ForceDerivation:
    """Derive a span of a path as the force of a unit tension: its potential is the length."""
    scope = SpanScope(definition.__name__)
    arguments, length = _scalar(scope, definition, "a span returns its length, one scalar")
    parts = _Parts(length, sp.S.Zero, [], {}, [])
    _refuse_forms(scope, arguments, parts)
    d = _derived(scope, definition, parts)
    if missing := [body for body in BODIES if body not in d.bodies]:
        raise scope.error(f"does not depend on body {missing[0]}; a span leads from a point of body i to one of body j")
    refuse_unsound_force(scope, d.layout, [*d.wrench, d.potential], d.bodies)
    return d


def derive_point(definition: Definition) -> ForceDerivation:
    """Derive a point of a path as a force at it, whose components are its states, while it belongs to the path."""
    scope = ForceScope(definition.__name__)
    arguments = {name: scope.argument(name) for name in argument_names(scope, definition)}
    returned: Any = called(scope, definition, arguments)
    place, belongs = returned
    pull = [scope._state(f"pull_{axis}") for axis in AXES]
    pushes = [(component, belongs * force) for component, force in zip(place, pull, strict=True)]
    reports = {f"place_{axis}": component for axis, component in zip(AXES, place, strict=True)}
    reports |= {f"velocity_{axis}": scope._rate(component) for axis, component in zip(AXES, place, strict=True)}
    parts = _Parts(sp.S.Zero, sp.S.Zero, pushes, reports | {"belongs": as_expression(belongs)}, [sp.S.Zero] * len(pull))
    _refuse_forms(scope, arguments, parts)
    return _derived(scope, definition, _unwrapped(scope, parts))


def _scalar(scope: ForceScope, definition: Definition, rule: str) -> tuple[dict[str, object], Expr]:
    """The arguments of a definition, and the one expression that it returns."""
    arguments = {name: scope.argument(name) for name in argument_names(scope, definition)}
    refuse_collisions(scope)
    returned = called(scope, definition, arguments)
    if not is_scalar(returned):
        raise scope.error(f"has the wrong shape: {returned!r:.80}; {rule}")
    return arguments, as_expression(returned)


def _derived(scope: ForceScope, definition: Definition, parts: _Parts) -> ForceDerivation:
    if scope.loads:
        scope.inputs = [*scope.loads, *reaction_symbols()]
    scope.inputs += scope.states
    layout = Layout(scope)  # where the tables' values lie follows from all that precedes them
    parts, lookups = _named(scope, layout.size, parts)
    velocities = velocities_of(scope.bodies)
    _refuse_velocities(scope, parts, {*scope.rates, *velocities})
    alongs = {symbol: _along(scope, c, parts) for symbol, c in scope.alongs.items()}
    moving = {*scope.rates, *velocities}
    speeds = [not moving.isdisjoint(x.free_symbols) for x, _ in parts.pushes]
    coordinates = (sp.S.Zero if is_speed else x for is_speed, (x, _) in zip(speeds, parts.pushes, strict=True))
    V, *xs = name_arguments(scope, (parts.potential, *coordinates))
    scope.angles = dict(zip(scope.angles, name_arguments(scope, tuple(scope.angles.values())), strict=True))
    moved = dict(zip(scope.rates, name_arguments(scope, tuple(scope.rates.values())), strict=True))
    rows = {symbol: jacobian_row(scope, expression) for symbol, expression in moved.items()}
    drag = over_velocities(parts.dissipation, rows, velocities)
    wrench = [-a - b for a, b in zip(jacobian_row(scope, V), drag, strict=True)]
    for x, (given, force), is_speed in zip(xs, parts.pushes, speeds, strict=True):
        row = over_velocities(given, rows, velocities) if is_speed else jacobian_row(scope, x)
        if not moving.isdisjoint(set().union(*(as_expression(d).free_symbols for d in row))):
            raise scope.error(f"a force acts along {given!s:.80}, which is not linear in the velocities")
        wrench = [e + force * d for e, d in zip(wrench, row, strict=True)]
    values = {symbol: rate(scope, expression, 1) for symbol, expression in moved.items()}
    rates = [e.xreplace(alongs).xreplace(values) for e in parts.rates]
    scope.state_rates = dict(zip(scope.states, rates, strict=True))
    d = ForceDerivation(
        name=definition.__name__,
        doc=documentation(scope, definition),
        scope=scope,
        layout=Layout(scope),
        wrench=tuple(as_expression(e).xreplace(values) for e in wrench),
        potential=V,
        potential_rate=rate(scope, V, 1),
        reports={name: e.xreplace(alongs).xreplace(values) for name, e in parts.reports.items()},
        lookups=tuple(lookups),
        rates=tuple(rates),
    )
    units_of_force(d)
    return d


def _parts(scope: ForceScope, arguments: dict[str, object], returned: object) -> _Parts:
    """The parts of a force by their meaning; vectors among the reported quantities are taken apart."""
    known = f"{', '.join(PARTS)} by name, and reported quantities"
    if not isinstance(returned, dict) or not any(part in returned for part in PARTS):
        raise scope.error(f"must return {known}; at least one of the three")
    forces = returned.get(FORCES, {})
    if not isinstance(forces, dict):
        raise scope.error(
            f"'{FORCES}' must be a mapping from coordinates to the forces along them, such as {{length: -tension}}"
        )
    reports: dict[str, Expr] = {}
    for name, value in returned.items():
        if name in PARTS or name == RATES:
            continue
        several = (
            dict(zip((f"{name}_{axis}" for axis in "xyz"), value, strict=True)) if isinstance(value, Vector) else None
        )
        reports |= several or {name: value}
    for name in reports:
        if not str(name).isidentifier() or name in TAKEN or name in arguments:
            raise scope.error(
                f"reported quantity {name!r}: choose an identifier that is no argument, and none of {', '.join(TAKEN)}"
            )
    rates = _rates_of_states(scope, returned.get(RATES, {}), (*reports, *arguments))
    reports |= {str(state): state for state in scope.states}
    pairs = [pair for x, force in forces.items() for pair in _pairs(scope, x, force)]
    scalars: dict[str, Any] = {POTENTIAL: returned.get(POTENTIAL, 0), DISSIPATION: returned.get(DISSIPATION, 0)}
    listed = [*((FORCES, e) for pair in pairs for e in pair), *((RATES, e) for e in rates)]
    listed += [(f"initial value of state '{s}'", e) for s, e in scope.states.items()]
    for what, value in [*scalars.items(), *reports.items(), *listed]:
        if not is_scalar(value):
            raise scope.error(f"'{what}' has the wrong shape: {value!r:.80}; it must be one number, an expression")
        if as_expression(value).has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise scope.error(f"'{what}' is not finite: {value!s:.80}; check its denominators")
    return _Parts(
        as_expression(scalars[POTENTIAL]),
        as_expression(scalars[DISSIPATION]),
        [(as_expression(x), as_expression(force)) for x, force in pairs],
        {name: as_expression(value) for name, value in reports.items()},
        [as_expression(value) for value in rates],
    )


def _rates_of_states(scope: ForceScope, rates: Any, taken: Collection[str]) -> list[Any]:
    """The rates that a definition returned, in the order of its states; refuses states without a rate or a name of their own."""
    if not isinstance(rates, dict) or set(rates) != set(scope.states):
        given = ", ".join(map(str, rates)) if isinstance(rates, dict) else shown(rates)
        raise scope.error(
            f"'{RATES}' must be a mapping from each state to its rate: it has {given or 'none'}, and the states are "
            f"{', '.join(map(str, scope.states)) or 'none'}"
        )
    for state in scope.states:
        if str(state) in taken or str(state) in TAKEN:
            raise scope.error(f"state '{state}' has the name of an argument or a reported quantity; choose another")
    return [rates[state] for state in scope.states]


def _refuse_misplaced_states(scope: ForceScope, parts: _Parts) -> None:
    """Refuse states where only the bodies' motion may stand, and initial values that the reference configuration lacks."""
    places = {
        "coordinate(x)": list(scope.coordinates.values()), "rate(x)": list(scope.rates.values()),
        "a coordinate along which a force acts": [x for x, _ in parts.pushes], "held(x)": list(scope.held.values()),
        "carried(x)": [c for v in scope.carried.values() for c in v], "an initial value": list(scope.states.values()),
    }  # fmt: skip
    for what, expressions in places.items():
        if set().union(*(as_expression(e).free_symbols for e in expressions)) & set(scope.states):
            raise scope.error(
                f"{what} depends on a state; states belong into the potential, the forces and their rates"
            )
    if scope.states and scope.loads:
        raise scope.error("has states and normal loads; a force with states does not depend on a reaction")
    initial = set().union(*(e.free_symbols for e in scope.states.values()))
    known = {s for m in scope.moving.values() for s in m.symbols} | set(scope.parameters.values())
    if other := initial - known - set(scope.coordinates):
        raise scope.error(
            f"an initial value depends on {', '.join(sorted(map(str, other)))}; it may use parameters, and vectors and "
            "coordinates in the reference configuration"
        )
    if any(
        e.atoms(table)
        for e in [*scope.states.values(), *(scope.coordinates[s] for s in initial & {*scope.coordinates})]
    ):
        raise scope.error("an initial value looks up a table; give it a parameter")


def _pairs(scope: ForceScope, x: Any, force: Any) -> list[tuple[Any, Any]]:
    if isinstance(x, Vector) != isinstance(force, Vector):
        raise scope.error("a coordinate that is a vector needs a force that is a vector, and a scalar a scalar")
    return list(zip(x, force, strict=True)) if isinstance(x, Vector) else [(x, force)]


def _refuse_forms(scope: ForceScope, arguments: dict[str, object], parts: _Parts) -> None:
    """Refuse unused arguments and coordinates, operators of joints, and functions without derivatives."""
    own = [*scope.coordinates.values(), *scope.held.values(), *(c for v in scope.carried.values() for c in v)]
    looked = [x for _, x in scope.lookups]
    refuse_loads(scope, arguments, parts)
    _refuse_misplaced_states(scope, parts)
    own += [*scope.loads.values(), *scope.states.values(), *scope.stationary.values()]
    ordinary = {
        name: v for name, v in arguments.items() if name not in (*OPERATORS, *REACTION, *scope.tables, *SEARCHED)
    }
    refuse_unused(scope, ordinary, (*parts.expressions, *own, *looked))
    for name, used in (
        ("coordinate", scope.coordinates), ("along", scope.alongs), ("state", scope.states),
        *((name, scope.stationary) for name in SEARCHED),
    ):  # fmt: skip
        if name in arguments and not used:
            raise scope.error(f"argument '{name}' is not used; use it or remove it")
    for name in scope.tables:
        if name not in [called for called, _ in scope.lookups]:
            raise scope.error(f"argument '{name}' is not used; use it or remove it")
    refuse_functions(
        scope,
        [*parts.expressions, *own, *looked, *scope.rates.values()],
        (ramp, step, table, curve, still, revolutions),
    )
    if scope.branch_signs:
        raise scope.error("uses keeps_sign(x), which is for joints")
    sources = [parts.potential, parts.dissipation, *(e for push in parts.pushes for e in push), *own, *looked]
    if set().union(*(as_expression(e).free_symbols for e in [*sources, *scope.rates.values()])) & set(scope.alongs):
        raise scope.error(
            "along(c) is for reported quantities and rates of states: it is what the potential, the dissipation and the forces "
            "give"
        )


def _unwrapped(scope: ForceScope, parts: _Parts) -> _Parts:
    """The parts with angles that do not wrap, as those of coordinates, rates, initial values and arguments of tables."""
    own = scope.coordinates, scope.rates, scope.states
    groups = parts.expressions, *(of.values() for of in own), [x for _, x in scope.lookups]
    found = iter(unwrapped(scope, [e for group in groups for e in group]))
    parts = parts.replaced(next(found) for _ in groups[0])
    scope.coordinates, scope.rates, scope.states = ({s: next(found) for s in of} for of in own)
    scope.lookups = [(name, next(found)) for name, _ in scope.lookups]
    return parts


def _named(scope: ForceScope, first: int, parts: _Parts) -> tuple[_Parts, list[tuple[str, Expr]]]:
    """Name sums and coordinates, and give each call of a table its places in ``x``, from ``first`` on."""

    def placed(e: Expr) -> Expr:
        return as_expression(e).replace(
            lambda node: isinstance(node, table), lambda node: table(first + ENTRIES * node.args[0], *node.args[1:])
        )

    groups = [
        parts.expressions,
        list(scope.coordinates.values()),
        list(scope.held.values()),
        list(scope.angles.values()),
        list(scope.rates.values()),
        list(scope.states.values()),
        list(scope.stationary.values()),
    ]
    flat = [placed(e) for group in [*groups, [x for _, x in scope.lookups]] for e in group]
    named = iter(name_sums(scope, flat))
    parts = parts.replaced(next(named) for _ in groups[0])
    coordinates = {symbol: next(named) for symbol in scope.coordinates}
    scope.held = {symbol: next(named) for symbol in scope.held}
    scope.angles = {symbol: next(named) for symbol in scope.angles}
    scope.rates = {symbol: next(named) for symbol in scope.rates}
    scope.states = {symbol: next(named) for symbol in scope.states}
    scope.stationary = {symbol: next(named) for symbol in scope.stationary}
    lookups = [(name, next(named)) for name, _ in scope.lookups]
    for symbol, expression in coordinates.items():
        (value,) = name_arguments(scope, (expression,))
        row = jacobian_row(scope, value)
        keys = [(body, velocity) for body in scope.bodies for velocity in ("v", "omega")]
        covectors = {key: row[3 * k : 3 * k + 3] for k, key in enumerate(keys)}
        scope.named[str(symbol)] = Named(str(symbol), (value, rate(scope, value, 1), sp.S.Zero), covectors)
    refuse_collisions(scope)
    return parts, lookups


def _refuse_velocities(scope: ForceScope, parts: _Parts, velocities: set[Expr]) -> None:
    """Refuse velocities where only configurations may stand."""
    places = {"the potential": [parts.potential]}
    places["coordinate(x)"] = [named.values[0] for named in scope.named.values()]
    places["rate(x)"] = list(scope.rates.values())
    for what, expressions in places.items():
        if set().union(*(as_expression(e).free_symbols for e in expressions)) & velocities:
            raise scope.error(f"{what} depends on a velocity; velocities belong into the dissipation and the forces")


def _along(scope: ForceScope, coordinate: Expr, parts: _Parts) -> Expr:
    """The force along a coordinate that the parts of a force give."""
    force = -sp.diff(parts.potential, coordinate)
    force -= sum(sp.diff(parts.dissipation, symbol) for symbol, e in scope.rates.items() if e == coordinate)
    return force + sum(push for x, push in parts.pushes if x == coordinate)


def units_of_force(d: ForceDerivation) -> dict[str, tuple[Any, ...]]:
    """Bounds and unit of every parameter, table and reported quantity, which the docstring must state."""
    names = [*d.scope.parameters, *d.scope.tables, *d.reports]
    # A component of a vector has the line of the vector.
    lines = {
        name: name if re.search(rf"^{name} :", d.doc, re.MULTILINE) else re.sub("_[xyz]$", "", name) for name in names
    }
    stated = bounds_of_law(d.name, d.doc, list(dict.fromkeys(lines.values())), lowest=None)
    return {name: stated[line] for name, line in lines.items()}


def emit_force(d: ForceDerivation, source: str) -> str:
    """The module of a force: the force on both bodies, its potential and its reported quantities."""
    layout, scope = d.layout, d.scope
    extra = (layout.rates, layout.long)
    bodies, every = d.signature, tuple(f"body_{body}" for body in scope.bodies)
    count = len(bodies)
    arguments = (*every[:count], "x")
    outputs = [*d.wrench, d.potential, d.potential_rate, *d.reports.values(), *d.rates]  # entries for four bodies
    reference = [c for v in scope.carried.values() for c in v] + [*scope.held.values(), *scope.states.values()]
    size = layout.size + ENTRIES * len(d.lookups)
    base = dict.fromkeys(every[:count], "(13,)") | {"x": f"({max(size, 1)},)"}
    kernels = [
        kernel(
            layout, "evaluate", (*arguments, "out"), indexed("out", outputs),
            "Force and moment on body i, j, k, l; potential and its rate; reported quantities" + "; rates" * bool(scope.states),
        ),
        kernel(
            layout, "reference", (*arguments, "out"), indexed("out", reference),
            f"Carried vectors and held constants{', states' * bool(scope.states)}, now",
        ),
        tangent(
            "tangent", arguments, layout.place, indexed("out", d.wrench[: WRENCH * count]),
            "Derivatives of forces and moments; seeds: bodies",
            seeds_of(d.moving, (), bodies), *extra,
        ),
        _entry("entry", "evaluate", every, base | {"out": f"({len(outputs)},)"}),
        _entry(
            "tangent_entry", "tangent", every,
            base | dict(seeds=f"({DIRECTIONS * count}, {DIRECTIONS * count})", out=f"({WRENCH * count}, {DIRECTIONS * count})"),
        ),
    ]  # fmt: skip
    if scope.loads:
        count_of_loads, rows = len(scope.loads), 2 * DIRECTIONS + COMPONENTS
        kernels += [
            *load_kernels(scope, layout, d.wrench, arguments),
            _entry("loads_entry", "loads", every, base | {"out": f"({(1 + COMPONENTS) * count_of_loads},)"}),
            _entry("load_wrenches_entry", "load_wrenches", every, base | {"out": f"({2 * WRENCH * count_of_loads},)"}),
            _entry(
                "loads_tangent_entry",
                "loads_tangent",
                every,
                base | dict(seeds=f"({rows}, {rows})", out=f"({count_of_loads}, {rows})"),
            ),
        ]
    if scope.states:
        directions = seeds_of(d.moving, scope.states, bodies)
        rows, columns = WRENCH * count + len(scope.states), DIRECTIONS * count + len(scope.states)
        kernels += [
            tangent(
                "state_tangent", arguments, layout.place, indexed("out", [*d.wrench[: WRENCH * count], *d.rates]),
                "Derivatives of forces, moments and rates of the states; seeds: bodies, states", directions, *extra,
            ),
            _entry(
                "state_tangent_entry", "state_tangent", every,
                base | dict(seeds=f"({columns}, {columns})", out=f"({rows}, {columns})"),
            ),
        ]  # fmt: skip
    for name, lines, count in kernels_of_arguments(d, arguments):
        kernels += [lines, _entry(f"{name}_entry", name, every, base | {"out": f"({count},)"})]
    if kinks := kernels_of_kinks(d, layout, arguments):
        count = len(kinks_of(d)) + len(d.lookups)
        kernels += [*kinks, _entry("kinks_entry", "kinks", every, base | {"out": f"({count},)"})]
    return assemble_module(d.doc, layout, data_lines(_data(d, size)), kernels, source)


def kernels_of_arguments(d: ForceDerivation, arguments: tuple[str, ...]) -> Iterator[tuple[str, Lines, int]]:
    """The kernels of the arguments of tables and of the angles, by name, with the number of what they give."""
    looked, angles = [x for _, x in d.lookups], list(d.scope.angles.values())
    for name, found, doc in (("lookups", looked, "Arguments of the tables"), ("angles", angles, DOC)):
        if found:
            yield name, kernel(d.layout, name, (*arguments, "out"), indexed("out", found), doc), len(found)


def kernels_of_kinks(d: ForceDerivation, layout: Layout, arguments: tuple[str, ...]) -> list[Lines]:
    """The kernel ``kinks``, if there are any or tables, whose points are found by the rounding of their arguments."""
    stationary = {s: layout.rates[s] for s in d.scope.stationary}  # whose own rounding counts
    values = {s: e for s, e in layout.rates.items() if s not in stationary}
    looked = [rounding_of(x, values) for _, x in d.lookups]
    kinks = indexed("out", [*(beyond_rounding(x, values) for x in kinks_of(d)), *looked])
    values = dict(in_order([*stationary.items(), *values.items()]))
    doc = f"Numbers that change sign at kinks, 0 within their rounding{'; roundings of the arguments of tables' * bool(looked)}"
    long = {*layout.long, *values}
    return [function("kinks", (*arguments, "out"), layout.place, kinks, doc, values, long)] if kinks else []


def kinks_of(d: ForceDerivation) -> list[Expr]:
    """The arguments of ramps and steps, and those from knots of curves, without constants and those that contain a reaction."""
    acting = *d.wrench, *d.rates
    kinks = sorted(set().union(*(e.atoms(ramp, step) for e in acting)), key=sp.default_sort_key)
    knots = sorted(set().union(*map(knots_in, acting)), key=sp.default_sort_key)
    found = {_without_names(d.scope, x): x for x in [*(kink.args[0] for kink in kinks), *knots]}
    constants = set(d.scope.parameters.values())
    return [x for x in found.values() if not x.free_symbols & _of_reaction(d) and not x.free_symbols <= constants]


def _of_reaction(d: ForceDerivation) -> set[Expr]:
    """The inputs that follow from the reaction of the joint."""
    return set(d.scope.inputs) - set(d.scope.states)


def _without_names(scope: ForceScope, e: Expr) -> Expr:
    """An expression in terms of what is given, not of what the kernels name."""
    while named := {s: scope.named[str(s)].values[0] for s in e.free_symbols if str(s) in scope.named}:
        e = e.xreplace(named)
    return e


def _entry(name: str, called: str, bodies: tuple[str, ...], shapes: dict[str, str]) -> Lines:
    """A kernel that takes pointers, those of four bodies for every force, for calls through its address."""
    arrays = ", ".join(f"carray({argument}, {shape})" for argument, shape in shapes.items())
    doc = f'    """``{called}`` with pointers in place of arrays, to be called through its address."""'
    return [f"def {name}({', '.join(dict.fromkeys((*bodies, *shapes)))}):", doc, f"    {called}({arrays})"]


def data_of(d: ForceDerivation) -> dict[str, object]:
    """The facts about a force or a span that the runtime reads first, under the names that joints have too."""
    layout, units = d.layout, units_of_force(d)
    points = tuple(m.name for m in layout.vectors if m.kind in ("point", "direction"))
    return {
        "NAME": d.name,
        "KEYWORDS": (*points, *layout.parameters, *d.scope.tables),
        "VECTORS": tuple((m.name, m.kind, m.body) for m in layout.vectors),
        "PARAMETERS": tuple((name, units[name][3] or "1") for name in layout.parameters),
        "BOUNDS": {name: units[name] for name in layout.parameters},
        "BODIES": d.bodies,
    }


def _data(d: ForceDerivation, size: int) -> dict[str, object]:
    layout, units = d.layout, units_of_force(d)
    return data_of(d) | {
        "HELD": len(layout.held),
        "ANGLES": len(d.scope.angles),
        "SIGNALS": tuple(layout.signals),
        "LOADS": len(d.scope.loads),
        "LOADS_PLACE": layout.size - len(layout.inputs),
        "STATES": tuple(map(str, d.scope.states)),
        "STATES_PLACE": layout.size - len(d.scope.states),
        "TABLES": tuple(name for name, _ in d.lookups),
        "TABLE_UNITS": {name: units[name][3] or "1" for name in d.scope.tables},
        "KINKS": len(kinks_of(d)),
        "OUTPUTS": tuple((name, units[name][3] or "1") for name in d.reports),
        "TABLES_PLACE": layout.size,
        "SIZE": size,
        "SINGULAR": singular_of(d.doc),
    }
