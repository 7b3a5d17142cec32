r"""The registry of printed equations: what an entry holds.

Every Phi, Phi', D, nu and gamma of Rodrigues da Silva et al. (2024a, sections 2 and 3; 2024c, sections 2 and 3; n.d., sections
2, 3 and 6), and every equation of the limits of motion (2024b; section 4 of 2024c and 2024a), stands here three times: as the
text of its LaTeX source without fonts and layout; as a function written sign by sign from it; and, where it is a misprint,
corrected.  The tests in ``tests/registry`` compare the three with each other and with the kernels and the runtime.  The papers
are known as transcriptions only, so a misprint is one "as transcribed".

Nothing but these functions is a formula typed by hand, and nothing but the tests uses them.  Their argument ``m`` holds what
the symbols stand for, columns (3, 1) in global axes; time derivatives end in ``_dot`` and ``_ddot``:

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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tests.support.registry.papers import Paper


@dataclass(frozen=True)
class Equation:
    """One printed equation."""

    paper: Paper
    number: int
    quantity: Literal["Phi", "Phi_dot", "Phi_ddot", "D", "nu", "gamma", "identity"]
    text: tuple[str, ...]  # as transcribed, entry by entry in the order of the source
    literal: Callable[[Any], Any]  # what is printed: an array, or all sides of a chain of equalities
    # Joint, and "joint.row" for single rows; "axes", "equations of motion", or "" for any body; of the limits of motion:
    # "limit" (a direction outside a cone), "ellipse", "spline" (a point C of a cone), "link" (a hinge of a massless link);
    # of the drivers: their names.
    about: str = ""
    matrix: tuple[int, int] = (0, 0)  # rows and columns, where the text begins with the entries of a matrix
    by_columns: bool = False  # its entries are printed column by column
    right_angle: bool = False  # for axes that are initially at a right angle
    verdict: Literal["holds", "slip", "misprint"] = "holds"  # slip: a wrong name beside a right value
    corrected: Callable[..., Any] | None = None
    misprints: tuple[
        str, ...
    ] = ()  # of several: what ``corrected(m, left)`` can leave as it is printed; all: the literal form
    harmless: tuple[str, ...] = ()  # those that change nothing while a_i is perpendicular to s_i, as the text has it
    wrong_rows: tuple[int, ...] = ()
    agrees_at_rest: str = ""  # body without rotation, for which a misprint gives the right value
    note: str = ""  # of a misprint: the proof; else what one must know beside the text
    read: bool = True  # the text itself is evaluated too
    prose: bool = False  # the text is a sentence
    step: str = ""  # of the paper's algorithm, which applies the equation with this number

    @property
    def id(self) -> str:
        """Year of the paper, number and quantity, or step of an algorithm."""
        return f"{self.paper.year}-" + (f"step {self.step}" if self.step else f"{self.number}-{self.quantity}")

    @property
    def place(self) -> str:
        """Number in the paper, or the step and the equation that it cites."""
        return f"step {self.step}, with ({self.number})" if self.step else f"({self.number})"

    @property
    def of_limits(self) -> bool:
        """It speaks of limits of motion."""
        return self.about in ("limit", "ellipse", "spline", "link")

    @property
    def of_drivers(self) -> bool:
        """It speaks of a driving constraint."""
        return self.about in ("guided_point", "euler_parameter", "cosine_of_angle", "cosine_of_link")


def tilde(a: np.ndarray) -> np.ndarray:
    """Skew-symmetric matrix of a column: tilde(a) b = a x b."""
    (x,), (y,), (z,) = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


I = np.eye(3)
O = np.zeros((1, 3))
O3 = np.zeros((3, 3))
