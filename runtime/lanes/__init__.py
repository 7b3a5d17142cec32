"""Many cases side by side in vector instructions: assembly, states, rates, constants.  Imports `dynamics` and below.

A lane is a case: equal components of LANES cases (`dynamics.layout`) are next to each other in memory.

cases                  assembly, consistent velocities and violations of any number of cases
assembly               Newton's method onto the rows for LANES cases
ranks                  whether the rows of each joint are independent
rows                   the kernels of joints for LANES cases
vector_formulas        formulas of compiled code, run by a recorder
vector_code            instructions of a recorder for vectors, for code that is known when a system is
text_code              its text of Python, for one lane
vector_functions       sine, cosine, inverse tangent, exponential, logarithm and power for it
lift                   states and energies of the bodies of trees
tree_constants         the constants of the kernel of a tree
velocity_rows          rows and rates of cases that differ in their velocities alone
"""

from runtime.jit.words import add_words

add_words(
    __name__,
    {
        "cases": "the assembly of cases",
        "effort_slopes": "the derivatives of efforts",
        "lift": "the states and energies of cases in a batch",
        "tree_constants": "the constants of cases",
        "velocity_rows": "the rates of cases in a batch",
    },
)
