"""The equations of motion in compiled code, with all their terms.  May import: `jit`, `support`, `generated`.

Compiled code takes functions and constants from `dynamics`, `lanes`, `integrate`, `jit` and `generated` only: the digest of these
folders names the cache.
"""

from runtime.jit.words import add_words

add_words(
    __name__,
    {
        "angles": "the revolutions of angles",
        "cases": "the rows of cases",
        "chain_points": "points of chains of links",
        "closing_rows": "rows in joint coordinates",
        "cone_curve": "cones of limits",
        "contact_slopes": "the derivatives of contact forces",
        "contacts": "contacts",
        "derived": "accelerations, reactions and energies of results",
        "elimination": "the elimination of the rows of joints",
        "energy": "energies",
        "equations": "the equations of motion",
        "force_elements": "forces of definitions",
        "jacobian": "the Jacobian of the equations of motion",
        "kinematics": "rotations",
        "lift": "the states of the bodies of a tree",
        "tree_equations": "the equations of motion in joint coordinates",
        "limits": "joint limits",
        "mechanics": "efforts, mass matrices and Jacobians of a tree",
        "state_jacobian": "the Jacobian of the states",
        "products": "functions of several coordinates",
        "projection": "the projection onto the constraints",
        "revolutions": "the revolutions of states",
    },
)
