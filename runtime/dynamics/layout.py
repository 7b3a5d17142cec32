"""Layout of states and rows: where a body's coordinates are, how many rows a joint has, codes of an evaluation."""

from __future__ import annotations

STATE = 13  # scalars per body
R, P, V, OMEGA = 0, 3, 7, 10  # first place of each within a body's state
ROWS = 6  # two bodies can be restrained in six ways, so a joint has at most six rows
OK, SINGULAR, NOT_FINITE, FRICTION = 0, 1, 2, 4  # codes of an evaluation; they may be combined
# Purpose of an evaluation: accelerations and multipliers; these and all outputs of the limits; the state derivative alone; of its
# limits and contacts: how far each is beyond the side of its mode; the state derivative, with a new choice of independent rows;
# forces of all kinds and their powers alone.
FORCES, REPORT, DERIVATIVE, OVER, DERIVATIVE_ANEW, LOADS = range(6)
LANES = 16  # cases or directions that a whole-model kernel evaluates side by side
GROUND_INDEX = 0  # of the fixed body
