"""All entries of the registry of printed equations, but those of contacts."""

from tests.papers.rodrigues_2024a import EQUATIONS_2024A
from tests.papers.rodrigues_2024b import EQUATIONS_2024B
from tests.papers.rodrigues_2024c import EQUATIONS_2024C
from tests.papers.rodrigues_nd import EQUATIONS_ND

EQUATIONS = (*EQUATIONS_2024A, *EQUATIONS_2024B, *EQUATIONS_2024C, *EQUATIONS_ND)


def entry(number, paper):
    """The entry of a printed equation."""
    (found,) = [e for e in EQUATIONS if (e.number, e.paper) == (number, paper) and not e.step]
    return found
