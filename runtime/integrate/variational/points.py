"""Points of the differences of order six in joint coordinates, in compiled code: states along a derivative, nearby systems."""

from __future__ import annotations

from runtime.jit.compilation import inlined

NEARBY = 1e-3  # of the larger of 1 and a coordinate: reach of the differences along z
FARTHEST = 4e-3  # and with nearby parameters
NEAREST = 1e-5  # step of a parameter below which differences along z have their own: rounding counts in inverse proportion to it


@inlined
def reach_of(z, y):  # type: ignore[no-untyped-def]
    """Largest component of z in units of y, or of 1 where y is smaller."""
    reach = 0.0
    for i in range(len(z)):
        reach = max(reach, abs(z[i]) / max(1.0, abs(y[i])))
    return reach


@inlined
def place_points(k, states, z, d):  # type: ignore[no-untyped-def]
    """Points of the difference for the derivative over parameter k, whose derivatives of the state are z.

    Either nearby systems at states along z, or, where these states would be too far or too near, the system itself along z and
    nearby systems at the state itself.
    """
    reach, farthest = reach_of(z, states[: len(z)]), 0.0
    for q in range(6):
        farthest = max(farthest, abs(d.offsets[k, q]))
    near = farthest < NEAREST and reach > 0.0
    at_once = d.data[k, 0] != 0 and not near and reach * farthest <= FARTHEST
    for q in range(6):
        d.at[0, q, 0] = d.at[1, q, 0] = 0
        if at_once:
            d.at[0, q, 0], d.at[0, q, 1] = d.data[k, q], d.works[k, q]
            d.along[0, q, 0], d.along[0, q, 1] = d.offsets[k, q], d.factors[k, q]
            continue
        if reach > 0.0:
            d.at[0, q, 0], d.at[0, q, 1] = d.itself[0], d.itself[1]
            d.along[0, q, 0], d.along[0, q, 1] = NEARBY / reach * d.places[q], d.weights[q] * reach / NEARBY
        d.at[1, q, 0], d.at[1, q, 1] = d.data[k, q], d.works[k, q]
        d.along[1, q, 0], d.along[1, q, 1] = 0.0, d.factors[k, q]


@inlined
def shift(states, m, z, d):  # type: ignore[no-untyped-def]
    """The state s times z away from a state, into ``shifted``."""
    for i in range(len(z)):
        d.shifted[i] = states[i] + m * z[i]
