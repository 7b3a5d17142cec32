"""Expressions of components of vectors as products of vectors, in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, combinations_with_replacement

import sympy as sp

from codegen.compiler.calculus import AXES, Expr, Vector, vector

DOTS = {"dot": "\\dot", "ddot": "\\ddot"}
NAME = re.compile(
    r"(?P<across>across(?P<number>[12])_)?(?P<stem>.+?)(_(?P<body>[ij]))?(_(?P<dots>d?dot))?(_(?P<axis>[xyz]))?"
)


def bold(name: str) -> str:
    r"""A vector as LaTeX, such as \dot{\mathbf{s}}_{i} of "s_i_dot"; a component of it as \dot{s}_{i,x}."""
    found = NAME.fullmatch(name)
    assert found is not None
    letter = str(sp.latex(sp.Symbol(found["stem"].replace("_", ""))))
    if not found["axis"]:
        letter = f"\\boldsymbol{{{letter}}}" if letter.startswith("\\") else f"\\mathbf{{{letter}}}"
    letter = f"{DOTS[found['dots']]}{{{letter}}}" if found["dots"] else letter
    below = ",".join(part for part in (found["body"], found["axis"]) if part)
    return letter + (f"^{{({found['number']})}}" if found["across"] else "") + (f"_{{{below}}}" if below else "")


class VectorText:
    """Writes expressions with the vectors whose components are among some symbols."""

    def __init__(self, symbols: Iterable[Expr]) -> None:
        names = {s.name for s in symbols}
        stems = sorted((name[:-2] for name in names if name.endswith("_x")), key=lambda s: ("omega" not in s, s))
        found = {stem: vector(stem) for stem in stems if {f"{stem}_{axis}" for axis in AXES} <= names}
        self.products = {
            _text_symbol(f"{bold(a)} \\cdot {bold(b)}"): found[a].dot(found[b])
            for a, b in combinations_with_replacement(found, 2)
        }
        self.along = {_text_symbol(bold(name)): value.dot(AXIS) for name, value in found.items()}
        self.along |= {
            _text_symbol(f"{bold(a)} \\times {bold(b)}"): found[a].cross(found[b]).dot(AXIS)
            for a, b in combinations(found, 2)
        }

    def scalar(self, e: Expr) -> str:
        """An expression with scalar products in place of sums of components."""
        return _text(_with_products(e, self.products))

    def covector(self, three: Sequence[Expr]) -> str:
        """Three components as a transposed sum of vectors and of products of two, or one by one."""
        found = self._vector(three)
        if found is None:
            return "\\left[" + ",\\ ".join(map(_text, three)) + "\\right]"
        sign, alone = found.as_coeff_Mul()
        if alone in self.along:
            text = f"({_text(alone)})" if "times" in alone.name else _text(alone)
            return ("-" if sign < 0 else "") + (f"{_text(abs(sign))} " if abs(sign) != 1 else "") + f"{text}^{{T}}"
        return f"\\left({_text(found)}\\right)^{{T}}" if found != 0 else "0"

    def _vector(self, three: Sequence[Expr]) -> Expr | None:
        """Three components as a sum of vectors and of products of two, if they are one."""
        found = _with_products(sum(e * axis for e, axis in zip(three, AXIS, strict=True)), self.along)
        return None if found.free_symbols & set(AXIS) else found

    def sums(self, where: Mapping[Expr, Expr]) -> list[str]:
        """Lines for the vectors that are sums of others, and for rates of vectors."""
        by_name, lines = {symbol.name: sp.sympify(value) for symbol, value in where.items()}, []
        for name in (name[:-2] for name in by_name if name.endswith("_x")):
            found = self._vector([by_name[f"{name}_{axis}"] for axis in AXES])
            if found is not None and found.free_symbols - {_text_symbol(bold(name))}:
                lines.append(f"{bold(name)} &= {_text(found)}")
        return lines


AXIS = Vector(*sp.symbols("axis_x axis_y axis_z"))


def _text_symbol(text: str) -> Expr:
    return sp.Symbol(text, real=True)


def _with_products(e: Expr, products: Mapping[Expr, Expr]) -> Expr:
    """An expression whose terms are those of products, with the symbols of these in their place."""
    rest, found = sp.expand(e), sp.S.Zero
    for symbol, product in products.items():
        terms = [term.as_coeff_Mul() for term in sp.Add.make_args(sp.expand(product))]
        factors = {rest.coeff(term) / sign for sign, term in terms}
        if len(factors) == 1 and (factor := factors.pop()).is_number and factor:
            rest, found = sp.expand(rest - factor * product), found + factor * symbol
    return rest + found


def _text(e: Expr) -> str:
    names = {s: s.name for s in e.free_symbols if "\\" in s.name}
    names |= {s: f"\\mathrm{{held}}_{{{s.name[5:]}}}" for s in e.free_symbols if s.name.startswith("held_")}
    names |= {s: bold(s.name) for s in e.free_symbols if re.fullmatch(r"\w+_[xyz]", s.name)}
    return str(sp.latex(e, symbol_names=names))
