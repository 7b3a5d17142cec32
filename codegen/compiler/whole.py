"""A model as one straight-line function: all joints, the mass matrix and the factorisation, without structural zeros.

The kernels of the joints are called with nodes of an expression graph in place of floats (``codegen.compiler.trace``), and so
is the elimination that follows (``codegen.compiler.elimination``).

Parameters stay arguments.  Only zeros and ones among them are used as constants, and they are part of the key of a model.
Expressions that depend on parameters alone are computed once, by the function ``prepare`` of the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.compiler.elimination import state_derivative
from codegen.compiler.errors import DefinitionError
from codegen.compiler.model_inputs import STATE, Model, ModelInputs
from codegen.compiler.straight import Lines
from codegen.compiler.text import quoted
from codegen.compiler.trace import Node, Record, Text, forward_derivatives

# Inlined, the loop over columns becomes vector instructions; products and sums may be fused, and nothing else may change.
DECORATOR = '@njit(error_model="numpy", fastmath={"contract"}, _nrt=False, inline="always")'
MAX_OPERATIONS = 30_000
LANES = 16  # columns side by side; a loop over eight would be unrolled by the compiler instead of vectorised


@dataclass(frozen=True)
class Recorded:
    """One evaluation of a model on record, split into what depends on parameters alone and the rest."""

    model: Model
    inputs: ModelInputs
    derivative: list[tuple[str, Node]]  # places in ``out``, and their values
    worst: Node
    constants: list[int]  # nodes that depend on parameters alone and that the rest reads, as ``c``

    @property
    def size(self) -> int:
        """Number of components of the state."""
        return STATE * (len(self.model.fixed) - 1)

    @property
    def lanes(self) -> int:
        """Number of columns of the functions for many columns, 0 for models that have none."""
        return 0 if self.model.loaded or self.model.signals else LANES

    def text(self) -> Text:
        """An empty text in which the constants are known."""
        return Text(self.inputs.record, "t", {n: f"c[{k}, n]" for k, n in enumerate(self.constants)})


def emit_model(model: Model) -> str:
    """Text of the module of a model.  Raises DefinitionError for a model that is too large for one function."""
    inputs = ModelInputs(model)
    derivative, worst = state_derivative(inputs)
    hoistable = of_parameters_alone(inputs.record, inputs.evaluated)
    constants = hoisted(inputs.record, [n.index for _, n in derivative] + [worst.index], hoistable)
    recorded = Recorded(model, inputs, derivative, worst, constants)
    prepare, evaluate = _prepare(recorded), _derivative(recorded)
    lines = [
        *_head(recorded, any("math." in line for line in (*prepare, *evaluate))),
        *prepare,
        *evaluate,
        *_entry(recorded),
    ]
    if recorded.lanes:
        lines += _columns("lanes", "derivative(n, y, c, c, c, out, worst)", recorded, 1, "``derivative``")
        lines += _derivative_tangent(recorded)
        lines += _columns(
            "lanes_tangent", "derivative_tangent(n, y, c, out, worst)", recorded, 2, "``derivative_tangent``"
        )
    return "\n".join(lines) + "\n"


def _head(recorded: Recorded, uses_math: bool) -> Lines:
    """Docstring, imports and constants of the module."""
    model = recorded.model
    return [
        quoted(f"The equations of motion of {model.name} in one function."),
        "",
        *(["import math", ""] if uses_math else []),
        "from numba import carray, njit",
        "",
        f"KEY = {model.key!r}",
        "MADE_FROM = {",
        *(f"    {name!r}: {text!r}," for name, text in model.made_from.items()),
        "}",
        f"BODIES = {len(model.fixed) - 1}",
        f"CONSTANTS = {len(recorded.constants)}",
        f"LANES = {recorded.lanes}  # columns of ``lanes``, 0 if there is no such function",
        f"LOADED = {model.loaded}  # the accelerations without joints are inputs",
        "# Places of the parameters in ModelData.",
        "PARAMETERS = (",
        *(f"    ({name!r}, {index})," for name, index in recorded.inputs.places),
        ")",
    ]


def _prepare(recorded: Recorded) -> Lines:
    """The function of the parameters alone."""
    text, record = Text(recorded.inputs.record, "p"), recorded.inputs.record
    lines = text.write([(f"c[{k}]", Node(record, n)) for k, n in enumerate(recorded.constants)])
    return [
        "",
        "",
        "def prepare(p, c):",
        f'    """Constants c that depend on the parameters p alone.  {text.operations} operations."""',
        *(f"    {line}" for line in lines or ["pass"]),
    ]


def _derivative(recorded: Recorded) -> Lines:
    """The function of one state."""
    text = recorded.text()
    lines = text.write([*recorded.derivative, ("worst[0, n]", recorded.worst)])
    if text.operations > MAX_OPERATIONS:
        raise DefinitionError(
            f"system '{recorded.model.name}' takes {text.operations} operations, limit {MAX_OPERATIONS}, beyond which one "
            "function would compile for minutes; leave it to the general evaluation, whose cost per body does not grow"
        )
    return [
        "",
        "",
        DECORATOR,
        "def derivative(n, y, f, s, c, out, worst):",
        '    """State derivative of column n; worst: sum of the squares of (diagonal entry / pivot) in the elimination.',
        "",
        f"    {text.operations} operations.",
        '    """',
        *(f"    {line}" for line in lines),
    ]


def _entry(recorded: Recorded) -> Lines:
    """The function of one state with pointers in place of arrays."""
    model, size = recorded.model, recorded.size
    return [
        "",
        "",
        "def entry(y, f, s, c, out, worst):",
        '    """``derivative`` by the addresses of y, free accelerations, signals, constants, outputs."""',
        f"    y, out = carray(y, ({size}, 1)), carray(out, ({size}, 1))",
        f"    f, s = carray(f, ({len(model.fixed)}, 6)), carray(s, ({max(len(model.signals), 1)}, 3))",
        f"    derivative(0, y, f, s, carray(c, ({max(len(recorded.constants), 1)}, 1)), out, carray(worst, (1, 1)))",
    ]


def _derivative_tangent(recorded: Recorded) -> Lines:
    """The function of one state together with its derivative in one direction."""
    record, size, constants = recorded.inputs.record, recorded.size, recorded.constants
    seeds = {n: record.input(f"c[{len(constants) + k}, n]") for k, n in enumerate(constants)}
    seeds |= {n: record.input(f"y[{size + k}, n]") for k, n in recorded.inputs.state_inputs.items()}
    tangents = forward_derivatives(record, [value for _, value in recorded.derivative], seeds)
    text = recorded.text()
    lines = text.write(
        [
            *recorded.derivative,
            *((f"out[{size + k}, n]", tangent) for k, tangent in enumerate(tangents)),
            ("worst[0, n]", recorded.worst),
        ]
    )
    return [
        "",
        "",
        DECORATOR,
        "def derivative_tangent(n, y, c, out, worst):",
        '    """State derivative, then its directional derivative; the second halves of y and c are the direction.',
        "",
        f"    {text.operations} operations.",
        '    """',
        *(f"    {line}" for line in lines),
    ]


def _columns(name: str, call: str, recorded: Recorded, parts: int, what: str) -> Lines:
    """The entry that calls a function for all columns; ``parts`` is 2 if states and constants come with a direction."""
    size, constants = parts * recorded.size, parts * len(recorded.constants)
    return [
        "",
        "",
        f"def {name}(y, c, out, worst):",
        f'    """{what} for {LANES} columns side by side, by addresses."""',
        f"    y, out = carray(y, ({size}, {LANES})), carray(out, ({size}, {LANES}))",
        f"    c, worst = carray(c, ({max(constants, 1)}, {LANES})), carray(worst, (1, {LANES}))",
        f"    for n in range({LANES}):",
        f"        {call}",
    ]


def of_parameters_alone(record: Record, evaluated: set[int]) -> list[bool]:
    """Whether each node depends on parameters alone."""
    hoistable: list[bool] = []
    for n, operation in enumerate(record.operations):
        known = operation[0] == "constant" or (operation[0] == "input" and n not in evaluated)
        operands = record.operands(n)
        hoistable.append(known or (bool(operands) and all(hoistable[o] for o in operands)))
    return hoistable


def hoisted(record: Record, wanted: Sequence[int], hoistable: Sequence[bool]) -> list[int]:
    """The nodes of parameters alone that other nodes read, in the order in which they were recorded."""
    found, seen, stack = set(), set(wanted), list(wanted)
    while stack:
        n = stack.pop()
        if hoistable[n]:
            if record.operations[n][0] != "constant":
                found.add(n)
            continue
        for o in record.operands(n):
            if o not in seen:
                seen.add(o)
                stack.append(o)
    return sorted(found)
