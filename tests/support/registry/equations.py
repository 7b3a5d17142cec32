"""All entries of the registry of printed equations, but those of contacts."""

from tests.support.registry.rodrigues_2024a import EQUATIONS_2024A
from tests.support.registry.rodrigues_2024b import EQUATIONS_2024B
from tests.support.registry.rodrigues_2024c import EQUATIONS_2024C
from tests.support.registry.rodrigues_nd import EQUATIONS_ND

EQUATIONS = (*EQUATIONS_2024A, *EQUATIONS_2024B, *EQUATIONS_2024C, *EQUATIONS_ND)
