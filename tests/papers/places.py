"""Seeds of random numbers, and places on and off the constraint manifold."""

from tests.support.marks import over

SEEDS = range(5)
PLACES = ("off", "on")  # the constraint manifold
seeds = over("seed", SEEDS)
places = over("place", PLACES)
