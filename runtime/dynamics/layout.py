"""Layout of states and rows: where a body's coordinates are, how many rows a joint has, codes of an evaluation."""

from __future__ import annotations

STATE = 13  # numbers per body
R, P, V, OMEGA = 0, 3, 7, 10  # where they start
ROWS = 6  # two bodies can be restrained in six ways, so a joint has at most six rows
OK, SINGULAR, NOT_FINITE = 0, 1, 2  # codes of an evaluation; they may be combined
# What an evaluation is for: accelerations and multipliers; the same, and limits tell all; the state derivative alone.
FORCES, REPORT, DERIVATIVE = range(3)
LANES = 16
GROUND_INDEX = 0
