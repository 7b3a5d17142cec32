"""Matrices and equations as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from codegen.compiler.calculus import Expr


class LatexEquations:
    """Equations that notebooks show."""

    def latex(self) -> str:
        """The equations as LaTeX."""
        raise NotImplementedError

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"


def matrix(value: Expr) -> str:
    """A matrix, or its one entry."""
    return str(sp.latex(value[0] if value.shape == (1, 1) else value))


def table(cells: Iterable[Iterable[str]]) -> str:
    """A matrix of texts."""
    rows = " \\\\ ".join(" & ".join(row) for row in cells)
    return f"\\left[\\begin{{matrix}}{rows}\\end{{matrix}}\\right]"


def aligned(lines: Iterable[str]) -> str:
    """Lines that are aligned at their ``&``."""
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
