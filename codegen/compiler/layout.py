"""Where the inputs of a kernel lie: in the state of body i or j, or in ``x``, the vectors and constants of a joint."""

from __future__ import annotations

from codegen.compiler.calculus import Expr, Moving, Named, Scope, as_expression, quaternion, vector
from codegen.compiler.straight import Lines, Targets, function, in_order

# State of one body as the kernels receive it: r (3), p (4), v (3), omega (3).
STATE = {"r": 0, "p": 3, "v": 7, "omega": 10}


class Layout:
    """Where each input of a kernel lies: in the state of body i or j, or in ``x``, the vectors and constants of the joint."""

    def __init__(self, scope: Scope) -> None:
        self.vectors = [m for m in scope.moving.values() if m.kind not in ("centre", "euler")]
        self.parameters = list(scope.parameters)
        self.held = list(scope.held)
        self.signals = list(scope.signals)
        self.inputs = list(scope.inputs)
        self.place: dict[Expr, str] = {}
        for body in scope.bodies:
            for stem, start in STATE.items():
                symbols = quaternion(f"p_{body}") if stem == "p" else vector(f"{stem}_{body}")
                self.place |= {s: f"body_{body}[{start + k}]" for k, s in enumerate(symbols)}
        own = [s for m in self.vectors for s in m.symbols] + list(scope.parameters.values()) + self.held
        own += [c.symbol(order) for c in scope.signals.values() for order in range(3)]
        own += scope.inputs
        self.place |= {s: f"x[{k}]" for k, s in enumerate(own)}
        self.size = len(own)
        self.rates = dict(in_order(list(_rates(scope.quantities).items())))
        named = [m for m in scope.quantities if m.kind in ("scalar", "state")]
        self.long = {s for m in named for order in range(3) for s in m.derivative_symbols(order)}

    def listing(self) -> Lines:
        """The contents of ``x`` by their places, for the docstring of a module."""
        pieces = [(m.name, 3) for m in self.vectors]
        pieces += [(name, 1) for name in (*self.parameters, *map(str, self.held))]
        pieces += [(f"{signal}, its rate, its second rate", 3) for signal in self.signals]
        pieces += [(str(symbol), 1) for symbol in self.inputs]
        lines, start = ["", "x, in this order:"], 0
        for name, width in pieces:
            lines.append(f"    x[{start}:{start + width}]  {name}")
            start += width
        return lines


def _rates(quantities: list[Moving | Named]) -> dict[Expr, Expr]:
    """Values of the symbols of sums and of first and second derivatives, in an order in which they can be computed."""
    rates: dict[Expr, Expr] = {}
    for order in (0, 1, 2):
        for m in quantities:
            if m.kind in ("sum", "scalar") or (order > 0 and m.kind != "centre"):
                values = map(as_expression, m.derivative_values(order))
                rates |= dict(zip(m.derivative_symbols(order), values, strict=True))
    return rates


def kernel(layout: Layout, name: str, arguments: tuple[str, ...], targets: Targets, doc: str) -> Lines:
    """One function of the bodies' states: loads, rates of the vectors, common subexpressions, outputs."""
    return function(name, arguments, layout.place, targets, doc, layout.rates, layout.long)
