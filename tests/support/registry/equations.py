"""The papers' printed constraint equations, literally, with a verdict on each.

Every Phi, Phi', D, nu, gamma of Rodrigues da Silva et al. (2024a) (sections 2 and 3),
of Rodrigues da Silva et al. (2024c) (sections 2 and 3) and of Rodrigues da Silva et al. (n.d.) (sections 2, 3
and 6), and every equation of the limits of motion (Rodrigues da Silva et al. (2024b); section 4 of seeds 001 and 000),
stands here three times: as the
text of its LaTeX source without fonts and layout; as a function written sign by sign from it; and, where it is a misprint,
corrected.  ``test_registry`` compares the three with each other and with the kernels and the runtime.  The papers are known
as transcriptions only, so a misprint is one "as transcribed".

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

from tests.support.registry.rodrigues_2024a import EQUATIONS_2024A
from tests.support.registry.rodrigues_2024b import EQUATIONS_2024B
from tests.support.registry.rodrigues_2024c import EQUATIONS_2024C
from tests.support.registry.rodrigues_nd import EQUATIONS_ND

EQUATIONS = (*EQUATIONS_2024A, *EQUATIONS_2024B, *EQUATIONS_2024C, *EQUATIONS_ND)
