"""Seeds of random numbers, and places on and off the constraint manifold."""

import pytest

SEEDS = range(5)
PLACES = ("off", "on")  # the constraint manifold
seeds = pytest.mark.parametrize("seed", SEEDS)
places = pytest.mark.parametrize("place", PLACES)
