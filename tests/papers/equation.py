r"""The registry of printed equations: what an entry holds.

Every Phi, Phi', D, nu and gamma of Rodrigues da Silva et al. (2024a, sections 2 and 3; 2024c, sections 2 and 3; n.d., sections
2, 3 and 6), every equation of the joint limits (2024b; section 4 of 2024c and 2024a), and every equation of Moreira et al.
(2011) is here as the text of its LaTeX source without fonts and layout, with a verdict, and, where it is a misprint, with the
changes of the text that make it right.  ``latex`` evaluates the text as it is printed and as it is corrected; the tests compare
both with the kernels and the runtime, and the text with the paper.  The papers are known as transcriptions only, so a misprint
is one "as transcribed".

No other formula of a paper is typed by hand.  The symbols stand for attributes of ``m``, columns (3, 1) in global axes; time
derivatives end in ``_dot`` and ``_ddot``:

=================  =============================================================================================
``r_k``            centre of mass of body k
``sP_k``           s_k^P, from the centre of mass to the point P_k of body k;  ``sP_k_local``: s'_k^P
``rP_k``           r_k^P
``s_k``, ``s_k_0`` axis on body k, now and initially (``a_k`` in the definitions)
``d``, ``d_0``     d, now and initially
``w_k``            omega_k;  ``w`` and ``s`` without a body: those of any body and vector fixed in it
``u``, ``u_2``     u_r in global axes, and in the joint's frame (two primes);  ``_A``, ``_B``: of the points A and B
``mr``, ``md``     moments on the moving body, restricting and dissipative;  ``link_mr``: on the massless link
``c e_k theta beta``  the prescribed c*, e_k*, theta and beta;  ``e``: the Euler parameter e_k itself
``G_k``            G_(1:3,k+1), the column of G that belongs to e_k
``dPhi_dt``        partial Phi / partial t: of the signals alone, the bodies being where they are
=================  =============================================================================================
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.papers.citations import MOREIRA_2011, Paper
from tests.papers.latex import sides_of

Changes = tuple[
    tuple[str | int, str], ...
]  # what is printed, once in the text, and what is right; or a cell, and what it lacks


@dataclass(frozen=True)
class Equation:
    """One printed equation."""

    paper: Paper
    number: int
    quantity: Literal["Phi", "Phi_dot", "Phi_ddot", "D", "nu", "gamma", "identity"]
    text: tuple[str, ...]  # as transcribed, entry by entry in the order of the source
    # Joint, and "joint.row" for single rows; "axes", "equations of motion", or "" for any body; of the joint limits:
    # "limit" (a direction outside a cone), "ellipse", "spline" (a point C of a cone), "link" (a hinge of a massless link);
    # of the drivers: their names.
    about: str = ""
    matrix: tuple[int, int] = (0, 0)  # rows and columns, where the text begins with the entries of a matrix
    by_columns: bool = False  # its entries are printed column by column
    right_angle: bool = False  # for axes that are initially at a right angle
    verdict: Literal["holds", "slip", "misprint"] = "holds"  # slip: a wrong name beside a right value
    corrections: Mapping[str, Changes] = field(
        default_factory=dict
    )  # by name: each is a misprint, all are the corrected form
    harmless: tuple[str, ...] = ()  # those that change nothing while a_i is perpendicular to s_i, as the text has it
    wrong_rows: tuple[int, ...] = ()
    agrees_at_rest: str = ""  # body without rotation, for which a misprint gives the right value
    note: str = ""  # of a misprint: the proof; else what one must know beside the text
    means: tuple[str, ...] | Callable[[Any], list[Any]] = ()  # the formula, where the text is a sentence or no formula
    prose: bool = False  # the text is a sentence
    step: str = ""  # of the paper's algorithm, which applies the equation with this number

    def _value(self, cells: Any, m: Any) -> Any:
        """An array, or all sides of a chain of equalities."""
        sides = cells(m) if callable(cells) else sides_of(self, cells, m)
        return sides[0] if len(sides) == 1 else tuple(sides)

    def literal(self, m: Any) -> Any:
        """What is printed."""
        return self._value(self.means or self.text, m)

    def corrected(self, m: Any, left: tuple[str, ...] = ()) -> Any:
        """What is right, but for the misprints that are left as they are printed."""
        cells = list(self.means or self.text)
        for printed, right in (change for name, own in self.corrections.items() if name not in left for change in own):
            if isinstance(printed, int):
                cells[printed] += right
            else:
                (k,) = (k for k, cell in enumerate(cells) for _ in range(cell.count(printed)))
                cells[k] = cells[k].replace(printed, right)
        return self._value(cells, m)

    @property
    def id(self) -> str:
        """Year of the paper, number and quantity, or step of an algorithm."""
        return f"{self.paper.year}-" + (f"step {self.step}" if self.step else f"{self.number}-{self.quantity}")

    @property
    def place(self) -> str:
        """Number in the paper, or the step and the equation that it cites."""
        return f"step {self.step}, with ({self.number})" if self.step else f"({self.number})"

    @property
    def of_contacts(self) -> bool:
        """It is of Moreira et al. (2011)."""
        return self.paper == MOREIRA_2011

    @property
    def of_limits(self) -> bool:
        """It speaks of joint limits."""
        return self.about in ("limit", "ellipse", "spline", "link")

    @property
    def of_drivers(self) -> bool:
        """It speaks of a driving constraint."""
        return self.about in ("guided_point", "euler_parameter", "cosine_of_angle", "cosine_of_link")
